"""Checkpoints of a run in progress: one that cannot be written is retried later, and the run continues."""

from __future__ import annotations

import os
import shlex
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from numbers import Real

from linktopics.errors import CheckpointWarning, LinktopicsError, ModelError
from linktopics.sampler.runner import Chain
from linktopics.storage.folder import ModelFolder
from linktopics.storage.run_writer import RunWriter
from linktopics.utils.checks import check_whole_number
from linktopics.utils.user_warnings import warn_user

MAX_MINUTES = 1e9
"""The longest time between two checkpoints that can be chosen."""

WRITE_ERRORS = (LinktopicsError, OSError, MemoryError)
"""Errors of a disk that is full, gone or broken, and of a machine that is short of memory for a moment."""


@dataclass(frozen=True)
class Checkpoint:
    """Where and how often a run is saved while its chains are running.

    Parameters
    ----------
    path : path
        Folder of the run, and of the model when it is done.
    every : int, default=50
        Sweeps of a chain between two checkpoints.
    minutes : float or None, default=10.0
        Minutes between two checkpoints of a chain, if `every` sweeps take longer; None only counts sweeps. When
        checkpoints are written does not change the result.

    Examples
    --------
    >>> from linktopics import Checkpoint
    >>> Checkpoint("my-model", every=200)
    Checkpoint(path='my-model', every=200, minutes=10.0)
    """

    path: str | os.PathLike[str] | ModelFolder
    every: int = 50
    minutes: float | None = 10.0

    def __post_init__(self) -> None:
        check_whole_number("every", self.every, 1)
        number = isinstance(self.minutes, Real) and not isinstance(self.minutes, bool)
        if self.minutes is not None and not (number and 0 < self.minutes <= MAX_MINUTES):
            raise ValueError(f"minutes is {self.minutes!r}; it must be a number above 0, up to 1e9, or None.")

    @property
    def folder(self) -> ModelFolder:
        """The folder."""
        return self.path if isinstance(self.path, ModelFolder) else ModelFolder(self.path)


@contextmanager
def hold_checkpoint(
    checkpoint: Checkpoint | str | os.PathLike[str] | ModelFolder | None, *, overwrite: bool = False
) -> Iterator[Checkpoint | None]:
    """Return a context in which the folder of a checkpoint is locked; raise early if it cannot be used."""
    if checkpoint is None:
        yield None
        return
    given = checkpoint if isinstance(checkpoint, Checkpoint) else Checkpoint(checkpoint)
    folder = given.folder
    with folder.locked(overwrite=overwrite):
        yield replace(given, path=folder)


class CheckpointWriter:
    """Writes checkpoints of chains while they run; safe to call from several threads.

    A checkpoint that cannot be written is skipped with a warning, and the last good one stays. Later checkpoints are
    attempted all the same, and so is the final state of the run, when no chain is running.

    Parameters
    ----------
    writer : RunWriter
        Writes the run.
    """

    def __init__(self, writer: RunWriter) -> None:
        self.writer = writer
        self._lock = threading.Lock()
        self._failing: set[int] = set()
        self._done: dict[int, Chain] = {}

    def save(self, chain: Chain, last: bool) -> None:
        """Write the state of a chain between two sweeps; `last` is whether the chain has ended."""
        fault: BaseException | None = None
        try:
            self.writer.save_chain(chain)
            outdated = self._outdated()  # these chains are done and do not call again
            for other in outdated:
                self.writer.save_chain(other)
        except WRITE_ERRORS as error:
            fault = error
        with self._lock:
            failed_before = bool(self._failing)
            if fault is None:
                self._failing -= {chain.number, *(other.number for other in outdated)}
            else:
                self._failing.add(chain.number)
            if last:
                self._done[chain.number] = chain
            fails_now = bool(self._failing)
        if fault is not None and not failed_before:
            warn_user(
                f"{_reason(fault)} The checkpoint is skipped and the run continues; {self.writer.status()}, and the "
                "next checkpoint is attempted as usual.",
                CheckpointWarning,
            )
        elif failed_before and not fails_now:
            warn_user(f"checkpoints can be written again: {self.writer.status()}.", CheckpointWarning)

    def _outdated(self) -> list[Chain]:
        """Return the chains that are done and whose last state is not on disk."""
        with self._lock:
            return [chain for number, chain in self._done.items() if number in self._failing]

    def finish(self) -> None:
        """Write what could not be written before, and the results of the finished run.

        Raises
        ------
        ModelError
            If that fails again, with what is in the folder and how to continue.
        """
        outdated = self._outdated()
        if not outdated and not self.writer.run.finished:
            return
        try:
            self.writer.save_chains(outdated, [*self._done.values()])
        except WRITE_ERRORS as error:
            command = f"linktopics resume {shlex.quote(str(self.writer.folder.path))}"
            raise ModelError(
                f"{_reason(error)} The final state of the run is not saved: {self.writer.status()}. Fix the cause and "
                f"continue with {command}, or in Python save the fitted model elsewhere by model.save(path)."
            ) from None
        if outdated:
            self._failing.clear()
            warn_user(f"the final state of the run was written: {self.writer.status()}.", CheckpointWarning)


def _reason(error: BaseException) -> str:
    return "There is not enough memory to write a checkpoint." if isinstance(error, MemoryError) else str(error)
