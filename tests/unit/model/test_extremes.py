"""Extreme but legal settings and networks: models are finite and sound, and so are their answers.

A table of all settings, each with another network and another kind of model; `benchmarks/extremes.py` has the whole
cross product. Every sweep is checked (`sampler/debug.py`), and NumPy's warnings are errors.
"""

from __future__ import annotations

import numpy as np
import pytest

from linktopics import RelationalTopicModel, SamplingError
from linktopics.datasets import make_network
from linktopics.prediction import words_from_links
from linktopics.sampler.debug import debug_checks
from support.extreme_worlds import KINDS, NETWORKS, SETTINGS, fit_and_check, network

SMALL = [name for name in SETTINGS if name != "many topics"]
CASES = [
    # 11 is prime to the 64 kinds and 7 networks, so that neighbours differ in everything
    (name, NETWORKS[number % 7], KINDS[(11 * number + 5) % 64], 9 if number % 3 == 0 else 3)
    for number, name in enumerate(SMALL)
]


@pytest.fixture(autouse=True)
def few_sweeps(monkeypatch):
    """Words of links take 2000 sweeps where alpha is tiny, which would show nothing that some do not."""
    monkeypatch.setattr(words_from_links, "MAX_LINK_INFERENCE_SWEEPS", 30)


@pytest.mark.parametrize(("name", "of", "kind", "n_topics"), CASES)
def test_every_extreme_setting(name, of, kind, n_topics):
    with debug_checks():
        fit_and_check(network(of, kind["directed"]), {"n_topics": n_topics, **SETTINGS[name]}, kind)


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
@pytest.mark.parametrize("of", NETWORKS[1:7])
def test_every_extreme_network(of, loss):
    """With large costs, a wide prior and several shards, which ask most of the weight step."""
    settings = SETTINGS["costs 1e4, margin 100, variance 1e6"]
    kind = {
        "loss": loss,
        "n_shards": 3,
        "directed": loss == "hinge",
        "pair_features": None if loss == "hinge" else "default",
    }
    with debug_checks():
        fit_and_check(network(of, kind["directed"]), settings, kind, answers=False)


def test_a_document_of_a_million_tokens():
    with debug_checks():
        model = fit_and_check(network("a million tokens"), {}, {"pair_features": None}, answers=False, n_burn_in=1)
    assert model.network_.lengths.max() >= 1_000_000


@pytest.mark.long
def test_five_hundred_topics():
    """Far more topics than documents or words."""
    with debug_checks():
        model = fit_and_check(network("ordinary"), {"n_topics": 500}, {"weights": "diagonal"}, False, n_burn_in=1)
    assert model.topic_word_.shape == (500, 20)


@pytest.mark.parametrize("cost", [100.0, 1e4])
def test_large_costs_do_not_throw_weights_out_of_the_prior(cost):
    """Started from augmented variables of 1, weights would be drawn at cost / 2, and stay there for long."""
    of = make_network(n_documents=30, n_topics=3, n_words=40, random_state=0)
    model = RelationalTopicModel(
        3, link_cost=cost, nonlink_cost=cost, pair_features=None, n_burn_in=10, n_samples=1, thin=1, n_chains=1,
        random_state=0, verbose=False,
    ).fit(of)  # fmt: skip
    assert model.trace_["weight norm"].max() < 50 * np.sqrt(10.0)


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
@pytest.mark.parametrize(
    "settings",
    [{"link_cost": 1e300, "nonlink_cost": 1e300}, {"link_cost": 1e200, "margin": 1e200}],
    ids=["costs", "both"],
)
def test_what_cannot_be_computed_with_is_said(settings, loss, monkeypatch):
    """Beyond the range of floating point, which parameters keep to, there is one sentence, and no model full of NaN."""
    monkeypatch.setattr(RelationalTopicModel, "_validate_params", lambda _: None)
    model = RelationalTopicModel(3, loss=loss, n_burn_in=3, n_samples=1, n_chains=1, verbose=False, **settings)
    with np.errstate(all="ignore"), pytest.raises(SamplingError, match="use smaller"):
        model.fit(network("ordinary"))
