"""Whether ranks are uniform: chi-square over bins, and the empirical distribution with simultaneous bands.

The bands are those of Säilynoja, Bürkner and Vehtari (2022), "Graphical test for discrete uniformity and its
applications in goodness-of-fit evaluation and multiple sample comparison": pointwise binomial intervals, made so wide
that a sample of uniform ranks stays within all of them with the probability asked for, found by simulation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

SIMULATIONS = 20_000
BINS = 16

Array = NDArray[np.float64]


def rank(truth: float, draws: ArrayLike, rng: np.random.Generator) -> int:
    """Return how many draws are below the truth; of those that equal it, a random number are."""
    draws = np.asarray(draws)
    return int((draws < truth).sum() + rng.integers((draws == truth).sum() + 1))


@dataclass(frozen=True)
class Uniformity:
    """What was found about n ranks of which each should be uniform on 0 ... n_draws.

    Attributes
    ----------
    mean, spread : float
        Mean of the ranks as a share of `n_draws`, and their standard deviation as a multiple of what it should be.
        Below 1 draws are spread too widely, above 1 too narrowly.
    chi_square, ecdf : float
        p-values: of the chi-square test over `BINS` bins, and of the largest departure of the empirical distribution.
    """

    mean: float
    spread: float
    chi_square: float
    ecdf: float


def uniformity(ranks: ArrayLike, n_draws: int) -> Uniformity:
    """Test whether ranks are uniform on 0 ... n_draws, n_draws + 1 being a multiple of the number of bins."""
    ranks = np.asarray(ranks)
    found = np.bincount(ranks, minlength=n_draws + 1)
    departure = _departures(found[None], len(ranks))[0]
    at_least = (_null(len(ranks), n_draws) <= departure * (1 + 1e-9)).mean()
    expected = np.sqrt(((n_draws + 1) ** 2 - 1) / 12)
    return Uniformity(
        mean=float(ranks.mean() / n_draws),
        spread=float(np.sqrt(((ranks - n_draws / 2) ** 2).mean()) / expected),
        chi_square=float(stats.chisquare(found.reshape(BINS, -1).sum(axis=1)).pvalue),
        ecdf=float(max(at_least, 1 / SIMULATIONS)),
    )


def band(n: int, n_draws: int, confidence: float = 0.95) -> tuple[Array, Array]:
    """Return lower and upper limits of the empirical distribution minus the uniform one, at ranks 0 ... n_draws - 1."""
    level = np.quantile(_null(n, n_draws), 1 - confidence)
    share = np.arange(1, n_draws + 1) / (n_draws + 1)
    limits = [stats.binom.ppf(tail, n, share) / n - share for tail in (level / 2, 1 - level / 2)]
    return limits[0], limits[1]


@cache
def _null(n: int, n_draws: int) -> Array:
    """Return departures of samples of n uniform ranks."""
    rng = np.random.default_rng(0)
    found = rng.multinomial(n, np.full(n_draws + 1, 1 / (n_draws + 1)), size=SIMULATIONS)
    return _departures(found, n)


def _departures(found: NDArray[np.int64], n: int) -> Array:
    """Return the smallest two-sided binomial p-value of the ranks up to each, for numbers of each rank, by row."""
    below = np.cumsum(found, axis=1)[:, :-1]
    n_draws = below.shape[1]
    return np.asarray(_two_sided(n, n_draws)[below, np.arange(n_draws)].min(axis=1))


@cache
def _two_sided(n: int, n_draws: int) -> Array:
    """Return binomial p-values, by the number of ranks up to one, and by that rank."""
    number, share = np.arange(n + 1)[:, None], np.arange(1, n_draws + 1) / (n_draws + 1)
    return np.asarray(2 * np.minimum(stats.binom.cdf(number, n, share), stats.binom.sf(number - 1, n, share)))
