"""The LINQS group's data sets (Cora, Citeseer, WebKB): `.content` files with words and labels, `.cites` with links."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy import sparse

from linktopics.errors import DataError
from linktopics.readers import CountParts, register_reader
from linktopics.readers.files import find_file, line_error, nonblank, plain_names, read_rows


def read_linqs(path: str | os.PathLike[str]) -> CountParts:
    """Return a folder of `.content`/`.cites` pairs, or one `.content` file with its `.cites` beside it.

    A line of content is ``id flag flag ... label``; a line of cites is ``cited citing``, a link from the second to the
    first. Columns are separated by tabs or by spaces; blanks around ids are removed.
    """
    labels: list[str] = []
    rows: list[sparse.csr_array] = []
    links: list[tuple[str, str]] = []
    places: dict[str, str] = {}  # file and line of each id
    for content in _content_files(Path(path)):
        _read_content(content, places, labels, rows)
        links += _read_cites(_cites_beside(content))
    if not rows:
        raise DataError(f"{path}: there are no documents in it; a line is: id, a flag per word, label.")
    return {
        "counts": sparse.csr_array(sparse.vstack(rows)),
        "links": links,
        "ids": list(places),
        "vocabulary": [f"w{word}" for word in range(rows[0].shape[1])],
        "labels": labels,
        "titles": None,
    }


@register_reader(
    "linqs",
    form=".content and .cites files (LINQS)",
    recognises=lambda path: any(
        name.endswith(".content") for name in plain_names(path) or [path.name.removesuffix(".gz")]
    ),
    gives="counts",
)
def _open(path: Path, _: Sequence[str]) -> CountParts:
    return read_linqs(path)


def _content_files(path: Path) -> list[Path]:
    if not os.path.isdir(path):
        if not os.path.exists(path):
            raise DataError(f"{path}: there is no such file or folder; check the path.")
        if not path.name.removesuffix(".gz").endswith(".content"):
            raise DataError(f"{path}: pass a .content file, or the folder that holds it and its .cites file.")
        return [path]
    names = sorted({name for name in plain_names(path) if name.endswith(".content")})
    contents = [content for name in names if (content := find_file(path, [name])) is not None]
    if not contents:
        raise DataError(f"{path}: the folder holds no .content or .content.gz file; check the path.")
    return contents


def _cites_beside(content: Path) -> Path:
    name = content.name.removesuffix(".gz").removesuffix(".content") + ".cites"
    cites = find_file(content.parent, [name])
    if cites is None:
        raise DataError(f"{content}: its links are missing; put {name} or {name}.gz beside it.")
    return cites


def _read_content(path: Path, places: dict[str, str], labels: list[str], rows: list[sparse.csr_array]) -> None:
    """Add the documents of one file: where each id was found, its label and its row of counts."""
    for number, line in nonblank(read_rows(path)):
        name, separator, rest = _partition(line)
        name = name.strip()  # like the ends of links
        flags, _, label = rest.rpartition(separator) if separator else ("", "", "")
        if not (name and flags and label):
            raise line_error(
                path, number, "the id, the words or the label are missing", "a line is: id, a flag per word, label"
            )
        row = _flags(flags, separator)
        if isinstance(row, str):
            raise line_error(
                path, number, f"{row!r} is not a word count", "counts are whole numbers of up to nine digits"
            )
        if rows and len(row) != rows[0].shape[1]:
            wrong = f"there are {len(row):,} word columns where the first document has {rows[0].shape[1]:,}"
            raise line_error(path, number, wrong, "give every document the same words")
        place = f"{path}:{number}"
        if places.setdefault(name, place) != place:
            wrong = f"the id {name!r} is already used in {places[name]}"
            raise line_error(path, number, wrong, "give every document its own id")
        labels.append(label)
        rows.append(sparse.csr_array(row[None]))


def _partition(line: str) -> tuple[str, str, str]:
    """Return the first column, the separator, and the rest of the line."""
    if "\t" not in line:
        line = " ".join(line.split())
    return line.partition("\t" if "\t" in line else " ")


def _flags(flags: str, separator: str) -> np.ndarray | str:
    """Return the word columns as numbers, or the first one that is not a count."""
    if flags.isascii():
        data = np.frombuffer(flags.encode(), dtype=np.uint8)
        digits = data[::2] - np.uint8(ord("0"))  # the published files: one digit, one separator, one digit, ...
        if len(data) % 2 and (data[1::2] == ord(separator)).all() and (digits < 10).all():
            return digits
    columns = flags.split(separator)
    wrong = next(
        (column for column in columns if not (column.isascii() and column.isdigit() and len(column) < 10)), None
    )
    return np.array(columns, dtype=np.int64) if wrong is None else wrong


def _read_cites(path: Path) -> list[tuple[str, str]]:
    links = []
    for number, line in nonblank(read_rows(path)):
        columns = line.split("\t") if "\t" in line else line.split()
        if len(columns) != 2:
            raise line_error(path, number, f"there are {len(columns)} columns", "a line is: cited citing")
        cited, citing = (column.strip() for column in columns)
        links.append((citing, cited))
    return links
