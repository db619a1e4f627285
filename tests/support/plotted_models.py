"""Models that are made up for plots, and what plots show."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from linktopics import DocumentNetwork

WORDS = ["ant", "bee", "caterpillar", "dog", "elephant", "fox", "gnu", "hippopotamus", "ibis", "jay", "koala", "lynx"]


@dataclass
class Fitted(BaseEstimator):
    """What plots ask of a model, made up."""

    link_weights_: np.ndarray
    link_weights_std_: np.ndarray
    shares: np.ndarray
    doc_topic_: np.ndarray
    network_: DocumentNetwork
    words: list = field(default_factory=list)

    def fit(self):
        raise NotImplementedError

    def topics(self, n_words=8):
        table = pd.DataFrame({"share": self.shares, "words": [", ".join(row[:n_words]) for row in self.words]})
        return table.sort_values("share", ascending=False)


def make_model(n_topics, *, weights=None, deviation=1.0, directed=True):
    """Make a model with a document and a few links for every topic."""
    rng = np.random.default_rng(n_topics)
    if weights is None:
        weights = rng.normal(-1, 4, (n_topics, n_topics))
        weights = weights if directed else (weights + weights.T) / 2
    links = rng.integers(0, n_topics, (4 * n_topics, 2))
    network = DocumentNetwork(
        np.ones((n_topics, 2), int), np.unique(links[links[:, 0] < links[:, 1]], axis=0), directed=directed
    )
    return Fitted(
        link_weights_=weights,
        link_weights_std_=np.full(weights.shape, deviation),
        shares=rng.dirichlet(np.ones(n_topics)),
        doc_topic_=np.eye(n_topics),
        network_=network,
        words=[list(rng.permutation(WORDS)) for _ in range(n_topics)],
    )


LABELS = np.array([0, 0, 1, 1, 0, 1], bool)
SCORES = np.array([0.1, 0.3, 0.3, 0.8, 0.5, 0.9])


def visible_boxes(texts):
    return [text.get_window_extent() for text in texts if text.get_text() and text.get_visible()]
