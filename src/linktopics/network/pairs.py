"""Training pairs: every observed link, and a sample of the pairs that are not linked.

Links are rare, and no network says which pairs are *known* not to link. The paper trains on all links and on a
small fraction of the unobserved pairs; :func:`sample_pairs` draws that fraction without replacement.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from linktopics.errors import NetworkWarning
from linktopics.utils.user_warnings import warn_user

if TYPE_CHECKING:
    from linktopics.network.network import DocumentNetwork

Direction = Literal["both", "out", "in"]
"""Links from a document, links to it, or both; undirected links are "out"."""

MAX_NEGATIVES = 1_000_000
"""A fraction that would draw more non-links than this is replaced by `NEGATIVES_PER_LINK`."""

NEGATIVES_PER_LINK = 5
"""Non-links per link in networks too large for a fraction of all pairs."""

CHUNK_PAIRS = 2**20
"""Number of pairs computed at once, to use little memory besides the result."""

AUTO_FRACTION = 0.01
AUTO_PER_LINK = (NEGATIVES_PER_LINK, 20)
"""What "auto" draws: this fraction of the unobserved pairs, but at least and at most this many per link."""


@dataclass(frozen=True)
class TrainingPairs:
    """Pairs of documents with a label, sorted by source and then by target.

    Attributes
    ----------
    source, target : ndarray of int32, shape (n_pairs,)
        Document numbers. In an undirected network ``source < target`` and each pair occurs once.
    label : ndarray of bool, shape (n_pairs,)
        True for a link, False for a sampled non-link.
    n_documents : int
        Number of documents in the network.
    """

    source: NDArray[np.int32]
    target: NDArray[np.int32]
    label: NDArray[np.bool_]
    n_documents: int

    def __len__(self) -> int:
        return len(self.source)


def sample_pairs(
    links: NDArray[np.integer],
    n_documents: int,
    directed: bool,
    negatives: float | str,
    rng: np.random.Generator,
) -> TrainingPairs:
    """Return all links and a sample of the unobserved pairs.

    Parameters
    ----------
    links : ndarray of shape (n_links, 2)
        Distinct links without self links, as `DocumentNetwork.links` holds them.
    n_documents : int
        Number of documents.
    directed : bool
        Whether (i, j) and (j, i) are two pairs or one.
    negatives : float or "auto"
        "auto" is 1 % of the unobserved pairs, but at least 5 and at most 20 per link, and at most `MAX_NEGATIVES`
        unless 5 per link are more. Below 1: the fraction of the unobserved pairs to draw; 1 or more: the number of
        non-links per link. A fraction that amounts to more than `MAX_NEGATIVES` pairs, or to none, is replaced by
        `NEGATIVES_PER_LINK` with a warning. Zero means links alone. A network without links gets no non-links either.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    TrainingPairs
        Without self pairs, links among the non-links or duplicates.

    Examples
    --------
    >>> import numpy as np
    >>> links = np.array([[0, 1], [2, 0]])
    >>> pairs = sample_pairs(links, 4, directed=True, negatives=0.5, rng=np.random.default_rng(0))
    >>> len(pairs), int(pairs.label.sum())
    (7, 2)
    """
    links = np.asarray(links, dtype=np.int64).reshape(-1, 2)
    taken = np.sort(_rank(links, n_documents, directed))
    n_unobserved = n_documents * (n_documents - 1) // (1 if directed else 2) - len(links)
    n_negatives = _n_negatives(negatives, n_unobserved, len(links))
    free = _sample_distinct(n_unobserved, n_negatives, rng)
    # The r-th unobserved pair has rank r plus the number of links before it.
    free += np.searchsorted(taken - np.arange(len(taken)), free, side="right")
    # Ranks are in the order of source and target. One bit below each keeps the label beside it.
    keys = np.concatenate([2 * taken + 1, 2 * free])
    del taken, free
    keys.sort(kind="stable")  # two runs in order: a merge
    source, target = (np.empty(len(keys), np.int32) for _ in range(2))
    for start in range(0, len(keys), CHUNK_PAIRS):
        part = slice(start, start + CHUNK_PAIRS)
        source[part], target[part] = _unrank(keys[part] >> 1, n_documents, directed).T
    return TrainingPairs(source, target, (keys & 1).astype(bool), n_documents)


def _n_negatives(negatives: float | str, n_unobserved: int, n_links: int) -> int:
    if n_links == 0:
        return 0
    if isinstance(negatives, str):
        least, most = (per_link * n_links for per_link in AUTO_PER_LINK)
        most = max(least, min(most, MAX_NEGATIVES))
        return min(max(round(AUTO_FRACTION * n_unobserved), least, 1), most, n_unobserved)
    if negatives >= 1:
        return round(min(negatives * n_links, n_unobserved))
    wanted = round(negatives * n_unobserved)
    if negatives == 0 or 0 < wanted <= MAX_NEGATIVES:
        return wanted
    instead = min(NEGATIVES_PER_LINK * n_links, wanted or n_unobserved)
    if instead == wanted:  # there is no unlinked pair
        return wanted
    too_many = f"over the limit of {MAX_NEGATIVES:,} for a fraction"
    why = too_many if wanted else "which leaves nothing to compare the links with"
    warn_user(
        f"negatives={negatives:g} of {n_unobserved:,} unlinked pairs would be {wanted:,} non-links, {why}; "
        f"{NEGATIVES_PER_LINK} per link, {instead:,}, are drawn instead. Pass "
        f"negatives={NEGATIVES_PER_LINK}, or another number per link, to choose this yourself.",
        NetworkWarning,
    )
    return instead


def _sample_distinct(population: int, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return a uniform subset of ``range(population)``, sorted, in memory proportional to `size`."""
    if 2 * size > population:  # leave out a small subset rather than collect a large one
        left_out = _sample_distinct(population, population - size, rng)
        return np.setdiff1d(np.arange(population), left_out, assume_unique=True)
    chosen = np.empty(0, dtype=np.int64)
    while len(chosen) < size:
        chosen = np.concatenate([chosen, rng.integers(population, size=size - len(chosen))])
        chosen.sort()
        chosen = chosen[np.diff(chosen, prepend=-1) > 0]  # no number twice
    return chosen


def _row_starts(n_documents: int, directed: bool) -> NDArray[np.int64]:
    """Return the rank of the first pair of each source, with n - 1 pairs, or n - 1 - i in an undirected network."""
    i = np.arange(n_documents, dtype=np.int64)
    return i * (n_documents - 1) if directed else i * (n_documents - 1) - i * (i - 1) // 2


def _rank(pairs: NDArray[np.int64], n_documents: int, directed: bool) -> NDArray[np.int64]:
    """Return the rank of each pair among all pairs of different documents, ordered row by row."""
    i, j = pairs.T
    within = j - (j > i) if directed else j - i - 1
    return _row_starts(n_documents, directed)[i] + within


def _unrank(ranks: NDArray[np.int64], n_documents: int, directed: bool) -> NDArray[np.int64]:
    """Return the pairs of these ranks, the inverse of `_rank`."""
    starts = _row_starts(n_documents, directed)
    if not directed:
        starts = starts[:-1]  # the last document is the source of no pair
    i = np.searchsorted(starts, ranks, side="right") - 1
    within = ranks - starts[i]
    j = within + (within >= i) if directed else within + i + 1
    return np.column_stack([i, j])


def links_between(
    network: DocumentNetwork, new: NDArray[np.integer], old: NDArray[np.integer]
) -> tuple[csr_array, csr_array]:
    """Return the links from new to old documents and back, as boolean matrices of new x old.

    In an undirected network all are in the first.
    """
    source, target = network.links.T
    shape = (network.n_documents, network.n_documents)
    adjacency = csr_array((np.ones(len(source), dtype=bool), (source, target)), shape=shape)
    outgoing, incoming = adjacency[new][:, old], csr_array(adjacency.T)[new][:, old]
    if not network.directed:
        outgoing, incoming = outgoing + incoming, csr_array(outgoing.shape, dtype=bool)
    return outgoing, incoming
