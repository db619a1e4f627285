"""What a model on disk may say: kinds and bounds of all values, looked at before anything is made of them.

A model may come from a stranger, and checksums say nothing about strangers: anybody can compute them. After these
checks no number of the manifest asks for more memory than the files beside it take, no array has a type or a shape that
kernels were not written for, and no index leads out of one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linktopics.errors import ModelError
from linktopics.kernels.lanes import padded
from linktopics.posterior import MAX_SWEEPS
from linktopics.storage.folder import MANIFEST, ModelFolder

if TYPE_CHECKING:
    from linktopics.run import Run

__all__ = ["check_manifest", "check_run", "check_training", "read_manifest", "shown"]

MAX_UNUSED_WORDS = 2**22
"""Words that no document has, where neither names nor samples tell how many words there are."""

Check = Callable[[Any, str], None]


# --------------------------------------------------------------------------------------------------------------------
# The manifest
# --------------------------------------------------------------------------------------------------------------------


def read_manifest(path: Path) -> dict[str, Any]:
    """Read the manifest of a model's folder, and check it."""
    manifest = ModelFolder(path).manifest()
    check_manifest(path / MANIFEST, manifest)
    return manifest


def check_manifest(path: Path, manifest: Mapping[str, Any]) -> None:
    """Raise ModelError if a manifest says what no version of linktopics would have written."""
    try:
        _MANIFEST(manifest, "")
        plan, chains = manifest["plan"], manifest["chains"]
        length = plan["n_iter"] + plan["n_samples"] * plan["thin"]
        numbers = [chain["number"] for chain in chains]
        files = [one["file"] for chain in chains for one in (chain["state"], *chain["samples"])]
        widths = {len(manifest["features"][name]) for name in ("columns", "constant", "mean", "scale", "link_mean")}
        for wrong, what in (
            (length > MAX_SWEEPS, f"the plan is of {length:,} sweeps"),
            (numbers != list(range(len(chains))), "the chains are not numbered one after the other"),
            (len(set(files)) < len(files), "a file belongs to two chains"),
            (len(widths) > 1, "the features are not all of one number"),
            ("log joint" not in manifest["quantities"], "there is no log joint in the trace"),
            (any(chain["iteration"] > length for chain in chains), "a chain went further than the plan"),
            ((manifest["described"] or 0) >= len(chains), "the chain that is described is not there"),
        ):
            if wrong:
                raise ValueError(what)
    except ValueError as error:
        raise ModelError(
            f"{path}: the model is damaged ({error}); take it from a copy, or fit and save it again."
        ) from None


def shown(value: Any) -> str:
    """Show a value of a stranger: briefly, and in one line."""
    text = repr(value) if isinstance(value, str | int | float | bool | None) else type(value).__name__
    return text if len(text) <= 60 else text[:57] + "..."


def _when(right: Callable[[Any], bool]) -> Check:
    def check(value: Any, where: str) -> None:
        if not right(value):
            raise ValueError(f"{where} is {shown(value)}")

    return check


def _whole(least: int, most: int) -> Check:
    return _when(lambda value: type(value) is int and least <= value <= most)


def _one_of(*known: str) -> Check:
    return _when(lambda value: isinstance(value, str) and value in known)


def _maybe(check: Check) -> Check:
    return lambda value, where: None if value is None else check(value, where)


def _list(check: Check, *, least: int = 0, unique: bool = False) -> Check:
    def check_all(value: Any, where: str) -> None:
        if not isinstance(value, list) or len(value) < least:
            raise ValueError(f"{where} is {shown(value)}")
        for number, one in enumerate(value):
            check(one, f"{where}[{number}]")
        if unique and len(set(value)) < len(value):
            raise ValueError(f"{where} holds something twice")

    return check_all


def _table(check: Check) -> Check:
    def check_all(value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise ValueError(f"{where} is {shown(value)}")
        for name, one in value.items():
            check(one, f"{where}[{shown(name)}]")

    return check_all


def _fields(checks: Mapping[str, Check], optional: tuple[str, ...] = (), *, others: bool = True) -> Check:
    """Check some fields of a dict; what else is there is no matter here, unless `others` must not be there."""

    def check_all(value: Any, where: str) -> None:
        if not isinstance(value, dict):
            raise ValueError(f"{where} is {shown(value)}")
        for name, check in checks.items():
            at = f"{where}.{name}" if where else name
            if name in value:
                check(value[name], at)
            elif name not in optional:
                raise ValueError(f"{at} is missing")
        unknown = [] if others else [name for name in value if name not in checks]
        if unknown:
            raise ValueError(f"{where} has the unknown field {shown(unknown[0])}")

    return check_all


def _is_finite(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= 1e300  # and so no NaN


_text = _when(lambda value: isinstance(value, str))
_flag = _when(lambda value: isinstance(value, bool))
_number = _when(lambda value: type(value) in (int, float))
_finite = _when(_is_finite)
_positive = _when(lambda value: _is_finite(value) and value > 0)
_not_negative = _when(lambda value: _is_finite(value) and value >= 0)
_anything = _when(lambda _: True)
_file = _fields({"file": _text})
_count, _sweeps = _whole(0, 2**53), _whole(0, MAX_SWEEPS)
_prior = _when(lambda value: _is_finite(value) and 1e-9 <= value <= 1e9)
_seed = _when(lambda value: isinstance(value, str) and value.isdecimal() and len(value) <= 100)

_REPORT = _fields(
    {
        **dict.fromkeys(
            ("n_links_given", "n_unknown_ends", "n_self_links", "n_duplicate_links", "n_empty_documents"), _count
        ),
        **dict.fromkeys(("unknown_ends", "self_links", "duplicate_links", "empty_documents"), _list(_anything)),
        "hint": _text,
    }
)
_NETWORK = _fields(
    {
        "n_documents": _whole(1, 2**31 - 1),
        "n_words": _whole(1, 2**31 - 1),
        "n_tokens": _count,
        "n_links": _count,
        "fingerprint": _text,
        "directed": _flag,
        "has_names": _flag,
        "columns": _list(_text, unique=True),
        "report": _REPORT,
    }
)
_SETTINGS = _fields(
    {
        "n_topics": _whole(1, 2**15 - 1),
        "loss": _one_of("logistic", "hinge"),
        "weights": _one_of("full", "diagonal"),
        "exact": _flag,
        "alpha": _prior,
        "beta": _prior,
        "weight_variance": _positive,
        "link_cost": _positive,
        "nonlink_cost": _positive,
        "margin": _not_negative,
        "weight_method": _one_of("auto", "cholesky", "cg"),
        "n_shards": _whole(1, 2**15),
    },
    optional=("n_shards",),
    others=False,
)
_PLAN = _fields(
    {
        "n_iter": _sweeps,
        "n_samples": _whole(1, MAX_SWEEPS),
        "thin": _whole(1, MAX_SWEEPS),
        "learn_alpha": _maybe(_one_of("symmetric", "per-topic")),
        "learn_beta": _flag,
    },
    others=False,
)
_FEATURES = _fields(
    {
        "columns": _list(_text),
        "constant": _list(_finite),
        "mean": _list(_finite),
        "scale": _list(_positive),
        "link_mean": _list(_finite),
    }
)
_RANDOM = _fields({"bit_generator": _one_of("PCG64")})
_CHAIN = _fields(
    {
        "number": _count,
        "iteration": _sweeps,
        "log_joint": _maybe(_finite),
        "log_links": _number,
        "beta": _maybe(_prior),
        "rng": lambda value, where: (_RANDOM if isinstance(value, dict) else _list(_RANDOM, least=1))(value, where),
        "seconds": _table(_not_negative),
        "state": _file,
        "samples": _list(_file),
    }
)
_CURVE = _fields({"knots": _list(_finite, least=1), "slopes": _list(_positive, least=2), "level": _finite})
_share = _when(lambda value: _is_finite(value) and 0 <= value <= 1)
_CALIBRATION = _fields(
    {"offset": _finite, "curves": _table(_CURVE), "n_documents": _count, "n_links": _count, "reciprocity": _share},
    optional=("reciprocity",),
)
_MANIFEST = _fields(
    {
        "kind": _text,
        "framed": _flag,
        "parameters": _table(_anything),
        "settings": _SETTINGS,
        "plan": _PLAN,
        "network": _NETWORK,
        "vectorizer": _maybe(_table(_anything)),
        "features": _FEATURES,
        "entropy": _list(_seed, least=1),
        "inference_seed": _whole(0, 2**63 - 1),
        "n_pairs": _count,
        "described": _maybe(_count),
        "quantities": _list(_text, unique=True),
        "versions": _table(_text),
        "saved": _text,
        "network_file": _text,
        "training_file": _text,
        "calibration": _maybe(_CALIBRATION),
        "chains": _list(_CHAIN, least=1),
        "files": _list(_fields({"file": _text, "bytes": _count})),
    },
    optional=("framed", "calibration"),
)


# --------------------------------------------------------------------------------------------------------------------
# Arrays
# --------------------------------------------------------------------------------------------------------------------

WEIGHTS: dict[str, Any] = {"weights": np.float64, "feature_weights": np.float64}
OF_STATES = {**WEIGHTS, "assignments": np.int32, "augmented": np.float64, "streams": np.uint64}
OF_SAMPLES = {**WEIGHTS, "word_topic": np.float32, "doc_topic": np.float32, "alpha": np.float64}


def check_run(run: Run, training: Mapping[str, NDArray]) -> None:
    """Raise ValueError if arrays are not of the types and sizes that the sampler and predictions take for granted."""
    for name, array, kind, size in _expected(run, training):
        if array.shape != size or array.dtype != kind:
            raise ValueError(f"{name} is an array of {array.dtype} {array.shape} in place of {np.dtype(kind)} {size}")
    for chain in run.chains:
        state, of = chain.state, f"chain {chain.number}"
        if len(state.generators) != run.settings.n_shards:
            raise ValueError(f"{of} has {len(state.generators)} random generators in place of {run.settings.n_shards}")
        if not state.iteration <= len(chain.trace) <= run.plan.length:
            raise ValueError(f"{of} has a trace of {len(chain.trace)} sweeps")
        if run.sampled and not chain.samples:
            raise ValueError(f"{of} has no samples")
        if run.sampled and set(chain.seconds) != set(run.chains[0].seconds):
            raise ValueError(f"{of} has other steps than the first")
        for sample in chain.samples:
            _check_numbers(f"{of}, a sample", sample.alpha, sample.weights, sample.feature_weights, sample.log_joint)
        if state.priors is not None:
            _check_numbers(of, state.priors.alpha, state.weights, state.feature_weights, 0.0)
            if state.priors.beta is None:
                raise ValueError(f"{of} has no beta")
        elif state.iteration:
            raise ValueError(f"{of} has no alpha")


def _check_numbers(of: str, alpha: NDArray, weights: NDArray, feature_weights: NDArray, log_joint: float) -> None:
    """Look at the small arrays of a state or a sample; of the large ones nothing but numbers can go wrong."""
    if not ((alpha >= 1e-15) & (alpha <= 1e9)).all():
        raise ValueError(f"{of} has an alpha that is not positive, or too large")
    if not (np.isfinite(weights).all() and np.isfinite(feature_weights).all() and math.isfinite(log_joint)):
        raise ValueError(f"{of} has numbers that are not finite")


def _expected(run: Run, training: Mapping[str, NDArray]) -> Iterator[tuple[str, NDArray, Any, tuple[int, ...]]]:
    """Give arrays by name with the types and sizes that they should have."""
    kind: Any
    K, n, V = run.settings.n_topics, run.network.n_documents, run.network.n_words
    F, P = len(run.features.columns), run.n_pairs
    sizes: dict[str, tuple[int, ...]] = {
        "weights": (K, K),
        "feature_weights": (F,),
        "assignments": (run.network.n_tokens,),
        "augmented": (P,),
        "streams": (run.settings.n_shards, 4),
        "word_topic": (V, padded(K)),
        "doc_topic": (n, K),
        "alpha": (K,),
    }
    for name, kind in (("source", np.int32), ("target", np.int32), ("label", np.bool_)):
        yield name, training[name], kind, (P,)
    yield "features", training["features"], np.float64, (F, P)
    of_features: dict[str, tuple[Any, tuple[int, ...]]] = {
        "word_topic": (np.float32, sizes["word_topic"]),
        "alpha": (np.float64, (K,)),
        "seed": (np.int64, (1,)),
        "norm": (np.float64, (n,)),
    }
    for name, array in training.items():
        own = of_features.get(name.rpartition("/")[2])
        if name.startswith("fitted ") and own is not None:
            yield name, array, *own
    n_seeds = training["seeds/word"].shape[:1]
    for name, kind in (("word", np.int64), ("topic", np.int64), ("amount", np.float64)):
        yield f"seeds/{name}", training[f"seeds/{name}"], kind, n_seeds
    for chain in run.chains:
        state, of = chain.state, f"chain {chain.number}"
        if state.priors is not None:
            yield f"{of}, alpha", state.priors.alpha, np.float64, (K,)
        yield f"{of}, trace", chain.trace, np.float64, (*chain.trace.shape[:1], len(run.quantities))
        for name, kind in OF_STATES.items():
            yield f"{of}, {name}", getattr(state, name), kind, sizes[name]
        for number, sample in enumerate(chain.samples):
            for name, kind in OF_SAMPLES.items():
                yield f"{of}, sample {number}, {name}", getattr(sample, name), kind, sizes[name]


def check_training(run: Run, training: Mapping[str, NDArray]) -> None:
    """Raise ValueError if what a run needs to go on would lead kernels out of their arrays, or into too large ones."""
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
    if any(not (np.isfinite(one).all() and (one >= 0).all()) for one in (c.state.augmented for c in run.chains)):
        raise ValueError("an augmented variable is not positive")
    if (source[1:] < source[:-1]).any():
        raise ValueError("the pairs are not in order")
    if not (np.isfinite(training["features"]).all() and ((seeds["amount"] >= 0) & (seeds["amount"] <= 2**24)).all()):
        raise ValueError("features or seed words have numbers that are not finite")
    used = int(run.network.counts.indices.max(initial=-1)) + 1
    told = run.network.vocabulary is not None or any(chain.samples for chain in run.chains)
    if not told and used + MAX_UNUSED_WORDS < V:
        raise ValueError(f"there are {V:,} words, of which documents have only the first {used:,}")
