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
from linktopics.sampler.priors import Priors
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
        Where to start. Where it has no priors, those of the settings are put there.
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
        if state.priors is None:
            state.priors = Priors.even(K, settings.alpha, settings.beta)
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
        state.log_links = self.loss.log_likelihood(scores) if self.corpus.n_pairs else 0.0
        state.log_joint = self.log_joint()
        if not np.isfinite(state.log_joint):
            raise SamplingError(
                f"the log joint is {state.log_joint} after iteration {state.iteration}: scores or weights left the "
                "range that can be computed with. Costs, the weight variance or the margin are extreme; take smaller."
            )

    def refresh(self) -> None:
        """Draw the augmented variables given all else, as at the end of an iteration."""
        if self.corpus.n_pairs:
            self._project()
            self.state.augmented = self.loss.draw(self.scores(), self.state.rng)

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
        corpus, state, priors, seeds = self.corpus, self.state, self.priors, self.corpus.seeds
        width = len(self._topics)
        alpha, mass = np.zeros((1, width), np.float32), np.zeros(width)
        alpha[0, : len(priors.alpha)] = priors.alpha
        mass[: len(priors.alpha)] = priors.topic_mass(corpus)
        self._project()
        state.word_topic[seeds.word, seeds.topic] += seeds.amount.astype(np.float32)
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
            alpha,
            np.float32(priors.beta),
            mass,
            self.settings.exact,
            0,
            self.n_swept,
            state.stream,
            np.empty((0, len(self._topics)), np.float32) if trace is None else trace,
        )
        state.word_topic[seeds.word, seeds.topic] -= seeds.amount.astype(np.float32)

    @property
    def priors(self) -> Priors:
        """The prior counts in use."""
        assert self.state.priors is not None
        return self.state.priors

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

    def log_joint(self) -> float:
        """Return log p(words, topics) + log p(weights) + the state's log pseudo-likelihood of the links."""
        corpus, state, settings, seeds = self.corpus, self.state, self.settings, self.corpus.seeds
        K, alpha, beta = settings.n_topics, self.priors.alpha, self.priors.beta
        lengths, total = np.diff(corpus.start), self.priors.alpha_total
        value = 0.0
        if (alpha == alpha[0]).all():
            value = log_rising(state.doc_topic, _rising_table(alpha[0], state.doc_topic))
        else:
            for k, prior in enumerate(alpha):
                column = np.ascontiguousarray(state.doc_topic[:, k : k + 1])
                value += log_rising(column, _rising_table(prior, column))
        value += log_rising(state.word_topic, _rising_table(beta, state.word_topic))
        if len(seeds.word):  # these start from more than beta
            n = state.word_topic[seeds.word, seeds.topic].astype(float)
            value += float((_log_rising(n, beta + seeds.amount) - _log_rising(n, beta)).sum())
        value -= float((gammaln(lengths + total) - gammaln(total)).sum())
        mass = beta * corpus.n_words + seeds.mass(K)
        value -= float(_log_rising(state.topic_total[:K], mass).sum())
        if not corpus.n_pairs:
            return value
        if settings.weights == "diagonal":
            free = np.diag(state.weights)
        else:
            free = state.weights[np.triu_indices(K)] if corpus.symmetric else state.weights.reshape(-1)
        free = np.append(free, state.feature_weights)
        variance = settings.weight_variance
        value -= 0.5 * float(free @ free / variance + len(free) * np.log(2 * np.pi * variance))
        return value + state.log_links

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


def _log_rising(n: NDArray, a: NDArray | float) -> NDArray[np.float64]:
    """Return log of a (a + 1) ... (a + n - 1)."""
    return np.asarray(gammaln(n + a) - gammaln(a))


def _rising_table(a: float, counts: NDArray[np.float32]) -> NDArray[np.float64]:
    return _log_rising(np.arange(int(counts.max(initial=0)) + 1), a)
