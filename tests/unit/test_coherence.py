"""Coherence against loops over documents and windows, and numbers worked by hand; diversity.

Seen to fail once against broken versions: the other word of a pair in the UMass denominator, repeats counted in a
document, windows that forget a word which leaves while another of its kind stays, short documents without a window,
windows one token too long, runs that overlap counted twice, a diagonal of 0 in C_V, pairs with words that do not occur,
-1 for a pair that is everywhere, other default windows, n_words ignored.
"""

from itertools import combinations
from math import log, sqrt

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array, csr_matrix

from linktopics import DataError
from linktopics.coherence import coherence, topic_diversity
from support.marks import some_long

EPSILON = 1e-12
MEASURES = ["npmi", "umass", "cv"]


def slow_npmi(a, b, units):
    p_a, p_b = (sum(w in unit for unit in units) / len(units) for w in (a, b))
    p_ab = sum(a in unit and b in unit for unit in units) / len(units)
    return log((p_ab + EPSILON) / (p_a * p_b)) / -log(p_ab + EPSILON)


def slow_coherence(topic, units, measure):
    """Apply the formulas word by word; `units` are sets of words."""
    if measure == "umass":
        parts = [
            log((sum(a in unit and b in unit for unit in units) + 1) / sum(a in unit for unit in units))
            for a, b in combinations(topic, 2)
        ]
    elif measure == "npmi":
        parts = [slow_npmi(a, b, units) for a, b in combinations(topic, 2)]
    else:
        vectors = [[slow_npmi(a, b, units) for b in topic] for a in topic]
        whole = [sum(vector[j] for vector in vectors) for j in range(len(topic))]
        parts = [
            sum(x * y for x, y in zip(vector, whole, strict=True))
            / sqrt(sum(x * x for x in vector) * sum(y * y for y in whole))
            for vector in vectors
        ]
    return sum(parts) / len(parts)


def slow_windows(tokens, window):
    return [
        set(document[first : first + window])
        for document in map(list, tokens)
        for first in range(max(len(document) - window + 1, 1))
    ]


def make_tokens(seed, n_documents=40, n_words=30, longest=60):
    """Draw documents with many repeats, a tenth of the tokens unknown; a few documents are empty."""
    rng = np.random.default_rng(seed)
    documents = []
    for _ in range(n_documents):
        shares = rng.dirichlet(np.full(n_words, 0.3))
        words = rng.choice(n_words, size=rng.integers(longest), p=shares)
        documents.append(np.where(rng.random(len(words)) < 0.1, -1, words))
    return documents


def as_counts(tokens, n_words=30):
    return np.array([np.bincount(document[document >= 0], minlength=n_words) for document in tokens])


def make_topics(seed, tokens, n_topics=5, n_words=10):
    occur = np.unique(np.concatenate(tokens))
    rng = np.random.default_rng(seed)
    return [rng.permutation(occur[occur >= 0])[:n_words] for _ in range(n_topics)]


# Word 0 is in documents 0 and 1, word 1 in 0, 1 and 2, word 2 in 3, word 3 nowhere, word 4 in all.
COUNTS = np.array([[1, 2, 0, 0, 1], [3, 1, 0, 0, 1], [0, 1, 0, 0, 2], [0, 0, 5, 0, 1]])


class TestByHand:
    @pytest.mark.parametrize(
        ("topic", "expected"),
        [
            ([0, 1], log(4 / 3) / log(2)),  # p = 1/2, 3/4, together 1/2
            ([1, 0], log(4 / 3) / log(2)),
            ([0, 4], 0.0),  # independent of a word that is everywhere
            ([0, 2], log(8e-12) / log(1e12)),  # never together; p = 1/2, 1/4
            ([0, 1, 2], (log(4 / 3) / log(2) + (log(8e-12) + log(16e-12 / 3)) / log(1e12)) / 3),
        ],
    )
    def test_npmi(self, topic, expected):
        assert coherence([topic], COUNTS) == pytest.approx([expected], abs=1e-10)

    @pytest.mark.parametrize(
        ("topic", "expected"),
        [([0, 1], log(3 / 2)), ([1, 0], log(3 / 3)), ([0, 2], -log(2)), ([2, 0], -log(1)), ([4, 1, 0], log(3 / 4) / 3)],
    )
    def test_umass_asks_how_often_the_likelier_word_brings_the_other(self, topic, expected):
        # In [4, 1, 0] the pairs are log 4/4, log 3/4 and log 3/3.
        assert coherence([topic], COUNTS, "umass") == pytest.approx([expected])

    @pytest.mark.parametrize("topic", [[0, 1], [0, 4], [1, 2]])
    def test_cv_of_two_words(self, topic):
        (x,) = coherence([topic], COUNTS)
        assert coherence([topic], COUNTS, "cv") == pytest.approx([(1 + x) / sqrt(2 + 2 * x * x)], abs=1e-10)

    def test_cv_is_high_for_words_that_all_avoid_one_another(self):
        words = list(range(10))
        assert coherence([words], np.eye(10, dtype=int)) < -0.8
        assert coherence([words], np.eye(10, dtype=int), "cv") > 0.7

    def test_windows(self):
        # {0, 1}, {1}, {3}, {2, 3}, {3}: five windows.
        found = coherence([[0, 1], [2, 3], [0, 3]], tokens=[[0, 1, -1, 3], [2, 3, 3]], window=2)
        expected = [log(5 / 2) / log(5), log(5 / 3) / log(5), log(25e-12 / 3) / log(1e12)]
        np.testing.assert_allclose(found, expected, atol=1e-10)

    def test_a_word_that_leaves_a_window_and_stays_in_it(self):
        # {0, 1}, {0, 1}, {0, 1, 2}, {0, 2}: when the first 0 leaves, the second is there.
        found = coherence([[0, 1], [2, 1]], measure="umass", tokens=[[0, 0, 1, 0, 2, 0]], window=3)
        np.testing.assert_allclose(found, [log(4 / 4), log(2 / 2)])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("measure", MEASURES)
class TestAsSlowLoopsSay:
    def test_documents(self, measure, seed):
        tokens = make_tokens(seed)
        topics = make_topics(seed, tokens)
        expected = [slow_coherence(topic, slow_windows(tokens, 1000), measure) for topic in topics]
        np.testing.assert_allclose(coherence(topics, csr_array(as_counts(tokens)), measure), expected, rtol=1e-9)

    @pytest.mark.parametrize("window", some_long([1, 2, 10, 33, 1000], [1, 10, 1000]))
    def test_windows(self, measure, seed, window):
        tokens = make_tokens(seed)
        topics = make_topics(seed, tokens)
        expected = [slow_coherence(topic, slow_windows(tokens, window), measure) for topic in topics]
        found = coherence(topics, tokens=tokens, measure=measure, window=window)
        np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize(("measure", "window", "other"), [("npmi", 10, 9), ("cv", 110, 111), ("umass", 300, 200)])
def test_default_windows(measure, window, other):
    tokens = make_tokens(0, longest=300)  # so that a window of 300 is the whole document
    topics = make_topics(0, tokens)
    found = coherence(topics, measure=measure, tokens=tokens)
    np.testing.assert_array_equal(found, coherence(topics, measure=measure, tokens=tokens, window=window))
    assert (found != coherence(topics, measure=measure, tokens=tokens, window=other)).any()


@pytest.mark.parametrize("measure", MEASURES)
class TestEveryMeasure:
    def test_words_that_do_not_occur_are_left_out(self, measure):
        both = coherence([[0, 3, 1, 2], [0, 1, 2]], COUNTS, measure)
        assert both[0] == both[1]

    def test_fewer_than_two_words_have_no_coherence(self, measure):
        found = coherence([[0], [0, 3], [], [0, 1]], COUNTS, measure)
        np.testing.assert_array_equal(np.isnan(found), [True, True, True, False])
        assert coherence([], COUNTS, measure).shape == (0,)

    def test_only_the_first_words_count(self, measure):
        tokens = make_tokens(1)
        topics = make_topics(1, tokens, n_words=14)
        counts = as_counts(tokens)
        first = [topic[:10] for topic in topics]
        np.testing.assert_array_equal(coherence(topics, counts, measure), coherence(first, counts, measure))
        two = coherence(topics, counts, measure, n_words=2)
        np.testing.assert_array_equal(two, coherence([topic[:2] for topic in topics], counts, measure))
        assert (two != coherence(topics, counts, measure)).all()

    @pytest.mark.parametrize("kind", [list, csr_array, csc_array, csr_matrix, lambda m: m.astype(float)])
    def test_counts_of_any_kind(self, measure, kind):
        counts = as_counts(make_tokens(2))
        before = counts.copy()
        topics = np.array(make_topics(2, make_tokens(2)))
        found = coherence(topics.tolist(), kind(counts), measure)
        np.testing.assert_array_equal(found, coherence(topics, counts, measure))
        np.testing.assert_array_equal(counts, before)

    def test_counts_given_stay_as_they_are(self, measure):
        counts = csr_array(COUNTS)
        coherence([[0, 1]], counts, measure)
        np.testing.assert_array_equal(counts.toarray(), COUNTS)

    def test_documents_without_words_are_documents(self, measure):
        tokens = [[0, 1], [0], [1], [], [-1, -1]]
        counts = [[1, 1], [1, 0], [0, 1], [0, 0], [0, 0]]
        found = coherence([[0, 1]], counts, measure)
        np.testing.assert_allclose(coherence([[0, 1]], tokens=tokens, measure=measure, window=2), found)
        assert (found == coherence([[0, 1]], counts[:3], measure)) == (measure == "umass")


def test_words_that_are_everywhere_go_together():
    counts = [[1, 1, 1], [2, 1, 0]]
    assert coherence([[0, 1]], counts) == [1.0]
    assert coherence([[0, 1]], counts, "cv") == pytest.approx([1.0])
    assert coherence([[0, 2]], counts) == pytest.approx([0.0], abs=1e-10)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"measure": "c_v"}, r"measure is 'c_v'; it must be one of 'npmi', 'umass', 'cv'"),
        ({"n_words": 1}, "n_words is 1; it must be a whole number of at least 2"),
        ({"tokens": [[0]]}, "pass either documents, .* or tokens"),
        ({"documents": None}, "pass either documents, .* or tokens"),
        ({"window": 10}, "window is 10, but counts have no order of words; pass tokens instead"),
        ({"documents": None, "tokens": [[0]], "window": 0}, "window is 0; it must be a whole number of at least 1"),
    ],
)
def test_arguments_that_make_no_sense(arguments, message):
    with pytest.raises(ValueError, match=message):
        coherence(**{"topics": [[0, 1]], "documents": COUNTS, **arguments})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"topics": [[0, 1], [1, 5]]}, "topic 1 holds the word 5; words are columns of the counts, from 0 to 4"),
        ({"topics": [[0, -1]]}, "topic 0 holds the word -1"),
        ({"topics": [[0, 1, 0]]}, "topic 0 holds the word 0 twice"),
        ({"topics": [["a", "b"]]}, r"topic 0 has the shape \(2,\) and values of type <U1; pass a list of word numbers"),
        ({"topics": [0, 1]}, r"topic 0 has the shape \(\)"),
        ({"documents": -COUNTS}, "Negative values in data"),
        ({"documents": None, "tokens": [[0], [1, -2]]}, "document 1 of tokens holds -2"),
        ({"documents": None, "tokens": [[0.5]]}, "document 0 of tokens has the shape .* values of type float64"),
        ({"documents": None, "tokens": []}, "tokens has no documents"),
    ],
)
def test_data_that_cannot_be_used(arguments, message):
    with pytest.raises(DataError, match=message):
        coherence(**{"topics": [[0, 1]], "documents": COUNTS, **arguments})


@pytest.mark.parametrize(
    ("topics", "n_words", "expected"),
    [
        ([[0, 1, 2], [3, 4, 5]], 3, 1.0),
        ([[0, 1, 2]] * 4, 3, 0.25),
        ([[0, 1, 2], [1, 2, 3]], 2, 0.75),
        ([[0, 1, 2], [1]], 25, 0.75),
        (np.array([np.arange(30), np.arange(1, 31)]), 25, 26 / 50),
    ],
)
def test_diversity(topics, n_words, expected):
    assert topic_diversity(topics, n_words) == pytest.approx(expected)


def test_diversity_takes_25_words_unless_told():
    topics = [np.arange(30), np.r_[np.arange(30, 55), np.arange(5)]]
    assert topic_diversity(topics) == 1.0
    assert topic_diversity(topics, 30) == pytest.approx(55 / 60)


def test_diversity_of_nothing():
    with pytest.raises(DataError, match="no words"):
        topic_diversity([[], []])
    with pytest.raises(ValueError, match="n_words is 0"):
        topic_diversity([[1]], n_words=0)
