"""A network whose links are planted, and models that keep what they were given."""

from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from linktopics import DocumentNetwork
from linktopics.registry import METRICS

SCORES = ["model", "fold", *METRICS, "n_test_links"]
"""Columns that do not depend on the clock."""


def planted(seed=0, n=90, n_groups=3, directed=True, **more):
    """Documents in groups with words of their own and links mostly within the group."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) % n_groups
    words = np.full((n_groups, 8 * n_groups), 0.01)
    for k in range(n_groups):
        words[k, 8 * k : 8 * k + 8] = 0.3
    words /= words.sum(1, keepdims=True)
    counts = np.stack([rng.multinomial(15, words[k]) for k in group])
    linked = rng.random((n, n)) < np.where(group[:, None] == group, 0.2, 0.01)
    np.fill_diagonal(linked, False)
    pairs = np.argwhere(linked if directed else np.triu(linked))
    return DocumentNetwork(counts, pairs, directed=directed, link_ends="indices", **more)


class Overlap(BaseEstimator):
    """Scores a pair by its common words; keeps what it was given in a list that all clones share."""

    calls: ClassVar[list] = []

    def __init__(self, scale=1.0, random_state=None, verbose="auto", n_jobs=None):
        self.scale = scale
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def fit(self, network):
        self.network_ = network
        self.calls.append(("fit", network, self.get_params()))
        return self

    def predict_links(self, documents, candidates=None, direction="both"):
        self.calls.append(("links", documents, direction))
        return self.scale * (documents @ self.network_.counts.T).toarray().astype(float)


class Wordy(Overlap):
    """Predicts the words of the documents linked with."""

    def word_probabilities(self, links, linked_by=None):
        self.calls.append(("words", links, linked_by))
        counts, found = self.network_.counts.toarray(), []
        for number, out in enumerate(links):
            ids = [*out, *(linked_by[number] if linked_by else [])]
            found.append(counts[[self.network_.index_of(id) for id in ids]].sum(0) + 0.1)
        return np.array(found) / np.sum(found, axis=1, keepdims=True)


def scores_of(evaluation):
    return evaluation.folds[SCORES]
