"""Candidates from an approximate index, for networks in which ranking all documents takes too long.

The mean score of a pair over samples is nearly an inner product: of topics (those of the new document times the
weights, and those of the candidate, sample by sample), of features that are inner products themselves
(`FittedFeature.embedding`) and of features of the candidate alone. These long vectors are reduced to a few dimensions,
those in which scores differ most, and put in an index of faiss. What a few dimensions cannot represent, such as rare
words shared with a candidate or its neighbours, features look up themselves (`FittedFeature.proposals`). Candidates of
all sources are then ranked as the exact search ranks all documents: over all samples and features, first in single
precision, and the best of these in double precision.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from linktopics.features import FeatureSet
from linktopics.network.pairs import Direction
from linktopics.prediction.ranking import DIRECTIONS, ExactSearch, LeftOut, NewDocuments, Shortlist, blocks_of
from linktopics.prediction.scoring import block_scores, project
from linktopics.sampler.runner import PosteriorSample
from linktopics.utils.blas import one_thread

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

EXACT_MAX_DOCUMENTS = 100_000
"""Documents up to which ``search="auto"`` ranks all of them."""

EXACT_MAX_NEW_DOCUMENTS = 50
"""New documents for which ``search="auto"`` ranks all documents of a larger network, too: that takes about as long as
to build the index."""

SOURCE_CANDIDATES, DOCUMENTS_PER_SOURCE_CANDIDATE = 200, 500
"""Candidates from each source (the index for each direction, and features): the larger of the first number and one in
so many documents."""

DOUBLE_PRECISION_CANDIDATES = 50
"""Candidates that are scored in double precision, besides those that single precision cannot distinguish from them."""

INDEX_DIMENSIONS = 128
"""Dimensions of the vectors in the index."""

TEXT_DIMENSIONS = 100
"""Dimensions to which features reduce long vectors, such as TF-IDF, before all are reduced together."""

LEARNING_DOCUMENTS = 10_000
"""Documents from which the reduction is learned, also in the place of new documents."""

CANDIDATES_AT_ONCE = 2**14
"""Candidates whose vectors are in memory at once before they are reduced."""

LISTS_PER_PROBE, MIN_PROBED_LISTS = 16, 16
"""One in this many of the index's lists is searched, and at least this number of lists."""


def index_library() -> Any | None:
    """Return faiss, or None where it is not installed."""
    try:
        import faiss
    except ImportError:
        return None
    return faiss


class CandidateIndex:
    """Finds good candidates without scoring all documents; with few exceptions they are the best.

    Parameters
    ----------
    samples : list of PosteriorSample
        Samples over which probabilities are averaged.
    features : FeatureSet
        The features of pairs. Those that are not inner products are used only when candidates are scored.
    exact : ExactSearch
        The exact search, which has the features that depend on the candidate only.
    seed : int
        Seed of the reduction and of the index.
    n_jobs : int or None
        Threads that build it; their number does not change it.
    """

    def __init__(
        self, samples: list[PosteriorSample], features: FeatureSet, exact: ExactSearch, seed: int, n_jobs: int | None
    ) -> None:
        self.samples, self.features, self.exact = samples, features, exact
        self.n_candidates = exact.n_candidates
        self._faiss: Any = index_library()
        rng = np.random.default_rng(seed)
        docs = np.sort(rng.permutation(self.n_candidates)[:LEARNING_DOCUMENTS])
        self.weights = np.mean([sample.feature_weights for sample in samples], axis=0) / features.scale
        with one_thread():  # sums of BLAS depend on the number of threads
            self._embed(docs, seed % 2**31)
            self._reduce(docs)
            self._build(seed % 2**31, effective_n_jobs(n_jobs))

    def _embed(self, docs: Indices, seed: int) -> None:
        """Collect the features that are inner products."""
        self.texts: list[NDArray[np.float32]] = []
        self.projections: list[tuple[int, float, Callable[[Any], Array]]] = []
        for k, (feature, span) in enumerate(zip(self.features.features, self.features.spans, strict=True)):
            found = feature.embedding(TEXT_DIMENSIONS, docs, seed)
            if found is not None:
                self.texts.append(found[0])
                self.projections.append((k, float(self.weights[span.start]), found[1]))

    def _candidate_vectors(self, which: Indices | slice) -> NDArray[np.float32]:
        """Return the vectors of candidates, before they are reduced."""
        constants = [self.constants[direction][which, None] for direction in DIRECTIONS]
        parts = [*(s.doc_topic[which] for s in self.samples), *(x[which] for x in self.texts), *constants]
        return np.concatenate(parts, axis=1, dtype=np.float32)

    def _queries(self, shares: Sequence[NDArray[np.float32]], projected: list[Array], direction: Direction) -> Array:
        """Return the vectors of new documents for one direction, before they are reduced."""
        parts = [
            project(z.astype(float), s.weights, direction) / len(self.samples)
            for s, z in zip(self.samples, shares, strict=True)
        ]
        parts += [weight * x for (_, weight, _), x in zip(self.projections, projected, strict=True)]
        parts += [np.full((len(parts[0]), 1), float(direction == one)) for one in DIRECTIONS]
        return np.concatenate(parts, axis=1)

    def _reduce(self, docs: Indices) -> None:
        """Find the dimensions in which scores differ most, with training documents in place of new ones.

        With the covariance of the queries made the identity, they are the principal components of the candidates.
        """
        self.constants = {direction: added.mean(axis=0) for direction, (_, added) in self.exact.constants.items()}
        prepared = [self.features.features[k].known(docs) for k, *_ in self.projections]
        projected = [reduce(x) for (_, _, reduce), x in zip(self.projections, prepared, strict=True)]
        shares = [sample.doc_topic[docs] for sample in self.samples]
        queries = np.concatenate([self._queries(shares, projected, direction) for direction in DIRECTIONS])
        values, vectors = np.linalg.eigh(queries.T @ queries / len(queries))
        kept = values > 1e-9 * values[-1]
        size, vectors = np.sqrt(values[kept]), vectors[:, kept]
        known = self._candidate_vectors(docs).astype(float)
        self.mean = known.mean(axis=0)
        scaled = (known - self.mean) @ vectors * size
        _, components = np.linalg.eigh(scaled.T @ scaled)
        components = components[:, ::-1][:, :INDEX_DIMENSIONS]
        self.query_projection = vectors / size @ components
        self.candidate_projection = (vectors * size @ components).astype(np.float32)

    def _build(self, seed: int, n_threads: int) -> None:
        """Fill the index.

        The index finds near vectors, not large inner products; the two are the same after one more dimension has given
        all candidates the same length.
        """
        faiss, n, d = self._faiss, self.n_candidates, self.candidate_projection.shape[1]
        vectors = np.empty((n, d + 1), np.float32)
        mean = self.mean.astype(np.float32)
        for rows in blocks_of(n, 1, CANDIDATES_AT_ONCE):
            vectors[rows, :d] = (self._candidate_vectors(rows) - mean) @ self.candidate_projection
        squares = np.einsum("ik,ik->i", vectors[:, :d], vectors[:, :d])
        vectors[:, d] = np.sqrt(squares.max() - squares)
        self.texts = []
        n_lists = max(1, min(int(2 * np.sqrt(n)), n // 40))
        before = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(n_threads)
        try:
            self.index = faiss.IndexIVFFlat(faiss.IndexFlatL2(d + 1), d + 1, n_lists, faiss.METRIC_L2)
            self.index.cp.seed, self.index.cp.niter, self.index.cp.max_points_per_centroid = seed, 8, 100
            self.index.cp.min_points_per_centroid = 1
            self.index.train(vectors)
            self.index.add(vectors)
        finally:
            faiss.omp_set_num_threads(before)
        self.index.nprobe = max(MIN_PROBED_LISTS, n_lists // LISTS_PER_PROBE)

    @property
    def wanted(self) -> int:
        """Candidates from each source."""
        return max(SOURCE_CANDIDATES, self.n_candidates // DOCUMENTS_PER_SOURCE_CANDIDATE)

    @property
    def width(self) -> int:
        """Number of array entries that a new document needs."""
        return (2 + len(self.features.features)) * self.wanted * (8 + 2 * len(self.features.mean))

    def shortlist(
        self, new: NewDocuments, rows: slice, directions: Sequence[Direction], top: int, left_out: LeftOut = None
    ) -> Shortlist:
        """Return pairs with good candidates of some new documents, but for those that are left out."""
        out = [np.empty(0, np.int64)] * (rows.stop - rows.start) if left_out is None else left_out
        wanted = max(self.wanted, 4 * top) + max(len(one) for one in out)
        if wanted >= self.n_candidates:
            found = [np.arange(self.n_candidates)] * len(out)
        else:
            found = self._find(new, rows, directions, wanted)
        kept = [np.setdiff1d(one, without) for one, without in zip(found, out, strict=True)]
        where = np.repeat(np.arange(rows.start, rows.stop), [len(one) for one in kept])
        candidates = np.concatenate(kept).astype(np.int64, copy=False)
        pairs = Shortlist(where, candidates, self.features.pairs(new.prepared, where, candidates, directions))
        ends = np.cumsum([0, *map(len, kept)]).tolist()
        size = max(DOUBLE_PRECISION_CANDIDATES, 2 * top)
        best = [a + self._best(new, pairs.part(slice(a, b)), size) for a, b in pairwise(ends) if b > a]
        return pairs.part(np.concatenate([np.empty(0, np.int64), *best]))

    def _best(self, new: NewDocuments, pairs: Shortlist, size: int) -> Indices:
        """Return the indices of the best pairs of one document, in order, and of any that may be as good."""
        if len(pairs.rows) <= size:
            return np.arange(len(pairs.rows))
        values = {direction: x[None].astype(np.float32) for direction, x in pairs.features.items()}
        absent = np.zeros((len(values), len(pairs.rows)), np.float32)
        with np.errstate(over="ignore"):
            for sample, shares in zip(self.samples, new.shares, strict=True):
                own, old = shares[pairs.rows[:1]].astype(float), np.asarray(sample.doc_topic[pairs.candidates])
                for total, (direction, x) in zip(absent, values.items(), strict=True):
                    projected = project(own, sample.weights, direction).astype(np.float32)
                    scores = block_scores(projected, old, x, sample.feature_weights.astype(np.float32))
                    total += self.exact.loss.no_link(scores)[0]
        return self.exact.not_worse(absent / np.float32(len(self.samples)), size, 0.0)

    def _find(self, new: NewDocuments, rows: slice, directions: Sequence[Direction], wanted: int) -> list[Indices]:
        """Return the candidates of all sources for each of some new documents."""
        self._faiss.omp_set_num_threads(1)  # of this thread, which is one of several
        projected = [reduce(new.prepared[k][rows]) for k, _, reduce in self.projections]
        shares, sources = [own[rows] for own in new.shares], []
        for direction in directions:
            queries = self._queries(shares, projected, direction) @ self.query_projection
            queries = np.pad(queries, ((0, 0), (0, 1))).astype(np.float32)
            sources.append(self.index.search(queries, wanted)[1])
        for feature, prepared in zip(self.features.features, new.prepared, strict=True):
            proposed = feature.proposals(prepared, rows, wanted)
            if proposed is not None:
                sources.append(proposed)
        together = [np.unique(np.concatenate(each)) for each in zip(*sources, strict=True)]
        return [one[one >= 0] for one in together]  # -1 stands for none
