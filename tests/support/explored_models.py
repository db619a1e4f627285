"""A network of two groups, and models of it that are explored."""

import json

import numpy as np

from linktopics import DocumentNetwork
from linktopics.features import Column

K, N, V = 3, 24, 40
SETTINGS = {"n_burn_in": 10, "n_samples": 3, "thin": 1, "n_chains": 2, "negatives": 2, "random_state": 0}
FEATURES = ["tfidf", "tfidf-centroid", "tfidf-neighbours", "degree"]
MODELS = {
    "directed": {"pair_features": [*FEATURES, Column("year", "difference")]},
    "undirected": {"pair_features": FEATURES, "directed": False},
    "hinge": {"pair_features": ["tfidf"], "loss": "hinge", "margin": 0.7},
    "plain": {"pair_features": None},
    "diagonal": {"pair_features": ["degree"], "weights": "diagonal", "intercept": True},
    "one sample": {"pair_features": FEATURES, "n_samples": 1, "n_chains": 1},
}


def make_network(**others):
    """Draw two groups of documents with links inside, some both ways."""
    rng = np.random.default_rng(1)
    group = np.arange(N) % 2
    counts = rng.poisson(np.where(group[:, None] == np.arange(V) // (V // 2), 0.8, 0.1)) + np.eye(N, V, dtype=int)
    linked = rng.random((N, N)) < np.where(group[:, None] == group, 0.2, 0.03)
    linked |= linked.T & (rng.random((N, N)) < 0.4)
    np.fill_diagonal(linked, False)
    ids = [f"d{i}" for i in rng.permutation(N)]
    given = {
        "titles": [f"Title of {id}" for id in ids],
        "vocabulary": [f"word{w}" for w in range(V)],
        "labels": group.tolist(),
        "columns": {"year": (1990 + np.arange(N) % 7).tolist()},
    }
    return DocumentNetwork(counts, [(ids[i], ids[j]) for i, j in np.argwhere(linked)], ids=ids, **{**given, **others})


NETWORK = make_network()


def strict_json(value):
    """Return what a program reads that knows JSON and nothing more."""
    return json.loads(json.dumps(value, allow_nan=False))
