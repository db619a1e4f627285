"""Small networks with features of pairs, slow definitions of their values, and models fitted to them."""

import warnings
from math import nan

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer

from linktopics import DocumentNetwork, RelationalTopicModel
from linktopics.errors import NetworkWarning
from linktopics.features import (
    Column,
    FittedFeature,
    PairFeature,
    PairFunction,
    PairMatrix,
    fit_features,
    resolve_features,
)
from linktopics.network.inputs import Documents
from linktopics.network.pairs import TrainingPairs
from support.settings import make_settings

K = 3
SIMILARITIES = tuple(f"{of}{part}" for of in ("tfidf", "topics") for part in ("", "-neighbours", "-centroid"))
NAMES = (*SIMILARITIES, "degree", "intercept")
DEGREES = ["in-degree of target", "out-degree of target", "in-degree of source", "out-degree of source"]
TINY = {"n_burn_in": 15, "n_samples": 2, "thin": 1, "n_chains": 1, "negatives": 2, "random_state": 0, "verbose": False}
TINY["calibration"] = None  # probabilities are worked out by hand
BOTH = pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])


class Spy(PairFeature):
    """Makes no number; keeps the training pairs as features see them."""

    name = "spy"

    def fit(self, network, settings, seed):
        self.fitted = FittedSpy()
        return self.fitted

    @property
    def view(self):
        return self.fitted.view


class FittedSpy(FittedFeature):
    name, columns = "spy", ()

    def prepare(self, documents):
        return None

    def pairs(self, new, rows, candidates, outgoing):
        return np.empty((len(rows), 0))

    def known_pairs(self, view):
        self.view = view
        return self.pairs(None, view.new, view.candidates, view.outgoing)


class Leaking(PairFeature):
    """A feature that looks at a training pair as at any other, and so counts its own link."""

    def __init__(self, feature):
        self.feature = feature

    @property
    def name(self):
        return self.feature.name

    def fit(self, network, settings, seed):
        fitted = self.feature.fit(network, settings, seed)
        fitted.known_pairs = lambda view: fitted.pairs(
            fitted.prepare(Documents.of(view.network)), view.new, view.candidates, view.outgoing
        )
        return fitted


# --- slow definitions -------------------------------------------------------------------------------------------------


def tfidf(counts, training):
    """Return unit TF-IDF vectors, by the formulas in scikit-learn's manual."""
    n, frequency = len(training), (training > 0).sum(axis=0)
    vectors = counts * (np.log((1 + n) / (1 + frequency)) + 1)
    return np.array([v / np.sqrt(v @ v) if v.any() else v for v in vectors])


def cosine(a, b):
    product = np.sqrt(a @ a) * np.sqrt(b @ b)
    return a @ b / product if product > 1e-9 else 0.0


def slow_values(name, links, directed, new, vectors, candidate, outgoing):
    """Return the values of a built-in feature for a new document and a candidate in a network of these links."""
    neighbours = {j for i, j in links if i == candidate} | {i for i, j in links if j == candidate}
    if name in ("tfidf", "topics"):
        return [cosine(new, vectors[candidate])]
    if name.endswith("-neighbours"):
        return [np.mean([cosine(new, vectors[j]) for j in neighbours]) if neighbours else nan]
    if name.endswith("-centroid"):
        total = vectors[candidate].astype(float).copy()
        for j in neighbours:
            total += vectors[j]
        return [cosine(new, total)]
    if name == "degree":
        if not directed:
            return [np.log(1 + len(neighbours))]
        n_in, n_out = (sum(link[end] == candidate for link in links) for end in (1, 0))
        degrees = [np.log(1 + n_in), np.log(1 + n_out)]
        return [*degrees, nan, nan] if outgoing else [nan, nan, *degrees]
    assert name == "intercept"
    return [1.0]


def slow_known_pairs(name, network, vectors, new, candidates, outgoing):
    """Return the values of training pairs: for each the network is built again without links between the two."""
    rows = []
    for a, b, is_outgoing in zip(new.tolist(), candidates.tolist(), outgoing.tolist(), strict=True):
        links = {(i, j) for i, j in network.links.tolist() if {i, j} != {a, b}}
        rows.append(slow_values(name, links, network.directed, vectors[a], vectors, b, is_outgoing))
    return np.array(rows)


def slow_standard(values, mean=None, scale=None):
    """Return values in standard deviations from the mean of the known ones, with mean and scale; NaN becomes 0."""
    if mean is None:
        mean, scale = np.zeros(values.shape[1]), np.ones(values.shape[1])
        for column, own in enumerate(values.T):
            known = [x for x in own.tolist() if x == x]
            if known:
                mean[column] = sum(known) / len(known)
                deviation = np.sqrt(sum((x - mean[column]) ** 2 for x in known) / len(known))
                scale[column] = deviation if deviation > 1e-9 else 1.0
    return np.nan_to_num((values - mean) / scale, nan=0.0), mean, scale


# --- a small network with everything in it ----------------------------------------------------------------------------


N = 14
COLUMNS = {
    "year": [1990, 1992, None, 1990, 1995, 1991, nan, 1999, 1993, 1990, 1992, 1994, 1996, 1990],
    "venue": ["p", "q", "p", None, "q", "q", "r", nan, "p", "p", "r", "q", "s", "p"],
    "authors": [
        ["a", "b"], ["b"], "b", [], None, ["c", "a", "b"], ("a",), {"d", "b"}, ["e"], ["a", "a", "c"], "a", ["f"], [],
        ["b", "c"],
    ],
}  # fmt: skip


def small(directed, seed=0):
    """Draw a network: documents 3 and 12 have no words, 12 and 13 no links, 4 and 5 only each other."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.7, (N, 9)) + np.eye(N, 9, dtype=int)
    counts[[3, 12]] = 0
    counts[8] = counts[2]
    linked = rng.random((N, N)) < 0.2
    linked[[4, 5, 12, 13]] = linked[:, [4, 5, 12, 13]] = False
    linked[4, 5] = linked[0, 3] = linked[1, 2] = linked[6, 7] = linked[7, 6] = True
    if directed:
        linked[5, 4] = linked[2, 1] = True
    else:
        linked = np.triu(linked | linked.T)
    np.fill_diagonal(linked, False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NetworkWarning)  # documents without words
        return DocumentNetwork(
            counts, np.argwhere(linked), directed=directed, ids=[f"d{i}" for i in range(N)], columns=COLUMNS,
            link_ends="indices",
        )  # fmt: skip


def every_pair(network):
    pairs = [(i, j) for i in range(N) for j in range(N) if i != j and (network.directed or i < j)]
    source, target = np.array(pairs, dtype=np.int32).T.copy()
    links = set(map(tuple, network.links.tolist()))
    return TrainingPairs(source, target, np.array([pair in links for pair in pairs]), N)


NEW = np.array([[2, 1, 0, 0, 0, 0, 3, 0, 0], [0] * 9, [0, 0, 0, 0, 0, 0, 0, 0, 5], [1] * 9])
NEW_IDS = np.array(["new", "d4", "other", "d2"], dtype=object)  # some are those of training documents
NEW_COLUMNS = {
    "year": [1993, None, 2020, 1985.5],
    "venue": ["p", "never seen", None, "s"],
    "authors": [["b", "never seen"], None, "a", []],
}


def new_documents(network, counts=NEW, **columns):
    held = {name: np.fromiter(values, dtype=object) for name, values in {**NEW_COLUMNS, **columns}.items()}
    return Documents(csr_array(counts), NEW_IDS, held)


def fitted(features, network, seed=0, pairs=None):
    """Return features fitted on all pairs, their standardised values of the pairs, and how the pairs were seen."""
    spy = Spy()
    pairs = every_pair(network) if pairs is None else pairs
    settings = make_settings(n_topics=K)
    result = fit_features([spy, *resolve_features(features)], network, pairs, settings, np.random.SeedSequence(seed))
    return *result, spy.view


def vectors_of(name, feature, network, counts=NEW):
    """Return the vectors that a feature compares, of training documents and of new ones."""
    if name.startswith("topics"):
        return [feature.prepare(Documents(csr_array(c))).toarray() for c in (network.counts, counts)]
    return [tfidf(c, network.counts.toarray()) for c in (network.counts.toarray(), counts)]


CANDIDATES = {
    "all": np.arange(N),
    "reversed": np.arange(N)[::-1],
    "rotated": np.roll(np.arange(N), 3),
    "chosen": np.array([13, 2, 2, 0, 12, 2, 5]),
    "one": np.array([3]),
    "none": np.array([], dtype=np.int64),
}


def order(sources, targets):
    """Tell sources from targets."""
    return np.array([17.0 * hash_of(s) + hash_of(t) for s, t in zip(sources, targets, strict=True)])


def hash_of(id):
    return sum(map(ord, id)) % 101


def same_parity(sources, targets):
    return np.array([(hash_of(s) + hash_of(t)) % 2 == 0 for s, t in zip(sources, targets, strict=True)])


WORDS = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen", "ibis", "jay"]


def make_network(n=30):
    """Draw two groups of documents; links run from the first to the second, and inside the second."""
    rng = np.random.default_rng(0)
    group = np.arange(n) % 2
    counts = rng.poisson(np.where(group[:, None] == np.arange(10) // 5, 1.5, 0.3)) + np.eye(n, 10, dtype=int)
    counts[counts.sum(axis=1) == 0, 0] = 1
    linked = rng.random((n, n)) < np.where(group == 1, 0.15, 0.02)
    linked[[28, 29]] = linked[:, [28, 29]] = False
    ids = [f"d{i}" for i in range(n)]
    links = [(ids[i], ids[j]) for i, j in np.argwhere(linked) if i != j]
    assert {link[::-1] for link in links} & set(links)
    columns = {
        "year": [None if i % 9 == 4 else 1990 + i % 7 for i in range(n)],
        "venue": [None if i % 8 == 5 else "pqr"[i % 3] for i in range(n)],
        "authors": [["u", "v", "w", "x"][i % 4 : i % 4 + 1 + i % 2] for i in range(n)],
    }
    return DocumentNetwork(
        counts, links, ids=ids, vocabulary=WORDS, titles=[f"Title of {id}" for id in ids], columns=columns,
        vectorizer=CountVectorizer(vocabulary=WORDS),
    )  # fmt: skip


NETWORK = make_network()
PAIR_MATRIX = PairMatrix(
    csr_array(np.arange(32 * 32).reshape(32, 32) % 5), [*[f"d{i}" for i in range(30)], "n0", "n2"], "co-read"
)
ALL = [
    *NAMES, Column("year", "difference"), Column("venue"), Column("authors", "overlap"), PAIR_MATRIX,
    PairFunction(order, "order"),
]  # fmt: skip
TEXTS = {"n0": "ant bee bee cat", "n1": "fox gnu gnu hen jay", "n2": "eel", "n3": "dog jay ant fox"}
DOCUMENTS = NETWORK.new_documents(
    TEXTS,
    columns={"year": [1993, None, 2001, 1990], "venue": ["p", "z", None, "q"], "authors": [["u"], "w", [], ["v", "t"]]},
)
MODELS = {
    "directed": {},
    "undirected": {"directed": False},
    "two chains": {"loss": "hinge", "margin": 0.7, "n_chains": 2},
    "diagonal": {"weights": "diagonal", "intercept": True},
    "undirected diagonal hinge": {"directed": False, "weights": "diagonal", "loss": "hinge"},
}
DIRECTIONS = ("both", "out", "in")


def fit(features=ALL, network=NETWORK, **others):
    return RelationalTopicModel(K, **{**TINY, "pair_features": features, **others}).fit(network)


def described(model):
    return [sample for sample in model.samples_ if sample.chain == model.best_chain_]


def link_probability(model, score):
    """Return the likelihood of a link over that of link and non-link."""
    if model.loss == "logistic":
        return 1 / (1 + np.exp(-score))
    link, nonlink = (np.exp(-2 * np.maximum(0, model.margin - sign * score)) for sign in (1, -1))
    return link / (link + nonlink)


def values_of_new(model, outgoing):
    """Return the values of new documents with all candidates, from those of single pairs."""
    features, shape = model._run.features, (len(TEXTS), len(NETWORK))
    new, old = (x.ravel() for x in np.indices(shape))
    raw = [
        feature.pairs(prepared, new, old, np.full(len(new), outgoing))
        for feature, prepared in zip(features.features, features.prepare(Documents.of(DOCUMENTS)), strict=True)
    ]
    return slow_standard(np.concatenate(raw, axis=1), features.mean, features.scale)[0].reshape(*shape, -1)


def scores_of_new(model, sample, outgoing):
    new, old = model.predictor.infer(sample, DOCUMENTS.counts).astype(float), sample.doc_topic.astype(float)
    weights = sample.weights if outgoing else sample.weights.T
    return np.einsum("ik,kl,jl->ij", new, weights, old) + values_of_new(model, outgoing) @ sample.feature_weights
