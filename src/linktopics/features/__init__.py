"""What else is known about a pair of documents: features beside the topics, in the same model.

`RelationalTopicModel` takes them as ``pair_features=[...]``, by name (`BUILT_IN`) or as objects of this module. The
score of a pair is then ``zbar_i @ U @ zbar_j + tau @ x_ij``, and tau is drawn together with U. A pair is always seen as
in use: one document is new, so that none of its links are known, and the other is a candidate with its links. Features
of a training pair leave out the links between the two.
"""

from __future__ import annotations

from typing import Any

from linktopics.features.base import FeatureSet, FittedFeature, PairFeature, fit_features, together
from linktopics.features.given import Column, PairFunction, PairMatrix
from linktopics.features.links import Degree, Intercept
from linktopics.features.similarity import Similarity

__all__ = [
    "BUILT_IN",
    "DEFAULT",
    "Column",
    "Degree",
    "FeatureSet",
    "FittedFeature",
    "Intercept",
    "PairFeature",
    "PairFunction",
    "PairMatrix",
    "Similarity",
    "fit_features",
    "resolve_features",
    "together",
]

BUILT_IN: dict[str, PairFeature] = {
    feature.name: feature
    for feature in (
        *(Similarity("tfidf", part) for part in ("own", "neighbours", "centroid")),
        Similarity("topics", "neighbours"),
        Degree(),
        Intercept(),
    )
}
"""Features that go by a name."""

DEFAULT = ("tfidf", "tfidf-centroid", "degree")
"""What ``pair_features="default"`` means."""


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
    names = DEFAULT if isinstance(given, str) else (given or ())
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
    if isinstance(one, str) and one in BUILT_IN:
        return BUILT_IN[one]
    raise ValueError(
        f"no pair feature is {one!r}; the names are {', '.join(map(repr, BUILT_IN))}, and linktopics.features has "
        "Column, PairMatrix and PairFunction for what you bring."
    )
