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

from linktopics import SamplingError
from linktopics.sampler import weights
from support import reference
from support.marks import some_long
from support.worlds import make_corpus, make_sampler, random_features, random_pairs, set_alpha

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
    return reference.rows(counts, corpus.source, corpus.target, kind, corpus.features, sampler.state.priors.alpha)


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
        sampler.shard.set_gaussian(linear, quadratic)
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
    known = random_features(rng, len(pairs), features)
    known[np.isin(pairs, (3, 5)).any(axis=1), :1] = 0.0  # or an intercept would be the sum of all columns of weights
    corpus = make_corpus(documents, 8, pairs, label, symmetric, known)
    sampler = make_sampler(corpus, kind, 30, n_topics, weight_variance=VARIANCE, weight_method=method, **settings)
    set_alpha(sampler, rng.permutation(np.geomspace(0.1, 1.0, n_topics)))  # documents without words have these shares
    return sampler


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


@pytest.mark.parametrize(
    ("kind", "method", "features", "n_topics"), some_long(CASES, [case for case in CASES if case[3] != 3])
)
def test_logistic_weights(kind, method, features, n_topics):
    """All features: also one that is nearly an intercept, and a column of zeros."""
    rng = np.random.default_rng([40, CASES.index((kind, method, features, n_topics))])
    sampler = network(rng, n_topics, kind, method, features)
    label = sampler.corpus.label
    linear, quadratic = reference.gaussian_form("logistic", rng.gamma(2.0, 0.5, len(label)), label, 4.0, 1.0, 1.0)
    draws = standardised_draws(sampler, kind, linear, quadratic, DRAWS[features])
    assert standard_normal_p_value(draws) > FALSE_ALARM


@pytest.mark.parametrize(
    ("kind", "method", "features"),
    some_long(
        [(*method, features) for method in METHODS for features in ("none", "all")],
        [
            ("full", "cg", "none"),
            ("symmetric", "cg", "none"),
            ("symmetric", "cg", "all"),
            ("symmetric", "cholesky", "none"),
        ],
    ),
)
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


@pytest.mark.parametrize("kind", some_long(["full", "symmetric"], ["symmetric"]))
@pytest.mark.parametrize(
    ("features", "far"),
    some_long(
        [("none", 0.0), ("none", 1e2), ("none", 1e4), ("all", 1e4)], [("none", 0.0), ("none", 1e2), ("none", 1e4)]
    ),
)
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
    """The intercept is the sum of all other columns, and the prior alone tells them apart.

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

    Noise is left where pairs say nothing: in a column of zeros.
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
            sampler.shard.set_gaussian(linear, quadratic)
            sampler.draw_weights()
            draw = reference.free_weights(sampler.state.weights, sampler.state.feature_weights, kind)
            noise = np.sqrt(np.diag(np.linalg.inv(precision)))
            assert (np.abs(draw - mean) < 1e-3 * mean.std() + 6 * noise).all()


# --- matrices that cannot be factored ---------------------------------------------------------------------------------


def refusing(monkeypatch, times):
    """Let so many factorisations fail; return a list of the jitters that were tried."""
    factor, tried = weights._factor, []

    def refuse(matrix, jitter=0.0):
        tried.append(jitter)
        return None if len(tried) <= times else factor(matrix, jitter)

    monkeypatch.setattr(weights, "_factor", refuse)
    return tried


@pytest.mark.parametrize("features", some_long(["none", "all"], ["none"]))
@pytest.mark.parametrize("kind", ["full", "symmetric", "diagonal"])
@pytest.mark.parametrize("times", [1, 3, 4], ids=["first jitter", "last jitter", "conjugate gradients"])
def test_each_resort_draws_from_the_same_distribution(times, kind, features, monkeypatch):
    """Whether a factorisation fails once, thrice or always, draws are what the reference says."""
    rng = np.random.default_rng([45, times, len(kind), len(features)])
    sampler = network(rng, 3, kind, "cholesky", features)
    label = sampler.corpus.label
    linear, quadratic = reference.gaussian_form("logistic", rng.gamma(2.0, 0.5, len(label)), label, 4.0, 1.0, 1.0)
    tried = refusing(monkeypatch, times)
    sampler.shard.set_gaussian(linear, quadratic)
    sampler.draw_weights()
    assert tried == list(weights.JITTERS[: times + 1])
    monkeypatch.undo()
    monkeypatch.setattr(weights, "JITTERS", weights.JITTERS[times : times + 1])  # from now on, this one alone
    draws = standardised_draws(sampler, kind, linear, quadratic, 400)
    assert standard_normal_p_value(draws) > FALSE_ALARM


@pytest.mark.parametrize(("kind", "method"), METHODS)
def test_a_singular_precision_is_drawn_from(kind, method):
    """Curvatures of 1e18 beside a prior precision of 1e-6: in float64 the matrix is singular, or worse.

    Every draw must be finite, and what pairs are sure of must come out: scores of linear / quadratic.
    """
    rng = np.random.default_rng([46, METHODS.index((kind, method))])
    sampler = network(rng, 3, kind, method, n_documents=12, share=0.1)
    sampler.weight_sampler.variance = 1e6
    n = sampler.corpus.n_pairs
    rows = explicit_rows(sampler, kind)
    truth = rows @ rng.normal(size=rows.shape[1])
    quadratic = 10 ** rng.uniform(16, 18, n)
    sampler.shard.set_gaussian(quadratic * truth, quadratic)
    for _ in range(20):
        sampler.draw_weights()
        state = sampler.state
        free = reference.free_weights(state.weights, state.feature_weights, kind)
        assert np.isfinite(free).all()
        np.testing.assert_allclose(rows @ free, truth, atol=2e-3)


def test_a_jitter_is_needed_and_enough(monkeypatch):
    """Two rows that are all but the same, and no prior to speak of: the rounded matrix has a negative eigenvalue."""
    rows = np.array([[1.0, 1.0, 0.0], [1.0, 1.0 + 1e-9, 0.0], [0.0, 0.0, 1.0]])
    precision = rows.T @ (np.array([1e12, 1e12, 1.0])[:, None] * rows)
    precision[1, 1] *= 1 - 1e-15
    assert np.linalg.eigvalsh(precision).min() < 0
    assert weights._factor(precision) is None
    jitter = next(jitter for jitter in weights.JITTERS if weights._factor(precision, jitter) is not None)
    assert jitter == 1e-14
    sampler = weights.WeightSampler(1, 2, "diagonal", False, 1e30)
    rng = np.random.default_rng(0)
    draws = np.array(
        [
            np.append(*sampler.draw(lambda name, *args: answer(name, precision, rng, *args), np.zeros((1, 1)), 0))
            for _ in range(400)
        ]
    )
    assert np.isfinite(draws).all()
    assert 2 * stats.norm.sf(np.abs(draws[:, 2].mean()) * 20) > FALSE_ALARM  # the well-known third is N(0, 1)
    assert draws[:, 2].std() == pytest.approx(1.0, abs=0.15)


def answer(name, precision, rng, *args):
    """Answer as a single shard would, with a precision of our own and no pull."""
    return {
        "diagonal": lambda: [(precision, np.zeros(len(precision)))],
        "noise": lambda size: [rng.standard_normal(size)],
    }[name](*args)


@pytest.mark.parametrize(("kind", "method"), METHODS)
def test_what_is_not_finite_is_refused(kind, method):
    rng = np.random.default_rng(47)
    sampler = network(rng, 3, kind, method)
    n = sampler.corpus.n_pairs
    sampler.shard.set_gaussian(np.ones(n), np.full(n, np.inf))
    with (
        np.errstate(all="ignore"),
        pytest.raises(SamplingError, match=r"the weights could not be drawn: .* use small"),
    ):
        sampler.draw_weights()


def test_conjugate_gradients_see_that_they_break_down():
    """A preconditioner or a matrix that is not positive definite gives None, not a wrong answer."""
    right, ones = np.array([1.0, 2.0]), np.ones(2)
    good, bad = np.diag([2.0, 3.0]), np.diag([2.0, -3.0])

    def solve(matrix, inverse):
        return weights._conjugate_gradients(lambda x: matrix @ x, right, np.zeros(2), lambda r: inverse @ r, ones)

    np.testing.assert_allclose(solve(good, np.eye(2)), [0.5, 2 / 3], rtol=1e-2)
    assert solve(bad, np.eye(2)) is None
    assert solve(good, bad) is None
    assert solve(np.nan * good, np.eye(2)) is None


@pytest.mark.parametrize("kind", ["full", "symmetric"])
def test_conjugate_gradients_that_break_down_have_resorts(kind, monkeypatch):
    """A preconditioner that stiff pairs spoil is replaced by one without them, then by factors; then it is said."""
    rng = np.random.default_rng(48)
    sampler = network(rng, 4, kind, "cg", loss="hinge")
    label = sampler.corpus.label
    linear, quadratic = reference.gaussian_form("hinge", 10 ** rng.uniform(-4, 2, len(label)), label, 4.0, 1.0, 1.0)
    plain, asked = weights.WeightSampler._preconditioner, []

    def spoilt(self, margins, stiff, max_stiff):
        asked.append(max_stiff)
        apply = plain(self, margins, stiff, max_stiff)
        return (lambda r: -apply(r)) if max_stiff or len(asked) > 1000 else apply

    monkeypatch.setattr(weights.WeightSampler, "_preconditioner", spoilt)
    draws = standardised_draws(sampler, kind, linear, quadratic, 300)
    assert asked[:2] == [weights.MAX_STIFF_PAIRS, 0]
    assert standard_normal_p_value(draws) > FALSE_ALARM
    monkeypatch.setattr(weights.WeightSampler, "_preconditioner", lambda self, *args: lambda r: -r)
    draws = standardised_draws(sampler, kind, linear, quadratic, 300)
    assert standard_normal_p_value(draws) > FALSE_ALARM
    monkeypatch.setattr(weights, "DENSE_MAX_TOPICS", 3)
    with pytest.raises(SamplingError, match="conjugate gradients left an error after 1000 iterations"):
        sampler.draw_weights()
