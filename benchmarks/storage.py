"""Models on disk: seconds to save and to load, sizes, and the first answers after loading.

    python benchmarks/storage.py [--quick] [--documents 60000 1000000] [--topics 50]
        [--json benchmarks/results/storage.json]

Networks are simulated, with ids, titles and texts as a real one has them. Models are fitted for a few sweeps only, but
keep the default four chains of ten samples, features of pairs and calibration. Loading is timed in a new process,
imports apart, with the files in the page cache; each first answer has a process of its own. Needs Linux, for the peak
of memory, and at a million documents 20 GB of memory, 12 GB of disk and half an hour.
"""

from __future__ import annotations

import gc
import os
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

import linktopics.model.training
from common import Row, finish, in_process, options, table
from linktopics import DocumentNetwork, RelationalTopicModel
from linktopics.datasets import make_network
from linktopics.errors import ignore_mixing_warnings
from linktopics.sampler.runner import Schedule

ROUNDS = 5

LOAD = """
import json, sys, time
from common import peak_mb
from linktopics import RelationalTopicModel
from linktopics.sampler.runner import Schedule
import linktopics.model.estimator, safetensors.numpy, sklearn.feature_extraction.text
best, peaks = float("inf"), []
for _ in range(int(sys.argv[2])):
    clock = time.perf_counter()
    model = RelationalTopicModel.load(sys.argv[1])
    best = min(best, time.perf_counter() - clock)
    peaks.append(peak_mb())
print(json.dumps({"load": best, "peak": peaks[0]}))
"""

ASK = """
import json, sys, time
from common import peak_mb
from linktopics import RelationalTopicModel
from linktopics.sampler.runner import Schedule
model = RelationalTopicModel.load(sys.argv[1])
text, known = sys.argv[2:]
seconds = []
for _ in range(2):
    clock = time.perf_counter()
    model.suggest_links_for(known, top=10) if known else model.suggest_links([text], top=10)
    seconds.append(time.perf_counter() - clock)
print(json.dumps({"first": seconds[0], "second": seconds[1], "peak": peak_mb()}))
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
        vectorizer=CountVectorizer(vocabulary=words.tolist()),
        link_ends="indices",
    )
    linktopics.model.training.CALIBRATION_SCHEDULE = Schedule(1, 1, 1)  # sweeps for calibration
    short: dict[str, Any] = {"negatives": 1, "n_burn_in": 1, "thin": 1, "random_state": 0}
    with ignore_mixing_warnings():
        return RelationalTopicModel(n_topics, n_jobs=-1, verbose=False, **short).fit(network)


def measure(n_documents: int, n_topics: int) -> Row:
    """Return the row of a network of so many documents."""
    model = make(n_documents, n_topics)
    one, two = (words.split() for words in model.network_.texts[:2])
    text = " ".join(one[::2] + two[::2])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        clock = time.perf_counter()
        model.save(path)
        row: Row = {"documents": n_documents, "save": time.perf_counter() - clock}
        del model
        gc.collect()
        row["size"] = sum(file.stat().st_size for file in Path(path).iterdir()) / 1e6
        row |= in_process(LOAD, path, str(ROUNDS))
        for which, known in (("text", ""), ("known", "document-0")):
            row |= {f"{which}_{name}": value for name, value in in_process(ASK, path, text, known).items()}
    return row


def main() -> None:
    """Run the benchmark."""
    arguments = options(
        __doc__,
        ("--documents", {"type": int, "nargs": "+", "default": [60_000, 1_000_000]}),
        ("--topics", {"type": int, "default": 50}),
    )
    sizes, topics = ([5000], 20) if arguments.quick else (arguments.documents, arguments.topics)
    about = (
        f"Simulated documents of 50 words with titles and texts, five links each, K = {topics}, four chains of ten "
        "posterior samples, the default features and calibration. Loading maps samples into memory; features are "
        f"computed on first use. `load` is the best of {ROUNDS}. The first and the second "
        "suggestion after loading rank all documents exactly, for one new text and for one document of the network. "
        "Memory is the peak of the process, imports included; it counts the pages of mapped files that were read."
    )
    columns = {
        "documents": ("documents", "{:,}"),
        "size": ("size on disk, MB (10^6 bytes)", "{:,.0f}"),
        "save": ("`save`, s", "{:,.1f}"),
        "load": ("`load`, s", "{:,.2f}"),
        "peak": ("memory then, MB", "{:,.0f}"),
        "text_first": ("`suggest_links` of a text, first, s", "{:,.1f}"),
        "text_second": ("second, s", "{:,.2f}"),
        "text_peak": ("memory then, MB", "{:,.0f}"),
        "known_first": ("`suggest_links_for` a document, first, s", "{:,.1f}"),
        "known_second": ("second, s", "{:,.2f}"),
        "known_peak": ("memory then, MB", "{:,.0f}"),
    }
    tables = [table("Saving, loading, first answers", columns, [measure(size, topics) for size in sizes])]
    finish("Models on disk", about, tables, arguments, ["safetensors"])


if __name__ == "__main__":
    main()
