"""Topics of new documents."""

from __future__ import annotations

import numpy as np

from linktopics.kernels._compile import kernel
from linktopics.kernels.drawing import choose
from linktopics.kernels.simd import LANES, load, splat, store, total

ZERO, ONE = np.float32(0.0), np.float32(1.0)


@kernel
def _seed(seed, words, first, last, rng):
    """Set a random state from a seed and a document's words, independent of other documents."""
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
def infer(topics, start, words, word_topic, alpha, seed, max_sweeps, n_average, tol, first, last, shares):
    """Write the mean topic proportions of documents first ... last - 1 into `shares`, topics being fixed.

    p(z_n = k) is proportional to word_topic[w_n, k] (c_k + alpha_k). Sweeps continue until the relative change of the
    likelihood of the words, sum_n log sum_k word_topic[w_n, k] (c_k + alpha_k), is under `tol` (or `max_sweeps` are
    done); then the counts of `n_average` further sweeps are averaged. Empty documents get zeros.
    """
    K = len(topics)
    counts = np.zeros((1, K), np.float32)
    upto = np.zeros((1, K), np.float32)
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
                    sums = sums + load(word_topic, w, k) * (load(counts, 0, k) + load(alpha, 0, k))
                    store(upto, 0, k, sums)
                s = choose(topics, upto, sums, rng)
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
