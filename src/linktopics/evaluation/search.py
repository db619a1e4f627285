"""LinkSearchCV: parameters chosen by how well links of held-out documents are predicted."""

from __future__ import annotations

import os
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from linktopics.errors import DataError
from linktopics.evaluation.evaluation import evaluate
from linktopics.evaluation.folds import seeded
from linktopics.network import DocumentNetwork
from linktopics.registry import METRICS
from linktopics.utils.checks import check_whole_number
from linktopics.utils.estimator_bases import BaseEstimator, MetaEstimatorMixin


def _predicts_words(search: LinkSearchCV) -> bool:
    return hasattr(search.estimator, "word_probabilities")


@dataclass(eq=False, repr=False)
class LinkSearchCV(MetaEstimatorMixin, BaseEstimator):
    """A model whose parameters are chosen by cross-validation over the documents of the network it is fitted on.

    Every combination of parameters is evaluated on held-out documents (see `linktopics.evaluate`); the best
    is then fitted on the whole network. Inside `evaluate` it sees training documents only, as any model does.

    Parameters
    ----------
    estimator : estimator
        The model.
    param_grid : dict or list of dicts
        Values to try by the name of the parameter, as in scikit-learn's `ParameterGrid`.
    folds : int, default=3
        Number of folds.
    metric : str, default="link_rank"
        The metric by which the best combination is chosen: "link_rank", "median_rank", "mrr", "hits_at_20", "auc",
        "word_rank", or another registered one. The lowest is best for ranks, the highest for the others; in case of a
        tie the first combination is chosen.
    n_candidates : int, default=None
        Number of combinations to try, drawn at random; None is all.
    n_jobs : int, default=None
        Processes; combinations and folds are spread over them. None is one, -1 one per core.
    random_state : int, default=0
        Determines the folds, the combinations to try and the seeds of models that have none.
    resume : path, default=None
        A file of finished folds, as in `evaluate`.
    verbose : bool or "auto", default="auto"
        Whether to show a progress bar; "auto" does after two seconds, on a terminal.

    Attributes
    ----------
    best_params_ : dict
        The best combination.
    best_score_ : float
        Its mean over folds of the metric.
    best_estimator_ : estimator
        The model with these parameters, fitted on the whole network.
    results_ : DataFrame
        A row per combination: its parameters, and mean and standard deviation over folds of every metric.
    network_ : DocumentNetwork
        The network fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from linktopics import DocumentNetwork
    >>> from linktopics.evaluation.evaluation import make_model
    >>> from linktopics.evaluation.search import LinkSearchCV
    >>> counts = np.kron(np.eye(2, dtype=int), np.ones((6, 3), dtype=int))
    >>> links = [(i, j) for group in (range(6), range(6, 12)) for i in group for j in group if i < j]
    >>> search = LinkSearchCV(make_model("Gibbs-gRTM", n_burn_in=30, negatives=2), {"n_topics": [1, 2]})
    >>> search.fit(DocumentNetwork(counts, links)).best_params_
    {'n_topics': 2}
    """

    estimator: Any
    param_grid: Any
    _: KW_ONLY
    folds: int = 3
    metric: str = "link_rank"
    n_candidates: int | None = None
    n_jobs: int | None = None
    random_state: int = 0
    resume: str | os.PathLike[str] | None = None
    verbose: bool | str = "auto"

    def fit(self, network: DocumentNetwork, y: Any = None) -> LinkSearchCV:
        """Evaluate the combinations on held-out documents, fit the best on the whole network, and return the search.

        Parameters
        ----------
        network : DocumentNetwork
            Documents and links.
        y : None
            Ignored.

        Returns
        -------
        self : LinkSearchCV
            The fitted search.

        Examples
        --------
        >>> import numpy as np
        >>> from linktopics import DocumentNetwork
        >>> from linktopics.evaluation.baselines import BM25
        >>> from linktopics.evaluation.search import LinkSearchCV
        >>> counts = np.kron(np.eye(2, dtype=int), np.ones((6, 3), dtype=int))
        >>> links = [(i, j) for group in (range(6), range(6, 12)) for i in group for j in group if i < j]
        >>> search = LinkSearchCV(BM25(), {"k1": [1.2, 2.0]}).fit(DocumentNetwork(counts, links))
        >>> search.results_[["k1", "auc"]]
            k1  auc
        0  1.2  1.0
        1  2.0  1.0
        """
        if self.metric not in METRICS:
            raise ValueError(f"metric is {self.metric!r}; it must be one of {', '.join(METRICS)}.")
        wants_words = METRICS[self.metric].of == "word ranks"
        if wants_words and not _predicts_words(self):
            raise ValueError(f"metric is {self.metric!r}, but the estimator has no method word_probabilities.")
        combinations = self._combinations()
        models = {}
        for number, combination in enumerate(combinations, 1):
            settings = ", ".join(f"{name}={value!r}" for name, value in combination.items())
            models[f"{number}: {settings}"] = clone(self.estimator).set_params(**combination)
        summary = evaluate(
            network,
            models,
            self.folds,
            words=wants_words,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
            resume=self.resume,
            verbose=self.verbose,
        ).summary()
        values = summary[self.metric].to_numpy(dtype=float)
        if np.isnan(values).any():
            undefined = combinations[int(np.argmax(np.isnan(values)))]
            raise DataError(f"{self.metric} is NaN in all folds for {undefined}; choose another metric.")
        best = int((values * METRICS[self.metric].sign).argmax())
        seeds = np.random.SeedSequence([self.random_state, 0])  # folds count from 1
        self.results_ = pd.concat([pd.DataFrame(combinations), summary.reset_index(drop=True)], axis=1)
        self.best_params_ = combinations[best]
        self.best_score_ = float(values[best])
        self.best_estimator_ = seeded(list(models.values())[best], seeds).fit(network)
        self.network_ = self.best_estimator_.network_
        return self

    def _combinations(self) -> list[dict[str, Any]]:
        combinations = list(ParameterGrid(self.param_grid))
        if self.n_candidates is None:
            return combinations
        check_whole_number("n_candidates", self.n_candidates, 1)
        order = np.random.default_rng(self.random_state).permutation(len(combinations))
        return [combinations[number] for number in sorted(order[: self.n_candidates])]

    @property
    def reads_networks(self) -> bool:
        """Whether new documents may be a network, because the model uses their ids and columns."""
        return getattr(self.estimator, "reads_networks", False)

    def predict_links(self, documents: Any, candidates: Any = None, direction: str = "both") -> NDArray[np.float64]:
        """Return the scores that the best model gives to links; see its own `predict_links`."""
        check_is_fitted(self)
        return self.best_estimator_.predict_links(documents, candidates, direction)

    @available_if(_predicts_words)
    def word_probabilities(self, links: Any, linked_by: Any = None) -> NDArray[np.float64]:
        """Return the word probabilities that the best model predicts from links, if the model has this method."""
        check_is_fitted(self)
        return self.best_estimator_.word_probabilities(links, linked_by)
