"""Pair features: values of a pair of documents besides topics, in the same model.

`RelationalTopicModel` takes them as ``pair_features=[...]``, by name (`FEATURES`) or as objects of this module. The
score of a pair is then ``zbar_i @ U @ zbar_j + tau @ x_ij``, and tau is drawn together with U. A pair is always
treated as in prediction: one document is new, without known links, and the other is a candidate with its links.
Features of a training pair leave out the links between the two.
"""

from __future__ import annotations

from typing import Any

from linktopics.features.base import (
    Detail,
    FeatureSet,
    FittedFeature,
    PairFeature,
    fit_features,
    register_feature,
    with_shared_caches,
)
from linktopics.features.degree import Degree, Intercept
from linktopics.features.similarity import Similarity
from linktopics.features.user import Column, PairFunction, PairMatrix
from linktopics.registry import FEATURES

__all__ = [
    "DEFAULT_FEATURES",
    "FEATURES",
    "Column",
    "Degree",
    "Detail",
    "FeatureSet",
    "FittedFeature",
    "Intercept",
    "PairFeature",
    "PairFunction",
    "PairMatrix",
    "Similarity",
    "fit_features",
    "register_feature",
    "resolve_features",
    "with_shared_caches",
]

DEFAULT_FEATURES = ("tfidf", "tfidf-centroid", "degree")
"""The features that ``pair_features="default"`` stands for."""


def resolve_features(given: Any, intercept: bool = False) -> list[PairFeature]:
    """Return the features that `pair_features` stands for.

    Parameters
    ----------
    given : "default", None, or list of str and PairFeature
        Names and features.
    intercept : bool, default=False
        Whether to add an intercept if there is none.
    """
    if isinstance(given, str) and given != "default":
        raise ValueError(f'pair_features is {given!r}; it must be "default", None or a list such as [{given!r}].')
    if not (given is None or isinstance(given, str | list | tuple)):
        raise ValueError(f'pair_features is {given!r}; it must be "default", None or a list of names and features.')
    names = DEFAULT_FEATURES if isinstance(given, str) else (given or ())
    features = [_feature(one) for one in names]
    if intercept and Intercept() not in features:
        features.append(Intercept())
    seen = [feature.name for feature in features]
    twice = [name for number, name in enumerate(seen) if name in seen[:number]]
    if twice:
        raise ValueError(f"pair_features holds {twice[0]!r} twice.")
    return features


def _feature(one: Any) -> PairFeature:
    if isinstance(one, PairFeature):
        return one
    if isinstance(one, str) and one in FEATURES:
        return FEATURES[one]
    raise ValueError(
        f"{one!r} is not a pair feature; the names are {', '.join(map(repr, FEATURES))}, and linktopics.features has "
        "Column, PairMatrix and PairFunction for your own data."
    )
