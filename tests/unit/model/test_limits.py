"""Counts and numbers at their limits: what fits is right to the last token, what does not is refused.

docs/reference/limits.md lists them.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from linktopics import DataError, DocumentNetwork, RelationalTopicModel
from linktopics.kernels.partition import pack, unpack
from linktopics.network.inputs import MAX_NETWORK_DOCUMENTS, MAX_NETWORK_WORDS, check_sizes
from linktopics.network.pairs import TrainingPairs, _rank, _row_starts, _unrank
from linktopics.sampler import Corpus, Partition, count_topics, tokens
from linktopics.sampler.pair_sums import PairSums
from linktopics.sampler.shard import _narrow
from support import reference

FULL = 2**24 - 1
SHORT = {"n_burn_in": 1, "n_samples": 1, "thin": 1, "n_chains": 1, "random_state": 0, "verbose": False}


def test_float32_counts_the_fullest_document_exactly():
    """A topic that has all tokens of a document and a word, and all but one: float32 tells the two counts apart."""
    pairs = TrainingPairs(np.array([0], np.int32), np.array([1], np.int32), np.array([True]), 2)
    corpus = Corpus.build(csr_array([[FULL, 0], [0, 3]]), pairs, False)
    assignments = np.zeros(FULL + 3, np.int32)
    for moved, expected in ((0, FULL), (1, FULL - 1)):
        assignments[:moved] = 1
        doc_topic, word_topic, topic_total = count_topics(corpus, assignments, 2)
        assert doc_topic[0, 0] == word_topic[0, 0] == expected
        assert topic_total[0] == expected + 3


def test_one_token_more_cannot_be_counted():
    """Why 2^24 - 1 is the limit: beyond 2^24 float32 cannot add one."""
    assert np.float32(FULL) + np.float32(1) == FULL + 1
    assert np.float32(FULL + 1) + np.float32(1) == FULL + 1


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ([[FULL + 1, 0], [0, 1]], "word 0 has 16,777,216 tokens; at most 16,777,215 can be counted"),
        ([[FULL, 1], [0, 1]], "document 0 has 16,777,216 tokens"),
        ([[FULL, 0], [1, 1]], "word 0 has 16,777,216 tokens"),
        ([[2**31 - 1, 0], [2**31 - 1, 1]], "word 0 has 4,294,967,294 tokens"),
    ],
)
def test_too_many_tokens_are_refused(counts, words):
    network = DocumentNetwork(csr_array(np.array(counts)), [(0, 1)])
    with pytest.raises(DataError, match=words):
        RelationalTopicModel(2, **SHORT).fit(network)


def test_new_documents_have_the_same_limit():
    model = RelationalTopicModel(2, **SHORT, negatives=1).fit(np.array([[3, 1], [1, 3], [2, 2]]), links=[(0, 1)])
    for ask in (model.transform, model.predict_links, model.suggest_links):
        with pytest.raises(DataError, match="document number 1 has 16,777,216 tokens; at most 16,777,215 can be count"):
            ask(np.array([[1, 0], [FULL, 1]]))
        with pytest.raises(DataError, match="document number 0 has 4,294,967,294 tokens"):
            ask(np.array([[2**31 - 1, 2**31 - 1]]))


@pytest.mark.parametrize("what", ["documents", "words"])
def test_too_many_documents_or_words_are_refused(what):
    """They would not fit in memory here, so only their number is there."""
    of = SimpleNamespace(n_documents=2, n_words=2)
    most = {"documents": MAX_NETWORK_DOCUMENTS, "words": MAX_NETWORK_WORDS}[what]
    setattr(of, f"n_{what}", most + 1)
    with pytest.raises(DataError, match=f"the network has {most + 1:,} {what}; at most {most:,} can be numbered"):
        check_sizes(of)
    n = np.int32(MAX_NETWORK_DOCUMENTS)
    assert n + n == 2 * MAX_NETWORK_DOCUMENTS  # rows of U^T zbar come after U zbar


def test_topics_and_shards_have_limits():
    for parameters in ({"n_topics": 32768}, {"n_shards": 2**15 + 1}, {"seed_weight": 2**20 + 1}):
        with pytest.raises(ValueError, match=next(iter(parameters))):
            RelationalTopicModel(**{**SHORT, **parameters}).fit(np.eye(3, dtype=int))


@pytest.mark.parametrize("directed", [True, False])
def test_pairs_of_the_largest_network_have_numbers(directed):
    """Ranks of pairs, with a bit for the label below, fit 64 bits for as many documents as there may be."""
    n = MAX_NETWORK_DOCUMENTS
    last_rank = n * (n - 1) // (1 if directed else 2) - 1
    assert 2 * last_rank + 1 < 2**63
    small = 1000
    ranks = np.arange(small * (small - 1) // (1 if directed else 2))
    np.testing.assert_array_equal(_rank(_unrank(ranks, small, directed), small, directed), ranks)
    i = np.int64(n - 2)  # the largest numbers on the way
    within = _row_starts(3, directed)  # for its type
    assert within.dtype == np.int64
    assert int(i * (n - 1)) == (n - 2) * (n - 1)
    assert int(i * (i - 1)) == (n - 2) * (n - 3)


@pytest.mark.parametrize("most", [2**16 - 2, 2**16 - 1, 2**16, 2**16 + 1])
def test_sums_over_pairs_on_both_sides_of_two_bytes(most):
    """The weight step copies counts to two bytes each where they fit: sums are the same, whatever the largest count."""
    rng = np.random.default_rng(0)
    counts = csr_array(np.array([[most], [7], [2]]))
    ends = np.array([0, 0, 1], np.int32), np.array([1, 2, 2], np.int32)
    corpus = Corpus.build(counts, TrainingPairs(*ends, np.array([True, False, True]), 3), False)
    assignments = np.zeros(corpus.n_tokens, np.int32)
    assignments[most:] = rng.integers(3, size=9)
    doc_topic, _, _ = count_topics(corpus, assignments, 3)
    x = np.array([0.5, 1.0, 2.0])
    sums = PairSums(Partition.whole(corpus), 3, doc_topic, x, x, rng)
    assert sums.counts[1].dtype == (np.uint16 if most < 2**16 else np.float32)
    zbar = reference.proportions(doc_topic[:, :3].astype(float))
    expected = zbar[corpus.source].T @ (x[:, None] * zbar[corpus.target])
    np.testing.assert_allclose(sums.interactions(x), expected, rtol=1e-5)
    V = rng.normal(size=(3, 3))
    scores = ((zbar[corpus.source] @ V) * zbar[corpus.target]).sum(axis=1)
    expected = zbar[corpus.source].T @ ((x * scores)[:, None] * zbar[corpus.target])
    np.testing.assert_allclose(sums.product(V, np.empty(0))[0], expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("count", [255, 256, 65535, 65536, FULL])
def test_messages_of_shards_hold_every_count(count):
    """Counts, and changes of counts, travel in the smallest type that holds them; topics in two bytes."""
    for values in ([0, count], [-count, 0], [-count, count]):
        told = _narrow(np.array(values, np.float32))
        assert told.dtype.kind in "iu"
        assert told.astype(np.float32).tolist() == values
    width = 32768  # of 32767 topics
    doc_topic = np.zeros((1, width), np.float32)
    doc_topic[0, [0, 32766]] = count
    there = np.zeros((1, width), np.float32)
    n, topic, counts = pack(doc_topic, np.array([0]))
    unpack(n, topic, _narrow(counts).astype(np.float32), there, 0)
    np.testing.assert_array_equal(there, doc_topic)


def test_a_document_with_all_topics_can_be_told():
    doc_topic = np.ones((1, 32768), np.float32)
    doc_topic[0, 32767] = 0
    n, topic, _ = pack(doc_topic, np.array([0]))
    assert n.tolist() == [32767]
    assert topic.tolist() == list(range(32767))


def test_sums_of_counts_are_64_bits_wide():
    """Counts are 32-bit integers, of which a few already exceed 2^31."""
    network = DocumentNetwork(csr_array(np.full((3, 2), 2**31 - 1)), None)
    assert network.n_tokens == 6 * (2**31 - 1)
    assert network.lengths.tolist() == [2 * (2**31 - 1)] * 3
    start, words = tokens(csr_array(np.array([[2, 0], [1, 3]], np.int8)))
    assert (start.dtype, words.tolist()) == (np.int64, [0, 0, 0, 1, 1, 1])
