"""Baselines that ignore words, which any model must beat."""

from __future__ import annotations

import hashlib
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from linktopics.evaluation.baselines.base import LinkBaseline, unigram
from linktopics.features.degree import LinkIndex
from linktopics.network import DocumentNetwork
from linktopics.network.inputs import resolve_links, seed_sequence


class DegreeOnly(LinkBaseline):
    """Number of training links of the candidate; the new document is ignored.

    Direction "out" (links to the candidate) counts the links the candidate has received, "in" those it has made, and
    "both" its neighbours. An undirected network has neighbours only.

    Examples
    --------
    >>> from linktopics import DocumentNetwork
    >>> from linktopics.evaluation.baselines import DegreeOnly
    >>> network = DocumentNetwork([[1], [2], [1]], [(0, 1), (2, 1), (1, 0)])
    >>> DegreeOnly().fit(network).predict_links([[1]], direction="out")
    array([[1., 2., 0.]])
    >>> DegreeOnly().fit(network).predict_links([[1]], direction="both")
    array([[1., 2., 1.]])
    """

    def _fit(self, network: DocumentNetwork) -> None:
        links = LinkIndex(network)
        self._degrees = {"out": links.n_in, "in": links.n_out, "both": links.n_neighbours}

    def _scores(self, counts: csr_array, chosen: NDArray[np.int64], direction: str) -> NDArray[np.float64]:
        return np.tile(self._degrees[direction][chosen].astype(np.float64), (counts.shape[0], 1))

    def word_probabilities(self, links: Any, linked_by: Any = None) -> NDArray[np.float64]:
        """Return the word frequencies of the training documents, for every new document.

        Parameters
        ----------
        links, linked_by
            As in `TfidfNeighbours.word_probabilities`; only the number of documents is used.

        Returns
        -------
        ndarray of shape (n_documents, n_words)
            Rows sum to 1.

        Examples
        --------
        >>> from linktopics import DocumentNetwork
        >>> from linktopics.evaluation.baselines import DegreeOnly
        >>> DegreeOnly().fit(DocumentNetwork([[1, 0], [2, 1]], [(0, 1)])).word_probabilities([[0], []])
        array([[0.75, 0.25],
               [0.75, 0.25]])
        """
        check_is_fitted(self)
        _, _, n_new = resolve_links(self.network_, links, linked_by)
        return np.tile(unigram(self.network_), (n_new, 1))


class RandomScores(LinkBaseline):
    """Uniform random scores.

    They depend on the seed and the new document's words, so that the same document always gets the same scores.

    Parameters
    ----------
    random_state : int, RandomState, Generator or None, default=None
        Seed.

    Examples
    --------
    >>> from linktopics import DocumentNetwork
    >>> from linktopics.evaluation.baselines import RandomScores
    >>> RandomScores(random_state=0).fit(DocumentNetwork([[1, 0], [2, 1]], [(0, 1)])).predict_links([[1, 1]]).shape
    (1, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"random_state": ["random_state", np.random.Generator]}

    def __init__(self, random_state: Any = None) -> None:
        self.random_state = random_state

    def _fit(self, network: DocumentNetwork) -> None:
        self._seed = seed_sequence(self.random_state).generate_state(4)

    def _scores(self, counts: csr_array, chosen: NDArray[np.int64], direction: str) -> NDArray[np.float64]:
        scores = np.empty((counts.shape[0], len(chosen)))
        for row, (first, last) in enumerate(pairwise(counts.indptr)):
            words = np.stack([counts.indices[first:last], counts.data[first:last]]).astype("<i8").tobytes()
            own = np.frombuffer(hashlib.sha256(words).digest(), dtype="<u4")
            rng = np.random.default_rng([*self._seed.tolist(), *own.tolist()])
            scores[row] = rng.random(self.network_.n_documents)[chosen]
        return scores
