"""Ranks and what is made of them, against slow double loops, scikit-learn and examples worked by hand.

Seen to fail once against broken versions: ties ranked first, or in the AUC last, instead of averaged, ascending scores,
a word ranked once however often it occurs, explicit zeros taken for links, the first row with links left out.
"""

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array, csr_matrix
from sklearn.metrics import roc_auc_score

from linktopics import DataError
from linktopics.evaluation.metrics import (
    auc,
    hits_at_k,
    link_rank,
    link_ranks,
    mean_reciprocal_rank,
    median_rank,
    word_rank,
    word_ranks,
)

ALL = [link_ranks, link_rank, median_rank, mean_reciprocal_rank, hits_at_k, auc]


def make_block(seed, n_documents=13, n_candidates=31, values=6, share=0.15):
    """Draw scores full of ties, and links; some documents have none."""
    rng = np.random.default_rng(seed)
    links = rng.random((n_documents, n_candidates)) < share
    links[::4] = False
    return rng.integers(values, size=(n_documents, n_candidates)) / values, links


def slow_rank(row, at):
    """Count what is better, and half of what is equal."""
    rank = 1.0
    for other in range(len(row)):
        if other != at:
            rank += 1.0 if row[other] > row[at] else 0.5 if row[other] == row[at] else 0.0
    return rank


def slow_ranks(scores, links):
    return [slow_rank(scores[i], j) for i in range(len(scores)) for j in range(scores.shape[1]) if links[i, j]]


def slow_auc(scores, links):
    linked, others = scores[links], scores[~links]
    return np.mean([[1.0 if a > b else 0.5 if a == b else 0.0 for b in others] for a in linked])


def test_ranks_by_hand():
    scores = np.array([[0.1, 0.9, 0.5, 0.5], [3.0, 3.0, 3.0, 3.0], [4.0, 3.0, 2.0, 1.0]])
    links = np.array([[1, 1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 0]], dtype=bool)
    np.testing.assert_array_equal(link_ranks(scores, links), [4, 1, 2.5, 2.5])
    assert link_rank(scores, links) == 2.5
    assert median_rank(scores, links) == 2.5
    assert mean_reciprocal_rank(scores, links) == pytest.approx((1 / 4 + 1 + 2 / 5 + 2 / 5) / 4)
    assert [hits_at_k(scores, links, k) for k in (1, 2, 3, 4)] == [0.25, 0.25, 0.75, 1.0]


def test_the_default_k_is_20():
    scores = -np.arange(30.0)[None]
    links = np.zeros((1, 30), bool)
    links[0, [0, 19, 20]] = True
    assert hits_at_k(scores, links) == pytest.approx(2 / 3)


def test_auc_by_hand():
    # Links score 0.8, 0.5, 0.0 and others 0.1, 0.5, 0.5: the first wins 3 times, the second once with two ties.
    assert auc([[0.8, 0.1, 0.5], [0.5, 0.5, 0.0]], [[1, 0, 1], [0, 0, 1]]) == pytest.approx((3 + 2 + 0) / 9)
    assert auc([[2.0, 1.0]], [[1, 0]]) == 1.0
    assert auc([[2.0, 1.0]], [[0, 1]]) == 0.0
    assert auc([[1.0, 1.0]], [[0, 1]]) == 0.5


def test_auc_pools_the_rows():
    """Within each row the link is best, but the second row's link scores below the first row's others."""
    scores, links = [[9.0, 8.0], [2.0, 1.0]], [[1, 0], [1, 0]]
    assert link_rank(scores, links) == 1.0
    assert auc(scores, links) == 0.75


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("values", [2, 6, 1000], ids=lambda n: f"{n} values")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_as_slow_loops_say(seed, values, dtype):
    scores, links = make_block(seed, values=values)
    scores = scores.astype(dtype)
    ranks = np.array(slow_ranks(scores, links))
    np.testing.assert_array_equal(link_ranks(scores, links), ranks)
    assert link_rank(scores, links) == pytest.approx(ranks.mean())
    assert median_rank(scores, links) == np.median(ranks)
    assert mean_reciprocal_rank(scores, links) == pytest.approx(np.mean(1 / ranks))
    for k in (1, 3, 20):
        assert hits_at_k(scores, links, k) == pytest.approx(np.mean(ranks <= k))
    assert auc(scores, links) == pytest.approx(slow_auc(scores, links), abs=1e-12)
    assert auc(scores, links) == pytest.approx(roc_auc_score(links.ravel(), scores.ravel()), abs=1e-12)


def test_a_block_of_real_size():
    rng = np.random.default_rng(0)
    scores = rng.integers(1000, size=(100, 5000)).astype(np.float32)
    links = rng.random(scores.shape) < 1e-3
    assert auc(scores, links) == pytest.approx(roc_auc_score(links.ravel(), scores.ravel()), abs=1e-12)
    assert link_ranks(scores, links)[-1] == slow_rank(scores[-1], np.flatnonzero(links[-1])[-1])


def test_infinite_scores_are_scores():
    scores = [[-np.inf, 0.0, np.inf, -np.inf]]
    np.testing.assert_array_equal(link_ranks(scores, [[1, 0, 1, 0]]), [3.5, 1])
    assert auc(scores, [[1, 0, 1, 0]]) == pytest.approx((0 + 0.5 + 1 + 1) / 4)


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.__name__)
class TestEveryLinkMetric:
    @pytest.mark.parametrize("kind", [csr_array, csr_matrix, coo_array, lambda m: csr_array(m.astype(np.int8)), list])
    def test_links_of_any_kind(self, metric, kind):
        scores, links = make_block(1)
        np.testing.assert_array_equal(metric(scores, kind(links)), metric(scores, links))

    def test_explicit_zeros_are_no_links(self, metric):
        scores, links = make_block(2)
        every = csr_array(np.ones(links.shape))
        every.data[:] = links.ravel()
        before = every.nnz
        np.testing.assert_array_equal(metric(scores, every), metric(scores, links))
        assert every.nnz == before

    def test_unsorted_columns(self, metric):
        scores, links = make_block(3)
        sparse = csr_array(links)
        backwards = [np.arange(a, b)[::-1] for a, b in zip(sparse.indptr[:-1], sparse.indptr[1:], strict=True)]
        shuffled = csr_array((sparse.data, sparse.indices[np.concatenate(backwards)], sparse.indptr), shape=links.shape)
        np.testing.assert_array_equal(metric(scores, shuffled), metric(scores, links))

    def test_a_memory_mapped_array(self, metric, tmp_path):
        scores, links = make_block(4)
        np.save(tmp_path / "scores.npy", scores.astype(np.float32))
        mapped = np.load(tmp_path / "scores.npy", mmap_mode="r")
        np.testing.assert_array_equal(metric(mapped, links), metric(scores.astype(np.float32), links))

    def test_a_matrix_of_the_old_kind(self, metric):
        scores, links = make_block(4)
        np.testing.assert_array_equal(metric(np.matrix(scores), links), metric(scores, links))

    def test_arguments_are_left_alone(self, metric):
        scores, links = make_block(5)
        before = scores.copy(), links.copy()
        metric(scores, links)
        np.testing.assert_array_equal(scores, before[0])
        np.testing.assert_array_equal(links, before[1])

    def test_shapes_that_differ(self, metric):
        with pytest.raises(DataError, match=r"links has the shape \(2, 3\), scores has \(3, 2\)"):
            metric(np.zeros((3, 2)), np.ones((2, 3), bool))

    def test_scores_that_are_no_matrix(self, metric):
        with pytest.raises(DataError, match=r"scores must be a matrix of numbers; it has the shape \(3,\)"):
            metric(np.zeros(3), np.ones(3, bool))
        with pytest.raises(DataError, match="scores must be a matrix of numbers"):
            metric([["a", "b"]], [[True, False]])
        with pytest.raises(DataError, match=r"scores has the shape \(0, 3\): it is empty"):
            metric(np.zeros((0, 3)), np.zeros((0, 3), bool))

    def test_nan(self, metric):
        scores, links = make_block(6)
        scores[5, 3] = np.nan
        with pytest.raises(DataError, match="scores holds NaN, first in row 5"):
            metric(scores, links)

    def test_no_true_link(self, metric):
        with pytest.raises(DataError, match=r"^links holds no true link, so there is nothing to rank\.$"):
            metric(np.zeros((2, 3)), csr_array((2, 3), dtype=bool))

    def test_links_that_are_no_yes_or_no(self, metric):
        with pytest.raises(DataError, match=r"it holds 0\.25"):
            metric(np.zeros((1, 2)), [[0.25, 1.0]])
        with pytest.raises(DataError, match="type <U1"):
            metric(np.zeros((1, 2)), [["y", "n"]])


def test_no_auc_where_all_are_linked():
    whole = "^every pair is a true link; the area under the ROC curve needs pairs without a link, too[.]$"
    with pytest.raises(DataError, match=whole):
        auc(np.zeros((2, 3)), np.ones((2, 3), bool))


@pytest.mark.parametrize("k", [0, -1, 2.5, "3", None])
def test_k_from_one_on(k):
    with pytest.raises(ValueError, match=r"k is .*; it must be a whole number of at least 1"):
        hits_at_k([[1.0, 2.0]], [[True, False]], k)


@pytest.mark.parametrize("kind", [np.asarray, csr_array, lambda m: m.astype(float)])
def test_word_ranks(kind):
    rng = np.random.default_rng(0)
    probabilities = rng.integers(1, 5, size=(7, 12)).astype(float)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    counts = rng.poisson(0.5, size=(7, 12))
    counts[2] = 0
    expected = [slow_rank(probabilities[d], w) for d in range(7) for w in range(12) for _ in range(counts[d, w])]
    np.testing.assert_array_equal(word_ranks(probabilities, kind(counts)), expected)
    assert word_rank(probabilities, kind(counts)) == pytest.approx(np.mean(expected))


def test_a_frequent_word_counts_as_often_as_it_occurs():
    assert word_ranks([[0.6, 0.3, 0.1]], [[3, 0, 1]]).tolist() == [1, 1, 1, 3]
    assert word_rank([[0.6, 0.3, 0.1]], [[3, 0, 1]]) == 1.5


def test_word_rank_errors():
    with pytest.raises(DataError, match=r"counts has the shape \(1, 2\), probabilities has \(1, 3\)"):
        word_ranks(np.ones((1, 3)) / 3, [[1, 0]])
    with pytest.raises(DataError, match="probabilities holds NaN, first in row 0"):
        word_ranks([[np.nan, 1.0]], [[1, 0]])
    with pytest.raises(DataError, match=r"^counts are all zero; there is no word to rank\.$"):
        word_rank([[0.5, 0.5]], [[0, 0]])
    with pytest.raises(DataError, match=r"document 2 \(row 2\), word column 0: the value 0\.5 is fractional"):
        word_rank([[0.5, 0.5]] * 3, [[1, 0], [1, 0], [0.5, 0]])
