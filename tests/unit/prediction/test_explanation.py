"""Contributions sum to scores, and reasons are the largest of them."""

import numpy as np
import pytest

from linktopics.features import FeatureSet
from linktopics.prediction import explanation
from linktopics.prediction.explanation import (
    MIN_REASON_SHARE,
    N_REASONS,
    Explainer,
    best_reasons,
    cell_contributions,
    shares_of,
    topic_contributions,
)
from linktopics.prediction.ranking import Shortlist
from linktopics.prediction.scoring import pair_scores
from linktopics.sampler.runner import PosteriorSample

S, N, M, K = 3, 4, 5, 3
RNG = np.random.default_rng(1)


class Feature:
    centred = True

    def __init__(self, name, columns):
        self.name, self.columns = name, tuple(f"{name} {number}" for number in range(columns))


FEATURES = FeatureSet.of([Feature("one", 1), Feature("two", 2)])
OLD = RNG.dirichlet(np.ones(K), (S, M)).astype(np.float32)
SHARES = list(RNG.dirichlet(np.ones(K), (S, N)).astype(np.float32))
SAMPLES = [
    PosteriorSample(0, 0.0, np.empty((0, K)), OLD[s], RNG.normal(size=(K, K)), RNG.normal(size=3), np.ones(K))
    for s in range(S)
]
ROWS, CANDIDATES = np.repeat(np.arange(N), M), np.tile(np.arange(M), N)


@pytest.fixture
def explainer():
    return Explainer(SAMPLES, FEATURES, [[f"word{k}", "and", "more"] for k in range(K)])


def pairs(*directions):
    return Shortlist(ROWS, CANDIDATES, {one: np.random.default_rng(2).normal(size=(N * M, 3)) for one in directions})


def scores_of(listed, direction):
    new, old = np.stack(SHARES).astype(float), OLD[:, CANDIDATES].astype(float)
    weights, tau = np.stack([s.weights for s in SAMPLES]), np.stack([s.feature_weights for s in SAMPLES])
    return pair_scores(new, ROWS, old, weights, listed.features[direction], tau, direction).mean(axis=0)


def test_contributions_sum_to_scores(explainer):
    listed = pairs("out")
    source, target = [own[ROWS] for own in SHARES], [own[CANDIDATES] for own in OLD]
    found = explainer.contributions(source, target, listed.features["out"])
    assert found.shape == (N * M, K * K + 2)
    np.testing.assert_allclose(found.sum(axis=1), scores_of(listed, "out"), rtol=1e-10)


@pytest.mark.parametrize("cells", [1, 2**21])
@pytest.mark.parametrize("directions", [("out",), ("in",), ("out", "in")])
def test_reasons_are_those_of_the_stronger_direction(explainer, directions, cells, monkeypatch):
    monkeypatch.setattr(explanation, "CONTRIBUTION_CELLS", cells)
    listed = pairs(*directions)
    if len(directions) == 2:
        listed.features["in"][:] = np.random.default_rng(3).normal(size=(N * M, 3))
    outgoing, reasons = explainer.reasons(SHARES, listed)
    scores = np.stack([scores_of(listed, direction) for direction in directions])
    stronger = [directions[number] for number in scores.argmax(axis=0)]
    assert ["out" if is_outgoing else "in" for is_outgoing in outgoing] == stronger
    assert set(stronger) == set(directions)
    for e, direction in enumerate(stronger):
        here, there = [own[ROWS[e]] for own in SHARES], [own[CANDIDATES[e]] for own in OLD]
        source, target = (here, there) if direction == "out" else (there, here)
        every = explainer.contributions(source, target, listed.features[direction][e])
        share = np.maximum(every, 0) / np.maximum(every, 0).sum()
        best = [at for at in np.argsort(-share, kind="stable")[:N_REASONS] if share[at] >= MIN_REASON_SHARE]
        assert reasons.index[e].tolist() == best + [-1] * (N_REASONS - len(best))
        np.testing.assert_allclose(reasons.contribution[e, : len(best)], every[best], rtol=1e-12)
        np.testing.assert_allclose(reasons.share[e, : len(best)], share[best], rtol=1e-12)


def test_sentences_name_the_new_document_first(explainer):
    reasons = best_reasons(np.array([[0, 3.0, *[0] * 7, 1, 0]] * 2))
    told = explainer.sentences(reasons, np.array([True, False]), lambda feature, pair, out: f"{feature} of {pair}")
    assert told[0] == "0.75 word0, and → word1, and; 0.25 0 of 0"
    assert told[1] == "0.75 word1, and ← word0, and; 0.25 0 of 1"
    unsaid = explainer.sentences(reasons, np.array([True, False]), lambda feature, pair, out: "")
    assert unsaid[0].endswith("; 0.25 one")


def test_nothing_speaks_for_it():
    reasons = best_reasons(np.array([[-1.0, 0.0], [-1.0, -2.0]]))
    assert (reasons.index == -1).all()
    assert (reasons.share == 0).all()


def test_cells_are_single_contributions(explainer):
    a, b = np.array([0, 2]), np.array([1, 2])
    source, target = [own[ROWS] for own in SHARES], [own[CANDIDATES] for own in OLD]
    every = topic_contributions(source, explainer.weights, target)
    found = cell_contributions(source, explainer.weights, target, a, b)
    np.testing.assert_allclose(found, every[:, a, b].T, rtol=1e-12)


def test_shares_have_the_sign_of_contributions():
    contributions = np.array([2.0, -1.0, 0.0, 6.0, -3.0])
    np.testing.assert_allclose(shares_of(contributions), [0.25, 0.0, 0.0, 0.75, 0.0])
    np.testing.assert_allclose(shares_of(contributions, sign=-1.0), [0.0, -0.25, 0.0, 0.0, -0.75])
    assert shares_of(np.zeros(2)).tolist() == [0.0, 0.0]


def test_shares_of_single_contributions_are_of_the_scores_they_belong_to():
    contributions = np.array([[2.0, -1.0, 6.0, -3.0], [1.0, 0.0, 0.0, 0.0], [2.0, 2.0, -5.0, 1.0]])
    parts = np.array([[-3.0], [0.0], [2.0]])
    shares = shares_of(contributions, parts, np.sign(parts))
    np.testing.assert_allclose(shares, [[-0.75], [0.0], [0.4]])
