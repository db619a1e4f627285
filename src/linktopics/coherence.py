"""Coherence and diversity of topics: how well their words go together, and how little topics repeat one another.

Coherence is computed from the pairs of the most probable words of a topic, and how often they are in the same document.
With `tokens`, the order of words, pairs are counted in sliding windows instead, as in the definitions of Röder et al.

References
----------
Mimno, Wallach, Talley, Leenders, McCallum: Optimizing semantic coherence in topic models. EMNLP 2011.
Röder, Both, Hinneburg: Exploring the space of topic coherence measures. WSDM 2015.
Dieng, Ruiz, Blei: Topic modeling in embedding spaces. TACL 2020.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array

from linktopics.errors import DataError
from linktopics.network.validation import as_count_matrix, check_counts
from linktopics.utils.checks import check_whole_number

__all__ = ["MEASURES", "coherence", "topic_diversity"]

EPSILON = 1e-12
"""Added to the share of documents that hold both words of a pair, which may be 0; the value of Röder et al."""

MEASURES: dict[str, int | None] = {"npmi": 10, "umass": None, "cv": 110}
"""The measures, and the window size in the definition of each; None: whole documents."""

Counter = Callable[[NDArray[np.int64]], NDArray[np.int64]]
"""Takes words; returns the number of documents or windows with both words of each pair, on the diagonal with one."""


def coherence(
    topics: Iterable[ArrayLike],
    documents: Any = None,
    measure: str = "npmi",
    *,
    n_words: int = 10,
    tokens: Iterable[ArrayLike] | None = None,
    window: int | None = None,
) -> NDArray[np.float64]:
    """Return the coherence of each topic: how often its first `n_words` words occur in the same documents.

    Parameters
    ----------
    topics : sequence of sequences of int
        For each topic its words, as columns of `documents`, the most probable first.
    documents : array-like or sparse matrix of shape (n_documents, vocabulary size), optional
        Word counts. Words go together when a document has both, however far apart.
    measure : {"npmi", "umass", "cv"}, default="npmi"
        "npmi": normalised pointwise mutual information, C_NPMI of Röder et al.: the mean over all pairs of
        ``log((p_ij + 1e-12) / (p_i p_j)) / -log(p_ij + 1e-12)``, where p are shares of the documents. From -1, never
        together, through 0, independent, to 1, always together.

        "umass": Mimno et al.: the *mean* over all pairs of ``log((D_ij + 1) / D_i)``, where D are numbers of documents
        and i is the more probable word of the pair. (They report the sum: multiply by n (n - 1) / 2 for n words.)
        At most log(1 + 1 / D_i), so hardly ever above 0; the higher the better.

        "cv": C_V of Röder et al.: each word is the vector of its NPMI with all words of the topic, itself included;
        the mean cosine of these vectors with their sum. From -1 to 1, mostly from 0.2 to 0.8. Words that all avoid one
        another have similar vectors and score well, too: check "npmi" as well.
    n_words : int, default=10
        Number of words of each topic to use, at least 2.
    tokens : sequence of sequences of int, optional
        Instead of `documents`: the words of each document in order, numbered as in topics; -1 is any other word.
    window : int, optional
        With `tokens`: words go together when they are in a window of this many tokens, which slides by one token; a
        document no longer than the window is a single window. By default 10 for "npmi" and 110 for "cv", as in
        the paper, and whole documents for "umass".

    Returns
    -------
    ndarray of shape (n_topics,)
        One number for each topic; NaN for a topic with fewer than two words that occur.

    Notes
    -----
    Topics with fewer words than `n_words` are measured by those they have. Words that are in no document are ignored.
    Two words that are never in the same document have an NPMI of -1 if they are frequent, but, because of the 1e-12, up
    to 0 the rarer they are (``log(p_i p_j) / log(1e-12) - 1``); in "umass" they have ``-log D_i``. Two words that are
    in every document have an NPMI of 1, its limit, where the formula would divide by zero. Documents without words
    count as documents.

    C_V and C_NPMI of whole documents are not comparable with published numbers, which come from windows and often from
    another corpus than the one modelled.

    Examples
    --------
    >>> counts = [[1, 2, 0, 0], [1, 1, 0, 1], [0, 0, 1, 1], [0, 0, 3, 0]]
    >>> coherence([[0, 1], [2, 3]], counts).round(3)
    array([1., 0.])
    >>> coherence([[0, 1], [2, 3]], counts, "umass").round(3)
    array([0.405, 0.   ])
    >>> coherence([[0, 1], [0, 3]], tokens=[[0, 1, -1, 3], [2, 3, 3]], window=2).round(3)
    array([ 0.569, -0.923])
    """
    check_whole_number("n_words", n_words, 2)
    if measure not in MEASURES:
        raise ValueError(f"measure is {measure!r}; it must be one of {', '.join(map(repr, MEASURES))}.")
    if (documents is None) == (tokens is None):
        raise ValueError("pass either documents, a matrix of counts, or tokens, the words of each document in order.")
    if tokens is None:
        if window is not None:
            raise ValueError(f"window is {window!r}, but counts have no order of words; pass tokens instead.")
        n_units, count, size = _document_counter(documents)
    else:
        n_units, count, size = _window_counter(tokens, MEASURES[measure] if window is None else window)
    chosen = _as_topics(topics, n_words, size)
    return np.array([_topic_coherence(count(words), n_units, measure) for words in chosen], dtype=np.float64)


def topic_diversity(topics: Iterable[ArrayLike], n_words: int = 25) -> float:
    """Return the share of distinct words among the first `n_words` words of all topics (Dieng et al.).

    Parameters
    ----------
    topics : sequence of sequences of int
        For each topic its words, the most probable first; topics may have fewer than `n_words`.
    n_words : int, default=25
        Number of words of each topic to use.

    Returns
    -------
    float
        1 if no word is in two topics, 1 / n_topics if all topics have the same words.

    Examples
    --------
    >>> topic_diversity([[0, 1, 2, 3], [0, 4, 5, 6]], n_words=2)
    0.75
    """
    check_whole_number("n_words", n_words, 1)
    words = np.concatenate([np.empty(0, np.int64), *_as_topics(topics, n_words, None)])
    if len(words) == 0:
        raise DataError("topics have no words, so there is nothing to count.")
    return len(np.unique(words)) / len(words)


def _topic_coherence(joint: NDArray[np.int64], n_units: int, measure: str) -> float:
    """Return the coherence of a topic, from the number of documents with both words of each pair."""
    occur = np.flatnonzero(joint.diagonal())
    if len(occur) < 2:
        return np.nan
    joint = joint[np.ix_(occur, occur)]
    later, earlier = np.tril_indices(len(occur), -1)
    if measure == "umass":
        return float(np.log((joint[later, earlier] + 1.0) / joint.diagonal()[earlier]).mean())
    npmi = _npmi(joint, n_units)
    if measure == "npmi":
        return float(npmi[later, earlier].mean())
    whole = npmi.sum(axis=0)
    lengths = np.linalg.norm(npmi, axis=1) * np.linalg.norm(whole)  # rows are never zero: a word goes with itself
    return float(np.divide(npmi @ whole, lengths, out=np.zeros(len(npmi)), where=lengths > 0).mean())


def _npmi(joint: NDArray[np.int64], n_units: int) -> NDArray[np.float64]:
    share = joint / n_units
    together = share + EPSILON
    # For a pair in all documents the formula is 0 / 0. Its limit is 1: the ratio is 1 wherever p_i = p_j = p_ij < 1.
    everywhere = joint == n_units
    information = -np.log(np.where(everywhere, EPSILON, together))
    npmi = np.log(together / np.outer(share.diagonal(), share.diagonal())) / information
    return np.where(everywhere, 1.0, npmi)


def _document_counter(documents: Any) -> tuple[int, Counter, int | None]:
    """Return the number of documents, the counter of documents with both words, and the size of the vocabulary."""
    counts = as_count_matrix(documents)
    counts = check_counts(counts, np.arange(counts.shape[0]), None)
    counts.data[:] = 1
    columns = csc_array(counts)

    def count(words: NDArray[np.int64]) -> NDArray[np.int64]:
        chosen = columns[:, words]
        return (chosen.T @ chosen).toarray().astype(np.int64)

    return columns.shape[0], count, columns.shape[1]


def _window_counter(tokens: Iterable[ArrayLike], window: int | None) -> tuple[int, Counter, int | None]:
    """Return the number of windows, the counter of windows with both words, and None for an unknown vocabulary.

    Windows are numbered consecutively over all documents. The windows that hold a word are a few runs of consecutive
    numbers, and two words are together in the overlaps of their runs. No loop over windows is needed.
    """
    arrays = _as_sequences(tokens)
    lengths = np.array([len(words) for words in arrays], dtype=np.int64)
    if window is None:
        window = max(1, int(lengths.max(initial=1)))
    check_whole_number("window", window, 1)
    n_windows = np.maximum(lengths - window + 1, 1)
    first = np.cumsum(n_windows) - n_windows
    words = np.concatenate([np.empty(0, np.int64), *arrays])
    document = np.repeat(np.arange(len(arrays)), lengths)
    place = np.arange(len(words)) - (np.cumsum(lengths) - lengths)[document]
    # The windows that hold the token at `place` begin from window - 1 tokens before it up to itself.
    start = first[document] + np.maximum(place - window + 1, 0)
    stop = first[document] + np.minimum(place, n_windows[document] - 1) + 1
    known = words >= 0
    of_word, start, stop = _merge_runs(words[known], start[known], stop[known])

    def count(chosen: NDArray[np.int64]) -> NDArray[np.int64]:
        ends = np.searchsorted(of_word, np.concatenate([chosen, chosen + 1])).reshape(2, -1)
        sizes = ends[1] - ends[0]
        picked = np.concatenate([np.arange(a, b) for a, b in ends.T])
        return _overlaps(np.repeat(np.arange(len(chosen)), sizes), start[picked], stop[picked], len(chosen))

    return int(n_windows.sum()), count, None


def _merge_runs(
    words: NDArray[np.int64], start: NDArray[np.int64], stop: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return runs in order of words, with overlapping runs of a word joined; the input is in order of start."""
    order = np.argsort(words, kind="stable")
    words, start, stop = words[order], start[order], stop[order]
    new = np.ones(len(words), dtype=bool)
    new[1:] = (words[1:] != words[:-1]) | (start[1:] >= stop[:-1])
    last = np.append(new[1:], True)[: len(new)]
    return words[new], start[new], stop[last]


def _overlaps(
    of_word: NDArray[np.int64], start: NDArray[np.int64], stop: NDArray[np.int64], n_words: int
) -> NDArray[np.int64]:
    """Return the number of windows in the runs of both words of each pair; the diagonal is the length of all runs."""
    order = np.argsort(start, kind="stable")
    of_word, start, stop = of_word[order], start[order], stop[order]
    # Runs are in order of start, so those after run i that overlap it, by starting before its end, follow it directly.
    behind = np.searchsorted(start, stop) - np.arange(len(start)) - 1
    left = np.repeat(np.arange(len(start)), behind)
    right = left + 1 + np.arange(len(left)) - np.repeat(np.cumsum(behind) - behind, behind)
    shared = np.minimum(stop[left], stop[right]) - start[right]
    # Whole numbers in float64, as bincount adds them, are exact up to 2^53.
    pairs = np.bincount(of_word[left] * n_words + of_word[right], shared, n_words**2).reshape(n_words, n_words)
    alone = np.bincount(of_word, stop - start, n_words)
    return (pairs + pairs.T + np.diag(alone)).astype(np.int64)


def _as_topics(topics: Iterable[ArrayLike], n_words: int, size: int | None) -> list[NDArray[np.int64]]:
    """Return the first words of each topic; raise for invalid and repeated words."""
    chosen = []
    for number, topic in enumerate(topics):
        words = _whole_numbers(topic, f"topic {number}")[:n_words]
        bad = words[(words < 0) | (words >= (np.inf if size is None else size))]
        if len(bad):
            upto = "" if size is None else f" to {size - 1}"
            raise DataError(f"topic {number} holds the word {bad[0]}; words are columns of the counts, from 0{upto}.")
        if len(np.unique(words)) < len(words):
            repeated = int(np.argmax(np.bincount(words)))
            raise DataError(f"topic {number} holds the word {repeated} twice; a topic lists each of its words once.")
        chosen.append(words)
    return chosen


def _as_sequences(tokens: Iterable[ArrayLike]) -> list[NDArray[np.int64]]:
    arrays = [_whole_numbers(document, f"document {row} of tokens") for row, document in enumerate(tokens)]
    if not arrays:
        raise DataError("tokens has no documents; coherence needs at least one.")
    for row, words in enumerate(arrays):
        if words.min(initial=0) < -1:
            raise DataError(
                f"document {row} of tokens holds {words.min()}; words are numbered from 0, and -1 is any other word."
            )
    return arrays


def _whole_numbers(values: ArrayLike, name: str) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise DataError(
            f"{name} has the shape {array.shape} and values of type {array.dtype}; pass a list of word numbers."
        )
    return array.astype(np.int64, copy=False)
