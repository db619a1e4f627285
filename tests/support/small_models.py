"""A small network, models fitted to it in no time, and what it means for two models to be the same."""

import dataclasses

import numpy as np
import pandas as pd

from linktopics import DocumentNetwork, RelationalTopicModel

TEXTS = {
    "cat": "cats purr and cats sleep on cushions",
    "kitten": "kittens play, purr and chase mice",
    "mouse": "mice eat cheese while cats sleep",
    "milk": "kittens drink milk, cats drink milk",
    "wool": "kittens chase wool on cushions",
    "star": "stars shine, and planets circle stars",
    "planet": "planets circle a star; moons circle planets",
    "moon": "moons shine by light of stars",
    "comet": "comets circle stars on long orbits",
    "orbit": "planets, moons and comets have orbits",
}
LINKS = [
    *(("kitten", "cat"), ("mouse", "cat"), ("mouse", "kitten"), ("milk", "kitten"), ("wool", "kitten")),
    *(("planet", "star"), ("moon", "planet"), ("moon", "star"), ("comet", "star"), ("orbit", "planet")),
]
FURTHER = {"dog": "dogs chase cats", "sun": "the sun and stars shine"}
FURTHER_LINKS = [("dog", "cat"), ("star", "sun"), ("dog", "sun"), ("cat", "orbit")]
SHORT = {"n_burn_in": 3, "n_samples": 2, "thin": 2, "n_chains": 2, "negatives": 2, "random_state": 0, "verbose": False}
ASKED = "kittens purr while planets circle stars"


def small_network(ids=None, **changes):
    """Return the network of the texts; `ids` replace theirs, one by one."""
    ids = list(TEXTS) if ids is None else list(ids)
    place = dict(zip(TEXTS, ids, strict=True))
    links = [(place[source], place[target]) for source, target in LINKS]
    return DocumentNetwork.from_texts(list(TEXTS.values()), **{"links": links, "ids": ids, **changes})


def small_model(**changes):
    return RelationalTopicModel(**{"n_topics": 3, **SHORT, **changes})


def attributes(model):
    """Return all attributes of a fitted model but how it was run."""
    found = {
        name: value
        for name, value in vars(model).items()
        if name.endswith("_") and name not in ("timings_", "bytes_exchanged_")
    }
    found["samples_"] = [dataclasses.astuple(sample) for sample in model.samples_]
    return {**found, "network_": described(model.network_)}


def answers(model, words=False):
    """Return the attributes, and what the model answers about some documents taken for new; `words` takes longest."""
    known, found = model.network_, attributes(model)
    new, ids = known.subset([1, 6]).without_links(), known.ids.tolist()
    found["transform"] = model.transform(new)
    found["topics"] = model.topics()
    if known.vectorizer is not None:
        found["counts of texts"] = known.vectorize([*TEXTS.values(), ASKED]).toarray()
        found["transform of a text"] = model.transform(ASKED)
    if known.n_links:
        for direction in ("both", "out", "in"):
            found[f"predict {direction}"] = model.predict_links(new, ids[3:], direction=direction)
        found["suggestions"] = model.suggest_links(new, top=3)
        found["explained"] = model.explain_link(ids[0], ids[1])
        found["explained new"] = model.explain_link(ids[0], None, documents=new)
    if known.n_links and words:
        found["words"] = model.word_probabilities([ids[:1]], [ids[5:7]])
    return found


def described(network):
    """Return all that a network holds, but for its vectorizer."""
    found = {name: value for name, value in vars(network).items() if name not in ("vectorizer", "_positions", "counts")}
    counts = network.counts
    return {**found, "shape": counts.shape, "counts": [counts.indptr, counts.indices, counts.data]}


def assert_same(one, two):
    """Compare the attributes of two models, or answers of theirs, to the last bit."""
    one, two = (value if isinstance(value, dict) else attributes(value) for value in (one, two))
    _assert_equal(one, two, "model")


def _assert_equal(one, two, where):
    assert type(one) is type(two), where
    if isinstance(one, dict):
        assert set(one) == set(two), f"{where}: {sorted(set(one) ^ set(two))}"
        for name in one:
            _assert_equal(one[name], two[name], f"{where}: {name}")
    elif isinstance(one, pd.DataFrame):
        pd.testing.assert_frame_equal(one, two, check_exact=True)
    elif isinstance(one, np.ndarray) and one.dtype != object:
        assert one.dtype == two.dtype, where
        np.testing.assert_array_equal(one, two, err_msg=where)
    elif isinstance(one, list | tuple | np.ndarray):
        assert len(one) == len(two), where
        for number, (a, b) in enumerate(zip(one, two, strict=True)):
            _assert_equal(a, b, f"{where}[{number}]")
    else:
        assert one == two or (one != one and two != two), f"{where}: {one!r} and {two!r}"
