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
model = RelationalTopicModel(9, negatives=2, n_iter=3, n_samples=2, thin=1, random_state=0, **json.loads(sys.argv[1]))
model.fit(counts, links=links)
print(json.dumps([model.log_joint_.tolist(), model.transform(counts).tolist()]))
"""


@pytest.mark.parametrize(
    "parameters",
    [{}, {"loss": "hinge", "directed": False}, {"weights": "diagonal", "sampler": "cached"}],
    ids=["logistic", "hinge", "diagonal"],
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
    (log_joint, topics), (plain_log_joint, plain_topics) = results
    np.testing.assert_allclose(plain_log_joint, log_joint, rtol=1e-6)
    np.testing.assert_allclose(plain_topics, topics, atol=1e-6)
