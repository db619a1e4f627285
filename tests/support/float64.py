"""The topic sweep in float64, without vectors, factors or tables: what the float32 kernel is an approximation of.

It draws with the kernel's own random numbers and in the kernel's order of topics (by lanes), so that the same seed
chooses the same topic wherever both agree about the weights.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from linktopics.kernels.drawing import uniform
from linktopics.kernels.simd import LANES

SLIPS = ("", "token counts itself", "no curvature", "pairs as they were", "wrong total")
"""Deliberate mistakes, to see a test fail."""


@njit(cache=True)
def _sweep(
    n_topics, start, words, assignments, doc_topic, word_topic, topic_total, out_start, source, target, in_start,
    in_pair, linear, quadratic, offset, U, alpha, beta, mass, lengths, rng, trace, slip,
):  # fmt: skip
    K = n_topics
    width = (K + LANES - 1) // LANES * LANES
    log_weight, weight = np.empty(K), np.empty(width)
    for i in range(len(start) - 1):
        n = start[i + 1] - start[i]
        n_out, m = out_start[i + 1] - out_start[i], out_start[i + 1] - out_start[i] + in_start[i + 1] - in_start[i]
        # a[e, k]: what a token of topic k adds to the score of pair e; score[e]: what it is now.
        a, score, pair = np.zeros((m, K)), np.zeros(m), np.zeros(m, np.int64)
        for e in range(m):
            pair[e] = out_start[i] + e if e < n_out else in_pair[in_start[i] + e - n_out]
            other = target[pair[e]] if e < n_out else source[pair[e]]
            for k in range(K):
                for j in range(K):
                    share = doc_topic[other, j] / lengths[other] if lengths[other] else alpha[j] / alpha.sum()
                    a[e, k] += (U[k, j] if e < n_out else U[j, k]) * share / max(n, 1)
            score[e] = offset[pair[e]]
            for k in range(K):
                score[e] += a[e, k] * doc_topic[i, k]
        for at in range(start[i], start[i + 1]):
            t, w = assignments[at], words[at]
            doc_topic[i, t] -= 1
            word_topic[w, t] -= 1
            topic_total[t] -= 1
            score -= a[:, t]
            own = 1.0 if slip == 1 else 0.0
            for k in range(K):
                log_weight[k] = np.log(word_topic[w, k] + beta + (own if k == t else 0.0))
                log_weight[k] += np.log(doc_topic[i, k] + alpha[k])
                log_weight[k] -= np.log(topic_total[k] + (mass[k] if slip != 4 else 2 * mass[k]))
                for e in range(m):
                    x, q = a[e, k], quadratic[pair[e]]
                    curved = 0.0 if slip == 2 else 0.5 * q * x * x
                    log_weight[k] += x * (linear[pair[e]] - q * score[e]) - curved
            weight[:] = 0.0
            weight[:K] = np.exp(log_weight - log_weight.max())
            if len(trace):
                trace[at] = weight[:K] / weight.sum()
            # The kernel's order: by lane first, and within a lane by topic.
            u = np.float64(uniform(rng)) * weight.sum()
            s, reached, last = -1, 0.0, 0
            for lane in range(LANES):
                for k in range(lane, width, LANES):
                    reached += weight[k]
                    if weight[k] > 0:
                        last = k
                    if s < 0 and reached > u:
                        s = k
            s = s if s >= 0 else last
            assignments[at] = s
            doc_topic[i, s] += 1
            word_topic[w, s] += 1
            topic_total[s] += 1
            if slip != 3:
                score += a[:, s]
            else:
                score += a[:, t]


def draw_topics(shard, trace=None, slip=""):
    """Redraw the topics of all tokens of a shard that is a whole chain, in place, as `Shard.draw_topics` does."""
    corpus, state, priors, K = shard.corpus, shard.state, shard.state.priors, shard.settings.n_topics
    assert shard.part.n_parts == 1
    assert shard.settings.exact
    assert not len(corpus.seeds.word)
    assignments = state.assignments.astype(np.int64)
    counts = [table[:, :K].astype(np.int64) for table in (state.doc_topic, state.word_topic)]
    total = state.topic_total[:K].copy()
    _sweep(
        K, corpus.start, corpus.words, assignments, *counts, total, corpus.out_start, corpus.source, corpus.target,
        corpus.in_start, corpus.in_pair, shard.linear, shard.quadratic, shard.offsets(), state.weights, priors.alpha,
        priors.beta, priors.beta * corpus.n_words + np.zeros(K), shard.part.lengths, state.stream,
        np.empty((0, K)) if trace is None else trace, SLIPS.index(slip),
    )  # fmt: skip
    state.assignments[:] = assignments
    state.doc_topic[:, :K], state.word_topic[:, :K] = counts
    state.topic_total[:K] = total
    shard.project()
