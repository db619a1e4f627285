"""Arguments and options that several commands share."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["Data", "Format", "FormatOption", "Jobs", "Model", "Seed", "Top"]

DATA_HELP = (
    "A built-in network (stdlib, cora, citeseer, webkb), or a folder: documents.jsonl and links.csv; text or Markdown "
    "files that link to one another; LINQS; LDA-C."
)


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


Data = Annotated[str, typer.Argument(metavar="DATA", help=DATA_HELP, show_default=False)]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="The folder of a fitted model.", show_default=False)]
FormatOption = Annotated[
    Format,
    typer.Option(
        "--format", help="auto is table on a terminal, and plain (tabs between columns) in a pipe.", show_choices=True
    ),
]
Top = Annotated[int, typer.Option(min=1, help="Rows to show.")]
Seed = Annotated[int, typer.Option(min=0, help="The same seed gives the same model.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="Threads.", show_default="all cores")]
