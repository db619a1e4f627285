"""What features of pairs cost: time of an iteration with and without them, and a large network.

    python benchmarks/features.py [--large FOLDER] [--json docs/results/features-cost.json]

Needs the files of Cora (see `linktopics.datasets.load_cora`). FOLDER is a network of any kind that
`linktopics.datasets.open_network` reads. With --json the results are written to that file, and as a page to the one
beside it that ends in .md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from threadpoolctl import threadpool_limits

from linktopics import DocumentNetwork
from linktopics.datasets import load_cora, open_network
from linktopics.features import BUILT_IN, fit_features, resolve_features
from linktopics.pairs import sample_pairs
from linktopics.sampler import Corpus, Sampler, Settings, initial_state

K = 25
WARM = 60
"""Sweeps before anything is timed: the first ones are not like the others."""

ROUNDS, PER_ROUND = 8, 10

HEADER = ["features", "numbers per pair", "computed once, s"]
HEADER += [f"{step}, ms" for step in ("topics", "augmented", "weights", "iteration")] + ["against none"]

SETS: dict[str, Any] = {"none": None, "default": "default", "all": list(BUILT_IN)}


def make_sampler(network: DocumentNetwork, given: Any, n_topics: int, negatives: float) -> tuple[Sampler, float]:
    """Return a sampler of a model with features, and the seconds that computing them took."""
    pairs = sample_pairs(network.links, network.n_documents, network.directed, negatives, np.random.default_rng(0))
    settings = Settings(n_topics, weight_variance=4.0)
    clock = time.perf_counter()
    _, numbers = fit_features(resolve_features(given), network, pairs, settings, np.random.SeedSequence(1))
    seconds = time.perf_counter() - clock
    corpus = Corpus.build(network.counts, pairs, not network.directed, numbers)
    return Sampler(corpus, settings, initial_state(corpus, n_topics, np.random.SeedSequence(2))), seconds


def iterations(network: DocumentNetwork, negatives: float, warm: int, rounds: int, per_round: int) -> dict[str, Any]:
    """Return milliseconds of each step of an iteration: of several rounds in turn, the fastest."""
    samplers, results = {}, {}
    for name, given in SETS.items():
        samplers[name], seconds = make_sampler(network, given, K, negatives)
        results[name] = {"columns": samplers[name].corpus.n_features, "preparing_seconds": seconds}
        for _ in range(warm):
            samplers[name].step()
    best: dict[str, dict[str, float]] = {name: {} for name in SETS}
    for _ in range(rounds):
        for name, sampler in samplers.items():
            before = dict(sampler.seconds)
            clock = time.perf_counter()
            for _ in range(per_round):
                sampler.step()
            spent = {step: sampler.seconds[step] - before[step] for step in before}
            spent["iteration"] = time.perf_counter() - clock
            if spent["iteration"] < best[name].get("iteration", np.inf):
                best[name] = spent
    for name, spent in best.items():
        results[name] |= {f"{step}_ms": 1000 * seconds / per_round for step, seconds in spent.items()}
        results[name]["against_none"] = spent["iteration"] / best["none"]["iteration"]
    return {
        "documents": network.n_documents,
        "links": network.n_links,
        "pairs": samplers["none"].corpus.n_pairs,
        "sets": results,
    }


def page(results: dict[str, Any], command: str) -> str:
    """Return the results as Markdown."""
    lines = ["# What features of pairs cost", "", f"`{command}`,", results["where"] + ".", ""]
    for name, part in results["networks"].items():
        lines += [
            f"## {name}: {part['documents']:,} documents, {part['links']:,} links, {part['pairs']:,} pairs, K = {K}",
            "",
            f"| {' | '.join(HEADER)} |",
            "|---" * len(HEADER) + "|",
        ]
        for label, row in part["sets"].items():
            steps = [f"{row[f'{step}_ms']:.1f}" for step in ("topics", "augmented", "weights", "iteration")]
            cells = [
                label,
                str(row["columns"]),
                f"{row['preparing_seconds']:.1f}",
                *steps,
                f"{row['against_none']:.2f}",
            ]
            lines.append(f"| {' | '.join(cells)} |")
        lines += ["", f"Peak memory so far: {part['peak_mb']:,.0f} MB.", ""]
    return "\n".join(lines)


def main() -> None:
    """Measure, show and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    networks = {}
    with threadpool_limits(1):
        networks["Cora"] = iterations(load_cora(), 0.01, WARM, ROUNDS, PER_ROUND)
        networks["Cora"]["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        if options.large:
            networks[options.large.name] = iterations(open_network(options.large), 5, 2, 2, 1)
            networks[options.large.name]["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    versions = ", ".join(f"{name} {version(name)}" for name in ("linktopics", "numba", "numpy", "scipy"))
    where = (
        f"{time.strftime('%Y-%m-%d')}, {platform.machine()}, {os.cpu_count()} cores, one thread, "
        f"Python {platform.python_version()}; {versions}"
    )
    results = {"where": where, "networks": networks}
    shown = f" --large {options.large.name}" if options.large else ""
    text = page(results, f"python benchmarks/features.py{shown} --json docs/results/features-cost.json")
    Console().print(text, markup=False, highlight=False)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        options.json.with_suffix(".md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
