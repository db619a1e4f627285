"""What leaving out or adding a word changes: the answers without it or with it."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from linktopics import DocumentNetwork
from linktopics.explorer import Explorer
from linktopics.server.text_queries import TextQuery, TextQueryEngine
from support.small_models import small_model, small_network

pytestmark = pytest.mark.filterwarnings("ignore::linktopics.errors.NetworkWarning")


def changes(model, text, top=4, add=(), direction="both"):
    engine = TextQueryEngine(Explorer(model))
    return engine.changes(TextQuery(engine.read(text), top, direction), add)


def first(answer):
    return {one["j"]: one["probability"] for one in answer["suggestions"]}


@pytest.mark.parametrize("direction", ["both", "in"])
def test_leaving_a_word_out_is_asking_without_it(directed, direction):
    text = "kittens purr while planets circle stars and stars"
    whole = changes(directed, text, direction=direction)
    assert {row["word"] for row in whole["words"]} == {"kittens", "purr", "planets", "circle", "stars"}
    for row in whole["words"]:
        other = changes(directed, text.replace(row["word"], ""), direction=direction)
        before, after = first(whole), first(other)
        assert row["gone"] == [j for j in before if j not in after]
        assert row["new"] == [j for j in after if j not in before]
        told = {one["j"]: one["change"] for one in row["suggestions"]}
        both = [j for j in before if j in after]
        expected = [after[j] - before[j] for j in both]
        assert [told.get(j, 0.0) for j in both] == pytest.approx(expected, abs=0.005)
        assert max(map(abs, told.values())) > 0.0005
    assert set(whole["names"]) >= {str(j) for row in whole["words"] for j in [*row["gone"], *row["new"]]}


def test_adding_a_word_is_asking_with_it(directed):
    whole = changes(directed, "kittens purr", add=["Stars", "zeppelin", "cats", "stars"])
    assert [row["word"] for row in whole["added"]] == ["Stars", "cats", "stars"]
    assert whole["unknown"] == ["zeppelin"]
    other = changes(directed, "kittens purr stars")
    (row, *_), before, after = whole["added"], first(whole), first(other)
    assert row["new"] == [j for j in after if j not in before]
    both = [j for j in before if j in after]
    told = {one["j"]: one["change"] for one in row["suggestions"]}
    assert [told.get(j, 0.0) for j in both] == pytest.approx([after[j] - before[j] for j in both], abs=0.005)


def test_topics_change_with_their_words(directed):
    """A word about one topic alone takes its share with it."""
    K, engine = 3, TextQueryEngine(Explorer(directed))
    text = "kittens purr and stars shine"
    (answer,) = engine.suggest([TextQuery(engine.read(text))])
    for row in changes(directed, text)["words"]:
        (word,) = (one for one in answer["words"] if one["word"] == row["word"])
        topic, p = word["topics"][0]
        change = dict(map(tuple, row["topics"]))
        assert abs(sum(change.values())) < 0.01 if len(change) == K else True
        if p > 0.95:
            assert change[topic] < 0


def test_changes_of_a_single_word(directed):
    (row,) = changes(directed, "kittens")["words"]
    assert row["word"] == "kittens"
    assert all(np.isfinite(one["change"]) for one in row["suggestions"])


def test_changes_are_of_the_words_with_most_weight():
    words = [f"w{number}" for number in range(130)]
    texts = [" ".join(words), *(" ".join(words[:30]) for _ in range(9))]
    links = [(number, number + 1) for number in range(9)]
    model = small_model().fit(DocumentNetwork.from_texts(texts, links))
    told = [row["word"] for row in changes(model, " ".join(words))["words"]]
    assert sorted(told) == sorted(words[30:])


def test_changes_where_counts_do_not_count():
    model = small_model().fit(small_network(vectorizer=CountVectorizer(binary=True)))
    answer = changes(model, "kittens kittens purr", add=["kittens"])
    (row,) = answer["added"]
    assert (row["topics"], row["suggestions"], row["gone"], row["new"]) == ([], [], [], [])
