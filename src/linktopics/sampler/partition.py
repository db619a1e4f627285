"""Parts of a corpus: documents in shards, so that several workers can sweep them at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from linktopics.kernels.partition import assign_greedily
from linktopics.sampler.corpus import Corpus, index_pairs
from linktopics.sampler.state import State

PAIR_COST = 0.3
"""Cost of a pair to each of its documents, in tokens. `benchmarks/sweep.py` finds 0.2 to 1; only
the balance of shards depends on it."""

MAX_LOAD_RATIO = 1.02
"""Largest cost of a shard, as a multiple of the average."""

N_PASSES = 10
"""Passes over the documents; each pass assigns all documents again."""

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Partition:
    """The documents of one shard, and the data that it needs from other shards.

    Documents that belong to other shards, but are in a pair with one of this shard, are its ghosts. A pair belongs to
    the shard of its source.

    Attributes
    ----------
    number, n_parts : int
        Which part it is, of how many.
    corpus : Corpus
        Its own documents, then its ghosts, without tokens, by shard; its own pairs, then those that enter its documents
        from ghosts. Documents and pairs have new numbers.
    n_own, n_own_pairs : int
        How many of the documents and of the pairs are its own.
    lengths : ndarray of int64, shape (n_documents,)
        Number of tokens of the documents; the tokens of ghosts themselves are in other shards.
    documents, pairs : ndarray of int64
        Numbers of the documents (its own) and the pairs (all) in the whole corpus.
    sent_documents, sent_pairs : list of ndarray of int64
        For each shard, which of its own documents are ghosts there, and which of its own pairs end there.
    ghosts_from, pairs_from : list of slice
        For each shard, the slices of ghosts and of pairs that come from it.
    words_of : list of slice
        For each shard, the words whose counts it adds up for all.
    own_features : ndarray of float64, shape (n_own_pairs, n_features)
        Features of its own pairs, in column-major order.
    """

    number: int
    n_parts: int
    corpus: Corpus
    n_own: int
    n_own_pairs: int
    lengths: Indices
    documents: Indices
    pairs: Indices
    sent_documents: list[Indices]
    sent_pairs: list[Indices]
    ghosts_from: list[slice]
    pairs_from: list[slice]
    words_of: list[slice]
    own_features: NDArray[np.float64]

    @classmethod
    def whole(cls, corpus: Corpus, n_own: int | None = None) -> Partition:
        """Return all of a corpus as one part; only the first `n_own` documents are its own to sweep."""
        n_own = corpus.n_documents if n_own is None else n_own
        nothing = [np.empty(0, np.int64)]
        return cls(
            number=0,
            n_parts=1,
            corpus=corpus,
            n_own=n_own,
            n_own_pairs=corpus.n_pairs,
            lengths=np.diff(corpus.start),
            documents=np.arange(corpus.n_documents),
            pairs=np.arange(corpus.n_pairs),
            sent_documents=nothing,
            sent_pairs=nothing,
            ghosts_from=[slice(0, 0)],
            pairs_from=[slice(0, 0)],
            words_of=[slice(0, corpus.n_words)],
            own_features=corpus.features,
        )


def split(corpus: Corpus, n_parts: int) -> list[Partition]:
    """Return parts of a corpus, of equal cost, that keep documents in pairs together."""
    if n_parts == 1:
        return [Partition.whole(corpus)]
    owner = assign_documents(corpus, n_parts)
    of_source, of_target = owner[corpus.source], owner[corpus.target]
    ghosts = [_ghosts(corpus, owner, number) for number in range(n_parts)]
    words_of = _slices(np.linspace(0, corpus.n_words, n_parts + 1).astype(int))
    numbers = np.arange(n_parts + 1)
    parts = []
    for number in range(n_parts):
        documents = np.flatnonzero(owner == number)
        own_pairs = np.flatnonzero(of_source == number)
        ends = of_target[own_pairs]
        entering = np.flatnonzero((of_target == number) & (of_source != number))
        entering = entering[np.argsort(of_source[entering], kind="stable")]
        pairs = np.concatenate([own_pairs, entering])
        local = np.full(corpus.n_documents, -1, np.int32)
        members = np.concatenate([documents, ghosts[number]])
        local[members] = np.arange(len(members), dtype=np.int32)
        parts.append(
            Partition(
                number=number,
                n_parts=n_parts,
                corpus=_cut(corpus, documents, len(members), pairs, local),
                n_own=len(documents),
                n_own_pairs=len(own_pairs),
                lengths=np.diff(corpus.start)[members],
                documents=documents,
                pairs=pairs,
                sent_documents=[local[theirs[owner[theirs] == number]].astype(np.int64) for theirs in ghosts],
                sent_pairs=[np.flatnonzero((ends == other) & (other != number)) for other in range(n_parts)],
                ghosts_from=_slices(len(documents) + np.searchsorted(owner[ghosts[number]], numbers)),
                pairs_from=_slices(len(own_pairs) + np.searchsorted(of_source[entering], numbers)),
                words_of=words_of,
                own_features=np.asfortranarray(corpus.features[own_pairs]),
            )
        )
    return parts


def assign_documents(corpus: Corpus, n_parts: int) -> NDArray[np.int32]:
    """Return the shard of each document.

    Documents are assigned one after the other, each to the shard of most of its links if there is room, and then
    several times more, when the shards of all are known (restreamed linear deterministic greedy partitioning, Nishimura
    and Ugander 2013). A hub with thousands of pairs has their cost, so it shares its shard with fewer others.
    """
    ends = np.diff(corpus.out_start) + np.diff(corpus.in_start)
    cost = 1.0 + np.diff(corpus.start) + PAIR_COST * ends
    capacity = MAX_LOAD_RATIO * cost.sum() / n_parts
    owner, load = np.full(corpus.n_documents, -1, np.int32), np.zeros(n_parts)
    pairs = (corpus.out_start, corpus.target, corpus.in_start, corpus.in_pair, corpus.in_source, corpus.label)
    for _ in range(N_PASSES):
        assign_greedily(*pairs, cost, capacity, owner, load)
    return owner


def slice_state(state: State, part: Partition, whole: Corpus) -> State:
    """Return the part of a state that belongs to a shard; the state itself, not a copy, if there is only one."""
    if part.n_parts == 1:
        return state
    corpus, own = part.corpus, part.n_own
    doc_topic = np.zeros((corpus.n_documents, state.doc_topic.shape[1]), np.float32)
    doc_topic[:own] = state.doc_topic[part.documents]  # ghosts come with the first exchange
    return replace(
        state,
        assignments=state.assignments[token_indices(whole.start, part.documents)],
        doc_topic=doc_topic,
        word_topic=state.word_topic.copy(),
        topic_total=state.topic_total.copy(),
        augmented=state.augmented[part.pairs],
        generators=[state.generators[part.number]],
        streams=state.streams[part.number : part.number + 1].copy(),
    )


def _ghosts(corpus: Corpus, owner: NDArray[np.int32], number: int) -> Indices:
    """Return the documents of other shards that are in a pair with one of this, by shard."""
    there = np.zeros(corpus.n_documents, bool)
    there[corpus.target[owner[corpus.source] == number]] = True
    there[corpus.source[owner[corpus.target] == number]] = True
    ghosts = np.flatnonzero(there & (owner != number))
    return ghosts[np.argsort(owner[ghosts], kind="stable")]


def _slices(bounds: Indices) -> list[slice]:
    return [slice(*ends) for ends in pairwise(bounds.tolist())]


def _cut(corpus: Corpus, documents: Indices, n_members: int, pairs: Indices, local: NDArray[np.int32]) -> Corpus:
    lengths = np.zeros(n_members, np.int64)
    lengths[: len(documents)] = np.diff(corpus.start)[documents]
    return replace(
        corpus,
        start=np.concatenate([[0], np.cumsum(lengths)]),
        words=corpus.words[token_indices(corpus.start, documents)],
        **index_pairs(local[corpus.source[pairs]], local[corpus.target[pairs]], n_members),
        label=corpus.label[pairs],
        features=np.asfortranarray(corpus.features[pairs]),
    )


def token_indices(start: NDArray[np.integer], documents: NDArray[np.integer]) -> Indices:
    """Return the indices of the tokens of some documents; the same for entries of rows of a CSR matrix."""
    lengths = start[documents + 1] - start[documents]
    return np.repeat(start[documents] - (np.cumsum(lengths) - lengths), lengths) + np.arange(lengths.sum())
