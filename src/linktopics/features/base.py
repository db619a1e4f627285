"""Base classes of pair features, and the set of features of a fitted model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from linktopics.errors import DataError
from linktopics.network import DocumentNetwork
from linktopics.network.inputs import Documents
from linktopics.network.pairs import Direction, TrainingPairs
from linktopics.registry import FEATURE_KINDS, FEATURES
from linktopics.sampler import Settings
from linktopics.utils.progress import ProgressBar

Array = NDArray[np.float64]
Indices = NDArray[np.integer]
Mask = NDArray[np.bool_]

STANDARDISATION_FIELDS = ("constant", "mean", "scale", "link_mean")
"""Fields of a `FeatureSet` that are saved, with one value per column."""

PAIRS_AT_ONCE = 2**17
"""Training pairs whose values are computed at once: intermediate results take several times their memory."""


class PairFeature(ABC):
    """A value, or several, of a pair of documents besides their topics.

    A pair has a *new* document, of which no links are known, and a *candidate*, a training document with its links.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """What the feature is called in tables."""

    @abstractmethod
    def fit(self, network: DocumentNetwork, settings: Settings, seed: np.random.SeedSequence) -> FittedFeature:
        """Return the feature fitted to the training documents."""

    def restore(self, network: DocumentNetwork, settings: Settings, arrays: Mapping[str, NDArray]) -> FittedFeature:
        """Return the feature as it was fitted to these documents, from its saved `arrays`.

        The rest is computed again from the documents.
        """
        return self.fit(network, settings, np.random.SeedSequence(0))

    def check_arrays(self, network: DocumentNetwork, settings: Settings, arrays: Mapping[str, NDArray]) -> None:
        """Raise ValueError if arrays from a file, which may be untrusted, cannot be used by `restore`."""
        return

    def to_json(self) -> tuple[Any, dict[str, NDArray]]:
        """Return what is saved of the feature: JSON and arrays.

        This is its name, if it is registered, or else the fields of a dataclass of a registered kind.
        """
        kind = type(self).__name__
        if FEATURES.get(self.name) == self:
            return self.name, {}
        if FEATURE_KINDS.get(kind) is not type(self) or not is_dataclass(self):
            raise DataError(
                f"the pair feature {self.name!r} is of the class {kind}, which is not registered and so cannot be "
                "saved; register it with linktopics.features.register_feature, or use a PairMatrix, or a PairFunction, "
                "which must be passed to load()."
            )
        return {"kind": kind, **{field.name: getattr(self, field.name) for field in fields(self)}}, {}

    @classmethod
    def from_json(
        cls, fields: Mapping[str, Any], arrays: Mapping[str, NDArray], functions: Mapping[str, Callable[..., Any]]
    ) -> PairFeature:
        """Return the feature with the `fields` that `to_json` returned; `functions` are the user's, by name."""
        return cls(**fields)


Registered = TypeVar("Registered", bound=PairFeature | type[PairFeature])


def register_feature(feature: Registered) -> Registered:
    """Return a feature, or a class of features, after registering it by its name.

    Names can be given in `pair_features` and on the command line. Both can be saved.
    """
    if isinstance(feature, type):
        FEATURE_KINDS.add(feature.__name__, feature, feature.__module__)
    else:
        FEATURES.add(feature.name, feature, type(feature).__module__)
    return feature


class Detail(NamedTuple):
    """An explanation of the values of a pair: a phrase, and the words of the vocabulary that are listed after it.

    Examples
    --------
    >>> Detail("shared words", [2, 0]).text(["cat", "lion", "star"])
    'shared words: star, cat'
    """

    phrase: str = ""
    words: Sequence[int] = ()

    def text(self, vocabulary: Sequence[Any] | NDArray | None) -> str:
        """Return the phrase with the words by their names, or by their numbers if they have none."""
        if not len(self.words):
            return self.phrase
        names = (str(word) if vocabulary is None else str(vocabulary[word]) for word in self.words)
        return f"{self.phrase}: {', '.join(names)}"


class FittedFeature(ABC):
    """A feature fitted to the training documents: values for pairs, and phrases that explain them.

    Attributes
    ----------
    name : str
        The name of the feature.
    columns : tuple of str
        Names of its values; there may be several.
    centred : bool
        Whether values are put in units of standard deviations from the mean of the training pairs; only an intercept
        is not.
    symmetric : bool
        Whether values are the same in both directions.
    of_candidate : bool
        Whether values are the same for all new documents.
    """

    name: str
    columns: tuple[str, ...]
    centred: bool = True
    symmetric: bool = False
    of_candidate: bool = False

    def arrays(self) -> dict[str, NDArray]:
        """Return what was learned and cannot be computed again from the documents alone, or not quickly."""
        return {}

    def share_cache(self, others: Sequence[FittedFeature]) -> None:
        """Share cached arrays with other features of the same documents, so that they are stored once."""
        return

    def clear_cache(self) -> None:
        """Drop cached arrays; they are computed again when needed."""
        return

    @abstractmethod
    def prepare(self, documents: Documents) -> Any:
        """Return what is needed of new documents, computed once for all their pairs."""

    @abstractmethod
    def pairs(self, new: Any, rows: Indices, candidates: Indices, outgoing: Mask) -> Array:
        """Return the values of pairs, pairs x columns; NaN stands for "not known" and "does not apply".

        Parameters
        ----------
        new : object
            What `prepare` returned.
        rows : ndarray of int
            The new document of each pair.
        candidates : ndarray of int
            The training document of each pair.
        outgoing : ndarray of bool
            Whether the link would go from the new document to the candidate.
        """

    def known_pairs(self, view: TrainingView) -> Array:
        """Return the values of training pairs, links between the two documents left out of all counts."""
        return self.pairs(view.prepared(self), view.new, view.candidates, view.outgoing)

    def block(self, new: Any, rows: slice, candidates: Indices, outgoing: bool) -> Array:
        """Return the values of some new documents with all of some candidates, documents x candidates x columns."""
        which = np.arange(rows.start, rows.stop)
        n, m = len(which), len(candidates)
        values = self.pairs(new, np.repeat(which, m), np.tile(candidates, n), np.full(n * m, outgoing))
        return values.reshape(n, m, len(self.columns))

    def embedding(
        self, n_dimensions: int, documents: Indices, seed: int
    ) -> tuple[NDArray[np.float32], Callable[[Any], Array]] | None:
        """Return vectors whose inner products are nearly the values of pairs; None if there are none.

        Parameters
        ----------
        n_dimensions : int
            Largest number of dimensions.
        documents : ndarray of int
            Training documents from which the projection is learned.
        seed : int
            Seed of random numbers.

        Returns
        -------
        candidates : ndarray of float32, shape (n_candidates, n_dimensions)
            Vectors of the training documents.
        project : callable
            Turns rows of what `prepare` returned into vectors.
        """
        return None

    def known(self, documents: Indices) -> Any:
        """Return what `prepare` would return for training documents; only where there is an `embedding`."""
        raise NotImplementedError

    def proposals(self, new: Any, rows: slice, size: int) -> list[NDArray[np.int64]] | None:
        """Return up to `size` candidates with high values for each new document; None if it cannot propose any."""
        return None

    def detail(self, new: Any, row: int, candidate: int, outgoing: bool) -> Detail:
        """Return the explanation of the values of a pair."""
        return Detail()

    def known_detail(self, view: TrainingView) -> Detail:
        """Return the explanation of the one pair of a view, ignoring links between the two documents."""
        return self.detail(view.prepared(self), int(view.new[0]), int(view.candidates[0]), bool(view.outgoing[0]))


@dataclass(frozen=True)
class TrainingView:
    """Training pairs as in prediction: one document is new, the other a candidate with its links.

    Which is which is drawn at random for each pair.
    """

    network: DocumentNetwork
    new: Indices
    candidates: Indices
    outgoing: Mask
    _prepared: dict[int, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, network: DocumentNetwork, pairs: TrainingPairs, rng: np.random.Generator) -> TrainingView:
        """Return a view in which the new document of each pair is drawn at random."""
        outgoing = rng.random(len(pairs)) < 0.5
        source, target = pairs.source, pairs.target
        return cls(network, np.where(outgoing, source, target), np.where(outgoing, target, source), outgoing)

    def parts(self) -> Iterator[tuple[Any, TrainingView]]:
        """Yield batches of pairs, as their indices and a view of them, ordered by candidate.

        What is computed for a candidate then serves all its pairs.
        """
        if len(self.new) <= PAIRS_AT_ONCE:
            yield slice(None), self
            return
        order = np.argsort(self.candidates, kind="stable")
        for first in range(0, len(order), PAIRS_AT_ONCE):
            which = order[first : first + PAIRS_AT_ONCE]
            new, candidates, outgoing = self.new[which], self.candidates[which], self.outgoing[which]
            yield which, replace(self, new=new, candidates=candidates, outgoing=outgoing)

    def prepared(self, feature: FittedFeature) -> Any:
        """Return what a feature needs of the training documents when they are treated as new."""
        if id(feature) not in self._prepared:
            self._prepared[id(feature)] = feature.prepare(Documents.of(self.network))
        return self._prepared[id(feature)]


@dataclass
class FeatureSet:
    """The features of a fitted model, standardised with the training pairs.

    Attributes
    ----------
    columns : list of str
        Names of all values, in order.
    constant : ndarray of shape (n_columns,)
        1 for values that are the same for all pairs, an intercept; 0 for others.
    mean, scale : ndarray of shape (n_columns,)
        Moments of the values of training pairs.
    link_mean : ndarray of shape (n_columns,)
        Standardised values of the average training link.
    source : list of FittedFeature, or function that returns it
        The features, or a way to get them when they are first needed.
    """

    columns: list[str]
    constant: Array
    mean: Array
    scale: Array
    link_mean: Array
    source: list[FittedFeature] | Callable[[], list[FittedFeature]]

    @classmethod
    def of(cls, features: list[FittedFeature]) -> FeatureSet:
        """Return a set of features whose mean and scale are not known yet."""
        columns = [column for feature in features for column in feature.columns]
        constant = np.array([float(not feature.centred) for feature in features for _ in feature.columns])
        n = len(columns)
        return cls(columns, constant, np.zeros(n), np.ones(n), np.zeros(n), features)

    @property
    def features(self) -> list[FittedFeature]:
        """The features."""
        if callable(self.source):
            self.source = self.source()
        return self.source

    def to_json(self) -> dict[str, Any]:
        """Return all but the features themselves."""
        return {"columns": self.columns, **{name: getattr(self, name).tolist() for name in STANDARDISATION_FIELDS}}

    @classmethod
    def from_json(cls, values: dict[str, Any], source: Callable[[], list[FittedFeature]]) -> FeatureSet:
        """Return what `to_json` described, with a way to get the features."""
        units = {name: np.array(values[name], dtype=float) for name in STANDARDISATION_FIELDS}
        return cls(values["columns"], **units, source=source)

    @property
    def spans(self) -> list[slice]:
        """The columns of each feature."""
        ends = np.cumsum([0] + [len(feature.columns) for feature in self.features]).tolist()
        return [slice(a, b) for a, b in pairwise(ends)]

    def prepare(self, documents: Documents) -> list[Any]:
        """Return what all features need of new documents."""
        return [feature.prepare(documents) for feature in self.features]

    def block(self, new: list[Any], rows: slice, candidates: Indices, outgoing: bool) -> Array:
        """Return the standardised values of some new documents with some candidates."""
        result = np.empty((rows.stop - rows.start, len(candidates), len(self.mean)))
        for feature, prepared, span in zip(self.features, new, self.spans, strict=True):
            result[:, :, span] = _finite(feature, feature.block(prepared, rows, candidates, outgoing))
        return standardise(result, self.mean, self.scale)

    def by_column(
        self, new: list[Any], rows: slice, candidates: Indices, outgoing: bool, which: Sequence[int]
    ) -> dict[int, Array]:
        """Return the standardised values of some of the features, by column: documents x candidates."""
        result = {}
        for k in which:
            feature, span = self.features[k], self.spans[k]
            values = _finite(feature, feature.block(new[k], rows, candidates, outgoing))
            for column in range(span.start, span.stop):
                own = np.array(values[:, :, column - span.start], order="C")
                result[column] = standardise(own, self.mean[column], self.scale[column])
        return result

    def pairs(
        self, new: list[Any], rows: Indices, candidates: Indices, directions: Sequence[Direction]
    ) -> dict[Direction, Array]:
        """Return the standardised values of pairs of new documents and candidates for each direction."""
        result = {direction: np.empty((len(rows), len(self.mean))) for direction in directions}
        for feature, prepared, span in zip(self.features, new, self.spans, strict=True):
            for direction in directions:
                if direction == directions[0] or not feature.symmetric:
                    outgoing = np.full(len(rows), direction == "out")
                    values = _finite(feature, feature.pairs(prepared, rows, candidates, outgoing))
                result[direction][:, span] = values
        return {direction: standardise(values, self.mean, self.scale) for direction, values in result.items()}

    def known_pairs(self, view: TrainingView) -> Array:
        """Return the standardised values of pairs of training documents as if they had no links, pairs x columns."""
        values = np.empty((len(view.new), len(self.mean)))
        for feature, span in zip(self.features, self.spans, strict=True):
            for which, part in view.parts():
                values[which, span] = _finite(feature, feature.known_pairs(part))
        return standardise(values, self.mean, self.scale)


def standardise(values: Array, mean: Any, scale: Any) -> Array:
    """Return values in units of standard deviations, converted in place; missing ones become the mean."""
    values -= mean
    values /= scale
    np.nan_to_num(values, copy=False, nan=0.0)
    return values


def fit_features(
    features: Sequence[PairFeature],
    network: DocumentNetwork,
    pairs: TrainingPairs,
    settings: Settings,
    seed: np.random.SeedSequence,
    verbose: bool | str = False,
) -> tuple[FeatureSet, Array]:
    """Return fitted features, and the standardised values of the training pairs in column-major order.

    The caches of the features are cleared afterwards, because chains need the memory.
    """
    if not features:  # no view of pairs is needed
        return FeatureSet.of([]), np.empty((len(pairs), 0))
    for_view, *for_features = seed.spawn(1 + len(features))
    view = TrainingView.of(network, pairs, np.random.default_rng(for_view))
    with ProgressBar(len(features), verbose, "features of pairs", "features of pairs") as progress:
        fitted = with_shared_caches(
            feature.fit(network, settings, its_seed) for feature, its_seed in zip(features, for_features, strict=True)
        )
        found = FeatureSet.of(fitted)
        values = np.empty((len(pairs), len(found.mean)), order="F")
        for feature, span in zip(fitted, found.spans, strict=True):
            for which, part in view.parts():
                values[which, span] = _finite(feature, feature.known_pairs(part))
            progress.advance(feature.name)
    for feature, span in zip(fitted, found.spans, strict=True):
        feature.clear_cache()
        if feature.centred:
            found.mean[span], found.scale[span] = _moments(np.array(values[:, span], order="C"))
    for column in range(values.shape[1]):
        standardise(values[:, column], found.mean[column], found.scale[column])
    if pairs.label.any():
        linked = np.empty((np.count_nonzero(pairs.label), values.shape[1]))
        for column in range(values.shape[1]):
            linked[:, column] = values[pairs.label, column]
        found.link_mean[:] = linked.mean(axis=0)
    return found, values


def with_shared_caches(features: Iterable[FittedFeature]) -> list[FittedFeature]:
    """Return features of the same documents, after each has shared caches with those before it."""
    found: list[FittedFeature] = []
    for feature in features:
        feature.share_cache(found)
        found.append(feature)
    return found


def _finite(feature: FittedFeature, values: Array) -> Array:
    if np.isinf(values).any():
        raise DataError(f"the pair feature {feature.name!r} is infinite for some pairs; give it finite values, or NaN.")
    return values


def _moments(values: Array) -> tuple[Array, Array]:
    """Return means and standard deviations of the known values; a column that does not vary has the scale 1.

    The values are overwritten.
    """
    unknown = np.isnan(values)
    n = np.maximum(len(values) - unknown.sum(axis=0), 1)
    values[unknown] = 0.0
    mean = values.sum(axis=0) / n
    values -= mean
    values[unknown] = 0.0
    values *= values
    deviation = np.sqrt(values.sum(axis=0) / n)
    return mean, np.where(deviation > 1e-12 * np.maximum(np.abs(mean), 1e-300), deviation, 1.0)
