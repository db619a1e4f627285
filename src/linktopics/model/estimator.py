"""RelationalTopicModel: the estimator users call."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, TextIO

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from linktopics.coherence import coherence, topic_diversity
from linktopics.diagnostics import mixing_table, to_inference_data
from linktopics.engines import Engine
from linktopics.errors import DataError, MixingWarning, ModelError
from linktopics.interop import pyldavis_input, to_networkx
from linktopics.model.count_estimator import CountEstimator
from linktopics.model.run import TrainingRun, check_extends
from linktopics.model.summary import (
    SUMMARY_COLUMNS,
    mixing_advice,
    smoothed_proportions,
    summary_text,
    top_words,
    topic_table,
    trace_after_burn_in,
)
from linktopics.model.training import extended_run, prepare_run, train
from linktopics.network import DocumentNetwork
from linktopics.network.inputs import resolve_counts, resolve_documents, resolve_links, resolve_network, seed_sequence
from linktopics.prediction.predictor import Predictor
from linktopics.prediction.words_from_links import WordPredictionMixin, word_probabilities
from linktopics.registry import LOSSES
from linktopics.sampler.runner import MAX_JOBS, Schedule
from linktopics.sampler.settings import LINK_RANGE, PRIOR_RANGE
from linktopics.storage import Checkpoint, ModelFolder, RunWriter, hold_checkpoint, load_run
from linktopics.storage.manifest import format_error
from linktopics.utils.checks import check_whole_number
from linktopics.utils.estimator_bases import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from linktopics.utils.user_warnings import warn_user

if TYPE_CHECKING:
    import networkx

MAX_SWEEPS_PARAMETER, MAX_NEGATIVES_PER_LINK = 10**9, 1e15
"""Largest values that the parameters may have."""

_between = partial(Interval, closed="both")

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
    "n_burn_in": 400,
    "n_samples": 1,
    "n_chains": 1,
}
"""Parameters that the paper sets differently from our defaults."""


@dataclass(eq=False, repr=False)
class RelationalTopicModel(WordPredictionMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, CountEstimator):
    """Topics of documents that also explain which documents link to which.

    Words follow latent Dirichlet allocation. A pair of documents has the score ``zbar_i @ U @ zbar_j``, where zbar_i
    are the shares of topics among the tokens of document i, and a logistic or max-margin loss of the scores of links
    and sampled non-links enters the posterior, weighted by a cost per class. Inference is collapsed Gibbs sampling made
    exact by data augmentation. Without links the model is plain LDA.

    Parameters
    ----------
    n_topics : int, default=20
        Number of topics, K.
    loss : {"logistic", "hinge"} or another registered name, default="logistic"
        Loss of the score of a pair.
    weights : {"full", "diagonal"}, default="full"
        Whether any topic can attract any other, or only itself.
    sampler : {"exact", "cached"}, default="exact"
        "cached" computes the link term once per document instead of after every token (the paper's Approx models).
        It saves little here, because the exact sweep costs hardly more.
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
        more prior tokens in that topic and start in it; the data can still move them elsewhere. All must be in the
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
        Non-links to sample. "auto" is 1 % of the unlinked pairs, but at least 5 and at most 20 per link, and at most a
        million in all unless 5 per link are more. Below 1: the fraction of the unlinked pairs; 1 or more: non-links
        per link. A fraction that amounts to more than a million, or to none, is replaced by 5 per link, with a warning.
    calibration : {"held-out", "sampling"} or None, default="held-out"
        How probabilities among training pairs, where links are frequent, are converted to probabilities in the
        network, where they are rare. "sampling" corrects for the sampling of non-links and for the costs, by a formula.
        "held-out" also fits a calibration curve: after training, the chains continue for 40 sweeps without some
        documents, whose links are then predicted. With too few links for that, "sampling" is used. None makes no
        correction. The order of candidates in one direction is the same in all cases. See
        `linktopics.prediction.calibration`.
    pair_features : "default", list or None, default="default"
        Further values of a pair, added to its score with weights that are drawn together with U: names of
        `linktopics.features.FEATURES`, or objects of `linktopics.features`:

        - "tfidf", the cosine of both texts;
        - "tfidf-neighbours", the cosine of the new text with the candidate's neighbours, on average;
        - "tfidf-centroid", the cosine with the candidate and its neighbours taken together;
        - "topics", "topics-neighbours" and "topics-centroid", the same for topics of a plain LDA;
        - "degree", the logarithms of the numbers of links that the candidate has;
        - "intercept", a constant;
        - `Column`, `PairMatrix` and `PairFunction` for your own data.

        "default" is "tfidf", "tfidf-centroid" and "degree". None is the paper's model.
    intercept : bool, default=False
        Adds a constant to the scores of diagonal weights. Full weights contain one.
    n_burn_in : int, default=300
        Burn-in sweeps.
    n_samples : int, default=10
        Posterior samples to keep per chain.
    thin : int, default=20
        Sweeps per kept sample. Samples close to each other are alike, and averaging them gains little.
    n_chains : int, default=4
        Independent chains. Predictions average over all that are not stuck far below the others
        (`linktopics.stuck_chains.stuck_chains` says when one is); attributes about topics describe the best one.
    directed : bool, default=None
        Whether the direction of links counts; None is as in the network, and True for a count matrix.
    random_state : int, RandomState, Generator or None, default=None
        The same number gives the same model, whatever `n_jobs` is.
    n_shards : int, default=1
        Parts into which the documents are divided, so that several cores or machines can work on one chain. Within a
        sweep, a document sees the words and topics of other parts as they were before it: with one part the sampler is
        exact; with more it is approximate (benchmarks/results has how close) and needs more memory. It changes the
        result; `n_jobs` and the engine do not.
    n_jobs : int, default=None
        Threads; chains, shards of chains and new documents are spread over them. None is one, -1 all cores.
    verbose : bool or "auto", default="auto"
        Whether to show a progress bar; "auto" does after two seconds, on a terminal. It does not affect warnings: a
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
        Names of the values of features; some features have several values.
    feature_weights_ : ndarray of shape (n_features,)
        Posterior mean of the weights of features, over all chains that are not left out; for values in standard
        deviations among the training pairs.
    feature_weights_std_ : ndarray of shape (n_features,)
        Their posterior standard deviation; zero if only one sample was kept.
    intercept_ : float
        Posterior mean of the intercept, or zero.
    alpha_ : ndarray of shape (n_topics,)
        Prior tokens of topics in a document, of the best chain; learned if `learn_alpha`.
    beta_ : float
        Prior tokens of a word in a topic, of the best chain; learned if `learn_beta`.
    trace_ : dict of str to ndarray of shape (n_chains, n_sweeps)
        Quantities that do not depend on the numbering of topics, after every sweep: "log joint", "topic entropy",
        "weight norm", ...
    n_burn_in_ : int
        Sweeps of the trace that come before the first sample.
    log_joint_ : ndarray of shape (n_sweeps,)
        Log joint density after every sweep, of the best chain.
    log_joints_ : ndarray of shape (n_chains, n_sweeps)
        The same for every chain.
    best_chain_ : int
        The chain whose kept samples have the highest mean log joint; after `extend`, the best chain before it.
    samples_ : list of PosteriorSample
        The kept samples of all chains that are not left out.
    left_out_chains_ : dict of int to float
        Chains that are stuck, and how far their mean log joint is below that of the others. Predictions, weights of
        features, calibration and diagnostics ignore them. They are still saved and resumed, and are used again when
        they are no longer stuck.
    timings_ : dict of str to float
        Seconds spent on "topics", "augmented" variables and "weights", over all chains.
    bytes_exchanged_ : dict of str to float
        Bytes per sweep that the shards of a chain exchanged, or would have exchanged with a machine for each: changes
        in the counts of "words", "topics" of documents, augmented variables of "pairs", "sums" for the weights, and
        "states" fetched for samples and checkpoints. Empty with one shard, and for a model that was loaded.
    calibration_ : LinkCalibration
        The result of the calibration: the correction for sampling, and curves fitted to held-out documents.
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
    >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_burn_in=50, random_state=0).fit(network)
    >>> model.topic_word_.shape, model.link_weights_.shape
    ((2, 6), (2, 2))
    """

    reads_networks = True  # as new documents, for their ids and columns
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_topics": [_between(Integral, 1, 32767)],
        "loss": [StrOptions(LOSSES.keys())],
        "weights": [StrOptions({"full", "diagonal"})],
        "sampler": [StrOptions({"exact", "cached"})],
        "alpha": [_between(Real, *PRIOR_RANGE)],
        "beta": [_between(Real, *PRIOR_RANGE)],
        "learn_alpha": [StrOptions({"symmetric", "per-topic"}), None],
        "learn_beta": ["boolean"],
        "seed_words": "no_validation",  # `resolve_seed_words` checks it
        "seed_weight": [_between(Integral, 1, 2**20), None],
        "weight_variance": [_between(Real, *LINK_RANGE)],
        "link_cost": [_between(Real, *LINK_RANGE), None],
        "nonlink_cost": [_between(Real, *LINK_RANGE)],
        "margin": [_between(Real, 0, LINK_RANGE[1])],
        "negatives": [_between(Real, 0, MAX_NEGATIVES_PER_LINK), StrOptions({"auto"})],
        "calibration": [StrOptions({"held-out", "sampling"}), None],
        "pair_features": "no_validation",  # `resolve_features` checks it
        "intercept": ["boolean"],
        "n_burn_in": [_between(Integral, 0, MAX_SWEEPS_PARAMETER)],
        "n_samples": [_between(Integral, 1, MAX_SWEEPS_PARAMETER)],
        "thin": [_between(Integral, 1, MAX_SWEEPS_PARAMETER)],
        "n_chains": [_between(Integral, 1, 2**15)],
        "directed": ["boolean", None],
        "random_state": ["random_state", np.random.Generator],
        "n_shards": [_between(Integral, 1, 2**15)],
        "n_jobs": [_between(Integral, -MAX_JOBS, -1), _between(Integral, 1, MAX_JOBS), None],
        "verbose": ["boolean", StrOptions({"auto"})],
    }

    n_topics: int = 20
    _: KW_ONLY
    loss: str = "logistic"
    weights: str = "full"
    sampler: str = "exact"
    alpha: float = 5.0
    beta: float = 0.01
    learn_alpha: str | None = None
    learn_beta: bool = False
    seed_words: Any = None
    seed_weight: int | None = None
    weight_variance: float = 10.0
    link_cost: float | None = None
    nonlink_cost: float = 1.0
    margin: float = 1.0
    negatives: float | str = "auto"
    calibration: str | None = "held-out"
    pair_features: Any = "default"
    intercept: bool = False
    n_burn_in: int = 300
    n_samples: int = 10
    thin: int = 20
    n_chains: int = 4
    directed: bool | None = None
    random_state: Any = None
    n_shards: int = 1
    n_jobs: int | None = None
    verbose: bool | str = "auto"

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
        defaults: dict[str, Any] = {**PAPER_MODELS[name], **PAPER_SETTING}
        if parameters.get("n_samples", 1) == 1:
            defaults["thin"] = 1
        return cls(n_topics, **{**defaults, **parameters})

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        links: Any = None,
        checkpoint: Checkpoint | str | os.PathLike[str] | None = None,
        overwrite: bool = False,
        engine: str | Engine = "threads",
    ) -> RelationalTopicModel:
        """Fit the model and return it.

        Parameters
        ----------
        X : DocumentNetwork, or array-like or sparse matrix of shape (n_documents, n_words)
            The documents, with their links or as word counts.
        y : None
            Ignored.
        links : array-like of shape (n_links, 2) or square sparse matrix, default=None
            Links between the rows of a count matrix, from source to target.
        checkpoint : Checkpoint or path, default=None
            A folder in which to save the run while its chains are running, and the model at the end; a `Checkpoint`
            also says how often. After an interrupt or a crash
            ``RelationalTopicModel.load(path, unfinished=True).resume()`` continues, to the same result. A checkpoint
            that cannot be written, because the disk is full or gone, is skipped with a `CheckpointWarning`, and the
            last good one is kept. If the final state cannot be written, `ModelError` is raised after the attributes are
            set, so that `save` can save the model elsewhere. Only one fit or save at a time may write to a folder.
        overwrite : bool, default=False
            Whether to replace a model that is in the folder of `checkpoint`.
        engine : {"threads", "ray"} or Engine, default="threads"
            What runs the shards of chains: threads of this process, or actors of a Ray cluster
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
        >>> model = RelationalTopicModel(2, negatives=2, n_burn_in=50, random_state=0).fit(X, links=[(0, 1), (2, 3)])
        >>> model.doc_topic_.shape, model.log_joint_.shape
        ((4, 2), (250,))
        """
        self._validate_params()
        if self.intercept and self.weights == "full":
            raise ValueError("intercept=True needs weights='diagonal'; full weights contain an intercept already.")
        with hold_checkpoint(checkpoint, overwrite=overwrite) as held:
            network = resolve_network(self, X, links, self.directed)
            run = prepare_run(self.get_params(deep=False), network, seed_sequence(self.random_state))
            return self._train(run, run.schedule, held, engine)

    def resume(
        self,
        n_burn_in: int = 0,
        n_samples: int | None = None,
        *,
        checkpoint: Checkpoint | str | os.PathLike[str] | None = None,
        engine: str | Engine = "threads",
    ) -> RelationalTopicModel:
        """Continue sampling from where the chains are, and return the model.

        Parameters
        ----------
        n_burn_in : int, default=0
            Sweeps of burn-in to add. Samples kept so far are then dropped, as burn-in, and new ones are drawn.
        n_samples : int, default=None
            Samples to draw per chain. With `n_burn_in` they replace the dropped ones, by default as many as there were;
            without it they are added to those kept so far, by default none: an interrupted run continues to its end.
        checkpoint : Checkpoint or path, default=None
            As in `fit`; a model that is there is replaced.
        engine : {"threads", "ray"} or Engine, default="threads"
            As in `fit`; it need not be the one that the run began with.

        Returns
        -------
        self : RelationalTopicModel
            The model.

        Examples
        --------
        >>> import numpy as np
        >>> from linktopics import RelationalTopicModel
        >>> X = np.array([[3, 1, 0, 0], [2, 2, 0, 0], [0, 0, 3, 1], [0, 0, 1, 3]])
        >>> model = RelationalTopicModel(2, negatives=2, n_burn_in=50, random_state=0).fit(X, links=[(0, 1), (2, 3)])
        >>> len(model.samples_), len(model.resume(n_samples=5).samples_)
        (40, 60)
        """
        run = self.training_run
        self._validate_params()
        check_whole_number("n_burn_in", n_burn_in, 0)
        if n_samples is not None:
            check_whole_number("n_samples", n_samples, 1)
        schedule = run.schedule
        if n_burn_in:
            schedule = schedule.more_burn_in(int(n_burn_in), int(n_samples or schedule.n_samples))
        elif n_samples:
            schedule = schedule.more_samples(int(n_samples))
        with hold_checkpoint(checkpoint, overwrite=True) as held:
            return self._train(run, schedule, held, engine)

    def extend(
        self,
        network: DocumentNetwork,
        *,
        n_burn_in: int = 50,
        checkpoint: Checkpoint | str | os.PathLike[str] | None = None,
        engine: str | Engine = "threads",
    ) -> RelationalTopicModel:
        """Continue with a changed network (documents and links added, changed or removed), and return the model.

        Documents are matched by id and words by name, and tokens of matched documents start in the topics they had.
        Topics therefore keep their numbers and meaning while they adapt to the new data, and attributes describe the
        same chain as before. Weights are kept, and so are alpha and beta if they were learned; non-links are sampled
        again.

        Parameters
        ----------
        network : DocumentNetwork
            The network as it is now, see `DocumentNetwork.extended`. Its vocabulary may have grown.
        n_burn_in : int, default=50
            Sweeps of burn-in; then `n_samples` samples are drawn, as in `fit`.
        checkpoint, engine
            As in `fit`.

        Returns
        -------
        self : RelationalTopicModel
            The model, fitted to the changed network.

        Examples
        --------
        >>> from linktopics import DocumentNetwork, RelationalTopicModel
        >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
        >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
        >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_burn_in=50, random_state=0).fit(network)
        >>> larger = network.extended({"e": "kittens purr"}, [("e", "a")])
        >>> model.extend(larger).doc_topic_.shape
        (5, 2)
        """
        old = self.training_run
        if not old.finished:
            raise ModelError("the run is not finished, so there is nothing to extend; continue with resume() first.")
        self._validate_params()
        if not isinstance(network, DocumentNetwork):
            raise DataError(
                f"network is a {type(network).__name__}; pass a DocumentNetwork, as network.extended gives."
            )
        check_whole_number("n_burn_in", n_burn_in, 0)
        network = resolve_network(copy(self), network, None, self.directed)  # the model still describes the old network
        check_extends(old, network, int(self.n_topics))
        with hold_checkpoint(checkpoint) as held:
            run = extended_run(self.get_params(deep=False), old, self.best_chain_, network, int(n_burn_in))
            self.__dict__.pop("feature_names_in_", None)
            return self._train(run, run.schedule, held, engine)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Save the model in a folder: model.json and arrays, no pickle.

        The folder is written atomically. Functions (a vectorizer's, or those of `PairFunction`) are not saved and must
        be passed to `load` again.

        Parameters
        ----------
        path : path
            The folder; it is created if it does not exist.
        overwrite : bool, default=False
            Whether to replace a model that is there.

        Examples
        --------
        >>> import tempfile
        >>> from linktopics import DocumentNetwork, RelationalTopicModel
        >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
        >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
        >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_burn_in=50, random_state=0).fit(network)
        >>> folder = tempfile.mkdtemp()
        >>> model.save(folder)
        >>> same = RelationalTopicModel.load(folder)
        >>> bool((same.predict_links("kittens purr") == model.predict_links("kittens purr")).all())
        True
        """
        run, folder = self.training_run, ModelFolder(path)
        with folder.locked(overwrite=overwrite):
            self._writer(folder, run)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        vectorizer: Any = None,
        functions: Mapping[str, Callable[..., Any]] | None = None,
        unfinished: bool = False,
        verify: bool = False,
    ) -> RelationalTopicModel:
        """Return the model in a folder. Nothing in it is executed, and large arrays stay on disk until they are needed.

        Parameters
        ----------
        path : path
            The folder.
        vectorizer : object, default=None
            Reads new texts; needed where the vectorizer could not be saved.
        functions : mapping from str to callable, default=None
            The functions of pairs, by the name of their `PairFunction`.
        unfinished : bool, default=False
            Whether to load also a run that was interrupted, to continue it with `resume`. If its last checkpoint is
            damaged, the previous one is loaded, with a `CheckpointWarning`. Without it, a damaged model raises
            `ModelError`.
        verify : bool, default=False
            Compare large files with their checksums as well; small ones always are, and all of `unfinished` runs.

        Examples
        --------
        See `save`.
        """
        parameters, run, framed = load_run(
            path, cls.__name__, vectorizer=vectorizer, functions=functions, verify=verify, unfinished=unfinished
        )
        if not run.finished and not unfinished:
            done = ", ".join(f"{chain.state.iteration:,}" for chain in run.chains)
            raise ModelError(
                f"{path}: the model is not finished (its chains did {done} of {run.schedule.length:,} sweeps); "
                "continue with linktopics resume, or RelationalTopicModel.load(path, unfinished=True).resume()."
            )
        unknown = set(parameters) - set(cls().get_params())
        if unknown:
            raise ModelError(f"{path}: the model is damaged (it has the unknown parameter {min(unknown)!r}).")
        model = cls(**parameters)
        try:
            model._validate_params()
        except ValueError as error:
            raise ModelError(f"{path}: the model is damaged ({format_error(error)})") from None
        if run.finished:
            if framed:
                model.feature_names_in_ = np.asarray(run.network.vocabulary)
            model._set_fitted_attributes(run)
            if not (np.isfinite(model.topic_word_).all() and np.isfinite(model.doc_topic_).all()):
                raise ModelError(f"{path}: the model is damaged (its topics are not finite); restore it from a copy.")
        else:
            model._run = run
        return model

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
        >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_burn_in=50, random_state=0).fit(network)
        >>> model.transform(["kittens purr"]).shape
        (1, 2)
        """
        predictor = self.predictor
        counts = resolve_counts(self, X)
        drawn = [predictor.infer(sample, counts) for sample in predictor.reference_samples]
        return smoothed_proportions(np.mean(drawn, axis=0, dtype=float), counts.sum(1), self.alpha_)

    def predict_links(
        self, documents: Any, candidates: Any = None, direction: str = "both", *, raw: bool = False
    ) -> NDArray[np.float64]:
        """Return the probability that each new document links with each training document.

        Parameters
        ----------
        documents : array-like, sparse matrix, DocumentNetwork, text or list of texts
            The new documents.
        candidates : sequence of ids, default=None
            Training documents to consider, by id; None is all.
        direction : {"both", "out", "in"}, default="both"
            Links from the new document, to it, or in either direction. The probability in either direction is at least
            that of the more probable one, and at most the sum of both.
        raw : bool, default=False
            Whether to return raw scores in place of probabilities: the log-odds of a link among training pairs, before
            `calibration`. For one direction the order of candidates is the same; for "both" it may differ, because each
            direction is calibrated on its own.

        Returns
        -------
        ndarray of shape (n_documents, n_candidates)
            Probabilities averaged over posterior samples, for links as rare as they are in the network (see
            `calibration`), or raw scores.

        Examples
        --------
        >>> import numpy as np
        >>> from linktopics import RelationalTopicModel
        >>> X = np.array([[3, 1, 0, 0], [2, 2, 0, 0], [0, 0, 3, 1], [0, 0, 1, 3]])
        >>> model = RelationalTopicModel(2, negatives=2, n_burn_in=50, random_state=0).fit(X, links=[(0, 1), (2, 3)])
        >>> model.predict_links([[1, 1, 0, 0]]).shape
        (1, 4)
        """
        return self.predictor.predict(resolve_documents(self, documents), candidates, direction, raw=raw)

    def suggest_links(
        self, documents: Any, top: int = 10, direction: str = "both", interval: float = 0.9, search: str = "auto"
    ) -> pd.DataFrame:
        """Return the training documents that new documents should link with, best first, and why.

        Parameters
        ----------
        documents : array-like, sparse matrix, DocumentNetwork, text or list of texts
            The new documents.
        top : int, default=10
            Suggestions per document.
        direction : {"both", "out", "in"}, default="both"
            Links from the new document, to it, or in either direction.
        interval : float, default=0.9
            Share of the posterior samples that give a probability between `lower` and `upper`; with 0.9 these are the
            5 % and 95 % quantiles.
        search : {"auto", "exact", "index"}, default="auto"
            How the best are found: among all training documents, or among candidates from an approximate index, which
            is built when it is first used and needs ``pip install 'linktopics[index]'``. In both cases what is returned
            is scored exactly, but the index may miss a document. "auto" uses it, where it is installed, for more than
            100,000 training documents, from the 51st new document on: for fewer, building it takes longer than it
            saves.

        Returns
        -------
        DataFrame
            Columns ``document`` (its number), ``id``, ``title``, ``probability``, ``lower``, ``upper`` (its range over
            posterior samples; NaN if there is only one), ``score`` (raw, see `predict_links`) and ``why``, the topics
            and features that contribute most.

        Notes
        -----
        The range shows how much posterior samples differ. It does not cover all uncertainty: on simulated networks,
        ranges of 90 % of the samples contained the true probability in 58 to 68 % of the cases
        (``python benchmarks/coverage.py``).

        Examples
        --------
        >>> from linktopics import DocumentNetwork, RelationalTopicModel
        >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
        >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
        >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_burn_in=50, random_state=0).fit(network)
        >>> list(model.suggest_links("kittens purr", top=2).columns)
        ['document', 'id', 'title', 'probability', 'lower', 'upper', 'score', 'why']
        """
        return self.predictor.suggest(resolve_documents(self, documents), top, direction, interval, search)

    def suggest_links_for(
        self, ids: Any, top: int = 10, direction: str = "both", interval: float = 0.9, search: str = "auto"
    ) -> pd.DataFrame:
        """Return suggested links of training documents, best first, and why.

        The documents themselves and those that they are already linked with are left out. Pairs are scored as in
        `explain_link`: the document keeps its fitted topics and is otherwise treated as new, without any link between
        the two.

        Parameters
        ----------
        ids : id, or list of ids
            Training documents.
        top, direction, interval, search
            As in `suggest_links`. An existing link in the other direction does not prevent a suggestion, and does not
            affect its score.

        Returns
        -------
        DataFrame
            As of `suggest_links`; ``document`` is the id.

        Examples
        --------
        >>> from linktopics import DocumentNetwork, RelationalTopicModel
        >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "cats and planets"}
        >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
        >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_burn_in=50, random_state=0).fit(network)
        >>> sorted(model.suggest_links_for("b", direction="out").id)
        ['c', 'd']
        """
        check_is_fitted(self)
        listed = list(ids) if isinstance(ids, list | tuple | np.ndarray) else [ids]
        if not listed:
            raise DataError("there are no documents: the list of ids is empty.")
        places = np.array([self.network_.index_of(id) for id in listed], dtype=np.int64)
        table = self.predictor.suggest_known(places, top, direction, interval, search)
        return table.assign(document=np.fromiter((listed[i] for i in table["document"]), object, len(table)))

    def explain_link(self, source: Any, target: Any, *, documents: Any = None, new_end: str = "source") -> pd.DataFrame:
        """Return the contributions to the score of a pair: how much topics of the source attract those of the target.

        Parameters
        ----------
        source, target : id, or None
            Training documents by id. New documents take the place of the end that is None.
        documents : array-like, sparse matrix, DocumentNetwork, text or list of texts, default=None
            New documents, each of which is paired with the other end.
        new_end : {"source", "target"}, default="source"
            Which of two training documents is treated as new; the other is the candidate, with its other links.
            "target" explains what ``suggest_links_for(target, direction="in")`` returns for the source.

        Returns
        -------
        DataFrame
            A row for each pair of topics (``source_topic``, ``target_topic``, ``source_words``, ``target_words``) and
            for each feature (``feature``, ``detail``), by size of its ``contribution`` to the score; with new documents
            also ``document``, their number. Contributions sum to the score, averaged over the samples of the best
            chain. ``share`` is the contribution relative to all contributions of its sign. A pair of training documents
            is treated as if the source (see `new_end`) were new and the links between the two were not known.

        Examples
        --------
        >>> from linktopics import DocumentNetwork, RelationalTopicModel
        >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
        >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
        >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_burn_in=50, random_state=0).fit(network)
        >>> model.explain_link("b", "a").query("feature == 'tfidf'").detail.item()
        'shared words: cats'
        >>> bool(model.explain_link(None, "a", documents="kittens purr").contribution.sum() > 0)
        True
        """
        check_is_fitted(self)
        if new_end not in ("source", "target"):
            raise ValueError(f'new_end is {new_end!r}; it must be "source" or "target".')
        new = None if documents is None else resolve_documents(self, documents)
        places = {self.network_.index_of(end) for end in (source, target) if end is not None}
        if len(places) == 1 and source is not None and target is not None:
            raise DataError(f"source and target are both {source!r}; a document does not link to itself.")
        return self.predictor.explain(source, target, new, new_end)

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
            Rows sum to 1. Topics are drawn given the links, whose augmented variables are drawn too, for documents of
            the average length of the training documents; topic shares are averaged over draws and posterior samples. A
            document without links has the topics of the prior. The same call gives the same result, but it depends on
            which documents are passed together, because they share random numbers.

        Examples
        --------
        >>> import numpy as np
        >>> from linktopics import RelationalTopicModel
        >>> X = np.array([[3, 1, 0, 0], [2, 2, 0, 0], [0, 0, 3, 1], [0, 0, 1, 3]])
        >>> model = RelationalTopicModel(2, negatives=2, n_burn_in=50, random_state=0).fit(X, links=[(0, 1), (2, 3)])
        >>> model.word_probabilities([[0], [2, 3]]).shape
        (2, 4)
        """
        return word_probabilities(self.predictor, *resolve_links(self.network_, links, linked_by))

    def topics(self, n_words: int = 8, *, n_documents: int = 0, coherence: str | None = None) -> pd.DataFrame:
        """Return the topics, most frequent first.

        Parameters
        ----------
        n_words : int, default=8
            Words per topic.
        n_documents : int, default=0
            Documents per topic: those with the most tokens of it, beginning with those that are mostly about it.
        coherence : {"npmi", "umass", "cv"} or None, default=None
            Measure of coherence to add, see `coherence`.

        Returns
        -------
        DataFrame
            Indexed by topic, with columns ``share`` (of all tokens), ``words`` and ``attraction`` (of the topic to
            itself, the diagonal of the weights), and if requested ``coherence`` and ``documents`` (lists of ids).

        Examples
        --------
        >>> from linktopics import DocumentNetwork, RelationalTopicModel
        >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
        >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
        >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_burn_in=50, random_state=0).fit(network)
        >>> list(model.topics(n_words=3).columns)
        ['share', 'words', 'attraction']
        """
        check_is_fitted(self)
        check_whole_number("n_words", n_words, 1)
        check_whole_number("n_documents", n_documents, 0)
        return topic_table(self, n_words, n_documents, coherence)

    def coherence(self, measure: str = "npmi", n_words: int = 10) -> NDArray[np.float64]:
        """Return how well the first words of each topic go together in the training documents.

        Parameters
        ----------
        measure : {"npmi", "umass", "cv"}, default="npmi"
            See `linktopics.coherence.coherence`. Words go together when they are in the same document.
        n_words : int, default=10
            Words per topic.

        Returns
        -------
        ndarray of shape (n_topics,)
            Higher is better.

        Examples
        --------
        >>> from linktopics import DocumentNetwork, RelationalTopicModel
        >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
        >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
        >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_burn_in=50, random_state=0).fit(network)
        >>> model.coherence(n_words=2).shape
        (2,)
        """
        check_is_fitted(self)
        return coherence(top_words(self.topic_word_, n_words), self.network_.counts, measure, n_words=n_words)

    def topic_diversity(self, n_words: int = 25) -> float:
        """Return the share of different words among the first words of all topics; 1 if none is repeated.

        Examples
        --------
        >>> from linktopics import DocumentNetwork, RelationalTopicModel
        >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
        >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
        >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_burn_in=50, random_state=0).fit(network)
        >>> 0 < model.topic_diversity(n_words=2) <= 1
        True
        """
        check_is_fitted(self)
        return topic_diversity(top_words(self.topic_word_, n_words), n_words)

    def diagnostics(self) -> pd.DataFrame:
        """Return how well the chains mix, for quantities that do not depend on the numbering of topics.

        Chains that are left out because they are stuck (`left_out_chains_`) are left out here as well.

        Returns
        -------
        DataFrame
            Indexed by quantity, with columns ``mean``, ``sd``, ``r_hat`` (1 if chains agree; above 1.1 they do not) and
            ``ess``, the number of independent draws that all sweeps after burn-in are worth.

        Examples
        --------
        >>> from linktopics import DocumentNetwork, RelationalTopicModel
        >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
        >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
        >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_burn_in=50, random_state=0).fit(network)
        >>> list(model.diagnostics().columns)
        ['mean', 'sd', 'r_hat', 'ess']
        """
        check_is_fitted(self)
        return mixing_table(trace_after_burn_in(self, counted=True))

    def summary(self, file: TextIO | None = None) -> None:
        """Print what the model is, how well it was sampled, and its topics.

        Examples
        --------
        >>> from linktopics import DocumentNetwork, RelationalTopicModel
        >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
        >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
        >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_burn_in=50, random_state=0).fit(network)
        >>> model.summary()  # doctest: +ELLIPSIS
        RelationalTopicModel: 2 topics, logistic loss, full weights
          data       4 documents, 6 words, 8 tokens, 2 directed links
        ...
        """
        print(self.summary_text(), file=file or sys.stdout)

    def summary_text(self, n_topics: int | None = None, width: int = SUMMARY_COLUMNS, folder: str = "MODEL") -> str:
        """Return what `summary` prints, wrapped to `width` columns, with all topics or the first `n_topics`.

        Advice names the model's `folder`.
        """
        check_is_fitted(self)
        return summary_text(self, n_topics, width, folder)

    def to_arviz(self) -> Any:
        """Return the trace after burn-in for arviz, with its plots and tables (needs ``linktopics[arviz]``).

        Returns
        -------
        arviz.InferenceData or xarray.DataTree
            See `linktopics.diagnostics.to_inference_data`.
        """
        check_is_fitted(self)
        return to_inference_data(trace_after_burn_in(self), {"burn_in": self.n_burn_in_})

    def to_networkx(self, suggested: int = 0) -> networkx.DiGraph | networkx.Graph:
        """Return the network as a networkx graph, with topics and probabilities of links, and suggested links.

        Parameters
        ----------
        suggested : int, default=0
            Number of absent links to add per document, the most probable ones.

        Returns
        -------
        networkx.DiGraph or networkx.Graph
            See `linktopics.interop.to_networkx`.
        """
        return to_networkx(self, suggested=suggested)

    def to_pyldavis(self) -> dict[str, Any]:
        """Return the arguments of ``pyLDAvis.prepare``; see `linktopics.interop.pyldavis_input`."""
        return pyldavis_input(self)

    def _train(
        self, run: TrainingRun, schedule: Schedule, checkpoint: Checkpoint | None, engine: str | Engine
    ) -> RelationalTopicModel:
        """Run the chains to the end of the schedule, set the fitted attributes, and return the model."""
        checkpoints = train(self.get_params(deep=False), run, schedule, checkpoint, self._writer, engine)
        self._set_fitted_attributes(run)
        if checkpoints is not None:
            checkpoints.finish()  # if this fails, the model is fitted all the same, and can be saved elsewhere
        advice = mixing_advice(self) if len(run.chains) > 1 else None
        if advice is not None:
            warn_user(advice, MixingWarning)
        return self

    def _writer(self, folder: ModelFolder, run: TrainingRun) -> RunWriter:
        """Return the writer that saves the chains later, after writing all of the run."""
        framed = hasattr(self, "feature_names_in_")
        return RunWriter(folder, type(self).__name__, self.get_params(deep=False), run, framed=framed)

    @property
    def training_run(self) -> TrainingRun:
        """The run that was fitted or loaded, finished or not; an internal class that may change."""
        check_is_fitted(self, "_run")
        return self._run

    @property
    def predictor(self) -> Predictor:
        """The predictor of the kept samples, if the model is fitted; an internal class that may change."""
        check_is_fitted(self)
        run, kept = self._run, self._run.predictor
        if kept is None or kept.samples is not self.samples_ or kept.best_chain != self.best_chain_:
            run.predictor = kept = run.make_predictor(self.samples_, self.best_chain_)
        kept.n_jobs, kept.verbose = self.n_jobs, self.verbose
        return kept

    def _set_fitted_attributes(self, run: TrainingRun) -> None:
        """Set the fitted attributes."""
        self._run = run
        n_topics = run.settings.n_topics
        self.n_features_in_ = run.network.n_words
        self.network_ = run.network
        self.network_report_ = run.network.report
        self.n_pairs_ = run.n_pairs
        assert run.calibration is not None
        self.calibration_ = run.calibration
        self.n_burn_in_ = run.schedule.n_burn_in
        traces = np.stack([chain.trace for chain in run.chains])
        self.trace_ = {name: traces[:, :, column] for column, name in enumerate(run.quantities)}
        self.log_joints_ = self.trace_["log joint"]
        self.left_out_chains_ = {one.chain: one.below for one in run.left_out}
        counted = [number for number in range(len(run.chains)) if number not in self.left_out_chains_]
        self.samples_ = [sample for number in counted for sample in run.chains[number].samples]
        self.timings_ = {step: sum(c.seconds[step] for c in run.chains) for step in run.chains[0].seconds}
        self.bytes_exchanged_ = run.chains[0].sent
        means = [np.mean([sample.log_joint for sample in run.chains[number].samples]) for number in counted]
        self.best_chain_ = counted[int(np.argmax(means))] if run.reference_chain is None else run.reference_chain
        self.log_joint_ = self.log_joints_[self.best_chain_]
        best = run.chains[self.best_chain_].samples
        self.alpha_ = best[-1].alpha
        self.beta_ = run.chains[self.best_chain_].state.priors.beta
        self.topic_word_ = _mean([s.word_topic[:, :n_topics] for s in best]).T.copy()
        self.topic_word_ /= self.topic_word_.sum(1, keepdims=True)
        self.doc_topic_ = smoothed_proportions(_mean([s.doc_topic for s in best]), run.network.lengths, self.alpha_)
        weights = np.stack([s.weights for s in best])
        self.link_weights_ = weights.mean(0)
        self.link_weights_std_ = weights.std(0)
        self.feature_names_ = list(run.features.columns)
        feature_weights = np.stack([s.feature_weights for s in self.samples_])
        self.feature_weights_, self.feature_weights_std_ = feature_weights.mean(0), feature_weights.std(0)
        self.intercept_ = float(run.features.constant @ self.feature_weights_)

    def _validate_params(self) -> None:
        """Raise if a parameter is invalid; True and False, which scikit-learn accepts as numbers, are rejected here."""
        super()._validate_params()
        for name, kinds in self._parameter_constraints.items():
            value = getattr(self, name)
            if isinstance(value, bool | np.bool_) and any(isinstance(kind, Interval) for kind in kinds):
                raise ValueError(
                    f"The {name!r} parameter of {type(self).__name__} must be a number. Got {value} instead."
                )

    @property
    def _n_features_out(self) -> int:
        return len(self.topic_word_)


def _mean(arrays: list[NDArray[np.floating]]) -> NDArray[np.float64]:
    """Return the mean of arrays, which may be mapped from disk, without a copy of all of them."""
    total = arrays[0].astype(np.float64)
    for array in arrays[1:]:
        total += array
    total /= len(arrays)
    return total
