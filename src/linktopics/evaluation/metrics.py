"""Metrics of how well links and words were predicted, most of them from ranks.

Ranks are "raw": a true link is ranked among all candidates of its document, the document's other true links included.
Rank 1 is the best, and equal scores share the mean of their ranks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse

from linktopics.errors import DataError
from linktopics.network.validation import as_count_matrix, check_counts
from linktopics.registry import METRICS
from linktopics.utils.checks import check_whole_number

__all__ = [
    "Metric",
    "auc",
    "hits_at_k",
    "link_rank",
    "link_ranks",
    "mean_reciprocal_rank",
    "median_rank",
    "register_metric",
    "word_rank",
    "word_ranks",
]

Of = Literal["link ranks", "pairs", "word ranks"]
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Metric:
    """A number that `evaluate` computes for each model and fold, a column of its table.

    Attributes
    ----------
    function : callable
        Takes the arrays that `of` names and returns a number.
    of : {"link ranks", "pairs", "word ranks"}
        An array of the ranks of true links, or of words; or for pairs two arrays of shape (1, n_pairs), the scores and
        whether there is a link.
    sign : {1, -1}
        1 if more is better, -1 if less is.
    title : str
        The heading of its column in tables; without one it is not shown there.
    is_share : bool
        Whether tables show it in per cent.
    description : str
        A short description that reports show in place of the name.
    """

    function: Callable[..., Any]
    of: Of
    sign: int
    title: str
    is_share: bool
    description: str


def register_metric(
    name: str,
    *,
    of: Of,
    better: Literal["higher", "lower"],
    title: str = "",
    is_share: bool = False,
    description: str = "",
) -> Callable[[Function], Function]:
    """Return a decorator that makes a function a metric of `evaluate`; parameters are explained in `Metric`."""
    for parameter, value, known in (("of", of, get_args(Of)), ("better", better, ("higher", "lower"))):
        if value not in known:
            raise ValueError(f"{parameter} is {value!r}; it must be one of {', '.join(map(repr, known))}.")

    def register(function: Function) -> Function:
        sign = 1 if better == "higher" else -1
        METRICS.add(name, Metric(function, of, sign, title, is_share, description or name), function.__module__)
        return function

    return register


def link_ranks(scores: ArrayLike, links: Any) -> NDArray[np.float64]:
    """Return the rank of each true link among all candidates of its row.

    Parameters
    ----------
    scores : array-like of shape (n_documents, n_candidates)
        Scores of the candidates, higher for likelier links; a memory-mapped array is read row by row.
    links : array-like or sparse matrix of shape (n_documents, n_candidates)
        True, or 1, where there is a link.

    Returns
    -------
    ndarray of shape (n_links,)
        Ranks, row by row and in the order of the columns; 1 is the best, ties are averaged.

    Examples
    --------
    >>> link_ranks([[0.9, 0.1, 0.5, 0.5], [0.1, 0.2, 0.3, 0.4]], [[1, 0, 1, 0], [1, 0, 0, 0]])
    array([1. , 2.5, 4. ])
    """
    scores = _as_scores(scores, "scores")
    return _ranks(scores, _as_links(links, scores.shape))


def link_rank(scores: ArrayLike, links: Any) -> float:
    """Return the mean rank of the true links, over all of them together; see `link_ranks`.

    Examples
    --------
    >>> link_rank([[0.9, 0.1, 0.5, 0.5], [0.1, 0.2, 0.3, 0.4]], [[1, 0, 1, 0], [1, 0, 0, 0]])
    2.5
    """
    return _mean_rank(link_ranks(scores, links))


@register_metric("word_rank", of="word ranks", better="lower", title="word rank", description="mean rank of words")
@register_metric("link_rank", of="link ranks", better="lower", title="link rank", description="mean rank of true links")
def _mean_rank(ranks: NDArray[np.float64]) -> float:
    return float(ranks.mean())


def median_rank(scores: ArrayLike, links: Any) -> float:
    """Return the median rank of the true links; see `link_ranks`.

    Examples
    --------
    >>> median_rank([[0.9, 0.1, 0.5, 0.6], [0.1, 0.2, 0.3, 0.4]], [[1, 0, 0, 1], [1, 0, 0, 0]])
    2.0
    """
    return _median_rank(link_ranks(scores, links))


@register_metric("median_rank", of="link ranks", better="lower", description="median rank of true links")
def _median_rank(ranks: NDArray[np.float64]) -> float:
    return float(np.median(ranks))


def mean_reciprocal_rank(scores: ArrayLike, links: Any) -> float:
    """Return the mean of 1 / rank over the true links, not only over the first of each row; see `link_ranks`.

    Examples
    --------
    >>> mean_reciprocal_rank([[0.9, 0.1, 0.5, 0.6], [0.1, 0.2, 0.3, 0.4]], [[1, 0, 0, 1], [0, 1, 0, 0]])
    0.611...
    """
    return _mean_reciprocal_rank(link_ranks(scores, links))


@register_metric(
    "mrr", of="link ranks", better="higher", title="MRR %", is_share=True, description="mean reciprocal rank"
)
def _mean_reciprocal_rank(ranks: NDArray[np.float64]) -> float:
    return float((1.0 / ranks).mean())


def hits_at_k(scores: ArrayLike, links: Any, k: int = 20) -> float:
    """Return the share of true links with a rank of at most `k`; see `link_ranks`.

    Examples
    --------
    >>> hits_at_k([[0.9, 0.1, 0.5, 0.6], [0.1, 0.2, 0.3, 0.4]], [[1, 0, 0, 1], [1, 0, 1, 0]], k=2)
    0.75
    """
    check_whole_number("k", k, 1)
    return _hits(link_ranks(scores, links), k)


@register_metric(
    "hits_at_20",
    of="link ranks",
    better="higher",
    title="hits@20 %",
    is_share=True,
    description="true links among the first 20",
)
def _hits(ranks: NDArray[np.float64], k: int = 20) -> float:
    return float((ranks <= k).mean())


@register_metric(
    "auc", of="pairs", better="higher", title="AUC %", is_share=True, description="area under the ROC curve"
)
def auc(scores: ArrayLike, links: Any) -> float:
    """Return the area under the ROC curve over all pairs of the matrix together.

    It is the probability that a linked pair scores higher than one that is not linked, whatever their rows; a tie
    counts one half.

    Parameters
    ----------
    scores, links
        As in `link_ranks`.

    Examples
    --------
    >>> auc([[0.9, 0.1, 0.5], [0.1, 0.2, 0.3]], [[1, 0, 1], [0, 1, 0]])
    0.888...
    """
    scores = _as_scores(scores, "scores")
    linked = _as_links(links, scores.shape)
    rows = np.repeat(np.arange(scores.shape[0]), np.diff(linked.indptr))
    n_links, n_others = linked.nnz, scores.size - linked.nnz
    if n_others == 0:
        raise DataError("every pair is a true link; the area under the ROC curve needs pairs without a link, too.")
    below, up_to = _places(np.sort(scores, axis=None), scores[rows, linked.indices])
    # Mann-Whitney: doubled ranks keep all sums whole, so the result is exact at any size.
    doubled = int((below + up_to + 1).sum()) - n_links * (n_links + 1)
    return doubled / (2 * n_links * n_others)


def word_ranks(probabilities: ArrayLike, counts: Any) -> NDArray[np.float64]:
    """Return the rank of each word token among the vocabulary.

    Parameters
    ----------
    probabilities : array-like of shape (n_documents, n_words)
        Predicted word probabilities.
    counts : array-like or sparse matrix of shape (n_documents, n_words)
        The words that occur.

    Returns
    -------
    ndarray of shape (n_tokens,)
        Ranks, document by document; 1 is the most probable word, ties are averaged, and a word that occurs n times
        has n ranks.

    Examples
    --------
    >>> word_ranks([[0.5, 0.25, 0.25]], [[2, 0, 1]])
    array([1. , 1. , 2.5])
    """
    probabilities = _as_scores(probabilities, "probabilities")
    matrix = as_count_matrix(counts)
    _check_shape(matrix.shape, probabilities.shape, "counts", "probabilities")
    matrix = check_counts(matrix, np.arange(matrix.shape[0]), None)
    if matrix.nnz == 0:
        raise DataError("counts are all zero; there is no word to rank.")
    return np.repeat(_ranks(probabilities, matrix), matrix.data)


def word_rank(probabilities: ArrayLike, counts: Any) -> float:
    """Return the mean rank of the word tokens; see `word_ranks`.

    Examples
    --------
    >>> word_rank([[0.5, 0.25, 0.25]], [[2, 0, 1]])
    1.5
    """
    return _mean_rank(word_ranks(probabilities, counts))


def _ranks(scores: NDArray[Any], wanted: csr_array) -> NDArray[np.float64]:
    """Return the ranks of the entries that `wanted` stores; rows without any are not read."""
    ranks = np.empty(wanted.nnz)
    for row in np.flatnonzero(np.diff(wanted.indptr)):
        here = slice(wanted.indptr[row], wanted.indptr[row + 1])
        line = np.asarray(scores[row])
        below, up_to = _places(np.sort(line), line[wanted.indices[here]])
        ranks[here] = len(line) - (below + up_to - 1) / 2
    return ranks


def _places(ordered: NDArray[Any], values: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return how many entries of an ascending array are below each value, and how many are not above it."""
    return np.searchsorted(ordered, values, side="left"), np.searchsorted(ordered, values, side="right")


def _as_scores(scores: ArrayLike, name: str) -> NDArray[Any]:
    array = np.asarray(scores)
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise DataError(
            f"{name} must be a matrix of numbers; it has the shape {array.shape} and values of type {array.dtype}."
        )
    if array.size == 0:
        raise DataError(f"{name} has the shape {array.shape}: it is empty.")
    if np.isnan(array.max()):  # the maximum passes NaN on, without another array of this size
        row = int(np.argmax(np.isnan(array.max(axis=1))))
        raise DataError(f"{name} holds NaN, first in row {row}; every entry needs a number to be ranked by.")
    return array


def _as_links(links: Any, shape: tuple[int, ...]) -> csr_array:
    """Return the true links as a sparse array of `shape` that stores nothing else, columns in order."""
    given = links if issparse(links) else np.asarray(links)
    _check_shape(given.shape, shape, "links", "scores")
    if given.dtype.kind not in "biuf":
        raise DataError(f"links must hold True and False, or 1 and 0; its values are of type {given.dtype}.")
    linked = csr_array(given, copy=True)
    linked.sum_duplicates()
    linked.eliminate_zeros()
    odd = linked.data != 1
    if odd.any():
        raise DataError(f"links must hold True and False, or 1 and 0; it holds {linked.data[odd][0].item()!r}.")
    if linked.nnz == 0:
        raise DataError("links holds no true link, so there is nothing to rank.")
    return linked


def _check_shape(shape: tuple[int, ...], expected: tuple[int, ...], name: str, other: str) -> None:
    if tuple(shape) != tuple(expected):
        raise DataError(f"{name} has the shape {tuple(shape)}, {other} has {tuple(expected)}; they must be the same.")
