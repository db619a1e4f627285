"""The augmented variables: Polya-Gamma for the logistic loss, inverse Gaussian for the hinge loss.

Every p-value comes from a fixed seed; the false-alarm rate is `FALSE_ALARM` for each p-value. some 375 of them are
computed, so the rate of the file as a whole is 4e-3.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from linktopics.kernels.polya_gamma import ALWAYS_ACCEPTED, TABLE_STEPS, TABLE_TOLERANCE, accepted, upper_part
from linktopics.sampler.polya_gamma import LARGE_SCORE, _upper_parts, draw_polya_gamma
from support import reference
from support.worlds import make_corpus, make_sampler

FALSE_ALARM = 1e-5
COSTS = [0.5, 1.0, 2.5, 4.0, 16.0]
N = 40_000


def loss_of(name, label, link_cost=1.0, nonlink_cost=1.0, margin=1.0):
    """Return the loss object of a sampler whose pairs have these labels."""
    n = len(label)
    side = int(np.ceil(np.sqrt(n))) + 1
    pairs = np.argwhere(~np.eye(side, dtype=bool))[:n]
    corpus = make_corpus([[0]] * side, 1, pairs, label, False)
    settings = {"link_cost": link_cost, "nonlink_cost": nonlink_cost, "margin": margin}
    return make_sampler(corpus, "full", 50, 2, loss=name, **settings).shard.loss


# --- Polya-Gamma ------------------------------------------------------------------------------------------------------


def polya_gamma_mean(cost, score):
    return cost / 4 if score == 0 else cost * np.tanh(score / 2) / (2 * score)


def polya_gamma_variance(cost, score):
    # cost (sinh c - c) / (4 c^3 cosh^2(c / 2)), with its limit cost / 24 at c = 0
    if score == 0:
        return cost / 24
    return cost * (np.sinh(score) - score) / (4 * score**3 * np.cosh(score / 2) ** 2)


def polya_gamma_by_series(cost, score, size, rng, terms=100):
    """Draw by the definition: a sum of gammas over m, cut off after `terms`, with the mean of what is cut off added."""
    m = np.arange(1, terms + 1)
    scale = 1 / (2 * np.pi**2 * ((m - 0.5) ** 2 + score**2 / (4 * np.pi**2)))
    tail = polya_gamma_mean(cost, score) - cost * scale.sum()
    draws = np.full(size, tail)
    for s in scale:
        draws += s * rng.gamma(cost, 1.0, size)
    return draws


def polya_gamma_laplace(cost, score, t):
    """E exp(-t x) of PG(cost, score)."""
    return np.exp(cost * (_log_cosh(score / 2) - _log_cosh(np.sqrt(t / 2 + score**2 / 4))))


def _log_cosh(x):
    return np.logaddexp(x, -x) - np.log(2)


@pytest.mark.parametrize("score", [0.0, 1e-6, 0.5, -4.090814296687097, 19.5])
@pytest.mark.parametrize("cost", [9e5, 1.5e6, 1e9])
def test_polya_gamma_at_large_costs(cost, score):
    """Mean and variance on both sides of where the saddle point is given up; by then a variate is almost normal."""
    n = 100_000
    x = loss_of("logistic", np.full(n, True), cost).draw(np.full(n, score), np.random.default_rng([54, int(cost)]))
    # Below 0.01 the difference in the formula of the variance is lost to rounding, and both are those of 0.
    of = abs(score) if abs(score) > 0.01 else 0.0
    mean, variance = polya_gamma_mean(cost, of), polya_gamma_variance(cost, of)
    assert 2 * stats.norm.sf(abs(x.mean() - mean) / np.sqrt(variance / n)) > FALSE_ALARM
    assert 2 * stats.norm.sf(abs(((x - mean) ** 2).mean() / variance - 1) / np.sqrt(2 / n)) > FALSE_ALARM
    assert stats.kstest((x - mean) / np.sqrt(variance), "norm").pvalue > FALSE_ALARM


@pytest.mark.parametrize("score", [19.5, 20.5, -30.0, 80.0, 400.0])
@pytest.mark.parametrize("cost", [0.5, 1.0, 16.0, 20.5, 36.0, 100.0])
def test_polya_gamma_at_large_scores(cost, score):
    """Mean, variance and Laplace transform where other methods are needed; variance of the variance by kurtosis."""
    n = 100_000
    x = loss_of("logistic", np.full(n, True), cost).draw(np.full(n, score), np.random.default_rng([52, int(cost)]))
    mean = cost / (2 * abs(score)) * np.tanh(abs(score) / 2)
    variance = cost / (2 * abs(score) ** 3)  # but for terms of order exp(-score)
    assert 2 * stats.norm.sf(abs(x.mean() - mean) / np.sqrt(variance / n)) > FALSE_ALARM
    squares = (x - mean) ** 2
    assert 2 * stats.norm.sf(abs(squares.mean() - variance) / (squares.std() / np.sqrt(n))) > FALSE_ALARM
    for t in (0.5 / mean, 3 / mean):
        values = np.exp(-t * x)
        gap = values.mean() - polya_gamma_laplace(cost, score, t)
        assert 2 * stats.norm.sf(abs(gap) / (values.std() / np.sqrt(n))) > FALSE_ALARM


@pytest.mark.parametrize("is_link", [True, False])
@pytest.mark.parametrize("score", [0.0, 0.5, 3.0, -8.0])
@pytest.mark.parametrize("cost", COSTS)
def test_polya_gamma(cost, score, is_link):
    """Mean, variance, Laplace transform and distribution; links take the link cost and non-links the other."""
    other = 7.0
    label = np.full(N, is_link)
    loss = loss_of("logistic", label, *((cost, other) if is_link else (other, cost)))
    rng = np.random.default_rng([51, int(2 * cost), int(abs(2 * score)), is_link])
    x = loss.draw(np.full(N, score), rng)
    assert (x > 0).all()

    mean, variance = polya_gamma_mean(cost, score), polya_gamma_variance(cost, score)
    assert 2 * stats.norm.sf(abs(x.mean() - mean) / np.sqrt(variance / N)) > FALSE_ALARM
    squares = (x - mean) ** 2
    assert 2 * stats.norm.sf(abs(squares.mean() - variance) / (squares.std() / np.sqrt(N))) > FALSE_ALARM
    for t in (0.5 / mean, 2.0 / mean, 8.0 / mean):
        e = np.exp(-t * x)
        z = abs(e.mean() - polya_gamma_laplace(cost, score, t)) / (e.std() / np.sqrt(N))
        assert 2 * stats.norm.sf(z) > FALSE_ALARM
    if is_link:
        assert stats.ks_2samp(x, polya_gamma_by_series(cost, score, N, rng)).pvalue > FALSE_ALARM


@pytest.mark.parametrize("cost", [0.5, 2.5])
def test_polya_gamma_of_fractional_costs(cost):
    """Costs are tuned, not integers. Half a million draws show a mean or variance that is 1 % off."""
    n = 500_000
    x = loss_of("logistic", np.full(n, True), cost).draw(np.zeros(n), np.random.default_rng([57, int(2 * cost)]))
    squares = (x - cost / 4) ** 2
    assert 2 * stats.norm.sf(abs(x.mean() - cost / 4) / np.sqrt(cost / 24 / n)) > FALSE_ALARM
    assert 2 * stats.norm.sf(abs(squares.mean() - cost / 24) / (squares.std() / np.sqrt(n))) > FALSE_ALARM


def test_polya_gamma_of_pairs_with_different_scores():
    """Every pair gets its own cost and score: the sum of standardised deviations by group is normal."""
    rng = np.random.default_rng(52)
    label = rng.random(N) < 0.5
    score = rng.choice([-8.0, 0.5, 3.0], N)
    x = loss_of("logistic", label, 4.0, 0.5).draw(score, rng)
    for is_link, cost in ((True, 4.0), (False, 0.5)):
        for s in (-8.0, 0.5, 3.0):
            mine = x[(label == is_link) & (score == s)]
            z = (mine.mean() - polya_gamma_mean(cost, s)) / np.sqrt(polya_gamma_variance(cost, s) / len(mine))
            assert 2 * stats.norm.sf(abs(z)) > FALSE_ALARM


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("is_link", [True, False])
def test_logistic_mixture_gives_back_the_likelihood(cost, is_link):
    """2^-C E exp(linear w - lambda w^2 / 2) over lambda ~ PG(C, 0) is sigmoid(+-w)^C; lambda from the loss itself."""
    loss = loss_of("logistic", np.full(N, is_link), cost, cost)
    augmented = loss.draw(np.zeros(N), np.random.default_rng([53, int(2 * cost)]))
    linear, quadratic = loss.gaussian(augmented)
    for omega in (-2.0, 0.3, 1.7):
        terms = np.exp(linear * omega - quadratic * omega**2 / 2) / 2**cost
        expected = np.exp(reference.log_logistic(omega, is_link, cost))
        z = abs(terms.mean() - expected) / (terms.std() / np.sqrt(N))
        assert 2 * stats.norm.sf(z) > FALSE_ALARM


@pytest.mark.parametrize("score", [0.0, 1e-6, 1.0, -12.0, 25.0, 1e3, -1e6])
@pytest.mark.parametrize("cost", [1e-3, 0.02, 1e3, 1e4])
def test_polya_gamma_at_extreme_costs(cost, score):
    """Mean, variance and Laplace transform for tiny and huge costs, at scores on all sides of where methods change.

    The variance of tiny shapes has heavy tails, which its own standard error takes in. The sampler asks for exp(-t x)
    at t = score^2 / 2; far above 800 the sum of small terms that is drawn as one gamma variate would be seen, and for
    cost 1e4 at score 1e6 the formula of the transform itself is rounded in the seventh digit.
    """
    n = 60_000
    x = loss_of("logistic", np.full(n, True), cost).draw(np.full(n, score), np.random.default_rng([58, int(cost)]))
    assert np.isfinite(x).all()
    assert (x >= 0).all()
    size = abs(score)
    mean = polya_gamma_mean(cost, size) if size > 1e-3 else cost / 4
    variance = cost / 24 if size < 1e-3 else polya_gamma_variance(cost, size) if size < 30 else cost / (2 * size**3)
    assert 2 * stats.norm.sf(abs(x.mean() - mean) / np.sqrt(variance / n)) > FALSE_ALARM
    squares = (x - mean) ** 2
    assert 2 * stats.norm.sf(abs(squares.mean() - variance) / (squares.std() / np.sqrt(n))) > FALSE_ALARM
    for t in (min(0.5 / mean, 200.0), min(3 / mean, 800.0)):
        values = np.exp(-t * x)
        gap = max(0.0, abs(values.mean() - polya_gamma_laplace(cost, size, t)) - 1e-6)
        assert 2 * stats.norm.sf(gap / (values.std() / np.sqrt(n))) > FALSE_ALARM


def test_large_costs_start_where_the_scores_are():
    """Weights start at zero, so the variables of large costs start at their mean there; others at the paper's 1."""
    loss = loss_of("logistic", np.array([True, False]), 1e4, 4.0)
    assert loss.start().tolist() == [2500.0, 1.0]
    assert loss_of("hinge", np.array([True, False]), 1e4, 4.0).start().tolist() == [1.0, 1.0]


# --- inverse Gaussian -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_link", [True, False])
@pytest.mark.parametrize("distance", [0.0, 1e-6, 1e-2, 1.0, -1.0, 30.0])
@pytest.mark.parametrize("cost", [0.5, 4.0])
def test_inverse_gaussian(cost, distance, is_link):
    """1 / lambda ~ InverseGaussian(1 / (C |margin - s w|), shape 1); at no distance lambda is chi-square(1)."""
    margin = 1.5
    sign = 1.0 if is_link else -1.0
    loss = loss_of("hinge", np.full(N, is_link), *((cost, 7.0) if is_link else (7.0, cost)), margin)
    rng = np.random.default_rng([54, int(2 * cost), is_link, int(1e6 * abs(distance))])
    x = loss.draw(np.full(N, sign * (margin - distance)), rng)
    assert (x > 0).all()
    assert np.isfinite(x).all()
    exact = abs(margin - (margin - distance))  # what is left of the distance after rounding
    if cost * exact < 1e-5:
        # lambda = GIG(1/2, 1, b^2) differs from chi-square(1) by O(b) in distribution: far below what N draws show
        assert stats.kstest(x, stats.chi2(1).cdf).pvalue > FALSE_ALARM
    else:
        mean = 1 / (cost * exact)
        assert stats.kstest(1 / x, stats.invgauss(mu=mean, scale=1.0).cdf).pvalue > FALSE_ALARM


def test_inverse_gaussian_moments():
    """E lambda = b + 1 and Var lambda = b + 2 for 1 / lambda ~ InverseGaussian(1 / b, 1)."""
    for b in (0.01, 1.0, 30.0):
        loss = loss_of("hinge", np.full(N, True), 2.0, 1.0, 1.0)
        x = loss.draw(np.full(N, 1.0 - b / 2), np.random.default_rng([55, int(100 * b)]))
        assert 2 * stats.norm.sf(abs(x.mean() - (b + 1)) / np.sqrt((b + 2) / N)) > FALSE_ALARM
        squares = (x - b - 1) ** 2
        assert 2 * stats.norm.sf(abs(squares.mean() - (b + 2)) / (squares.std() / np.sqrt(N))) > FALSE_ALARM


@pytest.mark.parametrize("b", [1e-12, 1e-7, 1e-3, 1e3, 1e6, 1e10, 1e16])
def test_inverse_gaussian_of_tiny_and_huge_means(b):
    """1 / lambda ~ InverseGaussian(1 / b, 1): E lambda = b + 1, Var lambda = b + 2, E 1 / lambda = 1 / b; no overflow.

    The mean of 1 / lambda is only looked at where its variance, 1 / b^3, leaves something to see.
    """
    loss = loss_of("hinge", np.full(N, True), 1e4, 1.0, 100.0)
    with np.errstate(all="raise"):
        x = loss.draw(np.full(N, 100.0 - b / 1e4), np.random.default_rng([59, int(100 + np.log10(b))]))
    b = 1e4 * abs(100.0 - (100.0 - b / 1e4))  # what is left of it after rounding
    assert (x >= 1e-10).all()
    assert np.isfinite(x).all()
    assert 2 * stats.norm.sf(abs(x.mean() - (b + 1)) / np.sqrt((b + 2) / N)) > FALSE_ALARM
    if b < 1e12:  # beyond, x - b - 1 is rounding
        squares = (x - b - 1) ** 2
        assert 2 * stats.norm.sf(abs(squares.mean() - (b + 2)) / (squares.std() / np.sqrt(N))) > FALSE_ALARM
    if b > 100:
        assert 2 * stats.norm.sf(abs((1 / x).mean() - 1 / b) / np.sqrt(b**-3.0 / N + 1e-32 / b**2)) > FALSE_ALARM
    linear, quadratic = loss.gaussian(x)
    assert np.isfinite(linear.astype(np.float32)).all()
    assert np.isfinite(quadratic.astype(np.float32)).all()


@pytest.mark.parametrize("is_link", [True, False])
@pytest.mark.parametrize("cost", [0.5, 1.0, 4.0])
def test_hinge_mixture_gives_back_the_likelihood(cost, is_link):
    """Integral over lambda of (2 pi lambda)^-1/2 exp(-(lambda + C zeta)^2 / (2 lambda)) is exp(-2 C max(0, zeta)).

    The exponent is the loss's Gaussian form but for what does not depend on omega: -(lambda + C margin)^2 / (2 lambda).
    """
    margin = 1.25
    loss = loss_of("hinge", np.array([is_link]), cost, cost, margin)

    def integrand(root, omega):
        augmented = root**2  # substitute lambda = r^2: no pole at zero
        linear, quadratic = loss.gaussian(np.array([augmented]))
        exponent = linear[0] * omega - quadratic[0] * omega**2 / 2 - (augmented + cost * margin) ** 2 / (2 * augmented)
        return 2 / np.sqrt(2 * np.pi) * np.exp(exponent)

    for omega in (-2.0, -0.3, 0.4, 1.9, 3.0):
        mixture, _ = integrate.quad(integrand, 1e-9, 40, args=(omega,), limit=400, epsabs=0, points=[0.1, 1, 3])
        expected = reference.log_hinge(omega, is_link, cost, margin)
        assert np.log(mixture) == pytest.approx(expected, abs=1e-6)
        assert loss.log_likelihood(np.array([omega])) == pytest.approx(expected, abs=1e-12)


# --- both losses against the table of the model -----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["logistic", "hinge"])
def test_gaussian_form_and_log_likelihood(name):
    rng = np.random.default_rng(56)
    label = rng.random(50) < 0.5
    loss = loss_of(name, label, 4.0, 0.7, 1.3)
    augmented, omega = rng.gamma(1.0, 1.0, 50), rng.normal(0, 3, 50)
    for got, expected in zip(
        loss.gaussian(augmented), reference.gaussian_form(name, augmented, label, 4.0, 0.7, 1.3), strict=True
    ):
        np.testing.assert_allclose(got, expected, rtol=1e-12)
    cost = reference.costs(label, 4.0, 0.7)
    by_pair = (
        reference.log_logistic(omega, label, cost)
        if name == "logistic"
        else reference.log_hinge(omega, label, cost, 1.3)
    )
    assert loss.log_likelihood(omega) == pytest.approx(by_pair.sum(), rel=1e-12)


# --- the kernel of whole shapes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("score", [0.0, 0.5, 2.0, 3.1, 3.2, 8.0, 19.5])
def test_polya_gamma_kernel(score):
    """Moments and Laplace transform of a million draws, on both sides of the score where the proposal changes.

    Seen to fail with a table of upper parts that is off by 0.005, with inverse Gaussians that never take the larger
    root or are not tilted, and with a cut of 0.62 in one place.
    """
    n = 1_000_000
    draws = draw_polya_gamma(np.ones(n), np.full(n, score), np.random.default_rng(int(score * 10)))
    bound = stats.norm.isf(FALSE_ALARM / 2)
    mean, variance = polya_gamma_mean(1.0, score), polya_gamma_variance(1.0, score)
    assert abs(draws.mean() - mean) < bound * np.sqrt(variance / n)
    assert abs(draws.var() / variance - 1) < bound * np.std((draws - mean) ** 2) / variance / np.sqrt(n)
    for t in (1.0, 10.0, 100.0):
        values = np.exp(-t * draws)
        assert abs(values.mean() - polya_gamma_laplace(1.0, score, t)) < bound * values.std() / np.sqrt(n)


def test_polya_gamma_acceptance():
    """The series decides one draw in 200: too few for its mistakes to be seen in the moments.

    Seen to fail without the series, and with a series a term short.
    """
    n = np.arange(40)
    for speed in (3.125, np.pi**2 * 0.32, 4.0, 8.0, 30.0):
        series = np.sum((-1.0) ** n * (2 * n + 1) * np.exp(-speed * n * (n + 1)))
        for u in (0.0, 0.9, ALWAYS_ACCEPTED, series - 1e-9, series + 1e-9, 1.0):
            if u <= 1:
                assert accepted(u, speed) == (u <= series), (u, speed)


def test_polya_gamma_table():
    """The table is nearer to the shares than the distance from which they are computed."""
    z = np.linspace(0, LARGE_SCORE / 2, 5001)
    exact = [upper_part(x) for x in z]
    table = _upper_parts()
    np.testing.assert_allclose(
        np.interp(z * TABLE_STEPS, np.arange(len(table)), table), exact, atol=TABLE_TOLERANCE / 10
    )
