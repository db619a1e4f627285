"""The "cached" sampler (the paper's Approx models) differs from the exact one only in what it says it does.

Its factor exp(v) is computed once per document, from the counts at the document's start with all tokens included:
v = g - A c - diag(A) / 2. The LDA factor is that of the exact sampler. No randomness enters the comparisons.
"""

from __future__ import annotations

import numpy as np
import pytest

from support import reference
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


def cached_exponent(document, corpus, counts, weights, shift, linear, quadratic):
    """Compute v of one document from explicit sums over its pairs, whose scores their features shift."""
    zbar, n, K = reference.proportions(counts), counts[document].sum(), len(weights)
    g, A = np.zeros(K), np.zeros((K, K))
    for e, (i, j) in enumerate(zip(corpus.source, corpus.target, strict=True)):
        for end, other, U in ((i, j, weights), (j, i, weights.T)):
            if end == document:
                a = U @ zbar[other] / n
                g += (linear[e] - quadratic[e] * shift[e]) * a
                A += quadratic[e] * np.outer(a, a)
    return g - A @ counts[document] - np.diag(A) / 2


def lda_weight(token, corpus, topics, n_topics, alpha, beta):
    """Topic weights of a token from its words and its document alone."""
    others = np.arange(corpus.n_tokens) != token
    documents = reference.token_documents(corpus)
    by_document = reference.table(documents[others], topics[others], (corpus.n_documents, n_topics))
    by_word = reference.table(corpus.words[others], topics[others], (corpus.n_words, n_topics))
    return (
        (by_word[corpus.words[token]] + beta)
        * (by_document[documents[token]] + alpha / n_topics)
        / (by_word.sum(axis=0) + beta * corpus.n_words)
    )


def network(rng, symmetric, features="none"):
    documents = [rng.integers(5, size=n) for n in (4, 1, 0, 30, 7, 5)]
    pairs = random_pairs(rng, range(6), 0.5, symmetric)
    label = rng.random(len(pairs)) < 0.5
    return make_corpus(documents, 5, pairs, label, symmetric, random_features(rng, len(pairs), features))


@pytest.mark.parametrize(
    ("kind", "features"),
    [
        *((kind, features) for kind in reference.KINDS for features in ("none", "all")),
        ("diagonal", "intercept"),
    ],
)
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
@pytest.mark.parametrize("n_topics", [3, 9])
def test_one_factor_per_document(loss, kind, features, n_topics):
    """To 1e-4 of a probability's logarithm: float32, with exponents of up to some 50 (see test_conditional)."""
    rng = np.random.default_rng([70, n_topics, loss == "hinge"])
    corpus = network(rng, kind == "symmetric", features)
    sampler = make_sampler(corpus, kind, 71, n_topics, loss=loss, exact=False, alpha=3.0, beta=0.2)
    state = sampler.state
    set_weights(sampler, rng, kind, 2.0)
    shift = offset(sampler)
    augmented = np.exp(rng.normal(-0.5, 0.7, corpus.n_pairs))
    linear, quadratic = reference.gaussian_form(loss, augmented, corpus.label, 4.0, 1.0, 1.0)
    documents = reference.token_documents(corpus)
    differs = 0.0
    for _ in range(2):
        before, after, used = trace_of_sweep(sampler, linear, quadratic)
        assert_counts_match(sampler)
        for n, document in enumerate(documents):
            first = corpus.start[document]
            at_start = np.concatenate([after[:first], before[first:]])
            counts = reference.table(documents, at_start, (corpus.n_documents, n_topics))
            v = cached_exponent(document, corpus, counts, state.weights, shift, linear, quadratic)
            topics = np.concatenate([after[:n], before[n:]])
            expected = np.log(lda_weight(n, corpus, topics, n_topics, 3.0, 0.2)) + v
            expected -= np.logaddexp.reduce(expected)
            likely = expected > np.log(1e-9)
            np.testing.assert_allclose(np.log(used[n][likely]), expected[likely], rtol=0, atol=1e-4)
            assert (used[n][~likely] < 1e-8).all()
            exact = reference.log_conditional(n, corpus, topics, state.weights, shift, linear, quadratic, 3.0, 0.2)
            differs = max(differs, np.abs(np.exp(exact) - used[n]).max())
    assert differs > 0.003, "cached and exact must not be the same thing here"


@pytest.mark.parametrize("n_topics", [2, 9, 20])
@pytest.mark.parametrize("kind", ["full", "diagonal"])
def test_without_links_both_are_the_same_chain(kind, n_topics):
    """Same seed, same bits."""
    rng = np.random.default_rng(72)
    documents = [rng.integers(12, size=n) for n in (4, 1, 0, 30, 70, 5)]
    corpus = make_corpus(documents, 12, np.empty((0, 2)), [], False)
    exact, cached = (make_sampler(corpus, kind, 73, n_topics, exact=flag) for flag in (True, False))
    start = exact.state.assignments.copy()
    for _ in range(30):
        exact.step()
        cached.step()
        np.testing.assert_array_equal(exact.state.assignments, cached.state.assignments)
        np.testing.assert_array_equal(exact.state.stream, cached.state.stream)
        assert exact.state.log_joint == cached.state.log_joint
    assert (exact.state.assignments != start).any()


def test_links_that_say_nothing_change_nothing():
    """Zero weights: links are there, yet every token's conditional is that of LDA, in both samplers."""
    rng = np.random.default_rng(74)
    corpus = network(rng, False)
    for flag in (True, False):
        sampler = make_sampler(corpus, "full", 75, 5, exact=flag, alpha=2.0, beta=0.1)
        before, after, used = trace_of_sweep(sampler, np.ones(corpus.n_pairs), np.ones(corpus.n_pairs))
        for n in range(corpus.n_tokens):
            expected = lda_weight(n, corpus, np.concatenate([after[:n], before[n:]]), 5, 2.0, 0.1)
            np.testing.assert_allclose(used[n], expected / expected.sum(), rtol=1e-5)
