"""What is made in pieces to save memory: the same as if made at once, and without large arrays on the way.

Seen to fail once against the versions that made it at once, against pieces that overlap by a row, and against labels
that are not sorted along with their pairs.
"""

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array

from linktopics import DocumentNetwork
from linktopics.errors import NetworkWarning
from linktopics.features import DEFAULT_FEATURES, base, fit_features, resolve_features, similarity, vectors
from linktopics.network import pairs
from linktopics.network.pairs import sample_pairs
from linktopics.sampler import Corpus, Priors, corpus, count_topics, initial_state, pair_sums, tokens
from linktopics.sampler.partition import Partition
from linktopics.sampler.runner import take_sample
from support.settings import make_settings

N, V, K = 4000, 300, 20


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(0)
    dense = rng.poisson(0.1, (N, V))
    dense[[0, 17, 18, N - 1]] = 0
    return csr_array(dense.astype(np.int32))


@pytest.fixture(scope="module")
def laid_out(counts):
    links = np.unique(np.random.default_rng(1).integers(N, size=(3 * N, 2)), axis=0)
    links = links[links[:, 0] != links[:, 1]]
    return Corpus.build(counts, sample_pairs(links, N, True, 2, np.random.default_rng(2)), symmetric=False)


def peak_of(function):
    """Return what a call gives, and the most memory that NumPy had asked for meanwhile."""
    tracemalloc.start()
    try:
        return function(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_topic_counts(laid_out):
    assignments = np.random.default_rng(3).integers(K, size=laid_out.n_tokens, dtype=np.int32)
    count_topics(laid_out, assignments, K)  # compiles
    (doc_topic, word_topic, topic_total), peak = peak_of(lambda: count_topics(laid_out, assignments, K))
    expected = np.zeros_like(doc_topic), np.zeros_like(word_topic), np.zeros_like(topic_total)
    np.add.at(expected[0], (np.repeat(np.arange(N), np.diff(laid_out.start)), assignments), 1)
    np.add.at(expected[1], (laid_out.words, assignments), 1)
    np.add.at(expected[2], assignments, 1)
    for found, wanted in zip((doc_topic, word_topic, topic_total), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert peak < doc_topic.nbytes + word_topic.nbytes + 50_000


@pytest.mark.parametrize("size", [1, 7, N - 1, N, N + 1])
def test_tokens_in_pieces(counts, monkeypatch, size):
    monkeypatch.setattr(corpus, "CHUNK_DOCUMENTS", size)
    start, words = tokens(counts)
    assert (start.dtype, words.dtype) == (np.int64, np.int32)
    np.testing.assert_array_equal(words, np.repeat(counts.indices, counts.data))
    np.testing.assert_array_equal(np.diff(start), counts.toarray().sum(axis=1))


def test_tokens_need_little_memory_besides_themselves(counts, monkeypatch):
    monkeypatch.setattr(corpus, "CHUNK_DOCUMENTS", 100)
    (_, words), peak = peak_of(lambda: tokens(counts))
    assert peak < 1.5 * words.nbytes  # it was 4.8 times


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("negatives", [0, 0.3, 2])
def test_pairs_in_pieces(directed, negatives, monkeypatch):
    links = np.array([(i, j) for i in range(40) for j in range(i + 1, 40) if (i * j) % 7 == 3])
    whole = sample_pairs(links, 40, directed, negatives, np.random.default_rng(0))
    assert 0 < whole.label.sum() == len(links)
    monkeypatch.setattr(pairs, "CHUNK_PAIRS", 13)
    parts = sample_pairs(links, 40, directed, negatives, np.random.default_rng(0))
    for name in ("source", "target", "label"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))


def test_pairs_need_little_memory_besides_themselves(monkeypatch):
    monkeypatch.setattr(pairs, "CHUNK_PAIRS", 1000)
    n = 50_000
    links = np.column_stack([np.arange(n), (np.arange(n) + 1) % n])
    found, peak = peak_of(lambda: sample_pairs(links, n, True, 5, np.random.default_rng(0)))
    assert peak < 40 * len(found)  # of which 9 are the result; it was 90


def test_shares_of_a_sample_are_rounded_once(laid_out):
    state = initial_state(laid_out, make_settings(K), np.random.SeedSequence(0))
    state.priors = Priors.even(K, 5.0, 0.01)
    sample, peak = peak_of(lambda: take_sample(0, laid_out, state))
    lengths = np.diff(laid_out.start)
    expected = (state.doc_topic[:, :K].astype(float) / np.maximum(lengths, 1)[:, None]).astype(np.float32)
    expected[lengths == 0] = 1 / K
    assert sample.doc_topic.dtype == np.float32
    np.testing.assert_array_equal(sample.doc_topic, expected)
    assert peak < 2.5 * sample.doc_topic.nbytes  # it was 3.2 times


@pytest.fixture(scope="module")
def linked(counts):
    """Return a network, and pairs of it."""
    links = np.random.default_rng(1).integers(N, size=(5 * N, 2))
    with pytest.warns(NetworkWarning):  # some documents are empty
        network = DocumentNetwork(counts, np.unique(links[links[:, 0] != links[:, 1]], axis=0))
    return network, sample_pairs(network.links, N, True, 1, np.random.default_rng(2))


def features_of(linked, names=DEFAULT_FEATURES):
    return fit_features(resolve_features(list(names)), *linked, make_settings(2), np.random.SeedSequence(0))


@pytest.mark.parametrize("size", [1000, 7777])
def test_features_in_pieces(linked, monkeypatch, size):
    names = [*DEFAULT_FEATURES, "tfidf-neighbours"]
    whole, expected = features_of(linked, names)
    monkeypatch.setattr(base, "PAIRS_AT_ONCE", size)
    monkeypatch.setattr(vectors, "DOCUMENTS_AT_ONCE", size // 10)
    monkeypatch.setattr(similarity, "ENTRIES_AT_ONCE", size)
    assert len(linked[1]) > 3 * size
    assert len(linked[1]) % size
    parts, numbers = features_of(linked, names)
    np.testing.assert_array_equal(numbers, expected)
    for name in ("mean", "scale", "link_mean"):
        np.testing.assert_array_equal(getattr(parts, name), getattr(whole, name))
    new, candidates, way = linked[1].source, linked[1].target, np.ones(len(linked[1]), bool)
    view = base.TrainingView(linked[0], new, candidates, way)
    found = parts.known_pairs(view)
    monkeypatch.undo()
    np.testing.assert_array_equal(found, whole.known_pairs(view))


def test_features_need_little_memory_besides_themselves(linked, monkeypatch):
    features_of(linked)  # compiles
    monkeypatch.setattr(base, "PAIRS_AT_ONCE", 1000)
    monkeypatch.setattr(vectors, "DOCUMENTS_AT_ONCE", 100)
    monkeypatch.setattr(similarity, "ENTRIES_AT_ONCE", 1000)
    (_, numbers), peak = peak_of(lambda: features_of(linked))
    texts, pairs_and_links = 8 * linked[0].counts.nnz, 40 * len(linked[1])
    assert peak < 1.5 * (numbers.nbytes + texts + pairs_and_links)  # it was 10 times


def test_features_are_forgotten_until_they_are_needed(linked):
    tracemalloc.start()
    try:
        kept = features_of(linked)
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert held < kept[1].nbytes + 200 * N  # it was 1300 for each document


def test_features_share_what_they_make_of_documents(linked):
    one, two, three = features_of(linked)[0].features
    assert one.own is two.own
    assert one.links is two.links is three.links


def test_sums_of_features_in_pieces(counts, linked, monkeypatch):
    rng = np.random.default_rng(0)
    features, x = rng.normal(size=(len(linked[1]), 6)), rng.random(len(linked[1]))
    laid_out = Corpus.build(counts, linked[1], False, features)
    state = initial_state(laid_out, make_settings(K), np.random.SeedSequence(0))
    over_pairs = pair_sums.PairSums(Partition.whole(laid_out), K, state.doc_topic, x, x, rng)
    expected = over_pairs.feature_precision()
    monkeypatch.setattr(pair_sums, "FEATURE_CHUNK_PAIRS", 1000)
    found, peak = peak_of(over_pairs.feature_precision)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(found, features.T @ (x[:, None] * features), rtol=1e-12)
    assert peak < 0.2 * features.nbytes  # it was as much as that
