"""A network of two groups of documents, models of every kind fitted to it, and their probabilities by definition."""

import numpy as np
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer

from linktopics import DocumentNetwork, RelationalTopicModel
from linktopics.network.inputs import Documents

K = 3
N_OLD = 130
SETTINGS = {
    "calibration": None,
    "n_burn_in": 40,
    "n_samples": 3,
    "thin": 2,
    "n_chains": 2,
    "negatives": 2,
    "random_state": 0,
}
PLAIN = {"pair_features": None}
MODELS = {
    "logistic": PLAIN,
    "hinge": {"loss": "hinge", "margin": 0.7, **PLAIN},
    "diagonal": {"weights": "diagonal", **PLAIN},
    "intercept": {"weights": "diagonal", "intercept": True, **PLAIN},
    "hinge intercept": {"loss": "hinge", "weights": "diagonal", "intercept": True, **PLAIN},
    "undirected": {"directed": False, **PLAIN},
    "undirected hinge diagonal": {"directed": False, "loss": "hinge", "weights": "diagonal", **PLAIN},
    "features": {},
    "features hinge diagonal intercept": {"loss": "hinge", "weights": "diagonal", "intercept": True},
    "features undirected": {"directed": False},
}
DIRECTIONS = ("both", "out", "in")


def make_network():
    """Draw two groups of documents; links run from the first to the second, and inside the second."""
    rng = np.random.default_rng(0)
    group = np.arange(N_OLD) % 2
    counts = rng.poisson(np.where(group[:, None] == np.arange(10) // 5, 2.0, 0.2)) + np.eye(N_OLD, 10, dtype=int)
    counts[counts.sum(axis=1) == 0, 0] = 1
    linked = rng.random((N_OLD,) * 2) < np.where(group == 1, 0.04, 0.002)
    ids = [f"d{i}" for i in rng.permutation(N_OLD)]
    links = [(ids[i], ids[j]) for i, j in np.argwhere(linked) if i != j]
    words = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen", "ibis", "jay"]
    titles = [f"Title of {id}" for id in ids]
    return DocumentNetwork(
        counts, links, ids=ids, vocabulary=words, titles=titles, vectorizer=CountVectorizer(vocabulary=words)
    )


NETWORK = make_network()
NEW = np.random.default_rng(1).poisson(0.8, (9, 10)) + np.eye(9, 10, dtype=int)


def fit(name, **others):
    return RelationalTopicModel(K, **{**SETTINGS, **MODELS[name], **others}).fit(NETWORK)


def give_back(model):
    samples = model.samples_
    yield model
    model.samples_ = samples
    model.set_params(n_jobs=None)


def link_probability(model, score):
    """Return the likelihood of a link over that of link and non-link."""
    if model.loss == "logistic":
        return 1 / (1 + np.exp(-score))
    link, nonlink = (np.exp(-2 * np.maximum(0, model.margin - sign * score)) for sign in (1, -1))
    return link / (link + nonlink)


def features_of(model, counts, outgoing):
    """Return features of documents with all candidates, documents x candidates x columns (see tests/unit/features)."""
    features = model.predictor.features
    prepared = features.prepare(Documents(csr_array(counts)))
    return features.block(prepared, slice(0, len(counts)), np.arange(N_OLD), outgoing)


def by_sample(model, counts, direction):
    """Return probabilities, samples x documents x candidates, from the definition."""
    result = []
    x_out, x_in = (features_of(model, counts, outgoing) for outgoing in (True, False))
    for sample in model.samples_:
        new = model.predictor.infer(sample, csr_array(counts)).astype(float)
        old, tau = sample.doc_topic.astype(float), sample.feature_weights
        p = link_probability(model, np.einsum("ik,kl,jl->ij", new, sample.weights, old) + x_out @ tau)
        q = link_probability(model, np.einsum("jl,lk,ik->ij", old, sample.weights, new) + x_in @ tau)
        one_way = direction == "out" or not model.network_.directed
        result.append(p if one_way else q if direction == "in" else 1 - (1 - p) * (1 - q))
    return np.array(result)


def on_average(model, counts, direction):
    """Return probabilities, documents x candidates: each direction is averaged over samples before the two are one."""
    if direction != "both" or not model.network_.directed:
        return by_sample(model, counts, direction).mean(axis=0)
    out, into = (by_sample(model, counts, direction).mean(axis=0) for direction in ("out", "in"))
    return 1 - (1 - out) * (1 - into)


def described(model):
    return [sample for sample in model.samples_ if sample.chain == model.best_chain_]
