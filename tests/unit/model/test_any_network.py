"""Any small network and any settings: a fit finishes, its counts add up, and its probabilities are such."""

import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linktopics import DocumentNetwork, RelationalTopicModel
from linktopics.errors import LinktopicsError
from support.properties import check_model, check_network
from support.small_models import assert_same

COUNT = st.sampled_from([0, 0, 0, 1, 1, 2, 5])


@st.composite
def networks(draw):
    """Draw a network of at most 8 documents and 6 words, any of which may be empty; None where there can be none."""
    n, n_words = draw(st.integers(0, 8)), draw(st.integers(0, 6))
    counts = np.array(draw(st.lists(COUNT, min_size=n * n_words, max_size=n * n_words)), dtype=int).reshape(n, n_words)
    ends = st.integers(0, max(n - 1, 0))
    links = draw(st.lists(st.tuples(ends, ends), max_size=20)) if n else []
    try:
        return DocumentNetwork(counts, links, directed=draw(st.booleans()))
    except LinktopicsError:
        assert n == 0 or n_words == 0
        return None


SETTINGS = st.fixed_dictionaries(
    {
        "n_topics": st.integers(1, 10),
        "loss": st.sampled_from(["logistic", "hinge"]),
        "weights": st.sampled_from(["full", "diagonal"]),
        "sampler": st.sampled_from(["exact", "cached"]),
        "pair_features": st.sampled_from(["default", None]),
        "n_shards": st.integers(1, 3),
        "negatives": st.sampled_from(["auto", 0, 0.5, 2]),
        "n_burn_in": st.integers(0, 2),
        "n_samples": st.integers(1, 2),
        "n_chains": st.integers(1, 2),
        "learn_alpha": st.sampled_from([None, "symmetric", "per-topic"]),
        "random_state": st.integers(0, 99),
    }
)


@pytest.mark.filterwarnings("ignore::UserWarning")
@given(network=networks(), settings=SETTINGS)
def test_a_fit_of_any_small_network(network, settings):
    if network is None:
        return
    check_network(network)
    model = RelationalTopicModel(thin=1, verbose=False, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # a division by zero, an overflow
        if network.n_tokens == 0:
            with pytest.raises(LinktopicsError, match="no document has a word"):
                model.fit(network)
            return
        model.fit(network)
        check_model(model)
        np.testing.assert_allclose(model.transform(network).sum(axis=1), 1, rtol=1e-5)
        if network.n_links:
            found = model.predict_links(network.without_links())
            assert found.shape == (len(network), len(network))
            assert ((found >= 0) & (found <= 1)).all()
        model.summary_text()
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder, "model"))
        assert_same(RelationalTopicModel.load(Path(folder, "model")), model)
