"""Networks that grow: documents, words, columns and links are added to those that are there."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from linktopics import DataError, DocumentNetwork, NetworkWarning
from linktopics.errors import UnseenWordsWarning
from support.small_models import FURTHER, FURTHER_LINKS, LINKS, TEXTS, described, small_network


def links_of(network):
    return {tuple(pair) for pair in network.ids[network.links].tolist()}


@pytest.mark.parametrize("directed", [True, False])
def test_further_documents_and_links(directed):
    old = small_network(directed=directed)
    before = described(old)
    new = old.extended({"dog": "cats chase cats", "sun": "stars shine"}, FURTHER_LINKS)
    assert new.ids.tolist() == [*TEXTS, *FURTHER]
    assert new.texts.tolist() == [*TEXTS.values(), "cats chase cats", "stars shine"]
    assert new.directed == directed
    ends = {tuple(sorted(pair)) for pair in LINKS + FURTHER_LINKS}
    assert (links_of(new) if directed else {tuple(sorted(pair)) for pair in links_of(new)}) == (
        set(LINKS + FURTHER_LINKS) if directed else ends
    )
    assert new.vocabulary.tolist() == old.vocabulary.tolist()
    np.testing.assert_array_equal(new.counts[: len(old)].toarray(), old.counts.toarray())
    counted = [dict(zip(new.vocabulary[row.indices], row.data, strict=True)) for row in new.counts[len(old) :]]
    assert counted == [{"cats": 2, "chase": 1}, {"stars": 1, "shine": 1}]
    assert new.report.clean
    np.testing.assert_array_equal(new.vectorize(["cats purr"]).toarray(), old.vectorize(["cats purr"]).toarray())
    assert str(described(old)) == str(before)


def test_words_that_are_not_known():
    old = small_network()
    with pytest.warns(UnseenWordsWarning, match=r"2 of 6 words \(33%\).*'dogs', 'sun'") as caught:
        fixed = old.extended(FURTHER)
    assert caught[0].filename == __file__
    assert fixed.n_words == old.n_words
    grown = old.extended(FURTHER, grow_vocabulary=True)
    assert grown.vocabulary.tolist() == [*old.vocabulary, "dogs", "sun"]
    np.testing.assert_array_equal(grown.counts[:, : old.n_words].toarray(), fixed.counts.toarray())
    np.testing.assert_array_equal(grown.counts[:, old.n_words :].toarray()[-2:], [[1, 0], [0, 1]])
    assert not grown.counts[: len(old), old.n_words :].nnz
    assert grown.vectorize(["dogs purr"]).sum() == 2
    assert old.vectorize(["dogs purr"]).sum() == 1
    more = grown.extended({"moth": "moths circle the sun"}, grow_vocabulary=True)
    assert more.vocabulary.tolist()[-3:] == ["dogs", "sun", "moths"]
    assert old.extended({"dog": "cats"}, grow_vocabulary=True).vocabulary.tolist() == old.vocabulary.tolist()


def test_the_vocabulary_grows_by_what_the_vectorizer_finds():
    old = small_network(vectorizer=CountVectorizer(ngram_range=(1, 2), stop_words=["and"], lowercase=False))
    new = old.extended({"dog": "Dogs and cats drink milk"}, grow_vocabulary=True)
    assert new.vocabulary.tolist()[old.n_words :] == ["Dogs", "Dogs cats"]
    assert {"drink", "milk", "cats drink", "drink milk"} < set(old.vocabulary)


def test_words_that_were_left_out_stay_out():
    old = small_network(vectorizer=CountVectorizer(min_df=2, stop_words=["and"]))
    new = old.extended({"dog": "dogs drink milk and purr"}, grow_vocabulary=True)
    assert not {"drink", "milk"} & set(old.vocabulary), "one document has them"
    assert new.vocabulary.tolist() == [*old.vocabulary, "dogs"]
    without = DocumentNetwork(old.counts, ids=old.ids, vocabulary=old.vocabulary, vectorizer=old.vectorizer)
    with pytest.raises(DataError, match="if the network has its texts"):
        without.extended({"dog": "dogs purr"}, grow_vocabulary=True)


def test_columns_are_joined():
    old = small_network(titles=[name.title() for name in TEXTS], columns={"year": list(range(10)), "venue": ["A"] * 10})
    texts = {"dog": "cats chase", "sun": "stars shine"}
    new = old.extended(texts, titles=["Dog", "Sun"], labels=["x", "y"], columns={"year": [10, 11], "pages": [1, 2]})
    assert new.titles.tolist() == [*old.titles, "Dog", "Sun"]
    assert new.labels.tolist() == [*[None] * 10, "x", "y"]
    assert {name: values.tolist() for name, values in new.columns.items()} == {
        "year": list(range(12)),
        "venue": [*["A"] * 10, None, None],
        "pages": [*[None] * 10, 1, 2],
    }
    bare = old.extended(texts)
    assert bare.titles.tolist() == [*old.titles, None, None]
    assert bare.labels is None
    assert bare.columns["year"].tolist() == [*range(10), None, None]
    for wrong in ({"titles": ["Dog"]}, {"labels": ["x"] * 3}, {"columns": {"year": [1]}}):
        with pytest.raises(DataError, match=r"values for 2 new documents"):
            old.extended(texts, **wrong)


def test_ids():
    named = small_network()
    assert named.extended(["cats purr"], ids=["dog"]).ids.tolist() == [*TEXTS, "dog"]
    with pytest.raises(DataError, match="the new documents have none"):
        named.extended(["cats purr"])
    with pytest.raises(DataError, match="'cat' twice"):
        named.extended({"cat": "cats purr"})
    numbered = DocumentNetwork.from_texts(list(TEXTS.values()), [(0, 1), (2, 5)])
    more = numbered.extended(["cats purr", "cats sleep"], [(10, 11), (11, 0)])
    assert more.ids.tolist() == list(range(12))
    assert more.links.tolist() == [[0, 1], [2, 5], [10, 11], [11, 0]]


def test_numbers_go_on():
    numbered = DocumentNetwork.from_texts(list(TEXTS.values()))
    assert numbered.extended(["cats purr"]).extended(["cats sleep"]).ids.tolist() == list(range(12))


def test_what_is_odd_is_told():
    old, texts = small_network(), {"dog": "cats purr"}
    odd = [("dog", "dog"), ("dog", "cow"), ("kitten", "cat"), ("dog", "cat")]
    with pytest.warns(NetworkWarning, match="unknown end.*self link.*duplicate link"):
        new = old.extended(texts, odd)
    assert links_of(new) == {*LINKS, ("dog", "cat")}
    for link in odd[:3]:
        with pytest.raises(DataError, match="the network has 1"):
            old.extended(texts, [link], strict=True)
    with pytest.raises(DataError, match="document without words"), pytest.warns(UnseenWordsWarning):
        old.extended({"dog": "barks"}, strict=True)
    assert old.extended(texts, odd[3:], strict=True).n_links == 11


class Lengths:
    """A vectorizer that tells nothing of how it works: the vocabulary are lengths of words."""

    def fit_transform(self, texts):
        return self.transform(texts)

    def transform(self, texts):
        return np.array([[sum(len(word) == n for word in text.split()) for n in range(1, 9)] for text in texts])

    def get_feature_names_out(self):
        return [str(n) for n in range(1, 9)]


def test_other_vectorizers():
    old = small_network(vectorizer=Lengths())
    assert old.extended({"dog": "cats purr"}).counts[[10]].toarray().tolist() == [[0, 0, 0, 2, 0, 0, 0, 0]]
    with pytest.raises(DataError, match=r"leave out grow_vocabulary=True"):
        old.extended({"dog": "cats purr"}, grow_vocabulary=True)
    for grow in (False, True):
        with pytest.raises(DataError, match="vectorizer"):
            DocumentNetwork([[1, 2], [2, 0]]).extended(["cats"], grow_vocabulary=grow)
    with pytest.raises(DataError, match="empty"):
        old.extended({})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"links": 5}, "links is 5; pass pairs of documents"),
        ({"links": sparse.coo_array((3, 3))}, "links is a coo_array; pass pairs of documents"),
        ({"links": [("new", "cat"), 7]}, r"links\[1\] is 7; each link is a pair"),
        ({"links": np.ma.masked_array([["new", "cat"]], mask=[[0, 1]])}, "links has masked values"),
        ({"titles": 5}, "titles is of type int; pass a list with one entry for each of the 1 new documents"),
        ({"labels": "x"}, "labels is a single string"),
        ({"columns": [1]}, "columns is a list; pass a dict"),
        ({"columns": {"year": 5}}, r"columns\['year'\] is of type int"),
        ({"columns": {"year": None}}, r"columns\['year'\] is of type NoneType"),
    ],
)
def test_extensions_that_cannot_be_read(arguments, message):
    with pytest.raises(DataError, match=message):
        DocumentNetwork.from_texts(TEXTS, [("cat", "mouse")]).extended({"new": "cats purr"}, **arguments)


def test_extension_by_a_frame_of_links():
    more = pd.DataFrame({"source": ["new"], "target": ["cat"]})
    network = DocumentNetwork.from_texts(TEXTS).extended({"new": "cats purr"}, more)
    assert network.links.tolist() == [[10, 0]]
