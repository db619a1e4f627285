"""Sums over training pairs for the weight step.

Proportions are mostly zero (a document has a handful of topics), so these kernels take those of the current document
as compressed rows: the topics of document i are ``topic[row[i]:row[i + 1]]``, their proportions
``share[row[i]:row[i + 1]]``. Those of the document at the other end are faster to read as a whole row of counts, times
the `inverse` of its length.
Pairs are sorted by source; those of document i are ``out_start[i] ... out_start[i + 1] - 1``.
"""

from __future__ import annotations

import numpy as np

from linktopics.kernels._compile import inlined, kernel, precise_kernel
from linktopics.kernels.simd import LANES, load, prefetch, splat, store, total

PREFETCH_PAIRS = 8  # number of pairs ahead whose rows are prefetched
CACHE_LINE_TOPICS = 16  # topics in a line of the cache
FLOAT32_DOCUMENTS = 256  # documents summed in float32 before the sum goes to float64


@kernel
def compress(lengths, doc_topic, row):
    """Return (topic, share) of ``doc_topic / lengths`` in compressed rows, and fill `row`."""
    n = 0
    for i in range(doc_topic.shape[0]):
        for k in range(doc_topic.shape[1]):
            n += doc_topic[i, k] > 0
    topic = np.empty(n, np.int32)
    share = np.empty(n, np.float64)
    n = 0
    for i in range(doc_topic.shape[0]):
        row[i] = n
        for k in range(doc_topic.shape[1]):
            if doc_topic[i, k] > 0:
                topic[n] = k
                share[n] = doc_topic[i, k] / max(lengths[i], 1)
                n += 1
    row[doc_topic.shape[0]] = n
    return topic, share


@inlined
def _add_outer(topics, row, topic, share, i, squared, pulled, block):
    """block += zbar_i pulled^T, or zbar_i ** 2."""
    for a in range(row[i], row[i + 1]):
        x = splat(np.float32(share[a] * share[a] if squared else share[a]))
        for k in range(0, len(topics), LANES):
            store(block, topic[a], k, load(block, topic[a], k) + x * load(pulled, 0, k))


@inlined
def _fetch(topics, doc_topic, target, e):
    """Prefetch the row of a later pair."""
    j = target[min(e + PREFETCH_PAIRS, len(target) - 1)]
    for k in range(0, len(topics), CACHE_LINE_TOPICS):
        prefetch(doc_topic, j, k)


@inlined
def _flush(block, result):
    """result += block; block = 0."""
    for k in range(result.shape[0]):
        for j in range(result.shape[1]):
            result[k, j] += block[k, j]
    block[:] = 0.0


@inlined
def _outer_sum(topics, row, topic, share, inverse, doc_topic, out_start, target, x, squared, result):
    result[:] = 0.0
    block = np.zeros((len(topics), len(topics)), np.float32)
    pulled = np.zeros((1, len(topics)), np.float32)
    for i in range(len(row) - 1):
        if row[i] < row[i + 1] and out_start[i] < out_start[i + 1]:
            pulled[:] = np.float32(0.0)
            for e in range(out_start[i], out_start[i + 1]):
                j = target[e]
                _fetch(topics, doc_topic, target, e)
                y = splat(np.float32(x[e] * inverse[j] * (inverse[j] if squared else 1.0)))
                for k in range(0, len(topics), LANES):
                    c = load(doc_topic, j, k)
                    store(pulled, 0, k, load(pulled, 0, k) + y * (c * c if squared else c))
            _add_outer(topics, row, topic, share, i, squared, pulled, block)
        if i % FLOAT32_DOCUMENTS == FLOAT32_DOCUMENTS - 1:
            _flush(block, result)
    _flush(block, result)


@kernel
def interaction_sum(topics, row, topic, share, inverse, doc_topic, out_start, target, x, result):
    """result = sum_e x_e zbar_i zbar_j^T = Zbar[source].T @ (x[:, None] * Zbar[target])."""
    _outer_sum(topics, row, topic, share, inverse, doc_topic, out_start, target, x, False, result)


@kernel
def curvatures(topics, row, topic, share, inverse, doc_topic, out_start, target, x, result):
    """result = sum_e x_e (zbar_i ** 2) (zbar_j ** 2)^T, the diagonal of the precision of vec(U)."""
    _outer_sum(topics, row, topic, share, inverse, doc_topic, out_start, target, x, True, result)


@kernel
def precision_product(topics, row, topic, share, inverse, doc_topic, out_start, target, quadratic, V, result, pull):
    """result = sum_e pull_e zbar_i zbar_j^T for pull_e = quadratic_e (zbar_i^T V zbar_j + offset_e).

    V is float32 and padded. `pull` holds the offsets on entry and the values pull_e on return; it is empty if there are
    no offsets.
    """
    result[:] = 0.0
    has_offsets = len(pull) > 0
    block = np.zeros((len(topics), len(topics)), np.float32)
    seen = np.zeros((1, len(topics)), np.float32)
    pulled = np.zeros((1, len(topics)), np.float32)
    for i in range(len(row) - 1):
        if has_offsets and row[i] == row[i + 1]:
            for e in range(out_start[i], out_start[i + 1]):
                pull[e] *= quadratic[e]
        if row[i] < row[i + 1] and out_start[i] < out_start[i + 1]:
            seen[:] = np.float32(0.0)
            pulled[:] = np.float32(0.0)
            for a in range(row[i], row[i + 1]):
                x = splat(np.float32(share[a]))
                for k in range(0, len(topics), LANES):
                    store(seen, 0, k, load(seen, 0, k) + x * load(V, topic[a], k))
            for e in range(out_start[i], out_start[i + 1]):
                j = target[e]
                _fetch(topics, doc_topic, target, e)
                score = splat(np.float32(0.0))
                for k in range(0, len(topics), LANES):
                    score = score + load(seen, 0, k) * load(doc_topic, j, k)
                if has_offsets:
                    pull[e] = quadratic[e] * (pull[e] + inverse[j] * total(score))
                    y = splat(np.float32(pull[e] * inverse[j]))
                else:
                    y = splat(np.float32(quadratic[e] * inverse[j] * inverse[j]) * total(score))
                for k in range(0, len(topics), LANES):
                    store(pulled, 0, k, load(pulled, 0, k) + y * load(doc_topic, j, k))
            _add_outer(topics, row, topic, share, i, False, pulled, block)
        if i % FLOAT32_DOCUMENTS == FLOAT32_DOCUMENTS - 1:
            _flush(block, result)
    _flush(block, result)


@kernel
def gram(row, topic, share, out_start, target, quadratic, index, result):
    """result[index[k, k'], index[l, l']] = sum_e quadratic_e zbar_ik zbar_ik' zbar_jl zbar_jl' for k <= k', l <= l'."""
    result[:] = 0.0
    inner = np.zeros(result.shape[1])
    for i in range(len(row) - 1):
        if row[i] == row[i + 1] or out_start[i] == out_start[i + 1]:
            continue
        inner[:] = 0.0
        for e in range(out_start[i], out_start[i + 1]):
            j = target[e]
            for b in range(row[j], row[j + 1]):
                x = quadratic[e] * share[b]
                for d in range(b, row[j + 1]):
                    inner[index[topic[b], topic[d]]] += x * share[d]
        for a in range(row[i], row[i + 1]):
            for d in range(a, row[i + 1]):
                at = index[topic[a], topic[d]]
                x = share[a] * share[d]
                for k in range(len(inner)):
                    result[at, k] += x * inner[k]


@kernel
def marginals(row, topic, share, source, target, x, left, right):
    """left = sum_e x_e zbar_i zbar_i^T, right = sum_e x_e zbar_j zbar_j^T."""
    n = len(row) - 1
    out = np.zeros(n)
    into = np.zeros(n)
    for e in range(len(source)):
        out[source[e]] += x[e]
        into[target[e]] += x[e]
    left[:] = 0.0
    right[:] = 0.0
    for i in range(n):
        for a in range(row[i], row[i + 1]):
            for b in range(row[i], row[i + 1]):
                left[topic[a], topic[b]] += out[i] * share[a] * share[b]
                right[topic[a], topic[b]] += into[i] * share[a] * share[b]


@kernel
def diagonal_sums(row, topic, share, source, target, quadratic, linear, features, precision, pull):
    """precision = F.T @ (quadratic[:, None] * F), pull = F.T @ linear.

    F = [Zbar[source] * Zbar[target], features].
    """
    precision[:] = 0.0
    pull[:] = 0.0
    n_topics = len(pull) - features.shape[1]
    common = np.zeros(len(pull), np.int64)
    value = np.zeros(len(pull))
    for e in range(len(source)):
        a, a_end = row[source[e]], row[source[e] + 1]
        b, b_end = row[target[e]], row[target[e] + 1]
        n = 0
        while a < a_end and b < b_end:
            if topic[a] == topic[b]:
                common[n] = topic[a]
                value[n] = share[a] * share[b]
                n += 1
                a += 1
                b += 1
            elif topic[a] < topic[b]:
                a += 1
            else:
                b += 1
        for f in range(features.shape[1]):
            common[n] = n_topics + f
            value[n] = features[e, f]
            n += 1
        for x in range(n):
            pull[common[x]] += linear[e] * value[x]
            for y in range(n):
                precision[common[x], common[y]] += quadratic[e] * value[x] * value[y]


@precise_kernel
def cross_sums(row, topic, share, out_start, target, quadratic, features, result):
    """result[k, l, f] = sum_e quadratic_e zbar_i[k] zbar_j[l] x_e[f], where x_e are the features of pair e."""
    result[:] = 0.0
    n_topics, n_features = result.shape[1:]
    pulled = np.empty((n_topics, n_features))
    for i in range(len(row) - 1):
        if out_start[i] == out_start[i + 1]:
            continue
        pulled[:] = 0.0
        for e in range(out_start[i], out_start[i + 1]):
            for b in range(row[target[e]], row[target[e] + 1]):
                for f in range(n_features):
                    pulled[topic[b], f] += quadratic[e] * features[e, f] * share[b]
        for a in range(row[i], row[i + 1]):
            for k in range(n_topics):
                for f in range(n_features):
                    result[topic[a], k, f] += pulled[k, f] * share[a]
