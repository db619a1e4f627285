"""What estimators accept: a DocumentNetwork, or a count matrix with links; for new documents also texts."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from linktopics._checks import as_count_matrix, check_counts, user_stacklevel
from linktopics._report import numbered
from linktopics.errors import DataError, NetworkWarning
from linktopics.network import DocumentNetwork

__all__ = ["resolve_counts", "resolve_network", "seed_sequence"]


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
        Whether the direction of links counts; None takes the network's word (a count matrix is directed).
    """
    network = _as_network(estimator, X, links, directed)
    if network.n_tokens == 0:
        raise DataError("no document has a word: all counts are zero.")
    return network


def _as_network(estimator: BaseEstimator, X: Any, links: Any, directed: bool | None) -> DocumentNetwork:
    if not isinstance(X, DocumentNetwork):
        if _are_texts(X):
            raise DataError("texts were given; make a network of them first: DocumentNetwork.from_texts(texts, links).")
        counts = validate_data(estimator, X, accept_sparse="csr", ensure_min_samples=2, ensure_all_finite=False)
        network = DocumentNetwork(counts, links, vocabulary=getattr(estimator, "feature_names_in_", None))
        return network.to_undirected() if directed is False else network
    if links is not None:
        raise DataError("links were given beside a DocumentNetwork, which has its own; leave out links=.")
    if directed and not X.directed:
        raise DataError("directed=True, but the network is undirected: its links have no direction to learn.")
    estimator.n_features_in_ = X.n_words
    vars(estimator).pop("feature_names_in_", None)  # of an earlier fit on a frame
    return X.to_undirected() if directed is False and X.directed else X


def resolve_counts(estimator: BaseEstimator, X: Any) -> csr_array:
    """Return the checked counts of new documents: a matrix, a network, a text or several texts.

    Documents without a known word are named in a warning; they get the topics of the prior.
    """
    fitted: DocumentNetwork = estimator.network_
    if isinstance(X, str):
        X = [X]
    if _are_texts(X):
        counts = fitted.vectorize(X)
    else:
        if isinstance(X, DocumentNetwork):
            _check_same_words(fitted, X)
            X = X.counts
        checked = validate_data(estimator, X, accept_sparse="csr", reset=False, ensure_all_finite=False)
        counts = check_counts(as_count_matrix(checked), np.arange(checked.shape[0]), fitted.vocabulary)
    empty = np.flatnonzero(np.diff(counts.indptr) == 0)
    if len(empty):
        warnings.warn(
            f"{numbered(len(empty), 'document')} without a known word (the first is number {empty[0]}) "
            "get the topics of the prior.",
            NetworkWarning,
            stacklevel=user_stacklevel(),
        )
    return counts


def _are_texts(X: Any) -> bool:
    """Tell whether X is a list, array or column of texts."""
    if isinstance(X, str):
        return True
    if getattr(X, "ndim", 1) != 1 or not hasattr(X, "__len__") or isinstance(X, DocumentNetwork):
        return False
    return len(X) > 0 and any(isinstance(x, str) for x in X)


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
