"""Features of pairs, against networks rebuilt without the pair's own links, and what the model makes of them."""

import pickle
import re
import warnings
from dataclasses import replace
from functools import cache
from math import nan

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csc_array, csr_array
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.metrics import roc_auc_score

import linktopics.prediction.predictor
from linktopics import DataError, DocumentNetwork, RelationalTopicModel
from linktopics.errors import NetworkWarning, UnseenWordsWarning
from linktopics.evaluation.evaluation import evaluate
from linktopics.evaluation.search import LinkSearchCV
from linktopics.features import (
    DEFAULT,
    FEATURES,
    Column,
    Degree,
    FittedFeature,
    Intercept,
    PairFeature,
    PairFunction,
    PairMatrix,
    Similarity,
    fit_features,
    resolve_features,
    similarity,
    vectors,
)
from linktopics.features.base import TrainingView
from linktopics.features.vectors import KnownVectors, Tfidf
from linktopics.network.inputs import Documents
from linktopics.network.pairs import TrainingPairs
from linktopics.prediction.explanation import MIN_REASON_SHARE, N_REASONS
from support.settings import make_settings

K = 3
NAMES = ("tfidf", "tfidf-neighbours", "tfidf-centroid", "topics-neighbours", "degree", "intercept")
DEGREES = ["in-degree of target", "out-degree of target", "in-degree of source", "out-degree of source"]
TINY = {"n_burn_in": 15, "n_samples": 2, "thin": 1, "n_chains": 1, "negatives": 2, "random_state": 0, "verbose": False}
TINY["calibration"] = None  # probabilities are worked out by hand
BOTH = pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])


class Spy(PairFeature):
    """Makes no number; keeps the training pairs as features see them."""

    name = "spy"

    def fit(self, network, settings, seed):
        self.fitted = FittedSpy()
        return self.fitted

    @property
    def view(self):
        return self.fitted.view


class FittedSpy(FittedFeature):
    name, columns = "spy", ()

    def prepare(self, documents):
        return None

    def pairs(self, new, rows, candidates, outgoing):
        return np.empty((len(rows), 0))

    def known_pairs(self, view):
        self.view = view
        return self.pairs(None, view.new, view.candidates, view.outgoing)


class Leaking(PairFeature):
    """A feature that looks at a training pair as at any other, and so counts its own link."""

    def __init__(self, feature):
        self.feature = feature

    @property
    def name(self):
        return self.feature.name

    def fit(self, network, settings, seed):
        fitted = self.feature.fit(network, settings, seed)
        fitted.known_pairs = lambda view: fitted.pairs(
            fitted.prepare(Documents.of(view.network)), view.new, view.candidates, view.outgoing
        )
        return fitted


# --- slow definitions -------------------------------------------------------------------------------------------------


def tfidf(counts, training):
    """Return unit TF-IDF vectors, by the formulas in scikit-learn's manual."""
    n, frequency = len(training), (training > 0).sum(axis=0)
    vectors = counts * (np.log((1 + n) / (1 + frequency)) + 1)
    return np.array([v / np.sqrt(v @ v) if v.any() else v for v in vectors])


def cosine(a, b):
    product = np.sqrt(a @ a) * np.sqrt(b @ b)
    return a @ b / product if product > 1e-9 else 0.0


def slow_numbers(name, links, directed, new, vectors, candidate, outgoing):
    """Return the numbers of a built-in feature for a new document and a candidate in a network of these links."""
    neighbours = {j for i, j in links if i == candidate} | {i for i, j in links if j == candidate}
    if name == "tfidf":
        return [cosine(new, vectors[candidate])]
    if name.endswith("-neighbours"):
        return [np.mean([cosine(new, vectors[j]) for j in neighbours]) if neighbours else nan]
    if name == "tfidf-centroid":
        total = vectors[candidate].astype(float).copy()
        for j in neighbours:
            total += vectors[j]
        return [cosine(new, total)]
    if name == "degree":
        if not directed:
            return [np.log(1 + len(neighbours))]
        n_in, n_out = (sum(link[end] == candidate for link in links) for end in (1, 0))
        numbers = [np.log(1 + n_in), np.log(1 + n_out)]
        return [*numbers, nan, nan] if outgoing else [nan, nan, *numbers]
    assert name == "intercept"
    return [1.0]


def slow_known_pairs(name, network, vectors, new, candidates, outgoing):
    """Return the numbers of training pairs: for each the network is built again without links between the two."""
    rows = []
    for a, b, way in zip(new.tolist(), candidates.tolist(), outgoing.tolist(), strict=True):
        links = {(i, j) for i, j in network.links.tolist() if {i, j} != {a, b}}
        rows.append(slow_numbers(name, links, network.directed, vectors[a], vectors, b, way))
    return np.array(rows)


def slow_standard(values, mean=None, scale=None):
    """Return numbers in units of the known ones' standard deviation, with those; NaN becomes 0."""
    if mean is None:
        mean, scale = np.zeros(values.shape[1]), np.ones(values.shape[1])
        for column, numbers in enumerate(values.T):
            known = [x for x in numbers.tolist() if x == x]
            if known:
                mean[column] = sum(known) / len(known)
                deviation = np.sqrt(sum((x - mean[column]) ** 2 for x in known) / len(known))
                scale[column] = deviation if deviation > 1e-9 else 1.0
    return np.nan_to_num((values - mean) / scale, nan=0.0), mean, scale


# --- a small network with everything in it ----------------------------------------------------------------------------


N = 14
COLUMNS = {
    "year": [1990, 1992, None, 1990, 1995, 1991, nan, 1999, 1993, 1990, 1992, 1994, 1996, 1990],
    "venue": ["p", "q", "p", None, "q", "q", "r", nan, "p", "p", "r", "q", "s", "p"],
    "authors": [
        ["a", "b"], ["b"], "b", [], None, ["c", "a", "b"], ("a",), {"d", "b"}, ["e"], ["a", "a", "c"], "a", ["f"], [],
        ["b", "c"],
    ],
}  # fmt: skip


def small(directed, seed=0):
    """Draw a network: documents 3 and 12 have no words, 12 and 13 no links, 4 and 5 only each other."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.7, (N, 9)) + np.eye(N, 9, dtype=int)
    counts[[3, 12]] = 0
    counts[8] = counts[2]
    linked = rng.random((N, N)) < 0.2
    linked[[4, 5, 12, 13]] = linked[:, [4, 5, 12, 13]] = False
    linked[4, 5] = linked[0, 3] = linked[1, 2] = linked[6, 7] = linked[7, 6] = True
    if directed:
        linked[5, 4] = linked[2, 1] = True
    else:
        linked = np.triu(linked | linked.T)
    np.fill_diagonal(linked, False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NetworkWarning)  # documents without words
        return DocumentNetwork(
            counts, np.argwhere(linked), directed=directed, ids=[f"d{i}" for i in range(N)], columns=COLUMNS,
            link_ends="indices",
        )  # fmt: skip


def every_pair(network):
    pairs = [(i, j) for i in range(N) for j in range(N) if i != j and (network.directed or i < j)]
    source, target = np.array(pairs, dtype=np.int32).T.copy()
    links = set(map(tuple, network.links.tolist()))
    return TrainingPairs(source, target, np.array([pair in links for pair in pairs]), N)


NEW = np.array([[2, 1, 0, 0, 0, 0, 3, 0, 0], [0] * 9, [0, 0, 0, 0, 0, 0, 0, 0, 5], [1] * 9])
NEW_IDS = np.array(["new", "d4", "other", "d2"], dtype=object)  # some are those of training documents
NEW_COLUMNS = {
    "year": [1993, None, 2020, 1985.5],
    "venue": ["p", "never seen", None, "s"],
    "authors": [["b", "never seen"], None, "a", []],
}


def new_documents(network, counts=NEW, **columns):
    held = {name: np.fromiter(values, dtype=object) for name, values in {**NEW_COLUMNS, **columns}.items()}
    return Documents(csr_array(counts), NEW_IDS, held)


def fitted(features, network, seed=0, pairs=None):
    """Return features fitted on all pairs, the numbers of the pairs, and how the pairs were seen."""
    spy = Spy()
    pairs = every_pair(network) if pairs is None else pairs
    settings = make_settings(n_topics=K)
    result = fit_features([spy, *resolve_features(features)], network, pairs, settings, np.random.SeedSequence(seed))
    return *result, spy.view


def vectors_of(name, feature, network, counts=NEW):
    """Return the vectors that a feature compares, of training documents and of new ones."""
    if name.startswith("topics"):
        return [feature.prepare(Documents(csr_array(c))).toarray() for c in (network.counts, counts)]
    return [tfidf(c, network.counts.toarray()) for c in (network.counts.toarray(), counts)]


# --- training pairs ---------------------------------------------------------------------------------------------------


def test_built_in_names():
    assert set(FEATURES) == set(NAMES)
    assert all(feature.name == name for name, feature in FEATURES.items())
    assert set(DEFAULT) < set(NAMES)


@BOTH
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", NAMES)
def test_training_pairs_do_not_see_their_own_links(name, directed, seed):
    network = small(directed, seed)
    features, numbers, view = fitted([name], network, seed)
    _, feature = features.features
    vectors, _ = vectors_of(name, feature, network)
    raw = slow_known_pairs(name, network, vectors, view.new, view.candidates, view.outgoing)
    np.testing.assert_allclose(feature.known_pairs(view), raw, rtol=0, atol=1e-9)
    if name == "intercept":
        np.testing.assert_array_equal(numbers, 1.0)
        return
    expected, mean, scale = slow_standard(raw)
    np.testing.assert_allclose(numbers, expected, rtol=0, atol=1e-8)
    np.testing.assert_allclose(features.mean, mean, rtol=0, atol=1e-9)
    np.testing.assert_allclose(features.scale, scale, rtol=0, atol=1e-9)
    assert raw[~np.isnan(raw)].std() > 0.05


@BOTH
def test_numbers_of_all_features_stand_in_their_order(directed):
    network = small(directed)
    features, numbers, view = fitted(["degree", "intercept", "tfidf"], network)
    names = [*(DEGREES if directed else ["degree"]), "intercept", "tfidf"]
    assert features.columns == names
    assert numbers.shape == (len(every_pair(network)), len(names))
    for span, feature in zip(features.spans, features.features, strict=True):
        raw = feature.known_pairs(view)
        np.testing.assert_allclose(numbers[:, span], raw if feature.name == "intercept" else slow_standard(raw)[0])
    links = every_pair(network).label
    np.testing.assert_allclose(features.link_mean, numbers[links].mean(axis=0), rtol=0, atol=1e-12)


@BOTH
def test_which_document_is_the_new_one_is_a_fair_coin(directed):
    network = small(directed)
    pairs = every_pair(network)
    coins = []
    for seed in range(30):
        *_, view = fitted(["tfidf"], network, seed)
        np.testing.assert_array_equal(np.where(view.outgoing, view.new, view.candidates), pairs.source)
        np.testing.assert_array_equal(np.where(view.outgoing, view.candidates, view.new), pairs.target)
        coins.append(view.outgoing)
    coins = np.array(coins)
    n = coins.size
    assert abs(coins.mean() - 0.5) < 4 * 0.5 / np.sqrt(n)
    assert abs(coins[:, pairs.label].mean() - 0.5) < 4 * 0.5 / np.sqrt(30 * pairs.label.sum())
    assert len({row.tobytes() for row in coins}) == 30
    together = (coins[:, 1:] == coins[:, :-1]).mean()
    assert abs(together - 0.5) < 4 * 0.5 / np.sqrt(n)
    *_, again = fitted(["degree", "tfidf"], network, 7)
    np.testing.assert_array_equal(again.outgoing, coins[7])


def with_links(network, links):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NetworkWarning)
        return DocumentNetwork(
            network.counts, np.array(sorted(links)), directed=network.directed, ids=network.ids,
            columns=network.columns, link_ends="indices",
        )  # fmt: skip


@BOTH
@pytest.mark.parametrize("name", [name for name in NAMES if name != "intercept"])
def test_a_link_has_no_say_in_the_numbers_of_its_own_pair(name, directed):
    """Whether it is in the network or not; but it has one in those of other pairs."""
    network = small(directed)
    pairs = every_pair(network)
    features, _, view = fitted([name], network)
    before = features.features[1].known_pairs(view)
    links = set(map(tuple, network.links.tolist()))
    changed = set()
    for e in [*np.flatnonzero(pairs.label)[::4], *np.flatnonzero(~pairs.label)[::15]]:
        pair = (int(pairs.source[e]), int(pairs.target[e]))
        other = with_links(network, links ^ {pair})
        features, _, same = fitted([name], other, pairs=pairs)
        np.testing.assert_array_equal(same.outgoing, view.outgoing)
        after = features.features[1].known_pairs(view)
        np.testing.assert_allclose(after[e], before[e], rtol=0, atol=1e-9)
        there = ~np.isclose(after, before, rtol=0, atol=1e-9, equal_nan=True).all(axis=1)
        assert not there[np.isin(pairs.source, pair) & np.isin(pairs.target, pair)].any()  # nor in the other way's
        changed |= set(np.flatnonzero(there))
    assert bool(changed) == (name != "tfidf")


def test_both_ways_are_left_out_of_a_pair_that_has_links_both_ways():
    """Documents 4 and 5 have no link but those with each other."""
    network = small(directed=True)
    pair = TrainingView(network, np.array([4, 5, 4, 5]), np.array([5, 4, 5, 4]), np.array([True, True, False, False]))
    numbers = {}
    for feature in fitted(NAMES, network)[0].features[1:]:
        numbers[feature.name] = feature.known_pairs(pair)
    np.testing.assert_array_equal(numbers["tfidf-neighbours"], nan)
    np.testing.assert_array_equal(numbers["topics-neighbours"], nan)
    np.testing.assert_allclose(numbers["tfidf-centroid"], numbers["tfidf"], rtol=0, atol=1e-9)
    np.testing.assert_array_equal(numbers["degree"], [[0, 0, nan, nan]] * 2 + [[nan, nan, 0, 0]] * 2)


def test_topics_of_neighbours_come_from_words_alone():
    network = small(directed=True)
    other = with_links(network, {(0, 1), (11, 10)})
    for documents in (network.counts, csr_array(NEW)):
        vectors = [
            features.features[1].prepare(Documents(documents)).toarray()
            for features in (
                fitted(["topics-neighbours"], network)[0],
                fitted(["topics-neighbours"], other, pairs=every_pair(network))[0],
            )
        ]
        np.testing.assert_array_equal(*vectors)
        assert vectors[0].shape == (documents.shape[0], K)
        assert (vectors[0] >= 0).all()
        np.testing.assert_allclose((vectors[0] ** 2).sum(axis=1), 1)


# --- new documents ----------------------------------------------------------------------------------------------------


CANDIDATES = {
    "all": np.arange(N),
    "reversed": np.arange(N)[::-1],
    "rotated": np.roll(np.arange(N), 3),
    "chosen": np.array([13, 2, 2, 0, 12, 2, 5]),
    "one": np.array([3]),
    "none": np.array([], dtype=np.int64),
}


@BOTH
@pytest.mark.parametrize("outgoing", [True, False], ids=["outgoing", "incoming"])
@pytest.mark.parametrize("name", NAMES)
def test_new_documents(name, outgoing, directed):
    """All links of the candidates count, in blocks of any documents and candidates as pair by pair."""
    network = small(directed)
    features, *_ = fitted([name], network)
    _, feature = features.features
    old, new = vectors_of(name, feature, network)
    links = set(map(tuple, network.links.tolist()))
    raw = np.array([[slow_numbers(name, links, directed, v, old, j, outgoing) for j in range(N)] for v in new])
    _, prepared = whole = features.prepare(new_documents(network))
    found = feature.pairs(prepared, np.repeat(np.arange(4), N), np.tile(np.arange(N), 4), np.full(4 * N, outgoing))
    np.testing.assert_allclose(found.reshape(raw.shape), raw, rtol=0, atol=1e-9)
    for candidates in CANDIDATES.values():
        for rows in (slice(0, 4), slice(1, 3), slice(3, 4)):
            expected = slow_standard(raw[rows][:, candidates], features.mean, features.scale)[0]
            np.testing.assert_allclose(features.block(whole, rows, candidates, outgoing), expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("most", [1, 5])
@pytest.mark.parametrize("name", ["tfidf", "tfidf-neighbours", "tfidf-centroid", "topics-neighbours"])
def test_candidates_with_many_links(name, most, monkeypatch):
    """Sums of vectors that are kept, and products that are taken in parts, make no difference."""
    features, *_ = fitted([name], small(directed=True))
    _, feature = features.features
    _, prepared = features.prepare(new_documents(None))
    pairs = np.repeat(np.arange(4), N), np.tile(np.arange(N), 4)
    expected = feature.pairs(prepared, *pairs, np.full(4 * N, True))
    details = [feature.detail(prepared, row, candidate, True) for row, candidate in zip(*pairs, strict=True)]
    monkeypatch.setattr(similarity, "HUB_MIN_NEIGHBOURS", 1)
    monkeypatch.setattr(similarity, "MEMBERS_AT_ONCE", most)
    vars(feature).pop("hubs", None)
    vars(feature).pop("norm", None)
    assert (feature.hubs[1] >= 0).any()
    assert (feature.hubs[1] < 0).any()
    np.testing.assert_allclose(feature.pairs(prepared, *pairs, np.full(4 * N, True)), expected, atol=1e-12)
    assert details == [feature.detail(prepared, row, candidate, True) for row, candidate in zip(*pairs, strict=True)]


@pytest.mark.parametrize("name", ["tfidf-neighbours", "tfidf-centroid", "topics-neighbours"])
def test_products_with_all_documents_or_with_members_alone(name, monkeypatch):
    features, *_ = fitted([name], small(directed=True))
    _, feature = features.features
    _, prepared = features.prepare(new_documents(None))
    # Of the first document few pairs, of the last all, in no order.
    pairs = np.array([(row, j) for row in range(4) for j in range(N) if row == 3 or j % 4 < row])
    pairs = np.random.default_rng(0).permutation(pairs).T
    found, made = [], []
    original = similarity._product
    monkeypatch.setattr(similarity, "_product", lambda *given: made.append(1) or original(*given))
    for few in (0, 1, 10**6):
        monkeypatch.setattr(similarity, "DOCUMENTS_PER_MEMBER", few)
        made.clear()
        found.append((feature.pairs(prepared, *pairs, np.full(pairs.shape[1], True)), len(made)))
    assert [n for _, n in found] == sorted({n for _, n in found})
    assert found[0][1] == 0
    for values, _ in found[1:]:
        np.testing.assert_allclose(values, found[0][0], atol=1e-12)


@BOTH
def test_pairs_of_all_features(directed):
    """What holds in both directions is worked out once."""
    network = small(directed)
    given = [*NAMES, Column("year", "difference"), Column("venue"), PairFunction(same_parity, "parity")]
    features, *_ = fitted(given, network)
    prepared = features.prepare(new_documents(network))
    rows, candidates = np.repeat(np.arange(4), N), np.tile(np.arange(N), 4)
    found = features.pairs(prepared, rows, candidates, ["out", "in"])
    for direction, way in (("out", True), ("in", False)):
        expected = features.block(prepared, slice(0, 4), np.arange(N), way)
        np.testing.assert_allclose(found[direction].reshape(expected.shape), expected, atol=1e-9)
        by_column = features.by_column(prepared, slice(0, 4), np.arange(N), way, range(len(features.features)))
        np.testing.assert_allclose(np.stack([by_column[c] for c in sorted(by_column)], axis=2), expected, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_pairs_of_both_directions_at_once(name):
    features, *_ = fitted([name], small(directed=True))
    _, feature = features.features
    _, prepared = features.prepare(new_documents(None))
    rows, candidates = np.repeat(np.arange(4), N), np.tile(np.arange(N), 4)
    outgoing = np.random.default_rng(0).random(4 * N) < 0.5
    out, into = (feature.pairs(prepared, rows, candidates, np.full(4 * N, way)) for way in (True, False))
    mixed = feature.pairs(prepared, rows, candidates, outgoing)
    np.testing.assert_array_equal(mixed, np.where(outgoing[:, None], out, into))


@BOTH
def test_all_features_together_in_a_block(directed):
    network = small(directed)
    given = [*NAMES, Column("year", "difference"), Column("venue"), PairFunction(same_parity, "parity")]
    features, *_ = fitted(given, network)
    prepared = features.prepare(new_documents(network))
    whole = features.block(prepared, slice(1, 4), CANDIDATES["chosen"], False)
    assert whole.shape == (3, 7, len(features.columns))
    assert np.isfinite(whole).all()
    for feature, one, span in zip(features.features, prepared, features.spans, strict=True):
        raw = feature.block(one, slice(1, 4), CANDIDATES["chosen"], False)
        expected = slow_standard(raw, features.mean[span], features.scale[span])[0]
        np.testing.assert_allclose(whole[:, :, span], expected, rtol=0, atol=1e-12)


# --- units ------------------------------------------------------------------------------------------------------------


def numbers_of(values):
    """Return the numbers of pairs for which a function gives these values, in the order of the pairs."""
    return fitted([PairFunction(lambda sources, targets: values, "given")], small(directed=True))[:2]


def test_what_is_not_known_becomes_the_mean():
    n = len(every_pair(small(directed=True)))
    values = np.random.default_rng(0).normal(7, 3, n)
    values[::3] = nan
    features, numbers = numbers_of(values)
    known = values[~np.isnan(values)]
    np.testing.assert_allclose([features.mean[0], features.scale[0]], [known.mean(), known.std()])
    np.testing.assert_array_equal(numbers[::3, 0], 0.0)
    np.testing.assert_allclose(numbers[1::3, 0], (values[1::3] - known.mean()) / known.std())


@pytest.mark.parametrize("constant", [0.0, 0.1, -3.0, 1e6, 1990 / 3, nan])
def test_constant_columns_have_the_unit_one(constant):
    n = len(every_pair(small(directed=True)))
    features, numbers = numbers_of(np.full(n, constant))
    np.testing.assert_allclose(numbers, 0.0, rtol=0, atol=1e-9)
    assert features.scale[0] == 1.0
    values = np.full(n, constant)
    values[5] = nan
    np.testing.assert_allclose(numbers_of(values)[1], 0.0, rtol=0, atol=1e-9)


def test_small_differences_are_differences():
    n = len(every_pair(small(directed=True)))
    values = 1e-7 * np.random.default_rng(0).normal(size=n)
    np.testing.assert_allclose(numbers_of(values)[1].std(), 1.0)
    np.testing.assert_allclose(numbers_of(values + 1990)[1].std(), 1.0, rtol=1e-3)


# --- columns ----------------------------------------------------------------------------------------------------------


def missing(value):
    return value is None or value is pd.NA or (isinstance(value, float) and value != value)


def slow_column(compare, source, target, directed):
    """Return the numbers that the values of a source and of a target make."""
    if missing(source) or missing(target):
        return [nan] * (2 if directed and compare == "difference" else 1)
    if compare == "equal":
        return [float(source == target)]
    if compare == "difference":
        return [abs(source - target), source - target] if directed else [abs(source - target)]
    a, b = ({value} if isinstance(value, str) else set(value) for value in (source, target))
    return [len(a & b) / np.sqrt(len(a) * len(b)) if a and b else 0.0]


@BOTH
@pytest.mark.parametrize(("column", "compare"), [("year", "difference"), ("venue", "equal"), ("authors", "overlap")])
def test_columns(column, compare, directed):
    network = small(directed)
    features, numbers, view = fitted([Column(column, compare)], network)
    _, feature = features.features
    values, new = COLUMNS[column], NEW_COLUMNS[column]
    pairs = every_pair(network)
    ends = zip(pairs.source, pairs.target, strict=True)
    raw = np.array([slow_column(compare, values[i], values[j], directed) for i, j in ends])
    np.testing.assert_allclose(feature.known_pairs(view), raw, rtol=0, atol=1e-12)
    np.testing.assert_allclose(numbers, slow_standard(raw)[0], rtol=0, atol=1e-9)
    assert np.isnan(raw).any()
    prepared = features.prepare(new_documents(network))
    for outgoing in (True, False):
        ends = [[(a, b) if outgoing else (b, a) for b in values] for a in new]
        raw = np.array([[slow_column(compare, *pair, directed) for pair in row] for row in ends])
        for candidates in CANDIDATES.values():
            expected = slow_standard(raw[:, candidates], features.mean, features.scale)[0]
            found = features.block(prepared, slice(0, 4), candidates, outgoing)
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


@BOTH
def test_names_of_columns(directed):
    given = [Column("year", "difference"), Column("venue"), Column("authors", "overlap")]
    features, *_ = fitted(given, small(directed))
    signed = ["year of source - target"] if directed else []
    assert features.columns == ["distance in year", *signed, "same venue", "shared authors"]
    assert len({feature.name for feature in given}) == 3


def test_one_column_may_be_compared_in_several_ways():
    given = [Column("year", "difference"), Column("year", "equal"), Column("year", "overlap")]
    features, numbers, _ = fitted(given, small(directed=True))
    assert len(features.columns) == len(set(features.columns)) == 4
    np.testing.assert_allclose(numbers[:, 2], numbers[:, 3])  # the same numbers: a year is a set of one


def with_column(**columns):
    """Return the small network with other columns."""
    network = small(directed=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NetworkWarning)
        return DocumentNetwork(network.counts, network.links, columns=columns)


def raw_numbers(feature, network):
    features, _, view = fitted([feature], network)
    return features.features[1].known_pairs(view), every_pair(network)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (["a"], "a", 1.0),
        ("ab", ["a", "b"], 0.0),  # a string is one member, not its letters
        ({"a", "b"}, ("b", "a", "b"), 1.0),
        (["a", "b"], ["b", "c", "d"], 6**-0.5),
        ([], ["a"], 0.0),
        ([], [], 0.0),
        (None, ["a"], nan),
        (np.array(["a", "b"]), ["a"], 2**-0.5),
        (7, [7, 8], 2**-0.5),
    ],
)
def test_overlap_of_lists_and_strings(first, second, expected):
    values = [first, second] + [["z"]] * (N - 2)
    raw, pairs = raw_numbers(Column("x", "overlap"), with_column(x=values))
    here = ((pairs.source == 0) & (pairs.target == 1)) | ((pairs.source == 1) & (pairs.target == 0))
    np.testing.assert_allclose(raw[here, 0], [expected] * 2)


@pytest.mark.parametrize("gap", [None, nan, pd.NA, np.float64("nan"), np.float32("nan")], ids=repr)
def test_kinds_of_missing_values(gap):
    years = [1990, gap, *range(2000, 2000 + N - 2)]
    for compare in ("equal", "difference", "overlap"):
        raw, pairs = raw_numbers(Column("x", compare), with_column(x=years))
        unknown = (pairs.source == 1) | (pairs.target == 1)
        assert np.isnan(raw[unknown]).all()
        assert np.isfinite(raw[~unknown]).all()


def test_a_column_that_is_nowhere_known():
    for compare in ("equal", "difference", "overlap"):
        _, numbers, _ = fitted([Column("x", compare)], with_column(x=[None] * N))
        np.testing.assert_array_equal(numbers, 0.0)


@pytest.mark.parametrize(
    ("values", "compare", "message"),
    [
        (["soon"] * N, "difference", "'x' holds 'soon'"),
        ([True] * N, "difference", "'x' holds True"),
        ([[1]] * N, "difference", r"'x' holds \[1\]"),
        ([1.0] * (N - 1) + [np.inf], "difference", "'x' holds inf"),
        ([pd.Timestamp("2020-01-01")] * N, "difference", "'x' holds Timestamp"),
        ([["a"]] * N, "equal", r"'x' holds \['a'\].*\"overlap\""),
        ([{"a"}] * N, "equal", "'x' holds {'a'}"),
        ([[["a"]]] * N, "overlap", r"'x' holds \['a'\]"),
    ],
)
def test_values_that_cannot_be_compared(values, compare, message):
    with pytest.raises(DataError, match=message):
        fitted([Column("x", compare)], with_column(x=values))


def test_lists_within_lists_are_not_told_to_be_compared_by_overlap():
    """Since they were."""
    with pytest.raises(DataError) as error:
        fitted([Column("x", "overlap")], with_column(x=[[["a"]]] * N))
    assert 'by "overlap"' not in str(error.value)


@pytest.mark.parametrize(
    ("compare", "column", "value"),
    [("difference", "year", "soon"), ("equal", "venue", ["p"]), ("overlap", "authors", [["a"]])],
)
def test_values_of_new_documents_that_cannot_be_compared(compare, column, value):
    features, *_ = fitted([Column(column, compare)], small(directed=True))
    with pytest.raises(DataError, match=f"the column '{column}' holds"):
        features.prepare(new_documents(None, **{column: [None, value, None, None]}))


def test_columns_that_are_not_there():
    network = small(directed=True)
    with pytest.raises(DataError, match=r"needs the column 'month'.*are: 'year', 'venue', 'authors'.*columns="):
        fitted([Column("month")], network)
    with pytest.raises(DataError, match=r"needs the column 'x'.*are: none"):
        fitted([Column("x")], DocumentNetwork(NEW[[0, 2, 3]], [(0, 1)]), pairs=TrainingPairs(*np.zeros((3, 0), int), 3))
    with pytest.raises(ValueError, match="compare is 'larger'; it must be 'equal', 'difference', 'overlap'"):
        fitted([Column("year", "larger")], network)
    features, *_ = fitted([Column("venue")], network)
    with pytest.raises(DataError, match=r"'venue'; the columns of new documents are: 'year'.*new_documents"):
        features.prepare(Documents(csr_array(NEW), columns={"year": np.arange(4)}))


# --- matrices ---------------------------------------------------------------------------------------------------------


def some_matrix():
    """Return a matrix over training documents in another order, without d9, and over three others."""
    rng = np.random.default_rng(0)
    ids = [f"d{i}" for i in rng.permutation(N) if i != 9] + ["new", "other", "nobody"]
    matrix = rng.normal(size=(len(ids),) * 2) * (rng.random((len(ids),) * 2) < 0.4)
    return matrix, ids


def slow_entry(matrix, ids, source, target, directed):
    if source not in ids or target not in ids:
        return 0.0
    i, j = ids.index(source), ids.index(target)
    return matrix[i, j] if directed or matrix[i, j] != 0 else matrix[j, i]


@BOTH
@pytest.mark.parametrize("kind", [np.asarray, csr_array, lambda m: csr_array(m).tocoo(), pd.DataFrame])
def test_matrix(kind, directed):
    network = small(directed)
    matrix, ids = some_matrix()
    if not directed:
        matrix *= (matrix.T == 0) | (np.arange(len(ids))[:, None] < np.arange(len(ids)))  # one half is enough
    features, numbers, view = fitted([PairMatrix(kind(matrix), ids, "read together")], network)
    assert features.columns == ["read together"]
    pairs = every_pair(network)
    ends = zip(pairs.source, pairs.target, strict=True)
    raw = np.array([[slow_entry(matrix, ids, f"d{i}", f"d{j}", directed)] for i, j in ends])
    np.testing.assert_allclose(features.features[1].known_pairs(view), raw)
    np.testing.assert_allclose(numbers, slow_standard(raw)[0])
    prepared = features.prepare(new_documents(network))
    for outgoing in (True, False):
        ends = [[(new, f"d{j}") if outgoing else (f"d{j}", new) for j in range(N)] for new in NEW_IDS]
        raw = np.array([[[slow_entry(matrix, ids, *pair, directed)] for pair in row] for row in ends])
        for candidates in CANDIDATES.values():
            expected = slow_standard(raw[:, candidates], features.mean, features.scale)[0]
            np.testing.assert_allclose(features.block(prepared, slice(0, 4), candidates, outgoing), expected)


def test_matrix_of_an_undirected_network_has_no_order():
    """Whichever of two documents is the new one, and whatever stands on both sides of the diagonal."""
    network = small(directed=False)
    matrix, ids = some_matrix()
    feature = fitted([PairMatrix(matrix, ids)], network)[0].features[1]
    a, b = (np.array(x) for x in zip(*[(i, j) for i in range(N) for j in range(N) if i != j], strict=True))
    way = np.full(len(a), True)
    one, other = (feature.known_pairs(TrainingView(network, *ends, way)) for ends in ((a, b), (b, a)))
    np.testing.assert_array_equal(one, other)


IDS = [f"d{i}" for i in range(N)]


def out_of_range():
    matrix = csc_array(np.eye(N))
    matrix.indices[0] = 10**8
    return matrix


@pytest.mark.parametrize(
    ("matrix", "ids", "message"),
    [
        (np.eye(N - 1), IDS, "'m' is a matrix of 13 x 13 with 14 ids"),
        (np.ones((N, 2)), IDS, "14 x 2 with 14 ids"),
        (np.ones(N), IDS, "1 dimensions"),
        (np.ones((N, N, 2)), IDS, "'m'"),
        (np.full((N, N), "x"), IDS, "'m'.*number"),
        (np.full((N, N), None), IDS, "'m'.*number"),
        (None, IDS, "'m'"),
        (np.full((N, N), np.inf), IDS, "'m' is infinite"),
        (out_of_range(), IDS, "'m' is not a sound sparse matrix"),
        (np.eye(N), None, "'m'.*ids"),
        (np.eye(N), [f"e{i}" for i in range(N)], "'m' has no document of the network.*'e0'.*'d0'"),
        (np.eye(N), ["d1"] * N, "'m'.*'d1' twice"),
        (np.eye(N), [["d1"]] * N, "'m'.*not hashable"),
        (np.eye(N), [None, *IDS[1:]], "'m'.*missing"),
    ],
)
def test_matrices_that_cannot_be_used(matrix, ids, message):
    with pytest.raises(DataError, match=message):
        fitted([PairMatrix(matrix, ids, "m")], small(directed=True))


def test_matrix_with_gaps():
    """NaN is what is not known."""
    matrix = np.random.default_rng(0).normal(size=(N, N))
    matrix[:, 3] = nan
    network = small(directed=True)
    _, numbers, _ = fitted([PairMatrix(matrix, IDS)], network)
    np.testing.assert_array_equal(numbers[every_pair(network).target == 3], 0.0)


@pytest.mark.parametrize("feature", [PairMatrix(np.eye(N), IDS, "m"), PairFunction(lambda a, b: a == b, "m")])
def test_pairs_need_ids_of_new_documents(feature):
    features, *_ = fitted([feature], small(directed=True))
    with pytest.raises(DataError, match=r"'m' needs the ids of new documents.*dict.*new_documents"):
        features.prepare(Documents(csr_array(NEW)))


# --- functions --------------------------------------------------------------------------------------------------------


def order(sources, targets):
    """Tell sources from targets."""
    return np.array([17.0 * hash_of(s) + hash_of(t) for s, t in zip(sources, targets, strict=True)])


def hash_of(id):
    return sum(map(ord, id)) % 101


def same_parity(sources, targets):
    return np.array([(hash_of(s) + hash_of(t)) % 2 == 0 for s, t in zip(sources, targets, strict=True)])


def test_function_sees_sources_first():
    network = small(directed=True)
    features, numbers, view = fitted([PairFunction(order, "order")], network)
    assert features.columns == ["order"]
    pairs = every_pair(network)
    raw = order(network.ids[pairs.source], network.ids[pairs.target])[:, None]
    assert 0 < view.outgoing.sum() < len(pairs)
    np.testing.assert_array_equal(features.features[1].known_pairs(view), raw)
    np.testing.assert_allclose(numbers, slow_standard(raw)[0])
    prepared = features.prepare(new_documents(network))
    for candidates in CANDIDATES.values():
        new, old = np.repeat(NEW_IDS, len(candidates)), np.tile(network.ids[candidates], 4)
        for outgoing in (True, False):
            raw = (order(new, old) if outgoing else order(old, new)).reshape(4, -1, 1)
            expected = slow_standard(raw, features.mean, features.scale)[0]
            np.testing.assert_allclose(features.block(prepared, slice(0, 4), candidates, outgoing), expected)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda a, b: [1.0], r"'f' gave .*shape \(1,\).*each of the 182 pairs"),
        (lambda a, b: 1.0, r"'f' gave .*shape \(\)"),
        (lambda a, b: np.ones((len(a), 1)), r"'f' gave .*shape \(182, 1\)"),
        (lambda a, b: ["high"] * len(a), "'f' gave .*number"),
        (lambda a, b: [None] * len(a), "'f' gave .*number"),
        (lambda a, b: None, "'f' gave .*number"),
        (lambda a, b: np.full(len(a), 1j), "'f' gave .*number"),
        (lambda a, b: np.full(len(a), np.inf), "'f' is infinite"),
        (lambda a, b: np.where(np.arange(len(a)) == 17, -np.inf, 1.0), "'f' is infinite"),
    ],
)
def test_functions_that_cannot_be_used(function, message):
    with pytest.raises(DataError, match=message):
        fitted([PairFunction(function, "f")], small(directed=True))


def test_something_that_is_no_function():
    with pytest.raises(ValueError, match="function is 'tfidf'; pass a function"):
        fitted([PairFunction("tfidf")], small(directed=True))


@pytest.mark.parametrize("feature", ["function", "matrix"])
def test_infinite_numbers_of_new_documents(feature):
    """As of training pairs: no probability can be made of them."""

    def function(sources, targets):
        return np.where((sources == "new") | (targets == "new"), np.inf, same_parity(sources, targets))

    matrix = np.random.default_rng(0).normal(size=(N + 1, N + 1))
    matrix[N] = -np.inf
    given = PairFunction(function, "f") if feature == "function" else PairMatrix(matrix, [*IDS, "new"], "f")
    features, *_ = fitted([given], small(directed=True))
    prepared = features.prepare(new_documents(None))
    with pytest.raises(DataError, match="'f' is infinite"):
        features.block(prepared, slice(0, 4), np.arange(N), True)


def test_functions_may_give_whole_numbers_truth_values_and_lists():
    network = small(directed=True)
    _, expected, _ = fitted([PairFunction(lambda a, b: same_parity(a, b).astype(float))], network)
    for kind in (np.asarray, list, pd.Series, lambda values: values.astype(np.int8)):
        _, numbers, _ = fitted([PairFunction(lambda a, b, kind=kind: kind(same_parity(a, b)))], network)
        np.testing.assert_array_equal(numbers, expected)


# --- names ------------------------------------------------------------------------------------------------------------


def test_resolve_features():
    assert resolve_features(None) == resolve_features([]) == []
    assert [feature.name for feature in resolve_features("default")] == list(DEFAULT)
    own = Column("year", "difference")
    assert resolve_features(["degree", own, Similarity("topics", "neighbours")])[1] is own
    assert resolve_features(["degree"], intercept=True) == [Degree(), Intercept()]
    assert resolve_features(["intercept", "degree"], intercept=True) == [Intercept(), Degree()]
    assert resolve_features(None, intercept=True) == [Intercept()]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["tfdif"], "no pair feature is 'tfdif'; the names are 'tfidf', .*'degree'.*Column"),
        (["default", "intercept"], "no pair feature is 'default'"),
        ([None], "no pair feature is None"),
        ([Column], "no pair feature is <class"),
        ([len], "no pair feature is"),
        (["tfidf", "degree", "tfidf"], "'tfidf' twice"),
        (["tfidf", Similarity()], "'tfidf' twice"),
        ([PairFunction(len, "f"), PairFunction(max, "f")], "'f' twice"),
        ([Column("year"), Column("year", "equal")], "twice"),
        ([PairFunction(len, "tfidf"), "tfidf"], "'tfidf' twice"),
        ("tfidf", "pair_features"),
        ("defualt", "pair_features"),
        (3, "pair_features"),
        (True, "pair_features"),
        (len, "pair_features"),
    ],
)
def test_features_that_do_not_exist(given, message):
    with pytest.raises(ValueError, match=message):
        resolve_features(given)
    with pytest.raises(ValueError, match=message):
        RelationalTopicModel(K, **TINY, pair_features=given).fit(NETWORK)


def test_a_bare_name_is_answered_with_a_list():
    with pytest.raises(ValueError, match=r"a list such as \['tfidf'\]"):
        RelationalTopicModel(K, **TINY, pair_features="tfidf").fit(NETWORK)


@pytest.mark.parametrize(("of", "part"), [("bm25", "own"), ("tfidf", "friends"), ("topics", "")])
def test_similarities_that_do_not_exist(of, part):
    with pytest.raises(ValueError, match=repr(part if of != "bm25" else of)):
        fitted([Similarity(of, part)], small(directed=True))


# --- the model --------------------------------------------------------------------------------------------------------


WORDS = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen", "ibis", "jay"]


def make_network(n=30):
    """Draw two groups of documents; links run from the first to the second, and inside the second."""
    rng = np.random.default_rng(0)
    group = np.arange(n) % 2
    counts = rng.poisson(np.where(group[:, None] == np.arange(10) // 5, 1.5, 0.3)) + np.eye(n, 10, dtype=int)
    counts[counts.sum(axis=1) == 0, 0] = 1
    linked = rng.random((n, n)) < np.where(group == 1, 0.15, 0.02)
    linked[[28, 29]] = linked[:, [28, 29]] = False
    ids = [f"d{i}" for i in range(n)]
    links = [(ids[i], ids[j]) for i, j in np.argwhere(linked) if i != j]
    assert {link[::-1] for link in links} & set(links)
    columns = {
        "year": [None if i % 9 == 4 else 1990 + i % 7 for i in range(n)],
        "venue": [None if i % 8 == 5 else "pqr"[i % 3] for i in range(n)],
        "authors": [["u", "v", "w", "x"][i % 4 : i % 4 + 1 + i % 2] for i in range(n)],
    }
    return DocumentNetwork(
        counts, links, ids=ids, vocabulary=WORDS, titles=[f"Title of {id}" for id in ids], columns=columns,
        vectorizer=CountVectorizer(vocabulary=WORDS),
    )  # fmt: skip


NETWORK = make_network()
PAIR_MATRIX = PairMatrix(
    csr_array(np.arange(32 * 32).reshape(32, 32) % 5), [*[f"d{i}" for i in range(30)], "n0", "n2"], "co-read"
)
ALL = [
    *NAMES, Column("year", "difference"), Column("venue"), Column("authors", "overlap"), PAIR_MATRIX,
    PairFunction(order, "order"),
]  # fmt: skip
TEXTS = {"n0": "ant bee bee cat", "n1": "fox gnu gnu hen jay", "n2": "eel", "n3": "dog jay ant fox"}
DOCUMENTS = NETWORK.new_documents(
    TEXTS,
    columns={"year": [1993, None, 2001, 1990], "venue": ["p", "z", None, "q"], "authors": [["u"], "w", [], ["v", "t"]]},
)
MODELS = {
    "directed": {},
    "undirected": {"directed": False},
    "two chains": {"loss": "hinge", "margin": 0.7, "n_chains": 2},
    "diagonal": {"weights": "diagonal", "intercept": True},
    "undirected diagonal hinge": {"directed": False, "weights": "diagonal", "loss": "hinge"},
}
DIRECTIONS = ("both", "out", "in")


def fit(features=ALL, network=NETWORK, **others):
    return RelationalTopicModel(K, **{**TINY, "pair_features": features, **others}).fit(network)


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    return fit(**MODELS[request.param])


@pytest.fixture(scope="module")
def default():
    return fit("default")


def described(model):
    return [sample for sample in model.samples_ if sample.chain == model.best_chain_]


def link_probability(model, score):
    """Return the likelihood of a link over that of link and non-link."""
    if model.loss == "logistic":
        return 1 / (1 + np.exp(-score))
    link, nonlink = (np.exp(-2 * np.maximum(0, model.margin - sign * score)) for sign in (1, -1))
    return link / (link + nonlink)


def numbers_of_new(model, outgoing):
    """Return the numbers of new documents with all candidates, from those of single pairs."""
    features, shape = model._run.features, (len(TEXTS), len(NETWORK))
    new, old = (x.ravel() for x in np.indices(shape))
    raw = [
        feature.pairs(prepared, new, old, np.full(len(new), outgoing))
        for feature, prepared in zip(features.features, features.prepare(Documents.of(DOCUMENTS)), strict=True)
    ]
    return slow_standard(np.concatenate(raw, axis=1), features.mean, features.scale)[0].reshape(*shape, -1)


def scores_of_new(model, sample, outgoing):
    new, old = model._predictor.infer(sample, DOCUMENTS.counts).astype(float), sample.doc_topic.astype(float)
    weights = sample.weights if outgoing else sample.weights.T
    return np.einsum("ik,kl,jl->ij", new, weights, old) + numbers_of_new(model, outgoing) @ sample.feature_weights


def test_features_of_a_fitted_model(model):
    directed = model.network_.directed
    signed = ["year of source - target"] if directed else []
    assert model.feature_names_ == [
        "tfidf", "tfidf-neighbours", "tfidf-centroid", "topics-neighbours", *(DEGREES if directed else ["degree"]),
        "intercept", "distance in year", *signed, "same venue", "shared authors", "co-read", "order",
    ]  # fmt: skip
    weights = np.array([sample.feature_weights for sample in model.samples_])
    assert weights.shape == (2 * model.n_chains, len(model.feature_names_))
    assert (weights != 0).all()
    np.testing.assert_allclose(model.feature_weights_, weights.mean(axis=0))
    np.testing.assert_allclose(model.feature_weights_std_, weights.std(axis=0))
    np.testing.assert_allclose(model.intercept_, model.feature_weights_[model.feature_names_.index("intercept")])


def test_default_features():
    assert fit("default").feature_names_ == ["tfidf", "tfidf-centroid", *DEGREES]
    undirected = fit("default", directed=False)
    assert undirected.feature_names_ == ["tfidf", "tfidf-centroid", "degree"]
    assert undirected.intercept_ == 0.0
    assert RelationalTopicModel().pair_features == "default"


@pytest.mark.parametrize("weights", ["full", "diagonal"])
def test_no_features(weights):
    """None, an empty list and an empty tuple are the same model, and the paper's."""
    one, *others = (fit(features, weights=weights) for features in (None, [], ()))
    assert one.feature_names_ == []
    assert one.feature_weights_.shape == one.feature_weights_std_.shape == (0,)
    assert one.intercept_ == 0.0
    expected = 0.0
    for sample in one.samples_:
        new = one._predictor.infer(sample, DOCUMENTS.counts).astype(float)
        expected = expected + link_probability(one, new @ sample.weights @ sample.doc_topic.T.astype(float)) / 2
    np.testing.assert_allclose(one.predict_links(DOCUMENTS, direction="out"), expected, rtol=1e-9)
    assert set(one.explain_link("d1", "d2").feature) == {""}
    for other in others:
        np.testing.assert_array_equal(other.log_joint_, one.log_joint_)
        np.testing.assert_array_equal(other.predict_links(list(TEXTS.values())), one.predict_links(DOCUMENTS))


def test_the_papers_models_have_no_features():
    assert RelationalTopicModel.from_paper("Gibbs-RTM").pair_features is None
    assert RelationalTopicModel.from_paper("Gibbs-gRTM", pair_features=["tfidf"]).pair_features == ["tfidf"]


def test_intercept():
    names = [fit(features, weights="diagonal", intercept=True).feature_names_ for features in (None, ["intercept"])]
    assert names == [["intercept"]] * 2
    with pytest.raises(ValueError, match="intercept=True goes with weights='diagonal'"):
        fit(intercept=True)


# --- predictions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_predictions_by_hand(model, direction):
    p, q = (
        np.mean([link_probability(model, scores_of_new(model, sample, way)) for sample in model.samples_], axis=0)
        for way in (True, False)
    )
    one_way = direction == "out" or not model.network_.directed
    expected = p if one_way else q if direction == "in" else p + q - p * q
    np.testing.assert_allclose(model.predict_links(DOCUMENTS, direction=direction), expected, rtol=1e-9)
    chosen = [17, 3, 3, 29, 0]
    found = model.predict_links(DOCUMENTS, candidates=[f"d{j}" for j in chosen], direction=direction)
    np.testing.assert_allclose(found, expected[:, chosen], rtol=1e-9)
    assert model.predict_links(DOCUMENTS, candidates=[], direction=direction).shape == (4, 0)
    suggested = model.suggest_links(DOCUMENTS, top=3, direction=direction)
    best = np.argsort(-expected.round(12), axis=1, kind="stable")[:, :3]
    np.testing.assert_array_equal(suggested.id, NETWORK.ids[best.ravel()])
    np.testing.assert_allclose(suggested.probability, np.take_along_axis(expected, best, axis=1).ravel(), rtol=1e-9)


def test_features_have_a_say_in_predictions(model):
    """Each of them: without its weight probabilities are others."""
    before, samples = model.predict_links(DOCUMENTS), model.samples_
    try:
        for number, name in enumerate(model.feature_names_):
            others = np.arange(len(model.feature_names_)) != number
            model.samples_ = [replace(s, feature_weights=s.feature_weights * others) for s in samples]
            assert np.abs(model.predict_links(DOCUMENTS) - before).max() > 1e-6, name
    finally:
        model.samples_ = samples


def test_blocks_and_jobs_change_nothing(model, monkeypatch):
    links, suggestions = model.predict_links(DOCUMENTS), model.suggest_links(DOCUMENTS, top=4)
    for cells, n_jobs in ((1, 1), (1500, 2), (2**22, 2)):
        monkeypatch.setattr(linktopics.prediction.predictor, "BLOCK_CELLS", cells)
        try:
            model.set_params(n_jobs=n_jobs)
            np.testing.assert_allclose(model.predict_links(DOCUMENTS), links, rtol=1e-12)
            pd.testing.assert_frame_equal(model.suggest_links(DOCUMENTS, top=4), suggestions, rtol=1e-12)
        finally:
            model.set_params(n_jobs=None)


def test_documents_are_scored_each_on_their_own(model):
    links = model.predict_links(DOCUMENTS)
    np.testing.assert_allclose(model.predict_links(DOCUMENTS.subset([2, 0, 3])), links[[2, 0, 3]], rtol=1e-12)


def test_texts_by_id():
    """A dict gives the ids that a function or a matrix asks for; a list and counts do not."""
    seen = []

    def spy(sources, targets):
        seen.append((set(sources), set(targets)))
        return same_parity(sources, targets)

    model = fit([PairFunction(spy, "spy"), PAIR_MATRIX])
    known = set(NETWORK.ids)
    assert seen[0][0] <= known
    seen.clear()
    by_id = model.predict_links(TEXTS, direction="out")
    assert seen == [(set(TEXTS), known)]
    np.testing.assert_array_equal(model.predict_links(DOCUMENTS, direction="out"), by_id)
    seen.clear()
    model.predict_links(TEXTS, candidates=["d3"], direction="in")
    assert seen == [({"d3"}, set(TEXTS))]
    assert set(model.suggest_links(TEXTS, top=2).document) == set(range(4))
    assert set(model.explain_link("d1", None, documents=TEXTS).document) == set(range(4))
    for without_ids in (list(TEXTS.values()), "ant", DOCUMENTS.counts):
        with pytest.raises(DataError, match="'spy' needs the ids of new documents"):
            model.predict_links(without_ids)


def test_new_documents_without_ids_are_not_taken_for_training_documents():
    """Where documents go by their numbers, the first new one is not the first training document."""
    network = DocumentNetwork.from_texts(list(TEXTS.values()), [(0, 3), (3, 0)])
    model = fit([PairMatrix(np.arange(16.0).reshape(4, 4), range(4), "m")], network)
    with pytest.raises(DataError, match="'m' needs the ids of new documents"):
        model.predict_links(network.new_documents(["ant"]))


def test_columns_have_to_come_with_new_documents():
    model = fit([Column("year", "difference")])
    for without in (TEXTS, list(TEXTS.values()), "ant", DOCUMENTS.counts, NETWORK.new_documents(TEXTS)):
        with pytest.raises(DataError, match="needs the column 'year'"):
            model.predict_links(without)


def test_built_in_features_need_words_only(default):
    expected = default.predict_links(DOCUMENTS)
    for same in (TEXTS, list(TEXTS.values()), DOCUMENTS.counts, DOCUMENTS.counts.toarray()):
        np.testing.assert_array_equal(default.predict_links(same), expected)


def test_new_documents_warn_of_unseen_words(default):
    with pytest.warns(UnseenWordsWarning, match="1 of 3 words"):
        documents = NETWORK.new_documents({"x": "ant bee lynx"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert default.predict_links(documents).shape == (1, 30)


def test_document_without_words(default):
    with pytest.warns(NetworkWarning, match="without a known word"):
        probabilities = default.predict_links(np.zeros((1, 10), dtype=int))
    assert ((probabilities > 0) & (probabilities < 1)).all()


def test_words_from_links(model):
    probabilities = model.word_probabilities([["d1"], ["d2", "d3"], []])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (probabilities > 0).all()
    np.testing.assert_array_equal(model.word_probabilities([["d1"], ["d2", "d3"], []]), probabilities)
    assert model.word_probabilities(None, [["d1"]]).shape == (1, 10)


def test_network_without_links():
    model = fit(network=DocumentNetwork(NETWORK.counts, ids=NETWORK.ids, columns=NETWORK.columns))
    assert model.n_pairs_ == 0
    assert model.feature_names_ == fit().feature_names_
    assert model.feature_weights_.shape == (len(model.feature_names_),)
    np.testing.assert_allclose(model.transform(DOCUMENTS.counts).sum(axis=1), 1)
    for ask in (lambda: model.predict_links(DOCUMENTS), lambda: model.explain_link("d0", "d1")):
        with pytest.raises(DataError, match="fitted without links"):
            ask()


def test_only_links():
    """Without non-links, too, there are means and units."""
    model = fit("default", negatives=0)
    assert model.n_pairs_ == NETWORK.n_links
    assert np.isfinite(model.predict_links(DOCUMENTS)).all()


# --- reasons ----------------------------------------------------------------------------------------------------------


EXPLAINED = [
    "source_topic",
    "target_topic",
    "source_words",
    "target_words",
    "feature",
    "detail",
    "contribution",
    "share",
]


def check_table(model, table, parts, features):
    """Compare a table with the parts of topics (K x K) and the numbers of features, both from definitions."""
    assert list(table.columns) == EXPLAINED
    assert (np.diff(np.abs(table.contribution)) <= 1e-12).all()
    of_features = table[table.feature != ""]
    assert sorted(of_features.feature) == sorted(feature.name for feature in model._run.features.features)
    assert of_features[EXPLAINED[:2]].isna().all(axis=None)
    weights = np.mean([sample.feature_weights for sample in described(model)], axis=0)
    for feature, span in zip(model._run.features.features, model._run.features.spans, strict=True):
        (row,) = of_features[of_features.feature == feature.name].itertuples()
        np.testing.assert_allclose(row.contribution, features[span] @ weights[span], rtol=0, atol=1e-6)
    found = np.zeros((K, K))
    for row in table[table.feature == ""].itertuples():
        found[row.source_topic, row.target_topic] += row.contribution
        assert row.detail == ""
        assert len(row.source_words.split(", ")) == 3
    np.testing.assert_allclose(found, parts, rtol=0, atol=1e-6)
    np.testing.assert_allclose(table.contribution.sum(), parts.sum() + features @ weights, rtol=0, atol=1e-6)
    for sign in (1, -1):
        side = table[table.contribution * sign > 0]
        np.testing.assert_allclose(side.share, side.contribution / abs(side.contribution.sum()))
        assert not len(side) or np.isclose(side.share.sum(), sign)
    np.testing.assert_array_equal(table[table.contribution == 0].share, 0)


PAIRS = [*NETWORK.links[::12].tolist(), *NETWORK.links[:3, ::-1].tolist(), [28, 29], [0, 28], [29, 1]]


def test_parts_of_training_pairs(model):
    """The source is the new document: its links with the target do not count."""
    network, features = model.network_, model._run.features
    old = tfidf(network.counts.toarray(), network.counts.toarray())
    for source, target in PAIRS:
        table = model.explain_link(f"d{source}", f"d{target}")
        parts = np.mean([np.outer(s.doc_topic[source], s.doc_topic[target]) * s.weights for s in described(model)], 0)
        view = TrainingView(network, np.array([source]), np.array([target]), np.array([True]))
        raw = []
        for feature in features.features:
            if feature.name not in NAMES:
                raw.append(feature.known_pairs(view))
                continue
            topics = feature.name.startswith("topics")
            vectors = feature.prepare(Documents(network.counts)).toarray() if topics else old
            raw.append(slow_known_pairs(feature.name, network, vectors, view.new, view.candidates, view.outgoing))
        numbers = slow_standard(np.concatenate(raw, axis=1), features.mean, features.scale)[0][0]
        check_table(model, table, parts, numbers)


@pytest.mark.parametrize("outgoing", [True, False], ids=["outgoing", "incoming"])
def test_parts_of_new_documents(model, outgoing):
    j = 11
    table = model.explain_link(*((None, f"d{j}") if outgoing else (f"d{j}", None)), documents=DOCUMENTS)
    assert list(table.columns) == ["document", *EXPLAINED]
    assert table.document.is_monotonic_increasing
    numbers = numbers_of_new(model, outgoing)[:, j]
    scores = np.mean([scores_of_new(model, sample, outgoing)[:, j] for sample in described(model)], axis=0)
    np.testing.assert_allclose(table.groupby("document").contribution.sum(), scores, rtol=0, atol=1e-6)
    for i in range(len(TEXTS)):
        parts = np.zeros((K, K))
        for s in described(model):
            new = model._predictor.infer(s, DOCUMENTS.counts[[i]])[0]
            ends = (new, s.doc_topic[j]) if outgoing else (s.doc_topic[j], new)
            parts += np.outer(*ends) * s.weights / len(described(model))
        here = table[table.document == i].drop(columns="document").reset_index(drop=True)
        check_table(model, here, parts, numbers[i])


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_reasons(model, direction):
    """The largest shares of what speaks for a link, as `explain_link` has them, in the direction that it speaks for."""
    found = model.suggest_links(DOCUMENTS, top=3, direction=direction)
    n_features = n_topics = 0
    for row in found.itertuples():
        document = DOCUMENTS.subset([row.document])
        ways = {"→": (None, row.id), "←": (row.id, None)}
        if direction != "both" or not model.network_.directed:
            del ways["→" if direction == "in" and model.network_.directed else "←"]
        tables = {arrow: model.explain_link(*ends, documents=document) for arrow, ends in ways.items()}
        arrow, table = max(tables.items(), key=lambda item: item[1].contribution.sum())
        expected = []
        for part in table[table.share >= MIN_REASON_SHARE].sort_values("share", ascending=False).itertuples():
            here, there = (", ".join(w.split(", ")[:2]) for w in (part.source_words, part.target_words))
            here, there = (here, there) if arrow == "→" else (there, here)
            expected.append((part.share, part.detail or part.feature or f"{here} {arrow} {there}"))
        said = [re.fullmatch(r"([01]\.\d\d) (.+)", reason).groups() for reason in row.why.split("; ") if reason]
        assert [what for _, what in said] == [what for _, what in expected[:N_REASONS]]
        shares = [share for share, _ in expected[:N_REASONS]]
        np.testing.assert_allclose([float(share) for share, _ in said], shares, rtol=0, atol=0.00501)
        assert len(said) <= 3
        n_topics += sum("→" in what or "←" in what for _, what in said)
        n_features += sum(not ("→" in what or "←" in what) for _, what in said)
    assert n_features
    assert n_topics or "diagonal" in model.weights


TOLD = DocumentNetwork.from_texts(
    {
        "cat": "cats purr", "kitten": "cats kittens", "lion": "lions cats roar", "star": "stars shine",
        "sun": "sun shine", "moon": "moon stars", "lone": "purr shine", "far": "moon sun",
    },
    [("kitten", "cat"), ("cat", "kitten"), ("lion", "cat"), ("star", "sun"), ("moon", "star"), ("lone", "far")],
    columns={
        "year": [1990, 1991, None, 1993, 1994, 1995, 1996, 1997],
        "venue": ["zoo", "zoo", "den", None, "sky", "sky", "zoo", "sky"],
        "authors": [["ann", "bob"], ["bob"], "ann", ["eve"], None, ["eve", "bob"], [], ["ann"]],
    },
)  # fmt: skip


@pytest.fixture(scope="module")
def told():
    others = [Column("year", "difference"), Column("venue"), Column("authors", "overlap"), PairFunction(order, "order")]
    return fit([*NAMES, *others], TOLD)


def details(model, *ends, **documents):
    table = model.explain_link(*ends, **documents)
    return dict(zip(table.feature, table.detail, strict=True))


def test_details_of_new_documents(told):
    columns = {"year": [1992], "venue": ["zoo"], "authors": [["bob", "ann", "zed"]]}
    new = TOLD.new_documents({"x": "cats roar purr"}, columns=columns)
    out = details(told, None, "cat", documents=new)
    assert set(re.fullmatch("shared words: (.*)", out["tfidf"])[1].split(", ")) == {"purr", "cats"}
    around = re.fullmatch("shared words with its neighbours: (.*)", out["tfidf-neighbours"])[1]
    assert set(around.split(", ")) == {"cats", "roar"}
    assert set(out["tfidf-centroid"].rpartition(": ")[2].split(", ")) == {"cats", "roar", "purr"}
    assert out["degree"] == "linked to by 2, links to 1"
    assert out["venue (equal)"] == "same venue: zoo"
    assert out["year (difference)"] == "year: 1992 and 1990"
    assert set(out["authors (overlap)"].removeprefix("shared authors: ").split(", ")) == {"ann", "bob"}
    far = details(told, "star", None, documents=new)
    assert far["tfidf"] == "no shared words"
    assert "not known" in far["venue (equal)"]
    assert far["authors (overlap)"] == "no shared authors"
    assert "not known" in details(told, "lion", None, documents=new)["year (difference)"]
    assert "another" in details(told, "lion", None, documents=new)["venue (equal)"]


def test_details_of_training_pairs_leave_out_their_links(told):
    """As the numbers do: the lion is no neighbour of the cat when the question is whether it should be one."""
    pair = details(told, "lion", "cat")
    assert pair["degree"] == "linked to by 1, links to 1"
    assert pair["tfidf-neighbours"] == "shared words with its neighbours: cats"
    assert set(pair["tfidf-centroid"].rpartition(": ")[2].split(", ")) == {"cats"}
    only = details(told, "lone", "far")
    assert only["degree"] == "linked to by 0, links to 0"
    assert only["tfidf-neighbours"] == only["tfidf-centroid"] == "no shared words"
    both = details(told, "kitten", "cat")
    assert both["degree"] == "linked to by 1, links to 0"


def test_explanations_that_cannot_be_given(default):
    with pytest.raises(DataError, match="pass documents="):
        default.explain_link(None, "d1")
    with pytest.raises(DataError, match="one end"):
        default.explain_link("d0", "d1", documents=TEXTS)
    with pytest.raises(DataError, match="no document has the id 'd99'"):
        default.explain_link("d0", "d99")


# --- leakage ----------------------------------------------------------------------------------------------------------


@cache
def make_world(n=100, n_new=60):
    """Draw documents of four groups, with few links inside each; new documents link to old ones."""
    rng = np.random.default_rng(0)
    group = rng.integers(4, size=n + n_new)
    counts = rng.poisson(np.where(group[:, None] == np.arange(16) // 4, 2.0, 0.3))
    counts[counts.sum(axis=1) == 0, 0] = 1
    linked = rng.random((n + n_new,) * 2) < np.where(group[:, None] == group, 0.05, 0.0)
    np.fill_diagonal(linked, False)
    return DocumentNetwork(counts[:n], np.argwhere(linked[:n, :n])), counts[n:], linked[n:, :n]


@cache
def fit_and_test(feature):
    """Return AUC and mean probability of links: of training pairs as they were trained on, and of held-out ones."""
    network, new, truth = make_world()
    model = fit([feature], network, negatives=5, n_burn_in=30)
    links = set(map(tuple, network.links.tolist()))
    drawn = np.random.default_rng(1).integers(len(network), size=(100, 2)).tolist()
    others = {(i, j) for i, j in drawn if i != j} - links
    scores = np.array([model.explain_link(i, j).contribution.sum() for i, j in [*sorted(links), *sorted(others)]])
    is_link = np.arange(len(scores)) < len(links)
    documents = DocumentNetwork(new, ids=[f"new {i}" for i in range(len(new))])
    held_out = model.predict_links(documents, direction="out")
    return {
        "auc": (roc_auc_score(is_link, scores), roc_auc_score(truth.ravel(), held_out.ravel())),
        "probability": (link_probability(model, scores[is_link]).mean(), held_out[truth].mean()),
    }


def is_a_training_link(sources, targets):
    links = set(map(tuple, make_world()[0].links.tolist()))
    return np.array([pair in links for pair in zip(sources, targets, strict=True)])


def test_a_leaking_feature_is_seen_to_leak():
    """It fits the training links and fails those of new documents; the honest one does as well on both."""
    honest = fit_and_test("tfidf-centroid")
    for leaking in (PairFunction(is_a_training_link), Leaking(Similarity("tfidf", "centroid"))):
        leaky = fit_and_test(leaking)
        assert leaky["auc"][0] > honest["auc"][0] + 0.03
        assert leaky["probability"][0] > honest["probability"][0] + 0.05
        assert leaky["probability"][1] < honest["probability"][1] - 0.05
        assert leaky["probability"][0] - leaky["probability"][1] > 0.2
    assert abs(honest["probability"][0] - honest["probability"][1]) < 0.12
    assert fit_and_test(PairFunction(is_a_training_link))["auc"][1] < honest["auc"][1] - 0.15


# --- the same again ---------------------------------------------------------------------------------------------------


def same_models(one, other):
    np.testing.assert_array_equal(one.feature_weights_, other.feature_weights_)
    np.testing.assert_array_equal(one.feature_weights_std_, other.feature_weights_std_)
    np.testing.assert_array_equal(one.log_joints_, other.log_joints_)
    np.testing.assert_array_equal(one.predict_links(DOCUMENTS), other.predict_links(DOCUMENTS))
    np.testing.assert_array_equal(one.word_probabilities([["d1", "d4"]]), other.word_probabilities([["d1", "d4"]]))
    pd.testing.assert_frame_equal(one.suggest_links(DOCUMENTS), other.suggest_links(DOCUMENTS))


def test_the_same_seed_gives_the_same_model():
    one = fit()
    same_models(one, fit())
    same_models(one, one.fit(NETWORK))
    assert (fit(random_state=1).feature_weights_ != one.feature_weights_).all()


def test_jobs_and_chains():
    one, other = (fit(n_chains=2, n_jobs=jobs) for jobs in (1, 2))
    same_models(one, other)
    weights = np.array([sample.feature_weights for sample in one.samples_])
    assert len(weights) == 4
    np.testing.assert_allclose(one.feature_weights_, weights.mean(axis=0))
    np.testing.assert_allclose(one.feature_weights_std_, weights.std(axis=0))
    assert (fit(n_samples=1).feature_weights_std_ == 0).all()


def test_features_do_not_change_the_pairs():
    """Nor which end is the new one: both have random numbers of their own."""
    views = []
    for features in ([], ["topics-neighbours", "degree"]):
        spy = Spy()
        fit([*features, spy])
        views.append(spy.view)
    for name in ("new", "candidates", "outgoing"):
        np.testing.assert_array_equal(*(getattr(view, name) for view in views))
    assert 0.3 < views[0].outgoing.mean() < 0.7


def test_parameters():
    given = [*NAMES[:2], Column("year"), PAIR_MATRIX, PairFunction(order, "order")]
    model = RelationalTopicModel(K, pair_features=given)
    assert model.get_params()["pair_features"] is given
    copied = clone(model)
    assert copied.pair_features is not given
    assert copied.pair_features[:3] == given[:3]
    assert copied.pair_features[4] == given[4]
    assert (copied.pair_features[3].matrix != PAIR_MATRIX.matrix).nnz == 0
    assert model.set_params(pair_features=None).pair_features is None
    assert clone(model).pair_features is None
    assert "pair_features" in repr(RelationalTopicModel(pair_features=["tfidf"]))


def test_fitting_a_clone_and_fitting_again():
    model = fit()
    same_models(model, clone(model).fit(NETWORK))
    assert model.set_params(pair_features=["degree"]).fit(NETWORK).feature_names_ == DEGREES
    assert model.pair_features == ["degree"]


def test_features_can_be_used_by_two_models_at_once():
    """What is learnt stands with the model, not with the feature."""
    feature = Column("venue")
    one = fit([feature])
    before = one.predict_links(DOCUMENTS)
    other = fit([feature], NETWORK.subset(np.arange(29, 5, -1)))
    assert other.predict_links(DOCUMENTS).shape == (4, 24)
    np.testing.assert_array_equal(one.predict_links(DOCUMENTS), before)


@pytest.mark.parametrize("features", ["default", NAMES, ALL], ids=["default", "built in", "all"])
def test_pickle(features):
    model = fit(list(features) if features != "default" else features)
    same_models(model, pickle.loads(pickle.dumps(model)))


# --- evaluation -------------------------------------------------------------------------------------------------------


TO_TEST = {
    "none": None,
    "default": "default",
    "built in": list(NAMES),
    "column": ["tfidf", Column("year", "difference")],
    "matrix": [PAIR_MATRIX],
    "function": [PairFunction(order, "order")],
}


@pytest.mark.parametrize("features", TO_TEST.values(), ids=TO_TEST)
def test_evaluate(features):
    model = RelationalTopicModel(K, **{**TINY, "n_burn_in": 5}, pair_features=features)
    rows = evaluate(NETWORK, {"model": model}, folds=2, words=True, verbose=False).folds
    assert len(rows) == 2
    assert rows[["link_rank", "auc", "word_rank"]].notna().all(axis=None)


def test_evaluate_in_processes_and_again(tmp_path):
    models = {
        name: RelationalTopicModel(K, **{**TINY, "n_burn_in": 5}, pair_features=TO_TEST[name])
        for name in ("none", "default")
    }
    one, other = (
        evaluate(NETWORK, models, folds=2, n_jobs=jobs, resume=tmp_path / "done.jsonl", verbose=False).summary()
        for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.auc, other.auc)
    assert one.auc["none"] != one.auc["default"]


def test_results_of_other_columns_are_not_taken_for_these(tmp_path):
    model = RelationalTopicModel(K, **TINY, pair_features=[Column("year", "difference")])
    aucs = []
    for years in (np.arange(30), np.arange(30)[::-1] ** 2 % 17):
        network = DocumentNetwork(NETWORK.counts, NETWORK.links, columns={"year": years})
        result = evaluate(network, {"model": model}, folds=2, resume=tmp_path / "done.jsonl", verbose=False)
        aucs.append(result.summary().auc["model"])
    assert aucs[0] != aucs[1]


def test_search_over_features():
    grid = {"pair_features": [None, ["tfidf"], "default", ["degree"]]}
    model = RelationalTopicModel(K, **{**TINY, "n_burn_in": 5})
    search = LinkSearchCV(model, grid, folds=2, metric="auc", verbose=False).fit(NETWORK)
    assert search.results_["pair_features"].tolist() == grid["pair_features"]
    assert search.best_params_["pair_features"] == grid["pair_features"][search.results_.auc.argmax()]
    assert search.best_estimator_.pair_features == search.best_params_["pair_features"]
    assert search.predict_links(list(TEXTS.values())).shape == (4, 30)


def test_evaluate_a_search_over_columns():
    model = RelationalTopicModel(K, **{**TINY, "n_burn_in": 5})
    search = LinkSearchCV(model, {"pair_features": [None, [Column("year", "difference")]]}, folds=2, verbose=False)
    rows = evaluate(NETWORK, {"search": search}, folds=2, words=False, verbose=False).folds
    assert rows.link_rank.notna().all()


def test_few_documents_are_compared_without_an_index_of_words(monkeypatch):
    """The products are the same, bit for bit."""
    counts = csr_array(np.random.default_rng(0).poisson(0.3, (60, 40)))
    known = KnownVectors(counts, Tfidf(counts))
    new = known.make(csr_array(np.random.default_rng(1).poisson(0.3, (7, 40))))
    monkeypatch.setattr(vectors, "MAX_SINGLE_COMPARISONS", 8)
    first = known.products(new)
    assert "transposed" not in vars(known)
    np.testing.assert_array_equal(known.products(new), first)
    assert "transposed" in vars(known)
    np.testing.assert_allclose(first, new.toarray() @ known.own.toarray().T, rtol=1e-14)
    known.forget()
    assert not {"own", "transposed"} & set(vars(known))
    np.testing.assert_array_equal(known.products(new), first)


def test_tfidf_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    counts, new = (rng.poisson(0.3, (n, 25)) for n in (40, 9))
    new[7] = 0
    expected = TfidfTransformer().fit(counts).transform(new).toarray()
    vectors = Tfidf(csr_array(counts))(csr_array(new)).toarray()
    np.testing.assert_allclose(vectors, expected, rtol=1e-15)
    assert not vectors[7].any()
