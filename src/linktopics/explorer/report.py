"""write_report: all pages of a model in one self-contained HTML file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from linktopics.errors import DataError
from linktopics.explorer.explorer import Explorer
from linktopics.explorer.page import REPORT_MARK, report_page
from linktopics.explorer.report_data import BYTES_PER_DOCUMENT
from linktopics.utils.atomic_write import atomic_write, check_output_path

MAX_REPORT_DOCUMENTS = 20_000
"""Documents of a report: browsers open larger files slowly or not at all."""


def write_report(
    model: Any,
    path: str | os.PathLike[str] = "report.html",
    *,
    title: str | None = None,
    evaluation: Any = None,
    suggestions: int = 5,
    texts: bool = True,
    overwrite: bool = False,
    folder: str | os.PathLike[str] | None = None,
    verbose: bool | str = "auto",
) -> int:
    """Return the size of a report after writing it: one HTML file that shows a model offline and without a server.

    Parameters
    ----------
    model : RelationalTopicModel
        A fitted model of at most 20,000 documents.
    path : path, default="report.html"
        The file; it is written atomically.
    title, evaluation, folder
        As in `Explorer`.
    suggestions : int, default=5
        Absent links to suggest for each document.
    texts : bool, default=True
        Whether to include the beginnings of texts. The file contains words of documents in any case.
    overwrite : bool, default=False
        Whether to replace an existing file that is not a report.
    verbose : bool or "auto", default="auto"
        Whether to show a progress bar; "auto" does after two seconds, on a terminal.

    Returns
    -------
    int
        Size of the file in bytes.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from linktopics import DocumentNetwork, RelationalTopicModel
    >>> from linktopics.explorer import write_report
    >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
    >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
    >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_burn_in=50, random_state=0).fit(network)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "report.html"
    >>> write_report(model, path, title="Cats and stars") == path.stat().st_size
    True
    """
    target = check_target(path, overwrite=overwrite)
    explorer = Explorer(model, evaluation=evaluation, title=title, folder=folder)
    check_documents(len(explorer.network))
    data = explorer.report(suggestions, texts, verbose)
    page = report_page(data, data["meta"]["title"]).encode()
    with atomic_write(target, "report") as new:
        new.write_bytes(page)
    return len(page)


def check_documents(n_documents: int) -> None:
    """Raise DataError for more documents than a file can show."""
    if n_documents > MAX_REPORT_DOCUMENTS:
        size = n_documents * BYTES_PER_DOCUMENT / 1e6
        raise DataError(
            f"a report of {n_documents:,} documents would be a file of about {size:,.0f} MB, which is slow to open (up "
            f"to {MAX_REPORT_DOCUMENTS:,} are written); linktopics serve MODEL shows the same pages from a server."
        )


def check_target(path: str | os.PathLike[str], *, overwrite: bool) -> Path:
    """Return the path to write to; raise DataError if it cannot be written, or is a file other than a report."""
    return check_output_path(path, "report", lambda head: REPORT_MARK.encode() in head, overwrite=overwrite)
