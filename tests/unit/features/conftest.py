"""Models with features, fitted once."""

import pytest

from support.feature_worlds import (
    MODELS,
    fit,
)


@pytest.fixture(scope="session", params=MODELS)
def model(request):
    return fit(**MODELS[request.param])


@pytest.fixture(scope="session")
def default():
    return fit("default")
