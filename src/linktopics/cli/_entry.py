"""The entry point: signals, streams and the width of the terminal are seen to before anything else is loaded."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
from typing import Any

__all__ = ["SIGNALLED", "STANDARD_OUTPUT", "end_early", "main"]

SIGNALLED = 128
"""Plus the number of the signal, as shells count: 130 after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP."""

STANDARD_OUTPUT = "standard output"
"""The name that errors have for it."""


def main() -> None:
    """Run the command line; the entry point of ``linktopics``."""
    _leave_ascii()
    _take_signals()
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # arrows and boxes on a terminal that has none
    if isinstance(sys.stdout, io.TextIOWrapper):
        _name_in_errors(sys.stdout, STANDARD_OUTPUT)
    if not os.environ.get("COLUMNS", "").strip("0"):  # as some say who do not know it; nothing fits in no columns
        os.environ.pop("COLUMNS", None)
    from linktopics.cli import app

    app(prog_name="linktopics")


def _leave_ascii() -> None:
    """Start again in Python's UTF-8 mode where the locale knows nothing but ASCII.

    Python chooses that mode itself, unless it is told not to (PYTHONUTF8=0). In ASCII, names of files and arguments
    that are UTF-8 would be other strings than the same ids and words in the data, and output would be question marks.
    """
    if sys.getfilesystemencoding() != "ascii" or os.environ.get("PYTHONUTF8") == "1" or not sys.executable:
        return
    os.environ["PYTHONUTF8"] = "1"  # for processes that we start, too; and so this is done once
    with contextlib.suppress(OSError):
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def _take_signals() -> None:
    """Let signals end the program in a sentence until a command begins, which takes them in its own way."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # the last: the terminal was closed; Windows has no such thing
        number = getattr(signal, name, None)
        usual = (signal.SIG_DFL, signal.default_int_handler)  # and not ignored, as nohup has it
        if number is not None and signal.getsignal(number) in usual:
            signal.signal(number, end_early)


def end_early(number: int, *_: Any) -> None:
    """End at once: there is nothing to keep, and an exception could be taken for another in the midst of an import."""
    with contextlib.suppress(OSError):  # of a terminal that is gone
        os.write(2, b"linktopics: interrupted before anything was kept.\n")
    os._exit(SIGNALLED + number)


def _open_closed_streams() -> None:
    """Lead streams that are closed nowhere: the next file that is opened would get their number, and all that is said.

    Standard input stays None, which who reads it can tell from one that is empty.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(nowhere, True)
            if name != "stdin":
                setattr(sys, name, open(nowhere, "w", encoding="utf-8"))  # noqa: SIM115, for as long as we live


def _name_in_errors(stream: io.TextIOWrapper, name: str) -> None:
    """Let an error of a stream say which it is: of a file that was open before us Python knows no name."""
    raw: Any = getattr(stream.buffer, "raw", stream.buffer)  # the latter where Python was told not to buffer
    write = raw.write

    def named(data: Any) -> Any:
        try:
            return write(data)
        except OSError as error:
            error.filename = name
            raise

    raw.write = named
