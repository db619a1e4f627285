"""Features that users bring: columns, matrices and functions."""

import warnings
from math import nan

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csc_array, csr_array

from linktopics import DataError, DocumentNetwork
from linktopics.errors import NetworkWarning
from linktopics.features import (
    Column,
    PairFunction,
    PairMatrix,
)
from linktopics.features.base import TrainingView
from linktopics.network.inputs import Documents
from linktopics.network.pairs import TrainingPairs
from support.feature_worlds import (
    BOTH,
    CANDIDATES,
    COLUMNS,
    NEW,
    NEW_COLUMNS,
    NEW_IDS,
    N,
    every_pair,
    fitted,
    new_documents,
    order,
    same_parity,
    slow_standard,
    small,
)

# --- columns ----------------------------------------------------------------------------------------------------------


def missing(value):
    return value is None or value is pd.NA or (isinstance(value, float) and value != value)


def slow_column(compare, source, target, directed):
    """Return the values of the feature for those of a source and of a target."""
    if missing(source) or missing(target):
        return [nan] * (2 if directed and compare == "difference" else 1)
    if compare == "equal":
        return [float(source == target)]
    if compare == "difference":
        return [abs(source - target), source - target] if directed else [abs(source - target)]
    a, b = ({value} if isinstance(value, str) else set(value) for value in (source, target))
    return [len(a & b) / np.sqrt(len(a) * len(b)) if a and b else 0.0]


@BOTH
@pytest.mark.parametrize(("column", "compare"), [("year", "difference"), ("venue", "equal"), ("authors", "overlap")])
def test_columns(column, compare, directed):
    network = small(directed)
    features, standardised, view = fitted([Column(column, compare)], network)
    _, feature = features.features
    values, new = COLUMNS[column], NEW_COLUMNS[column]
    pairs = every_pair(network)
    ends = zip(pairs.source, pairs.target, strict=True)
    raw = np.array([slow_column(compare, values[i], values[j], directed) for i, j in ends])
    np.testing.assert_allclose(feature.known_pairs(view), raw, rtol=0, atol=1e-12)
    np.testing.assert_allclose(standardised, slow_standard(raw)[0], rtol=0, atol=1e-9)
    assert np.isnan(raw).any()
    prepared = features.prepare(new_documents(network))
    for outgoing in (True, False):
        ends = [[(a, b) if outgoing else (b, a) for b in values] for a in new]
        raw = np.array([[slow_column(compare, *pair, directed) for pair in row] for row in ends])
        for candidates in CANDIDATES.values():
            expected = slow_standard(raw[:, candidates], features.mean, features.scale)[0]
            found = features.block(prepared, slice(0, 4), candidates, outgoing)
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


@BOTH
def test_names_of_columns(directed):
    given = [Column("year", "difference"), Column("venue"), Column("authors", "overlap")]
    features, *_ = fitted(given, small(directed))
    signed = ["year of source - target"] if directed else []
    assert features.columns == ["distance in year", *signed, "same venue", "shared authors"]
    assert len({feature.name for feature in given}) == 3


def test_one_column_may_be_compared_in_several_ways():
    given = [Column("year", "difference"), Column("year", "equal"), Column("year", "overlap")]
    features, standardised, _ = fitted(given, small(directed=True))
    assert len(features.columns) == len(set(features.columns)) == 4
    np.testing.assert_allclose(standardised[:, 2], standardised[:, 3])  # the same values: a year is a set of one


def with_column(**columns):
    """Return the small network with other columns."""
    network = small(directed=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NetworkWarning)
        return DocumentNetwork(network.counts, network.links, columns=columns)


def raw_numbers(feature, network):
    features, _, view = fitted([feature], network)
    return features.features[1].known_pairs(view), every_pair(network)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (["a"], "a", 1.0),
        ("ab", ["a", "b"], 0.0),  # a string is one member, not its letters
        ({"a", "b"}, ("b", "a", "b"), 1.0),
        (["a", "b"], ["b", "c", "d"], 6**-0.5),
        ([], ["a"], 0.0),
        ([], [], 0.0),
        (None, ["a"], nan),
        (np.array(["a", "b"]), ["a"], 2**-0.5),
        (7, [7, 8], 2**-0.5),
    ],
)
def test_overlap_of_lists_and_strings(first, second, expected):
    values = [first, second] + [["z"]] * (N - 2)
    raw, pairs = raw_numbers(Column("x", "overlap"), with_column(x=values))
    here = ((pairs.source == 0) & (pairs.target == 1)) | ((pairs.source == 1) & (pairs.target == 0))
    np.testing.assert_allclose(raw[here, 0], [expected] * 2)


@pytest.mark.parametrize("gap", [None, nan, pd.NA, np.float64("nan"), np.float32("nan")], ids=repr)
def test_kinds_of_missing_values(gap):
    years = [1990, gap, *range(2000, 2000 + N - 2)]
    for compare in ("equal", "difference", "overlap"):
        raw, pairs = raw_numbers(Column("x", compare), with_column(x=years))
        unknown = (pairs.source == 1) | (pairs.target == 1)
        assert np.isnan(raw[unknown]).all()
        assert np.isfinite(raw[~unknown]).all()


def test_a_column_that_is_nowhere_known():
    for compare in ("equal", "difference", "overlap"):
        _, standardised, _ = fitted([Column("x", compare)], with_column(x=[None] * N))
        np.testing.assert_array_equal(standardised, 0.0)


@pytest.mark.parametrize(
    ("values", "compare", "message"),
    [
        (["soon"] * N, "difference", "'x' holds 'soon'"),
        ([True] * N, "difference", "'x' holds True"),
        ([[1]] * N, "difference", r"'x' holds \[1\]"),
        ([1.0] * (N - 1) + [np.inf], "difference", "'x' holds inf"),
        ([pd.Timestamp("2020-01-01")] * N, "difference", "'x' holds Timestamp"),
        ([["a"]] * N, "equal", r"'x' holds \['a'\].*\"overlap\""),
        ([{"a"}] * N, "equal", "'x' holds {'a'}"),
        ([[["a"]]] * N, "overlap", r"'x' holds \['a'\]"),
    ],
)
def test_values_that_cannot_be_compared(values, compare, message):
    with pytest.raises(DataError, match=message):
        fitted([Column("x", compare)], with_column(x=values))


def test_lists_within_lists_are_not_told_to_be_compared_by_overlap():
    """Since they were."""
    with pytest.raises(DataError) as error:
        fitted([Column("x", "overlap")], with_column(x=[[["a"]]] * N))
    assert 'by "overlap"' not in str(error.value)


@pytest.mark.parametrize(
    ("compare", "column", "value"),
    [("difference", "year", "soon"), ("equal", "venue", ["p"]), ("overlap", "authors", [["a"]])],
)
def test_values_of_new_documents_that_cannot_be_compared(compare, column, value):
    features, *_ = fitted([Column(column, compare)], small(directed=True))
    with pytest.raises(DataError, match=f"the column '{column}' holds"):
        features.prepare(new_documents(None, **{column: [None, value, None, None]}))


def test_columns_that_are_not_there():
    network = small(directed=True)
    with pytest.raises(DataError, match=r"needs the column 'month'.*are: 'year', 'venue', 'authors'.*columns="):
        fitted([Column("month")], network)
    with pytest.raises(DataError, match=r"needs the column 'x'.*are: none"):
        fitted([Column("x")], DocumentNetwork(NEW[[0, 2, 3]], [(0, 1)]), pairs=TrainingPairs(*np.zeros((3, 0), int), 3))
    with pytest.raises(ValueError, match="compare is 'larger'; it must be 'equal', 'difference', 'overlap'"):
        fitted([Column("year", "larger")], network)
    features, *_ = fitted([Column("venue")], network)
    with pytest.raises(DataError, match=r"'venue'; the columns of new documents are: 'year'.*new_documents"):
        features.prepare(Documents(csr_array(NEW), columns={"year": np.arange(4)}))


# --- matrices ---------------------------------------------------------------------------------------------------------


def some_matrix():
    """Return a matrix over training documents in another order, without d9, and over three others."""
    rng = np.random.default_rng(0)
    ids = [f"d{i}" for i in rng.permutation(N) if i != 9] + ["new", "other", "nobody"]
    matrix = rng.normal(size=(len(ids),) * 2) * (rng.random((len(ids),) * 2) < 0.4)
    return matrix, ids


def slow_entry(matrix, ids, source, target, directed):
    if source not in ids or target not in ids:
        return 0.0
    i, j = ids.index(source), ids.index(target)
    return matrix[i, j] if directed or matrix[i, j] != 0 else matrix[j, i]


@BOTH
@pytest.mark.parametrize("kind", [np.asarray, csr_array, lambda m: csr_array(m).tocoo(), pd.DataFrame])
def test_matrix(kind, directed):
    network = small(directed)
    matrix, ids = some_matrix()
    if not directed:
        matrix *= (matrix.T == 0) | (np.arange(len(ids))[:, None] < np.arange(len(ids)))  # one half is enough
    features, standardised, view = fitted([PairMatrix(kind(matrix), ids, "read together")], network)
    assert features.columns == ["read together"]
    pairs = every_pair(network)
    ends = zip(pairs.source, pairs.target, strict=True)
    raw = np.array([[slow_entry(matrix, ids, f"d{i}", f"d{j}", directed)] for i, j in ends])
    np.testing.assert_allclose(features.features[1].known_pairs(view), raw)
    np.testing.assert_allclose(standardised, slow_standard(raw)[0])
    prepared = features.prepare(new_documents(network))
    for outgoing in (True, False):
        ends = [[(new, f"d{j}") if outgoing else (f"d{j}", new) for j in range(N)] for new in NEW_IDS]
        raw = np.array([[[slow_entry(matrix, ids, *pair, directed)] for pair in row] for row in ends])
        for candidates in CANDIDATES.values():
            expected = slow_standard(raw[:, candidates], features.mean, features.scale)[0]
            np.testing.assert_allclose(features.block(prepared, slice(0, 4), candidates, outgoing), expected)


def test_matrix_of_an_undirected_network_has_no_order():
    """Whichever of two documents is the new one, and whatever stands on both sides of the diagonal."""
    network = small(directed=False)
    matrix, ids = some_matrix()
    feature = fitted([PairMatrix(matrix, ids)], network)[0].features[1]
    a, b = (np.array(x) for x in zip(*[(i, j) for i in range(N) for j in range(N) if i != j], strict=True))
    outgoing = np.full(len(a), True)
    one, other = (feature.known_pairs(TrainingView(network, *ends, outgoing)) for ends in ((a, b), (b, a)))
    np.testing.assert_array_equal(one, other)


IDS = [f"d{i}" for i in range(N)]


def out_of_range():
    matrix = csc_array(np.eye(N))
    matrix.indices[0] = 10**8
    return matrix


@pytest.mark.parametrize(
    ("matrix", "ids", "message"),
    [
        (np.eye(N - 1), IDS, "'m' is a matrix of 13 x 13 with 14 ids"),
        (np.ones((N, 2)), IDS, "14 x 2 with 14 ids"),
        (np.ones(N), IDS, "1 dimensions"),
        (np.ones((N, N, 2)), IDS, "'m'"),
        (np.full((N, N), "x"), IDS, "'m'.*number"),
        (np.full((N, N), None), IDS, "'m'.*number"),
        (None, IDS, "'m'"),
        (np.full((N, N), np.inf), IDS, "'m' is infinite"),
        (out_of_range(), IDS, "'m' is not a valid sparse matrix"),
        (np.eye(N), None, "'m'.*ids"),
        (np.eye(N), [f"e{i}" for i in range(N)], "'m' include no document of the network.*'e0'.*'d0'"),
        (np.eye(N), ["d1"] * N, "'m'.*'d1' twice"),
        (np.eye(N), [["d1"]] * N, "'m'.*not hashable"),
        (np.eye(N), [None, *IDS[1:]], "'m'.*missing"),
    ],
)
def test_matrices_that_cannot_be_used(matrix, ids, message):
    with pytest.raises(DataError, match=message):
        fitted([PairMatrix(matrix, ids, "m")], small(directed=True))


def test_matrix_with_gaps():
    """NaN is what is not known."""
    matrix = np.random.default_rng(0).normal(size=(N, N))
    matrix[:, 3] = nan
    network = small(directed=True)
    _, standardised, _ = fitted([PairMatrix(matrix, IDS)], network)
    np.testing.assert_array_equal(standardised[every_pair(network).target == 3], 0.0)


@pytest.mark.parametrize("feature", [PairMatrix(np.eye(N), IDS, "m"), PairFunction(lambda a, b: a == b, "m")])
def test_pairs_need_ids_of_new_documents(feature):
    features, *_ = fitted([feature], small(directed=True))
    with pytest.raises(DataError, match=r"'m' needs the ids of new documents.*dict.*new_documents"):
        features.prepare(Documents(csr_array(NEW)))


# --- functions --------------------------------------------------------------------------------------------------------


def test_function_sees_sources_first():
    network = small(directed=True)
    features, standardised, view = fitted([PairFunction(order, "order")], network)
    assert features.columns == ["order"]
    pairs = every_pair(network)
    raw = order(network.ids[pairs.source], network.ids[pairs.target])[:, None]
    assert 0 < view.outgoing.sum() < len(pairs)
    np.testing.assert_array_equal(features.features[1].known_pairs(view), raw)
    np.testing.assert_allclose(standardised, slow_standard(raw)[0])
    prepared = features.prepare(new_documents(network))
    for candidates in CANDIDATES.values():
        new, old = np.repeat(NEW_IDS, len(candidates)), np.tile(network.ids[candidates], 4)
        for outgoing in (True, False):
            raw = (order(new, old) if outgoing else order(old, new)).reshape(4, -1, 1)
            expected = slow_standard(raw, features.mean, features.scale)[0]
            np.testing.assert_allclose(features.block(prepared, slice(0, 4), candidates, outgoing), expected)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda a, b: [1.0], r"'f' gave .*shape \(1,\).*each of the 182 pairs"),
        (lambda a, b: 1.0, r"'f' gave .*shape \(\)"),
        (lambda a, b: np.ones((len(a), 1)), r"'f' gave .*shape \(182, 1\)"),
        (lambda a, b: ["high"] * len(a), "'f' gave .*number"),
        (lambda a, b: [None] * len(a), "'f' gave .*number"),
        (lambda a, b: None, "'f' gave .*number"),
        (lambda a, b: np.full(len(a), 1j), "'f' gave .*number"),
        (lambda a, b: np.full(len(a), np.inf), "'f' is infinite"),
        (lambda a, b: np.where(np.arange(len(a)) == 17, -np.inf, 1.0), "'f' is infinite"),
    ],
)
def test_functions_that_cannot_be_used(function, message):
    with pytest.raises(DataError, match=message):
        fitted([PairFunction(function, "f")], small(directed=True))


def test_something_that_is_no_function():
    with pytest.raises(ValueError, match="function is 'tfidf'; pass a function"):
        fitted([PairFunction("tfidf")], small(directed=True))


@pytest.mark.parametrize("feature", ["function", "matrix"])
def test_infinite_numbers_of_new_documents(feature):
    """As of training pairs: no probability can be made of them."""

    def function(sources, targets):
        return np.where((sources == "new") | (targets == "new"), np.inf, same_parity(sources, targets))

    matrix = np.random.default_rng(0).normal(size=(N + 1, N + 1))
    matrix[N] = -np.inf
    given = PairFunction(function, "f") if feature == "function" else PairMatrix(matrix, [*IDS, "new"], "f")
    features, *_ = fitted([given], small(directed=True))
    prepared = features.prepare(new_documents(None))
    with pytest.raises(DataError, match="'f' is infinite"):
        features.block(prepared, slice(0, 4), np.arange(N), True)


def test_functions_may_give_whole_numbers_truth_values_and_lists():
    network = small(directed=True)
    _, expected, _ = fitted([PairFunction(lambda a, b: same_parity(a, b).astype(float))], network)
    for kind in (np.asarray, list, pd.Series, lambda values: values.astype(np.int8)):
        _, standardised, _ = fitted([PairFunction(lambda a, b, kind=kind: kind(same_parity(a, b)))], network)
        np.testing.assert_array_equal(standardised, expected)
