"""Predictions for new documents, against slow definitions and on networks whose answers are known."""

from dataclasses import replace
from itertools import chain

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer

import linktopics.prediction.predictor
from linktopics import DocumentNetwork, RelationalTopicModel, VariationalRTM
from linktopics.features import DEFAULT, FeatureSet
from linktopics.network.inputs import Documents
from linktopics.prediction.calibration import Curve, LinkCalibration
from linktopics.prediction.predictor import Predictor
from linktopics.prediction.ranking import ExactSearch
from support.marks import some_long

K = 3
N_OLD = 130
SETTINGS = {
    "calibration": None,
    "n_burn_in": 40,
    "n_samples": 3,
    "thin": 2,
    "n_chains": 2,
    "negatives": 2,
    "random_state": 0,
}
PLAIN = {"pair_features": None}
MODELS = {
    "logistic": PLAIN,
    "hinge": {"loss": "hinge", "margin": 0.7, **PLAIN},
    "diagonal": {"weights": "diagonal", **PLAIN},
    "intercept": {"weights": "diagonal", "intercept": True, **PLAIN},
    "hinge intercept": {"loss": "hinge", "weights": "diagonal", "intercept": True, **PLAIN},
    "undirected": {"directed": False, **PLAIN},
    "undirected hinge diagonal": {"directed": False, "loss": "hinge", "weights": "diagonal", **PLAIN},
    "features": {},
    "features hinge diagonal intercept": {"loss": "hinge", "weights": "diagonal", "intercept": True},
    "features undirected": {"directed": False},
}
LONG = ["diagonal", "intercept", "undirected", "hinge intercept", "undirected hinge diagonal", "features undirected"]
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


@pytest.fixture(scope="module", params=some_long(MODELS, LONG))
def model(request):
    return fit(request.param)


@pytest.fixture(scope="module")
def plain():
    return fit("logistic")


@pytest.fixture(scope="module")
def featured():
    return fit("features")


@pytest.fixture
def restored(plain):
    """Give a model whose samples and jobs may be changed: they are put back afterwards."""
    yield from give_back(plain)


@pytest.fixture(params=["plain", "featured"])
def each_restored(request):
    yield from give_back(request.getfixturevalue(request.param))


def give_back(model):
    samples = model.samples_
    yield model
    model.samples_ = samples
    model.set_params(n_jobs=None)


def link_probability(model, score):
    """Return the likelihood of a link over that of link and non-link."""
    if model.loss == "logistic":
        return 1 / (1 + np.exp(-score))
    link, nonlink = (np.exp(-2 * np.maximum(0, model.margin - sign * score)) for sign in (1, -1))
    return link / (link + nonlink)


def features_of(model, counts, outgoing):
    """Return features of documents with all candidates, documents x candidates x columns (see tests/unit/features)."""
    features = model.predictor.features
    prepared = features.prepare(Documents(csr_array(counts)))
    return features.block(prepared, slice(0, len(counts)), np.arange(N_OLD), outgoing)


def by_sample(model, counts, direction):
    """Return probabilities, samples x documents x candidates, from the definition."""
    result = []
    x_out, x_in = (features_of(model, counts, outgoing) for outgoing in (True, False))
    for sample in model.samples_:
        new = model.predictor.infer(sample, csr_array(counts)).astype(float)
        old, tau = sample.doc_topic.astype(float), sample.feature_weights
        p = link_probability(model, np.einsum("ik,kl,jl->ij", new, sample.weights, old) + x_out @ tau)
        q = link_probability(model, np.einsum("jl,lk,ik->ij", old, sample.weights, new) + x_in @ tau)
        one_way = direction == "out" or not model.network_.directed
        result.append(p if one_way else q if direction == "in" else 1 - (1 - p) * (1 - q))
    return np.array(result)


def on_average(model, counts, direction):
    """Return probabilities, documents x candidates: each direction is averaged over samples before the two are one."""
    if direction != "both" or not model.network_.directed:
        return by_sample(model, counts, direction).mean(axis=0)
    out, into = (by_sample(model, counts, way).mean(axis=0) for way in ("out", "in"))
    return 1 - (1 - out) * (1 - into)


def best(probabilities, top):
    """Return the columns of the largest of each row; of those equal up to rounding, the first come first."""
    return np.argsort(-probabilities.round(13), axis=1, kind="stable")[:, :top]


# --- links ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_predict_links(model, direction):
    assert len({sample.chain for sample in model.samples_}) == 2
    expected = on_average(model, NEW, direction)
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
    same = model.weights == "diagonal" and model.pair_features is None  # degrees in and out differ
    assert np.allclose(out, into) == same


@pytest.mark.parametrize("cells", [1, 300, N_OLD * 9])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_blocks_and_jobs_change_nothing(each_restored, monkeypatch, cells, n_jobs):
    model = each_restored
    links, words = model.predict_links(NEW), model.word_probabilities([["d0"], ["d1", "d2"]])
    topics, suggestions = model.transform(NEW), model.suggest_links(NEW)
    model.set_params(n_jobs=n_jobs)
    np.testing.assert_array_equal(model.word_probabilities([["d0"], ["d1", "d2"]]), words)
    monkeypatch.setattr(linktopics.prediction.predictor, "BLOCK_CELLS", cells)
    np.testing.assert_array_equal(model.transform(NEW), topics)
    np.testing.assert_allclose(model.predict_links(NEW), links, rtol=1e-12)
    pd.testing.assert_frame_equal(model.suggest_links(NEW), suggestions, rtol=1e-12)


# --- suggestions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_suggestions(model, direction):
    samples, expected = by_sample(model, NEW, direction), on_average(model, NEW, direction)
    order = best(expected, 4)
    found = model.suggest_links(NEW, top=4, direction=direction, interval=0.6)
    np.testing.assert_array_equal(found.document, np.repeat(np.arange(9), 4))
    np.testing.assert_array_equal(found.id, NETWORK.ids[order.ravel()])
    np.testing.assert_array_equal(found.title, [f"Title of {id}" for id in found.id])
    picked = np.take_along_axis(samples, order[None], axis=2).reshape(len(samples), -1)
    expected = np.take_along_axis(expected, order, axis=1).ravel()
    np.testing.assert_allclose(found.probability, expected, rtol=0, atol=1e-9)
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
    order = best(on_average(restored, NEW, "both"), top)
    np.testing.assert_array_equal(restored.suggest_links(NEW, top=top).id, NETWORK.ids[order.ravel()])
    assert len(np.unique(doc_topic[order[0, :3]], axis=0)) == 1


def test_suggestions_of_links_that_are_all_but_certain(restored):
    """Probabilities above 1 - 2e-8 are 1 in single precision, and must be told apart none the less."""
    share = np.linspace(0, 1, N_OLD, dtype=np.float32)  # of topic 0: the last document is the best
    doc_topic = np.column_stack([share, 1 - share, 0 * share])
    weights = np.array([[24.0, 18.0, 18.0]] * 3)
    restored.samples_ = [replace(described(restored)[0], doc_topic=doc_topic, weights=weights)]
    expected = by_sample(restored, NEW, "out").mean(axis=0)
    np.testing.assert_array_equal(best(expected, 5), [np.arange(N_OLD)[:-6:-1]] * 9)
    found = restored.suggest_links(NEW, top=5, direction="out")
    np.testing.assert_array_equal(found.id, NETWORK.ids[best(expected, 5).ravel()])


def spied(monkeypatch, model, cells):
    """Return how many documents each block of suggestions has, and how many numbers it holds of all candidates."""
    monkeypatch.setattr(linktopics.prediction.predictor, "BLOCK_CELLS", cells)
    blocks, original = [], ExactSearch._absent

    def spy(self, new, rows, by_column):
        result, error = original(self, new, rows, by_column)
        distinct = {id(values): values.size for columns in by_column.values() for values in columns.values()}
        blocks.append((rows.stop - rows.start, result.size + sum(distinct.values())))
        return result, error

    monkeypatch.setattr(ExactSearch, "_absent", spy)
    model.suggest_links(NEW, top=2)
    assert sum(n for n, _ in blocks) == len(NEW)
    return blocks


@pytest.mark.parametrize("rows", [1, 2, 4])
def test_suggestions_are_made_in_blocks(each_restored, monkeypatch, rows):
    width = each_restored.predictor.exact.width
    blocks = spied(monkeypatch, each_restored, rows * width)
    assert max(n for n, _ in blocks) == rows
    assert all(size <= rows * width for _, size in blocks)


def test_a_block_is_never_less_than_a_document(each_restored, monkeypatch):
    assert [n for n, _ in spied(monkeypatch, each_restored, 1)] == [1] * len(NEW)


def test_shortlists_are_scored_in_blocks(plain, monkeypatch):
    """The topics of candidates are K times as large as their probabilities, and a shortlist may be long."""
    monkeypatch.setattr(linktopics.prediction.predictor, "BLOCK_CELLS", 500)
    sizes, original = [], linktopics.prediction.predictor.pair_probabilities

    def spy(loss, sample, shares, pairs):
        sizes.append(len(pairs.rows))
        return original(loss, sample, shares, pairs)

    monkeypatch.setattr(linktopics.prediction.predictor, "pair_probabilities", spy)
    plain.suggest_links(NEW, top=N_OLD)
    n_picked = N_OLD  # intervals are of what is returned, however much was asked for
    assert max(size for size in sizes if size != n_picked) * K <= 500


def test_predictions_are_made_in_blocks(featured, monkeypatch):
    """There are several features for each pair, in each direction; a block holds them all."""
    n_columns, shapes, original, block = len(featured.feature_names_), [], Predictor.own, FeatureSet.block
    made = []

    def spy(self, new, rows, chosen, directions):
        made.clear()
        result = original(self, new, rows, chosen, directions)
        shapes.append(result["out"].size + sum(made))
        return result

    def spy_block(*arguments):
        values = block(*arguments)
        made.append(values.size)
        return values

    monkeypatch.setattr(Predictor, "own", spy)
    monkeypatch.setattr(FeatureSet, "block", spy_block)
    cells = 4 * N_OLD * (1 + 2 * n_columns)
    monkeypatch.setattr(linktopics.prediction.predictor, "BLOCK_CELLS", cells)
    featured.predict_links(NEW)
    assert 0 < max(shapes) <= cells
    assert made


# --- the exact search -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_first_ranking_is_as_exact_as_it_says(model, direction):
    """Errors of single precision stay below their bound, and shortlists are short."""
    predictor = model.predictor
    new = predictor.new_documents(Documents(csr_array(NEW)), direction)
    search, directions, rows = predictor.exact, predictor.directions(direction), slice(0, len(NEW))
    found, error = search._absent(new, rows, search._by_column(new, rows, directions))
    q = np.array([1 - by_sample(model, NEW, one).mean(axis=0) for one in directions])
    bound = q * (1 - q) * error[:, None] + 1e-6 * q + 1e-15
    assert found.dtype == np.float32
    assert (np.abs(found - q) <= bound).all()
    assert (error < 0.01).all()
    q = q.prod(axis=0)
    as_good = q <= np.sort(q, axis=1)[:, [4]] + 1e-12  # equals, of which there may be many, are all in
    assert len(search.shortlist(new, rows, directions, 5).rows) < as_good.sum() + 2 * 5 * len(NEW)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("shift", "factor"), [(0, 1), (0, 30), (60, 10), (-60, 10), (400, 100)])
def test_shortlists_leave_out_none_of_the_best(restored, monkeypatch, direction, shift, factor):
    """Also where single precision can hardly tell candidates apart, or not at all."""
    restored.samples_ = [replace(sample, weights=shift + factor * sample.weights) for sample in restored.samples_]
    found = restored.suggest_links(NEW, top=4, direction=direction)
    monkeypatch.setattr(ExactSearch, "not_worse", lambda self, absent, top, error: np.arange(absent.shape[1]))
    pd.testing.assert_frame_equal(found, restored.suggest_links(NEW, top=4, direction=direction))


CURVES = {
    "alike": (Curve((-2.0, 0.0), (0.8, 0.5, 0.3), -3.0), Curve((-2.0, 0.0), (0.8, 0.5, 0.3), -3.0), 0.3),
    "other ways": (Curve((-2.0, 0.0), (1.5, 0.1, 1.2), -1.0), Curve((-1.0, 0.5), (0.1, 2.0, 0.4), -4.0), 0.7),
    "nearly flat": (Curve((0.0,), (0.02, 0.02), 0.0), Curve((0.0,), (0.02, 0.02), 0.5), 0.0),
    "one says nothing": (Curve((0.0,), (1.0, 1.0), -2.0), Curve((0.0,), (0.02, 0.02), -12.0), 0.0),
    "only the larger": (Curve((0.0,), (0.5, 0.9), -1.0), Curve((0.0,), (0.9, 0.5), -1.0), 1.0),
}


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize(("shift", "factor"), [(0, 1), (0, 30), (60, 10), (-60, 10)])
def test_links_either_way_are_ranked_by_the_probability_that_is_shown(plain, monkeypatch, name, shift, factor):
    """Which is no function of one number of the pair: each direction has a curve of its own."""
    out, into, reciprocity = CURVES[name]
    samples = [replace(sample, weights=shift + factor * sample.weights) for sample in plain.samples_]
    calibration = LinkCalibration(-1.0, {"out": out, "in": into}, 10, 60, reciprocity)
    predictor = replace(plain.predictor, samples=samples, calibration=calibration)
    documents = Documents(csr_array(NEW))
    found = predictor.suggest(documents, 6, "both", 0.9)
    assert (found.groupby("document").probability.diff().dropna() <= 0).all()
    probability = predictor.predict(documents, None, "both")
    np.testing.assert_allclose(found.probability, -np.sort(-probability, axis=1)[:, :6].ravel(), rtol=1e-9)
    if (shift, factor) == (0, 1):
        sizes = predictor.exact.shortlist(
            predictor.new_documents(documents, "both"), slice(0, 9), ["out", "in"], 6
        ).rows
        assert len(sizes) < N_OLD * 9 / 3  # most candidates are left out
    monkeypatch.setattr(ExactSearch, "not_worse", lambda self, absent, top, error: np.arange(absent.shape[1]))
    pd.testing.assert_frame_equal(found, predictor.suggest(documents, 6, "both", 0.9))


def test_answers_are_kept_only_for_the_samples_they_are_of(restored):
    kept = restored.predictor
    assert restored.predictor is kept
    restored.samples_ = restored.samples_[:2]
    assert restored.predictor is not kept
    assert restored.predictor.samples is restored.samples_


# --- reasons ----------------------------------------------------------------------------------------------------------


def described(model):
    return [sample for sample in model.samples_ if sample.chain == model.best_chain_]


def topic_names(model, n_words):
    order = np.argsort(-model.topic_word_, axis=1, kind="stable")[:, :n_words]
    return [", ".join(row) for row in NETWORK.vocabulary[order]]


def in_columns(model):
    """Return the columns of each feature, by name."""
    names = ([] if model.pair_features is None else list(DEFAULT)) + ["intercept"] * model.intercept
    degrees = [column for column in model.feature_names_ if "degree" in column]
    assert len(degrees) == (0 if "degree" not in names else 4 if model.network_.directed else 1)
    columns = {name: degrees if name == "degree" else [name] for name in names}
    assert list(chain.from_iterable(columns.values())) == model.feature_names_
    return {name: [model.feature_names_.index(column) for column in of] for name, of in columns.items()}


def feature_parts(model, numbers):
    """Return what each feature adds to the score of a pair with these numbers, by name."""
    parts = numbers * np.mean([sample.feature_weights for sample in described(model)], axis=0)
    return {name: parts[columns].sum() for name, columns in in_columns(model).items()}


def told(model, document, candidate, outgoing):
    """Return what each feature says of a new document and a candidate, by name."""
    features = model.predictor.features
    prepared = features.prepare(Documents(csr_array(NEW)))
    fitted = zip(features.features, prepared, strict=True)
    return {f.name: f.detail(known, document, candidate, outgoing) or f.name for f, known in fitted}


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_reasons(model, direction):
    """The largest shares of what speaks for a link, in the direction with the larger score."""
    names = topic_names(model, 2)
    found = model.suggest_links(NEW, top=3, direction=direction)
    features = {"→": features_of(model, NEW, True), "←": features_of(model, NEW, False)}
    arrows, n_features = set(), 0
    for row in found.itertuples():
        at = NETWORK.index_of(row.id)
        ways = {"→": np.zeros((K, K)), "←": np.zeros((K, K))}
        for sample in described(model):
            new, old = model.predictor.infer(sample, csr_array(NEW[[row.document]]))[0], sample.doc_topic[at]
            ways["→"] += np.outer(new, old) * sample.weights / len(described(model))
            ways["←"] += np.outer(new, old) * sample.weights.T / len(described(model))
        if direction == "out" or not model.network_.directed:
            del ways["←"]
        elif direction == "in":
            del ways["→"]
        others = {arrow: feature_parts(model, features[arrow][row.document, at]) for arrow in ways}
        arrow = max(ways, key=lambda arrow: ways[arrow].sum() + sum(others[arrow].values()))
        words = told(model, row.document, at, arrow == "→")
        parts = [(ways[arrow][k, j], f"{names[k]} {arrow} {names[j]}") for k in range(K) for j in range(K)]
        parts += [(part, words[name]) for name, part in others[arrow].items()]
        total = sum(part for part, _ in parts if part > 0)
        parts = [(part / total, what) for part, what in parts if part > 0 and part / total >= 0.05]
        parts = sorted(parts, key=lambda part: part[0], reverse=True)[:3]
        said = [reason.split(" ", 1) for reason in row.why.split("; ") if reason]
        assert [what for _, what in said] == [what for _, what in parts]
        assert all(share == f"{float(share):.2f}" for share, _ in said)
        np.testing.assert_allclose([float(share) for share, _ in said], [share for share, _ in parts], atol=0.00501)
        arrows |= {"→", "←"} & set(row.why)
        n_features += sum(what in words.values() for _, what in said)
    assert arrows or model.weights == "diagonal"
    assert n_features or model.pair_features is None
    if direction != "both":
        assert arrows <= {"←" if direction == "in" and model.network_.directed else "→"}


COLUMNS = ["source_topic", "target_topic", "source_words", "target_words", "feature", "detail", "contribution", "share"]


def check_parts(model, table):
    """Check all that must hold of the parts of any score."""
    assert list(table.columns) == COLUMNS
    assert (np.diff(np.abs(table.contribution)) <= 0).all()
    for sign in (1, -1):
        some = table[np.sign(table.contribution) == sign]
        np.testing.assert_allclose(some.share, some.contribution / some.contribution.abs().sum(), rtol=1e-9)
        assert not len(some) or np.isclose(some.share.sum(), sign)
    assert (table.share[table.contribution == 0] == 0).all()
    of_topics, of_features = table[table.feature == ""], table[table.feature != ""]
    assert sorted(of_features.feature) == sorted(in_columns(model))
    assert of_features[["source_topic", "target_topic"]].isna().all(axis=None)
    assert (of_features[["source_words", "target_words"]] == "").all(axis=None)
    assert (of_topics.detail == "").all()
    names = topic_names(model, 3)
    for row in of_topics.itertuples():
        assert (row.source_words, row.target_words) == (names[row.source_topic], names[row.target_topic])
    return of_topics, of_features


def linked(source, target):
    ends = [NETWORK.index_of(source), NETWORK.index_of(target)]
    return ends in NETWORK.links.tolist() or ends[::-1] in NETWORK.links.tolist()


PAIRS = {"linked": tuple(NETWORK.ids[NETWORK.links[0]]), "not linked": ("d7", "d20")}


@pytest.mark.parametrize("kind", PAIRS)
def test_parts_of_a_score(model, kind):
    """Of features as if the two were not linked (see tests/unit/features)."""
    source, target = PAIRS[kind]
    assert linked(source, target) == (kind == "linked")
    table = model.explain_link(source, target)
    i, j = NETWORK.index_of(source), NETWORK.index_of(target)
    x = model.predictor.training.values(np.array([i]), np.array([j]), "out")[0]
    scores = [
        s.doc_topic[i].astype(float) @ s.weights @ s.doc_topic[j] + x @ s.feature_weights for s in described(model)
    ]
    np.testing.assert_allclose(table.contribution.sum(), np.mean(scores), rtol=0, atol=1e-6)
    of_topics, of_features = check_parts(model, table)
    for row in of_topics.itertuples():
        k, m = row.source_topic, row.target_topic
        part = np.mean([s.doc_topic[i, k] * s.weights[k, m] * s.doc_topic[j, m] for s in described(model)])
        np.testing.assert_allclose(row.contribution, part, rtol=0, atol=1e-6)
    expected = feature_parts(model, x)
    for row in of_features.itertuples():
        np.testing.assert_allclose(row.contribution, expected[row.feature], rtol=1e-9, atol=1e-12)
        if row.feature == "intercept":
            np.testing.assert_allclose(row.contribution, np.mean([s.feature_weights[-1] for s in described(model)]))


@pytest.mark.parametrize("new_end", ["source", "target"])
def test_parts_of_the_scores_of_new_documents(model, new_end):
    ends = (None, "d20") if new_end == "source" else ("d20", None)
    table = model.explain_link(*ends, documents=NEW)
    assert list(table.columns) == ["document", *COLUMNS]
    assert table.document.is_monotonic_increasing
    j, scores = NETWORK.index_of("d20"), []
    x = features_of(model, NEW, new_end == "source")[:, j]
    for s in described(model):
        new, old = model.predictor.infer(s, csr_array(NEW)).astype(float), s.doc_topic[j]
        scores.append(
            (new @ s.weights @ old if new_end == "source" else old @ s.weights @ new.T) + x @ s.feature_weights
        )
    np.testing.assert_allclose(table.groupby("document").contribution.sum(), np.mean(scores, axis=0), rtol=0, atol=1e-6)
    for document, part in table.groupby("document"):
        _, of_features = check_parts(model, part.drop(columns="document"))
        found = dict(zip(of_features.feature, of_features.contribution, strict=True))
        assert found == pytest.approx(feature_parts(model, x[document]), rel=1e-9, abs=1e-12)


# --- topics -----------------------------------------------------------------------------------------------------------


def test_transform(each_restored):
    restored = each_restored
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
