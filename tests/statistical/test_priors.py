"""Priors that are not even: seed words, an alpha for each topic, and what is learned of alpha and beta.

Conditionals and stationary distributions under such priors are in test_conditional, test_enumeration, test_geweke and
test_words_from_links; here is the rest. Comparisons with slow formulas and with SciPy's optimiser have no randomness.
Recovery of planted priors from counts: the likelihood's own curvature says how far from the truth its maximum may be
(Wald's test, false-alarm rate 1e-3 per case). Recovery by whole models: as said there. Fixed seeds throughout.

Seen to fail once against broken versions: seeds left in the counts, or missing from totals, samples or the log joint;
one alpha for all topics in the log joint, in inference, in words from links; a derivative without the documents'
lengths; a fixed point that takes seed words for others; learning that goes on after burn-in, or never begins.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize
from scipy.sparse import csr_array

import linktopics.sampler.topic_inference
from linktopics import RelationalTopicModel
from linktopics.datasets import make_network
from linktopics.sampler import Priors, Sampler, learn_alpha, learn_beta
from linktopics.sampler.priors import MAX_PRIOR, MIN_PRIOR
from linktopics.sampler.runner import Schedule, run_chains, start_chains, take_sample
from linktopics.sampler.topic_inference import infer_topics
from support import reference
from support.settings import make_settings
from support.worlds import (
    assert_counts_match,
    make_corpus,
    make_sampler,
    masses,
    p_value,
    random_features,
    random_pairs,
    random_seeds,
    set_alpha,
)

FALSE_ALARM = 1e-3
CERTAIN = 1e-9


# --- log joint, counts and samples ------------------------------------------------------------------------------------


def make_chain(n_topics, linked, even, amounts):
    """Return the sampler of documents of up to 40 tokens, one of them empty (2)."""
    rng = np.random.default_rng([n_topics, linked, even, len(amounts)])
    documents = [rng.integers(7, size=n) for n in (5, 1, 0, 40, 12, 30)]
    pairs = random_pairs(rng, range(6), 0.6, False) if linked else np.empty((0, 2))
    features = random_features(rng, len(pairs), "intercept" if linked else "none")
    seeds = random_seeds(rng, 7, n_topics, amounts)
    corpus = make_corpus(documents, 7, pairs, rng.random(len(pairs)) < 0.5, False, features, seeds)
    sampler = make_sampler(corpus, "full", 5, n_topics, alpha=2.0, beta=0.03)
    if not even:
        set_alpha(sampler, rng.permutation(np.geomspace(0.03, 3.0, n_topics)))
    return sampler


CHAINS = [
    pytest.mark.parametrize("amounts", [(), (1, 7, 40), (2**20, 3)], ids=["no seeds", "seeds", "heavy seed"]),
    pytest.mark.parametrize("even", [True, False], ids=["even", "uneven"]),
    pytest.mark.parametrize("linked", [False, True], ids=["words", "links"]),
    pytest.mark.parametrize("n_topics", [2, 9]),
]


def chains(test):
    """Run a test with all chains."""
    for mark in CHAINS:
        test = mark(test)
    return test


@chains
def test_log_joint_and_counts(n_topics, linked, even, amounts):
    """In double precision all the way, so to rounding; differences from one sweep to the next as well.

    The log joint with a heavy seed is made of log gamma functions near a million, of size 1e7: tolerance 1e-7.
    """
    sampler = make_chain(n_topics, linked, even, amounts)
    corpus, state = sampler.corpus, sampler.state
    documents, sizes = reference.token_documents(corpus), (corpus.n_documents, corpus.n_words, n_topics)
    found, expected = [], []
    for _ in range(100):  # with a heavy seed hardly anything moves
        sampler.step()
        assert_counts_match(sampler)
        assert state.word_topic.dtype == np.float32
        assert state.log_joint == sampler.log_joint()
        found.append(state.log_joint - state.log_links)
        expected.append(
            reference.log_words_and_topics(documents, corpus.words, state.assignments, *sizes, *masses(sampler))
        )
        if linked:
            expected[-1] += reference.log_weight_prior(state.weights, state.feature_weights, "full", 1.0)
    tolerance = 1e-7 if max(amounts, default=0) > 1000 else 1e-9
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)
    assert np.abs(np.diff(found)).max() > 1e4 * tolerance
    np.testing.assert_allclose(np.diff(found), np.diff(expected), rtol=0, atol=tolerance)


@chains
def test_samples_contain_the_priors(n_topics, linked, even, amounts):
    sampler = make_chain(n_topics, linked, even, amounts)
    for _ in range(3):
        sampler.step()
    sample = take_sample(4, sampler.corpus, sampler.state)
    alpha, beta = masses(sampler)
    words = reference.table(sampler.corpus.words, sampler.state.assignments, (7, n_topics)) + beta.T
    np.testing.assert_allclose(sample.word_topic[:, :n_topics].sum(axis=0), 1, rtol=1e-6)
    np.testing.assert_allclose(sample.word_topic[:, :n_topics], words / words.sum(axis=0), rtol=1e-6)
    assert not sample.word_topic[:, n_topics:].any()
    np.testing.assert_array_equal(sample.alpha, alpha)
    np.testing.assert_allclose(sample.doc_topic[2], alpha / alpha.sum(), rtol=1e-6)  # it has no words
    np.testing.assert_allclose(sample.doc_topic.sum(axis=1), 1, rtol=1e-6)
    assert (sample.alpha == 2.0 / n_topics).all() == even
    assert_counts_match(sampler)


# --- topics of new documents ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [[0.5, 0.5, 0.5], [0.1, 0.4, 2.0], [1e-4, 3.0, 0.3]], ids=str)
def test_inference_with_the_alpha_of_a_sample(alpha, monkeypatch):
    """The mean of thousands of equal documents against a list of all their topics; z-test, false-alarm rate 1e-3.

    Every copy has words of its own, equally likely ones, since a document's random numbers come from its words. Sweeps
    go on for a fixed number: to stop when a document has settled is to stop more often where it moves less.
    """
    monkeypatch.setattr(linktopics.sampler.topic_inference, "LIKELIHOOD_TOLERANCE", -1.0)
    monkeypatch.setattr(linktopics.sampler.topic_inference, "MAX_INFERENCE_SWEEPS", 30)
    n, alpha, document = 4_000, np.array(alpha), [0, 1, 1, 2]
    topics = np.array([[0.7, 0.2, 0.1], [0.1, 0.5, 0.3], [0.2, 0.3, 0.6]])
    word_topic = np.zeros((3 * n, 8), np.float32)
    word_topic[:, :3] = np.tile(topics, (n, 1))
    counts = np.bincount(document)
    copies = csr_array((np.tile(counts, n), np.arange(3 * n), 3 * np.arange(n + 1)), shape=(n, 3 * n))
    shares = infer_topics(word_topic, alpha, copies, seed=7)

    def exact(alpha):
        every = np.array(list(product(range(3), repeat=len(document))))
        of_topic = np.stack([(every == k).sum(axis=1) for k in range(3)], axis=1)
        log_p = reference.log_dirichlet_multinomial(of_topic, alpha) + np.log(topics[document, every]).sum(axis=1)
        p = np.exp(log_p)
        return p / p.sum() @ of_topic / len(document)

    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-5)
    assert p_value(shares.astype(float), exact(alpha)) > FALSE_ALARM
    for wrong in (np.full(3, alpha.mean()), alpha[::-1]):
        assert not np.ptp(alpha) or p_value(shares.astype(float), exact(wrong)) < CERTAIN


def test_a_new_document_without_words_has_the_topics_of_the_prior():
    alpha = np.array([0.1, 0.4, 2.0])
    word_topic = np.zeros((2, 8), np.float32)
    word_topic[:, :3] = 0.5
    shares = infer_topics(word_topic, alpha, csr_array(np.array([[0, 0], [3, 1]])), seed=0)
    np.testing.assert_allclose(shares[0], alpha / alpha.sum(), rtol=1e-6)


# --- what is learned --------------------------------------------------------------------------------------------------

CALLS = 10
"""A chain learns again and again, each time from where it was: the fixed point may take its time."""


def simulate(prior, lengths, rng):
    """Draw one row of counts for each length, its distribution from the Dirichlet distribution."""
    return np.array([rng.multinomial(n, rng.dirichlet(prior)) for n in lengths])


def assert_learned(log_likelihood, found, planted):
    """Check logarithms of what was learned.

    They are where SciPy finds the highest likelihood, to a fifth of a standard error: the fixed point stops where it
    hardly moves, and it moves little where priors are large (0.17 seen at worst). And what was planted is as near as
    chance has it, by Wald's test; which must reject twice as much.
    """
    best = minimize(lambda x: -log_likelihood(x), planted, method="BFGS").x
    steps = 1e-3 * np.eye(len(best))
    curvature = -np.array(
        [[sum(a * b * log_likelihood(best + a * s + b * t) for a in (1, -1) for b in (1, -1)) for s in steps]
         for t in steps]
    ) / 4e-6  # fmt: skip

    def distance(x):
        return (found - x) @ curvature @ (found - x)

    assert distance(best) < 0.2**2, f"{np.exp(found)} where {np.exp(best)} is best"
    assert stats.chi2.sf(distance(planted), len(best)) > FALSE_ALARM, f"{np.exp(found)}, planted: {np.exp(planted)}"
    assert stats.chi2.sf(distance(planted + np.log(2)), len(best)) < CERTAIN


@pytest.mark.parametrize("start", [0.01, 1.0, 30.0])
@pytest.mark.parametrize(
    ("planted", "per_topic"),
    [
        ([0.05, 0.1, 1.0, 0.3], True),
        ([4.0, 1.0, 2.0, 0.5], True),
        ([20.0, 5.0, 10.0, 30.0], True),
        (np.geomspace(0.02, 2.0, 9), True),
        ([0.05] * 4, False),
        ([3.0] * 9, False),
    ],
    ids=str,
)
def test_alpha_learned(planted, per_topic, start):
    rng = np.random.default_rng([len(planted), per_topic])
    lengths = np.append(rng.poisson(80, 600), [0, 0, 1])
    counts = simulate(planted, lengths, rng)
    K = len(planted)
    table = np.zeros((len(counts), 16), np.float32)
    table[:, :K] = counts

    def log_likelihood(x):
        return reference.log_dirichlet_multinomial(counts, np.exp(x) * np.ones(K)).sum()

    alpha = np.full(K, start)
    for _ in range(CALLS):
        before = log_likelihood(np.log(alpha))
        alpha = learn_alpha(table, lengths, alpha, per_topic=per_topic)
        assert log_likelihood(np.log(alpha)) >= before - 1e-7
    assert per_topic or np.ptp(alpha) == 0
    size = K if per_topic else 1
    assert_learned(log_likelihood, np.log(alpha)[:size], np.log(planted)[:size])


@pytest.mark.parametrize("start", [0.001, 0.1, 10.0])
@pytest.mark.parametrize("seeds", [[], [(0, 0, 5), (3, 0, 1), (3, 2, 40), (17, 3, 400)]], ids=["no seeds", "seeds"])
@pytest.mark.parametrize("planted", [0.05, 0.2, 2.0])
def test_beta_learned(planted, seeds, start):
    rng = np.random.default_rng([int(100 * planted), len(seeds)])
    K, V, totals = 5, 400, np.array([20_000, 3_000, 9_000, 6_000, 0])
    places = np.array(seeds, int).reshape(-1, 3).T

    def beta_of(beta):
        return reference.seeded(beta, *places, K, V)

    counts = np.array([rng.multinomial(n, rng.dirichlet(row)) for n, row in zip(totals, beta_of(planted), strict=True)])
    table = np.zeros((V, 8), np.float32)
    table[:, :K] = counts.T
    corpus = make_corpus([[0]], V, np.empty((0, 2)), [], False, None, seeds)

    def log_likelihood(x):
        return reference.log_dirichlet_multinomial(counts, beta_of(np.exp(x[0]))).sum()

    beta = start
    for _ in range(CALLS):
        before = log_likelihood([np.log(beta)])
        beta = learn_beta(corpus, table, totals, Priors(np.ones(K), beta))
        assert log_likelihood([np.log(beta)]) >= before - 1e-7
    assert_learned(log_likelihood, np.log([beta]), np.log([planted]))


def learned_alpha(counts, per_topic, start=1.0, calls=40):
    """Return the alpha that is learned of these rows of counts, after many calls."""
    counts = np.array(counts)
    alpha = np.full(counts.shape[1], start)
    for _ in range(calls):
        alpha = learn_alpha(counts.astype(np.float32), counts.sum(axis=1), alpha, per_topic=per_topic)
        assert ((alpha >= MIN_PRIOR) & (alpha <= MAX_PRIOR)).all()
    return alpha


def learned_beta(counts, seeds=(), start=1.0, calls=40):
    """Return the beta that is learned of these counts, words by topics, after many calls."""
    counts = np.array(counts)
    corpus = make_corpus([[0]], len(counts), np.empty((0, 2)), [], False, None, seeds)
    beta = start
    for _ in range(calls):
        beta = learn_beta(corpus, counts.astype(np.float32), counts.sum(axis=0), Priors(np.ones(counts.shape[1]), beta))
        assert MIN_PRIOR <= beta <= MAX_PRIOR
    return beta


@pytest.mark.parametrize("per_topic", [False, True], ids=["symmetric", "per topic"])
def test_alpha_at_its_bounds(per_topic):
    pure = [[9, 0, 0], [0, 8, 0], [0, 0, 7], [0, 0, 0]]  # every document has one topic: none is the best alpha
    np.testing.assert_array_equal(learned_alpha(pure, per_topic), MIN_PRIOR)
    same = [[90, 90, 90]] * 5  # every document has the same topics: the more alpha, the better
    assert learned_alpha(same, per_topic)[0] > 100
    np.testing.assert_array_equal(learned_alpha(same, per_topic, start=MAX_PRIOR), MAX_PRIOR)
    one = learned_alpha([[5, 0, 0], [30, 0, 0], [1, 0, 0]], per_topic)  # all tokens have topic 0
    np.testing.assert_array_equal(one[1:], MIN_PRIOR)
    assert one[0] > 1 if per_topic else one[0] == MIN_PRIOR


@pytest.mark.parametrize("per_topic", [False, True], ids=["symmetric", "per topic"])
def test_alpha_of_which_nothing_can_be_learned(per_topic):
    np.testing.assert_array_equal(learned_alpha(np.zeros((3, 4), int), per_topic, start=0.7), 0.7)
    np.testing.assert_array_equal(learned_alpha(np.zeros((0, 4), int), per_topic, start=0.7), 0.7)
    # Documents of one token tell what topics are frequent, not how much alpha there is.
    found = learned_alpha([[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]], per_topic, start=0.7)
    np.testing.assert_allclose(found, 3 * 0.7 * np.array([0.25, 0.5, 0.25]) if per_topic else 0.7)


def test_empty_documents_change_nothing():
    counts = simulate([0.3, 1.0, 0.1], [20] * 50, np.random.default_rng(0))
    with_empty = np.insert(counts, [0, 7, 50], 0, axis=0)
    for per_topic in (False, True):
        np.testing.assert_array_equal(learned_alpha(counts, per_topic), learned_alpha(with_empty, per_topic))


def test_beta_at_its_bounds():
    assert learned_beta(np.diag([50, 60, 70])) == MIN_PRIOR  # every topic has one word
    assert learned_beta(np.full((4, 2), 90)) > 100  # every topic has all words alike
    assert learned_beta(np.full((4, 2), 90), start=MAX_PRIOR) == MAX_PRIOR
    assert learned_beta(np.zeros((4, 2), int), start=0.3) == 0.3
    assert learned_beta([[0, 0], [0, 40]], [(1, 1, 3)], start=0.3) == MIN_PRIOR
    one = learned_beta(np.stack([[7, 0, 2, 0], [0] * 4], axis=1))  # all tokens have topic 0: the same as it alone
    assert one == learned_beta(np.array([[7, 0, 2, 0]]).T)


# --- chains and models that learn -------------------------------------------------------------------------------------


def learned_by_hand(corpus, state, alpha, beta):
    """Return the priors that are learned at a state: alpha, and then beta."""
    priors = state.priors
    if alpha is not None:
        per_topic = alpha == "per-topic"
        found = learn_alpha(state.doc_topic, np.diff(corpus.start), priors.alpha, per_topic=per_topic)
        priors = Priors(found, priors.beta)
    if beta:
        K = len(priors.alpha)
        priors = Priors(priors.alpha, learn_beta(corpus, state.word_topic, state.topic_total[:K], priors))
    return priors


@pytest.mark.parametrize("learn", [("symmetric", False), ("per-topic", True), (None, True), (None, False)], ids=str)
def test_a_chain_learns_during_burn_in(learn):
    """After sweep 20, the first at which chains learn, and 29, the last of burn-in; after sweeps 30 and 40 no longer.

    The same seed makes the same chain, whose priors are set by hand.
    """
    corpus = make_chain(3, True, True, (2, 5)).corpus
    settings = make_settings(3, alpha=2.0, beta=0.03)
    chain, other = (start_chains(corpus, settings, [np.random.SeedSequence(8)])[0] for _ in range(2))
    run_chains(corpus, settings, [chain], Schedule(29, 3, 5, *learn), verbose=False)
    sampler, at_start = Sampler(corpus, settings, other.state), Priors.even(3, 2.0, 0.03)
    for state in sampler:
        if state.iteration in (20, 29):
            state.priors = learned_by_hand(corpus, state, *learn)
        if state.iteration == 44:
            break
    assert chain.state.priors.beta == state.priors.beta
    assert (state.priors.beta != at_start.beta) == learn[1]
    for sample in chain.samples:
        np.testing.assert_array_equal(sample.alpha, state.priors.alpha)
    assert (state.priors.alpha != at_start.alpha).any() == (learn[0] is not None)
    assert (np.ptp(state.priors.alpha) > 0) == (learn[0] == "per-topic")
    np.testing.assert_array_equal(chain.state.assignments, state.assignments)
    assert [sample.log_joint for sample in chain.samples] == chain.trace[[33, 38, 43], 0].tolist()
    assert chain.state.log_joint == state.log_joint


SHORT = {"pair_features": None, "negatives": 3, "n_burn_in": 60, "n_samples": 2, "thin": 4, "n_chains": 1}


@pytest.fixture(scope="module")
def simulated():
    """250 documents of 40 tokens with alpha 0.2 for each of 4 topics and beta 0.05; and both halves of 50 more."""
    network = make_network(300, 4, 100, mean_length=40, mean_degree=3, alpha=0.8, beta=0.05, random_state=0)
    new = network.counts[250:].toarray()
    half = np.random.default_rng(0).binomial(new, 0.5)
    return network.subset(np.arange(250)), half, new - half


def fit(network, **settings):
    """Fit a model that begins with far too much alpha, 5 for each topic, and far too much beta, 1."""
    return RelationalTopicModel(4, alpha=20.0, beta=1.0, random_state=0, **{**SHORT, **settings}).fit(network)


@pytest.mark.parametrize("kind", ["symmetric", "per-topic"])
def test_models_learn_the_priors_of_a_simulated_network(simulated, kind):
    """Within a factor of 1.6 of those planted, and words of new documents gain by it.

    Over twenty other networks the logarithms of alpha and of beta were off by 0.10 and 0.12 (root mean square), 0.26
    and 0.32 at most, so log 1.6 = 0.47 is near four standard deviations: false-alarm rate about 1e-4. Words of one half
    of new documents, given the other half, gained 0.17 to 0.26 nats each; 0.1 is asked for.
    """
    network, half, rest = simulated
    learned, given = fit(network, learn_alpha=kind, learn_beta=True), fit(network)
    assert np.abs(np.log(learned.alpha_ / 0.2)).max() < np.log(1.6), learned.alpha_
    assert abs(np.log(learned.beta_ / 0.05)) < np.log(1.6), learned.beta_
    assert (np.ptp(learned.alpha_) > 0) == (kind == "per-topic")
    assert (given.alpha_.tolist(), given.beta_) == ([5.0] * 4, 1.0)
    gain = np.log(learned.transform(half) @ learned.topic_word_) - np.log(given.transform(half) @ given.topic_word_)
    assert (rest * gain).sum() / rest.sum() > 0.1


def test_models_learn_an_alpha_for_each_topic():
    """Topics that are not equally frequent, held in place by their three most probable words as seeds.

    Over thirty other seeds the logarithms of alpha were off by 0.11 (root mean square), 0.33 at most, so log 1.6 = 0.47
    is over four standard deviations: false-alarm rate about 1e-4. With a beta far too small, topics get stuck.
    """
    planted, rng = np.array([0.3, 0.1, 1.0]), np.random.default_rng(99)
    phi = rng.dirichlet(np.full(60, 0.05), size=3)
    counts = np.array([rng.multinomial(50, theta @ phi) for theta in rng.dirichlet(planted, size=300)])
    seeds = np.argsort(-phi, axis=1)[:, :3].tolist()
    learn = {"learn_alpha": "per-topic", "learn_beta": True}
    model = RelationalTopicModel(3, **learn, seed_words=seeds, random_state=0, **SHORT).fit(counts)
    assert np.abs(np.log(model.alpha_ / planted)).max() < np.log(1.6), model.alpha_


def test_priors_stay_after_burn_in(simulated):
    """All samples of a chain have the same alpha, and each chain its own. More samples keep it; more burn-in learns."""
    learn = {"learn_alpha": "per-topic", "learn_beta": True}
    model = fit(simulated[0], **learn, n_burn_in=25, n_samples=5, n_chains=2)

    def priors():
        return [chain.state.priors for chain in model._run.chains]

    first = priors()
    assert first[0].beta != first[1].beta
    for n_samples in (0, 3):
        if n_samples:
            model.resume(n_samples=n_samples)
        assert len(model.samples_) == 2 * (5 + n_samples)
        for sample in model.samples_:
            np.testing.assert_array_equal(sample.alpha, first[sample.chain].alpha)
        assert [one.beta for one in priors()] == [one.beta for one in first]
        best = first[model.best_chain_]
        assert (model.alpha_.tolist(), model.beta_) == (best.alpha.tolist(), best.beta)
    assert not np.array_equal(first[0].alpha, first[1].alpha)
    model.resume(n_burn_in=10, n_samples=1)
    for before, after in zip(first, priors(), strict=True):
        assert before.beta != after.beta
        assert (before.alpha != after.alpha).all()
