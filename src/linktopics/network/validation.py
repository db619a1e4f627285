"""Checks of the counts, ids, columns and links that users pass for a network; they are cleaned or refused."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from linktopics.errors import DataError

MAX_COUNT = np.iinfo(np.int32).max
N_EXAMPLES = 3
NUMERIC_KINDS = "biuf"
"""Kinds of NumPy types that counts and link matrices may have."""


def as_list(values: Iterable[Any]) -> list[Any]:
    """Return a list of plain Python objects, whatever holds them (list, array, pandas or polars column)."""
    for method in ("tolist", "to_list"):
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(values)


def list_values(values: Any, name: str, of: str) -> list[Any]:
    """Return the user's values as a list; raise if they are not a sequence."""
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__") or getattr(values, "ndim", 1) != 1:
        what = "a single string" if isinstance(values, str | bytes) else f"of type {type(values).__name__}"
        raise DataError(f"{name} is {what}; pass a list with {of}.")
    return as_list(values)


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN or one of pandas' missing values."""
    return (
        value is None
        or (isinstance(value, float | np.floating) and value != value)
        or type(value).__name__ in ("NAType", "NaTType")
    )


def as_column(values: Iterable[Any] | None, length: int, name: str, of: str = "documents") -> np.ndarray | None:
    """Return a 1-d array of `length` values: numbers stay numbers, all else is kept unchanged in an object array."""
    return None if values is None else _column(values, length, name, of)


def _column(values: Any, length: int, name: str, of: str = "documents") -> np.ndarray:
    """Return the array of `as_column`, of values that are not None."""
    listed = list_values(values, name, f"one entry for each of the {length:,} {of}")
    if len(listed) != length:
        raise DataError(
            f"{name} has {len(listed):,} entries for {length:,} {of}; pass one for each, in the same order."
        )
    kinds = {type(value) for value in listed}
    if kinds and (kinds <= {int, float} or kinds == {bool}):
        numbers = np.array(listed)
        # beside fractions, or beyond 64 bits, NumPy rounds large integers
        if numbers.dtype.kind in "iub" or int not in kinds or max(abs(x) for x in listed if type(x) is int) <= 2**53:
            return numbers
    return np.fromiter(listed, dtype=object, count=length)


def list_of_names(names: Iterable[str], what: str) -> list[str]:
    """Return a list of names; raise for a single string, which would be read letter by letter."""
    if isinstance(names, str) or not hasattr(names, "__iter__"):
        kind = "the single string " if isinstance(names, str) else ""
        raise DataError(f"{what} is {kind}{names!r}; pass a list of names.")
    return list(names)


def check_flag(value: Any, name: str) -> bool:
    """Return a flag; raise if it is not True or False: "no" would be taken as True."""
    if not isinstance(value, bool | np.bool_):
        raise DataError(f"{name} is {value!r}; it must be True or False.")
    return bool(value)


def check_columns(columns: Any, n_documents: int) -> dict[str, np.ndarray]:
    """Return an array of each column, with a value for each document."""
    return {name: _column(given, n_documents, f"columns[{name!r}]") for name, given in named_columns(columns).items()}


def named_columns(columns: Any) -> dict[str, Any]:
    """Return the values of each column, not yet checked; raise for other types, and for names that are not strings."""
    if columns is None:
        return {}
    if not (hasattr(columns, "keys") or hasattr(columns, "columns")):
        raise DataError(f"columns is a {type(columns).__name__}; pass a dict from names to values, or a data frame.")
    names = list(columns.columns if hasattr(columns, "columns") else columns.keys())
    for name in names:
        if not isinstance(name, str):
            raise DataError(f"columns has the name {name!r}, which is not a string; rename it.")
    # Each row of a matrix is one value.
    return {name: list(columns[name]) if getattr(columns[name], "ndim", 1) > 1 else columns[name] for name in names}


def check_unique(values: np.ndarray, name: str, cure: str) -> None:
    """Raise for missing, unhashable and repeated entries, naming the first and its positions."""
    seen: dict[Any, int] = {}
    for position, value in enumerate(values.tolist()):
        if is_missing(value):
            raise DataError(f"{name}[{position}] is missing ({value!r}); {cure}.")
        try:
            first = seen.setdefault(value, position)
        except TypeError:
            raise DataError(
                f"{name}[{position}] is {value!r}, which is not hashable; use strings or integers."
            ) from None
        if first != position:
            raise DataError(f"{name} holds {value!r} twice, at positions {first} and {position}; {cure}.")


def check_words(vocabulary: np.ndarray) -> None:
    """Raise for words that are not strings or occur twice."""
    for position, word in enumerate(vocabulary.tolist()):
        if not isinstance(word, str):
            raise DataError(
                f"vocabulary[{position}] is {word!r}, not a string; name each column of counts by its word."
            )
    check_unique(vocabulary, "vocabulary", "give every column of counts its own word")


def check_texts(texts: Iterable[Any], ids: list[Any] | None) -> list[str]:
    """Return the texts as a list; raise for a single string and whatever is not a string, naming the document."""
    listed = list_values(texts, "texts", "a text for each document")
    for position, text in enumerate(listed):
        if not isinstance(text, str):
            name = position if ids is None or position >= len(ids) else ids[position]
            raise DataError(
                f"the text of document {name!r} (position {position}) is {text!r}, not a string; give every document "
                "its text."
            )
    return listed


def split_texts(
    texts: Sequence[str] | Mapping[Any, str], ids: Iterable[Hashable] | None
) -> tuple[list[str], list[Any] | None]:
    """Return lists of texts and of their ids, which are the keys of a mapping."""
    names = None if ids is None else as_list(ids)
    if isinstance(texts, Mapping):
        if names is not None:
            raise DataError("texts is a mapping, so its keys are the ids; leave ids out.")
        names, texts = list(texts), list(texts.values())
    listed = check_texts(texts, names)
    if not listed:
        raise DataError("texts is empty; give at least one document.")
    return listed, names


def as_count_matrix(counts: Any) -> sparse.csr_array:
    """Return a documents x words CSR array of int64 or float64 values, a copy whose values are not yet checked."""
    counts = check_convertible(counts)
    if not sparse.issparse(counts) and counts.dtype.kind == "O":
        try:
            counts = counts.astype(np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            raise _no_numbers(error) from None
    _check_two_dimensions(counts)
    if counts.dtype.kind not in NUMERIC_KINDS:
        raise DataError(f"counts must hold whole numbers; its values are of type {counts.dtype}: pass word counts.")
    for size, what in zip(counts.shape, ("documents", "words"), strict=True):
        if size == 0:
            raise DataError(f"counts has the shape {counts.shape}: there are no {what}; a network needs at least one.")
        if size > MAX_COUNT:
            raise DataError(
                f"counts has the shape {counts.shape}: there are too many {what}; the maximum is {MAX_COUNT}."
            )
    return as_wide_csr(counts)


def check_convertible(counts: Any) -> Any:
    """Return counts as an array or matrix; raise for counts that NumPy, SciPy or scikit-learn would change or crash on.

    These are broken sparse matrices, masked values, strings and missing values. The rest is checked where it is used.
    """
    if sparse.issparse(counts):
        _check_two_dimensions(counts)
        check_sparse(counts, "counts")
        return counts
    try:
        counts = counts.to_numpy() if hasattr(counts, "to_numpy") else counts
        if np.ma.is_masked(counts):
            raise DataError("counts has masked values; put numbers in their place (counts.filled(0)).")
        counts = np.asarray(counts)
    except (TypeError, ValueError, OverflowError) as error:
        raise error if isinstance(error, DataError) else _no_numbers(error) from None
    if counts.dtype.kind in "US":
        raise DataError("counts holds strings; pass word counts, or make the network with DocumentNetwork.from_texts.")
    if counts.dtype.kind == "O":
        _check_objects(counts)
    return counts


def _check_two_dimensions(counts: Any) -> None:
    if counts.ndim != 2:
        raise DataError(f"counts must be a matrix of documents x words; it has the shape {counts.shape}.")


def _no_numbers(error: Exception) -> DataError:
    return DataError(f"counts must be a matrix of numbers, documents x words: {str(error).rstrip('.')}.")


def _check_objects(values: np.ndarray) -> None:
    """Raise for strings, even if they look like numbers, and for missing values."""
    for position, value in np.ndenumerate(values):
        if isinstance(value, str | bytes):
            raise DataError(
                f"counts{list(position)} is the string {value!r}; pass numbers, or make the network with "
                "DocumentNetwork.from_texts."
            )
        if is_missing(value):
            raise DataError(f"counts{list(position)} is missing ({value!r}); put 0 where a document lacks a word.")


def as_wide_csr(matrix: Any) -> sparse.csr_array:
    """Return a copy in int64 or float64, in which repeated entries are added up: narrow numbers would wrap around."""
    wide = sparse.csr_array(matrix.astype(np.float64 if _may_wrap(matrix) else np.int64), copy=True)
    wide.sum_duplicates()
    wide.prune()  # the arrays may hold arbitrary values behind the last entry
    return wide


def _may_wrap(counts: Any) -> bool:
    """Return whether values do not fit into int64: fractions, and numbers so large that they could change their sign.

    Repeated entries of a sparse matrix are added up when it is converted.
    """
    if counts.dtype.kind in "iu" and (sparse.issparse(counts) or counts.dtype.kind == "u"):
        values = counts
        if sparse.issparse(counts):
            values = counts.data if counts.format in ("csr", "csc", "coo", "bsr") else counts.tocoo().data
        return bool(values.size) and (int(values.max()) > MAX_COUNT or int(values.min()) < -MAX_COUNT)
    return bool(counts.dtype.kind == "f")


def check_sparse(matrix: Any, name: str) -> None:
    """Raise for a sparse matrix whose arrays are inconsistent.

    SciPy trusts them: when it converts a matrix to another format, a wrong index is a write out of bounds.
    """
    check = {"coo": _coordinates_fault, "dia": _diagonals_fault, "lil": _lists_fault, "dok": _keys_fault}
    try:
        fault = check.get(matrix.format, _compressed_fault)(matrix)
    except (TypeError, ValueError, AttributeError, IndexError, OverflowError):
        fault = "its parts are not arrays of numbers"
    if fault:
        raise DataError(f"{name} is not a valid sparse matrix: {fault}; build it again.")


def _indices_fault(indices: Any, size: int, what: str) -> str:
    if indices.ndim != 1 or indices.dtype.kind not in "iu":
        return f"{what} are not a list of integers"
    if len(indices) and (indices.min() < 0 or indices.max() >= size):
        wrong = indices.min() if indices.min() < 0 else indices.max()
        return f"{what} run from 0 to {size - 1}, and {wrong} is among them"
    return ""


def _compressed_fault(matrix: Any) -> str:
    """Return the fault of a CSR, CSC or BSR matrix; SciPy's own check ignores indices if the last offset is 0."""
    blocks = matrix.data.shape[1:]
    if len(blocks) != (2 if matrix.format == "bsr" else 0):
        return f"its values have the shape {matrix.data.shape}"
    if 0 in blocks or any(size % block for size, block in zip(matrix.shape, blocks, strict=False)):
        return f"blocks of {blocks} do not fill the shape {matrix.shape}"
    n_rows, n_columns = (size // block for size, block in zip(matrix.shape, blocks or (1, 1), strict=True))
    outer, inner = (n_columns, n_rows) if matrix.format == "csc" else (n_rows, n_columns)
    offsets, indices = matrix.indptr, matrix.indices
    if len(indices) != len(matrix.data):
        return f"it has {len(indices)} indices for {len(matrix.data)} values"
    fault = _indices_fault(offsets, len(indices) + 1, "offsets (indptr)")
    if not fault and (len(offsets) != outer + 1 or offsets[0] != 0 or (offsets[1:] < offsets[:-1]).any()):
        fault = f"offsets (indptr) are not {outer + 1} numbers that start at 0 and never decrease"
    return fault or _indices_fault(indices[: offsets[-1]], inner, "indices")


def _coordinates_fault(matrix: Any) -> str:
    ends = matrix.row, matrix.col
    if matrix.data.ndim != 1 or any(len(indices) != len(matrix.data) for indices in ends):
        return f"it has {len(ends[0])} rows and {len(ends[1])} columns for {matrix.data.size} values"
    return _indices_fault(ends[0], matrix.shape[0], "rows") or _indices_fault(ends[1], matrix.shape[1], "columns")


def _diagonals_fault(matrix: Any) -> str:
    if matrix.offsets.ndim != 1 or matrix.offsets.dtype.kind not in "iu" or matrix.data.ndim != 2:
        return "its diagonals (offsets) are not a list of integers, or its values are not a matrix"
    if len(matrix.offsets) != len(matrix.data) or len(np.unique(matrix.offsets)) < len(matrix.offsets):
        return f"it has {len(np.unique(matrix.offsets))} diagonals (offsets) for {len(matrix.data)} rows of values"
    return ""


def _lists_fault(matrix: Any) -> str:
    if len(matrix.rows) != matrix.shape[0] or len(matrix.data) != matrix.shape[0]:
        return f"it has {len(matrix.rows)} lists of columns for {matrix.shape[0]} rows"
    for columns, values in zip(matrix.rows, matrix.data, strict=True):
        if len(columns) != len(values):
            return f"a row has {len(columns)} columns for {len(values)} values"
        if columns and (fault := _indices_fault(np.asarray(columns), matrix.shape[1], "columns")):
            return fault
    return ""


def _keys_fault(matrix: Any) -> str:
    keys = np.array(list(matrix.keys()), dtype=np.int64).reshape(-1, 2)
    return _indices_fault(keys[:, 0], matrix.shape[0], "rows") or _indices_fault(keys[:, 1], matrix.shape[1], "columns")


def check_labels(labels: np.ndarray | None) -> None:
    """Raise for labels that are not hashable."""
    for position, label in enumerate([] if labels is None else labels.tolist()):
        try:
            hash(label)
        except TypeError:  # noqa: PERF203
            cure = "give every document one label, a string or a number"
            raise DataError(f"labels[{position}] is {label!r}; {cure}.") from None


def check_counts(matrix: sparse.csr_array, ids: np.ndarray, vocabulary: np.ndarray | None) -> sparse.csr_array:
    """Return counts as int32 without explicit zeros; raise for other values, naming the first."""
    values = matrix.data
    bad = ~((values >= 0) & (values <= MAX_COUNT))
    if values.dtype.kind == "f":
        bad |= values != np.floor(values)
    if bad.any():
        at = int(np.argmax(bad))
        row, column = int(np.searchsorted(matrix.indptr, at, side="right")) - 1, int(matrix.indices[at])
        value = values[at].item()
        wrong = "negative" if value < 0 else "too large" if value > MAX_COUNT else "fractional"
        if not np.isfinite(value):
            wrong = "not finite (NaN or inf)"
        word = f"column {column}" if vocabulary is None else f"{vocabulary[column]!r} (column {column})"
        what = "Negative values in data" if value < 0 else "counts"  # the first in scikit-learn's words
        raise DataError(
            f"{what}: document {ids.tolist()[row]!r} (row {row}), word {word}: the value {value!r} is {wrong}; word "
            f"counts are whole numbers from 0 to {MAX_COUNT}: pass raw counts, not TF-IDF or otherwise scaled values."
        )
    # 32-bit indices wherever they fit: half the memory, and what most of scikit-learn takes
    index = np.int32 if max(matrix.nnz, *matrix.shape) <= np.iinfo(np.int32).max else np.int64
    parts = (values.astype(np.int32), matrix.indices.astype(index), matrix.indptr.astype(index))
    checked = sparse.csr_array(parts, shape=matrix.shape)
    checked.eliminate_zeros()
    checked.sort_indices()
    return checked
