"""The commands ``demo``, ``evaluate`` and ``reproduce``."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from linktopics.cli._app import Debug, app
from linktopics.cli._options import DATA_HELP

__all__: list[str] = []


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

    Modules are the documents and imports are the links. Shows the topics,
    which topic imports which, and what a module that does not exist yet
    should import. Takes less than a minute and downloads nothing.
    """
    started = time.perf_counter()
    from linktopics.commands.demo import DEFAULT_TEXT, run_demo

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


@app.command(
    short_help="Measure how well links of unseen documents are found.",
    epilog="Example: linktopics evaluate cora --model linktopics --model tfidf --topics 25 --jobs 4",
)
def evaluate(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help=DATA_HELP,
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
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Let --output replace a file that is there, even if it is no result.")
    ] = False,
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
    from linktopics.commands.evaluating import run_evaluate

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
        overwrite=overwrite,
    )


@app.command(
    short_help="Run an experiment of the paper.", epilog="Example: linktopics reproduce cora --topics 10,20 --folds 3"
)
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

    An experiment that was interrupted goes on where it stopped; one that is
    finished is drawn again.
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
