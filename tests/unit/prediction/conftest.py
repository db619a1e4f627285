"""Models of every kind, fitted once."""

import pytest

from support.marks import some_long
from support.two_groups import MODELS, fit, give_back

LONG = ["diagonal", "intercept", "undirected", "hinge intercept", "undirected hinge diagonal", "features undirected"]


@pytest.fixture(scope="session", params=some_long(MODELS, LONG))
def model(request):
    return fit(request.param)


@pytest.fixture(scope="session")
def plain():
    return fit("logistic")


@pytest.fixture(scope="session")
def featured():
    return fit("features")


@pytest.fixture(params=["plain", "featured"])
def each_restored(request):
    yield from give_back(request.getfixturevalue(request.param))
