"""Checks of the arrays of a model, which may be untrusted, before kernels read them.

After these checks all arrays have the types and shapes that kernels expect, and no index is out of bounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linktopics.kernels.simd import padded
from linktopics.model.run import TrainingRun
from linktopics.storage.run_writer import SAMPLE_ARRAYS, STATE_ARRAYS
from linktopics.utils.checks import check_array

MAX_UNUSED_WORDS = 2**22
"""Most words that occur in no document, if neither a vocabulary nor samples confirm the number of words."""

Shape = tuple[int, ...]


def check_run(run: TrainingRun, training: Mapping[str, NDArray]) -> None:
    """Raise ValueError if arrays do not have the types and shapes that the sampler and predictions rely on."""
    for name, array, kind, size in _expected(run, training):
        check_array(name, array, kind, size)
    for chain in run.chains:
        state, of = chain.state, f"chain {chain.number}"
        if len(state.generators) != run.settings.n_shards:
            raise ValueError(f"{of} has {len(state.generators)} random generators in place of {run.settings.n_shards}")
        if not state.iteration <= len(chain.trace) <= run.schedule.length:
            raise ValueError(f"{of} has a trace of {len(chain.trace)} sweeps")
        if run.sampled and not chain.samples:
            raise ValueError(f"{of} has no samples")
        if run.sampled and set(chain.seconds) != set(run.chains[0].seconds):
            raise ValueError(f"{of} has timings of other steps than the first chain")
        for sample in chain.samples:
            _check_values(f"{of}, a sample", sample.alpha, sample.weights, sample.feature_weights, sample.log_joint)
        _check_values(of, state.priors.alpha, state.weights, state.feature_weights, 0.0)


def _check_values(of: str, alpha: NDArray, weights: NDArray, feature_weights: NDArray, log_joint: float) -> None:
    """Check the values of the small arrays of a state or a sample; wrong values of large ones do no harm."""
    if not ((alpha >= 1e-15) & (alpha <= 1e9)).all():
        raise ValueError(f"{of} has an alpha that is not positive, or too large")
    if not (np.isfinite(weights).all() and np.isfinite(feature_weights).all() and math.isfinite(log_joint)):
        raise ValueError(f"{of} has numbers that are not finite")


def _expected(run: TrainingRun, training: Mapping[str, NDArray]) -> Iterator[tuple[str, NDArray, Any, Shape]]:
    """Yield arrays by name with the types and shapes that they should have."""
    K, n, V = run.settings.n_topics, run.network.n_documents, run.network.n_words
    F, P = len(run.features.columns), run.n_pairs
    n_seeds = training["seeds/word"].shape[:1]
    of_training: dict[str, tuple[Any, Shape]] = {
        "source": (np.int32, (P,)),
        "target": (np.int32, (P,)),
        "label": (np.bool_, (P,)),
        "features": (np.float64, (F, P)),
        "seeds/word": (np.int64, n_seeds),
        "seeds/topic": (np.int64, n_seeds),
        "seeds/amount": (np.float64, n_seeds),
    }
    expected: dict[str, tuple[Any, Shape]] = {
        "weights": (np.float64, (K, K)),
        "feature_weights": (np.float64, (F,)),
        "assignments": (np.int32, (run.network.n_tokens,)),
        "augmented": (np.float64, (P,)),
        "streams": (np.uint64, (run.settings.n_shards, 4)),
        "word_topic": (np.float32, (V, padded(K))),
        "doc_topic": (np.float32, (n, K)),
        "alpha": (np.float64, (K,)),
    }
    for name, type_and_shape in of_training.items():
        yield name, training[name], *type_and_shape
    for chain in run.chains:
        state, of = chain.state, f"chain {chain.number}"
        yield f"{of}, alpha", state.priors.alpha, *expected["alpha"]
        yield f"{of}, trace", chain.trace, np.float64, (*chain.trace.shape[:1], len(run.quantities))
        for name in STATE_ARRAYS:
            yield f"{of}, {name}", getattr(state, name), *expected[name]
        for number, sample in enumerate(chain.samples):
            for name in SAMPLE_ARRAYS:
                yield f"{of}, sample {number}, {name}", getattr(sample, name), *expected[name]


def check_training(run: TrainingRun, training: Mapping[str, NDArray]) -> None:
    """Raise ValueError if what resuming needs would lead kernels out of bounds, or allocate far too much memory."""
    n, V, K = run.network.n_documents, run.network.n_words, run.settings.n_topics
    source, seeds = training["source"], {name: training[f"seeds/{name}"] for name in ("word", "topic", "amount")}
    for array, end in (
        (source, n),
        (training["target"], n),
        (seeds["word"], V),
        (seeds["topic"], K),
        (training["label"].view(np.uint8), 2),
        *((chain.state.assignments, K) for chain in run.chains),
    ):
        if len(array) and not 0 <= int(array.min()) <= int(array.max()) < end:
            raise ValueError("a topic or a document is out of range")
    augmented = (chain.state.augmented for chain in run.chains)
    if not all(np.isfinite(values).all() and (values >= 0).all() for values in augmented):
        raise ValueError("an augmented variable is not positive")
    if (source[1:] < source[:-1]).any():
        raise ValueError("the pairs are not in order")
    if not (np.isfinite(training["features"]).all() and ((seeds["amount"] >= 0) & (seeds["amount"] <= 2**24)).all()):
        raise ValueError("features or seed words have numbers that are not finite")
    used = int(run.network.counts.indices.max(initial=-1)) + 1
    known = run.network.vocabulary is not None or any(chain.samples for chain in run.chains)
    if not known and used + MAX_UNUSED_WORDS < V:
        raise ValueError(f"there are {V:,} words, of which documents have only the first {used:,}")
