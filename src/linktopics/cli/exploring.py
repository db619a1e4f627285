"""The command ``report``: pages of a fitted model in one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from linktopics.cli._app import Debug, app
from linktopics.cli._options import NUMBER, Model

__all__: list[str] = []


@app.command(
    short_help="Write pages of a model into one file to send.",
    epilog='Example: linktopics report my-model -o report.html --title "Papers of 2020"',
)
def report(
    model: Model,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The HTML file to write.", dir_okay=False)
    ] = Path("report.html"),
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Title of the report (default by size).", show_default=False)
    ] = None,
    evaluation: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="What linktopics evaluate wrote with --output or --resume, to show how well the model predicts.",
            dir_okay=False,
            show_default=False,
        ),
    ] = None,
    suggestions: Annotated[
        int, typer.Option(min=0, metavar=NUMBER, help="Absent links to suggest for each document.")
    ] = 5,
    texts: Annotated[bool, typer.Option("--texts/--no-texts", help="Put beginnings of texts into the file.")] = True,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a file that is there, even if it is no report.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress bar.")] = False,
    debug: Debug = False,
) -> None:
    """Write one HTML file that shows a model: its data, topics, weights, documents and links.

    The file works offline and asks nothing of any network, so it can be
    sent. Words, ids, titles and, with --texts, beginnings of texts are
    in it: send it only to those who may read them.
    """
    from linktopics.commands.exploring import run_report

    run_report(
        model, output, title=title, evaluation=evaluation, suggestions=suggestions, texts=texts, overwrite=overwrite,
        quiet=quiet,
    )  # fmt: skip
