"""Parameters, features of pairs and vectorizers as JSON and arrays, and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linktopics.errors import ModelError, NetworkWarning
from linktopics.features import PairFeature, resolve_features
from linktopics.registry import FEATURE_KINDS, FEATURES
from linktopics.sampler.runner import MAX_JOBS
from linktopics.storage.manifest import format_value
from linktopics.storage.network_codec import decode_column, encode_column
from linktopics.storage.regex_safety import is_slow_pattern
from linktopics.utils.user_warnings import warn_user

MAX_NGRAM = 100
"""Longest n-grams, of words or characters, that a vectorizer from a file may count."""

Functions = Mapping[str, Callable[..., Any]]


def parameters_to_json(parameters: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, NDArray]]:
    """Return the parameters of a model as JSON can hold them, and the arrays they hold."""
    values, arrays = dict(parameters), {}
    if isinstance(values["pair_features"], list | tuple):
        described = []
        for number, feature in enumerate(values["pair_features"]):
            one, own = (feature, {}) if isinstance(feature, str) else feature.to_json()
            if own:
                one["arrays"] = f"feature {number}"
            described.append(one)
            for name, array in own.items():
                arrays.update(encode_column(array, f"feature {number}/{name}"))
        values["pair_features"] = described
    if values["seed_words"] is not None:
        words = values["seed_words"]
        by_topic = words if isinstance(words, Mapping) else dict(enumerate(words))
        values["seed_words"] = [[int(topic), list(map(_python_number, listed))] for topic, listed in by_topic.items()]
    if not isinstance(values["random_state"], Integral):
        values["random_state"] = None  # generators are not saved; the run has its own seeds
    return {name: _python_number(value) for name, value in values.items()}, arrays


def restore_parameters(
    values: Mapping[str, Any], arrays: dict[str, NDArray], functions: Functions | None
) -> dict[str, Any]:
    """Return the parameters of a model; functions of pairs, which are not saved, are taken from `functions`."""
    result = dict(values)
    if isinstance(result["pair_features"], list):
        result["pair_features"] = [_restore_feature(one, arrays, functions or {}) for one in result["pair_features"]]
    resolve_features(result["pair_features"], result["intercept"])  # raises for unknown features
    if result["seed_words"] is not None:
        result["seed_words"] = {int(topic): list(words) for topic, words in result["seed_words"]}
    jobs = result.get("n_jobs")
    if jobs is not None and not (type(jobs) is int and 1 <= abs(jobs) <= MAX_JOBS):
        raise ValueError(f"n_jobs is {format_value(jobs)}")
    return result


def _python_number(value: Any) -> Any:
    """Return NumPy's numbers as Python's."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, Real) else value


def _restore_feature(described: Any, arrays: dict[str, NDArray], functions: Functions) -> str | PairFeature:
    if isinstance(described, str):
        if described not in FEATURES:
            raise FEATURES.missing(described)
        return described
    if not all(isinstance(value, str | int | float | None) for value in described.values()):
        raise TypeError("a pair feature is not described by strings and numbers")
    more = {name: value for name, value in described.items() if name not in ("kind", "arrays")}
    if described["kind"] not in FEATURE_KINDS:
        raise FEATURE_KINDS.missing(described["kind"])
    start = f"{described.get('arrays')}/"
    names = {name.removeprefix(start).partition("/")[0] for name in arrays if name.startswith(start)}
    own = {name: values for name in names if (values := decode_column(arrays, start + name)) is not None}
    return FEATURE_KINDS[described["kind"]].from_json(more, own, functions)


# --------------------------------------------------------------------------------------------------------------------
# Vectorizers
# --------------------------------------------------------------------------------------------------------------------


def vectorizer_to_json(vectorizer: Any) -> dict[str, Any] | None:
    """Return a CountVectorizer's parameters; None, with a warning, if parameters cannot describe the vectorizer."""
    from sklearn.feature_extraction.text import CountVectorizer

    if vectorizer is None:
        return None
    reason = f"{type(vectorizer).__name__} is not scikit-learn's CountVectorizer"
    if type(vectorizer) is CountVectorizer:
        parameters = vectorizer.get_params()
        parameters.update(vocabulary=None, dtype=np.dtype(parameters["dtype"]).name)
        if isinstance(parameters["stop_words"], set | frozenset | tuple | np.ndarray):
            parameters["stop_words"] = sorted(parameters["stop_words"])
        code = [name for name, value in parameters.items() if callable(value)]
        reason = f"its {code[0]} is a function" if code else _vectorizer_fault(parameters)
        if not reason:
            return {name: _python_number(value) for name, value in parameters.items()}
    warn_user(
        f"the vectorizer is not saved with the model, because {reason}; to use the model with new texts, load it with "
        "RelationalTopicModel.load(path, vectorizer=...).",
        NetworkWarning,
    )
    return None


def _vectorizer_fault(parameters: Mapping[str, Any]) -> str:
    """Return the fault of a vectorizer that a file describes; an empty string, if it only counts words."""
    if parameters["input"] != "content":
        return f"it reads files (input={format_value(parameters['input'])})"
    code = [name for name in ("preprocessor", "tokenizer", "vocabulary") if parameters[name] is not None]
    if code or parameters["analyzer"] not in ("word", "char", "char_wb"):
        return f"its {(code or ['analyzer'])[0]} is not one of scikit-learn's own"
    longest = parameters["ngram_range"][-1]
    if not (isinstance(longest, Integral) and longest <= MAX_NGRAM):
        return f"it counts sequences of {format_value(longest)} words"
    if parameters["dtype"] not in {
        np.dtype(kind).name for kind in np.typecodes["AllInteger"] + np.typecodes["AllFloat"]
    }:
        return f"it counts in {format_value(parameters['dtype'])}"
    words = parameters["stop_words"]
    if not (words in (None, "english") or (isinstance(words, list) and all(isinstance(word, str) for word in words))):
        return "its stop words are not words"
    try:
        pattern = parameters["token_pattern"]
        slow = pattern is not None and is_slow_pattern(pattern)
    except (re.error, TypeError, OverflowError, RecursionError):
        return "its token_pattern is not a regular expression"
    return f"its token_pattern ({format_value(pattern)}) may take very long" if slow else ""


def restore_vectorizer(parameters: dict[str, Any] | None, vocabulary: NDArray | None) -> Any:
    """Return the CountVectorizer of these parameters that counts these words."""
    from sklearn.feature_extraction.text import CountVectorizer

    if parameters is None or vocabulary is None:
        return None
    unknown = sorted(set(parameters) - set(CountVectorizer().get_params()))
    if unknown:
        raise ModelError(
            "the model's vectorizer has parameters that this version of scikit-learn does not know: "
            f"{', '.join(map(format_value, unknown))}; install the version that model.json names."
        )
    fault = _vectorizer_fault(parameters)
    if fault:
        raise ModelError(
            f"the model's vectorizer cannot be restored from its file, because {fault}; load the model with "
            "RelationalTopicModel.load(path, vectorizer=...)."
        )
    given = {**parameters, "dtype": np.dtype(parameters["dtype"]).type, "ngram_range": tuple(parameters["ngram_range"])}
    vectorizer = CountVectorizer(**given)
    vectorizer._validate_params()
    vectorizer.vocabulary_ = {word: number for number, word in enumerate(vocabulary.tolist())}
    vectorizer.fixed_vocabulary_ = False
    return vectorizer
