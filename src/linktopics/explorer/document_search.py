"""The search for documents: which ones a query finds, and in which order."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from linktopics.errors import DataError

SORTS = ("number", "title", "tokens", "links", "topic")
"""Orders of documents."""

MIN_LISTED_SHARE = 0.1
"""Smallest share of a topic in a document that is listed under the topic."""

STRINGS_PER_MATCH = 20
"""If more than one in this many strings has a term, all are scanned one by one."""

Indices = NDArray[np.int64]


class StringIndex:
    """Strings that are searched for a term all at once.

    Parameters
    ----------
    strings : list of str
        The strings.

    Examples
    --------
    >>> StringIndex(["sand", "sea", "and sea"]).containing("and")
    [0, 2]
    """

    def __init__(self, strings: list[str]) -> None:
        self.strings, self.whole = strings, "\n".join(strings)
        self.starts = list(accumulate((len(string) + 1 for string in strings), initial=0))

    def containing(self, term: str) -> list[int]:
        """Return the numbers of strings that contain a term, which must not contain a line break."""
        found: list[int] = []
        at = self.whole.find(term)
        while at >= 0:
            if len(found) > len(self.strings) // STRINGS_PER_MATCH:
                return [number for number, string in enumerate(self.strings) if term in string]
            found.append(bisect_right(self.starts, at) - 1)
            at = self.whole.find(term, self.starts[found[-1] + 1])
        return found


@dataclass(frozen=True, eq=False)
class DocumentFinder:
    """Finds documents by ids, titles, words and topics.

    Parameters
    ----------
    ids, titles, words : list of str
        Ids and titles of documents, and words of the columns of `counts`.
    counts : csr_array
        Counts of words in documents.
    n_links : ndarray of int64
        Links of each document.
    shares : ndarray of shape (n_documents, n_topics)
        Shares of topics in documents.
    """

    ids: list[str]
    titles: list[str]
    words: list[str]
    counts: csr_array
    n_links: Indices
    shares: NDArray[np.float64]

    def find(self, query: str, topic: int | None, sort: str, descending: bool) -> Indices:
        """Return the documents that match, sorted; ties keep the order of the network.

        Parameters
        ----------
        query : str
            Terms that must all be found, each in the id, the title or at the beginning of a word, or of a part of one.
        topic : int or None
            Only documents in which this topic has a share of at least a tenth.
        sort : str
            One of `SORTS`; "topic" is by the share of `topic`.
        descending : bool
            Whether the order is reversed.
        """
        if sort not in SORTS:
            raise DataError(f"documents cannot be sorted by {sort!r}; the orders are {', '.join(SORTS)}.")
        if sort == "topic" and topic is None:
            raise DataError("documents are to be sorted by the share of a topic, but no topic is given.")
        found = self._matching(query)
        if topic is not None:
            found = found[self.shares[found, topic] >= MIN_LISTED_SHARE]
        keys = self._keys(sort, topic)[found]
        return found[np.argsort(-keys if descending else keys, kind="stable")]

    def _matching(self, query: str) -> Indices:
        """Return the documents that have all terms."""
        all_found = np.ones(len(self.ids), dtype=bool)
        for term in query.casefold().split():
            found = np.zeros(len(self.ids), dtype=bool)
            found[self._name_index.containing(term)] = True
            for word in self._word_index.containing(f" {term}"):
                found[self._by_word.indices[slice(*self._by_word.indptr[word : word + 2])]] = True
            all_found &= found
        return np.flatnonzero(all_found)

    @cached_property
    def _name_index(self) -> StringIndex:
        return StringIndex([f"{id}\n{title}".casefold() for id, title in zip(self.ids, self.titles, strict=True)])

    @cached_property
    def _word_index(self) -> StringIndex:
        return StringIndex([f" {word.casefold()}" for word in self.words])

    @cached_property
    def _by_word(self) -> csc_array:
        return csc_array(self.counts)

    def _keys(self, sort: str, topic: int | None) -> NDArray[Any]:
        """Return a number for each document by which it is sorted."""
        if sort == "title":
            return self._title_ranks
        if sort == "tokens":
            return np.asarray(self.counts.sum(axis=1, dtype=np.int64)).ravel()
        if sort == "links":
            return self.n_links
        return np.arange(len(self.ids)) if sort == "number" else self.shares[:, topic]

    @cached_property
    def _title_ranks(self) -> Indices:
        """Ranks of titles; equal titles have equal ranks."""
        folded = np.array([title.casefold() for title in self.titles], dtype=object)
        return np.unique(folded, return_inverse=True)[1]
