"""Parameters, features of pairs and vectorizers as JSON and arrays, and back."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from linktopics._checks import as_list, user_stacklevel
from linktopics.errors import DataError, ModelError, NetworkWarning
from linktopics.features import (
    BUILT_IN,
    Column,
    PairFeature,
    PairFunction,
    PairMatrix,
    Similarity,
    resolve_features,
)
from linktopics.posterior import MAX_JOBS
from linktopics.storage.checking import shown
from linktopics.storage.columns import pack, unpack
from linktopics.storage.patterns import may_take_for_ever

__all__ = [
    "parameters_to_json",
    "restore_parameters",
    "restore_vectorizer",
    "vectorizer_to_json",
]

MAX_NGRAM = 100
"""Words, or letters, of the longest sequences that a vectorizer from a file may count."""

Functions = Mapping[str, Callable[..., Any]]


def parameters_to_json(parameters: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, NDArray]]:
    """Return the parameters of a model as JSON can hold them, and the arrays they hold."""
    values, arrays = dict(parameters), {}
    if isinstance(values["pair_features"], list | tuple):
        described = []
        for number, feature in enumerate(values["pair_features"]):
            one, its_arrays = _feature_to_json(feature, f"feature {number}")
            described.append(one)
            arrays.update(its_arrays)
        values["pair_features"] = described
    if values["seed_words"] is not None:
        words = values["seed_words"]
        by_topic = words if isinstance(words, Mapping) else dict(enumerate(words))
        values["seed_words"] = [[int(topic), [_number(word) for word in listed]] for topic, listed in by_topic.items()]
    if not isinstance(values["random_state"], Integral):
        values["random_state"] = None  # of a generator nothing is left; the run keeps its own seeds
    return {name: _number(value) for name, value in values.items()}, arrays


def restore_parameters(
    values: Mapping[str, Any], arrays: dict[str, NDArray], functions: Functions | None
) -> dict[str, Any]:
    """Return the parameters of a model; functions of pairs, which no file holds, are taken from `functions`."""
    result = dict(values)
    if isinstance(result["pair_features"], list):
        result["pair_features"] = [_restore_feature(one, arrays, functions or {}) for one in result["pair_features"]]
    resolve_features(result["pair_features"], result["intercept"])  # which refuses what it does not know
    if result["seed_words"] is not None:
        result["seed_words"] = {int(topic): list(words) for topic, words in result["seed_words"]}
    jobs = result.get("n_jobs")
    if jobs is not None and not (type(jobs) is int and 1 <= abs(jobs) <= MAX_JOBS):
        raise ValueError(f"n_jobs is {shown(jobs)}")
    return result


def _number(value: Any) -> Any:
    """Turn NumPy's numbers into Python's."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, Real) else value


def _feature_to_json(feature: Any, name: str) -> tuple[Any, dict[str, NDArray]]:
    if isinstance(feature, str):
        return feature, {}
    if isinstance(feature, Column):
        return {"kind": "Column", "column": feature.column, "compare": feature.compare}, {}
    if isinstance(feature, PairFunction):
        return {"kind": "PairFunction", "name": feature.name}, {}
    if isinstance(feature, PairMatrix):
        matrix = csr_array(feature.matrix, dtype=np.float64)
        arrays = {f"{name}/values": matrix.data, f"{name}/columns": matrix.indices, f"{name}/starts": matrix.indptr}
        arrays.update(pack(np.fromiter(as_list(feature.ids), dtype=object), f"{name}/ids"))
        return {"kind": "PairMatrix", "name": feature.name, "arrays": name}, arrays
    if isinstance(feature, Similarity) or feature in BUILT_IN.values():
        return feature.name, {}
    raise DataError(
        f"the pair feature {getattr(feature, 'name', feature)!r} is of a kind of its own ({type(feature).__name__}), "
        "which a model on disk cannot hold; use a PairFunction, which load() takes again, or a PairMatrix."
    )


def _restore_feature(described: Any, arrays: dict[str, NDArray], functions: Functions) -> Any:
    if isinstance(described, str):
        return _similarity(described)
    if not all(isinstance(value, str) for value in described.values()):
        raise TypeError("a pair feature is not described by strings")
    if described["kind"] == "Column":
        return Column(described["column"], described["compare"])
    name = described["name"]
    if described["kind"] == "PairFunction":
        return PairFunction(functions.get(name, _Missing(name)), name)
    at = described["arrays"]
    ids = unpack(arrays, f"{at}/ids")
    if ids is None:
        raise KeyError(f"{at}/ids")
    parts = (arrays[f"{at}/values"], arrays[f"{at}/columns"], arrays[f"{at}/starts"])
    if (
        {part.ndim for part in parts} != {1}
        or parts[0].dtype != np.float64
        or {p.dtype.kind for p in parts[1:]} != {"i"}
    ):
        raise ValueError(f"{at} is no sparse matrix")
    matrix = csr_array(parts, shape=(len(ids), len(ids)))
    matrix.check_format(full_check=True)
    return PairMatrix(matrix, ids.tolist(), name)


def _similarity(name: str) -> str | PairFeature:
    """Return a built-in name, or the similarity that has a name but is not among them."""
    if name in BUILT_IN:
        return name
    of, _, part = name.partition("-")
    return Similarity(of, part or "own")


class _Missing:
    """Stands for a function that has to be brought again."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *_: Any) -> Any:
        raise DataError(
            f"the pair feature {self.name!r} is a function, which no file holds; load the model with "
            f"RelationalTopicModel.load(path, functions={{{self.name!r}: function}})."
        )


# --------------------------------------------------------------------------------------------------------------------
# Vectorizers
# --------------------------------------------------------------------------------------------------------------------


def vectorizer_to_json(vectorizer: Any) -> dict[str, Any] | None:
    """Return a CountVectorizer's parameters; None, with a warning, for one that only Python code describes."""
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
        reason = f"its {code[0]} is a function" if code else _refused(parameters)
        if not reason:
            return {name: _number(value) for name, value in parameters.items()}
    warnings.warn(
        f"the vectorizer is not saved with the model, because {reason}; to ask the model about new texts, load it with "
        "RelationalTopicModel.load(path, vectorizer=...).",
        NetworkWarning,
        stacklevel=user_stacklevel(),
    )
    return None


def _refused(parameters: Mapping[str, Any]) -> str:
    """Say what is wrong with a vectorizer that a file describes; nothing, if it does no more than count words."""
    if parameters["input"] != "content":
        return f"it reads files (input={shown(parameters['input'])})"
    code = [name for name in ("preprocessor", "tokenizer", "vocabulary") if parameters[name] is not None]
    if code or parameters["analyzer"] not in ("word", "char", "char_wb"):
        return f"its {(code or ['analyzer'])[0]} is not one of scikit-learn's own"
    longest = parameters["ngram_range"][-1]
    if not (isinstance(longest, Integral) and longest <= MAX_NGRAM):
        return f"it counts sequences of {shown(longest)} words"
    if parameters["dtype"] not in {
        np.dtype(kind).name for kind in np.typecodes["AllInteger"] + np.typecodes["AllFloat"]
    }:
        return f"it counts in {shown(parameters['dtype'])}"
    words = parameters["stop_words"]
    if not (words in (None, "english") or (isinstance(words, list) and all(isinstance(word, str) for word in words))):
        return "its stop words are not words"
    try:
        pattern = parameters["token_pattern"]
        slow = pattern is not None and may_take_for_ever(pattern)
    except (re.error, TypeError, OverflowError, RecursionError):
        return "its token_pattern is no regular expression"
    return f"its token_pattern ({shown(pattern)}) may take for ever" if slow else ""


def restore_vectorizer(parameters: dict[str, Any] | None, vocabulary: NDArray | None) -> Any:
    """Return the CountVectorizer of these parameters that counts these words."""
    from sklearn.feature_extraction.text import CountVectorizer

    if parameters is None or vocabulary is None:
        return None
    known = CountVectorizer().get_params()
    if not set(parameters) <= set(known):
        raise ModelError(
            "the model's vectorizer has parameters that this version of scikit-learn does not know: "
            f"{', '.join(map(shown, sorted(set(parameters) - set(known))))}; install the version that model.json names."
        )
    refused = _refused(parameters)
    if refused:
        raise ModelError(
            f"the model's vectorizer cannot be taken from a file, because {refused}; load the model with "
            "RelationalTopicModel.load(path, vectorizer=...)."
        )
    given = {**parameters, "dtype": np.dtype(parameters["dtype"]).type, "ngram_range": tuple(parameters["ngram_range"])}
    vectorizer = CountVectorizer(**given)
    vectorizer._validate_params()
    vectorizer.vocabulary_ = {word: number for number, word in enumerate(vocabulary.tolist())}
    vectorizer.fixed_vocabulary_ = False
    return vectorizer
