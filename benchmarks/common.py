"""What all benchmarks share: options, data, clocks, tables, and where and when they ran.

A benchmark's results are one JSON file. Its numbers are in `tables`, each of which says how its columns are called and
printed, so that the terminal and the page of the documentation (`page.py`) show the same.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

if TYPE_CHECKING:
    from linktopics.sampler import Settings

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
PACKAGES = ("linktopics", "numba", "numpy", "scipy", "polyagamma")
CONSOLE = Console(width=None if sys.stdout.isatty() else 120)

Row = dict[str, Any]
Columns = Mapping[str, tuple[str, str]]
"""The columns of a table: from the key of its numbers to its heading and a format (as of `str.format`)."""


def paper_settings(n_topics: int, **changes: Any) -> Settings:
    """Return the settings of the paper's Gibbs-gRTM, but for changes."""
    from linktopics import RelationalTopicModel
    from linktopics.model.training import model_settings

    model = RelationalTopicModel.from_paper("Gibbs-gRTM", n_topics, **changes)
    return model_settings(model.get_params(), n_documents=sys.maxsize)


def options(doc: str, *others: tuple[str, dict[str, Any]]) -> argparse.Namespace:
    """Read the options that all benchmarks have, and those of one alone."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes, within a minute: to try whether it works")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to this file")
    for name, settings in others:
        parser.add_argument(name, **settings)
    return parser.parse_args()


def data_option() -> tuple[str, dict[str, Any]]:
    """Return the option that says where data sets are."""
    beside = HERE.parents[1] / "shared" / "data"
    folder = Path(os.environ.get("LINKTOPICS_DATA", beside))
    said = "folder of the data sets; by default $LINKTOPICS_DATA, else ../shared/data beside the checkout"
    return "--data", {"type": Path, "default": folder, "metavar": "FOLDER", "help": said}


def open_data(name: str, folder: Path) -> Any:
    """Return a data set as a network, without warnings."""
    from linktopics import DocumentNetwork, NetworkWarning
    from linktopics.datasets import open_network

    if not (folder / name).is_dir():
        raise SystemExit(f"{folder / name} is not there; give the folder that holds {name} by --data.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NetworkWarning)
        if name == "cora-r":
            return DocumentNetwork.from_ldac(folder / name, links_reversed=True)
        return open_network(folder / name)


def one_thread() -> Any:
    """Hold BLAS to one thread: ``with one_thread():``."""
    return threadpool_limits(1)


def best_seconds(tasks: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Run the tasks in turn, several rounds, and return the shortest time of each."""
    seconds = dict.fromkeys(tasks, float("inf"))
    for _ in range(rounds):
        for name, task in tasks.items():
            clock = time.perf_counter()
            task()
            seconds[name] = min(seconds[name], time.perf_counter() - clock)
    return seconds


def step_seconds(sampler: Any, n: int) -> dict[str, float]:
    """Do n iterations, and return the shortest time of each step, of the rest and of all together."""
    best: dict[str, float] = {}
    for _ in range(n):
        before = dict(sampler.seconds)
        clock = time.perf_counter()
        sampler.step()
        spent = {step: sampler.seconds[step] - before[step] for step in before}
        iteration = time.perf_counter() - clock
        spent |= {"rest": iteration - sum(spent.values()), "iteration": iteration}
        best = {step: min(seconds, best.get(step, np.inf)) for step, seconds in spent.items()}
    return best


def peak_mb() -> float:
    """Return the peak of this process's own memory, in MB (2^20 bytes).

    Not by getrusage, which remembers the peak of the process that started this one.
    """
    return _memory_mb("VmHWM")


def memory_mb() -> float:
    """Return the memory of this process, in MB."""
    return _memory_mb("VmRSS")


def forget_peak() -> None:
    """Let the peak of memory begin again from what is held now."""
    Path("/proc/self/clear_refs").write_text("5")


def _memory_mb(name: str) -> float:
    found = re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def in_process(code: str, *arguments: str) -> Any:
    """Run Python code in a process of its own, and return what its last line, JSON, says."""
    path = os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path})
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def exponent(x: Sequence[float], y: Sequence[float]) -> float:
    """Return the slope of log y over log x, by least squares."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def table(title: str, columns: Columns, rows: Sequence[Row], note: str = "") -> dict[str, Any]:
    """Return a table for the results, and print it; a column that no row has is left out."""
    shown = {key: list(column) for key, column in columns.items() if any(key in row for row in rows)}
    made = {"title": title, "note": note, "columns": shown, "rows": list(rows)}
    CONSOLE.print(f"\n{title}", style="bold", highlight=False)
    drawn = Table()
    for heading, _ in shown.values():
        drawn.add_column(heading, justify="right")
    for cells in table_cells(made):
        drawn.add_row(*cells)
    CONSOLE.print(drawn)
    if note:
        CONSOLE.print(note, highlight=False)
    return made


def table_cells(made: Mapping[str, Any]) -> list[list[str]]:
    """Return the cells of a table as they are printed; what a row does not have is a dash."""
    return [
        ["-" if row.get(key) is None else form.format(row[key]) for key, (_, form) in made["columns"].items()]
        for row in made["rows"]
    ]


def machine() -> str:
    """Say what the benchmark runs on."""
    name = platform.machine()
    if Path("/proc/cpuinfo").is_file():
        found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text())
        name = found[1] if found else name
    return f"{name}, {os.cpu_count()} cores, Python {platform.python_version()}"


def versions(*others: str) -> dict[str, str]:
    """Return the versions of packages that a benchmark depends on."""
    return {name: version(name) for name in (*PACKAGES, *others)}


def finish(
    title: str,
    about: str,
    tables: Sequence[dict[str, Any]],
    arguments: argparse.Namespace,
    packages: Sequence[str] = (),
    **others: Any,
) -> None:
    """Put the results together with machine, date, versions and command, and write them where they are asked for."""
    script = Path(sys.argv[0]).name
    given = [word if not Path(word).is_absolute() else Path(word).name for word in sys.argv[1:]]
    results = {
        "title": title,
        "about": about,
        "command": " ".join(["python", f"benchmarks/{script}", *given]),
        "quick": arguments.quick,
        "when": time.strftime("%Y-%m-%d"),
        "machine": machine(),
        "versions": versions(*packages),
        "tables": list(tables),
        **others,
    }
    numbers = ", ".join(f"{name} {number}" for name, number in results["versions"].items())
    CONSOLE.print(f"{results['when']}, {results['machine']}; {numbers}", highlight=False)
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
