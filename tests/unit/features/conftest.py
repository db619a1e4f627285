"""Models with features, fitted once."""

import pytest

from support.feature_worlds import MODELS, fit
from support.marks import some_long


@pytest.fixture(scope="session", params=some_long(MODELS, ["undirected", "two chains", "diagonal"]))
def model(request):
    return fit(**MODELS[request.param])


@pytest.fixture(scope="session")
def default():
    return fit("default")
