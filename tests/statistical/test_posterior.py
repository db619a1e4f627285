"""Whole iterations against the exact posterior of a network small enough for sums and quadrature.

The joint-distribution test (test_geweke) needs links that can be drawn from the model: cost 1, logistic. Here costs,
margin and the hinge loss are tested together: with three documents and two topics the topics can be listed and the two
or three free weights integrated on a grid, the augmented variables never entering the reference.

z-scores with batch means (`BATCHES` batches, t with `BATCHES` - 1 degrees of freedom). False-alarm rate: 1e-3 per case
(Bonferroni over its moments); fixed seeds.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

import reference
from worlds import make_corpus, make_sampler

FALSE_ALARM = 1e-3
DOCUMENTS = [[0, 1], [0, 2], [1, 1, 2]]
ALPHA, BETA, VARIANCE, MARGIN = 2.0, 0.5, 4.0, 1.3
BATCHES, PER_BATCH = 40, 150
CASES = [
    (loss, kind, symmetric)
    for loss in ("logistic", "hinge")
    for kind, symmetric in (("symmetric", True), ("diagonal", False), ("intercept", False))
]


def grid(n_free):
    """Points and log weights of the prior of the free weights (trapezoidal rule on five standard deviations)."""
    axis = np.linspace(-5, 5, 121 if n_free == 2 else 41) * np.sqrt(VARIANCE)
    points = np.array(list(product(axis, repeat=n_free)))
    log_weight = -0.5 * (points**2).sum(axis=1) / VARIANCE
    return points, log_weight - np.logaddexp.reduce(log_weight)


def statistics(counts, free, omega, label):
    """Label-invariant functions of a state; `free` and `omega` may have leading axes."""
    zbar = reference.proportions(counts)
    together = np.array([zbar[0] @ zbar[1], zbar[0] @ zbar[2], zbar[1] @ zbar[2]])
    shape = free.shape[:-1]
    sign = 2.0 * label - 1
    return np.stack(
        [np.full(shape, t) for t in together]
        + [np.full(shape, (counts**2).sum())]
        + [free.mean(axis=-1), (free**2).mean(axis=-1)]
        + [omega[..., e] for e in range(len(label))]
        + [(omega**2).mean(axis=-1), (np.maximum(0, 1 - sign * omega)).mean(axis=-1)],
        axis=-1,
    )


def exact_moments(corpus, kind, loss, link_cost, nonlink_cost):
    documents = reference.token_documents(corpus)
    cost = reference.costs(corpus.label, link_cost, nonlink_cost)
    by_counts = {}
    for topics in product(range(2), repeat=corpus.n_tokens):
        topics = np.array(topics)
        counts = reference.table(documents, topics, (3, 2))
        log_p = reference.log_words_and_topics(documents, corpus.words, topics, 3, 3, 2, ALPHA, BETA)
        key = counts.tobytes()
        by_counts[key] = (counts, np.logaddexp(log_p, by_counts[key][1]) if key in by_counts else log_p)
    total, mass, top = 0.0, 0.0, max(log_p for _, log_p in by_counts.values())
    points = None
    for counts, log_p in by_counts.values():
        rows = reference.features(counts, corpus.source, corpus.target, kind)
        if points is None:
            points, log_weight = grid(rows.shape[1])
        omega = points @ rows.T
        if loss == "logistic":
            log_likelihood = reference.log_logistic(omega, corpus.label, cost).sum(axis=1)
        else:
            log_likelihood = reference.log_hinge(omega, corpus.label, cost, MARGIN).sum(axis=1)
        p = np.exp(log_p - top + log_weight + log_likelihood)
        total = total + p @ statistics(counts, points, omega, corpus.label)
        mass += p.sum()
    return total / mass


@pytest.mark.parametrize(("loss", "kind", "symmetric"), CASES)
def test_iterations_leave_the_posterior_alone(loss, kind, symmetric):
    link_cost, nonlink_cost = 3.0, 2.0
    pairs = [(0, 1), (0, 2), (1, 2)] if symmetric else [(0, 1), (1, 0), (1, 2), (2, 0)]
    label = np.array([True, False, True, True][: len(pairs)])
    corpus = make_corpus(DOCUMENTS, 3, pairs, label, symmetric)
    sampler = make_sampler(
        corpus,
        kind,
        90,
        2,
        loss=loss,
        alpha=ALPHA,
        beta=BETA,
        weight_variance=VARIANCE,
        link_cost=link_cost,
        nonlink_cost=nonlink_cost,
        margin=MARGIN,
    )
    kept = []
    for state in sampler:
        counts = state.doc_topic[:, :2].astype(float)
        omega = reference.scores(counts, corpus.source, corpus.target, state.weights, state.intercept)
        free = reference.free_weights(state.weights, state.intercept, kind)
        kept.append(statistics(counts, free, omega, corpus.label))
        if state.iteration == 100 + BATCHES * PER_BATCH:
            break
    expected = exact_moments(corpus, kind, loss, link_cost, nonlink_cost)
    means = np.array(kept[100:]).reshape(BATCHES, PER_BATCH, -1).mean(axis=1)
    z = (means.mean(axis=0) - expected) / (means.std(axis=0, ddof=1) / np.sqrt(BATCHES))
    p_values = 2 * stats.t.sf(np.abs(z), BATCHES - 1)
    assert p_values.min() > FALSE_ALARM / len(p_values), f"z-scores {z.round(1)}"


@pytest.mark.parametrize(("loss", "kind", "symmetric"), [*CASES, ("logistic", "full", False), ("hinge", "full", False)])
def test_log_joint_and_scores(loss, kind, symmetric):
    """The log joint a chain reports, and its scores, equal the reference's (scores are kept in float32)."""
    pairs = [(0, 1), (0, 2), (1, 2)]
    corpus = make_corpus(DOCUMENTS, 3, pairs, [True, False, True], symmetric)
    settings = {"alpha": ALPHA, "beta": BETA, "weight_variance": VARIANCE, "margin": MARGIN}
    for n_topics in (2, 9):
        sampler = make_sampler(corpus, kind, 91, n_topics, loss=loss, link_cost=3.0, nonlink_cost=0.5, **settings)
        documents = reference.token_documents(corpus)
        for _ in range(5):
            sampler.step()
            state = sampler.state
            counts = reference.table(documents, state.assignments, (3, n_topics))
            omega = reference.scores(counts, corpus.source, corpus.target, state.weights, state.intercept)
            np.testing.assert_allclose(sampler.scores(), omega, rtol=1e-5, atol=1e-5)
            cost = reference.costs(corpus.label, 3.0, 0.5)
            links = (
                reference.log_logistic(omega, corpus.label, cost)
                if loss == "logistic"
                else reference.log_hinge(omega, corpus.label, cost, MARGIN)
            )
            expected = (
                reference.log_words_and_topics(documents, corpus.words, state.assignments, 3, 3, n_topics, ALPHA, BETA)
                + links.sum()
                + reference.log_weight_prior(state.weights, state.intercept, kind, VARIANCE)
            )
            assert state.log_joint == pytest.approx(expected, abs=1e-3)
