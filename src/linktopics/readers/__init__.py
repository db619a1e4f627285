"""Readers: each turns one kind of source into the arguments of `DocumentNetwork`, or raises a DataError."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypedDict, TypeVar

from linktopics.registry import READERS

__all__ = ["CountParts", "CountedTexts", "Reader", "TextParts", "accepted_forms", "register_reader"]

Read = Callable[[Path, Sequence[str]], Mapping[str, Any]]
AnyRead = TypeVar("AnyRead", bound=Read)


class CountParts(TypedDict):
    """What a reader of word counts returns: arguments of `DocumentNetwork`."""

    counts: Any
    links: Any
    ids: list[Any] | None
    vocabulary: list[str] | None
    titles: list[Any] | None
    labels: list[Any] | None


class CountedTexts(TypedDict):
    """What a vectorizer makes of texts: some of the arguments of `DocumentNetwork`."""

    counts: Any
    ids: list[Any] | None
    vocabulary: list[str]
    texts: list[str]
    vectorizer: Any


class TextParts(TypedDict):
    """What a reader of texts returns: arguments of `DocumentNetwork.from_texts`."""

    texts: list[str]
    links: Any
    ids: list[Any]
    titles: list[Any] | None
    labels: list[Any] | None
    columns: dict[str, list[Any]]


@dataclass(frozen=True)
class Reader:
    """A format of files that `open_network` can read.

    Attributes
    ----------
    read : callable
        Takes the path of a file or folder and the names of further fields to keep, and returns arguments of
        `DocumentNetwork`, or of `DocumentNetwork.from_texts` if it gives texts.
    form : str
        A description of the files, for messages.
    recognises : callable
        Takes the path and returns whether it is in this format.
    gives : {"texts", "counts"}
        What `read` returns; for "counts", `open_network` accepts no vectorizer and no columns.
    is_fallback : bool
        Whether it is only tried where no other reader recognises the path.
    """

    read: Read
    form: str
    recognises: Callable[[Path], bool]
    gives: Literal["texts", "counts"]
    is_fallback: bool


def register_reader(
    name: str,
    *,
    form: str,
    recognises: Callable[[Path], bool],
    gives: Literal["texts", "counts"],
    is_fallback: bool = False,
) -> Callable[[AnyRead], AnyRead]:
    """Return a decorator that lets `open_network` use a function; parameters are explained in `Reader`."""
    if gives not in ("texts", "counts"):
        raise ValueError(f'gives is {gives!r}; it must be "texts" or "counts".')

    def register(read: AnyRead) -> AnyRead:
        READERS.add(name, Reader(read, form, recognises, gives, is_fallback), read.__module__)
        return read

    return register


def accepted_forms() -> str:
    """Return a description of all known formats."""
    return f"a folder that holds {', or '.join(reader.form for reader in READERS.values())}"
