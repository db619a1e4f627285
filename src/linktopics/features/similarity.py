"""Similarity of the texts of two documents, or of one text and the neighbours of the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

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
from linktopics.features.degree import LinkIndex, shared_links
from linktopics.features.vectors import KnownVectors, LdaTopics, Tfidf
from linktopics.kernels.rows import add_rows_at, largest_products, row_dots, row_times_matrix, sum_dots, sums_of_rows
from linktopics.kernels.simd import padded
from linktopics.network import DocumentNetwork
from linktopics.network.inputs import Documents
from linktopics.sampler import Settings
from linktopics.sampler.partition import token_indices
from linktopics.utils.checks import check_array

N_SHOWN_WORDS = 3

MEMBERS_AT_ONCE = 2**20
"""Products of vectors that are in memory at once."""

ENTRIES_AT_ONCE = 2**20
"""Entries of sums of vectors that are in memory at once."""

HUB_MIN_NEIGHBOURS = 200
"""Sums of more vectors than this are cached: candidates with so many links are suggested often."""

MAX_POSTINGS = 1_000_000
"""Most entries of the index that are read per new document to find documents with the same words."""

MATCHES_PER_CANDIDATE = 4
"""Documents with the same words whose neighbours are proposed, for each candidate that is wanted."""

MIN_DOCUMENTS_PER_MEMBER = 100
"""A new document is compared only with the members of its candidates if there are more documents per member."""

MIN_DOCUMENTS_PER_CANDIDATE = 8
"""If there are more documents per candidate, sums of vectors are computed only for the candidates."""


@dataclass(frozen=True)
class Similarity(PairFeature):
    """Cosine of the new document with the candidate, the candidate's neighbours, or all of them together.

    Parameters
    ----------
    of : {"tfidf", "topics"}
        What is compared: TF-IDF vectors of the words, or topic proportions of a plain LDA, which does not use links.
        (The topics of the model itself change with every sweep; a feature must not.)
    part : {"own", "neighbours", "centroid"}
        Compared with the candidate; with its neighbours, on average; or with the sum of the vectors of both.
    """

    of: str = "tfidf"
    part: str = "own"

    def __post_init__(self) -> None:
        for name, known in (("of", ("tfidf", "topics")), ("part", ("own", "neighbours", "centroid"))):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} is {getattr(self, name)!r}; it must be {' or '.join(map(repr, known))}.")

    @property
    def name(self) -> str:
        """The name in `pair_features`."""
        return self.of if self.part == "own" else f"{self.of}-{self.part}"

    def fit(self, network: DocumentNetwork, settings: Settings, seed: np.random.SeedSequence) -> FittedFeature:
        """Return the feature with document frequencies, or topics, and links."""
        counts = network.counts
        vectorizer = Tfidf(counts) if self.of == "tfidf" else LdaTopics.learn(counts, settings, seed)
        return _FittedSimilarity(self, network, vectorizer)

    def restore(self, network: DocumentNetwork, settings: Settings, arrays: Mapping[str, NDArray]) -> FittedFeature:
        """Return the feature with its topics and lengths of sums of vectors from `arrays`; compute the rest again."""
        vectorizer = Tfidf(network.counts) if self.of == "tfidf" else LdaTopics.of(arrays)
        fitted = _FittedSimilarity(self, network, vectorizer)
        if "norm" in arrays:  # missing in models of earlier versions
            fitted.norm = arrays["norm"]
        return fitted

    def check_arrays(self, network: DocumentNetwork, settings: Settings, arrays: Mapping[str, NDArray]) -> None:
        """Raise ValueError if types and shapes are not those that kernels read."""
        n, V, K = network.n_documents, network.n_words, settings.n_topics
        expected: dict[str, tuple[type, tuple[int, ...]]] = {
            "norm": (np.float64, (n,)),
            "word_topic": (np.float32, (V, padded(K))),
            "alpha": (np.float64, (K,)),
            "seed": (np.int64, (1,)),
        }
        for name, type_and_shape in expected.items():
            if name in arrays:
                check_array(f"{self.name}/{name}", arrays[name], *type_and_shape)
        norm, seed = arrays.get("norm", np.zeros(0)), arrays.get("seed", np.zeros(1))
        if not (np.isfinite(norm).all() and (norm >= 0).all()):
            raise ValueError(f"lengths of {self.name} are negative, or not finite")
        if seed[0] < 0:
            raise ValueError(f"{self.name}/seed is {seed[0]}, and a seed is not negative")


for _of in ("tfidf", "topics"):
    for _part in ("own", "neighbours", "centroid"):
        register_feature(Similarity(_of, _part))


class _FittedSimilarity(FittedFeature):
    symmetric = True

    def __init__(self, feature: Similarity, network: DocumentNetwork, vectorizer: Tfidf | LdaTopics) -> None:
        self.name, self.columns = feature.name, (feature.name,)
        self.of, self.part = feature.of, feature.part
        self.links, self.known_vectors = LinkIndex(network), KnownVectors(network.counts, vectorizer)

    def share_cache(self, others: Sequence[FittedFeature]) -> None:
        self.links = shared_links(self.links, others)
        if self.of == "tfidf":  # topics are those of a chain of the feature's own
            alike = (o.known_vectors for o in others if isinstance(o, _FittedSimilarity) and o.of == self.of)
            self.known_vectors = next(alike, self.known_vectors)

    def clear_cache(self) -> None:
        vars(self).pop("hubs", None)
        self.links.clear_cache()
        self.known_vectors.clear_cache()

    def arrays(self) -> dict[str, NDArray]:
        vectorizer = self.known_vectors.vectorizer
        found = vectorizer.arrays() if isinstance(vectorizer, LdaTopics) else {}
        if "norm" in vars(self):  # which takes longest to compute
            found["norm"] = self.norm
        return found

    @property
    def own(self) -> csr_array:
        """Vectors of the training documents, a row for each."""
        return self.known_vectors.own

    @property
    def members(self) -> csr_array:
        """The documents whose vectors are added up for a candidate, a row for each: neighbours, or itself and them."""
        return self.links.neighbours if self.part == "neighbours" else self.links.with_itself

    @cached_property
    def norm(self) -> Array:
        """Lengths of the sums of vectors."""
        members, own = self.members, self.own
        n, n_columns = own.shape
        squares, most = np.zeros(n), np.minimum(members @ np.diff(own.indptr), n_columns).astype(np.int64)
        for part in _runs(most, ENTRIES_AT_ONCE):
            ends, values = np.empty(part.stop - part.start + 1, np.int64), np.empty(most[part].sum())
            sums_of_rows(
                part.start, part.stop, members.indptr, members.indices, own.indptr, own.indices, own.data, n_columns,
                ends, values,
            )  # fmt: skip
            values = values[: ends[-1]]
            values *= values
            there = np.flatnonzero(np.diff(ends))  # other sums are empty
            squares[part][there] = np.add.reduceat(values, ends[:-1][there]) if len(there) else 0.0
        return np.sqrt(squares)

    def _sums(self, candidates: Indices) -> csr_array:
        """Return the sums of the vectors of the members of candidates."""
        return csr_array(self.members[candidates] @ self.own)

    @cached_property
    def hubs(self) -> tuple[csr_array, NDArray[np.int64]]:
        """The sums of candidates with many members, and the index of each candidate in them (-1 if it is not there)."""
        which = np.flatnonzero(self.links.n_neighbours > HUB_MIN_NEIGHBOURS)
        place = np.full(len(self.links.n_neighbours), -1)
        place[which] = np.arange(len(which))
        sums = self._sums(which)
        sums.sort_indices()
        return sums, place

    def _factors(self, candidates: Indices) -> Array:
        """Return the factors that turn sums of products with the members into values of pairs."""
        if self.part == "own":
            return np.ones(len(candidates))
        if self.part == "neighbours":
            n = self.links.n_neighbours[candidates]
            return np.where(n > 0, 1.0 / np.maximum(n, 1), np.nan)
        norm = self.norm[candidates]
        return 1.0 / np.where(norm > 0, norm, 1.0)

    def prepare(self, documents: Documents) -> csr_array:
        new = self.known_vectors.vectorizer(documents.counts)
        new.sort_indices()
        return new

    def known_pairs(self, view: TrainingView) -> Array:
        new, rows, candidates = self.own, view.new, view.candidates
        if self.part == "own":
            return _dots(new, rows, self.own, candidates)[:, None]
        members, inner = self.members, np.empty(len(rows))
        sum_dots(
            new.indptr, new.indices, new.data, members.indptr, members.indices, new.indptr, new.indices, new.data,
            new.shape[1], *_by_group(rows, candidates), inner,
        )  # fmt: skip
        linked = self.links.linked(rows, candidates)
        squares = self.known_vectors.squares[rows]
        total = inner - linked * squares  # the new document does not count as a neighbour
        if self.part == "neighbours":
            n = self.links.n_neighbours[candidates] - linked
            return np.where(n > 0, total / np.maximum(n, 1), np.nan)[:, None]
        # |b|^2 of the sum b without the new document v: |b - v|^2 = |b|^2 - 2 v.b + |v|^2
        norm = self.norm[candidates] ** 2 - linked * (2.0 * inner - squares)
        return np.where(norm > 1e-12, total / np.sqrt(np.maximum(norm, 1e-12)), 0.0)[:, None]

    def pairs(self, new: csr_array, rows: Indices, candidates: Indices, outgoing: Mask) -> Array:
        if self.part == "own":
            return _dots(self.own, candidates, new, rows)[:, None]
        rows, candidates, ends = np.asarray(rows), np.asarray(candidates), self.members.indptr
        sums, place = self.hubs
        is_hub = place[candidates] >= 0
        hubs, others = np.flatnonzero(is_hub), np.flatnonzero(~is_hub)
        sizes = ends[candidates[others] + 1] - ends[candidates[others]]
        values = np.empty(len(rows))
        for run in _runs(sizes, MEMBERS_AT_ONCE):
            here = others[run]
            pair = np.repeat(np.arange(len(here)), sizes[run])
            members = self.members.indices[token_indices(ends, candidates[here])]
            values[here] = np.bincount(pair, self._products(new, rows[here][pair], members), len(here))
        values[hubs] = _dots(new, rows[hubs], sums, place[candidates[hubs]])
        return (values * self._factors(candidates))[:, None]

    def _products(self, new: csr_array, rows: Indices, members: Indices) -> Array:
        """Return the products of new documents with members of candidates."""
        result, few = np.empty(len(rows)), np.ones(len(rows), bool)
        often, counts = np.unique(rows, return_counts=True)
        for row in often[MIN_DOCUMENTS_PER_MEMBER * counts >= len(self.links.n_neighbours)].tolist():
            here = slice(*new.indptr[row : row + 2])
            own = rows == row
            result[own] = _product(new.indices[here], new.data[here], self.known_vectors.transposed)[members[own]]
            few[own] = False
        result[few] = _dots(self.own, members[few], new, rows[few])
        return result

    def block(self, new: csr_array, rows: slice, candidates: Indices, outgoing: bool) -> Array:
        n = len(self.links.n_neighbours)
        if MIN_DOCUMENTS_PER_CANDIDATE * len(candidates) < n:
            right = self.own[candidates] if self.part == "own" else self._sums(candidates)
            values = (new[rows] @ right.T).toarray()
        else:
            # The product with a sum is the sum of the products, which are computed anyway.
            values = self.known_vectors.products(new[rows])
            if self.part != "own":
                values = (self.members @ np.ascontiguousarray(values.T)).T
            if len(candidates) < n or (np.diff(candidates) != 1).any():
                values = values[:, candidates]
        if self.part != "own":
            values = values * self._factors(candidates)
        return np.asarray(values[:, :, None])

    def embedding(
        self, n_dimensions: int, documents: Indices, seed: int
    ) -> tuple[NDArray[np.float32], Callable[[csr_array], Array]]:
        basis = self.known_vectors.basis(n_dimensions, documents, seed)
        candidates = self.own.astype(np.float32) @ np.ascontiguousarray(basis.T, np.float32)
        if self.part != "own":
            candidates = self.members.astype(np.float32) @ candidates
            candidates *= np.nan_to_num(self._factors(np.arange(len(candidates))))[:, None].astype(np.float32)
        return candidates, lambda new: np.asarray(new @ basis.T)

    def known(self, documents: Indices) -> csr_array:
        return self.own[documents]

    def proposals(self, new: csr_array, rows: slice, size: int) -> list[NDArray[np.int64]] | None:
        if self.of != "tfidf":
            return None  # topics have few dimensions, all of them in the embedding
        some = self._rarest(new[rows])
        return [self._proposed(some.indices[a:b], some.data[a:b], size) for a, b in pairwise(some.indptr.tolist())]

    def _proposed(self, words: Indices, weights: Array, size: int) -> NDArray[np.int64]:
        """Return candidates for a document of some words: those with the same, or whose members have the same."""
        values = _product(words, weights, self.known_vectors.transposed)
        if self.part == "own":
            return _largest(values, size)
        matches = _largest(values, MATCHES_PER_CANDIDATE * size)
        # Links count both ways, so the matrix of members is symmetric.
        values = _product(matches, values[matches], self.members)
        found = np.flatnonzero(values)
        values[found] *= self._factors(found)
        return _largest(values, size)

    def _rarest(self, new: csr_array) -> csr_array:
        """Return the rows without frequent words, which are in too many documents to distinguish them."""
        frequency = np.diff(self.known_vectors.transposed.indptr)[new.indices].astype(np.int64)
        row = np.repeat(np.arange(new.shape[0]), np.diff(new.indptr))
        order = np.lexsort((frequency, row))
        before = np.cumsum(frequency[order]) - frequency[order]
        before -= np.append(before, 0)[new.indptr[:-1]][row]
        kept = np.sort(order[before < MAX_POSTINGS])
        starts = np.searchsorted(kept, new.indptr)
        return csr_array((new.data[kept], new.indices[kept], starts), shape=new.shape)

    def known_detail(self, view: TrainingView) -> Detail:
        new, candidate = int(view.new[0]), int(view.candidates[0])
        return self.detail(self.own, new, candidate, bool(view.outgoing[0]), without=new)

    def detail(self, new: csr_array, row: int, candidate: int, outgoing: bool, without: int = -1) -> Detail:
        with_whom = {"own": "it", "neighbours": "its neighbours", "centroid": "it and its neighbours"}[self.part]
        if self.of == "topics":
            return Detail(f"topics in common with {with_whom}")
        here = slice(*new.indptr[row : row + 2])
        words = new.indices[here]
        best = largest_products(new.data[here], self._weights(words, candidate, without), 1e-12, N_SHOWN_WORDS)
        if not len(best):
            return Detail("no shared words")
        return Detail("shared words" if self.part == "own" else f"shared words with {with_whom}", words[best].tolist())

    def _weights(self, words: Indices, candidate: int, without: int) -> Array:
        """Return the weights of some words, in order, in the sum of the vectors of a candidate's members."""
        if self.part == "own":
            return _sum_at(words, self.own, np.array([candidate]))
        members = self.members.indices[slice(*self.members.indptr[candidate : candidate + 2])]
        if self.links.n_neighbours[candidate] <= HUB_MIN_NEIGHBOURS:
            return _sum_at(words, self.own, members if without < 0 else members[members != without])
        sums, place = self.hubs
        return _sum_at(words, sums, place[[candidate]]) - _sum_at(words, self.own, members[members == without])


def _sum_at(words: Indices, matrix: csr_array, rows: Indices) -> Array:
    """Return the sum of some rows of a matrix at some columns, which are in order."""
    result = np.zeros(len(words))
    add_rows_at(words, rows, matrix.indptr, matrix.indices, matrix.data, result)
    return result


def _dots(left: csr_array, rows: Indices, right: csr_array, columns: Indices) -> Array:
    """Return left[rows[e]] @ right[columns[e]] for each e."""
    result = np.empty(len(rows))
    row_dots(
        left.indptr, left.indices, left.data, right.indptr, right.indices, right.data,
        left.shape[1], *_by_group(rows, columns), result,
    )  # fmt: skip
    return result


def _by_group(rows: Indices, groups: Indices) -> tuple[NDArray[np.int64], ...]:
    """Return an order of pairs by group, and rows and groups as kernels take them."""
    return np.argsort(groups, kind="stable"), np.asarray(rows, np.int64), np.asarray(groups, np.int64)


def _product(columns: Indices, values: Array, matrix: csr_array) -> Array:
    """Return the product of a sparse row, given by its columns and values, with a matrix."""
    result = np.zeros(matrix.shape[1])
    row_times_matrix(columns, values, matrix.indptr, matrix.indices, matrix.data, result)
    return result


def _largest(values: Array, size: int) -> NDArray[np.int64]:
    """Return the indices of the `size` largest positive values, or of fewer if there are fewer."""
    found = np.flatnonzero(values > 0)
    return found if len(found) <= size else found[np.argpartition(-values[found], size)[:size]]


def _runs(sizes: Indices, most: int) -> list[slice]:
    """Return slices of items whose sizes add up to about `most`."""
    number = np.cumsum(sizes, dtype=np.int64) // most
    cuts = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(sizes)]
    return [slice(a, b) for a, b in pairwise(cuts) if b > a]
