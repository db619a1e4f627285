"""The debug switch: sound chains pass it, in one shard or several, and each kind of damage is found and named."""

from __future__ import annotations

import numpy as np
import pytest

from linktopics import RelationalTopicModel, SamplingError
from linktopics.engines import Threads
from linktopics.network.pairs import sample_pairs
from linktopics.sampler import Corpus, Sampler, Seeds, initial_state
from linktopics.sampler.debug import CHECK_VARIABLE, check_state, debug_checks, is_on
from support.extreme_worlds import network
from support.settings import make_settings
from support.small_models import assert_same, small_model, small_network

SEEDS = Seeds(np.array([0, 3]), np.array([1, 0]), np.array([5.0, 2.0]))


def make_sampler(n_shards=1, directed=True, name="ordinary", n_features=2, engine=None, **settings):
    of = network(name, directed)
    pairs = sample_pairs(of.links, of.n_documents, directed, 2, np.random.default_rng(0))
    features = np.random.default_rng(1).normal(size=(len(pairs), n_features))
    corpus = Corpus.build(of.counts, pairs, not directed, features, SEEDS)
    chosen = make_settings(3, n_shards=n_shards, **settings)
    with debug_checks():
        return Sampler(corpus, chosen, initial_state(corpus, chosen, np.random.SeedSequence(0)), engine)


# --- sound chains -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
@pytest.mark.parametrize("weights", ["full", "diagonal"])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize(("n_shards", "engine"), [(1, None), (3, None), (3, Threads(2))])
def test_sound_chains_pass(loss, weights, directed, n_shards, engine):
    sampler = make_sampler(n_shards, directed, "empty documents", engine=engine, loss=loss, weights=weights)
    for _ in range(3):
        sampler.step()
    sampler.close()
    assert sampler.state.iteration == 3


@pytest.mark.parametrize(
    "changes", [{}, {"n_shards": 2}, {"learn_alpha": "per-topic", "learn_beta": True, "n_burn_in": 25}]
)
def test_the_switch_changes_nothing(changes, monkeypatch):
    plain = small_model(**changes).fit(small_network())
    monkeypatch.setenv(CHECK_VARIABLE, "1")
    assert_same(small_model(**changes).fit(small_network()), plain)


def test_where_the_switch_is(monkeypatch):
    monkeypatch.delenv(CHECK_VARIABLE, raising=False)
    assert not is_on()
    for value, on in (("", False), ("0", False), ("1", True)):
        monkeypatch.setenv(CHECK_VARIABLE, value)
        assert is_on() == on
    monkeypatch.setenv(CHECK_VARIABLE, "0")
    with debug_checks():
        with debug_checks():
            assert is_on()
        assert is_on()
    with debug_checks(False):
        assert not is_on()


def test_without_links():
    of = network("ordinary").without_links()
    with debug_checks():
        assert (
            len(RelationalTopicModel(3, n_burn_in=3, n_samples=1, thin=1, n_chains=1, verbose=False).fit(of).samples_)
            == 1
        )


# --- damage -----------------------------------------------------------------------------------------------------------


def set_at(name, place, value):
    def damage(state):
        getattr(state, name)[place] = value

    return damage


def move_a_token(state):
    state.assignments[0] = (state.assignments[0] + 1) % 3


def lose_a_token(state):
    state.assignments = state.assignments[:-1]


def lose_a_pair(state):
    state.augmented = state.augmented[:-1]


def shift_log_links(state):
    state.log_links *= 1.01


def spoil_beta(state):
    object.__setattr__(state.priors, "beta", np.nan)


DAMAGES = {
    "doc_topic": (set_at("doc_topic", (1, 2), 99), r"doc_topic at document 1, topic 2 is 99.0, expected \d"),
    "padding": (set_at("doc_topic", (1, 5), 1), "doc_topic at document 1, topic 5 is 1.0, expected 0"),
    "word_topic": (set_at("word_topic", (4, 0), 7.5), "word_topic at word 4, topic 0 is 7.5, expected"),
    "topic_total": (set_at("topic_total", 2, -1), "topic_total at topic 2 is -1, expected"),
    "token moved": (move_a_token, "doc_topic at document 0, topic"),
    "token lost": (lose_a_token, r"assignments has the shape \(\d+,\) for"),
    "no such topic": (set_at("assignments", 5, 3), "assignments at token 5 is 3, and topics are numbered from 0 to 2"),
    "negative topic": (set_at("assignments", 5, -1), "assignments at token 5 is -1"),
    "weights": (set_at("weights", (1, 1), np.nan), "weights at topic 1, topic 1 is nan"),
    "feature weights": (set_at("feature_weights", 1, np.inf), "feature_weights at feature 1 is inf"),
    "augmented": (set_at("augmented", 3, np.nan), "augmented at pair 3 is nan"),
    "augmented sign": (set_at("augmented", 3, 0.0), "augmented at pair 3 is 0.0, and must be positive"),
    "pair lost": (lose_a_pair, r"augmented has the shape \(\d+,\) for"),
    "log links": (shift_log_links, "log_links is .*, but topics and weights give"),
    "priors": (spoil_beta, "the prior counts are out of range: alpha .*, beta nan"),
}


@pytest.mark.parametrize("which", list(DAMAGES))
def test_damage_of_a_state_is_found(which):
    sampler = make_sampler()
    sampler.step()
    damage, words = DAMAGES[which]
    damage(sampler.state)
    with pytest.raises(SamplingError, match=f"the check after iteration 1 failed: {words}.*please report it"):
        check_state(sampler.corpus, sampler.state, sampler.settings)


def test_weights_must_have_their_form():
    for directed, weights, words in ((False, "full", "symmetric"), (True, "diagonal", "diagonal")):
        sampler = make_sampler(directed=directed, weights=weights)
        sampler.step()
        sampler.state.weights[0, 1] += 1e-12
        with pytest.raises(SamplingError, match=rf"weights \({words}\) at topic 0, topic 1 is"):
            sampler.check()


@pytest.mark.parametrize("table", ["doc_topic", "word_topic", "topic_total"])
def test_a_count_that_goes_wrong_is_found_after_the_sweep(table):
    sampler = make_sampler()
    sampler.step()
    getattr(sampler.state, table)[..., 0] += 1
    with pytest.raises(SamplingError, match=f"iteration 2 failed: {table} at"):
        sampler.step()


def of_shard(name, place, value):
    return lambda shard: set_at(name, place, value)(shard.state)


def set_projection(shard):
    shard._projection[0, 1] += 0.01


def set_entering_projection(shard):
    shard._projection[shard._entering + 1, 0] += 0.01


def set_ghost(shard):
    shard.state.doc_topic[shard.part.n_own, 0] += 1


def set_entering_pair(shard):
    shard.state.augmented[shard.part.n_own_pairs] *= 1.001


def set_words(shard):
    shard._words[2, 1] += 1


def set_total(shard):
    shard._total[1] += 1


SHARD_DAMAGES = {
    "own document": (of_shard("doc_topic", (0, 1), 50), r"doc_topic of shard 1 .* at document 0, topic 1 is 50.0"),
    "ghost": (set_ghost, r"doc_topic of shard 1 \(own documents, then ghosts\) at document \d+, topic 0"),
    "words": (of_shard("word_topic", (3, 1), 77), "word_topic of shard 1 at word 3, topic 1 is 77.0"),
    "total": (of_shard("topic_total", 0, 5000), "topic_total of shard 1 at topic 0 is 5000"),
    "entering pair": (set_entering_pair, r"augmented of shard 1 \(own pairs, then entering\) at pair"),
    "weights": (of_shard("weights", (0, 1), 3.0), "weights of shard 1 at topic 0, topic 1 is 3.0"),
    "feature weights": (of_shard("feature_weights", 0, 3.0), "feature_weights of shard 1 at feature 0 is 3.0"),
    "projection": (set_projection, "the projection of shard 1 of document .*, topic 1 is"),
    "entering projection": (set_entering_projection, "the projection of shard 1 of document .*, topic 0 is"),
    "words sent": (set_words, "words sent to shard 1 at word 2, topic 1"),
    "total sent": (set_total, "totals sent to shard 1 at topic 1"),
}


@pytest.mark.parametrize("which", list(SHARD_DAMAGES))
def test_damage_of_a_shard_is_found(which):
    sampler = make_sampler(3)
    sampler.step()
    shard = sampler.pool.shards[1]
    shard.state.weights = shard.state.weights.copy()  # which shards of one process share
    shard.state.feature_weights = shard.state.feature_weights.copy()
    damage, words = SHARD_DAMAGES[which]
    damage(shard)
    with pytest.raises(SamplingError, match=words):
        sampler.check()


def test_a_message_that_is_lost_is_found(monkeypatch):
    """One shard forgets to hear of the others' words, in the midst of a run."""
    sampler = make_sampler(3)
    sampler.step()
    monkeypatch.setattr(sampler.pool.shards[2], "receive_sums", lambda messages: None)
    with pytest.raises(SamplingError, match="word_topic of shard 2 at word"):
        sampler.step()


def test_the_projection_of_a_single_shard():
    sampler = make_sampler()
    sampler.step()
    sampler.shard._projection[3, 2] *= 1.01
    with pytest.raises(SamplingError, match="the projection of document 3, topic 2 is"):
        sampler.check()
