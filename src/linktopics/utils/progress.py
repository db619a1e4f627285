"""A progress bar for loops that take longer than two seconds."""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

DELAY_SECONDS = 2.0
"""Seconds before an automatic bar appears."""


class ProgressBar:
    """A progress bar on standard error; safe to advance from several threads.

    Parameters
    ----------
    total : int
        Number of steps; 0 if it is unknown.
    show : bool or "auto"
        True shows the bar at once, False never; "auto" after two seconds, and only on a terminal.
    description : str
        What the loop does.
    first : str, default="starting (the first run compiles)"
        The description before the first step is done.
    """

    def __init__(
        self,
        total: int,
        show: bool | str,
        description: str,
        first: str = "starting (the first run compiles)",
    ) -> None:
        self.total = total
        self.description = description
        self.first = first
        on_terminal = sys.stderr is not None and sys.stderr.isatty()  # None if it is closed
        self.show = on_terminal if show == "auto" else bool(show)
        self.delay = DELAY_SECONDS if show == "auto" else 0.0
        self.done = 0
        self._lock = threading.Lock()
        self._bar: Any = None

    def __enter__(self) -> ProgressBar:
        if self.show:
            self._timer = threading.Timer(self.delay, self._appear)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self.show:
            self._timer.cancel()
            self._timer.join()
        if self._bar is not None:
            with suppress(OSError):  # of a closed terminal, which must not keep a run from being saved
                self._bar.stop()

    def advance(self, reached: float | str, steps: int = 1) -> None:
        """Count a step, or several, and show the log joint or a text."""
        with self._lock:
            self.done += steps
            if self._bar is not None:
                text = reached if isinstance(reached, str) else f"log joint {reached:,.0f}"
                self._bar.update(self._task, completed=self.done, description=self.description, reached=text)

    def _appear(self) -> None:
        from rich.console import Console
        from rich.progress import Progress

        bar = Progress(*self._columns(), console=Console(stderr=True))
        with self._lock:
            description = self.description if self.done else self.first
            self._task = bar.add_task(description, total=self.total or None, completed=self.done, reached="")
            bar.start()
            self._bar = bar

    def _columns(self) -> tuple[ProgressColumn, ...]:
        """Return the columns of the bar."""
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

        return (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[reached]}", markup=False),
            TimeRemainingColumn(elapsed_when_finished=True),
        )
