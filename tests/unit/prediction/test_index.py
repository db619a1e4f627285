"""Suggestions from the index, against the exact search."""

import builtins
import pickle
import warnings
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

import linktopics.prediction.index
import linktopics.prediction.predictor
from linktopics import DocumentNetwork, RelationalTopicModel
from linktopics.datasets import make_network
from linktopics.errors import NetworkWarning
from linktopics.features import FEATURES
from linktopics.network.inputs import Documents
from support.marks import some_long

N, N_NEW = 1200, 30
DIRECTIONS = ("both", "out", "in")
MODELS = {
    "default": {},
    "topics alone": {"pair_features": None},
    "undirected": {"directed": False},
    "hinge": {"loss": "hinge", "pair_features": ["tfidf", "tfidf-neighbours", "topics-neighbours", "intercept"]},
}


def make_data():
    network = make_network(N + N_NEW, 6, 400, mean_length=40, mean_degree=6, directed=True, random_state=0)
    return network.subset(np.arange(N)), network.counts[N:]


NETWORK, NEW = make_data()


@pytest.fixture(scope="module", params=some_long(MODELS, ["topics alone", "hinge"]))
def model(request):
    settings = {"n_burn_in": 20, "n_samples": 2, "thin": 1, "n_chains": 2, "negatives": 3, "random_state": 0}
    return RelationalTopicModel(6, **{**settings, **MODELS[request.param]}).fit(NETWORK)


@pytest.fixture(scope="module")
def default():
    settings = {"n_burn_in": 20, "n_samples": 2, "thin": 1, "n_chains": 2, "negatives": 3, "random_state": 0}
    return RelationalTopicModel(6, **settings).fit(NETWORK)


@pytest.fixture
def small(monkeypatch):
    """Take few candidates from each source, as of a large network."""
    monkeypatch.setattr(linktopics.prediction.index, "SOURCE_CANDIDATES", 60)


@pytest.fixture
def without_faiss(monkeypatch):
    original = builtins.__import__

    def refuse(name, *others):
        if name == "faiss":
            raise ImportError(name)
        return original(name, *others)

    monkeypatch.setattr(builtins, "__import__", refuse)


@pytest.fixture
def large(monkeypatch):
    """Let this network count as a large one."""
    monkeypatch.setattr(linktopics.prediction.predictor, "EXACT_MAX_DOCUMENTS", N - 1)
    monkeypatch.setattr(linktopics.prediction.predictor, "EXACT_MAX_NEW_DOCUMENTS", 0)


def recall(exact, found):
    pairs = [set(zip(frame.document, frame.id, strict=True)) for frame in (exact, found)]
    return len(pairs[0] & pairs[1]) / len(pairs[0])


@pytest.mark.parametrize(
    ("model", "direction"),
    some_long(product(MODELS, DIRECTIONS), product(["topics alone", "undirected", "hinge"], DIRECTIONS)),
    indirect=["model"],
)
def test_the_index_finds_nearly_all(model, small, direction):
    """What it finds has the numbers and reasons of the exact search."""
    exact = model.suggest_links(NEW, top=10, direction=direction, search="exact")
    found = model.suggest_links(NEW, top=10, direction=direction, search="index")
    assert recall(exact, found) >= 0.9
    assert found.groupby("document").size().tolist() == [10] * N_NEW
    assert (found.groupby("document").probability.diff().dropna() <= 0).all()
    both = exact.merge(found, on=["document", "id"], suffixes=("", "_found"))
    assert len(both) > 0.9 * len(exact)
    for column in ("probability", "lower", "upper"):
        np.testing.assert_allclose(both[f"{column}_found"], both[column], rtol=1e-9)
    assert (both.why_found == both.why).all()


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_with_everyone_in_the_shortlist_it_is_exact(model, monkeypatch, direction):
    monkeypatch.setattr(linktopics.prediction.index, "SOURCE_CANDIDATES", N)
    exact = model.suggest_links(NEW, top=7, direction=direction, search="exact")
    pd.testing.assert_frame_equal(model.suggest_links(NEW, top=7, direction=direction, search="index"), exact)


def test_few_candidates_are_looked_at(default, small):
    """Of each of four sources, and fewer are scored in double precision."""
    predictor = default.predictor
    new = predictor.new_documents(Documents(NEW), "both")
    sizes = [len(one) for one in predictor.index._find(new, slice(0, N_NEW), ["out", "in"], 60)]
    assert 60 <= min(sizes) <= max(sizes) <= 4 * 60
    kept = np.bincount(predictor.index.shortlist(new, slice(0, N_NEW), ["out", "in"], 10).rows)
    assert linktopics.prediction.index.DOUBLE_PRECISION_CANDIDATES == 50 <= kept.min() <= kept.max() < 60


def test_more_documents_more_candidates(default, small, monkeypatch):
    index = default.predictor.index
    assert index.wanted == 60
    monkeypatch.setattr(linktopics.prediction.index, "DOCUMENTS_PER_SOURCE_CANDIDATE", 4)
    assert index.wanted == N // 4


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("shift", "factor"), some_long([(0, 1), (60, 10), (-60, 10), (400, 100)], [(0, 1), (-60, 10)]))
def test_single_precision_keeps_the_best(model, monkeypatch, direction, shift, factor):
    """Also where many links are certain in double precision, and the first of equals count."""
    samples = [replace(sample, weights=shift + factor * sample.weights) for sample in model.samples_]
    predictor = replace(model.predictor, samples=samples)
    monkeypatch.setattr(linktopics.prediction.index, "SOURCE_CANDIDATES", N)
    monkeypatch.setattr(linktopics.prediction.index, "DOUBLE_PRECISION_CANDIDATES", 0)
    given = Documents(NEW), 7, direction, 0.9
    exact = predictor.suggest(*given, search="exact")
    pd.testing.assert_frame_equal(predictor.suggest(*given, search="index"), exact)


@pytest.mark.parametrize("name", ["tfidf", "tfidf-centroid", "tfidf-neighbours", "topics-neighbours"])
def test_proposals(name, default, monkeypatch):
    """With all words and all documents that share them, they are the best candidates."""
    feature = FEATURES[name].fit(NETWORK, default._run.settings, np.random.SeedSequence(0))
    new = feature.prepare(Documents(NEW))
    monkeypatch.setattr("linktopics.features.similarity.MATCHES_PER_CANDIDATE", N)
    found = feature.proposals(new, slice(2, 9), 25)
    if name == "topics-neighbours":
        assert found is None
        return
    values = np.nan_to_num(feature.block(new, slice(2, 9), np.arange(N), True)[:, :, 0])
    for row, candidates in zip(values, found, strict=True):
        assert len(set(candidates.tolist())) == len(candidates) == 25
        np.testing.assert_allclose(np.sort(row[candidates]), np.sort(row)[-25:], rtol=1e-9)


def test_proposals_without_words(default):
    feature, *_ = default.predictor.features.features
    new = feature.prepare(Documents(0 * NEW[:2]))
    assert [len(one) for one in feature.proposals(new, slice(0, 2), 5)] == [0, 0]


def test_more_is_looked_at_for_more_suggestions(default, small):
    found = default.suggest_links(NEW[:3], top=150, search="index")
    assert found.groupby("document").size().tolist() == [150] * 3


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_what_is_linked_already_is_left_out(model, small, direction):
    degrees = np.bincount(NETWORK.links.ravel(), minlength=N)
    ids = NETWORK.ids[np.argsort(-degrees)[:5]].tolist()
    exact = model.suggest_links_for(ids, direction=direction, search="exact")
    found = model.suggest_links_for(ids, direction=direction, search="index")
    network = model.network_
    for id in ids:
        place = network.index_of(id)
        out = network.links[network.links[:, 0] == place, 1]
        into = network.links[network.links[:, 1] == place, 0]
        linked = {"out": [out], "in": [into], "both": [out, into]}["both" if not network.directed else direction]
        assert not set(found[found.document == id].id) & {id, *network.ids[np.concatenate(linked)].tolist()}
    assert found.groupby("document").size().tolist() == [10] * 5
    assert recall(exact, found) >= 0.9


def test_the_same_again(default, small):
    """Neither another model with the same seed nor other numbers of threads or documents change what is found."""
    found = default.suggest_links(NEW, search="index")
    again = pickle.loads(pickle.dumps(default)).set_params(n_jobs=2)
    assert "index" not in vars(again.predictor)
    pd.testing.assert_frame_equal(again.suggest_links(NEW, search="index"), found)
    alone = again.suggest_links(NEW[[3]], search="index").assign(document=3)
    pd.testing.assert_frame_equal(alone, found[found.document == 3].reset_index(drop=True), rtol=1e-9)


def test_auto(default, monkeypatch):
    """The index is for large networks only."""
    assert linktopics.prediction.index.EXACT_MAX_DOCUMENTS == 100_000
    assert not default.predictor._uses_index("auto")
    monkeypatch.setattr(linktopics.prediction.predictor, "EXACT_MAX_DOCUMENTS", N)
    assert not default.predictor._uses_index("auto")
    monkeypatch.setattr(linktopics.prediction.predictor, "EXACT_MAX_DOCUMENTS", N - 1)
    assert default.predictor._uses_index("auto")
    assert not default.predictor._uses_index("exact")


def test_auto_builds_the_index_when_it_pays(default, monkeypatch):
    """A few questions are answered before an index would be there; after some, it is built."""
    monkeypatch.setattr(linktopics.prediction.predictor, "EXACT_MAX_DOCUMENTS", N - 1)
    monkeypatch.setattr(linktopics.prediction.predictor, "EXACT_MAX_NEW_DOCUMENTS", 3)
    predictor = pickle.loads(pickle.dumps(default)).predictor

    def ask(n):
        return predictor.suggest(Documents(NEW[:n]), 5, "both", 0.9)

    for n in (1, 2):
        pd.testing.assert_frame_equal(ask(n), default.suggest_links(NEW[:n], top=5, search="exact"))
        assert "index" not in vars(predictor)
    found = ask(1)
    assert "index" in vars(predictor)
    pd.testing.assert_frame_equal(found, default.suggest_links(NEW[:1], top=5, search="index"))


def test_without_the_library_a_large_network_is_searched_exactly(default, without_faiss, large):
    default.predictor.index_hint_given = False
    with pytest.warns(NetworkWarning, match=r"pip install 'linktopics\[index\]'") as told:
        found = default.suggest_links(NEW)
    assert "test_index.py" in told[0].filename
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pd.testing.assert_frame_equal(default.suggest_links(NEW), found)  # told once
        pd.testing.assert_frame_equal(default.suggest_links(NEW, search="exact"), found)


def test_the_index_needs_the_library(default, without_faiss):
    with pytest.raises(ImportError, match=r"faiss.*pip install 'linktopics\[index\]'"):
        default.suggest_links(NEW, search="index")


def test_unknown_searches(default):
    with pytest.raises(ValueError, match="search is 'fast'"):
        default.suggest_links(NEW, search="fast")


def test_very_small_networks():
    """With fewer documents than dimensions or lists."""
    network = DocumentNetwork(np.eye(6, dtype=int) + 1, [(0, 1), (2, 3), (4, 5)], link_ends="indices")
    model = RelationalTopicModel(2, n_burn_in=5, n_samples=1, n_chains=1, negatives=1, random_state=0).fit(network)
    new = np.ones((2, 6), dtype=int)
    pd.testing.assert_frame_equal(model.suggest_links(new, search="index"), model.suggest_links(new, search="exact"))


def test_words_in_many_documents_are_not_looked_up(default, monkeypatch):
    """The rarest words of each document are, as many as the limit allows, and one at least."""
    (feature, *_), counts = default.predictor.features.features, NEW
    new = feature.prepare(Documents(counts))
    frequency = np.diff(feature.known_vectors.transposed.indptr)
    monkeypatch.setattr("linktopics.features.similarity.MAX_POSTINGS", 300)
    kept = feature._rarest(new)
    for row in range(N_NEW):
        words, used = new[[row]].indices, kept[[row]].indices
        by_rarity = words[np.argsort(frequency[words], kind="stable")]
        before = np.cumsum(frequency[by_rarity]) - frequency[by_rarity]
        assert set(used) == set(by_rarity[before < 300])
        assert 0 < len(used) < len(words)
