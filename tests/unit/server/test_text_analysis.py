"""Texts are read as the vectorizer of the model reads them."""

import warnings

import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from linktopics import DataError, DocumentNetwork
from linktopics.explorer import Explorer
from linktopics.server.text_analysis import TextReader, words_as_vectorizer
from linktopics.server.text_queries import TextQueryEngine
from support.small_models import ASKED, small_model, small_network

pytestmark = pytest.mark.filterwarnings("ignore::linktopics.errors.NetworkWarning")
VECTORIZERS = {
    "default": None,
    "pairs of words": CountVectorizer(ngram_range=(1, 2)),
    "once": CountVectorizer(binary=True),
    "accents": CountVectorizer(strip_accents="unicode"),
    "capitals": CountVectorizer(lowercase=False),
    "group": CountVectorizer(token_pattern=r"(?u)\b(\w\w+?)s?\b"),
    "letters": CountVectorizer(analyzer="char", ngram_range=(2, 2)),
    "tokenizer": CountVectorizer(tokenizer=str.split, token_pattern=None),
    "analyzer": CountVectorizer(analyzer=str.split),
}
ODD_TEXTS = [
    "İstanbul cats, CATS",
    "Ǆ ﬁ cats 😀 moons",
    "cáts cats\u2028stars\x00 \ud800 planets",
    "<b>cats</b> & 'moons'",
]


@pytest.mark.parametrize("name", VECTORIZERS)
@pytest.mark.parametrize("text", [ASKED, *ODD_TEXTS])
def test_texts_are_counted_as_the_vectorizer_does(name, text):
    network = small_network(vectorizer=VECTORIZERS[name])
    read = TextReader(network, 1000).read(text)
    row = network.vectorize([text])
    assert read.known.tolist() == row.indices.tolist()
    assert read.known_counts.tolist() == row.data.tolist()
    unknown = {word: n for word, n, at in zip(read.words, read.counts, read.word_numbers, strict=True) if at < 0}
    assert unknown == dict(network.unseen_words([text])[0])
    units = text.encode("utf-16-le", "surrogatepass")
    for begin, end, at in read.marks:
        piece = units[2 * begin : 2 * end].decode("utf-16-le", "surrogatepass")
        assert network.vectorizer.build_analyzer()(piece)[:1] == [read.words[at]]
    told = name not in ("letters", "tokenizer", "analyzer")
    assert (len(read.marks) > 0) == told


def test_a_vectorizer_that_tells_nothing():
    class Plain:
        def transform(self, texts):
            return CountVectorizer(vocabulary=["cats", "moons"]).transform(texts)

    network = DocumentNetwork([[1, 0], [0, 1]], [(0, 1)], vocabulary=["cats", "moons"], vectorizer=Plain())
    read = TextReader(network, 10).read("moons and moons")
    assert (read.words, read.counts, read.word_numbers, read.marks) == (["moons"], [2], [1], [])


def test_vectorizers_of_other_kinds_count_themselves():
    network = small_network()
    network.vectorizer = TfidfVectorizer(use_idf=False, norm=None, vocabulary=network.vocabulary.tolist()).fit([""])
    read = TextReader(network, 10).read("cats, cats, moons and zeppelins")
    assert sorted(zip(read.known.tolist(), read.known_counts.tolist(), strict=True)) == sorted(
        (network.vocabulary.tolist().index(word), n) for word, n in (("cats", 2), ("moons", 1))
    )


class Folded(TfidfVectorizer):
    """Counts words as another form of them that its analyzer does not show."""

    def transform(self, texts):
        return super().transform([text.replace("lynxes", "cats") for text in texts])


def test_the_limit_counts_every_word_once():
    network = small_network()
    network.vectorizer = Folded(use_idf=False, norm=None, vocabulary=network.vocabulary.tolist()).fit([""])
    assert len(TextReader(network, 5).read("lynxes lynxes lynxes moons moons").known) == 2
    with pytest.raises(DataError, match="The text has 6 words; at most 5"):
        TextReader(network, 5).read("lynxes lynxes lynxes moons moons moons")


def test_models_that_cannot_read():
    counted = DocumentNetwork([[1, 0], [0, 1]], [(0, 1)])
    with pytest.raises(DataError, match="cannot read texts"):
        TextReader(counted, 10).read("cats")
    unlinked = small_model().fit(small_network(links=[]))
    with pytest.raises(DataError, match="without links"):
        TextQueryEngine(Explorer(unlinked)).read("cats")


def test_words_of_counts_are_found_in_texts():
    network = DocumentNetwork([[1, 0, 1], [0, 1, 0]], [(0, 1)], vocabulary=["w1", "cats", "x"])
    network.vectorizer = words_as_vectorizer(network)
    read = TextReader(network, 10).read("W1: cats, cats; x y")
    assert (read.known.tolist(), read.known_counts.tolist()) == ([0, 1, 2], [1, 1, 1])  # no document has a word twice
    twice = DocumentNetwork([[2, 0], [0, 1]], [(0, 1)], vocabulary=["a", "b"])
    assert words_as_vectorizer(twice).transform(["a a b"]).toarray().tolist() == [[2, 1]]


def test_odd_words_of_counts_are_found_in_texts():
    words = ["c", "c++", "libc++", "DNA", "dna", "two words", "", ".net"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network = DocumentNetwork([[2] * 8, [0, *[1] * 7]], [(0, 1)], vocabulary=words)
    network.vectorizer = words_as_vectorizer(network)
    read = TextReader(network, 50).read(
        "C, c and c++, libc++abi; libc++: c+++ DNA dna Dna, two words of .net or asp.net"
    )
    found = {words[w]: n for w, n in zip(read.known.tolist(), read.known_counts.tolist(), strict=True)}
    assert found == {"c": 1, "c++": 2, "libc++": 1, "DNA": 1, "dna": 1, ".net": 1}
    assert read.marks


@pytest.mark.parametrize("vocabulary", [None, ["two words", "b c"], ["", "+"]])
def test_words_that_are_none(vocabulary):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network = DocumentNetwork([[1, 0], [0, 1]], [(0, 1)], vocabulary=vocabulary)
    assert words_as_vectorizer(network) is None
