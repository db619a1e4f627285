"""Predictions and reasons of models with features of pairs, against sums by hand."""

import re
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import linktopics.prediction.predictor
from linktopics import DataError, DocumentNetwork
from linktopics.errors import NetworkWarning, UnseenWordsWarning
from linktopics.features import (
    Column,
    PairFunction,
    PairMatrix,
)
from linktopics.features.base import TrainingView
from linktopics.network.inputs import Documents
from linktopics.prediction.explanation import MIN_REASON_SHARE, N_REASONS
from support.feature_worlds import (
    DIRECTIONS,
    DOCUMENTS,
    NAMES,
    NETWORK,
    PAIR_MATRIX,
    TEXTS,
    K,
    described,
    fit,
    link_probability,
    order,
    same_parity,
    scores_of_new,
    slow_known_pairs,
    slow_standard,
    tfidf,
    values_of_new,
)

# --- predictions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_predictions_by_hand(model, direction):
    p, q = (
        np.mean([link_probability(model, scores_of_new(model, sample, outgoing)) for sample in model.samples_], axis=0)
        for outgoing in (True, False)
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
        monkeypatch.setattr(linktopics.prediction.predictor, "PAIR_BLOCK_CELLS", cells)
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
    """Compare a table with the parts of topics (K x K) and the values of features, both from definitions."""
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
        values = slow_standard(np.concatenate(raw, axis=1), features.mean, features.scale)[0][0]
        check_table(model, table, parts, values)


@pytest.mark.parametrize("outgoing", [True, False], ids=["outgoing", "incoming"])
def test_parts_of_new_documents(model, outgoing):
    j = 11
    table = model.explain_link(*((None, f"d{j}") if outgoing else (f"d{j}", None)), documents=DOCUMENTS)
    assert list(table.columns) == ["document", *EXPLAINED]
    assert table.document.is_monotonic_increasing
    values = values_of_new(model, outgoing)[:, j]
    scores = np.mean([scores_of_new(model, sample, outgoing)[:, j] for sample in described(model)], axis=0)
    np.testing.assert_allclose(table.groupby("document").contribution.sum(), scores, rtol=0, atol=1e-6)
    for i in range(len(TEXTS)):
        parts = np.zeros((K, K))
        for s in described(model):
            new = model.predictor.infer(s, DOCUMENTS.counts[[i]])[0]
            ends = (new, s.doc_topic[j]) if outgoing else (s.doc_topic[j], new)
            parts += np.outer(*ends) * s.weights / len(described(model))
        here = table[table.document == i].drop(columns="document").reset_index(drop=True)
        check_table(model, here, parts, values[i])


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_reasons(model, direction):
    """The largest shares of what speaks for a link, as `explain_link` has them, in the direction that it speaks for."""
    found = model.suggest_links(DOCUMENTS, top=3, direction=direction)
    n_features = n_topics = 0
    for row in found.itertuples():
        document = DOCUMENTS.subset([row.document])
        ends_by_arrow = {"→": (None, row.id), "←": (row.id, None)}
        if direction != "both" or not model.network_.directed:
            del ends_by_arrow["→" if direction == "in" and model.network_.directed else "←"]
        tables = {arrow: model.explain_link(*ends, documents=document) for arrow, ends in ends_by_arrow.items()}
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
    assert "different" in details(told, "lion", None, documents=new)["venue (equal)"]


def test_details_of_training_pairs_leave_out_their_links(told):
    """As the values do: the lion is no neighbour of the cat when the question is whether it should be one."""
    pair = details(told, "lion", "cat")
    assert pair["degree"] == "linked to by 1, links to 1"
    assert pair["tfidf-neighbours"] == "shared words with its neighbours: cats"
    assert set(pair["tfidf-centroid"].rpartition(": ")[2].split(", ")) == {"cats"}
    only = details(told, "lone", "far")
    assert only["degree"] == "linked to by 0, links to 0"
    assert only["tfidf-neighbours"] == only["tfidf-centroid"] == "no shared words"
    both = details(told, "kitten", "cat")
    assert both["degree"] == "linked to by 1, links to 0"


def test_values_that_are_infinite_for_a_pair_of_training_documents():
    """Such as of a function that saw the pair from one end in training, and from the other now."""
    fitted = False
    model = fit([PairFunction(lambda sources, targets: np.full(len(sources), np.inf if fitted else 1.0), "f")])
    fitted = True
    with pytest.raises(DataError, match="'f' is infinite"):
        model.explain_link("d0", "d1")


def test_explanations_that_cannot_be_given(default):
    with pytest.raises(DataError, match="pass documents="):
        default.explain_link(None, "d1")
    with pytest.raises(DataError, match="one end"):
        default.explain_link("d0", "d1", documents=TEXTS)
    with pytest.raises(DataError, match="no document has the id 'd99'"):
        default.explain_link("d0", "d99")
