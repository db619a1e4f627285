"""Polya-Gamma variates for any real shape.

The package polyagamma draws exactly for whole shapes by Devroye's method, a sum over the shape, and by the saddle-point
method where shapes are large. Its methods for small or fractional shapes are off by up to 4 % in the variance (shape
2.5, score 0) and 1 % in the mean, so the fractional part of a shape is drawn here, as a sum of gamma variates.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from polyagamma import random_polyagamma

__all__ = ["draw_polya_gamma"]

Array = NDArray[np.float64]

LARGE = 20
"""Above this shape the saddle-point method is used; its moments cannot be told from the true ones there."""

TERMS = 10
"""Terms of the infinite sum that are drawn one by one."""


def draw_polya_gamma(shape: Array, score: Array, rng: np.random.Generator) -> Array:
    """Draw from PG(shape, score), elementwise.

    Parameters
    ----------
    shape, score : ndarray of shape (n,)
        Parameters; shapes are positive.
    rng : numpy.random.Generator
        Source of randomness.

    Examples
    --------
    >>> import numpy as np
    >>> draws = draw_polya_gamma(np.full(100_000, 2.5), np.zeros(100_000), np.random.default_rng(0))
    >>> round(float(draws.mean()), 2)  # 2.5 / 4
    0.63
    """
    result = np.zeros(len(shape))
    whole = np.floor(shape)
    for part, value, method in (
        (np.flatnonzero(whole > LARGE), shape, "saddle"),
        (np.flatnonzero((whole > 0) & (whole <= LARGE)), whole, "devroye"),
    ):
        if len(part):
            result[part] = random_polyagamma(value[part], score[part], method=method, random_state=rng)
    part = np.flatnonzero((shape > whole) & (whole <= LARGE))
    if len(part):
        result[part] += _draw_fraction(shape[part] - whole[part], score[part], rng)
    return result


def _draw_fraction(shape: Array, score: Array, rng: np.random.Generator) -> Array:
    """Draw PG(shape, score) = sum_m gamma_m(shape) / (2 pi^2 ((m - 1/2)^2 + (score / 2 pi)^2)).

    The sum of all terms beyond `TERMS` is drawn as one gamma variate of the same mean and variance. It has some 1 % of
    the mean and 1e-4 of the variance.
    """
    a = np.abs(score) / (2 * np.pi)
    result = np.zeros(len(shape))
    # Mean of all terms at shape 1, tanh(score / 2) / (2 score); the terms drawn are subtracted below.
    rest = np.where(a > 1e-4, np.tanh(np.pi * a) / np.maximum(4 * np.pi * a, 1e-6), 0.25)
    for m in range(1, TERMS + 1):
        scale = 1.0 / (2 * np.pi**2 * ((m - 0.5) ** 2 + a**2))
        result += scale * rng.standard_gamma(shape)
        rest -= scale
    # Variance of the rest at shape 1: the sum of squared scales, as an integral from TERMS to infinity.
    r = np.maximum(a / TERMS, 1e-2)
    variance = (np.arctan(r) / r - 1 / (1 + r**2)) / (2 * r**2) / TERMS**3 / (4 * np.pi**4)
    return np.asarray(result + rng.standard_gamma(shape * rest**2 / variance) * variance / rest)
