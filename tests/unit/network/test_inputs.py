"""What fit, transform and the predictions accept, and what they say of the rest."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from linktopics import (
    DataError,
    DocumentNetwork,
    NetworkWarning,
    RelationalTopicModel,
    SamplingError,
    UnseenWordsWarning,
    VariationalRTM,
)
from linktopics.network.pairs import sample_pairs
from linktopics.sampler import Corpus, Sampler, initial_state
from support.settings import make_settings

TEXTS = {f"cat{n}": "cats purr kittens" for n in range(6)} | {f"star{n}": "stars shine planets" for n in range(6)}
LINKS = [(f"{kind}{n}", f"{kind}{(n + 1) % 6}") for kind in ("cat", "star") for n in range(6)]


def small_model(**parameters):
    return RelationalTopicModel(2, alpha=1.0, negatives=3, n_burn_in=60, thin=2, random_state=0, **parameters)


@pytest.fixture(scope="module")
def model():
    return small_model().fit(DocumentNetwork.from_texts(TEXTS, LINKS))


@pytest.fixture(scope="module")
def variational():
    return VariationalRTM(2, alpha=1.0, negatives=3, random_state=0).fit(DocumentNetwork.from_texts(TEXTS, LINKS))


def caught(function, *arguments):
    """Return (result, warnings)."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = function(*arguments)
    return result, found


@pytest.mark.parametrize(
    "texts",
    [
        "cats purr",
        ["cats purr"],
        ("cats purr",),
        np.array(["cats purr"]),
        np.array(["cats purr"], dtype=object),
        pd.Series(["cats purr"]),
    ],
    ids=["text", "list", "tuple", "array", "objects", "series"],
)
def test_texts_of_every_kind(model, texts):
    np.testing.assert_array_equal(model.transform(texts), model.transform(["cats purr"]))


def test_texts_with_something_else_among_them(model):
    with pytest.raises(DataError, match="None"):
        model.transform(["cats", None])


def test_texts_without_a_vectorizer():
    model = small_model().fit(np.array([[2, 0], [1, 0], [0, 2], [0, 1]]), links=[(0, 1), (2, 3)])
    with pytest.raises(DataError, match="no vectorizer"):
        model.transform(["cats"])


def test_fit_on_texts():
    with pytest.raises(DataError, match="from_texts"):
        small_model().fit(["cats purr", "stars shine"])


def test_a_text_with_no_known_word(model):
    suggestions, found = caught(model.suggest_links, "zebra")
    assert [w.category for w in found] == [UnseenWordsWarning, NetworkWarning]
    assert "1 of 1 words (100%)" in str(found[0].message)
    assert "1 document without a known word" in str(found[1].message)
    assert suggestions.probability.max() < 0.9


def test_a_text_with_no_known_word_has_the_topics_of_the_prior(model):
    topics, found = caught(model.transform, ["cats", "zebra", ""])
    assert "2 documents without a known word (the first is number 1)" in str(found[1].message)
    np.testing.assert_allclose(topics[1:], 0.5)
    np.testing.assert_array_equal(topics[0], model.transform("cats")[0])


PREDICTIONS = ["transform", "predict_links", "suggest_links"]


@pytest.mark.parametrize("method", PREDICTIONS)
def test_unknown_words_are_reported_once(model, method):
    result, found = caught(getattr(model, method), ["cats purr yak zebra yak", "the stars", "yak zebra emu cats owl"])
    assert [w.category for w in found] == [UnseenWordsWarning]
    assert re.search(r"7 of 11 words \(64%\).*, as 'yak', 'zebra', 'emu'\.", str(found[0].message))
    known = getattr(model, method)(["cats purr", "stars", "cats"])
    assert result.equals(known) if method == "suggest_links" else np.array_equal(result, known)


def test_a_few_unknown_words_are_all_named(model, variational):
    for each in (model, variational):
        _, (warning,) = caught(each.transform, ["cats yak emu yak emu yak"])
        assert re.search(r"5 of 6 words \(83%\).*: 'yak', 'emu'\.", str(warning.message))


@pytest.mark.parametrize("method", PREDICTIONS)
def test_warnings_point_at_the_line_that_called(model, method):
    _, found = caught(getattr(model, method), "cats yak")
    assert [w.filename for w in found] == [__file__]


def test_unseen_words(model):
    network = model.network_
    assert network.unseen_words(["Cats, the yak; zebra yak", "stars", ""]) == [{"yak": 2, "zebra": 1}, {}, {}]
    assert DocumentNetwork([[1, 2]]).unseen_words(["cats"]) is None
    with pytest.raises(DataError, match="single string"):
        network.unseen_words("cats yak")
    pairs = DocumentNetwork.from_texts(
        ["big cats purr", "big cats sleep"],
        vectorizer=CountVectorizer(ngram_range=(1, 2), min_df=2, stop_words=["the"]),
    )
    assert pairs.unseen_words(["the big cats bark"]) == [{"bark": 1, "cats bark": 1}]


def test_documents_without_words_have_the_topics_of_the_prior():
    """Scores of zero would put them before all documents of other topics: a probability of 1/2 that means nothing."""
    texts = {**TEXTS, "empty": ""}
    with pytest.warns(NetworkWarning, match="without words"):
        network = DocumentNetwork.from_texts(texts, LINKS)
    model = small_model(n_samples=1, n_chains=1, pair_features=None).fit(network)
    sample, at = model.samples_[0], network.index_of("empty")
    np.testing.assert_allclose(sample.doc_topic[at], 0.5)
    scores = np.array([[1.0, 0.0], [0.0, 1.0]]) @ sample.weights @ [0.5, 0.5]  # of documents of one topic alone
    score = model.predict_links("cats purr kittens", candidates=["empty"], direction="out", raw=True)[0, 0]
    assert score != 0.0
    low, high = np.sort(scores)
    assert low - 1e-6 <= score <= high + 1e-6


def test_the_vectorizer_of_a_network_is_its_own():
    vectorizer = CountVectorizer()
    network = DocumentNetwork.from_texts(TEXTS, LINKS, vectorizer=vectorizer)
    before = network.vectorize(["stars purr"]).toarray()
    DocumentNetwork.from_texts(["other words", "altogether"], [(0, 1)], vectorizer=vectorizer)
    np.testing.assert_array_equal(network.vectorize(["stars purr"]).toarray(), before)


@pytest.mark.parametrize("vectorizer", [CountVectorizer, 3])
def test_what_is_no_vectorizer(vectorizer):
    with pytest.raises(DataError, match="fit_transform"):
        DocumentNetwork.from_texts(TEXTS, LINKS, vectorizer=vectorizer)


def test_another_vocabulary(model):
    words = [f"w{n}" for n in range(model.n_features_in_)]
    other = DocumentNetwork(np.ones((2, len(words))), vocabulary=words)
    with pytest.raises(DataError, match="word 0 is 'w0'"):
        model.transform(other)


def test_words_of_a_frame_are_known():
    frame = pd.DataFrame([[2, 0], [1, 0], [0, 2], [0, 1]], columns=["cats", "stars"])
    model = small_model().fit(frame, links=[(0, 1), (2, 3)])
    assert set(model.topics(n_words=1).words) <= {"cats", "stars"}
    model.fit(DocumentNetwork.from_texts(TEXTS, LINKS))
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_counts_that_are_not_finite_are_located(value):
    with pytest.raises(DataError, match=r"row 1.*column 1.*not finite"):
        small_model().fit(np.array([[2, 0], [1, value], [0, 2]]))


def test_links_both_ways_are_merged_without_direction():
    counts = np.array([[2, 0], [1, 0], [0, 2], [0, 1]])
    model = small_model(directed=False).fit(counts, links=[(0, 1), (1, 0), (2, 3)])
    assert model.network_.n_links == 2


def test_the_report_of_a_part():
    with pytest.warns(NetworkWarning):
        network = DocumentNetwork([[1, 2], [0, 0], [3, 1]], [(0, 1), (2, 2)])
    assert network.subset([0, 1]).report.n_empty_documents == 1
    assert network.subset([0, 1]).report.n_self_links == 0
    assert network.subset([0, 2]).report.clean


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"top": 0}, "top"),
        ({"top": 2.5}, "top"),
        ({"top": True}, "top"),
        *(({"interval": wrong}, "interval is .*; it must be a number between 0 and 1") for wrong in (2, "0.9", None)),
        ({"direction": "up"}, "direction"),
    ],
)
def test_wrong_arguments_of_suggest_links(model, arguments, said):
    with pytest.raises(ValueError, match=said):
        model.suggest_links("cats", **arguments)
    with pytest.raises(ValueError, match=said):
        model.suggest_links_for("cat0", **arguments)


@pytest.mark.parametrize(
    ("name", "value", "least"),
    [("n_words", 1.5, 1), ("n_words", -1, 1), ("n_words", "3", 1), ("n_documents", -1, 0), ("n_documents", 1.5, 0)],
)
def test_wrong_arguments_of_topics(model, name, value, least):
    with pytest.raises(ValueError, match=rf"\A{name} is {value!r}; it must be a whole number of at least {least}\.\Z"):
        model.topics(**{name: value})


def test_candidates(model):
    assert model.predict_links("cats", candidates=["cat0", "star0"]).shape == (1, 2)
    assert model.predict_links("cats", candidates=[]).shape == (1, 0)
    with pytest.raises(DataError, match="single string"):
        model.predict_links("cats", candidates="cat0")
    with pytest.raises(DataError, match="'zebra'"):
        model.predict_links("cats", candidates=["cat0", "zebra"])


@pytest.mark.parametrize("name", ["model", "variational"])
def test_candidates_that_are_no_list(name, request):
    with pytest.raises(DataError, match="candidates"):
        request.getfixturevalue(name).predict_links("cats", candidates=5)


@pytest.mark.parametrize(
    ("source", "target", "documents", "said"),
    [
        ("cat0", None, None, "pass documents="),
        (None, None, None, "pass documents="),
        ("cat0", "cat0", None, r"source and target are both 'cat0'; a document does not link to itself\."),
        ("cat0", "cat1", "cats", "one end"),
        (None, None, "cats", "one end"),
        ("zebra", "cat1", None, "'zebra'"),
        (None, "zebra", "cats", "'zebra'"),
    ],
)
def test_wrong_ends_of_a_pair(model, source, target, documents, said):
    with pytest.raises(DataError, match=said):
        model.explain_link(source, target, documents=documents)


@pytest.mark.parametrize("name", ["model", "variational"])
@pytest.mark.parametrize(
    ("links", "linked_by", "said"),
    [
        (None, None, "neither links nor linked_by"),
        ("cat0", None, "links is 'cat0'"),
        (None, "cat0", "linked_by is 'cat0'"),
        (["cat0"], None, r"links\[0\] is 'cat0'"),
        ([["cat0"], "cat1"], None, r"links\[1\] is 'cat1'"),
        (None, [["cat0"], 3], r"linked_by\[1\] is 3"),
        ({"new": ["cat0"]}, None, "links is {"),
        (7, None, "links is 7"),
        ([["cat0"], ["cat1", "zebra"]], None, "'zebra'"),
        ([[]], [["zebra"]], "'zebra'"),
        ([["cat0"], ["cat1"]], [["cat0"]], "links has 2 entries, linked_by 1; pass one per document"),
    ],
)
def test_links_that_cannot_be_read(name, request, links, linked_by, said):
    with pytest.raises(DataError, match=said):
        request.getfixturevalue(name).word_probabilities(links, linked_by)


@pytest.mark.parametrize("name", ["model", "variational"])
def test_wrong_arguments_of_predict_words(name, request):
    model = request.getfixturevalue(name)
    for top in (0, 2.5):
        with pytest.raises(ValueError, match="top"):
            model.predict_words(["cat0"], top=top)
    for arguments, said in (((), "neither links"), (("cat0",), "'cat0'"), ((["zebra"],), "'zebra'")):
        with pytest.raises(DataError, match=said):
            model.predict_words(*arguments)


def test_predictions_of_a_model_without_links():
    network = DocumentNetwork.from_texts(TEXTS)
    for model in (small_model().fit(network), VariationalRTM(2, random_state=0).fit(network)):
        for method, argument in ((model.predict_links, "cats"), (model.word_probabilities, [["cat0"]])):
            with pytest.raises(DataError, match="without links"):
                method(argument)


def test_numbers_out_of_range_stop_the_chain():
    network = DocumentNetwork.from_texts(TEXTS, LINKS)
    pairs = sample_pairs(network.links, len(network), True, 2, np.random.default_rng(0))
    corpus = Corpus.build(network.counts, pairs, symmetric=False)
    sampler = Sampler(corpus, make_settings(2), initial_state(corpus, make_settings(2), np.random.SeedSequence(0)))
    sampler.shard.augment = lambda: np.inf
    with pytest.raises(SamplingError, match="log joint"):
        sampler.step()


def test_texts_by_id(model):
    """A mapping is read as `from_texts` reads it: its values are the texts."""
    np.testing.assert_array_equal(model.transform({"new": "cats purr"}), model.transform(["cats purr"]))


def test_no_documents(model):
    with pytest.raises(DataError, match="the list is empty"):
        model.transform([])


def test_frames_with_other_columns(model):
    words = model.network_.vocabulary.tolist()
    counts = np.eye(len(words), dtype=int)
    frame = pd.DataFrame(counts, columns=words)
    with pytest.warns(UserWarning, match="fitted without feature names"):
        same = model.predict_links(frame)
    np.testing.assert_array_equal(same, model.predict_links(counts))
    for wrong in (frame[words[::-1]], frame.rename(columns={words[0]: "zebra"})):
        with pytest.raises(DataError, match="columns of the data frame are not the words"):
            model.predict_links(wrong)


def test_one_sample_has_no_interval():
    model = small_model(n_samples=1, n_chains=1).fit(DocumentNetwork.from_texts(TEXTS, LINKS))
    suggestions = model.suggest_links("cats purr", top=3)
    assert suggestions[["lower", "upper"]].isna().all(axis=None)
    assert suggestions["probability"].notna().all()


# ---------------------------------------------------------------- counts that scikit-learn would convert wrongly

COUNTS = np.array([[2, 0], [1, 0], [0, 2], [0, 1]])


@pytest.fixture(scope="module")
def counted():
    return small_model().fit(COUNTS, links=[(0, 1), (2, 3)])


def uses(counted):
    """Return all that is given counts, by name."""
    return {
        "fit": small_model(n_chains=1).fit,
        "variational": VariationalRTM(2, random_state=0).fit,
        "transform": counted.transform,
        "predict_links": counted.predict_links,
        "suggest_links": counted.suggest_links,
    }


USES = ["fit", "variational", "transform", "predict_links", "suggest_links"]


def unsound(form):
    matrix = sparse.coo_array(COUNTS).asformat(form)
    (matrix.row if form == "coo" else matrix.indices)[0] = 99
    return matrix


BAD_COUNTS = {
    "csr": (unsound("csr"), "not a valid sparse matrix"),
    "csc": (unsound("csc"), "not a valid sparse matrix"),
    "coo": (unsound("coo"), "not a valid sparse matrix"),
    "masked": (np.ma.masked_array(COUNTS, mask=COUNTS == 2), "counts has masked values"),
    "strings": (COUNTS.astype(str).astype(object), r"counts\[0, 0\] is the string '2'"),
    "missing": (np.where(COUNTS == 2, None, COUNTS), r"counts\[0, 0\] is missing"),
    "names": (pd.DataFrame(COUNTS, columns=["cats", 1]), "strings as names and the column 1"),
    "wrapping": (sparse.coo_array(([-(2**63)] * 2, ([0, 0], [0, 0])), shape=(4, 2)), "is negative"),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("name", BAD_COUNTS)
def test_counts_that_are_not_converted_silently(counted, use, name):
    bad, said = BAD_COUNTS[name]
    with pytest.raises(DataError, match=said):
        uses(counted)[use](bad)


@pytest.mark.parametrize(("values", "kind"), [([200, 100], np.uint8), ([64] * 4, np.int8), ([100, 100], np.int8)])
def test_repeated_entries_do_not_wrap_around(counted, values, kind):
    places = [0] * len(values) + [1], [0] * len(values) + [1]
    matrix = sparse.coo_array((np.array([*values, 1], dtype=kind), places), shape=(2, 2))
    whole = np.array([[sum(values), 0], [0, 1]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there are no links
        np.testing.assert_array_equal(small_model().fit(matrix).network_.counts.toarray(), whole)
    np.testing.assert_array_equal(counted.transform(matrix), counted.transform(whole))
    np.testing.assert_array_equal(counted.predict_links(matrix), counted.predict_links(whole))


@pytest.mark.parametrize("form", ["csr", "csc", "bsr", "coo", "dia", "lil", "dok"])
@pytest.mark.parametrize("make", [sparse.coo_array, sparse.coo_matrix])
def test_sparse_matrices_of_every_form(counted, form, make):
    np.testing.assert_array_equal(counted.transform(make(COUNTS).asformat(form)), counted.transform(COUNTS))
