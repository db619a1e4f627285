"""Draws of the weights against the dense Gaussian from explicit feature rows.

With the reference's mean m and the Cholesky factor L of its precision, x = L^T (draw - m) must be standard normal in
every coordinate and independent from coordinate to coordinate and from draw to draw. Four kinds of p-values: means,
variances and correlations of the coordinates, and Kolmogorov-Smirnov of all x together. False-alarm rate: 1e-3 per test
(Bonferroni over all its p-values); fixed seeds.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import reference
from worlds import make_corpus, make_sampler, random_pairs

FALSE_ALARM = 1e-3
DRAWS = 1500
VARIANCE = 2.5


def standard_normal_p_value(x):
    """Smallest p-value, times the number of them, of "the rows of x are independent and N(0, I)"."""
    n, d = x.shape
    p_values = list(2 * stats.norm.sf(np.abs(x.mean(axis=0)) * np.sqrt(n)))
    squares = (x**2).sum(axis=0)
    p_values += list(2 * np.minimum(stats.chi2.cdf(squares, n), stats.chi2.sf(squares, n)))
    products = [(x[:, a] * x[:, b]).mean() for a in range(d) for b in range(a)]
    products += list((x[1:] * x[:-1]).mean(axis=0))  # one draw and the next
    p_values += list(2 * stats.norm.sf(np.abs(products) * np.sqrt(n - 1)))
    p_values.append(stats.kstest(x.reshape(-1), "norm").pvalue)
    return min(p_values) * len(p_values)


def standardised_draws(sampler, kind, linear, quadratic, start=None, n=DRAWS):
    """Draw the weights n times and standardise them with the reference."""
    corpus, state, K = sampler.corpus, sampler.state, sampler.settings.n_topics
    documents = reference.token_documents(corpus)
    counts = reference.table(documents, state.assignments, (corpus.n_documents, K))
    variance = sampler.settings.weight_variance
    mean, precision = reference.weight_posterior(
        counts, corpus.source, corpus.target, kind, linear, quadratic, variance
    )
    draws = np.empty((n, len(mean)))
    for i in range(n):
        if start is not None:
            state.weights = start.copy()
        sampler.draw_weights(linear, quadratic)
        if kind == "symmetric":
            np.testing.assert_allclose(state.weights, state.weights.T, rtol=0, atol=1e-9)
        if kind in ("diagonal", "intercept"):
            assert not state.weights[~np.eye(K, dtype=bool)].any()
        assert kind == "intercept" or state.intercept == 0
        draws[i] = reference.free_weights(state.weights, state.intercept, kind)
    return (draws - mean) @ np.linalg.cholesky(precision)


def network(rng, n_topics, kind, method, n_documents=25, **settings):
    """Random documents (one of them empty) and pairs, topics as the initial state has them."""
    documents = [rng.integers(8, size=n) for n in rng.integers(1, 9, n_documents)]
    documents[3] = []
    symmetric = kind == "symmetric"
    pairs = random_pairs(rng, range(n_documents), 0.25, symmetric)
    corpus = make_corpus(documents, 8, pairs, rng.random(len(pairs)) < 0.5, symmetric)
    return make_sampler(corpus, kind, 30, n_topics, weight_variance=VARIANCE, weight_method=method, **settings)


METHODS = [
    ("full", "cholesky"),
    ("full", "cg"),
    ("symmetric", "cholesky"),
    ("symmetric", "cg"),
    ("diagonal", "auto"),
    ("intercept", "auto"),
]


@pytest.mark.parametrize("n_topics", [2, 5])
@pytest.mark.parametrize(("kind", "method"), METHODS)
def test_logistic_weights(kind, method, n_topics):
    rng = np.random.default_rng([40, n_topics, METHODS.index((kind, method))])
    sampler = network(rng, n_topics, kind, method)
    label = sampler.corpus.label
    linear, quadratic = reference.gaussian_form("logistic", rng.gamma(2.0, 0.5, len(label)), label, 4.0, 1.0, 1.0)
    assert standard_normal_p_value(standardised_draws(sampler, kind, linear, quadratic)) > FALSE_ALARM


@pytest.mark.parametrize(("kind", "method"), METHODS)
def test_heavy_tailed_hinge_weights(kind, method):
    """Hinge: quadratic over six orders of magnitude (a pair at its margin has a tiny augmented variable)."""
    rng = np.random.default_rng([41, METHODS.index((kind, method))])
    sampler = network(rng, 4, kind, method, loss="hinge")
    label = sampler.corpus.label
    augmented = 10 ** rng.uniform(-4, 2, len(label))
    linear, quadratic = reference.gaussian_form("hinge", augmented, label, 4.0, 1.0, 1.0)
    assert quadratic.max() / quadratic.min() > 1e6
    assert standard_normal_p_value(standardised_draws(sampler, kind, linear, quadratic)) > FALSE_ALARM


@pytest.mark.parametrize("kind", ["full", "symmetric"])
@pytest.mark.parametrize("far", [0.0, 1e2, 1e4])
def test_conjugate_gradients_forget_where_they_start(kind, far):
    rng = np.random.default_rng([42, int(far)])
    sampler = network(rng, 4, kind, "cg", loss="hinge")
    label = sampler.corpus.label
    augmented = 10 ** rng.uniform(-2, 1, len(label))
    linear, quadratic = reference.gaussian_form("hinge", augmented, label, 4.0, 1.0, 1.0)
    start = far * rng.standard_normal((4, 4))
    start = start + start.T if kind == "symmetric" else start
    draws = standardised_draws(sampler, kind, linear, quadratic, start=start, n=1000)
    assert standard_normal_p_value(draws) > FALSE_ALARM


def test_both_methods_have_the_same_mean():
    """With hardly any noise (huge pull, huge precision) both methods give the mean itself, to 0.1 % of its spread."""
    rng = np.random.default_rng(43)
    for kind in ("full", "symmetric"):
        for method in ("cholesky", "cg"):
            sampler = network(rng, 9, kind, method, n_documents=60)
            n = sampler.corpus.n_pairs
            quadratic = 1e8 * rng.gamma(2.0, 0.5, n)
            linear = quadratic * rng.normal(0, 3, n)
            state, corpus = sampler.state, sampler.corpus
            documents = reference.token_documents(corpus)
            counts = reference.table(documents, state.assignments, (corpus.n_documents, 9))
            mean, precision = reference.weight_posterior(
                counts, corpus.source, corpus.target, kind, linear, quadratic, VARIANCE
            )
            sampler.draw_weights(linear, quadratic)
            draw = reference.free_weights(state.weights, state.intercept, kind)
            noise = np.sqrt(np.diag(np.linalg.inv(precision))).max()
            assert np.abs(draw - mean).max() < 1e-3 * mean.std() + 6 * noise
