"""Kernels of rows and columns against the slow NumPy expressions that their docstrings state."""

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from scipy.special import gammaln

from linktopics.kernels.likelihood import log_rising
from linktopics.kernels.rows import (
    add_rows_at,
    largest_products,
    row_dots,
    row_times_matrix,
    sum_dots,
    sums_of_rows,
)


@pytest.mark.parametrize("grouped", ["columns", "columns, last to first", "at random"])
def test_row_dots(grouped):
    """Rows may be empty; pairs may come twice, and in any order of groups."""
    rng = np.random.default_rng(1)
    left, right = (random_array((n, 15), density=0.25, format="csr", rng=rng) for n in (20, 12))
    for matrix in (left, right):
        matrix.data[matrix.indptr[3] : matrix.indptr[4]] = 0.0
        matrix.eliminate_zeros()
    rows, columns = rng.integers(20, size=300), rng.integers(12, size=300)
    order = {
        "columns": np.argsort(columns, kind="stable"),
        "columns, last to first": np.argsort(columns, kind="stable")[::-1].copy(),
        "at random": rng.permutation(300),  # slow, yet the same
    }[grouped]
    result = np.full(300, np.nan)
    row_dots(
        *(left.indptr, left.indices, left.data), *(right.indptr, right.indices, right.data),
        15, order, rows, columns, result,
    )  # fmt: skip
    expected = (left.toarray()[rows] * right.toarray()[columns]).sum(axis=1)
    np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-15)


def groups_of_rows():
    """Return a matrix, and which of its rows belong to each of some groups; some have none, and some rows are empty."""
    rng = np.random.default_rng(0)
    dense = rng.poisson(0.4, (12, 9)) * rng.random((12, 9))
    dense[3] = 0
    members = rng.random((7, 12)) < 0.3
    members[[2, 6]] = False
    members[4] = np.arange(12) == 3
    return dense, csr_array(dense), members, csr_array(members)


def test_sum_dots():
    dense, matrix, members, groups = groups_of_rows()
    left = csr_array(np.random.default_rng(1).poisson(0.7, (5, 9)).astype(float))
    rng = np.random.default_rng(2)
    rows, group = rng.integers(5, size=40), rng.integers(7, size=40)
    result = np.full(40, np.nan)
    sum_dots(
        left.indptr, left.indices, left.data, groups.indptr, groups.indices, matrix.indptr, matrix.indices, matrix.data,
        9, np.argsort(group, kind="stable"), rows, group, result,
    )  # fmt: skip
    expected = [left.toarray()[i] @ dense[members[g]].sum(axis=0) for i, g in zip(rows, group, strict=True)]
    np.testing.assert_allclose(result, expected, rtol=1e-13)


@pytest.mark.parametrize(("first", "last"), [(0, 7), (0, 3), (3, 7), (5, 5)])
def test_sums_of_rows(first, last):
    dense, matrix, members, groups = groups_of_rows()
    ends, values = np.full(last - first + 1, -1), np.full(7 * 9, np.nan)
    parts = groups.indptr, groups.indices, matrix.indptr, matrix.indices, matrix.data
    sums_of_rows(first, last, *parts, 9, ends, values)
    assert ends[0] == 0
    for g in range(first, last):
        found = values[ends[g - first] : ends[g - first + 1]]
        expected = dense[members[g]].sum(axis=0)
        np.testing.assert_allclose(np.sort(found), np.sort(expected[expected > 0]), rtol=1e-13)
    assert np.isnan(values[ends[-1] :]).all()


def test_row_times_matrix():
    """It is added to what is there; rows of the matrix may be empty."""
    rng = np.random.default_rng(2)
    row = random_array((1, 20), density=0.4, format="csr", rng=rng)
    matrix = random_array((20, 9), density=0.1, format="csr", rng=rng)
    assert (np.diff(matrix.indptr) == 0).any()
    before = rng.random(9)
    result = before.copy()
    row_times_matrix(row.indices, row.data, matrix.indptr, matrix.indices, matrix.data, result)
    np.testing.assert_allclose(result, before + (row @ matrix).toarray()[0], rtol=1e-12)


def test_sums_of_rows_at_some_columns():
    rng = np.random.default_rng(0)
    matrix = random_array((30, 50), density=0.2, format="csr", rng=rng)
    rows, columns = np.array([3, 7, 7, 29], np.int32), np.array([0, 4, 5, 20, 49], np.int32)
    result = np.ones(5)
    add_rows_at(columns, rows, matrix.indptr, matrix.indices, matrix.data, result)
    np.testing.assert_allclose(result, 1 + matrix.toarray()[rows][:, columns].sum(axis=0), rtol=1e-14)
    nothing = np.empty(0)
    add_rows_at(columns[:0], rows, matrix.indptr, matrix.indices, matrix.data, nothing)
    assert len(nothing) == 0


def test_largest_products():
    left, right = np.array([1.0, 2.0, 3.0, 1.0, 0.0]), np.array([2.0, 2.0, 0.1, 4.0, 9.0])
    assert largest_products(left, right, 0.5, 2).tolist() == [1, 3]  # of equals, the first
    assert largest_products(left, right, 0.5, 9).tolist() == [1, 3, 0]
    assert largest_products(left, right, 0.0, 9).tolist() == [1, 3, 0, 2]
    assert largest_products(left[:0], right[:0], 0.0, 3).tolist() == []


def test_row_dots_of_no_pairs():
    matrix = csr_array(np.eye(3))
    none = np.empty(0, np.int64)
    parts = (matrix.indptr, matrix.indices, matrix.data)
    result = np.full(2, 7.0)
    row_dots(*parts, *parts, 3, none, none, none, result)
    assert result.tolist() == [7.0, 7.0]


def test_log_rising():
    counts = np.random.default_rng(0).poisson(1.5, (50, 16)).astype(np.float32)
    n = np.arange(counts.max() + 1)
    table = gammaln(n + 0.3) - gammaln(0.3)
    assert log_rising(counts, table) == pytest.approx(table[counts.astype(int)].sum(), rel=1e-12)
    direct = (gammaln(counts.astype(float) + 0.3) - gammaln(0.3)).sum()
    assert log_rising(counts, table) == pytest.approx(direct, rel=1e-12)
