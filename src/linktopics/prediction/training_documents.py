"""Training documents treated as new: features of their pairs as if they were not linked."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linktopics.features import Detail, FeatureSet
from linktopics.features.base import TrainingView
from linktopics.features.degree import LinkIndex
from linktopics.network import DocumentNetwork
from linktopics.network.pairs import Direction
from linktopics.prediction.ranking import NewDocuments, Shortlist
from linktopics.sampler.runner import PosteriorSample

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TrainingDocuments:
    """Training documents with their fitted topics, one of each pair treated as a new document.

    Features of a pair ignore the links between the two. Intermediate results are cached.
    """

    network: DocumentNetwork
    features: FeatureSet
    samples: list[PosteriorSample]
    _prepared: dict[int, Any] = field(default_factory=dict)

    @cached_property
    def links(self) -> LinkIndex:
        """The links of the network."""
        return LinkIndex(self.network)

    def as_new(self, prepare: bool = True) -> NewDocuments:
        """Return all training documents as new ones; `prepare` is whether features are prepared for them."""
        no_pairs = np.empty(0, np.int64)
        features = self.features.features if prepare else []
        prepared = [self.view(no_pairs, no_pairs, "out").prepared(feature) for feature in features]
        return NewDocuments(self.network.n_documents, [sample.doc_topic for sample in self.samples], prepared)

    def view(self, new: Indices, candidates: Indices, direction: Direction) -> TrainingView:
        """Return pairs as a `TrainingView`, for features."""
        return TrainingView(self.network, new, candidates, np.full(len(new), direction == "out"), self._prepared)

    def values(self, new: Indices, candidates: Indices, direction: Direction) -> NDArray[np.float64]:
        """Return the features of pairs."""
        return self.features.known_pairs(self.view(new, candidates, direction))

    def detail(self, feature: int, new: int, candidate: int, direction: Direction) -> Detail:
        """Return the explanation of a feature of a pair."""
        view = self.view(np.array([new]), np.array([candidate]), direction)
        return self.features.features[feature].known_detail(view)

    def linked_with(self, documents: Any) -> list[Indices]:
        """Return for each of some documents itself and all it is linked with, in either direction."""
        start, ends = self.links.with_itself.indptr, self.links.with_itself.indices
        return [ends[start[i] : start[i + 1]].astype(np.int64) for i in documents]

    def reversed_links(self, documents: Indices, directions: list[Direction]) -> Shortlist:
        """Return pairs of documents that are linked, but in none of some directions.

        Their features ignore these links, which searches among all candidates do not.
        """
        linked = self.linked_with(documents)
        rows = np.repeat(np.arange(len(documents)), [len(own) for own in linked])
        new, candidates = documents[rows], np.concatenate([np.empty(0, np.int64), *linked])
        there = new == candidates
        for direction in directions:
            there |= self.links.has(new, candidates) if direction == "out" else self.links.has(candidates, new)
        rows, new, candidates = rows[~there], new[~there], candidates[~there]
        return Shortlist(rows, candidates, {one: self.values(new, candidates, one) for one in directions})
