"""Simulated networks.

Statistical tests compare with exact expectations by z- or chi-square statistics from fixed seeds; each fails for one
other seed in 10,000 (`FALSE_ALARM`), and there are 27 of them.
"""

import tracemalloc

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import chi2, norm

from linktopics import DocumentNetwork
from linktopics.datasets import make_network, synthetic
from support.marks import some_long

FALSE_ALARM = 1e-4


def assert_normal(observed, expected, variance):
    z = (observed - expected) / np.sqrt(variance)
    assert abs(z) < norm.isf(FALSE_ALARM / 2), f"{observed} where {expected} was expected: {z:.1f} deviations"


def assert_chi_square(observed, expected, variance):
    """Independent sums against their means and variances."""
    used = variance > 5  # so many that the sum is nearly normal
    assert used.any()
    statistic = ((observed - expected)[used] ** 2 / variance[used]).sum()
    assert chi2.sf(statistic, used.sum()) > FALSE_ALARM, f"{statistic:.0f} on {used.sum()} degrees of freedom"


def test_sizes_and_names():
    network = make_network(300, n_topics=3, n_words=40, mean_length=20, random_state=0)
    assert isinstance(network, DocumentNetwork)
    assert (network.n_documents, network.n_words, network.directed) == (300, 40, True)
    assert network.vocabulary[[0, -1]].tolist() == ["w0", "w39"]
    assert network.lengths.min() >= 1
    assert network.report.clean


def test_the_truth_comes_on_request():
    network, truth = make_network(300, n_topics=3, n_words=40, random_state=5, return_truth=True)
    assert network.fingerprint() == make_network(300, n_topics=3, n_words=40, random_state=5).fingerprint()
    assert truth.topic_word.shape == (3, 40)
    assert truth.doc_topic.shape == truth.zbar.shape == (300, 3)
    for shares in (truth.topic_word, truth.doc_topic, truth.zbar):
        np.testing.assert_allclose(shares.sum(axis=1), 1)
    tokens = truth.zbar * network.lengths[:, None]
    np.testing.assert_allclose(tokens, tokens.round(), atol=1e-9)


def test_the_seed_decides():
    prints = [make_network(200, random_state=seed).fingerprint() for seed in (1, 1, 2, None, None)]
    assert prints[0] == prints[1]
    assert len(set(prints)) == 4
    generators = [np.random.default_rng(3), np.random.default_rng(3), np.random.RandomState(3)]
    prints = [make_network(200, random_state=generator).fingerprint() for generator in generators]
    assert prints[0] == prints[1] != prints[2]


def test_words_follow_the_model(monkeypatch):
    """Lengths, topics of tokens given the proportions, words given the topics; 3 p-values."""
    monkeypatch.setattr(synthetic, "N_TOKENS_AT_ONCE", 5000)  # several blocks
    network, truth = make_network(
        2000, n_topics=4, n_words=50, mean_length=30, alpha=2.0, beta=0.3, random_state=2, return_truth=True
    )
    lengths = network.lengths
    assert_normal(lengths.sum(), 30 * 2000, 29 * 2000)
    expected = lengths @ truth.doc_topic
    variance = lengths @ (truth.doc_topic * (1 - truth.doc_topic))
    # Counts of one topic fewer than there are: the last is what the others leave.
    covariance = -np.einsum("d,di,dj->ij", lengths, truth.doc_topic, truth.doc_topic)
    np.fill_diagonal(covariance, variance)
    difference = (lengths @ truth.zbar - expected)[:-1]
    assert chi2.sf(difference @ np.linalg.solve(covariance[:-1, :-1], difference), 3) > FALSE_ALARM
    tokens = lengths @ truth.zbar
    words = np.asarray(network.counts.sum(axis=0)).ravel()
    spread = np.diag(tokens @ truth.topic_word) - np.einsum("k,ki,kj->ij", tokens, truth.topic_word, truth.topic_word)
    there = tokens @ truth.topic_word > 5
    there[np.argmax(there)] = False
    difference = (words - tokens @ truth.topic_word)[there]
    statistic = difference @ np.linalg.solve(spread[np.ix_(there, there)], difference)
    assert chi2.sf(statistic, there.sum()) > FALSE_ALARM


def test_words_of_a_document_are_of_its_topics():
    """Every word belongs to one topic only, so that the words of a document tell how many tokens each topic has."""
    rng = np.random.default_rng(0)
    topic_word = np.kron(np.eye(3), np.full(5, 0.2))
    counts, zbar, proportions = synthetic._draw_documents(500, topic_word, 20, 1.0, True, rng)
    by_topic = counts.toarray().reshape(500, 3, 5).sum(axis=2)
    np.testing.assert_allclose(by_topic / by_topic.sum(axis=1, keepdims=True), zbar)
    assert np.corrcoef(zbar.ravel(), proportions.ravel())[0, 1] > 0.9


def test_priors_have_the_stated_concentration():
    """The variances of Dirichlet proportions, alpha in total and beta for each word; tolerances are 6 deviations."""
    _, truth = make_network(2000, n_topics=5, n_words=400, alpha=3.0, beta=0.1, random_state=0, return_truth=True)
    assert truth.doc_topic.var() == pytest.approx(0.2 * 0.8 / (3 + 1), rel=0.1)
    assert truth.topic_word.var() == pytest.approx((1 / 400) * (399 / 400) / (400 * 0.1 + 1), rel=0.5)


def simulate(n, n_topics, weights, mean_degree, directed, seed):
    """Give the probabilities of all pairs (0 where there is no pair), and what `_draw_links` needs."""
    rng = np.random.default_rng(seed)
    zbar = rng.multinomial(12, rng.dirichlet(np.full(n_topics, 0.4), size=n)) / 12
    intercept = synthetic._find_intercept(zbar, weights, mean_degree, directed, rng)
    p = expit(zbar @ weights @ zbar.T + intercept)
    p[np.tril_indices(n, 0 if not directed else -n)] = 0
    np.fill_diagonal(p, 0)
    return zbar, intercept, p, rng


ASYMMETRIC = np.array([[3.0, 4, -2], [-2, 4, -2], [0, -3, 5]])
SYMMETRIC = (ASYMMETRIC + ASYMMETRIC.T) / 2
LINKS = {
    "directed": (ASYMMETRIC, 4, True),
    "undirected": (SYMMETRIC, 3, False),
    "strong": (4 * ASYMMETRIC, 6, True),
    "certain": (60 * ASYMMETRIC, 40, True),  # rates beyond MAX_RATE
    "dense": (ASYMMETRIC, 60, True),
}


@pytest.mark.parametrize("case", LINKS)
@pytest.mark.parametrize("n_groups", some_long([1, 20], [1]))
def test_links_follow_their_probabilities(case, n_groups, monkeypatch):
    """Thinning against the probabilities themselves: by pair of topics and by probability; 20 p-values.

    The links of 25 draws are summed over all pairs of a kind: independent sums of known means and variances.
    """
    monkeypatch.setattr(synthetic, "N_GROUPS", n_groups)
    monkeypatch.setattr(synthetic, "N_RATES_AT_ONCE", 700)  # several blocks, some of several parts
    monkeypatch.setattr(synthetic, "N_POINTS_AT_ONCE", 20_000)
    weights, mean_degree, directed = LINKS[case]
    n, n_draws = 120, 25
    zbar, intercept, p, rng = simulate(n, 3, weights, mean_degree, directed, seed=0)
    observed = np.zeros((n, n))
    for _ in range(n_draws):
        links = synthetic._draw_links(zbar, weights, intercept, directed, rng)
        assert (links[:, 0] < links[:, 1] if not directed else links[:, 0] != links[:, 1]).all()
        assert len(np.unique(links, axis=0)) == len(links)
        observed[links[:, 0], links[:, 1]] += 1
    assert (observed[p == 0] == 0).all()
    topic = zbar.argmax(axis=1)
    for kind in (topic[:, None] * 3 + topic, np.digitize(p, np.quantile(p[p > 0], np.arange(1, 10) / 10))):
        sums = [np.bincount(kind.ravel(), part.ravel()) for part in (observed, n_draws * p, n_draws * p * (1 - p))]
        assert_chi_square(*sums)


def test_links_are_independent(monkeypatch):
    """The number of links varies from draw to draw as a sum of independent ones does; 2 p-values, one one-sided."""
    zbar, intercept, p, rng = simulate(120, 3, ASYMMETRIC, 20, True, seed=1)
    n_draws = 300
    monkeypatch.setattr(synthetic, "N_GROUPS", 10)
    numbers = np.array([len(synthetic._draw_links(zbar, ASYMMETRIC, intercept, True, rng)) for _ in range(n_draws)])
    variance = (p * (1 - p)).sum()
    assert_normal(numbers.mean(), p.sum(), variance / n_draws)
    statistic = ((numbers - p.sum()) ** 2).sum() / variance
    assert FALSE_ALARM / 2 < chi2.sf(statistic, n_draws) < 1 - FALSE_ALARM / 2


def test_the_intercept_makes_the_degree_right():
    for directed in (True, False):
        for mean_degree in (0.5, 5, 90):
            weights = ASYMMETRIC if directed else SYMMETRIC
            _, _, p, _ = simulate(300, 3, weights, mean_degree, directed, seed=2)
            assert p.sum() / 300 == pytest.approx(mean_degree, rel=1e-6)


def test_the_intercept_of_larger_networks_is_nearly_right():
    """Found from a sample of pairs, with a standard deviation of 0.2 %; the tolerance is 5 of them."""
    _, _, p, _ = simulate(2500, 3, ASYMMETRIC, 5, True, seed=3)
    assert p.sum() / 2500 == pytest.approx(5, rel=0.01)
    assert p.sum() / 2500 != pytest.approx(5, rel=1e-6)


@pytest.mark.parametrize("directed", [True, False])
def test_the_number_of_links(directed):
    """As many as asked for, up to Poisson noise; 2 p-values."""
    network = make_network(1500, mean_degree=4, directed=directed, random_state=0)
    assert network.directed == directed
    assert_normal(network.n_links, 6000, 6000)


def test_default_weights_have_a_direction():
    network, truth = make_network(1000, n_topics=5, random_state=0, return_truth=True)
    assert (np.diag(truth.weights) > 0).all()
    off_diagonal = truth.weights[~np.eye(5, dtype=bool)]
    assert sorted(off_diagonal)[-2:] == [4, 4]
    assert (np.sort(off_diagonal)[:-2] < 0).all()
    topic = truth.zbar.argmax(axis=1)[network.links]
    forth, back = (topic == [0, 1]).all(axis=1).sum(), (topic == [1, 0]).all(axis=1).sum()
    assert forth > 3 * back


@pytest.mark.parametrize("n_topics", [1, 2, 3])
def test_default_weights_of_few_topics(n_topics):
    weights = synthetic._check_weights(None, n_topics, True)
    assert weights.shape == (n_topics, n_topics)
    assert (weights > 0).sum() == n_topics + (n_topics > 1)
    undirected = synthetic._check_weights(None, n_topics, False)
    assert (undirected == undirected.T).all()
    make_network(20, n_topics=n_topics, mean_degree=2, random_state=0)


def test_a_network_may_have_no_links():
    assert make_network(2, n_topics=1, n_words=1, mean_length=1, mean_degree=1e-6, random_state=0).n_links == 0


def test_groups_hold_all_documents():
    points = np.random.default_rng(0).normal(size=(500, 3))
    group = synthetic._group(points, 20, np.random.default_rng(1))
    assert len(group) == 500
    assert (np.bincount(group) > 0).all()
    assert 10 < len(np.bincount(group)) <= 20
    assert len(np.unique(synthetic._group(np.ones((50, 2)), 20, np.random.default_rng(1)))) == 1


@pytest.mark.long
def test_large_networks_are_never_dense():
    """20,000 x 20,000 documents would take 400 MB with a byte each, 20,000 x 6,000 words 480 MB with four."""
    tracemalloc.start()
    try:
        network = make_network(20_000, n_topics=5, n_words=6000, mean_length=10, random_state=0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert network.n_links > 90_000
    assert peak < 350e6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_documents": 1}, "n_documents is 1; it must be a whole number of at least 2"),
        ({"n_topics": 2.5}, "n_topics is 2.5"),
        ({"n_words": True}, "n_words is True"),
        ({"mean_length": 0.5}, "mean_length is 0.5; pass a number from 1 to"),
        ({"mean_length": "long"}, "mean_length is 'long'"),
        ({"mean_degree": 0}, "mean_degree is 0"),
        ({"mean_degree": 99}, "mean_degree is 99; pass a number from 1e-06 to 98.9"),
        ({"mean_degree": 50, "directed": False}, "mean_degree is 50"),
        ({"alpha": float("nan")}, "alpha is nan"),
        ({"beta": -1}, "beta is -1"),
        ({"weights": np.eye(3)}, r"weights has the shape \(3, 3\); with 10 topics it must be \(10, 10\)"),
        ({"weights": np.full((10, 10), np.inf)}, "weights holds inf or NaN; pass finite numbers"),
        ({"weights": np.triu(np.ones((10, 10))), "directed": False}, "weights is not symmetric"),
    ],
)
def test_wrong_parameters(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_network(**{"n_documents": 100, **arguments})
