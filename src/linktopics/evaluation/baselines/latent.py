"""Baselines that first reduce documents to factors; some then learn from links in a second step."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import expit
from sklearn import config_context
from sklearn.decomposition import LatentDirichletAllocation, TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, normalize
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from linktopics.errors import DataError
from linktopics.evaluation.baselines.base import LinkBaseline, linked_documents
from linktopics.network import DocumentNetwork
from linktopics.network.inputs import seed_sequence
from linktopics.network.pairs import TrainingPairs, sample_pairs
from linktopics.network.report import numbered

POSITIVE_CONSTRAINT = Interval(Real, 0, None, closed="neither")
WHOLE_CONSTRAINT = Interval(Integral, 1, None, closed="left")
SEED_CONSTRAINT: list[Any] = ["random_state", np.random.Generator]
LOGISTIC_CONSTRAINTS = {"negatives": [POSITIVE_CONSTRAINT], "weight_variance": [POSITIVE_CONSTRAINT]}


@dataclass(eq=False, repr=False)
class LsaLogistic(LinkBaseline):
    """Latent semantic analysis, and a logistic regression that learns weights of the dimensions from links.

    Documents are TF-IDF vectors reduced by a truncated singular value decomposition to unit vectors; the features of a
    pair are the products of both ends' coordinates. The score is symmetric: directions are merged.

    Parameters
    ----------
    n_components : int, default=100
        Number of dimensions, limited by the numbers of documents and of words.
    negatives : float, default=5
        Non-links to learn from: 1 or more, per link; below 1, as a fraction of all unlinked pairs.
    weight_variance : float, default=10.0
        Prior variance of the regression's weights (scikit-learn's C).
    random_state : int, RandomState, Generator or None, default=None
        Seed of the decomposition and of the sampled non-links.

    Examples
    --------
    >>> from linktopics import DocumentNetwork
    >>> from linktopics.evaluation.baselines import LsaLogistic
    >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
    >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
    >>> LsaLogistic(n_components=2, random_state=0).fit(network).predict_links("kittens purr").argmax(axis=1) < 2
    array([ True])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [WHOLE_CONSTRAINT],
        **LOGISTIC_CONSTRAINTS,
        "random_state": SEED_CONSTRAINT,
    }

    n_components: int = 100
    _: KW_ONLY
    negatives: float = 5
    weight_variance: float = 10.0
    random_state: Any = None

    def _fit(self, network: DocumentNetwork) -> None:
        for_factors, for_pairs = seed_sequence(self.random_state).spawn(2)
        pairs = training_pairs(network.to_undirected(), self.negatives, for_pairs)
        n_components = min(self.n_components, *network.counts.shape)
        svd = TruncatedSVD(n_components, random_state=sklearn_seed(for_factors))
        self._lsa = make_pipeline(TfidfTransformer(), svd, Normalizer(copy=False))
        self._candidates = self._lsa.fit_transform(network.counts)
        features = self._candidates[pairs.source] * self._candidates[pairs.target]
        regression = LogisticRegression(C=self.weight_variance, max_iter=1000).fit(features, pairs.label)
        self._weights, self._intercept = regression.coef_[0], regression.intercept_[0]

    def _scores(self, counts: csr_array, chosen: NDArray[np.int64], direction: str) -> NDArray[np.float64]:
        return expit((self._lsa.transform(counts) * self._weights) @ self._candidates[chosen].T + self._intercept)


@dataclass(eq=False, repr=False)
class LdaCosine(LinkBaseline):
    """Cosine of the topic proportions of new document and candidate, from scikit-learn's LDA; links are not used.

    Parameters
    ----------
    n_topics : int, default=20
        Number of topics.
    alpha : float, default=5.0
        Prior tokens per document, spread evenly over the topics.
    beta : float, default=0.01
        Prior tokens per word and topic.
    max_iter : int, default=50
        Passes over the documents.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the first topics.

    Examples
    --------
    >>> from linktopics import DocumentNetwork
    >>> from linktopics.evaluation.baselines import LdaCosine
    >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
    >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
    >>> LdaCosine(n_topics=2, alpha=1.0, random_state=0).fit(network).predict_links("kittens purr").shape
    (1, 4)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_topics": [WHOLE_CONSTRAINT],
        "alpha": [POSITIVE_CONSTRAINT],
        "beta": [POSITIVE_CONSTRAINT],
        "max_iter": [WHOLE_CONSTRAINT],
        "random_state": SEED_CONSTRAINT,
    }

    n_topics: int = 20
    _: KW_ONLY
    alpha: float = 5.0
    beta: float = 0.01
    max_iter: int = 50
    random_state: Any = None

    def _fit(self, network: DocumentNetwork) -> None:
        self._fit_topics(network, seed_sequence(self.random_state))

    def _fit_topics(self, network: DocumentNetwork, seed: np.random.SeedSequence) -> None:
        self._lda = LatentDirichletAllocation(
            self.n_topics,
            doc_topic_prior=self.alpha / self.n_topics,
            topic_word_prior=self.beta,
            max_iter=self.max_iter,
            random_state=sklearn_seed(seed),
        )
        with config_context(skip_parameter_validation=True):  # it can handle priors above 1, but refuses them
            self._candidates = self._lda.fit_transform(network.counts)

    def _scores(self, counts: csr_array, chosen: NDArray[np.int64], direction: str) -> NDArray[np.float64]:
        return normalize(self._lda.transform(counts)) @ normalize(self._candidates[chosen]).T

    def word_probabilities(self, links: Any, linked_by: Any = None) -> NDArray[np.float64]:
        """Return word probabilities of documents of which only links are known.

        They are the topics, mixed by the mean proportions of the linked documents. A document without links gets equal
        shares of all topics, as in the prior.

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
        >>> from linktopics.evaluation.baselines import LdaCosine
        >>> network = DocumentNetwork.from_texts({"a": "cats purr", "b": "stars shine"}, [("a", "b")])
        >>> LdaCosine(n_topics=2, random_state=0).fit(network).word_probabilities([["a"], []]).shape
        (2, 4)
        """
        check_is_fitted(self)
        linked = linked_documents(self.network_, links, linked_by)
        mixture = linked @ self._candidates
        mixture[np.diff(linked.indptr) == 0] = 1.0 / mixture.shape[1]
        return mixture @ normalize(self._lda.components_, norm="l1")


@dataclass(eq=False, repr=False)
class LdaLogistic(LdaCosine):
    """scikit-learn's LDA, and then a logistic regression on products of topic shares of the source and the target.

    It has the link function of the paper's models with full weights, but its topics are learned without links. Links in
    a directed network have a source and a target: for direction "both" the score is the probability of a link in either
    direction, 1 - (1 - p)(1 - p').

    Parameters
    ----------
    n_topics : int, default=20
        Number of topics, K; the regression has K ** 2 weights, and as many features for each pair.
    alpha, beta, max_iter
        As in `LdaCosine`.
    negatives : float, default=5
        Non-links to learn from: 1 or more, per link; below 1, as a fraction of all unlinked pairs.
    weight_variance : float, default=10.0
        Prior variance of the regression's weights (scikit-learn's C).
    random_state : int, RandomState, Generator or None, default=None
        Seed of the first topics and of the sampled non-links.

    Examples
    --------
    >>> from linktopics import DocumentNetwork
    >>> from linktopics.evaluation.baselines import LdaLogistic
    >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
    >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
    >>> model = LdaLogistic(n_topics=2, alpha=1.0, random_state=0).fit(network)
    >>> model.predict_links("kittens purr", direction="out").shape
    (1, 4)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LdaCosine._parameter_constraints,
        **LOGISTIC_CONSTRAINTS,
    }

    _: KW_ONLY
    negatives: float = 5
    weight_variance: float = 10.0

    def _fit(self, network: DocumentNetwork) -> None:
        for_topics, for_pairs = seed_sequence(self.random_state).spawn(2)
        pairs = training_pairs(network, self.negatives, for_pairs)
        self._fit_topics(network, for_topics)
        proportions = self._candidates.astype(np.float32)  # halves the largest array of the fit
        features = np.einsum("nk,nl->nkl", proportions[pairs.source], proportions[pairs.target])
        if not network.directed:  # neither end comes first, so the weights must be symmetric
            features = (features + features.transpose(0, 2, 1)) / 2
        regression = LogisticRegression(C=self.weight_variance, max_iter=1000)
        regression.fit(features.reshape(len(pairs), -1), pairs.label)
        self._weights = regression.coef_[0].astype(np.float64).reshape((self.n_topics,) * 2)
        self._intercept = float(regression.intercept_[0])

    def _scores(self, counts: csr_array, chosen: NDArray[np.int64], direction: str) -> NDArray[np.float64]:
        new, old = self._lda.transform(counts), self._candidates[chosen]

        def probability(weights: NDArray[np.float64]) -> NDArray[np.float64]:
            return expit(new @ weights @ old.T + self._intercept)

        if direction == "out" or not self.network_.directed:
            return probability(self._weights)
        if direction == "in":
            return probability(self._weights.T)
        return 1.0 - (1.0 - probability(self._weights)) * (1.0 - probability(self._weights.T))


def training_pairs(network: DocumentNetwork, negatives: float, seed: np.random.SeedSequence) -> TrainingPairs:
    """Return links and sampled non-links; raise if there are no links or no non-links."""
    if network.n_links == 0:
        raise DataError("the network has no links to learn from; use a baseline that needs none, such as TfidfCosine.")
    pairs = sample_pairs(network.links, network.n_documents, network.directed, negatives, np.random.default_rng(seed))
    if pairs.label.all():
        raise DataError(
            f"every pair is linked, so there are no non-links to compare the {numbered(network.n_links, 'link')} with; "
            "use a baseline that does not learn from links."
        )
    return pairs


def sklearn_seed(seed: np.random.SeedSequence) -> int:
    """Return a seed as an integer, which scikit-learn accepts."""
    return int(seed.generate_state(1)[0])
