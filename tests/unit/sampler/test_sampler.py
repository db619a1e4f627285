"""The chain: its state, its log joint, and what it needs of memory.

Seen to fail once against broken versions: a count not updated by the sweep, projections of documents not refreshed, a
log joint without the normaliser of the topics, conjugate gradients that start from zero after a restart, a random
stream kept in the sampler in place of the state, a table of all pairs.
"""

import copy
import io
import json
import sys
import tracemalloc
from dataclasses import fields, replace

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from linktopics import RelationalTopicModel
from linktopics.network.pairs import TrainingPairs
from linktopics.sampler import Corpus, Priors, Sampler, State, initial_state
from linktopics.sampler.runner import take_sample
from support import reference
from support.settings import make_settings

LOSSES = pytest.mark.parametrize("loss", ["logistic", "hinge"])
KINDS = pytest.mark.parametrize("kind", reference.KINDS)
FEATURES = pytest.mark.parametrize("n_features", [0, 1, 3])  # none, an intercept, numbers beside it
SIZES = pytest.mark.parametrize("n_topics", [3, 9])  # weights by Cholesky and by conjugate gradients


def make_corpus(symmetric=False, n_features=0, n_documents=20, n_words=11, seed=0):
    """Draw a network with an empty document (4) and one without pairs (7)."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.7, (n_documents, n_words))
    counts[4] = 0
    among = np.array([(i, j) for i in range(n_documents) for j in range(i if symmetric else 0, n_documents) if i != j])
    among = among[(among != 7).all(axis=1)]
    chosen = among[np.sort(rng.choice(len(among), 60, replace=False))].astype(np.int32)
    label = rng.random(60) < 0.4
    pairs = TrainingPairs(chosen[:, 0].copy(), chosen[:, 1].copy(), label, n_documents)
    features = rng.normal(size=(60, n_features))
    features[:, :1] = 1.0  # an intercept
    return Corpus.build(csr_array(counts), pairs, symmetric, features)


def make_sampler(kind="full", n_topics=3, n_features=0, seed=1, **settings):
    corpus = make_corpus(kind == "symmetric", n_features)
    weights = "full" if kind in ("full", "symmetric") else "diagonal"
    chosen = make_settings(n_topics=n_topics, weights=weights, **settings)
    return Sampler(corpus, chosen, initial_state(corpus, chosen, np.random.SeedSequence(seed)))


def run(sampler, n):
    for _ in range(n):
        sampler.step()
    return sampler


def assert_same_state(one, two):
    for field in fields(State):
        a, b = getattr(one, field.name), getattr(two, field.name)
        if field.name == "generators":
            assert [one.bit_generator.state for one in a] == [one.bit_generator.state for one in b]
        elif isinstance(a, Priors):
            np.testing.assert_array_equal(a.alpha, b.alpha)
            assert a.beta == b.beta
        else:
            assert np.asarray(a).dtype == np.asarray(b).dtype
            np.testing.assert_array_equal(a, b, err_msg=field.name)


# --- the state --------------------------------------------------------------------------------------------------------


def test_initial_state():
    corpus = make_corpus(n_features=2)
    states = [initial_state(corpus, make_settings(9), np.random.SeedSequence(seed)) for seed in (0, 0, 1)]
    assert_same_state(states[0], states[1])
    assert not np.array_equal(states[0].assignments, states[2].assignments)
    assert not np.array_equal(states[0].stream, states[2].stream)
    assert set(states[0].assignments) == set(range(9))
    assert states[0].doc_topic.shape == (20, 16)
    assert states[0].word_topic.shape == (11, 16)
    assert not states[0].weights.any()
    assert states[0].feature_weights.tolist() == [0, 0]
    assert (states[0].augmented == 1).all()
    assert states[0].iteration == 0


def test_the_sampler_is_a_generator_of_states():
    sampler = make_sampler()
    for n, state in enumerate(sampler, start=1):
        assert state is sampler.state
        assert state.iteration == n
        assert np.isfinite(state.log_joint)
        if n == 3:
            break
    assert set(sampler.seconds) == {"topics", "augmented", "weights"}
    assert min(sampler.seconds.values()) > 0


@LOSSES
@KINDS
@SIZES
@FEATURES
def test_a_copy_of_the_state_continues_bit_for_bit(loss, kind, n_topics, n_features):
    sampler = run(make_sampler(kind, n_topics, n_features, loss=loss), 4)
    state = copy.deepcopy(sampler.state)
    other = Sampler(sampler.corpus, sampler.settings, state)
    assert_same_state(run(sampler, 4).state, run(other, 4).state)
    assert state.iteration == 8


@LOSSES
@FEATURES
@pytest.mark.parametrize(("kind", "n_topics"), [("full", 3), ("full", 9), ("symmetric", 9), ("diagonal", 3)])
def test_a_state_saved_as_plain_arrays_continues_bit_for_bit(loss, kind, n_topics, n_features):
    sampler = run(make_sampler(kind, n_topics, n_features, loss=loss), 3)
    file = io.BytesIO()
    names = [field.name for field in fields(State) if field.name not in ("generators", "priors")]
    priors = {"alpha": sampler.state.priors.alpha, "beta": sampler.state.priors.beta}
    np.savez(file, **{name: getattr(sampler.state, name) for name in names}, **priors)
    generator = json.dumps(sampler.state.rng.bit_generator.state)
    run(sampler, 3)

    file.seek(0)
    with np.load(file, allow_pickle=False) as saved:
        loaded = {name: value if value.ndim else value.item() for name, value in saved.items()}
    rng = np.random.default_rng()
    rng.bit_generator.state = json.loads(generator)
    priors = Priors(loaded.pop("alpha"), loaded.pop("beta"))
    restored = Sampler(sampler.corpus, sampler.settings, State(generators=[rng], priors=priors, **loaded))
    assert_same_state(run(restored, 3).state, sampler.state)


@LOSSES
@KINDS
@SIZES
@FEATURES
def test_counts_equal_a_recount(loss, kind, n_topics, n_features):
    sampler = run(make_sampler(kind, n_topics, n_features, loss=loss), 30)
    corpus, state, topics = sampler.corpus, sampler.state, sampler.state.assignments
    width = state.doc_topic.shape[1]
    assert 0 <= topics.min() <= topics.max() < n_topics
    documents = reference.token_documents(corpus)
    np.testing.assert_array_equal(state.doc_topic, reference.table(documents, topics, (20, width)))
    np.testing.assert_array_equal(state.word_topic, reference.table(corpus.words, topics, (11, width)))
    np.testing.assert_array_equal(state.topic_total, np.bincount(topics, minlength=width))


# --- scores and the log joint -----------------------------------------------------------------------------------------


@LOSSES
@KINDS
@SIZES
@FEATURES
def test_scores_and_log_joint(loss, kind, n_topics, n_features):
    settings = {"alpha": 2.0, "beta": 0.3, "weight_variance": 0.6, "link_cost": 3.0, "nonlink_cost": 0.5, "margin": 0.7}
    sampler = run(make_sampler(kind, n_topics, n_features, loss=loss, **settings), 5)
    corpus, state = sampler.corpus, sampler.state
    counts = state.doc_topic[:, :n_topics].astype(float)
    offset = reference.offset(corpus.features, state.feature_weights)
    assert n_features == 0 or np.abs(offset).max() > 0.1
    np.testing.assert_allclose(sampler.shard.offsets(), offset, rtol=1e-12, atol=1e-14)
    omega = reference.scores(counts, corpus.source, corpus.target, state.weights, offset)
    assert np.abs(omega).max() > 0.1
    np.testing.assert_allclose(sampler.shard.scores(), omega, rtol=1e-4, atol=1e-5)
    cost = reference.costs(corpus.label, 3.0, 0.5)
    expected = reference.log_words_and_topics(
        reference.token_documents(corpus), corpus.words, state.assignments, 20, 11, n_topics, 2.0, 0.3
    )
    expected += reference.log_weight_prior(state.weights, state.feature_weights, kind, 0.6)
    if loss == "logistic":
        expected += reference.log_logistic(omega, corpus.label, cost).sum()
    else:
        expected += reference.log_hinge(omega, corpus.label, cost, 0.7).sum()
    assert state.log_joint == pytest.approx(expected, rel=1e-6)


@KINDS
@SIZES
@pytest.mark.parametrize("n_shards", [1, 3])
def test_a_document_without_words_is_trained_as_it_is_predicted(kind, n_topics, n_shards):
    """Pairs see the shares of the prior, also where these are uneven, and so do predictions, by the sample."""
    sampler = make_sampler(kind, n_topics)
    corpus, settings = sampler.corpus, replace(sampler.settings, n_shards=n_shards)
    state = initial_state(corpus, settings, np.random.SeedSequence(1))
    state.priors = Priors(np.geomspace(0.1, 3.0, n_topics), 0.1)
    sampler = run(Sampler(corpus, settings, state), 3)
    sampler.gather()
    sample = take_sample(0, corpus, state)
    np.testing.assert_allclose(sample.doc_topic[4], state.priors.alpha / state.priors.alpha.sum(), rtol=1e-6)
    zbar = sample.doc_topic.astype(float)
    scores = ((zbar[corpus.source] @ sample.weights) * zbar[corpus.target]).sum(axis=1)
    without = (corpus.source == 4) | (corpus.target == 4)
    assert np.abs(scores[without]).min() > 1e-4
    for shard in sampler.pool.shards:
        own = shard.part.pairs[: shard.part.n_own_pairs]
        np.testing.assert_allclose(shard.scores(), scores[own], rtol=1e-4, atol=1e-5)


@LOSSES
@KINDS
@pytest.mark.parametrize("n_features", [0, 2])
def test_without_pairs(loss, kind, n_features):
    sampler = make_sampler(kind, loss=loss)
    nothing = TrainingPairs(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, bool), 20)
    lengths = np.diff(sampler.corpus.start)
    words = np.split(sampler.corpus.words, sampler.corpus.start[1:-1])
    counts = np.array([np.bincount(document, minlength=11) for document in words])
    assert counts.sum() == lengths.sum()
    corpus = Corpus.build(csr_array(counts), nothing, sampler.corpus.symmetric, np.empty((0, n_features)))
    alone = Sampler(corpus, sampler.settings, initial_state(corpus, sampler.settings, np.random.SeedSequence(1)))
    state = run(alone, 5).state
    assert not state.weights.any()
    assert state.feature_weights.tolist() == [0] * n_features
    documents = reference.token_documents(corpus)
    expected = reference.log_words_and_topics(documents, corpus.words, state.assignments, 20, 11, 3, 5.0, 0.01)
    assert state.log_joint == pytest.approx(expected, rel=1e-9)
    assert alone.seconds["weights"] == alone.seconds["augmented"] == 0


# --- memory -----------------------------------------------------------------------------------------------------------


def process_kilobytes():
    """Return the greatest size the process has had; 0 where the system does not say so in kilobytes."""
    if sys.platform != "linux":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@pytest.mark.parametrize(
    ("weights", "features"),
    [
        pytest.param("full", None, marks=pytest.mark.long, id="full-no features"),
        pytest.param("full", "default", marks=pytest.mark.long, id="full-features"),
        pytest.param("diagonal", None, marks=pytest.mark.long, id="diagonal-no features"),
        pytest.param("diagonal", "default", marks=pytest.mark.long, id="diagonal-features"),
    ],
)
def test_nothing_of_size_documents_squared(weights, features):
    """20,000 documents of some 20 tokens: 400 million pairs, 50 MB if each took a bit.

    The peak counts what NumPy allocates. What kernels allocate inside shows in the size of the process.
    """
    n, V = 20_000, 2_000
    rng = np.random.default_rng(0)
    counts = random_array((n, V), density=0.01, format="csr", rng=rng, data_sampler=lambda size: np.ones(size, int))
    assert (np.diff(counts.indptr) > 0).all()
    links = np.unique(rng.integers(n, size=(40_000, 2)), axis=0)
    links = links[links[:, 0] != links[:, 1]]
    short = {"n_burn_in": 1, "n_samples": 1, "thin": 1, "n_chains": 1, "random_state": 0}
    model = RelationalTopicModel(3, weights=weights, negatives=2, pair_features=features, **short)
    model.fit(counts[:50], links=links[(links < 50).all(axis=1)])  # compiles
    before = process_kilobytes()
    tracemalloc.start()
    model.fit(counts, links=links)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    grown = process_kilobytes() - before
    assert model.n_pairs_ == 3 * len(links)
    # With features: vectors of documents and of the sums over their neighbours, of 4 times as many entries.
    numbers = model.network_.n_tokens * (1 if features is None else 5) + 8 * n + 8 * V + model.n_pairs_
    assert peak < 100 * numbers  # while it is calibrated there is a second corpus, and a second state
    assert peak < n * n / (8 if features is None else 2)
    assert grown * 1024 < n * n
