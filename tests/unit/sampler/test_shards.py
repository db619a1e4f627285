"""Chains in shards: what shards tell each other, and that the engine has no influence."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
import pytest

from linktopics import RelationalTopicModel
from linktopics.datasets import make_network
from linktopics.engines import Ray, Threads, resolve_engine
from linktopics.errors import EngineError, SamplingError
from linktopics.network.pairs import sample_pairs
from linktopics.registry import LOSSES
from linktopics.sampler import Corpus, Priors, Sampler, Seeds, initial_state
from linktopics.sampler.losses import LogisticLoss
from linktopics.sampler.sampler import MAX_WORKER_LOSSES
from linktopics.sampler.shard_pool import LocalShardPool, WorkersLostError, n_bytes
from support import reference
from support.settings import make_settings
from support.sharded_corpus import make_corpus

KINDS = [("full", True), ("full", False), ("diagonal", True)]


def make_sampler(corpus, n_shards, n_topics=9, engine=None, seed=1, **settings):
    chosen = make_settings(n_topics, n_shards=n_shards, **settings)
    return Sampler(corpus, chosen, initial_state(corpus, chosen, np.random.SeedSequence(seed)), engine)


def run(sampler, n=6):
    for _ in range(n):
        sampler.step()
    sampler.gather()
    return sampler.state


def assert_same(one, two):
    for name in ("assignments", "doc_topic", "word_topic", "topic_total", "weights", "feature_weights", "augmented"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)
    np.testing.assert_array_equal(one.streams, two.streams)
    assert [g.bit_generator.state for g in one.generators] == [g.bit_generator.state for g in two.generators]
    assert one.log_joint == two.log_joint


@pytest.mark.parametrize("n_shards", [1, 3])
def test_a_loss_that_changes_its_costs_changes_them_once(n_shards, monkeypatch):
    """A registered loss with costs of its own has the same ones where it draws and where it conditions."""

    @dataclass
    class Tempered(LogisticLoss):
        def __post_init__(self):
            self.cost = self.cost / 2

    monkeypatch.setitem(LOSSES._found, "tempered", (Tempered, __name__))
    corpus = make_corpus()
    tempered = make_sampler(corpus, n_shards, loss="tempered", link_cost=6.0, nonlink_cost=2.0)
    assert_same(run(tempered), run(make_sampler(corpus, n_shards, link_cost=3.0, nonlink_cost=1.0)))


# --- chains -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
@pytest.mark.parametrize(("weights", "directed"), KINDS)
@pytest.mark.parametrize("n_topics", [3, 9])
def test_shards_agree_after_every_iteration(loss, weights, directed, n_topics):
    """All shards have the same counts of words, and know the topics of ghosts and the variables of pairs that enter."""
    corpus = make_corpus(directed, seeds=Seeds(np.array([1, 29]), np.array([0, 2]), np.array([5.0, 3.0])))
    sampler = make_sampler(corpus, 3, n_topics, loss=loss, weights=weights)
    for _ in range(5):
        sampler.step()
        sampler.gather()
        state = sampler.state
        documents, width = reference.token_documents(corpus), state.doc_topic.shape[1]
        np.testing.assert_array_equal(state.doc_topic, reference.table(documents, state.assignments, (60, width)))
        for shard in sampler.pool.shards:
            part = shard.part
            np.testing.assert_array_equal(shard.state.word_topic, state.word_topic)
            np.testing.assert_array_equal(shard.state.topic_total, state.topic_total)
            np.testing.assert_array_equal(shard.state.doc_topic[: part.n_own], state.doc_topic[part.documents])
            np.testing.assert_array_equal(shard.state.augmented, state.augmented[part.pairs])
            for other in sampler.pool.shards:
                ghosts = other.part.documents[other.part.sent_documents[part.number]]
                rows = shard.state.doc_topic[part.ghosts_from[other.part.number]]
                np.testing.assert_array_equal(rows, state.doc_topic[ghosts])


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
@pytest.mark.parametrize(("weights", "directed"), KINDS)
def test_log_joint_and_scores(loss, weights, directed):
    corpus = make_corpus(directed)
    sampler = make_sampler(corpus, 3, 5, loss=loss, weights=weights, alpha=2.0, beta=0.3, weight_variance=0.6)
    state = run(sampler)
    counts = state.doc_topic[:, :5].astype(float)
    offset = reference.offset(corpus.features, state.feature_weights)
    omega = reference.scores(counts, corpus.source, corpus.target, state.weights, offset)
    for shard in sampler.pool.shards:
        own = shard.part.pairs[: shard.part.n_own_pairs]
        np.testing.assert_allclose(shard.scores(), omega[own], rtol=1e-4, atol=1e-5)
    documents = reference.token_documents(corpus)
    expected = reference.log_words_and_topics(documents, corpus.words, state.assignments, 60, 30, 5, 2.0, 0.3)
    kind = weights if directed or weights == "diagonal" else "symmetric"
    expected += reference.log_weight_prior(state.weights, state.feature_weights, kind, 0.6)
    log_density = reference.log_logistic if loss == "logistic" else lambda *args: reference.log_hinge(*args, 1.0)
    expected += log_density(omega, corpus.label, reference.costs(corpus.label, 4.0, 1.0)).sum()
    assert state.log_joint == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("weights", "directed"), KINDS)
@pytest.mark.parametrize("n_topics", [4, 12])
def test_weights_of_shards_are_those_of_the_whole(weights, directed, n_topics):
    """With hardly any noise the draw is the mean, which does not depend on how pairs are shared out."""
    corpus = make_corpus(directed)
    state = initial_state(corpus, make_settings(n_topics, n_shards=3), np.random.SeedSequence(5))
    drawn = []
    for n_shards in (1, 3):
        sampler = Sampler(corpus, make_settings(n_topics, weights=weights, n_shards=n_shards), copy.deepcopy(state))
        rng = np.random.default_rng(0)
        quadratic = 1e10 * rng.gamma(2.0, size=corpus.n_pairs)
        linear = quadratic * rng.normal(size=corpus.n_pairs)
        for shard in sampler.pool.shards:
            shard.set_gaussian(linear[shard.part.pairs], quadratic[shard.part.pairs])
        sampler.draw_weights()
        drawn.append(np.append(sampler.state.weights, sampler.state.feature_weights))
    zero = np.abs(drawn[0]) < 1e-12
    assert (np.abs(drawn[0] - drawn[1])[~zero] < 0.02 * np.abs(drawn[0][~zero]).mean()).mean() > 0.9


@pytest.mark.parametrize("n_shards", [2, 5])
def test_threads_have_no_influence(n_shards):
    corpus = make_corpus()
    assert_same(run(make_sampler(corpus, n_shards)), run(make_sampler(corpus, n_shards, engine=Threads(3))))


def test_the_number_of_shards_matters():
    corpus = make_corpus()
    one, two = (run(make_sampler(corpus, n)).assignments for n in (2, 3))
    assert (one != two).any()


def test_when_states_are_gathered_does_not_matter():
    corpus = make_corpus()
    often = make_sampler(corpus, 3)
    for state in often:
        if state.iteration == 6:
            break
    assert_same(state, run(make_sampler(corpus, 3)))


def test_a_gathered_state_continues_bit_for_bit():
    corpus = make_corpus()
    sampler = make_sampler(corpus, 3)
    state = copy.deepcopy(run(sampler, 3))
    other = Sampler(corpus, sampler.settings, state, Threads(2))
    assert_same(run(other, 3), run(sampler, 3))


def test_without_pairs_shards_are_plain_lda():
    corpus = make_corpus()
    counts = make_network(n_documents=60, n_topics=4, n_words=30, random_state=0).counts
    nothing = sample_pairs(np.empty((0, 2), int), 60, True, 0.0, np.random.default_rng(0))
    corpus = Corpus.build(counts, nothing, symmetric=False)
    state = run(make_sampler(corpus, 4))
    assert not state.weights.any()
    expected = reference.log_words_and_topics(
        reference.token_documents(corpus), corpus.words, state.assignments, 60, 30, 9, 5.0, 0.01
    )
    assert state.log_joint == pytest.approx(expected, rel=1e-9)


def test_what_is_sent_is_counted():
    corpus = make_corpus()
    sampler = make_sampler(corpus, 3)
    run(sampler, 1)
    before = sampler.pool.sent.copy()
    sampler.step()
    sent = sampler.pool.sent - before
    crossing = sum(len(part.pairs) - part.n_own_pairs for part in sampler.parts)
    assert sent["pairs"] == 8 * crossing
    ghosts = sum(part.corpus.n_documents - part.n_own for part in sampler.parts)
    assert 2 * ghosts < sent["topics"] <= ghosts * (2 + 9 * 4)
    assert sent["words"] > 0
    assert sent["sums"] > 0
    assert "states" not in sent
    assert n_bytes({"a": (np.zeros(3), [1, 2.0]), "b": None}) == 24 + 16


# --- workers that are lost --------------------------------------------------------------------------------------------


class FlakyEngine(Threads):
    """Threads that pretend to be far away, and lose their shards when they are asked the n-th time, for n in `when`."""

    def __init__(self, *when):
        super().__init__(1)
        object.__setattr__(self, "when", set(when))

    def start(self, parts, settings, states):
        pool = FlakyShardPool(super().start(parts, settings, copy.deepcopy(states)).shards, 1)
        pool.engine, pool.parts, pool.settings = self, parts, settings
        return pool


class FlakyShardPool(LocalShardPool):
    remote = True
    asked = restarted = 0

    def call_all(self, method, *args):
        self.asked += 1
        if self.asked in self.engine.when:
            self.shards = None
            raise WorkersLostError("gone")
        # Far away: what is returned is a copy.
        return copy.deepcopy(super().call_all(method, *args))

    def restart(self, states):
        self.restarted += 1
        self.shards = Threads(1).start(self.parts, self.settings, copy.deepcopy(states)).shards


@pytest.mark.parametrize("when", [(1,), (40,), (150, 151), (37, 100, 190)], ids=str)
@pytest.mark.parametrize("n_shards", [1, 3])
def test_a_run_that_lost_workers_is_the_same(when, n_shards):
    corpus = make_corpus()
    sampler = make_sampler(corpus, n_shards, engine=FlakyEngine(*when))
    state = run(sampler, 25)
    assert sampler.pool.restarted == len(when)
    assert state.iteration == 25
    assert_same(state, run(make_sampler(corpus, n_shards), 25))


def test_priors_learned_on_the_way_survive_a_loss():
    corpus = make_corpus()
    states = []
    for engine in (None, FlakyEngine(150, 250)):
        sampler = make_sampler(corpus, 2, engine=engine)
        for _ in range(20):
            sampler.step()
            if sampler.state.iteration % 6 == 0:
                sampler.gather()
                sampler.state.priors = Priors(np.full(9, 0.1 * sampler.state.iteration), 0.02)
        sampler.gather()
        states.append(sampler.state)
    assert_same(*states)


def test_a_run_is_given_up_after_many_losses():
    sampler = make_sampler(make_corpus(), 2, engine=FlakyEngine(*range(30, 30 + MAX_WORKER_LOSSES + 1)))
    with pytest.raises(EngineError, match="lost 6 times since iteration 0"):
        run(sampler)


def test_numbers_out_of_range_stop_all_shards():
    sampler = make_sampler(make_corpus(), 2)
    sampler.pool.shards[1].augment = lambda: np.nan
    with pytest.raises(SamplingError, match="log joint"):
        sampler.step()


# --- models -----------------------------------------------------------------------------------------------------------


def fit(network, n_shards, n_jobs=1, **parameters):
    chosen = {"n_chains": 2, "n_burn_in": 25, "n_samples": 2, "thin": 3, "random_state": 0, "verbose": False}
    model = RelationalTopicModel(4, n_shards=n_shards, n_jobs=n_jobs, **{**chosen, **parameters})
    return model.fit(network)


@pytest.fixture(scope="module")
def network():
    return make_network(n_documents=80, n_topics=4, n_words=40, random_state=3)


def test_models_do_not_depend_on_the_number_of_threads(network):
    models = [fit(network, 3, n_jobs, learn_alpha="per-topic") for n_jobs in (1, 2, 5)]
    for model in models[1:]:
        np.testing.assert_array_equal(model.log_joints_, models[0].log_joints_)
        np.testing.assert_array_equal(model.doc_topic_, models[0].doc_topic_)
        np.testing.assert_array_equal(model.alpha_, models[0].alpha_)


@pytest.mark.long
def test_one_shard_by_default_and_no_more_than_documents(network):
    assert RelationalTopicModel(4).n_shards == 1
    assert fit(network, 500, n_chains=1, n_burn_in=2, n_samples=1)._run.settings.n_shards == 80


@pytest.mark.long
def test_models_in_shards_are_saved_and_go_on(network, tmp_path):
    whole = fit(network, 3, n_burn_in=20, n_samples=4)
    model = fit(network, 3, n_burn_in=20, n_samples=2)
    model.save(tmp_path / "model")
    again = RelationalTopicModel.load(tmp_path / "model")
    assert again.n_shards == 3
    for one in (model, again):
        np.testing.assert_array_equal(one.resume(n_samples=2).log_joints_, whole.log_joints_)
    larger = network.subset(np.arange(70))
    assert again.extend(larger, n_burn_in=3).doc_topic_.shape == (70, 4)


@pytest.mark.parametrize("engine", ["cluster", 3, None])
def test_an_engine_that_is_none(network, engine):
    with pytest.raises(ValueError, match="must be 'threads', 'ray'"):
        RelationalTopicModel(2).fit(network, engine=engine)


def test_engines_by_name():
    assert resolve_engine("threads") is None
    assert resolve_engine("ray") == Ray()
    assert resolve_engine(Ray("auto", timeout=3.0)).timeout == 3.0
