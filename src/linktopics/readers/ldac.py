"""LDA-C word counts with a vocabulary and a file of links, as the C and R packages for topic models write them."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from linktopics.errors import DataError
from linktopics.readers import CountParts, register_reader
from linktopics.readers.files import find_file, line_error, need_links, nonblank, plain_names, read_rows

PathLike = str | os.PathLike[str]

MAX_UNNAMED_WORDS = 2**24
"""Most words without a vocabulary; otherwise one wrong number could exhaust the memory."""

_PAIR = re.compile(r"[0-9]{1,9}:[0-9]{1,9}")
_LINK = re.compile(r"[ \t]*([0-9]{1,18})[ \t]+([0-9]{1,18})(?:[ \t].*)?")
_PAIRS = re.compile(r"(?:[0-9]{1,9}:[0-9]{1,9}(?: |$))*")


def read_ldac(
    path: PathLike,
    links: PathLike | None = None,
    *,
    vocabulary: PathLike | None = None,
    titles: PathLike | None = None,
    ids: PathLike | None = None,
    links_reversed: bool = False,
) -> CountParts:
    """Return the documents at `path` with the files beside them; in a folder, files not given are found by name."""
    documents = folder = Path(path)
    if os.path.isdir(folder):
        documents = _documents_in(folder)
        vocabulary = vocabulary or find_file(folder, ["vocab.txt", "vocabulary.txt"])
        links = links or find_file(folder, ["links.txt", "cites.txt"])
        titles = titles or find_file(folder, ["titles.txt"])
        ids = ids or find_file(folder, ["ids.txt"])
    words = None if vocabulary is None else _read_vocabulary(vocabulary)
    names, labels = (None, None) if ids is None else _read_ids(ids)
    headings = None if titles is None else [line.strip() for line in read_rows(titles)]
    counts = _read_documents(documents, None if words is None else len(words))
    for file, found in ((ids, names), (titles, headings)):
        if found is not None and len(found) != counts.shape[0]:
            raise DataError(
                f"{file}: there are {len(found):,} lines for the {counts.shape[0]:,} documents of {documents}; give "
                "one for each, in the same order."
            )
    return {
        "counts": counts,
        "links": None if links is None else _read_links(links, links_reversed=links_reversed),
        "ids": names,
        "vocabulary": words,
        "titles": headings,
        "labels": labels,
    }


@register_reader(
    "ldac",
    form="documents.txt or a .dat file with links.txt or cites.txt (LDA-C), each plain or as .gz",
    recognises=lambda path: any(name == "documents.txt" or name.endswith(".dat") for name in plain_names(path)),
    gives="counts",
)
def _open(folder: Path, _: Sequence[str]) -> dict[str, Any]:
    need_links(folder, "links.txt", "cites.txt")
    return {**read_ldac(folder), "link_ends": "indices"}


def _documents_in(folder: Path) -> Path:
    others = sorted({name for name in plain_names(folder) if name.endswith(".dat")})
    found = find_file(folder, ["documents.txt", *others])
    if found is None:
        raise DataError(f"{folder}: the folder holds no documents.txt and no .dat file; pass the documents' own path.")
    return found


def _read_documents(path: Path, n_words: int | None) -> sparse.csr_array:
    """Return the counts of ``[N] word:count ...`` lines; a blank line is a document without words."""
    words: list[int] = []
    counts: list[int] = []
    starts = [0]
    for number, line in enumerate(read_rows(path), start=1):
        fields = line.split()
        leading = fields.pop(0) if fields and ":" not in fields[0] else None
        joined = " ".join(fields)
        if not _PAIRS.fullmatch(joined):
            wrong = next(field for field in fields if not _PAIR.fullmatch(field))
            raise line_error(
                path, number, f"{wrong!r} is not word:count", "both are whole numbers of up to nine digits, like 17:2"
            )
        if leading is not None and leading != str(len(fields)):
            wrong = f"the line begins with {leading!r} and has {len(fields)} word:count pairs"
            raise line_error(path, number, wrong, "begin with the number of pairs, or with the first pair")
        numbers = list(map(int, joined.replace(":", " ").split()))
        largest = max(numbers[::2], default=-1)
        if n_words is not None and largest >= n_words:
            wrong = f"there is no word {largest} in a vocabulary of {n_words:,}"
            raise line_error(path, number, wrong, "words are numbered from 0, in the order of the vocabulary")
        if n_words is None and largest >= MAX_UNNAMED_WORDS:
            wrong = f"without a vocabulary, {largest} is too large for the number of a word"
            raise line_error(
                path, number, wrong, f"number words from 0 to {MAX_UNNAMED_WORDS - 1}, or give the vocabulary"
            )
        words += numbers[::2]
        counts += numbers[1::2]
        starts.append(len(words))
    if not words:
        raise DataError(f"{path}: there are no words in it; a line is: word:count word:count ...")
    shape = (len(starts) - 1, max(words) + 1 if n_words is None else n_words)
    return sparse.csr_array((np.array(counts), np.array(words), np.array(starts)), shape=shape)


def _read_links(path: PathLike, *, links_reversed: bool) -> np.ndarray:
    ends: list[int] = []
    for number, line in nonblank(read_rows(path)):
        match = _LINK.fullmatch(line)
        if match is None:
            cure = "a line is: source target, both document numbers from 0"
            raise line_error(path, number, f"{line.strip()!r} is not a link", cure)
        ends += int(match[1]), int(match[2])
    pairs = np.array(ends, dtype=np.int64).reshape(-1, 2)
    return pairs[:, ::-1] if links_reversed else pairs


def _read_vocabulary(path: PathLike) -> list[str]:
    words = [line.strip() for line in read_rows(path)]
    if "" in words:
        raise line_error(path, words.index("") + 1, "the line is blank", "give one word per line")
    _refuse_repeated(path, words, "word")
    return words


def _read_ids(path: PathLike) -> tuple[list[str], list[Any] | None]:
    """Return ids, and labels where there is a second column."""
    rows = [line.rstrip().split("\t") for line in read_rows(path)]
    for number, row in enumerate(rows, start=1):
        if not row[0].strip():
            raise line_error(path, number, "the id is missing", "give one id per line, in the order of the documents")
        if (len(row) > 1) != (len(rows[0]) > 1):
            raise line_error(path, number, f"there are {len(row)} columns", "give a label in every line or in none")
    _refuse_repeated(path, [row[0] for row in rows], "id")
    return [row[0] for row in rows], [row[1] for row in rows] if rows and len(rows[0]) > 1 else None


def _refuse_repeated(path: PathLike, values: list[str], what: str) -> None:
    lines: dict[str, int] = {}
    for number, value in enumerate(values, start=1):
        if lines.setdefault(value, number) != number:
            wrong = f"the {what} {value!r} is already used in line {lines[value]}"
            raise line_error(path, number, wrong, f"give each {what} once")
