"""Var-RTM: Chang and Blei's relational topic model, fitted by variational EM.

The model. Document i draws topic shares theta_i from a Dirichlet(alpha / K), its tokens draw topics and words, and the
pair (i, j) links with probability p_ij = sigmoid(eta . (zbar_i * zbar_j) + intercept), zbar_i being the mean topic
indicator of its tokens. The mean field is q(theta_i | gamma_i) prod_n q(z_in | phi_in), and the objective

    sum_i E[log p(theta_i, z_i, w_i) - log q(theta_i, z_i)] + sum_pairs log p(y_ij | phibar_i * phibar_j) + log-priors

takes the link term at its mean. As log sigmoid is concave, that lies above its expectation, not below: the objective
approximates the evidence lower bound, and is not a strict bound itself.

One vector per document. With gamma_i = alpha / K + N_i phibar_i, a zero gradient in phi_in means for a token of word w

    phi_in  prop.  topic_w * exp(field_i),    field_i = E[log theta_i] + (1 / N_i) sum_j (y_ij - p_ij) eta * phibar_j,

so the K-vector `field_i` stands for all phi of a document, and nothing of size tokens x K is kept.

Monotonicity. With its neighbours fixed, the objective is concave in the phi of one document, but the fixed point above
overshoots where links are strong, because phibar_i itself stands in p_ij. Jaakkola and Jordan's quadratic bound of log
sigmoid (curvature kappa_ij = tanh(s/2) / 2s at score s) and Pinsker's inequality give a minorant, which the damped step

    field_i += rho_i (fixed point - field_i),    1 / rho_i = 1 + sum_j kappa_ij range(eta * phibar_j)^2 / (4 N_i)

maximises, so it never lowers the objective. Documents are coloured such that no two of a colour form a pair, and those
of a colour are updated together: every sweep of the E step raises the objective, and so do both parts of the M step.
One update is not covered: the first of a document after an M step, which combines new topics with a field computed from
the old ones. It is exact without links; with links it might lower the objective, though no EM iteration on Cora did.
"""

from __future__ import annotations

import time
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import digamma, expit, gammaln, log_expit, softmax
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from linktopics.errors import DataError
from linktopics.model.count_estimator import CountEstimator
from linktopics.network.inputs import (
    check_direction,
    resolve_candidates,
    resolve_counts,
    resolve_links,
    resolve_network,
    seed_sequence,
)
from linktopics.network.pairs import TrainingPairs, sample_pairs
from linktopics.prediction.words_from_links import WordPredictionMixin
from linktopics.utils.estimator_bases import ClassNamePrefixFeaturesOutMixin, TransformerMixin

Array = NDArray[np.float64]

WORD_BLOCK_CELLS = 2**18  # word entries x topics handled at once: bounds the memory, and fits the processor's cache
DOCUMENT_TOL = 1e-3  # change of phibar in the 1-norm at which a document, or the mean of all in training, has settled
INTERCEPT_VARIANCE = 100.0  # of its prior; wide, it only keeps the intercept finite when all pairs have one label
WARM_UP_ITERATIONS = 10  # EM iterations on words alone: topics that links shape from the start end in worse optima


class LinkRegression:
    """The link part of the objective as a function of (eta, intercept): a weighted ridge logistic regression."""

    def __init__(self, phibar: Array, pairs: TrainingPairs, n_pseudo: float, variance: float) -> None:
        n_topics = phibar.shape[1]
        # The pseudo-non-links' phibar is alpha / sum(alpha), 1 / K for every topic; one row carries them all.
        features = np.vstack([phibar[pairs.source] * phibar[pairs.target], np.full(n_topics, n_topics**-2.0)])
        self.features = np.column_stack([features, np.ones(len(features))])
        self.sign = np.append(np.where(pairs.label, 1.0, -1.0), -1.0)
        self.cost = np.append(np.ones(len(pairs)), n_pseudo)
        self.precision = np.append(np.full(n_topics, 1 / variance), 1 / INTERCEPT_VARIANCE)

    def objective(self, weights: Array) -> tuple[float, Array]:
        """Return sum of cost * log sigmoid(sign * score) plus log-prior, and its gradient."""
        score = self.sign * (self.features @ weights)
        value = self.cost @ log_expit(score) - self.precision @ weights**2 / 2
        return float(value), (self.cost * self.sign * expit(-score)) @ self.features - self.precision * weights

    def maximise(self, start: Array) -> Array:
        """Return the weights of greatest objective; never worse than `start`."""
        return minimize(lambda w: [-part for part in self.objective(w)], start, jac=True, method="L-BFGS-B").x


def with_values(matrix: csr_array, values: Array) -> csr_array:
    """Return a matrix with the stored entries of `matrix` and other values."""
    return csr_array((values, matrix.indices, matrix.indptr), shape=matrix.shape)


def word_pass(counts: csr_array, topics: Array, fields: Array) -> tuple[Array, Array, csr_array]:
    """Return sums over the entries n_iw of the counts, given phi_iw prop. topics[w] * exp(fields[i]).

    With norm_iw = sum_k topics[w, k] exp(fields[i, k]), they are the expected tokens per topic, sum_w n_iw phi_iw; the
    sums of n_iw log(norm_iw) over w; and R = n_iw / norm_iw, sparse: topics * (R.T @ exp(fields)) = sum_i n_iw phi_iw.
    """
    weight = np.exp(fields)
    norm = np.einsum("nk,nk->n", np.repeat(weight, np.diff(counts.indptr), axis=0), topics[counts.indices])
    ratio = with_values(counts, counts.data / norm)
    return weight * (ratio @ topics), with_values(counts, counts.data * np.log(norm)).sum(axis=1), ratio


def centre(fields: Array) -> Array:
    """Return the fields with their largest entry shifted to 0, which changes no phi and prevents overflow."""
    return fields - fields.max(axis=1, keepdims=True)


def topic_shares(expected: Array, lengths: Array) -> Array:
    """Return mean topic indicators; documents without words have the uniform ones of the prior."""
    return np.where(lengths > 0, expected / np.maximum(lengths, 1), 1 / expected.shape[1])


def link_field(pairs: csr_array, here: NDArray[np.intp], phibar: Array, weights: Array) -> tuple[Array, Array]:
    """Return the links' gradient in phibar of the documents `here`, and the curvature that damps their step.

    `pairs` (n_here x n_documents) stores the labels y_ij, also zeros; `weights` are eta and the intercept. The results
    are sum_j (y_ij - p_ij) eta * phibar_j and sum_j kappa_ij range(eta * phibar_j)^2 / 4.
    """
    eta, intercept = weights[:-1], weights[-1]
    pull = eta * phibar[pairs.indices]
    score = np.einsum("nk,nk->n", phibar[np.repeat(here, np.diff(pairs.indptr))], pull) + intercept
    half = np.maximum(np.abs(score) / 2, 1e-6)
    kappa = np.tanh(half) / (4 * half)
    spread = pull.max(axis=1) - pull.min(axis=1)
    gradient = with_values(pairs, pairs.data - expit(score)) @ phibar * eta
    return gradient, with_values(pairs, kappa * spread**2 / 4).sum(axis=1)


def colour_classes(pairs: csr_array) -> list[NDArray[np.intp]]:
    """Return classes of documents, coloured greedily by their number of pairs; no two of a class form a pair."""
    degree = np.diff(pairs.indptr)
    colour = np.full(len(degree), -1)
    for document in np.argsort(-degree, kind="stable"):
        taken = set(colour[pairs.indices[pairs.indptr[document] : pairs.indptr[document + 1]]].tolist())
        colour[document] = next(c for c in range(len(taken) + 1) if c not in taken)
    return [np.flatnonzero(colour == c) for c in range(colour.max() + 1)]


def split(documents: NDArray[np.intp], sizes: NDArray[np.integer], n_topics: int) -> list[NDArray[np.intp]]:
    """Return `documents` in blocks of about `WORD_BLOCK_CELLS` entries x topics."""
    run = np.cumsum(sizes[documents]) * n_topics // WORD_BLOCK_CELLS
    return np.split(documents, np.flatnonzero(np.diff(run)) + 1)


class MeanField:
    """The training documents' q(theta, z) and the topics (word-major, V x K): the E step, and the topics' M step."""

    def __init__(self, counts: csr_array, pairs: TrainingPairs, topics: Array, alpha: float, beta: float) -> None:
        n_documents, n_topics = counts.shape[0], topics.shape[1]
        ends = np.concatenate([pairs.source, pairs.target]), np.concatenate([pairs.target, pairs.source])
        labels = np.concatenate([pairs.label, pairs.label]).astype(float)
        graph = csr_array((labels, ends), shape=(n_documents, n_documents))
        sizes = np.diff(counts.indptr) + np.diff(graph.indptr)
        blocks = [block for group in colour_classes(graph) for block in split(group, sizes, n_topics)]
        self.blocks = [(block, counts[block], graph[block]) for block in blocks]
        self.topics, self.alpha, self.beta = topics, alpha, beta
        self.lengths = np.asarray(counts.sum(axis=1), dtype=float)[:, None]
        self.expected = np.repeat(self.lengths / n_topics, n_topics, axis=1)
        self.fields = np.zeros_like(self.expected)
        self.log_norm = np.zeros(n_documents)

    @property
    def phibar(self) -> Array:
        """Mean topic indicators."""
        return topic_shares(self.expected, self.lengths)

    def sweep(self, weights: Array) -> float:
        """Return the mean change of phibar in the 1-norm, after updating phi and gamma of every document once."""
        before = self.phibar
        phibar = before.copy()
        for block, counts, pairs in self.blocks:
            lengths = np.maximum(self.lengths[block], 1)
            gradient, curvature = link_field(pairs, block, phibar, weights)
            goal = digamma(self.alpha + self.expected[block]) + gradient / lengths
            step = 1 / (1 + curvature[:, None] / lengths)
            self.fields[block] = centre(self.fields[block] + step * (goal - self.fields[block]))
            self.expected[block], self.log_norm[block], _ = word_pass(counts, self.topics, self.fields[block])
            phibar[block] = topic_shares(self.expected[block], self.lengths[block])
        return float(np.abs(phibar - before).sum(axis=1).mean())

    def update_topics(self) -> None:
        """Set the topics to their optimum: expected counts + beta, normalised."""
        total = np.zeros_like(self.topics)
        for block, counts, _ in self.blocks:
            fields = self.fields[block]
            total += word_pass(counts, self.topics, fields)[2].T @ np.exp(fields)
        total = self.topics * total + self.beta
        self.topics = total / total.sum(axis=0)

    def bound(self) -> float:
        """Return the part of the objective without links: words, topic shares and the topics' log-prior."""
        n_topics = self.topics.shape[1]
        shares = gammaln(n_topics * self.alpha) - gammaln(n_topics * self.alpha + self.lengths)
        shares = shares.sum() + (gammaln(self.alpha + self.expected) - gammaln(self.alpha)).sum()
        # gamma = alpha + expected, so the terms in E[log theta] cancel; log phi = log topic + field - log norm.
        words = self.log_norm.sum() - np.vdot(self.expected, self.fields)
        return float(shares + words + self.beta * np.log(self.topics).sum())


@dataclass(eq=False, repr=False)
class VariationalRTM(WordPredictionMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, CountEstimator):
    """Relational topic model of Chang and Blei, fitted by variational EM (the paper's Var-RTM).

    Two documents link with probability ``sigmoid(eta . (zbar_i * zbar_j) + intercept)``: only words on the *same* topic
    attract. The model is symmetric, so the links of a directed network are merged: i -> j and j -> i are one link.
    Without links this is latent Dirichlet allocation.

    Parameters
    ----------
    n_topics : int, default=20
        Number of topics, K.
    alpha : float, default=5.0
        Total mass of the Dirichlet prior of a document's topic shares, ``alpha / n_topics`` for each.
    beta : float, default=0.01
        Smoothing of the topics: expected counts + beta, normalised. It is the MAP estimate under Dirichlet(1 + beta),
        so an exact M step, and the posterior mean under Dirichlet(beta), so `beta` means what it means in the samplers.
    negatives : float, optional
        None: links only, with pseudo-observations. Else non-links are sampled: below 1, that fraction of the
        unobserved pairs (Chen et al. use 0.002 here); 1 or more, that number per link.
    n_pseudo : float, optional
        Without `negatives`: the number (rho) of pseudo-non-links between two documents of prior mean topic shares;
        by default as many as links.
    weight_variance : float, default=1.0
        Variance of the Gaussian prior of the link weights, in both modes. Pseudo-observations alone do not bound them:
        the weight of a topic that linked documents hardly share goes to minus infinity. The intercept's prior has
        variance 100.
    max_iter, max_doc_iter : int, default=100 and 20
        Most EM iterations (the first ten, or half, on words alone), and sweeps over the documents in each.
    tol : float, default=1e-4
        EM stops when the objective rises by less than this fraction of itself.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the first topics and the sampled non-links.

    Attributes
    ----------
    topic_word_ : ndarray of shape (n_topics, n_words)
        Word probabilities of each topic.
    doc_topic_ : ndarray of shape (n_documents, n_topics)
        Expected topic shares of the training documents, from their words and links.
    link_weights_ : ndarray of shape (n_topics, n_topics)
        Diagonal matrix of the weights eta.
    intercept_ : float
        Intercept of the link score.
    bound_ : ndarray of shape (n_iter_,)
        The objective after each E step: the evidence lower bound, but with the link term taken at its mean.
    n_iter_, n_features_in_ : int
        Number of EM iterations and of words.
    network_report_ : NetworkReport
        What was dropped from the network.
    timings_ : dict
        Seconds spent on ``"topics"`` (E step and topics) and ``"weights"``.

    References
    ----------
    .. [1] J. Chang, D. Blei, "Relational topic models for document networks", AISTATS 2009.
    .. [2] J. Chang, D. Blei, "Hierarchical relational models for document networks", Ann. Appl. Stat. 4(1), 2010.
    .. [3] N. Chen, J. Zhu, F. Xia, B. Zhang, "Discriminative relational topic models", IEEE TPAMI 37(5), 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from linktopics.model.variational import VariationalRTM
    >>> counts = np.array([[5, 4, 0, 0], [4, 6, 0, 0], [0, 0, 5, 5], [0, 0, 6, 3]])
    >>> model = VariationalRTM(n_topics=2, alpha=1.0, negatives=1, random_state=0)
    >>> model.fit(counts, links=np.array([[0, 1], [2, 3]])).topic_word_.shape
    (2, 4)
    >>> model.predict_links(np.array([[3, 4, 0, 0]])).argmax(axis=1) < 2
    array([ True])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{name: [Interval(Integral, 1, None, closed="left")] for name in ("n_topics", "max_iter", "max_doc_iter")},
        **{name: [Interval(Real, 0, None, closed="neither")] for name in ("alpha", "beta", "weight_variance")},
        **{name: [None, Interval(Real, 0, None, closed="neither")] for name in ("negatives", "n_pseudo")},
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state", np.random.Generator],
    }

    n_topics: int = 20
    _: KW_ONLY
    alpha: float = 5.0
    beta: float = 0.01
    negatives: float | None = None
    n_pseudo: float | None = None
    weight_variance: float = 1.0
    max_iter: int = 100
    max_doc_iter: int = 20
    tol: float = 1e-4
    random_state: int | np.random.RandomState | np.random.Generator | None = None

    def fit(self, X: Any, y: Any = None, *, links: Any = None) -> VariationalRTM:
        """Fit the model and return it.

        Parameters
        ----------
        X : DocumentNetwork, array-like or sparse matrix of shape (n_documents, n_words)
            A network, or word counts.
        y : None
            Ignored.
        links : array-like of shape (n_links, 2) or square sparse matrix, optional
            Links between rows of a count matrix.

        Examples
        --------
        >>> import numpy as np
        >>> from linktopics import VariationalRTM
        >>> counts = np.array([[5, 4, 0, 0], [4, 6, 0, 0], [0, 0, 5, 5], [0, 0, 6, 3]])
        >>> model = VariationalRTM(2, alpha=1.0, negatives=1, random_state=0).fit(counts, links=[[0, 1], [2, 3]])
        >>> model.n_iter_ > 1
        True
        """
        self._validate_params()
        network = resolve_network(self, X, links, directed=False)
        rng = np.random.default_rng(seed_sequence(self.random_state))
        pairs = sample_pairs(network.links, network.n_documents, False, self.negatives or 0.0, rng)
        if self.negatives and self.n_pseudo:
            raise ValueError("give either negatives (sampled non-links) or n_pseudo (pseudo-observations), not both.")
        n_pseudo = 0.0 if self.negatives else len(pairs) if self.n_pseudo is None else self.n_pseudo
        counts = csr_array(network.counts, dtype=np.float64)
        field = MeanField(counts, pairs, self._first_topics(counts, rng), self.alpha / self.n_topics, self.beta)
        weights, bounds, clock = np.zeros(self.n_topics + 1), [], np.zeros(2)
        warm_up = min(WARM_UP_ITERATIONS, self.max_iter // 2)
        for iteration in range(self.max_iter):
            start = time.perf_counter()
            for _ in range(self.max_doc_iter):
                if field.sweep(weights) < DOCUMENT_TOL:
                    break
            middle = time.perf_counter()
            regression = LinkRegression(field.phibar, pairs, n_pseudo, self.weight_variance)
            bounds.append(field.bound() + regression.objective(weights)[0])
            if iteration >= warm_up:
                weights = regression.maximise(weights)
            end = time.perf_counter()
            field.update_topics()
            clock += middle - start + time.perf_counter() - end, end - middle
            if iteration > warm_up and bounds[-1] - bounds[-2] < self.tol * abs(bounds[-1]):
                break
        gamma = field.alpha + field.expected
        self.topic_word_ = np.ascontiguousarray(field.topics.T)
        self.doc_topic_ = gamma / gamma.sum(axis=1, keepdims=True)
        self.link_weights_, self.intercept_ = np.diag(weights[:-1]), float(weights[-1])
        self.bound_, self.n_iter_, self.network_report_ = np.array(bounds), len(bounds), network.report
        self.timings_ = dict(zip(("topics", "weights"), clock.tolist(), strict=True))
        self._phibar, self.network_, self._n_features_out = field.phibar, network, self.n_topics
        self._alpha = self.alpha / self.n_topics
        return self

    def _first_topics(self, counts: csr_array, rng: np.random.Generator) -> Array:
        """Return the first topics: the words of a random document each, and noise of equal weight."""
        documents = rng.choice(counts.shape[0], self.n_topics, replace=counts.shape[0] < self.n_topics)
        words = counts[documents].toarray().T
        words += rng.random(words.shape) * (2 * words.mean() + self.beta)
        return words / words.sum(axis=0)

    def _infer(self, X: Any) -> tuple[Array, Array]:
        """Return expected tokens per topic and lengths of new documents, each iterated until it converges."""
        check_is_fitted(self)
        counts = csr_array(resolve_counts(self, X), dtype=np.float64)
        topics, lengths = np.ascontiguousarray(self.topic_word_.T), np.asarray(counts.sum(axis=1))[:, None]
        expected = np.repeat(lengths / self._n_features_out, self._n_features_out, axis=1)
        for active in split(np.arange(len(lengths)), np.diff(counts.indptr), self._n_features_out):
            for _ in range(self.max_doc_iter):
                fields = centre(digamma(self._alpha + expected[active]))
                before, expected[active] = expected[active], word_pass(counts[active], topics, fields)[0]
                moved = np.abs(expected[active] - before).sum(axis=1) > DOCUMENT_TOL * lengths[active, 0]
                active = active[moved]
                if not len(active):
                    break
        return expected, lengths

    def transform(self, X: Any) -> Array:
        """Return the expected topic shares of documents, from their words alone.

        Parameters
        ----------
        X : DocumentNetwork, array-like or sparse matrix of shape (n_documents, n_words), or list of str
            New documents; texts if the model was fitted on a network made from texts.

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
            Rows sum to 1.

        Examples
        --------
        >>> import numpy as np
        >>> from linktopics import VariationalRTM
        >>> counts = np.array([[5, 4, 0, 0], [4, 6, 0, 0], [0, 0, 5, 5], [0, 0, 6, 3]])
        >>> model = VariationalRTM(2, alpha=1.0, negatives=1, random_state=0).fit(counts, links=[[0, 1], [2, 3]])
        >>> model.transform(np.array([[3, 4, 0, 0]])).shape
        (1, 2)
        """
        expected, lengths = self._infer(X)
        return (self._alpha + expected) / (self._alpha * self._n_features_out + lengths)

    def predict_links(self, documents: Any, candidates: Any = None, direction: str = "both") -> Array:
        """Return link probabilities between new documents, known by their words, and training documents.

        Parameters
        ----------
        documents : DocumentNetwork, array-like or sparse matrix of shape (n_documents, n_words), or list of str
            New documents, as for `transform`.
        candidates : sequence of ids, default=None
            Training documents to consider, by id; None is all.
        direction : {"both", "out", "in"}, default="both"
            Makes no difference: the model is symmetric.

        Returns
        -------
        ndarray of shape (n_documents, n_candidates)
            Probabilities; their level depends on how many non-links, sampled or pseudo, the model saw.

        Examples
        --------
        >>> import numpy as np
        >>> from linktopics import VariationalRTM
        >>> counts = np.array([[5, 4, 0, 0], [4, 6, 0, 0], [0, 0, 5, 5], [0, 0, 6, 3]])
        >>> model = VariationalRTM(2, alpha=1.0, negatives=1, random_state=0).fit(counts, links=[[0, 1], [2, 3]])
        >>> model.predict_links(np.array([[3, 4, 0, 0]]), candidates=[0, 2]).argmax() == 0
        np.True_
        """
        check_direction(direction)
        expected, lengths = self._infer(documents)
        self._check_links()
        chosen = resolve_candidates(self.network_, candidates)
        score = (topic_shares(expected, lengths) * np.diag(self.link_weights_)) @ self._phibar[chosen].T
        return expit(score + self.intercept_)

    def word_probabilities(self, links: Any, linked_by: Any = None) -> Array:
        """Return the probabilities of words in new documents of which only links are known.

        Parameters
        ----------
        links, linked_by : sequence of sequences of ids, or None
            For each new document the training documents it links to, and those that link to it. Together they are its
            links: the model is symmetric.

        Returns
        -------
        ndarray of shape (n_documents, n_words)
            Words of topics, mixed by the variational posterior of a document of the training documents' average length.

        Examples
        --------
        >>> import numpy as np
        >>> from linktopics import VariationalRTM
        >>> counts = np.array([[5, 4, 0, 0], [4, 6, 0, 0], [0, 0, 5, 5], [0, 0, 6, 3]])
        >>> model = VariationalRTM(2, alpha=1.0, negatives=1, random_state=0).fit(counts, links=[[0, 1], [2, 3]])
        >>> model.word_probabilities([[0], [2, 3]]).shape
        (2, 4)
        """
        check_is_fitted(self)
        self._check_links()
        out, into, n_documents = resolve_links(self.network_, links, linked_by)
        ends = np.unique(np.concatenate([out, into]), axis=0)
        n_old, n_topics = self._phibar.shape
        graph = csr_array((np.ones(len(ends)), ends.T), shape=(n_documents, n_old + n_documents))
        here = n_old + np.arange(n_documents)
        weights = np.append(np.diag(self.link_weights_), self.intercept_)
        length = max(1.0, float(self.network_.lengths.mean()))
        phibar = np.vstack([self._phibar, np.full((n_documents, n_topics), 1 / n_topics)])
        fields = np.zeros((n_documents, n_topics))
        for _ in range(self.max_doc_iter * 10):  # damped steps are short where links are strong
            gradient, curvature = link_field(graph, here, phibar, weights)
            goal = digamma(self._alpha + length * phibar[here]) + gradient / length
            fields = centre(fields + (goal - fields) / (1 + curvature[:, None] / length))
            before, phibar[here] = phibar[here], softmax(fields, axis=1)
            if np.abs(phibar[here] - before).sum(axis=1).max(initial=0.0) < DOCUMENT_TOL:
                break
        shares = (self._alpha + length * phibar[here]) / (n_topics * self._alpha + length)
        return shares @ self.topic_word_

    def _check_links(self) -> None:
        if self.network_.n_links == 0:
            raise DataError("the model was fitted without links, so it cannot predict them.")
