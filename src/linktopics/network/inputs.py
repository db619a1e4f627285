"""What estimators accept: a DocumentNetwork, or a count matrix with links; for new documents also texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from linktopics.errors import DataError, NetworkWarning, UnseenWordsWarning
from linktopics.network import DocumentNetwork
from linktopics.network.report import numbered
from linktopics.network.validation import (
    NUMERIC_KINDS,
    as_count_matrix,
    as_wide_csr,
    check_convertible,
    check_counts,
)
from linktopics.utils.checks import check_whole_number
from linktopics.utils.user_warnings import warn_user

CHUNK_ENTRIES = 2**20
"""Number of counts that are summed at once."""

MAX_EXACT_COUNT = 2**24
"""Up to here, float32 represents all whole numbers; tokens of a word and of a document are below it."""

MAX_NETWORK_DOCUMENTS, MAX_NETWORK_WORDS = 2**30 - 1, 2**31 - 1
"""Indices of documents (and twice those) and of words are stored as 32-bit integers."""


def check_sizes(network: DocumentNetwork, seed_weight: float = 0.0) -> None:
    """Raise if there are more documents or words than can be numbered, or more tokens of one than can be counted.

    The tokens of a word include its prior tokens as a seed word.
    """
    for n, most, what in (
        (network.n_documents, MAX_NETWORK_DOCUMENTS, "documents"),
        (network.n_words, MAX_NETWORK_WORDS, "words"),
    ):
        if n > most:
            raise DataError(f"the network has {n:,} {what}; at most {most:,} can be numbered. Leave some out.")
    words = np.arange(network.n_words) if network.vocabulary is None else network.vocabulary
    for counts, what, names in (
        (_word_totals(network) + int(seed_weight), "word", words),
        (network.lengths, "document", network.ids),
    ):
        if counts.max() >= MAX_EXACT_COUNT:
            raise DataError(
                f"{what} {names.tolist()[int(np.argmax(counts))]!r} has {int(counts.max()):,} tokens; at most "
                f"{MAX_EXACT_COUNT - 1:,} can be counted. Leave out very frequent words or split documents."
            )


def _word_totals(network: DocumentNetwork) -> NDArray[np.int64]:
    """Return the tokens of each word, adding up without a wider copy of all counts."""
    counts, totals = network.counts, np.zeros(network.n_words, np.int64)
    for first in range(0, counts.nnz, CHUNK_ENTRIES):
        part = slice(first, first + CHUNK_ENTRIES)
        # Sums of doubles are exact: a count is below 2^31 and a chunk has 2^20 of them.
        here = np.bincount(counts.indices[part], weights=counts.data[part], minlength=network.n_words)
        totals += here.astype(np.int64)
    return totals


def resolve_network(estimator: BaseEstimator, X: Any, links: Any, directed: bool | None) -> DocumentNetwork:
    """Return the network to fit and set the estimator's ``n_features_in_``.

    Parameters
    ----------
    estimator : BaseEstimator
        The estimator being fitted.
    X : DocumentNetwork or array-like or sparse matrix of shape (n_documents, n_words)
        The documents.
    links : array-like of shape (n_links, 2), square sparse matrix or None
        Links between the rows of a count matrix; a DocumentNetwork brings its own.
    directed : bool or None
        Whether the direction of links matters; None is as in the network (a count matrix is directed).
    """
    if isinstance(X, DocumentNetwork):
        if links is not None:
            raise DataError("links were given together with a DocumentNetwork, which has its own; leave out links=.")
        if directed and not X.directed:
            raise DataError("directed=True, but the network is undirected: its links have no direction to learn.")
        estimator.n_features_in_ = X.n_words
        vars(estimator).pop("feature_names_in_", None)  # of an earlier fit on a frame
        network = X
    else:
        if _are_texts(X):
            raise DataError("texts were given; make a network of them first: DocumentNetwork.from_texts(texts, links).")
        counts = _validated(estimator, X, ensure_min_samples=2)
        network = DocumentNetwork(counts, links, vocabulary=getattr(estimator, "feature_names_in_", None))
    if directed is False and network.directed:
        network = network.to_undirected()
    check_tokens(network)
    return network


def check_tokens(network: DocumentNetwork) -> None:
    """Raise if no document has a word."""
    if network.n_tokens == 0:
        raise DataError("no document has a word: all counts are zero; give documents with words.")


def _validated(estimator: BaseEstimator, X: Any, **settings: Any) -> Any:
    """Return counts as scikit-learn validates them, except what it would convert wrongly: see `check_convertible`."""
    _check_names(X)
    given = check_convertible(X)
    if issparse(given):
        # scikit-learn adds up repeated entries in the type they have, which may be too narrow for the sum
        X = as_wide_csr(given) if given.format != "csr" and given.dtype.kind in NUMERIC_KINDS else given
    return validate_data(estimator, X, accept_sparse="csr", ensure_all_finite=False, **settings)


def _check_names(X: Any) -> None:
    """Raise if some columns of a data frame are named by strings and others are not."""
    names = list(getattr(X, "columns", ()))
    others = [name for name in names if not isinstance(name, str)]
    if others and len(others) < len(names):
        raise DataError(
            f"the data frame has columns with strings as names and the column {others[0]!r}; name all by their words "
            "(or none: frame.to_numpy())."
        )


@dataclass(frozen=True)
class Documents:
    """Documents without links: word counts, and optionally ids and columns."""

    counts: csr_array
    ids: NDArray | None = None
    columns: Mapping[str, NDArray] = field(default_factory=dict)

    @classmethod
    def of(cls, network: DocumentNetwork) -> Documents:
        """Return the documents of a network."""
        return cls(network.counts, network.ids, network.columns)

    @classmethod
    def of_words(cls, counts: csr_array, network: DocumentNetwork) -> Documents:
        """Return documents of which only words are known: all columns of the network are missing."""
        return cls(counts, None, {name: np.full(counts.shape[0], None, dtype=object) for name in network.columns})

    def require_ids(self, feature: str) -> NDArray:
        """Return the ids; raise if there are none, naming the feature that needs them."""
        if self.ids is None:
            raise DataError(
                f"the pair feature {feature!r} needs the ids of new documents; pass them as a dict from id to text, or "
                "as network.new_documents(texts, ids=...)."
            )
        return self.ids


def resolve_counts(estimator: BaseEstimator, X: Any) -> csr_array:
    """Return the checked counts of new documents; see `resolve_documents`."""
    return resolve_documents(estimator, X).counts


def resolve_documents(estimator: BaseEstimator, X: Any) -> Documents:
    """Return new documents, checked: a matrix of counts, a network, a text or several texts.

    A warning counts the words of texts that are not in the vocabulary, another the documents without a known word.
    Only the prior determines the topics of the latter.
    """
    fitted: DocumentNetwork = estimator.network_
    ids, columns = None, {}
    if isinstance(X, DocumentNetwork):
        ids, columns = X.ids if X.has_names else None, X.columns
    if isinstance(X, Mapping) and not issparse(X):  # SciPy's dok_matrix is a dict
        ids = np.fromiter(X, dtype=object, count=len(X))
        X = list(X.values())  # texts by id, as for `DocumentNetwork.from_texts`
    if isinstance(X, str):
        X = [X]
    if isinstance(X, list | tuple) and not X:
        raise DataError("there are no documents: the list is empty.")
    if _are_texts(X):
        counts = fitted.vectorize(X)
        report_unseen(fitted, X, int(counts.sum()))
    else:
        if isinstance(X, DocumentNetwork):
            _check_same_words(fitted, X)
            X = X.counts
        _check_columns(fitted, X)
        checked = _validated(estimator, X, reset=False)
        counts = check_counts(as_count_matrix(checked), np.arange(checked.shape[0]), fitted.vocabulary)
    lengths = counts.sum(axis=1, dtype=np.int64)
    if lengths.max(initial=0) >= MAX_EXACT_COUNT:
        raise DataError(
            f"document number {int(np.argmax(lengths))} has {int(lengths.max()):,} tokens; at most "
            f"{MAX_EXACT_COUNT - 1:,} can be counted. Split it."
        )
    empty = np.flatnonzero(np.diff(counts.indptr) == 0)
    if len(empty):
        warn_user(
            f"{numbered(len(empty), 'document')} without a known word (the first is number {empty[0]}) "
            f"{'gets its' if len(empty) == 1 else 'get their'} topics from the prior alone.",
            NetworkWarning,
        )
    return Documents(counts, ids, columns)


def report_unseen(fitted: DocumentNetwork, texts: Any, n_known: int) -> None:
    """Warn of words that are left out, with their number and the most frequent ones."""
    unseen = sum(fitted.unseen_words(texts) or [], Counter[str]())
    n_unseen = unseen.total()
    if n_unseen:
        examples = ", ".join(repr(word) for word, _ in unseen.most_common(3))
        warn_user(
            f"{n_unseen:,} of {n_unseen + n_known:,} words ({n_unseen / (n_unseen + n_known):.0%}) are not in the "
            f"vocabulary and were left out{', as' if len(unseen) > 3 else ':'} {examples}.",
            UnseenWordsWarning,
        )


def resolve_candidates(fitted: DocumentNetwork, candidates: Any) -> NDArray[np.int64]:
    """Return the indices of the training documents with these ids; None is all of them."""
    if candidates is None:
        return np.arange(fitted.n_documents)
    if isinstance(candidates, str) or not isinstance(candidates, Iterable):
        what = "string" if isinstance(candidates, str) else "value"
        raise DataError(f"candidates is the single {what} {candidates!r}; pass a list of ids.")
    return np.array([fitted.index_of(candidate) for candidate in candidates], dtype=np.int64)


def check_direction(direction: str) -> None:
    """Raise if `direction` is not "both", "out" or "in"."""
    if direction not in ("both", "out", "in"):
        raise ValueError(f'direction is {direction!r}; it must be "both", "out" or "in".')


def check_top(top: Any) -> None:
    """Raise ValueError if `top` is not a whole number of at least 1."""
    check_whole_number("top", top, 1)


def check_interval(interval: Any) -> None:
    """Raise ValueError if `interval` is not between 0 and 1."""
    if not (isinstance(interval, Real) and 0 < float(interval) < 1):
        raise ValueError(f"interval is {interval!r}; it must be a number between 0 and 1.")


def resolve_links(
    fitted: DocumentNetwork, links: Any, linked_by: Any
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return pairs (new document, training document) of links out and of links in, and the number of new documents.

    Parameters
    ----------
    fitted : DocumentNetwork
        The training documents. If it is undirected, `linked_by` gives further links like those of `links`.
    links, linked_by : sequence of sequences of ids, or None
        For each new document the training documents it links to, and those that link to it.
    """
    given = {"links": links, "linked_by": linked_by}
    ends = {name: _link_ends(fitted, name, value) for name, value in given.items() if value is not None}
    lengths = [n for _, n in ends.values()]
    if not lengths:
        raise DataError("neither links nor linked_by is given; pass the ids of linked training documents.")
    if len(set(lengths)) > 1:
        raise DataError(f"links has {lengths[0]} entries, linked_by {lengths[1]}; pass one per document.")
    nothing = np.empty((0, 2), dtype=np.int64)
    out, into = (ends[name][0] if name in ends else nothing for name in given)
    if not fitted.directed:
        out, into = np.unique(np.concatenate([out, into]), axis=0), nothing
    return out, into, lengths[0]


def as_many(links: Any) -> Any:
    """Return a flat sequence of ids, the links of one document, as a list of one sequence; anything else unchanged."""
    of_many = list | tuple | set | frozenset | np.ndarray
    several = isinstance(links, Sequence | np.ndarray) and any(isinstance(x, of_many) for x in links)
    return links if links is None or several or isinstance(links, str) else [links]


def _link_ends(fitted: DocumentNetwork, name: str, value: Any) -> tuple[NDArray[np.int64], int]:
    pairs = []
    if isinstance(value, str) or not isinstance(value, Sequence | np.ndarray):
        raise DataError(f"{name} is {value!r}; pass a list of ids for each document.")
    for document, ids in enumerate(value):
        if isinstance(ids, str) or not isinstance(ids, Sequence | np.ndarray | set | frozenset):
            raise DataError(f"{name}[{document}] is {ids!r}; pass a list of ids for each document.")
        pairs += [(document, fitted.index_of(id)) for id in ids]
    return np.unique(np.array(pairs, dtype=np.int64).reshape(-1, 2), axis=0), len(value)


def _are_texts(X: Any) -> bool:
    """Return whether X is a list, array or column of texts."""
    if isinstance(X, str):
        return True
    if getattr(X, "ndim", 1) != 1 or not hasattr(X, "__len__") or isinstance(X, DocumentNetwork) or issparse(X):
        return False
    return len(X) > 0 and any(isinstance(x, str) for x in X)


def _check_columns(fitted: DocumentNetwork, X: Any) -> None:
    """Raise if the columns of a data frame have names that differ from the fitted words."""
    columns = getattr(X, "columns", None)
    if columns is None or fitted.vocabulary is None or not all(isinstance(name, str) for name in columns):
        return
    if list(columns) != fitted.vocabulary.tolist():
        raise DataError(
            "the columns of the data frame are not the words of the network fitted, in their order; count with its "
            "vocabulary (frame.reindex(columns=network.vocabulary, fill_value=0))."
        )


def _check_same_words(fitted: DocumentNetwork, new: DocumentNetwork) -> None:
    if fitted.vocabulary is None or new.vocabulary is None or len(fitted.vocabulary) != len(new.vocabulary):
        return
    different = np.flatnonzero(fitted.vocabulary != new.vocabulary)
    if len(different):
        at = int(different[0])
        raise DataError(
            f"word {at} is {new.vocabulary[at]!r} in these documents and {fitted.vocabulary[at]!r} in those fitted; "
            "count their words with the vocabulary of the network fitted (network.vectorize(texts))."
        )


def seed_sequence(random_state: int | np.random.RandomState | np.random.Generator | None) -> np.random.SeedSequence:
    """Return the seed sequence that a `random_state` stands for; None gives a fresh one."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.SeedSequence(random_state.randint(2**32, size=4, dtype=np.uint32).tolist())
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence(random_state.integers(2**32, size=4, dtype=np.uint32).tolist())
    return np.random.SeedSequence(random_state)
