"""On a network small enough to list every configuration of topics, a long run visits each as often as it should.

Three documents of two or three tokens, two topics: 128 configurations. Weights and augmented variables are fixed, so
`draw_topics` alone must leave the enumerated distribution invariant. The transition matrix of a sweep, also enumerated,
tells how far apart samples must be for the chi-square test to take them as independent.
False-alarm rate: 1e-3 for each of the parametrised cases (fixed seeds: they pass or fail for good).
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

import reference
from worlds import assert_counts_match, make_corpus, make_sampler

DOCUMENTS = [[0, 1], [0, 2], [1, 1, 2]]
ALPHA, BETA = 2.0, 0.5
FALSE_ALARM = 1e-3
SAMPLES, THIN = 12_000, 12


def enumerate_posterior(corpus, weights, intercept, linear, quadratic):
    """Return (configurations, their probabilities, transition matrix of one sweep in token order)."""
    n = corpus.n_tokens
    configurations = np.array(list(product(range(2), repeat=n)))
    documents = reference.token_documents(corpus)
    log_p = np.empty(len(configurations))
    for c, topics in enumerate(configurations):
        counts = reference.table(documents, topics, (corpus.n_documents, 2))
        log_p[c] = reference.log_words_and_topics(
            documents, corpus.words, topics, corpus.n_documents, corpus.n_words, 2, ALPHA, BETA
        ) + reference.log_pairs(
            linear, quadratic, reference.scores(counts, corpus.source, corpus.target, weights, intercept)
        )
    p = np.exp(log_p - log_p.max())
    p /= p.sum()
    transition = np.eye(len(p))
    for token in range(n):
        step = np.zeros_like(transition)
        flipped = np.arange(len(p)) ^ (1 << (n - 1 - token))
        stay = p / (p + p[flipped])
        step[np.arange(len(p)), np.arange(len(p))] = stay
        step[np.arange(len(p)), flipped] = 1 - stay
        transition = transition @ step
    return configurations, p, transition


def chi_square_p_value(observed, p):
    """Pearson's test; configurations with fewer than 5 expected visits are put together."""
    expected = p * observed.sum()
    rare = expected < 5
    if rare.any():
        expected = np.append(expected[~rare], expected[rare].sum())
        observed = np.append(observed[~rare], observed[rare].sum())
    return stats.chisquare(observed, expected).pvalue


CASES = {
    # kind, symmetric, pairs, linear, quadratic: logistic-like values, then hinge-like ones
    "logistic directed": ("full", False, [(0, 1), (1, 2), (2, 0)], [2.0, -0.5, 2.0], [1.5, 0.4, 0.9]),
    "logistic undirected": ("symmetric", True, [(0, 1), (1, 2), (0, 2)], [2.0, -0.5, 2.0], [1.5, 0.4, 0.9]),
    "hinge directed": ("full", False, [(0, 1), (1, 0), (2, 1), (0, 2)], [6.0, -3.0, 5.0, -1.2], [5.0, 2.0, 3.0, 0.4]),
    "hinge undirected": ("symmetric", True, [(0, 1), (1, 2), (0, 2)], [-4.0, -3.0, -3.0], [5.0, 2.0, 3.0]),
    "logistic intercept": ("intercept", False, [(0, 1), (2, 1), (2, 0)], [2.0, -0.5, 2.0], [2.0, 1.0, 1.5]),
    "hinge diagonal": ("diagonal", False, [(0, 1), (2, 1), (2, 0)], [4.0, -3.0, 3.0], [5.0, 2.0, 3.0]),
}


@pytest.mark.parametrize("case", list(CASES))
def test_frequencies_of_all_configurations(case):
    kind, symmetric, pairs, linear, quadratic = CASES[case]
    order = np.lexsort((np.array(pairs)[:, 1], np.array(pairs)[:, 0]))
    linear, quadratic = np.array(linear)[order], np.array(quadratic)[order]
    corpus = make_corpus(DOCUMENTS, 3, pairs, [True] * len(pairs), symmetric)
    sampler = make_sampler(corpus, kind, 20, 2, alpha=ALPHA, beta=BETA)
    state = sampler.state
    if kind == "full":
        state.weights = np.array([[1.5, -2.0], [0.7, -0.4]])
    elif kind == "symmetric":
        state.weights = np.array([[1.5, -1.0], [-1.0, -0.4]])
    else:
        state.weights = np.diag([2.0, -1.5])
        state.intercept = 0.8 if kind == "intercept" else 0.0

    configurations, p, transition = enumerate_posterior(corpus, state.weights, state.intercept, linear, quadratic)
    np.testing.assert_allclose(p @ transition, p, atol=1e-12)
    # Correlation of any two functions of samples THIN sweeps apart: the second singular value, in the geometry of p.
    root = np.sqrt(p)
    apart = root[:, None] * np.linalg.matrix_power(transition, THIN) / root - np.outer(root, root)
    assert np.linalg.norm(apart, 2) < 0.02

    place = 1 << np.arange(corpus.n_tokens)[::-1]
    observed = np.zeros(len(p))
    for _ in range(SAMPLES):
        for _ in range(THIN):
            sampler.draw_topics(linear, quadratic)
        observed[state.assignments @ place] += 1
    assert_counts_match(sampler)
    assert (configurations @ place == np.arange(len(p))).all()
    assert chi_square_p_value(observed, p) > FALSE_ALARM
    # The pairs matter: without them the same test must reject.
    _, unlinked, _ = enumerate_posterior(corpus, state.weights, state.intercept, 0 * linear, 0 * quadratic)
    assert chi_square_p_value(observed, unlinked) < 1e-12
