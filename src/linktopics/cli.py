"""The command line. Nothing heavy is imported before a command runs, so that ``--help`` answers at once."""

from __future__ import annotations

import io
import sys
import time
import warnings
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
        """Run a command; turn warnings, errors of the user and an interrupt into sentences, these into exit codes."""
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _say_warning
                return super().invoke(ctx)
        except KeyboardInterrupt:
            typer.echo("linktopics: interrupted.", err=True)
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            raise  # the reader of the output has gone, which typer knows to take quietly
        except (LinktopicsError, ValueError, OSError, MemoryError) as error:
            if ctx.ensure_object(dict).get(SHOWS_TRACEBACK):
                raise
            certain = isinstance(error, LinktopicsError | OSError)
            hint = "" if certain else " (--debug shows where this comes from)"
            typer.echo(f"linktopics: {' '.join(str(error).split())}{hint}", err=True)
            raise typer.Exit(USER_ERROR) from None


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


GIBBS_OPTIONS = "Gibbs models"
"""Panel of the options that only these models have."""


@app.command(epilog="Example: linktopics evaluate cora --model linktopics --model tfidf --topics 25 --jobs 4")
def evaluate(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="A built-in network (stdlib, cora, citeseer, webkb), or a folder of LINQS, JSONL or LDA-C files.",
        ),
    ],
    model: Annotated[
        list[str],
        typer.Option(
            help="A model; repeat the option for several. linktopics (as it comes), Gibbs-RTM, Gibbs-gRTM, "
            "Approx-gRTM, Gibbs-MMRTM, Gibbs-gMMRTM, Approx-gMMRTM, Var-RTM, tfidf, bm25, "
            "tfidf-neighbours, tfidf-centroid, lsa, lda-cosine, lda-logistic, degree, random."
        ),
    ] = ["linktopics", "Gibbs-gRTM", "tfidf", "tfidf-centroid"],  # noqa: B006, typer copies it
    folds: Annotated[int, typer.Option(min=2, help="Number of folds.")] = 5,
    topics: Annotated[int, typer.Option(min=1, help="Number of topics, of models that have them.")] = 20,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same result.")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    words: Annotated[bool, typer.Option("--words/--no-words", help="Predict words from links, too.")] = True,
    output: Annotated[
        Path | None, typer.Option(help="Save the results of all folds as CSV.", dir_okay=False, show_default=False)
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(help="Keep finished folds in this file, and go on from it.", dir_okay=False, show_default=False),
    ] = None,
    iterations: Annotated[
        int | None,
        typer.Option(min=0, help="Burn-in sweeps.", show_default="400, linktopics 300", rich_help_panel=GIBBS_OPTIONS),
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option(
            min=1, help="Posterior samples per chain.", show_default="1, linktopics 10", rich_help_panel=GIBBS_OPTIONS
        ),
    ] = None,
    chains: Annotated[
        int | None,
        typer.Option(min=1, help="Independent chains.", show_default="1, linktopics 4", rich_help_panel=GIBBS_OPTIONS),
    ] = None,
    link_cost: Annotated[
        float | None,
        typer.Option(
            help="Weight of a link in the loss.", show_default="4, diagonal: 16", rich_help_panel=GIBBS_OPTIONS
        ),
    ] = None,
    negatives: Annotated[
        float | None,
        typer.Option(
            min=0,
            help="Non-links: a fraction, or from 1 on a number per link.",
            show_default="0.01, linktopics auto",
            rich_help_panel=GIBBS_OPTIONS,
        ),
    ] = None,
    alpha: Annotated[
        float | None, typer.Option(help="Prior tokens per document.", show_default="5", rich_help_panel=GIBBS_OPTIONS)
    ] = None,
    debug: Debug = False,
) -> None:
    """Measure how well models predict the links and words of documents they have not seen.

    The documents are split into folds. For each fold, models learn from all
    other documents and then rank these by how likely the documents of the
    fold link with them. Link rank is the mean rank of the true links, word
    rank that of a document's words when they are predicted from its links;
    lower is better.
    """
    given = {
        "n_iter": iterations,
        "n_samples": samples,
        "n_chains": chains,
        "link_cost": link_cost,
        "negatives": negatives,
        "alpha": alpha,
    }
    from linktopics._evaluate import run_evaluate

    run_evaluate(
        data,
        model,
        n_topics=topics,
        gibbs={name: value for name, value in given.items() if value is not None},
        folds=folds,
        words=words,
        n_jobs=jobs,
        seed=seed,
        output=output,
        resume=resume,
    )


@app.command(epilog="Example: linktopics reproduce cora --topics 10,20 --folds 3")
def reproduce(
    name: Annotated[
        str | None, typer.Argument(help="The experiment, or all; --list shows them.", show_default=False)
    ] = None,
    show_list: Annotated[bool, typer.Option("--list", help="Show the experiments and exit.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Small data and few sweeps, in seconds.")] = False,
    output: Annotated[
        Path | None,
        typer.Option(help="Folder for the files; results/NAME (or NAME-quick) by default.", file_okay=False),
    ] = None,
    folds: Annotated[
        int | None, typer.Option(min=2, help="Folds over documents; 5 by default, 3 where a parameter is varied.")
    ] = None,
    topics: Annotated[
        str | None, typer.Option(help="Numbers of topics, as 5,10,15; those of the paper by default.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Fits at the same time; all cores by default.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same result.")] = 0,
    debug: Debug = False,
) -> None:
    """Run an experiment of the paper: tables, figures and settings go to a folder.

    An experiment that was interrupted goes on where it stopped; one that is finished is drawn again.
    """
    from linktopics.study import EXPERIMENTS
    from linktopics.study import reproduce as run_study

    if show_list:
        for each, experiment in EXPERIMENTS.items():
            typer.echo(f"{each:<22} {experiment.about}")
        return
    if name is None:
        raise typer.BadParameter(f"say which experiment: {', '.join(EXPERIMENTS)}, or all.", param_hint="NAME")
    try:
        numbers = None if topics is None else [int(number) for number in topics.split(",")]
    except ValueError:
        raise typer.BadParameter("give whole numbers with commas between, as 5,10,15.", param_hint="--topics") from None
    run_study(
        name,
        quick=quick,
        output=output,
        folds=folds,
        topics=numbers,
        n_jobs=-1 if jobs is None else jobs,
        seed=seed,
        tell=typer.echo,
    )


def main() -> None:
    """Run the command line; the entry point of ``linktopics``."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # arrows and boxes on a terminal that has none
    app(prog_name="linktopics")
