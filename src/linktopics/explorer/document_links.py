"""The links of documents as dicts: links of the network, and suggested ones."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linktopics.explorer.pairs import PairScorer, describe_reasons, describe_suggestions
from linktopics.explorer.rounding import rounded, rows_of
from linktopics.network.pairs import Direction

N_MOST_PROBABLE, N_LEAST_PROBABLE = 150, 50
"""Links that are shown for a document that has more than the sum of the two."""

SURPRISING_SHARE = 0.1
"""Share of links, the least probable ones, that are surprising."""

MAX_SAMPLED_LINKS = 20_000
"""Links that the threshold of surprising links is computed from, drawn at random if there are more."""

LinksByDocument = dict[int, list[dict[str, Any]]]
"""Descriptions of links by the number of the document."""


class DocumentLinks:
    """Describes links of documents: their probabilities and reasons.

    Parameters
    ----------
    pairs : PairScorer
        Probabilities and reasons of pairs of documents.
    words : list of str
        The words, or names for them.
    """

    def __init__(self, pairs: PairScorer, words: list[str]) -> None:
        self.pairs, self.network, self.words = pairs, pairs.network, words

    @cached_property
    def _by_document(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Numbers of links by document, and where those of each document begin."""
        n, ends = len(self.network), self.network.links.T.reshape(-1)
        order = np.argsort(ends, kind="stable")
        return order % max(self.network.n_links, 1), np.searchsorted(ends[order], np.arange(n + 1))

    @cached_property
    def surprising_below(self) -> float:
        """The probability below which a link is surprising; nine of ten links have at least this probability."""
        links = self.network.links
        if not len(links):
            return 0.0
        if len(links) > MAX_SAMPLED_LINKS:
            links = links[np.random.default_rng(0).choice(len(links), MAX_SAMPLED_LINKS, replace=False)]
        return float(np.quantile(self.pairs.predictor.training_pair_probabilities(links), SURPRISING_SHARE))

    def links_of(self, rows: slice) -> LinksByDocument:
        """Return the links of some documents, most probable first."""
        numbers, begin = self._by_document
        begin = begin[rows.start : rows.stop + 1]
        own = np.repeat(np.arange(len(begin) - 1), np.diff(begin)) + rows.start
        source, target = self.network.links[numbers[begin[0] : begin[-1]]].T
        features = self.pairs.link_values(source, target)
        probability = self.pairs.probabilities(source, target, features)
        order = np.lexsort((-probability, own))
        place = np.arange(len(own)) - (begin - begin[0])[own - rows.start]
        many = np.diff(begin)[own - rows.start]
        shown = order[(place < N_MOST_PROBABLE) | (place >= many - N_LEAST_PROBABLE)]
        own, source, target, probability = own[shown], source[shown], target[shown], probability[shown]
        reasons = self.pairs.reasons(source, target, features[shown])
        links = defaultdict(list)
        for e, (i, one, two, p) in enumerate(rows_of(own, source, target, probability)):
            direction = ("out" if one == i else "in") if self.network.directed else "both"
            detail = partial(self._describe_feature, one, two, True)
            why = describe_reasons(reasons, e, self.pairs.predictor, detail, short=True)
            if direction == "both" and two == i:
                why = [{**reason, "topics": reason["topics"][::-1]} if "topics" in reason else reason for reason in why]
            links[i].append(
                {
                    "j": two if one == i else one,
                    "direction": direction,
                    "probability": rounded(p),
                    "surprising": p < self.surprising_below,
                    "why": why,
                }
            )
        return links

    def suggested(self, rows: slice, top: int) -> LinksByDocument:
        """Return suggestions for some documents, best first."""
        found, suggested = self.pairs.suggestions(rows, top), defaultdict(list)
        for i, suggestion in describe_suggestions(found, self.pairs.predictor, self._describe_feature, short=True):
            suggested[i].append(suggestion)
        return suggested

    def _describe_feature(self, new: int, candidate: int, outgoing: bool, feature: int) -> str:
        """Return a description of a feature of a pair."""
        direction: Direction = "out" if outgoing else "in"
        return self.pairs.predictor.training.detail(feature, new, candidate, direction).text(self.words)
