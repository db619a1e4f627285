"""Documents as JSON lines, links as CSV."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from linktopics.errors import DataError
from linktopics.network.validation import list_of_names
from linktopics.readers import TextParts, register_reader
from linktopics.readers.files import find_file, line_error, mixed_ends, need_links, nonblank, plain_names, read_lines


def read_jsonl(
    path: str | os.PathLike[str], links: str | os.PathLike[str] | None, columns: Iterable[str] = ()
) -> TextParts:
    """Return the documents at `path` and the links; in a folder they are documents.jsonl and links.csv."""
    documents = folder = Path(path)
    if os.path.isdir(folder):
        found = find_file(folder, ["documents.jsonl"])
        if found is None:
            raise DataError(
                f"{folder}: the folder holds no documents.jsonl or documents.jsonl.gz; put it there, or check the path."
            )
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


@register_reader(
    "jsonl",
    form="documents.jsonl and links.csv",
    recognises=lambda path: "documents.jsonl" in plain_names(path),
    gives="texts",
)
def _open(folder: Path, columns: Sequence[str]) -> TextParts:
    need_links(folder, "links.csv")
    return read_jsonl(folder, None, columns)


def _read_documents(path: Path) -> list[dict[str, Any]]:
    records = []
    lines: dict[str | int, int] = {}
    for number, line in nonblank(read_lines(path)):
        try:
            record = json.loads(line, object_pairs_hook=_object)
        except RecursionError:
            raise line_error(
                path, number, "the JSON is nested too deeply", "leave out nested fields that are not needed"
            ) from None
        except ValueError as error:
            wrong = str(error).partition("; use sys.")[0]  # advice that does not apply here
            raise line_error(path, number, f"not JSON: {wrong}", "give one JSON object per line") from None
        if not isinstance(record, dict):
            cure = 'give one per line, like {"id": 1, "text": "cats"}'
            raise line_error(path, number, f"{line.strip()[:40]!r} is not a JSON object", cure)
        for field, kinds, name in (("id", str | int, "a string or an integer"), ("text", str, "a string")):
            if field not in record:
                there = ", ".join(record) or "nothing"
                raise line_error(path, number, f"there is no {field!r} (there is: {there})", f"give it as {name}")
            if not isinstance(record[field], kinds) or isinstance(record[field], bool):
                raise line_error(path, number, f"the {field} is {record[field]!r}", f"give it as {name}")
        for field in ("title", "label"):
            if isinstance(record.get(field), list | dict):
                raise line_error(path, number, f"the {field} is {record[field]!r}", "give it as a string or a number")
        id = record["id"]
        if not str(id).strip():
            raise line_error(path, number, f"the id is {id!r}", "give every document an id that is not blank")
        if lines.setdefault(id, number) != number:
            wrong = f"the id {id!r} is already used in line {lines[id]}"
            raise line_error(path, number, wrong, "give every document its own id")
        records.append(record)
    if not records:
        raise DataError(f"{path}: there are no documents in it; give one JSON object per line.")
    return records


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; raise if a field occurs twice, as one value would be lost."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the field {twice!r} occurs twice")
    return found


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
    """Return the pairs of ids. CSV has only strings, so an end of a link means the id with the same text."""
    written = {str(name): name for name in ids}
    if len(written) < len(set(ids)):
        both = next(name for name in ids if isinstance(name, int) and str(name) in ids)
        raise DataError(f"{path}: the ids {both!r} and {str(both)!r} look the same here; make ids differ as strings.")
    rows = csv.reader((line + "\n" for line in read_lines(path)), strict=True)
    links = []
    first = 1  # line at which the current row begins
    try:
        header = next(rows, [])
        for column in ("source", "target"):
            if column not in header:
                there = ", ".join(map(repr, header)) or "nothing"
                cure = "begin with: source,target (with commas between columns)"
                raise line_error(path, 1, f"the header has no {column!r} (it has: {there})", cure)
            if header.count(column) > 1:
                raise line_error(path, 1, f"the header has {column!r} twice", "give each column its own name")
        source, target = header.index("source"), header.index("target")
        first = rows.line_num + 1
        for row in rows:
            line, first = first, rows.line_num + 1
            if not row:
                continue
            if len(row) != len(header):
                wrong = f"there are {len(row)} columns where the header has {len(header)}"
                raise line_error(path, line, wrong, "give every link all columns")
            links.append((written.get(row[source], row[source]), written.get(row[target], row[target])))
    except csv.Error as error:
        if "new-line" in str(error):  # a CR outside quotes
            raise mixed_ends(path, first) from None
        cure = "close every quote, and quote fields that hold commas or quotes"
        raise line_error(path, first, f"not CSV: {error}", cure) from None
    return links
