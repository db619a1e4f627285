"""The experiments by name."""

import subprocess
import sys
from pathlib import Path

import pytest

from studies import EXPERIMENTS, reproduce
from studies.registry import QUICK_TOPICS


def test_every_experiment_has_its_functions():
    for experiment in EXPERIMENTS.values():
        compute, draw = experiment.functions()
        assert callable(compute)
        assert callable(draw) is (experiment is not EXPERIMENTS["defaults"])
        assert not experiment.one_number or len(experiment.topics) == len(QUICK_TOPICS) == 1


def test_unknown_experiment():
    with pytest.raises(ValueError, match=r"no experiment is called 'corra'; the names are cora, webkb, .*, or all\."):
        reproduce("corra")


@pytest.mark.parametrize(
    ("name", "topics", "message"),
    [
        ("weights", [5, 10], "weights takes one number"),
        ("all", [5, 10], "takes one number"),
        ("cora", [5, 5], "different"),
        ("cora", [1], "from 2 on"),
    ],
)
def test_topics_that_cannot_be(name, topics, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        reproduce(name, topics=topics, output=tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.long
def test_matplotlib_is_imported_when_a_figure_is_drawn_and_pyplot_never():
    code = """
import sys
import studies.paper.comparison, studies.plots, studies.paper.weights
print("matplotlib" in sys.modules)
import numpy as np
studies.plots.heat_map(np.eye(2), "ab", "cd", "", diverging=True, bar_label="")
print("matplotlib" in sys.modules, "matplotlib.pyplot" in sys.modules)
"""
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == ["False", "True", "False"]
