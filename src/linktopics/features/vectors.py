"""Unit vectors of documents from word counts: TF-IDF, or the topics of a plain LDA."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd

from linktopics.features.base import Array
from linktopics.network.pairs import TrainingPairs
from linktopics.sampler import Corpus, Settings
from linktopics.sampler.runner import Schedule, run_chains, start_chains
from linktopics.sampler.topic_inference import infer_topics

TOPIC_SWEEPS = 200
"""Sweeps of the plain LDA whose topics are compared."""

MAX_SINGLE_COMPARISONS = 32
"""New documents that are compared with all training documents before an inverted index is built."""

DOCUMENTS_AT_ONCE = 2**15
"""Documents whose vectors are computed at once: intermediate results take several times their memory."""


class Tfidf:
    """Turns counts into TF-IDF unit vectors, as `TfidfTransformer` does, but without copying all counts.

    Parameters
    ----------
    counts : csr_array
        Counts of the training documents.
    """

    def __init__(self, counts: csr_array) -> None:
        frequency = np.zeros(counts.shape[1], np.int64)
        for first in range(0, counts.shape[0], DOCUMENTS_AT_ONCE):
            part = slice(*counts.indptr[[first, min(first + DOCUMENTS_AT_ONCE, counts.shape[0])]])
            frequency += np.bincount(counts.indices[part], minlength=counts.shape[1])
        self.rarity = np.log((counts.shape[0] + 1.0) / (frequency + 1.0)) + 1.0

    def __call__(self, counts: csr_array) -> csr_array:
        """Return the vectors, a row for each document."""
        n, values = counts.shape[0], np.empty(len(counts.data))
        for first in range(0, n, DOCUMENTS_AT_ONCE):
            ends = counts.indptr[first : min(first + DOCUMENTS_AT_ONCE, n) + 1]
            part = slice(ends[0], ends[-1])
            row = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
            own = counts.data[part] * self.rarity[counts.indices[part]]
            norm = np.sqrt(np.bincount(row, own * own, len(ends) - 1))
            norm[norm == 0.0] = 1.0
            values[part] = own / norm[row]
        return csr_array((values, counts.indices, counts.indptr), shape=counts.shape)


class LdaTopics:
    """Turns counts into unit vectors of topic shares, by a plain LDA."""

    def __init__(self, word_topic: NDArray[np.float32], alpha: Array, seed: int) -> None:
        self.word_topic, self.alpha, self.seed = word_topic, alpha, seed

    @classmethod
    def learn(cls, counts: csr_array, settings: Settings, seed: np.random.SeedSequence) -> LdaTopics:
        """Return the topics of a plain LDA, which is fitted here."""
        nothing = np.empty(0, np.int32)
        pairs = TrainingPairs(nothing, nothing, np.empty(0, bool), counts.shape[0])
        corpus = Corpus.build(counts, pairs, symmetric=True)
        (chain,) = chains = start_chains(corpus, settings, [seed])
        run_chains(corpus, settings, chains, Schedule(TOPIC_SWEEPS - 1, 1, 1), verbose=False)
        (sample,) = chain.samples
        return cls(sample.word_topic, sample.alpha, int(seed.generate_state(1)[0]))

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray]) -> LdaTopics:
        """Return the topics that `arrays` describes."""
        return cls(arrays["word_topic"], arrays["alpha"], int(arrays["seed"][0]))

    def arrays(self) -> dict[str, NDArray]:
        """Return what `of` needs to restore the topics."""
        return {"word_topic": self.word_topic, "alpha": self.alpha, "seed": np.array([self.seed])}

    def __call__(self, counts: csr_array) -> csr_array:
        """Return the vectors, a row for each document."""
        shares = infer_topics(self.word_topic, self.alpha, counts, self.seed)
        return csr_array(normalize(shares.astype(np.float64)))


class KnownVectors:
    """Vectors of the training documents, computed on first use; several features may share them.

    Parameters
    ----------
    counts : csr_array
        Counts of the training documents.
    vectorizer : Tfidf or LdaTopics
        The function that turns counts into vectors.
    """

    def __init__(self, counts: csr_array, vectorizer: Tfidf | LdaTopics) -> None:
        self.counts, self.vectorizer = counts, vectorizer
        self.n_compared = 0

    def clear_cache(self) -> None:
        """Drop cached arrays; they are computed again when needed."""
        for name in ("own", "transposed"):
            vars(self).pop(name, None)

    @cached_property
    def own(self) -> csr_array:
        """The vectors, a row for each document."""
        vectors = self.vectorizer(self.counts)
        vectors.sort_indices()
        return vectors

    @cached_property
    def transposed(self) -> csr_array:
        """The vectors, transposed: a row for each word, with the documents that have it."""
        return csr_array(self.own.T)

    def products(self, new: csr_array) -> Array:
        """Return the products of new documents with all training documents.

        The first few are compared with every training document, which takes about as long for each as a ranking; later
        ones by their words, with `transposed`, an inverted index that is then computed.
        """
        self.n_compared += new.shape[0]
        if self.n_compared > MAX_SINGLE_COMPARISONS or "transposed" in vars(self):
            return np.asarray((new @ self.transposed).toarray())
        return np.asarray((self.own @ new.toarray().T).T)

    @cached_property
    def squares(self) -> Array:
        """Squared lengths of the vectors."""
        vectors = self.own
        result = np.empty(vectors.shape[0])
        for first in range(0, len(result), DOCUMENTS_AT_ONCE):
            part = vectors[first : first + DOCUMENTS_AT_ONCE]
            result[first : first + DOCUMENTS_AT_ONCE] = np.asarray(part.multiply(part).sum(axis=1)).ravel()
        return result

    def basis(self, n_dimensions: int, documents: NDArray[np.integer], seed: int) -> Array:
        """Return the leading right singular vectors of some documents, as rows; the last result is cached."""
        key = (n_dimensions, documents.tobytes(), seed)
        if vars(self).get("_basis", (None,))[0] != key:
            some = self.own[documents]
            found = randomized_svd(some, min(n_dimensions, *some.shape), n_iter=3, random_state=seed)[2]
            self._basis = key, found
        return self._basis[1]
