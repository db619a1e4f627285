"""Whole iterations against the exact posterior of a network small enough for sums and quadrature.

The joint-distribution test (test_geweke) needs links that can be drawn from the model: cost 1, logistic. Here costs,
margin, the hinge loss and features are tested together: with three documents and two topics the topics can be listed.
Given them the scores of pairs are Gaussian, of no more dimensions than there are pairs, and integrated on a grid; what
scores leave open about the weights is Gaussian too. The augmented variables never enter the reference.

z-scores with batch means (`BATCHES` batches, t with `BATCHES` - 1 degrees of freedom). False-alarm rate: 1e-3 per case
(Bonferroni over its moments); fixed seeds.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from support import reference
from support.marks import some_long
from support.worlds import make_corpus, make_sampler, offset

FALSE_ALARM = 1e-3
DOCUMENTS = [[0, 1], [0, 2], [1, 1, 2]]
ALPHA, BETA, VARIANCE, MARGIN = 2.0, 0.5, 4.0, 1.3
BATCHES, PER_BATCH = 40, 150
DIRECTED = [(0, 1), (1, 0), (1, 2), (2, 0)]
UNDIRECTED = [(0, 1), (0, 2), (1, 2)]
LABEL = [True, False, True, True, False]
CASES = {
    # loss, kind, method, pairs, their features; document 3 has no words
    "logistic symmetric": ("logistic", "symmetric", "auto", UNDIRECTED, []),
    "logistic diagonal": ("logistic", "diagonal", "auto", DIRECTED, []),
    "hinge diagonal": ("hinge", "diagonal", "auto", DIRECTED, []),
    "hinge intercept": ("hinge", "diagonal", "auto", DIRECTED, [[1.0] * 4]),
    "logistic full, features": ("logistic", "full", "auto", [(0, 1), (2, 1), (0, 3)], [[0.5, 0.8, -1.0], [1.0] * 3]),
    "hinge full, features": ("hinge", "full", "cg", [(1, 0), (2, 0), (3, 0)], [[-1.0, 0.5, 0.6], [0.2, -0.9, 0.3]]),
    "hinge symmetric, features": ("hinge", "symmetric", "auto", UNDIRECTED, [[0.5, -0.3, 1.0], [-0.8, 0.4, 0.7]]),
    "logistic diagonal, features": (
        "logistic", "diagonal", "auto", [(0, 1), (1, 2), (2, 0), (2, 3), (3, 1)], [[0.5, -1.0, 0.8, -0.4, 1.2]]
    ),
}  # fmt: skip


def make_case(case):
    """Return (loss, kind, method, corpus)."""
    loss, kind, method, pairs, features = CASES[case]
    documents = DOCUMENTS + [[]] * (np.max(pairs) - 2)
    features = np.array(features).reshape(-1, len(pairs)).T
    corpus = make_corpus(documents, 3, pairs, LABEL[: len(pairs)], kind == "symmetric", features)
    return loss, kind, method, corpus


def grid(n):
    """Points of n standard normal variables and their log weights (trapezoidal rule on five standard deviations)."""
    axis = np.linspace(-5, 5, 121 if n < 3 else 41)
    points = np.array(list(product(axis, repeat=n)))
    log_weight = -0.5 * (points**2).sum(axis=1)
    return points, log_weight - np.logaddexp.reduce(log_weight)


def statistics(counts, free, spread, n_features, omega, label):
    """Label-invariant functions of states, averaged over free weights with mean `free` and covariance `spread`.

    `free` and `omega`, and `counts` if it is not the same for all, have a leading axis of states.
    """
    zbar = counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1)
    together = [(zbar[..., i, :] * zbar[..., j, :]).sum(axis=-1) for i, j in UNDIRECTED]
    sign = 2.0 * label - 1
    n = free.shape[1] - n_features
    # The mean of the weights of topics, and each weight of a feature.
    picked = np.zeros((1 + n_features, free.shape[1]))
    picked[0, :n] = 1 / n
    picked[1:, n:] = np.eye(n_features)
    means, spreads = free @ picked.T, picked @ spread @ picked.T
    columns = [
        *together,
        (counts**2).sum(axis=(-2, -1)),
        (free[:, :n] ** 2).mean(axis=1) + np.diag(spread)[:n].mean(),
        *means.T,
        *(means[:, a] * means[:, b] + spreads[a, b] for a in range(1 + n_features) for b in range(a + 1)),
        *omega.T,
        (omega**2).mean(axis=1),
        np.maximum(0, 1 - sign * omega).mean(axis=1),
    ]
    return np.stack([np.broadcast_to(column, len(free)) for column in columns], axis=1)


def exact_moments(corpus, kind, loss, link_cost, nonlink_cost):
    documents = reference.token_documents(corpus)
    cost = reference.costs(corpus.label, link_cost, nonlink_cost)
    by_counts = {}
    for topics in product(range(2), repeat=corpus.n_tokens):
        topics = np.array(topics)
        counts = reference.table(documents, topics, (corpus.n_documents, 2))
        log_p = reference.log_words_and_topics(
            documents, corpus.words, topics, corpus.n_documents, corpus.n_words, 2, ALPHA, BETA
        )
        key = counts.tobytes()
        by_counts[key] = (counts, np.logaddexp(log_p, by_counts[key][1]) if key in by_counts else log_p)
    total, mass, top = 0.0, 0.0, max(log_p for _, log_p in by_counts.values())
    grids = {n: grid(n) for n in (1, 2, 3)}
    for counts, log_p in by_counts.values():
        rows = reference.rows(counts, corpus.source, corpus.target, kind, corpus.features)
        # Free weights are sqrt(VARIANCE) times standard normal ones, of which the scores see `seen` alone.
        _, singular, seen = np.linalg.svd(rows, full_matrices=False)
        seen = seen[singular > 1e-9]
        points, log_weight = grids[len(seen)]
        free = np.sqrt(VARIANCE) * points @ seen
        spread = VARIANCE * (np.eye(rows.shape[1]) - seen.T @ seen)
        omega = free @ rows.T
        if loss == "logistic":
            log_likelihood = reference.log_logistic(omega, corpus.label, cost).sum(axis=1)
        else:
            log_likelihood = reference.log_hinge(omega, corpus.label, cost, MARGIN).sum(axis=1)
        p = np.exp(log_p - top + log_weight + log_likelihood)
        total = total + p @ statistics(counts, free, spread, corpus.n_features, omega, corpus.label)
        mass += p.sum()
    return total / mass


LONG = [
    "logistic symmetric",
    "logistic diagonal",
    "logistic full, features",
    "hinge diagonal",
    "hinge full, features",
    "hinge symmetric, features",
    "logistic diagonal, features",
]


@pytest.mark.parametrize("case", some_long(CASES, LONG))
def test_iterations_leave_the_posterior_alone(case):
    link_cost, nonlink_cost = 3.0, 2.0
    loss, kind, method, corpus = make_case(case)
    sampler = make_sampler(
        corpus,
        kind,
        90,
        2,
        loss=loss,
        alpha=ALPHA,
        beta=BETA,
        weight_variance=VARIANCE,
        weight_method=method,
        link_cost=link_cost,
        nonlink_cost=nonlink_cost,
        margin=MARGIN,
    )
    kept = []
    for state in sampler:
        counts = state.doc_topic[:, :2].astype(float)
        omega = reference.scores(counts, corpus.source, corpus.target, state.weights, offset(sampler))
        kept.append((counts, reference.free_weights(state.weights, state.feature_weights, kind), omega))
        if state.iteration == 100 + BATCHES * PER_BATCH:
            break
    counts, free, omega = (np.array(column) for column in zip(*kept[100:], strict=True))
    found = statistics(counts, free, np.zeros((free.shape[1],) * 2), corpus.n_features, omega, corpus.label)
    expected = exact_moments(corpus, kind, loss, link_cost, nonlink_cost)
    means = found.reshape(BATCHES, PER_BATCH, -1).mean(axis=1)
    z = (means.mean(axis=0) - expected) / (means.std(axis=0, ddof=1) / np.sqrt(BATCHES))
    p_values = 2 * stats.t.sf(np.abs(z), BATCHES - 1)
    assert p_values.min() > FALSE_ALARM / len(p_values), f"z-scores {z.round(1)}"


@pytest.mark.parametrize("case", list(CASES))
def test_log_joint_and_scores(case):
    """The log joint a chain reports, and its scores, equal the reference's (scores are kept in float32)."""
    loss, kind, method, corpus = make_case(case)
    settings = {"alpha": ALPHA, "beta": BETA, "weight_variance": VARIANCE, "margin": MARGIN, "weight_method": method}
    for n_topics in (2, 9):
        sampler = make_sampler(corpus, kind, 91, n_topics, loss=loss, link_cost=3.0, nonlink_cost=0.5, **settings)
        documents = reference.token_documents(corpus)
        sizes = (corpus.n_documents, corpus.n_words, n_topics)
        for _ in range(5):
            sampler.step()
            state = sampler.state
            counts = reference.table(documents, state.assignments, (corpus.n_documents, n_topics))
            omega = reference.scores(counts, corpus.source, corpus.target, state.weights, offset(sampler))
            np.testing.assert_allclose(sampler.shard.scores(), omega, rtol=1e-5, atol=1e-5)
            cost = reference.costs(corpus.label, 3.0, 0.5)
            links = (
                reference.log_logistic(omega, corpus.label, cost)
                if loss == "logistic"
                else reference.log_hinge(omega, corpus.label, cost, MARGIN)
            )
            expected = (
                reference.log_words_and_topics(documents, corpus.words, state.assignments, *sizes, ALPHA, BETA)
                + links.sum()
                + reference.log_weight_prior(state.weights, state.feature_weights, kind, VARIANCE)
            )
            assert state.log_joint == pytest.approx(expected, abs=1e-3)
