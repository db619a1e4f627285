"""How the cost of an iteration grows: with documents, topics and pairs; and the weight step compared with the sweep.

    python benchmarks/growth.py [--quick] [--only documents topics pairs debian]
        [--json benchmarks/results/growth.json]

Networks are simulated, but for debian, which is looked for among the data sets. All on one thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from common import (
    CONSOLE,
    Row,
    data_option,
    exponent,
    finish,
    one_thread,
    open_data,
    options,
    paper_settings,
    step_seconds,
    table,
)
from linktopics.datasets import make_network
from linktopics.network.pairs import sample_pairs
from linktopics.sampler import Corpus, Sampler, initial_state

LENGTH, N_WORDS = 50, 5000
STEPS = ("topics", "weights", "augmented", "rest", "iteration")
PLAIN: dict[str, int] = {"documents": 10_000, "topics": 20, "pairs": 10}
"""What does not vary is this; pairs are those per document, of which half are links."""

VARIED: dict[str, tuple[int, ...]] = {
    "documents": (1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000),
    "topics": (5, 10, 20, 50, 100, 200),
    "pairs": (1, 2, 5, 10, 20, 50, 100),
}
QUICK: dict[str, tuple[int, ...]] = {"documents": (1000, 3000, 10_000), "topics": (5, 20, 50), "pairs": (2, 10, 50)}
WARM, TIMED = 5, 3
"""Iterations before anything is timed, and those of which the fastest counts."""

COLUMNS = {
    "documents": ("documents", "{:,}"),
    "topics": ("K", "{}"),
    "pairs": ("pairs per document", "{}"),
    **{f"{step}_ms": (f"{step}, ms", "{:,.1f}") for step in STEPS},
}
EXPONENTS = {
    "varied": ("growing", "{}"),
    "from": ("from", "{:,}"),
    "to": ("to", "{:,}"),
    **{step: (step, "{:.2f}") for step in STEPS},
}


def time_steps(corpus: Corpus, n_topics: int, warm: int, timed: int) -> Row:
    """Return milliseconds of the steps of an iteration."""
    settings = paper_settings(n_topics)
    sampler = Sampler(corpus, settings, initial_state(corpus, settings, np.random.SeedSequence(0)))
    step_seconds(sampler, warm)
    return {f"{step}_ms": 1000 * seconds for step, seconds in step_seconds(sampler, timed).items()}


def measure(documents: int, topics: int, pairs: int) -> Row:
    """Return a row of the table: one simulated network."""
    # Topics of the network are those of the middle, so that networks differ in nothing but what varies.
    network = make_network(
        documents, PLAIN["topics"], N_WORDS, mean_length=LENGTH, mean_degree=pairs / 2, random_state=0
    )
    drawn = sample_pairs(network.links, documents, True, 1, np.random.default_rng(0))
    steps = time_steps(Corpus.build(network.counts, drawn, symmetric=False), topics, WARM, TIMED)
    row = {"documents": documents, "topics": topics, "pairs": pairs, **steps}
    CONSOLE.print(f"{documents:,} documents, K = {topics}, {pairs} pairs each: {row['iteration_ms']:,.1f} ms")
    return row


def debian_row(arguments: Any) -> Row:
    """Return the steps on debian with 100 topics."""
    network = open_data("debian", arguments.data)
    drawn = sample_pairs(network.links, network.n_documents, network.directed, "auto", np.random.default_rng(0))
    corpus = Corpus.build(network.counts, drawn, symmetric=not network.directed)
    steps = time_steps(corpus, 100, *((1, 1) if arguments.quick else (20, 3)))
    ratio = steps["weights_ms"] / steps["topics_ms"]
    return {
        "documents": network.n_documents,
        "topics": 100,
        "n_pairs": len(drawn),
        "weights_over_topics": ratio,
        **steps,
    }


def main() -> None:
    """Run the benchmark."""
    parts = (*VARIED, "debian")
    only = {"nargs": "+", "choices": parts, "default": parts, "help": "what varies; by default all"}
    arguments = options(__doc__, data_option(), ("--only", only))
    tables, exponents = [], []
    with one_thread():
        for varied, values in (QUICK if arguments.quick else VARIED).items():
            if varied not in arguments.only:
                continue
            plain = PLAIN | ({"documents": 2000} if arguments.quick else {})
            rows = [measure(**plain | {varied: value}) for value in values]
            row: Row = {"varied": varied, "from": values[0], "to": values[-1]}
            row |= {step: exponent(values, [each[f"{step}_ms"] for each in rows]) for step in STEPS}
            exponents.append(row)
            tables.append(table(f"Growing {varied}", COLUMNS, rows) | {"varied": varied})
        if exponents:
            note = "Slopes of lines through the logarithms: 1 is growth in proportion."
            tables.insert(0, table("Exponents", EXPONENTS, exponents, note))
        if "debian" in arguments.only:
            columns = {
                "documents": COLUMNS["documents"],
                "topics": COLUMNS["topics"],
                "n_pairs": ("pairs", "{:,}"),
                **{f"{step}_ms": COLUMNS[f"{step}_ms"] for step in STEPS},
                "weights_over_topics": ("weights / topics", "{:.2f}"),
            }
            tables.append(table("The weight step compared with the sweep on debian", columns, [debian_row(arguments)]))
    about = (
        f"Simulated documents of {LENGTH} tokens; fixed values are {PLAIN['documents']:,} documents, K = "
        f"{PLAIN['topics']}, {PLAIN['pairs']} pairs per document, of which half are links. One thread; the fastest of "
        f"{TIMED} iterations after {WARM}. “Rest” is mostly the log joint that is recorded after every sweep."
    )
    finish("How the cost grows", about, tables, arguments)


if __name__ == "__main__":
    main()
