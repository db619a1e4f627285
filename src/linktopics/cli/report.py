"""Write pages of a model into one file to send."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from linktopics.cli.options import Debug, Model, Quiet, count, option
from linktopics.cli.output import one_line, say

EXAMPLE = 'linktopics report my-model -o report.html --title "Papers of 2020"'

EVALUATION_HELP = "What linktopics evaluate wrote with --output or --resume, to show how well the model predicts."
OVERWRITE_HELP = "Replace a file that is there, even if it is no report."


def report(
    model: Model,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The HTML file to write.", dir_okay=False)
    ] = Path("report.html"),
    title: Annotated[str | None, option("Title of the report.", None, "by size", metavar="TEXT")] = None,
    evaluation: Annotated[Path | None, option(EVALUATION_HELP, metavar="FILE", dir_okay=False)] = None,
    suggestions: Annotated[int, count("Absent links to suggest for each document.", min=0)] = 5,
    texts: Annotated[bool, typer.Option("--texts/--no-texts", help="Put beginnings of texts into the file.")] = True,
    overwrite: Annotated[bool, typer.Option("--overwrite", help=OVERWRITE_HELP)] = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write one HTML file that shows a model: its data, topics, weights, documents and links.

    The file works offline and asks nothing of any network, so it can be
    sent. Words, ids, titles and, with --texts, beginnings of texts are
    in it: send it only to those who may read them.
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
    say(f"{one_line(str(output))}: " + (f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.0f} kB"))
