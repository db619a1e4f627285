"""One model on one fold: fit it, score it, and append its result to a file."""

from __future__ import annotations

import json
import os
import pickle
import time
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any, TypeAlias

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import clone

from linktopics import __version__
from linktopics.errors import DataError, LinktopicsError, NetworkWarning, SamplingError, ignore_mixing_warnings
from linktopics.evaluation.metrics import Metric, link_ranks, word_ranks
from linktopics.model.estimator import RelationalTopicModel
from linktopics.network import DocumentNetwork
from linktopics.network.pairs import links_between
from linktopics.prediction.ranking import blocks_of
from linktopics.registry import METRICS, extensions, install
from linktopics.utils.atomic_write import check_no_device
from linktopics.utils.blas import one_thread

Indices: TypeAlias = NDArray[np.int64]

TaskResult: TypeAlias = tuple[int, dict[str, Any], list[tuple[type[Warning], str]]]
"""Number of the task, its row, and the warnings that were raised."""

SCORE_BLOCK_CELLS = 20_000_000
"""Largest number of scores or word probabilities that are requested from a model at once."""

EXACT_AUC_CELLS = 50_000_000
"""Pairs of test and training documents up to which all of them enter the AUC."""

SAMPLED_NONLINKS = 5_000_000
"""Pairs drawn for the AUC where there are more than that."""

IGNORED_PARAMETERS = ("n_jobs", "verbose", "resume")
"""Parameters of models that do not change their predictions."""

RESULT_KEY = "linktopics_result"
"""The key of a result, first in its line."""


@dataclass(frozen=True)
class Task:
    """A model to fit and score on a fold."""

    label: str
    estimator: Any
    fold: int
    train: Indices
    test: Indices
    words: bool
    direction: str
    random_state: int
    registered: Any = field(default_factory=extensions)

    @property
    def seeds(self) -> np.random.SeedSequence:
        """The seed of all random numbers of the task."""
        return np.random.SeedSequence([self.random_state, self.fold])


def run_task(network: DocumentNetwork, number: int, task: Task) -> TaskResult:
    """Return the results of a model on a fold; errors are raised again with the names of model and fold.

    Linear algebra is limited to one thread: its sums depend on the number of threads, and times are then comparable.
    """
    install(task.registered)
    try:
        with one_thread(), warnings.catch_warnings(record=True) as caught:
            row = _row(network, task)
    except Exception as error:
        place = f"{task.label}, fold {task.fold}"
        for kind in (DataError, SamplingError, LinktopicsError, ValueError, MemoryError, OSError):
            if isinstance(error, kind):
                raise kind(f"{place}: {error}") from error
        raise RuntimeError(f"{place}: {type(error).__name__}: {error}") from error
    return number, row, [(warning.category, str(warning.message)) for warning in caught]


def _row(network: DocumentNetwork, task: Task) -> dict[str, Any]:
    training = network.subset(task.train)
    training.vectorizer = None  # it was fitted on all texts, and models get counts only
    counts = network.counts[task.test]
    outgoing, incoming = links_between(network, task.test, task.train)
    model = seeded(clone(task.estimator), task.seeds)
    model.set_params(**{name: False for name in model.get_params() if _suffix(name) == "verbose"})
    with ignore_mixing_warnings():
        if isinstance(model, RelationalTopicModel):
            model.check_parameters()  # before minutes of compiling
            _warm_up(model.n_topics, model.loss, model.weights, model.sampler, network.directed)
        start = time.perf_counter()
        model.fit(training)
    row = {"model": task.label, "fold": task.fold, "train_seconds": time.perf_counter() - start}
    wanted = task.direction if network.directed else "both"
    truth = {"both": outgoing + incoming, "out": outgoing, "in": incoming}[wanted]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NetworkWarning)  # about test documents without words, given already
        # Features of pairs may ask for ids and columns; models of other packages take counts.
        reads_networks = getattr(model, "reads_networks", False)
        documents = network.subset(task.test).without_links() if reads_networks else counts
        row |= _score_links(model, documents, truth, task)
        if task.words and hasattr(model, "word_probabilities"):
            row |= _score_words(model, counts, outgoing, incoming, training.ids)
    timings = getattr(model, "timings_", {})
    row |= {f"{part}_seconds": float(timings.get(part, np.nan)) for part in ("topics", "augmented", "weights")}
    return {**dict.fromkeys((*METRICS, "words_seconds"), np.nan), **row, "n_test_links": truth.nnz}


@cache
def _warm_up(n_topics: int, loss: str, weights: str, sampler: str, directed: bool) -> None:
    """Compile or load the kernels for these settings, so that the measured times do not include that."""
    network = DocumentNetwork(np.eye(4, dtype=int), [(0, 1), (1, 2)], directed=directed)
    model = RelationalTopicModel(
        n_topics, loss=loss, weights=weights, sampler=sampler, n_burn_in=0, n_samples=1, thin=1, negatives=1,
        random_state=0, verbose=False,
    )  # fmt: skip
    model.fit(network)
    model.predict_links(network.counts)
    model.word_probabilities([[0]])


def seeded(model: Any, seeds: np.random.SeedSequence) -> Any:
    """Return the model with every `random_state` that is None, also of its parts, set to a number."""
    seed = int(seeds.generate_state(1)[0])
    missing = [name for name, value in model.get_params().items() if _suffix(name) == "random_state" and value is None]
    return model.set_params(**dict.fromkeys(missing, seed))


def _suffix(parameter: str) -> str:
    """Return the last part of the name of a parameter, which comes after the names of parts of the model."""
    return parameter.rpartition("__")[2]


def _score_links(model: Any, documents: Any, truth: csr_array, task: Task) -> dict[str, float]:
    n_new, n_old = truth.shape
    share = SAMPLED_NONLINKS / (n_new * n_old) if n_new * n_old > EXACT_AUC_CELLS else None
    rng = np.random.default_rng(task.seeds.spawn(1)[0])
    ranks, scores, linked, seconds = [], [], [], 0.0
    for rows in blocks_of(n_new, n_old, SCORE_BLOCK_CELLS):
        start = time.perf_counter()
        some = documents.subset(np.arange(rows.start, rows.stop)) if hasattr(documents, "subset") else documents[rows]
        block = np.asarray(model.predict_links(some, direction=task.direction))
        seconds += time.perf_counter() - start
        links = truth[rows]
        if block.shape != links.shape:
            raise DataError(
                f"predict_links gave an array of shape {block.shape}, not a row for each of {links.shape[0]} documents "
                f"and a column for each of {links.shape[1]} training documents."
            )
        if links.nnz:
            ranks.append(link_ranks(block, links))
        dense = links.toarray()
        if share is not None:  # all links, and random pairs that are not links
            drawn = rng.integers(block.size, size=round(share * block.size))
            chosen = np.concatenate([np.flatnonzero(dense), drawn[~dense.ravel()[drawn]]])
            block, dense = block.ravel()[chosen], dense.ravel()[chosen]
        scores.append(block.ravel())
        linked.append(dense.ravel())
    return {
        **_metrics("link ranks", np.concatenate(ranks)),
        **_metrics("pairs", np.concatenate(scores)[None], np.concatenate(linked)[None]),
        "test_seconds": seconds,
    }


def _metrics(of: str, *arrays: NDArray[Any]) -> dict[str, float]:
    """Return all metrics that are functions of these arrays."""
    return {name: _value(name, metric, arrays) for name, metric in METRICS.items() if metric.of == of}


def _value(name: str, metric: Metric, arrays: Sequence[NDArray[Any]]) -> float:
    """Return the value of a metric, which may be from a plugin; name the metric if it fails."""
    try:
        return float(metric.function(*arrays))
    except (LinktopicsError, MemoryError):
        raise
    except Exception as error:
        raise DataError(f"the metric {name!r} failed ({type(error).__name__}: {error}).") from error


def _score_words(
    model: Any, counts: csr_array, outgoing: csr_array, incoming: csr_array, ids: NDArray[Any]
) -> dict[str, float]:
    """Return metrics of the words of documents, predicted from their links; of documents that have words and links."""
    known = np.flatnonzero(((outgoing + incoming).sum(axis=1) > 0) & (counts.sum(axis=1) > 0))
    ranks, seconds = [], 0.0
    for rows in blocks_of(len(known), counts.shape[1], SCORE_BLOCK_CELLS):
        documents = known[rows]
        links = _linked_ids(outgoing[documents], ids)
        linked_by = _linked_ids(incoming[documents], ids) if incoming.nnz else None
        start = time.perf_counter()
        probabilities = model.word_probabilities(links, linked_by)
        seconds += time.perf_counter() - start
        ranks.append(word_ranks(probabilities, counts[documents]))
    return {**(_metrics("word ranks", np.concatenate(ranks)) if ranks else {}), "words_seconds": seconds}


def _linked_ids(links: csr_array, ids: NDArray[Any]) -> list[list[Any]]:
    """Return for each row the ids of the columns it has links in."""
    return [ids[links.indices[first:last]].tolist() for first, last in pairwise(links.indptr)]


def task_keys(network: DocumentNetwork, tasks: list[Task], folds: int) -> list[str]:
    """Return for each task a hash of everything its result depends on."""
    known = joblib.hash((network.ids.tolist(), {name: column.tolist() for name, column in network.columns.items()}))
    shared = (__version__, network.fingerprint(), known, int(folds))
    return [
        joblib.hash((shared, task.fold, task.random_state, task.words, task.direction, _model_identity(task)), "sha1")
        for task in tasks
    ]


def _model_identity(task: Task) -> tuple[str, dict[str, str]]:
    """Return the class of a model and a hash of each of its parameters."""
    parameters = {}
    for name, value in task.estimator.get_params().items():
        if _suffix(name) in IGNORED_PARAMETERS:
            continue
        is_model = hasattr(value, "get_params") and not isinstance(value, type)  # its parameters are in the loop, too
        try:
            parameters[name] = _class_name(value) if is_model else joblib.hash(value)
        except (pickle.PicklingError, TypeError, AttributeError):
            raise ValueError(
                f"the parameter {name} of {task.label} cannot be hashed, so results cannot be found again after a "
                "restart; leave out resume."
            ) from None
    return _class_name(task.estimator), parameters


def _class_name(thing: Any) -> str:
    return f"{type(thing).__module__}.{type(thing).__qualname__}"


class ResultFile:
    """Finished tasks in a file, a JSON object per line; each is written as soon as it is finished.

    An incomplete last line, of a program that was stopped, is dropped.

    Attributes
    ----------
    finished : dict of str to dict
        Rows by key.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "results.jsonl"
    >>> with ResultFile(path) as file:
    ...     file.add("a1", {"model": "tfidf", "fold": 1, "auc": 0.75})
    >>> ResultFile(path).finished
    {'a1': {'model': 'tfidf', 'fold': 1, 'auc': 0.75}}
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path
        self.finished: dict[str, dict[str, Any]] = {}
        check_no_device(path)
        self._is_new = not os.path.lexists(path)
        try:
            self._file = open(path, "a+b", buffering=0)  # noqa: SIM115, __exit__ closes it
        except OSError as error:
            raise self._write_error(error) from None
        try:
            self._read()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> ResultFile:
        return self

    def __exit__(self, *_: object) -> None:
        is_empty = os.fstat(self._file.fileno()).st_size == 0
        self._file.close()
        if self._is_new and is_empty:  # no task was finished, so leave no file behind
            with suppress(OSError):
                os.unlink(self.path)

    def _read(self) -> None:
        self._file.seek(0)
        content = self._file.read()
        end = content.rfind(b"\n") + 1
        for number, line in enumerate(content[:end].split(b"\n")[:-1], 1):
            self._add_line(line, number)
        if end < len(content):
            begin = f'{{"{RESULT_KEY}": "'.encode()
            if not content[end:].startswith(begin[: len(content) - end]):
                raise self._not_a_result(content.count(b"\n") + 1)
            self._file.truncate(end)

    def _add_line(self, line: bytes, number: int) -> None:
        try:
            row = json.loads(line)
            key = row.pop(RESULT_KEY)
            self.finished[key] = {name: np.nan if value is None else value for name, value in row.items()}
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise self._not_a_result(number) from None

    def _not_a_result(self, line: int) -> DataError:
        path = os.fspath(self.path)
        return DataError(f"line {line} of {path!r} is not a result of an evaluation; give resume another file name.")

    def add(self, key: str, row: dict[str, Any]) -> None:
        """Append a finished task; if that fails, restore the file and raise DataError."""
        values = {name: None if value != value else value for name, value in row.items()}
        rest = memoryview(json.dumps({RESULT_KEY: key, **values}, allow_nan=False).encode() + b"\n")
        size = os.fstat(self._file.fileno()).st_size
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            with suppress(OSError):
                self._file.truncate(size)
            raise self._write_error(error) from None

    def _write_error(self, error: OSError) -> DataError:
        path = os.fspath(self.path)
        return DataError(
            f"results cannot be written to {path!r}: {error.strerror}; give resume (--resume) another path."
        )
