"""The collapsed likelihood of words and topic assignments."""

from __future__ import annotations

from linktopics.kernels._compile import kernel


@kernel
def log_rising(counts, table):
    """``table[counts.astype(int)].sum()``, where table[0] is zero and table[n] = log gamma(n + a) - log gamma(a)."""
    total = 0.0
    for i in range(counts.shape[0]):
        for k in range(counts.shape[1]):
            if counts[i, k] > 0:
                total += table[int(counts[i, k])]
    return total
