"""User-defined features: columns of documents, matrices and functions over pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from linktopics.errors import DataError
from linktopics.features.base import Array, Detail, FittedFeature, Indices, Mask, PairFeature, register_feature
from linktopics.network import DocumentNetwork
from linktopics.network.inputs import Documents
from linktopics.network.validation import as_list, check_sparse, check_unique, is_missing
from linktopics.sampler import Settings

MEMBERS_ADVICE = "give each document a plain list of strings or numbers"

N_SHOWN_VALUES = 3
"""Shared values named in a reason."""


# --------------------------------------------------------------------------------------------------------------------
# Columns
# --------------------------------------------------------------------------------------------------------------------


@register_feature
@dataclass(frozen=True)
class Column(PairFeature):
    """A column of the network, compared between the two documents of a pair.

    Documents in which it is missing (None, NaN) are treated as average. New documents need the column too: make them
    with `DocumentNetwork.new_documents`.

    Parameters
    ----------
    column : str
        Its name in ``network.columns``.
    compare : {"equal", "difference", "overlap"}
        Whether the two values are the same (a venue); how far apart they are and, where links have a direction, by how
        much the source's is larger (a year); or the cosine of two sets (authors: each value a list of them).

    Examples
    --------
    >>> from linktopics import DocumentNetwork, RelationalTopicModel
    >>> from linktopics.features import Column
    >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
    >>> years = {"year": [1990, 1994, 1991, 1996]}
    >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")], columns=years)
    >>> features = ["tfidf", Column("year", "difference")]
    >>> model = RelationalTopicModel(2, pair_features=features, negatives=2, n_burn_in=50)
    >>> model.fit(network).feature_names_
    ['tfidf', 'distance in year', 'year of source - target']
    """

    column: str
    compare: str = "equal"

    @property
    def name(self) -> str:
        """The column's name, and how it is compared."""
        return f"{self.column} ({self.compare})"

    def fit(self, network: DocumentNetwork, settings: Settings, seed: np.random.SeedSequence) -> FittedFeature:
        """Return the feature with the column of the training documents."""
        kinds: dict[str, type[_FittedColumn]] = {"equal": _Equal, "difference": _Difference, "overlap": _Overlap}
        if self.compare not in kinds:
            raise ValueError(f"compare is {self.compare!r}; it must be {', '.join(map(repr, kinds))}.")
        return kinds[self.compare](self.name, self.column, network)


class _FittedColumn(FittedFeature):
    """Base of the three comparisons, which finds the column."""

    def __init__(self, name: str, column: str, network: DocumentNetwork) -> None:
        self.name, self.column, self.directed = name, column, network.directed
        values = self.read(Documents.of(network), "the network")
        self.learn(values)
        self.candidates = self.encode(values)

    def learn(self, values: NDArray) -> None:
        """Learn from the values of the training documents."""
        raise NotImplementedError

    def encode(self, values: NDArray) -> Any:
        """Return values as they are compared."""
        raise NotImplementedError

    def prepare(self, documents: Documents) -> Any:
        return self.encode(self.read(documents))

    def read(self, documents: Documents, what: str = "new documents") -> NDArray:
        """Return the values of the column."""
        if self.column not in documents.columns:
            there = ", ".join(map(repr, documents.columns)) or "none"
            raise DataError(
                f"the pair feature {self.name!r} needs the column {self.column!r}; the columns of {what} are: {there}. "
                "Pass columns= when making the network, and new documents as network.new_documents(texts, "
                "columns=...)."
            )
        return documents.columns[self.column]


class _Equal(_FittedColumn):
    def learn(self, values: NDArray) -> None:
        self.columns = (f"same {self.column}",)
        self.values = values
        distinct = dict.fromkeys(_hashable(value, self.column) for value in values if not is_missing(value))
        self.codes = {value: code for code, value in enumerate(distinct)}

    def encode(self, values: NDArray) -> Array:
        codes = [np.nan if is_missing(v) else self.codes.get(_hashable(v, self.column), -1) for v in values]
        return np.array(codes, dtype=float)

    def pairs(self, new: Any, rows: Indices, candidates: Indices, outgoing: Mask) -> Array:
        a, b = new[rows], self.candidates[candidates]
        return np.where(np.isnan(a) | np.isnan(b), np.nan, a == b)[:, None]

    def detail(self, new: Any, row: int, candidate: int, outgoing: bool) -> Detail:
        a, b = new[row], self.candidates[candidate]
        if np.isnan(a) or np.isnan(b):
            return Detail(f"{self.column} not known")
        return Detail(f"same {self.column}: {self.values[candidate]}" if a == b else f"different {self.column}")


class _Difference(_FittedColumn):
    def learn(self, values: NDArray) -> None:
        self.columns = (f"distance in {self.column}",)
        if self.directed:
            self.columns += (f"{self.column} of source - target",)

    def encode(self, values: NDArray) -> Array:
        """Return the values as numbers, NaN where they are missing; raise for a value that is not a finite number."""
        listed = [np.nan if is_missing(value) else value for value in as_list(values)]
        for number, value in enumerate(listed):
            if isinstance(value, bool) or not isinstance(value, Real) or np.isinf(float(value)):
                raise DataError(
                    f"the column {self.column!r} holds {value!r} (document number {number}), which is not a finite "
                    'number; compare such a column by "equal" or "overlap".'
                )
        return np.array(listed, dtype=float)

    def pairs(self, new: Any, rows: Indices, candidates: Indices, outgoing: Mask) -> Array:
        difference = new[rows] - self.candidates[candidates]
        signed = [np.where(outgoing, difference, -difference)] if self.directed else []
        return np.column_stack([np.abs(difference), *signed])

    def detail(self, new: Any, row: int, candidate: int, outgoing: bool) -> Detail:
        a, b = new[row], self.candidates[candidate]
        known = not (np.isnan(a) or np.isnan(b))
        return Detail(f"{self.column}: {a:g} and {b:g}" if known else f"{self.column} not known")


class _Overlap(_FittedColumn):
    def learn(self, values: NDArray) -> None:
        self.columns = (f"shared {self.column}",)
        listed = (member for value in values for member in self.members(value) or ())
        self.values = list(dict.fromkeys(_hashable(member, self.column, MEMBERS_ADVICE) for member in listed))
        self.codes = {member: code for code, member in enumerate(self.values)}

    def members(self, value: Any) -> list[Any] | None:
        """Return the members of a value; a string is one member."""
        if is_missing(value):
            return None
        listed = [value] if isinstance(value, str) or not isinstance(value, Iterable) else list(value)
        if isinstance(value, set | frozenset):
            listed.sort(key=repr)  # the order of sets differs from run to run
        return [member for member in listed if not is_missing(member)]

    def encode(self, values: NDArray) -> tuple[csr_array, NDArray[np.bool_]]:
        """Return unit vectors over the members that training documents have, and which values are known."""
        listed = [self.members(value) for value in values]
        rows, columns, weights = [], [], []
        for row, members in enumerate(listed):
            distinct = {_hashable(member, self.column, MEMBERS_ADVICE) for member in members or ()}
            for member in distinct & self.codes.keys():
                rows.append(row)
                columns.append(self.codes[member])
                weights.append(len(distinct) ** -0.5)
        matrix = csr_array((np.array(weights, float), (rows, columns)), shape=(len(listed), max(len(self.codes), 1)))
        matrix.sort_indices()
        return matrix, np.array([members is not None for members in listed])

    def pairs(self, new: Any, rows: Indices, candidates: Indices, outgoing: Mask) -> Array:
        (a, a_known), (b, b_known) = new, self.candidates
        values = np.asarray(a[rows].multiply(b[candidates]).sum(axis=1)).ravel()
        return np.where(a_known[rows] & b_known[candidates], values, np.nan)[:, None]

    def block(self, new: Any, rows: slice, candidates: Indices, outgoing: bool) -> Array:
        (a, a_known), (b, b_known) = new, self.candidates
        values = (a[rows] @ b[candidates].T).toarray()
        return np.where(a_known[rows, None] & b_known[None, candidates], values, np.nan)[:, :, None]

    def detail(self, new: Any, row: int, candidate: int, outgoing: bool) -> Detail:
        (a, a_known), (b, b_known) = new, self.candidates
        if not (a_known[row] and b_known[candidate]):
            return Detail(f"{self.column} not known")
        both = np.intersect1d(a[[row]].indices, b[[candidate]].indices)
        named = ", ".join(str(self.values[m]) for m in both[:N_SHOWN_VALUES])
        return Detail(f"shared {self.column}: {named}" if len(both) else f"no shared {self.column}")


def _hashable(value: Any, name: str, cure: str = 'compare lists by "overlap"') -> Any:
    try:
        hash(value)
    except TypeError:
        raise DataError(f"the column {name!r} holds {value!r}, which is not hashable; {cure}.") from None
    return value


# --------------------------------------------------------------------------------------------------------------------
# Pairs
# --------------------------------------------------------------------------------------------------------------------


@register_feature
@dataclass(frozen=True, eq=False)
class PairMatrix(PairFeature):
    """Values of pairs in a sparse matrix (rows: sources, columns: targets); entries that are not stored are 0.

    Parameters
    ----------
    matrix : sparse matrix or array of shape (n_ids, n_ids)
        The values.
    ids : sequence
        The ids of its rows and columns. They may name more documents than are fitted: new documents are found by their
        ids, and so need them (make them with `DocumentNetwork.new_documents`). A document that is not among them has
        zeros.
    name : str
        The name of the feature.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from linktopics import DocumentNetwork, RelationalTopicModel
    >>> from linktopics.features import PairMatrix
    >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
    >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
    >>> read_together = PairMatrix(csr_array(np.eye(5)[::-1]), ids=["a", "b", "new", "c", "d"], name="read together")
    >>> model = RelationalTopicModel(2, pair_features=[read_together], negatives=2, n_burn_in=50).fit(network)
    >>> model.predict_links(network.new_documents({"new": "cats shine"})).shape
    (1, 4)
    """

    matrix: Any
    ids: Any
    name: str = "matrix"

    def fit(self, network: DocumentNetwork, settings: Settings, seed: np.random.SeedSequence) -> FittedFeature:
        """Return the feature with the rows of the training documents in the matrix."""
        if isinstance(self.ids, str) or not isinstance(self.ids, Iterable):
            raise DataError(f"the pair feature {self.name!r} has the ids {self.ids!r}; pass a list, one for each row.")
        ids = np.fromiter(as_list(self.ids), dtype=object)
        check_unique(ids, f"the ids of the pair feature {self.name!r}", "give every document its own id")
        matrix = self.matrix if issparse(self.matrix) else np.asarray(self.matrix)
        if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
            raise DataError(
                f"the pair feature {self.name!r} is an array of {matrix.ndim} dimensions and type {matrix.dtype}; pass "
                "a sparse matrix or an array of numbers, a row and a column for each id."
            )
        if issparse(matrix):
            check_sparse(matrix, f"the pair feature {self.name!r}")
        matrix = csr_array(matrix.astype(np.float64))  # before repeated entries are added up
        if matrix.shape != (len(ids), len(ids)):
            raise DataError(
                f"the pair feature {self.name!r} is a matrix of {matrix.shape[0]:,} x {matrix.shape[1]:,} with "
                f"{len(ids):,} ids; it needs a row and a column for each id."
            )
        place = {id: number for number, id in enumerate(ids)}
        if not any(id in place for id in network.ids.tolist()):
            raise DataError(
                f"the ids of the pair feature {self.name!r} include no document of the network: they are like "
                f"{ids[0]!r}, the network's like {network.ids.tolist()[0]!r}."
            )
        return _FittedMatrix(self.name, matrix, place, network)

    def to_json(self) -> tuple[dict[str, Any], dict[str, NDArray]]:
        """Return the name, and the matrix and the ids as arrays."""
        matrix = csr_array(self.matrix, dtype=np.float64)
        arrays = {"values": matrix.data, "columns": matrix.indices, "starts": matrix.indptr}
        ids = np.fromiter(as_list(self.ids), dtype=object)
        return {"kind": "PairMatrix", "name": self.name}, {**arrays, "ids": ids}

    @classmethod
    def from_json(
        cls, fields: Mapping[str, Any], arrays: Mapping[str, NDArray], functions: Mapping[str, Callable[..., Any]]
    ) -> PairFeature:
        """Return the feature with its matrix, after checking that the arrays are consistent."""
        values, columns, starts, ids = (arrays[name] for name in ("values", "columns", "starts", "ids"))
        if not (
            {values.ndim, columns.ndim, starts.ndim} == {1}
            and values.dtype == np.float64
            and columns.dtype.kind == starts.dtype.kind == "i"
        ):
            raise ValueError(f"the arrays of {fields['name']} are not a sparse matrix")
        matrix = csr_array((values, columns, starts), shape=(len(ids), len(ids)))
        matrix.check_format(full_check=True)
        return cls(matrix, ids.tolist(), fields["name"])


class _FittedPairs(FittedFeature):
    """Base of matrices and functions: one value, which is its own explanation."""

    def __init__(self, name: str) -> None:
        self.name, self.columns = name, (name,)

    def detail(self, new: Any, row: int, candidate: int, outgoing: bool) -> Detail:
        value = self.pairs(new, np.array([row]), np.array([candidate]), np.array([outgoing]))[0, 0]
        return Detail(f"{self.name}: {value:g}")


class _FittedMatrix(_FittedPairs):
    def __init__(self, name: str, matrix: csr_array, place: Mapping[Any, int], network: DocumentNetwork) -> None:
        super().__init__(name)
        self.matrix, self.place, self.directed = matrix, place, network.directed
        self.candidates = self.prepare(Documents.of(network))

    def prepare(self, documents: Documents) -> NDArray[np.int64]:
        ids = documents.require_ids(self.name)
        return np.array([self.place.get(id, -1) for id in ids.tolist()], dtype=np.int64)

    def pairs(self, new: Any, rows: Indices, candidates: Indices, outgoing: Mask) -> Array:
        a, b = new[rows], self.candidates[candidates]
        there = (a >= 0) & (b >= 0)
        source, target = np.where(outgoing, a, b)[there], np.where(outgoing, b, a)[there]
        result = np.zeros(len(a))
        result[there] = self._entries(source, target)
        if not self.directed:  # the entry on either side of the diagonal, or the mean of both
            one, two = result[there], self._entries(target, source)
            result[there] = np.where(one == 0, two, np.where(two == 0, one, 0.5 * (one + two)))
        return result[:, None]

    def _entries(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Array:
        return np.asarray(self.matrix[rows, columns], dtype=float).ravel() if len(rows) else np.empty(0)


@register_feature
@dataclass(frozen=True)
class PairFunction(PairFeature):
    """A function over pairs.

    Parameters
    ----------
    function : callable
        Takes two arrays of ids of equal length, of sources and of targets, and returns an array of as many numbers; NaN
        for "not known". In an undirected network the order of the two is arbitrary.
    name : str
        The name of the feature.

    Examples
    --------
    >>> import numpy as np
    >>> from linktopics import DocumentNetwork, RelationalTopicModel
    >>> from linktopics.features import PairFunction
    >>> texts = {"cat/a": "cats purr", "cat/b": "cats sleep", "sky/c": "stars shine", "sky/d": "stars fall"}
    >>> network = DocumentNetwork.from_texts(texts, [("cat/b", "cat/a"), ("sky/d", "sky/c")])
    >>> def same_folder(sources, targets):
    ...     return np.array([s.split("/")[0] == t.split("/")[0] for s, t in zip(sources, targets)])
    >>> feature = PairFunction(same_folder, "same folder")
    >>> model = RelationalTopicModel(2, pair_features=[feature], negatives=2, n_burn_in=50, random_state=0).fit(network)
    >>> model.feature_names_
    ['same folder']
    """

    function: Callable[[NDArray, NDArray], Any]
    name: str = "function"

    def fit(self, network: DocumentNetwork, settings: Settings, seed: np.random.SeedSequence) -> FittedFeature:
        """Return the feature with the ids of the training documents."""
        if not callable(self.function):
            raise ValueError(f"function is {self.function!r}; pass a function of two arrays of ids.")
        return _FittedFunction(self.function, self.name, network.ids)

    def to_json(self) -> tuple[dict[str, Any], dict[str, NDArray]]:
        """Return the name; the function is not saved."""
        return {"kind": "PairFunction", "name": self.name}, {}

    @classmethod
    def from_json(
        cls, fields: Mapping[str, Any], arrays: Mapping[str, NDArray], functions: Mapping[str, Callable[..., Any]]
    ) -> PairFeature:
        """Return the feature with the function of this name, or with one that raises an error if there is none."""
        name = fields["name"]
        return cls(functions.get(name, partial(_refuse_missing, name)), name)


def _refuse_missing(name: str, *_: Any) -> Any:
    raise DataError(
        f"the pair feature {name!r} is a function, which is not saved; load the model with "
        f"RelationalTopicModel.load(path, functions={{{name!r}: function}})."
    )


class _FittedFunction(_FittedPairs):
    def __init__(self, function: Callable[[NDArray, NDArray], Any], name: str, ids: NDArray) -> None:
        super().__init__(name)
        self.function, self.ids = function, ids

    def prepare(self, documents: Documents) -> NDArray:
        return documents.require_ids(self.name)

    def pairs(self, new: Any, rows: Indices, candidates: Indices, outgoing: Mask) -> Array:
        a, b = new[rows], self.ids[candidates]
        values = np.asarray(self.function(np.where(outgoing, a, b), np.where(outgoing, b, a)))
        if values.shape != a.shape or values.dtype.kind not in "fiub":
            raise DataError(
                f"the pair feature {self.name!r} gave an array of shape {values.shape} and type {values.dtype}; it "
                f"must give a number for each of the {len(a)} pairs."
            )
        return values.astype(float)[:, None]
