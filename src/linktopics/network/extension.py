"""Documents added to a network: their words counted with its vectorizer, and its vocabulary extended on request."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from linktopics.errors import DataError
from linktopics.network.inputs import report_unseen
from linktopics.network.links import links_as_values, list_pairs
from linktopics.network.network import DocumentNetwork
from linktopics.network.validation import list_values, named_columns, split_texts


def extended_network(
    network: DocumentNetwork,
    texts: Sequence[str] | Mapping[Any, str],
    links: Any,
    ids: Iterable[Hashable] | None,
    titles: Iterable[Any] | None,
    labels: Iterable[Any] | None,
    columns: Mapping[str, Iterable[Any]] | None,
    grow_vocabulary: bool,
    strict: bool,
) -> DocumentNetwork:
    """Return the network with further documents and links; see `DocumentNetwork.extended`."""
    listed, names = split_texts(texts, ids)
    named = names is not None
    n_old, n_new = len(network), len(listed)
    if names is None:
        if network.has_names:
            raise DataError("the network has ids, and the new documents have none; pass ids=, or a dict of texts.")
        names = list(range(n_old, n_old + n_new))
    words = _with_grown_vocabulary(network, listed) if grow_vocabulary else network
    new_counts = words.vectorize(listed)
    if not grow_vocabulary:
        report_unseen(network, listed, int(new_counts.sum()))

    def joined(old: np.ndarray | None, given: Any, name: str) -> list[Any] | None:
        """Return the values of old and new documents as one list, with None for missing ones."""
        if old is None and given is None:
            return None
        new = [None] * n_new
        if given is not None:
            new = list_values(given, name, f"one entry for each of the {n_new:,} new documents")
        if len(new) != n_new:
            raise DataError(f"there are {len(new):,} values for {n_new:,} new documents; pass one for each.")
        return [*([None] * n_old if old is None else old.tolist()), *new]

    more = named_columns(columns)
    all_columns: dict[str, Any] = {
        name: joined(network.columns.get(name), more.get(name), f"columns[{name!r}]")
        for name in {**network.columns, **more}
    }
    result = DocumentNetwork(
        sparse.vstack([words.counts, new_counts], format="csr"),
        [*network.ids[network.links].tolist(), *([] if links is None else list_pairs(links_as_values(links)))],
        directed=network.directed,
        ids=[*network.ids.tolist(), *names],
        vocabulary=words.vocabulary,
        titles=joined(network.titles, titles, "titles"),
        labels=joined(network.labels, labels, "labels"),
        texts=None if network.texts is None else [*network.texts.tolist(), *listed],
        columns=all_columns,
        vectorizer=words.vectorizer,
        strict=strict,
    )
    result.has_names = named
    return result


def _with_grown_vocabulary(network: DocumentNetwork, texts: list[str]) -> DocumentNetwork:
    """Return the network with the new words of the texts appended to its vocabulary, in their order.

    Words that old texts have and the vocabulary lacks were left out on purpose, as too rare or too frequent, and stay
    out.
    """
    unseen = network.unseen_words(texts)
    if unseen is None or not hasattr(network.vectorizer, "vocabulary_"):
        raise DataError(
            "the vocabulary can only grow if the network's vectorizer is like scikit-learn's CountVectorizer; leave "
            "out grow_vocabulary=True, or make a new network from all texts."
        )
    assert network.vocabulary is not None
    if network.texts is None:
        raise DataError(
            "the vocabulary can only grow if the network has its texts: without them new words look the same as "
            "those that were left out; leave out grow_vocabulary=True, or make a new network from all texts."
        )
    left_out: set[str] = set().union(*(network.unseen_words(network.texts) or []))
    new = list(dict.fromkeys(word for words in unseen for word in words if word not in left_out))
    wider = copy.copy(network)
    wider.vocabulary = np.fromiter([*network.vocabulary.tolist(), *new], dtype=object)
    wider.vectorizer = copy.deepcopy(network.vectorizer)
    wider.vectorizer.vocabulary_ = {word: number for number, word in enumerate(wider.vocabulary.tolist())}
    old = network.counts
    wider.counts = sparse.csr_array((old.data, old.indices, old.indptr), shape=(len(network), len(wider.vocabulary)))
    return wider
