"""Polya-Gamma variates for any real shape and score.

Whole shapes are drawn by Devroye's method, a sum over the shape, in a kernel that is faster than the
package polyagamma. Large shapes are drawn by that package, by the saddle-point method. Its methods for fractional
shapes are off by up to 5 % in the variance and 1 % in the mean (shape 2.5 or 3.5, score 0), and the saddle point breaks
at large scores (from 30) and at very large shapes (from 1e8 it rejects all its proposals at some scores and never
returns). So the fractional part of a shape is drawn here as a sum of gamma variates, large scores from the inverse
Gaussian that is the limit there, and very large shapes from the inverse Gaussian of the same mean and
variance.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from polyagamma import random_polyagamma

from linktopics.errors import SamplingError
from linktopics.kernels.polya_gamma import TABLE_STEPS, add_polya_gamma, upper_part

Array = NDArray[np.float64]

LARGE_SHAPE = 20
"""Above this shape the saddle-point method is used; its moments cannot be distinguished from the true ones there."""

SADDLE_MAX_SHAPE = 1e6
"""Above this shape the inverse Gaussian of the same mean and variance is used: by the central limit theorem its
distribution function is off by less than 1e-4. The saddle-point method takes more and more proposals from 1e7 on."""

LARGE_SCORE = 20.0
"""Above this score PG(shape, score) is inverse Gaussian but for a relative error of about shape * exp(-score)."""

N_GAMMA_TERMS = 10
"""Terms of the infinite sum that are drawn one by one."""


def draw_polya_gamma(shape: Array, score: Array, rng: np.random.Generator) -> Array:
    """Return draws from PG(shape, score), elementwise.

    Parameters
    ----------
    shape, score : ndarray of shape (n,)
        Parameters; shapes are positive.
    rng : numpy.random.Generator
        Source of randomness.

    Raises
    ------
    SamplingError
        If a score is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> draws = draw_polya_gamma(np.full(100_000, 2.5), np.zeros(100_000), np.random.default_rng(0))
    >>> round(float(draws.mean()), 2)  # 2.5 / 4
    0.63
    """
    result = np.zeros(len(shape))
    score = np.abs(score)
    whole = np.floor(shape)
    moderate = score <= LARGE_SCORE
    few = moderate & (whole <= LARGE_SHAPE)
    part = np.flatnonzero(~moderate)
    if not np.isfinite(score[part]).all():
        raise SamplingError(
            "the augmented variables could not be drawn: the scores of pairs are not finite. Weights or features of "
            "pairs are extreme, or topics are NaN."
        )
    result[part] = rng.wald(shape[part] / (2 * score[part]), shape[part] ** 2 / 4)
    huge = moderate & (whole > SADDLE_MAX_SHAPE)
    result[huge] = _draw_huge(shape[huge], score[huge], rng)
    part = np.flatnonzero(moderate & ~few & ~huge)
    if len(part):
        result[part] = random_polyagamma(shape[part], score[part], method="saddle", random_state=rng)
    add_polya_gamma(np.where(few, whole, 0.0), score, _upper_parts(), rng, result)
    part = np.flatnonzero(few & (shape > whole))
    result[part] += _draw_fraction(shape[part] - whole[part], score[part], rng)
    return result


@cache
def _upper_parts() -> Array:
    """Return the kernel's table for all scores that it is used for."""
    return np.array([upper_part(step / TABLE_STEPS) for step in range(int(LARGE_SCORE / 2 * TABLE_STEPS) + 2)])


def _draw_huge(shape: Array, score: Array, rng: np.random.Generator) -> Array:
    """Return draws from the inverse Gaussian that has the mean and the variance of PG(shape, score)."""
    z = np.maximum(score, 1e-4)  # below, neither moment changes by more than 1e-9 of itself
    mean = shape * np.tanh(z / 2) / (2 * z)
    variance = shape * (np.sinh(z) - z) / (4 * z**3 * np.cosh(z / 2) ** 2)
    return rng.wald(mean, mean * (mean * mean / variance))


def _draw_fraction(shape: Array, score: Array, rng: np.random.Generator) -> Array:
    """Return draws from PG(shape, score) = sum_m gamma_m(shape) / (2 pi^2 ((m - 1/2)^2 + (score / 2 pi)^2)).

    The sum of all terms beyond `N_GAMMA_TERMS` is drawn as one gamma variate of the same mean and variance. At
    score 0 it has 2 % of the mean and 1e-4 of the variance.
    """
    a = score / (2 * np.pi)
    result = np.zeros(len(shape))
    # Mean of all terms at shape 1, tanh(score / 2) / (2 score); the terms drawn are subtracted below.
    rest = np.where(a > 1e-4, np.tanh(np.pi * a) / np.maximum(4 * np.pi * a, 1e-6), 0.25)
    for m in range(1, N_GAMMA_TERMS + 1):
        scale = 1.0 / (2 * np.pi**2 * ((m - 0.5) ** 2 + a**2))
        result += scale * rng.standard_gamma(shape)
        rest -= scale
    # Variance of the rest at shape 1: the sum of squared scales, as an integral from N_GAMMA_TERMS to infinity.
    r = np.maximum(a / N_GAMMA_TERMS, 1e-2)
    variance = (np.arctan(r) / r - 1 / (1 + r**2)) / (2 * r**2) / N_GAMMA_TERMS**3 / (4 * np.pi**4)
    return np.asarray(result + rng.standard_gamma(shape * rest**2 / variance) * variance / rest)
