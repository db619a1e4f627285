"""The best candidates of new documents among all training documents, exactly, and the probabilities of single pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linktopics.features import FeatureSet
from linktopics.network.pairs import Direction
from linktopics.prediction.calibration import LinkCalibration
from linktopics.prediction.scoring import pair_scores, project, tile_scores
from linktopics.sampler.losses import Loss
from linktopics.sampler.runner import PosteriorSample

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

ByDirection = dict[Direction, Array]
"""Features or probabilities of pairs for each direction in use: "out" for links from the new document, "in" to it."""

Columns = dict[Direction, dict[int, Array]]
"""Features of pairs for each direction, by column: documents x candidates."""

LeftOut = Sequence[Indices] | None
"""For each of some new documents, the candidates that are left out."""

DIRECTIONS: tuple[Direction, Direction] = ("out", "in")

TILE_CELLS, TILE_SCORES = 2**16, 2**18
"""Documents x candidates, and samples x directions of these, whose single-precision scores are in the processor's cache
at once."""

ROUNDING_ERROR = float(np.finfo(np.float32).eps) / 2

PROBABILITY_TOLERANCE = 1e-15
"""Probabilities that differ by less may be equal, or in reverse order, in double precision."""


@dataclass(frozen=True)
class NewDocuments:
    """New documents, or training documents treated as new.

    Attributes
    ----------
    n_documents : int
        Their number.
    shares : list of ndarray
        Their topics in each sample.
    prepared : list
        What features need of them.
    known : ndarray of int64 or None
        The training documents that they are; None if they are new.
    """

    n_documents: int
    shares: list[NDArray[np.float32]]
    prepared: list[Any]
    known: Indices | None = None


@dataclass(frozen=True)
class Shortlist:
    """Pairs that include the best of some new documents, by document and then by candidate."""

    rows: Indices
    candidates: Indices
    features: ByDirection

    def part(self, which: Any) -> Shortlist:
        """Return some of the pairs."""
        values = {direction: x[which] for direction, x in self.features.items()}
        return Shortlist(self.rows[which], self.candidates[which], values)

    @classmethod
    def joined(cls, parts: Sequence[Shortlist]) -> Shortlist:
        """Return the pairs of several lists, whose features are for the same directions."""
        rows, candidates = ([getattr(part, end) for part in parts] for end in ("rows", "candidates"))
        features = {one: np.concatenate([part.features[one] for part in parts]) for one in parts[0].features}
        return cls(np.concatenate(rows), np.concatenate(candidates), features)


def blocks_of(n_documents: int, width: int, cells: int) -> list[slice]:
    """Return slices of documents, each with about `cells` cells, `width` for each document."""
    step = max(1, cells // max(width, 1))
    return [slice(first, min(first + step, n_documents)) for first in range(0, n_documents, step)]


def best_of_each(rows: Indices, candidates: Indices, probability: Array, top: Any) -> Indices:
    """Return the indices of the most probable pairs of each document, best first; of equals, the first candidate.

    Documents have numbers `rows`; `top` is how many of each, or an array with how many of each pair's document.
    """
    order = np.lexsort((candidates, -probability, rows))
    place = np.arange(len(order)) - np.searchsorted(rows[order], rows[order])
    return order[place < (top if np.ndim(top) == 0 else top[order])]


def interval_of(by_sample: Array, mass: float) -> tuple[Array, Array]:
    """Return the ends of the central range that holds a share `mass` of the samples, of probabilities samples x pairs.

    As many samples are below as above. With a single sample, both ends are NaN.
    """
    if len(by_sample) == 1:
        return np.full(by_sample.shape[1], np.nan), np.full(by_sample.shape[1], np.nan)
    tail = (1.0 - mass) / 2.0
    lower, upper = np.quantile(by_sample, [tail, 1.0 - tail], axis=0)
    return lower, upper


def pair_topics(
    samples: Sequence[PosteriorSample], shares: Sequence[NDArray[np.floating]], pairs: Shortlist
) -> tuple[Array, Indices, Array]:
    """Return the topics of new documents, which of them each pair has, and the topics of its candidate, by sample."""
    old = np.stack([sample.doc_topic[pairs.candidates] for sample in samples]).astype(float)
    distinct, rows = np.unique(pairs.rows, return_inverse=True)
    return np.stack([own[distinct] for own in shares]).astype(float), rows, old


def pair_probabilities(
    loss: Loss, samples: Sequence[PosteriorSample], shares: Sequence[NDArray[np.float32]], pairs: Shortlist
) -> ByDirection:
    """Return the probabilities of links of pairs, samples x pairs, for each direction that they have features for.

    All samples are handled at once, so there are samples x pairs x topics in memory.
    """
    new, rows, old = pair_topics(samples, shares, pairs)
    U = np.stack([sample.weights for sample in samples])
    tau = np.stack([sample.feature_weights for sample in samples])
    return {
        direction: loss.probability(pair_scores(new, rows, old, U, values, tau, direction))
        for direction, values in pairs.features.items()
    }


class ExactSearch:
    """Finds the best of all candidates: ranks them in single precision, and keeps all that rounding may have misplaced.

    Candidates are compared by the probability that there is *no* link, which single precision can distinguish even
    where links are almost certain. Its relative error is bounded by that of the scores, so a candidate that is worse
    than the last one wanted by more than twice the bound cannot be among the best; all others are shortlisted. For
    links in either direction there are two such probabilities, and candidates are compared by the calibrated
    probability of both together. It increases with each of them, so their bounds give its bounds.

    Parameters
    ----------
    samples : list of PosteriorSample
        Samples over which probabilities are averaged.
    features : FeatureSet
        The features of pairs.
    loss : Loss
        The loss, which turns scores into probabilities.
    calibration : LinkCalibration
        The map from these to probabilities in the network. It keeps the order within one direction.
    """

    def __init__(
        self, samples: list[PosteriorSample], features: FeatureSet, loss: Loss, calibration: LinkCalibration
    ) -> None:
        self.samples, self.features, self.loss, self.calibration = samples, features, loss, calibration
        self.n_candidates = len(samples[0].doc_topic)
        self._everyone = np.arange(self.n_candidates)
        self._weights = np.stack([sample.weights for sample in samples])
        self._feature_weights = np.stack([sample.feature_weights for sample in samples])
        self.of_candidates = [k for k, feature in enumerate(features.features) if feature.of_candidate]
        self.of_pairs = [k for k, feature in enumerate(features.features) if not feature.of_candidate]
        symmetric = [feature.symmetric for feature in features.features for _ in feature.columns]
        self.symmetric = set(np.flatnonzero(symmetric).tolist())

    @property
    def width(self) -> int:
        """Number of array entries that a new document needs."""
        per_direction = sum(len(self.features.features[k].columns) for k in self.of_pairs)
        return self.n_candidates * (2 + 2 * per_direction)

    @cached_property
    def constants(self) -> dict[Direction, tuple[dict[int, Array], NDArray[np.float32]]]:
        """Features that depend on the candidate only, by direction: their columns, and their contribution to scores."""
        result: dict[Direction, tuple[dict[int, Array], NDArray[np.float32]]] = {}
        for direction in DIRECTIONS:
            new, outgoing = [None] * len(self.features.features), direction == "out"
            found = self.features.by_column(new, slice(0, 1), self._everyone, outgoing, self.of_candidates)
            by_column = {column: values[0] for column, values in found.items()}
            added = np.zeros((len(self.samples), self.n_candidates), np.float32)
            for s, sample in enumerate(self.samples):
                added[s] = sum(sample.feature_weights[c] * values for c, values in by_column.items())
            result[direction] = by_column, added
        return result

    def shortlist(
        self, new: NewDocuments, rows: slice, directions: Sequence[Direction], top: int, left_out: LeftOut = None
    ) -> Shortlist:
        """Return pairs among which are the `top` best of some new documents, but for candidates left out of each."""
        by_column = self._by_column(new, rows, directions)
        absent, error = self._absent(new, rows, by_column)
        for i, candidates in enumerate(left_out or []):
            absent[:, i, candidates] = np.inf
        kept = [self.not_worse(absent[:, i], top, float(e)) for i, e in enumerate(error)]
        where = np.repeat(np.arange(len(kept)), [len(one) for one in kept])
        candidates = np.concatenate(kept)
        values: ByDirection = {}
        for direction, columns in by_column.items():
            values[direction] = np.empty((len(where), len(self.features.mean)))
            for column, known in columns.items():
                values[direction][:, column] = known[where, candidates]
            for column, constant in self.constants[direction][0].items():
                values[direction][:, column] = constant[candidates]
        return Shortlist(where + rows.start, candidates, values)

    def _by_column(self, new: NewDocuments, rows: slice, directions: Sequence[Direction]) -> Columns:
        """Return features of pairs for each direction, by column: documents x candidates."""
        first = self.features.by_column(new.prepared, rows, self._everyone, directions[0] == "out", self.of_pairs)
        result = {directions[0]: first}
        others = [k for k in self.of_pairs if not self.features.features[k].symmetric]
        for direction in directions[1:]:
            own = self.features.by_column(new.prepared, rows, self._everyone, direction == "out", others)
            result[direction] = {**first, **own}
        return result

    def _absent(self, new: NewDocuments, rows: slice, by_column: Columns) -> tuple[NDArray[np.float32], Array]:
        """Return probabilities of no link in single precision, averaged over samples, and the error of a score.

        The former are directions x documents x candidates.
        """
        n, n_columns = rows.stop - rows.start, len(self.features.mean)
        shares = np.stack([own[rows] for own in new.shares]).astype(float)
        projected = np.empty((len(self.samples), len(by_column), n, shares.shape[2]), np.float32)
        error = np.zeros(n)
        for place, (direction, columns) in enumerate(by_column.items()):
            toward = project(shares, self._weights, direction)
            projected[:, place] = toward
            size = np.abs(toward).max(axis=2) + np.abs(self.constants[direction][1]).max(axis=1, initial=0.0)[:, None]
            for c, x in columns.items():
                size += np.abs(self._feature_weights[:, c, None]) * np.maximum(x.max(axis=1), -x.min(axis=1))
            # Shares of topics sum to one. The bound is doubled to cover terms of higher order.
            error = np.maximum(error, 2 * ROUNDING_ERROR * (toward.shape[2] + n_columns + 8) * size.max(axis=0))
        result = np.empty((len(by_column), n, self.n_candidates), np.float32)
        for tile in blocks_of(self.n_candidates, n, TILE_CELLS):
            result[:, :, tile] = self._tile(projected, by_column, tile)
        return result, self.loss.max_slope * np.maximum(error, np.finfo(float).tiny)

    def _tile(self, projected: NDArray[np.float32], by_column: Columns, tile: slice) -> NDArray[np.float32]:
        """Return the mean probability of no link for some candidates in each direction, several samples at once."""
        n_samples, _, n, _ = projected.shape
        first = next(iter(by_column.values()))
        shared = _single(first, tile, [c for c in first if c in self.symmetric])
        own = [_single(every, tile, [c for c in every if c not in self.symmetric]) for every in by_column.values()]
        total = np.zeros((len(by_column), n, tile.stop - tile.start), np.float32)
        with np.errstate(over="ignore"):
            for some in blocks_of(n_samples, total.size, TILE_SCORES):
                old = [np.asarray(sample.doc_topic[tile]) for sample in self.samples[some]]
                constants = np.stack([self.constants[direction][1][some, tile] for direction in by_column], axis=1)
                tau = self._feature_weights[some].astype(np.float32)
                scores = tile_scores(projected[some], old, constants, tau, shared, own)
                total += self.loss.no_link(scores).sum(axis=0)
        total /= n_samples
        return total

    def not_worse(self, absent: NDArray[np.float32], top: int, error: float) -> Indices:
        """Return candidates that may be among the best, in order, given the error of a score.

        `absent` are their probabilities of no link, directions x candidates; infinite for candidates that are left out.
        """
        there = np.isfinite(absent[0])
        relative = 4 * ROUNDING_ERROR * (len(self.samples) + 8)
        if top >= there.sum() or error + relative > 0.5:
            return np.flatnonzero(there)
        last = np.partition(absent, top - 1, axis=1)[:, top - 1].astype(float)

        def bound(q: Any) -> Any:
            # An error e of a score changes a probability q by q(1 - q) e; the rest are rounding errors of q itself.
            return q * (1.0 - q) * error + q * relative + PROBABILITY_TOLERANCE

        if len(absent) == 1:
            return np.flatnonzero(absent[0] <= np.float32(min(last[0] + 4.0 * bound(last[0]), 2.0)))
        # In each direction, `top` candidates are at least as probable as the last of them. A link in either direction
        # is at most twice as probable as the more probable one, so in one direction a candidate must reach half of the
        # larger of the two probabilities. Few candidates do.
        calibration, ends = self.calibration, zip(last, DIRECTIONS, strict=True)
        reached = [calibration.probability(1.0 - (q + 2.0 * bound(q)), direction) for q, direction in ends]
        needed = np.array([1.0 - calibration.inverse(np.max(reached) / 2.0, direction) for direction in DIRECTIONS])
        candidates = np.flatnonzero(there & (absent <= (needed + 4.0 * bound(needed))[:, None]).any(axis=0))
        if len(candidates) < top:  # probabilities are rounded to 0 in double precision, and cannot be inverted
            return np.flatnonzero(there)
        q = absent[:, candidates].astype(float)
        worst, best = (
            calibration.of_pairs(dict(zip(DIRECTIONS, np.clip(1.0 - q + sign * bound(q), 0.0, 1.0), strict=True)))
            for sign in (-2.0, 2.0)
        )
        return candidates[best >= np.partition(worst, -top)[-top] * (1.0 - 1e-12)]


def _single(by_column: dict[int, NDArray], tile: slice, columns: list[int]) -> tuple[list[int], NDArray[np.float32]]:
    """Return some columns of features for some candidates in single precision."""
    parts = [by_column[c][None, :, tile].astype(np.float32) for c in columns]
    return columns, np.concatenate(parts) if parts else np.empty(0, np.float32)
