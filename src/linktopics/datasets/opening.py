"""One door to every kind of network: a built-in name, or files in one of the forms the readers know."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linktopics.datasets.linqs import load_citeseer, load_cora, load_webkb
from linktopics.datasets.stdlib import load_stdlib
from linktopics.errors import DataError
from linktopics.network import DocumentNetwork
from linktopics.readers._files import find_file, list_names, visible

__all__ = ["open_network"]

BUILT_IN = {"stdlib": load_stdlib, "cora": load_cora, "citeseer": load_citeseer, "webkb": load_webkb}

ACCEPTED = (
    "a folder that holds documents.jsonl and links.csv, or .content and .cites files (LINQS), or documents.txt or a "
    ".dat file with links.txt or cites.txt (LDA-C), each plain or as .gz; or .md and .txt files with links in the text"
)

N_LISTED = 8
"""Entries of a folder shown in an error."""


def open_network(
    data: str | os.PathLike[str], *, vectorizer: Any = None, columns: Sequence[str] = (), strict: bool = False
) -> DocumentNetwork:
    r"""
    Open a network by its built-in name, or from files.

    Parameters
    ----------
    data : str or path
        The name of a built-in data set, ``"stdlib"``, ``"cora"``, ``"citeseer"`` or ``"webkb"``; or a path:

        - a folder with documents.jsonl and links.csv, see `DocumentNetwork.from_jsonl`;
        - a folder with pairs of `.content` and `.cites` files, or one `.content` file, see
          `DocumentNetwork.from_linqs`;
        - a folder with LDA-C word counts and links.txt or cites.txt, see `DocumentNetwork.from_ldac`;
        - any other folder with `.md`, `.markdown` or `.txt` files that link to one another, such as a notes vault, see
          `DocumentNetwork.from_folder`.

        All files but those of the last form may be gzipped. The four names always mean the built-in data sets, even
        where a folder is called the same: write ``"./cora"``, or pass a `pathlib.Path`, for the folder.
    vectorizer : object, optional
        What counts the words of texts, see `DocumentNetwork.from_texts`. Only for data that are texts.
    columns : sequence of str, optional
        Further fields of documents.jsonl to keep, for features of pairs. Text files have one, `tags`, kept anyway.
    strict : bool, default=False
        Refuse data with links to nowhere, self links, duplicates or empty documents.

    Returns
    -------
    DocumentNetwork
        A directed network. Files of your own are read as the readers read them, with a `NetworkWarning` where links
        were dropped.

    Raises
    ------
    DataError
        If it is neither a name nor files in one of these forms, or in more than one of them.

    Examples
    --------
    >>> from linktopics.datasets import open_network
    >>> open_network("stdlib").directed
    True
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "toy.content").write_text("p1\t1\t0\tfruit\np2\t1\t1\tfruit\n")
    >>> _ = (folder / "toy.cites").write_text("p1\tp2\n")
    >>> open_network(folder)
    DocumentNetwork(2 documents, 2 words, 3 tokens, 1 directed link)
    """
    reading = _Reading(vectorizer, tuple(columns), strict)
    if isinstance(data, str) and data in BUILT_IN:
        reading.of_counts(f"the data set {data!r}")
        return BUILT_IN[data]()
    if not isinstance(data, str | os.PathLike) or not os.fspath(data):
        raise DataError(f"data is {data!r}; pass {', '.join(BUILT_IN)}, or {ACCEPTED}.")
    path = os.path.expanduser(data)
    if os.path.isdir(path):
        try:
            return _open_folder(Path(path), reading)
        except DataError as error:
            # what is wrong with all documents together, such as that no word is left of them, names no file
            raise error if path in str(error) else DataError(f"{path}: {error}") from None
    if not os.path.isfile(path):
        raise _not_there(str(data))
    if not path.removesuffix(".gz").endswith(".content"):
        raise DataError(f"{path}: pass a .content file, or {ACCEPTED}.")
    reading.of_counts(path)
    return DocumentNetwork.from_linqs(path, strict=strict)


@dataclass(frozen=True)
class _Reading:
    """How data are to be read, as far as they leave that open."""

    vectorizer: Any
    columns: tuple[str, ...]
    strict: bool

    def of_counts(self, what: str) -> None:
        """Raise if something was asked for that word counts cannot give."""
        if self.vectorizer is not None:
            raise DataError(f"{what}: the words are counted already, so how to count them cannot be chosen.")
        if self.columns:
            raise DataError(f"{what}: there are no fields such as {self.columns[0]!r}; only documents.jsonl has them.")


def _not_there(data: str) -> DataError:
    """Make the error for a path that leads nowhere: perhaps a misspelt name."""
    near = difflib.get_close_matches(data.lower(), BUILT_IN, n=2)
    meant = f" (did you mean {' or '.join(map(repr, near))}?)" if near else ""
    return DataError(
        f"{data!r} is no built-in data set, file or folder{meant}; pass {', '.join(BUILT_IN)}, a .content file, or "
        f"{ACCEPTED}."
    )


def _open_folder(folder: Path, reading: _Reading) -> DocumentNetwork:
    """Read a folder in the one form it is in; text files are a form where there is no other."""
    from linktopics.readers.folders import find_files

    names = list_names(folder)
    plain = [name.removesuffix(".gz") for name in visible(names)]
    is_jsonl = "documents.jsonl" in plain
    is_linqs = any(name.endswith(".content") for name in plain)
    is_ldac = "documents.txt" in plain or any(name.endswith(".dat") for name in plain)
    n_forms = is_jsonl + is_linqs + is_ldac
    if n_forms == 0 and find_files(folder)[0]:
        return _open_texts(folder, reading)
    if n_forms != 1:
        shown = ", ".join(names[:N_LISTED]) + (f" and {len(names) - N_LISTED} more" if len(names) > N_LISTED else "")
        forms = "more than one known form" if n_forms else "no known form"
        raise DataError(f"{folder}: the folder is in {forms} (it holds: {shown or 'nothing'}); pass {ACCEPTED}.")
    if not is_jsonl:
        reading.of_counts(str(folder))
    if is_linqs:
        return DocumentNetwork.from_linqs(folder, strict=reading.strict)
    wanted = ["links.csv"] if is_jsonl else ["links.txt", "cites.txt"]
    if find_file(folder, wanted) is None:
        raise DataError(f"{folder}: the links are missing; put {' or '.join(wanted)} beside the documents.")
    if is_jsonl:
        return DocumentNetwork.from_jsonl(
            folder, columns=reading.columns, vectorizer=reading.vectorizer, strict=reading.strict
        )
    return DocumentNetwork.from_ldac(folder, strict=reading.strict)


def _open_texts(folder: Path, reading: _Reading) -> DocumentNetwork:
    """Read a folder of text files; without links between them it is not what somebody would want to open."""
    network = DocumentNetwork.from_folder(folder, vectorizer=reading.vectorizer, strict=reading.strict)
    for name in reading.columns:
        if name not in network.columns:
            there = ", ".join(network.columns) or "none"
            raise DataError(f"{folder}: the text files have no field {name!r} in their front matter; known: {there}.")
    if not network.n_links:
        raise DataError(
            f"{folder}: no links were found between the {len(network):,} text files in the folder; link them as "
            f"[[name]] or [text](name.md), or pass {ACCEPTED}."
        )
    return network
