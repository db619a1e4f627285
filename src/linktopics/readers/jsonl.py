"""Documents as JSON lines, links as CSV."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linktopics._checks import list_of_names
from linktopics.errors import DataError
from linktopics.readers._files import find_file, line_error, read_lines

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from linktopics.readers import TextParts


def read_jsonl(
    path: str | os.PathLike[str], links: str | os.PathLike[str] | None, columns: Iterable[str] = ()
) -> TextParts:
    """Read the documents at `path` and the links; in a folder they are documents.jsonl and links.csv."""
    documents = Path(path)
    if documents.is_dir():
        folder = documents
        found = find_file(folder, ["documents.jsonl"])
        if found is None:
            raise DataError(f"{folder}: the folder holds no documents.jsonl or documents.jsonl.gz.")
        documents = found
        links = links or find_file(folder, ["links.csv"])
    records = _read_documents(documents)
    ids = [record["id"] for record in records]
    return {
        "texts": [record["text"] for record in records],
        "links": None if links is None else _read_links(links, ids),
        "ids": ids,
        "titles": _optional(records, "title"),
        "labels": _optional(records, "label"),
        "columns": _columns(documents, records, list_of_names(columns, "columns")),
    }


def _read_documents(path: Path) -> list[dict[str, Any]]:
    records = []
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise line_error(path, number, f"not JSON: {error}", "give one JSON object per line") from None
        if not isinstance(record, dict):
            raise line_error(path, number, f"{line.strip()[:40]!r} is not a JSON object", 'like {"id": 1, "text": ""}')
        for field, kinds, name in (("id", str | int, "a string or an integer"), ("text", str, "a string")):
            if field not in record:
                there = ", ".join(record) or "nothing"
                raise line_error(path, number, f"there is no {field!r} (there is: {there})", f"give it as {name}")
            if not isinstance(record[field], kinds) or isinstance(record[field], bool):
                raise line_error(path, number, f"the {field} is {record[field]!r}", f"give it as {name}")
        records.append(record)
    if not records:
        raise DataError(f"{path}: there are no documents in it.")
    return records


def _optional(records: list[dict[str, Any]], field: str) -> list[Any] | None:
    values = [record.get(field) for record in records]
    return values if any(value is not None for value in values) else None


def _columns(path: Path, records: list[dict[str, Any]], names: list[str]) -> dict[str, list[Any]]:
    for name in names:
        if not any(name in record for record in records):
            there = ", ".join(dict.fromkeys(field for record in records for field in record))
            raise DataError(f"{path}: no document has the field {name!r}; there are: {there}.")
    return {name: [record.get(name) for record in records] for name in names}


def _read_links(path: str | os.PathLike[str], ids: list[Any]) -> list[tuple[Any, Any]]:
    """Read the pairs of ids; CSV knows only strings, so an end stands for the id that is written like it."""
    written = {str(name): name for name in ids}
    if len(written) < len(set(ids)):
        both = next(name for name in ids if isinstance(name, int) and str(name) in ids)
        raise DataError(f"ids {both!r} and {str(both)!r} look the same in {path}; make ids differ as strings.")
    rows = csv.reader((line + "\n" for line in read_lines(path)), strict=True)
    links = []
    try:
        header = next(rows, [])
        for column in ("source", "target"):
            if column not in header:
                there = ", ".join(map(repr, header)) or "nothing"
                raise line_error(
                    path, 1, f"the header has no {column!r} (it has: {there})", "begin with: source,target"
                )
        source, target = header.index("source"), header.index("target")
        for row in rows:
            if not row:
                continue
            if len(row) != len(header):
                wrong = f"there are {len(row)} columns where the header has {len(header)}"
                raise line_error(path, rows.line_num, wrong, "give every link all columns")
            links.append((written.get(row[source], row[source]), written.get(row[target], row[target])))
    except csv.Error as error:
        raise line_error(path, rows.line_num, f"not CSV: {error}", "quote fields that hold commas or quotes") from None
    return links
