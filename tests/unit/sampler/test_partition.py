"""Partitions: what a part holds, and which documents it is dealt."""

from __future__ import annotations

import numpy as np
import pytest

from linktopics.datasets import make_network
from linktopics.kernels.partition import assign_greedily, pack, unpack
from linktopics.network.pairs import sample_pairs
from linktopics.sampler import Corpus, initial_state
from linktopics.sampler.partition import MAX_LOAD_RATIO, assign_documents, slice_state, split
from support import reference
from support.settings import make_settings
from support.sharded_corpus import make_corpus


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("n_parts", [2, 3, 7])
def test_parts_hold_every_document_and_pair_once(directed, n_parts):
    corpus = make_corpus(directed)
    parts = split(corpus, n_parts)
    assert np.array_equal(np.sort(np.concatenate([part.documents for part in parts])), np.arange(60))
    own = np.concatenate([part.pairs[: part.n_own_pairs] for part in parts])
    assert np.array_equal(np.sort(own), np.arange(corpus.n_pairs))
    crossing = sum(len(part.pairs) - part.n_own_pairs for part in parts)
    owner = np.empty(60, int)
    for part in parts:
        owner[part.documents] = part.number
    assert crossing == (owner[corpus.source] != owner[corpus.target]).sum() > 0


@pytest.mark.parametrize("directed", [True, False])
def test_a_part_says_the_same_as_the_whole(directed):
    """Names of documents are translated back: ghosts are found by what is sent to them."""
    corpus = make_corpus(directed)
    parts = split(corpus, 3)
    for part in parts:
        mine, n_own = part.corpus, part.n_own
        names = np.full(mine.n_documents, -1)
        names[:n_own] = part.documents
        for other in parts:
            names[part.ghosts_from[other.number]] = other.documents[other.sent_documents[part.number]]
        assert len(set(names.tolist())) == mine.n_documents
        assert names.min() >= 0
        np.testing.assert_array_equal(names[mine.source], corpus.source[part.pairs])
        np.testing.assert_array_equal(names[mine.target], corpus.target[part.pairs])
        np.testing.assert_array_equal(mine.label, corpus.label[part.pairs])
        np.testing.assert_array_equal(mine.features, corpus.features[part.pairs])
        np.testing.assert_array_equal(part.own_features, corpus.features[part.pairs[: part.n_own_pairs]])
        assert (np.diff(mine.source) >= 0).all()
        for local, name in enumerate(part.documents):
            here, there = (slice(*c.start[i : i + 2]) for c, i in ((mine, local), (corpus, name)))
            np.testing.assert_array_equal(mine.words[here], corpus.words[there])
        assert mine.start[-1] == mine.start[n_own] == len(mine.words)
        for other in parts:
            sent = other.pairs[: other.n_own_pairs][other.sent_pairs[part.number]]
            np.testing.assert_array_equal(part.pairs[part.pairs_from[other.number]], sent)
        entering = np.sort(
            np.concatenate([mine.in_pair[mine.in_start[i] : mine.in_start[i + 1]] for i in range(n_own)])
        )
        np.testing.assert_array_equal(entering, np.flatnonzero(mine.target < n_own))


def test_pieces_are_cut_from_a_state():
    corpus = make_corpus()
    state = initial_state(corpus, make_settings(5, n_shards=3), np.random.SeedSequence(0))
    total = 0
    for part in split(corpus, 3):
        cut = slice_state(state, part, corpus)
        documents = reference.token_documents(part.corpus)
        table = reference.table(documents, cut.assignments, (part.n_own, cut.doc_topic.shape[1]))
        np.testing.assert_array_equal(cut.doc_topic[: part.n_own], table)
        np.testing.assert_array_equal(cut.augmented, state.augmented[part.pairs])
        assert cut.generators == [state.generators[part.number]]
        assert not np.shares_memory(cut.word_topic, state.word_topic)
        total += len(cut.assignments)
    assert total == corpus.n_tokens


def communities(n_documents=400, n_communities=4, seed=0):
    """Documents in communities, in no order, whose links stay inside but for one in twenty."""
    rng = np.random.default_rng(seed)
    community = rng.integers(n_communities, size=n_documents)
    edges = []
    while len(edges) < 10 * n_documents:
        i, j = rng.integers(n_documents, size=2)
        if i != j and (community[i] == community[j] or rng.random() < 0.05):
            edges.append((i, j))
    links = np.unique(edges, axis=0)
    counts = make_network(n_documents=n_documents, n_topics=3, n_words=20, random_state=seed).counts
    pairs = sample_pairs(links, n_documents, True, 0.0, rng)
    return Corpus.build(counts, pairs, symmetric=False)


def test_linked_documents_stay_together():
    corpus = communities()
    owner = assign_documents(corpus, 4)
    cut = (owner[corpus.source] != owner[corpus.target]).mean()
    at_random = np.random.default_rng(1).permutation(owner)
    assert cut < 0.3 < 0.7 < (at_random[corpus.source] != at_random[corpus.target]).mean()


def test_a_hub_does_not_make_its_shard_heavier():
    """One document has a pair with every other, and costs as much as some eighty others."""
    corpus = communities()
    everyone = np.arange(1, 400)
    links = np.concatenate([np.stack([everyone, 0 * everyone], 1), np.stack([corpus.source, corpus.target], 1)])
    pairs = sample_pairs(np.unique(links, axis=0), 400, True, 0.0, np.random.default_rng(0))
    counts = make_network(n_documents=400, n_topics=3, n_words=20, random_state=0).counts
    hub = Corpus.build(counts, pairs, symmetric=False)
    owner = assign_documents(hub, 4)
    ends = np.diff(hub.out_start) + np.diff(hub.in_start)
    cost = 1 + np.diff(hub.start) + 0.3 * ends
    load = np.bincount(owner, weights=cost)
    assert load.max() <= MAX_LOAD_RATIO * cost.sum() / 4 + 1e-9
    assert (owner == owner[0]).sum() < 100


def test_documents_are_dealt_out_as_described():
    corpus = communities(n_documents=80)
    cost = 1.0 + np.diff(corpus.start)
    capacity = 1.05 * cost.sum() / 3
    ends = np.concatenate([np.stack([corpus.source, corpus.target]), np.stack([corpus.target, corpus.source])], axis=1)
    ends = ends[:, np.tile(corpus.label, 2)]
    owner, load = np.full(80, -1, np.int32), np.zeros(3)
    expected = owner.copy()
    for _ in range(2):
        loads = np.zeros(3)
        for i in range(80):
            near = expected[ends[1, ends[0] == i]]
            value = (1 + np.bincount(near[near >= 0], minlength=3)) * (1 - loads / capacity)
            fits = loads + cost[i] <= capacity
            expected[i] = np.argmax(np.where(fits, value, -1)) if fits.any() else np.argmin(loads)
            loads[expected[i]] += cost[i]
        pairs = (corpus.out_start, corpus.target, corpus.in_start, corpus.in_pair, corpus.in_source, corpus.label)
        assign_greedily(*pairs, cost, capacity, owner, load)
        np.testing.assert_array_equal(owner, expected)
        np.testing.assert_allclose(load, loads)


def test_topics_are_packed_and_unpacked():
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.4, (6, 16)).astype(np.float32)
    counts[2] = 0
    documents = np.array([5, 2, 0])
    n, topic, count = pack(counts, documents)
    chosen = counts[documents]
    np.testing.assert_array_equal(n, (chosen > 0).sum(1))
    np.testing.assert_array_equal(topic, np.nonzero(chosen)[1])
    np.testing.assert_array_equal(count, chosen[chosen > 0])
    rows = np.full((7, 16), 9.0, np.float32)
    unpack(n, topic, count, rows, 2)
    np.testing.assert_array_equal(rows[2:5], chosen)
    assert (rows[[0, 1, 5, 6]] == 9).all()
