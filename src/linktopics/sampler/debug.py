"""Debug mode: after each sweep the whole state is recomputed independently and compared.

It is on if the environment variable ``LINKTOPICS_CHECK`` is set (and not 0), or inside ``with debug_checks():``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linktopics.errors import SamplingError
from linktopics.sampler.corpus import Corpus
from linktopics.sampler.losses import make_loss
from linktopics.sampler.partition import Partition, token_indices
from linktopics.sampler.settings import Settings
from linktopics.sampler.state import State

CHECK_VARIABLE = "LINKTOPICS_CHECK"

FLOAT32_ERROR = 1e-5
"""Relative error that projections and scores may have: they are sums of at most some hundred float32 products."""

REPORT_ADVICE = (
    "This is a bug in linktopics or a memory fault of the machine, not a mistake in the data: please report it, with "
    "the network and the settings if you can"
)

Array = NDArray[np.float64]

_depth = 0


@contextmanager
def debug_checks(on: bool = True) -> Iterator[None]:
    """Return a context manager that checks all chains that start inside, in any thread, if `on`.

    Examples
    --------
    >>> from linktopics.sampler.debug import debug_checks, is_on
    >>> with debug_checks():
    ...     is_on()
    True
    """
    global _depth
    _depth += on
    try:
        yield
    finally:
        _depth -= on


def is_on() -> bool:
    """Return whether chains are to be debug_checks."""
    return _depth > 0 or os.environ.get(CHECK_VARIABLE, "") not in ("", "0")


@dataclass(frozen=True)
class DebugSnapshot:
    """The arrays of a shard, to be compared with the state of the chain.

    Attributes
    ----------
    state : State
        Its state.
    projection : ndarray of float32
        U zbar of its documents, and U^T zbar below it unless U is symmetric; of ghosts, from before the sweep.
    words, total : ndarray
        Counts of words and topics as of the last exchange between shards.
    """

    state: State
    projection: NDArray[np.float32]
    words: NDArray[np.float32]
    total: NDArray[np.int64]


def check_state(corpus: Corpus, state: State, settings: Settings) -> None:
    """Raise `SamplingError` if anything in the state of a chain contradicts its assignments or is not finite.

    All tables of counts are counted again from the assignments, by NumPy and not by the kernels; weights, augmented
    variables and priors must be finite and in range; and the links' part of the log joint is computed again in float64.

    Parameters
    ----------
    corpus : Corpus
        Documents and pairs.
    state : State
        The state, all its arrays up to date (see `Sampler.gather`).
    settings : Settings
        The model.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from linktopics import RelationalTopicModel
    >>> from linktopics.model.training import model_settings
    >>> from linktopics.network.pairs import sample_pairs
    >>> from linktopics.sampler import Corpus, initial_state
    >>> from linktopics.sampler.debug import check_state
    >>> rng = np.random.default_rng(0)
    >>> pairs = sample_pairs(np.array([[0, 1]]), 3, directed=True, negatives=1, rng=rng)
    >>> corpus = Corpus.build(csr_array(np.array([[2, 1], [0, 3], [1, 1]])), pairs, symmetric=False)
    >>> settings = model_settings(RelationalTopicModel(2).get_params(), n_documents=3)
    >>> state = initial_state(corpus, settings, np.random.SeedSequence(0))
    >>> check_state(corpus, state, settings)
    >>> state.doc_topic[1, 0] += 1
    >>> check_state(corpus, state, settings)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    linktopics.errors.SamplingError: the check after iteration 0 failed: doc_topic at document 1, topic 0 is ...
    """
    _check_assignments(corpus, state, settings.n_topics)
    doc_topic, word_topic, topic_total = _recount(corpus, state.assignments, state.doc_topic.shape[1])
    at = state.iteration
    _same(at, "doc_topic", state.doc_topic, doc_topic, "document", "topic")
    _same(at, "word_topic", state.word_topic, word_topic, "word", "topic")
    _same(at, "topic_total", state.topic_total, topic_total, "topic")
    _check_weights(corpus, state, settings)
    _check_augmented(at, "augmented", state.augmented, corpus.n_pairs)
    priors = state.priors
    _finite(at, "alpha", priors.alpha, "topic")
    if not (priors.alpha.min() > 0 and 0 < priors.beta < np.inf):
        _fail(at, f"the prior counts are out of range: alpha {priors.alpha.min()}, beta {priors.beta}")
    if state.iteration and corpus.n_pairs:
        scores, error = _scores(corpus, state, _zbar(state, doc_topic[:, : settings.n_topics], np.diff(corpus.start)))
        loss = make_loss(settings, corpus.label)
        value = loss.log_likelihood(scores)
        allowed = 2.0 * float(loss.cost @ error) + 1e-9 * abs(value)
        if not abs(state.log_links - value) <= allowed:
            _fail(
                at,
                f"log_links is {state.log_links!r}, but topics and weights give {value!r} "
                f"(difference {state.log_links - value:.3g}; rounding can explain {allowed:.3g})",
            )


def check_shards(
    corpus: Corpus, state: State, settings: Settings, parts: list[Partition], snapshots: list[DebugSnapshot]
) -> None:
    """Raise `SamplingError` if what shards hold contradicts the state of the whole chain.

    Parameters
    ----------
    corpus, state, settings
        As for `check_state`, which the state has passed.
    parts : list of Partition
        The documents and pairs of each shard.
    snapshots : list of DebugSnapshot
        The arrays of each shard.
    """
    at = state.iteration
    for part, snapshot in zip(parts, snapshots, strict=True):
        shard, name = snapshot.state, f" of shard {part.number}" if len(parts) > 1 else ""
        ghosts = [other.documents[other.sent_documents[part.number]] for other in parts]
        members = np.concatenate([part.documents, *ghosts])
        tokens = token_indices(corpus.start, part.documents)
        _same(at, f"assignments{name}", shard.assignments, state.assignments[tokens], "token")
        rows = state.doc_topic[members]
        _same(at, f"doc_topic{name} (own documents, then ghosts)", shard.doc_topic, rows, "document", "topic")
        _same(at, f"word_topic{name}", shard.word_topic, state.word_topic, "word", "topic")
        _same(at, f"topic_total{name}", shard.topic_total, state.topic_total, "topic")
        if len(parts) > 1:
            _same(at, f"words sent to shard {part.number}", snapshot.words, state.word_topic, "word", "topic")
            _same(at, f"totals sent to shard {part.number}", snapshot.total, state.topic_total, "topic")
        _check_augmented(at, f"augmented{name}", shard.augmented, len(part.pairs))
        _same(at, f"augmented{name} (own pairs, then entering)", shard.augmented, state.augmented[part.pairs], "pair")
        _same(at, f"weights{name}", shard.weights, state.weights, "topic", "topic")
        _same(at, f"feature_weights{name}", shard.feature_weights, state.feature_weights, "feature")
        _check_projection(at, name, part, snapshot, settings.n_topics)


def _check_assignments(corpus: Corpus, state: State, n_topics: int) -> None:
    topics = state.assignments
    if topics.shape != (corpus.n_tokens,):
        _fail(state.iteration, f"assignments has the shape {topics.shape} for {corpus.n_tokens:,} tokens")
    outside = np.flatnonzero((topics < 0) | (topics >= n_topics))
    if len(outside):
        _fail(
            state.iteration,
            f"assignments at token {outside[0]} is {topics[outside[0]]}, and topics are numbered from 0 to "
            f"{n_topics - 1} ({len(outside):,} of {len(topics):,} are outside)",
        )


def _recount(
    corpus: Corpus, assignments: NDArray[np.int32], width: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return counts of topics by document, by word and in all, in 64-bit integers and without the kernels."""
    topics = assignments.astype(np.int64)
    documents = np.repeat(np.arange(corpus.n_documents), np.diff(corpus.start))
    doc_topic, word_topic = (
        np.bincount(rows * width + topics, minlength=n * width).reshape(n, width)
        for rows, n in ((documents, corpus.n_documents), (corpus.words, corpus.n_words))
    )
    return doc_topic, word_topic, np.bincount(topics, minlength=width)


def _check_weights(corpus: Corpus, state: State, settings: Settings) -> None:
    at, U = state.iteration, state.weights
    _finite(at, "weights", U, "topic", "topic")
    _finite(at, "feature_weights", state.feature_weights, "feature")
    if settings.weights == "diagonal":
        _same(at, "weights (diagonal)", U, np.diag(np.diag(U)), "topic", "topic")
    elif corpus.symmetric:
        _same(at, "weights (symmetric)", U, U.T, "topic", "topic")


def _check_augmented(at: int, name: str, augmented: Array, n_pairs: int) -> None:
    if augmented.shape != (n_pairs,):
        _fail(at, f"{name} has the shape {augmented.shape} for {n_pairs:,} pairs")
    _finite(at, name, augmented, "pair")
    if n_pairs and not augmented.min() > 0:
        place = int(np.argmin(augmented))
        _fail(at, f"{name} at pair {place} is {augmented[place]}, and must be positive")


def _zbar(state: State, counts: NDArray, lengths: NDArray[np.int64]) -> Array:
    """Return shares of topics in float64; documents without words have those of the prior."""
    zbar = np.asarray(counts / np.maximum(lengths, 1)[:, None].astype(float))
    zbar[lengths == 0] = state.priors.shares
    return zbar


def _scores(corpus: Corpus, state: State, zbar: Array) -> tuple[Array, Array]:
    """Return the scores of all pairs in float64, and bounds of the error of float32."""
    source, target = zbar[corpus.source], zbar[corpus.target]
    scores = ((source @ state.weights) * target).sum(axis=1) + corpus.features @ state.feature_weights
    size = ((source @ np.abs(state.weights)) * target).sum(axis=1)
    return scores, FLOAT32_ERROR * (size + np.abs(corpus.features) @ np.abs(state.feature_weights))


def _check_projection(at: int, name: str, part: Partition, snapshot: DebugSnapshot, n_topics: int) -> None:
    """Compare U zbar and U^T zbar of own documents with the same in float64."""
    state, n = snapshot.state, part.n_own
    if not len(part.pairs) or not at:
        return
    zbar = _zbar(state, state.doc_topic[:n, :n_topics], part.lengths[:n])
    entering = len(snapshot.projection) - part.corpus.n_documents
    for U, first in [(state.weights, 0)] + ([(state.weights.T, entering)] if entering else []):
        actual = snapshot.projection[first : first + n, :n_topics]
        error = np.abs(actual - zbar @ U.T)
        wrong = ~(error <= FLOAT32_ERROR * (zbar @ np.abs(U.T)) + np.finfo(np.float32).tiny)
        if wrong.any():
            i, k = np.argwhere(wrong)[0].tolist()
            _fail(
                at,
                f"the projection{name} of document {part.documents[i]}, topic {k} is {actual[i, k]!r}, but its topics "
                f"and the weights give {(zbar[i] @ U.T[:, k])!r} ({wrong.sum():,} of {wrong.size:,} differ)",
            )


def _same(at: int, name: str, actual: NDArray, expected: NDArray, *axes: str) -> None:
    """Raise if two arrays differ anywhere; the message says where first, how much, and how often."""
    if actual.shape != expected.shape:
        _fail(at, f"{name} has the shape {actual.shape}, expected {expected.shape}")
    differ = actual != expected
    if differ.any():
        place = tuple(np.argwhere(differ)[0].tolist())
        where = ", ".join(f"{axis} {number}" for axis, number in zip(axes, place, strict=True))
        gap = np.abs(actual.astype(float) - expected)
        _fail(
            at,
            f"{name} at {where} is {actual[place]}, expected {expected[place]} (largest difference {gap.max():g}, "
            f"{int(differ.sum()):,} of {differ.size:,} differ)",
        )


def _finite(at: int, name: str, values: Array, *axes: str) -> None:
    wrong = ~np.isfinite(values)
    if wrong.any():
        place = tuple(np.argwhere(wrong)[0].tolist())
        where = ", ".join(f"{axis} {number}" for axis, number in zip(axes, place, strict=True))
        _fail(at, f"{name} at {where} is {values[place]} ({int(wrong.sum()):,} of {wrong.size:,} are not finite)")


def _fail(at: int, what: str) -> None:
    raise SamplingError(f"the check after iteration {at} failed: {what}. {REPORT_ADVICE}.")
