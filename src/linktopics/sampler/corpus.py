"""What a chain reads and never changes: tokens and training pairs, laid out for the kernels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from linktopics.network.pairs import TrainingPairs

CHUNK_DOCUMENTS = 2**16
"""Documents whose counts are expanded at once."""


@dataclass(frozen=True)
class Seeds:
    """Words with more prior tokens in a topic than others have.

    Attributes
    ----------
    word, topic : ndarray of int64
        The words and their topics; each (word, topic) pair occurs once.
    amount : ndarray of float64
        Prior tokens beyond beta: whole numbers, so that adding them to a float32 count and subtracting them again
        leaves it unchanged.
    """

    word: NDArray[np.int64]
    topic: NDArray[np.int64]
    amount: NDArray[np.float64]

    @classmethod
    def none(cls) -> Seeds:
        """Return an empty set of seed words."""
        return cls(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))

    def mass(self, n_topics: int) -> NDArray[np.float64]:
        """Return the prior tokens of each topic that its seed words have beyond beta."""
        return np.asarray(np.bincount(self.topic, weights=self.amount, minlength=n_topics), dtype=np.float64)


@dataclass(frozen=True)
class Corpus:
    """Tokens by document, and pairs by source and by target.

    Attributes
    ----------
    start : ndarray of int64, shape (n_documents + 1,)
        Tokens of document i are ``words[start[i]:start[i + 1]]``.
    words : ndarray of int32, shape (n_tokens,)
        Word numbers of tokens.
    n_words : int
        Size of the vocabulary.
    source, target, label : ndarray of shape (n_pairs,)
        The training pairs, sorted by source.
    out_start : ndarray of int64, shape (n_documents + 1,)
        Pairs that leave document i are ``out_start[i] ... out_start[i + 1] - 1``.
    in_start, in_pair : ndarray of int64
        Pairs that enter document i are ``in_pair[in_start[i]:in_start[i + 1]]``.
    in_source : ndarray of int32, shape (n_pairs,)
        Their sources, ``source[in_pair]``.
    symmetric : bool
        Whether pairs have no direction, so that weights are symmetric.
    features : ndarray of float64, shape (n_pairs, n_features)
        Other data on the pairs, in comparable units; an intercept is a column of ones. Stored by columns,
        which makes products with vectors twice as fast.
    seeds : Seeds
        Words with more prior tokens in a topic than others have.
    """

    start: NDArray[np.int64]
    words: NDArray[np.int32]
    n_words: int
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    label: NDArray[np.bool_]
    out_start: NDArray[np.int64]
    in_start: NDArray[np.int64]
    in_pair: NDArray[np.int64]
    in_source: NDArray[np.int32]
    symmetric: bool
    features: NDArray[np.float64]
    seeds: Seeds = field(default_factory=Seeds.none)

    @classmethod
    def build(
        cls,
        counts: csr_array,
        pairs: TrainingPairs,
        symmetric: bool,
        features: NDArray[np.float64] | None = None,
        seeds: Seeds | None = None,
    ) -> Corpus:
        """Return the corpus of word counts and pairs."""
        start, words = tokens(counts)
        return cls(
            start=start,
            words=words,
            n_words=counts.shape[1],
            **index_pairs(pairs.source, pairs.target, pairs.n_documents),
            label=pairs.label,
            symmetric=symmetric,
            features=np.empty((len(pairs), 0)) if features is None else np.asfortranarray(features, dtype=np.float64),
            seeds=Seeds.none() if seeds is None else seeds,
        )

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return len(self.start) - 1

    @property
    def n_tokens(self) -> int:
        """Number of tokens."""
        return len(self.words)

    @property
    def n_features(self) -> int:
        """Number of features of a pair."""
        return self.features.shape[1]

    @property
    def n_pairs(self) -> int:
        """Number of training pairs."""
        return len(self.source)


def index_pairs(source: NDArray[np.int32], target: NDArray[np.int32], n_documents: int) -> dict[str, Any]:
    """Return the fields of a `Corpus` that say which pairs leave and enter its documents."""
    in_pair = np.argsort(target, kind="stable")
    ends = np.arange(n_documents + 1)
    return {
        "source": source,
        "target": target,
        "out_start": np.searchsorted(source, ends),
        "in_start": np.searchsorted(target[in_pair], ends),
        "in_pair": in_pair,
        "in_source": source[in_pair],
    }


def tokens(counts: csr_array) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return (start, words): every count expanded to that many tokens."""
    n_documents = counts.shape[0]
    start = np.zeros(n_documents + 1, np.int64)
    words = np.empty(counts.data.sum(dtype=np.int64), np.int32)
    for first in range(0, n_documents, CHUNK_DOCUMENTS):  # in chunks: several 64-bit numbers are needed per count
        last = min(first + CHUNK_DOCUMENTS, n_documents)
        ends = counts.indptr[first : last + 1]
        repeats = counts.data[ends[0] : ends[-1]]
        up_to = np.append(0, np.cumsum(repeats, dtype=np.int64))
        start[first : last + 1] = start[first] + up_to[ends - ends[0]]
        words[start[first] : start[last]] = np.repeat(counts.indices[ends[0] : ends[-1]], repeats)
    return start, words
