"""Features of the links of a candidate: its neighbours, and how many there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array

from linktopics.features.base import (
    Array,
    Detail,
    FittedFeature,
    Indices,
    Mask,
    PairFeature,
    TrainingView,
    register_feature,
)
from linktopics.network import DocumentNetwork
from linktopics.network.inputs import Documents
from linktopics.sampler import Settings


class LinkIndex:
    """The links of the training documents, in the forms that features need, each computed on first use.

    Parameters
    ----------
    network : DocumentNetwork
        The training documents.
    """

    def __init__(self, network: DocumentNetwork) -> None:
        self.n_documents, self.directed, self.links = network.n_documents, network.directed, network.links

    def clear_cache(self) -> None:
        """Drop cached arrays; they are computed again when needed."""
        for name in ("keys", "neighbours", "with_itself"):
            vars(self).pop(name, None)

    @cached_property
    def keys(self) -> NDArray[np.int64]:
        """Sorted keys of the links: source * n_documents + target."""
        return np.sort(self.links[:, 0] * self.n_documents + self.links[:, 1])

    @cached_property
    def neighbours(self) -> csr_array:
        """Which documents are linked, in either direction: a matrix of ones."""
        n = self.n_documents
        back = np.sort(self.links[:, 1] * n + self.links[:, 0])
        ends = np.concatenate([self.keys, back])
        ends.sort(kind="stable")  # two runs in order: a merge
        del back
        ends = ends[np.diff(ends, prepend=-1) > 0]  # a link in each direction counts once
        start = np.searchsorted(ends, n * np.arange(n + 1))
        ends %= n
        place = np.int32 if len(ends) < 2**31 else np.int64
        return csr_array((np.ones(len(ends)), ends.astype(place), start.astype(place)), shape=(n, n))

    @cached_property
    def with_itself(self) -> csr_array:
        """The matrix `neighbours`, in which every document is also linked with itself."""
        both = csr_array(self.neighbours + eye_array(self.n_documents, format="csr"))
        both.sort_indices()
        return both

    @cached_property
    def n_neighbours(self) -> Indices:
        """Number of neighbours of each document."""
        return np.diff(self.neighbours.indptr)

    @cached_property
    def n_out(self) -> NDArray[np.int64]:
        """Number of links from each document; without directions, of all its links."""
        found = np.bincount(self.links[:, 0], minlength=self.n_documents)
        return found if self.directed else found + np.bincount(self.links[:, 1], minlength=self.n_documents)

    @cached_property
    def n_in(self) -> NDArray[np.int64]:
        """Number of links to each document; without directions, of all its links."""
        return np.bincount(self.links[:, 1], minlength=self.n_documents) if self.directed else self.n_out

    def has(self, source: Indices, target: Indices) -> Mask:
        """Return which of the pairs (source, target) are links."""
        if not self.directed:
            source, target = np.minimum(source, target), np.maximum(source, target)
        wanted = source.astype(np.int64) * self.n_documents + target
        at = np.minimum(np.searchsorted(self.keys, wanted), max(len(self.keys) - 1, 0))
        return self.keys[at] == wanted if len(self.keys) else np.zeros(len(wanted), bool)

    def linked(self, a: Indices, b: Indices) -> NDArray[np.int64]:
        """Return 1 for pairs that are linked in either direction, else 0."""
        either = self.has(a, b) | self.has(b, a) if self.directed else self.has(a, b)
        return either.astype(np.int64)


def shared_links(own: LinkIndex, others: Sequence[FittedFeature]) -> LinkIndex:
    """Return the links that other features of the same documents hold, or else one's own."""
    return next((links for other in others if isinstance(links := getattr(other, "links", None), LinkIndex)), own)


@dataclass(frozen=True)
class Degree(PairFeature):
    """Logarithm of one plus the number of links that the candidate already has.

    In a directed network there are four values: in- and out-degree of the candidate as target, and as source; the two
    that do not apply are missing.
    """

    name = "degree"

    def fit(self, network: DocumentNetwork, settings: Settings, seed: np.random.SeedSequence) -> FittedFeature:
        """Return the feature with the links of the network."""
        return _FittedDegree(LinkIndex(network))


register_feature(Degree())


class _FittedDegree(FittedFeature):
    name = "degree"
    columns: tuple[str, ...] = ("degree",)
    of_candidate = True

    def __init__(self, links: LinkIndex) -> None:
        self.links = links
        if links.directed:
            self.columns = "in-degree of target", "out-degree of target", "in-degree of source", "out-degree of source"

    def share_cache(self, others: Sequence[FittedFeature]) -> None:
        self.links = shared_links(self.links, others)

    def clear_cache(self) -> None:
        self.links.clear_cache()

    def prepare(self, documents: Documents) -> None:
        return None

    def known_pairs(self, view: TrainingView) -> Array:
        return self._values(*self._without_the_pair(view), view.outgoing)

    def _without_the_pair(self, view: TrainingView) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return numbers of links to and from candidates, without those with the new document."""
        links, new, candidates = self.links, view.new, view.candidates
        return links.n_in[candidates] - links.has(new, candidates), links.n_out[candidates] - links.has(candidates, new)

    def pairs(self, new: Any, rows: Indices, candidates: Indices, outgoing: Mask) -> Array:
        return self._values(self.links.n_in[candidates], self.links.n_out[candidates], outgoing)

    def _values(self, n_in: Indices, n_out: Indices, outgoing: Mask) -> Array:
        if not self.links.directed:
            return np.log1p(n_in)[:, None]
        both = np.log1p(np.column_stack([n_in, n_out]))
        as_target, as_source = outgoing[:, None], ~outgoing[:, None]
        return np.hstack([np.where(as_target, both, np.nan), np.where(as_source, both, np.nan)])

    def block(self, new: Any, rows: slice, candidates: Indices, outgoing: bool) -> Array:
        one = self.pairs(new, candidates, candidates, np.full(len(candidates), outgoing))
        return np.broadcast_to(one, (rows.stop - rows.start, *one.shape))

    def detail(self, new: Any, row: int, candidate: int, outgoing: bool) -> Detail:
        return self._detail(int(self.links.n_in[candidate]), int(self.links.n_out[candidate]), outgoing)

    def known_detail(self, view: TrainingView) -> Detail:
        n_in, n_out = self._without_the_pair(view)
        return self._detail(int(n_in[0]), int(n_out[0]), bool(view.outgoing[0]))

    def _detail(self, n_in: int, n_out: int, outgoing: bool) -> Detail:
        if not self.links.directed:
            return Detail(f"{n_in} link{'' if n_in == 1 else 's'}")
        parts = [f"linked to by {n_in}", f"links to {n_out}"]
        return Detail(", ".join(parts if outgoing else parts[::-1]))


@dataclass(frozen=True)
class Intercept(PairFeature):
    """The same value for all pairs."""

    name = "intercept"

    def fit(self, network: DocumentNetwork, settings: Settings, seed: np.random.SeedSequence) -> FittedFeature:
        """Return the feature, which learns nothing."""
        return _FittedIntercept()


register_feature(Intercept())


class _FittedIntercept(FittedFeature):
    name = "intercept"
    columns = ("intercept",)
    centred = False
    symmetric = of_candidate = True

    def prepare(self, documents: Documents) -> None:
        return None

    def pairs(self, new: Any, rows: Indices, candidates: Indices, outgoing: Mask) -> Array:
        return np.ones((len(candidates), 1))
