"""What features of pairs cost: time of an iteration with and without them, also on a large network.

    python benchmarks/features.py [--quick] [--data FOLDER] [--json benchmarks/results/features.json]

Needs the data sets cora and debian (the second is left out with --quick). One thread.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from common import Row, data_option, finish, one_thread, open_data, options, paper_settings, table
from linktopics import DocumentNetwork
from linktopics.features import FEATURES, fit_features, resolve_features
from linktopics.network.pairs import sample_pairs
from linktopics.sampler import Corpus, Sampler, initial_state

K = 25
NETWORKS: dict[str, dict[str, float]] = {
    "cora": {"negatives": 0.01, "warm": 60, "rounds": 8, "per_round": 10},
    "debian": {"negatives": 5, "warm": 2, "rounds": 2, "per_round": 1},
}
"""Non-links, sweeps before anything is timed (the first are not like the others), and rounds in turn."""

SETS: dict[str, Any] = {"none": None, "default": "default", "all": list(FEATURES)}
STEPS = ("topics", "augmented", "weights", "iteration")
COLUMNS = {
    "data": ("data", "{}"),
    "features": ("features", "{}"),
    "columns": ("numbers per pair", "{}"),
    "preparing_seconds": ("computed once, s", "{:.1f}"),
    **{f"{step}_ms": (f"{step}, ms", "{:,.1f}") for step in STEPS},
    "against_none": ("against none", "{:.2f}"),
}


def make_sampler(network: DocumentNetwork, given: Any, negatives: float) -> tuple[Sampler, float]:
    """Return a sampler of a model with features, and the seconds that computing them took."""
    pairs = sample_pairs(network.links, network.n_documents, network.directed, negatives, np.random.default_rng(0))
    settings = paper_settings(K, weight_variance=4.0)
    clock = time.perf_counter()
    _, numbers = fit_features(resolve_features(given), network, pairs, settings, np.random.SeedSequence(1))
    seconds = time.perf_counter() - clock
    corpus = Corpus.build(network.counts, pairs, not network.directed, numbers)
    return Sampler(corpus, settings, initial_state(corpus, settings, np.random.SeedSequence(2))), seconds


def measure(name: str, network: DocumentNetwork, negatives: float, warm: int, rounds: int, per_round: int) -> list[Row]:
    """Return milliseconds of each step of an iteration: of several rounds in turn, the fastest."""
    samplers, rows = {}, {}
    for label, given in SETS.items():
        samplers[label], seconds = make_sampler(network, given, negatives)
        n_columns, n_pairs = samplers[label].corpus.n_features, samplers[label].corpus.n_pairs
        rows[label] = {
            "data": name,
            "features": label,
            "columns": n_columns,
            "preparing_seconds": seconds,
            "pairs": n_pairs,
        }
        for _ in range(warm):
            samplers[label].step()
    best: dict[str, dict[str, float]] = {label: {} for label in SETS}
    for _ in range(rounds):
        for label, sampler in samplers.items():
            before = dict(sampler.seconds)
            clock = time.perf_counter()
            for _ in range(per_round):
                sampler.step()
            spent = {step: sampler.seconds[step] - before[step] for step in before}
            spent["iteration"] = time.perf_counter() - clock
            if spent["iteration"] < best[label].get("iteration", np.inf):
                best[label] = spent
    for label, spent in best.items():
        rows[label] |= {f"{step}_ms": 1000 * spent[step] / per_round for step in STEPS}
        rows[label]["against_none"] = spent["iteration"] / best["none"]["iteration"]
    return list(rows.values())


def main() -> None:
    """Run the benchmark."""
    arguments = options(__doc__, data_option())
    rows: list[Row] = []
    with one_thread():
        for name, settings in NETWORKS.items():
            if not arguments.quick:
                rows += measure(name, open_data(name, arguments.data), **settings)
            elif name == "cora":
                quick = {"negatives": 0.01, "warm": 5, "rounds": 2, "per_round": 3}
                rows += measure(name, open_data(name, arguments.data), **quick)
    pairs = ", ".join(dict.fromkeys(f"{row['pairs']:,} pairs on {row['data']}" for row in rows))
    about = f"K = {K}, one thread, {pairs}. “Default” are the features of the default model, “all” the built-in ones."
    finish("Features of pairs", about, [table("Iterations with features", COLUMNS, rows)], arguments)


if __name__ == "__main__":
    main()
