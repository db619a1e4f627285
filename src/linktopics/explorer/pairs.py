"""Probabilities, contributions and reasons of many pairs of training documents at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linktopics.explorer.rounding import DIGITS, contribution, rounded, rows_of
from linktopics.prediction.explanation import CONTRIBUTION_CELLS, Reasons, cell_contributions, shares_of
from linktopics.prediction.predictor import PAIR_BLOCK_CELLS, Predictor
from linktopics.prediction.ranking import NewDocuments, Shortlist, blocks_of

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

INTERVAL = 0.9
"""Share of the posterior samples between `lower` and `upper` of suggestions, as in `suggest_links`."""


PROBABILITY_DIGITS = 6
"""Significant digits of probabilities in responses that programs use, too."""

PROBABILITIES = ("probability", "lower", "upper")
"""Keys of suggestions: the probability and the ends of its interval."""


@dataclass(frozen=True)
class Suggestions:
    """Probable absent links, by document and then best first.

    Attributes
    ----------
    document, other : ndarray of int64
        The document that links are suggested for, and the one to link it with.
    outgoing : ndarray of bool
        Whether a link from the document to the other has a higher score than one back; True without directions.
    probability, lower, upper : ndarray
        Probability of a link in any direction, and the ends of its range over 90 % of the posterior samples; NaN if
        there is only one.
    reasons : Reasons
        Largest contributions to the score of the link in the direction given by `outgoing`.
    """

    document: Indices
    other: Indices
    outgoing: NDArray[np.bool_]
    probability: Array
    lower: Array
    upper: Array
    reasons: Reasons


def make_suggestions(predictor: Predictor, new: NewDocuments, best: Shortlist) -> Suggestions:
    """Return pairs of new documents and candidates as suggestions."""
    found = predictor.probabilities(new, best, INTERVAL)
    outgoing, reasons = predictor.reasons(new, best)
    probability, lower, upper = (found[name] for name in PROBABILITIES)
    return Suggestions(best.rows, best.candidates, outgoing, probability, lower, upper, reasons)


def describe_suggestions(
    found: Suggestions, predictor: Predictor, detail: Callable[[int, int, bool, int], str], *, short: bool = False
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Return an iterator over (document number, suggestion as a dict for JSON).

    Parameters
    ----------
    found : Suggestions
        The suggestions.
    predictor : Predictor
        The predictor that made them.
    detail : callable
        Describes a feature, given the document, the other one, whether the link is outgoing, and the feature.
    short : bool
        Whether numbers have fewer digits.
    """
    columns = (found.document, found.other, found.outgoing, found.probability, found.lower, found.upper)
    for pair, (i, j, outgoing, *values) in enumerate(rows_of(*columns)):
        direction = ("out" if outgoing else "in") if predictor.network.directed else "both"
        shown = dict(zip(PROBABILITIES, rounded(values, DIGITS if short else PROBABILITY_DIGITS), strict=True))
        why = describe_reasons(found.reasons, pair, predictor, partial(detail, i, j, outgoing), short=short)
        yield i, {"j": j, "direction": direction, **shown, "why": why}


def describe_reasons(
    reasons: Reasons, pair: int, predictor: Predictor, detail: Callable[[int], str], *, short: bool = False
) -> list[dict[str, Any]]:
    """Return the reasons of a pair as dicts for JSON, given a function that describes features; `short` rounds more."""
    K, result = predictor.settings.n_topics, []
    for what, size, share in rows_of(reasons.index[pair], reasons.contribution[pair], reasons.share[pair]):
        if what < 0:
            break
        reason = {"share": round(share, 2) if short else rounded(share, 3), **contribution(size, 3 if short else 4)}
        if what < K * K:
            reason["topics"] = list(divmod(what, K))
        else:
            reason |= {"feature": predictor.features.features[what - K * K].name, "detail": detail(what - K * K)}
        result.append(reason)
    return result


class PairScorer:
    """Computes probabilities and reasons of many pairs of training documents at once, like `explain_link`.

    Documents have the topics they were fitted with. In a link, the source is treated as a new document, and
    features ignore links between the two documents.

    Parameters
    ----------
    predictor : Predictor
        The predictor of the model.
    """

    def __init__(self, predictor: Predictor) -> None:
        self.predictor, self.network, self.features = predictor, predictor.network, predictor.features
        self.samples, self.n_topics = predictor.reference_samples, predictor.settings.n_topics

    def link_values(self, source: Indices, target: Indices) -> Array:
        """Return the features of pairs of training documents of which the source is new."""
        return self.predictor.training.values(source, target, "out")

    def probabilities(self, source: Indices, target: Indices, values: Array | None = None) -> Array:
        """Return the probabilities of links, given the `link_values` of the pairs if they are computed already."""
        return self.predictor.training_pair_probabilities(np.column_stack([source, target]), values)

    def reasons(self, source: Indices, target: Indices, values: Array) -> Reasons:
        """Return the largest positive contributions to links, given the features of the pairs."""
        everything = self.predictor.training.as_new(prepare=False)
        return self.predictor.reasons(everything, Shortlist(source, target, {"out": values}))[1]

    def suggestions(self, documents: slice, top: int) -> Suggestions:
        """Return the most probable links of some documents with those they are not linked with at all."""
        predictor, new = self.predictor, self.predictor.training.as_new()
        left_out = predictor.training.linked_with(range(documents.start, documents.stop))
        pairs = predictor.finder().shortlist(new, documents, predictor.directions("both"), top, left_out)
        return make_suggestions(predictor, new, predictor.best(new, pairs, top))

    def suggestion_blocks(self, top: int) -> list[slice]:
        """Return all documents in blocks for `suggestions`."""
        return blocks_of(len(self.network), max(self.predictor.exact.width, top * self.n_topics), PAIR_BLOCK_CELLS)

    def _shares_of_cells(self, source: Indices, target: Indices, contributions: Array) -> Array:
        """Return single contributions to the scores of links relative to all contributions of their sign."""
        result, explainer = np.zeros(len(source)), self.predictor.explainer
        values = self.link_values(source, target)
        for rows in blocks_of(len(source), self.n_topics**2 + len(self.features.features), CONTRIBUTION_CELLS):
            here, there = ([sample.doc_topic[end[rows]] for sample in self.samples] for end in (source, target))
            every, single = explainer.contributions(here, there, values[rows]), contributions[rows, None]
            result[rows] = shares_of(every, single, np.sign(single))[:, 0]
        return result

    def best_of_cells(self, a: Indices, b: Indices, top: int) -> tuple[Indices, Indices, Indices, Array, Array, Array]:
        """Return the links to whose scores the weights of some pairs of topics contribute most.

        For negative weights these are the links with the most negative contributions.

        Parameters
        ----------
        a, b : ndarray of int64
            The topics of sources and targets: a cell of the weights each.
        top : int
            Links of each cell.

        Returns
        -------
        cell, source, target, contribution, share, probability : ndarray
            The number of the cell, the ends of the link, the contribution of the weight to its score, this relative to
            all contributions of the same sign, and the probability of the link; by cell, then by size of the
            contribution.
        """
        source, target = self.network.links.T
        n = len(source)
        if not self.network.directed:  # either document may be the one with topic a
            source, target = np.concatenate([source, target]), np.concatenate([target, source])
        weights = self.predictor.explainer.weights
        sign = np.where(weights[:, a, b].mean(axis=0) < 0, -1.0, 1.0)
        best, links = np.zeros((len(a), top)), np.zeros((len(a), top), dtype=np.int64)
        for rows in blocks_of(len(source), len(a), CONTRIBUTION_CELLS):
            here, there = ([sample.doc_topic[end[rows]] for sample in self.samples] for end in (source, target))
            found = sign[:, None] * cell_contributions(here, weights, there, a, b)
            if rows.stop > n:  # if both topics are the same, once is enough
                found[a == b, max(n - rows.start, 0) :] = 0.0
            found = np.concatenate([best, found], axis=1)
            numbers = np.broadcast_to(np.arange(rows.start, rows.stop), (len(a), rows.stop - rows.start))
            numbers = np.concatenate([links, numbers], axis=1)
            order = np.argsort(-found, axis=1, kind="stable")[:, :top]
            best, links = np.take_along_axis(found, order, axis=1), np.take_along_axis(numbers, order, axis=1)
        cell, place = np.nonzero(best > 0)
        chosen = links[cell, place]
        source, target, contributions = source[chosen], target[chosen], sign[cell] * best[cell, place]
        shares = self._shares_of_cells(source, target, contributions)
        return cell, source, target, contributions, shares, self.probabilities(source, target)
