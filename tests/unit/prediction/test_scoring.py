"""Scores in every shape against the formula, one pair after the other."""

import numpy as np
import pytest

from linktopics.prediction.scoring import block_scores, pair_scores, project, tile_scores

S, N, M, K, F = 3, 4, 5, 6, 2
RNG = np.random.default_rng(0)
NEW, OLD = RNG.dirichlet(np.ones(K), (S, N)), RNG.dirichlet(np.ones(K), (S, M))
U, TAU = RNG.normal(size=(S, K, K)), RNG.normal(size=(S, F))
X = {"out": RNG.normal(size=(N, M, F)), "in": RNG.normal(size=(N, M, F))}
BOTH = pytest.mark.parametrize("direction", ["out", "in"])


def expected(s, direction):
    """Return zbar U zbar' + tau x, the new document being the source of links out and the target of links in."""
    scores = np.empty((N, M))
    for i in range(N):
        for j in range(M):
            source, target = (NEW[s, i], OLD[s, j]) if direction == "out" else (OLD[s, j], NEW[s, i])
            topics = sum(source[a] * U[s, a, b] * target[b] for a in range(K) for b in range(K))
            scores[i, j] = topics + sum(TAU[s, f] * X[direction][i, j, f] for f in range(F))
    return scores


@BOTH
def test_blocks(direction):
    for s in range(S):
        found = block_scores(project(NEW[s], U[s], direction), OLD[s], X[direction], TAU[s])
        np.testing.assert_allclose(found, expected(s, direction), rtol=1e-12)


def test_blocks_without_features():
    found = block_scores(project(NEW[0], U[0], "out"), OLD[0], np.empty((N, M, 0)), np.empty(0))
    np.testing.assert_allclose(found, NEW[0] @ U[0] @ OLD[0].T, rtol=1e-12)


@BOTH
def test_pairs(direction):
    rows, candidates = RNG.integers(N, size=20), RNG.integers(M, size=20)
    values = X[direction][rows, candidates]
    found = pair_scores(NEW, rows, OLD[:, candidates], U, values, TAU, direction)
    np.testing.assert_allclose(found, [expected(s, direction)[rows, candidates] for s in range(S)], rtol=1e-12)
    one = pair_scores(NEW, rows[7:8], OLD[:, candidates[7:8]], U, values[7:8], TAU, direction)
    np.testing.assert_array_equal(found[:, 7:8], one)  # whatever the other pairs are


@pytest.mark.parametrize("directions", [("out",), ("in",), ("out", "in")])
def test_tiles(directions):
    """Column 0 is the same in both directions, column 1 is not, and there is a constant for each candidate."""
    shared = X["out"][:, :, 0]
    constants = RNG.normal(size=(S, len(directions), M))
    projected = np.stack([project(NEW, U, direction) for direction in directions], axis=1)
    own = [([1], np.float32(X[direction][None, :, :, 1])) for direction in directions]
    found = tile_scores(
        np.float32(projected),
        list(np.float32(OLD)),
        np.float32(constants),
        np.float32(TAU),
        ([0], np.float32(shared[None])),
        own,
    )
    assert found.dtype == np.float32
    for s in range(S):
        for place, direction in enumerate(directions):
            without = expected(s, direction) - TAU[s, 0] * X[direction][:, :, 0]
            scores = without + TAU[s, 0] * shared + constants[s, place]
            np.testing.assert_allclose(found[s, place], scores, rtol=0, atol=1e-5)
