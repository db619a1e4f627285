"""Reasons of suggestions, and the parts of a score, against sums by hand."""

from itertools import chain

import numpy as np
import pytest
from scipy.sparse import csr_array

from linktopics.features import DEFAULT_FEATURES
from linktopics.network.inputs import Documents
from support.two_groups import DIRECTIONS, NETWORK, NEW, K, described, features_of


def topic_names(model, n_words):
    order = np.argsort(-model.topic_word_, axis=1, kind="stable")[:, :n_words]
    return [", ".join(row) for row in NETWORK.vocabulary[order]]


def in_columns(model):
    """Return the columns of each feature, by name."""
    names = ([] if model.pair_features is None else list(DEFAULT_FEATURES)) + ["intercept"] * model.intercept
    degrees = [column for column in model.feature_names_ if "degree" in column]
    assert len(degrees) == (0 if "degree" not in names else 4 if model.network_.directed else 1)
    columns = {name: degrees if name == "degree" else [name] for name in names}
    assert list(chain.from_iterable(columns.values())) == model.feature_names_
    return {name: [model.feature_names_.index(column) for column in of] for name, of in columns.items()}


def feature_parts(model, values):
    """Return what each feature adds to the score of a pair with these values, by name."""
    parts = values * np.mean([sample.feature_weights for sample in described(model)], axis=0)
    return {name: parts[columns].sum() for name, columns in in_columns(model).items()}


def told(model, document, candidate, outgoing):
    """Return what each feature says of a new document and a candidate, by name."""
    features = model.predictor.features
    prepared = features.prepare(Documents(csr_array(NEW)))
    fitted = zip(features.features, prepared, strict=True)
    vocabulary = model.network_.vocabulary
    return {f.name: f.detail(known, document, candidate, outgoing).text(vocabulary) or f.name for f, known in fitted}


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_reasons(model, direction):
    """The largest shares of what speaks for a link, in the direction with the larger score."""
    names = topic_names(model, 2)
    found = model.suggest_links(NEW, top=3, direction=direction)
    features = {"→": features_of(model, NEW, True), "←": features_of(model, NEW, False)}
    arrows, n_features = set(), 0
    for row in found.itertuples():
        at = NETWORK.index_of(row.id)
        topic_parts = {"→": np.zeros((K, K)), "←": np.zeros((K, K))}
        for sample in described(model):
            new, old = model.predictor.infer(sample, csr_array(NEW[[row.document]]))[0], sample.doc_topic[at]
            topic_parts["→"] += np.outer(new, old) * sample.weights / len(described(model))
            topic_parts["←"] += np.outer(new, old) * sample.weights.T / len(described(model))
        if direction == "out" or not model.network_.directed:
            del topic_parts["←"]
        elif direction == "in":
            del topic_parts["→"]
        others = {arrow: feature_parts(model, features[arrow][row.document, at]) for arrow in topic_parts}
        arrow = max(topic_parts, key=lambda arrow: topic_parts[arrow].sum() + sum(others[arrow].values()))
        words = told(model, row.document, at, arrow == "→")
        parts = [(topic_parts[arrow][k, j], f"{names[k]} {arrow} {names[j]}") for k in range(K) for j in range(K)]
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
