"""Prior counts of topics in documents and of words in topics; they can be learned, and are higher for seed words."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from linktopics.sampler.corpus import Corpus

Array = NDArray[np.float64]

MIN_PRIOR, MAX_PRIOR = 1e-4, 1e4
"""Bounds of learned values. Without them the prior of a topic without tokens would go to zero and stay there."""

MAX_FIXED_POINT_STEPS, FIXED_POINT_TOLERANCE = 100, 1e-4
"""Most steps of a fixed-point iteration, and the relative change at which it stops."""


@dataclass(frozen=True)
class Priors:
    """Prior counts.

    Attributes
    ----------
    alpha : ndarray of float64, shape (K,)
        Prior tokens of each topic in a document.
    beta : float
        Prior tokens of each word in a topic; seed words have more (see `Corpus.seeds`).
    """

    alpha: Array
    beta: float

    @classmethod
    def even(cls, n_topics: int, alpha: float, beta: float) -> Priors:
        """Return priors with `alpha` tokens per document, spread evenly over the topics."""
        return cls(np.full(n_topics, alpha / n_topics), beta)

    @property
    def alpha_total(self) -> float:
        """Prior tokens of a document."""
        return math.fsum(self.alpha)

    @property
    def shares(self) -> Array:
        """Expected shares of topics in a document without words."""
        return self.alpha / self.alpha_total

    def topic_mass(self, corpus: Corpus) -> Array:
        """Return the prior tokens of each topic over all words, with beta rounded to float32 as in the sweep."""
        K = len(self.alpha)
        return np.full(K, np.float64(np.float32(self.beta)) * corpus.n_words) + corpus.seeds.mass(K)


def learn_alpha(
    doc_topic: NDArray[np.float32], lengths: NDArray[np.integer], alpha: Array, *, per_topic: bool
) -> Array:
    """Return an alpha of higher likelihood given the topic counts of documents, by steps of Minka's fixed point.

    One call reaches the maximum, unless alpha is large; then it takes several.

    Parameters
    ----------
    doc_topic : ndarray of shape (n_documents, at least K)
        Tokens per document and topic.
    lengths : ndarray of shape (n_documents,)
        Tokens per document.
    alpha : ndarray of shape (K,)
        The value to start from.
    per_topic : bool
        Whether topics may differ.

    References
    ----------
    Minka (2000), Estimating a Dirichlet distribution. Wallach, Mimno and McCallum (2009), Rethinking LDA: why priors
    matter.
    """
    if not per_topic:
        alpha = np.full(len(alpha), alpha.mean())
    counts = _histograms(doc_topic[:, : len(alpha)])
    of_lengths = _histograms(lengths[:, None])
    for _ in range(MAX_FIXED_POINT_STEPS):
        gain = _excess(counts, alpha)
        loss = float(_excess(of_lengths, np.array([alpha.sum()]))[0])
        if loss <= 0:  # no document has a token
            return alpha
        ratio = gain / loss if per_topic else np.full(len(alpha), (alpha @ gain) / (alpha.sum() * loss))
        alpha, last = np.clip(alpha * ratio, MIN_PRIOR, MAX_PRIOR), alpha
        if (np.abs(alpha - last) <= FIXED_POINT_TOLERANCE * last).all():
            break
    return alpha


def learn_beta(corpus: Corpus, word_topic: NDArray[np.float32], totals: NDArray[np.integer], priors: Priors) -> float:
    """Return a beta of higher likelihood given the topic counts of words, by steps of Minka's fixed point.

    Parameters
    ----------
    corpus : Corpus
        For its number of words and its seed words.
    word_topic : ndarray of shape (n_words, at least K)
        Tokens per word and topic, without prior counts.
    totals : ndarray of shape (K,)
        Tokens per topic.
    priors : Priors
        The priors to start from.
    """
    K, V, seeds, beta = len(priors.alpha), corpus.n_words, corpus.seeds, priors.beta
    counts = _histograms(word_topic[:, :K].reshape(-1, 1))
    seeded = word_topic[seeds.word, seeds.topic].astype(float)
    extra = seeds.mass(K)
    for _ in range(MAX_FIXED_POINT_STEPS):
        gain = float(_excess(counts, np.array([beta]))[0])
        for amount, sign in ((seeds.amount, 1.0), (0.0, -1.0)):  # seed words start from more than beta
            gain += sign * float((digamma(seeded + beta + amount) - digamma(beta + amount)).sum())
        loss = V * float((digamma(totals + V * beta + extra) - digamma(V * beta + extra)).sum())
        if loss <= 0:
            return beta
        beta, last = float(np.clip(beta * gain / loss, MIN_PRIOR, MAX_PRIOR)), beta
        if abs(beta - last) <= FIXED_POINT_TOLERANCE * last:
            break
    return beta


def _histograms(counts: NDArray) -> NDArray[np.int64]:
    """Return how often each count occurs in each column, counts x columns."""
    whole = np.asarray(counts, dtype=np.int64)
    n_columns = whole.shape[1]
    size = int(whole.max(initial=0)) + 1
    flat = whole * n_columns + np.arange(n_columns)
    return np.bincount(flat.reshape(-1), minlength=size * n_columns).reshape(size, n_columns)


def _excess(histograms: NDArray[np.int64], prior: Array) -> Array:
    """Return the sum of digamma(count + prior) - digamma(prior) over the counts of each column."""
    n = np.arange(len(histograms))[:, None]
    return np.asarray((histograms * (digamma(n + prior) - digamma(prior))).sum(axis=0))
