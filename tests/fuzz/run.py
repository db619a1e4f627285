"""Coverage-guided fuzzing of all that reads files: python tests/fuzz/run.py --seconds 60.

Every target gets bytes that Atheris makes up. It may give a result or raise a LinktopicsError; any other exception, a
crash, an answer that takes longer than --timeout or more than a gigabyte of memory is a finding, whose input is kept in
--findings, with a line to reproduce it. Of a timeout the log says where each thread was. Inputs that took more than
half of the timeout are kept there, too, and named; they are no findings, since the machine may have been busy. With
--seed, inputs are nearly the same in each run, so that CI fails for what a change did; without it, all are new.

Exit codes: 0 nothing was found, 1 something was, 3 Atheris is not installed (pip install '.[fuzz]').
"""

from __future__ import annotations

import argparse
import faulthandler
import hashlib
import importlib.util
import io
import os
import pkgutil
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import redirect_stderr
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

TARGETS = {
    "model": 8, "notes": 2, "manifest": 2, "tensors": 2, "jsonl": 1, "linqs": 1, "ldac": 1, "opening": 1, "texts": 1,
    "config": 1, "results": 1, "evaluation": 1, "archive": 1, "cache": 1, "columns": 1,
}  # fmt: skip
"""Names of targets, and their shares of the time."""

NOT_INSTALLED = 3

MEMORY = 2**30
"""Bytes that a target may need beyond what it has before its first input."""

ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "PYTHONWARNINGS": "ignore"}


def main() -> int:
    """Run the fuzzer, or one input."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", help=f"which of {', '.join(TARGETS)}; default: all")
    parser.add_argument("--seconds", type=float, default=60.0, help="for all targets together (default: 60)")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time (default: 2)")
    parser.add_argument("--timeout", type=int, default=10, help="seconds that one input may take (default: 10)")
    parser.add_argument("--seed", type=int, default=0, help="of the made-up inputs (default: others each time)")
    parser.add_argument("--jit", action="store_true", help="compiled kernels; else plain Python, which checks bounds")
    parser.add_argument("--corpus", type=Path, help="folder of inputs to begin with and to add to")
    parser.add_argument("--findings", type=Path, default=Path("fuzz-findings"), help="where inputs of findings go")
    parser.add_argument("--input", type=Path, help="run one target on this input only, to reproduce a finding")
    given = parser.parse_args()
    unknown = [name for name in given.targets if name not in TARGETS]
    if unknown:
        parser.error(f"there is no target {unknown[0]!r}; there are {', '.join(TARGETS)}.")
    if given.input is not None and len(given.targets) != 1:
        parser.error("name the one target of the input.")
    if importlib.util.find_spec("atheris") is None:
        print("fuzzing needs Atheris: pip install '.[fuzz]' (Linux, Python 3.11 to 3.13)", file=sys.stderr)
        return NOT_INSTALLED
    needed = {**ENVIRONMENT, "NUMBA_DISABLE_JIT": "0" if given.jit else "1"}
    if any(os.environ.get(name) != value for name, value in needed.items()):  # which is read when NumPy is imported
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **needed})
    with tempfile.TemporaryDirectory() as work:
        return run(given, Path(work))


def run(given: argparse.Namespace, work: Path) -> int:
    """Fuzz all targets, some at a time, and tell what was found."""
    import atheris

    began = time.monotonic()
    for kernel in pkgutil.iter_modules(import_module("linktopics.kernels").__path__, "linktopics.kernels."):
        import_module(kernel.name)  # before others, as they are: Numba cannot compile what is instrumented
    with redirect_stderr(io.StringIO()), atheris.instrument_imports(include=["linktopics", "markdown_it"]):
        import targets
    names = [name for name in TARGETS if name in (given.targets or TARGETS)]
    corpus = given.corpus or work / "corpus"
    targets.write_seeds(corpus, work / "models", names)
    if given.input is not None:
        before = time.process_time()
        targets.limit_memory(MEMORY)
        faulthandler.dump_traceback_later(given.timeout, exit=True)
        targets.checked(names[0], told=print)(given.input.read_bytes())
        faulthandler.cancel_dump_traceback_later()
        print(
            f"a result or one of our own errors, after {time.process_time() - before:.1f} s of a processor: no finding"
        )
        return 0
    print(f"{time.monotonic() - began:.0f} s to begin with", flush=True)
    results = list(fuzz_all(names, corpus, work, given))
    inputs, seconds, busy = (sum(getattr(r, name) for r in results) for name in ("executions", "seconds", "busy"))
    print(f"{inputs:,} inputs in {seconds:,.0f} s of fuzzing ({busy:,.0f} s of a processor)")
    found = [result for result in results if result.finding is not None]
    for result in found:
        print(f"FINDING in {result.name}: {result.told}")
        print(reproduced_by(result.name, result.finding, given))
    for result in results:
        for path in result.slow:
            print(f"slow in {result.name}, more than {given.timeout // 2} s:")
            print(reproduced_by(result.name, path, given))
    return 1 if found else 0


def reproduced_by(name: str, path: Path, given: argparse.Namespace) -> str:
    """Return the command that runs an input again."""
    return (
        f"    python tests/fuzz/run.py {name} {'--jit ' if given.jit else ''}--timeout {given.timeout} --input {path}"
    )


@dataclass
class Result:
    """How the fuzzing of one target went."""

    name: str
    executions: int
    seconds: float
    busy: float
    finding: Path | None = None
    told: str = ""
    slow: list[Path] = field(default_factory=list)


def fuzz_all(names: list[str], corpus: Path, work: Path, given: argparse.Namespace) -> Iterator[Result]:
    """Fuzz each target in a process of its own, some at a time."""
    total = sum(TARGETS[name] for name in names)
    waiting, running = [*names], dict[int, tuple[str, float]]()
    while waiting or running:
        while waiting and len(running) < given.jobs:
            name = waiting.pop(0)
            seconds = max(1, round(given.seconds * given.jobs * TARGETS[name] / total))
            process = os.fork()  # what is imported and instrumented need not be so again
            if not process:
                fuzz(name, seconds, corpus / name, work, given)
            running[process] = name, time.monotonic()
        ended, status, used = os.wait3(0)
        name, began = running.pop(ended)
        yield outcome(name, time.monotonic() - began, used.ru_utime + used.ru_stime, status, work, given)


def fuzz(name: str, seconds: int, corpus: Path, work: Path, given: argparse.Namespace) -> None:
    """Let Atheris call a target until the time is over; it then ends the process."""
    import atheris
    import targets

    log = os.open(work / f"{name}.log", os.O_WRONLY | os.O_CREAT)
    os.dup2(log, 1)
    os.dup2(log, 2)
    try:
        options = [
            f"-seed={given.seed}", f"-max_total_time={seconds}",
            f"-timeout={given.timeout}", "-rss_limit_mb=0", "-print_final_stats=1",
            f"-artifact_prefix={work / name}-", f"-max_len={2**14}", "-len_control=20",
            f"-report_slow_units={given.timeout // 2}", str(corpus),
        ]  # fmt: skip
        targets.limit_memory(MEMORY)
        atheris.Setup([sys.argv[0], *options], targets.checked(name, work / f"{name}-exception"))
        atheris.Fuzz()
    finally:
        os._exit(99)  # never back into what the parent does


def outcome(name: str, seconds: float, busy: float, status: int, work: Path, given: argparse.Namespace) -> Result:
    """Read from its log how the fuzzing of a target went, and keep what was found."""
    output = (work / f"{name}.log").read_text(encoding="utf-8", errors="replace")
    steps = re.findall(r"^#(\d+).*?cov: (\d+) ft: (\d+)", output, re.MULTILINE)
    number = re.search(r"number_of_executed_units: (\d+)", output)
    executions = int(number[1]) if number else int(steps[-1][0]) if steps else 0
    reached = f"{steps[-1][1]} edges, {steps[-1][2]} features" if steps else "nothing reached"
    print(f"{name:>10}: {executions:>9,} inputs in {seconds:5.0f} s ({busy:.0f} s busy), {reached}", flush=True)
    result = Result(name, executions, seconds, busy)
    slow = sorted(work.glob(f"{name}-slow-unit-*"))
    result.slow = [keep(path, f"{name}-slow", given) for path in slow]
    if status:
        kept = min(set(work.glob(f"{name}-*")) - {*slow}, default=None)
        result.finding = given.findings / f"{name}-without-input" if kept is None else keep(kept, name, given)
        given.findings.mkdir(parents=True, exist_ok=True)
        (given.findings / f"{result.finding.name}.log").write_text(output, encoding="utf-8")
        result.told = told(output) or f"the process ended with status {status}"
    return result


def keep(path: Path, start: str, given: argparse.Namespace) -> Path:
    """Copy an input to the findings; its name is a start and its checksum."""
    given.findings.mkdir(parents=True, exist_ok=True)
    kept = given.findings / f"{start}-{hashlib.sha256(path.read_bytes()).hexdigest()[:12]}"
    return Path(shutil.copy(path, kept))


def told(output: str) -> str:
    """Return the line of a log that says what went wrong."""
    for pattern in (r"ERROR: libFuzzer: (?:timeout|out-of-memory).*", r"[\w.]*(?:Error|Exception|Interrupt)\b.*"):
        found = re.findall(rf"^(?:==\d+== )?({pattern})$", output, re.MULTILINE)
        if found:
            return str(found[0])[:300]
    return ""


if __name__ == "__main__":
    sys.exit(main())
