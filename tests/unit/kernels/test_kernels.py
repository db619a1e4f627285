"""Each compiled function against the slow NumPy expression that its docstring states.

Statistical tests have fixed seeds; each states how often it would fail for another seed. Seen to fail once against
broken versions: a choice of topics without the step inside a lane, or without the walk back from topics of no weight;
inference that does not take out the token's own count, that has another alpha, or that seeds documents by their place;
xoshiro256++ with one rotation changed; 16 random bits in place of 24; one coefficient of exp off by 1e-5.
"""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from numba import njit
from scipy import stats
from scipy.sparse import csr_array, random_array
from scipy.special import gammaln

from linktopics.kernels import simd
from linktopics.kernels.drawing import choose, rng_streams, uniform
from linktopics.kernels.inference import infer
from linktopics.kernels.likelihood import log_rising
from linktopics.kernels.rows import (
    add_rows_at,
    largest_products,
    row_dots,
    row_times_matrix,
    sum_dots,
    sums_of_rows,
)
from linktopics.kernels.simd import LANES, padded
from linktopics.kernels.sweep import _exp, pair_scores, project
from linktopics.kernels.weights import (
    FLUSH,
    compress,
    cross_sums,
    curvatures,
    diagonal_sums,
    gram,
    interaction_sum,
    marginals,
    precision_product,
)
from support.marks import some_long

FALSE_ALARM = 1e-4
TOPICS = pytest.mark.parametrize("K", some_long([1, 2, 7, 8, 9, 20], [20]))
FLOAT32 = {"rtol": 2e-5, "atol": 2e-5}


def make_world(K, seed=0, n_documents=FLUSH + 90, n_pairs=1500):
    """Draw documents (some empty, most with few of the topics), pairs sorted by source, and the shares as float64."""
    rng = np.random.default_rng([seed, K])
    width = padded(K)
    doc_topic = np.zeros((n_documents, width), np.float32)
    doc_topic[:, :K] = rng.poisson(2.0, (n_documents, K)) * (rng.random((n_documents, K)) < max(0.3, 2 / K))
    doc_topic[::17] = 0
    lengths = doc_topic.sum(axis=1).astype(np.int64)
    source, target = np.sort(rng.integers(n_documents, size=n_pairs)), rng.integers(n_documents, size=n_pairs)
    zbar = (doc_topic / np.maximum(lengths, 1)[:, None].astype(float))[:, :K]
    row = np.empty(n_documents + 1, np.int64)
    topic, share = compress(lengths, doc_topic, row)
    return SimpleNamespace(
        K=K,
        topics=(0,) * width,
        rng=rng,
        doc_topic=doc_topic,
        lengths=lengths,
        source=source.astype(np.int32),
        target=target.astype(np.int32),
        out_start=np.searchsorted(source, np.arange(n_documents + 1)),
        zbar=zbar,
        left=zbar[source],
        right=zbar[target],
        inverse=1.0 / np.maximum(lengths, 1),
        shares=(row, topic, share),
        quadratic=rng.gamma(2.0, size=n_pairs),
        linear=rng.normal(size=n_pairs),
    )


@pytest.fixture
def world(K):
    return make_world(K)


def pad(matrix, width):
    result = np.zeros((width, width), np.float32)
    result[: len(matrix), : len(matrix)] = matrix
    return result


# --- sums over pairs --------------------------------------------------------------------------------------------------


@TOPICS
@pytest.mark.parametrize("symmetric", [False, True])
def test_project_and_pair_scores(world, symmetric):
    K, width, n = world.K, len(world.topics), len(world.zbar)
    U = world.rng.normal(size=(K, K))
    U = U + U.T if symmetric else U
    entering = 0 if symmetric else n  # one projection serves both ends of a pair if U is symmetric
    projection = np.full((n + entering, width), np.nan, np.float32)
    project(world.topics, world.lengths, world.doc_topic, pad(U, width), pad(U.T, width), projection, entering)
    np.testing.assert_allclose(projection[:n, :K], world.zbar @ U.T, **FLOAT32)
    np.testing.assert_allclose(projection[entering:, :K], world.zbar @ U, **FLOAT32)
    assert not projection[:, K:].any()
    assert not projection[:n:17].any()  # empty documents
    scores = np.full(len(world.source), np.nan)
    pair_scores(world.topics, world.lengths, world.doc_topic, world.source, world.target, projection, scores)
    np.testing.assert_allclose(scores, np.einsum("ek,kl,el->e", world.left, U, world.right), **FLOAT32)


@TOPICS
def test_compress(world):
    row, topic, share = world.shares
    assert row[0] == 0
    rebuilt = np.zeros_like(world.zbar)
    for i in range(len(row) - 1):
        assert (np.diff(topic[row[i] : row[i + 1]]) > 0).all()
        rebuilt[i, topic[row[i] : row[i + 1]]] = share[row[i] : row[i + 1]]
    np.testing.assert_allclose(rebuilt, world.zbar, rtol=1e-7)
    assert row[-1] == len(topic) == len(share) == np.count_nonzero(world.zbar)


@TOPICS
def test_interaction_sum(world):
    x, result = world.linear, np.full((world.K, world.K), np.nan)
    rows = (world.inverse, world.doc_topic, world.out_start, world.target)
    interaction_sum(world.topics, *world.shares, *rows, x, result)
    np.testing.assert_allclose(result, world.left.T @ (x[:, None] * world.right), rtol=1e-4, atol=1e-4)


@TOPICS
@pytest.mark.parametrize("with_offsets", [False, True])
def test_precision_product(world, with_offsets):
    """Pairs of empty documents have no score, but they may have an offset."""
    K, result = world.K, np.full((world.K, world.K), np.nan)
    V = world.rng.normal(size=(K, K))
    rows = (world.inverse, world.doc_topic, world.out_start, world.target)
    offsets = world.rng.normal(size=len(world.source)) if with_offsets else np.zeros(len(world.source))
    pull = offsets.copy() if with_offsets else np.empty(0)
    precision_product(world.topics, *world.shares, *rows, world.quadratic, pad(V, len(world.topics)), result, pull)
    pulls = world.quadratic * (np.einsum("ek,kl,el->e", world.left, V, world.right) + offsets)
    np.testing.assert_allclose(result, world.left.T @ (pulls[:, None] * world.right), rtol=1e-4, atol=1e-4)
    assert (world.left.sum(axis=1) == 0).any()
    assert (world.right.sum(axis=1) == 0).any()
    if with_offsets:
        np.testing.assert_allclose(pull, pulls, **FLOAT32)


@TOPICS
def test_gram(world):
    K = world.K
    index = np.zeros((K, K), np.int64)
    upper = np.triu_indices(K)
    index[upper] = index.T[upper] = np.arange(len(upper[0]))
    result = np.full((len(upper[0]),) * 2, np.nan)
    gram(*world.shares, world.out_start, world.target, world.quadratic, index, result)
    left, right = (side[:, upper[0]] * side[:, upper[1]] for side in (world.left, world.right))
    np.testing.assert_allclose(result, left.T @ (world.quadratic[:, None] * right), rtol=1e-9, atol=1e-12)


@TOPICS
@pytest.mark.parametrize("kind", [np.float32, np.uint16])
def test_curvatures(world, kind):
    result = np.empty((world.K, world.K))
    rows = (world.inverse, world.doc_topic.astype(kind), world.out_start, world.target)
    curvatures(world.topics, *world.shares, *rows, world.quadratic, result)
    expected = (world.left**2).T @ (world.quadratic[:, None] * world.right**2)
    np.testing.assert_allclose(result, expected, **FLOAT32)


@TOPICS
@pytest.mark.parametrize("order", ["C", "F"])
def test_cross_sums(world, order):
    features = np.asarray(world.rng.normal(size=(len(world.target), 3)), order=order)
    result = np.empty((world.K, world.K, 3))
    cross_sums(*world.shares, world.out_start, world.target, world.quadratic, features, result)
    weighted = world.quadratic[:, None, None] * world.right[:, :, None] * features[:, None]
    np.testing.assert_allclose(result, np.einsum("ek,elf->klf", world.left, weighted), rtol=1e-9, atol=1e-12)


@TOPICS
def test_counts_in_two_bytes(world):
    """Products with counts in two bytes equal those with counts in float32, bit for bit."""
    V = pad(world.rng.normal(size=(world.K, world.K)), len(world.topics))
    results = []
    for kind in (np.float32, np.uint16):
        rows = (world.inverse, world.doc_topic.astype(kind), world.out_start, world.target)
        sums, product = np.empty((2, world.K, world.K))
        interaction_sum(world.topics, *world.shares, *rows, world.quadratic, sums)
        precision_product(world.topics, *world.shares, *rows, world.quadratic, V, product, np.empty(0))
        results.append((sums, product))
    np.testing.assert_array_equal(*results)


@TOPICS
def test_marginals(world):
    left, right = (np.full((world.K, world.K), np.nan) for _ in range(2))
    marginals(*world.shares, world.source, world.target, world.quadratic, left, right)
    for result, side in ((left, world.left), (right, world.right)):
        np.testing.assert_allclose(result, side.T @ (world.quadratic[:, None] * side), rtol=1e-9, atol=1e-12)


@TOPICS
@pytest.mark.parametrize("n_features", [0, 1, 3])
def test_diagonal_sums(world, n_features):
    features = world.rng.normal(size=(len(world.source), n_features))
    features[:, :1] = 1.0  # an intercept
    F = np.hstack([world.left * world.right, features])
    precision, pull = np.full((F.shape[1],) * 2, np.nan), np.full(F.shape[1], np.nan)
    ends = (world.source, world.target)
    diagonal_sums(*world.shares, *ends, world.quadratic, world.linear, features, precision, pull)
    np.testing.assert_allclose(precision, F.T @ (world.quadratic[:, None] * F), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(pull, F.T @ world.linear, rtol=1e-9, atol=1e-12)


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
    row_dots(*parts, *parts, 3, none, none, none, np.empty(0))


def test_log_rising():
    counts = np.random.default_rng(0).poisson(1.5, (50, 16)).astype(np.float32)
    n = np.arange(counts.max() + 1)
    table = gammaln(n + 0.3) - gammaln(0.3)
    assert log_rising(counts, table) == pytest.approx(table[counts.astype(int)].sum(), rel=1e-12)
    direct = (gammaln(counts.astype(float) + 0.3) - gammaln(0.3)).sum()
    assert log_rising(counts, table) == pytest.approx(direct, rel=1e-12)


# --- lanes ------------------------------------------------------------------------------------------------------------

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


# --- random numbers ---------------------------------------------------------------------------------------------------


def xoshiro256pp(state):
    """Blackman and Vigna's generator in Python's integers; changes the list `state`."""
    mask = 2**64 - 1

    def rotate(x, k):
        return (x << k | x >> (64 - k)) & mask

    while True:
        s0, s1, s2, s3 = state
        yield (rotate((s0 + s3) & mask, 23) + s0) & mask
        shifted = s1 << 17 & mask
        s2 ^= s0
        s3 ^= s1
        s1 ^= s2
        s0 ^= s3
        s2 ^= shifted
        state[:] = s0, s1, s2, rotate(s3, 45)


@njit
def fill(rng, out):
    for n in range(len(out)):
        out[n] = uniform(rng)


def test_the_reference_generator():
    """The first numbers from state 1, 2, 3, 4, as published implementations give them."""
    known = [41943041, 58720359, 3588806011781223, 3591011842654386, 9228616714210784205, 9973669472204895162]
    assert [x for x, _ in zip(xoshiro256pp([1, 2, 3, 4]), known, strict=False)] == known


def test_uniforms_are_xoshiro256pp():
    rng = rng_streams([np.random.SeedSequence(5)])[0]
    state = [int(x) for x in rng]
    out = np.empty(1000, np.float32)
    fill(rng, out)
    generator = xoshiro256pp(state)
    expected = [(next(generator) >> 40) / 2**24 for _ in range(1000)]
    np.testing.assert_array_equal(out, np.array(expected, np.float32))
    next(generator)  # the state moves on when the number after it is asked for
    assert state == [int(x) for x in rng]


def test_uniforms_are_uniform_and_independent():
    """Kolmogorov-Smirnov, mean, variance and the correlation of neighbours; 4 false alarms in 10,000 seeds."""
    n = 200_000
    out = np.empty(n, np.float32)
    fill(rng_streams([np.random.SeedSequence(6)])[0], out)
    assert out.min() >= 0
    assert out.max() < 1
    assert len(np.unique(out)) > 0.99 * n  # 24 bits: some 1,200 repeats; 16 bits would leave 62,000 different ones
    x = out.astype(float)
    assert stats.kstest(x, "uniform").pvalue > FALSE_ALARM
    assert abs(x.mean() - 1 / 2) < stats.norm.isf(FALSE_ALARM / 2) * np.sqrt(1 / 12 / n)
    assert abs(x.var() - 1 / 12) < stats.norm.isf(FALSE_ALARM / 2) * np.sqrt(1 / 180 / n)
    assert abs(np.corrcoef(x[1:], x[:-1])[0, 1]) < stats.norm.isf(FALSE_ALARM / 2) / np.sqrt(n)


def test_streams_differ():
    streams = rng_streams(np.random.SeedSequence(0).spawn(50))
    assert streams.shape == (50, 4)
    assert streams.dtype == np.uint64
    assert len(np.unique(streams)) == 200


@njit
def choose_many(topics, p, rng, out):
    upto = np.zeros_like(p)
    for n in range(len(out)):
        sums = simd.splat(np.float32(0.0))
        for k in range(0, len(topics), LANES):
            sums = sums + simd.load(p, 0, k)
            simd.store(upto, 0, k, sums)
        out[n] = choose(topics, upto, sums, rng)


def choices(p, n=40_000, seed=0):
    """Draw n topics with weights p; return how often each came."""
    wide = np.zeros((1, padded(len(p))), np.float32)
    wide[0, : len(p)] = p
    out = np.empty(n, np.int64)
    choose_many((0,) * wide.shape[1], wide, rng_streams([np.random.SeedSequence([seed, len(p)])])[0], out)
    return np.bincount(out, minlength=wide.shape[1])


@TOPICS
@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_choice_of_topics(K, scale):
    """Chi-square against the weights; false alarm once in 10,000 (per case, for another seed)."""
    p = np.random.default_rng(K).gamma(0.7, size=K) + 0.01
    p[K // 2 :: 5] = 0 if K > 1 else 1  # some topics without weight
    observed = choices(scale * p)
    assert not observed[K:].any()
    assert not observed[:K][p == 0].any()
    likely = p > 0
    expected = observed.sum() * p[likely] / p.sum()
    if likely.sum() > 1:
        assert stats.chisquare(observed[:K][likely], expected).pvalue > FALSE_ALARM


@pytest.mark.parametrize("K", [8, 9, 20])
def test_choice_where_one_topic_has_all_the_weight(K):
    for k in range(K):
        for rest in (0.0, 1e-12):
            p = np.full(K, rest)
            p[k] = 1.0
            assert choices(p, n=2000)[k] == 2000


@pytest.mark.parametrize("K", [9, 20])
@pytest.mark.parametrize(("last", "uniform"), [(0, 0.0), (2**64 - 1, 1 - 2.0**-24)], ids=["least", "greatest"])
def test_choice_at_the_ends_of_the_uniform_numbers(K, last, uniform):
    """Where rounding may run past the topics with weight: the least and the greatest number of the generator."""
    state = np.array([0, 5, 7, last], np.uint64)
    out = np.empty(1, np.float32)
    fill(state.copy(), out)
    assert out[0] == np.float32(uniform)
    rng = np.random.default_rng(K)
    chosen, p = np.empty(1, np.int64), np.zeros((1, padded(K)), np.float32)
    for _ in range(3000):
        p[0, :K] = np.exp(rng.normal(0, 8, K)) * (rng.random(K) < 0.4)
        p[0, rng.integers(K)] = 1.0
        choose_many((0,) * padded(K), p, state.copy(), chosen)
        assert p[0, chosen[0]] > 0


def test_choice_among_huge_ratios():
    """A topic a million times rarer comes as often as it should: Poisson, two-sided, false alarm 1 in 10,000."""
    p = np.array([1.0, 1e-6, 0, 0, 0, 0, 0, 0, 0, 1e-30, 1e-6])
    n = 4_000_000
    observed = choices(p, n)
    assert observed[2:9].sum() + observed[11:].sum() == 0
    low, high = stats.poisson.interval(1 - FALSE_ALARM, 2e-6 * n)
    assert low <= observed[1] + observed[10] <= high


# --- new documents ----------------------------------------------------------------------------------------------------


def run_infer(documents, topics, alpha, seed, max_sweeps=15, n_average=1, tol=-1.0, span=None):
    """Return the mean topic shares of documents (lists of words); a negative `tol` does all the sweeps."""
    n_words, K = topics.shape
    word_topic = np.zeros((n_words, padded(K)), np.float32)
    word_topic[:, :K] = topics
    prior = np.zeros((1, padded(K)), np.float32)
    prior[0, :K] = alpha
    start = np.append(0, np.cumsum([len(document) for document in documents])).astype(np.int64)
    words = np.concatenate([np.asarray(document, np.int32) for document in documents])
    shares = np.full((len(documents), padded(K)), np.nan, np.float32)
    first, last = span or (0, len(documents))
    infer((0,) * padded(K), start, words, word_topic, prior, seed, max_sweeps, n_average, tol, first, last, shares)
    return shares


@pytest.mark.parametrize(("words", "K"), [([0, 1], 2), ([0, 0, 1], 2), ([0, 2, 1], 3)], ids=str)
def test_inference_samples_the_posterior(words, K):
    """Frequencies of the topic counts of a tiny document after 16 sweeps, one for each of 20,000 seeds.

    Chi-square against the enumerated posterior; false alarm once in 10,000 (per case, for other seeds).
    """
    topics = np.array([[0.7, 0.2, 0.1], [0.1, 0.5, 0.3], [0.2, 0.3, 0.6]])[:, :K]
    alpha = np.array([0.8, 0.3, 0.5])[:K]
    expected = {}
    for z in product(range(K), repeat=len(words)):
        counts = np.bincount(z, minlength=K)
        p = np.exp(gammaln(alpha + counts).sum()) * np.prod(topics[words, z])
        expected[tuple(counts)] = expected.get(tuple(counts), 0.0) + p
    observed = dict.fromkeys(expected, 0)
    n = 20_000
    for seed in range(n):
        shares = run_infer([words], topics, alpha, seed)
        observed[tuple(np.rint(shares[0, :K] * len(words)).astype(int))] += 1
    p = np.array(list(expected.values())) / sum(expected.values())
    assert stats.chisquare(list(observed.values()), n * p).pvalue > FALSE_ALARM


def test_inference_depends_on_the_document_alone():
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.ones(30), 9).T
    documents = [rng.integers(30, size=n) for n in (1, 12, 0, 40, 7)]
    settings = {"alpha": 0.5, "seed": 3, "max_sweeps": 100, "n_average": 20, "tol": 1e-4}
    together = run_infer(documents, topics, **settings)
    np.testing.assert_allclose(together[[0, 1, 3, 4]].sum(axis=1), 1, rtol=1e-5)
    assert not together[2].any()
    assert not together[:, 9:].any()
    np.testing.assert_array_equal(run_infer(documents, topics, **settings), together)
    for i, document in enumerate(documents):
        np.testing.assert_array_equal(run_infer([document], topics, **settings)[0], together[i])
    part = run_infer(documents, topics, span=(1, 4), **settings)
    np.testing.assert_array_equal(part[1:4], together[1:4])
    assert np.isnan(part[[0, 4]]).all()  # others are left alone
    assert not np.array_equal(run_infer(documents, topics, **{**settings, "seed": 4}), together)
