"""Speed of prediction: suggestions for new documents against a large and a very large network, exact and by the index.

    python benchmarks/prediction.py [--data FOLDER] [--quick] [--large 1000000] [--topics 50] [--threads N]
        [--model FOLDER] [--json benchmarks/results/prediction.json]

Some documents of debian (of Cora with --quick) are kept apart as new ones, and a model is fitted to the others for a
few sweeps: what is timed does not depend on how good it is. --model keeps it there, and takes it from there the next
time. The very large network is made up of the first, without fitting: each of its documents has a document of the first
as its origin, three tenths of its words and topics are those of one of the origin's neighbours, and links lead to
documents with the same origins. Needs Linux, for memory.
"""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

import linktopics.prediction.index
from common import (
    Row,
    best_seconds,
    data_option,
    finish,
    forget_peak,
    memory_mb,
    one_thread,
    open_data,
    options,
    peak_mb,
    table,
)
from linktopics import DocumentNetwork, RelationalTopicModel
from linktopics.errors import ignore_mixing_warnings
from linktopics.features import resolve_features, with_shared_caches
from linktopics.kernels.inference import infer
from linktopics.kernels.simd import padded
from linktopics.network.inputs import Documents
from linktopics.prediction.predictor import Predictor
from linktopics.sampler import tokens

N_NEW, SINGLE, TOP = 436, 20, 20
SWEEPS, ROUNDS = 40, 3
TAKEN = 0.3
"""Share of the words and topics of a made-up document that come from a neighbour of its origin."""


def inference_rate(model: RelationalTopicModel, counts: csr_array) -> float:
    """Return token updates per second on one thread, over a fixed number of sweeps."""
    K = model.n_topics
    alpha = np.zeros((1, padded(K)), np.float32)
    alpha[0, :K] = model.alpha / K
    start, words = tokens(counts)
    shares = np.zeros((counts.shape[0], padded(K)), np.float32)

    def run() -> None:
        # A negative tolerance is never met, so every document gets exactly SWEEPS + 1 sweeps.
        infer((0,) * padded(K), start, words, model.samples_[0].word_topic, alpha, 1, SWEEPS, 1, -1.0,
              0, counts.shape[0], shares)  # fmt: skip

    run()  # compiles
    return len(words) * (SWEEPS + 1) / best_seconds({"infer": run}, ROUNDS)["infer"]


def fitted(network: DocumentNetwork, n_topics: int, threads: int, folder: Path | None) -> RelationalTopicModel:
    """Return a model of the network, from the folder if it is there."""
    if folder is not None and (folder / "model.json").exists():
        model = RelationalTopicModel.load(folder)
        return model.set_params(n_jobs=threads, verbose=False)
    short: dict[str, Any] = {
        "n_chains": 2,
        "n_burn_in": 60,
        "n_samples": 5,
        "thin": 2,
        "negatives": 5,
        "random_state": 0,
    }
    with ignore_mixing_warnings():
        model = RelationalTopicModel(n_topics, n_jobs=threads, verbose=False, **short).fit(network)
    if folder is not None:
        model.save(folder)
    return model


def made_up(model: RelationalTopicModel, n: int, threads: int) -> Predictor:
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
    features = with_shared_caches(
        one.fit(network, run.settings, np.random.SeedSequence(0)) for one in resolve_features(model.pair_features)
    )
    return Predictor(
        network=network,
        samples=samples,
        best_chain=model.best_chain_,
        settings=run.settings,
        features=replace(run.features, source=features),
        calibration=model.calibration_,
        seed=0,
        n_jobs=threads,
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


def ask(predictor: Predictor, new: csr_array, search: str) -> tuple[pd.DataFrame, float]:
    """Return suggestions and the seconds they took."""
    clock = time.perf_counter()
    found = predictor.suggest(Documents(new), TOP, "both", 0.9, search=search)
    return found, time.perf_counter() - clock


def prepare(predictor: Predictor, new: csr_array, search: str) -> Row:
    """Return seconds and memory of what is only done once: all for a first exact answer, or the index."""
    before, clock = memory_mb(), time.perf_counter()
    if search == "exact":
        ask(predictor, new[:1], search)
    else:
        assert predictor.index is not None  # which builds it
    return {"ready": time.perf_counter() - clock, "mb": memory_mb() - before}


def measure(predictor: Predictor, new: csr_array, first: Row) -> tuple[list[Row], list[Row]]:
    """Return the rows of both tables of suggestions for one network; `first` is what the first answer took."""
    n, n_new = predictor.network.n_documents, new.shape[0]
    rows, frames = [], {}
    for search in ("exact", "index"):
        once = first if search == "exact" else prepare(predictor, new, search)
        ask(predictor, new[:2], search)
        single = [ask(predictor, new[[k]], search)[1] for k in range(min(SINGLE, n_new))]
        frames[search], seconds = ask(predictor, new, search)
        rates = {"one_by_one": 1 / float(np.mean(single)), "in_batches": n_new / seconds}
        rows.append({"documents": n, "search": search, **once, **rates})
    index = linktopics.prediction.index
    recalls, usual = [], (index.SOURCE_CANDIDATES, index.DOCUMENTS_PER_SOURCE_CANDIDATE)
    wanted = predictor.index.wanted
    for size in (wanted // 2, wanted, 2 * wanted):
        index.SOURCE_CANDIDATES, index.DOCUMENTS_PER_SOURCE_CANDIDATE = size, n
        found, seconds = ask(predictor, new, "index")
        row = {"documents": n, "candidates": size, "default": "yes" if size == wanted else "no"}
        row |= {f"at_{top}": recall(frames["exact"], found, top) for top in (8, TOP)}
        recalls.append({**row, "per_second": n_new / seconds})
    index.SOURCE_CANDIDATES, index.DOCUMENTS_PER_SOURCE_CANDIDATE = usual
    return rows, recalls


def recall(exact: Any, found: Any, top: int) -> float:
    """Return the share of the exact suggestions that were found, averaged over documents."""
    best = [frame.groupby("document").head(top).groupby("document")["id"].apply(set) for frame in (exact, found)]
    return float(np.mean([len(one & two) / len(one) for one, two in zip(*best, strict=True)]))


def many(model: RelationalTopicModel, new: csr_array, n_transformed: int, n_suggested: int) -> list[Row]:
    """Return what many documents at once take; those of the network stand for new ones."""
    with one_thread():
        rows: list[Row] = [
            {"what": "million token updates per second, one thread", "value": inference_rate(model, new) / 1e6}
        ]
    counts = model.network_.counts
    clock = time.perf_counter()
    model.transform(counts[:n_transformed])
    rows.append({"what": f"`transform` of {n_transformed:,} documents, s", "value": time.perf_counter() - clock})
    forget_peak()
    before, clock = memory_mb(), time.perf_counter()
    model.suggest_links(counts[:n_suggested], top=10)
    rows.append({"what": f"`suggest_links(top=10)` for {n_suggested:,}, s", "value": time.perf_counter() - clock})
    rows.append({"what": "peak growth of memory, MB", "value": peak_mb() - before})
    dense = n_suggested * counts.shape[0] * 8 / 2**20
    return [*rows, {"what": "the dense array that is never made, MB", "value": dense}]


def main() -> None:
    """Run the benchmark."""
    arguments = options(
        __doc__,
        data_option(),
        ("--large", {"type": int, "help": "documents of the very large network"}),
        ("--topics", {"type": int}),
        ("--threads", {"type": int, "default": os.cpu_count()}),
        ("--model", {"type": Path, "metavar": "FOLDER", "help": "where the model is kept"}),
    )
    quick = arguments.quick
    data, topics, large, n_new = ("cora", 20, 20_000, 20) if quick else ("debian", 50, 1_000_000, 100)
    topics, large = arguments.topics or topics, arguments.large or large
    network = open_data(data, arguments.data)
    order = np.random.default_rng(0).permutation(network.n_documents)
    kept_apart = network.counts[np.sort(order[:N_NEW])]
    training = network.subset(np.sort(order[N_NEW:]))
    model = fitted(training, topics, arguments.threads, arguments.model)
    new = kept_apart[:n_new]
    small = model.predictor
    first = prepare(small, new, "exact")
    rows = many(model, kept_apart, *((500, 200) if quick else (10_000, 1000)))  # while little memory is in use
    found = [measure(small, new, first)]
    huge = made_up(model, large, arguments.threads)
    found.append(measure(huge, new, prepare(huge, new, "exact")))
    about = (
        f"New documents of {kept_apart.sum() / N_NEW:.0f} tokens, K = {topics}, {len(model.samples_)} posterior "
        f"samples, the default features of pairs, {arguments.threads} thread(s). {training.n_documents:,} documents "
        f"of {data}; the {large:,} are made from them (see the benchmark)."
    )
    rates = {
        "documents": ("documents", "{:,}"),
        "search": ("search", "{}"),
        "ready": ("first response, or building the index, s", "{:,.1f}"),
        "mb": ("memory for it, MB", "{:,.0f}"),
        "one_by_one": ("new documents per second, one at a time", "{:.1f}"),
        "in_batches": (f"in batches of {n_new}", "{:.1f}"),
    }
    recalls = {
        "documents": ("documents", "{:,}"),
        "candidates": ("candidates from each source", "{:,}"),
        "default": ("default", "{}"),
        "at_8": ("recall at 8", "{:.3f}"),
        f"at_{TOP}": (f"recall at {TOP}", "{:.3f}"),
        "per_second": ("new documents per second", "{:.1f}"),
    }
    facts = {"what": ("what", "{}"), "value": ("measured", "{:,.1f}")}
    tables = [
        table(f"Suggestions, `suggest_links(top={TOP})`", rates, [row for of_one, _ in found for row in of_one]),
        table(
            f"Share of the exact suggestions that the index finds, {n_new} new documents",
            recalls,
            [row for _, of_one in found for row in of_one],
            "Sources are the index of topics and text for each direction, documents with the same rare words, and "
            "neighbours of these.",
        ),
        table(f"Many documents at once, {training.n_documents:,} known", facts, rows),
    ]
    finish("Prediction", about, tables, arguments, ["faiss-cpu"])


if __name__ == "__main__":
    main()
