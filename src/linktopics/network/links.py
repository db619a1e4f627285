"""Links as users pass them, resolved to pairs of document indices; links that are dropped are counted."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from linktopics.errors import DataError
from linktopics.network.validation import N_EXAMPLES, NUMERIC_KINDS, as_list, as_wide_csr, check_sparse


def clean_links(links: Any, ids: np.ndarray, *, by_id: bool, directed: bool) -> tuple[np.ndarray, dict[str, Any]]:
    """Return links as sorted, unique pairs of document indices, and the fields of a `NetworkReport` about links."""
    n_documents = len(ids)
    given, ends, hint = _resolve_ends(links, ids, by_id=by_id, directed=directed)
    known = ((ends >= 0) & (ends < n_documents)).all(axis=1)
    unknown_rows = np.flatnonzero(~known)
    if by_id and known.any():
        hint = ""  # some ends are found, so the ids are of the right kind
    inside = ends[known]
    loops = inside[:, 0] == inside[:, 1]
    proper = inside[~loops]
    if not directed:
        proper = np.sort(proper, axis=1)
    keys, first = np.unique(proper[:, 0] * n_documents + proper[:, 1], return_index=True)
    repeats = np.delete(proper, first, axis=0)

    def examples(pairs: np.ndarray) -> tuple[tuple[Any, ...], ...]:
        return tuple(tuple(pair) for pair in ids[pairs[:N_EXAMPLES]].tolist())

    found = {
        "n_links_given": len(ends),
        "n_unknown_ends": len(unknown_rows),
        "unknown_ends": tuple(tuple(as_list(given[row])) for row in unknown_rows[:N_EXAMPLES]),
        "n_self_links": int(loops.sum()),
        "self_links": examples(inside[loops]),
        "n_duplicate_links": len(repeats),
        "duplicate_links": examples(repeats),
        "hint": hint if len(unknown_rows) else "",
    }
    return np.column_stack([keys // n_documents, keys % n_documents]), found


def _resolve_ends(links: Any, ids: np.ndarray, *, by_id: bool, directed: bool) -> tuple[Any, np.ndarray, str]:
    """Return the links as written, as an (n, 2) array of indices (-1: unknown), and a hint for unknown ends."""
    n_documents = len(ids)
    if links is None:
        return [], np.empty((0, 2), dtype=np.int64), ""
    links = links_as_values(links)
    if sparse.issparse(links) or (
        isinstance(links, np.ndarray) and links.shape == (n_documents, n_documents) and n_documents != 2
    ):
        ends = _matrix_ends(links, n_documents, directed=directed)
        return ends, ends, ""
    if isinstance(links, np.ndarray):
        if links.size and (links.ndim != 2 or links.shape[1] != 2):
            turned = " (transpose it: links.T)" if links.ndim == 2 and links.shape[0] == 2 else ""
            raise DataError(
                f"links has the shape {links.shape}; pass an (n, 2) array of pairs{turned} "
                f"or a square matrix of {n_documents:,} x {n_documents:,}."
            )
        links = links.reshape(-1, 2)
    else:
        links = list_pairs(links)
    if by_id:
        return links, *_ends_from_ids(links, ids)
    return links, _ends_from_indices(links), f"documents are numbered from 0 to {n_documents - 1}"


def links_as_values(links: Any) -> Any:
    """Return the values of a data frame of links, and anything else unchanged; raise if some are masked."""
    links = links.to_numpy() if hasattr(links, "to_numpy") else links
    if np.ma.is_masked(links):
        raise DataError("links has masked values; leave out such pairs, or put 0 in a matrix (links.filled(0)).")
    return links


def list_pairs(links: Any) -> list[tuple[Any, Any]]:
    """Return links that are not a matrix as a list of (source, target) pairs."""
    if sparse.issparse(links):
        raise DataError(f"links is a {type(links).__name__}; pass pairs of documents.")
    if not hasattr(links, "__iter__"):
        raise DataError(f"links is {links!r}; pass pairs of documents, an (n, 2) array or a square matrix.")
    return [_pair(link, row) for row, link in enumerate(links)]


def _pair(link: Any, row: int) -> tuple[Any, Any]:
    if isinstance(link, str | bytes) or not hasattr(link, "__len__") or len(link) != 2:
        raise DataError(f"links[{row}] is {link!r}; each link is a pair (source, target).")
    source, target = as_list(link)
    return source, target


def _matrix_ends(matrix: Any, n_documents: int, *, directed: bool) -> np.ndarray:
    if matrix.shape != (n_documents, n_documents):
        raise DataError(
            f"the link matrix has the shape {matrix.shape} for {n_documents:,} documents; it must be square, with "
            "a row and a column for each document, in the order of the counts."
        )
    if sparse.issparse(matrix):
        check_sparse(matrix, "the link matrix")
    if matrix.dtype.kind not in NUMERIC_KINDS:
        raise DataError(f"the link matrix must hold numbers or booleans; its values are of type {matrix.dtype}.")
    if sparse.issparse(matrix):
        coordinates = as_wide_csr(matrix).tocoo()
        there = np.flatnonzero(coordinates.data)
        source, target, values = coordinates.row[there], coordinates.col[there], coordinates.data[there]
    else:
        matrix = np.asarray(matrix)
        source, target = np.nonzero(matrix)
        values = matrix[source, target]
    ends = np.column_stack([source, target]).astype(np.int64)
    missing = np.flatnonzero(np.isnan(values))
    if len(missing):
        source, target = ends[missing[0]].tolist()
        raise DataError(f"the link matrix holds NaN at ({source}, {target}); put 0 for no link and 1 for a link.")
    if directed:
        return ends
    # i, j and j, i of a matrix are one undirected link by convention, not a duplicate
    return np.unique(np.sort(ends, axis=1), axis=0)


def _ends_from_indices(links: Any) -> np.ndarray:
    if isinstance(links, np.ndarray) and links.dtype.kind in "iuf":
        whole = ((np.abs(links.astype(float)) <= 2.0**62) & (links == np.floor(links))).all(axis=1)
    else:
        links = as_list(links)
        whole = np.array([_is_whole(source) and _is_whole(target) for source, target in links], dtype=bool)
    if not whole.all():
        pair = tuple(as_list(links[int(np.argmin(whole))]))
        raise DataError(
            f"links are pairs of document indices here, but {pair!r} is not; "
            "pass integers, or pass ids= to name documents by their ids."
        )
    return np.asarray(links).astype(np.int64).reshape(-1, 2)


def _is_whole(end: Any) -> bool:
    """Return whether this may be an index; True and False are entries of a matrix, not ends of links."""
    if isinstance(end, float | np.floating):
        return float(end).is_integer() and abs(end) <= 2.0**62
    return isinstance(end, int | np.integer) and not isinstance(end, bool) and abs(int(end)) <= 2**62


def _ends_from_ids(links: Any, ids: np.ndarray) -> tuple[np.ndarray, str]:
    position = {name: index for index, name in enumerate(ids.tolist())}
    pairs = as_list(links)
    _check_booleans(pairs, ids)
    try:
        flat = (position.get(end, -1) for pair in pairs for end in pair)
        ends = np.fromiter(flat, dtype=np.int64, count=2 * len(pairs)).reshape(-1, 2)
    except TypeError as error:
        raise DataError(f"links must be pairs of document ids: {error}.") from None
    hint = ""
    if pairs:
        end, name = pairs[0][0], ids.tolist()[0]
        hint = f"no link has both ends among the ids: links name documents like {end!r}, ids are like {name!r}"
        if ends.max() >= 0:
            hint = "no link has both ends among the ids"
        if isinstance(end, int | np.integer):
            hint += "; if they are positions, name documents by their ids (or pass DocumentNetwork link_ends='indices')"
    return ends, hint


def _check_booleans(pairs: list[Any], ids: np.ndarray) -> None:
    """Raise if an end is True or False, which Python treats as 1 and 0, unless these are ids."""
    booleans = {bool, np.bool_}
    if booleans.isdisjoint(type(end) for pair in pairs for end in pair) or bool in set(map(type, ids.tolist())):
        return
    row = next(row for row, pair in enumerate(pairs) if not booleans.isdisjoint(map(type, pair)))
    raise DataError(f"links[{row}] is {tuple(pairs[row])!r}; no id is True or False: name documents by their ids.")
