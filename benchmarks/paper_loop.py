"""The paper's topic step, compiled as it is written: every neighbour is visited for every token and topic.

It has what speed a straightforward version would have: U zbar_j is kept for every document, scores are kept up to date,
and the whole is compiled. It draws from the same conditional as `linktopics.kernels.sweep.sweep`.
"""

from __future__ import annotations

import numpy as np
from numba import njit


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
