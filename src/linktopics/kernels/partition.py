"""Kernels of shards: which documents go where, and what shards exchange about them."""

from __future__ import annotations

import numpy as np

from linktopics.kernels._compile import kernel


@kernel
def assign_greedily(out_start, target, in_start, in_pair, in_source, label, cost, capacity, owner, load):
    """Assign documents to shards in turn: each to the shard of most of its links, weighted by its free capacity.

    Document i goes to the shard s with the largest (n_s + 1) (1 - load_s / capacity), where n_s is the number of its
    links whose other end is in shard s according to `owner` (-1: not assigned yet); a document that fits nowhere goes
    to the shard with the smallest load. `owner` and `load`, the cost of the documents assigned so far, are changed in
    place.
    """
    near = np.zeros(len(load))
    load[:] = 0.0
    for i in range(len(owner)):
        near[:] = 1.0
        for e in range(out_start[i], out_start[i + 1]):
            if label[e] and owner[target[e]] >= 0:
                near[owner[target[e]]] += 1.0
        for e in range(in_start[i], in_start[i + 1]):
            if label[in_pair[e]] and owner[in_source[e]] >= 0:
                near[owner[in_source[e]]] += 1.0
        best, value = -1, 0.0
        for s in range(len(load)):
            if load[s] + cost[i] <= capacity and near[s] * (1.0 - load[s] / capacity) > value:
                best, value = s, near[s] * (1.0 - load[s] / capacity)
        if best < 0:
            best = int(np.argmin(load))
        owner[i] = best
        load[best] += cost[i]


@kernel
def pack(doc_topic, documents):
    """Return (n, topic, count): the number of topics of each document, its topics, and its tokens of each."""
    total = 0
    for i in documents:
        for k in range(doc_topic.shape[1]):
            total += doc_topic[i, k] > 0
    n = np.zeros(len(documents), np.uint16)
    topic = np.empty(total, np.uint16)
    count = np.empty(total, np.float32)
    at = 0
    for row in range(len(documents)):
        i = documents[row]
        for k in range(doc_topic.shape[1]):
            if doc_topic[i, k] > 0:
                topic[at] = k
                count[at] = doc_topic[i, k]
                n[row] += np.uint16(1)
                at += 1
    return n, topic, count


@kernel
def unpack(n, topic, count, doc_topic, first):
    """Write what `pack` returned into the rows of `doc_topic` from `first` on."""
    at = 0
    for row in range(len(n)):
        doc_topic[first + row, :] = np.float32(0.0)
        for _ in range(n[row]):
            doc_topic[first + row, topic[at]] = count[at]
            at += 1
