"""Data of commands: a network by name or path, read as options say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from linktopics.datasets import open_network
from linktopics.errors import DataError
from linktopics.network import DocumentNetwork

__all__ = ["read_network"]


def read_network(data: str, reading: dict[str, Any]) -> DocumentNetwork:
    """Open a network.

    Parameters
    ----------
    data : str
        See `linktopics.datasets.open_network`.
    reading : dict
        Options: min_documents, max_share, stop_words, strict, columns.
    """
    _check(reading)
    vectorizer = None
    if any(name in reading for name in ("min_documents", "max_share", "stop_words")):
        vectorizer = _vectorizer(reading)
    return open_network(
        data, vectorizer=vectorizer, columns=reading.get("columns", ()), strict=bool(reading.get("strict", False))
    )


def _check(reading: dict[str, Any]) -> None:
    """Raise if an option is not what it should be, as it may be in a file of settings."""
    least, share = reading.get("min_documents", 1), reading.get("max_share", 1.0)
    words, strict = reading.get("stop_words", "english"), reading.get("strict", False)
    if type(least) is not int or least < 1:
        raise DataError(f"min-documents is {least!r}; it is a whole number from 1 on.")
    if type(share) not in (int, float) or not 0 < share <= 1:
        raise DataError(f"max-share is {share!r}; it is a share of the documents, above 0 and up to 1.")
    if not isinstance(words, str):
        raise DataError(f"stop-words is {words!r}; it is english, none or the name of a file with one word per line.")
    if not isinstance(strict, bool):
        raise DataError(f"strict is {strict!r}; it is true or false.")


def _vectorizer(reading: dict[str, Any]) -> Any:
    from linktopics.readers._files import read_lines
    from linktopics.readers.texts import default_vectorizer

    vectorizer = default_vectorizer()
    if "min_documents" in reading:
        vectorizer.set_params(min_df=reading["min_documents"])
    if "max_share" in reading:
        vectorizer.set_params(max_df=float(reading["max_share"]))
    stop_words = reading.get("stop_words", "english")
    if stop_words == "none":
        vectorizer.set_params(stop_words=None)
    elif stop_words != "english":
        words = [line.strip().lower() for line in read_lines(Path(stop_words))]
        vectorizer.set_params(stop_words=[word for word in words if word])
    return vectorizer
