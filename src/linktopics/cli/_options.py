"""Arguments and options that several commands share."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["Data", "Format", "FormatOption", "Jobs", "Model", "Top"]

DATA_HELP = (
    "A built-in network (stdlib, cora, citeseer, webkb), or a folder: documents.jsonl and links.csv; text or Markdown "
    "files that link to one another; LINQS; LDA-C."
)

NUMBER, REAL = "N", "X"
"""What stands for the value of an option in --help."""


class Format(str, Enum):
    """How results are written."""

    auto = "auto"
    table = "table"
    plain = "plain"
    csv = "csv"
    json = "json"


class Direction(str, Enum):
    """Which links of a new document."""

    both = "both"
    out = "out"
    into = "in"


class End(str, Enum):
    """An end of a link."""

    source = "source"
    target = "target"


class Search(str, Enum):
    """How the best candidates are found."""

    auto = "auto"
    exact = "exact"
    indexed = "index"


class Coherence(str, Enum):
    """Measures of how well the words of a topic go together."""

    npmi = "npmi"
    umass = "umass"
    cv = "cv"


class Loss(str, Enum):
    """Losses of the score of a pair."""

    logistic = "logistic"
    hinge = "hinge"


class Weights(str, Enum):
    """Which topics can attract which."""

    full = "full"
    diagonal = "diagonal"


class SamplerKind(str, Enum):
    """How the links' say in a document's topics is kept."""

    exact = "exact"
    cached = "cached"


class Calibration(str, Enum):
    """What probabilities of links are corrected for."""

    held_out = "held-out"
    sampling = "sampling"
    none = "none"


class EngineName(str, Enum):
    """Who runs the shards of a chain."""

    threads = "threads"
    ray = "ray"


class LearnAlpha(str, Enum):
    """What is learned of alpha: one number, or one for each topic."""

    symmetric = "symmetric"
    per_topic = "per-topic"


Data = Annotated[str, typer.Argument(metavar="DATA", help=DATA_HELP, show_default=False)]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="The folder of a fitted model.", show_default=False)]
FormatOption = Annotated[
    Format,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="table, plain (tabs between columns), csv or json; auto is table on a terminal and plain in a pipe.",
    ),
]
Top = Annotated[int, typer.Option(min=1, metavar=NUMBER, help="Rows to show.")]
Jobs = Annotated[
    int | None, typer.Option(min=1, metavar=NUMBER, help="Threads (default all cores).", show_default=False)
]
