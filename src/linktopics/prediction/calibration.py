"""Calibration: from scores of a model to probabilities of links in the network.

A model is trained on all links and on a sample of the other pairs, with a cost for each class. Its own probabilities
therefore refer to pairs among which links are far more frequent than in the network. Where a share f of the non-links
was drawn, and links and non-links have the costs c1 and c0, the odds of a link are too high by the factor c1 / (c0 f):

    log-odds in the network = log-odds of the model + log(c0 f / c1)

That holds for a correct model. A topic model is overconfident about documents that it was trained on, so the result is
also measured: some documents are held out, the chains continue for a few sweeps without them, and a monotone curve from
log-odds to log-odds is fitted to their links with all others. Its slopes are shrunk slightly towards 1, which changes
nothing. A curve that rises everywhere keeps the order of candidates.

Where links have a direction, that is done for links out and links in, each on its own. The probability p of a link in
either direction is computed from these two, larger and smaller, and from the reciprocity r between 0 and 1, which is
measured on the same documents:

    p = larger + (1 - r) (1 - larger) smaller

It is at least the larger and at most the sum, whatever r is. With r = 0 links out and in are independent of each other;
with r = 1 the less probable one exists only where the other does. Candidates are ranked by p.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit

from linktopics.network import DocumentNetwork
from linktopics.network.pairs import Direction

Array = NDArray[np.float64]

N_KNOTS = 6
"""Knots of a curve; between them it is straight."""

MIN_SLOPE = 0.02
"""Smallest slope: without one, different scores could become the same probability."""

UNIT_SLOPE_PENALTY, BEND_PENALTY = 1.0, 10.0
"""Penalties per squared difference of a slope from 1, and from the next slope."""

PROBABILITY_EPSILON = 2.0**-53
"""Probabilities nearer to 1 than this are 1 in double precision."""

LOG_ODDS_BINS = np.linspace(-60.0, 60.0, 6001)
"""Edges of the bins in which log-odds of pairs without a link are counted."""


def log_odds(probability: NDArray[np.floating]) -> Array:
    """Return the log-odds of probabilities; they are finite also for 0 and 1."""
    return np.asarray(logit(np.clip(probability, 1e-300, 1.0 - PROBABILITY_EPSILON)))


def either_direction(out: NDArray[np.floating], into: NDArray[np.floating], reciprocity: float = 0.0) -> Array:
    """Return the probability of a link in at least one direction, from the probabilities of both; NaN stays NaN.

    It is never below the larger of the two, nor above their sum or 1, also after rounding; and it rises with both.

    Examples
    --------
    >>> import numpy as np
    >>> either_direction(np.array([0.2, 0.5]), np.array([0.1, 0.5])).round(2).tolist()
    [0.28, 0.75]
    >>> either_direction(np.array([0.2, 0.5]), np.array([0.1, 0.5]), reciprocity=1.0).tolist()
    [0.2, 0.5]
    """
    larger, smaller = np.maximum(out, into), np.minimum(out, into)
    return np.asarray(larger + (1.0 - reciprocity) * (1.0 - larger) * smaller)


@dataclass(frozen=True)
class Curve:
    """A piecewise linear function that rises everywhere.

    Attributes
    ----------
    knots : tuple of float
        Where it bends.
    slopes : tuple of float
        Below the first knot, between knots, and above the last.
    level : float
        Its value at the first knot.

    Examples
    --------
    >>> Curve((0.0, 1.0), (1.0, 0.5, 0.25), 2.0)([-1.0, 0.0, 1.0, 3.0]).tolist()
    [1.0, 2.0, 2.5, 3.0]
    """

    knots: tuple[float, ...]
    slopes: tuple[float, ...]
    level: float

    def __call__(self, x: Any) -> Array:
        """Return the values at x."""
        x, first, last = np.asarray(x, dtype=float), self.knots[0], self.knots[-1]
        result = np.interp(x, self.knots, self._at_knots)
        result += self.slopes[0] * np.minimum(x - first, 0.0)
        result += self.slopes[-1] * np.maximum(x - last, 0.0)
        return np.asarray(result)

    @property
    def _at_knots(self) -> Array:
        return self.level + np.cumsum([0.0, *np.diff(self.knots) * self.slopes[1:-1]])

    @property
    def inverse(self) -> Curve:
        """The inverse function."""
        return Curve(tuple(self._at_knots.tolist()), tuple(1.0 / slope for slope in self.slopes), self.knots[0])


def _extents(x: Array, knots: Sequence[float]) -> Array:
    """Return how far each x goes into each segment, from the first knot on; negative below it."""
    parts = [np.minimum(x - knots[0], 0.0)]
    parts += [np.clip(x - a, 0.0, b - a) for a, b in pairwise(knots)]
    return np.stack([*parts, np.maximum(x - knots[-1], 0.0)], axis=-1)


@dataclass
class HeldOutPairs:
    """Log-odds of pairs of held-out documents, after the correction for sampling.

    Attributes
    ----------
    linked : list of ndarray
        Log-odds of links.
    others : ndarray
        Numbers of other pairs in `LOG_ODDS_BINS`.
    """

    linked: list[Array] = field(default_factory=list)
    others: NDArray[np.int64] = field(default_factory=lambda: np.zeros(len(LOG_ODDS_BINS) - 1, dtype=np.int64))

    def add(self, odds: Array, links: NDArray[np.bool_]) -> None:
        """Add pairs."""
        self.linked.append(odds[links])
        self.others += np.histogram(np.clip(odds[~links], LOG_ODDS_BINS[0], LOG_ODDS_BINS[-1]), LOG_ODDS_BINS)[0]

    @property
    def links(self) -> Array:
        """Log-odds of all links."""
        return np.concatenate([np.empty(0), *self.linked])


def fit_curve(pairs: HeldOutPairs, prevalence: float) -> Curve:
    """Return the curve with which the probabilities fit the held-out pairs best.

    Parameters
    ----------
    pairs : HeldOutPairs
        Pairs with and without a link; there must be some of both.
    prevalence : float
        Share of links among all pairs of the network. The few documents held out may have more or fewer, by chance;
        the curve is raised or lowered accordingly.

    Examples
    --------
    >>> import numpy as np
    >>> rng, pairs = np.random.default_rng(0), HeldOutPairs()
    >>> truth = rng.normal(-3, 2, 100_000)
    >>> pairs.add(2 * truth, rng.random(100_000) < 1 / (1 + np.exp(-truth)))  # twice as large as they should be
    >>> curve = fit_curve(pairs, len(pairs.links) / 100_000)
    >>> curve([-8.0, -4.0, -2.0]).round(1).tolist()
    [-4.0, -2.0, -1.0]
    """
    links, used = pairs.links, pairs.others > 0
    middle, weight = ((LOG_ODDS_BINS[1:] + LOG_ODDS_BINS[:-1]) / 2)[used], pairs.others[used].astype(float)
    knots = np.unique(np.quantile(links, np.linspace(0.05, 0.95, N_KNOTS)).round(3)).tolist()
    of_links, of_others = (np.column_stack([np.ones(len(x)), _extents(x, knots)]) for x in (links, middle))

    def objective(c: Array) -> tuple[float, Array]:
        here, there = of_links @ c, of_others @ c
        away, bends = c[1:] - 1.0, np.diff(c[1:])
        value = -log_expit(here).sum() - weight @ log_expit(-there)
        value += UNIT_SLOPE_PENALTY * away @ away + BEND_PENALTY * bends @ bends
        gradient = weight * expit(there) @ of_others - expit(-here) @ of_links
        gradient[1:] += 2.0 * UNIT_SLOPE_PENALTY * away
        gradient[2:] += 2.0 * BEND_PENALTY * bends
        gradient[1:-1] -= 2.0 * BEND_PENALTY * bends
        return float(value), gradient

    start = np.concatenate([[knots[0]], np.ones(len(knots) + 1)])
    bounds = [(None, None), *[(MIN_SLOPE, None)] * (len(knots) + 1)]
    level, *slopes = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 500}).x
    held_out = len(links) / (len(links) + weight.sum())
    level += float(logit(prevalence) - logit(held_out))
    return Curve(tuple(knots), tuple(map(float, slopes)), float(level))


def fit_curves(found: Mapping[Direction, HeldOutPairs], prevalence: float) -> dict[str, Curve]:
    """Return a curve for each direction; where one has too few links, the same for all; none if all have too few."""
    if min(len(pairs.links) for pairs in found.values()) < MIN_LINKS:
        together = HeldOutPairs(
            [odds for pairs in found.values() for odds in pairs.linked],
            np.sum([pairs.others for pairs in found.values()], axis=0),
        )
        found = dict.fromkeys(found, together)
    if any(len(pairs.links) < MIN_LINKS or not pairs.others.any() for pairs in found.values()):
        return {}
    return {direction: fit_curve(pairs, prevalence) for direction, pairs in found.items()}


def fit_reciprocity(pairs: Iterable[tuple[Array, Array]], mutual: float) -> float:
    """Return the reciprocity with which the expected number of mutually linked pairs is that of the network.

    Parameters
    ----------
    pairs : iterable of (ndarray, ndarray)
        Probabilities of links out and in of held-out documents, in batches.
    mutual : float
        Share of the pairs of the network that are linked in both directions.

    Examples
    --------
    >>> import numpy as np
    >>> out, into = np.array([0.2, 0.4]), np.array([0.1, 0.4])
    >>> fit_reciprocity([(out, into)], mutual=(out * into).mean()), fit_reciprocity([(out, into)], mutual=0.25)
    (0.0, 1.0)
    """
    n, independent, together = 0, 0.0, 0.0
    for out, into in pairs:
        n += out.size
        independent += float((out * into).sum())
        together += float(np.minimum(out, into).sum())
    if together <= independent:
        return 0.0
    return float(np.clip((mutual * n - independent) / (together - independent), 0.0, 1.0))


def sampling_offset(link_cost: float, nonlink_cost: float, *, n_links: int, n_sampled: int, n_unlinked: int) -> float:
    """Return what has to be added to the log-odds of a model for the sampling of non-links and for the costs.

    Parameters
    ----------
    link_cost, nonlink_cost : float
        Weights of links and non-links in the loss.
    n_links, n_sampled, n_unlinked : int
        Numbers of links, of non-links that were trained on, and of all pairs that are not linked. If nothing was
        sampled, or all pairs are linked, the result is 0.

    Examples
    --------
    >>> sampling_offset(4.0, 1.0, n_links=100, n_sampled=50, n_unlinked=5000)
    -5.99...
    """
    if not (n_links and n_sampled and n_unlinked):
        return 0.0
    return float(np.log(nonlink_cost / link_cost * n_sampled / n_unlinked))


@dataclass(frozen=True)
class LinkCalibration:
    """The map from a fitted model's own probabilities to those of links in the network.

    Attributes
    ----------
    offset : float
        What is added to log-odds because only some non-links were trained on, and because classes have costs.
    curves : mapping from str to Curve
        Curves measured on held-out documents, for links "out" and "in"; where links have no direction, only "out".
        Empty if there were too few links to measure anything.
    n_documents, n_links : int
        How many documents were held out, and how many links they have with the others.
    reciprocity : float
        0 if the two directions are independent (or if it was not measured), 1 if the less probable link exists only
        where the other does; see `either_direction`.

    Examples
    --------
    >>> import numpy as np
    >>> found = LinkCalibration(offset=float(np.log(0.01)))
    >>> found.probability(np.array([0.5, 0.99]), "out").round(4).tolist()
    [0.0099, 0.4975]
    >>> found.of_pairs({"out": np.array([0.99]), "in": np.array([0.5])}).round(4).tolist()
    [0.5025]
    """

    offset: float = 0.0
    curves: Mapping[str, Curve] = field(default_factory=dict)
    n_documents: int = 0
    n_links: int = 0
    reciprocity: float = 0.0

    def probability(self, own: NDArray[np.floating], direction: str) -> Array:
        """Return the calibrated probabilities for a model's own, of links "out" or "in"; NaN stays NaN."""
        if not self.offset and not self.curves:
            return np.asarray(own, dtype=np.float64)
        x = log_odds(own) + self.offset
        curve = self.curves.get(direction)
        return np.asarray(expit(x if curve is None else curve(x)))

    def inverse(self, probability: Any, direction: str) -> Array:
        """Return the model's own probabilities for calibrated ones: the inverse of `probability`."""
        x, curve = log_odds(probability), self.curves.get(direction)
        return np.asarray(expit((x if curve is None else curve.inverse(x)) - self.offset))

    def of_pairs(self, own: Mapping[Direction, NDArray[np.floating]]) -> Array:
        """Return the probabilities of links in any of some directions, given the model's own for "out", "in" or both.

        Where links have no direction there is only "out".
        """
        found = {direction: self.probability(one, direction) for direction, one in own.items()}
        if len(found) == 2:
            return either_direction(found["out"], found["in"], self.reciprocity)
        (only,) = found.values()
        return only

    def describe(self) -> str:
        """Return a sentence that says what the probabilities refer to.

        Examples
        --------
        >>> LinkCalibration(offset=-6.0).describe()
        'Probabilities are corrected for sampled non-links, not calibrated on held-out documents; rely on their order.'
        """
        if self.curves:
            return (
                f"Probabilities are for links as rare as in the network, measured on {self.n_documents:,} held-out "
                f"documents with {self.n_links:,} links."
            )
        if self.offset:
            return (
                "Probabilities are corrected for sampled non-links, not calibrated on held-out documents; rely on "
                "their order."
            )
        return "Probabilities refer to the training pairs, not to the network; rely on their order."

    def to_json(self) -> dict[str, Any]:
        """Return the calibration as a dict for JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> LinkCalibration:
        """Return the calibration that `to_json` described.

        Models of earlier versions had a curve for "both", and no reciprocity; the curve is ignored.
        """
        found = msgspec.convert(values, cls)
        curves = {name: curve for name, curve in found.curves.items() if name != "both"}
        for curve in curves.values():
            rising = np.diff(curve.knots) > 0
            sound = np.isfinite([*curve.knots, *curve.slopes, curve.level]).all() and min(curve.slopes) > 0
            if not (rising.all() and sound and len(curve.slopes) == len(curve.knots) + 1 > 1):
                raise ValueError("a curve of the calibration does not rise")
        if not np.isfinite(found.offset):
            raise ValueError("the calibration's offset is not finite")
        if not 0.0 <= found.reciprocity <= 1.0:
            raise ValueError("the calibration's reciprocity is not between 0 and 1")
        return replace(found, curves=curves)


# ----------------------------------------------------------------------------------------------------------------------
# Documents to hold out
# ----------------------------------------------------------------------------------------------------------------------

TARGET_LINKS, MIN_LINKS = 1000, 50
"""Links of held-out documents that are wanted, and the number below which nothing is measured."""

MAX_HELD_OUT_SHARE = 0.2
"""Largest share of the documents that is held out."""

MAX_PAIRS, MIN_HELD_OUT_DOCUMENTS = 10_000_000, 50
"""Most pairs that are measured, unless that would leave fewer documents than this."""


def n_documents_to_hold_out(network: DocumentNetwork) -> int:
    """Return how many documents to hold out; 0 if there are too few links to measure anything.

    Examples
    --------
    >>> from linktopics import datasets
    >>> n_documents_to_hold_out(datasets.make_network(500, random_state=0))
    100
    """
    n, n_links = network.n_documents, network.n_links
    most = int(MAX_HELD_OUT_SHARE * n)
    per_document = 2.0 * n_links / max(n, 1)
    if per_document * most * (1.0 - MAX_HELD_OUT_SHARE) < MIN_LINKS:
        return 0
    wanted = min(most, int(np.ceil(TARGET_LINKS / per_document)))
    return min(most, max(MIN_HELD_OUT_DOCUMENTS, min(wanted, MAX_PAIRS // n)))


def prevalences(network: DocumentNetwork) -> dict[str, float]:
    """Return the share of pairs that are linked, for each direction in use.

    Examples
    --------
    >>> import numpy as np
    >>> from linktopics import DocumentNetwork
    >>> prevalences(DocumentNetwork(np.eye(3, dtype=int), [(0, 1), (1, 0), (1, 2)]))
    {'out': 0.5, 'in': 0.5, 'both': 0.666...}
    """
    n, n_links = network.n_documents, network.n_links
    pairs = n * (n - 1)
    if not network.directed:
        return {"out": 2 * n_links / pairs}
    source, target = network.links.T
    either = len(np.unique(np.minimum(source, target) * n + np.maximum(source, target)))
    return {"out": n_links / pairs, "in": n_links / pairs, "both": 2 * either / pairs}
