"""Random numbers of the kernels, and the draw of a topic."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linktopics.kernels._compile import inlined
from linktopics.kernels.simd import LANES, before, count_up_to, extract, running

ZERO = np.float32(0.0)


def rng_streams(seeds: list[np.random.SeedSequence]) -> NDArray[np.uint64]:
    """Return one xoshiro256++ state per seed, shape (n, 4)."""
    return np.stack([seed.generate_state(4, np.uint64) for seed in seeds])


@inlined
def _rotate(x, k):
    return (x << np.uint64(k)) | (x >> np.uint64(64 - k))


@inlined
def uniform(rng):
    """Return a float32 in [0, 1) with 24 random bits, and advance the xoshiro256++ state."""
    s0, s1, s2, s3 = rng[0], rng[1], rng[2], rng[3]
    result = _rotate(s0 + s3, 23) + s0
    s2 ^= s0
    s3 ^= s1
    rng[0] = s0 ^ s3
    rng[1] = s1 ^ s2
    rng[2] = s2 ^ (s1 << np.uint64(17))
    rng[3] = _rotate(s3, 45)
    return np.float32(result >> np.uint64(40)) * np.float32(2.0**-24)


@inlined
def _last_with_weight(upto):
    for k in range(upto.shape[1] - 1, LANES - 1, -1):
        if upto[0, k] > upto[0, k - LANES]:
            return k
    for k in range(LANES - 1, 0, -1):
        if upto[0, k] > 0:
            return k
    return 0


@inlined
def choose(topics, upto, sums, rng):
    """Return a random topic, with probability proportional to its weight.

    upto[0, k] is the sum of the weights of topics k, k - LANES, k - 2 LANES, ..., and `sums` the last of these vectors.
    The lane is chosen first, then the topic within it, by comparisons that do not depend on one another.
    """
    across = running(sums)
    u = uniform(rng) * extract(across, LANES - 1)
    lane = min(count_up_to(across, u), LANES - 1)
    u = max(u - extract(before(across), lane), ZERO)
    k = lane
    for step in range(0, len(topics) - LANES, LANES):
        k += LANES if upto[0, lane + step] <= u else 0
    if upto[0, k] > u:
        return k
    return _last_with_weight(upto)  # rounding has gone past the last topic with weight
