"""The model in slow, plain NumPy: what the fast code must equal.

Written from the definition of the model (one Gaussian form for every loss), not from the code under test: every
formula goes through the *whole* log joint or through explicit feature rows, and nothing is updated in place.

Notation: ``documents`` and ``words`` give the document and the word of every token, ``topics`` its topic;
``counts`` is tokens per document and topic; pairs are ``source``, ``target``, ``label``, and their ``features``, one
row per pair, of which ``offset`` is what they add to the scores: features @ feature_weights.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

KINDS = ("full", "symmetric", "diagonal")
"""Full weights, directed; full weights, undirected; diagonal weights. Each with any features."""


# --- words and topics -------------------------------------------------------------------------------------------------


def table(rows, columns, shape):
    """Count how often each (row, column) occurs."""
    result = np.zeros(shape)
    np.add.at(result, (rows, columns), 1)
    return result


def log_dirichlet_multinomial(counts, prior):
    """Log probability of a *sequence* with these counts, its distribution ~ Dirichlet(prior) integrated out; by row.

    The prior is a number, one for each column, or one for each row and column.
    """
    prior = np.broadcast_to(prior, counts.shape)
    mass = prior.sum(axis=1)
    rising = (gammaln(counts + prior) - gammaln(prior)).sum(axis=1)
    return rising + gammaln(mass) - gammaln(counts.sum(axis=1) + mass)


def log_words_and_topics(documents, words, topics, n_documents, n_words, n_topics, alpha, beta):
    """Log p(words, topics), theta and phi integrated out.

    alpha is the total mass, which topics share evenly, or the masses of topics; beta the mass per word, or those of all
    topics and words.
    """
    by_document = table(documents, topics, (n_documents, n_topics))
    by_topic = table(topics, words, (n_topics, n_words))
    of_topics = alpha if np.ndim(alpha) else alpha / n_topics
    return log_dirichlet_multinomial(by_document, of_topics).sum() + log_dirichlet_multinomial(by_topic, beta).sum()


def seeded(beta, word, topic, amount, n_topics, n_words):
    """Return the masses of all topics and words: beta, and more for seed words in their topics."""
    result = np.full((n_topics, n_words), float(beta))
    for w, k, more in zip(word, topic, amount, strict=True):
        result[k, w] += more
    return result


# --- pairs ------------------------------------------------------------------------------------------------------------


def proportions(counts, alpha=None):
    """Share of each topic in each document; without words those of the prior, whose masses are even unless given."""
    alpha = np.ones(counts.shape[-1]) if alpha is None else np.asarray(alpha)
    lengths = counts.sum(axis=-1, keepdims=True)
    return np.where(lengths > 0, counts / np.maximum(lengths, 1), alpha / alpha.sum())


def offset(features, feature_weights):
    """Return what the features of every pair add to its score, x_e . tau."""
    return np.einsum("ef,f->e", features, feature_weights)


def scores(counts, source, target, weights, offset=0.0, alpha=None):
    """Score zbar_i^T U zbar_j + offset of every pair."""
    zbar = proportions(counts, alpha)
    return ((zbar[source] @ weights) * zbar[target]).sum(axis=1) + offset


def costs(label, link_cost, nonlink_cost):
    return np.where(label, link_cost, nonlink_cost)


def gaussian_form(loss, augmented, label, link_cost, nonlink_cost, margin):
    """Return (linear, quadratic): given the augmented variable, a pair counts exp(linear w - quadratic w^2 / 2)."""
    C = costs(label, link_cost, nonlink_cost)
    if loss == "logistic":
        return C * (label - 0.5), augmented
    sign = 2.0 * label - 1.0
    return C * sign * (augmented + C * margin) / augmented, C**2 / augmented


def log_pairs(linear, quadratic, omega):
    """Log of the Gaussian form, summed over pairs."""
    return float(np.sum(linear * omega - 0.5 * quadratic * omega**2))


def log_logistic(omega, label, cost):
    """Log of sigmoid(omega)^cost for a link, sigmoid(-omega)^cost for a non-link; by pair."""
    return cost * (label * omega - np.logaddexp(0.0, omega))


def log_hinge(omega, label, cost, margin):
    """Log of exp(-2 cost max(0, margin - s omega)), s = +1 for a link and -1 for a non-link; by pair."""
    return -2.0 * cost * np.maximum(0.0, margin - (2.0 * label - 1.0) * omega)


# --- weights ----------------------------------------------------------------------------------------------------------


def rows(counts, source, target, kind, features=None, alpha=None):
    """One row per pair, one column per free weight, such that rows @ free equals the scores; features come last."""
    zbar = proportions(counts, alpha)
    left, right = zbar[source], zbar[target]
    K = counts.shape[1]
    if kind == "full":
        result = np.array([np.kron(a, b) for a, b in zip(left, right, strict=True)])
    elif kind == "symmetric":
        columns = [
            left[:, k] * right[:, m] + (left[:, m] * right[:, k] if m > k else 0.0)
            for k in range(K)
            for m in range(k, K)
        ]
        result = np.stack(columns, axis=1)
    else:
        result = left * right
    return result if features is None else np.hstack([result, features])


def free_weights(weights, feature_weights, kind):
    """List the free weights in the order of the columns of `rows`."""
    if kind == "full":
        free = weights.reshape(-1)
    elif kind == "symmetric":
        K = len(weights)
        free = np.array([weights[k, m] for k in range(K) for m in range(k, K)])
    else:
        free = np.diag(weights)
    return np.concatenate([free, feature_weights])


def weight_posterior(rows, linear, quadratic, variance):
    """Mean and precision of the free weights given topics and augmented variables, from explicit rows."""
    precision = np.eye(rows.shape[1]) / variance + (rows * quadratic[:, None]).T @ rows
    return np.linalg.solve(precision, rows.T @ linear), precision


def log_weight_prior(weights, feature_weights, kind, variance):
    """Log density of all free weights, each N(0, variance)."""
    free = free_weights(weights, feature_weights, kind)
    return float(-0.5 * np.sum(free**2) / variance - 0.5 * len(free) * np.log(2 * np.pi * variance))


# --- the conditional distribution of a topic --------------------------------------------------------------------------


def log_conditional(token, corpus, topics, weights, offset, linear, quadratic, alpha, beta):
    """Log probability of each topic of one token given all else: differences of the whole log joint."""
    K = len(weights)
    documents = token_documents(corpus)
    sizes = (corpus.n_documents, corpus.n_words, K)
    values = np.empty(K)
    changed = topics.copy()
    for k in range(K):
        changed[token] = k
        values[k] = log_words_and_topics(documents, corpus.words, changed, *sizes, alpha, beta)
        if len(linear):
            counts = table(documents, changed, (corpus.n_documents, K))
            masses = alpha if np.ndim(alpha) else None
            omega = scores(counts, corpus.source, corpus.target, weights, offset, masses)
            values[k] += log_pairs(linear, quadratic, omega)
    return values - np.logaddexp.reduce(values)


def token_documents(corpus):
    return np.repeat(np.arange(corpus.n_documents), np.diff(corpus.start))
