"""`open_network`: a network by its built-in name, or from files in a format that a reader knows."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any

from linktopics.datasets.linqs import load_citeseer, load_cora, load_webkb
from linktopics.datasets.stdlib import load_stdlib
from linktopics.errors import DataError, LinktopicsError
from linktopics.network import DocumentNetwork
from linktopics.readers import Reader, accepted_forms
from linktopics.readers.files import list_names
from linktopics.registry import READERS

DATA_SETS = {"stdlib": load_stdlib, "cora": load_cora, "citeseer": load_citeseer, "webkb": load_webkb}

N_LISTED = 8
"""Entries of a folder shown in an error."""


def open_network(
    data: str | os.PathLike[str], *, vectorizer: Any = None, columns: Sequence[str] = (), strict: bool = False
) -> DocumentNetwork:
    r"""
    Return a network by its built-in name, or from files.

    Parameters
    ----------
    data : str or path
        The name of a built-in data set, ``"stdlib"``, ``"cora"``, ``"citeseer"`` or ``"webkb"``; or a path:

        - a folder with documents.jsonl and links.csv, see `DocumentNetwork.from_jsonl`;
        - a folder with pairs of `.content` and `.cites` files, or one `.content` file, see
          `DocumentNetwork.from_linqs`;
        - a folder with LDA-C word counts and links.txt or cites.txt, see `DocumentNetwork.from_ldac`;
        - any other folder with `.md`, `.markdown` or `.txt` files that link to one another, such as a notes vault, see
          `DocumentNetwork.from_folder`;
        - files in a format of your own, see `linktopics.readers.register_reader`.

        Files of the first three formats may be gzipped. The four names always mean the built-in data sets, even
        where a folder is called the same: write ``"./cora"``, or pass a `pathlib.Path`, for the folder.
    vectorizer : object, optional
        The object that counts the words of texts, see `DocumentNetwork.from_texts`; only for texts.
    columns : sequence of str, optional
        Further fields of documents.jsonl to keep, for features of pairs. Text files have one, `tags`, kept anyway.
    strict : bool, default=False
        Raise an error for links with unknown ends, self links, duplicates or empty documents.

    Returns
    -------
    DocumentNetwork
        A directed network. Your own files are read as by the methods `DocumentNetwork.from_...`, with a
        `NetworkWarning` where links were dropped.

    Raises
    ------
    DataError
        If it is neither a name nor files in one of these formats, or in more than one of them.

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
    if isinstance(data, str) and data in DATA_SETS:
        _check_counted(f"the data set {data!r}", vectorizer, columns)
        return DATA_SETS[data]()
    if not isinstance(data, str | os.PathLike) or not os.fspath(data):
        raise DataError(f"data is {data!r}; pass {', '.join(DATA_SETS)}, or {accepted_forms()}.")
    path = Path(os.path.expanduser(data))
    if not (os.path.isdir(path) or os.path.isfile(path)):
        raise _not_there(str(data))
    try:
        name, reader = _find_reader(path)
        if reader.gives == "counts":
            _check_counted(str(path), vectorizer, columns)
            return DocumentNetwork(**_read(name, reader, path, ()), strict=strict)
        return DocumentNetwork.from_texts(**_read(name, reader, path, columns), vectorizer=vectorizer, strict=strict)
    except DataError as error:
        # errors about the documents as a whole, such as that no words are left, do not name the file
        raise error if str(path) in str(error) else DataError(f"{path}: {error}") from None


def _read(name: str, reader: Reader, path: Path, columns: Sequence[str]) -> dict[str, Any]:
    """Return what a reader gives, checked to be arguments of the function that makes the network."""
    found = _call(name, path, reader.read, path, columns)
    make = DocumentNetwork if reader.gives == "counts" else DocumentNetwork.from_texts
    known = [argument for argument in signature(make).parameters if argument not in ("strict", "vectorizer")]
    if not isinstance(found, Mapping) or not set(found) <= set(known):
        given = ", ".join(map(str, found)) if isinstance(found, Mapping) else type(found).__name__
        raise DataError(
            f"{path}: the reader {name!r} returned {given}; it must return a dict with some of {', '.join(known)}."
        )
    return dict(found)


def _call(name: str, path: Path, function: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result of a function of a reader, which may be from a plugin; name the reader if it fails."""
    try:
        return function(*arguments)
    except (LinktopicsError, OSError, MemoryError):
        raise
    except Exception as error:
        raise DataError(
            f"{path}: the reader {name!r} failed ({type(error).__name__}: {error}); --debug shows where."
        ) from error


def _check_counted(what: str, vectorizer: Any, columns: Sequence[str]) -> None:
    """Raise if options were given that do not apply to word counts."""
    if vectorizer is not None:
        raise DataError(f"{what}: the data are word counts, so settings for counting words do not apply.")
    if columns:
        raise DataError(f"{what}: there are no fields such as {columns[0]!r}; only documents.jsonl has them.")


def _not_there(data: str) -> DataError:
    """Return the error for a path that does not exist: perhaps a misspelt name."""
    near = difflib.get_close_matches(data.lower(), DATA_SETS, n=2)
    meant = f" (did you mean {' or '.join(map(repr, near))}?)" if near else ""
    return DataError(
        f"{data!r} is not a built-in data set, file or folder{meant}; pass {', '.join(DATA_SETS)}, a .content file, or "
        f"{accepted_forms()}."
    )


def _find_reader(path: Path) -> tuple[str, Reader]:
    """Return the name of the one reader that recognises a path, and it; a fallback where there is no other."""
    for is_fallback in (False, True):
        readers = [(name, one) for name, one in READERS.items() if one.is_fallback == is_fallback]
        found = [(name, one) for name, one in readers if _call(name, path, one.recognises, path)]
        if len(found) == 1:
            return found[0]
        if found:
            break
    if not path.is_dir() and not found:
        raise DataError(f"{path}: pass a .content file, or {accepted_forms()}.")
    names = list_names(path) if path.is_dir() else [path.name]
    shown = ", ".join(names[:N_LISTED]) + (f" and {len(names) - N_LISTED} more" if len(names) > N_LISTED else "")
    formats = "more than one known format matches" if found else "no known format matches"
    raise DataError(f"{path}: {formats} (found: {shown or 'nothing'}); pass {accepted_forms()}.")
