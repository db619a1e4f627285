"""The kernel's conditional distribution of every token equals the one from the whole log joint, by brute force.

A sweep leaves a trace of the topic weights it used. Tokens are redrawn in order, so at token n the tokens before it
have the topics of the end of the sweep and the tokens after it those of its start: the state is known at every token,
and the reference evaluates the full log joint once per topic. Features shift the scores of pairs, also of those with
the document without words. No randomness enters the comparison: no false alarms.

Tolerance. The kernel works in float32 (unit roundoff u = 2^-24 = 6e-8). The exponent of a topic is a sum of terms whose
magnitudes add up to `size` (see `exponent_size`), each rounded a few times; the LDA factor adds some more. And every
change of a topic in the document multiplies by one factor exp(row of A) and divides by another, each good to a few u.
So log-probabilities may differ by u * (`ROUNDINGS` * (10 + size) + `PER_CHANGE` * changes); a third of that is seen at
worst. For short documents and moderate exponents (size 10) that is 4e-5; a dropped term of the formula shows as 1e-2
to 1e+2.
Topics less likely than `RARE` = 1e-9 are below what a float32 uniform number can choose; they only have to stay below
1e-8.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from support import reference
from support.marks import some_long
from support.worlds import (
    assert_counts_match,
    make_corpus,
    make_sampler,
    masses,
    offset,
    random_features,
    random_pairs,
    random_seeds,
    set_alpha,
    set_topics,
    set_weights,
    trace_of_sweep,
)

ROUNDINGS = 30
PER_CHANGE = 10
ROUNDOFF = 2.0**-24
RARE = 1e-9


def exponent_size(sampler, document, topics, linear, quadratic):
    """Sum of the magnitudes of all terms of g - A c - diag(A) / 2, for the worst topic."""
    corpus, weights, shift = sampler.corpus, sampler.state.weights, np.abs(offset(sampler))
    documents = reference.token_documents(corpus)
    counts = reference.table(documents, topics, (corpus.n_documents, len(weights)))
    zbar, n = reference.proportions(counts, sampler.state.priors.alpha), counts[document].sum()
    size = np.zeros(len(weights))
    for e, (i, j) in enumerate(zip(corpus.source, corpus.target, strict=True)):
        for end, other, U in ((i, j, weights), (j, i, weights.T)):
            if end == document:
                a = np.abs(U) @ zbar[other] / n
                size += (abs(linear[e]) + quadratic[e] * shift[e]) * a
                size += quadratic[e] * a * (a @ counts[document] + a / 2)
    return size.max()


def assert_sweep_exact(sampler, linear, quadratic):
    """Run a sweep, compare every token's conditional; return the worst share of the tolerance and the largest size."""
    corpus, state = sampler.corpus, sampler.state
    documents = reference.token_documents(corpus)
    before, after, used = trace_of_sweep(sampler, linear, quadratic)
    worst = largest = 0.0
    sizes = np.zeros(corpus.n_documents)  # what was rounded at its largest stays in the sums of the document
    for n in range(corpus.n_tokens):
        topics = np.concatenate([after[:n], before[n:]])
        expected = reference.log_conditional(
            n,
            corpus,
            topics,
            state.weights,
            offset(sampler),
            linear,
            quadratic,
            *masses(sampler),
        )
        now = exponent_size(sampler, documents[n], topics, linear, quadratic)
        size = sizes[documents[n]] = max(now, sizes[documents[n]])
        likely = expected > np.log(RARE)
        error = np.abs(np.log(np.maximum(used[n], 1e-300)) - expected)[likely].max()
        changes = np.sum((before != after)[:n][documents[:n] == documents[n]])
        allowed = ROUNDOFF * (ROUNDINGS * (10 + size) + PER_CHANGE * changes)
        assert error <= allowed, f"token {n}: {used[n]} where {np.exp(expected)} is right (size {size:.3g})"
        assert (used[n][~likely] < 10 * RARE).all(), f"token {n}: {used[n]} where {np.exp(expected)} is right"
        worst, largest = max(worst, error / allowed), max(largest, size)
    assert_counts_match(sampler)
    return worst, largest


def network(rng, n_words=6, symmetric=False, lengths=(1, 5, 0, 12, 3, 8, 1, 6, 4), features="none", seeds=()):
    """Build a network with documents of one token, repeated words, an empty document (2) and one without pairs (5)."""
    documents = [rng.integers(n_words, size=n) for n in lengths]
    among = [i for i in range(len(lengths)) if i != 5]
    pairs = random_pairs(rng, among, 0.4, symmetric)
    extra = [(2, 3)] if symmetric else [(2, 3), (4, 2)]
    pairs = np.unique(np.vstack([pairs, extra]), axis=0)
    label = rng.random(len(pairs)) < 0.5
    features = random_features(rng, len(pairs), features)
    return make_corpus(documents, n_words, pairs, label, symmetric, features, seeds)


def draw_gaussian_form(rng, loss, label, scale=1.0):
    """Draw augmented variables of about the size they have in a chain, and return (linear, quadratic)."""
    augmented = rng.gamma(2.0, 0.2 * scale, len(label)) if loss == "logistic" else np.exp(rng.normal(0, 1, len(label)))
    return reference.gaussian_form(loss, augmented, label, 4.0, 1.0, 1.0)


def of_size(size, sampler, linear, quadratic):
    """Multiply both by one factor, so that the exponents of the worst document are of the size wanted."""
    corpus, state = sampler.corpus, sampler.state
    now = max(
        exponent_size(sampler, i, state.assignments, linear, quadratic) for i in np.flatnonzero(np.diff(corpus.start))
    )
    return linear * size / now, quadratic * size / now


CASES = [
    (loss, kind, symmetric, features)
    for loss in ("logistic", "hinge")
    for kind, symmetric, features in (
        ("full", False, "none"),
        ("symmetric", True, "none"),
        ("diagonal", False, "none"),
        ("full", False, "all"),
        ("symmetric", True, "all"),
        ("diagonal", False, "intercept"),
        ("diagonal", True, "all"),
    )
]


@pytest.mark.parametrize("n_topics", some_long([2, 3, 7, 8, 9, 20], [2, 7, 20]))
@pytest.mark.parametrize(("loss", "kind", "symmetric", "features"), CASES)
def test_every_token_of_every_model(loss, kind, symmetric, features, n_topics):
    rng = np.random.default_rng([n_topics, CASES.index((loss, kind, symmetric, features))])
    corpus = network(rng, symmetric=symmetric, features=features)
    sampler = make_sampler(corpus, kind, 1, n_topics, loss=loss, alpha=3.0, beta=0.1)
    set_weights(sampler, rng, kind, 2.0)
    linear, quadratic = draw_gaussian_form(rng, loss, corpus.label)
    for _ in range(2):  # the second sweep starts from what the first one left behind
        _, largest = assert_sweep_exact(sampler, linear, quadratic)
    assert largest > 1, "pairs that hardly matter would hide an error"


@pytest.mark.parametrize("amounts", [(), (1, 2, 40, 3000), (2**20,)], ids=["no seeds", "seeds", "heavy seed"])
@pytest.mark.parametrize("alpha", ["even", "uneven"])
@pytest.mark.parametrize("n_topics", [2, 9])
@pytest.mark.parametrize("size", [0, 10, 300])
def test_seed_words_and_uneven_alpha(size, n_topics, alpha, amounts):
    """Topics with a hundred times the alpha of others; seed words with less, or more, than their tokens.

    Without pairs (size 0), and with exponents on both sides of what the kernel multiplies.
    """
    rng = np.random.default_rng([n_topics, size, len(amounts)])
    seeds = random_seeds(rng, 6, n_topics, amounts)
    if size:
        corpus = network(rng, symmetric=True, features="all", seeds=seeds)
    else:
        documents = [rng.integers(6, size=n) for n in (4, 0, 9, 1, 12)]
        corpus = make_corpus(documents, 6, np.empty((0, 2)), [], True, None, seeds)
    sampler = make_sampler(corpus, "symmetric", 12, n_topics, alpha=3.0, beta=0.1)
    if alpha == "uneven":
        set_alpha(sampler, rng.permutation(np.geomspace(0.02, 2.0, n_topics)))
    set_weights(sampler, rng, "symmetric", 2.0)
    set_topics(sampler, rng.integers(n_topics, size=corpus.n_tokens))
    form = draw_gaussian_form(rng, "logistic", corpus.label)
    if size:
        form = of_size(size, sampler, *form)
    for _ in range(2):
        assert_sweep_exact(sampler, *form)


@pytest.mark.parametrize("size", [30, 300, 3000])
@pytest.mark.parametrize(("loss", "kind", "symmetric", "features"), CASES)
def test_far_exponents(loss, kind, symmetric, features, size):
    """Strong weights, large costs, tiny documents: exponents far beyond what exp can hold in float32."""
    rng = np.random.default_rng([size, CASES.index((loss, kind, symmetric, features))])
    for n_topics in (3, 9):
        corpus = network(rng, symmetric=symmetric, lengths=(1, 2, 0, 2, 3, 1, 1, 2, 4), features=features)
        sampler = make_sampler(corpus, kind, 2, n_topics, loss=loss, alpha=1.0, beta=0.01)
        set_weights(sampler, rng, kind, 2.0)
        linear, quadratic = draw_gaussian_form(rng, loss, corpus.label)
        _, largest = assert_sweep_exact(sampler, *of_size(size, sampler, linear, quadratic))
        assert largest > 0.1 * size


@pytest.mark.parametrize("size", some_long([40, 500], [40]))
@pytest.mark.parametrize(("loss", "kind", "symmetric", "features"), some_long(CASES, CASES[1::2]))
def test_long_documents(loss, kind, symmetric, features, size):
    """Hundreds of tokens and topic changes in a document: what is updated step by step must not drift or go stale."""
    rng = np.random.default_rng([size, CASES.index((loss, kind, symmetric, features))])
    corpus = network(rng, n_words=40, symmetric=symmetric, lengths=(230, 3, 0, 260, 1, 20), features=features)
    sampler = make_sampler(corpus, kind, 3, 4, loss=loss, alpha=4.0, beta=0.5)
    set_weights(sampler, rng, kind, 3.0)
    linear, quadratic = draw_gaussian_form(rng, loss, corpus.label)
    before = sampler.state.assignments.copy()
    assert_sweep_exact(sampler, *of_size(size, sampler, linear, quadratic))
    changed = before != sampler.state.assignments
    assert changed[:230].sum() > 100
    assert changed[233:493].sum() > 100


@pytest.mark.parametrize("gap", [60.0, 120.0, 300.0])
@pytest.mark.parametrize("step", [1.0, 3.0, 4.5, 6.0, 9.5, 15.0, 19.0])
def test_hopeless_topics_stay_hopeless(step, gap):
    """A topic e^-gap less likely than another, and tokens that each change the odds by e^(2 step) or e^(4 step).

    One neighbour, all entries of A are +step or -step, and topic 1 alone is favoured. A kernel that cuts the factor of
    topics 0, 2 and 3 off at some e^-60 and then multiplies it by what later changes call for brings them back too soon.
    """
    corpus = make_corpus([[0] * 12, [1]], 2, [(0, 1)], [True], False)
    sampler = make_sampler(corpus, "full", 11, 4, alpha=4.0, beta=0.5)
    sampler.state.weights = np.repeat([[1.0], [-1.0], [1.0], [1.0]], 4, axis=1)
    set_topics(sampler, [0, 2, 3] * 4 + [0])
    quadratic = np.array([step * 12.0**2])
    linear = np.array([quadratic[0] - gap / 2 * 12.0])
    assert_sweep_exact(sampler, linear, quadratic)


def test_many_neighbours():
    """A document with more pairs than any block the kernel may gather at once."""
    rng = np.random.default_rng(5)
    n = 150
    documents = [rng.integers(5, size=6), *(rng.integers(5, size=2) for _ in range(n))]
    pairs = [(0, j) for j in range(1, n + 1)] + [(j, 0) for j in range(1, n + 1, 2)]
    corpus = make_corpus(documents, 5, pairs, rng.random(len(pairs)) < 0.5, False)
    sampler = make_sampler(corpus, "full", 6, 9, alpha=3.0, beta=0.1)
    set_weights(sampler, rng, "full", 1.0)
    linear, quadratic = draw_gaussian_form(rng, "logistic", corpus.label)
    assert_sweep_exact(sampler, linear, quadratic)


def test_without_pairs_it_is_lda():
    rng = np.random.default_rng(8)
    documents = [rng.integers(6, size=n) for n in (4, 0, 9, 1)]
    corpus = make_corpus(documents, 6, np.empty((0, 2)), [], False)
    sampler = make_sampler(corpus, "full", 9, 5, alpha=2.0, beta=0.2)
    assert_sweep_exact(sampler, np.empty(0), np.empty(0))


@pytest.mark.parametrize("n_topics", [2, 8, 9, 20])
def test_topics_are_drawn_from_these_probabilities(n_topics):
    """Draws follow the probabilities of the trace.

    Given the past, 1[z_n = k] - p_nk has mean 0 and variance p_nk (1 - p_nk): sums over many tokens are normal.
    Randomised distribution functions F(z_n - 1) + U p(z_n) are independent and uniform (Kolmogorov-Smirnov).
    False-alarm rate 1e-4 in all for each number of topics (Bonferroni over 2 K + 1 p-values).
    """
    rng = np.random.default_rng(n_topics)
    corpus = network(rng, lengths=(40, 5, 0, 60, 30, 80, 1, 60, 40))
    sampler = make_sampler(corpus, "full", 10, n_topics, alpha=0.5, beta=0.05)
    set_weights(sampler, rng, "full", 3.0)
    linear, quadratic = of_size(80, sampler, *draw_gaussian_form(rng, "logistic", corpus.label))
    used, drawn = [], []
    for _ in range(100):
        _, after, p = trace_of_sweep(sampler, linear, quadratic)
        used.append(p)
        drawn.append(after)
    p, z = np.concatenate(used), np.concatenate(drawn)
    hit = z[:, None] == np.arange(n_topics)
    deviation = (hit - p).sum(axis=0) / np.sqrt(np.maximum((p * (1 - p)).sum(axis=0), 1))
    # The same for the rare events among them: a coarse random number gives some topics far too many.
    rare = np.where(p < 0.003, p, 0)
    seldom = np.where(rare > 0, hit - p, 0).sum(axis=0) / np.sqrt(np.maximum(rare.sum(axis=0), 1))
    below = np.where(np.arange(n_topics) < z[:, None], p, 0).sum(axis=1)
    uniform = below + rng.random(len(z)) * p[hit]
    p_values = [*2 * stats.norm.sf(np.abs([*deviation, *seldom])), stats.kstest(uniform, "uniform").pvalue]
    assert min(p_values) > 1e-4 / len(p_values)
