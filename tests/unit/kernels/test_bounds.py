"""Indices of kernels are checked where that is asked for: see .ci/run for the tests that are run so.

    NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=/tmp/checked-kernels pytest tests/unit/kernels/test_{bounds,*_kernels,simd}.py
    NUMBA_DISABLE_JIT=1 pytest tests/unit/kernels/test_{bounds,*_kernels,simd}.py

The checked kernels need a cache of their own: Numba takes those of the other kind for the same.
"""

import numpy as np
import pytest
from numba import config, njit

from linktopics.kernels.counts import add_up
from linktopics.kernels.simd import load, load_block, store, store_block


@njit
def copy_lanes(rows, i, k, out, j, m):
    store(out, j, m, load(rows, i, k))


@njit
def copy_block(topics, rows, i, k, out, j, m):
    store_block(topics, out, j, m, load_block(topics, rows, i, k))


@pytest.mark.skipif(
    not (config.BOUNDSCHECK or config.DISABLE_JIT), reason="only with NUMBA_BOUNDSCHECK=1 or NUMBA_DISABLE_JIT=1"
)
@pytest.mark.parametrize(("row", "lane"), [(2, 0), (-1, 0), (0, 9), (0, -1), (1, 16), (2**40, 0)])
def test_lanes_out_of_bounds_are_caught(row, lane):
    """Vectors are read and written past Numba's own checks, and are checked here."""
    rows, out, topics = np.arange(32, dtype=np.float32).reshape(2, 16), np.zeros((2, 16), np.float32), (0,) * 16
    copy_lanes(rows, 1, 8, out, 0, 8)
    copy_block(topics, rows, 1, 0, out, 1, 0)
    assert out.tolist() == [[*[0] * 8, *range(24, 32)], [*range(16, 32)]]
    for ends in ((row, lane, 0, 0), (0, 0, row, lane)):
        i, k, j, m = ends
        with pytest.raises(IndexError, match="out of bounds"):
            copy_lanes(rows, i, k, out, j, m)
        with pytest.raises(IndexError, match="out of bounds"):
            copy_block(topics, rows, i, k, out, j, m)


@pytest.mark.skipif(not config.BOUNDSCHECK or config.DISABLE_JIT, reason="only with NUMBA_BOUNDSCHECK=1")
def test_other_indices_of_kernels_are_checked():
    """Numba's switch reaches kernels: a word that is not in the vocabulary is caught."""
    tables = np.zeros((1, 8), np.float32), np.zeros((1, 8), np.float32), np.zeros(8, np.int64)
    with pytest.raises(IndexError, match="out of bounds"):
        add_up(np.array([0, 1]), np.array([1], np.int32), np.array([0], np.int32), *tables)
