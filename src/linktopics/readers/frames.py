"""Documents and links in pandas or polars frames."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from linktopics.errors import DataError
from linktopics.network.validation import as_list, is_missing, list_of_names
from linktopics.readers import TextParts


def read_frames(
    documents: Any,
    links: Any,
    *,
    id: str,
    text: str,
    title: str | None,
    label: str | None,
    columns: Iterable[str],
    source: str,
    target: str,
) -> TextParts:
    """Return the named columns of the two frames."""
    pairs = None
    if links is not None:
        sources = _column(links, source, "links", complete=True)
        pairs = list(zip(sources, _column(links, target, "links", complete=True), strict=True))
    return {
        "texts": _column(documents, text, "documents", complete=True),
        "links": pairs,
        "ids": _column(documents, id, "documents", complete=True),
        "titles": None if title is None else _column(documents, title, "documents"),
        "labels": None if label is None else _column(documents, label, "documents"),
        "columns": {name: _column(documents, name, "documents") for name in list_of_names(columns, "columns")},
    }


def _column(frame: Any, name: str, which: str, *, complete: bool = False) -> list[Any]:
    if not hasattr(frame, "columns"):
        raise DataError(f"{which} is a {type(frame).__name__}; pass a pandas or polars DataFrame.")
    columns = list(frame.columns)
    if name not in columns:
        there = ", ".join(map(repr, columns))
        raise DataError(f"{which} has no column {name!r}; its columns are {there}. Name the right one as an argument.")
    if columns.count(name) > 1:
        raise DataError(f"{which} has the column {name!r} {columns.count(name)} times; rename or drop all but one.")
    values = as_list(frame[name])
    if complete:
        for row, value in enumerate(values):
            if is_missing(value):
                raise DataError(f"{which}: row {row} (from 0) has no {name!r} ({value!r}); fill it in or drop the row.")
    return values
