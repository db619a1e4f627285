"""``linktopics report`` and ``serve``."""

from __future__ import annotations

from pathlib import Path

from linktopics.commands.output import one_line
from linktopics.explorer.overview import describe_quality
from linktopics.explorer.report import check_documents, check_target, write_report
from linktopics.model import RelationalTopicModel
from linktopics.rendering import make_console
from linktopics.storage.checking import read_manifest

__all__ = ["run_report"]


def run_report(
    path: Path,
    output: Path,
    *,
    title: str | None,
    evaluation: Path | None,
    suggestions: int,
    texts: bool,
    overwrite: bool,
    quiet: bool,
) -> None:
    """Write the report of a model."""
    # What is wrong is told now rather than after the work.
    check_target(output, overwrite=overwrite)
    describe_quality(evaluation)
    check_documents(read_manifest(path)["network"]["n_documents"])
    model = RelationalTopicModel.load(path)
    model.n_jobs = -1
    size = write_report(
        model, output, title=title, evaluation=evaluation, suggestions=suggestions, texts=texts, overwrite=overwrite,
        folder=path, verbose=False if quiet else "auto",
    )  # fmt: skip
    shown = f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{size / 1e3:.0f} kB"
    make_console().print(f"{one_line(str(output))}: {shown}", markup=False, soft_wrap=True)
