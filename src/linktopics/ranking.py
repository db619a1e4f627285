"""The best candidates of new documents among all training documents, exactly, and the probabilities of single pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linktopics.calibration import LinkCalibration
from linktopics.features import FeatureSet
from linktopics.posterior import PosteriorSample
from linktopics.sampler.losses import LogisticLoss, Loss

__all__ = [
    "ExactSearch",
    "NewDocuments",
    "Shortlist",
    "best_of_each",
    "blocks_of",
    "interval_of",
    "no_link",
    "pair_probabilities",
]

Numbers = dict[bool, NDArray[np.float64]]
"""Features or probabilities of pairs for each direction that counts: True for links from the new document."""

TILE_CELLS, SCORES = 2**16, 2**18
"""Documents x candidates, and samples x directions of these, whose single-precision scores are in the processor's cache
at once."""

ROUNDING = float(np.finfo(np.float32).eps) / 2

SAME = 1e-15
"""Probabilities that differ by less may be equal, or the other way round, in double precision."""


@dataclass(frozen=True)
class NewDocuments:
    """New documents, or training documents in their place.

    Attributes
    ----------
    n_documents : int
        Their number.
    shares : list of ndarray
        Their topics in each sample.
    prepared : list
        What features know of them.
    known : ndarray of int64 or None
        The training documents that they are; None if they are new.
    """

    n_documents: int
    shares: list[NDArray[np.float32]]
    prepared: list[Any]
    known: NDArray[np.int64] | None = None


@dataclass(frozen=True)
class Shortlist:
    """Pairs among which the best of some new documents are, by document and then by candidate."""

    rows: NDArray[np.int64]
    candidates: NDArray[np.int64]
    numbers: Numbers

    def part(self, which: Any) -> Shortlist:
        """Return some of the pairs."""
        numbers = {way: x[which] for way, x in self.numbers.items()}
        return Shortlist(self.rows[which], self.candidates[which], numbers)

    def with_others(self, other: Shortlist) -> Shortlist:
        """Return these pairs and others, whose numbers are for the same directions."""
        numbers = {way: np.concatenate([x, other.numbers[way]]) for way, x in self.numbers.items()}
        rows = np.concatenate([self.rows, other.rows])
        return Shortlist(rows, np.concatenate([self.candidates, other.candidates]), numbers)


def blocks_of(n_documents: int, width: int, cells: int) -> list[slice]:
    """Cut documents into runs of about so many cells."""
    step = max(1, cells // max(width, 1))
    return [slice(first, min(first + step, n_documents)) for first in range(0, n_documents, step)]


def best_of_each(
    rows: NDArray[np.int64], candidates: NDArray[np.int64], probability: NDArray[np.float64], top: Any
) -> NDArray[np.int64]:
    """Return the places of the most probable pairs of each document, best first; of equals, the first candidate.

    Documents have numbers `rows`; `top` is how many of each, or an array with how many of each pair's document.
    """
    order = np.lexsort((candidates, -probability, rows))
    place = np.arange(len(order)) - np.searchsorted(rows[order], rows[order])
    return order[place < (top if np.ndim(top) == 0 else top[order])]


def interval_of(by_sample: NDArray[np.float64], mass: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the ends of the range in which a share of the samples is, of probabilities that are samples x pairs.

    As many samples are below as above. NaN where there is one sample alone.
    """
    if len(by_sample) == 1:
        return np.full(by_sample.shape[1], np.nan), np.full(by_sample.shape[1], np.nan)
    tail = (1.0 - mass) / 2.0
    lower, upper = np.quantile(by_sample, [tail, 1.0 - tail], axis=0)
    return lower, upper


def pair_probabilities(
    loss: Loss, samples: Sequence[PosteriorSample], shares: Sequence[NDArray[np.float32]], pairs: Shortlist
) -> Numbers:
    """Return the probabilities of links of pairs, samples x pairs, for each direction that their numbers speak of.

    Each is a sum of its own in a fixed order: it does not depend on the other pairs, and equal candidates are equal.
    All samples are handled at once, so there are samples x pairs x topics in memory.
    """
    old = np.stack([sample.doc_topic[pairs.candidates] for sample in samples]).astype(float)
    distinct, at = np.unique(pairs.rows, return_inverse=True)
    new = np.stack([own[distinct] for own in shares]).astype(float)
    U = np.stack([sample.weights for sample in samples])
    tau = np.stack([sample.feature_weights for sample in samples])
    result: Numbers = {}
    for outward, numbers in pairs.numbers.items():
        here = np.einsum("sik,skl->sil", new, U if outward else U.transpose(0, 2, 1))
        scores = np.einsum("sek,sek->se", here[:, at], old) + np.einsum("ef,sf->se", numbers, tau)
        result[outward] = loss.probability(scores)
    return result


class ExactSearch:
    """Finds the best of all candidates: ranks them in single precision, and keeps all that rounding may have misplaced.

    Candidates are compared by the probability that there is *no* link, which single precision tells apart where links
    are all but certain. Its relative error is bounded by that of the scores, so a candidate that is worse than the last
    one wanted by more than twice the bound cannot be among the best; all others are shortlisted. For links either way
    there are two such probabilities, and candidates are compared by what the calibration makes of both together: the
    bounds of these give bounds of that, because it rises with each.

    Parameters
    ----------
    samples : list of PosteriorSample
        Over which probabilities are averaged.
    features : FeatureSet
        The features of pairs.
    loss : Loss
        What makes probabilities of scores.
    calibration : LinkCalibration
        What makes probabilities in the network of these. One direction alone it leaves in order.
    """

    def __init__(
        self, samples: list[PosteriorSample], features: FeatureSet, loss: Loss, calibration: LinkCalibration
    ) -> None:
        self.samples, self.features, self.loss, self.calibration = samples, features, loss, calibration
        self.n_candidates = len(samples[0].doc_topic)
        of_candidate = [f.of_candidate for f in features.features]
        symmetric = [f.symmetric for f in features.features]
        spans = features.spans
        self.of_candidates = [k for k, only in enumerate(of_candidate) if only]
        self.of_pairs = [k for k, only in enumerate(of_candidate) if not only]
        self.both_ways = {c for k, s in enumerate(symmetric) if s for c in range(spans[k].start, spans[k].stop)}

    @property
    def width(self) -> int:
        """Cells that a new document takes."""
        per_way = sum(len(self.features.features[k].columns) for k in self.of_pairs)
        return self.n_candidates * (2 + 2 * per_way)

    @cached_property
    def _everyone(self) -> NDArray[np.int64]:
        return np.arange(self.n_candidates)

    @cached_property
    def _constants(self) -> dict[bool, tuple[dict[int, NDArray[np.float64]], NDArray[np.float32]]]:
        """Features of candidates alone for each direction: by column, and what they add to scores in each sample."""
        result = {}
        for way in (True, False):
            planes = self.features.planes([None] * len(self.features.features), slice(0, 1), self._everyone, way,
                                          self.of_candidates)  # fmt: skip
            planes = {column: plane[0] for column, plane in planes.items()}
            added = np.zeros((len(self.samples), self.n_candidates), np.float32)
            for s, sample in enumerate(self.samples):
                added[s] = sum(sample.feature_weights[c] * plane for c, plane in planes.items())
            result[way] = planes, added
        return result

    def shortlist(
        self,
        new: NewDocuments,
        rows: slice,
        ways: Sequence[bool],
        top: int,
        left_out: Sequence[NDArray[np.int64]] | None = None,
    ) -> Shortlist:
        """Return pairs among which are the `top` best of some new documents, but for candidates that are left out."""
        planes = self._planes(new, rows, ways)
        absent, error = self._absent(new, rows, ways, planes)
        for i, candidates in enumerate([] if left_out is None else left_out[rows]):
            absent[:, i, candidates] = np.inf
        kept = [self.not_worse(absent[:, i], top, float(e)) for i, e in enumerate(error)]
        where = np.repeat(np.arange(len(kept)), [len(one) for one in kept])
        candidates = np.concatenate(kept)
        numbers = {}
        for way in ways:
            numbers[way] = np.empty((len(where), len(self.features.mean)))
            for column, plane in planes[way].items():
                numbers[way][:, column] = plane[where, candidates]
            for column, constant in self._constants[way][0].items():
                numbers[way][:, column] = constant[candidates]
        return Shortlist(where + rows.start, candidates, numbers)

    def _planes(self, new: NewDocuments, rows: slice, ways: Sequence[bool]) -> dict[bool, dict[int, NDArray]]:
        """Return features of pairs for each direction, by column: documents x candidates."""
        first = self.features.planes(new.prepared, rows, self._everyone, ways[0], self.of_pairs)
        others = [k for k in self.of_pairs if not self.features.features[k].symmetric]
        return {
            way: first
            if way == ways[0]
            else {**first, **self.features.planes(new.prepared, rows, self._everyone, way, others)}
            for way in ways
        }

    def _absent(
        self, new: NewDocuments, rows: slice, ways: Sequence[bool], planes: dict[bool, dict[int, NDArray]]
    ) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """Return probabilities of no link in single precision, averaged over samples, and the error of a score.

        The former are ways x documents x candidates.
        """
        n, n_columns = rows.stop - rows.start, len(self.features.mean)
        shares = np.stack([own[rows] for own in new.shares]).astype(float)
        here = np.empty((len(self.samples), len(ways), n, shares.shape[2]), np.float32)
        error = np.zeros(n)
        for place, way in enumerate(ways):
            toward = shares @ (self._weights if way else self._weights.transpose(0, 2, 1))
            here[:, place] = toward
            size = np.abs(toward).max(axis=2) + np.abs(self._constants[way][1]).max(axis=1, initial=0.0)[:, None]
            for c, x in planes[way].items():
                size += np.abs(self._feature_weights[:, c, None]) * np.maximum(x.max(axis=1), -x.min(axis=1))
            # Shares of topics sum to one. Twice the bound, for what is of higher order.
            error = np.maximum(error, 2 * ROUNDING * (toward.shape[2] + n_columns + 8) * size.max(axis=0))
        result = np.empty((len(ways), n, self.n_candidates), np.float32)
        step = max(1, TILE_CELLS // n)
        for first in range(0, self.n_candidates, step):
            tile = slice(first, min(first + step, self.n_candidates))
            result[:, :, tile] = self._tile(here, planes, ways, tile)
        steepest = 1.0 if isinstance(self.loss, LogisticLoss) else 4.0  # slope of the score in the link's log-odds
        return result, steepest * error

    @cached_property
    def _weights(self) -> NDArray[np.float64]:
        return np.stack([sample.weights for sample in self.samples])

    @cached_property
    def _feature_weights(self) -> NDArray[np.float64]:
        return np.stack([sample.feature_weights for sample in self.samples])

    def _tile(
        self,
        here: NDArray[np.float32],
        planes: dict[bool, dict[int, NDArray]],
        ways: Sequence[bool],
        tile: slice,
    ) -> NDArray[np.float32]:
        """Return the mean probability of no link for some candidates in each direction, several samples at once."""
        n_samples, n_ways, n, _ = here.shape
        shared = _single(planes[ways[0]], tile, [c for c in planes[ways[0]] if c in self.both_ways])
        own = [_single(planes[way], tile, [c for c in planes[way] if c not in self.both_ways]) for way in ways]
        total = np.zeros((n_ways, n, tile.stop - tile.start), np.float32)
        with np.errstate(over="ignore"):
            for some in blocks_of(n_samples, total.size, SCORES):
                tau = self._feature_weights[some].astype(np.float32)
                scores = np.empty((len(tau), *total.shape), np.float32)
                for s, sample in enumerate(self.samples[some]):
                    # One product for both directions reads the candidates' topics once.
                    flat = scores[s].reshape(n_ways * n, -1)
                    np.matmul(here[some][s].reshape(n_ways * n, -1), np.asarray(sample.doc_topic[tile]).T, out=flat)
                scores += np.stack([self._constants[way][1][some, tile] for way in ways], axis=1)[:, :, None]
                if shared[0]:
                    scores += np.tensordot(tau[:, shared[0]], shared[1], axes=1)[:, None]
                for place, (columns, plane) in enumerate(own):
                    if columns:
                        scores[:, place] += np.tensordot(tau[:, columns], plane, axes=1)
                total += no_link(self.loss, scores).sum(axis=0)
        total /= n_samples
        return total

    def not_worse(self, absent: NDArray[np.float32], top: int, error: float) -> NDArray[np.int64]:
        """Return candidates that may be among the best, in order, given the error of a score.

        `absent` are their probabilities of no link, ways x candidates; infinite for candidates that are left out.
        """
        there = np.isfinite(absent[0])
        relative = 4 * ROUNDING * (len(self.samples) + 8)
        if top >= there.sum() or error + relative > 0.5:
            return np.flatnonzero(there)
        last = np.partition(absent, top - 1, axis=1)[:, top - 1].astype(float)

        def bound(q: Any) -> Any:
            # A score that is wrong by e makes q(1 - q) e of a probability q; the rest are roundings of q itself.
            return q * (1.0 - q) * error + q * relative + SAME

        if len(absent) == 1:
            return np.flatnonzero(absent[0] <= np.float32(min(last[0] + 4.0 * bound(last[0]), 2.0)))
        # As probable as the last one wanted of either direction alone are as many as are wanted. Either way is at most
        # twice as probable as one way, so one way has to be half as probable at least. This leaves few candidates.
        known, ways = self.calibration, ("out", "in")
        sure = [known.probability(1.0 - (q + 2.0 * bound(q)), way) for q, way in zip(last, ways, strict=True)]
        far = np.array([1.0 - known.own(np.max(sure) / 2.0, way) for way in ways])
        some = np.flatnonzero(there & (absent <= (far + 4.0 * bound(far))[:, None]).any(axis=0))
        q = absent[:, some].astype(float)
        worst, best = (
            known.of_pairs(dict(zip((True, False), np.clip(1.0 - q + sign * bound(q), 0.0, 1.0), strict=True)))
            for sign in (-2.0, 2.0)
        )
        return some[best >= np.partition(worst, -top)[-top] * (1.0 - 1e-12)]


def _single(planes: dict[int, NDArray], tile: slice, columns: list[int]) -> tuple[list[int], NDArray[np.float32]]:
    """Return some columns of features for some candidates in single precision."""
    parts = [planes[c][None, :, tile].astype(np.float32) for c in columns]
    return columns, np.concatenate(parts) if parts else np.empty(0, np.float32)


def no_link(loss: Loss, scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the probability of no link; scores are overwritten."""
    if not isinstance(loss, LogisticLoss):
        return np.asarray(loss.probability(np.negative(scores, out=scores)), np.float32)
    np.exp(scores, out=scores)
    scores += 1.0
    return np.reciprocal(scores, out=scores)
