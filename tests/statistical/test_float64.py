"""The float32 sweep against one in float64: the same conditional probabilities, draws and distributions.

`float64.draw_topics` takes the same random numbers, so from the same state both sweeps choose the same topics until a
random number falls between two weights that rounding has moved. Distributions over many sweeps are compared by chains
with seeds of their own.

False-alarm rate of the comparison of distributions: 1e-3 (Bonferroni over its p-values; fixed seeds). It fails if the
float64 sweep counts a token among its own neighbours, leaves out the curvature, keeps the scores of a document's
pairs as they were, or has a wrong total: see `test_mistakes_are_seen`.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from linktopics.datasets import make_network
from linktopics.network.pairs import sample_pairs
from linktopics.sampler import Corpus, Sampler, Shard, initial_state
from support import float64, reference, worlds
from support.settings import make_settings
from support.worlds import make_corpus, random_pairs, set_weights

FALSE_ALARM = 1e-3
TABLES = ("assignments", "doc_topic", "word_topic", "topic_total", "streams")

pytestmark = pytest.mark.skipif(not hasattr(float64._sweep, "py_func"), reason="the float64 sweep is slow uncompiled")


def make_sampler(seed, n_documents=60, n_topics=4, directed=True, **settings):
    network = make_network(n_documents=n_documents, n_topics=4, n_words=40, random_state=0)
    pairs = sample_pairs(network.links, n_documents, directed, 2, np.random.default_rng(0))
    features = np.random.default_rng(1).normal(size=(len(pairs), 1))
    corpus = Corpus.build(network.counts, pairs, not directed, features)
    chosen = make_settings(n_topics, **settings)
    return Sampler(corpus, chosen, initial_state(corpus, chosen, np.random.SeedSequence(seed)))


def both_sweeps(sampler):
    """Do a sweep either way, from the same state; return (probabilities, topics) of each, and leave float32's."""
    shard, state, K = sampler.shard, sampler.state, sampler.settings.n_topics
    before = {name: getattr(state, name).copy() for name in TABLES}
    narrow = np.zeros((len(state.assignments), state.doc_topic.shape[1]), np.float32)
    shard.draw_topics(narrow)
    after = {name: getattr(state, name).copy() for name in TABLES}
    for name in TABLES:
        getattr(state, name)[:] = before[name]
    wide = np.zeros((len(state.assignments), K))
    float64.draw_topics(shard, wide)
    topics = state.assignments.copy()
    for name in TABLES:
        getattr(state, name)[:] = after[name]
    shard.project()
    p = narrow[:, :K].astype(float)
    return (p / p.sum(axis=1, keepdims=True), after["assignments"]), (wide, topics)


CASES = {
    # settings, largest relative difference of probabilities, by which rounding of float32 may move them
    "logistic": ({}, 1e-4),
    "logistic, 9 topics": ({"n_topics": 9}, 1e-4),
    "logistic, undirected": ({"directed": False}, 1e-4),
    "hinge": ({"loss": "hinge"}, 1e-2),  # exponents of thousands, where pairs lie on the margin
    "hinge, diagonal": ({"loss": "hinge", "weights": "diagonal"}, 1e-2),
    "large costs": ({"link_cost": 1e4, "nonlink_cost": 1e4, "loss": "hinge"}, 1e-1),
    "small costs": ({"link_cost": 1e-3, "nonlink_cost": 1e-3}, 1e-4),
    "wide prior": ({"weight_variance": 1e6}, 1e-3),
    "margin 100": ({"loss": "hinge", "margin": 100.0}, 1e-1),
    "alpha 1e-9": ({"alpha": 1e-9, "beta": 1e-9}, 1e-4),
    "alpha 1e9": ({"alpha": 1e9, "beta": 1e9}, 1e-4),
}


@pytest.mark.long
@pytest.mark.parametrize("case", list(CASES))
def test_probabilities_and_draws_of_every_token(case):
    """As long as both have drawn the same: topics of some weight to a relative error, others to an absolute one."""
    settings, allowed = CASES[case]
    sampler = make_sampler(0, n_documents=30, **settings)
    compared = differ = 0
    for _ in range(5):
        sampler.pool.cast("update_gaussian")
        sampler.draw_weights()
        (narrow, chosen), (wide, topics) = both_sweeps(sampler)
        apart = np.flatnonzero(chosen != topics)
        same = apart[0] + 1 if len(apart) else len(topics)
        likely = wide[:same] > 1e-6
        error = np.abs(narrow[:same] / np.maximum(wide[:same], 1e-300) - 1)[likely].max()
        assert error < allowed
        assert np.abs(narrow[:same] - wide[:same]).max() < allowed
        compared, differ = compared + same, differ + (len(apart) > 0)
        sampler.shard.augment()
    assert compared > 3 * sampler.corpus.n_tokens
    assert differ <= 2


def statistics(seed, sweep, n=1500, thin=4, loss="logistic"):
    """Sweep a network of short documents with strong pairs; return what tells distributions of topics apart, by sample.

    Weights and the Gaussian form of the pairs are fixed, and samples so far apart that they are as good as independent.
    """
    rng = np.random.default_rng(7)
    documents = [rng.integers(6, size=length) for length in (3, 5, 0, 4, 6, 2, 5, 8)]
    pairs = random_pairs(rng, range(8), 0.4, symmetric=False)
    label = rng.random(len(pairs)) < 0.5
    sampler = worlds.make_sampler(make_corpus(documents, 6, pairs, label, False), "full", seed, 3, alpha=3.0, beta=0.3)
    set_weights(sampler, rng, "full", 2.0)
    augmented = rng.gamma(2.0, 0.5, len(pairs)) if loss == "logistic" else rng.gamma(2.0, 1.0, len(pairs))
    sampler.shard.set_gaussian(*reference.gaussian_form(loss, augmented, label, 4.0, 2.0, 1.0))
    state, rows = sampler.state, []
    for number in range(n * thin):
        sweep(sampler.shard)
        if number % thin == thin - 1:
            # Rounded: the few values that a short document's scores can have must not differ in their last bits.
            scores, tables = sampler.shard.scores().round(4), (state.doc_topic, state.word_topic, state.topic_total)
            rows.append([*scores[:6], sampler.shard.linear @ scores, *(float((table**2).sum()) for table in tables)])
    return np.array(rows)


def smallest_p_value(one, two):
    p_values = [stats.ks_2samp(a, b).pvalue for a, b in zip(one.T, two.T, strict=True)]
    return min(p_values) * len(p_values)


@pytest.fixture(scope="module")
def narrow():
    return {loss: statistics(1, Shard.draw_topics, loss=loss) for loss in ("logistic", "hinge")}


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_distributions_agree(loss, narrow):
    assert smallest_p_value(narrow[loss], statistics(2, float64.draw_topics, loss=loss)) > FALSE_ALARM


@pytest.mark.parametrize("slip", float64.SLIPS[1:])
def test_mistakes_are_seen(slip, narrow):
    wrong = statistics(3, lambda shard: float64.draw_topics(shard, slip=slip))
    assert smallest_p_value(narrow["logistic"], wrong) < FALSE_ALARM


def test_the_same_seed_gives_nearly_the_same_chain():
    """From one seed both chains go the same way for a while: most topics are the same after three sweeps."""
    chains = [make_sampler(3, 30), make_sampler(3, 30)]
    shard = chains[1].shard
    assert isinstance(shard, Shard)
    shard.draw_topics = lambda trace=None: float64.draw_topics(shard, trace)
    for chain in chains:
        for _ in range(3):
            chain.step()
    one, two = (chain.state for chain in chains)
    assert (one.assignments == two.assignments).mean() > 0.99
    assert one.log_joint == pytest.approx(two.log_joint, rel=1e-3)
