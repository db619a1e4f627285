"""The command line: `main` handles signals, streams and the terminal's width before anything else is loaded.

`app` has the Typer application; a command is a file of its name, listed there. Heavy modules (NumPy, the model) are
imported when a command runs, so that ``--help`` answers at once.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
from typing import Any

__all__ = ["SIGNAL_EXIT_BASE", "STANDARD_OUTPUT", "end_early", "main"]

SIGNAL_EXIT_BASE = 128
"""Exit code minus the number of the signal, as shells count: 130 is Ctrl-C, 143 SIGTERM, 129 SIGHUP."""

STANDARD_OUTPUT = "standard output"
"""The name of standard output in errors."""


def main() -> None:
    """Run the command line; the entry point of ``linktopics``."""
    _ensure_utf8()
    _handle_signals_early()
    _replace_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # arrows and boxes on a terminal that has none
    if isinstance(sys.stdout, io.TextIOWrapper):
        _name_in_errors(sys.stdout, STANDARD_OUTPUT)
    if not os.environ.get("COLUMNS", "").strip("0"):  # a width of 0 means unknown
        os.environ.pop("COLUMNS", None)
    from linktopics.cli.app import app

    app(prog_name="linktopics")


def _ensure_utf8() -> None:
    """Restart in Python's UTF-8 mode where the locale's encoding is ASCII.

    Python chooses that mode itself, unless PYTHONUTF8=0 forbids it. In ASCII, names of files and arguments
    that are UTF-8 would be other strings than the same ids and words in the data, and output would be question marks.
    """
    if sys.getfilesystemencoding() != "ascii" or os.environ.get("PYTHONUTF8") == "1" or not sys.executable:
        return
    os.environ["PYTHONUTF8"] = "1"  # for processes that we start, too; and so this is done once
    with contextlib.suppress(OSError):
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def _handle_signals_early() -> None:
    """Exit with a sentence on a signal, until a command begins and handles signals itself."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # the last when the terminal is closed; Windows has none
        number = getattr(signal, name, None)
        usual = (signal.SIG_DFL, signal.default_int_handler)  # not one that is ignored, as under nohup
        if number is not None and signal.getsignal(number) in usual:
            signal.signal(number, end_early)


def end_early(number: int, *_: Any) -> None:
    """Exit at once: there is nothing to save, and code that is being imported could catch an exception."""
    with contextlib.suppress(OSError):  # of a terminal that is gone
        os.write(2, b"linktopics: interrupted before anything was saved.\n")
    os._exit(SIGNAL_EXIT_BASE + number)


def _replace_closed_streams() -> None:
    """Redirect closed streams to the null device: the next file opened would get their number, and our output.

    Standard input stays None, which differs from an empty one.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            null_device = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(null_device, True)
            if name != "stdin":
                setattr(sys, name, open(null_device, "w", encoding="utf-8"))  # noqa: SIM115, until the process ends


def _name_in_errors(stream: io.TextIOWrapper, name: str) -> None:
    """Add a file name to the errors of a stream: Python knows none for a file that was open before it started."""
    raw: Any = getattr(stream.buffer, "raw", stream.buffer)  # the latter with PYTHONUNBUFFERED
    write = raw.write

    def write_named(data: Any) -> Any:
        try:
            return write(data)
        except OSError as error:
            error.filename = name
            raise

    raw.write = write_named
