"""Effects of single words of a text: its topics and suggested links without them, or with words added.

Topics drawn at random would differ between two texts by more than the effect of one word. They are therefore computed
without random numbers: counts c of topics with ``c_k = sum_w n_w p_k(w)``, where ``p_k(w)`` is proportional to
``word_topic[w, k] (c_k + alpha_k)``, the fixed point that the sampler's draws vary around. Texts that differ in one
word start from the fixed point of the whole text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from linktopics.explorer.explorer import Explorer
from linktopics.explorer.rounding import rounded
from linktopics.model.summary import smoothed_proportions
from linktopics.network.inputs import Documents
from linktopics.network.pairs import Direction
from linktopics.prediction.batched_predictor import BatchedPredictor
from linktopics.prediction.ranking import NewDocuments, Shortlist
from linktopics.server.text_analysis import PastedText

Array = NDArray[np.float64]

CHANGE_SAMPLES = 12
"""Posterior samples that are used: all texts use the same ones, so few are enough for differences."""

MAX_LEFT_OUT_WORDS = 100
"""Words of a text that are left out, one at a time: those with most weight."""

N_CHANGED_TOPICS, MIN_CHANGE = 3, 0.0005
"""Topics whose change is returned, and the smallest change of a share or a probability that is returned."""

FIRST_FIXED_POINT_STEPS, FIXED_POINT_STEPS = 100, 15
"""Steps towards the topics of the whole text, and from there to those of the others."""


class WordEffects:
    """Computes the effects of leaving out or adding single words.

    Parameters
    ----------
    samples : BatchedPredictor
        The samples to use.
    explorer : Explorer
        Names of documents, and weights of words.
    """

    def __init__(self, samples: BatchedPredictor, explorer: Explorer) -> None:
        self.samples, self.explorer = samples, explorer

    def compute(self, text: PastedText, top: int, direction: str, add: Mapping[str, int]) -> dict[str, Any]:
        """Return the changes of a text's topics and suggestions by each of its words, and by each of some others.

        Parameters
        ----------
        text : PastedText
            The text.
        top : int
            Suggestions that are compared.
        direction : {"both", "out", "in"}
            Direction of the links.
        add : mapping from str to int
            Words to add, one occurrence of each, and their numbers.

        Returns
        -------
        dict
            ``words`` and ``added`` have a row for each word: ``topics`` with the largest changes of their shares,
            ``suggestions`` with changes of their probability, those that are ``gone`` from the first `top`, and those
            that are ``new`` there. ``suggestions`` has the probabilities before the changes. They are computed without
            random numbers from a few samples, so they differ slightly from those of `TextQueryEngine.suggest`.
        """
        left_out = self._heaviest_words(text)
        words, counts = self._variants(text, left_out, list(add.values()))
        shares = self._shares(words, counts)
        new = self._new_documents(words, counts, shares)
        directions = self.samples.predictor.directions(direction)
        best = self.samples.best(new, range(len(counts)), [top] * len(counts), directions)
        first = [best.candidates[best.rows == row].tolist() for row in range(len(counts))]
        change = self._probability_changes(new, np.array(first[0]), directions)
        predictor = self.samples.predictor
        start = predictor.calibrated(predictor.mean_of(new, best.part(best.rows == 0)))
        topics = self._topic_changes(shares, counts.sum(axis=1))
        rows = [self._effect(first[0], first[row], topics[row], change[row]) for row in range(1, len(counts))]
        names = dict(zip(text.word_numbers, zip(text.words, text.counts, strict=True), strict=True))
        of_text = [dict(zip(("word", "count"), names[int(text.known[at])], strict=True)) for at in left_out]
        mentioned = {j for listed in first for j in listed}
        return {
            "words": [{**name, **row} for name, row in zip(of_text, rows[: len(left_out)], strict=True)],
            "added": [{"word": word, "count": 1, **row} for word, row in zip(add, rows[len(left_out) :], strict=True)],
            "suggestions": [{"j": j, "probability": rounded(p)} for j, p in zip(first[0], start.tolist(), strict=True)],
            "names": self.explorer.names(mentioned),
        }

    def _heaviest_words(self, text: PastedText) -> NDArray[np.int64]:
        """Return the indices of the words with the largest weight among the known words, largest first."""
        weight = text.known_counts * self.explorer.word_rarity[text.known]
        return np.argsort(-weight, kind="stable")[:MAX_LEFT_OUT_WORDS]

    def _variants(
        self, text: PastedText, left_out: NDArray[np.int64], added: Sequence[int]
    ) -> tuple[NDArray[np.int64], Array]:
        """Return all words, and their counts in the text, the texts without a word, and those with one more."""
        words = np.unique(np.concatenate([text.known, np.array(added, np.int64)]))
        whole = np.zeros(len(words))
        own = np.searchsorted(words, text.known)
        whole[own] = text.known_counts
        counts = np.tile(whole, (1 + len(left_out) + len(added), 1))
        counts[1 + np.arange(len(left_out)), own[left_out]] = 0.0
        where = 1 + len(left_out) + np.arange(len(added)), np.searchsorted(words, np.array(added, np.int64))
        counts[where] += 1.0
        if getattr(self.explorer.network.vectorizer, "binary", False):
            counts = np.minimum(counts, 1.0)
        return words, counts

    def _shares(self, words: NDArray[np.int64], counts: Array) -> NDArray[np.float32]:
        """Return the topics of texts, samples x texts x topics."""
        K, samples = self.samples.n_topics, self.samples.samples
        lengths = counts.sum(axis=1)
        result = np.empty((len(samples), len(counts), K), np.float32)
        for sample, shares in zip(samples, result, strict=True):
            word_topic, alpha = sample.word_topic[words][:, :K].astype(float), sample.alpha
            whole = np.full((1, K), lengths[0] / K)
            for _ in range(FIRST_FIXED_POINT_STEPS):
                whole = _fixed_point_step(whole, counts[:1], word_topic, alpha)
            topics = np.repeat(whole, len(counts), axis=0)
            for _ in range(FIXED_POINT_STEPS):
                topics = _fixed_point_step(topics, counts, word_topic, alpha)
            shares[:] = topics / np.maximum(lengths, 1.0)[:, None]
            shares[lengths == 0] = alpha / alpha.sum()
        return result

    def _new_documents(self, words: NDArray[np.int64], counts: Array, shares: NDArray[np.float32]) -> NewDocuments:
        own, shape = csr_array(counts.astype(np.int32)), (len(counts), self.explorer.network.n_words)
        matrix = csr_array((own.data, words[own.indices], own.indptr), shape=shape)
        documents = Documents.of_words(matrix, self.explorer.network)
        return NewDocuments(len(counts), list(shares), self.samples.predictor.features.prepare(documents))

    def _probability_changes(
        self, new: NewDocuments, candidates: NDArray[np.int64], directions: list[Direction]
    ) -> Array:
        """Return for each text how the probabilities of some candidates differ from those of the first text."""
        rows = np.repeat(np.arange(new.n_documents), len(candidates))
        every = np.tile(candidates, new.n_documents)
        values = self.samples.predictor.features.pairs(new.prepared, rows, every, directions)
        own = self.samples.predictor.mean_of(new, Shortlist(rows, every, values))
        change = self.samples.predictor.calibrated(own).reshape(new.n_documents, -1)
        return np.asarray(change - change[0])

    def _topic_changes(self, shares: NDArray[np.float32], lengths: Array) -> Array:
        mean = shares[self.samples.reference_samples].mean(axis=0, dtype=float)
        proportions = smoothed_proportions(mean, lengths, self.explorer.model.alpha_)
        return np.asarray(proportions - proportions[0])

    def _effect(self, before: list[int], after: list[int], topics: Array, change: Array) -> dict[str, Any]:
        largest = np.argsort(-np.abs(topics), kind="stable")[:N_CHANGED_TOPICS].tolist()
        changed = sorted(zip(before, change.tolist(), strict=True), key=lambda pair: -abs(pair[1]))
        return {
            "topics": [[k, rounded(float(topics[k]), 3)] for k in largest if abs(topics[k]) >= MIN_CHANGE],
            "suggestions": [{"j": j, "change": rounded(x, 3)} for j, x in changed if abs(x) >= MIN_CHANGE],
            "gone": [j for j in before if j not in after],
            "new": [j for j in after if j not in before],
        }


def _fixed_point_step(topics: Array, counts: Array, word_topic: Array, alpha: Array) -> Array:
    """Return expected counts of topics, texts x topics, given the counts before."""
    weight = topics + alpha
    expected = weight @ word_topic.T
    return np.asarray(weight * (np.divide(counts, expected, out=expected) @ word_topic))
