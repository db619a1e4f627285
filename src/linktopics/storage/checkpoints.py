"""Checkpoints of a run on its way: what cannot be written now is tried again later, and the run goes on."""

from __future__ import annotations

import shlex
import threading
import warnings

from linktopics._checks import user_stacklevel
from linktopics.errors import CheckpointWarning, LinktopicsError, ModelError
from linktopics.posterior import Chain
from linktopics.storage.keeping import Keeper

__all__ = ["Checkpoints"]

FAULTS = (LinktopicsError, OSError, MemoryError)
"""What may come of a disk that is full, gone or broken, and of a machine that has too little memory for a moment."""


class Checkpoints:
    """Keeps the chains of a run while they run; safe to call from several threads.

    A checkpoint that cannot be written is left out, with a warning, and the last good one stays. Later ones are tried
    all the same, and the end of the run, too, when all chains are at rest.

    Parameters
    ----------
    keeper : Keeper
        Who writes.
    """

    def __init__(self, keeper: Keeper) -> None:
        self.keeper = keeper
        self._lock = threading.Lock()
        self._failing: set[int] = set()
        self._resting: dict[int, Chain] = {}

    def keep(self, chain: Chain, last: bool) -> None:
        """Keep a chain between two sweeps; the `last` time it is at rest and will not change any more."""
        fault: BaseException | None = None
        try:
            self.keeper.keep(chain)
            behind = self._behind()  # at rest, so nobody else will
            for other in behind:
                self.keeper.keep(other)
        except FAULTS as error:
            fault = error
        with self._lock:
            before = bool(self._failing)
            if fault is None:
                self._failing -= {chain.number, *(other.number for other in behind)}
            else:
                self._failing.add(chain.number)
            if last:
                self._resting[chain.number] = chain
            now = bool(self._failing)
        if fault is not None and not before:
            _warn(
                f"{_reason(fault)} The checkpoint is left out and the run goes on; {self.keeper.kept()}, and the next "
                "checkpoint is tried again."
            )
        elif before and not now:
            _warn(f"checkpoints can be written again: {self.keeper.kept()}.")

    def _behind(self) -> list[Chain]:
        """Return the chains that are at rest and not kept as they are."""
        with self._lock:
            return [chain for number, chain in self._resting.items() if number in self._failing]

    def finish(self) -> None:
        """Write what could not be written, and what was found out when all chains were done, now that they are at rest.

        Raises
        ------
        ModelError
            If it still cannot, with what is in the folder and how to go on.
        """
        behind = self._behind()
        if not behind and not self.keeper.run.finished:
            return
        try:
            self.keeper.keep_all(behind, [*self._resting.values()])
        except FAULTS as error:
            again = f"linktopics resume {shlex.quote(str(self.keeper.folder.path))}"
            raise ModelError(
                f"{_reason(error)} The end of the run is not saved: {self.keeper.kept()}. Put that right and go on "
                f"with {again}, or in Python save the fitted model elsewhere by model.save(path)."
            ) from None
        if behind:
            self._failing.clear()
            _warn(f"the end of the run could be written: {self.keeper.kept()}.")


def _reason(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "There is not enough memory to write a checkpoint."
    return str(error)


def _warn(text: str) -> None:
    warnings.warn(text, CheckpointWarning, stacklevel=user_stacklevel())
