"""Texts become networks: ids, titles and the vectorizer; what cannot be used is named."""

import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from linktopics.errors import DataError
from linktopics.network import DocumentNetwork
from support.files import TEXTS


def test_from_texts_mapping_and_sequence_agree():
    by_mapping = DocumentNetwork.from_texts(TEXTS, [("tart", "pie"), ("tart", "jam")])
    by_ids = DocumentNetwork.from_texts(list(TEXTS.values()), [("tart", "pie"), ("tart", "jam")], ids=TEXTS)
    by_index = DocumentNetwork.from_texts(list(TEXTS.values()), [(2, 0), (2, 1)])
    assert by_mapping.fingerprint() == by_ids.fingerprint() == by_index.fingerprint()
    assert by_mapping.texts.tolist() == list(TEXTS.values())
    assert by_mapping.vocabulary.tolist() == ["apple", "cinnamon", "jam", "like", "pie", "plum", "tart"]


def test_default_vectorizer_leaves_out_stop_words_numbers_and_single_letters():
    network = DocumentNetwork.from_texts(["The x of 3 and 42 été B2B _private 3d Été"])
    assert network.vocabulary.tolist() == ["b2b", "été"]
    assert network.counts.toarray().tolist() == [[1, 2]]


def test_another_vectorizer():
    network = DocumentNetwork.from_texts(TEXTS, vectorizer=CountVectorizer(analyzer="char"), titles=list("PJT"))
    assert "a" in network.vocabulary.tolist()
    assert network.titles.tolist() == list("PJT")
    assert network.vectorize(["aab"]).sum() == 2


@pytest.mark.parametrize(
    ("texts", "more", "message"),
    [
        ("one text", {}, "texts is a single string"),
        ([], {}, "texts is empty"),
        (["fine", None], {}, r"the text of document 1 \(position 1\) is None, not a string"),
        ({"a": "fine", "b": 3}, {}, r"the text of document 'b' \(position 1\) is 3"),
        (["fine", 3], {"ids": ["a"]}, r"the text of document 1 \(position 1\)"),
        ({"a": "fine"}, {"ids": ["a"]}, "texts is a mapping"),
        (["fine"], {"ids": ["a", "b"]}, "ids has 2 entries for 1 documents"),
        (["the", "of"], {}, "no words are left in 2 texts: they are empty or contain only stop words"),
        (
            ["apple pie", "plum pie"],
            {"vectorizer": TfidfVectorizer()},
            "document 0 .*word 'apple'.*fractional.*not TF-IDF",
        ),
    ],
)
def test_texts_that_cannot_be_used(texts, more, message):
    with pytest.raises(DataError, match=message):
        DocumentNetwork.from_texts(texts, **more)


def test_vectorize_errors():
    with pytest.raises(DataError, match="has no vectorizer"):
        DocumentNetwork([[1, 2]]).vectorize(["a"])
    with pytest.raises(DataError, match="single string"):
        DocumentNetwork.from_texts(TEXTS).vectorize("plum")
    other = CountVectorizer().fit(["one two three"])
    with pytest.raises(DataError, match="the vectorizer gives 3 words, the network has 2"):
        DocumentNetwork([[1, 2]], vectorizer=other).vectorize(["one"])
