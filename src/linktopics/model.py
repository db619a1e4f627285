"""RelationalTopicModel: the estimator users call."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from linktopics._inputs import resolve_counts, resolve_documents, resolve_links, resolve_network, seed_sequence
from linktopics.errors import DataError
from linktopics.features import fit_features, resolve_features
from linktopics.network import DocumentNetwork
from linktopics.pairs import AUTO, sample_pairs
from linktopics.posterior import Chain, run_chains
from linktopics.prediction import Predictor
from linktopics.sampler import Corpus, Settings
from linktopics.words import PredictsWords

__all__ = ["RelationalTopicModel"]

MAX_TOKENS_OF_A_KIND = 2**24
"""float32 counts whole numbers up to here."""

PRIOR_RANGE = (1e-9, 1e9)
"""Smaller prior counts would vanish in float32 beside the counts they are added to, and larger ones drown those."""

PAPER_MODELS: dict[str, dict[str, str]] = {
    "Gibbs-RTM": {"loss": "logistic", "weights": "diagonal", "sampler": "exact"},
    "Gibbs-gRTM": {"loss": "logistic", "weights": "full", "sampler": "exact"},
    "Approx-gRTM": {"loss": "logistic", "weights": "full", "sampler": "cached"},
    "Gibbs-MMRTM": {"loss": "hinge", "weights": "diagonal", "sampler": "exact"},
    "Gibbs-gMMRTM": {"loss": "hinge", "weights": "full", "sampler": "exact"},
    "Approx-gMMRTM": {"loss": "hinge", "weights": "full", "sampler": "cached"},
}

PAPER_SETTING: dict[str, Any] = {"pair_features": None, "weight_variance": 1.0, "negatives": 0.01, "n_chains": 1}
"""Where the paper does other than our defaults."""

DEFAULT_LINK_COST = {"full": 4.0, "diagonal": 16.0}


class RelationalTopicModel(PredictsWords, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Topics of documents that also explain which documents link to which.

    Words follow latent Dirichlet allocation. A pair of documents has the score ``zbar_i @ U @ zbar_j``, where zbar_i
    are the shares of topics among the tokens of document i, and a logistic or max-margin loss of the scores of links
    and sampled non-links enters the posterior, weighted by a cost per class. Inference is collapsed Gibbs sampling made
    exact by data augmentation. Without links the model is plain LDA.

    Parameters
    ----------
    n_topics : int, default=20
        Number of topics, K.
    loss : {"logistic", "hinge"}, default="logistic"
        Loss of the score of a pair.
    weights : {"full", "diagonal"}, default="full"
        Whether any topic can attract any other, or only itself.
    sampler : {"exact", "cached"}, default="exact"
        "cached" keeps the links' say in a document's topics as it was when its turn came (the paper's Approx models).
        It saves little here; exact is as good as free.
    alpha : float, default=5.0
        Prior tokens per document, spread evenly over the topics.
    beta : float, default=0.01
        Prior tokens per word and topic.
    weight_variance : float, default=10.0
        Prior variance of each weight, of topics and of features.
    link_cost : float, default=None
        Weight of a link in the loss; None is 4 for full and 16 for diagonal weights.
    nonlink_cost : float, default=1.0
        Weight of a sampled non-link in the loss.
    margin : float, default=1.0
        Margin of the hinge loss.
    negatives : float or "auto", default="auto"
        "auto" is 1 % of the unlinked pairs, but from 5 to 20 per link, and at most a million unless 5 per link are
        more. Below 1, the fraction of the unlinked pairs that are sampled as non-links; from 1 on, non-links per
        link. A fraction that means over a million, or none, is replaced by 5 per link, with a warning.
    pair_features : "default", list or None, default="default"
        What else is known about a pair, added to its score with weights that are drawn together with U. Names of
        `linktopics.features.BUILT_IN`, or objects of `linktopics.features`:

        - "tfidf", the cosine of both texts;
        - "tfidf-neighbours", the cosine of the new text with the candidate's neighbours, on average;
        - "tfidf-centroid", the cosine with the candidate and its neighbours taken together;
        - "topics-neighbours", the same as "tfidf-neighbours" for topics of a plain LDA;
        - "degree", the logarithms of the numbers of links that the candidate has;
        - "intercept", a constant;
        - `Column`, `PairMatrix` and `PairFunction` for what you bring.

        "default" is "tfidf", "tfidf-centroid" and "degree". None is the paper's model.
    intercept : bool, default=False
        Adds a constant to the scores of diagonal weights. Full weights contain one.
    n_iter : int, default=300
        Burn-in sweeps.
    n_samples : int, default=10
        Posterior samples to keep per chain.
    thin : int, default=20
        Sweeps per kept sample. Samples close to each other are alike, and averaging them gains little.
    n_chains : int, default=4
        Independent chains. Predictions average over all; attributes that speak of topics describe the best one.
    directed : bool, default=None
        Whether the direction of links counts; None takes the network's word, and True for a count matrix.
    random_state : int, RandomState, Generator or None, default=None
        The same number gives the same model, whatever `n_jobs` is.
    n_jobs : int, default=None
        Threads; chains and new documents are spread over them. None is one, -1 all cores.
    verbose : bool or "auto", default="auto"
        Whether to show a progress bar; "auto" does after two seconds, on a terminal.

    Attributes
    ----------
    topic_word_ : ndarray of shape (n_topics, n_words)
        Probability of words in topics.
    doc_topic_ : ndarray of shape (n_documents, n_topics)
        Topic proportions of the training documents.
    link_weights_ : ndarray of shape (n_topics, n_topics)
        Posterior mean of U: entry (k, l) is how much topic k in the source attracts topic l in the target.
    link_weights_std_ : ndarray of shape (n_topics, n_topics)
        Posterior standard deviation of U; zero if only one sample was kept.
    feature_names_ : list of str
        Names of the numbers that features make of a pair; some make several.
    feature_weights_ : ndarray of shape (n_features,)
        Posterior mean of their weights, over all chains; in units of a standard deviation among the training pairs.
    feature_weights_std_ : ndarray of shape (n_features,)
        Their posterior standard deviation; zero if only one sample was kept.
    intercept_ : float
        Posterior mean of the intercept, or zero.
    log_joint_ : ndarray of shape (n_iter + n_samples * thin,)
        Log joint density after every sweep, of the best chain.
    log_joints_ : ndarray of shape (n_chains, n_iter + n_samples * thin)
        The same for every chain.
    best_chain_ : int
        The chain whose kept samples have the highest mean log joint.
    samples_ : list of PosteriorSample
        The kept samples of all chains.
    timings_ : dict of str to float
        Seconds spent on "topics", "augmented" variables and "weights", over all chains.
    n_pairs_ : int
        Number of training pairs, links and non-links.
    network_ : DocumentNetwork
        The network fitted.
    network_report_ : NetworkReport
        What was dropped from the data.
    n_features_in_ : int
        Number of words.

    References
    ----------
    Chen, Zhu, Xia and Zhang (2015), Discriminative relational topic models, IEEE TPAMI 37(5).

    Examples
    --------
    >>> from linktopics import DocumentNetwork, RelationalTopicModel
    >>> network = DocumentNetwork.from_texts(
    ...     {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"},
    ...     [("b", "a"), ("d", "c")],
    ... )
    >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_iter=50, random_state=0).fit(network)
    >>> model.topic_word_.shape, model.link_weights_.shape
    ((2, 6), (2, 2))
    """

    _reads_networks = True  # as new documents, for their ids and columns
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_topics": [Interval(Integral, 1, 32767, closed="both")],
        "loss": [StrOptions({"logistic", "hinge"})],
        "weights": [StrOptions({"full", "diagonal"})],
        "sampler": [StrOptions({"exact", "cached"})],
        "alpha": [Interval(Real, *PRIOR_RANGE, closed="both")],
        "beta": [Interval(Real, *PRIOR_RANGE, closed="both")],
        "weight_variance": [Interval(Real, 0, None, closed="neither")],
        "link_cost": [Interval(Real, 0, None, closed="neither"), None],
        "nonlink_cost": [Interval(Real, 0, None, closed="neither")],
        "margin": [Interval(Real, 0, None, closed="left")],
        "negatives": [Interval(Real, 0, None, closed="left"), StrOptions({AUTO})],
        "pair_features": "no_validation",  # `resolve_features` has better words for it
        "intercept": ["boolean"],
        "n_iter": [Interval(Integral, 0, None, closed="left")],
        "n_samples": [Interval(Integral, 1, None, closed="left")],
        "thin": [Interval(Integral, 1, None, closed="left")],
        "n_chains": [Interval(Integral, 1, None, closed="left")],
        "directed": ["boolean", None],
        "random_state": ["random_state", np.random.Generator],
        "n_jobs": [Integral, None],
        "verbose": ["boolean", StrOptions({"auto"})],
    }

    def __init__(
        self,
        n_topics: int = 20,
        *,
        loss: str = "logistic",
        weights: str = "full",
        sampler: str = "exact",
        alpha: float = 5.0,
        beta: float = 0.01,
        weight_variance: float = 10.0,
        link_cost: float | None = None,
        nonlink_cost: float = 1.0,
        margin: float = 1.0,
        negatives: float | str = AUTO,
        pair_features: Any = "default",
        intercept: bool = False,
        n_iter: int = 300,
        n_samples: int = 10,
        thin: int = 20,
        n_chains: int = 4,
        directed: bool | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | str = "auto",
    ) -> None:
        self.n_topics = n_topics
        self.loss = loss
        self.weights = weights
        self.sampler = sampler
        self.alpha = alpha
        self.beta = beta
        self.weight_variance = weight_variance
        self.link_cost = link_cost
        self.nonlink_cost = nonlink_cost
        self.margin = margin
        self.negatives = negatives
        self.pair_features = pair_features
        self.intercept = intercept
        self.n_iter = n_iter
        self.n_samples = n_samples
        self.thin = thin
        self.n_chains = n_chains
        self.directed = directed
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @classmethod
    def from_paper(cls, name: str, n_topics: int = 20, **parameters: Any) -> RelationalTopicModel:
        """Return a model of the paper under its name there, with the paper's 400 sweeps and one posterior sample.

        Parameters
        ----------
        name : {"Gibbs-RTM", "Gibbs-gRTM", "Approx-gRTM", "Gibbs-MMRTM", "Gibbs-gMMRTM", "Approx-gMMRTM"}
            The model. The paper's seventh, Var-RTM, is `VariationalRTM`.
        n_topics : int, default=20
            Number of topics.
        **parameters
            Any other parameter of the model.

        Examples
        --------
        >>> from linktopics import RelationalTopicModel
        >>> RelationalTopicModel.from_paper("Gibbs-gMMRTM", n_topics=25).loss
        'hinge'
        """
        if name not in PAPER_MODELS:
            hint = " (Var-RTM is linktopics.VariationalRTM)" if name == "Var-RTM" else ""
            raise ValueError(f"no model is called {name!r}{hint}; the names are {', '.join(PAPER_MODELS)}.")
        defaults: dict[str, Any] = {**PAPER_MODELS[name], "n_iter": 400, "n_samples": 1, **PAPER_SETTING}
        if parameters.get("n_samples", 1) == 1:
            defaults["thin"] = 1
        return cls(n_topics, **{**defaults, **parameters})

    def fit(self, X: Any, y: Any = None, *, links: Any = None) -> RelationalTopicModel:
        """Fit the model.

        Parameters
        ----------
        X : DocumentNetwork, or array-like or sparse matrix of shape (n_documents, n_words)
            The documents, with their links or as word counts.
        y : None
            Ignored.
        links : array-like of shape (n_links, 2) or square sparse matrix, default=None
            Links between the rows of a count matrix, from source to target.

        Returns
        -------
        self : RelationalTopicModel
            The fitted model.

        Examples
        --------
        >>> import numpy as np
        >>> from linktopics import RelationalTopicModel
        >>> X = np.array([[3, 1, 0, 0], [2, 2, 0, 0], [0, 0, 3, 1], [0, 0, 1, 3]])
        >>> model = RelationalTopicModel(2, negatives=2, n_iter=50, random_state=0).fit(X, links=[(0, 1), (2, 3)])
        >>> model.doc_topic_.shape, model.log_joint_.shape
        ((4, 2), (250,))
        """
        self._validate_params()
        if self.intercept and self.weights == "full":
            raise ValueError("intercept=True goes with weights='diagonal'; full weights contain an intercept already.")
        given = resolve_features(self.pair_features, self.intercept)
        network = resolve_network(self, X, links, self.directed)
        self._check_sizes(network)
        for_pairs, for_inference, *for_chains, for_features = seed_sequence(self.random_state).spawn(3 + self.n_chains)
        pairs = sample_pairs(
            network.links, network.n_documents, network.directed, self.negatives, np.random.default_rng(for_pairs)
        )
        settings = self._settings()
        features, numbers = fit_features(given, network, pairs, settings, for_features, self.verbose)
        corpus = Corpus.build(network.counts, pairs, not network.directed, numbers)
        chains = run_chains(
            corpus, settings, for_chains, self.n_iter, self.n_samples, self.thin, self.n_jobs, self.verbose
        )
        self._fitted_settings = settings
        self._features = features
        self.network_ = network
        self.network_report_ = network.report
        self.n_pairs_ = corpus.n_pairs
        self._inference_seed = int(for_inference.generate_state(1, np.uint64)[0] >> np.uint64(1))
        self._set_posterior(chains)
        return self

    def _settings(self) -> Settings:
        return Settings(
            n_topics=self.n_topics,
            loss=self.loss,
            weights=self.weights,
            exact=self.sampler == "exact",
            alpha=self.alpha,
            beta=self.beta,
            weight_variance=self.weight_variance,
            link_cost=DEFAULT_LINK_COST[self.weights] if self.link_cost is None else self.link_cost,
            nonlink_cost=self.nonlink_cost,
            margin=self.margin,
        )

    def _check_sizes(self, network: DocumentNetwork) -> None:
        words = np.arange(network.n_words) if network.vocabulary is None else network.vocabulary
        for counts, what, names in (
            (network.counts.sum(0), "word", words),
            (network.lengths, "document", network.ids),
        ):
            if counts.max() >= MAX_TOKENS_OF_A_KIND:
                raise DataError(
                    f"{what} {names.tolist()[int(np.argmax(counts))]!r} has {int(counts.max()):,} tokens; at most "
                    f"{MAX_TOKENS_OF_A_KIND - 1:,} can be counted. Leave out very frequent words or split documents."
                )

    def _set_posterior(self, chains: list[Chain]) -> None:
        self.log_joints_ = np.stack([chain.log_joint for chain in chains])
        self.samples_ = [sample for chain in chains for sample in chain.samples]
        self.timings_ = {step: sum(chain.seconds[step] for chain in chains) for step in chains[0].seconds}
        means = [np.mean([sample.log_joint for sample in chain.samples]) for chain in chains]
        self.best_chain_ = int(np.argmax(means))
        self.log_joint_ = self.log_joints_[self.best_chain_]
        best = chains[self.best_chain_].samples
        self.topic_word_ = np.mean([s.word_topic[:, : self.n_topics] for s in best], axis=0, dtype=float).T.copy()
        self.topic_word_ /= self.topic_word_.sum(1, keepdims=True)
        shares = np.mean([s.doc_topic for s in best], axis=0, dtype=float)
        self.doc_topic_ = self._smooth(shares, self.network_.lengths)
        weights = np.stack([s.weights for s in best])
        self.link_weights_ = weights.mean(0)
        self.link_weights_std_ = weights.std(0)
        self.feature_names_ = self._features.columns
        feature_weights = np.stack([s.feature_weights for s in self.samples_])
        self.feature_weights_, self.feature_weights_std_ = feature_weights.mean(0), feature_weights.std(0)
        self.intercept_ = float(self._features.constant @ self.feature_weights_)

    def _smooth(self, shares: NDArray[np.floating], lengths: NDArray[np.integer]) -> NDArray[np.float64]:
        """Turn shares of tokens into proportions: the posterior mean of theta, the prior for empty documents."""
        alpha = self._fitted_settings.alpha
        proportions = (shares * lengths[:, None] + alpha / shares.shape[1]) / (lengths[:, None] + alpha)
        return np.asarray(proportions / proportions.sum(1, keepdims=True))

    @property
    def _predictor(self) -> Predictor:
        check_is_fitted(self)
        return Predictor(
            network=self.network_,
            samples=self.samples_,
            best_chain=self.best_chain_,
            settings=self._fitted_settings,
            features=self._features,
            seed=self._inference_seed,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )

    @property
    def _n_features_out(self) -> int:
        return len(self.topic_word_)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return topic proportions of documents from their words alone.

        Parameters
        ----------
        X : array-like, sparse matrix, DocumentNetwork, text or list of texts
            The documents. Texts are read with the vectorizer of the network that was fitted.

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
            Rows sum to 1. A document's row does not depend on the other documents.

        Examples
        --------
        >>> from linktopics import DocumentNetwork, RelationalTopicModel
        >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
        >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
        >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_iter=50, random_state=0).fit(network)
        >>> model.transform(["kittens purr"]).shape
        (1, 2)
        """
        check_is_fitted(self)
        counts = resolve_counts(self, X)
        predictor = self._predictor
        shares = np.mean([predictor.infer(sample, counts) for sample in predictor.described], axis=0, dtype=float)
        return self._smooth(shares, counts.sum(1))

    def predict_links(self, documents: Any, candidates: Any = None, direction: str = "both") -> NDArray[np.float64]:
        """Return the probability that each new document links with each training document.

        Parameters
        ----------
        documents : array-like, sparse matrix, DocumentNetwork, text or list of texts
            The new documents.
        candidates : sequence of ids, default=None
            Training documents to consider, by id; None is all.
        direction : {"both", "out", "in"}, default="both"
            Links from the new document, to it, or either way.

        Returns
        -------
        ndarray of shape (n_documents, n_candidates)
            Probabilities averaged over posterior samples. They speak of pairs as they were trained on, where links are
            more frequent than in the whole network; their order is what counts.

        Examples
        --------
        >>> import numpy as np
        >>> from linktopics import RelationalTopicModel
        >>> X = np.array([[3, 1, 0, 0], [2, 2, 0, 0], [0, 0, 3, 1], [0, 0, 1, 3]])
        >>> model = RelationalTopicModel(2, negatives=2, n_iter=50, random_state=0).fit(X, links=[(0, 1), (2, 3)])
        >>> model.predict_links([[1, 1, 0, 0]]).shape
        (1, 4)
        """
        check_is_fitted(self)
        return self._predictor.predict(resolve_documents(self, documents), candidates, direction)

    def suggest_links(
        self, documents: Any, top: int = 10, direction: str = "both", interval: float = 0.9
    ) -> pd.DataFrame:
        """Return the training documents that new documents should link with, best first, and why.

        Parameters
        ----------
        documents : array-like, sparse matrix, DocumentNetwork, text or list of texts
            The new documents.
        top : int, default=10
            Suggestions per document.
        direction : {"both", "out", "in"}, default="both"
            Links from the new document, to it, or either way.
        interval : float, default=0.9
            Mass of the interval that `lower` and `upper` bound.

        Returns
        -------
        DataFrame
            Columns ``document`` (its number), ``id``, ``title``, ``probability``, ``lower``, ``upper`` (over posterior
            samples; NaN if there is only one) and ``why``, the topics that carry the score.

        Examples
        --------
        >>> from linktopics import DocumentNetwork, RelationalTopicModel
        >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
        >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
        >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_iter=50, random_state=0).fit(network)
        >>> list(model.suggest_links("kittens purr", top=2).columns)
        ['document', 'id', 'title', 'probability', 'lower', 'upper', 'why']
        """
        check_is_fitted(self)
        return self._predictor.suggest(resolve_documents(self, documents), top, direction, interval)

    def word_probabilities(self, links: Any, linked_by: Any = None) -> NDArray[np.float64]:
        """Return the probabilities of words in new documents of which only links are known.

        Parameters
        ----------
        links : sequence of sequences of ids, or None
            For each new document the training documents it links to.
        linked_by : sequence of sequences of ids, default=None
            For each new document the training documents that link to it. In an undirected network there is no
            difference.

        Returns
        -------
        ndarray of shape (n_documents, n_words)
            Rows sum to 1. Topics are drawn given the links, whose augmented variables are drawn too, for documents as
            long as those fitted are on average; the mix of topics is averaged over draws and posterior samples. A
            document without links has the topics of the prior. The same call gives the same numbers, but other
            documents in it have a say in the random numbers.

        Examples
        --------
        >>> import numpy as np
        >>> from linktopics import RelationalTopicModel
        >>> X = np.array([[3, 1, 0, 0], [2, 2, 0, 0], [0, 0, 3, 1], [0, 0, 1, 3]])
        >>> model = RelationalTopicModel(2, negatives=2, n_iter=50, random_state=0).fit(X, links=[(0, 1), (2, 3)])
        >>> model.word_probabilities([[0], [2, 3]]).shape
        (2, 4)
        """
        check_is_fitted(self)
        return self._predictor.words(*resolve_links(self.network_, links, linked_by))

    def explain_link(self, source: Any, target: Any, *, documents: Any = None) -> pd.DataFrame:
        """Return the parts of the score of a pair: how much each topic of the source pulls each topic of the target.

        Parameters
        ----------
        source, target : id, or None
            Training documents by id. New documents take the place of the end that is None.
        documents : array-like, sparse matrix, DocumentNetwork, text or list of texts, default=None
            New documents, each of which is paired with the other end.

        Returns
        -------
        DataFrame
            A row for each pair of topics (``source_topic``, ``target_topic``, ``source_words``, ``target_words``) and
            for each feature (``feature``, ``detail``), by size of its ``part`` of the score; with new documents also
            ``document``, their number. Parts sum to the score, averaged over the samples of the best chain. ``share``
            is the part relative to all parts of its sign. A pair of training documents is looked at as if the source
            was new and the links between the two were not known.

        Examples
        --------
        >>> from linktopics import DocumentNetwork, RelationalTopicModel
        >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
        >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
        >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_iter=50, random_state=0).fit(network)
        >>> model.explain_link("b", "a").query("feature == 'tfidf'").detail.item()
        'shared words: cats'
        >>> bool(model.explain_link(None, "a", documents="kittens purr").part.sum() > 0)
        True
        """
        check_is_fitted(self)
        new = None if documents is None else resolve_documents(self, documents)
        return self._predictor.explain(source, target, new)

    def topics(self, n_words: int = 8) -> pd.DataFrame:
        """Return the topics, most frequent first.

        Parameters
        ----------
        n_words : int, default=8
            Words per topic.

        Returns
        -------
        DataFrame
            Indexed by topic, with columns ``share`` (of all tokens), ``words`` and ``attraction`` (of the topic to
            itself, the diagonal of the weights).

        Examples
        --------
        >>> from linktopics import DocumentNetwork, RelationalTopicModel
        >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
        >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
        >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_iter=50, random_state=0).fit(network)
        >>> list(model.topics(n_words=3).columns)
        ['share', 'words', 'attraction']
        """
        check_is_fitted(self)
        words = self._predictor.top_words(n_words)
        shares = self.network_.lengths @ self.doc_topic_ / self.network_.n_tokens
        table = pd.DataFrame(
            {"share": shares, "words": [", ".join(row) for row in words], "attraction": np.diag(self.link_weights_)},
            index=pd.RangeIndex(len(words), name="topic"),
        )
        return table.sort_values("share", ascending=False)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.input_tags.categorical = True  # whole numbers, as counts are
        return tags
