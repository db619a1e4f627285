"""Write the pages of a model to one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from linktopics.cli.defaults import default
from linktopics.cli.options import Debug, Model, Quiet, count, option
from linktopics.cli.output import one_line, print_lines

EXAMPLE = 'linktopics report my-model -o report.html --title "Papers of 2020"'

EVALUATION_HELP = "What linktopics evaluate wrote with --output or --resume, to show how well the model predicts."
OVERWRITE_HELP = "Replace an existing file, even if it is not a report."


def report(
    model: Model,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The HTML file to write.", dir_okay=False)
    ] = Path("report.html"),
    title: Annotated[str | None, option("Title of the report.", None, "its size", metavar="TEXT")] = None,
    evaluation: Annotated[Path | None, option(EVALUATION_HELP, metavar="FILE", dir_okay=False)] = None,
    suggestions: Annotated[int, count("Absent links to suggest for each document.", min=0)] = default(
        "write_report.suggestions"
    ),
    texts: Annotated[bool, typer.Option("--texts/--no-texts", help="Include the beginnings of texts.")] = default(
        "write_report.texts"
    ),
    overwrite: Annotated[bool, typer.Option("--overwrite", help=OVERWRITE_HELP)] = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write one HTML file that shows a model: its data, topics, weights, documents and links.

    The file works offline and makes no network requests. It contains words,
    ids, titles and, with --texts, beginnings of texts: send it only to
    people who may read them.
    """
    from linktopics.explorer.overview import describe_quality
    from linktopics.explorer.report import check_documents, check_target, write_report
    from linktopics.model.estimator import RelationalTopicModel
    from linktopics.storage.folder import ModelFolder

    # Mistakes are reported before the work is done.
    check_target(output, overwrite=overwrite)
    describe_quality(evaluation)
    check_documents(ModelFolder(model).read_manifest().network.n_documents)
    fitted = RelationalTopicModel.load(model)
    fitted.n_jobs = -1
    size = write_report(
        fitted, output, title=title, evaluation=evaluation, suggestions=suggestions, texts=texts, overwrite=overwrite,
        folder=model, verbose=False if quiet else "auto",
    )  # fmt: skip
    print_lines(f"{one_line(str(output))}: " + (f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.0f} kB"))
