"""Baselines that look at degrees or at nothing.

Seen to fail once against broken versions: in- and out-degrees swapped, and random scores by row number.
"""

from math import sqrt

import numpy as np

from linktopics import DocumentNetwork
from linktopics.evaluation.baselines import (
    DegreeOnly,
    RandomScores,
)
from support.baselines import NETWORK, NEW, UNDIRECTED, slow_neighbours


class TestFloor:
    def test_degrees(self):
        model = DegreeOnly().fit(NETWORK)
        around = [len(found) for found in slow_neighbours(NETWORK)]
        received = [sum(target == d for _, target in NETWORK.links) for d in range(len(NETWORK))]
        made = [sum(source == d for source, _ in NETWORK.links) for d in range(len(NETWORK))]
        assert around[0] < received[0] + made[0]  # 0 and 1 link to one another
        for direction, expected in (("both", around), ("out", received), ("in", made)):
            assert model.predict_links(NEW, direction=direction).tolist() == [expected] * len(NEW)
        for direction in ("both", "out", "in"):
            scores = DegreeOnly().fit(UNDIRECTED).predict_links(NEW, direction=direction)
            assert scores.tolist() == [around] * len(NEW)

    def test_random_scores(self):
        rng = np.random.default_rng(0)
        network = DocumentNetwork(rng.poisson(1.0, size=(500, 8)) + 1, [(0, 1)])
        new = rng.poisson(3.0, size=(100, 8)) + 1
        scores = RandomScores(random_state=0).fit(network).predict_links(new)
        np.testing.assert_array_equal(scores, RandomScores(random_state=0).fit(network).predict_links(new))
        assert (scores != RandomScores(random_state=1).fit(network).predict_links(new)).mean() > 0.99
        assert abs(scores.mean() - 0.5) < 4 / sqrt(12 * scores.size)
        assert len(np.unique(scores)) == len(np.unique(new, axis=0)) * 500
