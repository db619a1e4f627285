"""Models in other packages: what they are given is what the model says."""

import sys

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.special import expit

from linktopics import DataError, DocumentNetwork, RelationalTopicModel
from linktopics.interop import pyldavis_input, to_networkx, to_polars
from linktopics.network.inputs import Documents
from linktopics.prediction import predictor

pytestmark = pytest.mark.filterwarnings("ignore::linktopics.errors.MixingWarning")

K, N = 3, 22
SETTINGS = {"n_burn_in": 20, "n_samples": 3, "thin": 1, "n_chains": 2, "negatives": 2, "random_state": 0}
FEATURES = ["tfidf", "tfidf-centroid", "tfidf-neighbours", "degree"]
MODELS = {
    "directed": {"pair_features": FEATURES},
    "undirected": {"pair_features": FEATURES, "directed": False},
    "hinge": {"pair_features": ["tfidf"], "loss": "hinge", "margin": 0.7},
    "plain": {"pair_features": None},
    "diagonal": {"pair_features": ["degree"], "weights": "diagonal", "intercept": True},
}


def make_network(**others):
    """Draw two groups of documents with links inside, some both ways."""
    rng = np.random.default_rng(0)
    group = np.arange(N) % 2
    counts = rng.poisson(np.where(group[:, None] == np.arange(10) // 5, 2.0, 0.3)) + np.eye(N, 10, dtype=int)
    counts[np.arange(N), group] += 1
    linked = rng.random((N, N)) < np.where(group[:, None] == group, 0.15, 0.03)
    linked |= linked.T & (rng.random((N, N)) < 0.4)
    np.fill_diagonal(linked, False)
    ids = [f"d{i}" for i in rng.permutation(N)]
    links = [(ids[i], ids[j]) for i, j in np.argwhere(linked)]
    return DocumentNetwork(counts, links, ids=ids, **{"titles": [f"Title of {id}" for id in ids], **others})


NETWORK = make_network()


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    return RelationalTopicModel(K, **SETTINGS, **MODELS[request.param]).fit(NETWORK)


@pytest.fixture(scope="module")
def plain():
    return RelationalTopicModel(K, **SETTINGS, pair_features=None).fit(NETWORK)


def slow_probability(model, source, target):
    """Compute the probability of a pair with the source as the new document, straight from the definition."""
    values = model.predictor.training.values(np.array([source]), np.array([target]), "out")[0]
    total = 0.0
    for sample in model.samples_:
        score = sample.doc_topic[source].astype(float) @ sample.weights @ sample.doc_topic[target].astype(float)
        score += values @ sample.feature_weights
        if model.loss == "hinge":
            score = 2 * (max(0, model.margin + score) - max(0, model.margin - score))
        total += expit(score)
    return total / len(model.samples_)


def all_probabilities(model):
    """Compute the probabilities of all pairs one by one."""
    table = np.array([[slow_probability(model, i, j) if i != j else np.nan for j in range(N)] for i in range(N)])
    own = table if model.network_.directed else (table + table.T) / 2
    return model.calibration_.probability(own, "out")


def test_edges_have_the_probabilities_of_pairs_one_by_one(model):
    graph = to_networkx(model, suggested=3)
    network = model.network_
    index = {id: number for number, id in enumerate(network.ids.tolist())}
    expected = all_probabilities(model)
    assert graph.is_directed() == network.directed
    observed = {edge for *edge, seen in graph.edges(data="observed") if seen for edge in [tuple(edge)]}
    links = {tuple(network.ids[link].tolist()) for link in network.links}
    assert {frozenset(e) for e in observed} == {frozenset(e) for e in links}
    assert not network.directed or observed == links
    for source, target, probability in graph.edges(data="probability"):
        assert probability == pytest.approx(expected[index[source], index[target]], rel=1e-5)
    # The three best of every document that are no links.
    absent = expected.copy()
    absent[tuple(network.links.T)] = np.nan
    if not network.directed:
        absent[tuple(network.links.T[::-1])] = np.nan
    best = {(i, j) for i in range(N) for j in np.argsort(-np.nan_to_num(absent[i], nan=-1))[:3].tolist()}
    found = {(index[a], index[b]) for a, b, seen in graph.edges(data="observed") if not seen}
    if not network.directed:
        best, found = ({tuple(sorted(edge)) for edge in edges} for edges in (best, found))
    assert found == best


@pytest.mark.parametrize("model", ["directed"], indirect=True)
def test_links_that_are_not_returned_are_among_the_pairs_compared(model):
    """A link that points back must be left out of a pair's features, and here this makes a difference."""
    links = {tuple(link) for link in NETWORK.links.tolist()}
    one_way = sorted(link for link in links if link[::-1] not in links)
    assert 5 < len(one_way) < NETWORK.n_links
    target, source = one_way[0]
    features = model.predictor.features
    known = model.predictor.training.values(np.array([source]), np.array([target]), "out")[0]
    block = features.block(features.prepare(Documents.of(NETWORK)), slice(source, source + 1), np.array([target]), True)
    assert not np.allclose(block[0, 0], known)


def test_suggestions_do_not_depend_on_blocks_and_jobs(model, monkeypatch):
    whole = to_networkx(model, suggested=2)
    monkeypatch.setattr(predictor, "PAIR_BLOCK_CELLS", 7 * N)
    monkeypatch.setattr(model, "n_jobs", 2)
    parts = to_networkx(model, suggested=2)
    assert list(parts.edges) == list(whole.edges)
    for edge in whole.edges:
        assert parts.edges[edge]["probability"] == pytest.approx(whole.edges[edge]["probability"], rel=1e-9)


def test_more_suggestions_than_documents_make_a_complete_graph(plain):
    graph = to_networkx(plain, suggested=1000)
    assert graph.number_of_edges() == N * (N - 1)
    assert all(0 <= probability <= 1 for *_, probability in graph.edges(data="probability"))


def test_nodes_have_topics_titles_and_labels():
    labels = ["a", None] * (N // 2)
    network = make_network(labels=labels)
    model = RelationalTopicModel(K, **SETTINGS, pair_features=None).fit(network)
    graph = to_networkx(model)
    assert list(graph) == network.ids.tolist()
    words = model.topics(3)["words"]
    for number, (id, node) in enumerate(graph.nodes(data=True)):
        shares = [node[f"share_{k}"] for k in range(K)]
        np.testing.assert_array_equal(shares, model.doc_topic_[number])
        assert node["topic"] == np.argmax(shares)
        assert node["words"] == words[node["topic"]]
        assert node["title"] == f"Title of {id}"
        assert ("label" in node) == (labels[number] is not None)
        assert node.get("label") == labels[number]


@pytest.mark.parametrize("write", [nx.write_graphml, nx.write_gexf])
def test_graphs_can_be_written_for_other_programs(plain, write, tmp_path):
    graph = to_networkx(plain, suggested=1)
    write(graph, tmp_path / "graph")
    again = (nx.read_graphml if write is nx.write_graphml else nx.read_gexf)(tmp_path / "graph")
    assert set(again.edges) == set(graph.edges)
    edge = next(iter(graph.edges))
    assert again.edges[edge]["probability"] == pytest.approx(graph.edges[edge]["probability"])


def test_without_links_there_is_nothing_to_suggest():
    model = RelationalTopicModel(2, **SETTINGS).fit(NETWORK.without_links())
    assert to_networkx(model).number_of_edges() == 0
    with pytest.raises(DataError, match="without links"):
        to_networkx(model, suggested=1)


@pytest.mark.parametrize("suggested", [-1, 1.5, None])
def test_suggested_must_be_a_number(plain, suggested):
    with pytest.raises(ValueError, match="suggested is"):
        to_networkx(plain, suggested=suggested)


@pytest.mark.parametrize(("package", "call"), [("networkx", to_networkx), ("polars", to_polars)])
def test_a_missing_package_is_named(package, call, monkeypatch, plain):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"pip install 'linktopics\[{package}\]'"):
        call(plain if package == "networkx" else plain.topics())


# pyLDAvis


@pytest.mark.filterwarnings("ignore::linktopics.errors.NetworkWarning")
@pytest.mark.parametrize("vocabulary", [None, ["ant", "bee", "cat", "dog", "eel"]])
def test_pyldavis_gets_distributions_of_documents_and_words_that_occur(vocabulary):
    counts = np.array([[3, 1, 0, 0, 0], [2, 2, 0, 0, 1], [0, 0, 0, 0, 0], [0, 0, 0, 1, 2], [1, 0, 0, 3, 1]])
    network = DocumentNetwork(counts, [(0, 1), (3, 4)], vocabulary=vocabulary)
    model = RelationalTopicModel(2, **SETTINGS).fit(network)
    given = pyldavis_input(model)
    assert set(given) == {"topic_term_dists", "doc_topic_dists", "doc_lengths", "vocab", "term_frequency"}
    np.testing.assert_allclose(given["topic_term_dists"].sum(axis=1), 1)
    np.testing.assert_allclose(given["doc_topic_dists"], model.doc_topic_[[0, 1, 3, 4]])
    assert given["doc_lengths"].tolist() == [4, 5, 3, 5]
    assert given["term_frequency"].tolist() == [6, 3, 4, 4]
    assert given["vocab"] == (["0", "1", "3", "4"] if vocabulary is None else ["ant", "bee", "dog", "eel"])
    ratio = given["topic_term_dists"] / model.topic_word_[:, [0, 1, 3, 4]]
    np.testing.assert_allclose(ratio, ratio[:, :1].repeat(4, axis=1))


def test_the_model_gives_what_pyldavis_takes(plain):
    given, expected = plain.to_pyldavis(), pyldavis_input(plain)
    assert given.keys() == expected.keys()
    for name, values in given.items():
        np.testing.assert_array_equal(values, expected[name])


# polars


def test_polars_frames_hold_the_same(plain):
    topics = to_polars(plain.topics(3))
    assert topics.columns == ["topic", "share", "words", "attraction"]
    assert topics["topic"].to_list() == plain.topics(3).index.tolist()
    assert topics["share"].to_list() == plain.topics(3)["share"].tolist()
    parts = plain.explain_link("d1", "d2")
    assert to_polars(parts)["source_topic"].dtype == pl.Int64
    assert to_polars(parts)["contribution"].to_list() == parts["contribution"].tolist()


def test_what_is_missing_is_null_in_polars():
    frame = pd.DataFrame(
        {
            "lower": [np.nan, np.nan],
            "topic": pd.array([1, pd.NA], dtype="Int64"),
            "id": ["a", 7],
            "when": pd.to_datetime(["2020-01-02", None]),
        }
    )
    table = to_polars(frame)
    assert table["lower"].dtype == pl.Float64
    assert table.rows() == [(None, 1, "a", frame["when"][0].to_pydatetime()), (None, None, "7", None)]
