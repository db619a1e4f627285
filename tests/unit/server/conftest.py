"""A model that is served, for all tests of the server."""

import pytest

from linktopics.explorer import Explorer
from support.small_models import TEXTS, small_model, small_network


@pytest.fixture(scope="session")
def model():
    return small_model().fit(small_network(titles=[f"The {name}" for name in TEXTS], columns={"year": range(10)}))


@pytest.fixture(scope="module")
def client(model):
    from support.served_app import BASE, TestClient, create_app

    with TestClient(create_app(Explorer(model), hosts=frozenset({"localhost"})), base_url=BASE) as client:
        yield client


@pytest.fixture(scope="module")
def described(client):
    return client.get("/openapi.json").json()


@pytest.fixture(scope="session")
def directed():
    return small_model(n_samples=3).fit(small_network(titles=[f"The {name}" for name in TEXTS]))
