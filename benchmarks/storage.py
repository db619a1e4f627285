"""Models on disk: seconds to save and to load, sizes, and the first answers after loading.

    python benchmarks/storage.py [--documents N] [--topics K] [--json docs/results/storage.json]

With --json the results are written to that file, and as a page to the one beside it that ends in .md. The network is
simulated, with ids, titles and texts as a real one has them. The model is fitted for a few sweeps only, but keeps the
default four chains of ten samples. Loading is timed in a new process, imports apart, with the files in the page cache.
Needs Linux, for the peak of memory.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from linktopics import DocumentNetwork, RelationalTopicModel
from linktopics.datasets import make_network

ROUNDS = 5

LOAD = """
import json, re, sys, time
from linktopics import RelationalTopicModel
import linktopics.model, safetensors.numpy, sklearn.feature_extraction.text
def peak_mb():  # not getrusage, which remembers the peak of the process that started this one
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) / 1024
best, peaks = float("inf"), []
for _ in range(int(sys.argv[2])):
    clock = time.perf_counter()
    model = RelationalTopicModel.load(sys.argv[1])
    best = min(best, time.perf_counter() - clock)
    peaks.append(peak_mb())
peak = peaks[0]
clock = time.perf_counter()
model.suggest_links_for(model.network_.ids[0], top=10)
print(json.dumps({"load_seconds": best, "load_peak_mb": peak, "first_answer_seconds": time.perf_counter() - clock}))
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
    return RelationalTopicModel(n_topics, n_jobs=-1, verbose=False, **short).fit(network)


def measure(n_documents: int, n_topics: int) -> dict[str, Any]:
    """Return all figures."""
    model = make(n_documents, n_topics)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        clock = time.perf_counter()
        model.save(path)
        save = time.perf_counter() - clock
        size = sum(file.stat().st_size for file in Path(path).iterdir())
        command = [sys.executable, "-c", LOAD, path, str(ROUNDS)]
        loaded = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    return {
        "documents": n_documents,
        "topics": n_topics,
        "samples": len(model.samples_),
        "save_seconds": save,
        "size_mb": size / 1e6,
        **loaded,
    }


def page(results: dict[str, Any]) -> str:
    """Return the results as a page of the documentation."""
    rows = {
        "size on disk": f"{results['size_mb']:,.0f} MB",
        "`save`": f"{results['save_seconds']:.2f} s",
        f"`load`, best of {ROUNDS}": f"{results['load_seconds']:.2f} s",
        "peak of memory after loading, imports included": f"{results['load_peak_mb']:,.0f} MB",
        "first `suggest_links_for` after loading": f"{results['first_answer_seconds']:.1f} s",
    }
    lines = [
        "# Models on disk",
        "",
        "`python benchmarks/storage.py --json docs/results/storage.json`,",
        f"{results['when']}, {results['machine']}; {results['versions']}.",
        f"{results['documents']:,} documents with titles and texts, K = {results['topics']}, {results['samples']} "
        "posterior samples.",
        "",
        "| what | measured |",
        "|---|---|",
        *(f"| {name} | {value} |" for name, value in rows.items()),
        "",
        "Loading maps samples into memory. Features of pairs are made when they are first needed.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=60_000)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    results = measure(arguments.documents, arguments.topics)
    results["when"] = time.strftime("%Y-%m-%d")
    results["machine"] = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    results["versions"] = ", ".join(f"{name} {version(name)}" for name in ("linktopics", "numpy", "safetensors"))
    Console().print(page(results))
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n")
        arguments.json.with_suffix(".md").write_text(page(results))


if __name__ == "__main__":
    main()
