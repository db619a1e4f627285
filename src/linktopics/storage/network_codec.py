"""A network as arrays: counts, links, and columns of strings, numbers and other plain values."""

from __future__ import annotations

import dataclasses
import json
from itertools import pairwise
from typing import Any

import numpy as np
from msgspec.structs import asdict
from numpy.typing import NDArray
from scipy.sparse import csr_array

from linktopics.errors import DataError, ModelError
from linktopics.network import DocumentNetwork
from linktopics.network.report import NetworkReport
from linktopics.network.validation import check_texts, check_unique, check_words
from linktopics.storage.manifest import NetworkEntry, format_error

COLUMNS = ("ids", "vocabulary", "titles", "labels", "texts")


def encode_column(values: NDArray, name: str, called: str | None = None) -> dict[str, NDArray]:
    """Return a column as arrays: numbers unchanged, strings concatenated, other values as JSON.

    Raises
    ------
    DataError
        If a value is of a type that JSON does not preserve.
    """
    if values.dtype != object:
        return {name: values}
    listed = [_to_python(value) for value in values.tolist()]
    if all(type(value) is str for value in listed):
        encoded = [value.encode("utf-8", "surrogatepass") for value in listed]
        ends = np.cumsum([len(part) for part in encoded], dtype=np.int64)
        return {f"{name}/text": np.frombuffer(b"".join(encoded), np.uint8), f"{name}/ends": ends}
    for value in listed:
        if not _is_plain(value):
            raise DataError(
                f"{called or name} holds {value!r}, a {type(value).__name__}; a model on disk can hold strings, "
                "numbers, booleans, None and lists of these. Make the network with such values."
            )
    return {f"{name}/json": np.frombuffer(json.dumps(listed).encode("ascii"), np.uint8)}


def decode_column(arrays: dict[str, NDArray], name: str) -> NDArray | None:
    """Return a column that `encode_column` made; None if there is none of this name."""
    if name in arrays:
        return arrays[name]
    try:
        if f"{name}/json" in arrays:
            listed = json.loads(arrays[f"{name}/json"].tobytes())
            if not isinstance(listed, list) or not _is_plain(listed):
                raise ValueError("it is not a list of plain values")
        elif f"{name}/text" in arrays:
            listed = _split(arrays[f"{name}/text"].tobytes(), arrays[f"{name}/ends"])
        else:
            return None
    except (KeyError, ValueError, RecursionError) as error:
        place = " ".join(name.split())  # it may contain the name of a column
        raise ModelError(f"the model is damaged ({place}: {format_error(error)}); restore it from a copy.") from None
    return np.fromiter(listed, dtype=object, count=len(listed))


def _split(data: bytes, ends: NDArray) -> list[str]:
    """Return the parts of concatenated strings."""
    if ends.ndim != 1 or ends.dtype != np.int64 or (np.diff(ends, prepend=0) < 0).any():
        raise ValueError("strings do not follow one another")
    if (int(ends[-1]) if len(ends) else 0) != len(data):
        raise ValueError("strings do not end where their text does")
    starts = [0, *ends.tolist()]
    return [data[start:end].decode("utf-8", "surrogatepass") for start, end in pairwise(starts)]


def network_arrays(network: DocumentNetwork) -> dict[str, NDArray]:
    """Return a network without its vectorizer as arrays."""
    counts = network.counts
    arrays = {
        "counts/starts": counts.indptr,
        "counts/words": counts.indices,
        "counts/values": counts.data,
        "links": network.links,
    }
    for name in COLUMNS:
        values = getattr(network, name)
        if values is not None:
            arrays.update(encode_column(values, name))
    for number, (name, values) in enumerate(network.columns.items()):
        arrays.update(encode_column(values, f"columns/{number}", f"the column {name!r}"))  # any string may be its name
    return arrays


def restore_network(arrays: dict[str, NDArray], entry: NetworkEntry, vectorizer: Any) -> DocumentNetwork:
    """Return the network of arrays that were checked when it was saved, after a check of their types and sizes.

    Raises
    ------
    DataError
        As for a new network, if ids or words are invalid or not unique.
    """
    n, V = entry.n_documents, entry.n_words
    starts, words, values = (arrays[f"counts/{part}"] for part in ("starts", "words", "values"))
    links = arrays["links"]
    sound = (
        {starts.dtype.name, words.dtype.name} <= {"int32", "int64"}
        and starts.shape == (n + 1,)
        and words.shape == values.shape == (int(starts[-1]),)
        and int(starts[0]) == 0
        and bool((np.diff(starts) >= 0).all())
        and words.min(initial=0) >= 0
        and words.max(initial=-1) < V
        and values.dtype == np.int32
        and values.min(initial=1) > 0
        and links.shape[1:] == (2,)
        and links.dtype == np.int64
        and links.min(initial=0) >= 0
        and links.max(initial=-1) < n
    )
    if not sound:
        raise ModelError("the model is damaged (its counts or links are inconsistent); restore it from a copy.")
    counts = csr_array((values, words, starts), shape=(n, V))
    counts.has_sorted_indices = counts.has_canonical_format = True
    ids, vocabulary, titles, labels, texts = (decode_column(arrays, name) for name in COLUMNS)
    columns = {name: decode_column(arrays, f"columns/{number}") for number, name in enumerate(entry.columns)}
    optional = [column for column in (titles, labels, texts) if column is not None]
    if (
        ids is None
        or any(column is None or column.shape != (n,) for column in (ids, *columns.values(), *optional))
        or (vocabulary is not None and vocabulary.shape != (V,))
    ):
        raise ModelError("the model is damaged (ids, words or columns are missing); restore it from a copy.")
    check_unique(ids, "ids", "restore the model from a copy")
    if vocabulary is not None:
        check_words(vocabulary)
    if texts is not None:
        check_texts(texts, None)
    return DocumentNetwork.from_checked_parts(
        counts,
        links,
        directed=entry.directed,
        ids=ids,
        has_names=entry.has_names,
        vocabulary=vocabulary,
        titles=titles,
        labels=labels,
        texts=texts,
        columns={name: column for name, column in columns.items() if column is not None},
        vectorizer=vectorizer,
        report=NetworkReport(**{name: _tuples(value) for name, value in asdict(entry.report).items()}),
    )


def describe_network(network: DocumentNetwork) -> dict[str, Any]:
    """Return the entry of a network in the manifest."""
    return {
        "fingerprint": network.fingerprint(),
        "n_documents": network.n_documents,
        "n_words": network.n_words,
        "n_tokens": network.n_tokens,
        "n_links": network.n_links,
        "directed": network.directed,
        "has_names": network.has_names,
        "columns": list(network.columns),
        "report": dataclasses.asdict(network.report),
    }


def _tuples(value: Any) -> Any:
    return tuple(_tuples(one) for one in value) if isinstance(value, list) else value


def _to_python(value: Any) -> Any:
    """Return NumPy's numbers and strings as Python's."""
    if isinstance(value, list):
        return [_to_python(one) for one in value]
    return value.item() if isinstance(value, np.generic) else value


def _is_plain(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return value is None or type(value) in (str, int, float, bool)
