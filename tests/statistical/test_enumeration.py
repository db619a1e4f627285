"""On a network small enough to list every configuration of topics, a long run visits each as often as it should.

Three documents of two or three tokens and one without words, two topics: 128 configurations. Weights and augmented
variables are fixed, so `draw_topics` alone must leave the enumerated distribution invariant. Features shift the scores
of pairs; seed words and an alpha for each topic tell topics apart before any word is seen. The transition matrix of a
sweep, also enumerated, tells how far apart samples must be for the chi-square test to take them as independent.
False-alarm rate: 1e-3 for each of the parametrised cases (fixed seeds: they pass or fail for good).
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from support import reference
from support.marks import some_long
from support.worlds import assert_counts_match, make_corpus, make_sampler, masses, offset, set_alpha

DOCUMENTS = [[0, 1], [0, 2], [1, 1, 2], []]
ALPHA, BETA = 2.0, 0.5
FALSE_ALARM = 1e-3
SAMPLES, THIN = 12_000, 12


def enumerate_posterior(corpus, weights, shift, linear, quadratic, alpha, beta):
    """Return (configurations, their probabilities, transition matrix of one sweep in token order)."""
    n = corpus.n_tokens
    configurations = np.array(list(product(range(2), repeat=n)))
    documents = reference.token_documents(corpus)
    log_p = np.empty(len(configurations))
    for c, topics in enumerate(configurations):
        counts = reference.table(documents, topics, (corpus.n_documents, 2))
        log_p[c] = reference.log_words_and_topics(
            documents, corpus.words, topics, corpus.n_documents, corpus.n_words, 2, alpha, beta
        ) + reference.log_pairs(
            linear, quadratic, reference.scores(counts, corpus.source, corpus.target, weights, shift, alpha)
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


FEATURES = {
    # features of up to four pairs, and their weights
    "none": (np.empty((4, 0)), []),
    "intercept": (np.ones((4, 1)), [0.8]),
    "numbers": (np.array([[0.7, -1.2], [-1.6, 0.4], [1.1, 2.3], [-0.2, 0.9]]), [0.9, -0.6]),
}
CASES = {
    # kind, features, pairs, linear, quadratic: logistic-like values, or hinge-like ones
    "logistic directed": ("full", "none", [(0, 1), (1, 2), (2, 0)], [2.0, -0.5, 2.0], [1.5, 0.4, 0.9]),
    "directed, features": ("full", "numbers", [(0, 1), (1, 0), (2, 1), (0, 2)], [1, -0.5, 1, 0.5], [1, 0.8, 0.6, 1]),
    "undirected, features": ("symmetric", "numbers", [(0, 1), (1, 2), (0, 2)], [1.0, 1.0, -1.0], [2.0, 1.0, 2.0]),
    "hinge undirected": ("symmetric", "none", [(0, 1), (1, 2), (0, 2)], [-4.0, -3.0, -3.0], [5.0, 2.0, 3.0]),
    "logistic intercept": ("diagonal", "intercept", [(0, 1), (2, 1), (2, 0)], [2.0, -0.5, 2.0], [2.0, 1.0, 1.5]),
    "hinge diagonal": ("diagonal", "none", [(0, 1), (2, 1), (2, 0)], [4.0, -3.0, 3.0], [5.0, 2.0, 3.0]),
    "hinge diagonal, features": ("diagonal", "numbers", [(0, 1), (2, 1), (2, 0)], [4.0, -3.0, 3.0], [5.0, 2.0, 3.0]),
    "without words": ("full", "numbers", [(0, 3), (3, 1), (3, 2), (2, 0)], [2, -1, 2, -1], [0.5, 0.4, 0.6, 0.3]),
    "without words, undirected": ("symmetric", "none", [(0, 3), (1, 3), (0, 2)], [-2.0, 1.0, 2.0], [0.3, 0.4, 0.5]),
    "seeds, no pairs": ("full", "none", [], [], []),
    "seeds and uneven alpha": ("symmetric", "intercept", [(0, 1), (1, 2), (0, 2)], [1.0, 1.0, -1.0], [2.0, 1.0, 2.0]),
}
PRIORS = {
    "without words": ([], [0.4, 1.6]),
    "without words, undirected": ([], [1.7, 0.3]),
    # seed words (word, topic, amount), and the alpha of each topic unless that of the settings
    "seeds, no pairs": ([(1, 0, 2), (1, 1, 1), (2, 1, 1)], None),
    "seeds and uneven alpha": ([(0, 1, 2), (2, 0, 1)], [0.5, 1.5]),
}
WEIGHTS = {
    "full": np.array([[1.5, -2.0], [0.7, -0.4]]),
    "symmetric": np.array([[1.5, -1.0], [-1.0, -0.4]]),
    "diagonal": np.diag([2.0, -1.5]),
}
LONG = [
    "directed, features",
    "hinge diagonal, features",
    "hinge diagonal",
    "hinge undirected",
    "logistic intercept",
    "seeds and uneven alpha",
    "seeds, no pairs",
    "undirected, features",
    "without words",
    "without words, undirected",
]


@pytest.mark.parametrize("case", some_long(CASES, LONG))
def test_frequencies_of_all_configurations(case):
    kind, which, pairs, linear, quadratic = CASES[case]
    seeds, alpha = PRIORS.get(case, ([], None))
    pairs = np.array(pairs, dtype=int).reshape(-1, 2)
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    linear, quadratic = np.array(linear)[order], np.array(quadratic)[order]
    features, feature_weights = FEATURES[which]
    label = [True] * len(pairs)
    corpus = make_corpus(DOCUMENTS, 3, pairs, label, kind == "symmetric", features[: len(pairs)], seeds)
    sampler = make_sampler(corpus, kind, 20, 2, alpha=ALPHA, beta=BETA)
    if alpha is not None:
        set_alpha(sampler, alpha)
    state = sampler.state
    state.weights, state.feature_weights = WEIGHTS[kind], np.array(feature_weights)
    shift, (alpha, beta) = offset(sampler), masses(sampler)

    configurations, p, transition = enumerate_posterior(corpus, state.weights, shift, linear, quadratic, alpha, beta)
    np.testing.assert_allclose(p @ transition, p, atol=1e-12)
    # Correlation of any two functions of samples THIN sweeps apart: the second singular value, in the geometry of p.
    root = np.sqrt(p)
    apart = root[:, None] * np.linalg.matrix_power(transition, THIN) / root - np.outer(root, root)
    assert np.linalg.norm(apart, 2) < 0.02

    place = 1 << np.arange(corpus.n_tokens)[::-1]
    observed = np.zeros(len(p))
    sampler.shard.set_gaussian(linear, quadratic)
    for _ in range(SAMPLES):
        for _ in range(THIN):
            sampler.shard.draw_topics()
        observed[state.assignments @ place] += 1
    assert_counts_match(sampler)
    assert (configurations @ place == np.arange(len(p))).all()
    assert chi_square_p_value(observed, p) > FALSE_ALARM
    # Pairs, features and priors matter: without them, or the wrong way round, the same test must reject.
    mistakes = []
    if len(pairs):
        mistakes.append((shift, 0 * linear, 0 * quadratic, alpha, beta))
    if 3 in pairs:  # what a document without words has no shares of topics would leave out
        known = (corpus.source != 3) & (corpus.target != 3)
        mistakes.append((shift, linear * known, quadratic * known, alpha, beta))
    if shift.any():
        mistakes += [(wrong, linear, quadratic, alpha, beta) for wrong in (0 * shift, -shift)]
    if seeds:
        mistakes += [(shift, linear, quadratic, alpha, wrong) for wrong in (BETA, beta[::-1])]
    if alpha[0] != alpha[1]:
        mistakes += [(shift, linear, quadratic, wrong, beta) for wrong in (np.full(2, alpha.mean()), alpha[::-1])]
    for mistake in mistakes:
        _, wrong, _ = enumerate_posterior(corpus, state.weights, *mistake)
        assert chi_square_p_value(observed, wrong) < 1e-12
