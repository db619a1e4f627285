"""A model for plots, fitted once."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt

from linktopics import DocumentNetwork, RelationalTopicModel
from support.plotted_models import WORDS


@pytest.fixture(autouse=True)
def agg():
    """Draw without a screen; forget figures and see that no setting was changed."""
    plt.switch_backend("agg")
    plt.close("all")  # of other tests
    before = dict(mpl.rcParams)
    yield
    assert dict(mpl.rcParams) == before
    plt.close("all")


@pytest.fixture(scope="session")
def real():
    """Fit a model with two chains to two groups of documents."""
    counts = np.kron(np.eye(2, dtype=int), np.ones((6, 3), dtype=int))
    links = [(i, j) for group in (range(6), range(6, 12)) for i in group for j in group if i < j]
    network = DocumentNetwork(counts, links, vocabulary=WORDS[:6])
    return RelationalTopicModel(3, n_burn_in=20, n_samples=3, thin=2, n_chains=2, negatives=2, random_state=0).fit(
        network
    )
