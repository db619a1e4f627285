"""Networks simulated from the model: topics and the signs of the weights come back, up to relabelling.

Sizes and weights are such that the posterior is sharp, so that failure by chance has no rate worth stating. Asked for /
seen at worst: overlap of topics 0.9 / 0.963, of the documents' proportions 0.95 / 0.964, weights 3 / 9 posterior
standard deviations from zero. Fixed seeds.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.special import expit

from worlds import make_corpus, make_sampler

N_DOCUMENTS, N_WORDS, K = 180, 40, 3
ASYMMETRIC = np.array([[5.0, -5.0, 5.0], [-5.0, 5.0, -5.0], [-5.0, -5.0, 5.0]])
"""Topic 0 links to topic 2, which does not link back."""
SYMMETRIC = np.array([[5.0, -5.0, 5.0], [-5.0, 5.0, -5.0], [5.0, -5.0, -5.0]])
DIAGONAL = np.diag([6.0, -6.0, 6.0])


def simulate(rng, weights, symmetric, n_pairs=2500):
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
    omega = np.einsum("ek,kl,el->e", zbar[pairs[:, 0]], weights, zbar[pairs[:, 1]])
    return make_corpus(documents, N_WORDS, pairs, rng.random(n_pairs) < expit(omega), symmetric), phi, zbar


CASES = {
    "logistic directed": ("logistic", "full", ASYMMETRIC, False, True),
    "logistic undirected": ("logistic", "symmetric", SYMMETRIC, True, True),
    "hinge directed": ("hinge", "full", ASYMMETRIC, False, True),
    "hinge undirected": ("hinge", "symmetric", SYMMETRIC, True, True),
    "logistic diagonal": ("logistic", "diagonal", DIAGONAL, False, True),
    "hinge diagonal": ("hinge", "diagonal", DIAGONAL, True, True),
    "logistic directed, cached": ("logistic", "full", ASYMMETRIC, False, False),
}


@pytest.mark.parametrize("case", list(CASES))
def test_topics_and_signs_of_weights_are_recovered(case):
    loss, kind, planted, symmetric, exact = CASES[case]
    rng = np.random.default_rng([80, len(case)])
    corpus, phi, zbar = simulate(rng, planted, symmetric)
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
    topic_word, doc_topic, weights = np.zeros((K, N_WORDS)), np.zeros((N_DOCUMENTS, K)), []
    for state in sampler:
        if state.iteration > 150:
            topic_word += state.word_topic[:, :K].T
            doc_topic += state.doc_topic[:, :K]
            weights.append(state.weights.copy())
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
