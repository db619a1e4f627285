"""Kernels of sums over pairs against the slow NumPy expressions that their docstrings state."""

from types import SimpleNamespace

import numpy as np
import pytest

from linktopics.kernels.simd import padded
from linktopics.kernels.sweep import pair_scores, project
from linktopics.kernels.weights import (
    FLOAT32_DOCUMENTS,
    compress,
    cross_sums,
    curvatures,
    diagonal_sums,
    gram,
    interaction_sum,
    marginals,
    precision_product,
)
from support.kernel_cases import TOPICS

FLOAT32 = {"rtol": 2e-5, "atol": 2e-5}


def make_world(K, seed=0, n_documents=FLOAT32_DOCUMENTS + 90, n_pairs=1500):
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
@pytest.mark.parametrize("n_features", [0, 1, 3])
def test_cross_sums(world, n_features, order):
    features = np.asarray(world.rng.normal(size=(len(world.target), n_features)), order=order)
    result = np.full((world.K, world.K, n_features), np.nan)
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
