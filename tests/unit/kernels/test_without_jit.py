"""Kernels as plain Python give what the compiled ones give: the NumPy definitions of lanes are a specification."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

RUN = """
import json, sys
import numpy as np
from linktopics import RelationalTopicModel

rng = np.random.default_rng(0)
counts = rng.integers(0, 3, (12, 10))
links = [(i, (i + 3) % 12) for i in range(12)]
# A wide prior of weights lets the hinge loss blow up rounding errors: lambda^-1 has the mean 1 / |margin - score|.
short = {"negatives": 2, "n_burn_in": 3, "n_samples": 2, "thin": 1, "n_chains": 1, "weight_variance": 1.0}
model = RelationalTopicModel(9, random_state=0, **short, **json.loads(sys.argv[1])).fit(counts, links=links)
found = (model.log_joint_, model.feature_weights_, model.transform(counts), model.predict_links(counts))
print(json.dumps([values.tolist() for values in found]))
"""


@pytest.mark.long
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"loss": "hinge", "directed": False},
        {"weights": "diagonal", "sampler": "cached"},
        {"weights": "diagonal", "pair_features": None},
        {"n_shards": 3},
    ],
    ids=["logistic", "hinge", "diagonal", "diagonal without features", "shards"],
)
def test_plain_python_equals_compiled(parameters):
    results = []
    for disable in ("0", "1"):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": disable, "PYTHONWARNINGS": "ignore"}
        run = subprocess.run(
            [sys.executable, "-c", RUN, json.dumps(parameters)],
            env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        results.append(json.loads(run.stdout))
    (log_joint, weights, topics, links), (plain_log_joint, plain_weights, plain_topics, plain_links) = results
    assert bool(weights) == (parameters.get("pair_features", "default") is not None)
    np.testing.assert_allclose(plain_log_joint, log_joint, rtol=1e-6)
    np.testing.assert_allclose(plain_weights, weights, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(plain_topics, topics, atol=1e-6)
    np.testing.assert_allclose(plain_links, links, rtol=1e-4, atol=1e-5)
