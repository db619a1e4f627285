"""Cross-validation over documents: how well models predict the links and words of new documents."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
import pandas as pd

from linktopics.errors import DataError
from linktopics.evaluation.folds import Indices, ResultFile, Task, TaskResult, run_task, task_keys
from linktopics.network import DocumentNetwork
from linktopics.network.inputs import check_direction
from linktopics.registry import METRICS
from linktopics.utils.checks import check_whole_number
from linktopics.utils.progress import ProgressBar
from linktopics.utils.user_warnings import warn_user

DEFAULT_MODEL_NAME = "linktopics"
"""The name of `RelationalTopicModel` with default settings."""

SECONDS = [f"{part}_seconds" for part in ("train", "test", "words", "topics", "augmented", "weights")]


def document_folds(n_documents: int, folds: int, random_state: int = 0) -> list[tuple[Indices, Indices]]:
    """Return a random split of documents into folds whose sizes differ by at most one.

    Parameters
    ----------
    n_documents : int
        Number of documents.
    folds : int
        Number of folds, at least two.
    random_state : int, default=0
        The same number gives the same folds.

    Returns
    -------
    list of (train, test)
        Indices of documents, in order, for each fold; every document is in one test part.

    Examples
    --------
    >>> for train, test in document_folds(5, 2):
    ...     print(train, test)
    [0 1] [2 3 4]
    [2 3 4] [0 1]
    """
    check_whole_number("folds", folds, 2)
    if folds > n_documents:
        raise DataError(f"{n_documents} documents cannot be split into {folds} folds; use fewer folds.")
    check_whole_number("random_state", random_state, 0)
    order = np.random.default_rng(int(random_state)).permutation(n_documents)
    tests = [np.sort(part) for part in np.array_split(order, int(folds))]
    return [(np.setdiff1d(order, test), test) for test in tests]


def make_model(name: str, n_topics: int = 20, **parameters: Any) -> Any:
    """Return an unfitted model by its name.

    Parameters
    ----------
    name : str
        "linktopics", the `RelationalTopicModel` with default settings; a model of the paper ("Gibbs-RTM", "Gibbs-gRTM",
        "Approx-gRTM", "Gibbs-MMRTM", "Gibbs-gMMRTM", "Approx-gMMRTM", "Var-RTM"); or a baseline ("tfidf", "bm25",
        "tfidf-neighbours", "tfidf-centroid", "lsa", "lda-cosine", "lda-logistic", "degree", "random").
    n_topics : int, default=20
        Number of topics; ignored by baselines that have none.
    **parameters
        Other parameters of the model.

    Examples
    --------
    >>> make_model("Gibbs-gMMRTM", n_topics=25, n_burn_in=100).n_topics
    25
    """
    from linktopics.evaluation.baselines import BASELINES
    from linktopics.model.estimator import PAPER_MODELS, RelationalTopicModel
    from linktopics.model.variational import VariationalRTM

    classes: dict[str, Any] = {
        DEFAULT_MODEL_NAME: RelationalTopicModel,
        **dict.fromkeys(PAPER_MODELS, RelationalTopicModel),
        "Var-RTM": VariationalRTM,
        **BASELINES,
    }
    if name not in classes:
        raise ValueError(f"no model is called {name!r}; the names are {', '.join(classes)}.")
    known = list(classes[name]().get_params())
    unknown = [parameter for parameter in parameters if parameter not in known]
    if unknown:
        raise ValueError(f"{name} has no parameter {unknown[0]!r}; it has {', '.join(known) or 'none'}.")
    if name in PAPER_MODELS:
        return RelationalTopicModel.from_paper(name, n_topics, **parameters)
    if "n_topics" in known:
        parameters["n_topics"] = n_topics
    return classes[name](**parameters)


@dataclass(frozen=True)
class Evaluation:
    """The result of `evaluate`.

    Attributes
    ----------
    folds : DataFrame
        A row per model and fold, with the columns that `evaluate` lists.

    Examples
    --------
    >>> import pandas as pd
    >>> folds = pd.DataFrame({"model": ["tfidf", "tfidf"], "fold": [1, 2], "link_rank": [10.0, 12.0]})
    >>> Evaluation(folds).summary()
           link_rank  link_rank_std
    model
    tfidf       11.0       1.414214
    """

    folds: pd.DataFrame

    def summary(self) -> pd.DataFrame:
        """Return the mean and the sample standard deviation over folds of each metric, a row per model.

        Examples
        --------
        >>> import pandas as pd
        >>> folds = pd.DataFrame({"model": ["tfidf", "tfidf"], "fold": [1, 2], "auc": [0.75, 0.25]})
        >>> float(Evaluation(folds).summary().loc["tfidf", "auc"])
        0.5
        """
        by_model = self.folds.groupby("model", sort=False)
        columns = {}
        for name in [name for name in (*METRICS, *SECONDS) if name in self.folds]:
            columns[name] = by_model[name].mean()
            columns[f"{name}_std"] = by_model[name].std()
        return pd.DataFrame(columns)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        r"""Write the rows of `folds` to a CSV file.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import pandas as pd
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "folds.csv"
        >>> Evaluation(pd.DataFrame({"model": ["tfidf"], "fold": [1], "auc": [0.75]})).to_csv(path)
        >>> path.read_text()
        'model,fold,auc\ntfidf,1,0.75\n'
        """
        self.folds.to_csv(path, index=False, lineterminator="\n")


def evaluate(
    network: DocumentNetwork,
    models: Sequence[str] | Mapping[str, Any],
    folds: int = 5,
    *,
    words: bool = True,
    direction: str = "both",
    n_jobs: int | None = None,
    random_state: int = 0,
    resume: str | os.PathLike[str] | None = None,
    verbose: bool | str = "auto",
) -> Evaluation:
    """Return a cross-validation of models over documents: links of held-out documents are predicted from their words.

    The documents are split into folds. For each fold, models are fitted on the network of all other documents, in
    which the fold's documents, their words and all their links are missing; only the vocabulary is kept. Then every
    pair of a document of the fold and a training document is scored; true links should rank highest.

    Parameters
    ----------
    network : DocumentNetwork
        Documents and links.
    models : sequence of str, or mapping from str to estimator
        Names that `make_model` knows, or estimators under names of your own. An estimator has `fit(network)` and
        `predict_links(counts, direction=...)`, optionally `word_probabilities(links, linked_by)`; it is cloned, and
        given a seed where its `random_state` is None.
    folds : int, default=5
        Number of folds.
    words : bool, default=True
        Whether to predict words from links as well.
    direction : {"both", "out", "in"}, default="both"
        Which links are true links: those in either direction, from the new document, or to it. For undirected networks
        it is always "both".
    n_jobs : int, default=None
        Processes; models and folds are spread over them. None is one, -1 one per core. Results do not depend on it.
    random_state : int, default=0
        Determines the folds and the seeds of the models.
    resume : path, default=None
        A file to which each result is appended when it is finished. Results in an existing file are used if they
        belong to the same data, folds, seed, model, parameters and version of linktopics. Changes in the code of a
        model are not noticed.
    verbose : bool or "auto", default="auto"
        Whether to show a progress bar; "auto" does after two seconds, on a terminal.

    Returns
    -------
    Evaluation
        Its `folds` is a DataFrame with a row per model and fold:

        - ``model``, ``fold`` (from 1),
        - ``link_rank``, ``median_rank``: mean and median rank of the true links, each among all training documents,
        - ``mrr``, ``hits_at_20``: mean of 1 / rank, share of ranks up to 20,
        - ``auc``: area under the ROC curve over all pairs of the fold; above 50 million pairs over all true links and a
          uniform random sample of 5 million non-links,
        - ``word_rank``: mean rank of the words of test documents, predicted from their links with training documents,
          over documents that have one; NaN for models that do not predict words,
        - any metric that `linktopics.metrics.register_metric` has added,
        - ``train_seconds``, ``test_seconds`` (links), ``words_seconds``, and, where the model has `timings_`,
          ``topics_seconds``, ``augmented_seconds``, ``weights_seconds``; all on one thread of linear algebra,
        - ``n_test_links``: true links, that is, linked pairs of a test and a training document.

    Examples
    --------
    >>> import numpy as np
    >>> from linktopics import DocumentNetwork
    >>> from linktopics.evaluation.evaluation import evaluate
    >>> counts = np.kron(np.eye(2, dtype=int), np.ones((6, 3), dtype=int))
    >>> links = [(i, j) for group in (range(6), range(6, 12)) for i in group for j in group if i < j]
    >>> result = evaluate(DocumentNetwork(counts, links), ["tfidf", "random"], folds=3)
    >>> float(result.summary().loc["tfidf", "auc"])
    1.0
    """
    if not isinstance(network, DocumentNetwork):
        raise DataError(
            f"evaluate needs a DocumentNetwork, not a {type(network).__name__}; make one of your data first."
        )
    check_direction(direction)
    estimators = _as_estimators(models)
    parts = document_folds(network.n_documents, folds, random_state)
    _check_links(network, parts, direction)
    tasks = [
        Task(label, estimator, fold, train, test, words, direction, int(random_state))
        for label, estimator in estimators.items()
        for fold, (train, test) in enumerate(parts, 1)
    ]
    with nullcontext() if resume is None else ResultFile(resume) as file:
        rows = _run_all(network, tasks, folds, n_jobs, file, verbose)
    return Evaluation(pd.DataFrame(rows, columns=["model", "fold", *METRICS, *SECONDS, "n_test_links"]))


def _as_estimators(models: Sequence[str] | Mapping[str, Any]) -> dict[str, Any]:
    """Return estimators by label, all of them checked."""
    if isinstance(models, Mapping):
        estimators = dict(models)
    elif isinstance(models, str) or not all(isinstance(name, str) for name in models):
        raise ValueError('models must be a list of names, such as ["tfidf"], or a dict of estimators by label.')
    else:
        estimators = {name: make_model(name) for name in models}
        if len(estimators) < len(models):
            raise ValueError(f"models names {max(models, key=list(models).count)!r} twice; give each name once.")
    if not estimators:
        raise ValueError("models is empty; name at least one.")
    for label, estimator in estimators.items():
        for method in ("get_params", "set_params", "fit", "predict_links"):
            if isinstance(estimator, type) or not hasattr(estimator, method):
                raise ValueError(f"the model {label!r} has no method {method}: it is {estimator!r}, not an estimator.")
    return estimators


def _check_links(network: DocumentNetwork, parts: list[tuple[Indices, Indices]], direction: str) -> None:
    """Raise if a fold has no true link to rank."""
    fold_of = np.empty(network.n_documents, dtype=np.int64)
    for fold, (_, test) in enumerate(parts):
        fold_of[test] = fold
    source, target = fold_of[network.links].T
    ends = {"out": [source], "in": [target], "both": [source, target]}[direction if network.directed else "both"]
    tested = np.unique(np.concatenate([end[source != target] for end in ends]))
    if len(tested) < len(parts):
        fold = int(np.setdiff1d(np.arange(len(parts)), tested)[0])
        preposition = {"out": "to", "in": "from", "both": "with"}[direction]
        raise DataError(
            f"the {len(parts[fold][1])} test documents of fold {fold + 1} of {len(parts)} have no link {preposition} "
            "training documents; use fewer folds or another random_state (the network has "
            f"{network.n_links} links)."
        )


def _run_all(
    network: DocumentNetwork,
    tasks: list[Task],
    folds: int,
    n_jobs: int | None,
    file: ResultFile | None,
    verbose: bool | str,
) -> list[dict[str, Any]]:
    """Return the rows of all tasks, in order: read from the file, or else computed and appended to it."""
    keys, finished = ([], {}) if file is None else (task_keys(network, tasks, folds), file.finished)
    rows = {
        number: {**finished[key], "model": tasks[number].label}
        for number, key in enumerate(keys)
        if METRICS.keys() <= finished.get(key, {}).keys()  # a metric may have been registered since
    }
    pending = [number for number in range(len(tasks)) if number not in rows]
    warned = set()
    with ProgressBar(len(pending), verbose, "evaluating", "evaluating") as progress:
        for number, row, caught in _results(network, tasks, pending, n_jobs):
            rows[number] = row
            if file is not None:
                file.add(keys[number], row)
            progress.advance(f"{row['model']}, fold {row['fold']}: link rank {row['link_rank']:,.1f}")
            for category, text in caught:
                about = (row["model"], category, re.sub(r"[\d.,]+", "", text))
                if about not in warned:  # once per model, not in every fold
                    warned.add(about)
                    text = f"{row['model']}, fold {row['fold']}: {text}"
                    warn_user(text, category)
    return [rows[number] for number in range(len(tasks))]


def _results(
    network: DocumentNetwork, tasks: list[Task], pending: list[int], n_jobs: int | None
) -> Iterator[TaskResult]:
    """Yield the result of each pending task, run here or in processes, as soon as it is done."""
    workers = min(joblib.effective_n_jobs(n_jobs), len(pending))
    if workers <= 1:
        for number in pending:
            yield run_task(network, number, tasks[number])
        return
    with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
        parallel = joblib.Parallel(workers, return_as="generator_unordered", batch_size=1)
    yield from parallel(joblib.delayed(run_task)(network, number, tasks[number]) for number in pending)
