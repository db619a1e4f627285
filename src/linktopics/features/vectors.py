"""Counts of words to unit vectors: of TF-IDF, or of the topics of a plain LDA."""

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
from linktopics.sampler.runner import PosteriorSample, Schedule, run_chains, start_chains
from linktopics.sampler.topic_inference import infer_topics

TOPIC_SWEEPS = 200
"""Sweeps of the plain LDA whose topics are compared."""

MAX_SINGLE_COMPARISONS = 32
"""New documents that are compared with all others without an index of the words of these."""

DOCUMENTS_AT_ONCE = 2**15
"""Documents whose vectors are computed at once: intermediate results take several times their memory."""


class Tfidf:
    """Counts to unit vectors of TF-IDF, those of `TfidfTransformer`, which would copy all counts in double precision.

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


class Topics:
    """Counts to unit vectors of the topics of a plain LDA."""

    def __init__(self, sample: PosteriorSample, seed: int) -> None:
        self.sample, self.seed = sample, seed

    @classmethod
    def learn(cls, counts: csr_array, settings: Settings, seed: np.random.SeedSequence) -> Topics:
        """Return the topics of a plain LDA, whose chain is run here."""
        nothing = np.empty(0, np.int32)
        pairs = TrainingPairs(nothing, nothing, np.empty(0, bool), counts.shape[0])
        corpus = Corpus.build(counts, pairs, symmetric=True)
        (chain,) = chains = start_chains(corpus, settings, [seed])
        run_chains(corpus, settings, chains, Schedule(TOPIC_SWEEPS - 1, 1, 1), verbose=False)
        return cls(chain.samples[0], int(seed.generate_state(1)[0]))

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray]) -> Topics:
        """Return what `arrays` described."""
        alpha = arrays["alpha"]
        nothing, none = np.empty((0, len(alpha)), np.float32), np.empty(0)
        sample = PosteriorSample(0, 0.0, arrays["word_topic"], nothing, np.zeros((len(alpha), len(alpha))), none, alpha)
        return cls(sample, int(arrays["seed"][0]))

    def arrays(self) -> dict[str, NDArray]:
        """Return what `of` needs to restore the topics."""
        return {"word_topic": self.sample.word_topic, "alpha": self.sample.alpha, "seed": np.array([self.seed])}

    def __call__(self, counts: csr_array) -> csr_array:
        """Return the vectors, a row for each document."""
        shares = infer_topics(self.sample, counts, self.seed)
        return csr_array(normalize(shares.astype(np.float64)))


class KnownVectors:
    """Vectors of the training documents, computed on first use; several features may share them.

    Parameters
    ----------
    counts : csr_array
        Counts of the training documents.
    make : Tfidf or Topics
        What makes vectors of counts.
    """

    def __init__(self, counts: csr_array, make: Tfidf | Topics) -> None:
        self.counts, self.make = counts, make
        self.n_compared = 0

    def forget(self) -> None:
        """Drop what takes memory and can be computed again."""
        for name in ("own", "transposed"):
            vars(self).pop(name, None)

    @cached_property
    def own(self) -> csr_array:
        """The vectors, a row for each document."""
        vectors = self.make(self.counts)
        vectors.sort_indices()
        return vectors

    @cached_property
    def transposed(self) -> csr_array:
        """The vectors, a row for each word: which documents have it."""
        return csr_array(self.own.T)

    def products(self, new: csr_array) -> Array:
        """Return the products of new documents with all training documents.

        The first few are compared with one training document after the other, which takes about as long for each as a
        ranking; others by the words they have, for which `transposed` has to be made.
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
        """Return directions in which some documents differ most, a row for each; the last result is cached."""
        asked = (n_dimensions, documents.tobytes(), seed)
        if vars(self).get("_basis", (None,))[0] != asked:
            some = self.own[documents]
            found = randomized_svd(some, min(n_dimensions, *some.shape), n_iter=3, random_state=seed)[2]
            self._basis = asked, found
        return self._basis[1]
