"""Networks and settings at the limits of what is legal, and what must hold of every model that is fitted to them."""

from __future__ import annotations

import tempfile
import warnings
from contextlib import contextmanager
from itertools import combinations, permutations, product
from pathlib import Path

import numpy as np

from linktopics import DocumentNetwork, MixingWarning, NetworkWarning, RelationalTopicModel
from linktopics.sampler.debug import check_state

# --- networks ---------------------------------------------------------------------------------------------------------


def network(name, directed=True, n_documents=12, n_words=20, length=15, seed=0):
    """Return the network of this name, one of `NETWORKS`."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(length / n_words, (n_documents, n_words))
    counts[np.arange(n_documents), np.arange(n_documents) % n_words] += 1
    ring = [(i, (i + step) % n_documents) for i in range(n_documents) for step in (1, 3)]
    links = ring
    if name == "identical documents":
        counts[:] = counts[0]
    elif name == "complete graph":
        links = list(permutations(range(n_documents), 2) if directed else combinations(range(n_documents), 2))
    elif name == "empty documents":
        counts[::2] = 0
    elif name == "hub":
        links = [(i, 0) for i in range(1, n_documents)] + [(0, i) for i in range(1, n_documents) if directed]
    elif name == "a million tokens":
        counts[0] = 1_000_000 // n_words
    elif name == "documents of one token":
        counts[:] = 0
        counts[np.arange(n_documents), rng.integers(n_words, size=n_documents)] = 1
    elif name == "one word":
        counts = counts.sum(axis=1, keepdims=True)
    else:
        assert name == "ordinary", name
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NetworkWarning)  # of empty documents
        return DocumentNetwork(counts, links, directed=directed)


NETWORKS = [
    "ordinary",
    "identical documents",
    "complete graph",
    "empty documents",
    "hub",
    "documents of one token",
    "one word",
    "a million tokens",
]

# --- settings ---------------------------------------------------------------------------------------------------------

SETTINGS = {
    "default": {},
    "one topic": {"n_topics": 1},
    "many topics": {"n_topics": 500},
    "alpha 1e-9": {"alpha": 1e-9},
    "alpha 1e-3": {"alpha": 1e-3},
    "alpha 1e3": {"alpha": 1e3},
    "alpha 1e9": {"alpha": 1e9},
    "beta 1e-9": {"beta": 1e-9},
    "beta 1e-3": {"beta": 1e-3},
    "beta 1e3": {"beta": 1e3},
    "beta 1e9": {"beta": 1e9},
    "alpha and beta 1e-9": {"alpha": 1e-9, "beta": 1e-9},
    "costs 1e-3": {"link_cost": 1e-3, "nonlink_cost": 1e-3},
    "costs 1e4": {"link_cost": 1e4, "nonlink_cost": 1e4},
    "link cost 1e4": {"link_cost": 1e4, "nonlink_cost": 1e-3},
    "non-link cost 1e4": {"link_cost": 1e-3, "nonlink_cost": 1e4},
    "margin 0": {"margin": 0.0},
    "margin 100": {"margin": 100.0},
    "variance 1e-6": {"weight_variance": 1e-6},
    "variance 1e6": {"weight_variance": 1e6},
    "costs 1e4, margin 0": {"link_cost": 1e4, "nonlink_cost": 1e4, "margin": 0.0},
    "costs 1e4, margin 100, variance 1e6": {
        "link_cost": 1e4, "nonlink_cost": 1e4, "margin": 100.0, "weight_variance": 1e6,
    },
    "costs 1e4, variance 1e-6": {"link_cost": 1e4, "nonlink_cost": 1e4, "weight_variance": 1e-6},
    "costs 1e-3, variance 1e6": {"link_cost": 1e-3, "nonlink_cost": 1e-3, "weight_variance": 1e6},
    "costs 1e-3, margin 100, alpha 1e-9": {"link_cost": 1e-3, "nonlink_cost": 1e-3, "margin": 100.0, "alpha": 1e-9},
}  # fmt: skip

CHOICES = {
    "loss": ("logistic", "hinge"),
    "weights": ("full", "diagonal"),
    "sampler": ("exact", "cached"),
    "directed": (True, False),
    "pair_features": (None, "default"),
    "n_shards": (1, 3),
}
KINDS = [dict(zip(CHOICES, kind, strict=True)) for kind in product(*CHOICES.values())]
"""All kinds of models."""

SHORT = {"n_burn_in": 4, "n_samples": 2, "thin": 2, "n_chains": 1, "random_state": 0, "verbose": False, "n_jobs": 1}


# --- what must hold ---------------------------------------------------------------------------------------------------


@contextmanager
def strict():
    """Turn what NumPy warns of (overflow, division by zero, not a number) into errors, in all threads."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in (NetworkWarning, MixingWarning):
            warnings.simplefilter("ignore", kind)
        yield


def fit_and_check(of, settings, kind, answers=True, **changes):
    """Fit a model to a network and check all of it; return it."""
    with strict():
        model = RelationalTopicModel(**{"n_topics": 3, **SHORT, **kind, **settings, **changes}).fit(of)
        check_model(model)
        if answers:
            check_answers(model)
    return model


def finite(name, *arrays):
    for array in arrays:
        assert np.isfinite(array).all(), f"{name} is not finite"


def distributions(name, rows):
    finite(name, rows)
    assert (rows >= 0).all(), f"{name} has negative entries"
    np.testing.assert_allclose(rows.sum(axis=-1), 1.0, rtol=1e-6, err_msg=name)


def check_model(model):
    """Check the attributes of a model, its samples and the states of its chains."""
    K = model.n_topics
    distributions("topic_word_", model.topic_word_)
    distributions("doc_topic_", model.doc_topic_)
    for name in ("link_weights_", "link_weights_std_", "feature_weights_", "feature_weights_std_", "alpha_", "beta_"):
        finite(name, getattr(model, name))
    for name, trace in model.trace_.items():
        finite(f"the trace of {name}", trace)
    for sample in model.samples_:
        finite("the weights of a sample", sample.weights, sample.feature_weights)
        distributions("the words of a sample's topics", sample.word_topic[:, :K].T.astype(float))
        distributions("the topics of a sample's documents", sample.doc_topic.astype(float))
    corpus = model._run.load_corpus()
    for chain in model._run.chains:
        check_state(corpus, chain.state, model._run.settings)


def check_answers(model):
    """Check what a model answers about documents taken for new, and that it can be saved and loaded."""
    of = model.network_
    new = of.subset([0, 1, of.n_documents - 1]).without_links()
    ids = of.ids.tolist()
    distributions("transform", model.transform(new))
    for direction in ("both", "out", "in"):
        links = model.predict_links(new, direction=direction)
        finite("predict_links", links)
        assert ((links >= 0) & (links <= 1)).all()
    suggested = model.suggest_links(new, top=3)
    assert len(suggested) == 9
    finite("suggest_links", suggested[["probability", "lower", "upper"]].to_numpy(float))
    for explained in (model.explain_link(ids[0], ids[1]), model.explain_link(None, ids[1], documents=new)):
        finite("explain_link", explained[["contribution", "share"]].to_numpy(float))
    distributions("word_probabilities", model.word_probabilities([ids[1:2]], [ids[2:5]]))
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        loaded = RelationalTopicModel.load(Path(folder) / "model")
        np.testing.assert_array_equal(loaded.predict_links(new), model.predict_links(new))
        if model.n_chains == 1:  # going on from the folder is as good as going on at once
            np.testing.assert_array_equal(
                loaded.resume(n_samples=1).trace_["log joint"], model.resume(n_samples=1).trace_["log joint"]
            )
