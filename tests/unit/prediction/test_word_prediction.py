"""Words predicted from links, on networks whose answers are known."""

import numpy as np
import pandas as pd
import pytest

from linktopics import DocumentNetwork, RelationalTopicModel, VariationalRTM
from support.two_groups import DIRECTIONS, PLAIN

# Documents about ants cite those about bees, which cite none; those about cats cite one another, and so do dogs.
PLANTED_TEXTS = {
    f"{kind}{n}": " ".join([kind, first, second] * 4)
    for kind, first, second in (
        ("ant", "hill", "queen"),
        ("bee", "hive", "honey"),
        ("cat", "purr", "whisker"),
        ("dog", "bark", "bone"),
    )
    for n in range(8)
}
PLANTED_LINKS = [(f"ant{n}", f"bee{(n + step) % 8}") for n in range(8) for step in (0, 1, 3)]
PLANTED_LINKS += [
    (f"{kind}{n}", f"{kind}{(n + step) % 8}") for kind in ("cat", "dog") for n in range(8) for step in (1, 3)
]


def words_of(kind):
    """Mark the words of one kind of documents."""
    counts = PLANTED.counts.toarray()
    return counts[[PLANTED.index_of(f"{kind}{n}") for n in range(8)]].sum(axis=0) > 0


PLANTED = DocumentNetwork.from_texts(PLANTED_TEXTS, PLANTED_LINKS)


def fit_planted(**parameters):
    """Fit on topics alone: like texts link here, so features would leave little for the topics to tell."""
    given = {"alpha": 1.0, "negatives": 3, "n_burn_in": 150, "n_samples": 4, "n_chains": 1, "random_state": 0, **PLAIN}
    return RelationalTopicModel(4, **{**given, **parameters}).fit(PLANTED)


@pytest.fixture(scope="module")
def gibbs():
    return fit_planted()


@pytest.fixture(scope="module")
def default():
    return fit_planted(pair_features="default")


@pytest.fixture(scope="module")
def undirected():
    return fit_planted(directed=False)


@pytest.fixture(scope="module")
def variational():
    return VariationalRTM(4, alpha=1.0, negatives=3, random_state=0).fit(PLANTED)


def mass(model, kind, links, linked_by=None):
    """Return the probability of the words of one kind in each document."""
    rows = model.word_probabilities(links, linked_by)
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-9)
    return rows[:, words_of(kind)].sum(axis=1)


@pytest.mark.parametrize("name", ["gibbs", "undirected", "variational"])
def test_links_with_cats_predict_the_words_of_cats(name, request):
    model = request.getfixturevalue(name)
    links = [["cat0", "cat1", "cat2"], ["dog0", "dog1"], ["cat4"]]
    assert mass(model, "cat", links)[[0, 2]].min() > 0.6
    assert mass(model, "cat", [[]] * 3, links)[[0, 2]].min() > 0.6
    assert mass(model, "cat", links)[1] < 0.25


def test_direction_of_links_tells_the_words(gibbs):
    """Who cites bees is about ants; who is cited by ants is about bees."""
    bees, ants = [["bee0", "bee3", "bee5"]], [["ant0", "ant3", "ant5"]]
    assert mass(gibbs, "ant", bees) > 0.7
    assert mass(gibbs, "bee", None, ants) > 0.7
    assert mass(gibbs, "bee", bees) < 0.2
    assert mass(gibbs, "ant", None, ants) < 0.2
    assert mass(gibbs, "bee", [[]], ants) > 0.7


@pytest.mark.parametrize("name", ["undirected", "variational"])
def test_without_direction_links_are_links(name, request):
    model = request.getfixturevalue(name)
    rows = model.word_probabilities([["cat0", "cat1"], ["bee0"]])
    np.testing.assert_array_equal(model.word_probabilities(None, [["cat0", "cat1"], ["bee0"]]), rows)
    np.testing.assert_array_equal(model.word_probabilities([["cat0"], ["bee0"]], [["cat1"], ["bee0"]]), rows)


@pytest.mark.parametrize("name", ["gibbs", "undirected", "variational"])
def test_documents_without_links_have_all_topics_alike(name, request):
    model = request.getfixturevalue(name)
    rows = model.word_probabilities([["cat0"], []], [[], []])
    np.testing.assert_allclose(rows[1], model.topic_word_.mean(axis=0), rtol=1e-4)
    assert not np.allclose(rows[0], rows[1], atol=0.05)
    assert model.word_probabilities([]).shape == (0, PLANTED.n_words)


@pytest.mark.parametrize("name", ["gibbs", "undirected", "variational"])
def test_links_of_every_kind(name, request):
    """Lists, tuples, sets and arrays of ids, named once or twice, in any order, on any number of threads."""
    model = request.getfixturevalue(name)
    rows = model.word_probabilities([["cat0", "cat1"], ["bee0", "ant1"]])
    for same in (
        (("cat1", "cat0"), ("bee0", "ant1")),
        [{"cat0", "cat1"}, ["ant1", "bee0", "ant1"]],
        np.array([["cat0", "cat1"], ["bee0", "ant1"]]),
    ):
        np.testing.assert_array_equal(model.word_probabilities(same), rows)
    if name != "variational":
        np.testing.assert_array_equal(model.set_params(n_jobs=3).word_probabilities(same), rows)
        model.set_params(n_jobs=None)


@pytest.mark.parametrize("name", ["gibbs", "variational"])
def test_predict_words(name, request):
    model = request.getfixturevalue(name)
    found = model.predict_words(["cat0", "cat1"], linked_by=["cat2"], top=4)
    probabilities = model.word_probabilities([["cat0", "cat1"]], [["cat2"]])
    order = np.argsort(-probabilities[0], kind="stable")[:4]
    assert list(found.columns) == ["document", "word", "probability", "lift"]
    shares = dict(
        zip(model.network_.vocabulary, model.network_.counts.sum(axis=0) / model.network_.n_tokens, strict=True)
    )
    np.testing.assert_allclose(found.lift, found.probability / found.word.map(shares))
    assert found.document.tolist() == [0] * 4
    np.testing.assert_array_equal(found.word, PLANTED.vocabulary[order])
    np.testing.assert_array_equal(found.probability, probabilities[0, order])
    assert set(found.word[:3]) == {"cat", "purr", "whisker"}
    several = model.predict_words([["cat0"], [], ["bee0"]], top=2)
    assert several.document.tolist() == [0, 0, 1, 1, 2, 2]
    pd.testing.assert_frame_equal(
        model.predict_words(linked_by=["cat2"]), model.predict_words(None, linked_by=[["cat2"]])
    )
    assert len(model.predict_words(["cat0"], top=1000)) == PLANTED.n_words


def test_words_without_names_are_numbers():
    counts = np.array([[3, 0], [2, 0], [0, 3], [0, 2]])
    model = RelationalTopicModel(2, negatives=1, n_burn_in=20, thin=2, random_state=0).fit(
        counts, links=[(0, 1), (2, 3)]
    )
    assert set(model.predict_words([0]).word) == {0, 1}


@pytest.mark.parametrize("name", ["gibbs", "default", "variational"])
def test_planted_links(name, request):
    model = request.getfixturevalue(name)
    found = model.predict_links(["cat purr cat whisker"])
    assert set(PLANTED.ids[np.argsort(-found[0])[:8]]) == {f"cat{n}" for n in range(8)}
    chosen = ["bee3", "cat1", "ant0"]
    columns = [PLANTED.index_of(id) for id in chosen]
    np.testing.assert_allclose(model.predict_links(["cat purr cat whisker"], candidates=chosen), found[:, columns])


@pytest.mark.parametrize("name", ["gibbs", "default"])
def test_direction_of_planted_links(name, request):
    model = request.getfixturevalue(name)
    out, into = (model.predict_links(["ant hill ant queen"], direction=direction)[0] for direction in ("out", "in"))
    bees = [PLANTED.index_of(f"bee{n}") for n in range(8)]
    assert set(np.argsort(-out)[:8]) == set(bees)
    assert out[bees].min() > into[bees].max()


def test_the_variational_model_has_no_direction(variational):
    both, out, into = (variational.predict_links(["ant hill"], direction=direction) for direction in DIRECTIONS)
    np.testing.assert_array_equal(both, out)
    np.testing.assert_array_equal(both, into)
