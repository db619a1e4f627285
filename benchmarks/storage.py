"""Models on disk: seconds to save and to load, sizes, and the first answers after loading.

    python benchmarks/storage.py [--quick] [--documents 60000] [--topics 50]
        [--json docs/results/performance/storage.json]

The network is simulated, with ids, titles and texts as a real one has them. The model is fitted for a few sweeps only,
but keeps the default four chains of ten samples. Loading is timed in a new process, imports apart, with the files in
the page cache. Needs Linux, for the peak of memory.
"""

from __future__ import annotations

import os
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from common import Row, finish, in_process, options, table
from linktopics import DocumentNetwork, RelationalTopicModel
from linktopics.datasets import make_network
from linktopics.errors import mixing_not_told

ROUNDS = 5

LOAD = """
import json, sys, time
from common import peak_mb
from linktopics import RelationalTopicModel
import linktopics.model, safetensors.numpy, sklearn.feature_extraction.text
best, peaks = float("inf"), []
for _ in range(int(sys.argv[2])):
    clock = time.perf_counter()
    model = RelationalTopicModel.load(sys.argv[1])
    best = min(best, time.perf_counter() - clock)
    peaks.append(peak_mb())
clock = time.perf_counter()
model.suggest_links_for(model.network_.ids[0], top=10)
print(json.dumps({"load": best, "peak": peaks[0], "first": time.perf_counter() - clock}))
"""


def make(n_documents: int, n_topics: int) -> RelationalTopicModel:
    """Return a fitted model of a network that has all a network can have."""
    plain = make_network(n_documents, n_topics, 5000, mean_length=50, mean_degree=5, random_state=0)
    words = np.array([f"word{number}" for number in range(plain.n_words)], dtype=object)
    start, which = plain.counts.indptr, np.repeat(plain.counts.indices, plain.counts.data)
    ends = np.concatenate([[0], np.cumsum(plain.counts.data)])[start]
    texts = [" ".join(words[which[a:b]]) for a, b in pairwise(ends.tolist())]
    network = DocumentNetwork(
        plain.counts,
        plain.links,
        ids=[f"document-{number}" for number in range(n_documents)],
        titles=[f"The title of document {number}" for number in range(n_documents)],
        vocabulary=words,
        texts=texts,
        link_ends="indices",
    )
    short: dict[str, Any] = {"negatives": 1, "n_iter": 1, "thin": 1, "weights": "diagonal", "random_state": 0}
    with mixing_not_told():
        return RelationalTopicModel(n_topics, n_jobs=-1, verbose=False, **short).fit(network)


def measure(model: RelationalTopicModel) -> list[Row]:
    """Return the rows of the table."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        clock = time.perf_counter()
        model.save(path)
        save = time.perf_counter() - clock
        size = sum(file.stat().st_size for file in Path(path).iterdir())
        loaded = in_process(LOAD, path, str(ROUNDS))
    return [
        {"what": "size on disk, MB (10^6 bytes)", "value": size / 1e6},
        {"what": "`save`, s", "value": save},
        {"what": f"`load`, best of {ROUNDS}, s", "value": loaded["load"]},
        {"what": "peak of memory after loading, imports included, MB", "value": loaded["peak"]},
        {"what": "first `suggest_links_for` after loading, s", "value": loaded["first"]},
    ]


def main() -> None:
    """Run the benchmark."""
    arguments = options(
        __doc__, ("--documents", {"type": int, "default": 60_000}), ("--topics", {"type": int, "default": 50})
    )
    documents, topics = (5000, 20) if arguments.quick else (arguments.documents, arguments.topics)
    model = make(documents, topics)
    about = (
        f"{documents:,} documents with titles and texts, K = {topics}, {len(model.samples_)} posterior samples. "
        "Loading maps samples into memory; features of pairs are made when they are first needed."
    )
    columns = {"what": ("what", "{}"), "value": ("measured", "{:,.2f}")}
    tables = [table("Saving and loading", columns, measure(model))]
    finish("Models on disk", about, tables, arguments, ["safetensors"])


if __name__ == "__main__":
    main()
