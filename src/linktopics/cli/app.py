"""The Typer application: the commands, and how their errors, warnings and signals become sentences and exit codes."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import warnings
from collections.abc import Iterable
from importlib import import_module
from typing import Annotated, Any, TextIO

import typer
from typer.core import TyperGroup

from linktopics import __version__
from linktopics.cli import SIGNAL_EXIT_BASE, STANDARD_OUTPUT, end_early
from linktopics.cli.options import SHOWS_TRACEBACK, Debug
from linktopics.cli.output import one_line
from linktopics.errors import LinktopicsError
from linktopics.registry import FEATURES, LOSSES, READERS, load_plugin

COMMANDS = (
    "demo", "info", "fit", "resume", "topics", "suggest", "words", "explain", "report", "serve", "evaluate", "warmup",
)  # fmt: skip
"""The commands in the order of ``--help``.

Each is a module of this package with a function of the same name, a docstring of one line, which ``--help`` lists, and
an `EXAMPLE`.
"""

USER_ERROR = 2

NAMES_IN_HELP: dict[str, Iterable[str]] = {"{losses}": LOSSES, "{features}": FEATURES, "{readers}": READERS}
"""Placeholders in the help of options, and the registries whose names replace them."""


class Commands(TyperGroup):
    """All commands; an error that the user can correct ends in one sentence on standard error."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands as plain text, which takes a third of the time that rich takes to load."""
        super(TyperGroup, self).format_help(ctx, formatter)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command; names in its help are those that are registered now, by plugins too."""
        command: Any = super().get_command(ctx, cmd_name)
        for parameter in command.params if command else ():
            for place, names in NAMES_IN_HELP.items():
                if place in (getattr(parameter, "help", None) or ""):
                    parameter.help = parameter.help.replace(place, ", ".join(names))
        return command

    def main(self, *arguments: Any, **more: Any) -> Any:
        """Run the command line; turn errors of the user into sentences and the exit code 2."""
        flags: dict[str, bool] = {}
        try:
            return super().main(*arguments, obj=flags, **more)
        except (LinktopicsError, ValueError, OSError, MemoryError) as error:
            if flags.get(SHOWS_TRACEBACK):
                raise
            _print_error(_error_message(error))
            sys.exit(USER_ERROR)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; turn warnings and an interrupt into sentences, the latter into exit codes."""
        _received.clear()
        try:
            _turn_signals_into_interrupts()
            with warnings.catch_warnings():
                warnings.showwarning = _print_warning
                done = super().invoke(ctx)
            sys.stdout.flush()  # an error of writing must come here, where it can be reported
            return done
        except KeyboardInterrupt as stop:
            number = _received[0] if _received else int(signal.SIGINT)
            _print_error(" ".join(map(str, stop.args)) or "interrupted.")
            raise typer.Exit(SIGNAL_EXIT_BASE + number) from None


_received: list[int] = []
"""The signals that ended the command, in the order of their arrival."""


def _terminate(number: int, *_: Any) -> None:
    """Treat a signal as an interrupt, which saves and stops, and remember its number."""
    _received.append(number)
    raise KeyboardInterrupt


def _turn_signals_into_interrupts() -> None:
    """Turn signals that would end the program into interrupts, since from now on there may be something to save."""
    for number in (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        if signal.getsignal(number) is end_early:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else _terminate)


def _print_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    _print_error(str(message))


def _print_error(sentence: str) -> None:
    """Print to standard error; if it cannot be written to, drop the message."""
    try:
        typer.echo(f"linktopics: {one_line(sentence)}", err=True)
    except OSError:
        _redirect_to_null(sys.stderr)


def _error_message(error: Exception) -> str:
    """Return the message of an error, in one line."""
    text = " ".join(str(error).split())
    if isinstance(error, LinktopicsError):
        return text
    if isinstance(error, MemoryError):
        detail = text.rstrip(": ")
        return (
            f"there is not enough memory{detail and f' ({detail})'}; close other programs, use less data or fewer "
            "topics, chains or jobs, or use a machine with more memory."
        )
    if isinstance(error, OSError):
        if error.filename != STANDARD_OUTPUT:
            return text
        _redirect_to_null(sys.stdout)
        return f"standard output cannot be written to ({error.strerror}); free disk space, or redirect it."
    return f"{text} (--debug shows where this comes from)"


def _redirect_to_null(stream: TextIO) -> None:
    """Redirect a stream to the null device: Python would write the rest at exit, and change the exit code."""
    with contextlib.suppress(OSError):  # the stream is not a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"linktopics {__version__}")
        raise typer.Exit


def _load_plugins(names: list[str] | None) -> list[str]:
    modules = names or []
    for name in modules:
        load_plugin(name)
    return modules  # not None: typer 0.19 calls len() on it


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
    plugin: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODULE",
            callback=_load_plugins,
            is_eager=True,
            help="Import a module or file that registers losses, metrics, readers or features; can be repeated.",
        ),
    ] = None,
    debug: Debug = False,
) -> None:
    """Topic models that read documents and the links between them."""


for _name in COMMANDS:
    _module = import_module(f"linktopics.cli.{_name}")
    app.command(short_help=_module.__doc__, epilog=f"Example: {_module.EXAMPLE}")(getattr(_module, _name))
