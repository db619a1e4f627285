"""Shard: the part of a chain that one worker runs, and the messages that shards exchange."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from linktopics.errors import SamplingError
from linktopics.kernels.likelihood import log_rising
from linktopics.kernels.partition import pack, unpack
from linktopics.kernels.simd import padded
from linktopics.kernels.sweep import pair_scores, project, sweep
from linktopics.sampler.debug import DebugSnapshot
from linktopics.sampler.losses import make_loss
from linktopics.sampler.pair_sums import PairSums
from linktopics.sampler.partition import Partition
from linktopics.sampler.priors import Priors
from linktopics.sampler.settings import Settings
from linktopics.sampler.state import State

Array = NDArray[np.float64]
Message = dict[str, tuple[NDArray, ...]]


class Shard:
    """Draws topics and augmented variables of the documents and pairs of a part.

    Within a sweep it sees the words and the topics of other parts as of the last exchange. If the part is the whole
    corpus, there is nothing to exchange and the chain is exact.

    Parameters
    ----------
    part : Partition
        Documents and pairs.
    settings : Settings
        The model.
    state : State
        The part of the chain's state that belongs to the partition (see `slice_state`); changed in place.

    Attributes
    ----------
    linear, quadratic : ndarray of shape (n_pairs,)
        The Gaussian form of the loss, as set by `update_gaussian` or `set_gaussian`.
    """

    def __init__(self, part: Partition, settings: Settings, state: State) -> None:
        self.part = part
        self.corpus = corpus = part.corpus
        self.settings = settings
        self.state = state
        self.loss = make_loss(settings, corpus.label)
        all_own = part.n_own_pairs == len(corpus.label)
        self._own_loss = self.loss if all_own else make_loss(settings, corpus.label[: part.n_own_pairs])
        width = padded(settings.n_topics)
        self._topics = (0,) * width
        self._U = np.zeros((width, width), np.float32)
        self._UT = np.zeros((width, width), np.float32)
        # U zbar of every document, and U^T zbar below it unless U is symmetric.
        symmetric = corpus.symmetric or settings.weights == "diagonal"
        self._entering = 0 if symmetric else corpus.n_documents
        self._projection = np.zeros((corpus.n_documents + self._entering, width), np.float32)
        self._scoring = corpus.source[: part.n_own_pairs] + np.int32(self._entering)  # rows U^T zbar of sources
        self.linear = self.quadratic = np.empty(0)
        self._sums: PairSums | None = None
        # Counts as of the last exchange.
        self._words = state.word_topic.copy() if part.n_parts > 1 else state.word_topic
        self._total = state.topic_total.copy()

    # ----------------------------------------------------------------------------------------------------------------
    # Steps of an iteration
    # ----------------------------------------------------------------------------------------------------------------

    def update_gaussian(self) -> None:
        """Compute the Gaussian form of the loss, given the augmented variables."""
        self.set_gaussian(*self.loss.gaussian(self.state.augmented))

    def set_gaussian(self, linear: Array, quadratic: Array) -> None:
        """Set the Gaussian form of the loss."""
        self.linear, self.quadratic, self._sums = linear, quadratic, None

    def sums(self, name: str, *args: Any) -> Any:
        """Return the result of a method of `PairSums`, for the weight step."""
        if self._sums is None:
            K, state = self.settings.n_topics, self.state
            self._sums = PairSums(self.part, K, self.topic_rows(), self.linear, self.quadratic, state.rng)
        return getattr(self._sums, name)(*args)

    def sweep(self, weights: Array, feature_weights: Array, priors: Priors) -> None:
        """Take new weights and redraw the topics of all tokens given these and the augmented variables."""
        self._sums = None
        self.state.weights, self.state.feature_weights, self.state.priors = weights, feature_weights, priors
        self.draw_topics()

    def draw_topics(self, trace: NDArray[np.float32] | None = None) -> None:
        """Redraw the topics of all tokens given the state's weights and the Gaussian form of the loss."""
        corpus, state, priors, seeds = self.corpus, self.state, self.state.priors, self.corpus.seeds
        K, width = self.settings.n_topics, len(self._topics)
        alpha, mass = np.zeros((1, width), np.float32), np.zeros(width)
        alpha[0, :K] = priors.alpha
        mass[:K] = priors.topic_mass(corpus)
        forces, in_forces = self._forces()
        self.project()
        state.word_topic[seeds.word, seeds.topic] += seeds.amount.astype(np.float32)
        trace = np.empty((0, width), np.float32) if trace is None else trace
        sweep(
            self._topics, K, corpus.start, corpus.words,
            state.assignments, state.doc_topic, state.word_topic, state.topic_total,
            corpus.out_start, corpus.target, forces, corpus.in_start, corpus.in_source, in_forces,
            self._projection, self._entering, self._U, self._UT,
            alpha, np.float32(priors.beta), mass, self.settings.exact, 0, self.part.n_own, state.stream, trace,
        )  # fmt: skip
        state.word_topic[seeds.word, seeds.topic] -= seeds.amount.astype(np.float32)

    def _forces(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return ``linear - quadratic * offsets`` and the root of quadratic, side by side, by source and by target."""
        forces = np.empty((self.corpus.n_pairs, 2), np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            forces[:, 0] = self.linear - self.quadratic * self.offsets() if self.corpus.n_features else self.linear
            np.sqrt(self.quadratic, out=forces[:, 1], casting="same_kind")
        if not np.isfinite(forces).all():
            raise SamplingError(
                "the topics could not be drawn: the effect of a pair on them overflows float32. Costs or the "
                "margin are extreme; use smaller ones."
            )
        return forces, np.take(forces, self.corpus.in_pair, axis=0)  # much faster than indexing

    def augment(self) -> float:
        """Return the log pseudo-likelihood of own pairs' labels, and draw their augmented variables given all else.

        The projections must be up to date, as they are after a sweep.
        """
        scores = self.scores()
        entering = self.state.augmented[len(scores) :]
        drawn = self._own_loss.draw(scores, self.state.rng)
        self.state.augmented = np.append(drawn, entering) if len(entering) else drawn
        return self._own_loss.log_likelihood(scores)

    def scores(self) -> Array:
        """Return the scores of own pairs; the projections of own documents must be up to date, as after a sweep."""
        n = self.part.n_own_pairs
        result = np.empty(n)
        lengths, target = self.part.lengths, self.corpus.target[:n]
        pair_scores(self._topics, lengths, self.topic_rows(), target, self._scoring, self._projection, result)
        if self.corpus.n_features:
            result += self.offsets()[:n]
        return result

    def offsets(self) -> Array:
        """Return the contribution of features to the score of each pair."""
        return np.asarray(self.corpus.features @ self.state.feature_weights)

    def topic_rows(self) -> NDArray[np.float32]:
        """Return the rows that give the topic shares of documents when divided by max(length, 1).

        They are the topic counts; documents without words have the shares of the prior, in training as in predictions.
        """
        empty = self.part.lengths == 0
        if not empty.any():
            return self.state.doc_topic
        rows = self.state.doc_topic.copy()
        rows[empty, : self.settings.n_topics] = self.state.priors.shares
        return rows

    def project(self) -> None:
        """Update the projections of all documents from weights and counts."""
        K = self.settings.n_topics
        self._U[:K, :K] = self.state.weights
        self._UT[:K, :K] = self.state.weights.T
        project(self._topics, self.part.lengths, self.topic_rows(), self._U, self._UT, self._projection, self._entering)

    def log_densities(self) -> tuple[Array, NDArray[np.int64]]:
        """Return the log densities of own documents' topics and of own words given their topics, and tokens per topic.

        The log density of the totals is left out.
        """
        part, state, seeds, priors = self.part, self.state, self.corpus.seeds, self.state.priors
        own, alpha, beta, total = slice(0, part.n_own), priors.alpha, priors.beta, priors.alpha_total
        doc_topic, words = state.doc_topic[own], part.words_of[part.number]
        topics = 0.0
        if (alpha == alpha[0]).all():
            topics = _sum_of_rising(doc_topic, alpha[0])
        else:
            for k, prior in enumerate(alpha):
                topics += _sum_of_rising(np.ascontiguousarray(doc_topic[:, k : k + 1]), prior)
        lengths = np.diff(self.corpus.start)[own]
        topics -= float((gammaln(lengths + total) - gammaln(total)).sum())
        value = _sum_of_rising(state.word_topic[words], beta)
        here = (seeds.word >= words.start) & (seeds.word < words.stop)  # these start from more than beta
        n = state.word_topic[seeds.word[here], seeds.topic[here]].astype(float)
        more = beta + seeds.amount[here]
        value += float((log_rising_factorial(n, more) - log_rising_factorial(n, beta)).sum())
        return np.array([topics, value]), state.topic_total

    # ----------------------------------------------------------------------------------------------------------------
    # What shards exchange: one message to each shard, and one from each
    # ----------------------------------------------------------------------------------------------------------------

    def send_counts(self) -> list[Message]:
        """Return for each shard the changes in the counts of its words, and the topics of its ghosts from here."""
        change, total = self.state.word_topic - self._words, self.state.topic_total - self._total
        return [
            {"words": (_narrow(change[words]), total), **topics}
            for words, topics in zip(self.part.words_of, self.send_topics(), strict=True)
        ]

    def receive_counts(self, messages: list[Message]) -> None:
        """Add up the changes in the counts of own words, and store the topics of ghosts."""
        words = self.part.words_of[self.part.number]
        for message in messages:
            change, total = message["words"]
            self._words[words] += change
            self._total += total
        self.state.topic_total[:] = self._total
        self.receive_topics(messages)

    def send_topics(self) -> list[Message]:
        """Return for each shard the topics of its ghosts from here."""
        packed = [pack(self.state.doc_topic, ghosts) for ghosts in self.part.sent_documents]
        return [{"topics": (n, topic, _narrow(count))} for n, topic, count in packed]

    def receive_topics(self, messages: list[Message]) -> None:
        """Store the topics of ghosts."""
        for rows, message in zip(self.part.ghosts_from, messages, strict=True):
            n, topic, count = message["topics"]
            unpack(n, topic, count.astype(np.float32), self.state.doc_topic, rows.start)

    def send_sums(self) -> list[Message]:
        """Return for each shard the counts of own words, and the augmented variables of own pairs that end there."""
        counts = _narrow(self._words[self.part.words_of[self.part.number]])
        return [{"words": (counts,), "pairs": (self.state.augmented[pairs],)} for pairs in self.part.sent_pairs]

    def receive_sums(self, messages: list[Message]) -> None:
        """Store the counts of all words, and the augmented variables of pairs that enter from other shards."""
        for words, pairs, message in zip(self.part.words_of, self.part.pairs_from, messages, strict=True):
            self._words[words] = message["words"][0]
            self.state.augmented[pairs] = message["pairs"][0]
        self.state.word_topic[:] = self._words

    def snapshot(self) -> tuple[NDArray[np.int32], Array, dict[str, Any], NDArray[np.uint64]]:
        """Return all that a checkpoint needs of the shard: own assignments, augmented variables and random states."""
        state = self.state
        own = state.augmented[: self.part.n_own_pairs].copy()
        return state.assignments.copy(), own, dict(state.rng.bit_generator.state), state.stream.copy()

    def debug_snapshot(self) -> DebugSnapshot:
        """Return all that the shard holds, to be checked."""
        return DebugSnapshot(self.state, self._projection, self._words, self._total)


def _narrow(counts: NDArray[np.float32]) -> NDArray:
    """Return whole numbers in the smallest type that holds them."""
    low, high = counts.min(initial=0.0), counts.max(initial=0.0)
    return counts.astype(np.promote_types(np.min_scalar_type(int(low)), np.min_scalar_type(int(high))))


def log_rising_factorial(n: NDArray, a: NDArray | float) -> NDArray[np.float64]:
    """Return log of a (a + 1) ... (a + n - 1)."""
    return np.asarray(gammaln(n + a) - gammaln(a))


def _sum_of_rising(counts: NDArray[np.float32], a: float) -> float:
    """Return the sum of `log_rising_factorial` over counts, from a table."""
    return float(log_rising(counts, log_rising_factorial(np.arange(int(counts.max(initial=0)) + 1), a)))
