"""Losses, pair by pair, against their formulas; that draws have the right distribution is in tests/statistical.

All of it was written against mutants of the losses (setup.cfg) that the statistical tests could not tell apart, or only
in a long time.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from linktopics.sampler import polya_gamma
from linktopics.sampler.losses import SMALLEST_VARIABLE, HingeLoss, LogisticLoss, make_loss
from linktopics.sampler.polya_gamma import draw_polya_gamma

LABEL = np.array([True, False, True, False])
SCORES = np.array([0.5, 0.5, -2.0, -2.0])
COST = np.array([3.0, 0.5, 3.0, 0.5])


def test_the_loss_of_a_name():
    settings = {"link_cost": 3, "nonlink_cost": 0.5, "margin": 1.25}
    logistic, hinge = (make_loss(SimpleNamespace(loss=name, **settings), LABEL) for name in ("logistic", "hinge"))
    assert isinstance(logistic, LogisticLoss)
    assert isinstance(hinge, HingeLoss)
    assert hinge.margin == 1.25
    for loss in (logistic, hinge):
        assert loss.label is LABEL
        np.testing.assert_array_equal(loss.cost, COST)
        assert loss.cost.dtype == np.float64


def test_logistic_by_hand():
    loss = LogisticLoss(LABEL, COST)
    linear, quadratic = loss.gaussian(np.array([1.0, 2.0, 3.0, 4.0]))
    np.testing.assert_array_equal(linear, [1.5, -0.25, 1.5, -0.25])
    np.testing.assert_array_equal(quadratic, [1.0, 2.0, 3.0, 4.0])
    right = 1 / (1 + np.exp([-0.5, 0.5, 2.0, -2.0]))  # of what the labels say
    assert loss.log_likelihood(SCORES) == pytest.approx(COST @ np.log(right))
    np.testing.assert_allclose(loss.probability(SCORES), 1 / (1 + np.exp(-SCORES)))


def test_logistic_draws_are_polya_gamma_variates_of_costs_and_scores():
    drawn = LogisticLoss(LABEL, COST).draw(SCORES, np.random.default_rng(0))
    np.testing.assert_array_equal(drawn, draw_polya_gamma(COST, SCORES, np.random.default_rng(0)))


def test_the_largest_costs_are_not_left_to_the_saddle_point(monkeypatch):
    """At this score and a cost of 1e9 it rejects all its proposals and never returns."""

    def saddle_point(shape, score, **_):
        assert shape.max() < 1e7
        return shape / 4

    monkeypatch.setattr(polya_gamma, "random_polyagamma", saddle_point)
    drawn = draw_polya_gamma(np.array([1e9, 100.0]), np.array([4.090814296687097, 0.0]), np.random.default_rng(0))
    assert drawn[0] == pytest.approx(1e9 * np.tanh(4.090814296687097 / 2) / (2 * 4.090814296687097), rel=1e-3)
    assert drawn[1] == 25.0


def test_hinge_by_hand():
    loss = HingeLoss(LABEL, COST, margin=1.25)
    linear, quadratic = loss.gaussian(np.array([1.0, 2.0, 3.0, 4.0]))
    # cost s (variable + cost margin) / variable, and cost^2 / variable
    np.testing.assert_allclose(linear, [14.25, -0.65625, 6.75, -0.578125])
    np.testing.assert_allclose(quadratic, [9.0, 0.125, 3.0, 0.0625])
    assert loss.log_likelihood(SCORES) == pytest.approx(-2 * (3 * 0.75 + 0.5 * 1.75 + 3 * 3.25 + 0))
    assert HingeLoss(LABEL, COST, margin=0.0).log_likelihood(np.array([1.0, -1.0, 0.0, 0.0])) == 0.0


@pytest.mark.parametrize("margin", [0.0, 1.25, 4.0])
def test_hinge_probabilities_are_of_a_link_against_none(margin):
    scores = np.array([-6.0, -2.0, -0.5, 0.0, 0.5, 2.0, 6.0])
    ones, link = np.ones(len(scores)), np.full(len(scores), True)
    for_link = [HingeLoss(link[:1], ones[:1], margin).log_likelihood(score[None]) for score in scores]
    for_none = [HingeLoss(~link[:1], ones[:1], margin).log_likelihood(score[None]) for score in scores]
    expected = np.exp(for_link) / (np.exp(for_link) + np.exp(for_none))
    found = HingeLoss(link, ones, margin).probability(scores)
    np.testing.assert_allclose(found, expected)
    assert found[3] == 0.5
    np.testing.assert_allclose(found + found[::-1], 1.0)


@pytest.mark.parametrize("margin", [0.0, 1.25])
def test_hinge_draws_solve_the_quadratic_equation_of_the_transformation(margin):
    """Both roots r of (r - m)^2 = y r, of which r is taken with the probability r / (r + m)."""
    n = 2_000
    rng = np.random.default_rng(0)
    label, scores = rng.random(n) < 0.5, rng.normal(0, 3, n)
    cost = np.where(label, 3.0, 0.5)
    drawn = HingeLoss(label, cost, margin).draw(scores, np.random.default_rng(1))
    same = np.random.default_rng(1)
    y, u = same.standard_normal(n) ** 2, same.random(n)
    m = cost * abs(margin - np.where(label, scores, -scores))
    larger = (2 * m + y + np.sqrt((2 * m + y) ** 2 - 4 * m**2)) / 2
    expected = np.where(u <= larger / (larger + m), larger, m**2 / larger)
    np.testing.assert_allclose(drawn, expected, rtol=1e-10)
    assert (drawn < m).any()
    assert (drawn > m).any()


def test_hinge_draws_have_a_least_value():
    """A pair on the margin whose normal variate is zero would have a reciprocal without bounds."""

    class Zeros:
        def standard_normal(self, n):
            return np.zeros(n)

        def random(self, n):
            return np.zeros(n)

    loss = HingeLoss(np.array([True, False]), np.ones(2), margin=1.0)
    with np.errstate(invalid="ignore"):  # 0 / 0 in the root that is not taken
        drawn = loss.draw(np.array([1.0, -1.0]), Zeros())
    assert drawn.tolist() == [SMALLEST_VARIABLE] * 2
    assert SMALLEST_VARIABLE == 1e-10
