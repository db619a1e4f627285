"""The score of a pair, ``zbar_i @ U @ zbar_j + tau @ x_ij``: arrays in, arrays out.

Document i is new and j is a candidate. A link "out" goes from i to j; for a link "in", from j to i, U is transposed.
There is a function for each shape that scores are wanted in: `block_scores` for all new documents with all candidates,
`tile_scores` for the same in several samples and directions, and `pair_scores` for a list of pairs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from linktopics.network.pairs import Direction

Array = NDArray[np.float64]
Values = tuple[list[int], NDArray[np.float32]]
"""Numbers of columns of features, and their values: columns x documents x candidates."""


def oriented(weights: Array, direction: Direction) -> Array:
    """Return the weights as topics of the new document x topics of the candidate."""
    return weights if direction == "out" else np.swapaxes(weights, -1, -2)


def project(new: NDArray[np.floating], weights: Array, direction: Direction) -> Array:
    """Return topics of new documents times the weights, whose product with topics of candidates is the score."""
    return np.asarray(new @ oriented(weights, direction))


def block_scores(projected: NDArray, old: NDArray, values: NDArray, feature_weights: NDArray) -> NDArray:
    """Return scores of new documents with candidates, documents x candidates.

    Parameters
    ----------
    projected : ndarray of shape (n_documents, K)
        Topics of the new documents times the weights, as `project` returns them.
    old : ndarray of shape (n_candidates, K)
        Topics of the candidates.
    values : ndarray of shape (n_documents, n_candidates, n_columns)
        Features of the pairs.
    feature_weights : ndarray of shape (n_columns,)
        Weights of features.

    Examples
    --------
    >>> import numpy as np
    >>> U, new, old = np.array([[2.0, 1.0], [0.0, 3.0]]), np.array([[1.0, 0.0]]), np.array([[0.5, 0.5], [0.0, 1.0]])
    >>> x, tau = np.array([[[1.0], [2.0]]]), np.array([10.0])
    >>> block_scores(project(new, U, "out"), old, x, tau), block_scores(project(new, U, "in"), old, x, tau)
    (array([[11.5, 21. ]]), array([[11., 20.]]))
    """
    scores = projected @ old.T
    if values.shape[2]:
        scores += values @ feature_weights
    return np.asarray(scores)


def pair_scores(
    new: Array, rows: NDArray[np.integer], old: Array, weights: Array, values: Array, feature_weights: Array,
    direction: Direction,
) -> Array:  # fmt: skip
    """Return scores of pairs in several samples, samples x pairs.

    Each is a sum of its own in a fixed order: it does not depend on the other pairs, and equal pairs have equal scores.

    Parameters
    ----------
    new : ndarray of shape (n_samples, n_documents, K)
        Topics of new documents.
    rows : ndarray of int, shape (n_pairs,)
        The new document of each pair.
    old : ndarray of shape (n_samples, n_pairs, K)
        Topics of the candidates.
    weights, feature_weights : ndarray of shapes (n_samples, K, K) and (n_samples, n_columns)
        U and tau.
    values : ndarray of shape (n_pairs, n_columns)
        Features of the pairs.
    direction : {"out", "in"}
        Of the links.

    Examples
    --------
    >>> import numpy as np
    >>> U, new, old = np.array([[[2.0, 1.0], [0.0, 3.0]]]), np.array([[[1.0, 0.0]]]), np.array([[[0.5, 0.5]]])
    >>> pair_scores(new, np.array([0]), old, U, np.array([[1.0]]), np.array([[10.0]]), "in")
    array([[11.]])
    """
    projected = np.einsum("sik,skl->sil", new, oriented(weights, direction))
    scores = np.einsum("sek,sek->se", projected[:, rows], old)
    return np.asarray(scores + np.einsum("ef,sf->se", values, feature_weights))


def tile_scores(
    projected: NDArray[np.float32],
    old: Sequence[NDArray[np.float32]],
    constants: NDArray[np.float32],
    feature_weights: NDArray[np.float32],
    shared: Values,
    own: Sequence[Values],
) -> NDArray[np.float32]:
    """Return scores of new documents with candidates, samples x directions x documents x candidates.

    Parameters
    ----------
    projected : ndarray of shape (n_samples, n_directions, n_documents, K)
        Topics of the new documents times the weights, as `project` returns them.
    old : sequence of ndarray of shape (n_candidates, K)
        Topics of the candidates in each sample.
    constants : ndarray of shape (n_samples, n_directions, n_candidates)
        Contributions to scores of features that depend on the candidate only.
    feature_weights : ndarray of shape (n_samples, n_columns)
        Weights of features.
    shared, own : Values
        Features of pairs that are the same in both directions, and others for each direction.
    """
    n_samples, n_directions, n_documents, K = projected.shape
    scores = np.empty((n_samples, n_directions, n_documents, constants.shape[2]), np.float32)
    for here, topics, out in zip(projected, old, scores, strict=True):
        # One product for both directions reads the candidates' topics once.
        np.matmul(here.reshape(-1, K), topics.T, out=out.reshape(n_directions * n_documents, -1))
    scores += constants[:, :, None]

    for features, those in [(shared, scores), *zip(own, np.split(scores, n_directions, axis=1), strict=True)]:
        columns, values = features
        if columns:
            those += np.tensordot(feature_weights[:, columns], values, axes=1)[:, None]
    return scores
