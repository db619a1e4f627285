"""How alike the texts of two documents are, or one text and the neighbours of the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize

from linktopics._inputs import Documents
from linktopics.features.base import Array, FittedFeature, PairFeature, TrainingView
from linktopics.features.links import Links
from linktopics.inference import infer_topics
from linktopics.kernels.rows import row_dots
from linktopics.network import DocumentNetwork
from linktopics.pairs import TrainingPairs
from linktopics.posterior import Plan, PosteriorSample, run_chains, start_chains
from linktopics.sampler import Corpus, Settings

__all__ = ["Similarity"]

Vectors = Callable[[csr_array], csr_array]
"""Counts to unit vectors, a row for each document."""

TOPIC_SWEEPS = 200
"""Sweeps of the plain LDA whose topics are compared."""

WORDS_SHOWN = 3


@dataclass(frozen=True)
class Similarity(PairFeature):
    """Cosine of the new document with the candidate, the candidate's neighbours, or all of them together.

    Parameters
    ----------
    of : {"tfidf", "topics"}
        What is compared: TF-IDF vectors of the words, or proportions of topics of a plain LDA, which sees no links.
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
        """The name by which `pair_features` knows it."""
        return self.of if self.part == "own" else f"{self.of}-{self.part}"

    def fit(self, network: DocumentNetwork, settings: Settings, seed: np.random.SeedSequence) -> FittedFeature:
        """Learn document frequencies, or topics, and who is linked with whom."""
        if self.of == "tfidf":
            return _FittedSimilarity(self, network, _Tfidf(network.counts), words=network.vocabulary)
        return _FittedSimilarity(self, network, _Topics.learn(network.counts, settings, seed))

    def restore(self, network: DocumentNetwork, settings: Settings, arrays: Mapping[str, NDArray]) -> FittedFeature:
        """Take topics from where they were kept; find the rest again."""
        if self.of == "tfidf":
            return super().restore(network, settings, arrays)
        return _FittedSimilarity(self, network, _Topics.of(arrays))


class _Tfidf:
    """Counts to unit vectors of TF-IDF."""

    def __init__(self, counts: csr_array) -> None:
        with config_context(transform_output="default"):
            self.fitted = TfidfTransformer().fit(counts)

    def __call__(self, counts: csr_array) -> csr_array:
        with config_context(transform_output="default"):
            return csr_array(self.fitted.transform(counts))


class _Topics:
    """Counts to unit vectors of the topics of a plain LDA."""

    def __init__(self, sample: PosteriorSample, seed: int) -> None:
        self.sample, self.seed = sample, seed

    @classmethod
    def learn(cls, counts: csr_array, settings: Settings, seed: np.random.SeedSequence) -> _Topics:
        """Run the chain of a plain LDA."""
        nothing = np.empty(0, np.int32)
        pairs = TrainingPairs(nothing, nothing, np.empty(0, bool), counts.shape[0])
        corpus = Corpus.build(counts, pairs, symmetric=True)
        (chain,) = chains = start_chains(corpus, settings, [seed])
        run_chains(corpus, settings, chains, Plan(TOPIC_SWEEPS - 1, 1, 1), verbose=False)
        return cls(chain.samples[0], int(seed.generate_state(1)[0]))

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray]) -> _Topics:
        """Return what `arrays` described."""
        alpha = arrays["alpha"]
        nothing, none = np.empty((0, len(alpha)), np.float32), np.empty(0)
        sample = PosteriorSample(0, 0.0, arrays["word_topic"], nothing, np.zeros((len(alpha), len(alpha))), none, alpha)
        return cls(sample, int(arrays["seed"][0]))

    def arrays(self) -> dict[str, NDArray]:
        """Return what is needed to go on as before."""
        return {"word_topic": self.sample.word_topic, "alpha": self.sample.alpha, "seed": np.array([self.seed])}

    def __call__(self, counts: csr_array) -> csr_array:
        shares = infer_topics(self.sample, counts, self.seed)
        return csr_array(normalize(shares.astype(np.float64)))


class _FittedSimilarity(FittedFeature):
    def __init__(
        self, feature: Similarity, network: DocumentNetwork, vectors: Vectors, words: NDArray | None = None
    ) -> None:
        self.name = feature.name
        self.columns = (feature.name,)
        self.of, self.part = feature.of, feature.part
        self.vectors, self.words = vectors, words
        self.links = Links.of(network)
        self.own = vectors(network.counts)
        if self.part != "own":
            self.around = csr_array(self.links.neighbours @ self.own)
        if self.part == "centroid":
            self.norm = np.sqrt(_squares(csr_array(self.own + self.around)))
        self.n_neighbours = np.diff(self.links.neighbours.indptr)

    def arrays(self) -> dict[str, NDArray]:
        return self.vectors.arrays() if isinstance(self.vectors, _Topics) else {}

    @cached_property
    def right(self) -> csr_array:
        """Rows whose product with a new document's vector is the number of the pair."""
        if self.part == "own":
            return self.own
        if self.part == "neighbours":
            return _scaled(self.around, 1.0 / np.maximum(self.n_neighbours, 1))
        return _scaled(csr_array(self.own + self.around), 1.0 / np.where(self.norm > 0, self.norm, 1.0))

    @cached_property
    def transposed(self) -> csr_array:
        return csr_array(self.right.T)

    def prepare(self, documents: Documents) -> csr_array:
        return self.vectors(documents.counts)

    def known_pairs(self, view: TrainingView) -> Array:
        new, rows, candidates = self.own, view.new, view.candidates
        own = _dots(new, rows, self.own, candidates)
        if self.part == "own":
            return own[:, None]
        around = _dots(new, rows, self.around, candidates)
        linked = self.links.linked(rows, candidates)
        squares = _squares(new)[rows]
        around -= linked * squares  # the new document is no neighbour
        if self.part == "neighbours":
            return _per(around, self.n_neighbours[candidates] - linked)[:, None]
        # |own + around|^2 without the new document: |b - v|^2 = |b|^2 - 2 v.b + |v|^2
        inner = own + around + linked * squares
        norm = self.norm[candidates] ** 2 - linked * (2.0 * inner - squares)
        return np.where(norm > 1e-12, (own + around) / np.sqrt(np.maximum(norm, 1e-12)), 0.0)[:, None]

    def pairs(
        self, new: csr_array, rows: NDArray[np.integer], candidates: NDArray[np.integer], outward: NDArray[np.bool_]
    ) -> Array:
        values = _dots(new, rows, self.right, candidates)
        if self.part == "neighbours":
            values[self.n_neighbours[candidates] == 0] = np.nan
        return values[:, None]

    def block(self, new: csr_array, rows: slice, candidates: NDArray[np.integer], outward: bool) -> Array:
        every = len(candidates) == len(self.n_neighbours) and bool((np.diff(candidates) == 1).all())
        right = self.transposed if every else csr_array(self.right[candidates].T)
        values = (new[rows] @ right).toarray()
        if self.part == "neighbours":
            values[:, self.n_neighbours[candidates] == 0] = np.nan
        return np.asarray(values[:, :, None])

    def detail(self, new: csr_array, row: int, candidate: int, outward: bool) -> str:
        return self._detail(new[[row]], self.right[[candidate]])

    def known_detail(self, view: TrainingView) -> str:
        new = self.own[view.new]
        linked = self.links.linked(view.new, view.candidates)[0]
        right = self.own[view.candidates] if self.part != "neighbours" else 0 * new
        if self.part != "own":
            right = right + self.around[view.candidates] - linked * new
        return self._detail(new, csr_array(right))

    def _detail(self, new: csr_array, right: csr_array) -> str:
        with_whom = {"own": "it", "neighbours": "its neighbours", "centroid": "it and its neighbours"}[self.part]
        if self.of == "topics":
            return f"topics in common with {with_whom}"
        shared = csr_array(new.multiply(right))
        best = shared.indices[np.argsort(-shared.data, kind="stable")]
        best = best[np.sort(shared.data)[::-1] > 1e-12][:WORDS_SHOWN]
        if not len(best):
            return "no shared words"
        named = ", ".join(str(w) if self.words is None else str(self.words[w]) for w in best)
        return f"shared words: {named}" if self.part == "own" else f"shared words with {with_whom}: {named}"


def _dots(left: csr_array, rows: NDArray[np.integer], right: csr_array, columns: NDArray[np.integer]) -> Array:
    """Return left[rows[e]] @ right[columns[e]] for each e."""
    result = np.empty(len(rows))
    row_dots(
        *(np.asarray(a, np.int64) for a in (left.indptr, left.indices)), left.data,
        *(np.asarray(a, np.int64) for a in (right.indptr, right.indices)), right.data,
        left.shape[1], np.argsort(columns, kind="stable"), np.asarray(rows, np.int64), np.asarray(columns, np.int64),
        result,
    )  # fmt: skip
    return result


def _squares(vectors: csr_array) -> Array:
    return np.asarray(vectors.multiply(vectors).sum(axis=1)).ravel()


def _scaled(vectors: csr_array, factors: Array) -> csr_array:
    """Multiply each row by its factor."""
    return csr_array(
        (vectors.data * np.repeat(factors, np.diff(vectors.indptr)), vectors.indices, vectors.indptr),
        shape=vectors.shape,
    )


def _per(total: Array, n: NDArray[np.integer]) -> Array:
    """Divide by a number of documents; NaN where there is none."""
    return np.where(n > 0, total / np.maximum(n, 1), np.nan)
