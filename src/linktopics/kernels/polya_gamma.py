"""Polya-Gamma variates of whole shapes.

PG(1, c) is J / 4 for the Jacobi distribution J tilted by z = |c| / 2, which Devroye's method draws: a proposal from two
pieces, an inverse Gaussian below `CUTOFF` and an exponential above it, and an alternating series to accept it by.

References
----------
Polson, Scott and Windle (2013), Bayesian inference for logistic models using Polya-Gamma latent variables.
"""

from __future__ import annotations

import math

from linktopics.kernels._compile import inlined, kernel

CUTOFF = 0.64
ALWAYS_ACCEPTED = 0.994  # relative to its first term, the series is between this and 1 wherever it is evaluated
TABLE_STEPS = 64  # of the table of upper parts, per unit of z
TABLE_TOLERANCE = 1e-3  # more than the error of the table: where it matters, the part is computed


@inlined
def _normal_cdf(x):
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


@kernel
def upper_part(z):
    """Return the share of the proposal above `CUTOFF`."""
    rate = math.pi**2 / 8 + z**2 / 2
    upper = math.pi / (2 * rate) * math.exp(-rate * CUTOFF)
    root = math.sqrt(CUTOFF)
    lower = math.exp(-z) * _normal_cdf((CUTOFF * z - 1) / root) + math.exp(z) * _normal_cdf(-(CUTOFF * z + 1) / root)
    return upper / (upper + 2 * lower)


@inlined
def _inverse_gaussian(z, rng):
    """Return a draw from the inverse Gaussian of mean 1 / z and shape 1, given that it is below `CUTOFF`."""
    if z * CUTOFF < 1:
        while True:  # 1 / x is the square of a normal variate in its tail
            e = rng.standard_exponential()
            while e * e * CUTOFF > 2 * rng.standard_exponential():
                e = rng.standard_exponential()
            x = CUTOFF / (1 + CUTOFF * e) ** 2
            if rng.standard_exponential() >= 0.5 * z * z * x:
                return x
    mean = 1 / z
    while True:
        y = mean * rng.standard_normal() ** 2
        x = mean * (1 + 0.5 * (y - math.sqrt(y * (4 + y))))
        if rng.random() * (mean + x) > mean:
            x = mean * mean / x
        if x <= CUTOFF:
            return x


@kernel
def accepted(u, speed):
    """Return whether u <= sum_n (-1)^n (2 n + 1) exp(-speed n (n + 1)), for speeds of 3.125 and more."""
    if u <= ALWAYS_ACCEPTED:
        return True
    n, series = 0, 1.0
    while True:
        n += 1
        term = (2 * n + 1) * math.exp(-speed * n * (n + 1))
        if n % 2:
            series -= term
            if u <= series:
                return True
        else:
            series += term
            if u > series:
                return False


@inlined
def _draw(z, upper, rng):
    while True:
        u = rng.random() - upper
        if abs(u) < TABLE_TOLERANCE:
            u += upper - upper_part(z)
        if u < 0:
            x = CUTOFF + rng.standard_exponential() / (math.pi**2 / 8 + z**2 / 2)
            speed = math.pi**2 * x / 2
        else:
            x = _inverse_gaussian(z, rng)
            speed = 2 / x
        if accepted(rng.random(), speed):
            return x


@kernel
def add_polya_gamma(shape, score, table, rng, result):
    """Add a draw from PG(shape, score) to `result`; shapes are whole numbers.

    ``table[k] = upper_part(k / TABLE_STEPS)``, up to the largest of half the scores and one step further.
    """
    for n in range(len(shape)):
        if shape[n] < 1:
            continue
        z = 0.5 * abs(score[n])
        k = int(z * TABLE_STEPS)
        upper = table[k] + (z * TABLE_STEPS - k) * (table[k + 1] - table[k])
        total = 0.0
        for _ in range(int(shape[n])):
            total += _draw(z, upper, rng)
        result[n] += 0.25 * total
