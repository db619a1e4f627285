"""Sweeps, weight draws and inference for many numbers of topics, against float64 in NumPy.

Kernels go through the padded topics by blocks of up to 7 registers of 8 topics, of which the last may overlap the one
before; each padded number is another compiled kernel. `TOPICS` has numbers that fill the padding and that do not, up to
one block (8 ... 56), blocks that fit (64) and blocks that overlap (72, 88, 104, 128, 136, 200, 304 padded topics).

Compiling the kernels of one padded number takes some 15 seconds, so most numbers are marked as long. `QUICK` has one
register and two, which other tests need, too, and blocks that overlap without filling the padding. Tests are in the
order of the number of topics, so that one process compiles a kernel and the others find it on disk.

Seen to fail once, at all numbers whose blocks overlap and at no other: a sweep in which pairs that enter a document are
added to sums that the block before has added them to already. Seen to fail at 81 topics: rows of products or of
curvatures that are added to what is there where blocks overlap, or without their last block; exponentials, scores,
topics of a document, each of the sums over pairs, counts, weights and draws of new documents, and the three kernels of
`test_counts`, all without, or with other values for, the topics from 64 on.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln

from linktopics.datasets import make_network
from linktopics.kernels.counts import add_up
from linktopics.kernels.inference import infer
from linktopics.kernels.likelihood import log_rising
from linktopics.kernels.partition import pack, unpack
from linktopics.kernels.simd import padded
from linktopics.kernels.sweep import project
from linktopics.network.pairs import sample_pairs
from linktopics.sampler import Corpus, Sampler, initial_state, weights
from linktopics.sampler.pair_sums import PairSums
from support import reference
from support.marks import some_long
from support.settings import make_settings
from support.worlds import (
    assert_counts_match,
    make_corpus,
    make_sampler,
    offset,
    random_features,
    random_pairs,
    set_weights,
    trace_of_sweep,
)

TOPICS = (1, 7, 8, 9, 25, 50, 64, 65, 72, 81, 88, 100, 128, 129, 200, 300)
QUICK = (1, 7, 8, 9, 100)
GRAM_MAX_TOPICS = 64
"""Up to here the matrix of pairs of topics is compared. It has K^4 / 4 entries, and is in use up to 32 topics."""

ALPHA, BETA, VARIANCE = 3.0, 0.1, 2.5
FALSE_ALARM = 1e-4
FLOAT32 = {"rtol": 1e-4, "atol": 1e-5}
SHARES = {"rtol": 1e-6, "atol": 1e-6}  # added up in float64; those of documents without words are rounded to float32


@pytest.fixture(scope="module", params=some_long(TOPICS, [n for n in TOPICS if n not in QUICK]))
def n_topics(request):
    return request.param


def counts_of(corpus, topics, n_topics):
    return reference.table(reference.token_documents(corpus), topics, (corpus.n_documents, n_topics))


# --- the topic sweep --------------------------------------------------------------------------------------------------


def network(rng, symmetric):
    """Return nine short documents: 2 has no words, 5 no pairs, 3 pairs with all others, 0 and 1 pairs both ways."""
    documents = [rng.integers(12, size=n) for n in (6, 8, 0, 5, 9, 7, 1, 10, 6)]
    among = [0, 1, 2, 3, 4, 6, 7, 8]
    busy = [pair for j in among if j != 3 for pair in ((3, j), (j, 3))]
    chain = list(pairwise(among))
    pairs = np.vstack([random_pairs(rng, among, 0.4, symmetric), busy, chain, [(1, 0), (8, 0)]])
    pairs = np.unique(np.sort(pairs, axis=1) if symmetric else pairs, axis=0)
    label = rng.random(len(pairs)) < 0.5
    corpus = make_corpus(documents, 12, pairs, label, symmetric, random_features(rng, len(pairs), "all"))
    both = (np.diff(corpus.out_start) > 0) & (np.diff(corpus.in_start) > 0)
    assert both[[1, 2, 3, 4, 6, 7] if symmetric else among].all()
    return corpus


def log_pairs(document, counts, own, weights, shift, linear, quadratic, corpus):
    """Return what the pairs of a document say about a token of each topic beside the document's `own` counts.

    For each topic, the Gaussian form of the scores that the pairs have with it; pairs of other documents are left out.
    """
    zbar, n = reference.proportions(counts), counts[document].sum()
    leaving, entering = (np.flatnonzero(ends == document) for ends in (corpus.source, corpus.target))
    toward = np.vstack([zbar[corpus.target[leaving]] @ weights.T, zbar[corpus.source[entering]] @ weights])
    pairs = np.append(leaving, entering)
    scores = ((toward @ own)[:, None] + toward) / n + shift[pairs, None]
    return linear[pairs] @ scores - 0.5 * quadratic[pairs] @ scores**2


def log_words(token, document, corpus, topics, n_topics):
    """Return the logarithm of LDA's weight of each topic for a token, which is not counted itself."""
    others = np.arange(corpus.n_tokens) != token
    words = reference.table(corpus.words[others], topics[others], (corpus.n_words, n_topics))
    own = np.bincount(topics[corpus.start[document] : corpus.start[document + 1]], minlength=n_topics)
    own[topics[token]] -= 1
    prior, total = ALPHA / n_topics, words.sum(axis=0) + BETA * corpus.n_words
    return np.log(words[corpus.words[token]] + BETA) + np.log(own + prior) - np.log(total)


def normalised(values):
    return values - np.logaddexp.reduce(values)


@pytest.mark.parametrize("exact", [True, False], ids=["exact", "cached"])
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
@pytest.mark.parametrize("kind", reference.KINDS)
def test_every_token(kind, loss, exact, n_topics):
    """Weights of all topics of all tokens, given the counts at that moment; and the scores of pairs after the sweep.

    The exact sampler takes the document's counts without the token, the cached one all of them as the document began.
    To 5e-4 of a probability (float32, exponents of some hundred); topics below 1e-9 only have to stay below 1e-8.
    For a token of the document with most pairs the reference is compared with the whole log joint.
    """
    rng = np.random.default_rng([90, n_topics, reference.KINDS.index(kind), loss == "hinge"])
    corpus = network(rng, kind == "symmetric")
    sampler = make_sampler(corpus, kind, 91, n_topics, loss=loss, exact=exact, alpha=ALPHA, beta=BETA)
    set_weights(sampler, rng, kind, 2.0)
    augmented = rng.gamma(2.0, 0.2, corpus.n_pairs) if loss == "logistic" else np.exp(rng.normal(0, 1, corpus.n_pairs))
    form = reference.gaussian_form(loss, augmented, corpus.label, 4.0, 1.0, 1.0)
    state, shift = sampler.state, offset(sampler)
    before, after, used = trace_of_sweep(sampler, *form)
    influence = 0.0
    for n, document in enumerate(reference.token_documents(corpus)):
        topics = np.concatenate([after[:n], before[n:]])
        first = corpus.start[document]
        counts = counts_of(corpus, topics if exact else np.concatenate([after[:first], before[first:]]), n_topics)
        own = counts[document] - (np.arange(n_topics) == topics[n] if exact else 0)
        of_words = log_words(n, document, corpus, topics, n_topics)
        of_pairs = log_pairs(document, counts, own, state.weights, shift, *form, corpus)
        expected = normalised(of_words + of_pairs)
        likely = expected > np.log(1e-9)
        error = np.log(np.maximum(used[n], 1e-300)) - expected
        np.testing.assert_allclose(error[likely], 0, atol=5e-4, err_msg=f"token {n} of document {document}")
        assert (used[n][~likely] < 1e-8).all()
        influence = max(influence, np.ptp(of_pairs))
        if exact and n == corpus.start[3]:
            brute = reference.log_conditional(n, corpus, topics, state.weights, shift, *form, ALPHA, BETA)
            np.testing.assert_allclose(expected, brute, atol=1e-8)
    assert influence > 1 or n_topics == 1, "pairs that hardly matter would hide an error"
    assert_counts_match(sampler)
    scores = reference.scores(counts_of(corpus, after, n_topics), corpus.source, corpus.target, state.weights, shift)
    np.testing.assert_allclose(sampler.shard.scores(), scores, rtol=1e-5, atol=1e-5)


# --- weights ----------------------------------------------------------------------------------------------------------


class Recorder:
    """A random generator that remembers its standard normal numbers, by how many were asked for at a time."""

    def __init__(self, seed):
        self.rng, self.drawn = np.random.default_rng(seed), {}

    def standard_normal(self, size):
        assert size not in self.drawn
        self.drawn[size] = self.rng.standard_normal(size)
        return self.drawn[size]


def linked_documents(rng, n_topics, kind, n_documents=40, n_pairs=150):
    """Return a sampler of documents of up to 39 tokens, every seventh empty, with pairs that have features."""
    documents = [rng.integers(30, size=n) for n in rng.integers(1, 40, n_documents)]
    documents[::7] = [[]] * len(documents[::7])
    pairs = random_pairs(rng, range(n_documents), n_pairs / n_documents**2, kind == "symmetric")
    features = random_features(rng, len(pairs), "all")
    corpus = make_corpus(documents, 30, pairs, rng.random(len(pairs)) < 0.5, kind == "symmetric", features)
    sampler = make_sampler(corpus, kind, 92, n_topics, weight_variance=VARIANCE, weight_method="cg")
    set_weights(sampler, rng, kind, 1.0)
    return sampler


@pytest.mark.parametrize("kind", reference.KINDS)
def test_draws_of_weights(kind, n_topics, monkeypatch):
    """A draw with known noise against the same draw by dense solving, in standard deviations.

    By conjugate gradients it is Lambda^-1 (sum_e (linear_e + root(quadratic_e) noise_e) phi_e + other noise / root(v)),
    v being the prior variance: its mean and covariance are the posterior's. Lambda is inverted by Woodbury's formula,
    which is dense in the pairs: at 300 topics there are 90,000 weights. Diagonal weights are drawn by Cholesky factors:
    Lambda^-1 pull + L^-T noise.
    A tolerance of 1e-5 in place of 1e-3 leaves rounding as the error. The bound is on the whole difference d,
    root(d^T Lambda d): no single direction may be off by more.
    """
    monkeypatch.setattr(weights, "CG_TOLERANCE", 1e-5)
    rng = np.random.default_rng([93, n_topics, reference.KINDS.index(kind)])
    sampler = linked_documents(rng, n_topics, kind)
    corpus, state, K = sampler.corpus, sampler.state, n_topics
    rows = reference.rows(counts_of(corpus, state.assignments, K), corpus.source, corpus.target, kind, corpus.features)
    augmented = rng.gamma(2.0, 0.5, corpus.n_pairs)
    linear, quadratic = reference.gaussian_form("logistic", augmented, corpus.label, 4.0, 1.0, 1.0)
    state.generators[0] = noise = Recorder([94, K])
    sampler.shard.set_gaussian(linear, quadratic)
    sampler.draw_weights()
    found = reference.free_weights(state.weights, state.feature_weights, kind)
    if kind == "diagonal":
        mean, precision = reference.weight_posterior(rows, linear, quadratic, VARIANCE)
        own = noise.drawn[len(mean)]
        expected = mean + np.linalg.solve(np.linalg.cholesky(precision).T, own)
    else:
        own = noise.drawn[K * K + corpus.n_features]
        free = np.ones((K, K), bool) if kind == "full" else np.triu(np.ones((K, K), bool))
        own = np.append(own[: K * K].reshape(K, K)[free], own[K * K :])
        goal = rows.T @ (linear + np.sqrt(quadratic) * noise.drawn[corpus.n_pairs]) + own / np.sqrt(VARIANCE)
        inner = np.diag(1 / quadratic) + VARIANCE * rows @ rows.T
        expected = VARIANCE * (goal - VARIANCE * rows.T @ np.linalg.solve(inner, rows @ goal))
    d = found - expected
    assert np.sqrt(d @ d / VARIANCE + quadratic @ (rows @ d) ** 2) < 0.01


def test_sums_over_pairs(n_topics):
    """What the weight step asks of the kernels: compress, marginals, curvatures, and all that follow below."""
    K, rng = n_topics, np.random.default_rng([95, n_topics])
    sampler = linked_documents(rng, K, "full")
    corpus, part = sampler.corpus, sampler.shard.part
    linear, quadratic = rng.normal(size=corpus.n_pairs), rng.uniform(0.5, 2.0, corpus.n_pairs)
    sums = PairSums(part, K, sampler.shard.topic_rows(), linear, quadratic, rng)
    assert not len(sums.stiff)
    zbar = reference.proportions(counts_of(corpus, sampler.state.assignments, K))
    left, right, features = zbar[corpus.source], zbar[corpus.target], corpus.features

    row, topic, share = sums.shares
    rebuilt = np.zeros_like(zbar)
    rebuilt[np.repeat(np.arange(len(zbar)), np.diff(row)), topic] = share
    np.testing.assert_allclose(rebuilt, zbar, rtol=1e-6)

    found = sums.margins()
    np.testing.assert_allclose(found[0], left.T @ (quadratic[:, None] * left), **SHARES)
    np.testing.assert_allclose(found[1], right.T @ (quadratic[:, None] * right), **SHARES)
    np.testing.assert_allclose(found[3], (left**2).T @ (quadratic[:, None] * right**2), **FLOAT32)
    np.testing.assert_allclose(sums.interactions(linear), left.T @ (linear[:, None] * right), **FLOAT32)

    V = rng.normal(size=(K, K))
    for tau in (np.empty(0), rng.normal(size=features.shape[1])):
        offsets = features @ tau if len(tau) else 0.0
        pull = quadratic * (np.einsum("ek,ek->e", left @ V, right) + offsets)
        product, of_features = sums.product(V, tau)
        np.testing.assert_allclose(product, left.T @ (pull[:, None] * right), **FLOAT32)
        np.testing.assert_allclose(of_features, (features.T @ pull)[: len(tau)], **FLOAT32)

    F = np.hstack([left * right, features])
    precision, pull = sums.diagonal()
    np.testing.assert_allclose(precision, F.T @ (quadratic[:, None] * F), **SHARES)
    np.testing.assert_allclose(pull, F.T @ linear, **SHARES)

    if K <= GRAM_MAX_TOPICS:
        upper = np.triu_indices(K)
        index = np.zeros((K, K), np.int64)
        index[upper] = index.T[upper] = np.arange(len(upper[0]))
        one, two = (side[:, upper[0]] * side[:, upper[1]] for side in (left, right))
        np.testing.assert_allclose(sums.matrices(index)[0], one.T @ (quadratic[:, None] * two), **SHARES)


@pytest.mark.parametrize("kind", reference.KINDS)
def test_projections_and_scores(kind, n_topics):
    """Of all documents and pairs; a sweep is compared with its own above."""
    K, rng = n_topics, np.random.default_rng([96, n_topics])
    sampler = linked_documents(rng, K, kind)
    corpus, state, shard = sampler.corpus, sampler.state, sampler.shard
    counts = counts_of(corpus, state.assignments, K)
    shard.project()
    expected = reference.scores(counts, corpus.source, corpus.target, state.weights, offset(sampler))
    np.testing.assert_allclose(shard.scores(), expected, rtol=1e-5, atol=1e-5)

    n, width = corpus.n_documents, padded(K)
    entering = n if kind == "full" else 0  # otherwise U is symmetric, and one projection serves both ends of a pair
    U, UT = (np.zeros((width, width), np.float32) for _ in range(2))
    U[:K, :K], UT[:K, :K] = state.weights, state.weights.T
    projection = np.full((n + entering, width), np.nan, np.float32)
    project((0,) * width, shard.part.lengths, shard.topic_rows(), U, UT, projection, entering)
    zbar = reference.proportions(counts)
    np.testing.assert_allclose(projection[:n, :K], zbar @ state.weights.T, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(projection[entering:, :K], zbar @ state.weights, rtol=1e-5, atol=1e-5)
    assert not projection[:, K:].any()


# --- counts of topics -------------------------------------------------------------------------------------------------


def test_counts(n_topics):
    """Counting, the likelihood of counts, and counts as shards send them to each other."""
    rng, width = np.random.default_rng([97, n_topics]), padded(n_topics)
    start, words = np.array([0, 40, 40, 100, 400]), rng.integers(20, size=400).astype(np.int32)
    topics = rng.integers(n_topics, size=400).astype(np.int32)
    tables = np.zeros((4, width), np.float32), np.zeros((20, width), np.float32), np.zeros(width, np.int64)
    add_up(start, words, topics, *tables)
    documents = np.repeat(np.arange(4), np.diff(start))
    np.testing.assert_array_equal(tables[0], reference.table(documents, topics, (4, width)))
    np.testing.assert_array_equal(tables[1], reference.table(words, topics, (20, width)))
    np.testing.assert_array_equal(tables[2], np.bincount(topics, minlength=width))

    values = gammaln(np.arange(401) + 0.3) - gammaln(0.3)
    assert log_rising(tables[0], values) == pytest.approx(values[tables[0].astype(int)].sum(), rel=1e-12)

    sent = np.array([3, 1, 0])
    received = np.full((6, width), np.nan, np.float32)
    unpack(*pack(tables[0], sent), received, 2)
    np.testing.assert_array_equal(received[2:5], tables[0][sent])
    assert np.isnan(received[[0, 1, 5]]).all()


# --- new documents ----------------------------------------------------------------------------------------------------


def inferred(documents, topic_word, alpha, seed=0, n_average=1):
    """Return the mean topic shares of documents over sweeps that follow the first."""
    K, n_words = topic_word.shape
    width = padded(K)
    word_topic, prior = np.zeros((n_words, width), np.float32), np.zeros((1, width), np.float32)
    word_topic[:, :K], prior[0, :K] = topic_word.T, alpha
    word_topic.flags.writeable = False  # as for the kernel that users have
    start = np.append(0, np.cumsum([len(document) for document in documents]))
    words = np.concatenate([np.asarray(document, np.int32) for document in documents])
    shares = np.full((len(documents), width), np.nan, np.float32)
    infer((0,) * width, start, words, word_topic, prior, seed, 1, n_average, -1.0, 0, len(documents), shares)
    assert not shares[:, K:].any()
    return shares[:, :K]


def test_inference_finds_the_only_topic(n_topics):
    """Word k is of topic k alone, and the last word of all topics alike: it follows the other words of its document.

    Documents of these two, of all words but the last, and of none. With next to no prior, tokens of the last word have
    other topics once in a million seeds.
    """
    K = n_topics
    topic_word = np.hstack([np.eye(K), np.ones((K, 1))])
    documents = [[k] * 3 + [K] * 5 for k in range(K)] + [list(range(K)), []]
    expected = np.vstack([np.eye(K), np.full(K, 1 / K), np.zeros(K)])
    np.testing.assert_allclose(inferred(documents, topic_word, 1e-12, n_average=3), expected, rtol=1e-5)


def test_inference_draws_from_the_posterior(n_topics):
    """Of a document of one token all sweeps are independent draws from topic_word * alpha: chi-square.

    Of two tokens of other words, how often both have the same topic is compared with the posterior, over 2000 seeds:
    binomial. False-alarm rates 1e-4 each, per number of topics.
    """
    K, rng = n_topics, np.random.default_rng([98, n_topics])
    topic_word, alpha = rng.gamma(0.7, size=(K, 3)) + 0.02, rng.gamma(2.0, size=K) * 3 / K + 0.1 / K
    n = 100_000
    frequencies = np.rint(inferred([[1]], topic_word, alpha, n_average=n)[0].astype(float) * n)
    p = topic_word[:, 1] * alpha
    if K > 1:
        assert stats.chisquare(frequencies, frequencies.sum() * p / p.sum()).pvalue > FALSE_ALARM
    joint = np.outer(topic_word[:, 0] * alpha, topic_word[:, 2]) * (alpha + np.eye(K))
    same, n = np.trace(joint) / joint.sum(), 2000
    times = sum(inferred([[0, 2]], topic_word, alpha, seed=seed, n_average=1).max() == 1 for seed in range(n))
    assert stats.binomtest(times, n, min(same, 1.0)).pvalue > FALSE_ALARM


# --- a chain ----------------------------------------------------------------------------------------------------------


def effective_number(amounts):
    """Return the number of equal parts that have the same entropy."""
    share = amounts[amounts > 0] / amounts.sum()
    return float(np.exp(-share @ np.log(share)))


@pytest.mark.long
def test_a_hundred_topics_keep_sixty_true_ones():
    """From random topics, after 40 sweeps of the paper's model about as many topics are in use as the truth has.

    Effective numbers of topics, exp of the entropy of their shares of the tokens: the truth has 57. After 5, 10, 20 and
    40 sweeps there are 95, 92, 84 and 68. With the mistake named above there were 52, 17, 10 and 10.
    """
    network, truth = make_network(300, 60, 800, mean_length=40, mean_degree=6, random_state=0, return_truth=True)
    pairs = sample_pairs(network.links, network.n_documents, True, 1, np.random.default_rng(0))
    corpus = Corpus.build(network.counts, pairs, False, None)
    settings = make_settings(100, link_cost=8.0)
    sampler = Sampler(corpus, settings, initial_state(corpus, settings, np.random.SeedSequence(0)))
    for _ in range(40):
        sampler.step()
    true = effective_number(np.diff(corpus.start) @ truth.zbar)
    assert effective_number(sampler.state.topic_total) > 0.8 * true > 40
