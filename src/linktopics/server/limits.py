"""Bounds of a server: lengths, numbers and times."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Bounds of requests; a request that exceeds one is refused with a sentence that names it.

    Attributes
    ----------
    text : int
        Characters of a pasted text.
    words : int
        Words of a pasted text.
    added : int
        Words that can be added to a text in one request.
    word : int
        Characters of such a word.
    id : int
        Characters of a document's id.
    query : int
        Characters of a search for documents.
    page : int
        Documents on a page.
    pages : int
        The last page.
    top : int
        Suggestions, links of a cell, or parts of a score.
    waiting : int
        Requests that a queue can hold.
    requests : int
        Requests that are handled at once.
    connections : int
        Connections that are open at once.
    reading : float
        Seconds that a request may take to arrive.
    writing : float
        Seconds in which a client has to read some of a response.
    cache : int
        Bytes of responses in the cache.
    """

    text: int = 20_000
    words: int = 5_000
    added: int = 20
    word: int = 100
    id: int = 2_000
    query: int = 200
    page: int = 200
    pages: int = 1_000_000
    top: int = 50
    waiting: int = 256
    requests: int = 512
    connections: int = 800
    reading: float = 10.0
    writing: float = 10.0
    cache: int = 64 * 2**20

    @property
    def body(self) -> int:
        r"""Bytes of a body: a character takes up to twelve of them (``\ud83d\ude00``), the rest is small."""
        return 12 * (self.text + self.added * self.word + 2 * self.id) + 1_000
