"""Simulation-based calibration, small: in networks from the prior, the truth has a uniform rank among the draws.

`benchmarks/sbc.py` does it with 200 networks, longer chains and more kinds of networks; `simulated` says why ranks are
uniform. Chains are short here, and draws near each other: such ranks are a little too often at the ends, which is why
nothing is asked for but `FALSE_ALARM` over all quantities of a case together, by Bonferroni. Fixed seeds.
"""

from __future__ import annotations

import numpy as np
import pytest

from linktopics.sampler import weights
from support.marks import some_long
from support.ranks import BINS, band, rank, uniformity
from support.simulated import World, fit, quantities, simulate

FALSE_ALARM = 1e-3
N_DRAWS = 15
SMALL = {"n_documents": 8, "mean_length": 6.0, "n_words": 6}
CASES = {
    "directed": World(**SMALL),
    "undirected, diagonal, features": World(weights="diagonal", directed=False, features=True, **SMALL),
}


def smallest_p(world, n_networks, seed):
    """Fit networks and return the smallest p-value, times the number of quantities, and its quantity."""
    found = []
    for number in range(n_networks):
        rng = np.random.default_rng([seed, number])
        drawn = simulate(world, rng)
        model = fit(world, drawn, number, n_burn_in=40, n_samples=N_DRAWS, thin=8)
        truth, draws = (
            quantities(world, drawn, drawn.truth),
            [quantities(world, drawn, sample) for sample in model.samples_],
        )
        found.append({name: rank(truth[name], [draw[name] for draw in draws], rng) for name in truth})
    p_values = {name: uniformity([ranks[name] for ranks in found], N_DRAWS).ecdf for name in found[0]}
    worst = min(p_values, key=p_values.get)
    return p_values[worst] * len(p_values), worst


@pytest.mark.parametrize("case", some_long(CASES, list(CASES)[1:]))
def test_the_truth_ranks_like_a_draw(case):
    p, worst = smallest_p(CASES[case], 24, 90)
    assert p > FALSE_ALARM, f"{worst}: {p:.2g}"


def test_a_broken_sampler_is_seen(monkeypatch):
    """Weights drawn as if their prior variance were 25 times what it is."""
    begin = weights.WeightSampler.__init__

    def too_wide(self, *args, **others):
        begin(self, *args, **others)
        self.variance *= 25

    monkeypatch.setattr(weights.WeightSampler, "__init__", too_wide)
    p, _ = smallest_p(CASES["directed"], 12, 91)
    assert p < FALSE_ALARM


def test_a_start_at_the_truth_begins_there():
    world = World(**SMALL)
    drawn = simulate(world, np.random.default_rng(92))
    model = fit(world, drawn, 0, "truth", n_burn_in=0, n_samples=1, thin=1)
    assert model.log_joint_[0] == pytest.approx(drawn.truth.log_joint, abs=40)
    assert len(model.log_joint_) == 1


@pytest.mark.parametrize("n", [50, 200])
def test_uniform_ranks_stay_in_the_band_as_often_as_it_says(n):
    """400 sets of ranks: the share outside is 0.05 with a standard deviation of 0.011; 4 of them are allowed."""
    rng = np.random.default_rng(93)
    sets = rng.integers(32, size=(400, n))
    low, high = band(n, 31)
    share = np.arange(1, 32) / 32
    below = (sets[:, :, None] <= np.arange(31)).mean(axis=1) - share
    outside = ((below < low - 1e-12) | (below > high + 1e-12)).any(axis=1)
    rejected = np.array([uniformity(ranks, 31).ecdf for ranks in sets]) <= 0.05
    assert abs(outside.mean() - 0.05) < 0.044
    assert abs(rejected.mean() - 0.05) < 0.044


def test_ranks_that_lean_or_crowd_are_not_uniform():
    rng = np.random.default_rng(94)
    for ranks in (rng.integers(24, size=200), rng.integers(8, 24, size=200), rng.choice([0, 1, 30, 31], size=200)):
        found = uniformity(ranks, 31)
        assert found.ecdf < FALSE_ALARM
        assert found.chi_square < FALSE_ALARM
    assert uniformity(np.arange(16 * BINS) % 32, 31).ecdf > 0.9


def test_ties_are_broken_at_random():
    rng = np.random.default_rng(95)
    assert {rank(1.0, [0.0, 1.0, 1.0, 2.0], rng) for _ in range(100)} == {1, 2, 3}
    assert rank(5.0, [0.0, 1.0], rng) == 2
