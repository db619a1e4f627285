"""The weight step: a draw of the weights from their Gaussian conditional.

The precision of ``vec(U)`` is ``I / variance + sum_e quadratic_e phi_e phi_e^T``, phi_e = zbar_i (x) zbar_j, and its
product with the mean is ``sum_e linear_e phi_e``. Where pairs have features x_e, their weights are drawn together with
U: phi_e is then zbar_i (x) zbar_j followed by x_e. For few topics the matrix is built (grouped by source document) and
factored. For more, the same distribution is drawn from without the matrix: perturb the right-hand side by noise whose
covariance is the precision, and solve by preconditioned conjugate gradients.

The precision is positive definite, but where some pairs have 1e16 times the weight of the prior, its rounded entries
need not be. A factorisation that fails is tried again with `JITTERS`, and then left to conjugate gradients; conjugate
gradients that break down start again with a simpler preconditioner, and then the matrix is built and factored if it is
not too large. Where all this fails, `SamplingError` is raised.

Only sums over pairs are needed, see `PairSums`; each shard computes its own, and they are added here.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from linktopics.errors import SamplingError

Array = NDArray[np.float64]
Operator = Callable[[Array], Array]
CallAll = Callable[..., list[Any]]

CHOLESKY_MAX_TOPICS = 8
"""Up to here the matrix of size K^2 is cheaper to build and factor than a dozen products with it."""

JITTERS = (0.0, 1e-14, 1e-12, 1e-10)
"""Multiples of the diagonal that are added to a precision matrix until it can be factored. The rounding that made it
indefinite is of the size of the first, so no information is lost: with jitter j the draw is from a Gaussian
whose precision is at most 1 + j times too large along any direction that matters, and larger only in directions in
which the diagonal is 1 / j times as large as the precision itself; there the draw is too close to its mean."""

CG_TOLERANCE = 1e-3
"""Error left by conjugate gradients, in standard deviations of the distribution drawn from (root mean square)."""

CG_MAX_ITERATIONS = 1000

FAR_ERROR_RATIO = 1e10
"""A start is far away if its squared error is more than this multiple of the tolerated one."""

MAX_STIFF_PAIRS = 200
"""Most stiff pairs that the preconditioner corrects for one by one."""

DENSE_MAX_TOPICS = 32
"""Up to here the matrix is built where conjugate gradients fail: 8 MB."""


@dataclass
class WeightSampler:
    """Draws the weights of one model, given sums over pairs.

    Parameters
    ----------
    n_topics, n_features : int
        Number of topics, K, and of features of pairs.
    kind : {"full", "diagonal"}
        Which entries of U are free.
    symmetric : bool
        Whether U is symmetric.
    variance : float
        Prior variance of each free weight.
    method : {"auto", "cholesky", "cg"}
        How to draw full weights.
    """

    n_topics: int
    n_features: int
    kind: str
    symmetric: bool
    variance: float
    method: str = "auto"

    def draw(self, call: CallAll, start: Array, feature_start: Array) -> tuple[Array, Array]:
        """Return new weights of topics, K x K, and of features.

        Parameters
        ----------
        call : callable
            ``call(name, *args)`` returns a list with the result of this method of each shard's `PairSums`.
        start : ndarray of shape (K, K)
            The last weights, from which conjugate gradients start.
        feature_start : ndarray of shape (n_features,)
            The last weights of features.
        """
        if self.kind == "diagonal":
            return self._draw_diagonal(call)
        if self.method == "cholesky" or (self.method == "auto" and self.n_topics <= CHOLESKY_MAX_TOPICS):
            return self._draw_cholesky(call)
        return self._draw_cg(call, start, feature_start)

    def _draw_diagonal(self, call: CallAll) -> tuple[Array, Array]:
        K = self.n_topics
        precision, linear_term = _sum_over_shards(call("diagonal"))
        eta = self._draw_dense(call, precision, linear_term, np.diag)
        return np.diag(eta[:K]), eta[K:]

    def _draw_cholesky(self, call: CallAll) -> tuple[Array, Array]:
        K = self.n_topics
        upper = np.triu_indices(K)
        index = np.zeros((K, K), np.int64)
        index[upper] = np.arange(len(upper[0]))
        index = np.maximum(index, index.T)
        # grouped[(k, k'), (l, l')] is the entry of the precision at row (k, l) and column (k', l').
        grouped, linear_term, feature_linear_term, mixed, feature_precision = _sum_over_shards(call("matrices", index))
        precision = grouped[index[:, :, None, None], index[None, None]].transpose(0, 2, 1, 3).reshape(K * K, K * K)
        linear_term, mixed = linear_term.reshape(-1), mixed.reshape(K * K, -1)
        if self.symmetric:
            # A free weight k <= l stands for the entries (k, l) and (l, k): add up their rows and columns.
            one, two = upper[0] * K + upper[1], upper[1] * K + upper[0]
            off = (one != two).astype(float)
            precision = precision[one] + off[:, None] * precision[two]
            precision = precision[:, one] + off * precision[:, two]
            linear_term = linear_term[one] + off * linear_term[two]
            mixed = mixed[one] + off[:, None] * mixed[two]
        precision = np.block([[precision, mixed], [mixed.T, feature_precision]])
        linear_term = np.append(linear_term, feature_linear_term)
        places = upper if self.symmetric else np.indices((K, K))
        free = self._draw_dense(call, precision, linear_term, lambda sums: self._fold(sums)[tuple(places)].reshape(-1))
        n = len(free) - self.n_features
        return np.asarray(free[:n][index] if self.symmetric else free[:n].reshape(K, K)), free[n:]

    def _draw_dense(self, call: CallAll, precision: Array, linear_term: Array, free: Operator) -> Array:
        """Return a draw from N(Lambda^-1 linear_term, Lambda^-1), where the matrix Lambda is precision + I / variance.

        It is drawn by Cholesky factors with the least of `JITTERS` that suffices; where none does, by conjugate
        gradients. `free` takes the free weights out of a sum over pairs, K x K.
        """
        precision = precision + np.eye(len(precision)) / self.variance
        if not (np.isfinite(precision).all() and np.isfinite(linear_term).all()):
            raise _out_of_range("the sums over pairs are not finite")
        noise = call("noise", len(linear_term))[0]  # of the first shard
        for jitter in JITTERS:
            found = _factor(precision, jitter)
            if found is not None:
                half = solve_triangular(found[0], linear_term, lower=True, check_finite=False) + noise
                drawn = solve_triangular(found[0], half, lower=True, trans=1, check_finite=False)
                if np.isfinite(drawn).all():
                    return np.asarray(drawn)
        perturbed, of_features = _sum_over_shards(call("perturbed"))
        right = np.append(free(perturbed), of_features) + noise / np.sqrt(self.variance)
        diagonal = np.diag(precision)
        solved = _conjugate_gradients(
            lambda x: precision @ x, right, np.zeros(len(right)), lambda r: r / diagonal, np.ones(len(right))
        )
        if solved is None:
            raise _out_of_range("their precision is not positive definite, and conjugate gradients fail, too")
        return solved

    def _draw_cg(self, call: CallAll, start: Array, feature_start: Array) -> tuple[Array, Array]:
        K, F = self.n_topics, self.n_features
        sums, stiff, noises = zip(*call("to_solve", K * K + F, MAX_STIFF_PAIRS), strict=True)
        linear_term, feature_linear_term, *margins, feature_precision = _sum_over_shards(list(sums))
        noise = noises[0] / np.sqrt(self.variance)
        prior = noise[: K * K].reshape(K, K)
        if self.symmetric:
            prior = np.triu(prior) + np.triu(prior, 1).T
        goal = np.append(self._fold(linear_term) + prior, feature_linear_term + noise[K * K :])
        if not (np.isfinite(goal).all() and all(np.isfinite(part).all() for part in [*margins, feature_precision])):
            raise _out_of_range("the sums over pairs are not finite")
        feature_precision = feature_precision + np.eye(F) / self.variance

        # A vector of unknowns is U, row by row, and then the weights of features.
        def multiply(x: Array) -> Array:
            of_topics, of_features = _sum_over_shards(call("product", x[: K * K].reshape(K, K), x[K * K :]))
            return np.append(self._fold(of_topics), of_features) + x / self.variance

        measure = np.append(self._entry_weights(), np.ones(F))
        for n_stiff in (MAX_STIFF_PAIRS, 0):
            solve_topics = self._preconditioner(margins, list(stiff), n_stiff)
            solve_features = _inverse(feature_precision, plain=n_stiff == 0)

            def precondition(r: Array, topics: Operator = solve_topics, features: Array = solve_features) -> Array:
                return np.append(topics(r[: K * K].reshape(K, K)), features @ r[K * K :])

            x = _conjugate_gradients(multiply, goal, np.append(start, feature_start), precondition, measure)
            if x is not None:
                U = x[: K * K].reshape(K, K)
                return 0.5 * (U + U.T) if self.symmetric else U, x[K * K :]  # symmetric but for rounding
        if K > DENSE_MAX_TOPICS:
            raise _out_of_range(f"conjugate gradients left an error after {CG_MAX_ITERATIONS} iterations")
        return self._draw_cholesky(call)

    def _fold(self, gradient: Array) -> Array:
        """Return, as a matrix, the gradient over the free weights that belongs to a gradient over all entries of U."""
        if not self.symmetric:
            return gradient
        return gradient + gradient.T - np.diag(np.diag(gradient))

    def _entry_weights(self) -> Array:
        """Return the weight of each entry in inner products: a symmetric matrix holds off-diagonal weights twice."""
        if not self.symmetric:
            return np.ones((self.n_topics, self.n_topics))
        return 0.5 + 0.5 * np.eye(self.n_topics)

    def _preconditioner(
        self, margins: list[Array], stiff: list[tuple[Array, Array, Array]], max_stiff: int
    ) -> Operator:
        """Return the inverse of an approximate precision: as if linked documents were no more alike than others.

        That is a Kronecker product, scaled so that its diagonal is that of the precision: documents that are linked do
        have topics in common. The curvature of stiff pairs is capped at the limit, and the stiffest, at most
        `max_stiff`, are corrected by Woodbury's formula. Over symmetric matrices, off-diagonal entries count twice in
        the data and once in the prior, hence the half.
        """
        symmetric = self.symmetric
        left, right, total, diagonal = margins
        if symmetric:
            left = right = 0.5 * (left + right)
            diagonal = 0.5 * (diagonal + diagonal.T)
        left_values, left_vectors = np.linalg.eigh(left)
        right_values, right_vectors = np.linalg.eigh(right)
        prior = 1.0 / self.variance * (0.5 if symmetric else 1.0)
        total = np.maximum(total, np.finfo(float).tiny)
        inverse = 1.0 / (np.maximum(np.outer(left_values, right_values), 0.0) / total + prior)
        scale = np.sqrt((diagonal + prior) / (np.outer(np.diag(left), np.diag(right)) / total + prior))
        measure = self._entry_weights()

        excess, sources, targets = (np.concatenate(arrays) for arrays in zip(*stiff, strict=True))
        n_stiff = min(len(excess), max_stiff)
        most = np.argsort(excess, kind="stable")[len(excess) - n_stiff :]
        phi = sources[most][:, :, None] * targets[most][:, None, :] / scale
        phi = left_vectors.T @ phi @ right_vectors
        if symmetric:
            phi = 0.5 * (phi + phi.transpose(0, 2, 1))
        scaled = (phi * inverse).reshape(n_stiff, inverse.size)
        inner = np.diag(1.0 / excess[most]) + scaled @ phi.reshape(n_stiff, inverse.size).T
        factor = _factor(inner) if n_stiff else None

        def apply(residual: Array) -> Array:
            rotated = left_vectors.T @ (measure * residual / scale) @ right_vectors
            solved = inverse * rotated
            if factor is not None:
                correction = scaled.T @ cho_solve(factor, scaled @ rotated.reshape(-1), check_finite=False)
                solved -= correction.reshape(solved.shape)
            return np.asarray(left_vectors @ solved @ right_vectors.T / scale)

        return apply


def _sum_over_shards(parts: list[tuple[Array, ...]]) -> list[Array]:
    """Return the sums of what shards returned, added in their order."""
    return [sum(arrays[1:], start=arrays[0]) for arrays in zip(*parts, strict=True)]


def _inverse(matrix: Array, plain: bool) -> Array:
    """Return the inverse; that of the diagonal alone if `plain`, or if the matrix has none."""
    if not plain:
        with suppress(np.linalg.LinAlgError):
            return np.asarray(np.linalg.inv(matrix))
    return np.diag(1.0 / np.diag(matrix))


def _factor(matrix: Array, jitter: float = 0.0) -> tuple[Array, bool] | None:
    """Return the Cholesky factor as `cho_solve` takes it, of the matrix with `jitter` times its diagonal added to it.

    Return None if it is not positive definite.
    """
    if jitter:
        matrix = matrix + np.diag(jitter * np.diag(matrix))
    with suppress(np.linalg.LinAlgError):
        return cho_factor(matrix, lower=True, check_finite=False)
    return None


def _out_of_range(what: str) -> SamplingError:
    return SamplingError(
        f"the weights could not be drawn: {what}. Costs, the margin or the weight variance are extreme; use smaller "
        "costs and a smaller variance."
    )


def _conjugate_gradients(
    multiply: Operator, right: Array, start: Array, precondition: Operator, measure: Array
) -> Array | None:
    """Return x with ``multiply(x) = right``, to a small part of a standard deviation; None if that fails.

    The error d of a solution has d^T Lambda d = r^T Lambda^-1 r, about r^T M^-1 r for the preconditioner M; for a
    draw's own deviation from the mean, the expected value of the same form is the number of weights. It fails if too
    many iterations are needed, or if rounding has made one of the two matrices indefinite: then the computed error is
    negative or NaN.
    """
    x = start.copy()
    residual = right - multiply(x)
    bound = CG_TOLERANCE**2 * measure.sum()
    direction = z = precondition(residual)
    error = float((measure * residual * z).sum())
    far = error > FAR_ERROR_RATIO * bound
    for _ in range(CG_MAX_ITERATIONS):
        if 0 <= error <= bound:
            # From far away the rounding of the first product matters: start again from here.
            return _conjugate_gradients(multiply, right, x, precondition, measure) if far else x
        image = multiply(direction)
        curvature = float((measure * direction * image).sum())
        if not (0 < error < np.inf and 0 < curvature < np.inf):
            return None
        step = error / curvature
        x += step * direction
        residual = residual - step * image
        z = precondition(residual)
        error, last = float((measure * residual * z).sum()), error
        direction = z + (error / last) * direction
    return None
