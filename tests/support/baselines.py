"""Networks that baselines are compared on, and slow loops for what they compute."""

import warnings
from math import log, sqrt

import numpy as np

from linktopics import DocumentNetwork, NetworkWarning


def make_network(seed=0, directed=True, n_documents=24, n_words=15):
    """Draw documents of two groups. The first links to the second, and little else happens.

    Document 3 has no link, 6 no words, and 0 and 1 link to one another.
    """
    rng = np.random.default_rng(seed)
    group = np.arange(n_documents) % 2
    counts = rng.poisson(np.where(group[:, None] == np.arange(n_words) % 2, 1.2, 0.15))
    counts[:, 0] += counts.sum(axis=1) == 0
    counts[6] = 0
    linked = rng.random((n_documents,) * 2) < np.where((group[:, None] == 0) & (group == 1), 0.35, 0.02)
    np.fill_diagonal(linked, False)
    linked[0, 1] = linked[1, 0] = True
    linked[3] = linked[:, 3] = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NetworkWarning)  # the document without words; repeats where undirected
        return DocumentNetwork(
            counts,
            np.argwhere(linked) + 100,
            ids=np.arange(n_documents) + 100,
            titles=[f"title {d}" for d in range(n_documents)],
            directed=directed,
        )


NETWORK = make_network()
UNDIRECTED = make_network(directed=False)
NEW = make_network(seed=1).counts.toarray()[[0, 1, 2, 3, 4, 5, 7]]
DENSE = NETWORK.counts.toarray()


def slow_neighbours(network):
    found = [set() for _ in range(len(network))]
    for source, target in network.links:
        found[source].add(int(target))
        found[target].add(int(source))
    return found


def slow_tfidf(counts, training):
    """Return unit vectors of count * (1 + log((1 + n) / (1 + df)))."""
    n = len(training)
    vectors = []
    for row in counts:
        vector = [c * (1 + log((1 + n) / (1 + sum(training[:, w] > 0)))) for w, c in enumerate(row)]
        length = sqrt(sum(v * v for v in vector))
        vectors.append([v / length if length else 0.0 for v in vector])
    return np.array(vectors)
