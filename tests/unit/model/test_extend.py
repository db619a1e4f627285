"""Models that go on with networks that have grown or changed."""

import collections

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer

from linktopics import Checkpoint, DataError, DocumentNetwork, RelationalTopicModel
from linktopics.errors import ModelError
from linktopics.model import run
from linktopics.model.run import warm_start_state
from linktopics.model.training import prepare_run
from linktopics.sampler import count_topics
from linktopics.utils.progress import ProgressBar
from support.small_models import (
    FURTHER,
    FURTHER_LINKS,
    TEXTS,
    answers,
    assert_same,
    attributes,
    described,
    small_model,
    small_network,
)

# --- what is carried over ---------------------------------------------------------------------------------------------


IDS, WORDS = list("abcdef"), [f"word{n}" for n in range(8)]
COUNTS = np.random.default_rng(0).poisson(1.5, (6, 8)) + np.eye(6, 8, dtype=int)
PAIRS = [("a", "b"), ("b", "c"), ("d", "a"), ("e", "f")]


def network_of(counts=COUNTS, ids=IDS, words=WORDS, links=PAIRS):
    known = [pair for pair in links if set(pair) <= set(ids)]
    return DocumentNetwork(counts, known, ids=ids, vocabulary=words)


ORDER, DOCUMENTS = [5, 0, 7, 2, 1, 6, 3, 4], [3, 1, 5, 0, 4, 2]
CHANGED = np.maximum(COUNTS + np.random.default_rng(1).integers(-2, 3, COUNTS.shape), 0) + np.eye(6, 8, dtype=int)
CHANGES = {
    "nothing": network_of(),
    "other links": network_of(links=[("a", "f"), ("c", "b"), ("b", "c")]),
    "other counts": network_of(CHANGED),
    "documents added": network_of(np.vstack([COUNTS, CHANGED[:2]]), [*IDS, "g", "h"], links=[*PAIRS, ("g", "a")]),
    "documents before": network_of(np.vstack([CHANGED[:2], COUNTS]), ["g", "h", *IDS]),
    "documents removed": network_of(COUNTS[[0, 1, 5]], ["a", "b", "f"]),
    "documents in another order": network_of(COUNTS[DOCUMENTS], [IDS[i] for i in DOCUMENTS]),
    "words added": network_of(np.hstack([COUNTS, CHANGED[:, :3]]), words=[*WORDS, "x", "y", "z"]),
    "words removed": network_of(COUNTS[:, 3:], words=WORDS[3:]),
    "words in another order": network_of(COUNTS[:, ORDER], words=[WORDS[i] for i in ORDER]),
    "all at once": network_of(
        np.hstack([CHANGED[:5, ORDER[:6]], COUNTS[1:, :2]]),
        ["c", "new", "a", "f", "b"],
        [*(WORDS[i] for i in ORDER[:6]), "x", "y"],
    ),
}


def tokens(corpus, network):
    """Name every token: its document, its word, and the how-manieth of both it is."""
    seen = collections.Counter()
    words = range(corpus.n_words) if network.vocabulary is None else network.vocabulary.tolist()
    for document, (start, end) in enumerate(zip(corpus.start[:-1], corpus.start[1:], strict=True)):
        for word in corpus.words[start:end]:
            name = (network.ids.tolist()[document], words[word])
            seen[name] += 1
            yield (*name, seen[name])


def carried(model, network, seed=1):
    """Return the state carried over to a network, and its corpus."""
    old = model._run
    corpus = prepare_run(model.get_params(deep=False), network, np.random.SeedSequence(9)).load_corpus()
    return warm_start_state(old, corpus, network, old.chains[0].state, np.random.SeedSequence(seed)), corpus


@pytest.fixture(scope="module")
def model():
    return small_model(n_chains=1, seed_words={1: ["word7"]}, seed_weight=10).fit(network_of())


@pytest.mark.parametrize("at_once", [run.CHUNK_TOKENS, 7])
@pytest.mark.parametrize("name", CHANGES)
def test_tokens_keep_their_topics(name, at_once, model, monkeypatch):
    monkeypatch.setattr(run, "CHUNK_TOKENS", at_once)
    network, old = CHANGES[name], model._run
    before = old.chains[0].state
    kept = before.assignments.copy()
    if "word7" not in network.vocabulary:
        network = DocumentNetwork(
            np.hstack([network.counts.toarray(), np.ones((len(network), 1), int)]),
            network.links,
            ids=network.ids,
            vocabulary=[*network.vocabulary, "word7"],
            link_ends="indices",
        )
    state, corpus = carried(model, network)
    topics = dict(zip(tokens(old.load_corpus(), old.network), kept.tolist(), strict=True))
    wanted = [topics.get(token, -1) for token in tokens(corpus, network)]
    found = np.where(np.array(wanted) < 0, -1, state.assignments)
    assert found.tolist() == wanted
    assert state.assignments.dtype == np.int32
    assert set(state.assignments) <= {0, 1, 2}
    for table, recounted in zip(
        (state.doc_topic, state.word_topic, state.topic_total), count_topics(corpus, state.assignments, 3), strict=True
    ):
        np.testing.assert_array_equal(table, recounted)
    np.testing.assert_array_equal(state.doc_topic.sum(axis=1), network.lengths)
    np.testing.assert_array_equal(state.word_topic.sum(axis=1), network.counts.sum(axis=0))
    assert state.iteration == 0
    assert len(state.augmented) == corpus.n_pairs
    for part in ("weights", "feature_weights"):
        np.testing.assert_array_equal(getattr(state, part), getattr(before, part))
        assert getattr(state, part) is not getattr(before, part)
    np.testing.assert_array_equal(state.priors.alpha, before.priors.alpha)
    np.testing.assert_array_equal(before.assignments, kept)
    if name in ("nothing", "other links"):
        np.testing.assert_array_equal(state.assignments, kept)
    elif name not in ("documents removed", "words removed") and "order" not in name:
        assert -1 in wanted


def test_words_without_names_are_known_by_their_number():
    fitted = small_model(n_chains=1).fit(COUNTS, links=[(0, 1), (2, 3)])
    wider = DocumentNetwork(np.hstack([COUNTS, CHANGED[:, :2]]), [(0, 1), (2, 3)])
    state, corpus = carried(fitted, wider)
    kept = fitted._run.chains[0].state.assignments
    topics = dict(zip(tokens(fitted._run.load_corpus(), fitted.network_), kept, strict=True))
    names = list(tokens(corpus, wider))
    same = [name in topics for name in names]
    assert sum(same) == COUNTS.sum() < len(names)
    assert [topics[name] for name in names if name in topics] == state.assignments[same].tolist()


def clear_cut(n_documents=24, n_words=8):
    """Make texts of three kinds, with words and links of their own."""
    rng = np.random.default_rng(0)
    kinds = ["cat", "sky", "sea"]
    texts = {
        f"{kinds[n % 3]}{n}": " ".join(f"{kinds[n % 3]}word{w}" for w in rng.integers(n_words, size=30))
        for n in range(n_documents)
    }
    names = list(texts)
    return DocumentNetwork.from_texts(texts, [(names[n], names[n - 3]) for n in range(3, n_documents)])


def test_new_tokens_go_where_their_words_are(monkeypatch):
    network = clear_cut()
    model = small_model(n_chains=1, n_burn_in=30, alpha=0.3).fit(network)
    larger = network.extended(
        {"cat": "catword1 catword2 unheard " * 100, "sea": "seaword3 " * 200}, grow_vocabulary=True
    )
    state = carried(model, larger)[0]
    for new, like in (("cat", "cat0"), ("sea", "sea2")):
        topic = model.doc_topic_[network.index_of(like)].argmax()
        assert state.doc_topic[larger.index_of(new), topic] > 0.95 * 200
    (unheard,) = np.flatnonzero(larger.vocabulary == "unheard")
    assert (state.word_topic[unheard, :3] > 10).all(), "a word of which nothing is known goes by the prior"
    monkeypatch.setattr(run, "CHUNK_TOKENS", 7)
    np.testing.assert_array_equal(carried(model, larger)[0].assignments, state.assignments)
    assert (carried(model, larger, seed=2)[0].assignments != state.assignments).any()


# --- models -----------------------------------------------------------------------------------------------------------


def topics_of_chains(model):
    samples = collections.defaultdict(list)
    for sample in model.samples_:
        samples[sample.chain].append(sample.word_topic[:, : model.n_topics].T)
    return [np.mean(samples[chain], axis=0) for chain in sorted(samples)]


def test_topics_stay_recognisable():
    network = clear_cut()
    model = small_model(n_burn_in=60, alpha=0.5).fit(network)
    before = topics_of_chains(model)
    new = {f"new{n}": f"skyword{n} skyword1 comet" for n in range(8)}
    smaller = network.subset(np.arange(2, len(network))[::-1])
    larger = smaller.extended(new, [("new0", "new1"), ("new0", "sky4")], grow_vocabulary=True)
    model.extend(larger, n_burn_in=10)
    assert model.network_ is larger
    assert model.doc_topic_.shape == (30, 3)
    assert model.topic_word_.shape == (3, network.n_words + 1)
    assert model.log_joints_.shape == (2, 14)
    assert model.n_burn_in_ == 10
    for one, two in zip(before, topics_of_chains(model), strict=True):
        correlation = np.corrcoef(one, two[:, : network.n_words])[:3, 3:]
        assert np.diag(correlation).min() > 0.95
        assert (correlation - np.eye(3)).max() < 0.3
        sky = two[:, [word.startswith("sky") for word in larger.vocabulary]].sum(axis=1).argmax()
        assert two[:, larger.vocabulary == "comet"].argmax() == sky
    assert set(model.predict_links("comet skyword3")[0].argsort()[-3:]) <= {
        n for n, id in enumerate(larger.ids) if id.startswith(("sky", "new"))
    }


def test_topics_keep_their_numbers():
    for seed in range(3):
        model = small_model(n_burn_in=40, n_chains=4, alpha=0.5, pair_features=None, random_state=seed).fit(clear_cut())
        before = model.topic_word_
        after = model.extend(clear_cut().extended({"new": "skyword1 skyword2"}), n_burn_in=5).topic_word_
        assert np.diag(np.corrcoef(before, after)[:3, 3:]).min() > 0.9


def extended(model, network=None, **options):
    larger = small_network().extended(FURTHER, FURTHER_LINKS, grow_vocabulary=True) if network is None else network
    return model.extend(larger, **{"n_burn_in": 3, **options})


def test_the_same_start_gives_the_same_model(tmp_path):
    model = small_model(n_jobs=2, pair_features=["topics-neighbours"]).fit(small_network())
    model.save(tmp_path / "model")
    loaded = RelationalTopicModel.load(tmp_path / "model")
    assert_same(answers(extended(loaded)), answers(extended(model)))
    assert_same(extended(loaded), extended(model))
    model.save(tmp_path / "extended")
    assert_same(RelationalTopicModel.load(tmp_path / "extended").resume(n_samples=1), model.resume(n_samples=1))
    once = extended(small_model(pair_features=None).fit(small_network()))
    pairs = [once._run.corpus.source.copy()]
    pairs.append(extended(once)._run.corpus.source)
    assert not np.array_equal(*pairs), "non-links are sampled anew"


def test_a_network_that_was_loaded_can_grow(tmp_path):
    model = small_model().fit(small_network(vectorizer=CountVectorizer(ngram_range=(1, 2), stop_words=["and"])))
    model.save(tmp_path / "model")
    loaded = RelationalTopicModel.load(tmp_path / "model")
    one, two = (m.network_.extended(FURTHER, FURTHER_LINKS, grow_vocabulary=True) for m in (model, loaded))
    assert one.n_words > model.network_.n_words
    assert str(described(one)) == str(described(two))
    assert_same(extended(loaded, two), extended(model, one))


def test_it_can_be_stopped(tmp_path, monkeypatch):
    whole = extended(small_model(n_jobs=2).fit(small_network()))
    model, sweeps = small_model(n_jobs=2).fit(small_network()), []

    def advance(_, reached):
        sweeps.append(reached)
        if len(sweeps) == 8:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ProgressBar, "advance", advance)
        with pytest.raises(KeyboardInterrupt):
            extended(model, checkpoint=Checkpoint(tmp_path / "model", every=1))
    assert_same(RelationalTopicModel.load(tmp_path / "model", unfinished=True).resume(), whole)
    with pytest.raises(DataError, match="a model already"):
        extended(model, checkpoint=tmp_path / "model")


@pytest.mark.parametrize("grown", [False, True])
def test_a_model_that_was_stopped_answers_as_before(grown, monkeypatch):
    old = small_network()
    larger = old.extended({"dog": "dogs purr" if grown else "cats purr"}, grow_vocabulary=grown)
    model = small_model().fit(old)
    before = answers(model)
    monkeypatch.setattr(ProgressBar, "advance", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        model.extend(larger)
    monkeypatch.undo()
    assert_same(answers(model), before)


def test_links_for_a_model_that_had_none():
    network = small_network()
    model = small_model().fit(network.without_links())
    model.extend(network, n_burn_in=5)
    assert model.link_weights_.any()
    assert model.predict_links("cats purr").shape == (1, 10)


def test_no_links_for_a_model_that_had_some():
    network = small_network().without_links()
    assert not small_model().fit(network).link_weights_.any()
    assert not small_model().fit(small_network()).extend(network, n_burn_in=5).link_weights_.any()


@pytest.mark.parametrize(
    "changes", [{"pair_features": ["degree"]}, {"weights": "diagonal"}, {"loss": "hinge"}], ids=str
)
def test_parameters_may_change(changes):
    model = extended(small_model().fit(small_network()).set_params(**changes))
    assert np.isfinite(model.link_weights_).all()
    assert model.feature_weights_.shape == ((4,) if "pair_features" in changes else (6,))
    if "weights" in changes:
        np.testing.assert_array_equal(model.link_weights_, np.diag(np.diag(model.link_weights_)))


def test_fewer_chains():
    model = small_model().fit(small_network()).set_params(n_chains=1)
    assert extended(model).log_joints_.shape == (1, 7)


def test_more_chains():
    network = small_network().without_links()
    model = small_model(n_chains=1, pair_features=None).fit(network).set_params(n_chains=3)
    traces = extended(model, network, n_burn_in=10).log_joints_
    assert len(np.unique(traces[:, -1])) == 3


def test_a_model_without_directions():
    model = extended(small_model(directed=False).fit(small_network()))
    np.testing.assert_array_equal(model.link_weights_, model.link_weights_.T)


def test_networks_that_do_not_fit():
    model = small_model().fit(small_network())
    before = attributes(model)
    words = small_network()
    for network, message in (
        (small_network(directed=False), "the network fitted is directed, this one undirected"),
        (
            small_network([f"{name}!" for name in TEXTS]),
            "no document of the network fitted is in this one.*'cat'.*'cat!'",
        ),
        (DocumentNetwork(words.counts, ids=words.ids), "one of the two networks has a vocabulary"),
        (words.counts, "pass a DocumentNetwork"),
        (list(TEXTS.values()), "network is a list; pass a DocumentNetwork"),
    ):
        with pytest.raises(DataError, match=message):
            model.extend(network)
        assert_same(model, before)
    with pytest.raises(ValueError, match="n_topics is 4, but the fitted model has 3; fit it again"):
        clone_of(model).set_params(n_topics=4).extend(words)


def clone_of(model):
    return clone(model).fit(model.network_)


@pytest.mark.parametrize("n_burn_in", [-1, 2.5, "many", None])
def test_wrong_numbers_of_sweeps(n_burn_in):
    model = small_model(pair_features=None).fit(small_network())
    with pytest.raises(ValueError, match="n_burn_in"):
        model.extend(small_network(), n_burn_in=n_burn_in)


def test_no_burn_in():
    assert extended(small_model().fit(small_network()), n_burn_in=0).log_joints_.shape == (2, 4)


def test_a_run_that_is_not_finished(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(ProgressBar, "advance", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            small_model(pair_features=None).fit(small_network(), checkpoint=tmp_path)
    with pytest.raises(ModelError, match=r"not finished.*resume\(\) first"):
        extended(RelationalTopicModel.load(tmp_path, unfinished=True))
