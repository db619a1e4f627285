"""Readers: each turns one kind of source into the arguments of `DocumentNetwork`, or says where it cannot be read."""

from __future__ import annotations

from typing import Any, TypedDict

__all__ = ["CountParts", "CountedTexts", "TextParts"]


class CountParts(TypedDict):
    """What a reader of word counts gives: arguments of `DocumentNetwork`."""

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
    """What a reader of texts gives: arguments of `DocumentNetwork.from_texts`."""

    texts: list[str]
    links: Any
    ids: list[Any]
    titles: list[Any] | None
    labels: list[Any] | None
    columns: dict[str, list[Any]]
