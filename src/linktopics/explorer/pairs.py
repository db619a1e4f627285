"""Probabilities, parts and reasons of many pairs of training documents at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linktopics._inputs import Documents
from linktopics.features.base import TrainingView
from linktopics.prediction import BLOCK_CELLS, Predictor
from linktopics.ranking import NewDocuments, Numbers, Shortlist, blocks_of, interval_of
from linktopics.reasons import N_REASONS, SMALLEST_SHARE

__all__ = ["PairReader", "Reasons", "Suggestions", "best_parts"]

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

INTERVAL = 0.9
"""Share of the posterior samples between `lower` and `upper` of suggestions, as in `suggest_links`."""

PARTS_AT_ONCE = 2**21
"""Parts of scores that are in memory at once."""


@dataclass(frozen=True)
class Reasons:
    """What speaks most for each of some pairs, best first, pairs x `N_REASONS`.

    Attributes
    ----------
    what : ndarray of int64
        ``a * K + b`` for topic a of the source with topic b of the target, ``K * K + f`` for feature f, -1 for nothing.
    part : ndarray
        Part of the score.
    share : ndarray
        The part relative to all that speaks for the link.
    """

    what: Indices
    part: Array
    share: Array


@dataclass(frozen=True)
class Suggestions:
    """Links that are not there and are probable, by document and then best first.

    Attributes
    ----------
    document, other : ndarray of int64
        The document that is asked about, and the one it should be linked with.
    outward : ndarray of bool
        Whether more speaks for a link from the document to the other than for one back; True without directions.
    probability, lower, upper : ndarray
        Of a link in any direction, and the ends of its range in 90 % of the posterior samples; NaN if there is only
        one.
    reasons : Reasons
        What speaks for the link in the direction that `outward` tells.
    """

    document: Indices
    other: Indices
    outward: NDArray[np.bool_]
    probability: Array
    lower: Array
    upper: Array
    reasons: Reasons


class PairReader:
    """Reads pairs of training documents as `RelationalTopicModel.explain_link` does, many at once.

    Documents have the topics they were fitted with. In a link, the source is looked at as if it was new, and links
    between the two documents are left out of what features know.

    Parameters
    ----------
    predictor : Predictor
        What the model asks about pairs.
    """

    def __init__(self, predictor: Predictor) -> None:
        self.predictor = predictor
        self.network = predictor.network
        self.features = predictor.features
        self.samples = predictor.described
        self.n_topics = predictor.settings.n_topics

    @cached_property
    def _prepared(self) -> dict[int, Any]:
        """What features need of the training documents in the place of new ones, by identity of the feature."""
        documents = Documents.of(self.network)
        return {id(feature): feature.prepare(documents) for feature in self.features.features}

    @cached_property
    def _as_new(self) -> NewDocuments:
        """All training documents in the place of new ones."""
        prepared = [self._prepared[id(feature)] for feature in self.features.features]
        return NewDocuments(len(self.network), [sample.doc_topic for sample in self.predictor.samples], prepared)

    @cached_property
    def _not_suggested(self) -> list[Indices]:
        """For each document itself and all that it is linked with, in whatever direction."""
        n = len(self.network)
        one, two = self.network.links.T
        left = np.concatenate([np.arange(n), one, two])
        right = np.concatenate([np.arange(n), two, one])
        order = np.argsort(left, kind="stable")
        return np.split(right[order], np.searchsorted(left[order], np.arange(1, n)))

    def probabilities(self, source: Indices, target: Indices, numbers: Array | None = None) -> Array:
        """Return the probabilities of links between training documents, which are those of `Predictor.known`.

        The `link_numbers` of the pairs can be given where they are there already.
        """
        numbers = self.link_numbers(source, target) if numbers is None else numbers
        own = self.predictor.mean_of(self._as_new, Shortlist(source, target, {True: numbers}))[True]
        if not self.network.directed:
            back = Shortlist(target, source, {True: self.link_numbers(target, source)})
            own = (own + self.predictor.mean_of(self._as_new, back)[True]) / 2
        return self.predictor.calibrated({True: own})

    def topic_parts(self, source: Indices, target: Indices) -> Array:
        """Return what pairs of topics add to scores, pairs x K x K, on average over the samples of one chain."""
        total = np.zeros((len(source), self.n_topics, self.n_topics))
        for sample in self.samples:
            total += (sample.doc_topic[source][:, :, None] * sample.weights) * sample.doc_topic[target][:, None, :]
        return total / len(self.samples)

    def feature_parts(self, numbers: Array) -> Array:
        """Return what features add to scores, pairs x features."""
        return self.predictor._explainer.feature_parts(numbers)

    def link_numbers(self, source: Indices, target: Indices) -> Array:
        """Return the features of pairs of training documents of which the source is new."""
        return self.features.known_pairs(self._view(source, target, np.ones(len(source), dtype=bool)))

    def _view(self, new: Indices, candidates: Indices, outward: NDArray[np.bool_]) -> TrainingView:
        return TrainingView(self.network, new, candidates, outward, self._prepared)

    def reasons(self, source: Indices, target: Indices, numbers: Array) -> Reasons:
        """Name what speaks most for links, given the features of the pairs."""
        shape = (len(source), N_REASONS)
        found = Reasons(np.full(shape, -1, dtype=np.int64), np.zeros(shape), np.zeros(shape))
        for rows in blocks_of(len(source), self.n_topics**2 + len(self.features.features), PARTS_AT_ONCE):
            topics = self.topic_parts(source[rows], target[rows])
            parts = [topics.reshape(len(topics), -1), self.feature_parts(numbers[rows])]
            found.what[rows], found.part[rows], found.share[rows] = best_parts(np.concatenate(parts, axis=1))
        return found

    def detail(self, feature: int, new: int, candidate: int, outward: bool, linked: bool) -> str:
        """Say what a feature of a pair comes from; if the two are linked, as if they were not."""
        its = self.features.features[feature]
        if not linked:
            return its.detail(self._prepared[id(its)], new, candidate, outward)
        return its.known_detail(self._view(np.array([new]), np.array([candidate]), np.array([outward])))

    def suggestions(self, documents: slice, top: int) -> Suggestions:
        """Return the most probable links of some documents with those they are not linked with at all."""
        predictor, new = self.predictor, self._as_new
        pairs = predictor.finder().shortlist(new, documents, predictor._ways("both"), top, self._not_suggested)
        best = predictor.best(new, pairs, top)
        by_sample = predictor.by_sample(new, best)
        lower, upper = interval_of(predictor.calibrated(by_sample), INTERVAL)
        probability = predictor.calibrated({way: p.mean(axis=0) for way, p in by_sample.items()})
        outward = self._stronger(best.rows, best.candidates, best.numbers)
        source, target = np.where(outward, best.rows, best.candidates), np.where(outward, best.candidates, best.rows)
        numbers = np.where(outward[:, None], best.numbers[True], best.numbers.get(False, 0.0))
        reasons = self.reasons(source, target, numbers)
        return Suggestions(best.rows, best.candidates, outward, probability, lower, upper, reasons)

    def _stronger(self, new: Indices, candidates: Indices, numbers: Numbers) -> NDArray[np.bool_]:
        """Tell for which pairs more speaks for a link from the new document than for one to it."""
        if False not in numbers:
            return np.ones(len(new), dtype=bool)
        scores = {way: self.feature_parts(values).sum(axis=1) for way, values in numbers.items()}
        for sample in self.samples:
            here, there = sample.doc_topic[new].astype(float), sample.doc_topic[candidates].astype(float)
            for way in scores:
                weights = sample.weights if way else sample.weights.T
                scores[way] += np.einsum("ek,ek->e", here @ weights, there) / len(self.samples)
        return np.asarray(scores[True] >= scores[False])

    def shares_of_parts(self, source: Indices, target: Indices, parts: Array) -> Array:
        """Return single parts of the scores of links relative to all parts of their sign."""
        result = np.zeros(len(source))
        numbers = self.link_numbers(source, target)
        for rows in blocks_of(len(source), self.n_topics**2 + len(self.features.features), PARTS_AT_ONCE):
            topics, features = self.topic_parts(source[rows], target[rows]), self.feature_parts(numbers[rows])
            for sign in (1.0, -1.0):
                total = np.maximum(sign * topics, 0.0).sum(axis=(1, 2)) + np.maximum(sign * features, 0.0).sum(axis=1)
                these = sign * parts[rows] > 0
                result[rows][these] = parts[rows][these] / total[these]
        return result

    def suggestion_blocks(self, top: int) -> list[slice]:
        """Cut all documents into runs for `suggestions`."""
        width = max(self.predictor._exact.width, top * self.n_topics)
        return blocks_of(len(self.network), width, BLOCK_CELLS)

    def best_of_cells(self, a: Indices, b: Indices, top: int) -> tuple[Indices, Indices, Indices, Array]:
        """Return the links for which, or against which, the weights of some pairs of topics speak most.

        Parameters
        ----------
        a, b : ndarray of int64
            The topics of sources and targets: a cell of the weights each.
        top : int
            Links of each cell.

        Returns
        -------
        source, target, cell, part : ndarray
            Links, the number of the cell, and the part that its weight makes of the score; by cell, then by size.
        """
        source, target = self.network.links.T
        n = len(source)
        if not self.network.directed:  # either document may be the one with topic a
            source, target = np.concatenate([source, target]), np.concatenate([target, source])
        sign = np.where(np.mean([sample.weights[a, b] for sample in self.samples], axis=0) < 0, -1.0, 1.0)
        best, links = np.zeros((len(a), top)), np.zeros((len(a), top), dtype=np.int64)
        for rows in blocks_of(len(source), len(a), PARTS_AT_ONCE):
            parts = sign[:, None] * self._cell_parts(a, b, source[rows], target[rows])
            if rows.stop > n:  # where both topics are the same, once is enough
                parts[a == b, max(n - rows.start, 0) :] = 0.0
            parts = np.concatenate([best, parts], axis=1)
            here = np.broadcast_to(np.arange(rows.start, rows.stop), (len(a), rows.stop - rows.start))
            numbers = np.concatenate([links, here], axis=1)
            order = np.argsort(-parts, axis=1, kind="stable")[:, :top]
            best, links = np.take_along_axis(parts, order, axis=1), np.take_along_axis(numbers, order, axis=1)
        cell, place = np.nonzero(best > 0)
        chosen = links[cell, place]
        return source[chosen], target[chosen], cell, sign[cell] * best[cell, place]

    def _cell_parts(self, a: Indices, b: Indices, source: Indices, target: Indices) -> Array:
        """Return what some pairs of topics add to the scores of pairs, cells x pairs."""
        total = np.zeros((len(a), len(source)))
        for sample in self.samples:
            here, there = sample.doc_topic[source].T, sample.doc_topic[target].T
            total += sample.weights[a, b][:, None] * here[a] * there[b]
        return total / len(self.samples)


def best_parts(parts: Array) -> tuple[Indices, Array, Array]:
    """Return the largest parts of each row: where they stand, the parts, and their shares of all that are positive.

    Columns that are not needed hold -1 and zeros.
    """
    positive = np.maximum(parts, 0.0)
    total = positive.sum(axis=1, keepdims=True)
    share = np.divide(positive, total, out=positive, where=total > 0)
    rows, shape = np.arange(len(parts)), (len(parts), N_REASONS)
    what, part, shares = np.full(shape, -1, dtype=np.int64), np.zeros(shape), np.zeros(shape)
    for place in range(min(N_REASONS, parts.shape[1])):
        best = share.argmax(axis=1)  # of equals, the first
        enough = share[rows, best] >= SMALLEST_SHARE
        what[enough, place] = best[enough]
        part[enough, place] = parts[rows, best][enough]
        shares[enough, place] = share[rows, best][enough]
        share[rows, best] = -1.0
    return what, part, shares
