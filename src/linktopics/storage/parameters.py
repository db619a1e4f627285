"""Parameters, features of pairs and vectorizers as JSON and arrays, and back."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from linktopics._checks import as_list, user_stacklevel
from linktopics.errors import DataError, ModelError, NetworkWarning
from linktopics.features import BUILT_IN, Column, PairFeature, PairFunction, PairMatrix, Similarity
from linktopics.storage.columns import pack, unpack

__all__ = [
    "parameters_to_json",
    "restore_parameters",
    "restore_vectorizer",
    "vectorizer_to_json",
]

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
    if result["seed_words"] is not None:
        result["seed_words"] = dict(map(tuple, result["seed_words"]))
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
        if not code:
            return {name: _number(value) for name, value in parameters.items()}
        reason = f"its {code[0]} is a function"
    warnings.warn(
        f"the vectorizer is not saved with the model, because {reason}; to ask the model about new texts, load it with "
        "RelationalTopicModel.load(path, vectorizer=...).",
        NetworkWarning,
        stacklevel=user_stacklevel(),
    )
    return None


def restore_vectorizer(parameters: dict[str, Any] | None, vocabulary: NDArray | None) -> Any:
    """Return the CountVectorizer of these parameters that counts these words."""
    from sklearn.feature_extraction.text import CountVectorizer

    if parameters is None or vocabulary is None:
        return None
    known = CountVectorizer().get_params()
    if not set(parameters) <= set(known):
        raise ModelError(
            "the model's vectorizer has parameters that this version of scikit-learn does not know: "
            f"{', '.join(sorted(set(parameters) - set(known)))}; install the version that model.json names."
        )
    given = {**parameters, "dtype": np.dtype(parameters["dtype"]).type, "ngram_range": tuple(parameters["ngram_range"])}
    vectorizer = CountVectorizer(**given)
    vectorizer.vocabulary_ = {word: number for number, word in enumerate(vocabulary.tolist())}
    vectorizer.fixed_vocabulary_ = False
    return vectorizer
