"""Small models that are fitted once for a file of tests, and saved for each test."""

import pytest

from support.small_models import small_model, small_network


@pytest.fixture(scope="module")
def fitted():
    return small_model().fit(small_network())


@pytest.fixture(scope="module")
def other():
    return small_model(random_state=1, n_chains=1, n_samples=1).fit(small_network())


@pytest.fixture
def saved(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    return tmp_path / "model"
