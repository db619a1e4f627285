"""Small models that are fitted once for a file of tests, and saved for each test."""

import os
import shutil

import pytest

from support.checkpoints import NETWORK, PLAIN
from support.small_models import small_model, small_network


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture(scope="module")
def fitted():
    return small_model().fit(small_network())


@pytest.fixture(scope="module")
def other():
    return small_model(random_state=1, n_chains=1, n_samples=1).fit(small_network())


@pytest.fixture(scope="session")
def whole():
    return small_model(**PLAIN).fit(NETWORK)


@pytest.fixture(scope="module")
def sound(fitted, tmp_path_factory):
    """Save the model that a file of tests calls `fitted`."""
    folder = tmp_path_factory.mktemp("sound")
    fitted.save(folder)
    return folder


@pytest.fixture
def saved(sound, tmp_path):
    return shutil.copytree(sound, tmp_path / "model")
