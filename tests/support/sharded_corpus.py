"""A corpus that is split into parts."""

from __future__ import annotations

import numpy as np

from linktopics.datasets import make_network
from linktopics.network.pairs import sample_pairs
from linktopics.sampler import Corpus


def make_corpus(directed=True, n_documents=60, n_features=2, seed=0, seeds=None):
    rng = np.random.default_rng(seed)
    network = make_network(n_documents=n_documents, n_topics=4, n_words=30, random_state=seed)
    pairs = sample_pairs(network.links, n_documents, directed, 2.0, rng)
    return Corpus.build(network.counts, pairs, not directed, rng.normal(size=(len(pairs), n_features)), seeds)
