"""The paper's algorithm, compiled as it is written: what a straightforward fast version would be.

Topics: every neighbour is visited for every token and topic. U zbar_j is kept for every document, scores are kept up to
date, and the whole is compiled. Weights: the precision matrix of all K^2 weights is built from the pairs' features
zbar_i (x) zbar_j, in blocks, by BLAS, and factored by Cholesky. Polya-Gamma variables: the package's own.
All draw from the same conditionals as `linktopics.sampler`, of the logistic loss with full weights and no features.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numba import njit
from scipy.linalg import cholesky, solve_triangular

from linktopics.sampler.polya_gamma import draw_polya_gamma

BLOCK = 1024
"""Pairs whose features are made at once."""


@njit(cache=True, nogil=True, error_model="numpy", fastmath=True)
def paper_sweep(  # type: ignore[no-untyped-def]
    n_topics, start, words, assignments, doc_topic, word_topic, topic_total,
    out_start, target, in_start, in_pair, source, linear, quadratic, P, Q, U, alpha, beta, seed,
):  # fmt: skip
    """Redraw the topic of every token, in place."""
    np.random.seed(seed)  # noqa: NPY002 - the generator of compiled code
    beta_total = beta * word_topic.shape[0]
    most = 0
    for i in range(len(start) - 1):
        most = max(most, out_start[i + 1] - out_start[i] + in_start[i + 1] - in_start[i])
    rows = np.zeros((most, n_topics), np.float32)
    score = np.zeros(most, np.float32)
    lin = np.zeros(most, np.float32)
    quad = np.zeros(most, np.float32)
    weight = np.zeros(n_topics, np.float64)
    for i in range(len(start) - 1):
        n_tokens = start[i + 1] - start[i]
        if n_tokens == 0:
            continue
        share = np.float32(1.0 / n_tokens)
        m = 0
        for pair in range(out_start[i], out_start[i + 1]):
            rows[m] = P[target[pair], :n_topics]
            lin[m], quad[m] = linear[pair], quadratic[pair]
            m += 1
        for at in range(in_start[i], in_start[i + 1]):
            pair = in_pair[at]
            rows[m] = Q[source[pair], :n_topics]
            lin[m], quad[m] = linear[pair], quadratic[pair]
            m += 1
        for e in range(m):
            score[e] = 0.0
            for k in range(n_topics):
                score[e] += rows[e, k] * doc_topic[i, k] * share
        for n in range(start[i], start[i + 1]):
            t, w = assignments[n], words[n]
            doc_topic[i, t] -= 1
            word_topic[w, t] -= 1
            topic_total[t] -= 1
            for e in range(m):
                score[e] -= rows[e, t] * share
            for k in range(n_topics):
                weight[k] = 0.0
            for e in range(m):
                for k in range(n_topics):
                    omega = score[e] + rows[e, k] * share
                    weight[k] += lin[e] * omega - np.float32(0.5) * quad[e] * omega * omega
            top = weight.max()
            total = 0.0
            for k in range(n_topics):
                weight[k] = (
                    np.exp(weight[k] - top)
                    * (word_topic[w, k] + beta)
                    * (doc_topic[i, k] + alpha)
                    / (topic_total[k] + beta_total)
                )
                total += weight[k]
            u = np.random.random() * total  # noqa: NPY002
            s = 0
            while s < n_topics - 1 and u >= weight[s]:
                u -= weight[s]
                s += 1
            assignments[n] = s
            doc_topic[i, s] += 1
            word_topic[w, s] += 1
            topic_total[s] += 1
            for e in range(m):
                score[e] += rows[e, s] * share
        for k in range(n_topics):
            x, y = np.float32(0.0), np.float32(0.0)
            for j in range(n_topics):
                x += U[k, j] * doc_topic[i, j]
                y += U[j, k] * doc_topic[i, j]
            P[i, k] = x * share
            Q[i, k] = y * share


@njit(cache=True, nogil=True, error_model="numpy", fastmath=True)
def paper_scores(source, target, zbar, P, scores):  # type: ignore[no-untyped-def]
    """Compute ``scores = (zbar[source] * P[target]).sum(1)``."""
    for e in range(len(source)):
        x = np.float32(0.0)
        for k in range(zbar.shape[1]):
            x += zbar[source[e], k] * P[target[e], k]
        scores[e] = x


class PaperSampler:
    """The paper's iteration: weights, topics, augmented variables.

    Parameters
    ----------
    corpus : linktopics.sampler.Corpus
        Documents and pairs.
    state : linktopics.sampler.State
        Where to start; it is copied.
    n_topics : int
        Number of topics.
    alpha, beta, variance, link_cost, nonlink_cost : float
        As in `linktopics.sampler.Settings`.

    Attributes
    ----------
    seconds : dict of str to float
        Time spent on each step so far.
    """

    def __init__(
        self,
        corpus: Any,
        state: Any,
        n_topics: int,
        *,
        alpha: float = 5.0,
        beta: float = 0.01,
        variance: float = 1.0,
        link_cost: float = 4.0,
        nonlink_cost: float = 1.0,
    ) -> None:
        self.corpus, self.n_topics, self.variance = corpus, n_topics, variance
        self.prior = np.float32(alpha / n_topics), np.float32(beta)
        self.assignments = state.assignments.copy()
        self.doc_topic = state.doc_topic[:, :n_topics].copy()
        self.word_topic = state.word_topic[:, :n_topics].copy()
        self.topic_total = state.topic_total[:n_topics].copy()
        self.weights, self.augmented = state.weights.copy(), state.augmented.copy()
        self.cost = np.where(corpus.label, link_cost, nonlink_cost)
        self.linear = self.cost * (corpus.label - 0.5)
        self.rng = np.random.default_rng(0)
        self.seconds = {"weights": 0.0, "topics": 0.0, "augmented": 0.0}
        self._project()

    def step(self, weights: bool = True) -> None:
        """Do one iteration; without `weights` they stay what they are."""
        for name, draw in (
            ("weights", self.draw_weights),
            ("topics", self.draw_topics),
            ("augmented", self.draw_augmented),
        ):
            clock = time.perf_counter()
            if weights or name != "weights":
                draw()
            self.seconds[name] += time.perf_counter() - clock

    def draw_weights(self) -> None:
        """Draw U from N(precision^-1 pull, precision^-1)."""
        zbar, size = self._zbar().astype(np.float64), self.n_topics**2
        precision, pull = np.eye(size) / self.variance, np.zeros(size)
        root = np.sqrt(self.augmented)
        for start in range(0, len(root), BLOCK):
            part = slice(start, start + BLOCK)
            left, right = zbar[self.corpus.source[part]], zbar[self.corpus.target[part]]
            features = (left[:, :, None] * right[:, None, :]).reshape(-1, size)
            pull += self.linear[part] @ features
            features *= root[part, None]
            precision += features.T @ features  # by the symmetric product of BLAS, at half the work
        factor = cholesky(precision, lower=True, overwrite_a=True, check_finite=False)
        half = solve_triangular(factor, pull, lower=True, check_finite=False) + self.rng.standard_normal(size)
        drawn = solve_triangular(factor, half, lower=True, trans=1, check_finite=False)
        self.weights = drawn.reshape(self.n_topics, self.n_topics)
        self._project()

    def draw_topics(self) -> None:
        """Redraw the topics of all tokens."""
        corpus = self.corpus
        paper_sweep(
            self.n_topics, corpus.start, corpus.words, self.assignments, self.doc_topic, self.word_topic,
            self.topic_total, corpus.out_start, corpus.target, corpus.in_start, corpus.in_pair, corpus.source,
            self.linear.astype(np.float32), self.augmented.astype(np.float32), self._P, self._Q,
            self.weights.astype(np.float32), *self.prior, int(self.rng.integers(2**31)),
        )  # fmt: skip

    def draw_augmented(self) -> None:
        """Draw the Polya-Gamma variables."""
        scores = np.empty(self.corpus.n_pairs)
        paper_scores(self.corpus.source, self.corpus.target, self._zbar(), self._P, scores)
        self.augmented = draw_polya_gamma(self.cost, scores, self.rng)

    def _zbar(self) -> np.ndarray:
        lengths = np.maximum(np.diff(self.corpus.start), 1).astype(np.float32)
        return self.doc_topic / lengths[:, None]

    def _project(self) -> None:
        U = self.weights.astype(np.float32)
        self._P, self._Q = self._zbar() @ U.T, self._zbar() @ U
