"""Speed of the exact relational sweep, compared with plain LDA in tomotopy and the paper's loop over neighbours.

    python benchmarks/sweep.py [--quick] [--topics 10 20 50 100 200] [--json benchmarks/results/sweep.json]

Needs the data sets cora-r, cora and debian, and ``pip install '.[benchmark]'``. Everything is timed in turn within one
run, on one thread, and the best of several rounds is taken, so ratios hold where seconds do not.
"""

from __future__ import annotations

import copy
import time
from dataclasses import replace
from typing import Any

import numpy as np
import tomotopy

from common import best_seconds, data_option, finish, one_thread, open_data, options, paper_settings, table
from linktopics import DocumentNetwork, RelationalTopicModel
from linktopics.network.pairs import sample_pairs
from linktopics.sampler import Corpus, Sampler, initial_state
from paper_loop import PaperSampler

NETWORKS: dict[str, dict[str, Any]] = {
    "cora-r": {"negatives": 0.01, "burn_in": 100, "rounds": 7},
    "cora": {"negatives": 0.01, "burn_in": 100, "rounds": 7},
    "debian": {"negatives": "auto", "burn_in": 30, "rounds": 5},
}
AFFORDABLE = 2e9
"""Visits of the paper's loop (token, neighbour and topic) in a sweep, up to which it is run too: some seconds."""

NEAR = 64
"""Documents whose rows are always in the nearest caches, to tell what memory costs."""

COLUMNS = {
    "data": ("data", "{}"),
    "topics": ("K", "{}"),
    "exact": ("exact sweep, M tokens/s", "{:.1f}"),
    "tomotopy": ("plain LDA in tomotopy", "{:.1f}"),
    "paper": ("the paper's loop", "{:.2f}"),
    "exact_over_tomotopy": ("exact / tomotopy", "{:.2f}"),
    "exact_over_paper": ("exact / paper's loop", "{:.1f}"),
    "lda": ("our sweep without links", "{:.1f}"),
    "ends": ("pair ends per token", "{:.2f}"),
    "met": ("topics per document", "{:.1f}"),
    "end_ns": ("ns per pair end", "{:.0f}"),
    "near_ns": ("if rows were near", "{:.0f}"),
    "topics_ms": ("topics, ms", "{:.1f}"),
    "augmented_ms": ("augmented, ms", "{:.1f}"),
    "weights_ms": ("weights, ms", "{:.1f}"),
}


def tomotopy_model(network: DocumentNetwork, n_topics: int, burn_in: int) -> Any:
    """Return tomotopy's LDA on the same tokens, with the same priors and no optimisation of them."""
    model = tomotopy.LDAModel(k=n_topics, alpha=5.0 / n_topics, eta=0.01, seed=1)
    model.optim_interval = 0
    for row in range(network.n_documents):
        entries = slice(*network.counts.indptr[row : row + 2])
        words = np.repeat(network.counts.indices[entries], network.counts.data[entries])
        if len(words):
            model.add_doc([str(word) for word in words])
    model.train(burn_in, workers=1)
    return model


def visits(corpus: Corpus, n_topics: int) -> float:
    """Return how often the paper's loop weighs a token, a neighbour and a topic in one sweep."""
    neighbours = np.diff(corpus.out_start) + np.diff(corpus.in_start)
    return float(np.diff(corpus.start) @ neighbours) * n_topics


def measure(name: str, network: DocumentNetwork, n_topics: int, negatives: Any, burn_in: int, rounds: int) -> Any:
    """Return a row of the table."""
    pairs = sample_pairs(network.links, network.n_documents, network.directed, negatives, np.random.default_rng(0))
    corpus = Corpus.build(network.counts, pairs, symmetric=not network.directed)
    settings = paper_settings(n_topics)
    state = initial_state(corpus, settings, np.random.SeedSequence(0))
    sampler = Sampler(corpus, settings, state)
    for _ in range(burn_in):
        sampler.step()
    plain = tomotopy_model(network, n_topics, burn_in)
    none = sample_pairs(network.links[:0], network.n_documents, network.directed, 0.0, np.random.default_rng(0))
    words = Corpus.build(network.counts, none, symmetric=not network.directed)
    lda = Sampler(words, settings, initial_state(words, settings, np.random.SeedSequence(0)))
    for _ in range(burn_in):
        lda.step()
    near = replace(corpus, target=corpus.target % NEAR, in_source=corpus.in_source % NEAR)
    close = Sampler(near, settings, copy.deepcopy(state))
    close.shard.update_gaussian()
    tasks = {
        "tomotopy": lambda: plain.train(1, workers=1),
        "lda": lda.shard.draw_topics,
        "near": close.shard.draw_topics,
    }
    if visits(corpus, n_topics) <= AFFORDABLE:
        tasks["paper"] = PaperSampler(corpus, state, n_topics).draw_topics
    best: dict[str, float] = {}
    for _ in range(rounds):
        before = dict(sampler.seconds)
        sampler.step()
        spent = {step: sampler.seconds[step] - before[step] for step in before} | best_seconds(tasks, 1)
        best = {step: min(seconds, best.get(step, np.inf)) for step, seconds in spent.items()}
    row = {"data": name, "topics": n_topics, "tokens": corpus.n_tokens, "pairs": corpus.n_pairs}
    row |= {f"{step}_ms": 1000 * best[step] for step in ("topics", "augmented", "weights")}
    row["exact"] = corpus.n_tokens / best["topics"] / 1e6
    for other in tasks:
        row[other] = corpus.n_tokens / best[other] / 1e6
        row[f"exact_over_{other}"] = best[other] / best["topics"]
    row["ends"] = 2 * corpus.n_pairs / corpus.n_tokens
    row["met"] = float((state.doc_topic > 0).sum(1).mean())
    row["end_ns"] = 1e9 * (best["topics"] - best["lda"]) / (2 * corpus.n_pairs)
    row["near_ns"] = 1e9 * (best["near"] - best["lda"]) / (2 * corpus.n_pairs)
    return row


def training_run(network: DocumentNetwork, n_burn_in: int) -> float:
    """Return the seconds of the paper's run of 1,753 s: 20 topics, 400 iterations, 80 % of the documents of Cora."""
    chosen = np.random.default_rng(0).permutation(network.n_documents)[: int(0.8 * network.n_documents)]
    model = RelationalTopicModel.from_paper(
        "Gibbs-gRTM", n_topics=20, n_burn_in=n_burn_in - 1, random_state=0, verbose=False
    )
    train = network.subset(np.sort(chosen))
    clock = time.perf_counter()
    model.fit(train)
    return time.perf_counter() - clock


def main() -> None:
    """Run the benchmark."""
    arguments = options(
        __doc__, data_option(), ("--topics", {"type": int, "nargs": "+", "help": "by default 10 20 50 100 200"})
    )
    rows = []
    quick = {"burn_in": 10, "rounds": 2} if arguments.quick else {}
    with one_thread():
        for name, settings in NETWORKS.items():
            if arguments.quick and name == "debian":
                continue
            network = open_data(name, arguments.data)
            numbers = arguments.topics or ([10, 50] if arguments.quick else [10, 20, 50, 100, 200])
            rows += [measure(name, network, n_topics, **{**settings, **quick}) for n_topics in numbers]
        n_burn_in = 40 if arguments.quick else 400
        seconds = training_run(open_data("cora", arguments.data), n_burn_in)
    pairs = ", ".join(dict.fromkeys(f"{row['pairs']:,} on {row['data']}" for row in rows))
    about = (
        "The exact sweep draws topics given words *and* links and sampled non-links (pairs: "
        f"{pairs}). tomotopy's LDA draws topics given words alone, from the same tokens: it does less. The paper's "
        "loop visits every neighbour for every token and topic, as the paper's algorithm is written, and is compiled "
        "too; it is left out where it would take too long. One thread; the best of several rounds. “Our sweep "
        "without links” is the same kernel without pairs. Each pair is processed from both ends. At each end, the row "
        "of K numbers of the other document is read and added to one row per topic of this document. “ns per pair end” "
        "is the time beyond that of the sweep without links, divided by the number of ends. “If rows were near” is the "
        f"same with all pairs leading to the first {NEAR} documents, whose rows stay in cache; if it is no lower, the "
        "time goes into arithmetic and not into memory access."
    )
    found = [
        table("Topics: million tokens per second, and milliseconds of the three steps", COLUMNS, rows),
        table(
            "A training run on Cora as in the paper: 80 % of the documents, K = 20, 1 % non-links",
            {
                "iterations": ("iterations", "{}"),
                "seconds": ("here, s", "{:.1f}"),
                "paper_seconds": ("in the paper, on a desktop computer of 2013, s", "{:,}"),
            },
            [{"iterations": n_burn_in, "seconds": seconds} | ({} if arguments.quick else {"paper_seconds": 1753})],
        ),
    ]
    finish("The topic sweep", about, found, arguments, ["tomotopy"])


if __name__ == "__main__":
    main()
