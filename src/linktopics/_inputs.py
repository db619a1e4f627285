"""What estimators accept: a DocumentNetwork, or a count matrix with links; for new documents also texts."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from linktopics._checks import as_count_matrix, check_counts
from linktopics.errors import DataError
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
        counts = validate_data(estimator, X, accept_sparse="csr", ensure_min_samples=2)
        return DocumentNetwork(counts, links, directed=directed is not False)
    if links is not None:
        raise DataError("links were given beside a DocumentNetwork, which has its own; leave out links=.")
    if directed and not X.directed:
        raise DataError("directed=True, but the network is undirected: its links have no direction to learn.")
    estimator.n_features_in_ = X.n_words
    vars(estimator).pop("feature_names_in_", None)  # of an earlier fit on a frame
    return X.to_undirected() if directed is False and X.directed else X


def resolve_counts(estimator: BaseEstimator, X: Any, vectorizer: Any = None) -> csr_array:
    """Return the checked counts of new documents: a matrix, a network, a text or a list of texts."""
    if isinstance(X, str):
        X = [X]
    if isinstance(X, DocumentNetwork):
        X = X.counts
    elif isinstance(X, (list, tuple)) and len(X) and all(isinstance(text, str) for text in X):
        if vectorizer is None:
            raise DataError(
                "texts were given, but the model was fitted on counts and has no vectorizer to read them with; "
                "pass a count matrix, or fit on DocumentNetwork.from_texts(...)."
            )
        X = vectorizer.transform(X)
    matrix = as_count_matrix(validate_data(estimator, X, accept_sparse="csr", reset=False))
    return check_counts(matrix, np.arange(matrix.shape[0]), None)


def seed_sequence(random_state: int | np.random.RandomState | np.random.Generator | None) -> np.random.SeedSequence:
    """Return the seed sequence that a `random_state` stands for; None gives a fresh one."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.SeedSequence(random_state.randint(2**32, size=4, dtype=np.uint32).tolist())
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence(random_state.integers(2**32, size=4, dtype=np.uint32).tolist())
    return np.random.SeedSequence(random_state)
