"""Small networks for the statistical tests, and the seam between them and the sampler."""

from __future__ import annotations

import numpy as np
from scipy import stats
from scipy.sparse import csr_array

from linktopics.network.pairs import TrainingPairs
from linktopics.sampler import Corpus, Priors, Sampler, Seeds, count_topics, initial_state
from support import reference
from support.settings import make_settings

KINDS = {  # the kinds of `reference` -> (weights, symmetric)
    "full": ("full", False),
    "symmetric": ("full", True),
    "diagonal": ("diagonal", False),
}


def make_corpus(documents, n_words, pairs, label, symmetric, features=None, seeds=()):
    """Build a corpus from lists of word numbers and an (n_pairs, 2) array; returns it with pairs in sorted order.

    Tokens of a document come out sorted by word, pairs sorted by (source, target), with their labels and features.
    Seeds are triples (word, topic, amount).
    """
    indptr, indices, data = [0], [], []
    for document in documents:
        words, counts = np.unique(np.asarray(document, int), return_counts=True)
        indices.extend(words)
        data.extend(counts)
        indptr.append(len(indices))
    counts = csr_array(
        (np.array(data, np.int64), np.array(indices, np.int32), np.array(indptr, np.int32)),
        shape=(len(documents), n_words),
    )
    pairs = np.asarray(pairs, np.int32).reshape(-1, 2)
    if symmetric:
        pairs = np.sort(pairs, axis=1)
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    pairs, label = pairs[order], np.asarray(label, bool)[order]
    training = TrainingPairs(pairs[:, 0].copy(), pairs[:, 1].copy(), label, len(documents))
    word, topic, amount = np.array(seeds, dtype=float).reshape(-1, 3).T
    return Corpus.build(
        counts,
        training,
        symmetric,
        None if features is None else np.asarray(features, float)[order],
        Seeds(word.astype(np.int64), topic.astype(np.int64), amount),
    )


def random_seeds(rng, n_words, n_topics, amounts):
    """Draw as many seed words as there are amounts: triples (word, topic, amount), no word and topic twice."""
    places = rng.choice(n_words * n_topics, len(amounts), replace=False)
    return [(place // n_topics, place % n_topics, amount) for place, amount in zip(places, amounts, strict=True)]


def random_pairs(rng, among, share, symmetric):
    """Draw a share of all pairs (ordered, or unordered if symmetric) among the given documents, at least one."""
    every = np.array([(i, j) for i in among for j in among if (i < j if symmetric else i != j)])
    return every[np.sort(rng.choice(len(every), max(1, round(share * len(every))), replace=False))]


def random_features(rng, n_pairs, which):
    """Draw features of pairs: "none", an "intercept", or "all" there may be.

    All: an intercept (beside full weights the sum of all their columns), two columns of real numbers, one of them
    skewed and not centred, and a column of zeros.
    """
    ones = np.ones((n_pairs, 1))
    if which == "none":
        return ones[:, :0]
    if which == "intercept":
        return ones
    assert which == "all"
    return np.hstack([ones, rng.standard_normal((n_pairs, 1)), rng.gamma(0.5, 2.0, (n_pairs, 1)), 0 * ones])


def make_sampler(corpus, kind, seed, n_topics, **settings):
    """Return a sampler at its initial state."""
    weights, symmetric = KINDS[kind]
    # Diagonal weights serve directed and undirected pairs alike; full weights are symmetric or they are not.
    assert symmetric == corpus.symmetric or weights == "diagonal"
    chosen = make_settings(n_topics=n_topics, weights=weights, **settings)
    return Sampler(corpus, chosen, initial_state(corpus, chosen, np.random.SeedSequence(seed)))


def set_topics(sampler, topics):
    """Put the chain at these topics, with the counts that belong to them."""
    state = sampler.state
    state.assignments[:] = topics
    state.doc_topic, state.word_topic, state.topic_total = count_topics(
        sampler.corpus, state.assignments, sampler.settings.n_topics
    )


def set_alpha(sampler, alpha):
    """Give topics these prior tokens of a document, and words the beta of the settings."""
    sampler.state.priors = Priors(np.array(alpha, dtype=float), sampler.settings.beta)


def masses(sampler):
    """Return (alpha, beta) as the reference has them: of all topics, and of all topics and words."""
    corpus, priors = sampler.corpus, sampler.state.priors
    seeds = corpus.seeds
    sizes = (len(priors.alpha), corpus.n_words)
    return priors.alpha, reference.seeded(priors.beta, seeds.word, seeds.topic, seeds.amount, *sizes)


def set_weights(sampler, rng, kind, scale):
    """Put the chain at random weights of topics and of features."""
    K = sampler.settings.n_topics
    weights = scale * rng.standard_normal((K, K))
    if kind == "symmetric":
        weights = (weights + weights.T) / 2
    if kind == "diagonal":
        weights = np.diag(np.diag(weights))
    sampler.state.weights = weights
    sampler.state.feature_weights = 0.5 * scale * rng.standard_normal(sampler.corpus.n_features)


def offset(sampler):
    """Return what the features of every pair add to its score, at the sampler's state."""
    return reference.offset(sampler.corpus.features, sampler.state.feature_weights)


def trace_of_sweep(sampler, linear, quadratic):
    """Do one sweep; return (topics before, topics after, probabilities used for every token)."""
    K, state = sampler.settings.n_topics, sampler.state
    before = state.assignments.copy()
    trace = np.zeros((len(before), state.doc_topic.shape[1]), np.float32)
    sampler.shard.set_gaussian(linear, quadratic)
    sampler.shard.draw_topics(trace)
    assert np.isfinite(trace).all()
    assert (trace >= 0).all()
    assert not trace[:, K:].any(), "topics that only fill the width up got some probability"
    weights = trace[:, :K].astype(float)
    return before, state.assignments.copy(), weights / weights.sum(axis=1, keepdims=True)


def assert_counts_match(sampler):
    """Check that the three tables of counts equal a recount of the assignments."""
    corpus, state, K = sampler.corpus, sampler.state, sampler.settings.n_topics
    topics = state.assignments
    assert topics.min(initial=0) >= 0
    assert topics.max(initial=0) < K
    documents = reference.token_documents(corpus)
    np.testing.assert_array_equal(state.doc_topic[:, :K], reference.table(documents, topics, (corpus.n_documents, K)))
    np.testing.assert_array_equal(state.word_topic[:, :K], reference.table(corpus.words, topics, (corpus.n_words, K)))
    np.testing.assert_array_equal(state.topic_total[:K], np.bincount(topics, minlength=K))
    for counts in (state.doc_topic, state.word_topic, state.topic_total[None]):
        assert not counts[:, K:].any()


def p_value(rows, expected):
    """Return the p-value of independent rows whose mean should be `expected` (z-test of each column, Bonferroni)."""
    error = rows.std(axis=0, ddof=1) / np.sqrt(len(rows))
    z = (rows.mean(axis=0) - expected) / error
    return min(1.0, rows.shape[1] * 2 * stats.norm.sf(np.abs(z).max()))
