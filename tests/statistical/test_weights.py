"""Draws of the weights, those of features among them, against the dense Gaussian from one explicit row per pair.

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
from worlds import make_corpus, make_sampler, random_features, random_pairs

FALSE_ALARM = 1e-3
DRAWS = {"none": 1500, "intercept": 1000, "all": 1000}
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


def explicit_rows(sampler, kind):
    """Return the row of every pair, one column per free weight."""
    corpus, topics = sampler.corpus, sampler.state.assignments
    shape = corpus.n_documents, sampler.settings.n_topics
    counts = reference.table(reference.token_documents(corpus), topics, shape)
    return reference.rows(counts, corpus.source, corpus.target, kind, corpus.features)


def standardised_draws(sampler, kind, linear, quadratic, n, start=None):
    """Draw the weights n times, from `start` if given, and standardise them with the reference."""
    state, K, F = sampler.state, sampler.settings.n_topics, sampler.corpus.n_features
    mean, precision = reference.weight_posterior(
        explicit_rows(sampler, kind), linear, quadratic, sampler.settings.weight_variance
    )
    draws = np.empty((n, len(mean)))
    for i in range(n):
        if start is not None:
            state.weights, state.feature_weights = (part.copy() for part in start)
        sampler.shard.hold(linear, quadratic)
        sampler.draw_weights()
        if kind == "symmetric":
            np.testing.assert_allclose(state.weights, state.weights.T, rtol=0, atol=1e-9)
        if kind == "diagonal":
            assert not state.weights[~np.eye(K, dtype=bool)].any()
        assert state.feature_weights.shape == (F,)
        draws[i] = reference.free_weights(state.weights, state.feature_weights, kind)
    return (draws - mean) @ np.linalg.cholesky(precision)


def network(rng, n_topics, kind, method, features="none", n_documents=25, share=0.25, **settings):
    """Random documents (two of them empty, and a pair of their own) and pairs, topics as the initial state has them."""
    documents = [rng.integers(8, size=n) for n in rng.integers(1, 9, n_documents)]
    documents[3] = documents[5] = []
    symmetric = kind == "symmetric"
    pairs = np.unique(np.vstack([random_pairs(rng, range(n_documents), share, symmetric), [(3, 5)]]), axis=0)
    label = rng.random(len(pairs)) < 0.5
    corpus = make_corpus(documents, 8, pairs, label, symmetric, random_features(rng, len(pairs), features))
    return make_sampler(corpus, kind, 30, n_topics, weight_variance=VARIANCE, weight_method=method, **settings)


METHODS = [
    ("full", "cholesky"),
    ("full", "cg"),
    ("symmetric", "cholesky"),
    ("symmetric", "cg"),
    ("diagonal", "auto"),
]
CASES = [
    *((*method, features, K) for method in METHODS for features, K in (("none", 2), ("none", 5), ("all", 3))),
    ("diagonal", "auto", "intercept", 2),
    ("diagonal", "auto", "all", 5),
]


@pytest.mark.parametrize(("kind", "method", "features", "n_topics"), CASES)
def test_logistic_weights(kind, method, features, n_topics):
    """All features: also an intercept, known from full weights by the empty documents, and a column of zeros."""
    rng = np.random.default_rng([40, CASES.index((kind, method, features, n_topics))])
    sampler = network(rng, n_topics, kind, method, features)
    label = sampler.corpus.label
    linear, quadratic = reference.gaussian_form("logistic", rng.gamma(2.0, 0.5, len(label)), label, 4.0, 1.0, 1.0)
    draws = standardised_draws(sampler, kind, linear, quadratic, DRAWS[features])
    assert standard_normal_p_value(draws) > FALSE_ALARM


@pytest.mark.parametrize("features", ["none", "all"])
@pytest.mark.parametrize(("kind", "method"), METHODS)
def test_heavy_tailed_hinge_weights(kind, method, features):
    """Hinge: quadratic over six orders of magnitude (a pair at its margin has a tiny augmented variable).

    With features there are so many stiff pairs that not all of them fit into the preconditioner.
    """
    rng = np.random.default_rng([41, METHODS.index((kind, method)), features == "all"])
    sampler = network(rng, 4, kind, method, features, n_documents=25 if features == "none" else 45, loss="hinge")
    label = sampler.corpus.label
    augmented = 10 ** rng.uniform(-4, 2, len(label))
    linear, quadratic = reference.gaussian_form("hinge", augmented, label, 4.0, 1.0, 1.0)
    assert quadratic.max() / quadratic.min() > 1e6
    draws = standardised_draws(sampler, kind, linear, quadratic, DRAWS[features])
    assert standard_normal_p_value(draws) > FALSE_ALARM


@pytest.mark.parametrize("kind", ["full", "symmetric"])
@pytest.mark.parametrize(("features", "far"), [("none", 0.0), ("none", 1e2), ("none", 1e4), ("all", 1e4)])
def test_conjugate_gradients_forget_where_they_start(kind, features, far):
    rng = np.random.default_rng([42, int(far)])
    sampler = network(rng, 4, kind, "cg", features, loss="hinge")
    label = sampler.corpus.label
    augmented = 10 ** rng.uniform(-2, 1, len(label))
    linear, quadratic = reference.gaussian_form("hinge", augmented, label, 4.0, 1.0, 1.0)
    weights = far * rng.standard_normal((4, 4))
    weights = weights + weights.T if kind == "symmetric" else weights
    start = weights, far * rng.standard_normal(sampler.corpus.n_features)
    draws = standardised_draws(sampler, kind, linear, quadratic, 1000, start)
    assert standard_normal_p_value(draws) > FALSE_ALARM


@pytest.mark.parametrize(("kind", "method"), METHODS[:4])
def test_an_intercept_beside_full_weights(kind, method):
    """All documents have words: the intercept is the sum of all other columns, and the prior alone tells them apart.

    The strength is what the data say about their sum (the sum of all curvatures) in units of what the prior says.
    """
    strength = 1e5
    rng = np.random.default_rng([44, METHODS.index((kind, method))])
    documents = [rng.integers(8, size=n) for n in rng.integers(1, 9, 30)]
    pairs = random_pairs(rng, range(30), 0.3, kind == "symmetric")
    label = rng.random(len(pairs)) < 0.5
    corpus = make_corpus(documents, 8, pairs, label, kind == "symmetric", np.ones((len(pairs), 1)))
    sampler = make_sampler(corpus, kind, 31, 2, weight_variance=VARIANCE, weight_method=method)
    quadratic = rng.gamma(2.0, size=len(pairs))
    quadratic *= strength / VARIANCE / quadratic.sum()
    linear = quadratic * rng.normal(0, 3, len(pairs))
    rows = explicit_rows(sampler, kind)
    open_direction = np.append(np.ones(rows.shape[1] - 1), -1.0)
    np.testing.assert_allclose(rows @ open_direction, 0, atol=1e-12)
    draws = standardised_draws(sampler, kind, linear, quadratic, 1500)
    _, precision = reference.weight_posterior(rows, linear, quadratic, VARIANCE)
    along = np.linalg.cholesky(precision).T @ open_direction
    along /= np.linalg.norm(along)
    assert 2 * standard_normal_p_value(draws) > FALSE_ALARM
    assert 2 * standard_normal_p_value(draws @ along[:, None]) > FALSE_ALARM


@pytest.mark.parametrize("features", ["none", "all"])
def test_both_methods_have_the_same_mean(features):
    """With hardly any noise (huge pull, huge precision) both methods give the mean itself, to 0.1 % of its spread.

    Noise is left where pairs say nothing: between an intercept and full weights, and in a column of zeros.
    """
    rng = np.random.default_rng(43)
    for kind in ("full", "symmetric"):
        for method in ("cholesky", "cg"):
            sampler = network(rng, 9, kind, method, features, n_documents=60)
            n = sampler.corpus.n_pairs
            quadratic = 1e8 * rng.gamma(2.0, 0.5, n)
            linear = quadratic * rng.normal(0, 3, n)
            rows = explicit_rows(sampler, kind)
            mean, precision = reference.weight_posterior(rows, linear, quadratic, VARIANCE)
            sampler.shard.hold(linear, quadratic)
            sampler.draw_weights()
            draw = reference.free_weights(sampler.state.weights, sampler.state.feature_weights, kind)
            noise = np.sqrt(np.diag(np.linalg.inv(precision)))
            assert (np.abs(draw - mean) < 1e-3 * mean.std() + 6 * noise).all()
