"""Chains that are stuck far below the others, which predictions leave out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student

from linktopics.diagnostics import MIN_DRAWS, R_HAT_LIMIT, r_hat

LOG_JOINT_DEVIATIONS = 1.5
"""A chain is stuck if its mean log joint is below that of the others by more than this many standard deviations of the
log joint from sweep to sweep."""

FALSE_ALARMS = 0.005
"""Probability that a fit leaves out a chain although all chains are alike and have only settled in different modes."""


@dataclass(frozen=True)
class StuckChain:
    """A chain that predictions leave out.

    Attributes
    ----------
    chain : int
        Index of the chain, from 0.
    below : float
        How far its mean log joint is below that of the chains that are kept, in nats.
    limit : float
        The distance above which a chain counts as stuck, in nats.
    """

    chain: int
    below: float
    limit: float


def stuck_chains(log_joint: ArrayLike) -> list[StuckChain]:
    """Return the chains whose log joint is far below that of all others during all of the sampling.

    Chains are sorted by mean log joint, highest first. A chain is stuck, and so are those below it, if its mean is
    below that of the chains above it by more than

    - 1.5 times their standard deviation from sweep to sweep, if the chains above it agree (R-hat up to 1.1): they have
      found the same mode, and it has not;
    - the prediction limit of Student's t for one more chain like them, if they do not agree: they have settled in
      different modes, and it is below those that could be expected. A fit of n chains that are all alike loses one by
      chance in 0.5 % of cases. The limit is never less than 1.5 standard deviations.

    Both scales are estimated from the chains, so the size of the data does not matter. More than half of the chains are
    always kept, because nothing shows which of two chains is stuck.

    Parameters
    ----------
    log_joint : array-like of shape (n_chains, n_draws)
        Log joint after every sweep, without burn-in.

    Returns
    -------
    list of StuckChain
        The chains that are stuck, by number; empty for fewer than three chains or four draws.

    Examples
    --------
    >>> import numpy as np
    >>> draws = np.random.default_rng(0).normal(-1000.0, 5.0, size=(4, 200))
    >>> stuck_chains(draws)
    []
    >>> [(one.chain, round(one.below)) for one in stuck_chains(draws - [[0], [0], [17], [0]])]
    [(2, 17)]
    """
    draws = np.asarray(log_joint, dtype=np.float64)
    n = len(draws)
    if n < 3 or draws.shape[1] < MIN_DRAWS or not np.isfinite(draws).all():
        return []
    means = draws.mean(axis=1)
    order = np.argsort(-means, kind="stable")
    for place in range(n // 2 + 1, n):
        above, rest = order[:place], order[place:]
        level = means[above].mean()
        limit = LOG_JOINT_DEVIATIONS * float(np.median(draws[above].std(axis=1, ddof=1)))
        if r_hat(draws[above]) > R_HAT_LIMIT:
            spread = means[above].std(ddof=1) * np.sqrt(1 + 1 / place)
            limit = max(limit, float(student.ppf(1 - FALSE_ALARMS / n, place - 1) * spread))
        if level - means[rest[0]] > max(limit, 1.0):  # gaps below a nat are ignored, even of constant chains
            return [StuckChain(int(chain), float(level - means[chain]), max(limit, 1.0)) for chain in np.sort(rest)]
    return []


def named_chains(numbers: Iterable[int]) -> str:
    """Return names of chains for a sentence, counted from 1 as in plots.

    Examples
    --------
    >>> named_chains([2]), named_chains([0, 2, 5])
    ('chain 3', 'chains 1, 3 and 6')
    """
    listed = [str(number + 1) for number in numbers]
    return f"chain{'s' if len(listed) > 1 else ''} {_listed(listed)}"


def describe_stuck_chains(stuck: list[StuckChain]) -> str:
    """Return a sentence about the chains that are left out, and why."""
    is_, its = ("are", "their") if len(stuck) > 1 else ("is", "its")
    return (
        f"{named_chains(one.chain for one in stuck).capitalize()} {is_} stuck and left out of predictions: after the "
        f"burn-in {its} mean log joint is {_listed(f'{one.below:,.1f}' for one in stuck)} below that of the other "
        f"chains, whose spread explains at most {stuck[0].limit:,.1f}."
    )


def _listed(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
