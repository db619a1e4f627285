"""Models of every kind that are explored, fitted once."""

import pytest

from linktopics import RelationalTopicModel
from linktopics.explorer import Explorer
from support.explored_models import MODELS, NETWORK, SETTINGS, K
from support.marks import some_long


@pytest.fixture(scope="session", params=some_long(MODELS, ["hinge", "one sample"]))
def model(request):
    return RelationalTopicModel(K, **{**SETTINGS, **MODELS[request.param]}).fit(NETWORK)


@pytest.fixture(scope="session")
def directed():
    return RelationalTopicModel(K, **SETTINGS, **MODELS["directed"]).fit(NETWORK)


@pytest.fixture(scope="session")
def explorer(model):
    return Explorer(model)
