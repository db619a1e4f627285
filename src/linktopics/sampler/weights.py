"""The weight step: a draw of the weights from their Gaussian conditional.

The precision of ``vec(U)`` is ``I / variance + sum_e quadratic_e phi_e phi_e^T``, phi_e = zbar_i (x) zbar_j, and its
product with the mean is ``sum_e linear_e phi_e``. Where pairs have features x_e, their weights are drawn together with
U: phi_e is then zbar_i (x) zbar_j followed by x_e. For few topics the matrix is built (grouped by source document) and
factored. For more, the same distribution is drawn from without the matrix: perturb the right-hand side by noise whose
covariance is the precision, and solve by preconditioned conjugate gradients.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.sparse import csr_array

from linktopics.errors import SamplingError
from linktopics.kernels import weights as kernels
from linktopics.sampler.corpus import Corpus

__all__ = ["CHOLESKY_MAX_TOPICS", "WeightSampler"]

Array = NDArray[np.float64]
Operator = Callable[[Array], Array]

CHOLESKY_MAX_TOPICS = 8
"""Up to here the matrix of size K^2 is cheaper to build and factor than a dozen products with it."""

CG_TOLERANCE = 1e-3
"""Error left by conjugate gradients, in standard deviations of the distribution drawn from (root mean square)."""

CG_MAX_ITERATIONS = 1000

STIFF = 30.0
"""A pair is stiff if its curvature is above this multiple of the median. Pairs that lie on the margin of the hinge loss
are; float32 sums would lose the others beside them."""

MAX_STIFF_PAIRS = 200
"""How many stiff pairs the preconditioner takes in one by one."""


class WeightSampler:
    """Draws the weights of one model, given assignments and augmented variables.

    Parameters
    ----------
    corpus : Corpus
        Documents and pairs.
    n_topics : int
        Number of topics, K.
    kind : {"full", "diagonal"}
        Which entries of U are free.
    variance : float
        Prior variance of each free weight.
    method : {"auto", "cholesky", "cg"}
        How to draw full weights.
    """

    def __init__(
        self,
        corpus: Corpus,
        n_topics: int,
        kind: str,
        variance: float,
        method: str = "auto",
    ) -> None:
        self.corpus = corpus
        self.n_topics = n_topics
        self.kind = kind
        self.variance = variance
        self.method = ("cholesky" if n_topics <= CHOLESKY_MAX_TOPICS else "cg") if method == "auto" else method

    def draw(
        self,
        doc_topic: NDArray[np.float32],
        linear: Array,
        quadratic: Array,
        start: Array,
        feature_start: Array,
        rng: np.random.Generator,
    ) -> tuple[Array, Array]:
        """Return new weights of topics, K x K, and of features.

        Parameters
        ----------
        doc_topic : ndarray of shape (n_documents, padded K)
            Topic counts of documents.
        linear, quadratic : ndarray of shape (n_pairs,)
            The Gaussian form of the loss.
        start : ndarray of shape (K, K)
            Where conjugate gradients start: the last weights.
        feature_start : ndarray of shape (n_features,)
            The same for the weights of features.
        rng : numpy.random.Generator
            Source of randomness.
        """
        sums = _PairSums(self.corpus, self.n_topics, doc_topic, quadratic)
        if self.kind == "diagonal":
            return self._draw_diagonal(sums, linear, rng)
        if self.method == "cholesky":
            return self._draw_cholesky(sums, linear, rng)
        return self._draw_cg(sums, linear, start, feature_start, rng)

    def _draw_diagonal(self, sums: _PairSums, linear: Array, rng: np.random.Generator) -> tuple[Array, Array]:
        K = self.n_topics
        precision, pull = sums.diagonal(linear)
        eta = _draw_gaussian(precision, pull, self.variance, rng)
        return np.diag(eta[:K]), eta[K:]

    def _draw_cholesky(self, sums: _PairSums, linear: Array, rng: np.random.Generator) -> tuple[Array, Array]:
        K = self.n_topics
        upper = np.triu_indices(K)
        index = np.zeros((K, K), np.int64)
        index[upper] = np.arange(len(upper[0]))
        index = np.maximum(index, index.T)
        # grouped[(k, k'), (l, l')] is the entry of the precision at row (k, l) and column (k', l').
        grouped = sums.gram(index)
        precision = grouped[index[:, :, None, None], index[None, None]].transpose(0, 2, 1, 3).reshape(K * K, K * K)
        pull = sums.interactions(linear).reshape(-1)
        mixed, features = sums.cross().reshape(K * K, -1), sums.features
        if self.corpus.symmetric:
            # A free weight k <= l stands for the entries (k, l) and (l, k): add up their rows and columns.
            one, two = upper[0] * K + upper[1], upper[1] * K + upper[0]
            off = (one != two).astype(float)
            precision = precision[one] + off[:, None] * precision[two]
            precision = precision[:, one] + off * precision[:, two]
            pull = pull[one] + off * pull[two]
            mixed = mixed[one] + off[:, None] * mixed[two]
        precision = np.block([[precision, mixed], [mixed.T, sums.feature_precision()]])
        free = _draw_gaussian(precision, np.append(pull, features.T @ linear), self.variance, rng)
        entries, feature_weights = free[: len(pull)], free[len(pull) :]
        return np.asarray(entries[index] if self.corpus.symmetric else entries.reshape(K, K)), feature_weights

    def _draw_cg(
        self, sums: _PairSums, linear: Array, start: Array, feature_start: Array, rng: np.random.Generator
    ) -> tuple[Array, Array]:
        K, features = self.n_topics, sums.features
        noise = rng.standard_normal((K, K)) / np.sqrt(self.variance)
        if self.corpus.symmetric:
            noise = np.triu(noise) + np.triu(noise, 1).T
        perturbed = linear + np.sqrt(sums.quadratic) * rng.standard_normal(len(linear))
        feature_noise = rng.standard_normal(features.shape[1]) / np.sqrt(self.variance)
        right = np.append(self._fold(sums.interactions(perturbed)) + noise, features.T @ perturbed + feature_noise)
        solve_topics = self._preconditioner(sums)
        solve_features = np.linalg.inv(sums.feature_precision() + np.eye(features.shape[1]) / self.variance)

        # A vector of unknowns is U, row by row, and then the weights of features.
        def multiply(x: Array) -> Array:
            of_topics, of_features = sums.product(x[: K * K].reshape(K, K), x[K * K :])
            return np.append(self._fold(of_topics), of_features) + x / self.variance

        def precondition(r: Array) -> Array:
            return np.append(solve_topics(r[: K * K].reshape(K, K)), solve_features @ r[K * K :])

        measure = np.append(self._measure(), np.ones(features.shape[1]))
        x = _conjugate_gradients(multiply, right, np.append(start, feature_start), precondition, measure)
        U = x[: K * K].reshape(K, K)
        return 0.5 * (U + U.T) if self.corpus.symmetric else U, x[K * K :]  # symmetric but for rounding

    def _fold(self, gradient: Array) -> Array:
        """Turn a gradient over all entries of U into one over the free weights, held in a matrix."""
        if not self.corpus.symmetric:
            return gradient
        return gradient + gradient.T - np.diag(np.diag(gradient))

    def _measure(self) -> Array:
        """Weight of each entry in inner products: a symmetric matrix holds its off-diagonal weights twice."""
        if not self.corpus.symmetric:
            return np.ones((self.n_topics, self.n_topics))
        return 0.5 + 0.5 * np.eye(self.n_topics)

    def _preconditioner(self, sums: _PairSums) -> Operator:
        """Return the inverse of the precision that pairs of unrelated documents would have: a Kronecker product.

        The Kronecker product takes in stiff pairs as if they were just not stiff, and the stiffest are put right by
        Woodbury's formula. Over symmetric matrices, off-diagonal entries count twice in the data and once in the prior,
        hence the half.
        """
        symmetric = self.corpus.symmetric
        gentle = np.minimum(sums.quadratic, sums.limit)
        left, right = sums.marginals(gentle)
        if symmetric:
            left = right = 0.5 * (left + right)
        left_values, left_vectors = np.linalg.eigh(left)
        right_values, right_vectors = np.linalg.eigh(right)
        prior = 1.0 / self.variance * (0.5 if symmetric else 1.0)
        total = max(float(gentle.sum()), np.finfo(float).tiny)
        inverse = 1.0 / (np.maximum(np.outer(left_values, right_values), 0.0) / total + prior)
        measure = self._measure()

        excess = sums.quadratic[sums.stiff] - sums.limit
        most = np.argsort(excess)[-MAX_STIFF_PAIRS:]
        n_stiff = len(most)
        sources, targets = sums.stiff_sources[most], sums.stiff_targets[most]
        phi = (sources @ left_vectors)[:, :, None] * (targets @ right_vectors)[:, None, :]
        if symmetric:
            phi = 0.5 * (phi + phi.transpose(0, 2, 1))
        scaled = (phi * inverse).reshape(n_stiff, inverse.size)
        inner = np.diag(1.0 / excess[most]) + scaled @ phi.reshape(n_stiff, inverse.size).T
        factor = cho_factor(inner, lower=True, check_finite=False) if n_stiff else None

        def apply(residual: Array) -> Array:
            rotated = left_vectors.T @ (measure * residual) @ right_vectors
            solved = inverse * rotated
            if factor is not None:
                correction = scaled.T @ cho_solve(factor, scaled @ rotated.reshape(-1), check_finite=False)
                solved -= correction.reshape(solved.shape)
            return np.asarray(left_vectors @ solved @ right_vectors.T)

        return apply


class _PairSums:
    """Sums over the training pairs at given topic counts and curvatures.

    See `linktopics.kernels.weights` for what each sum is. The kernels that matter for speed add up in float32, which
    stiff pairs would spoil: those are added in float64.
    """

    def __init__(self, corpus: Corpus, n_topics: int, doc_topic: NDArray[np.float32], quadratic: Array) -> None:
        row = np.empty(corpus.n_documents + 1, np.int64)
        self.shares = (row, *kernels.compress(corpus.start, doc_topic, row))
        self.topics = (0,) * doc_topic.shape[1]
        self.counts = (1.0 / np.maximum(np.diff(corpus.start), 1), doc_topic)
        self.grouped = (corpus.out_start, corpus.target)
        self.ends = (corpus.source, corpus.target)
        self.features = corpus.features
        self.shape = (n_topics, n_topics)
        self.quadratic = quadratic
        self.limit = STIFF * float(np.median(quadratic))
        self.stiff = np.flatnonzero(quadratic > self.limit)
        self.stiff_sources = self._rows(corpus.source[self.stiff])
        self.stiff_targets = self._rows(corpus.target[self.stiff])

    def interactions(self, x: Array) -> Array:
        result = np.empty(self.shape)
        kernels.interaction_sum(self.topics, *self.shares, *self.counts, *self.grouped, self._soft(x), result)
        return result + self.stiff_sources.T @ (x[self.stiff, None] * self.stiff_targets)

    def cross(self) -> Array:
        """Return sum_e quadratic_e zbar_i zbar_j^T x_e, K x K x features, in float64: Cholesky needs it exact."""
        row, topic, share = self.shares
        shape = (len(row) - 1, self.shape[0])
        zbar = csr_array((share, topic, row), shape=shape)
        result = np.empty((*self.shape, self.features.shape[1]))
        for number, column in enumerate(self.features.T):
            pairs = csr_array((self.quadratic * column, self.ends), shape=(shape[0], shape[0]))
            result[:, :, number] = (zbar.T @ (pairs @ zbar)).toarray()
        return result

    def feature_precision(self) -> Array:
        return np.asarray((self.features * self.quadratic[:, None]).T @ self.features)

    def product(self, V: Array, feature_weights: Array) -> tuple[Array, Array]:
        """Return the product of the data's part of the precision with weights of topics and of features."""
        result = np.empty(self.shape)
        wide = np.zeros((len(self.topics), len(self.topics)), np.float32)
        wide[: len(V), : len(V)] = V
        soft = self._soft(self.quadratic)
        pull = self.features @ feature_weights if len(feature_weights) else np.empty(0)
        stiff = ((self.stiff_sources @ V) * self.stiff_targets).sum(1)
        if len(pull):
            stiff += pull[self.stiff]
        stiff *= self.quadratic[self.stiff]
        kernels.precision_product(self.topics, *self.shares, *self.counts, *self.grouped, soft, wide, result, pull)
        if len(pull):
            pull[self.stiff] = stiff
        result += self.stiff_sources.T @ (stiff[:, None] * self.stiff_targets)
        return result, np.asarray(self.features.T @ pull) if len(pull) else pull

    def gram(self, index: NDArray[np.int64]) -> Array:
        size = int(index.max()) + 1
        result = np.empty((size, size))
        kernels.gram(*self.shares, *self.grouped, self.quadratic, index, result)
        return result

    def marginals(self, x: Array) -> tuple[Array, Array]:
        left, right = np.empty(self.shape), np.empty(self.shape)
        kernels.marginals(*self.shares, *self.ends, x, left, right)
        return left, right

    def diagonal(self, linear: Array) -> tuple[Array, Array]:
        size = self.shape[0] + self.features.shape[1]
        precision, pull = np.empty((size, size)), np.empty(size)
        kernels.diagonal_sums(*self.shares, *self.ends, self.quadratic, linear, self.features, precision, pull)
        return precision, pull

    def _soft(self, x: Array) -> Array:
        x = x.copy()
        x[self.stiff] = 0.0
        return x

    def _rows(self, documents: NDArray[np.integer]) -> Array:
        inverse, doc_topic = self.counts
        return np.asarray(doc_topic[documents, : self.shape[0]] * inverse[documents, None])


def _draw_gaussian(precision: Array, pull: Array, variance: float, rng: np.random.Generator) -> Array:
    """Draw from N(Lambda^-1 pull, Lambda^-1), Lambda = precision + I / variance."""
    precision = precision + np.eye(len(precision)) / variance
    factor, _ = cho_factor(precision, lower=True, overwrite_a=True, check_finite=False)
    half = solve_triangular(factor, pull, lower=True, check_finite=False) + rng.standard_normal(len(pull))
    return np.asarray(solve_triangular(factor, half, lower=True, trans=1, check_finite=False))


def _conjugate_gradients(
    multiply: Operator, right: Array, start: Array, precondition: Operator, measure: Array
) -> Array:
    """Solve ``multiply(x) = right`` until the error is a small part of a standard deviation.

    The error d of a solution has d^T Lambda d = r^T Lambda^-1 r, about r^T M^-1 r for the preconditioner M, where a
    draw's own deviation from the mean has the number of weights.
    """
    x = start.copy()
    residual = right - multiply(x)
    bound = CG_TOLERANCE**2 * measure.sum()
    direction = z = precondition(residual)
    error = float((measure * residual * z).sum())
    for _ in range(CG_MAX_ITERATIONS):
        if error <= bound:
            return x
        image = multiply(direction)
        step = error / float((measure * direction * image).sum())
        x += step * direction
        residual = residual - step * image
        z = precondition(residual)
        error, last = float((measure * residual * z).sum()), error
        direction = z + (error / last) * direction
    raise SamplingError(
        f"the weights could not be drawn: conjugate gradients left an error after {CG_MAX_ITERATIONS} iterations. "
        "Costs or the weight variance are extreme; take smaller ones."
    )
