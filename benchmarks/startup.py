"""Seconds to begin: imports, the command line, and a first fit with cold and with warm kernels.

    python benchmarks/startup.py [--quick] [--json benchmarks/results/startup.json]

Each is measured in new processes, several times, and the median is given. Python files are compiled to bytecode
beforehand; Numba's kernels are cold when its cache is an empty folder.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import Row, finish, options, table

FIT = """
from linktopics import RelationalTopicModel
from linktopics.datasets import load_stdlib
RelationalTopicModel(20, n_burn_in=10, n_samples=1, thin=1, n_chains=1, random_state=0, verbose=False).fit(
    load_stdlib()
)
"""


def seconds_of(command: list[str], cache: str) -> tuple[float, float]:
    """Return the seconds of a command in a new process with this folder for compiled kernels, and of the processor."""
    clock, before = time.perf_counter(), os.times()
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "NUMBA_CACHE_DIR": cache})
    after = os.times()
    processor = after.children_user - before.children_user + after.children_system - before.children_system
    return time.perf_counter() - clock, processor


def main() -> None:
    """Run the benchmark."""
    arguments = options(__doc__)
    python = [sys.executable, "-c"]
    commands = {
        "python -c pass": [*python, "pass"],
        "import linktopics": [*python, "import linktopics"],
        "from linktopics import RelationalTopicModel": [*python, "from linktopics import RelationalTopicModel"],
        "linktopics --help": [sys.executable, "-m", "linktopics", "--help"],
    }
    seconds: dict[str, list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(-1, 3 if arguments.quick else 9):
            for name, command in commands.items():
                spent = seconds_of(command, folder)
                if number >= 0:  # the one before writes bytecode
                    seconds.setdefault(name, []).append(spent)
        for number in range(1 if arguments.quick else 3):
            cold = str(Path(folder) / str(number))
            seconds.setdefault("a short fit, kernels not compiled yet", []).append(seconds_of([*python, FIT], cold))
            for _ in range(1 if arguments.quick else 2):
                seconds.setdefault("the same in the next process", []).append(seconds_of([*python, FIT], cold))
    rows: list[Row] = []
    for name, pairs in seconds.items():
        each, processor = zip(*pairs, strict=True)
        row = {"what": name, "seconds": statistics.median(each), "processor": statistics.median(processor)}
        rows.append({**row, "least": min(each), "most": max(each), "runs": len(each)})
    columns = {
        "what": ("what", "{}"),
        "seconds": ("median, s", "{:.2f}"),
        "processor": ("of the processor, s", "{:.2f}"),
        "least": ("least", "{:.2f}"),
        "most": ("most", "{:.2f}"),
        "runs": ("runs", "{}"),
    }
    about = (
        "Whole processes from start to end, the interpreter included. The fit is of the built-in network of Python's "
        "standard library with the default features, 20 topics and 11 iterations."
    )
    finish("Starting up", about, [table("Seconds to begin", columns, rows)], arguments)


if __name__ == "__main__":
    main()
