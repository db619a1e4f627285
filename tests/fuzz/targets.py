"""What is fuzzed: functions of bytes that may raise nothing, and the valid inputs that fuzzing begins with."""

from __future__ import annotations

import resource
import shutil
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

import models
import readers

import linktopics.cli.fit
import linktopics.cli.info
import linktopics.cli.runs
import linktopics.cli.suggest
import linktopics.datasets.stdlib
import linktopics.evaluation.evaluation
import linktopics.explorer.overview
import linktopics.readers.folders
import linktopics.readers.jsonl
import linktopics.readers.ldac
import linktopics.readers.linqs  # noqa: F401, all that targets import when they are called, to be instrumented
from linktopics.errors import LinktopicsError

TARGETS: dict[str, Callable[[bytes, Path], object]] = {**readers.TARGETS, **models.TARGETS}


def write_seeds(corpus: Path, model_folder: Path, names: list[str]) -> None:
    """Write the first inputs of targets, and the models that targets change."""
    if any(name in models.TARGETS for name in names):
        models.make_models(model_folder)
    for name in names:
        folder = corpus / name
        folder.mkdir(parents=True, exist_ok=True)
        for number, seed in enumerate(readers.SEEDS[name]() if name in readers.SEEDS else models.seeds(name)):
            (folder / f"seed-{number}").write_bytes(seed)


def limit_memory(more: int) -> None:
    """Let the process have only so many bytes more than it has; what asks for more gets a MemoryError."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _outcome(function: Callable[[bytes, Path], object], data: bytes, folder: Path) -> str:
    """Say what came of an input: a result, or an error of ours in one line."""
    try:
        return f"result: {function(data, folder)!r}"
    except LinktopicsError as error:
        if "\n" in str(error):
            raise AssertionError(f"the error is not one sentence: {str(error)!r}") from error
        return f"{type(error).__name__}: {error}"


def checked(
    name: str, keep: Path | None = None, told: Callable[[str], None] = lambda _: None
) -> Callable[[bytes], None]:
    """Return a target that has a fresh folder for every input, lets our own errors pass, and keeps what fails."""
    function = TARGETS[name]
    memory = Path("/dev/shm")
    place = memory if memory.is_dir() else None

    def run(data: bytes) -> None:
        folder = Path(tempfile.mkdtemp(dir=place, prefix="linktopics-fuzz-"))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                told(_outcome(function, data, folder))
        except BaseException:
            if keep is not None:
                keep.write_bytes(data)
            raise
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    return run
