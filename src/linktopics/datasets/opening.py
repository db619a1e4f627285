"""One door to every kind of network: a built-in name, or files in one of the forms the readers know."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from linktopics.datasets.linqs import load_citeseer, load_cora, load_webkb
from linktopics.datasets.stdlib import load_stdlib
from linktopics.errors import DataError
from linktopics.network import DocumentNetwork
from linktopics.readers._files import find_file

__all__ = ["open_network"]

BUILT_IN = {"stdlib": load_stdlib, "cora": load_cora, "citeseer": load_citeseer, "webkb": load_webkb}

ACCEPTED = (
    "a folder that holds documents.jsonl and links.csv, or .content and .cites files (LINQS), or documents.txt or a "
    ".dat file with links.txt or cites.txt (LDA-C), each plain or as .gz"
)

N_LISTED = 8
"""Entries of a folder shown in an error."""


def open_network(data: str | os.PathLike[str]) -> DocumentNetwork:
    r"""
    Open a network by its built-in name, or from files.

    Parameters
    ----------
    data : str or path
        The name of a built-in data set, ``"stdlib"``, ``"cora"``, ``"citeseer"`` or ``"webkb"``; or a path:

        - a folder with documents.jsonl and links.csv, see `DocumentNetwork.from_jsonl`;
        - a folder with pairs of `.content` and `.cites` files, or one `.content` file, see
          `DocumentNetwork.from_linqs`;
        - a folder with LDA-C word counts and links.txt or cites.txt, see `DocumentNetwork.from_ldac`.

        All files may be gzipped. The four names always mean the built-in data sets, even where a folder is called
        the same: write ``"./cora"``, or pass a `pathlib.Path`, for the folder.

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
    if isinstance(data, str) and data in BUILT_IN:
        return BUILT_IN[data]()
    if not isinstance(data, str | os.PathLike) or not os.fspath(data):
        raise DataError(f"data is {data!r}; pass {', '.join(BUILT_IN)}, or {ACCEPTED}.")
    path = os.path.expanduser(data)
    if os.path.isdir(path):
        return _open_folder(Path(path))
    if not os.path.isfile(path):
        raise _not_there(str(data))
    if not path.removesuffix(".gz").endswith(".content"):
        raise DataError(f"{path}: pass a .content file, or {ACCEPTED}.")
    return DocumentNetwork.from_linqs(path)


def _not_there(data: str) -> DataError:
    """Make the error for a path that leads nowhere: perhaps a misspelt name."""
    near = difflib.get_close_matches(data.lower(), BUILT_IN, n=2)
    meant = f" (did you mean {' or '.join(map(repr, near))}?)" if near else ""
    return DataError(
        f"{data!r} is no built-in data set, file or folder{meant}; pass {', '.join(BUILT_IN)}, a .content file, or "
        f"{ACCEPTED}."
    )


def _open_folder(folder: Path) -> DocumentNetwork:
    """Read a folder in the one form it is in."""
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise DataError(f"{folder}: cannot be read ({error.strerror}).") from None
    plain = [name.removesuffix(".gz") for name in names]
    is_jsonl = "documents.jsonl" in plain
    is_linqs = any(name.endswith(".content") for name in plain)
    is_ldac = "documents.txt" in plain or any(name.endswith(".dat") for name in plain)
    if is_jsonl + is_linqs + is_ldac != 1:
        shown = ", ".join(names[:N_LISTED]) + (f" and {len(names) - N_LISTED} more" if len(names) > N_LISTED else "")
        forms = "more than one known form" if is_jsonl or is_linqs or is_ldac else "no known form"
        raise DataError(f"{folder}: the folder is in {forms} (it holds: {shown or 'nothing'}); pass {ACCEPTED}.")
    if is_linqs:
        return DocumentNetwork.from_linqs(folder)
    wanted = ["links.csv"] if is_jsonl else ["links.txt", "cites.txt"]
    if find_file(folder, wanted) is None:
        raise DataError(f"{folder}: the links are missing; put {' or '.join(wanted)} beside the documents.")
    return DocumentNetwork.from_jsonl(folder) if is_jsonl else DocumentNetwork.from_ldac(folder)
