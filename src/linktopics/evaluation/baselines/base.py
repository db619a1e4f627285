"""The base class of all baselines, which checks input, and functions that several of them use."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.utils.validation import check_is_fitted

from linktopics.model.count_estimator import CountEstimator
from linktopics.network import DocumentNetwork
from linktopics.network.inputs import (
    check_direction,
    check_top,
    resolve_candidates,
    resolve_counts,
    resolve_links,
    resolve_network,
)

if TYPE_CHECKING:
    from typing_extensions import Self


class LinkBaseline(CountEstimator):
    """A score for pairs of a new and a training document; subclasses define `_fit` and `_scores`.

    Attributes
    ----------
    network_ : DocumentNetwork
        The network fitted.
    n_features_in_ : int
        Number of words.

    Examples
    --------
    >>> from linktopics.evaluation.baselines import BASELINES, LinkBaseline
    >>> all(issubclass(baseline, LinkBaseline) for baseline in BASELINES.values())
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    @abstractmethod
    def _fit(self, network: DocumentNetwork) -> None:
        """Learn from a checked network."""

    @abstractmethod
    def _scores(self, counts: csr_array, chosen: NDArray[np.int64], direction: str) -> NDArray[np.float64]:
        """Return the scores of documents, by their counts, and candidates, by their indices."""

    def fit(self, X: Any, y: Any = None, *, links: Any = None) -> Self:
        """Fit the baseline and return it.

        Parameters
        ----------
        X : DocumentNetwork, or array-like or sparse matrix of shape (n_documents, n_words)
            The documents, with their links or as word counts.
        y : None
            Ignored.
        links : array-like of shape (n_links, 2) or square sparse matrix, default=None
            Links between the rows of a count matrix, from source to target.

        Examples
        --------
        >>> from linktopics import DocumentNetwork
        >>> from linktopics.evaluation.baselines import TfidfCosine
        >>> network = DocumentNetwork.from_texts({"a": "cats purr", "b": "stars shine"}, [("a", "b")])
        >>> TfidfCosine().fit(network).network_
        DocumentNetwork(2 documents, 4 words, 4 tokens, 1 directed link)
        """
        self._validate_params()
        network = resolve_network(self, X, links, directed=None)
        with config_context(transform_output="default"):  # regardless of the user's setting
            self._fit(network)
        self.network_ = network
        return self

    def predict_links(self, documents: Any, candidates: Any = None, direction: str = "both") -> NDArray[np.float64]:
        """Return a score for each new document with each training document, higher for likelier links.

        Parameters
        ----------
        documents : array-like, sparse matrix, DocumentNetwork, text or list of texts
            The new documents. Texts are read with the vectorizer of the network that was fitted.
        candidates : sequence of ids, default=None
            Training documents to consider, by id; None is all.
        direction : {"both", "out", "in"}, default="both"
            Links from the new document, to it, or in either direction; most baselines give the same scores for all.

        Returns
        -------
        ndarray of shape (n_documents, n_candidates)
            Scores; a document's row does not depend on the other documents.

        Examples
        --------
        >>> from linktopics import DocumentNetwork
        >>> from linktopics.evaluation.baselines import TfidfCosine
        >>> network = DocumentNetwork.from_texts({"a": "cats purr", "b": "stars shine"}, [("a", "b")])
        >>> TfidfCosine().fit(network).predict_links("cats", candidates=["b", "a"]).round(2)
        array([[0.  , 0.71]])
        """
        check_is_fitted(self)
        check_direction(direction)
        counts = resolve_counts(self, documents)
        chosen = resolve_candidates(self.network_, candidates)
        with config_context(transform_output="default"):
            return self._scores(counts, chosen, direction)

    def suggest_links(self, documents: Any, top: int = 10, direction: str = "both") -> pd.DataFrame:
        """Return the training documents that new documents should link with, best first.

        Parameters
        ----------
        documents, direction
            As in `predict_links`.
        top : int, default=10
            Suggestions per document; fewer where the network has fewer documents.

        Returns
        -------
        DataFrame
            Columns ``document`` (its number), ``id``, ``title`` (empty where there are none) and ``score``.

        Examples
        --------
        >>> from linktopics import DocumentNetwork
        >>> from linktopics.evaluation.baselines import TfidfCosine
        >>> network = DocumentNetwork.from_texts({"a": "cats purr", "b": "stars shine"}, [("a", "b")])
        >>> TfidfCosine().fit(network).suggest_links("cats", top=1)[["document", "id"]]
           document id
        0         0  a
        """
        check_top(top)
        scores = self.predict_links(documents, direction=direction)
        best = np.argsort(-scores, axis=1, kind="stable")[:, :top]
        titles = self.network_.titles
        return pd.DataFrame(
            {
                "document": np.repeat(np.arange(len(scores)), best.shape[1]),
                "id": self.network_.ids[best.ravel()],
                "title": "" if titles is None else titles[best.ravel()],
                "score": np.take_along_axis(scores, best, axis=1).ravel(),
            }
        )


def linked_documents(network: DocumentNetwork, links: Any, linked_by: Any) -> csr_array:
    """Return the matrix that averages over the training documents linked with each new one, in either direction.

    A row holds 1 / n at its n linked documents, and nothing for a document without links.
    """
    out, into, n_new = resolve_links(network, links, linked_by)
    new, linked = np.unique(np.concatenate([out, into]), axis=0).T
    share = 1.0 / np.bincount(new, minlength=n_new)[new]
    return csr_array((share, (new, linked)), shape=(n_new, network.n_documents))


def unigram(network: DocumentNetwork) -> NDArray[np.float64]:
    """Return the frequencies of the words in all documents together."""
    return np.asarray(network.counts.sum(axis=0), dtype=np.float64) / network.n_tokens
