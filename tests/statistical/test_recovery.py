"""Networks simulated from the model: topics and the signs of the weights come back, up to relabelling.

Sizes and weights are such that the posterior is sharp, so that failure by chance has no rate worth stating. Asked for /
seen at worst: overlap of topics 0.9 / 0.954, of the documents' proportions 0.95 / 0.962, weights 3 / 7 posterior
standard deviations from zero. Weights of features come back too: their signs under the hinge loss, whose scale is
another, and under the logistic loss their values, to 4 posterior standard deviations (false-alarm rate 3e-4 for the
five of them) of at most 0.25. Fixed seeds.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.special import expit

from support.marks import some_long
from support.worlds import make_corpus, make_sampler

N_DOCUMENTS, N_WORDS, K = 180, 40, 3
ASYMMETRIC = np.array([[5.0, -5.0, 5.0], [-5.0, 5.0, -5.0], [-5.0, -5.0, 5.0]])
"""Topic 0 links to topic 2, which does not link back."""
SYMMETRIC = np.array([[5.0, -5.0, 5.0], [-5.0, 5.0, -5.0], [5.0, -5.0, -5.0]])
DIAGONAL = np.diag([6.0, -6.0, 6.0])
PLANTED = np.array([1.5, -1.0, -0.75])
"""Weights of a number that has nothing to do with topics, of one that goes with the topics shared, of an intercept."""


def simulate(rng, weights, symmetric, feature_weights, n_pairs=2500):
    """Draw documents and labelled pairs; return the corpus and the topics of the simulation."""
    phi = rng.dirichlet(np.full(N_WORDS, 0.1), size=K)
    theta = rng.dirichlet(np.full(K, 0.3), size=N_DOCUMENTS)
    documents, counts = [], np.zeros((N_DOCUMENTS, K))
    for i in range(N_DOCUMENTS):
        topics = rng.choice(K, size=rng.integers(30, 51), p=theta[i])
        np.add.at(counts[i], topics, 1)
        documents.append([rng.choice(N_WORDS, p=phi[k]) for k in topics])
    zbar = counts / counts.sum(axis=1, keepdims=True)
    every = np.argwhere(np.triu(np.ones((N_DOCUMENTS,) * 2), 1) if symmetric else ~np.eye(N_DOCUMENTS, dtype=bool))
    pairs = every[np.sort(rng.choice(len(every), n_pairs, replace=False))]
    left, right = zbar[pairs[:, 0]], zbar[pairs[:, 1]]
    shared = (left * right).sum(axis=1)
    along = (shared - shared.mean()) / shared.std() + 0.5 * rng.standard_normal(n_pairs)
    features = np.stack([rng.standard_normal(n_pairs), along, np.ones(n_pairs)], axis=1)[:, : len(feature_weights)]
    omega = np.einsum("ek,kl,el->e", left, weights, right) + features @ feature_weights
    label = rng.random(n_pairs) < expit(omega)
    return make_corpus(documents, N_WORDS, pairs, label, symmetric, features), phi, zbar


CASES = {
    # loss, kind, weights, undirected, exact, number of features
    "logistic directed": ("logistic", "full", ASYMMETRIC, False, True, 0),
    "logistic undirected": ("logistic", "symmetric", SYMMETRIC, True, True, 0),
    "hinge directed": ("hinge", "full", ASYMMETRIC, False, True, 0),
    "hinge undirected": ("hinge", "symmetric", SYMMETRIC, True, True, 0),
    "logistic diagonal": ("logistic", "diagonal", DIAGONAL, False, True, 0),
    "hinge diagonal": ("hinge", "diagonal", DIAGONAL, True, True, 0),
    "logistic directed, cached": ("logistic", "full", ASYMMETRIC, False, False, 0),
    "logistic directed and features": ("logistic", "full", ASYMMETRIC, False, True, 2),
    "hinge undirected and features": ("hinge", "symmetric", SYMMETRIC, True, True, 2),
    "logistic diagonal, features and intercept": ("logistic", "diagonal", DIAGONAL, False, True, 3),
}


@pytest.mark.parametrize("case", some_long(CASES, [case for case in CASES if "features" not in case]))
def test_topics_and_signs_of_weights_are_recovered(case):
    loss, kind, planted, symmetric, exact, n_features = CASES[case]
    planted_features = PLANTED[:n_features]
    rng = np.random.default_rng([80, len(case)])
    corpus, phi, zbar = simulate(rng, planted, symmetric, planted_features)
    sampler = make_sampler(
        corpus,
        kind,
        81,
        K,
        loss=loss,
        exact=exact,
        alpha=1.0,
        beta=0.1,
        weight_variance=10.0,
        link_cost=1.0,
        nonlink_cost=1.0,
    )
    topic_word, doc_topic, weights, feature_weights = np.zeros((K, N_WORDS)), np.zeros((N_DOCUMENTS, K)), [], []
    for state in sampler:
        if state.iteration > 150:
            topic_word += state.word_topic[:, :K].T
            doc_topic += state.doc_topic[:, :K]
            weights.append(state.weights.copy())
            feature_weights.append(state.feature_weights.copy())
        if state.iteration == 250:
            break
    topic_word /= topic_word.sum(axis=1, keepdims=True)
    doc_topic /= doc_topic.sum(axis=1, keepdims=True)
    # Overlap of two distributions: 1 - their total variation distance.
    overlap = np.minimum(phi[:, None, :], topic_word[None, :, :]).sum(axis=2)
    _, match = linear_sum_assignment(-overlap)
    assert overlap[np.arange(K), match].min() > 0.9
    assert np.minimum(zbar, doc_topic[:, match]).sum(axis=1).mean() > 0.95
    found = np.array(weights)[:, match][:, :, match]
    mean, spread = found.mean(axis=0), found.std(axis=0)
    clear = planted != 0
    assert (np.sign(mean) == np.sign(planted))[clear].all(), f"{mean}"
    assert (np.abs(mean) > 3 * spread)[clear].all(), f"{mean} +- {spread}"
    mean, spread = np.mean(feature_weights, axis=0), np.std(feature_weights, axis=0)
    assert (np.sign(mean) == np.sign(planted_features)).all(), f"{mean}"
    assert (np.abs(mean) > 3 * spread).all(), f"{mean} +- {spread}"
    if loss == "logistic":
        assert (spread < 0.25).all(), f"{spread}"
        assert (np.abs(mean - planted_features) < 4 * spread).all(), f"{mean} +- {spread}"
