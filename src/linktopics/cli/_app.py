"""The command line. Nothing heavy is imported before a command runs, so that ``--help`` answers at once."""

from __future__ import annotations

import contextlib
import io
import signal
import sys
import warnings
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from linktopics import __version__
from linktopics.errors import LinktopicsError

__all__ = ["Debug", "app", "main"]

USER_ERROR = 2
SIGNALLED = 128
"""Plus the number of the signal, as shells count: 130 after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP."""

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

    def invoke(self, ctx: Any) -> Any:
        """Run a command; turn warnings, errors of the user and an interrupt into sentences, these into exit codes."""
        _met.clear()
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _say_warning
                return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            number = _met[0] if _met else int(signal.SIGINT)
            said = " ".join(map(str, stop.args))
            with contextlib.suppress(OSError):  # of a terminal that is gone
                typer.echo(f"linktopics: {said or 'interrupted.'}", err=True)
            raise typer.Exit(SIGNALLED + number) from None
        except BrokenPipeError:
            raise  # the reader of the output has gone, which typer knows to take quietly
        except (LinktopicsError, ValueError, OSError, MemoryError) as error:
            if ctx.ensure_object(dict).get(SHOWS_TRACEBACK):
                raise
            certain = isinstance(error, LinktopicsError | OSError)
            hint = "" if certain else " (--debug shows where this comes from)"
            typer.echo(f"linktopics: {' '.join(str(error).split())}{hint}", err=True)
            raise typer.Exit(USER_ERROR) from None


_met: list[int] = []
"""The signals that ended the command, the first first."""


def _terminate(number: int, *_: Any) -> None:
    """Take a signal for an interrupt, which saves and stops, and remember which it was."""
    _met.append(number)
    raise KeyboardInterrupt


def _say_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    typer.echo(f"linktopics: {message}", err=True)


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


def main() -> None:
    """Run the command line; the entry point of ``linktopics``."""
    for name in ("SIGTERM", "SIGHUP"):  # the terminal was closed; Windows has no such thing
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:  # and not ignored, as nohup has it
            signal.signal(number, _terminate)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # arrows and boxes on a terminal that has none
    app(prog_name="linktopics")
