"""The topic sweep, and what else visits tokens and pairs topic by topic.

Topic axes are padded with zeros to a multiple of `LANES` (see `padded`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linktopics.kernels._compile import kernel
from linktopics.kernels.lanes import (
    LANES,
    count_up_to,
    extract,
    floor,
    larger,
    load,
    maximum,
    power_of_two,
    replace,
    running,
    smaller,
    splat,
    store,
    total,
)

__all__ = ["infer", "pair_scores", "project", "rng_streams", "sweep"]

# exp(v) is kept as a product of factors. Fresh, its entries are exp(FLOOR) ... 1; the factors of past changes may then
# move them by SPAN either way, and those of the token in hand by SPAN again. So a topic at the floor, whose true weight
# may be less, has at most exp(FLOOR + 4 SPAN) = 2e-9 of the weight of another.
FLOOR = np.float32(-60.0)
SPAN = np.float32(10.0)
WEAR = np.float32(0.125)  # charged per change for rounding: at most 80 changes between two fresh starts
ZERO, ONE = np.float32(0.0), np.float32(1.0)


def rng_streams(seeds: list[np.random.SeedSequence]) -> NDArray[np.uint64]:
    """Return one xoshiro256++ state per seed, shape (n, 4)."""
    return np.stack([seed.generate_state(4, np.uint64) for seed in seeds])


@kernel
def _exp(x):  # type: ignore[no-untyped-def]
    """exp for float32 in [-87, 88], to about 2 units in the last place."""
    n = floor(x * splat(np.float32(1.44269504)) + splat(np.float32(0.5)))
    r = x - n * splat(np.float32(0.693359375)) + n * splat(np.float32(2.12194440e-4))  # ln 2 in two parts
    p = splat(np.float32(1.9875691500e-4))
    p = p * r + splat(np.float32(1.3981999507e-3))
    p = p * r + splat(np.float32(8.3334519073e-3))
    p = p * r + splat(np.float32(4.1665795894e-2))
    p = p * r + splat(np.float32(1.6666665459e-1))
    p = p * r + splat(np.float32(5.0000001201e-1))
    return (p * r * r + r + splat(ONE)) * power_of_two(n)


# --------------------------------------------------------------------------------------------------------------------
# Random numbers
# --------------------------------------------------------------------------------------------------------------------


@kernel
def _rotate(x, k):  # type: ignore[no-untyped-def]
    return (x << np.uint64(k)) | (x >> np.uint64(64 - k))


@kernel
def _uniform(rng):  # type: ignore[no-untyped-def]
    """Advance a xoshiro256++ state and return a float32 in [0, 1) with 24 random bits."""
    s0, s1, s2, s3 = rng[0], rng[1], rng[2], rng[3]
    result = _rotate(s0 + s3, 23) + s0
    s2 ^= s0
    s3 ^= s1
    rng[0] = s0 ^ s3
    rng[1] = s1 ^ s2
    rng[2] = s2 ^ (s1 << np.uint64(17))
    rng[3] = _rotate(s3, 45)
    return np.float32(result >> np.uint64(40)) * np.float32(2.0**-24)


@kernel
def _last_with_weight(p):  # type: ignore[no-untyped-def]
    for k in range(p.shape[1] - 1, 0, -1):
        if p[0, k] > 0:
            return k
    return 0


@kernel
def _choose(topics, p, sums, rng):  # type: ignore[no-untyped-def]
    """Draw a topic with probability proportional to p[0]; `sums` are the sums of its lanes."""
    up_to = running(sums)
    u = _uniform(rng) * extract(up_to, LANES - 1)
    lane = min(count_up_to(up_to, u), LANES - 1)
    if lane > 0:
        u -= extract(up_to, lane - 1)
    k = lane
    for step in range(lane, len(topics) - LANES, LANES):
        u -= p[0, step]
        k += LANES if u >= 0 else 0
    if p[0, k] > 0:
        return k
    return _last_with_weight(p)  # where rounding ran past it


# --------------------------------------------------------------------------------------------------------------------
# The topic sweep
# --------------------------------------------------------------------------------------------------------------------

# Rows of the sweep's scratch array.
_V, _SHIFTED, _E, _BASE, _Q, _P, _SHARE = range(7)


@kernel
def _gather(topics, rows, j, linear, quadratic, inv_n, pulled, m, work):  # type: ignore[no-untyped-def]
    """Add one pair, whose vector a_e is rows[j], to the document's sums; return its curvature."""
    score = splat(ZERO)
    for k in range(0, len(topics), LANES):
        score = score + load(rows, j, k) * load(work, _SHARE, k)
    curve = quadratic * inv_n * inv_n
    pull = splat((linear - quadratic * total(score)) * inv_n)
    half = splat(np.float32(0.5) * curve)
    for k in range(0, len(topics), LANES):
        a = load(rows, j, k)
        store(pulled, m, k, a)
        store(work, _V, k, load(work, _V, k) + a * (pull - half * a))
    return curve


@kernel
def _curvature_row(topics, t, m, pulled, curve, coefficient, A, EA):  # type: ignore[no-untyped-def]
    """Compute row t of A and of exp(A); return the largest absolute entry of A."""
    for e in range(m):
        coefficient[e] = curve[e] * pulled[e, t]
    largest = splat(ZERO)
    for k in range(0, len(topics), LANES):
        a0 = a1 = a2 = a3 = splat(ZERO)
        for e in range(0, m - 3, 4):
            a0 = a0 + splat(coefficient[e]) * load(pulled, e, k)
            a1 = a1 + splat(coefficient[e + 1]) * load(pulled, e + 1, k)
            a2 = a2 + splat(coefficient[e + 2]) * load(pulled, e + 2, k)
            a3 = a3 + splat(coefficient[e + 3]) * load(pulled, e + 3, k)
        for e in range(m - m % 4, m):
            a0 = a0 + splat(coefficient[e]) * load(pulled, e, k)
        a0 = (a0 + a1) + (a2 + a3)
        store(A, t, k, a0)
        largest = larger(largest, larger(a0, splat(ZERO) - a0))
    extent = maximum(largest)
    if extent <= SPAN:
        for k in range(0, len(topics), LANES):
            store(EA, t, k, _exp(load(A, t, k)))
    return extent


@kernel
def _exp_shifted(topics, n_topics, work, source, result):  # type: ignore[no-untyped-def]
    """work[result] = exp(work[source] - its maximum), floored."""
    top = work[source, 0]
    for k in range(1, n_topics):
        top = max(top, work[source, k])
    for k in range(0, len(topics), LANES):
        x = larger(load(work, source, k) - splat(top), splat(FLOOR))
        store(work, result, k, _exp(smaller(x, splat(ZERO))))  # only the padding can be above zero


@kernel
def _project_row(topics, i, doc_topic, inv_n, U, UT, projection, entering):  # type: ignore[no-untyped-def]
    for k in range(0, len(topics), LANES):
        store(projection, i, k, splat(ZERO))
        store(projection, entering + i, k, splat(ZERO))
    for t in range(len(topics)):
        if doc_topic[i, t] > 0:
            x = splat(doc_topic[i, t] * inv_n)
            for k in range(0, len(topics), LANES):
                store(projection, i, k, load(projection, i, k) + x * load(UT, t, k))
            if entering > 0:
                for k in range(0, len(topics), LANES):
                    store(projection, entering + i, k, load(projection, entering + i, k) + x * load(U, t, k))


@kernel
def project(topics, start, doc_topic, U, UT, projection, entering):  # type: ignore[no-untyped-def]
    """projection[:D] = Zbar U^T and projection[entering : entering + D] = Zbar U, where Zbar = doc_topic / lengths.

    Rows of empty documents are zero. If U is symmetric both are the same, and `entering` is zero.
    """
    for i in range(len(start) - 1):
        inv_n = ONE / np.float32(max(start[i + 1] - start[i], 1))
        _project_row(topics, i, doc_topic, inv_n, U, UT, projection, entering)


@kernel
def sweep(  # type: ignore[no-untyped-def]
    topics, n_topics, start, words, assignments, doc_topic, word_topic, topic_total,
    out_start, target, in_start, in_pair, source, linear, quadratic, projection, entering, U, UT,
    alpha, beta, mass, exact, first, last, rng, trace,
):  # fmt: skip
    """Redraw the topic of every token of documents first ... last - 1, in place.

    With the counts taken without the token, topic k of a token of word w in document i has the weight

        (word_topic[w, k] + beta) * (doc_topic[i, k] + alpha[k]) / (topic_total[k] + mass[k]) * exp(v[k])

    where v = g - A c - diag(A) / 2 for the counts c of the document, g = sum_e linear_e a_e / N and
    A = sum_e quadratic_e a_e a_e^T / N^2 over the document's pairs; a_e = U zbar_target = projection[target] for those
    that leave it, and a_e = U^T zbar_source = projection[entering + source] for those that enter it. `linear` has the
    offsets of the pairs taken in: linear_e - quadratic_e offset_e. mass[k] are the prior tokens of topic k: V beta, and
    those of its seed words, which are in `word_topic` already.
    If not `exact`, v is that of the document's counts at its start, for all its tokens.

    Adding or removing a token of topic t changes v by row t of A, so exp(v) by a factor that is the same for all tokens
    of the document. Rows of A and their exponentials are computed when a topic is first met. Where a factor would leave
    float32's range the token is weighed from v itself.

    If `trace` has a row per token, the weights of the topics are written there.
    """
    K = len(topics)
    work = np.zeros((7, K), np.float32)
    inverse = np.zeros((1, K), np.float32)
    for k in range(n_topics):
        inverse[0, k] = np.float32(1.0 / (topic_total[k] + mass[k]))
    A = np.zeros((K, K), np.float32)
    EA = np.ones((K, K), np.float32)
    extent = np.full(K, np.float32(-1.0 if exact else 0.0))  # largest entry of a row of A; -1: not computed yet
    most = 0
    for i in range(first, last):
        most = max(most, out_start[i + 1] - out_start[i] + in_start[i + 1] - in_start[i])
    pulled = np.zeros((most, K), np.float32)
    curve = np.zeros(most, np.float32)
    coefficient = np.zeros(most, np.float32)

    for i in range(first, last):
        n_tokens = start[i + 1] - start[i]
        if n_tokens == 0:
            continue
        inv_n = ONE / np.float32(n_tokens)
        for k in range(0, K, LANES):
            c = load(doc_topic, i, k)
            store(work, _V, k, splat(ZERO))
            store(work, _SHARE, k, c * splat(inv_n))
            store(work, _BASE, k, (c + load(alpha, 0, k)) * load(inverse, 0, k))
        n_out = out_start[i + 1] - out_start[i]
        m = n_out + in_start[i + 1] - in_start[i]
        for e in range(m):
            if e < n_out:
                pair = out_start[i] + e
                row = np.int64(target[pair])
            else:
                pair = in_pair[in_start[i] + e - n_out]
                row = entering + source[pair]
            curve[e] = _gather(topics, projection, row, linear[pair], quadratic[pair], inv_n, pulled, e, work)
        if exact:
            extent[:] = -ONE
        _exp_shifted(topics, n_topics, work, _V, _E)
        for k in range(0, K, LANES):
            store(work, _Q, k, load(work, _BASE, k) * load(work, _E, k))
        wander = ZERO

        for n in range(start[i], start[i + 1]):
            t = np.int64(assignments[n])
            w = np.int64(words[n])
            if extent[t] < 0:
                extent[t] = _curvature_row(topics, t, m, pulled, curve, coefficient, A, EA)
            rest = (
                (word_topic[w, t] - ONE + beta)
                * (doc_topic[i, t] - ONE + alpha[0, t])
                * np.float32(1.0 / (topic_total[t] - 1 + mass[t]))
            )
            sums = splat(ZERO)
            if extent[t] <= SPAN:
                rest *= work[_E, t] * EA[t, t]
                for k in range(0, K, LANES):
                    x = (load(word_topic, w, k) + splat(beta)) * load(work, _Q, k) * load(EA, t, k)
                    x = replace(x, k, t, rest)
                    store(work, _P, k, x)
                    sums = sums + x
            else:
                for k in range(0, K, LANES):
                    store(work, _SHIFTED, k, load(work, _V, k) + load(A, t, k))
                _exp_shifted(topics, n_topics, work, _SHIFTED, _P)
                rest *= work[_P, t]
                for k in range(0, K, LANES):
                    x = (load(word_topic, w, k) + splat(beta)) * load(work, _BASE, k) * load(work, _P, k)
                    x = replace(x, k, t, rest)
                    store(work, _P, k, x)
                    sums = sums + x
            if len(trace) > 0:
                trace[n, :] = work[_P]
            s = _choose(topics, work[_P : _P + 1], sums, rng)
            if s == t:
                continue
            if extent[s] < 0:
                extent[s] = _curvature_row(topics, s, m, pulled, curve, coefficient, A, EA)
            assignments[n] = s
            word_topic[w, t] -= ONE
            word_topic[w, s] += ONE
            doc_topic[i, t] -= ONE
            doc_topic[i, s] += ONE
            topic_total[t] -= 1
            topic_total[s] += 1
            inverse[0, t] = np.float32(1.0 / (topic_total[t] + mass[t]))
            inverse[0, s] = np.float32(1.0 / (topic_total[s] + mass[s]))
            base_t = (doc_topic[i, t] + alpha[0, t]) * inverse[0, t]
            base_s = (doc_topic[i, s] + alpha[0, s]) * inverse[0, s]
            fresh = False
            if exact:
                wander += extent[t] + extent[s] + WEAR
                fresh = wander > SPAN
                for k in range(0, K, LANES):
                    store(work, _V, k, load(work, _V, k) + load(A, t, k) - load(A, s, k))
                    if not fresh:
                        store(work, _E, k, load(work, _E, k) * load(EA, t, k) / load(EA, s, k))
                if fresh:
                    _exp_shifted(topics, n_topics, work, _V, _E)
                    wander = ZERO
            for k in range(0, K, LANES):
                x = replace(replace(load(work, _BASE, k), k, t, base_t), k, s, base_s)
                store(work, _BASE, k, x)
                store(work, _Q, k, x * load(work, _E, k))
        _project_row(topics, i, doc_topic, inv_n, U, UT, projection, entering)


@kernel
def pair_scores(topics, start, doc_topic, source, target, projection, scores):  # type: ignore[no-untyped-def]
    """scores = (Zbar[source] * projection[target]).sum(1), where Zbar = doc_topic / lengths."""
    for pair in range(len(source)):
        i, j = source[pair], target[pair]
        score = splat(ZERO)
        for k in range(0, len(topics), LANES):
            score = score + load(doc_topic, i, k) * load(projection, j, k)
        scores[pair] = total(score) / np.float32(max(start[i + 1] - start[i], 1))


# --------------------------------------------------------------------------------------------------------------------
# New documents
# --------------------------------------------------------------------------------------------------------------------


@kernel
def _seed(seed, words, first, last, rng):  # type: ignore[no-untyped-def]
    """Set a random state from a seed and a document's words, so that no other document has a say in it."""
    x = np.uint64(seed)
    for n in range(first, last):
        x = (x ^ np.uint64(words[n])) * np.uint64(0x100000001B3)
    for part in range(4):  # splitmix64
        x += np.uint64(0x9E3779B97F4A7C15)
        y = x
        y = (y ^ (y >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        y = (y ^ (y >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        rng[part] = y ^ (y >> np.uint64(31))


@kernel
def infer(  # type: ignore[no-untyped-def]
    topics, start, words, word_topic, alpha, seed, max_sweeps, n_average, tol, first, last, shares
):
    """Write the mean topic proportions of documents first ... last - 1 into `shares`, topics being fixed.

    p(z_n = k) is proportional to word_topic[w_n, k] (c_k + alpha_k). Sweeps go on until the relative change of the
    likelihood of the words, sum_n log sum_k word_topic[w_n, k] (c_k + alpha_k), is under `tol` (or `max_sweeps` are
    done); then the counts of `n_average` further sweeps are averaged. Empty documents get zeros.
    """
    K = len(topics)
    counts = np.zeros((1, K), np.float32)
    p = np.zeros((1, K), np.float32)
    rng = np.zeros(4, np.uint64)
    longest = 0
    for i in range(first, last):
        longest = max(longest, start[i + 1] - start[i])
    assignments = np.zeros(longest, np.int32)
    for i in range(first, last):
        shares[i, :] = ZERO
        n_tokens = start[i + 1] - start[i]
        if n_tokens == 0:
            continue
        _seed(seed, words, start[i], start[i + 1], rng)
        counts[0, :] = ZERO
        before = 0.0
        settled = -1  # the sweep at which the likelihood was first seen to settle
        for turn in range(max_sweeps + n_average):
            likelihood = 0.0
            for n in range(n_tokens):
                w = words[start[i] + n]
                if turn > 0:
                    counts[0, assignments[n]] -= ONE
                sums = splat(ZERO)
                for k in range(0, K, LANES):
                    x = load(word_topic, w, k) * (load(counts, 0, k) + load(alpha, 0, k))
                    store(p, 0, k, x)
                    sums = sums + x
                s = _choose(topics, p, sums, rng)
                likelihood += np.log(np.float64(total(sums)))
                assignments[n] = s
                counts[0, s] += ONE
            if settled >= 0:
                for k in range(0, K, LANES):
                    store(shares, i, k, load(shares, i, k) + load(counts, 0, k))
                if turn - settled >= n_average:
                    break
            elif turn >= max_sweeps - 1 or (turn > 1 and abs(likelihood - before) <= tol * abs(before)):
                settled = turn
            before = likelihood
        scale = splat(ONE / np.float32(n_tokens * n_average))
        for k in range(0, K, LANES):
            store(shares, i, k, load(shares, i, k) * scale)
