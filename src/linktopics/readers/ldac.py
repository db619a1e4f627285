"""LDA-C word counts with a vocabulary and a file of links, as the C and R packages for topic models write them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from linktopics.errors import DataError
from linktopics.readers._files import find_file, line_error, read_lines

if TYPE_CHECKING:
    import os

    from linktopics.readers import CountParts

    PathLike = str | os.PathLike[str]

_PAIR = re.compile(r"[0-9]{1,9}:[0-9]{1,9}")
_PAIRS = re.compile(r"(?:[0-9]{1,9}:[0-9]{1,9}(?: |$))*")


def read_ldac(
    path: PathLike,
    links: PathLike | None,
    *,
    vocabulary: PathLike | None,
    titles: PathLike | None,
    ids: PathLike | None,
    links_reversed: bool,
) -> CountParts:
    """Read the documents at `path` and the files beside them; in a folder, files not given are looked for by name."""
    documents = Path(path)
    if documents.is_dir():
        folder = documents
        documents = _documents_in(folder)
        vocabulary = vocabulary or find_file(folder, ["vocab.txt", "vocabulary.txt"])
        links = links or find_file(folder, ["links.txt", "cites.txt"])
        titles = titles or find_file(folder, ["titles.txt"])
        ids = ids or find_file(folder, ["ids.txt"])
    words = None if vocabulary is None else _read_vocabulary(vocabulary)
    names, labels = (None, None) if ids is None else _read_ids(ids)
    return {
        "counts": _read_documents(documents, None if words is None else len(words)),
        "links": None if links is None else _read_links(links, links_reversed=links_reversed),
        "ids": names,
        "vocabulary": words,
        "titles": None if titles is None else [line.strip() for line in read_lines(titles)],
        "labels": labels,
    }


def _documents_in(folder: Path) -> Path:
    documents = find_file(folder, ["documents.txt"])
    if documents is not None:
        return documents
    found = sorted([*folder.glob("*.dat"), *folder.glob("*.dat.gz")])
    if len(found) != 1:
        raise DataError(
            f"{folder}: the folder holds no documents.txt and {len(found)} .dat files; pass the documents' own path."
        )
    return found[0]


def _read_documents(path: Path, n_words: int | None) -> sparse.csr_array:
    """Read ``[N] word:count ...`` lines; a blank line is a document without words."""
    words: list[int] = []
    counts: list[int] = []
    starts = [0]
    for number, line in enumerate(read_lines(path), start=1):
        fields = line.split()
        leading = fields.pop(0) if fields and ":" not in fields[0] else None
        joined = " ".join(fields)
        if not _PAIRS.fullmatch(joined):
            wrong = next(field for field in fields if not _PAIR.fullmatch(field))
            raise line_error(path, number, f"{wrong!r} is not word:count", "both are whole numbers from 0, like 17:2")
        if leading is not None and leading != str(len(fields)):
            wrong = f"the line begins with {leading!r} and has {len(fields)} word:count pairs"
            raise line_error(path, number, wrong, "begin with the number of pairs, or with the first pair")
        numbers = list(map(int, joined.replace(":", " ").split()))
        if n_words is not None and numbers and max(numbers[::2]) >= n_words:
            wrong = f"there is no word {max(numbers[::2])} in a vocabulary of {n_words:,}"
            raise line_error(path, number, wrong, "words are numbered from 0, in the order of the vocabulary")
        words += numbers[::2]
        counts += numbers[1::2]
        starts.append(len(words))
    if not words:
        raise DataError(f"{path}: there are no words in it.")
    shape = (len(starts) - 1, max(words) + 1 if n_words is None else n_words)
    return sparse.csr_array((np.array(counts), np.array(words), np.array(starts)), shape=shape)


def _read_links(path: PathLike, *, links_reversed: bool) -> np.ndarray:
    ends: list[int] = []
    for number, line in enumerate(read_lines(path), start=1):
        fields = line.split(None, 2)
        if not fields:
            continue
        try:
            ends += (int(fields[0]), int(fields[1]))
        except (IndexError, ValueError):
            cure = "a line is: source target, both document numbers from 0"
            raise line_error(path, number, f"{line.strip()!r} is not a link", cure) from None
    try:
        pairs = np.array(ends, dtype=np.int64).reshape(-1, 2)
    except OverflowError:
        raise DataError(f"{path}: a document number is too large; documents are numbered from 0.") from None
    return pairs[:, ::-1] if links_reversed else pairs


def _read_vocabulary(path: PathLike) -> list[str]:
    words = [line.strip() for line in read_lines(path)]
    if "" in words:
        raise line_error(path, words.index("") + 1, "the line is blank", "give one word per line")
    return words


def _read_ids(path: PathLike) -> tuple[list[str], list[Any] | None]:
    """Read ids, and labels where there is a second column."""
    rows = [line.rstrip().split("\t") for line in read_lines(path)]
    for number, row in enumerate(rows, start=1):
        if not row[0]:
            raise line_error(path, number, "the id is missing", "give one id per line, in the order of the documents")
        if (len(row) > 1) != (len(rows[0]) > 1):
            raise line_error(path, number, f"there are {len(row)} columns", "give a label in every line or in none")
    return [row[0] for row in rows], [row[1] for row in rows] if rows and len(rows[0]) > 1 else None
