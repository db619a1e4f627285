"""Further links of documents of the network: every pair is scored as `explain_link` takes it apart."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from linktopics import DocumentNetwork, RelationalTopicModel
from linktopics.explorer import Explorer
from linktopics.features import Column
from linktopics.prediction.index import index_library

FEATURES = ["tfidf", "tfidf-centroid", "tfidf-neighbours", "topics-neighbours", "degree", Column("year", "difference")]
SETTINGS = {"n_burn_in": 5, "n_samples": 1, "thin": 1, "n_chains": 1, "negatives": 2, "random_state": 0}
N = 14


def make_network(directed=True):
    """Draw documents with links, many of them both ways."""
    rng = np.random.default_rng(2)
    counts = rng.poisson(0.7, (N, 12)) + np.eye(N, 12, dtype=int) + 1
    linked = rng.random((N, N)) < 0.25
    linked |= linked.T & (rng.random((N, N)) < 0.3)
    np.fill_diagonal(linked, False)
    ids = [f"d{i}" for i in rng.permutation(N)]
    links = [(ids[i], ids[j]) for i, j in np.argwhere(linked)]
    network = DocumentNetwork(counts, links, ids=ids, columns={"year": (1990 + np.arange(N) % 5).tolist()})
    return network if directed else network.to_undirected()


NETWORK = make_network()
LINKS = {(NETWORK.ids[i], NETWORK.ids[j]) for i, j in NETWORK.links}


@pytest.fixture(scope="module")
def model():
    return RelationalTopicModel(3, pair_features=FEATURES, **SETTINGS).fit(NETWORK)


def explained(model, new, candidate, direction):
    """Return the score of a pair, the document `new` being looked at as new, from the parts of it."""
    if direction == "out":
        return model.explain_link(new, candidate)["contribution"].sum()
    return model.explain_link(candidate, new, new_end="target")["contribution"].sum()


def linked(id, direction):
    out = {target for source, target in LINKS if source == id}
    into = {source for source, target in LINKS if target == id}
    return {"out": out, "in": into, "both": out | into}[direction]


@pytest.mark.parametrize("direction", ["out", "in"])
def test_scores_of_all_pairs_are_those_that_are_explained(model, direction):
    """Also of pairs that are linked the other way: that link, and the document, are not among what is known."""
    found = model.suggest_links_for(NETWORK.ids.tolist(), top=N, direction=direction)
    pairs = set(zip(found["document"], found["id"], strict=True))
    assert pairs == {(a, b) for a in NETWORK.ids for b in NETWORK.ids if b != a and b not in linked(a, direction)}
    other = "in" if direction == "out" else "out"
    assert sum(b in linked(a, other) for a, b in pairs) > 20
    expected = [explained(model, a, b, direction) for a, b in zip(found["document"], found["id"], strict=True)]
    np.testing.assert_allclose(found["score"], expected, rtol=1e-6, atol=1e-6)
    assert (found.groupby("document", sort=False)["score"].diff().dropna() <= 0).all()


def test_scores_either_way_are_made_of_those_that_are_explained(model):
    found = model.suggest_links_for(NETWORK.ids.tolist(), top=N)
    assert set(zip(found["document"], found["id"], strict=True)) == {
        (a, b) for a in NETWORK.ids for b in NETWORK.ids if b != a and b not in linked(a, "both")
    }
    for row in found.itertuples():
        out, into = (expit(explained(model, row.document, row.id, direction)) for direction in ("out", "in"))
        assert expit(row.score) == pytest.approx(1 - (1 - out) * (1 - into), rel=1e-6)
        corrected = model.calibration_.of_pairs({"out": np.array(out), "in": np.array(into)})
        assert row.probability == pytest.approx(float(corrected), rel=1e-5)


def test_without_directions():
    model = RelationalTopicModel(3, pair_features=FEATURES, **SETTINGS).fit(make_network(directed=False))
    found = model.suggest_links_for(NETWORK.ids.tolist(), top=N, direction="in")
    assert not any(row.id in linked(row.document, "both") for row in found.itertuples())
    expected = [explained(model, a, b, "out") for a, b in zip(found["document"], found["id"], strict=True)]
    np.testing.assert_allclose(found["score"], expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("direction", ["out", "in"])
def test_reasons_say_nothing_of_the_link_back(model, direction):
    """Details of features, such as words of neighbours and degrees, are those of the explanation."""
    found = model.suggest_links_for(NETWORK.ids.tolist(), top=N, direction=direction)
    names = 0
    for row in found.itertuples():
        ends = (row.document, row.id) if direction == "out" else (row.id, row.document)
        table = model.explain_link(*ends, new_end="source" if direction == "out" else "target")
        told = table[(table["feature"] != "") & (table["share"] >= 0.05)]
        said = [reason.split(" ", 1)[1] for reason in row.why.split("; ") if "→" not in reason and "←" not in reason]
        assert set(said) <= {detail or feature for detail, feature in zip(told.detail, told.feature, strict=True)}
        names += len(said)
    assert names > 50


def test_documents_are_asked_about_one_by_one_or_together(model):
    together = model.suggest_links_for(NETWORK.ids.tolist(), top=3, direction="out")
    for id in NETWORK.ids:
        alone = model.suggest_links_for(id, top=3, direction="out")
        pd.testing.assert_frame_equal(alone, together[together.document == id].reset_index(drop=True))


@pytest.mark.skipif(index_library() is None, reason="faiss is not installed")
@pytest.mark.parametrize("direction", ["both", "out", "in"])
def test_the_index_scores_the_same(model, direction):
    given = {"top": N, "direction": direction}
    exact = model.suggest_links_for(NETWORK.ids.tolist(), search="exact", **given)
    found = model.suggest_links_for(NETWORK.ids.tolist(), search="index", **given)
    pd.testing.assert_frame_equal(found, exact)


def test_pages_of_documents_say_the_same(model):
    """Suggestions of the explorer, and their reasons, for all pairs."""
    pairs = Explorer(model).pairs
    found, K = pairs.suggestions(slice(0, N), N), model.n_topics
    expected = model.suggest_links_for(NETWORK.ids.tolist(), top=N)
    assert NETWORK.ids[found.document].tolist() == expected["document"].tolist()
    assert NETWORK.ids[found.other].tolist() == expected["id"].tolist()
    np.testing.assert_allclose(found.probability, expected["probability"], rtol=1e-9)
    for e, (new, other, outgoing) in enumerate(zip(found.document, found.other, found.outgoing, strict=True)):
        ends = NETWORK.ids[[new, other] if outgoing else [other, new]]
        table = model.explain_link(*ends, new_end="source" if outgoing else "target")
        topics = table[table["feature"] == ""].set_index(["source_topic", "target_topic"])["contribution"].to_dict()
        features = table[table["feature"] != ""].set_index("feature")["contribution"].to_dict()
        names = [feature.name for feature in model.predictor.features.features]
        for what, part in zip(found.reasons.index[e], found.reasons.contribution[e], strict=True):
            if what >= 0:
                its = topics[divmod(int(what), K)] if what < K * K else features[names[what - K * K]]
                assert part == pytest.approx(its, rel=1e-6)


def test_links_of_pages_are_those_that_are_explained(model):
    """Probabilities of links of the network, which are looked at as if they were not there."""
    source, target = NETWORK.links.T
    shown = Explorer(model).pairs.probabilities(source, target)
    scores = [explained(model, a, b, "out") for a, b in NETWORK.ids[NETWORK.links]]
    np.testing.assert_allclose(shown, model.calibration_.probability(expit(scores), "out"), rtol=1e-5)


def test_ends_that_are_none(model):
    with pytest.raises(ValueError, match="new_end is 'both'"):
        model.explain_link("d0", "d1", new_end="both")
