"""The command line. Nothing heavy is imported before a command runs, so that ``--help`` answers at once."""

from __future__ import annotations

import io
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from linktopics import __version__
from linktopics.errors import LinktopicsError

__all__ = ["app", "main"]

USER_ERROR = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells count

SHOWS_TRACEBACK = "show_traceback"


class Commands(TyperGroup):
    """All commands; what a user can put right ends in one sentence on standard error."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; turn an error of the user or an interrupt into a sentence and an exit code."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo("linktopics: interrupted.", err=True)
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            raise  # the reader of the output has gone, which typer knows to take quietly
        except (LinktopicsError, ValueError, OSError) as error:
            if ctx.ensure_object(dict).get(SHOWS_TRACEBACK):
                raise
            certain = isinstance(error, LinktopicsError | OSError)
            hint = "" if certain else " (--debug shows where this comes from)"
            typer.echo(f"linktopics: {' '.join(str(error).split())}{hint}", err=True)
            raise typer.Exit(USER_ERROR) from None


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
)


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Topic models that read documents and the links between them."""


@app.command(epilog='Example: linktopics demo --topics 12 --text "Plays chess over the network, with a window."')
def demo(
    topics: Annotated[int, typer.Option(min=2, max=20, help="Number of topics.")] = 15,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same result.")] = 0,
    text: Annotated[
        str | None, typer.Option(help="What a module does that you would like to write.", show_default=False)
    ] = None,
    chains: Annotated[int, typer.Option(min=1, help="Independent runs of the sampler.")] = 2,
    iterations: Annotated[int, typer.Option(min=1, help="Burn-in sweeps of each.")] = 300,
    save_svg: Annotated[
        Path | None, typer.Option(help="Save the output as a picture, too.", dir_okay=False, show_default=False)
    ] = None,
    debug: Debug = False,
) -> None:
    """Fit a model of Python's own standard library and show it.

    Modules are the documents and imports are the links. Shows the topics, which topic imports which, and what a module
    that does not exist yet should import. Takes less than a minute and downloads nothing.
    """
    started = time.perf_counter()
    from linktopics.demo import DEFAULT_TEXT, run_demo

    run_demo(
        n_topics=topics,
        seed=seed,
        text=DEFAULT_TEXT if text is None else text,
        n_chains=chains,
        n_iter=iterations,
        svg=save_svg,
        started=started,
    )


def main() -> None:
    """Run the command line; the entry point of ``linktopics``."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # arrows and boxes on a terminal that has none
    app(prog_name="linktopics")
