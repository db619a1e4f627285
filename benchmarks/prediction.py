"""Speed of prediction: topics of new documents and link suggestions for them against a large model.

    python benchmarks/prediction.py [--quick] [--documents 60000] [--new 10000] [--topics 50]
        [--json docs/results/performance/prediction.json]

The network is simulated. The model is fitted for a few sweeps only: what is timed does not depend on how good it is.
"""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

from common import Row, best_seconds, finish, one_thread, options, peak_mb, table
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

    def run() -> None:
        # A negative tolerance is never met, so every document gets exactly SWEEPS + 1 sweeps.
        infer((0,) * padded(K), start, words, model.samples_[0].word_topic, alpha, 1, SWEEPS, 1, -1.0,
              0, counts.shape[0], shares)  # fmt: skip

    run()  # compiles
    return len(words) * (SWEEPS + 1) / best_seconds({"infer": run}, ROUNDS)["infer"]


def suggesting(model: RelationalTopicModel, new: Any) -> tuple[float, float]:
    """Return the seconds of ten suggestions each, and by how many MB the peak of memory grew meanwhile."""
    before = peak_mb()
    clock = time.perf_counter()
    suggested = model.suggest_links(new, top=10)
    assert len(suggested) == 10 * new.shape[0]
    return time.perf_counter() - clock, peak_mb() - before


def measure(n_documents: int, n_new: int, n_topics: int, threads: int) -> list[Row]:
    """Return the rows of the table."""
    network = make_network(n_documents + n_new, n_topics, 5000, mean_length=50, mean_degree=5, random_state=0)
    training = network.subset(np.arange(n_documents))
    new = network.counts[n_documents:]
    short: dict[str, Any] = {"negatives": 5, "n_iter": 20, "n_samples": 10, "thin": 1, "n_chains": 1, "random_state": 0}
    model = RelationalTopicModel(n_topics, pair_features=None, verbose=False, **short).fit(training)
    with one_thread():
        rows: list[Row] = [
            {"what": "million token updates per second, one thread", "value": inference_rate(model, new) / 1e6}
        ]
    model.set_params(n_jobs=threads)
    clock = time.perf_counter()
    model.transform(new)
    rows.append({"what": "`transform`, s", "value": time.perf_counter() - clock})
    with_features = RelationalTopicModel(n_topics, n_jobs=threads, verbose=False, **short)
    for said, fitted in (("without features", model), ("with the default features", with_features.fit(training))):
        seconds, extra = suggesting(fitted, new)
        rows.append({"what": f"`suggest_links(top=10)` {said}, s", "value": seconds})
        rows.append({"what": "growth of the peak of memory meanwhile, MB", "value": extra})
    rows.append({"what": "the dense array that is never made, MB", "value": n_documents * n_new * 8 / 2**20})
    return rows


def main() -> None:
    """Run the benchmark."""
    arguments = options(
        __doc__,
        ("--documents", {"type": int, "default": 60_000}),
        ("--new", {"type": int, "default": 10_000}),
        ("--topics", {"type": int, "default": 50}),
    )
    sizes = (5000, 500, 20) if arguments.quick else (arguments.documents, arguments.new, arguments.topics)
    threads = os.cpu_count() or 1
    rows = measure(*sizes, threads)
    about = (
        f"{sizes[1]:,} new documents of some 50 tokens against a model of {sizes[0]:,} documents, K = {sizes[2]}, 10 "
        f"posterior samples; {threads} threads."
    )
    columns = {"what": ("what", "{}"), "value": ("measured", "{:,.1f}")}
    finish("Prediction", about, [table("New documents", columns, rows)], arguments)


if __name__ == "__main__":
    main()
