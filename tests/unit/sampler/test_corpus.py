"""The corpus: its layout of tokens and pairs.

Seen to fail once against entering pairs listed by source.
"""

import numpy as np
import pytest
from scipy.sparse import csr_array

from linktopics.network.pairs import TrainingPairs, sample_pairs
from linktopics.sampler import Corpus, tokens


def test_tokens_spell_out_the_counts():
    counts = np.array([[2, 0, 1], [0, 0, 0], [0, 3, 0]])
    start, words = tokens(csr_array(counts))
    assert start.tolist() == [0, 3, 3, 6]
    assert words.tolist() == [0, 0, 2, 1, 1, 1]
    assert (start.dtype, words.dtype) == (np.int64, np.int32)


@pytest.mark.parametrize("symmetric", [False, True])
def test_corpus_lists_tokens_and_pairs(symmetric):
    rng = np.random.default_rng(2)
    counts = rng.poisson(0.5, (15, 6))
    links = np.array([(i, j) for i in range(15) for j in range(i) if rng.random() < 0.2])
    links = np.sort(links, axis=1) if symmetric else links
    pairs = sample_pairs(links, 15, not symmetric, 2, rng)
    features = rng.normal(size=(len(pairs), 2))
    corpus = Corpus.build(csr_array(counts), pairs, symmetric, features)
    np.testing.assert_array_equal(corpus.features, features)
    assert corpus.n_features == 2
    assert (corpus.n_documents, corpus.n_words, corpus.n_tokens) == (15, 6, counts.sum())
    assert corpus.n_pairs == len(pairs) == 3 * len(links)
    assert corpus.symmetric is symmetric
    for i in range(15):
        words = corpus.words[corpus.start[i] : corpus.start[i + 1]]
        np.testing.assert_array_equal(np.bincount(words, minlength=6), counts[i])
        out = range(corpus.out_start[i], corpus.out_start[i + 1])
        assert list(out) == [e for e in range(len(pairs)) if pairs.source[e] == i]
        into = corpus.in_pair[corpus.in_start[i] : corpus.in_start[i + 1]]
        assert into.tolist() == [e for e in range(len(pairs)) if pairs.target[e] == i]
    np.testing.assert_array_equal(corpus.in_source, pairs.source[corpus.in_pair])
    linked = set(zip(corpus.source[corpus.label].tolist(), corpus.target[corpus.label].tolist(), strict=True))
    assert linked == set(map(tuple, links.tolist()))


def test_features_of_a_corpus():
    """Whatever their layout and type, they become doubles; by default there are none."""
    counts = csr_array(np.ones((3, 2), int))
    ends = np.array([0, 1], np.int32), np.array([2, 2], np.int32)
    pairs = TrainingPairs(*ends, np.array([True, False]), 3)
    corpus = Corpus.build(counts, pairs, False)
    assert corpus.features.shape == (2, 0)
    assert corpus.n_features == 0
    for layout in ("C", "F"):
        corpus = Corpus.build(counts, pairs, False, np.array([[1, 2, 3], [4, 5, 6]], np.float32, order=layout))
        assert corpus.features.tolist() == [[1, 2, 3], [4, 5, 6]]
        assert corpus.features.dtype == np.float64
