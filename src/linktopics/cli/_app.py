"""The command line. Nothing heavy is imported before a command runs, so that ``--help`` answers at once."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import warnings
from typing import Annotated, Any, TextIO

import typer
from typer.core import TyperGroup

from linktopics import __version__
from linktopics.cli._entry import SIGNALLED, STANDARD_OUTPUT, end_early
from linktopics.errors import LinktopicsError

__all__ = ["Debug", "app"]

USER_ERROR = 2

ORDER = [
    "demo", "info", "fit", "resume", "topics", "suggest", "words", "explain", "report", "serve", "evaluate",
    "reproduce", "warmup",
]  # fmt: skip

SHOWS_TRACEBACK = "show_traceback"


class Commands(TyperGroup):
    """All commands; what a user can put right ends in one sentence on standard error."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands as plain text: it is there in a third of the time that rich takes to load."""
        super(TyperGroup, self).format_help(ctx, formatter)

    def list_commands(self, ctx: Any) -> list[str]:
        """Give the commands in the order in which one would use them."""
        names = super().list_commands(ctx)
        return sorted(names, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))

    def main(self, *arguments: Any, **more: Any) -> Any:
        """Run the command line; turn errors of the user into sentences and the exit code 2."""
        flags: dict[str, bool] = {}
        try:
            return super().main(*arguments, obj=flags, **more)
        except (LinktopicsError, ValueError, OSError, MemoryError) as error:
            if flags.get(SHOWS_TRACEBACK):
                raise
            _say(_sentence(error))
            sys.exit(USER_ERROR)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; turn warnings and an interrupt into sentences, the latter into exit codes."""
        _met.clear()
        try:
            _take_signals()
            with warnings.catch_warnings():
                warnings.showwarning = _say_warning
                done = super().invoke(ctx)
            sys.stdout.flush()  # what cannot be written is told now; after us nobody would
            return done
        except KeyboardInterrupt as stop:
            number = _met[0] if _met else int(signal.SIGINT)
            said = " ".join(map(str, stop.args))
            _say(said or "interrupted.")
            raise typer.Exit(SIGNALLED + number) from None


_met: list[int] = []
"""The signals that ended the command, the first first."""


def _terminate(number: int, *_: Any) -> None:
    """Take a signal for an interrupt, which saves and stops, and remember which it was."""
    _met.append(number)
    raise KeyboardInterrupt


def _take_signals() -> None:
    """From here on there may be something to save: signals that would end the program are interrupts now."""
    for number in (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        if signal.getsignal(number) is end_early:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else _terminate)


def _say_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    _say(str(message))


def _say(sentence: str) -> None:
    """Write to standard error; where that cannot be written to, what was asked for is done all the same."""
    from linktopics.commands.output import one_line  # which data may need: names in them can hold anything

    try:
        typer.echo(f"linktopics: {one_line(sentence)}", err=True)
    except OSError:
        _silence(sys.stderr)


def _sentence(error: Exception) -> str:
    """Say what is wrong, in one line."""
    said = " ".join(str(error).split())
    if isinstance(error, LinktopicsError):
        return said
    if isinstance(error, MemoryError):
        detail = said.rstrip(": ")
        return (
            f"there is not enough memory{detail and f' ({detail})'}; end other programs, ask for less at once (smaller "
            "data, fewer topics, chains or jobs), or do it on a machine with more."
        )
    if isinstance(error, OSError):
        if error.filename != STANDARD_OUTPUT:
            return said
        _silence(sys.stdout)
        return f"standard output cannot be written to ({error.strerror}); make room there, or lead it elsewhere."
    return f"{said} (--debug shows where this comes from)"


def _silence(stream: TextIO) -> None:
    """Lead a stream nowhere, or Python would try to write the rest once more at the end, and change the exit code."""
    with contextlib.suppress(OSError):  # of a stream that is no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _remember_debug(ctx: typer.Context, value: bool) -> bool:
    if value:
        ctx.find_root().ensure_object(dict)[SHOWS_TRACEBACK] = True
    return value


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"linktopics {__version__}")
        raise typer.Exit


Debug = Annotated[
    bool, typer.Option("--debug", callback=_remember_debug, help="Show the traceback of an error.", show_default=False)
]
"""The option every command takes, before its name or after; its callback does all there is to do."""

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: linktopics demo, then linktopics fit my-folder -o my-model and linktopics topics my-model",
)


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Topic models that read documents and the links between them."""
