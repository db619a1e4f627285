"""What is shown of a document, and how documents are found, sorted and paged."""

import numpy as np
import pytest

from linktopics import DataError
from linktopics.explorer import Explorer
from support.explored_models import NETWORK, K, N, strict_json

pytestmark = pytest.mark.filterwarnings("ignore::linktopics.errors.MixingWarning")


def test_document(explorer, model):
    for i in range(N):
        document = strict_json(explorer.document(i))
        assert (document["id"], document["title"]) == (NETWORK.ids[i], NETWORK.titles[i])
        assert (document["label"], document["text"]) == (str(i % 2), None)
        assert document["columns"] == {"year": str(1990 + i % 7)}
        shares = np.zeros(K)
        for k, share in document["topics"]:
            shares[k] = share
        np.testing.assert_allclose(shares, explorer.shares[i], atol=0.006)
        assert shares.tolist() == [share if share >= 0.005 else 0 for share in shares]
        assert {word: count for word, count, _ in document["words"]} == {
            NETWORK.vocabulary[w]: int(NETWORK.counts[i, w]) for w in NETWORK.counts[[i]].indices
        }
        for word, _, topic in document["words"]:
            w = NETWORK.vocabulary.tolist().index(word)
            assert topic == np.argmax(model.topic_word_[:, w] * model.doc_topic_[i])
        linked = [*document["links"], *document["suggested"]]
        assert document["names"] == {
            str(link["j"]): {"id": NETWORK.ids[link["j"]], "title": NETWORK.titles[link["j"]]} for link in linked
        }
        probabilities = [link["probability"] for link in document["links"]]
        assert probabilities == sorted(probabilities, reverse=True)


def test_words_that_say_most_come_first(directed):
    explorer = Explorer(directed)
    words, counts, _, begin = explorer.words_of(slice(0, N), 4)
    assert np.diff(begin).max() == 4
    having = (NETWORK.counts.toarray() > 0).sum(axis=0)
    for i in range(N):
        own = slice(begin[i], begin[i + 1])
        weights = NETWORK.counts.toarray()[i] * (1 + np.log((1 + N) / (1 + having)))
        np.testing.assert_allclose(weights[words[own]], -np.sort(-weights)[:4][: own.stop - own.start])
        np.testing.assert_array_equal(NETWORK.counts.toarray()[i, words[own]], counts[own])


def found(explorer, *arguments, **others):
    return [row["i"] for row in explorer.documents(*arguments, **others, size=N)["rows"]]


def test_finding_documents(directed):
    explorer = Explorer(directed)
    assert found(explorer) == list(range(N))
    assert found(explorer, "TITLE OF") == list(range(N))
    place = NETWORK.index_of("d7")
    assert found(explorer, "title of d7") == [place]
    assert found(explorer, "d7 nowhere") == []
    having = [i for i in range(N) if NETWORK.counts[i, 12]]
    assert found(explorer, "Word12") == having
    assert found(explorer, "ord12") == []  # of words, the beginning
    having = [i for i in range(N) if NETWORK.counts[[i], 30:].sum() and NETWORK.counts[i, 4]]
    assert found(explorer, "word3 word4") == [
        i for i in range(N) if NETWORK.counts[[i]][:, [3, *range(30, 40)]].sum() and NETWORK.counts[i, 4]
    ]


def test_sorting_documents(directed):
    explorer = Explorer(directed)
    titles, lengths = NETWORK.titles.tolist(), NETWORK.lengths
    degrees = np.bincount(NETWORK.links.ravel(), minlength=N)
    assert found(explorer, descending=True) == list(range(N))[::-1]
    assert found(explorer, sort="title") == sorted(range(N), key=titles.__getitem__)
    assert found(explorer, sort="tokens") == sorted(range(N), key=lengths.__getitem__)
    assert found(explorer, sort="links", descending=True) == sorted(range(N), key=lambda i: (-degrees[i], i))
    about = [i for i in range(N) if explorer.shares[i, 1] >= 0.1]
    assert found(explorer, topic=1) == about
    assert found(explorer, topic=1, sort="topic", descending=True) == sorted(
        about, key=lambda i: (-explorer.shares[i, 1], i)
    )


def test_pages_of_documents(directed):
    explorer = Explorer(directed)
    parts = [explorer.documents(page=page, size=10) for page in range(4)]
    assert [row["i"] for part in parts for row in part["rows"]] == list(range(N))
    assert {part["total"] for part in parts} == {N}
    row = strict_json(parts[0]["rows"][3])
    assert row["links_out"] == (NETWORK.links[:, 0] == 3).sum()
    assert row["links_in"] == (NETWORK.links[:, 1] == 3).sum()
    assert len(row["topics"]) <= 3
    assert row["topics"] == explorer.document(3)["topics"][:3]


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"sort": "size"}, "cannot be sorted by 'size'"),
        ({"sort": "topic"}, "no topic is given"),
        ({"topic": K}, "no topic 3"),
        ({"topic": -1}, "no topic -1"),
        ({"page": -1}, "page -1"),
        ({"size": 0}, "of 0 rows"),
    ],
)
def test_questions_that_cannot_be_answered(directed, question, message):
    with pytest.raises(DataError, match=message):
        Explorer(directed).documents(**question)


def test_places_that_are_none(directed):
    explorer = Explorer(directed)
    for place in (-1, N):
        with pytest.raises(DataError, match=f"no document {place}"):
            explorer.document(place)
    with pytest.raises(DataError, match="no topic 3"):
        explorer.cell(0, 3)
