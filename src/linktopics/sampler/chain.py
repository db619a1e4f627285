"""Sampler: a generator of states."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from linktopics.errors import SamplingError
from linktopics.kernels.lanes import padded
from linktopics.kernels.likelihood import log_rising
from linktopics.kernels.sweep import pair_scores, project, sweep
from linktopics.sampler.corpus import Corpus
from linktopics.sampler.losses import make_loss
from linktopics.sampler.state import State
from linktopics.sampler.weights import WeightSampler

__all__ = ["Sampler", "Settings"]


@dataclass(frozen=True)
class Settings:
    """The model and its priors; see `RelationalTopicModel` for what each means."""

    n_topics: int
    loss: str = "logistic"
    weights: str = "full"
    exact: bool = True
    alpha: float = 5.0
    beta: float = 0.01
    weight_variance: float = 1.0
    link_cost: float = 4.0
    nonlink_cost: float = 1.0
    margin: float = 1.0
    weight_method: str = "auto"


class Sampler:
    """Iterates over the states of a chain: ``for state in Sampler(corpus, settings, state)``.

    One state object is changed in place and yielded after every iteration; the loop around it decides when to stop,
    what to keep and what to show. An iteration draws the weights, the topics of all tokens and the augmented variables,
    in the paper's order.

    Parameters
    ----------
    corpus : Corpus
        Documents and pairs.
    settings : Settings
        The model.
    state : State
        Where to start.
    n_swept : int, optional
        Draw the topics of so many documents, the first ones, and leave the others as they are; by default of all.

    Attributes
    ----------
    seconds : dict of str to float
        Time spent on "topics", "augmented" variables and "weights" so far.
    """

    def __init__(self, corpus: Corpus, settings: Settings, state: State, n_swept: int | None = None) -> None:
        self.corpus = corpus
        self.n_swept = corpus.n_documents if n_swept is None else n_swept
        self.settings = settings
        self.state = state
        self.loss = make_loss(settings.loss, corpus.label, settings.link_cost, settings.nonlink_cost, settings.margin)
        self.weight_sampler = WeightSampler(
            corpus,
            settings.n_topics,
            settings.weights,
            settings.weight_variance,
            settings.weight_method,
        )
        self.seconds = {"topics": 0.0, "augmented": 0.0, "weights": 0.0}
        K, width = settings.n_topics, padded(settings.n_topics)
        self._topics = (0,) * width
        self._alpha = np.zeros((1, width), np.float32)
        self._alpha[0, :K] = settings.alpha / K
        self._U = np.zeros((width, width), np.float32)
        self._UT = np.zeros((width, width), np.float32)
        # U zbar of every document, and U^T zbar below it unless U is symmetric.
        symmetric = corpus.symmetric or settings.weights == "diagonal"
        self._entering = 0 if symmetric else corpus.n_documents
        self._projection = np.zeros((corpus.n_documents + self._entering, width), np.float32)

    def __iter__(self) -> Iterator[State]:
        while True:
            self.step()
            yield self.state

    def step(self) -> None:
        """Do one iteration."""
        state = self.state
        clock = time.perf_counter()
        if self.corpus.n_pairs:
            linear, quadratic = self.loss.gaussian(state.augmented)
            self.draw_weights(linear, quadratic)
            clock = self._charge("weights", clock)
            self.draw_topics(linear, quadratic)
            clock = self._charge("topics", clock)
            scores = self.scores()
            state.augmented = self.loss.draw(scores, state.rng)
            self._charge("augmented", clock)
        else:
            scores = np.empty(0)
            self.draw_topics(scores, scores)
            self._charge("topics", clock)
        state.iteration += 1
        state.log_joint = self.log_joint(scores)
        if not np.isfinite(state.log_joint):
            raise SamplingError(
                f"the log joint is {state.log_joint} after iteration {state.iteration}: scores or weights left the "
                "range that can be computed with. Costs, the weight variance or the margin are extreme; take smaller."
            )

    def draw_weights(self, linear: NDArray[np.float64], quadratic: NDArray[np.float64]) -> None:
        """Redraw the weights of topics and of features given topics and augmented variables."""
        state = self.state
        state.weights, state.feature_weights = self.weight_sampler.draw(
            state.doc_topic, linear, quadratic, state.weights, state.feature_weights, state.rng
        )

    def draw_topics(
        self,
        linear: NDArray[np.float64],
        quadratic: NDArray[np.float64],
        trace: NDArray[np.float32] | None = None,
    ) -> None:
        """Redraw the topics of all tokens given weights and augmented variables."""
        corpus, state = self.corpus, self.state
        self._project()
        sweep(
            self._topics,
            self.settings.n_topics,
            corpus.start,
            corpus.words,
            state.assignments,
            state.doc_topic,
            state.word_topic,
            state.topic_total,
            corpus.out_start,
            corpus.target,
            corpus.in_start,
            corpus.in_pair,
            corpus.source,
            (linear - quadratic * self.offsets()).astype(np.float32),
            quadratic.astype(np.float32),
            self._projection,
            self._entering,
            self._U,
            self._UT,
            self._alpha,
            np.float32(self.settings.beta),
            self.settings.exact,
            0,
            self.n_swept,
            state.stream,
            np.empty((0, len(self._topics)), np.float32) if trace is None else trace,
        )

    def scores(self) -> NDArray[np.float64]:
        """Return the scores of all pairs; the projections must be up to date, as they are after `draw_topics`."""
        result = np.empty(self.corpus.n_pairs)
        pair_scores(
            self._topics,
            self.corpus.start,
            self.state.doc_topic,
            self.corpus.source,
            self.corpus.target,
            self._projection,
            result,
        )
        return result + self.offsets()

    def offsets(self) -> NDArray[np.float64]:
        """Return the part of each pair's score that its features make."""
        return np.asarray(self.corpus.features @ self.state.feature_weights)

    def log_joint(self, scores: NDArray[np.float64]) -> float:
        """Return log p(words, topics) + log pseudo-likelihood of the links + log p(weights)."""
        corpus, state, settings = self.corpus, self.state, self.settings
        K, alpha, beta = settings.n_topics, settings.alpha, settings.beta
        lengths = np.diff(corpus.start)
        value = log_rising(state.doc_topic, _rising_table(alpha / K, state.doc_topic))
        value += log_rising(state.word_topic, _rising_table(beta, state.word_topic))
        value -= float((gammaln(lengths + alpha) - gammaln(alpha)).sum())
        totals, mass = state.topic_total[:K], beta * corpus.n_words
        value -= float((gammaln(totals + mass) - gammaln(mass)).sum())
        if not corpus.n_pairs:
            return value
        if settings.weights == "diagonal":
            free = np.diag(state.weights)
        else:
            free = state.weights[np.triu_indices(K)] if corpus.symmetric else state.weights.reshape(-1)
        free = np.append(free, state.feature_weights)
        variance = settings.weight_variance
        value -= 0.5 * float(free @ free / variance + len(free) * np.log(2 * np.pi * variance))
        return value + self.loss.log_likelihood(scores)

    def _project(self) -> None:
        K = self.settings.n_topics
        self._U[:K, :K] = self.state.weights
        self._UT[:K, :K] = self.state.weights.T
        project(
            self._topics,
            self.corpus.start,
            self.state.doc_topic,
            self._U,
            self._UT,
            self._projection,
            self._entering,
        )

    def _charge(self, step: str, since: float) -> float:
        now = time.perf_counter()
        self.seconds[step] += now - since
        return now


def _rising_table(a: float, counts: NDArray[np.float32]) -> NDArray[np.float64]:
    n = np.arange(int(counts.max(initial=0)) + 1)
    return np.asarray(gammaln(n + a) - gammaln(a))
