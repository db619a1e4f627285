"""Queries about pasted texts: the responses equal those of the model's own methods, in batches of any size."""

import re

import numpy as np
import pytest

from linktopics import DataError
from linktopics.explorer import Explorer
from linktopics.features import Column, PairFunction
from linktopics.prediction.batched_predictor import thinned
from linktopics.server.limits import Limits
from linktopics.server.text_queries import TextQuery, TextQueryEngine
from support.small_models import ASKED, small_model, small_network

ASKED_TOO = [ASKED, "cats, cats and cats", "A comet shines; zeppelins circle moons and milk", "wool"]
pytestmark = pytest.mark.filterwarnings("ignore::linktopics.errors.NetworkWarning")
MODELS = {
    "default": {},
    "hinge": {"loss": "hinge"},
    "no features": {"pair_features": None},
    "one sample": {"n_chains": 1, "n_samples": 1},
    "many features": {"pair_features": ["tfidf-neighbours", "topics-neighbours", "intercept"], "weights": "diagonal"},
}


def models():
    for name, settings in MODELS.items():
        for directed in (True, False):
            yield pytest.param(settings, directed, id=f"{name}-{'directed' if directed else 'undirected'}")


def asked(model, questions, **settings):
    engine = TextQueryEngine(Explorer(model), **settings)
    return engine.suggest([TextQuery(engine.read(text), top, direction) for text, top, direction in questions])


@pytest.mark.parametrize(("settings", "directed"), list(models()))
def test_suggestions_are_those_of_the_model(settings, directed):
    model = small_model(**settings).fit(small_network(directed=directed))
    questions = [
        (text, top, direction) for text in ASKED_TOO for top, direction in ((3, "both"), (10, "in"), (1, "out"))
    ]
    for (text, top, direction), answer in zip(questions, asked(model, questions), strict=True):
        table = model.suggest_links(text, top=top, direction=direction)
        found = answer["suggestions"]
        assert [one["id"] for one in found] == table["id"].tolist()
        for name in ("probability", "lower", "upper"):
            numbers = np.array([np.nan if one[name] is None else one[name] for one in found])
            np.testing.assert_allclose(numbers, table[name], rtol=2e-5, atol=1e-9)
        words = model.predictor.top_words(2)
        for one, why in zip(found, table["why"], strict=True):
            parts = [part.split(" ", 1) for part in re.split(r"; (?=\d\.\d\d )", why) if part]
            assert [sentence(reason, one["direction"], words) for reason in one["why"]] == [what for _, what in parts]
            shares = [float(share) for share, _ in parts]
            assert [reason["share"] for reason in one["why"]] == pytest.approx(shares, abs=0.006)


def sentence(reason, direction, words):
    """Return a reason in the words of `suggest_links`."""
    if "feature" in reason:
        return reason["detail"] or reason["feature"]
    source, target = (", ".join(words[k]) for k in reason["topics"])
    return f"{target} ← {source}" if direction == "in" else f"{source} → {target}"


def test_answers_do_not_depend_on_the_other_questions(directed):
    questions = [(text, 4, direction) for text in ASKED_TOO for direction in ("in", "both")]
    assert asked(directed, questions) == [asked(directed, [question])[0] for question in questions]


def test_topics_are_those_of_the_model(directed):
    for text, answer in zip(ASKED_TOO, asked(directed, [(text, 1, "both") for text in ASKED_TOO]), strict=True):
        (expected,) = directed.transform(text)
        assert dict(map(tuple, answer["topics"])) == pytest.approx(dict(enumerate(expected)), rel=1e-3)
        shares = [share for _, share in answer["topics"]]
        assert shares == sorted(shares, reverse=True)


def test_words(directed):
    (answer,) = asked(directed, [("Cats! Zeppelins 😀 chase the cats.", 1, "both")])
    assert [(word["word"], word["count"], word["known"]) for word in answer["words"]] == [
        ("cats", 2, True), ("zeppelins", 1, False), ("chase", 1, True),
    ]  # fmt: skip
    assert (answer["tokens"], answer["known"], answer["unknown"]) == (4, 3, ["zeppelins"])
    assert answer["marks"] == [(0, 4, 0), (6, 15, 1), (19, 24, 2), (29, 33, 0)]  # the emoji is two units of UTF-16
    cats, zeppelins, _ = answer["words"]
    assert zeppelins["topics"] == []
    assert 0.8 < sum(p for _, p in cats["topics"]) <= 1.001


def test_topics_of_a_word_come_from_the_word_and_from_the_text(directed):
    (answer,) = asked(directed, [(ASKED, 1, "both")])
    engine = TextQueryEngine(Explorer(directed))
    text = engine.read(ASKED)
    samples = [sample for sample in directed.samples_ if sample.chain == directed.best_chain_]
    for word, number in zip(answer["words"], text.word_numbers, strict=True):
        mean = np.zeros(3)
        for sample in samples:
            (share,) = directed.predictor.infer(sample, directed.network_.vectorize([ASKED]))
            p = sample.word_topic[number, :3] * (share * text.n_known + sample.alpha)
            mean += p / p.sum() / len(samples)
        assert dict(word["topics"]) == pytest.approx({k: p for k, p in enumerate(mean) if p >= 0.05}, abs=0.001)


def test_fewer_samples(directed):
    samples, best = directed.samples_, directed.best_chain_
    assert thinned(samples, None, best) == samples
    assert thinned(samples, 99, best) == samples
    for n in range(1, len(samples)):
        some = thinned(samples, n, best)
        assert len(some) == n
        chains = [sample.chain for sample in some]
        assert abs(chains.count(0) - chains.count(1)) <= 1
        assert best in chains
    few = asked(directed, [(ASKED, 10, "both")], n_samples=2)[0]["suggestions"]
    probability = {one["id"]: one["probability"] for one in few}
    kept = thinned(samples, 2, best)
    directed.samples_ = kept
    try:
        table = directed.suggest_links(ASKED, top=10)
    finally:
        directed.samples_ = samples
    assert probability == pytest.approx(dict(zip(table["id"], table["probability"], strict=True)), rel=1e-4)


# ----------------------------------------------------------------------------------------------------------------------
# Reading texts
# ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", " \n\t", "zzz", "<script>zzz</script>", "\x00\ud800\u2028"])
def test_texts_of_which_nothing_is_known(text, directed):
    engine = TextQueryEngine(Explorer(directed))
    read = engine.read(text)
    known, unknown = engine.suggest([TextQuery(engine.read(ASKED)), TextQuery(read)])
    assert known["suggestions"]
    assert (unknown["known"], unknown["topics"], unknown["suggestions"]) == (0, [], [])
    assert unknown["unknown"] == [word["word"] for word in unknown["words"]] == read.words
    assert engine.changes(TextQuery(read), ["cats"])["words"] == []
    with pytest.raises(DataError, match="no word of the model's vocabulary"):
        engine.explain(read, 0)


def test_columns_of_a_text_are_missing():
    network = small_network(columns={"year": list(range(10)), "tags": [["pet"], ["sky"]] * 5})
    features = [Column("year", "difference"), Column("tags", "overlap")]
    model = small_model(pair_features=features).fit(network)
    engine = TextQueryEngine(Explorer(model))
    (answer,) = engine.suggest([TextQuery(engine.read(ASKED), 5)])
    new = network.new_documents([ASKED], columns={"year": [None], "tags": [None]})
    expected = model.suggest_links(new, top=5)
    assert [one["id"] for one in answer["suggestions"]] == expected["id"].tolist()
    np.testing.assert_allclose(
        [one["probability"] for one in answer["suggestions"]], expected["probability"], rtol=2e-5
    )
    assert engine.changes(TextQuery(engine.read(ASKED), 5))["words"]
    assert engine.explain(engine.read(ASKED), 3)["probability"] > 0


def test_features_that_need_an_id():
    feature = PairFunction(lambda sources, targets: np.ones(len(sources)), "one")
    engine = TextQueryEngine(Explorer(small_model(pair_features=[feature]).fit(small_network())))
    with pytest.raises(DataError, match="needs the ids of new documents"):
        engine.suggest([TextQuery(engine.read(ASKED))])


# ----------------------------------------------------------------------------------------------------------------------
# Why two documents link
# ----------------------------------------------------------------------------------------------------------------------


def parts_of(table):
    return [
        {"contribution": row.contribution, "feature": row.feature, "detail": row.detail}
        if row.feature
        else {"contribution": row.contribution, "topics": [row.source_topic, row.target_topic]}
        for row in table.itertuples()
    ]


def test_explanations_are_those_of_the_model(directed):
    engine, ids = TextQueryEngine(Explorer(directed)), directed.network_.ids.tolist()
    for source, target in ((1, 0), (0, 9)):
        answer, table = engine.explain(source, target, top=5), directed.explain_link(ids[source], ids[target])
        assert answer["linked"] == ([source, target] in directed.network_.links.tolist())
        assert answer["score"] == pytest.approx(table["contribution"].sum(), rel=1e-4)
        assert answer["parts_in_all"] == len(table)
        assert answer["source"] == {"j": source, "id": ids[source], "title": f"The {ids[source]}"}
        for told, expected in zip(answer["parts"], parts_of(table.head(5)), strict=True):
            assert told.pop("share") is not None
            assert told.pop("part") == told["contribution"]
            assert told.pop("contribution") == pytest.approx(expected.pop("contribution"), rel=1e-4)
            assert told == expected
    answer, table = engine.explain(engine.read(ASKED), 3), directed.explain_link(None, ids[3], documents=ASKED)
    assert answer["score"] == pytest.approx(table["contribution"].sum(), rel=1e-4)
    assert (answer["source"], answer["linked"], answer["target"]["j"]) == (None, None, 3)
    assert answer["probability"] == pytest.approx(directed.predict_links(ASKED, [ids[3]], "out").item(), rel=1e-4)
    with pytest.raises(DataError, match="does not link to itself"):
        engine.explain(3, 3)


def test_limits_of_words(directed):
    engine = TextQueryEngine(Explorer(directed), Limits(words=3))
    with pytest.raises(DataError, match="4 words; at most 3"):
        engine.read("cats purr cats purr")
