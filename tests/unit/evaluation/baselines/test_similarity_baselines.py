"""Baselines of words against slow loops.

Seen to fail once against broken versions: neighbours without the candidate itself, and links both ways counted as two
neighbours.
"""

from math import log, sqrt

import numpy as np
import pytest

from linktopics import DocumentNetwork
from linktopics.evaluation.baselines import (
    BM25,
    TfidfCentroid,
    TfidfCosine,
    TfidfNeighbours,
)
from support.baselines import DENSE, NETWORK, NEW, UNDIRECTED, slow_neighbours, slow_tfidf


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


class TestWords:
    def test_tfidf(self):
        new, old = slow_tfidf(NEW, DENSE), slow_tfidf(DENSE, DENSE)
        expected = [[dot(a, b) for b in old] for a in new]
        np.testing.assert_allclose(TfidfCosine().fit(NETWORK).predict_links(NEW), expected, rtol=1e-10)

    def test_document_frequencies_are_those_of_training(self):
        """The first word of the new documents is in every one of them, but rare in training, so it weighs most."""
        network = DocumentNetwork([[1, 0, 1], [0, 1, 1], [0, 1, 1], [0, 1, 1]], [(0, 1)])
        scores = TfidfCosine().fit(network).predict_links([[1, 1, 0]] * 50)
        assert (scores[:, 0] > scores[:, 1]).all()

    @pytest.mark.parametrize(("k1", "b"), [(1.2, 0.75), (0.0, 0.5), (2.0, 0.0), (0.7, 1.0)])
    def test_bm25(self, k1, b):
        n, mean_length = len(DENSE), DENSE.sum() / len(DENSE)
        expected = np.zeros((len(NEW), n))
        for i, query in enumerate(NEW):
            for j, document in enumerate(DENSE):
                for w in range(DENSE.shape[1]):
                    df = sum(DENSE[:, w] > 0)
                    idf = log(1 + (n - df + 0.5) / (df + 0.5))
                    norm = document[w] + k1 * (1 - b + b * document.sum() / mean_length)
                    if document[w]:
                        expected[i, j] += query[w] * idf * document[w] * (k1 + 1) / norm
        np.testing.assert_allclose(BM25(k1, b).fit(NETWORK).predict_links(NEW), expected, rtol=1e-10)

    @pytest.mark.parametrize("network", [NETWORK, UNDIRECTED], ids=["directed", "undirected"])
    @pytest.mark.parametrize("kind", [TfidfNeighbours, TfidfCentroid])
    def test_neighbours(self, network, kind):
        new, old, around = slow_tfidf(NEW, DENSE), slow_tfidf(DENSE, DENSE), slow_neighbours(network)
        assert not around[3]
        expected = np.zeros((len(NEW), len(old)))
        for i, a in enumerate(new):
            for j, others in enumerate(around):
                if kind is TfidfNeighbours:
                    expected[i, j] = dot(a, old[j]) + (np.mean([dot(a, old[m]) for m in others]) if others else 0.0)
                else:
                    centroid = old[j] + sum(old[m] for m in others)
                    length = sqrt(dot(centroid, centroid))
                    expected[i, j] = dot(a, centroid) / length if length else 0.0
        np.testing.assert_allclose(kind().fit(network).predict_links(NEW), expected, rtol=1e-10)

    def test_a_candidate_without_neighbours_stands_for_itself(self):
        own = TfidfCosine().fit(NETWORK).predict_links(NEW, [103])
        for baseline in (TfidfNeighbours, TfidfCentroid):
            np.testing.assert_allclose(baseline().fit(NETWORK).predict_links(NEW, [103]), own)
