"""Speed of prediction: topics of new documents and link suggestions for them against a large model.

    python benchmarks/prediction.py [--documents N] [--new N] [--topics K] [--json docs/results/prediction.json]

With --json the results are written to that file, and as a page to the one beside it that ends in .md. The network is
simulated. The model is fitted for a few sweeps only: what is timed does not depend on how good it is.
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

from linktopics import RelationalTopicModel
from linktopics.datasets import make_network
from linktopics.kernels.lanes import padded
from linktopics.kernels.sweep import infer
from linktopics.sampler import tokens

SWEEPS = 40
ROUNDS = 3


def inference_rate(model: RelationalTopicModel, counts: Any) -> float:
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


def measure(n_documents: int, n_new: int, n_topics: int) -> dict[str, Any]:
    """Return all figures."""
    network = make_network(n_documents + n_new, n_topics, 5000, mean_length=50, mean_degree=5, random_state=0)
    training = network.subset(np.arange(n_documents))
    new = network.counts[n_documents:]
    short: dict[str, Any] = {"negatives": 5, "n_iter": 20, "n_samples": 10, "thin": 1, "n_chains": 1, "random_state": 0}
    model = RelationalTopicModel(n_topics, pair_features=None, verbose=False, **short).fit(training)
    results: dict[str, Any] = {
        "documents": n_documents,
        "new": n_new,
        "tokens_per_new_document": float(new.sum() / n_new),
        "topics": n_topics,
        "samples": len(model.samples_),
    }
    with threadpool_limits(1):
        results["token_updates_per_second_per_thread"] = inference_rate(model, new)
    results["threads"] = os.cpu_count() or 1
    model.set_params(n_jobs=results["threads"])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    clock = time.perf_counter()
    model.transform(new)
    middle = time.perf_counter()
    table = model.suggest_links(new, top=10)
    results["transform_seconds"] = middle - clock
    results["suggest_seconds"] = time.perf_counter() - middle
    results["suggest_extra_peak_mb"] = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert len(table) == 10 * n_new
    with_features = RelationalTopicModel(n_topics, n_jobs=results["threads"], verbose=False, **short).fit(training)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    clock = time.perf_counter()
    with_features.suggest_links(new, top=10)
    results["suggest_with_features_seconds"] = time.perf_counter() - clock
    results["suggest_with_features_extra_peak_mb"] = (
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    ) / 1024
    results["dense_array_would_be_mb"] = n_documents * n_new * 8 / 2**20
    return results


def page(results: dict[str, Any]) -> str:
    """Return the results as a page of the documentation."""
    lines = [
        "# Speed of prediction",
        "",
        "`python benchmarks/prediction.py --json docs/results/prediction.json`,",
        f"{results['when']}, {results['machine']}; {results['versions']}.",
        f"{results['new']:,} new documents of {results['tokens_per_new_document']:.0f} tokens against a model of "
        f"{results['documents']:,} documents, K = {results['topics']}, {results['samples']} posterior samples.",
        "",
        "| what | measured |",
        "|---|---|",
        f"| token updates per second and thread | {results['token_updates_per_second_per_thread'] / 1e6:.1f} M |",
    ]
    threads = f"{results['threads']} threads"
    lines += [
        f"| `transform`, {threads} | {results['transform_seconds']:.1f} s |",
        f"| `suggest_links(top=10)`, {threads} | {results['suggest_seconds']:.0f} s |",
        f"| growth of the peak of memory meanwhile | {results['suggest_extra_peak_mb']:.0f} MB |",
    ]
    lines += [
        f"| the same with the default features, {threads} | {results['suggest_with_features_seconds']:.0f} s |",
        f"| growth of the peak of memory meanwhile | {results['suggest_with_features_extra_peak_mb']:.0f} MB |",
    ]
    lines.append(f"| the dense array that is never made | {results['dense_array_would_be_mb']:,.0f} MB |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=60_000)
    parser.add_argument("--new", type=int, default=10_000)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    results = measure(arguments.documents, arguments.new, arguments.topics)
    results["when"] = time.strftime("%Y-%m-%d")
    results["machine"] = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    results["versions"] = ", ".join(f"{name} {version(name)}" for name in ("linktopics", "numba", "numpy", "scipy"))
    Console().print(page(results))
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n")
        arguments.json.with_suffix(".md").write_text(page(results))


if __name__ == "__main__":
    main()
