"""What must hold of every network and every fitted model, and how hard hypothesis looks for a case where it does not.

HYPOTHESIS_PROFILE=long HYPOTHESIS_EXAMPLES=5000 pytest -n 0 tests/unit -k test_any
"""

import io
import os

import numpy as np
from hypothesis import HealthCheck, settings

ALIKE = {"deadline": None, "suppress_health_check": list(HealthCheck), "database": None}
settings.register_profile("ci", max_examples=40, derandomize=True, **ALIKE)
settings.register_profile("long", max_examples=int(os.environ.get("HYPOTHESIS_EXAMPLES", "5000")), **ALIKE)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def check_network(network):
    """Assert what every `DocumentNetwork` promises."""
    n, counts, links = network.n_documents, network.counts, network.links
    assert counts.shape == (n, network.n_words)
    assert n >= 1
    assert network.n_words >= 1
    assert counts.dtype == np.int32
    assert counts.has_canonical_format
    assert (counts.data > 0).all()
    assert network.n_tokens == network.lengths.sum() == counts.data.sum(dtype=np.int64)
    assert links.dtype == np.int64
    assert links.shape == (network.n_links, 2)
    if len(links):
        assert links.min() >= 0
        assert links.max() < n
        assert (links[:, 0] != links[:, 1]).all()
        assert len(np.unique(links, axis=0)) == len(links)
        assert network.directed or (links[:, 0] < links[:, 1]).all()
    ids = network.ids.tolist()
    assert len(set(ids)) == len(ids) == n
    assert [network.index_of(id) for id in ids] == list(range(n))
    report = network.report
    assert report.n_links_given - report.n_dropped_links == network.n_links
    assert report.n_empty_documents == (network.lengths == 0).sum()
    if network.vocabulary is not None:
        assert len(set(network.vocabulary.tolist())) == network.n_words
    for column in (network.titles, network.labels, network.texts, *network.columns.values()):
        assert column is None or len(column) == n
    network.summary(io.StringIO())


def check_model(model):
    """Assert what every fitted `RelationalTopicModel` promises: counts add up, probabilities too, nothing is NaN."""
    network, n_topics = model.network_, model.n_topics
    shares = [model.topic_word_, model.doc_topic_]
    for sample in model.samples_:
        shares += [sample.doc_topic, sample.word_topic[:, :n_topics].T]
    for rows in shares:
        assert (rows >= 0).all()
        np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-4)
    for values in (
        model.link_weights_,
        model.link_weights_std_,
        model.feature_weights_,
        model.alpha_,
        model.log_joints_,
    ):
        assert np.isfinite(values).all()
    words = np.asarray(network.counts.sum(axis=0)).ravel()
    for chain in model._run.chains:
        state = chain.state
        assert len(state.assignments) == network.n_tokens
        topics = np.bincount(state.assignments, minlength=n_topics)
        assert len(topics) == n_topics
        np.testing.assert_array_equal(state.topic_total[:n_topics], topics)
        np.testing.assert_array_equal(state.doc_topic.sum(axis=1), network.lengths)
        np.testing.assert_array_equal(state.word_topic.sum(axis=1), words)
        np.testing.assert_array_equal(state.doc_topic.sum(axis=0)[:n_topics], topics)
