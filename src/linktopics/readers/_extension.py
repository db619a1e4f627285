"""Documents added to a network: their words counted with its vectorizer, and its vocabulary grown if asked for."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from linktopics.errors import DataError

if TYPE_CHECKING:
    from linktopics.network import DocumentNetwork

__all__ = ["count_more", "join_columns"]


def count_more(network: DocumentNetwork, texts: list[str], grow: bool) -> tuple[Any, Any, Any]:
    """Return (counts of old and new documents, vocabulary, vectorizer)."""
    vocabulary, vectorizer = network.vocabulary, network.vectorizer
    if grow:
        vocabulary, vectorizer = _grown(network, texts)
        wider = copy.copy(network)
        wider.counts = sparse.csr_array(
            (network.counts.data, network.counts.indices, network.counts.indptr),
            shape=(network.n_documents, len(vocabulary)),
        )
        wider.vocabulary, wider.vectorizer = vocabulary, vectorizer
        network = wider
    return sparse.vstack([network.counts, network.vectorize(texts)], format="csr"), vocabulary, vectorizer


def _grown(network: DocumentNetwork, texts: list[str]) -> tuple[np.ndarray, Any]:
    """Return vocabulary and vectorizer with the new words of texts after the old ones, in their order.

    Words that old texts have and the vocabulary lacks were left out on purpose, as too rare or too frequent, and stay
    out.
    """
    unseen = network.unseen_words(texts)
    if unseen is None or not hasattr(network.vectorizer, "vocabulary_"):
        raise DataError(
            "the vocabulary can only grow where the network's vectorizer is like scikit-learn's CountVectorizer; leave "
            "out grow_vocabulary=True, or make the whole network anew from all texts."
        )
    assert network.vocabulary is not None
    if network.texts is None:
        raise DataError(
            "the vocabulary can only grow where the network has its texts: without them one cannot tell new words from "
            "those that were left out; leave out grow_vocabulary=True, or make the whole network anew from all texts."
        )
    left_out: set[str] = set().union(*(network.unseen_words(network.texts) or []))
    new = list(dict.fromkeys(word for words in unseen for word in words if word not in left_out))
    vocabulary = np.fromiter([*network.vocabulary.tolist(), *new], dtype=object)
    vectorizer = copy.deepcopy(network.vectorizer)
    vectorizer.vocabulary_ = {word: number for number, word in enumerate(vocabulary.tolist())}
    return vocabulary, vectorizer


def join_columns(old: np.ndarray | None, new: Iterable[Any] | None, n_old: int, n_new: int) -> list[Any] | None:
    """Put two columns together; None stands for values that one of them lacks."""
    if old is None and new is None:
        return None
    first = [None] * n_old if old is None else old.tolist()
    second = [None] * n_new if new is None else list(new)
    if len(second) != n_new:
        raise DataError(f"there are {len(second):,} values for {n_new:,} new documents; pass one for each.")
    return [*first, *second]
