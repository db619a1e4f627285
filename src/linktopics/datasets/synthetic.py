"""
Networks simulated from the model, up to millions of documents.

A link i -> j exists with probability sigmoid(s_ij + b), where s_ij = zbar_i^T U zbar_j, independently of all others.
There are too many pairs to draw each, so links are drawn by thinning. Place a Poisson number of points with mean
r_ij = log(1 + exp(s_ij + b)) on each pair: a pair gets none with probability exp(-r_ij) = 1 - sigmoid(s_ij + b), so the
pairs with at least one point are exactly the links. Points are not drawn pair by pair: they are drawn at a rate
R >= r_ij that many pairs share, and each is kept with probability r_ij / R.

The shared rates: with y_j = U zbar_j the score is the product of zbar_i and y_j. Targets with similar y are put into a
group. As zbar_i is not negative, its product with the largest value of each coordinate of y in the group bounds the
scores of source i with all of the group. So the work is one rate for each source and group, and one score for each
point. How targets are grouped decides how many points are rejected, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.optimize import brentq
from scipy.special import expit, logit

from linktopics.network import DocumentNetwork
from linktopics.network.inputs import seed_sequence
from linktopics.utils.blas import one_thread
from linktopics.utils.checks import check_whole_number

WEIGHT_LINKED, WEIGHT_OTHER = 4.0, -1.0  # the default weights of topics that link and of topics that do not

MAX_RATE = 30.0
"""Largest rate of a pair; link probabilities are therefore at most 1 - exp(-30)."""

N_GROUPS = 1000
N_SAMPLED_PAIRS = 1 << 22  # sampled to find the intercept, where there are more
N_TOKENS_AT_ONCE = 1 << 20  # in a block of documents
N_RATES_AT_ONCE = 1 << 20  # in a block of sources
N_POINTS_AT_ONCE = 1 << 20  # in a batch


@dataclass(frozen=True)
class NetworkTruth:
    """The parameters from which a network was simulated.

    Attributes
    ----------
    topic_word : ndarray of shape (n_topics, n_words)
        Word probabilities of each topic.
    doc_topic : ndarray of shape (n_documents, n_topics)
        Topic proportions of each document.
    zbar : ndarray of shape (n_documents, n_topics)
        Share of each topic among the tokens of each document; links depend on it.
    weights : ndarray of shape (n_topics, n_topics)
        Weights of the link probabilities, source by target.
    intercept : float
        What is added to every score.

    Examples
    --------
    >>> from linktopics.datasets import make_network
    >>> network, truth = make_network(100, n_topics=3, random_state=0, return_truth=True)
    >>> isinstance(truth, NetworkTruth), truth.zbar.shape
    (True, (100, 3))
    """

    topic_word: np.ndarray
    doc_topic: np.ndarray
    zbar: np.ndarray
    weights: np.ndarray
    intercept: float


@overload
def make_network(
    n_documents: int = ...,
    n_topics: int = ...,
    n_words: int = ...,
    *,
    mean_length: float = ...,
    mean_degree: float = ...,
    weights: ArrayLike | None = ...,
    alpha: float = ...,
    beta: float = ...,
    directed: bool = ...,
    random_state: Any = ...,
    return_truth: Literal[False] = ...,
) -> DocumentNetwork: ...


@overload
def make_network(
    n_documents: int = ...,
    n_topics: int = ...,
    n_words: int = ...,
    *,
    mean_length: float = ...,
    mean_degree: float = ...,
    weights: ArrayLike | None = ...,
    alpha: float = ...,
    beta: float = ...,
    directed: bool = ...,
    random_state: Any = ...,
    return_truth: Literal[True],
) -> tuple[DocumentNetwork, NetworkTruth]: ...


def make_network(
    n_documents: int = 1000,
    n_topics: int = 10,
    n_words: int = 1000,
    *,
    mean_length: float = 50,
    mean_degree: float = 5,
    weights: ArrayLike | None = None,
    alpha: float = 1.0,
    beta: float = 0.05,
    directed: bool = True,
    random_state: Any = None,
    return_truth: bool = False,
) -> DocumentNetwork | tuple[DocumentNetwork, NetworkTruth]:
    """
    Return a network simulated from the model: topics and documents are drawn first, then links.

    Parameters
    ----------
    n_documents, n_topics, n_words : int
        Sizes of the network.
    mean_length : float, default=50
        Tokens of a document on average, from 1: lengths are 1 plus a Poisson number.
    mean_degree : float, default=5
        Links per document: ``mean_degree * n_documents`` links are expected, in directed and undirected networks.
    weights : array of shape (n_topics, n_topics), optional
        Row k, column l is how much documents of topic k tend to link to documents of topic l; symmetric if
        the network is undirected. By default 4 on the diagonal, from topic 0 to 1 and from topic 2 to 3 (if
        these exist; in both directions if undirected), and -1 elsewhere.
    alpha : float, default=1.0
        Topic proportions are Dirichlet with alpha / n_topics for each topic.
    beta : float, default=0.05
        Topics are Dirichlet with beta for each word.
    directed : bool, default=True
        Whether links have a direction.
    random_state : int, RandomState, Generator or None, default=None
        The same number gives the same network.
    return_truth : bool, default=False
        Whether to return the `NetworkTruth`, too.

    Returns
    -------
    network : DocumentNetwork
        Words are named ``w0``, ``w1``, ...
    truth : NetworkTruth
        Only if `return_truth`.

    Notes
    -----
    A link exists with probability sigmoid(zbar_i^T weights zbar_j + intercept), independently of the others given
    the topics. Pairs are not visited one by one, yet the links follow these probabilities exactly (to 1e-13; the
    docstring of the module says why). The intercept is set so that the expected number of links is right: exactly in
    networks of up to 2,000 documents; in larger ones it is found from 4 million random pairs, with an error of 0.1 %
    (standard deviation) for the default weights, and of some 3 % for weights six times as strong, with which few pairs
    have most of the links.

    A million documents of 50 tokens and 10 topics take about a minute and 2.5 GB.

    Examples
    --------
    >>> from linktopics.datasets import make_network
    >>> network = make_network(500, n_topics=4, n_words=200, random_state=0)
    >>> network.n_documents, network.n_words, network.directed
    (500, 200, True)
    >>> network, truth = make_network(500, n_topics=4, n_words=200, random_state=0, return_truth=True)
    >>> truth.weights
    array([[ 4.,  4., -1., -1.],
           [-1.,  4., -1., -1.],
           [-1., -1.,  4.,  4.],
           [-1., -1., -1.,  4.]])
    """
    for name, size, least in (("n_documents", n_documents, 2), ("n_topics", n_topics, 1), ("n_words", n_words, 1)):
        check_whole_number(name, size, least)
    max_degree = (n_documents - 1) / (1 if directed else 2) * 0.999
    for name, value, low, high in (
        ("mean_length", mean_length, 1, 1e6),
        ("mean_degree", mean_degree, 1e-6, max_degree),
        ("alpha", alpha, 1e-6, 1e6),
        ("beta", beta, 1e-6, 1e6),
    ):
        if not (isinstance(value, Real) and low <= value <= high):
            raise ValueError(f"{name} is {value!r}; pass a number from {low:g} to {high:.12g}.")
    matrix = _check_weights(weights, n_topics, directed)
    for_words, for_links = (np.random.default_rng(seed) for seed in seed_sequence(random_state).spawn(2))
    topic_word = for_words.dirichlet(np.full(n_words, float(beta)), size=n_topics)
    counts, zbar, doc_topic = _draw_documents(n_documents, topic_word, mean_length, alpha, return_truth, for_words)
    with one_thread():  # sums depend on the number of threads, in their last digits
        intercept = _find_intercept(zbar, matrix, mean_degree, directed, for_links)
        links = _draw_links(zbar, matrix, intercept, directed, for_links)
    network = DocumentNetwork(counts, links, directed=directed, vocabulary=[f"w{word}" for word in range(n_words)])
    return (network, NetworkTruth(topic_word, doc_topic, zbar, matrix, intercept)) if return_truth else network


def _check_weights(weights: ArrayLike | None, n_topics: int, directed: bool) -> np.ndarray:
    """Return the weights as an array, the default ones if there are none."""
    if weights is None:
        matrix = np.full((n_topics, n_topics), WEIGHT_OTHER)
        np.fill_diagonal(matrix, WEIGHT_LINKED)
        for source in (0, 2):
            if source + 1 < n_topics:
                matrix[source, source + 1] = WEIGHT_LINKED
        return matrix if directed else np.maximum(matrix, matrix.T)
    matrix = np.array(weights, dtype=float)
    if matrix.shape != (n_topics, n_topics):
        raise ValueError(
            f"weights has the shape {matrix.shape}; with {n_topics} topics it must be ({n_topics}, {n_topics})."
        )
    if not np.isfinite(matrix).all():
        raise ValueError("weights holds inf or NaN; pass finite numbers.")
    if not directed and (matrix != matrix.T).any():
        raise ValueError("weights is not symmetric; an undirected network needs symmetric weights.")
    return matrix


def _draw_documents(
    n_documents: int,
    topic_word: np.ndarray,
    mean_length: float,
    alpha: float,
    keep_proportions: bool,
    rng: np.random.Generator,
) -> tuple[sparse.csr_array, np.ndarray, np.ndarray]:
    """Return random word counts, the shares of topics among the tokens and, if they are kept, the topic proportions."""
    n_topics, n_words = topic_word.shape
    cumulative = np.cumsum(topic_word, axis=1)
    cumulative /= cumulative[:, -1:]
    zbar = np.empty((n_documents, n_topics))
    proportions = np.empty((n_documents if keep_proportions else 0, n_topics))
    words, counts, lengths = [], [], []
    for block in _blocks(n_documents, max(1, int(N_TOKENS_AT_ONCE / mean_length))):
        size = block.stop - block.start
        doc_topic = rng.dirichlet(np.full(n_topics, alpha / n_topics), size=size)
        n_tokens = 1 + rng.poisson(mean_length - 1, size=size)
        topics = rng.multinomial(n_tokens, doc_topic)
        # Which token has which topic makes no difference to counts: words are drawn topic by topic.
        tokens = []
        for topic in range(n_topics):
            documents = np.repeat(np.arange(size), topics[:, topic])
            drawn = np.searchsorted(cumulative[topic], rng.random(len(documents)), side="right")
            tokens.append(documents * n_words + drawn)
        keys, repeats = np.unique(np.concatenate(tokens), return_counts=True)
        words.append((keys % n_words).astype(np.int32))
        counts.append(repeats.astype(np.int32))
        lengths.append(np.bincount(keys // n_words, minlength=size))
        zbar[block] = topics / n_tokens[:, None]
        if keep_proportions:
            proportions[block] = doc_topic
    starts = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    matrix = sparse.csr_array((np.concatenate(counts), np.concatenate(words), starts), shape=(n_documents, n_words))
    return matrix, zbar, proportions


def _blocks(n: int, size: int) -> Iterator[slice]:
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def _find_intercept(
    zbar: np.ndarray, weights: np.ndarray, mean_degree: float, directed: bool, rng: np.random.Generator
) -> float:
    """Return the intercept with which ``mean_degree * n_documents`` links are expected."""
    n = len(zbar)
    reach = zbar @ weights.T
    if n * (n - 1) <= N_SAMPLED_PAIRS:
        scores = (zbar @ reach.T)[~np.eye(n, dtype=bool)]
    else:
        source = rng.integers(n, size=N_SAMPLED_PAIRS)
        target = (source + rng.integers(1, n, size=N_SAMPLED_PAIRS)) % n
        scores = _scores(zbar, reach, source, target)
    wanted = mean_degree / ((n - 1) / (1 if directed else 2))
    low, high = logit(wanted) - scores.max() - 1, logit(wanted) - scores.min() + 1
    return float(brentq(lambda intercept: np.log(expit(scores + intercept).mean() / wanted), low, high, xtol=1e-9))


def _scores(zbar: np.ndarray, reach: np.ndarray, source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return ``(zbar[source] * reach[target]).sum(axis=1)``, in blocks."""
    scores = np.empty(len(source))
    for block in _blocks(len(source), 1 << 16):
        scores[block] = np.einsum("ij,ij->i", zbar[source[block]], reach[target[block]])
    return scores


def _draw_links(
    zbar: np.ndarray,
    weights: np.ndarray,
    intercept: float,
    directed: bool,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return random links, see the top of the module; sorted, unique, smaller index first if undirected."""
    n = len(zbar)
    reach = zbar @ weights.T
    group = _group(reach, N_GROUPS, rng)
    members = np.argsort(group, kind="stable")
    sizes = np.bincount(group)
    starts = np.cumsum(sizes) - sizes
    highest = np.maximum.reduceat(reach[members], starts, axis=0)
    share = 1.0 if directed else 0.5  # an undirected pair is visited from both of its ends
    found = [np.empty(0, dtype=np.int64)]
    for block in _blocks(n, max(1, N_RATES_AT_ONCE // len(sizes))):
        # log(1 + exp(x)) <= exp(x), which is quicker, and nearly the same where links are rare
        bounds = np.exp(np.minimum(zbar[block] @ highest.T + intercept, np.log(MAX_RATE)))
        ends = np.cumsum(bounds * (share * sizes))
        for part in _blocks(rng.poisson(ends[-1]), N_POINTS_AT_ONCE):
            where = np.sort(rng.random(part.stop - part.start)) * ends[-1]
            cell = np.minimum(np.searchsorted(ends, where, side="right"), len(ends) - 1)
            source, chosen = np.divmod(cell, len(sizes))
            source += block.start
            target = members[starts[chosen] + rng.integers(sizes[chosen])]
            rates = np.minimum(np.logaddexp(0, _scores(zbar, reach, source, target) + intercept), MAX_RATE)
            kept = (rng.random(len(cell)) * bounds.ravel()[cell] < rates) & (source != target)
            pairs = np.stack([source[kept], target[kept]])
            low, high = pairs if directed else np.sort(pairs, axis=0)
            found.append(np.unique(low * n + high))
    keys = np.unique(np.concatenate(found))
    return np.column_stack(np.divmod(keys, n))


def _group(points: np.ndarray, n_groups: int, rng: np.random.Generator) -> np.ndarray:
    """Return the group of each point, numbered from 0, none empty: a few rounds of k-means on a sample."""
    n = len(points)
    centres = np.unique(points[rng.choice(n, min(n, n_groups), replace=False)], axis=0)
    sample = points[rng.choice(n, min(n, 32 * n_groups), replace=False)]
    for _ in range(5):
        nearest = _nearest(sample, centres)
        sizes = np.bincount(nearest, minlength=len(centres))
        sums = np.column_stack([np.bincount(nearest, column, minlength=len(centres)) for column in sample.T])
        centres = sums[sizes > 0] / sizes[sizes > 0, None]
    return np.unique(_nearest(points, centres), return_inverse=True)[1]


def _nearest(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    half = (centres**2).sum(axis=1) / 2
    nearest = np.empty(len(points), dtype=np.int64)
    for block in _blocks(len(points), max(1, N_RATES_AT_ONCE // len(centres))):
        nearest[block] = np.argmin(half - points[block] @ centres.T, axis=1)
    return nearest
