"""Vectors of eight numbers against NumPy, and exp over its range.

Seen to fail once against one coefficient of exp off by 1e-5.
"""

import numpy as np
import pytest
from numba import njit

from linktopics.kernels import simd
from linktopics.kernels.simd import LANES, padded
from linktopics.kernels.sweep import _exp

VECTOR_OPERATIONS = {
    0: lambda x, y: x + y,
    1: lambda x, y: x - y,
    2: lambda x, y: x * y,
    3: lambda x, y: x / y,
    4: lambda x, y: simd.floor(x),
    5: simd.larger,
    6: lambda x, y: simd.running(x),
    7: lambda x, y: simd.power_of_two(np.floor(x)),
    8: lambda x, y: simd.splat(y[2]),
    9: lambda x, y: simd.before(x),
    10: lambda x, y: simd.magnitude(x),
}


@njit
def run_lanes(rows, i, k, t, value, out, scalars, counts):
    x, y = simd.load(rows, i, k), simd.load(rows, i + 1, k)
    simd.store(out, 0, LANES, x + y)
    simd.store(out, 1, LANES, x - y)
    simd.store(out, 2, LANES, x * y)
    simd.store(out, 3, LANES, x / y)
    simd.store(out, 4, LANES, simd.floor(x))
    simd.store(out, 5, LANES, simd.larger(x, y))
    simd.store(out, 6, LANES, simd.running(x))
    simd.store(out, 7, LANES, simd.power_of_two(simd.floor(x)))
    simd.store(out, 8, LANES, simd.splat(rows[i + 1, k + 2]))
    simd.store(out, 9, LANES, simd.before(x))
    simd.store(out, 10, LANES, simd.magnitude(x))
    simd.store(out, 11, LANES, simd.replace(x, k, t, value))
    simd.prefetch(rows, i, k)
    scalars[0] = simd.maximum(x)
    scalars[1] = simd.total(x)
    for lane in range(LANES):
        scalars[2 + lane] = simd.extract(x, lane)
        counts[lane] = simd.count_up_to(x, rows[i, k + lane])


def lanes_results(rows, i=2, k=LANES, t=LANES, value=0.5):
    out = np.full((12, 3 * LANES), np.nan, np.float32)
    scalars, counts = np.zeros(2 + LANES, np.float32), np.zeros(LANES, np.int64)
    run_lanes(rows, i, k, t, np.float32(value), out, scalars, counts)
    assert np.isnan(out[:, :LANES]).all()  # nothing is written beside the place asked for
    assert np.isnan(out[:, 2 * LANES :]).all()
    return out[:, LANES : 2 * LANES], scalars, counts


@pytest.mark.parametrize("seed", range(5))
def test_lanes_equal_numpy(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(0, 5, (5, 3 * LANES)).astype(np.float32)
    rows[2, LANES + 1] = rows[2, LANES + 6]  # equal ones, for "up to"
    x, y = rows[2, LANES : 2 * LANES], rows[3, LANES : 2 * LANES]
    t = 6 + 3 * seed  # below, inside and above the lanes loaded
    found, scalars, counts = lanes_results(rows, t=t)
    for line, operation in VECTOR_OPERATIONS.items():
        np.testing.assert_allclose(found[line], operation(x, y), rtol=1e-6, atol=3e-6)
    np.testing.assert_array_equal(found[11], simd.replace(x, LANES, t, 0.5))
    assert scalars[0] == simd.maximum(x)
    assert scalars[1] == pytest.approx(simd.total(x), abs=1e-5)
    np.testing.assert_array_equal(scalars[2:], x)
    assert counts.tolist() == [simd.count_up_to(x, bound) for bound in x]


def test_lanes_keep_what_is_not_a_number():
    """As NumPy does, so that a broken state is seen in the results and not taken for a number."""
    rows = np.ones((5, 3 * LANES), np.float32)
    rows[2, LANES + 3] = np.nan
    for first in (2, 1):  # the NaN stands in the first operand, then in the second
        found, _, _ = lanes_results(rows, i=first)
        for line in (0, 2, 5):
            assert np.isnan(found[line]).tolist() == [lane == 3 for lane in range(LANES)], f"operation {line}"


@njit
def run_blocks(topics, rows, out):
    width = simd.block_width(topics)
    for first in range(0, len(topics), width):
        k = min(first, len(topics) - width)
        x, y = simd.load_block(topics, rows, 1, k), simd.load_block(topics, rows, 2, k)
        simd.store_block(topics, out, 0, k, x + y)
        simd.store_block(topics, out, 1, k, x - y)
        simd.store_block(topics, out, 2, k, x * y)
        simd.store_block(topics, out, 3, k, rows[0, 0] * x)
        simd.store_block(topics, out, 4, k, simd.zero_block(topics))
    return width


@pytest.mark.parametrize("n_vectors", [1, 2, 3, 7, 8, 13, 25])
def test_blocks_equal_numpy(n_vectors):
    topics = (0,) * (n_vectors * LANES)
    rows = np.random.default_rng(n_vectors).normal(size=(4, len(topics))).astype(np.float32)
    out, plain = np.full((6, len(topics)), np.nan, np.float32), np.full((6, len(topics)), np.nan, np.float32)
    uncompiled = getattr(run_blocks, "py_func", run_blocks)
    assert run_blocks(topics, rows, out) == uncompiled(topics, rows, plain) == simd.block_width(topics)
    assert simd.block_width(topics) <= simd.MAX_BLOCK * LANES
    x, y = rows[1], rows[2]
    np.testing.assert_allclose(out[:5], [x + y, x - y, x * y, rows[0, 0] * x, 0 * x], rtol=1e-6)
    np.testing.assert_array_equal(out, plain)
    assert np.isnan(out[5]).all()


def test_padded():
    assert [padded(K) for K in (1, 7, 8, 9, 16, 20)] == [8, 8, 8, 16, 16, 24]


@njit
def run_exp(rows, out):
    for i in range(rows.shape[0]):
        simd.store(out, i, 0, _exp(simd.load(rows, i, 0)))


def test_exp_over_its_range():
    x = np.linspace(-87, 88, LANES * 20_000, dtype=np.float32).reshape(-1, LANES)
    x[0, :3] = 0.0, -0.0, 1e-30
    out = np.empty_like(x)
    run_exp(x, out)
    expected = np.exp(x.astype(float))
    assert np.abs(out / expected - 1).max() < 2.5 * 2.0**-23
    assert (out[0, :3] == 1).all()
