"""Parts of a corpus: documents in shards, so that several workers can sweep them at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from linktopics.kernels.partition import assign_greedily
from linktopics.sampler.corpus import Corpus
from linktopics.sampler.state import State

PAIR_COST = 0.3
"""Cost of a pair to each of its documents, in tokens. `benchmarks/sweep.py` finds 0.2 to 1; only
the balance of shards depends on it."""

SLACK = 1.02
"""How much above the average the cost of a shard may be."""

PASSES = 10
"""How often documents are dealt out."""

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Partition:
    """The documents of one shard, with what it has to know of others.

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
        Tokens of the documents; those of ghosts are elsewhere.
    documents, pairs : ndarray of int64
        What the documents (its own) and the pairs (all) are called in the whole corpus.
    sent_documents, sent_pairs : list of ndarray of int64
        For each shard, which of its own documents are ghosts there, and which of its own pairs end there.
    ghosts_from, pairs_from : list of slice
        For each shard, where ghosts and pairs that come from there are.
    words_of : list of slice
        For each shard, the words whose counts it adds up for all.
    own_features : ndarray of float64, shape (n_own_pairs, n_features)
        Features of its own pairs, by columns in memory.
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
    """Cut a corpus into parts of equal cost that keep documents in pairs together."""
    if n_parts == 1:
        return [Partition.whole(corpus)]
    owner = assign_documents(corpus, n_parts)
    of_source, of_target = owner[corpus.source], owner[corpus.target]
    ghosts = [_ghosts(corpus, owner, number) for number in range(n_parts)]
    bounds = np.linspace(0, corpus.n_words, n_parts + 1).astype(int).tolist()
    parts = []
    for number in range(n_parts):
        documents = np.flatnonzero(owner == number)
        own_pairs = np.flatnonzero(of_source == number)
        entering = np.flatnonzero((of_target == number) & (of_source != number))
        entering = entering[np.argsort(of_source[entering], kind="stable")]
        pairs = np.concatenate([own_pairs, entering])
        local = np.full(corpus.n_documents, -1, np.int32)
        members = np.concatenate([documents, ghosts[number]])
        local[members] = np.arange(len(members), dtype=np.int32)
        ghost_owner, pair_owner = owner[ghosts[number]], of_source[entering]
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
                sent_documents=[_own(local, ghosts[other][owner[ghosts[other]] == number]) for other in range(n_parts)],
                sent_pairs=[
                    np.flatnonzero(of_target[own_pairs] == other) if other != number else np.empty(0, np.int64)
                    for other in range(n_parts)
                ],
                ghosts_from=[_run_of(ghost_owner, other, len(documents)) for other in range(n_parts)],
                pairs_from=[_run_of(pair_owner, other, len(own_pairs)) for other in range(n_parts)],
                words_of=[slice(first, last) for first, last in pairwise(bounds)],
                own_features=np.asfortranarray(corpus.features[own_pairs]),
            )
        )
    return parts


def assign_documents(corpus: Corpus, n_parts: int) -> NDArray[np.int32]:
    """Return the shard of each document.

    Documents are dealt out one after the other, each to where its links lead if there is room, and then several times
    again, by when the links of all are known (restreamed linear deterministic greedy partitioning, Nishimura and
    Ugander 2013). A hub with thousands of pairs counts as what it costs, so it shares its shard with fewer others.
    """
    ends = np.diff(corpus.out_start) + np.diff(corpus.in_start)
    cost = 1.0 + np.diff(corpus.start) + PAIR_COST * ends
    capacity = SLACK * cost.sum() / n_parts
    owner, load = np.full(corpus.n_documents, -1, np.int32), np.zeros(n_parts)
    pairs = (corpus.out_start, corpus.target, corpus.in_start, corpus.in_pair, corpus.in_source, corpus.label)
    for _ in range(PASSES):
        assign_greedily(*pairs, cost, capacity, owner, load)
    return owner


def slice_state(state: State, part: Partition, whole: Corpus) -> State:
    """Return what of a state belongs to a part; all of it, and no copy, if there is but one."""
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


def _own(local: NDArray[np.int32], documents: Indices) -> Indices:
    return local[documents].astype(np.int64)


def _run_of(sorted_owner: NDArray[np.int32], other: int, offset: int) -> slice:
    first, last = np.searchsorted(sorted_owner, [other, other + 1])
    return slice(offset + int(first), offset + int(last))


def _cut(corpus: Corpus, documents: Indices, n_members: int, pairs: Indices, local: NDArray[np.int32]) -> Corpus:
    source, target = local[corpus.source[pairs]], local[corpus.target[pairs]]
    lengths = np.zeros(n_members, np.int64)
    lengths[: len(documents)] = np.diff(corpus.start)[documents]
    in_pair = np.argsort(target, kind="stable")
    ends = np.arange(n_members + 1)
    return Corpus(
        start=np.concatenate([[0], np.cumsum(lengths)]),
        words=corpus.words[token_indices(corpus.start, documents)],
        n_words=corpus.n_words,
        source=source,
        target=target,
        label=corpus.label[pairs],
        out_start=np.searchsorted(source, ends),
        in_start=np.searchsorted(target[in_pair], ends),
        in_pair=in_pair,
        in_source=source[in_pair],
        symmetric=corpus.symmetric,
        features=np.asfortranarray(corpus.features[pairs]),
        seeds=corpus.seeds,
    )


def token_indices(start: Indices, documents: Indices) -> Indices:
    """Return where the tokens of some documents are among all."""
    lengths = start[documents + 1] - start[documents]
    return np.repeat(start[documents] - (np.cumsum(lengths) - lengths), lengths) + np.arange(lengths.sum())
