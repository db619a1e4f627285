"""RelationalTopicModel: the estimator users call."""

from __future__ import annotations

import os
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions

from linktopics._inputs import check_sizes, resolve_network, seed_sequence
from linktopics.answers import AnswersQuestions
from linktopics.description import DescribesTopics
from linktopics.engines import Engine
from linktopics.features import fit_features, resolve_features
from linktopics.going_on import GoesOn, checkpoints
from linktopics.network import DocumentNetwork
from linktopics.pairs import AUTO, sample_pairs
from linktopics.posterior import MAX_JOBS, Plan, quantities, start_chains
from linktopics.run import Run
from linktopics.sampler import Corpus, Settings
from linktopics.seeds import resolve_seed_words

__all__ = ["RelationalTopicModel"]

PRIOR_RANGE = (1e-9, 1e9)
"""Smaller prior counts would vanish in float32 beside the counts they are added to, and larger ones drown those."""

LINK_RANGE = (1e-9, 1e9)
"""Of costs and of the variance of weights: their products, squares and inverses are to stay numbers in float32, too."""

MOST_SWEEPS, MOST_PER_LINK = 10**9, 1e15

PAPER_MODELS: dict[str, dict[str, str]] = {
    "Gibbs-RTM": {"loss": "logistic", "weights": "diagonal", "sampler": "exact"},
    "Gibbs-gRTM": {"loss": "logistic", "weights": "full", "sampler": "exact"},
    "Approx-gRTM": {"loss": "logistic", "weights": "full", "sampler": "cached"},
    "Gibbs-MMRTM": {"loss": "hinge", "weights": "diagonal", "sampler": "exact"},
    "Gibbs-gMMRTM": {"loss": "hinge", "weights": "full", "sampler": "exact"},
    "Approx-gMMRTM": {"loss": "hinge", "weights": "full", "sampler": "cached"},
}

PAPER_SETTING: dict[str, Any] = {
    "pair_features": None,
    "weight_variance": 1.0,
    "negatives": 0.01,
    "calibration": "sampling",
    "n_chains": 1,
}
"""Where the paper does other than our defaults."""

DEFAULT_LINK_COST = {"full": 4.0, "diagonal": 16.0}


class RelationalTopicModel(GoesOn, DescribesTopics, AnswersQuestions, BaseEstimator):
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
    learn_alpha : {"symmetric", "per-topic"} or None, default=None
        Learn alpha during burn-in, beginning with `alpha`: one number, or one for each topic.
    learn_beta : bool, default=False
        Learn beta during burn-in, beginning with `beta`.
    seed_words : mapping from int to list of str, or list of lists of str, default=None
        Words that are expected in a topic, by the topic's number: ``{0: ["cell", "protein"], 3: ["star"]}``. They have
        more prior tokens there, and start there; the documents may still teach otherwise. All must be in the
        vocabulary: filter lists of words by ``word in set(network.vocabulary)``.
    seed_weight : int, default=None
        Prior tokens of each seed word. None is a hundredth of the tokens of an average topic, at least 10.
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
    calibration : {"held-out", "sampling"} or None, default="held-out"
        How the model's own probabilities, which are of pairs as it was trained on, become those of links as rare as
        they are in the network. "sampling" corrects for the sampling of non-links and for the costs, by a formula;
        "held-out" also measures, when the chains are done, how links of documents that they go on without, for 40
        sweeps, are found. With too few links for that it is "sampling". None leaves the model's own. The order of
        candidates in one direction is the same in all cases. See `linktopics.calibration`.
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
        Independent chains. Predictions average over all that are not stuck far below the others
        (`linktopics.stuck.stuck_chains` says when one is); attributes that speak of topics describe the best one.
    directed : bool, default=None
        Whether the direction of links counts; None takes the network's word, and True for a count matrix.
    random_state : int, RandomState, Generator or None, default=None
        The same number gives the same model, whatever `n_jobs` is.
    n_shards : int, default=1
        Parts into which the documents are divided, so that several cores or machines can work on one chain. Within a
        sweep, a document sees the words and topics of other parts as they were before it: with one part the sampler is
        exact, with more it is a little behind (docs/results/performance.md has how much) and needs more memory. It
        changes the result; `n_jobs` and the engine do not.
    n_jobs : int, default=None
        Threads; chains, shards of chains and new documents are spread over them. None is one, -1 all cores.
    verbose : bool or "auto", default="auto"
        Whether to show a progress bar; "auto" does after two seconds, on a terminal. It has no say in warnings: a
        `MixingWarning` is silenced by ``warnings.filterwarnings("ignore", category=MixingWarning)``.

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
        Posterior mean of their weights, over all chains that count; in units of a standard deviation among the training
        pairs.
    feature_weights_std_ : ndarray of shape (n_features,)
        Their posterior standard deviation; zero if only one sample was kept.
    intercept_ : float
        Posterior mean of the intercept, or zero.
    alpha_ : ndarray of shape (n_topics,)
        Prior tokens of topics in a document, of the best chain; learned if `learn_alpha`.
    beta_ : float
        Prior tokens of a word in a topic, of the best chain; learned if `learn_beta`.
    trace_ : dict of str to ndarray of shape (n_chains, n_sweeps)
        What does not depend on how topics are numbered, after every sweep: "log joint", "topic entropy", "weight norm",
        ...
    n_burn_in_ : int
        Sweeps of the trace that come before the first sample.
    log_joint_ : ndarray of shape (n_sweeps,)
        Log joint density after every sweep, of the best chain.
    log_joints_ : ndarray of shape (n_chains, n_sweeps)
        The same for every chain.
    best_chain_ : int
        The chain whose kept samples have the highest mean log joint; after `extend`, the one that was before.
    samples_ : list of PosteriorSample
        The kept samples of all chains that count.
    left_out_chains_ : dict of int to float
        Chains that are stuck, and how far their mean log joint is below that of the others. They count for nothing:
        neither predictions, weights of features, calibration nor diagnostics know them. They are saved and go on with
        the others all the same, and count again when they have found their way.
    timings_ : dict of str to float
        Seconds spent on "topics", "augmented" variables and "weights", over all chains.
    exchanged_ : dict of str to float
        Bytes per sweep that the shards of a chain told each other, or with a machine for each would have sent: changes
        in the counts of "words", "topics" of documents, augmented variables of "pairs", "sums" for the weights, and
        "states" that were fetched to be kept. Empty with one shard, and for a model that was loaded.
    calibration_ : LinkCalibration
        What the calibration came to: the correction for sampling, and what held-out documents showed.
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
        "learn_alpha": [StrOptions({"symmetric", "per-topic"}), None],
        "learn_beta": ["boolean"],
        "seed_words": "no_validation",  # `resolve_seed_words` has better words for it
        "seed_weight": [Interval(Integral, 1, 2**20, closed="both"), None],
        "weight_variance": [Interval(Real, *LINK_RANGE, closed="both")],
        "link_cost": [Interval(Real, *LINK_RANGE, closed="both"), None],
        "nonlink_cost": [Interval(Real, *LINK_RANGE, closed="both")],
        "margin": [Interval(Real, 0, LINK_RANGE[1], closed="both")],
        "negatives": [Interval(Real, 0, MOST_PER_LINK, closed="both"), StrOptions({AUTO})],
        "calibration": [StrOptions({"held-out", "sampling"}), None],
        "pair_features": "no_validation",  # `resolve_features` has better words for it
        "intercept": ["boolean"],
        "n_iter": [Interval(Integral, 0, MOST_SWEEPS, closed="both")],
        "n_samples": [Interval(Integral, 1, MOST_SWEEPS, closed="both")],
        "thin": [Interval(Integral, 1, MOST_SWEEPS, closed="both")],
        "n_chains": [Interval(Integral, 1, 2**15, closed="both")],
        "directed": ["boolean", None],
        "random_state": ["random_state", np.random.Generator],
        "n_shards": [Interval(Integral, 1, 2**15, closed="both")],
        "n_jobs": [
            Interval(Integral, -MAX_JOBS, -1, closed="both"),
            Interval(Integral, 1, MAX_JOBS, closed="both"),
            None,
        ],
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
        learn_alpha: str | None = None,
        learn_beta: bool = False,
        seed_words: Any = None,
        seed_weight: int | None = None,
        weight_variance: float = 10.0,
        link_cost: float | None = None,
        nonlink_cost: float = 1.0,
        margin: float = 1.0,
        negatives: float | str = AUTO,
        calibration: str | None = "held-out",
        pair_features: Any = "default",
        intercept: bool = False,
        n_iter: int = 300,
        n_samples: int = 10,
        thin: int = 20,
        n_chains: int = 4,
        directed: bool | None = None,
        random_state: Any = None,
        n_shards: int = 1,
        n_jobs: int | None = None,
        verbose: bool | str = "auto",
    ) -> None:
        self.n_topics = n_topics
        self.loss = loss
        self.weights = weights
        self.sampler = sampler
        self.alpha = alpha
        self.beta = beta
        self.learn_alpha = learn_alpha
        self.learn_beta = learn_beta
        self.seed_words = seed_words
        self.seed_weight = seed_weight
        self.weight_variance = weight_variance
        self.link_cost = link_cost
        self.nonlink_cost = nonlink_cost
        self.margin = margin
        self.negatives = negatives
        self.calibration = calibration
        self.pair_features = pair_features
        self.intercept = intercept
        self.n_iter = n_iter
        self.n_samples = n_samples
        self.thin = thin
        self.n_chains = n_chains
        self.directed = directed
        self.random_state = random_state
        self.n_shards = n_shards
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

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        links: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_every: int = 50,
        checkpoint_minutes: float | None = 10.0,
        overwrite: bool = False,
        engine: str | Engine = "threads",
    ) -> RelationalTopicModel:
        """Fit the model.

        Parameters
        ----------
        X : DocumentNetwork, or array-like or sparse matrix of shape (n_documents, n_words)
            The documents, with their links or as word counts.
        y : None
            Ignored.
        links : array-like of shape (n_links, 2) or square sparse matrix, default=None
            Links between the rows of a count matrix, from source to target.
        checkpoint : path, default=None
            A folder in which to keep the run while it is on its way, and the model when it is done. After an interrupt
            or a crash ``RelationalTopicModel.load(checkpoint, unfinished=True).resume()`` goes on, to the same result.
            A checkpoint that cannot be written, because the disk is full or gone, is left out with a
            `CheckpointWarning`, and the last good one stays. If the end of the run cannot be written, `ModelError` is
            raised when the model is fitted, so that `save` can save it elsewhere. One fit or save at a time may write
            to a folder; others are refused.
        checkpoint_every : int, default=50
            Sweeps of a chain between two checkpoints.
        checkpoint_minutes : float, default=10
            Minutes between two checkpoints of a chain, if `checkpoint_every` sweeps take longer; None never looks at
            the clock. When checkpoints are written does not change the result.
        overwrite : bool, default=False
            Whether to replace a model that is in the folder of `checkpoint`.
        engine : {"threads", "ray"} or Engine, default="threads"
            Who runs the shards of chains: threads of this process, or actors of a Ray cluster
            (`linktopics.engines.Ray`). The model is the same, bit for bit.

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
        with checkpoints(checkpoint, checkpoint_every, checkpoint_minutes, overwrite=overwrite) as pace:
            network = resolve_network(self, X, links, self.directed)
            seed = seed_sequence(self.random_state)
            run = self._prepare(network, seed)
            return self._carry_out(run, run.plan, pace, engine)

    def _validate_params(self) -> None:
        """Raise if a parameter is not what it should be; True and False are numbers to scikit-learn, but not to us."""
        super()._validate_params()
        for name, kinds in self._parameter_constraints.items():
            value = getattr(self, name)
            if isinstance(value, bool | np.bool_) and any(isinstance(kind, Interval) for kind in kinds):
                raise ValueError(
                    f"The {name!r} parameter of {type(self).__name__} must be a number. Got {value} instead."
                )

    def _prepare(self, network: DocumentNetwork, seed: np.random.SeedSequence, *, start: bool = True) -> Run:
        """Return a run that has all it needs and has not begun; its chains are left out where others will `start`."""
        given = resolve_features(self.pair_features, self.intercept)
        settings = self._settings(network)
        seeds = resolve_seed_words(self.seed_words, self.seed_weight, settings.n_topics, network)
        check_sizes(network, seeds.amount.max(initial=0.0))
        for_pairs, for_inference, *for_chains, for_features = seed.spawn(3 + int(self.n_chains))
        pairs = sample_pairs(
            network.links, network.n_documents, network.directed, self.negatives, np.random.default_rng(for_pairs)
        )
        features, numbers = fit_features(given, network, pairs, settings, for_features, self.verbose)
        corpus = Corpus.build(network.counts, pairs, not network.directed, numbers, seeds)
        return Run(
            network=network,
            settings=settings,
            plan=self._plan(),
            features=features,
            chains=start_chains(corpus, settings, for_chains) if start else [],
            entropy=np.atleast_1d(np.asarray(seed.entropy, dtype=object)).tolist(),
            inference_seed=int(for_inference.generate_state(1, np.uint64)[0] >> np.uint64(1)),
            n_pairs=corpus.n_pairs,
            quantities=quantities(corpus, features.columns),
            corpus=corpus,
        )

    def _settings(self, network: DocumentNetwork) -> Settings:
        """Return what the sampler needs of the parameters, in Python's numbers: NumPy's may be too short for sums."""
        return Settings(
            n_topics=int(self.n_topics),
            loss=self.loss,
            weights=self.weights,
            exact=self.sampler == "exact",
            alpha=float(self.alpha),
            beta=float(self.beta),
            weight_variance=float(self.weight_variance),
            link_cost=float(DEFAULT_LINK_COST[self.weights] if self.link_cost is None else self.link_cost),
            nonlink_cost=float(self.nonlink_cost),
            margin=float(self.margin),
            n_shards=min(int(self.n_shards), network.n_documents),
        )

    def _plan(self) -> Plan:
        return Plan(int(self.n_iter), int(self.n_samples), int(self.thin), self.learn_alpha, bool(self.learn_beta))

    @property
    def _n_features_out(self) -> int:
        return len(self.topic_word_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.input_tags.categorical = True  # whole numbers, as counts are
        return tags
