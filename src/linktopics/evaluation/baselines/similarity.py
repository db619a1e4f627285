"""Baselines that compare words; they learn only the weights of words."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from linktopics.evaluation.baselines.base import LinkBaseline, linked_documents, unigram
from linktopics.features.degree import LinkIndex
from linktopics.network import DocumentNetwork

SHARE_CONSTRAINT = Interval(Real, 0, 1, closed="both")


class TfidfCosine(LinkBaseline):
    """Cosine of the TF-IDF vectors of new document and candidate.

    Weights are those of scikit-learn's TfidfTransformer, with document frequencies of the training documents. Links are
    not used.

    Examples
    --------
    >>> from linktopics import DocumentNetwork
    >>> from linktopics.evaluation.baselines import TfidfCosine
    >>> network = DocumentNetwork.from_texts({"a": "cats purr", "b": "cats sleep", "c": "stars shine"})
    >>> TfidfCosine().fit(network).predict_links("cats purr").round(2)
    array([[1.  , 0.37, 0.  ]])
    """

    def _fit(self, network: DocumentNetwork) -> None:
        self._tfidf = TfidfTransformer().fit(network.counts)
        self._candidates = self._tfidf.transform(network.counts)

    def _scores(self, counts: csr_array, chosen: NDArray[np.int64], direction: str) -> NDArray[np.float64]:
        return (self._tfidf.transform(counts) @ self._candidates[chosen].T).toarray()


class BM25(LinkBaseline):
    """Okapi BM25 with the new document as the query and the candidates as the documents.

    A word that occurs n times in the new document counts n times; its inverse document frequency is
    ``log(1 + (N - df + 0.5) / (df + 0.5))``, which is never negative. Links are not used.

    Parameters
    ----------
    k1 : float, default=1.2
        How slowly repeating a word in a candidate saturates; at 0 only presence counts.
    b : float, default=0.75
        How strongly scores of long candidates are reduced, from 0 to 1.

    References
    ----------
    Robertson and Zaragoza (2009), The probabilistic relevance framework: BM25 and beyond.

    Examples
    --------
    >>> from linktopics import DocumentNetwork
    >>> from linktopics.evaluation.baselines import BM25
    >>> network = DocumentNetwork.from_texts({"a": "cats purr", "b": "cats sleep", "c": "stars shine"})
    >>> BM25().fit(network).predict_links("cats purr").round(2)
    array([[1.45, 0.47, 0.  ]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "k1": [Interval(Real, 0, None, closed="left")],
        "b": [SHARE_CONSTRAINT],
    }

    def __init__(self, k1: float = 1.2, b: float = 0.75) -> None:
        self.k1 = k1
        self.b = b

    def _fit(self, network: DocumentNetwork) -> None:
        counts, lengths = network.counts, network.lengths
        frequency = np.bincount(counts.indices, minlength=network.n_words)
        idf = np.log1p((network.n_documents - frequency + 0.5) / (frequency + 0.5))
        damping = self.k1 * (1 - self.b + self.b * lengths / lengths.mean())
        tf = counts.data * (self.k1 + 1) / (counts.data + np.repeat(damping, np.diff(counts.indptr)))
        self._candidates = csr_array((tf * idf[counts.indices], counts.indices, counts.indptr), shape=counts.shape)

    def _scores(self, counts: csr_array, chosen: NDArray[np.int64], direction: str) -> NDArray[np.float64]:
        return (counts @ self._candidates[chosen].T).toarray()


class TfidfNeighbours(TfidfCosine):
    """TF-IDF cosine of the new document with the candidate, plus its mean over the candidate's training neighbours.

    Neighbours are documents linked with the candidate in either direction. A candidate without any has its own cosine
    only.

    Parameters
    ----------
    smoothing : float, default=0.5
        Share of the corpus' word frequencies in `word_probabilities`.

    Examples
    --------
    >>> from linktopics import DocumentNetwork
    >>> from linktopics.evaluation.baselines import TfidfNeighbours
    >>> texts = {"a": "cats purr", "b": "lions roar", "c": "stars shine"}
    >>> network = DocumentNetwork.from_texts(texts, [("a", "b")])
    >>> TfidfNeighbours().fit(network).predict_links("cats purr").round(2)
    array([[1., 1., 0.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"smoothing": [SHARE_CONSTRAINT]}

    def __init__(self, smoothing: float = 0.5) -> None:
        self.smoothing = smoothing

    def _fit(self, network: DocumentNetwork) -> None:
        super()._fit(network)
        self._candidates = self._vectors(self._candidates, LinkIndex(network).neighbours)
        self._smoothing = self.smoothing

    def _vectors(self, own: csr_array, around: csr_array) -> csr_array:
        """Return the vectors of candidates; scores are linear in them, so neighbours can be averaged in advance."""
        return csr_array(own + normalize(around, norm="l1") @ own)

    def word_probabilities(self, links: Any, linked_by: Any = None) -> NDArray[np.float64]:
        """Return word probabilities of documents of which only links are known.

        They are the mean word frequencies of the linked documents, mixed with those of the corpus. A document without
        links, or linked only with documents without words, gets those of the corpus.

        Parameters
        ----------
        links : sequence of sequences of ids
            For each new document the training documents it links to.
        linked_by : sequence of sequences of ids, default=None
            For each new document those that link to it.

        Returns
        -------
        ndarray of shape (n_documents, n_words)
            Rows sum to 1.

        Examples
        --------
        >>> from linktopics import DocumentNetwork
        >>> from linktopics.evaluation.baselines import TfidfNeighbours
        >>> network = DocumentNetwork.from_texts({"a": "cats purr", "b": "stars shine"}, [("a", "b")])
        >>> TfidfNeighbours().fit(network).word_probabilities([["a"]]).round(3)
        array([[0.375, 0.375, 0.125, 0.125]])
        """
        check_is_fitted(self)
        network = self.network_
        frequencies = normalize(network.counts.astype(np.float64), norm="l1")
        known = normalize(linked_documents(network, links, linked_by) @ frequencies, norm="l1").toarray()
        share = np.where(known.any(axis=1, keepdims=True), self._smoothing, 1.0)
        return (1.0 - share) * known + share * unigram(network)


class TfidfCentroid(TfidfNeighbours):
    """TF-IDF cosine of the new document with the sum of the unit vectors of the candidate and its training neighbours.

    The hardest to beat of the simple baselines on Cora, Citeseer and WebKB.

    Parameters
    ----------
    smoothing : float, default=0.5
        Share of the corpus' word frequencies in `word_probabilities`, as in `TfidfNeighbours`.

    Examples
    --------
    >>> from linktopics import DocumentNetwork
    >>> from linktopics.evaluation.baselines import TfidfCentroid
    >>> texts = {"a": "cats purr", "b": "lions roar", "c": "stars shine"}
    >>> network = DocumentNetwork.from_texts(texts, [("a", "b")])
    >>> TfidfCentroid().fit(network).predict_links("cats purr").round(2)
    array([[0.71, 0.71, 0.  ]])
    """

    def _vectors(self, own: csr_array, around: csr_array) -> csr_array:
        return csr_array(normalize(own + around @ own))
