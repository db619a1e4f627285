"""Counts of a network: every kind of matrix becomes one form; values that are no counts are named."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from linktopics.errors import DataError, NetworkWarning
from linktopics.network.network import DocumentNetwork
from support.toy_counts import COUNTS, LINKS


@pytest.mark.parametrize(
    "counts",
    [
        COUNTS,
        COUNTS.tolist(),
        COUNTS.astype(float),
        COUNTS.astype(np.uint8),
        COUNTS.astype(object),
        np.asfortranarray(COUNTS),
        sparse.csr_matrix(COUNTS),
        sparse.csc_array(COUNTS.astype(np.float32)),
        sparse.coo_array(COUNTS),
        sparse.lil_matrix(COUNTS),
        pd.DataFrame(COUNTS),
        pd.DataFrame(COUNTS, columns=list("abcd")),
        pl.DataFrame(COUNTS, schema=list("abcd")),
    ],
    ids=lambda counts: type(counts).__module__.split(".")[0] + "." + type(counts).__name__,
)
def test_counts_of_every_kind_become_canonical_csr(counts):
    network = DocumentNetwork(counts, LINKS)
    assert isinstance(network.counts, sparse.csr_array)
    assert network.counts.dtype == np.int32
    assert network.counts.indices.dtype == np.int32
    assert network.counts.has_canonical_format
    np.testing.assert_array_equal(network.counts.toarray(), COUNTS)
    if list(getattr(counts, "columns", [])) == list("abcd"):
        assert network.vocabulary.tolist() == list("abcd")
    else:
        assert network.vocabulary is None


def test_bool_counts():
    assert DocumentNetwork(COUNTS > 0).n_tokens == 8


def test_explicit_zeros_duplicates_and_unsorted_indices_are_put_right_and_the_input_left_alone():
    given = sparse.csr_array(
        (np.array([1.0, 0.0, 2.0, 1.0]), np.array([2, 1, 0, 2]), np.array([0, 3, 4])), shape=(2, 3)
    )
    doubled = sparse.coo_array((np.array([1, 1]), (np.array([1, 1]), np.array([0, 0]))), shape=(2, 1))
    network = DocumentNetwork(given)
    assert network.counts.indices.tolist() == [0, 2, 2]
    assert network.counts.data.tolist() == [2, 1, 1]
    assert given.nnz == 4
    assert given.indices.tolist() == [2, 1, 0, 2]
    with pytest.warns(NetworkWarning, match="kept 1 document without words"):
        assert DocumentNetwork(doubled).counts.toarray().tolist() == [[0], [2]]


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        (-1, "the value -1.0 is negative"),
        (0.5, "the value 0.5 is fractional"),
        (np.nan, "nan is not finite"),
        (np.inf, "inf is not finite"),
        (-np.inf, "not finite"),
        (2.0**31, "too large"),
    ],
)
@pytest.mark.parametrize("kind", [np.array, sparse.csr_matrix, sparse.coo_array, pd.DataFrame])
def test_values_that_are_no_counts_are_named(value, wrong, kind):
    counts = COUNTS.astype(float)
    counts[2, 1] = value
    with pytest.raises(DataError, match=r"document 2 \(row 2\), word column 1:.*" + wrong + ".*pass raw counts"):
        DocumentNetwork(kind(counts))
    with pytest.raises(DataError, match=r"document 'c' \(row 2\), word 'x' \(column 1\):.*" + wrong):
        DocumentNetwork(kind(counts), ids=list("abcd"), vocabulary=list("wxyz"))


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (np.zeros((0, 3)), "there are no documents"),
        (np.zeros((3, 0)), "there are no words"),
        ([1, 2, 3], r"documents x words; it has the shape \(3,\)"),
        (np.ones((2, 2, 2)), r"shape \(2, 2, 2\)"),
        ([[1, 2], [3]], "must be a matrix of numbers"),
        ([["a", None]], r"counts\[0, 0\] is the string 'a'; pass numbers"),
        (["some text", "another"], "counts holds strings; .*from_texts"),
        (np.ones((2, 2), dtype=complex), "complex128"),
        (sparse.csr_matrix(np.ones((2, 2), dtype=complex)), "complex128"),
    ],
)
def test_matrices_of_the_wrong_kind(counts, message):
    with pytest.raises(DataError, match=message):
        DocumentNetwork(counts)


def test_unsound_sparse_matrix_is_refused():
    broken = sparse.csr_array(COUNTS)
    broken.indices[0] = 99
    with pytest.raises(DataError, match="not a valid sparse matrix"):
        DocumentNetwork(broken)
