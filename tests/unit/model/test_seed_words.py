"""Seed words: what may be passed, what it becomes, and that topics are where they were asked for.

Seen to fail once against broken versions: topics taken for words, a bound off by one, strings read letter by letter,
words counted twice, a default that does not know the number of topics, initial topics and the sweep without seeds.
"""

import numpy as np
import pytest

from linktopics import DocumentNetwork, RelationalTopicModel
from linktopics.errors import DataError
from linktopics.model.seed_words import MIN_SEED_TOKENS, SEED_SHARE, resolve_seed_words
from linktopics.model.training import prepare_run
from linktopics.sampler import initial_state
from support.settings import make_settings

WORDS = ["cat", "dog", "kitten", "star", "moon"]
NAMED = DocumentNetwork(np.eye(5, dtype=int), [(0, 1)], vocabulary=WORDS)
BARE = DocumentNetwork(np.eye(5, dtype=int), [(0, 1)])


def resolved(seed_words, network=NAMED, n_topics=3, weight=7):
    """Return the triples (word, topic, amount)."""
    seeds = resolve_seed_words(seed_words, weight, n_topics, network)
    assert (seeds.word.dtype, seeds.topic.dtype, seeds.amount.dtype) == (np.int64, np.int64, np.float64)
    assert len(seeds.word) == len(seeds.topic) == len(seeds.amount)
    return sorted(zip(seeds.word.tolist(), seeds.topic.tolist(), seeds.amount.tolist(), strict=True))


# --- what may be passed -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seed_words", "expected"),
    [
        ({2: ["star", "cat"], 0: ["dog"]}, [(0, 2), (1, 0), (3, 2)]),
        ([["dog"], [], ["cat", "star"]], [(0, 2), (1, 0), (3, 2)]),
        ((["dog"],), [(1, 0)]),
        ({np.int64(1): np.array(["moon"])}, [(4, 1)]),
        ({1: {"moon"}}, [(4, 1)]),
        ({1: (word for word in ["moon", "cat"])}, [(0, 1), (4, 1)]),
        ({0: ["cat", "dog", "cat"], 1: ["cat"]}, [(0, 0), (0, 1), (1, 0)]),  # twice in a topic is once; in two is two
        ([["cat"], ["cat"], ["cat"]], [(0, 0), (0, 1), (0, 2)]),
        (None, []),
        ({}, []),
        ([], []),
        ({1: []}, []),
    ],
)
def test_words_by_topic(seed_words, expected):
    assert resolved(seed_words) == [(word, topic, 7.0) for word, topic in expected]


def test_words_without_names_are_numbers():
    assert resolved({1: [4, np.int32(0), 4]}, BARE) == [(0, 1, 7.0), (4, 1, 7.0)]


@pytest.mark.parametrize("word", ["cat", 5, -1, 1.0, True, None], ids=repr)
def test_what_is_no_number_of_a_word(word):
    with pytest.raises(DataError, match=rf"seed word {word!r} is not a word index from 0 to 4.* vocabulary="):
        resolved({1: [0, word]}, BARE)


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("kiten", "did you mean 'kitten'"),
        ("Dog", "did you mean 'dog'"),
        ("xyz", "choose words that documents have"),
    ],
)
def test_an_unknown_word(word, meant):
    with pytest.raises(DataError, match=rf"seed word {word!r} is not in the vocabulary; {meant}"):
        resolved([["cat"], ["star", word]])


@pytest.mark.parametrize("word", [3, None, ["cat"], ["cat", "dog", "kitten", "star", "moon"]], ids=str)
def test_what_is_no_word(word):
    """A list of words in place of one must not be compared with the vocabulary element by element."""
    with pytest.raises(ValueError, match=r"seed_words holds .*, which is not a string"):
        resolved([["cat"], ["star", word]])


@pytest.mark.parametrize("topic", [3, -1, True, "0", 1.0, None], ids=repr)
def test_a_topic_that_does_not_exist(topic):
    with pytest.raises(ValueError, match=rf"seed_words names topic {topic!r}; topics are numbered from 0 to 2\."):
        resolved({0: ["cat"], topic: ["dog"]} if topic is not True else {topic: ["dog"]})


def test_more_lists_than_topics():
    with pytest.raises(ValueError, match=r"names topic 2; topics are numbered from 0 to 1"):
        resolved([["cat"], ["dog"], ["star"]], n_topics=2)


@pytest.mark.parametrize("words", ["cat", 4, None])
@pytest.mark.parametrize("listed", [True, False])
def test_words_that_are_no_list(words, listed):
    with pytest.raises(ValueError, match=rf"seed_words of topic 1 are {words!r}; pass a list of words\."):
        resolved([["dog"], words] if listed else {1: words})


@pytest.mark.parametrize("seed_words", ["cat dog", 3])
def test_no_words_by_topic_at_all(seed_words):
    with pytest.raises(ValueError, match=rf"seed_words is {seed_words!r}; pass lists of words by topic"):
        resolved(seed_words)


@pytest.mark.parametrize(("length", "n_topics"), [(1, 3), (999, 3), (3000, 3), (4567, 3), (4567, 40), (40_000, 2)])
def test_default_weight(length, n_topics):
    """A hundredth of the tokens of an average topic, a whole number, and at least 10."""
    network = DocumentNetwork(length * np.eye(5, dtype=int), [(0, 1)])
    ((_, _, amount),) = resolved({0: [3]}, network, n_topics, weight=None)
    assert (SEED_SHARE, MIN_SEED_TOKENS) == (0.01, 10)
    assert amount == int(amount) >= 10
    share = 5 * length / n_topics / 100
    assert amount == 10 if share < 10 else abs(amount - share) <= 0.5


@pytest.mark.parametrize("weight", [0, -3, 2.5, "10", 2**21], ids=repr)
def test_a_weight_that_is_no_number_of_tokens(weight):
    with pytest.raises(ValueError, match="seed_weight"):
        RelationalTopicModel(2, seed_words={0: ["cat"]}, seed_weight=weight).fit(NAMED)


@pytest.mark.parametrize("seed_words", [{2: ["cat"]}, {0: ["catt"]}, {0: "cat"}], ids=str)
def test_a_fit_says_what_is_wrong(seed_words):
    with pytest.raises(ValueError, match="seed"):
        RelationalTopicModel(2, seed_words=seed_words).fit(NAMED)


# --- what they do -----------------------------------------------------------------------------------------------------

PETS, STARS = [f"pet{n}" for n in range(6)], [f"star{n}" for n in range(6)]
SHORT = {"pair_features": None, "negatives": 3, "n_burn_in": 20, "n_samples": 3, "thin": 1, "random_state": 0}


@pytest.fixture(scope="module")
def network():
    """20 documents about pets and 20 about stars, 12 tokens each; links are among their own kind."""
    rng = np.random.default_rng(0)
    counts = np.zeros((40, 12), int)
    counts[:20, :6] = rng.multinomial(12, np.full(6, 1 / 6), size=20)
    counts[20:, 6:] = rng.multinomial(12, np.full(6, 1 / 6), size=20)
    links = [(i, i // 20 * 20 + (i + step) % 20) for i in range(40) for step in (1, 2)]
    return DocumentNetwork(counts, links, vocabulary=PETS + STARS)


def topics_of(model, words):
    """Return the topics in which each word has its highest probability, one row per sample."""
    places = [model.network_.vocabulary.tolist().index(word) for word in words]
    return np.array([sample.word_topic[places].argmax(axis=1) for sample in model.samples_])


def test_initial_topics(network):
    """All tokens of a seed word start in its topic, the last if there are several; others anywhere."""
    model = RelationalTopicModel(5, seed_words={1: ["pet0"], 4: ["pet0", "star2"]}, **SHORT)
    corpus = prepare_run(model.get_params(deep=False), network, np.random.SeedSequence(0)).load_corpus()
    assert (corpus.seeds.word.tolist(), corpus.seeds.topic.tolist()) == ([0, 0, 8], [1, 4, 4])
    state = initial_state(corpus, make_settings(5), np.random.SeedSequence(1))
    seeded = np.isin(corpus.words, [0, 8])
    assert set(state.assignments[seeded].tolist()) == {4}
    assert set(state.assignments[~seeded].tolist()) == set(range(5))
    np.testing.assert_array_equal(state.topic_total, np.bincount(state.assignments, minlength=8))
    assert state.word_topic[[0, 8], 4].tolist() == network.counts.sum(axis=0)[[0, 8]].tolist()


@pytest.mark.parametrize(("pets", "stars", "n_topics"), [(0, 1, 2), (1, 0, 2), (3, 1, 4), (0, 4, 5)])
def test_seed_words_have_their_topic_in_every_chain(network, pets, stars, n_topics):
    seed_words = {pets: PETS[:2], stars: STARS[:2]}
    model = RelationalTopicModel(n_topics, seed_words=seed_words, n_chains=3, **SHORT).fit(network)
    assert {sample.chain for sample in model.samples_} == {0, 1, 2}
    np.testing.assert_array_equal(topics_of(model, PETS[:2]), pets)
    np.testing.assert_array_equal(topics_of(model, STARS[:2]), stars)
    np.testing.assert_array_equal(model.topic_word_[:, :2].argmax(axis=0), pets)


def test_words_without_seeds_follow_those_with(network):
    """With as many topics as kinds of documents, all words of a kind are in the topic of its seed."""
    model = RelationalTopicModel(2, seed_words={1: ["pet3"]}, n_chains=3, **SHORT).fit(network)
    np.testing.assert_array_equal(topics_of(model, PETS), 1)
    np.testing.assert_array_equal(topics_of(model, STARS), 0)
    without = RelationalTopicModel(2, n_chains=3, **SHORT).fit(network)
    assert len(np.unique(topics_of(without, PETS[:1]))) == 2, "chains that agree anyway would say nothing about seeds"


def test_documents_may_teach_otherwise(network):
    """A star among the pets' seed words, of little weight, goes where its documents are."""
    seed_words = {0: [*PETS[:3], "star5"], 1: STARS[:3]}
    model = RelationalTopicModel(2, seed_words=seed_words, seed_weight=1, n_chains=3, **SHORT).fit(network)
    np.testing.assert_array_equal(topics_of(model, ["pet0", "star5", "star0"]), [[0, 1, 1]] * 9)
    heavy = RelationalTopicModel(2, seed_words=seed_words, seed_weight=10_000, n_chains=3, **SHORT).fit(network)
    np.testing.assert_array_equal(topics_of(heavy, ["star5"]), 0)


def test_no_seed_words_change_nothing(network):
    models = [RelationalTopicModel(2, seed_words=words, n_chains=1, **SHORT).fit(network) for words in (None, {}, [[]])]
    for model in models[1:]:
        np.testing.assert_array_equal(model.log_joints_, models[0].log_joints_)
