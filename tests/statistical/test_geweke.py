"""Joint-distribution test (Geweke 2004) for the logistic model with both costs 1.

Two ways to draw (topics, words, weights, augmented variables, links) from the prior must agree: straight from the
model; and by a chain that alternates one iteration of the sampler with a redraw of the data (words and links) given
topics and weights. Any step with a wrong conditional distribution moves the chain to another distribution. With seed
words and an alpha for each topic, topics are not exchangeable, and moments of each topic are compared as well.

The augmented variable of a pair is Polya-Gamma(1, score) whatever its link, so links may be redrawn given topics and
weights alone. Words are redrawn from their Polya urns by way of phi ~ Dirichlet(beta + seeds), which is then forgotten.

z-scores use batch means for the chain (`BATCHES` batches, hence t with `BATCHES` - 1 degrees of freedom) and the plain
standard error for the independent draws. False-alarm rate: 1e-3 per case (Bonferroni over its moments); fixed seeds.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from linktopics.sampler import Sampler, initial_state
from support import reference
from support.marks import some_long
from support.settings import make_settings
from support.worlds import KINDS, make_corpus, offset, set_alpha, set_topics

FALSE_ALARM = 1e-3
LENGTHS = (3, 5, 1, 4, 3, 0)
N_WORDS, ALPHA, BETA, VARIANCE = 3, 1.5, 0.4, 9.0
BATCHES, PER_BATCH, BURN_IN = 40, 150, 200
FORWARD = 40_000

DIRECTED = [(i, j) for i in range(5) for j in range(5) if i != j and (i + 2 * j) % 3]
UNDIRECTED = [(i, j) for i in range(5) for j in range(i + 1, 5)]
CASES = {
    # kind, pairs, undirected, method, topics, features
    "full": ("full", DIRECTED, False, "cholesky", 3, "none"),
    "full, features, conjugate gradients": ("full", DIRECTED, False, "cg", 2, "numbers"),
    "symmetric": ("symmetric", UNDIRECTED, True, "cholesky", 2, "none"),
    "symmetric, features, conjugate gradients": ("symmetric", UNDIRECTED, True, "cg", 2, "numbers"),
    "diagonal": ("diagonal", DIRECTED, False, "auto", 3, "none"),
    "diagonal, undirected, features": ("diagonal", UNDIRECTED, True, "auto", 2, "numbers"),
    "diagonal and intercept": ("diagonal", DIRECTED, False, "auto", 2, "intercept"),
    "seeds and uneven alpha": ("full", DIRECTED, False, "cholesky", 3, "none"),
}
UNEVEN = {
    # alpha of each topic; seed words (word, topic, amount)
    "seeds and uneven alpha": ([0.2, 0.5, 1.3], [(0, 0, 2), (2, 1, 1), (0, 2, 1)]),
}


def make_features(pairs, symmetric, which, rng):
    """Return the pairs of a case and their features, which are fixed; with numbers, also pairs without words.

    One column of numbers is so small that its weight has little to go by but the prior.
    """
    pairs = np.array(pairs)
    if which != "numbers":
        return pairs, np.ones((len(pairs), 1 if which == "intercept" else 0))
    pairs = np.vstack([pairs, [(0, 5), (2, 5) if symmetric else (5, 2), (4, 5)]])
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    return pairs, [0.5, 0.15] * rng.standard_normal((len(pairs), 2)) + [0.3, 0.0]


def moments(by_document, by_topic, weights, feature_weights, augmented, omega, label, pairs, features, alpha):
    """Moments, one row per sample; every argument but the last three has a leading axis of samples.

    They do not depend on how topics are numbered, unless topics differ in alpha.
    """
    zbar = reference.proportions(by_document, alpha)
    together = np.einsum("nek,nek->ne", zbar[:, pairs[:, 0]], zbar[:, pairs[:, 1]])
    diagonal = np.einsum("nkk->nk", weights)
    transposed = weights.transpose(0, 2, 1)
    more = {}
    for f, tau in enumerate(feature_weights.T):
        more |= {
            f"feature {f}": tau,
            f"feature {f} squared": tau**2,
            f"feature {f} and weights": tau * weights.mean(axis=(1, 2)),
            f"feature {f} and links": tau * (label @ features[:, f]),
            f"feature {f} and topics": tau**2 * together.mean(axis=1),
        }
    if len(more) > 5:
        more["features"] = feature_weights[:, 0] * feature_weights[:, 1]
    for k in range(len(alpha) if np.ptp(alpha) else 0):
        more |= {
            f"topic {k}": by_document[:, :, k].sum(axis=1),
            f"topic {k} in documents": (by_document[:, :, k] ** 2).sum(axis=1),
            f"weight of topic {k}": diagonal[:, k] * by_document[:, :, k].sum(axis=1),
            **{f"word {w} in topic {k}": by_topic[:, k, w] for w in range(N_WORDS)},
        }
    return more | {
        "topics of documents": (by_document**2).sum(axis=(1, 2)),
        "words of topics": (by_topic**2).sum(axis=(1, 2)),
        "sizes of topics": (by_topic.sum(axis=2) ** 2).sum(axis=1),
        "topics shared by pairs": together.mean(axis=1),
        "diagonal": diagonal.mean(axis=1),
        "diagonal squared": (diagonal**2).mean(axis=1),
        "weights": weights.mean(axis=(1, 2)),
        "weights squared": (weights**2).mean(axis=(1, 2)),
        "weights and their transpose": (weights * transposed).mean(axis=(1, 2)),
        "score": omega.mean(axis=1),
        "score squared": (omega**2).mean(axis=1),
        "variance of scores": omega.var(axis=1),
        "augmented": augmented.mean(axis=1),
        "augmented and score": (augmented * omega**2).mean(axis=1),
        "links": label.mean(axis=1),
        "links and scores": (label * omega).mean(axis=1),
        "links and topics": (label * together).mean(axis=1),
        "topics and diagonal": np.einsum("nk,nk->n", diagonal, (by_document**2).sum(axis=1)),
        "words and scores": (by_topic**2).sum(axis=(1, 2)) * (omega**2).mean(axis=1),
    }


def polya_gamma(omega, rng, terms=60):
    """Polya-Gamma(1, omega) by its series, the tail replaced by its mean."""
    m = np.arange(terms)[:, None, None] + 0.5
    total = np.zeros_like(omega)
    expected = np.zeros_like(omega)
    for row in m:
        scale = 1 / (2 * np.pi**2 * row**2 + omega**2 / 2)
        total += scale * rng.standard_exponential(omega.shape)
        expected += scale
    half = np.where(omega == 0, 1.0, omega) / 2
    mean = np.where(omega == 0, 0.25, np.tanh(half) / (4 * half))
    return total + mean - expected


def forward(kind, pairs, features, priors, n_topics, rng):
    """Draw everything from the model, `FORWARD` times."""
    n, D, K = FORWARD, len(LENGTHS), n_topics
    document = np.repeat(np.arange(D), LENGTHS)
    alpha, beta = priors
    theta = rng.dirichlet(alpha, size=(n, D))
    phi = np.stack([rng.dirichlet(of_topic, size=n) for of_topic in beta], axis=1)
    topics = (rng.random((n, len(document), 1)) > theta[:, document].cumsum(axis=2)[..., :-1]).sum(axis=2)
    phi_of_token = np.take_along_axis(phi, topics[..., None], axis=1)
    words = (rng.random((n, len(document), 1)) > phi_of_token.cumsum(axis=2)[..., :-1]).sum(axis=2)
    by_document, by_topic = np.zeros((n, D, K)), np.zeros((n, K, N_WORDS))
    for token, d in enumerate(document):
        by_document[np.arange(n), d, topics[:, token]] += 1
        by_topic[np.arange(n), topics[:, token], words[:, token]] += 1
    weights = np.sqrt(VARIANCE) * rng.standard_normal((n, K, K))
    if kind == "symmetric":
        upper = np.triu(np.ones((K, K)))
        weights = weights * upper + (weights * np.triu(upper, 1)).transpose(0, 2, 1)
    if kind == "diagonal":
        weights = weights * np.eye(K)
    feature_weights = np.sqrt(VARIANCE) * rng.standard_normal((n, features.shape[1]))
    zbar = reference.proportions(by_document, alpha)
    omega = np.einsum("nek,nkl,nel->ne", zbar[:, pairs[:, 0]], weights, zbar[:, pairs[:, 1]])
    omega += np.einsum("ef,nf->ne", features, feature_weights)
    label = rng.random(omega.shape) < expit(omega)
    augmented = polya_gamma(omega, rng)
    return moments(by_document, by_topic, weights, feature_weights, augmented, omega, label, pairs, features, alpha)


def redraw_data(topics, beta, omega, rng):
    """Draw words given topics and links given scores."""
    phi = np.stack([rng.dirichlet(of_topic) for of_topic in beta])
    words = (rng.random((len(topics), 1)) > phi[topics].cumsum(axis=1)[:, :-1]).sum(axis=1)
    return words, rng.random(len(omega)) < expit(omega)


def successive(kind, pairs, features, priors, seeds, symmetric, method, n_topics, rng):
    """Run the chain of sampler and data."""
    K, document = n_topics, np.repeat(np.arange(len(LENGTHS)), LENGTHS)
    settings = make_settings(
        n_topics=K,
        weights=KINDS[kind][0],
        alpha=ALPHA,
        beta=BETA,
        weight_variance=VARIANCE,
        link_cost=1.0,
        nonlink_cost=1.0,
        weight_method=method,
    )
    words, label = rng.integers(N_WORDS, size=len(document)), rng.random(len(pairs)) < 0.5
    topics = rng.integers(K, size=len(document))
    corpus = make_corpus(np.split(words, np.cumsum(LENGTHS)[:-1]), N_WORDS, pairs, label, symmetric, features, seeds)
    np.testing.assert_array_equal(np.diff(corpus.start), LENGTHS)
    np.testing.assert_array_equal(np.stack([corpus.source, corpus.target], axis=1), pairs)
    state, kept = None, []
    for _ in range(BURN_IN + BATCHES * PER_BATCH):
        order = np.lexsort((words, document))  # a corpus sorts the tokens of a document by word
        topics, words = topics[order], words[order]
        corpus = replace(corpus, words=words.astype(np.int32), label=label)
        state = state or initial_state(corpus, settings, np.random.SeedSequence(60))
        sampler = Sampler(corpus, settings, state)
        if np.ptp(priors[0]):
            set_alpha(sampler, priors[0])
        set_topics(sampler, topics)
        sampler.step()
        topics = state.assignments.copy()
        by_document = reference.table(document, topics, (len(LENGTHS), K))
        by_topic = reference.table(topics, words, (K, N_WORDS))
        omega = reference.scores(by_document, pairs[:, 0], pairs[:, 1], state.weights, offset(sampler), priors[0])
        kept.append((by_document, by_topic, state.weights, state.feature_weights, state.augmented, omega, label))
        words, label = redraw_data(topics, priors[1], omega, rng)
    columns = [np.array(column) for column in zip(*kept[BURN_IN:], strict=True)]
    return moments(*columns, pairs, features, priors[0])


LONG = [
    "full",
    "full, features, conjugate gradients",
    "symmetric",
    "symmetric, features, conjugate gradients",
    "diagonal",
    "diagonal and intercept",
    "seeds and uneven alpha",
]


@pytest.mark.parametrize("case", some_long(CASES, LONG))
def test_sampler_and_model_agree(case):
    kind, pairs, symmetric, method, n_topics, which = CASES[case]
    rng = np.random.default_rng([61, list(CASES).index(case)])
    pairs, features = make_features(pairs, symmetric, which, rng)
    alpha, seeds = UNEVEN.get(case, ([ALPHA / n_topics] * n_topics, []))
    priors = np.array(alpha), reference.seeded(BETA, *np.array(seeds, int).reshape(-1, 3).T, n_topics, N_WORDS)
    expected = forward(kind, pairs, features, priors, n_topics, rng)
    found = successive(kind, pairs, features, priors, seeds, symmetric, method, n_topics, rng)
    p_values = {}
    for name, draws in expected.items():
        means = found[name].reshape(BATCHES, PER_BATCH).mean(axis=1)
        error = np.hypot(means.std(ddof=1) / np.sqrt(BATCHES), draws.std() / np.sqrt(len(draws)))
        p_values[name] = 2 * stats.t.sf(abs(means.mean() - draws.mean()) / error, BATCHES - 1)
    worst = min(p_values, key=p_values.get)
    assert p_values[worst] > FALSE_ALARM / len(p_values), f"{worst}: {p_values[worst]:.2g}; all: {p_values}"
