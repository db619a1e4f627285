"""The commands ``info``, ``fit``, ``resume`` and ``warmup``."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from linktopics.cli._app import Debug, app
from linktopics.cli._options import (
    DATA_HELP,
    NUMBER,
    REAL,
    Calibration,
    EngineName,
    Format,
    FormatOption,
    Jobs,
    LearnAlpha,
    Loss,
    Model,
    SamplerKind,
    Weights,
)

__all__: list[str] = []

MODEL, LINKS, CHAINS, DATA = "Topics and priors", "Links", "Sampling", "Reading data"
"""Panels of options."""


def _option(help: str, panel: str, default: str | None = None, *names: str, **more: Any) -> Any:
    """Return an option that is None unless it is given, so that a file of settings can have its say."""
    shown = help if default is None else f"{help.removesuffix('.')} (default {default})."
    return typer.Option(*names, help=shown, rich_help_panel=panel, show_default=False, **more)


Check = Annotated[
    bool,
    typer.Option("--check", help="Count everything again after each sweep and compare; takes several times as long."),
]
MinDocuments = Annotated[
    int | None,
    _option("Leave out words that fewer documents have.", DATA, "1", "--min-documents", min=1, metavar=NUMBER),
]
MaxShare = Annotated[
    float | None,
    _option(
        "Leave out words that a larger share of documents has.", DATA, "1", "--max-share", min=0, max=1, metavar=REAL
    ),
]
StopWords = Annotated[
    str | None,
    _option(
        "Words to leave out: english, none, or a file with one per line.",
        DATA,
        "english",
        "--stop-words",
        metavar="NAME",
    ),
]
Directed = Annotated[
    bool | None, _option("Whether the direction of links counts.", DATA, "directed", "--directed/--undirected")
]
Strict = Annotated[
    bool | None, _option("Refuse data with links to nowhere, self links or empty documents.", DATA, None, "--strict")
]


@app.command(short_help="Show what was read, and what was dropped.", epilog="Example: linktopics info my-folder")
def info(
    data: Annotated[str, typer.Argument(metavar="DATA", help=f"{DATA_HELP} Or the folder of a model.")],
    format: FormatOption = Format.auto,
    min_documents: MinDocuments = None,
    max_share: MaxShare = None,
    stop_words: StopWords = None,
    strict: Strict = None,
    debug: Debug = False,
) -> None:
    """Show what is in a network and what was dropped from it, or what a model is."""
    from linktopics.commands.info import run_info

    reading = {"min_documents": min_documents, "max_share": max_share, "stop_words": stop_words, "strict": strict}
    run_info(data, {name: value for name, value in reading.items() if value is not None}, format.value)


@app.command(epilog="Example: linktopics fit my-folder -o my-model --topics 30 --chains 4")
def fit(
    data: Annotated[str | None, typer.Argument(metavar="DATA", help=DATA_HELP, show_default=False)] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="Folder for the model.", file_okay=False, show_default=False
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="TOML file with options by name: topics = 30.", dir_okay=False, show_default=False
        ),
    ] = None,
    topics: Annotated[
        int | None, _option("Number of topics.", MODEL, "20", "--topics", "-k", min=1, metavar=NUMBER)
    ] = None,
    alpha: Annotated[float | None, _option("Prior tokens per document.", MODEL, "5", metavar=REAL)] = None,
    beta: Annotated[float | None, _option("Prior tokens per word and topic.", MODEL, "0.01", metavar=REAL)] = None,
    learn_alpha: Annotated[
        LearnAlpha | None, _option("Learn alpha during burn-in: one number, or one per topic.", MODEL)
    ] = None,
    learn_beta: Annotated[bool | None, _option("Learn beta during burn-in.", MODEL, None, "--learn-beta")] = None,
    seed_words: Annotated[
        list[str] | None,
        _option(
            "Words expected in a topic, as 0:cell,protein; repeat for others.",
            MODEL,
            None,
            "--seed-words",
            metavar="N:WORD,WORD",
        ),
    ] = None,
    seed_weight: Annotated[
        int | None,
        _option("Prior tokens of each seed word.", MODEL, "1 % of a topic, at least 10", min=1, metavar=NUMBER),
    ] = None,
    loss: Annotated[Loss | None, _option("Loss of the score of a pair.", LINKS, "logistic")] = None,
    weights: Annotated[
        Weights | None, _option("Whether any topic can attract any, or only itself.", LINKS, "full")
    ] = None,
    link_cost: Annotated[
        float | None, _option("Weight of a link in the loss.", LINKS, "4, diagonal: 16", metavar=REAL)
    ] = None,
    nonlink_cost: Annotated[float | None, _option("Weight of a sampled non-link.", LINKS, "1", metavar=REAL)] = None,
    negatives: Annotated[
        str | None,
        _option("Non-links: auto, a fraction, or from 1 on a number per link.", LINKS, "auto", metavar=f"auto|{REAL}"),
    ] = None,
    calibration: Annotated[
        Calibration | None,
        _option(
            "What probabilities are corrected for: sampling of non-links, and what held-out documents show.",
            LINKS,
            "held-out",
        ),
    ] = None,
    margin: Annotated[float | None, _option("Margin of the hinge loss.", LINKS, "1", metavar=REAL)] = None,
    weight_variance: Annotated[
        float | None, _option("Prior variance of each weight.", LINKS, "10", metavar=REAL)
    ] = None,
    feature: Annotated[
        list[str] | None,
        _option(
            "Feature of pairs: tfidf, tfidf-neighbours, tfidf-centroid, topics-neighbours, degree, intercept, or none; "
            "repeat for several.",
            LINKS,
            "tfidf, tfidf-centroid, degree",
            "--feature",
            metavar="NAME",
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        _option(
            "Field of documents.jsonl to compare, as year:difference, venue:equal, authors:overlap (or tags:overlap "
            "of notes); repeat.",
            LINKS,
            None,
            "--column",
            metavar="NAME:HOW",
        ),
    ] = None,
    sampler: Annotated[SamplerKind | None, _option("exact, or the paper's Approx: cached.", CHAINS, "exact")] = None,
    iterations: Annotated[int | None, _option("Burn-in sweeps.", CHAINS, "300", min=0, metavar=NUMBER)] = None,
    samples: Annotated[int | None, _option("Samples to keep per chain.", CHAINS, "10", min=1, metavar=NUMBER)] = None,
    thin: Annotated[int | None, _option("Sweeps per sample.", CHAINS, "20", min=1, metavar=NUMBER)] = None,
    chains: Annotated[int | None, _option("Independent chains.", CHAINS, "4", min=1, metavar=NUMBER)] = None,
    seed: Annotated[
        int | None, _option("The same seed gives the same model.", CHAINS, "0", min=0, metavar=NUMBER)
    ] = None,
    jobs: Annotated[int | None, _option("Threads.", CHAINS, "all cores", min=1, metavar=NUMBER)] = None,
    shards: Annotated[
        int | None,
        _option(
            "Parts of the documents on which cores or machines work at once; 1 is exact.",
            CHAINS,
            "1",
            min=1,
            metavar=NUMBER,
        ),
    ] = None,
    engine: Annotated[
        EngineName | None, _option("Who works on shards: threads, or a cluster of Ray.", CHAINS, "threads")
    ] = None,
    address: Annotated[
        str | None,
        _option("The Ray cluster: auto, or host:port.", CHAINS, "Ray on this machine alone", metavar="ADDRESS"),
    ] = None,
    checkpoint_every: Annotated[
        int | None,
        _option("Sweeps between two checkpoints.", CHAINS, "50", "--checkpoint-every", min=1, metavar=NUMBER),
    ] = None,
    checkpoint_minutes: Annotated[
        float | None,
        _option(
            "Minutes between two checkpoints, if so many sweeps take longer.",
            CHAINS,
            "10",
            "--checkpoint-minutes",
            min=0,
            metavar=REAL,
        ),
    ] = None,
    min_documents: MinDocuments = None,
    max_share: MaxShare = None,
    stop_words: StopWords = None,
    strict: Strict = None,
    directed: Directed = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a model that is there.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress bar.")] = False,
    check: Check = False,
    debug: Debug = False,
) -> None:
    """Fit a model and save it in a folder.

    The run is kept in the folder while it is on its way. Ctrl-C finishes
    the sweep, saves and stops; linktopics resume goes on, also after a
    crash. A full disk does not stop the run: it goes on with a warning.

    DATA and all options but --overwrite, --quiet and --check can stand in
    the file of --config, too; those on the command line come first.
    """
    options = dict(locals())
    given = {name: value for name, value in options.items() if value is not None and name not in NOT_SETTINGS}
    given = {name: value.value if isinstance(value, Enum) else value for name, value in given.items()}
    from linktopics.commands.fitting import run_fit
    from linktopics.sampler.checking import checked

    with checked(check):
        run_fit(given, config, overwrite=overwrite, quiet=quiet)


NOT_SETTINGS = ("config", "overwrite", "quiet", "check", "debug")


@app.command(
    short_help="Go on with a run, or add sweeps or samples.",
    epilog="Example: linktopics resume my-model --iterations 500",
)
def resume(
    model: Model,
    iterations: Annotated[
        int,
        typer.Option(
            min=0, metavar=NUMBER, help="Sweeps of burn-in to add; samples drawn so far are then replaced by new ones."
        ),
    ] = 0,
    samples: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar=NUMBER,
            help="Samples per chain to add; with --iterations, to draw (default as many as there were).",
            show_default=False,
        ),
    ] = None,
    jobs: Jobs = None,
    engine: Annotated[
        EngineName, typer.Option(help="Who works on shards: threads, or a cluster of Ray.")
    ] = EngineName.threads,
    address: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="The Ray cluster: auto, or host:port (default Ray on this machine alone).",
            show_default=False,
        ),
    ] = None,
    checkpoint_every: Annotated[int, typer.Option(min=1, metavar=NUMBER, help="Sweeps between two checkpoints.")] = 50,
    checkpoint_minutes: Annotated[
        float,
        typer.Option(min=0, metavar=REAL, help="Minutes between two checkpoints, if so many sweeps take longer."),
    ] = 10.0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress bar.")] = False,
    check: Check = False,
    debug: Debug = False,
) -> None:
    """Go on with a run that was stopped, or add burn-in or samples to one that is finished.

    If the last checkpoint is damaged, the one before it is taken, with a
    warning; the model comes to the same in the end.
    """
    from linktopics.commands.fitting import run_resume
    from linktopics.sampler.checking import checked

    pace = (checkpoint_every, checkpoint_minutes)
    with checked(check):
        run_resume(model, iterations, samples, jobs, *pace, (engine.value, address), quiet=quiet)


@app.command(
    short_help="Compile the sampler before the first fit.", epilog="Example: linktopics warmup --topics 20 --topics 50"
)
def warmup(
    topics: Annotated[
        list[int],
        typer.Option(
            min=1,
            metavar=NUMBER,
            help="Number of topics you will ask for; repeat for others. 1 to 8 topics share one compiled sampler, "
            "9 to 16 another, and so on.",
        ),
    ] = [20],  # noqa: B006, typer copies it
    debug: Debug = False,
) -> None:
    """Compile the sampler now and keep it on disk, so that the next fit starts at once."""
    from linktopics.commands.fitting import run_warmup

    run_warmup(topics)
