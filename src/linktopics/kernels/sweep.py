"""The topic sweep, and other kernels over the tokens and pairs of documents.

Topic axes are padded with zeros to a multiple of `LANES` (see `padded`).
"""

from __future__ import annotations

import numpy as np

from linktopics.kernels._compile import inlined, kernel
from linktopics.kernels.drawing import choose
from linktopics.kernels.simd import (
    LANES,
    block_width,
    floor,
    larger,
    load,
    load_block,
    magnitude,
    maximum,
    power_of_two,
    prefetch,
    replace,
    splat,
    store,
    store_block,
    total,
    zero_block,
)

# exp(v) is kept as a product of factors. Just computed, its entries are exp(MIN_LOG_FACTOR) ... 1; the factors of later
# changes may move them by up to MAX_LOG_CHANGE in either direction, and those of the current token by MAX_LOG_CHANGE
# again. So a topic at the minimum, whose true weight may be less, has at most
# exp(MIN_LOG_FACTOR + 4 MAX_LOG_CHANGE) = 2e-9 of the weight of another.
MIN_LOG_FACTOR = np.float32(-60.0)
MAX_LOG_CHANGE = np.float32(10.0)
ROUNDING_CHARGE = np.float32(0.125)  # added per change for rounding: exp(v) is recomputed after at most 80 changes
PREFETCH_TOKENS = 4  # number of tokens ahead whose words are prefetched
CACHE_LINE_TOPICS = 16  # topics in a line of the cache
PREFETCH_MIN_ENTRIES = 2**18  # smaller arrays (up to a megabyte) stay in the processor's cache
NARROW_EXTENT = np.float32(0.34)  # rows with no larger entry need no more than `_exp_near_zero`
PADDING = np.float32(-1e30)
ZERO, HALF, ONE = np.float32(0.0), np.float32(0.5), np.float32(1.0)


@inlined
def _exp_near_zero(r):
    """exp for float32 in [-ln 2 / 2, ln 2 / 2]."""
    p = splat(np.float32(1.9875691500e-4))
    p = p * r + splat(np.float32(1.3981999507e-3))
    p = p * r + splat(np.float32(8.3334519073e-3))
    p = p * r + splat(np.float32(4.1665795894e-2))
    p = p * r + splat(np.float32(1.6666665459e-1))
    p = p * r + splat(np.float32(5.0000001201e-1))
    return p * r * r + r + splat(ONE)


@inlined
def _exp(x):
    """exp for float32 in [-87, 88], to about 2 units in the last place."""
    n = floor(x * splat(np.float32(1.44269504)) + splat(np.float32(0.5)))
    r = x - n * splat(np.float32(0.693359375)) + n * splat(np.float32(2.12194440e-4))  # ln 2 in two parts
    return _exp_near_zero(r) * power_of_two(n)


# Rows of the sweep's scratch array: g - diag(A) / 2; v; exp(v); and what tokens are weighed by.
_G, _V, _E, _BASE, _Q, _UPTO, _ZERO, _PADDING = range(8)


@inlined
def _combine(topics, n, index, x, rows, out, i):
    """out[i] = x[:n] @ rows[index[:n]]."""
    width = block_width(topics)
    for first in range(0, len(topics), width):
        k = min(first, len(topics) - width)
        sums = zero_block(topics)
        for j in range(n):
            sums = sums + x[j] * load_block(topics, rows, index[j], k)
        store_block(topics, out, i, k, sums)


@inlined
def _prefetch_row(topics, rows, i):
    for k in range(0, len(topics), CACHE_LINE_TOPICS):
        prefetch(rows, i, k)
    prefetch(rows, i, len(topics) - 1)


@inlined
def _add_pair(topics, sums, rows, i, k, linear, root, pulled, at):
    """Return `sums` with a block of the pair's part of g - diag(A) / 2, and set that block of pulled[at]."""
    a = load_block(topics, rows, i, k)
    b = root * a
    store_block(topics, pulled, at, k, b)
    return sums + (linear * a - (HALF * b) * b)


@inlined
def _gather(topics, i, rows, out_start, target, forces, entering, in_start, in_source, in_forces, inv_n, pulled, work):
    """Set g - diag(A) / 2 of document i, and rows of `pulled`, such that A = pulled.T @ pulled.

    Blocks overlap where their width does not divide the number of topics. So each is summed up over all pairs and then
    stored: a block that began with sums stored before would count the pairs of some topics twice.
    """
    width = block_width(topics)
    for start in range(0, len(topics), width):
        k = min(start, len(topics) - width)
        sums = zero_block(topics)
        at = 0
        for e in range(out_start[i], out_start[i + 1]):
            linear, root = forces[e, 0] * inv_n, forces[e, 1] * inv_n
            sums = _add_pair(topics, sums, rows, np.int64(target[e]), k, linear, root, pulled, at)
            at += 1
        for e in range(in_start[i], in_start[i + 1]):
            linear, root = in_forces[e, 0] * inv_n, in_forces[e, 1] * inv_n
            sums = _add_pair(topics, sums, rows, entering + np.int64(in_source[e]), k, linear, root, pulled, at)
            at += 1
        store_block(topics, work, _G, k, sums)


@inlined
def _curvature_row(topics, t, m, pulled, A):
    """Compute row t of A."""
    width = block_width(topics)
    for start in range(0, len(topics), width):
        k = min(start, len(topics) - width)
        one, two = zero_block(topics), zero_block(topics)
        for e in range(0, m, 2):  # row m of `pulled` is zero
            one = one + pulled[e, t] * load_block(topics, pulled, e, k)
            two = two + pulled[e + 1, t] * load_block(topics, pulled, e + 1, k)
        store_block(topics, A, t, k, one + two)


@inlined
def _exp_row(topics, t, A, EA):
    """Set row t of exp(A) unless it is out of range; return the largest absolute entry of A."""
    largest = splat(ZERO)
    for k in range(0, len(topics), LANES):
        largest = larger(largest, magnitude(load(A, t, k)))
    extent = maximum(largest)
    if extent <= NARROW_EXTENT:
        for k in range(0, len(topics), LANES):
            store(EA, t, k, _exp_near_zero(load(A, t, k)))
    elif extent <= MAX_LOG_CHANGE:
        for k in range(0, len(topics), LANES):
            store(EA, t, k, _exp(load(A, t, k)))
    return extent


@inlined
def _levels(topics, i, n_met, met, count, doc_topic, A, work):
    """v = g - A c - diag(A) / 2 for the counts c of document i."""
    for j in range(n_met):
        count[j] = doc_topic[i, met[j]]
    _combine(topics, n_met, met, count, A, work, _V)
    for k in range(0, len(topics), LANES):
        store(work, _V, k, load(work, _G, k) - load(work, _V, k))


@inlined
def _exp_shifted(topics, work, x, t, out, i):
    """out[i] = exp(v + x[t] - its maximum), floored."""
    top = load(work, _V, 0) + load(x, t, 0) + load(work, _PADDING, 0)
    for k in range(LANES, len(topics), LANES):
        top = larger(top, load(work, _V, k) + load(x, t, k) + load(work, _PADDING, k))
    top = splat(maximum(top))
    for k in range(0, len(topics), LANES):
        v = load(work, _V, k) + load(x, t, k) + load(work, _PADDING, k)
        store(out, i, k, _exp(larger(v - top, splat(MIN_LOG_FACTOR))))


@inlined
def _add(rows, i, t, x, unit):
    """rows[i, t] += x, as a vector operation: a scalar store would stall the next load of that vector."""
    k, at = t - t % LANES, LANES - t % LANES
    store(rows, i, k, load(rows, i, k) + splat(x) * load(unit, 1, at))


@inlined
def _put(rows, i, t, x, unit):
    """rows[i, t] = x, as a vector operation."""
    # The compiler would turn `replace` into a masked store, which is slow.
    k, at = t - t % LANES, LANES - t % LANES
    store(rows, i, k, load(rows, i, k) * load(unit, 0, at) + splat(x) * load(unit, 1, at))


@inlined
def _find_topics(topics, i, doc_topic, met):
    """Write the topics that document i has into `met`; return their number."""
    n = 0
    for t in range(len(topics)):
        met[n] = t
        n += 1 if doc_topic[i, t] > 0 else 0
    return n


@inlined
def _project_row(topics, i, n_met, met, share, doc_topic, inv_n, U, UT, projection, entering):
    for j in range(n_met):
        share[j] = doc_topic[i, met[j]] * inv_n
    _combine(topics, n_met, met, share, UT, projection, i)
    if entering > 0:
        _combine(topics, n_met, met, share, U, projection, entering + i)


@kernel
def project(topics, lengths, doc_topic, U, UT, projection, entering):
    """projection[:D] = Zbar U^T and projection[entering : entering + D] = Zbar U, where Zbar = doc_topic / lengths.

    If U is symmetric both are the same, and `entering` is zero.
    """
    met = np.zeros(len(topics) + 1, np.int64)
    share = np.zeros(len(topics), np.float32)
    for i in range(len(lengths)):
        inv_n = ONE / np.float32(max(lengths[i], 1))
        n_met = _find_topics(topics, i, doc_topic, met)
        _project_row(topics, i, n_met, met, share, doc_topic, inv_n, U, UT, projection, entering)


@kernel
def sweep(
    topics, n_topics, start, words, assignments, doc_topic, word_topic, topic_total,
    out_start, target, forces, in_start, in_source, in_forces, projection, entering, U, UT,
    alpha, beta, mass, exact, first, last, rng, trace,
):  # fmt: skip
    """Redraw the topic of every token of documents first ... last - 1, in place.

    With the counts taken without the token, topic k of a token of word w in document i has the weight

        (word_topic[w, k] + beta) * (doc_topic[i, k] + alpha[k]) / (topic_total[k] + mass[k]) * exp(v[k])

    where v = g - A c - diag(A) / 2 for the counts c of the document, g = sum_e linear_e a_e / N and
    A = sum_e quadratic_e a_e a_e^T / N^2 over the document's pairs; a_e = U zbar_target = projection[target] for those
    that leave it, and a_e = U^T zbar_source = projection[entering + source] for those that enter it. A row of `forces`
    is (linear_e - quadratic_e offset_e, root of quadratic_e), which includes the offsets of the pairs; `in_forces` are
    the same by target. mass[k] are the prior tokens of topic k: V beta, and those of its seed words, which are in
    `word_topic` already.
    If not `exact`, v is that of the document's counts at its start, for all its tokens.

    Adding or removing a token of topic t changes v by row t of A, so exp(v) by a factor that is the same for all tokens
    of the document. Rows of A and their exponentials are computed for the topics that the document has, and for others
    when they are first chosen; v is recomputed from them when the accumulated factors reach MAX_LOG_CHANGE. Where a
    factor would overflow float32, the weights of the token are computed from v.

    If `trace` has a row per token, the weights of the topics are written there.
    """
    K = len(topics)
    work = np.zeros((8, K), np.float32)
    work[_PADDING, n_topics:] = PADDING
    unit = np.zeros((2, 2 * LANES), np.float32)  # all ones but one; all zeros but one
    unit[0, :] = ONE
    unit[0, LANES], unit[1, LANES] = ZERO, ONE
    inverse = np.zeros((1, K), np.float32)  # 1 / (topic_total + mass), and the same with one token less
    less = np.zeros(K, np.float32)
    for k in range(n_topics):
        inverse[0, k] = np.float32(1.0 / (topic_total[k] + mass[k]))
        less[k] = np.float32(1.0 / (max(topic_total[k] - 1, 0) + mass[k]))
    A = np.zeros((K, K), np.float32)
    EA = np.ones((K + 1, K), np.float32)  # the last row is for tokens whose weights are computed from v
    extent = np.full(K, -ONE)  # largest entry of a row of A; -1: not computed yet
    met = np.zeros(K + 1, np.int64)
    count = np.zeros(K, np.float32)
    most = 0
    for i in range(first, last):
        most = max(most, out_start[i + 1] - out_start[i] + in_start[i + 1] - in_start[i])
    pulled = np.zeros((most + 1, K), np.float32)
    far = projection.size + word_topic.size > PREFETCH_MIN_ENTRIES

    for i in range(first, last):
        n_tokens = start[i + 1] - start[i]
        if n_tokens == 0:
            continue
        inv_n = ONE / np.float32(n_tokens)
        m = out_start[i + 1] - out_start[i] + in_start[i + 1] - in_start[i]
        _gather(
            topics, i, projection, out_start, target, forces, entering, in_start, in_source, in_forces,
            inv_n, pulled, work,
        )  # fmt: skip
        for k in range(0, K, LANES):
            store(pulled, m, k, splat(ZERO))
            store(work, _BASE, k, (load(doc_topic, i, k) + load(alpha, 0, k)) * load(inverse, 0, k))
        n_met = _find_topics(topics, i, doc_topic, met)
        for j in range(n_met):
            _curvature_row(topics, met[j], m, pulled, A)
        for j in range(n_met):
            extent[met[j]] = _exp_row(topics, met[j], A, EA) if exact else ZERO
        wander = MAX_LOG_CHANGE + ONE
        # Rows at the other ends of the next document's pairs are fetched while the tokens of this one are drawn.
        after = min(i + 1, last - 1)
        next_out, next_in = out_start[after], in_start[after]
        out_share = (out_start[after + 1] - next_out + n_tokens - 1) // n_tokens
        in_share = (in_start[after + 1] - next_in + n_tokens - 1) // n_tokens

        for n in range(start[i], start[i + 1]):
            t = np.int64(assignments[n])
            w = np.int64(words[n])
            if far:
                soon = np.int64(words[min(n + PREFETCH_TOKENS, len(words) - 1)])
                _prefetch_row(topics, word_topic, soon)
                for e in range(next_out, min(next_out + out_share, out_start[after + 1])):
                    _prefetch_row(topics, projection, target[e])
                for e in range(next_in, min(next_in + in_share, in_start[after + 1])):
                    _prefetch_row(topics, projection, entering + in_source[e])
                next_out += out_share
                next_in += in_share
            if wander > MAX_LOG_CHANGE or extent[t] > MAX_LOG_CHANGE:
                _levels(topics, i, n_met, met, count, doc_topic, A, work)
                if wander > MAX_LOG_CHANGE:
                    _exp_shifted(topics, work, work, _ZERO, work, _E)
                    for k in range(0, K, LANES):
                        store(work, _Q, k, load(work, _BASE, k) * load(work, _E, k))
                    wander = ZERO
                if extent[t] > MAX_LOG_CHANGE:
                    _exp_shifted(topics, work, A, t, EA, K)
            # Weights are (word_topic + beta) * work[q] * EA[r], but for t, where the token itself is not counted.
            # The maximum keeps the compiler from adding up beta - 1 first, in which a small beta would be lost.
            rest = (
                (max(word_topic[w, t] - ONE, ZERO) + beta) * (max(doc_topic[i, t] - ONE, ZERO) + alpha[0, t]) * less[t]
            )
            if extent[t] <= MAX_LOG_CHANGE:
                q, r = _Q, t
                rest *= work[_E, t] * EA[t, t]
            else:
                q, r = _BASE, K
                rest *= EA[K, t]
            sums = splat(ZERO)
            for k in range(0, K, LANES):
                x = (load(word_topic, w, k) + splat(beta)) * load(work, q, k) * load(EA, r, k)
                sums = sums + replace(x, k, t, rest)
                store(work, _UPTO, k, sums)
            if len(trace) > 0:
                for k in range(0, K, LANES):
                    x = (load(word_topic, w, k) + splat(beta)) * load(work, q, k) * load(EA, r, k)
                    store(trace, n, k, replace(x, k, t, rest))
            s = choose(topics, work[_UPTO : _UPTO + 1], sums, rng)
            if s == t:
                continue
            if extent[s] < 0:
                _curvature_row(topics, s, m, pulled, A)
                extent[s] = _exp_row(topics, s, A, EA) if exact else ZERO
                met[n_met] = s
                n_met += 1
            assignments[n] = s
            _add(word_topic, w, t, -ONE, unit)
            _add(word_topic, w, s, ONE, unit)
            _add(doc_topic, i, t, -ONE, unit)
            _add(doc_topic, i, s, ONE, unit)
            topic_total[t] -= 1
            topic_total[s] += 1
            _put(inverse, 0, t, less[t], unit)
            less[t] = np.float32(1.0 / (max(topic_total[t] - 1, 0) + mass[t]))
            less[s] = inverse[0, s]
            _put(inverse, 0, s, np.float32(1.0 / (topic_total[s] + mass[s])), unit)
            _put(work, _BASE, t, (doc_topic[i, t] + alpha[0, t]) * inverse[0, t], unit)
            _put(work, _BASE, s, (doc_topic[i, s] + alpha[0, s]) * inverse[0, s], unit)
            if exact:
                wander += extent[t] + extent[s] + ROUNDING_CHARGE
            if not exact:
                for k in range(0, K, LANES):
                    store(work, _Q, k, load(work, _BASE, k) * load(work, _E, k))
            elif wander <= MAX_LOG_CHANGE:
                for k in range(0, K, LANES):
                    x = load(work, _E, k) * load(EA, t, k) / load(EA, s, k)
                    store(work, _E, k, x)
                    store(work, _Q, k, load(work, _BASE, k) * x)
        for j in range(n_met):
            extent[met[j]] = -ONE
        _project_row(topics, i, n_met, met, count, doc_topic, inv_n, U, UT, projection, entering)


@kernel
def pair_scores(topics, lengths, doc_topic, source, target, projection, scores):
    """scores = (Zbar[source] * projection[target]).sum(1), where Zbar = doc_topic / lengths."""
    for pair in range(len(source)):
        i, j = source[pair], target[pair]
        later = source[min(pair + 8, len(source) - 1)]
        for k in range(0, len(topics), 2 * LANES):
            prefetch(doc_topic, later, k)
        score = splat(ZERO)
        for k in range(0, len(topics), LANES):
            score = score + load(doc_topic, i, k) * load(projection, j, k)
        scores[pair] = total(score) / np.float32(max(lengths[i], 1))
