"""Speed of prediction: suggestions for new documents against a large and a very large network, exact and by the index.

    python benchmarks/prediction.py FOLDER [--large N] [--model FOLDER] [--json docs/results/prediction.json]

FOLDER is a network that `linktopics.datasets.open_network` reads; some of its documents are kept apart as new ones. A
model is fitted to the others for a few sweeps: what is timed does not depend on how good it is. --model keeps it, and
takes it from there the next time. The very large network is made up of the first, without fitting: each of its
documents has a document of the first as its origin, three tenths of its words and topics are those of one of the
origin's neighbours, and links lead to documents with the same origins. With --json the results are written to that
file, and as a page to the one beside it that ends in .md. Needs Linux, for memory.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import time
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

import linktopics.index
from linktopics import DocumentNetwork, RelationalTopicModel
from linktopics._inputs import Documents
from linktopics.datasets import open_network
from linktopics.features import resolve_features
from linktopics.kernels.lanes import padded
from linktopics.kernels.sweep import infer
from linktopics.prediction import Predictor
from linktopics.sampler import tokens

N_NEW, BATCH, SINGLE, ASKED = 436, 100, 20, 100
SWEEPS, ROUNDS = 40, 3
SHORTLISTS = (50, 100, 200, 400)
TAKEN = 0.3
"""Share of the words and topics of a made-up document that come from a neighbour of its origin."""


def inference_rate(model: RelationalTopicModel, counts: csr_array) -> float:
    """Return token updates per second on one thread, over a fixed number of sweeps."""
    K = model.n_topics
    alpha = np.zeros((1, padded(K)), np.float32)
    alpha[0, :K] = model.alpha / K
    start, words = tokens(counts)
    shares = np.zeros((counts.shape[0], padded(K)), np.float32)
    best = float("inf")
    for _ in range(ROUNDS + 1):  # the first compiles
        clock = time.perf_counter()
        # A negative tolerance is never met, so every document gets exactly SWEEPS + 1 sweeps.
        infer((0,) * padded(K), start, words, model.samples_[0].word_topic, alpha, 1, SWEEPS, 1, -1.0,
              0, counts.shape[0], shares)  # fmt: skip
        best = min(best, time.perf_counter() - clock)
    return len(words) * (SWEEPS + 1) / best


def fitted(network: DocumentNetwork, n_topics: int, folder: Path | None) -> RelationalTopicModel:
    """Return a model of the network, from the folder if it is there."""
    if folder is not None and (folder / "model.json").exists():
        return RelationalTopicModel.load(folder)
    short: dict[str, Any] = {"n_chains": 2, "n_iter": 60, "n_samples": 5, "thin": 2, "negatives": 5, "random_state": 0}
    model = RelationalTopicModel(n_topics, n_jobs=-1, verbose=False, **short).fit(network)
    if folder is not None:
        model.save(folder)
    return model


def made_up(model: RelationalTopicModel, n: int) -> Predictor:
    """Return what answers about a network of n documents that are like those of the model."""
    rng = np.random.default_rng(1)
    known = model.network_
    origin = rng.integers(0, known.n_documents, n)
    source, target = known.links.T
    ends = np.concatenate([source, target]), np.concatenate([target, source])
    other = csr_array((np.ones(len(ends[0])), ends), shape=(known.n_documents,) * 2)
    degree = np.diff(other.indptr)[origin]
    place = other.indptr[origin] + (rng.random(n) * np.maximum(degree, 1)).astype(np.int64)
    neighbour = np.where(degree > 0, other.indices[np.minimum(place, other.nnz - 1)], origin)
    counts = _words(known, origin, neighbour, rng)
    network = DocumentNetwork(counts, _links(known, origin, rng), link_ends="indices", directed=known.directed)
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    samples = [
        replace(sample, doc_topic=_topics(sample.doc_topic, origin, neighbour, lengths, rng))
        for sample in model.samples_
    ]
    run = model._run
    features = [
        one.fit(network, run.settings, np.random.SeedSequence(0)) for one in resolve_features(model.pair_features)
    ]
    return Predictor(
        network, samples, model.best_chain_, run.settings, replace(run.features, source=features), 0, os.cpu_count()
    )


def _words(known: DocumentNetwork, origin: np.ndarray, neighbour: np.ndarray, rng: np.random.Generator) -> csr_array:
    """Draw the words of documents from those of their origin and of a neighbour of it."""
    start, words = tokens(known.counts)
    length = np.diff(start)
    document = np.repeat(np.arange(len(origin)), length[origin])
    own = np.arange(len(document)) - np.repeat(np.cumsum(length[origin]) - length[origin], length[origin])
    drawn = words[start[origin[document]] + own]
    there = length[neighbour[document]]
    taken = np.flatnonzero((rng.random(len(document)) < TAKEN) & (there > 0))
    at = (rng.random(len(taken)) * there[taken]).astype(np.int64)
    drawn[taken] = words[start[neighbour[document[taken]]] + at]
    ones = np.ones(len(drawn), np.int32)
    return csr_array((ones, (document, drawn)), shape=(len(origin), known.n_words))


def _links(known: DocumentNetwork, origin: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Let each document link with a random one of those that have the origin's links as origins."""
    order = np.argsort(origin, kind="stable")
    first = np.searchsorted(origin[order], np.arange(known.n_documents + 1))
    n_copies = np.diff(first)
    source, target = known.links.T
    which = np.repeat(np.arange(len(source)), n_copies[source])
    copy = np.arange(len(which)) - np.repeat(np.cumsum(n_copies[source]) - n_copies[source], n_copies[source])
    a = order[first[source[which]] + copy]
    there = n_copies[target[which]] > 0
    other = (rng.random(len(which)) * n_copies[target[which]]).astype(np.int64)
    b = order[np.minimum(first[target[which]] + other, len(order) - 1)]
    return np.unique(np.column_stack([a, b])[there & (a != b)], axis=0)


def _topics(
    shares: np.ndarray, origin: np.ndarray, neighbour: np.ndarray, lengths: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Draw the topics of documents, as many tokens as they have, from those of their origin and its neighbour."""
    result = np.empty((len(origin), shares.shape[1]), np.float32)
    for first in range(0, len(origin), 50_000):
        rows = slice(first, first + 50_000)
        p = (1 - TAKEN) * shares[origin[rows]].astype(float) + TAKEN * shares[neighbour[rows]]
        result[rows] = rng.multinomial(lengths[rows], p / p.sum(axis=1, keepdims=True))
    result /= np.maximum(lengths, 1)[:, None]
    return result


def rates(predictor: Predictor, new: csr_array, search: str) -> dict[str, float]:
    """Return new documents per second, one at a time and in batches."""

    def ask(rows: slice) -> float:
        clock = time.perf_counter()
        predictor.suggest(Documents(new[rows]), 10, "both", 0.9, search=search)
        return time.perf_counter() - clock

    ask(slice(0, 2))  # what is only done once
    single = sum(ask(slice(k, k + 1)) for k in range(SINGLE)) / SINGLE
    return {"one_by_one": 1 / single, "in_batches": BATCH / ask(slice(0, BATCH))}


def measure(predictor: Predictor, new: csr_array) -> dict[str, Any]:
    """Return all figures of one network."""
    results: dict[str, Any] = {"documents": predictor.network.n_documents, "links": predictor.network.n_links}
    clock = time.perf_counter()
    predictor.suggest(Documents(new[:1]), 10, "both", 0.9, search="exact")
    results["first_seconds"] = time.perf_counter() - clock
    results["exact"] = rates(predictor, new, "exact")
    before, clock = memory_mb(), time.perf_counter()
    assert predictor._index is not None
    results["index_seconds"] = time.perf_counter() - clock
    results["index_mb"] = memory_mb() - before
    results["index"] = rates(predictor, new, "index")
    few = Documents(new[:ASKED])
    exact = predictor.suggest(few, 20, "both", 0.9, search="exact")
    results["recall"] = []
    usual = linktopics.index.SHORTLIST
    for size in SHORTLISTS:
        linktopics.index.SHORTLIST = size
        clock = time.perf_counter()
        found = predictor.suggest(few, 20, "both", 0.9, search="index")
        seconds = time.perf_counter() - clock
        row = {f"at_{top}": recall(exact, found, top) for top in (8, 20)}
        results["recall"].append({"shortlist": size, **row, "per_second": ASKED / seconds})
    linktopics.index.SHORTLIST = usual
    return results


def recall(exact: Any, found: Any, top: int) -> float:
    """Return the share of the exact suggestions that were found, averaged over documents."""
    best = [frame.groupby("document").head(top).groupby("document")["id"].apply(set) for frame in (exact, found)]
    return float(np.mean([len(one & two) / len(one) for one, two in zip(*best, strict=True)]))


def memory_mb() -> float:
    """Return the memory that the process has now."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def page(results: dict[str, Any]) -> str:
    """Return the results as a page of the documentation."""
    sizes = results["networks"]
    lines = [
        "# Speed of prediction",
        "",
        "`python benchmarks/prediction.py FOLDER --json docs/results/prediction.json`,",
        f"{results['when']}, {results['machine']}; {results['versions']}.",
        f"New documents of {results['tokens_per_new_document']:.0f} tokens, K = {results['topics']}, "
        f"{results['samples']} posterior samples, the default features of pairs, {results['threads']} threads. "
        f"{sizes[0]['documents']:,} documents of {results['data']}; the {sizes[1]['documents']:,} are made up of them "
        "(see the benchmark).",
        *([results["note"]] if results.get("note") else []),
        "",
        "| `suggest_links(top=10)` | " + " | ".join(f"{size['documents']:,} documents" for size in sizes) + " |",
        "|---|" + "---|" * len(sizes),
    ]
    rows = {
        "first answer, s": lambda r: f"{r['first_seconds']:.1f}",
        "exact, one at a time, documents per second": lambda r: f"{r['exact']['one_by_one']:.1f}",
        f"exact, in batches of {BATCH}": lambda r: f"{r['exact']['in_batches']:.1f}",
        "building the index, s": lambda r: f"{r['index_seconds']:.0f}",
        "memory of the index, MB": lambda r: f"{r['index_mb']:,.0f}",
        "index, one at a time, documents per second": lambda r: f"{r['index']['one_by_one']:.1f}",
        f"index, in batches of {BATCH}": lambda r: f"{r['index']['in_batches']:.1f}",
    }
    lines += [f"| {name} | " + " | ".join(show(size) for size in sizes) + " |" for name, show in rows.items()]
    for size in sizes:
        lines += [
            "",
            f"Share of the exact suggestions that the index finds, {size['documents']:,} documents, {ASKED} new ones:",
            "",
            "| candidates from each source | recall at 8 | recall at 20 | documents per second (top=20) |",
            "|---|---|---|---|",
            *(
                f"| {row['shortlist']}{' (the default)' if row['shortlist'] == results['default'] else ''} | "
                f"{row['at_8']:.3f} | {row['at_20']:.3f} | {row['per_second']:.1f} |"
                for row in size["recall"]
            ),
        ]
    rate = results["token_updates_per_second_per_thread"] / 1e6
    lines += ["", f"Topics of new documents: {rate:.1f} million token updates per second and thread."]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--large", type=int, default=1_000_000)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--note", help="a sentence for the page, such as what else the machine was doing")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    network = open_network(arguments.folder)
    order = np.random.default_rng(0).permutation(network.n_documents)
    new = network.counts[np.sort(order[:N_NEW])]
    model = fitted(network.subset(np.sort(order[N_NEW:])), arguments.topics, arguments.model)
    threads = os.cpu_count() or 1
    model.set_params(n_jobs=threads, verbose=False)
    results: dict[str, Any] = {
        "data": arguments.folder.name,
        "tokens_per_new_document": float(new.sum() / N_NEW),
        "topics": model.n_topics,
        "samples": len(model.samples_),
        "threads": threads,
        "default": linktopics.index.SHORTLIST,
        "note": arguments.note,
        "when": time.strftime("%Y-%m-%d"),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "versions": ", ".join(f"{name} {version(name)}" for name in ("linktopics", "faiss-cpu", "numpy", "scipy")),
    }
    with threadpool_limits(1):
        results["token_updates_per_second_per_thread"] = inference_rate(model, new)
    results["networks"] = [measure(model._predictor, new)]
    Console().print(results)
    results["networks"].append(measure(made_up(model, arguments.large), new))
    Console().print(page(results))
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n")
        arguments.json.with_suffix(".md").write_text(page(results))


if __name__ == "__main__":
    main()
