"""Sums over training pairs for the weight step; those of several shards are added up."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linktopics.kernels import weights as kernels
from linktopics.sampler.partition import Partition

Array = NDArray[np.float64]

STIFF_RATIO = 30.0
"""A pair is stiff if its curvature is above this multiple of the median, as on the margin of the hinge loss. In float32
sums, stiff pairs would swamp the others."""

MEDIAN_PAIRS = 2**16
"""If there are more pairs, the median is taken over about this many."""

FEATURE_CHUNK_PAIRS = 2**20
"""Pairs whose features are multiplied at once."""


class PairSums:
    """Sums over the pairs of a part at given topic counts and curvatures.

    See `linktopics.kernels.weights` for what each sum is. The kernels that matter for speed add up in float32, which
    stiff pairs would spoil: those are added in float64.

    Parameters
    ----------
    part : Partition
        Documents and pairs; pairs of other parts that enter it are left out.
    n_topics : int
        Number of topics, K.
    doc_topic : ndarray of float32, shape (n_documents, padded K)
        Topic counts; for documents without words the shares of the prior (see `Shard.topic_rows`).
    linear, quadratic : ndarray of shape (n_pairs,)
        The Gaussian form of the loss.
    rng : numpy.random.Generator
        Source of the noise.
    """

    def __init__(
        self,
        part: Partition,
        n_topics: int,
        doc_topic: NDArray[np.float32],
        linear: Array,
        quadratic: Array,
        rng: np.random.Generator,
    ) -> None:
        self.part, self.rng = part, rng
        corpus, n = part.corpus, part.n_own_pairs
        row = np.empty(corpus.n_documents + 1, np.int64)
        self.shares = (row, *kernels.compress(part.lengths, doc_topic, row))
        self.topics = (0,) * doc_topic.shape[1]
        self.counts = (1.0 / np.maximum(part.lengths, 1), _narrow(doc_topic) if part.lengths.all() else doc_topic)
        self.grouped = (np.minimum(corpus.out_start, n), corpus.target[:n])
        self.ends = (corpus.source[:n], corpus.target[:n])
        self.features = part.own_features
        self.shape = (n_topics, n_topics)
        self.linear, self.quadratic = linear[:n], quadratic[:n]
        self.limit = STIFF_RATIO * float(np.median(self.quadratic[:: 1 + n // MEDIAN_PAIRS])) if n else 0.0
        self.stiff = np.flatnonzero(self.quadratic > self.limit)
        self.soft = self._soft(self.quadratic)
        self.stiff_sources = self._rows(corpus.source[self.stiff])
        self.stiff_targets = self._rows(corpus.target[self.stiff])

    # Methods called on every shard; the arrays they return are summed over the shards.

    def diagonal(self) -> tuple[Array, Array]:
        """Return the data's part of the precision and of the linear term, for diagonal weights and features.

        The linear term is the product of the precision and the mean.
        """
        size = self.shape[0] + self.features.shape[1]
        precision, linear_term = np.empty((size, size)), np.empty(size)
        kernels.diagonal_sums(
            *self.shares, *self.ends, self.quadratic, self.linear, self.features, precision, linear_term
        )
        return precision, linear_term

    def matrices(self, index: NDArray[np.int64]) -> tuple[Array, ...]:
        """Return the sums of which the precision and the linear term of full weights and of features are made."""
        size = int(index.max()) + 1
        grouped = np.empty((size, size))
        kernels.gram(*self.shares, *self.grouped, self.quadratic, index, grouped)
        linear_term = self.interactions(self.linear), self.features.T @ self.linear
        return (grouped, *linear_term, self.cross(), self.feature_precision())

    def noise(self, size: int) -> Array:
        """Return standard normal variates if this is the first shard, which draws for all of them; else none."""
        return self.rng.standard_normal(size) if self.part.number == 0 else np.empty(0)

    def perturbed(self) -> tuple[Array, ...]:
        """Return the linear term of weights and features, plus noise whose covariance is the data's precision."""
        noisy = self.linear + np.sqrt(self.quadratic) * self.rng.standard_normal(len(self.linear))
        return self.interactions(noisy), self.features.T @ noisy

    def to_solve(self, n_noise: int, n_stiff: int) -> tuple[tuple[Array, ...], tuple[Array, ...], Array]:
        """Return what conjugate gradients need: sums to be added up, the stiffest pairs, and noise."""
        noise = self.noise(n_noise)
        return (*self.perturbed(), *self.margins()), self.stiffest(n_stiff), noise

    def margins(self) -> tuple[Array, ...]:
        """Return (left, right, total, diagonal, feature precision), of which the preconditioner is made.

        left = sum_e x_e zbar_i zbar_i^T, right = sum_e x_e zbar_j zbar_j^T, total = sum_e x_e and diagonal =
        sum_e x_e zbar_i^2 (zbar_j^2)^T, where x are the curvatures, capped at the limit for stiff pairs.
        """
        capped = np.minimum(self.quadratic, self.limit)
        left, right, diagonal = (np.empty(self.shape) for _ in range(3))
        kernels.marginals(*self.shares, *self.ends, capped, left, right)
        kernels.curvatures(self.topics, *self.shares, *self.counts, *self.grouped, capped, diagonal)
        return left, right, np.asarray(capped.sum()), diagonal, self.feature_precision()

    def stiffest(self, n: int) -> tuple[Array, Array, Array]:
        """Return the n stiffest pairs: curvatures beyond the limit, and proportions of sources and targets."""
        excess = self.quadratic[self.stiff] - self.limit
        most = np.argsort(excess, kind="stable")[-n:]
        return excess[most], self.stiff_sources[most], self.stiff_targets[most]

    def product(self, V: Array, feature_weights: Array) -> tuple[Array, Array]:
        """Return the product of the data's part of the precision with weights of topics and of features."""
        result = np.empty(self.shape)
        wide = np.zeros((len(self.topics), len(self.topics)), np.float32)
        wide[: len(V), : len(V)] = V
        pull = self.features @ feature_weights if len(feature_weights) else np.empty(0)
        stiff = ((self.stiff_sources @ V) * self.stiff_targets).sum(1)
        if len(pull):
            stiff += pull[self.stiff]
        stiff *= self.quadratic[self.stiff]
        kernels.precision_product(self.topics, *self.shares, *self.counts, *self.grouped, self.soft, wide, result, pull)
        if len(pull):
            pull[self.stiff] = stiff
        result += self.stiff_sources.T @ (stiff[:, None] * self.stiff_targets)
        # not len(pull): a shard without pairs of its own still has features
        return result, np.asarray(self.features.T @ pull) if len(feature_weights) else pull

    def interactions(self, x: Array) -> Array:
        """Return sum_e x_e zbar_i zbar_j^T."""
        result = np.empty(self.shape)
        kernels.interaction_sum(self.topics, *self.shares, *self.counts, *self.grouped, self._soft(x), result)
        return result + self.stiff_sources.T @ (x[self.stiff, None] * self.stiff_targets)

    def cross(self) -> Array:
        """Return sum_e quadratic_e zbar_i zbar_j^T x_e, K x K x features, in float64: Cholesky needs it exact."""
        result = np.empty((*self.shape, self.features.shape[1]))
        kernels.cross_sums(*self.shares, *self.grouped, self.quadratic, self.features, result)
        return result

    def feature_precision(self) -> Array:
        """Return sum_e quadratic_e x_e x_e^T over the features x_e of pairs."""
        result = np.zeros((self.features.shape[1], self.features.shape[1]))
        for first in range(0, len(self.quadratic), FEATURE_CHUNK_PAIRS):  # in chunks, without a copy of all features
            part = self.features[first : first + FEATURE_CHUNK_PAIRS]
            result += (part * self.quadratic[first : first + FEATURE_CHUNK_PAIRS, None]).T @ part
        return result

    def _soft(self, x: Array) -> Array:
        x = x.copy()
        x[self.stiff] = 0.0
        return x

    def _rows(self, documents: NDArray[np.integer]) -> Array:
        inverse, doc_topic = self.counts
        return np.asarray(doc_topic[documents, : self.shape[0]] * inverse[documents, None])


def _narrow(counts: NDArray[np.float32]) -> NDArray:
    """Return counts as uint16 if they all fit: random reads of rows dominate the cost, so small rows are faster."""
    return counts.astype(np.uint16) if counts.max(initial=0.0) < 2**16 else counts
