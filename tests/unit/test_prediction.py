"""Predictions for new documents, against slow definitions and on networks whose answers are known."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer

import linktopics.prediction
from linktopics import DocumentNetwork, RelationalTopicModel, VariationalRTM
from linktopics.prediction import Predictor

K = 3
N_OLD = 130
SETTINGS = {"n_iter": 40, "n_samples": 3, "thin": 2, "n_chains": 2, "negatives": 2, "random_state": 0}
MODELS = {
    "logistic": {},
    "hinge": {"loss": "hinge", "margin": 0.7},
    "diagonal": {"weights": "diagonal"},
    "intercept": {"weights": "diagonal", "intercept": True},
    "hinge intercept": {"loss": "hinge", "weights": "diagonal", "intercept": True},
    "undirected": {"directed": False},
    "undirected hinge diagonal": {"directed": False, "loss": "hinge", "weights": "diagonal"},
}
DIRECTIONS = ("both", "out", "in")


def make_network():
    """Draw two groups of documents; links run from the first to the second, and inside the second."""
    rng = np.random.default_rng(0)
    group = np.arange(N_OLD) % 2
    counts = rng.poisson(np.where(group[:, None] == np.arange(10) // 5, 2.0, 0.2)) + np.eye(N_OLD, 10, dtype=int)
    counts[counts.sum(axis=1) == 0, 0] = 1
    linked = rng.random((N_OLD,) * 2) < np.where(group == 1, 0.04, 0.002)
    ids = [f"d{i}" for i in rng.permutation(N_OLD)]
    links = [(ids[i], ids[j]) for i, j in np.argwhere(linked) if i != j]
    words = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen", "ibis", "jay"]
    titles = [f"Title of {id}" for id in ids]
    return DocumentNetwork(
        counts, links, ids=ids, vocabulary=words, titles=titles, vectorizer=CountVectorizer(vocabulary=words)
    )


NETWORK = make_network()
NEW = np.random.default_rng(1).poisson(0.8, (9, 10)) + np.eye(9, 10, dtype=int)


def fit(name, **others):
    return RelationalTopicModel(K, **{**SETTINGS, **MODELS[name], **others}).fit(NETWORK)


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    return fit(request.param)


@pytest.fixture(scope="module")
def plain():
    return fit("logistic")


@pytest.fixture
def restored(plain):
    """Give a model whose samples and jobs may be changed: they are put back afterwards."""
    samples = plain.samples_
    yield plain
    plain.samples_ = samples
    plain.set_params(n_jobs=None)


def link_probability(model, score):
    """Return the likelihood of a link over that of link and non-link."""
    if model.loss == "logistic":
        return 1 / (1 + np.exp(-score))
    link, nonlink = (np.exp(-2 * np.maximum(0, model.margin - sign * score)) for sign in (1, -1))
    return link / (link + nonlink)


def by_sample(model, counts, direction):
    """Return probabilities, samples x documents x candidates, from the definition."""
    result = []
    for sample in model.samples_:
        new = model._predictor.infer(sample, csr_array(counts)).astype(float)
        old = sample.doc_topic.astype(float)
        p = link_probability(model, np.einsum("ik,kl,jl->ij", new, sample.weights, old) + sample.intercept)
        q = link_probability(model, np.einsum("jl,lk,ik->ij", old, sample.weights, new) + sample.intercept)
        one_way = direction == "out" or not model.network_.directed
        result.append(p if one_way else q if direction == "in" else 1 - (1 - p) * (1 - q))
    return np.array(result)


def best(probabilities, top):
    """Return the columns of the largest of each row; of those equal up to rounding, the first come first."""
    return np.argsort(-probabilities.round(13), axis=1, kind="stable")[:, :top]


# --- links ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_predict_links(model, direction):
    assert len({sample.chain for sample in model.samples_}) == 2
    expected = by_sample(model, NEW, direction).mean(axis=0)
    np.testing.assert_allclose(model.predict_links(NEW, direction=direction), expected, rtol=1e-9)
    chosen = np.random.default_rng(2).permutation(N_OLD)[:17]
    found = model.predict_links(NEW, candidates=NETWORK.ids[chosen].tolist(), direction=direction)
    np.testing.assert_allclose(found, expected[:, chosen], rtol=1e-9)


def test_direction_matters_where_there_is_one(model):
    out, into, both = (model.predict_links(NEW, direction=direction) for direction in ("out", "in", "both"))
    if not model.network_.directed:
        np.testing.assert_array_equal(out, into)
        np.testing.assert_array_equal(out, both)
        return
    assert (both > np.maximum(out, into)).all()
    assert np.allclose(out, into) == (model.weights == "diagonal")


@pytest.mark.parametrize("cells", [1, 300, N_OLD * 9])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_blocks_and_jobs_change_nothing(restored, monkeypatch, cells, n_jobs):
    links, words = restored.predict_links(NEW), restored.word_probabilities([["d0"], ["d1", "d2"]])
    topics, suggestions = restored.transform(NEW), restored.suggest_links(NEW)
    restored.set_params(n_jobs=n_jobs)
    np.testing.assert_array_equal(restored.word_probabilities([["d0"], ["d1", "d2"]]), words)
    monkeypatch.setattr(linktopics.prediction, "BLOCK_CELLS", cells)
    np.testing.assert_array_equal(restored.transform(NEW), topics)
    np.testing.assert_allclose(restored.predict_links(NEW), links, rtol=1e-12)
    pd.testing.assert_frame_equal(restored.suggest_links(NEW), suggestions, rtol=1e-12)


# --- suggestions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_suggestions(model, direction):
    samples = by_sample(model, NEW, direction)
    order = best(samples.mean(axis=0), 4)
    found = model.suggest_links(NEW, top=4, direction=direction, interval=0.6)
    np.testing.assert_array_equal(found.document, np.repeat(np.arange(9), 4))
    np.testing.assert_array_equal(found.id, NETWORK.ids[order.ravel()])
    np.testing.assert_array_equal(found.title, [f"Title of {id}" for id in found.id])
    picked = np.take_along_axis(samples, order[None], axis=2).reshape(len(samples), -1)
    np.testing.assert_allclose(found.probability, picked.mean(axis=0), rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.lower, np.quantile(picked, 0.2, axis=0), rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.upper, np.quantile(picked, 0.8, axis=0), rtol=0, atol=1e-9)
    for i, row in enumerate(NEW):
        alone = model.suggest_links(row[None], top=4, direction=direction, interval=0.6)
        here = found[found.document == i].assign(document=0).reset_index(drop=True)
        pd.testing.assert_frame_equal(alone, here, rtol=1e-9)


@pytest.mark.parametrize("top", [1, 100, 101, N_OLD, N_OLD + 50])
def test_numbers_of_suggestions(plain, top):
    found = plain.suggest_links(NEW, top=top)
    order = best(plain.predict_links(NEW), top)
    assert order.shape == (9, min(top, N_OLD))
    np.testing.assert_array_equal(found.id, NETWORK.ids[order.ravel()])


@pytest.mark.parametrize(("n_kinds", "top"), [(13, 3), (13, 115), (1, 3), (1, 125)])
def test_of_equal_candidates_the_first_come_first(restored, n_kinds, top):
    """Also where equal candidates are many, or some of them are left out."""
    kinds = np.random.default_rng(3).dirichlet(np.ones(K), n_kinds).astype(np.float32)
    doc_topic = kinds[np.random.default_rng(4).permutation(N_OLD) % n_kinds]
    restored.samples_ = [replace(sample, doc_topic=doc_topic) for sample in restored.samples_]
    order = best(by_sample(restored, NEW, "both").mean(axis=0), top)
    np.testing.assert_array_equal(restored.suggest_links(NEW, top=top).id, NETWORK.ids[order.ravel()])
    assert len(np.unique(doc_topic[order[0, :3]], axis=0)) == 1


def test_suggestions_of_links_that_are_all_but_certain(restored):
    """Probabilities above 1 - 2e-8 are 1 in single precision, and must be told apart none the less."""
    share = np.linspace(0, 1, N_OLD, dtype=np.float32)  # of topic 0: the last document is the best
    doc_topic = np.column_stack([share, 1 - share, 0 * share])
    weights = np.array([[24.0, 18.0, 18.0]] * 3)
    restored.samples_ = [replace(restored.samples_[0], doc_topic=doc_topic, weights=weights)]
    expected = by_sample(restored, NEW, "out").mean(axis=0)
    np.testing.assert_array_equal(best(expected, 5), [np.arange(N_OLD)[:-6:-1]] * 9)
    found = restored.suggest_links(NEW, top=5, direction="out")
    np.testing.assert_array_equal(found.id, NETWORK.ids[best(expected, 5).ravel()])


def spied(monkeypatch, model, cells, **arguments):
    """Return the shapes of (new, old, result) of all calls that weigh candidates while links are suggested."""
    monkeypatch.setattr(linktopics.prediction, "BLOCK_CELLS", cells)
    shapes, original = [], Predictor._probabilities

    def spy(self, sample, new, old, direction):
        result = original(self, sample, new, old, direction)
        shapes.append((new.shape, old.shape, result.shape))
        return result

    monkeypatch.setattr(Predictor, "_probabilities", spy)
    model.suggest_links(NEW, **arguments)
    assert sum(new[0] for new, *_ in shapes) >= len(NEW) * len(model.samples_)
    return shapes


@pytest.mark.parametrize("rows", [1, 2, 4])
def test_suggestions_are_made_in_blocks(plain, monkeypatch, rows):
    for new, _, result in spied(monkeypatch, plain, rows * N_OLD, top=2):
        assert new[0] <= rows
        assert result[0] <= rows


def test_topics_of_candidates_fit_in_a_block(plain, monkeypatch):
    """A copy of the topics of the candidates of each document is K times as large as their probabilities."""
    rows = 6
    for _, old, _ in spied(monkeypatch, plain, rows * N_OLD, top=2):
        assert len(old) == N_OLD or np.prod(old) <= rows * N_OLD


# --- reasons ----------------------------------------------------------------------------------------------------------


def described(model):
    return [sample for sample in model.samples_ if sample.chain == model.best_chain_]


def topic_names(model, n_words):
    order = np.argsort(-model.topic_word_, axis=1, kind="stable")[:, :n_words]
    return [", ".join(row) for row in NETWORK.vocabulary[order]]


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_reasons(model, direction):
    """The two largest parts of the score of the direction that has the larger one, in the words of the topics."""
    names = topic_names(model, 2)
    found = model.suggest_links(NEW, top=3, direction=direction)
    arrows = set()
    for row in found.itertuples():
        at = NETWORK.index_of(row.id)
        ways = {"→": np.zeros((K, K)), "←": np.zeros((K, K))}
        for sample in described(model):
            new, old = model._predictor.infer(sample, csr_array(NEW[[row.document]]))[0], sample.doc_topic[at]
            ways["→"] += np.outer(new, old) * sample.weights / len(described(model))
            ways["←"] += np.outer(new, old) * sample.weights.T / len(described(model))
        if direction == "out" or not model.network_.directed:
            del ways["←"]
        elif direction == "in":
            del ways["→"]
        arrow = max(ways, key=lambda arrow: ways[arrow].sum())
        parts = [(ways[arrow][k, j], names[k], names[j]) for k in range(K) for j in range(K)]
        parts = sorted((part for part in parts if part[0] >= 0.05), reverse=True)[:2]
        said = re.findall(r"([^;]+?) (→|←) ([^;]+?) \((\+[\d.]+)\)(?:; |$)", row.why)
        assert [(here, there) for here, _, there, _ in said] == [(here, there) for _, here, there in parts]
        np.testing.assert_allclose([float(s[-1]) for s in said], [part[0] for part in parts], atol=0.0501)
        arrows |= {way for _, way, _, _ in said}
        assert all(way == arrow for _, way, _, _ in said)
    assert arrows or model.weights == "diagonal"
    if direction != "both":
        assert arrows <= {"←" if direction == "in" and model.network_.directed else "→"}


def test_parts_of_a_score(model):
    source, target = "d7", "d20"
    table = model.explain_link(source, target)
    i, j = NETWORK.index_of(source), NETWORK.index_of(target)
    scores = [s.doc_topic[i].astype(float) @ s.weights @ s.doc_topic[j] + s.intercept for s in described(model)]
    np.testing.assert_allclose(table.part.sum(), np.mean(scores), rtol=0, atol=1e-6)
    columns = ["source_topic", "target_topic", "source_words", "target_words", "part"]
    assert list(table.columns) == columns
    if model.intercept:
        np.testing.assert_allclose(table.part.iloc[-1], model.intercept_)
        assert table.iloc[-1][columns[:4]].tolist() == [pd.NA, pd.NA, "(intercept)", "(intercept)"]
        table = table.iloc[:-1]
    assert (np.diff(np.abs(table.part)) <= 0).all()
    names = topic_names(model, 3)
    for row in table.itertuples():
        assert (row.source_words, row.target_words) == (names[row.source_topic], names[row.target_topic])
        k, m = row.source_topic, row.target_topic
        part = np.mean([s.doc_topic[i, k] * s.weights[k, m] * s.doc_topic[j, m] for s in described(model)])
        np.testing.assert_allclose(row.part, part, rtol=0, atol=1e-6)


@pytest.mark.parametrize("new_end", ["source", "target"])
def test_parts_of_the_scores_of_new_documents(model, new_end):
    ends = (None, "d20") if new_end == "source" else ("d20", None)
    table = model.explain_link(*ends, documents=NEW)
    assert list(table.columns)[:2] == ["document", "source_topic"]
    assert table.document.is_monotonic_increasing
    j, scores = NETWORK.index_of("d20"), []
    for s in described(model):
        new, old = model._predictor.infer(s, csr_array(NEW)).astype(float), s.doc_topic[j]
        scores.append((new @ s.weights @ old if new_end == "source" else old @ s.weights @ new.T) + s.intercept)
    np.testing.assert_allclose(table.groupby("document").part.sum(), np.mean(scores, axis=0), rtol=0, atol=1e-6)
    if model.intercept:
        np.testing.assert_allclose(table.groupby("document").part.last(), model.intercept_)


# --- topics -----------------------------------------------------------------------------------------------------------


def test_transform(restored):
    topics = restored.transform(NEW)
    np.testing.assert_allclose(topics.sum(axis=1), 1, rtol=1e-12)
    for jobs in (1, 2, 7):
        restored.set_params(n_jobs=jobs)
        np.testing.assert_array_equal(restored.transform(NEW[::-1])[::-1], topics)
    np.testing.assert_array_equal(restored.transform(NEW[[4]])[0], topics[4])
    texts = [" ".join(np.repeat(NETWORK.vocabulary, row)) for row in NEW]
    for same in (texts, csr_array(NEW), DocumentNetwork(NEW, vocabulary=NETWORK.vocabulary)):
        np.testing.assert_array_equal(restored.transform(same), topics)
    np.testing.assert_array_equal(restored.transform(texts[4])[0], topics[4])
    words = np.mean([np.abs(restored.transform(np.eye(10, dtype=int)[[w]] * 50) - topics).sum() for w in (0, 9)])
    assert words > 0.1, "topics depend on the words"


# --- words from links -------------------------------------------------------------------------------------------------

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


@pytest.fixture(scope="module")
def gibbs():
    return RelationalTopicModel(4, alpha=1.0, negatives=3, n_iter=150, n_samples=4, random_state=0).fit(PLANTED)


@pytest.fixture(scope="module")
def undirected():
    return RelationalTopicModel(4, alpha=1.0, negatives=3, n_iter=150, n_samples=4, directed=False, random_state=0).fit(
        PLANTED
    )


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
    assert list(found.columns) == ["document", "word", "probability"]
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
    model = RelationalTopicModel(2, negatives=1, n_iter=20, random_state=0).fit(counts, links=[(0, 1), (2, 3)])
    assert set(model.predict_words([0]).word) == {0, 1}


@pytest.mark.parametrize("name", ["gibbs", "variational"])
def test_planted_links(name, request):
    model = request.getfixturevalue(name)
    found = model.predict_links(["cat purr cat whisker"])
    assert set(PLANTED.ids[np.argsort(-found[0])[:8]]) == {f"cat{n}" for n in range(8)}
    chosen = ["bee3", "cat1", "ant0"]
    columns = [PLANTED.index_of(id) for id in chosen]
    np.testing.assert_allclose(model.predict_links(["cat purr cat whisker"], candidates=chosen), found[:, columns])


def test_direction_of_planted_links(gibbs):
    out, into = (gibbs.predict_links(["ant hill ant queen"], direction=direction)[0] for direction in ("out", "in"))
    bees = [PLANTED.index_of(f"bee{n}") for n in range(8)]
    assert set(np.argsort(-out)[:8]) == set(bees)
    assert out[bees].min() > into[bees].max()


def test_the_variational_model_has_no_direction(variational):
    both, out, into = (variational.predict_links(["ant hill"], direction=direction) for direction in DIRECTIONS)
    np.testing.assert_array_equal(both, out)
    np.testing.assert_array_equal(both, into)
