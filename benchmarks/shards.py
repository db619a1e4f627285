"""One chain in shards: how much faster with two threads, what it costs in accuracy, and what shards send each other.

    python benchmarks/shards.py --only speed --json benchmarks/results/shards.json
    python benchmarks/shards.py --only accuracy --json benchmarks/results/accuracy.json

Accuracy: chains in 1, 2, 4 and 8 shards on 80 % of the documents of cora and debian; log joint, and AUC of the links of
held-out documents, against iterations. One shard is the exact sampler. Speed: seconds of an iteration on debian, one
thread and two, in turn.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from common import Row, data_option, finish, one_thread, open_data, options, paper_settings, step_seconds, table
from linktopics import DocumentNetwork, RelationalTopicModel
from linktopics.engines import Threads
from linktopics.evaluation.metrics import auc
from linktopics.network.pairs import sample_pairs
from linktopics.sampler import Corpus, Sampler, initial_state

PARTS = ("accuracy", "speed")
SHARDS = (1, 2, 4, 8)
ACCURACY_COLUMNS = {
    "data": ("data", "{}"),
    "iteration": ("iteration", "{:,}"),
    **{f"joint_{n}": (f"log joint per token, {n} shard{'s' if n > 1 else ''}", "{:.4f}") for n in SHARDS},
    **{f"auc_{n}": (f"AUC, {n}", "{:.4f}") for n in SHARDS},
}
SPEED_COLUMNS = {
    "topics": ("K", "{}"),
    "shards": ("shards", "{}"),
    "one": ("iteration, 1 thread, s", "{:.3f}"),
    "two": ("2 threads, s", "{:.3f}"),
    "speedup": ("1 thread / 2 threads", "{:.2f}"),
    "against_exact": ("exact, 1 thread / 2 threads", "{:.2f}"),
    "topics_speedup": ("topics alone", "{:.2f}"),
    "weights_speedup": ("weights", "{:.2f}"),
    "augmented_speedup": ("augmented", "{:.2f}"),
}
SENT_COLUMNS = {
    "topics": ("K", "{}"),
    "shards": ("shards", "{}"),
    "links_cut": ("links between shards, %", "{:.0f}"),
    "ghosts": ("ghosts per shard", "{:,.0f}"),
    "words": ("words, MB", "{:.2f}"),
    "documents": ("topics of ghosts, MB", "{:.2f}"),
    "pairs": ("augmented variables, MB", "{:.2f}"),
    "sums": ("sums for the weights, MB", "{:.2f}"),
    "all": ("together, MB", "{:.2f}"),
}


def held_out(network: DocumentNetwork, n_test: int) -> tuple[DocumentNetwork, Any, Any]:
    """Return the network of 80 % of the documents, some of the others, and which of the former those link with."""
    shuffled = np.random.default_rng(0).permutation(network.n_documents)
    cut = int(0.8 * network.n_documents)
    train, test = np.sort(shuffled[:cut]), np.sort(shuffled[cut : cut + n_test])
    place = np.full((2, network.n_documents), -1)
    place[0, train], place[1, test] = np.arange(len(train)), np.arange(len(test))
    truth = np.zeros((len(test), len(train)), dtype=bool)
    for i, j in (network.links.T, network.links.T[::-1]):
        across = (place[1, i] >= 0) & (place[0, j] >= 0)
        truth[place[1, i[across]], place[0, j[across]]] = True
    return network.subset(train), network.counts[test], truth


def accuracy_rows(name: str, network: DocumentNetwork, lengths: list[int], seeds: int) -> list[Row]:
    """Return log joint and AUC at the given iterations, the mean over seeds."""
    train, test, truth = held_out(network, 1000)
    rows = [{"data": name, "iteration": n, **{f"auc_{s}": 0.0 for s in SHARDS}} for n in lengths]
    for n_shards in SHARDS:
        traces = []
        for seed in range(seeds):
            model = RelationalTopicModel.from_paper(
                "Gibbs-gRTM", 20, negatives="auto", n_burn_in=lengths[0] - 1, n_shards=n_shards, random_state=seed,
                n_jobs=-1, verbose=False,
            )  # fmt: skip
            for before, row in zip([None, *lengths], rows, strict=False):
                if before is None:
                    model.fit(train)
                else:
                    model.resume(n_burn_in=row["iteration"] - before - 1, n_samples=1)
                assert len(model.log_joint_) == row["iteration"]
                row[f"auc_{n_shards}"] += auc(model.predict_links(test, direction="both"), truth) / seeds
            traces.append(model.log_joint_)
        for row in rows:
            row[f"joint_{n_shards}"] = float(np.mean([t[row["iteration"] - 1] for t in traces])) / train.n_tokens
    return rows


def speed_rows(network: DocumentNetwork, topics: list[int], rounds: int) -> tuple[list[Row], list[Row]]:
    """Return seconds of iterations with one thread and with two, taken in turn, and what was told in them."""
    pairs = sample_pairs(network.links, network.n_documents, True, "auto", np.random.default_rng(0))
    corpus = Corpus.build(network.counts, pairs, symmetric=False)
    speeds, sent = [], []
    for n_topics in topics:
        exact = np.inf
        for n_shards in SHARDS:
            settings = paper_settings(n_topics, n_shards=n_shards)
            samplers = [
                Sampler(
                    corpus, settings, initial_state(corpus, settings, np.random.SeedSequence(0)), Threads(n_threads)
                )
                for n_threads in ((1, 2) if n_shards > 1 else (1,))
            ]
            for sampler in samplers:
                step_seconds(sampler, 5)
            before = samplers[0].pool.sent.copy()
            best: list[dict[str, float]] = [{} for _ in samplers]
            for _ in range(rounds):
                for number, sampler in enumerate(samplers):
                    spent = step_seconds(sampler, 1)
                    best[number] = {step: min(s, best[number].get(step, np.inf)) for step, s in spent.items()}
            row: Row = {"topics": n_topics, "shards": n_shards, "one": best[0]["iteration"]}
            if n_shards == 1:
                exact = best[0]["iteration"]
            else:
                row |= {"two": best[1]["iteration"], "against_exact": exact / best[1]["iteration"]}
                row["speedup"] = row["one"] / row["two"]
                row |= {f"{step}_speedup": best[0][step] / best[1][step] for step in ("topics", "weights", "augmented")}
                told = {kind: amount / rounds / 1e6 for kind, amount in (samplers[0].pool.sent - before).items()}
                parts = samplers[0].parts
                owner = np.empty(corpus.n_documents, int)
                for part in parts:
                    owner[part.documents] = part.number
                cut = owner[corpus.source] != owner[corpus.target]
                sent.append(
                    {
                        "topics": n_topics,
                        "shards": n_shards,
                        "links_cut": 100 * float(cut[corpus.label].mean()),
                        "ghosts": float(np.mean([part.corpus.n_documents - part.n_own for part in parts])),
                        "words": told["words"],
                        "documents": told["topics"],
                        "pairs": told["pairs"],
                        "sums": told["sums"],
                        "all": sum(told.values()),
                    }
                )
            speeds.append(row)
            for sampler in samplers:
                sampler.close()
    return speeds, sent


def main() -> None:
    """Run the benchmark."""
    only = {"nargs": "+", "choices": PARTS, "default": PARTS, "help": "parts of the benchmark; by default both"}
    topics = {"type": int, "nargs": "+", "default": [20], "help": "numbers of topics of the speeds; by default 20"}
    arguments = options(__doc__, data_option(), ("--only", only), ("--topics", topics))
    tables = []
    quick = arguments.quick
    debian = None if quick else open_data("debian", arguments.data)
    if "speed" in arguments.only:
        network = debian or open_data("cora-r", arguments.data)
        with one_thread():
            speeds, sent = speed_rows(network, arguments.topics, 3 if quick else 5)
        note = (
            "Best of several iterations; the two are timed alternately. The result does not depend on the number of "
            "threads."
        )
        tables.append(table("Iterations in two threads", SPEED_COLUMNS, speeds, note))
        note = (
            "Ghosts are documents of other shards that a shard has a pair with. Non-links are pairs of documents at "
            "random, so nearly every document is a ghost somewhere, however well linked documents are kept together."
        )
        tables.append(table("What shards send each other in an iteration", SENT_COLUMNS, sent, note))
    if "accuracy" in arguments.only:
        sets = [("cora", open_data("cora", arguments.data), [5, 20] if quick else [5, 10, 20, 50, 100, 200])]
        if debian is not None:
            sets.append(("debian", debian, [5, 10, 20, 40]))
        rows = []
        for name, network, lengths in sets:
            rows += accuracy_rows(name, network, lengths, seeds=1 if quick or name == "debian" else 2)
        note = (
            "Gibbs-gRTM, K = 20, without features of pairs, one posterior sample; on cora the mean of two chains, on "
            "debian one. One shard is the exact sampler. 1,000 test documents at most, ranked by their words."
        )
        tables.append(table("Accuracy of chains in shards", ACCURACY_COLUMNS, rows, note))
    about = (
        "Within a sweep, the documents of a shard see words and topics of other shards as they were at its start. "
        "Documents are assigned to shards of equal cost so that few links lead from one shard to another."
    )
    title = "One chain in shards" if "speed" in arguments.only else "What shards cost in accuracy"
    finish(title, about, tables, arguments)


if __name__ == "__main__":
    main()
