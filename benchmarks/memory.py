"""Peak of memory of a fit, compared with the sum of the arrays that must exist.

    python benchmarks/memory.py [--quick] [--documents 1000000] [--json benchmarks/results/memory.json]
    python benchmarks/memory.py --defaults [--quick] [--json benchmarks/results/memory-defaults.json]

Each fit runs in a process of its own: one as the defaults have it, with features of pairs and with probabilities
calibrated on held-out documents, for which chains continue over a second network; one without features; and one that
has neither features nor a second network, but corrects probabilities for the sampling of non-links by the formula. Only
the numbers of chains, samples, sweeps and non-links are smaller than the defaults; more sweeps need no more memory.
Counted is what a fit holds at its peak beyond the interpreter with its imports and compiled kernels; a fit of a few
documents goes before, so that these are there. Needs Linux, and at a million documents 6 GB of memory, 3 GB of disk,
and half an hour.

With --defaults chains, samples and non-links also have their defaults, for networks of several sizes.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from common import Row, finish, in_process, options, table

K, LENGTH, N_WORDS, LINKS, NEGATIVES = 50, 50, 20_000, 5, 1
SIZES = (30_000, 100_000, 300_000)
"""Documents of the networks that are fitted with --defaults."""

PASSING = ("U zbar and U^T zbar of documents", "linear and quadratic terms (float32)")
"""What is there only while a chain runs."""

NOTE = (
    "The second network is the first without the documents that are held out. Of U zbar, U^T zbar and the terms only "
    "those of the running chain are kept."
)

CHILD = """
import memory, sys
memory.child(*sys.argv[1:])
"""


def child(folder: str, features: str, calibration: str, size: str = "small") -> None:
    """Fit in this process, and print its peaks and the arrays it holds at the end.

    A fit of size "default" has the default numbers of chains, samples and non-links.
    """
    import gc

    from scipy.sparse import csr_array

    import linktopics.model.training
    from common import forget_peak, memory_mb, peak_mb
    from linktopics import DocumentNetwork, RelationalTopicModel
    from linktopics.sampler.runner import Schedule

    n_samples = linktopics.model.training.CALIBRATION_SCHEDULE.n_samples  # of the network without held-out documents
    linktopics.model.training.CALIBRATION_SCHEDULE = Schedule(1, n_samples if size == "default" else 1, 1)

    settings: dict[str, Any] = {"n_burn_in": 2, "thin": 1, "random_state": 0, "verbose": False}
    settings.update(pair_features="default" if features == "default" else None, calibration=calibration)
    settings.update({"n_jobs": -1} if size == "default" else {"n_chains": 1, "n_samples": 1, "negatives": NEGATIVES})
    model = RelationalTopicModel(K, **settings)
    few = [(number, number + 1) for number in range(29)]
    model.fit(DocumentNetwork(np.random.default_rng(0).poisson(1, (30, 40)), few, vocabulary=map(str, range(40))))
    model = None
    gc.collect()
    forget_peak()
    idle = memory_mb()
    load = {name: np.load(f"{folder}/{name}.npy") for name in ("data", "indices", "indptr", "links")}
    counts = csr_array((load["data"], load["indices"], load["indptr"]), shape=(len(load["indptr"]) - 1, N_WORDS))
    given = memory_mb() - idle
    network = DocumentNetwork(counts, load["links"], vocabulary=map(str, range(N_WORDS)))
    made = peak_mb() - idle
    del counts, load
    gc.collect()
    forget_peak()
    model = RelationalTopicModel(K, **settings).fit(network)
    peak = peak_mb() - idle
    numbers = {
        "pairs": model._run.corpus.n_pairs,
        "chains": model.n_chains,
        "samples": model.n_chains * model.n_samples,
    }
    found = {"idle": idle, "given": given, "made": made, "peak": peak, "arrays": arrays(model), **numbers}
    print(json.dumps(found))


def arrays(model: Any) -> dict[str, float]:
    """Return the sizes of what must exist, in MB."""
    network, corpus = model.network_, model._run.corpus
    state, sample = model._run.chains[0].state, model.samples_[0]
    n_pairs, projection = corpus.n_pairs, 2 * state.doc_topic.nbytes
    pairs = corpus.source.nbytes + corpus.target.nbytes + corpus.label.nbytes
    sizes = {
        "word counts of the network (CSR)": sum(
            part.nbytes for part in (network.counts.data, network.counts.indices, network.counts.indptr)
        ),
        "links and ids of the network": network.links.nbytes + network.ids.nbytes,
        "words of tokens, and where documents start": corpus.words.nbytes + corpus.start.nbytes,
        "topics of tokens": state.assignments.nbytes,
        "topics of documents, counted": state.doc_topic.nbytes,
        "topics of words, counted": state.word_topic.nbytes,
        PASSING[0]: projection,
        "pairs: source, target, label": pairs,
        "pairs by source and by target": corpus.out_start.nbytes + corpus.in_start.nbytes + corpus.in_pair.nbytes,
        "augmented variables (float64)": state.augmented.nbytes,
        PASSING[1]: 2 * 4 * n_pairs,
        "one posterior sample": sample.doc_topic.nbytes + sample.word_topic.nbytes,
        "features of pairs (float64)": corpus.features.nbytes,
    }
    if model.calibration_.curves:
        twice = sum(size for name, size in sizes.items() if name not in PASSING)
        sizes["the second network and chain, for calibration"] = twice
    return {name: size / 2**20 for name, size in sizes.items() if size}


def make(folder: str, documents: int) -> tuple[int, int]:
    """Simulate a network, write it to a folder and return how many tokens and links it has."""
    from linktopics.datasets import make_network

    network = make_network(documents, K, N_WORDS, mean_length=LENGTH, mean_degree=LINKS, random_state=0)
    counts = network.counts
    parts = {"data": counts.data, "indices": counts.indices, "indptr": counts.indptr, "links": network.links}
    for name, array in parts.items():
        np.save(Path(folder) / f"{name}.npy", array)
    return network.n_tokens, network.n_links


def main() -> None:
    """Run the benchmark."""
    arguments = options(
        __doc__,
        ("--documents", {"type": int, "default": 1_000_000}),
        ("--defaults", {"action": "store_true", "help": "fits with all defaults, but fewer sweeps, of several sizes"}),
    )
    if arguments.defaults:
        measure_defaults(arguments)
        return
    documents = 20_000 if arguments.quick else arguments.documents
    with tempfile.TemporaryDirectory() as folder:
        tokens, links = make(folder, documents)
        whole, measured, plain = (
            in_process(CHILD, folder, *case)
            for case in (("default", "held-out"), ("none", "held-out"), ("none", "sampling"))
        )
    columns = {"what": ("what", "{}"), "mb": ("MB", "{:,.0f}"), "ratio": ("times", "{:.2f}")}
    others = [
        {"what": "peak of fit without features, with calibration on held-out documents", "mb": measured["peak"]},
        {"what": "interpreter with imports and compiled kernels, not counted", "mb": plain["idle"]},
        {"what": "counts and links as given to DocumentNetwork", "mb": plain["given"]},
        {"what": "peak while the DocumentNetwork is made, with what was given", "mb": plain["made"]},
    ]
    about = (
        f"`RelationalTopicModel({K}, n_chains=1, negatives={NEGATIVES}).fit(network)` on {documents:,} simulated "
        f"documents with {tokens:,} tokens and {links:,} links, and as many non-links; three iterations, one sample, "
        "and two iterations for calibration. Everything else has its default. Below, the same with "
        '`pair_features=None, calibration="sampling"`. MB are 2^20 bytes.'
    )
    tables = [
        table("Memory of a fit", columns, rows_of(whole), NOTE),
        table("Memory of a fit without features and without calibration", columns, rows_of(plain)),
        table("Besides", columns, others),
    ]
    finish("Memory", about, tables, arguments, peak_over_must=whole["peak"] / sum(whole["arrays"].values()))


def measure_defaults(arguments: Any) -> None:
    """Measure fits with all defaults, but fewer sweeps."""
    rows: list[Row] = []
    for documents in SIZES[:1] if arguments.quick else SIZES:
        with tempfile.TemporaryDirectory() as folder:
            _, links = make(folder, documents)
            found = in_process(CHILD, folder, "default", "held-out", "default")
        kb = 1024 * found["peak"] / documents
        row = {"documents": documents, "links": links, "pairs": found["pairs"], "chains": found["chains"]}
        rows.append(row | {"samples": found["samples"], "mb": found["peak"], "kb": kb})
    columns = {
        "documents": ("documents", "{:,}"),
        "links": ("links", "{:,}"),
        "pairs": ("pairs", "{:,}"),
        "chains": ("chains", "{}"),
        "samples": ("samples", "{}"),
        "mb": ("peak of fit, MB", "{:,.0f}"),
        "kb": ("KB per document", "{:.1f}"),
    }
    about = (
        f"`RelationalTopicModel({K}, n_jobs=-1).fit(network)` on simulated documents of {LENGTH} tokens, with the "
        "default numbers of chains, samples and non-links, features and calibration on held-out documents. Only "
        "the number of sweeps is smaller, which does not affect memory. Counted as above. Samples of all chains are K "
        "numbers of four bytes for each document and sample, 8 KB for each document."
    )
    finish("Memory of a fit with all defaults", about, [table("Peaks", columns, rows)], arguments)


def rows_of(found: dict[str, Any]) -> list[Row]:
    """Return the rows of a table: arrays, all of them, the peak, and how they compare."""
    must = sum(found["arrays"].values())
    rows: list[Row] = [{"what": name, "mb": size} for name, size in found["arrays"].items()]
    rows += [{"what": "all that must exist", "mb": must}, {"what": "peak of fit", "mb": found["peak"]}]
    return [*rows, {"what": "peak of fit / all that must exist", "ratio": found["peak"] / must}]


if __name__ == "__main__":
    main()
