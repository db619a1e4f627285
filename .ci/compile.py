"""Fit small models of the usual kinds, so that the kernels are compiled and kept for the processes that come."""

import numpy as np

from linktopics import RelationalTopicModel

counts = np.random.default_rng(0).integers(0, 3, (12, 10))
links = [(i, (i + 3) % 12) for i in range(12)]
short = {"n_burn_in": 3, "n_samples": 2, "thin": 1, "n_chains": 1, "negatives": 2, "random_state": 0, "verbose": False}
for n_topics in (3, 9):  # one register and two
    for weights in ("full", "diagonal"):
        model = RelationalTopicModel(n_topics, weights=weights, **short).fit(counts, links=links)
        model.transform(counts)
        model.predict_links(counts)
