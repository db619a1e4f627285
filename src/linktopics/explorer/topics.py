"""Descriptions of topics and of the weights between them, for the pages."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linktopics.explorer.rounding import rounded
from linktopics.model.summary import typical_documents
from linktopics.plots.layout import push_apart, stress_layout
from linktopics.plots.style import structure_order
from linktopics.prediction.ranking import blocks_of

Array = NDArray[np.float64]

N_WORDS = 30
"""Words of a topic for one value of lambda."""

LAMBDAS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)

N_DOCUMENTS, N_PARTNERS = 10, 5

TOPIC_BLOCK_CELLS = 2**22
"""Cells, documents or words of documents x topics, that are in memory at once."""

WITHOUT_LINKS = "The model was fitted without links, so its weights mean nothing."


def describe_topics(model: Any, shares: Array, names: list[str]) -> list[dict[str, Any]]:
    """Return a description of each topic: its words, documents and partners.

    Parameters
    ----------
    model : RelationalTopicModel
        A fitted model.
    shares : ndarray of shape (n_documents, K)
        Shares of topics among the words of documents.
    names : list of str
        The words.
    """
    network = model.network_
    frequency = np.asarray(network.counts.sum(axis=0, dtype=np.int64)).ravel() / network.n_tokens
    coherence = model.coherence() if network.n_words > 1 else np.full(shares.shape[1], np.nan)
    of_all = network.lengths @ shares / network.n_tokens
    weights = model.link_weights_
    linked = network.n_links > 0
    return [
        {
            "share": rounded(float(of_all[k])),
            "coherence": rounded(float(coherence[k])),
            "attraction": rounded(float(weights[k, k])) if linked else None,
            **_words(model.topic_word_[k], frequency, names),
            "documents": typical_documents(shares[:, k], network.lengths, N_DOCUMENTS).tolist(),
            "partners": _partners(weights[k], k) if linked else [],
            "partners_in": _partners(weights[:, k], k) if linked else [],
        }
        for k in range(len(weights))
    ]


def _words(in_topic: Array, in_all: Array, names: list[str]) -> dict[str, Any]:
    """Return the words that are among the best by relevance for any lambda (Sievert and Shirley, 2014).

    Relevance is ``lambda log p(w | topic) + (1 - lambda) log p(w | topic) / p(w)``.
    """
    there = np.flatnonzero(in_all > 0)
    probable, lift = np.log(in_topic[there]), np.log(in_topic[there] / in_all[there])
    chosen: set[int] = set()
    for weight in LAMBDAS:
        order = np.argsort(-(weight * probable + (1 - weight) * lift), kind="stable")[:N_WORDS]
        chosen.update(there[order].tolist())
    words = sorted(chosen, key=lambda w: (-in_topic[w], w))
    return {"words": [names[w] for w in words], "p": rounded(in_topic[words]), "q": rounded(in_all[words])}


def _partners(weights: Array, own: int) -> list[list[Any]]:
    """Return other topics that are attracted, with their weights."""
    order = [k for k in np.argsort(-weights, kind="stable").tolist() if k != own and weights[k] > 0]
    return [[k, rounded(float(weights[k]))] for k in order[:N_PARTNERS]]


def describe_features(model: Any) -> list[dict[str, Any]]:
    """Return the weights of features, over the samples of all chains."""
    drawn = np.stack([sample.feature_weights for sample in model.samples_])
    one = len(drawn) == 1
    return [
        {
            "name": name,
            "mean": rounded(float(drawn[:, column].mean())),
            "sd": None if one else rounded(float(drawn[:, column].std()), 3),
            "positive": None if one else rounded(float((drawn[:, column] > 0).mean())),
        }
        for column, name in enumerate(model.feature_names_)
    ]


def describe_weights(model: Any, shares: Array) -> dict[str, Any]:
    """Return the matrix of weights, and the numbers of links between topics."""
    network = model.network_
    drawn = np.stack([sample.weights for sample in model.samples_ if sample.chain == model.best_chain_])
    mean = drawn.mean(axis=0) if network.n_links else np.zeros(drawn.shape[1:])
    unknown = np.full(mean.shape, np.nan)
    sure = len(drawn) > 1 and network.n_links > 0
    observed, chance = _between(network, shares)
    return {
        "mean": rounded(mean),
        "sd": rounded(drawn.std(axis=0) if sure else unknown, 3),
        "positive": rounded((drawn > 0).mean(axis=0) if sure else unknown),
        "symmetric": not network.directed,
        "diagonal": model.weights == "diagonal",
        "order": structure_order(mean).tolist(),
        "observed": rounded(observed),
        "chance": rounded(chance),
        "layout": rounded(_layout(mean), 3),
        "note": None if network.n_links else WITHOUT_LINKS,
    }


def _between(network: Any, shares: Array) -> tuple[Array, Array]:
    """Return the numbers of links between topics, and those expected in a random network.

    Each link is divided over pairs of topics by their shares in the two documents. The random network keeps the number
    of links of each document.
    """
    source, target = network.links.T
    n, K = shares.shape
    if not len(source):
        return np.zeros((K, K)), np.zeros((K, K))
    out, into = (np.bincount(end, minlength=n) @ shares for end in (source, target))
    observed = np.zeros((K, K))
    for part in blocks_of(len(source), K, TOPIC_BLOCK_CELLS):
        observed += shares[source[part]].T @ shares[target[part]]
    if not network.directed:
        observed = (observed + observed.T) / 2
        out = into = (out + into) / 2
    return observed, np.outer(out, into) / len(source)


def _layout(weights: Array) -> Array:
    """Return positions of topics in the unit square, close to those they attract or are attracted by."""
    attraction = np.maximum(weights - np.diag(np.diag(weights)), 0.0)
    size = 0.6 / np.sqrt(len(weights))
    return push_apart(stress_layout(attraction), np.full((len(weights), 2), size), (1.0, 1.0))
