"""The LINQS group's citation and web networks, Cora, Citeseer and WebKB, as published."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Iterable
from pathlib import Path

from scipy import sparse

from linktopics.datasets._cache import cache_folder
from linktopics.datasets._download import fetch
from linktopics.errors import DataError, NetworkWarning
from linktopics.network import DocumentNetwork
from linktopics.readers.files import find_file, read_bytes
from linktopics.readers.linqs import read_linqs

SITE = "https://linqs-data.soe.ucsc.edu/public/lbc/"
"""Where the data are published."""

ARCHIVES = {"cora": "cora.tgz", "citeseer": "citeseer.tgz", "webkb": "WebKB.tgz"}

SHA256 = {
    "cora": {
        "cora.content": "b8ebed0fd45e53995abafd1b70cf6a9fcc8f86abc5826d69b97fe6ca46e9c8ee",
        "cora.cites": "ec1a372391b7f0f60a6aff0084e8abd8f19f0faa7e1f2441a41c492042d5945e",
    },
    "citeseer": {
        "citeseer.content": "de4a3ca98626d77193f27af5c976b981a56080e6273c4e1c05764a95d2143ff8",
        "citeseer.cites": "cd9730630eaaa745058c2cd2cce6b9afb79ca71278a479aebec55f4cf5eb7f30",
    },
    "webkb": {
        "cornell.content": "28d1a6593981e47859965341735b2b9e1b42ea96502dad3c0857b3bf8967e960",
        "cornell.cites": "9b553733f8621bde1e149b2570da31701d6c41ac1263a4d1e94bc9fd08054a13",
        "texas.content": "b56017ff6e0097218f238c6dafa5265e0bbe70c0cae39b3a5a4d862611d36b98",
        "texas.cites": "c7b6cc42170870e4470dafd9ad9330422d42ae2a1f3a746aba93039dc8b41710",
        "washington.content": "89a63171f394529849da1319b3d55426582c04dc9cdb196c29c5335931269e60",
        "washington.cites": "7aa0e59b0dcba44f63fe2248671bb4c551e7322ecb512284732a08a968759223",
        "wisconsin.content": "bca4574c8f77db5bda3ad9fc734f67ea87b06c43e239b9bb77725ea58d0315d6",
        "wisconsin.cites": "f5b60f45a277d93f4e883d8845b4e81fda632818ba0fe8ab8d118d9d2a9e9c73",
    },
}
"""SHA-256 of every file as published, unpacked."""

UNIVERSITIES = ("cornell", "texas", "washington", "wisconsin")


def load_cora() -> DocumentNetwork:
    """
    Return Cora: papers on machine learning and the citations between them.

    The files are looked for in the folder ``cora`` in ``$LINKTOPICS_DATA``, plain or gzipped, then in the user's cache
    folder (``$LINKTOPICS_CACHE``), and otherwise downloaded once from the LINQS group's data site to the cache. Their
    SHA-256 is always checked.

    Returns
    -------
    DocumentNetwork
        2,708 papers of 7 classes, 1,433 words (present or absent, named ``w0``, ``w1``, ... because the data do not
        name them) and 5,429 links, from the citing paper to the cited one.

    Raises
    ------
    DataError
        If the files cannot be found or downloaded, or are not the published ones; the message says what to do.

    Examples
    --------
    >>> from linktopics import datasets
    >>> datasets.load_cora()  # doctest: +SKIP
    DocumentNetwork(2,708 documents, 1,433 words, 49,216 tokens, 5,429 directed links)
    """
    return _load("cora", ["cora"])


def load_citeseer() -> DocumentNetwork:
    """
    Return Citeseer: papers on computer science and the citations between them.

    The files come from the same places as in `load_cora`; the folder is ``citeseer``.

    Returns
    -------
    DocumentNetwork
        3,312 papers of 6 classes, 3,703 words (present or absent, named ``w0``, ``w1``, ...) and 4,591 links, from the
        citing paper to the cited one. The published file has 4,732 lines of links: 17 that name papers which are not
        in the data and 124 from a paper to itself are left out. This is expected, so there is no warning; the
        network's `report` counts them.

    Raises
    ------
    DataError
        If the files cannot be found or downloaded, or are not the published ones; the message says what to do.

    Examples
    --------
    >>> from linktopics import datasets
    >>> datasets.load_citeseer()  # doctest: +SKIP
    DocumentNetwork(3,312 documents, 3,703 words, 105,165 tokens, 4,591 directed links)
    """
    return _load("citeseer", ["citeseer"])


def load_webkb(universities: str | Iterable[str] | None = None) -> DocumentNetwork:
    """
    Return WebKB: web pages of computer science departments and the links between them.

    The files come from the same places as in `load_cora`; the folder is ``webkb``.

    Parameters
    ----------
    universities : str or sequence of str, optional
        One or several of ``"cornell"``, ``"texas"``, ``"washington"`` and ``"wisconsin"``; by default all four, in
        this order, as one network.

    Returns
    -------
    DocumentNetwork
        With all four universities 877 pages of 5 classes, 1,703 words (present or absent, named ``w0``, ``w1``, ...)
        and 1,516 links, from the page that has the link to the page it leads to; ids are addresses. The published
        files have 1,608 lines of links: 92 from a page to itself are left out. This is expected, so there is no
        warning; the network's `report` counts them. No link leads from one university to another.

    Raises
    ------
    DataError
        If the files cannot be found or downloaded, or are not the published ones; the message says what to do.

    Examples
    --------
    >>> from linktopics import datasets
    >>> datasets.load_webkb()  # doctest: +SKIP
    DocumentNetwork(877 documents, 1,703 words, 79,365 tokens, 1,516 directed links)
    >>> datasets.load_webkb("cornell")  # doctest: +SKIP
    DocumentNetwork(195 documents, 1,703 words, 18,496 tokens, 301 directed links)
    """
    given = UNIVERSITIES if universities is None else universities
    chosen = [given] if isinstance(given, str) else list(given)
    wrong = [name for name in chosen if name not in UNIVERSITIES]
    if wrong or not chosen or len(set(chosen)) < len(chosen):
        raise ValueError(f"universities is {universities!r}; pass some of {', '.join(UNIVERSITIES)}, each once.")
    return _load("webkb", chosen)


def _load(name: str, parts: list[str]) -> DocumentNetwork:
    """Return the parts of a data set as one network."""
    folder, cure = _find_folder(name)
    read = []
    for part in parts:
        _check_published(folder, f"{part}.cites", SHA256[name], cure)
        read.append(read_linqs(_check_published(folder, f"{part}.content", SHA256[name], cure)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NetworkWarning)  # known faults of the published files
        return DocumentNetwork(
            sparse.vstack([part["counts"] for part in read], format="csr"),
            [link for part in read for link in part["links"]],
            ids=[id for part in read for id in part["ids"] or ()],
            vocabulary=read[0]["vocabulary"],
            labels=[label for part in read for label in part["labels"] or ()],
        )


def _find_folder(name: str) -> tuple[Path, str]:
    """Return the folder of a data set, the user's own or the cache's, and the cure for errors in it."""
    if own := os.environ.get("LINKTOPICS_DATA"):
        place = Path(own).expanduser()
        if not place.is_dir():
            raise DataError(f"LINKTOPICS_DATA is {own!r}, which is not a folder; correct the variable or unset it.")
        if (place / name).is_dir():
            return place / name, "put the published file there, or unset LINKTOPICS_DATA to have it downloaded"
    try:
        cached = cache_folder() / name
    except RuntimeError as error:
        raise DataError(
            f"there is no cache folder for the data set {name!r} ({error}); set the environment variable "
            "LINKTOPICS_CACHE to a folder that can be written to."
        ) from None
    if not cached.is_dir():
        fetch(name, SITE + ARCHIVES[name], SHA256[name])
    return cached, f"delete the folder {cached} to have it downloaded again"


def _check_published(folder: Path, name: str, sums: dict[str, str], cure: str) -> Path:
    """Return a file of a data set, if it is the published one."""
    file = find_file(folder, [name])
    if file is None:
        raise DataError(f"{folder}: there is no {name} or {name}.gz; {cure}.")
    if hashlib.sha256(read_bytes(file)).hexdigest() != sums[name]:
        raise DataError(f"{file}: this is not the published file (the SHA-256 of its content differs); {cure}.")
    return file
