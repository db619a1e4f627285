"""Simulation-based calibration (Talts et al. 2018): networks from the prior, and where their truth ranks among draws.

Parameters are drawn from the prior of the model, words and the labels of *all* pairs given these, and the model is
fitted. If the draws come from the posterior of just this model, the truth is one draw more, and its rank among L
independent ones is uniform on 0 ... L, for any quantity. This holds for the logistic loss with both costs 1, which is
a likelihood. Other costs and the hinge loss weigh configurations without being the probability of any data: there is
nothing to simulate from, and ranks need not be uniform.

Topics have no order, so quantities are such as do not depend on how topics are numbered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.sparse import csr_array
from scipy.special import expit

from linktopics import DocumentNetwork, RelationalTopicModel
from linktopics.features import Intercept, PairMatrix
from linktopics.model.training import prepare_run
from linktopics.sampler import Sampler, count_topics
from linktopics.sampler.runner import PosteriorSample
from support import reference

Array = NDArray[np.float64]


@dataclass(frozen=True)
class World:
    """A model with its priors, and the sizes of the networks simulated from it."""

    n_topics: int = 3
    weights: str = "full"
    directed: bool = True
    features: bool = False
    n_documents: int = 12
    mean_length: float = 12.0
    n_words: int = 10
    alpha: float = 1.5
    beta: float = 0.5
    weight_variance: float = 4.0

    @property
    def kind(self) -> str:
        """What `reference` calls the weights."""
        return "diagonal" if self.weights == "diagonal" else "full" if self.directed else "symmetric"

    def model(self, n_pairs: int, **others: Any) -> RelationalTopicModel:
        """Return the model that networks come from, which takes every pair without a link as a non-link."""
        return RelationalTopicModel(
            self.n_topics,
            weights=self.weights,
            alpha=self.alpha,
            beta=self.beta,
            weight_variance=self.weight_variance,
            link_cost=1.0,
            nonlink_cost=1.0,
            negatives=n_pairs,  # for every link: all there are
            **{"pair_features": None, "n_chains": 1, "verbose": False, **others},
        )


WORLDS = {
    "directed": World(),
    "undirected": World(directed=False, n_documents=16),
    "diagonal, features": World(weights="diagonal", directed=False, features=True, n_documents=16),
    "ten topics": World(n_topics=10),
}
"""Full weights; symmetric ones; diagonal ones with a feature of pairs and an intercept; and more topics than there are
words, where conjugate gradients draw the weights."""


@dataclass(frozen=True)
class Simulated:
    """A network and what it was made from.

    Attributes
    ----------
    network : DocumentNetwork
        Words and links.
    topics : ndarray of shape (n_tokens,)
        Topic of every token, by document and then by word.
    pairs : ndarray of shape (n_pairs, 2)
        All pairs.
    label : ndarray of shape (n_pairs,)
        Which of them are linked.
    features : ndarray of shape (n_pairs, n_features)
        What else is known about them.
    truth : PosteriorSample
        The truth, in the form of a draw.
    """

    network: DocumentNetwork
    topics: NDArray[np.int64]
    pairs: NDArray[np.int64]
    label: NDArray[np.bool_]
    features: Array
    truth: PosteriorSample


def simulate(world: World, rng: np.random.Generator) -> Simulated:
    """Draw a network from the prior.

    One without links is drawn again, since a fit would not take its pairs for non-links. Whatever is asked of the
    *data* leaves ranks uniform, as they are for each network alone.
    """
    while True:
        drawn = _simulate(world, rng)
        if drawn.label.any():
            return drawn


def _simulate(world: World, rng: np.random.Generator) -> Simulated:
    D, K, V = world.n_documents, world.n_topics, world.n_words
    document = np.repeat(np.arange(D), 1 + rng.poisson(world.mean_length - 1, size=D))
    theta = rng.dirichlet(np.full(K, world.alpha / K), size=D)
    phi = rng.dirichlet(np.full(V, world.beta), size=K)
    topics = np.array([rng.choice(K, p=theta[d]) for d in document])
    words = np.array([rng.choice(V, p=phi[k]) for k in topics])
    order = np.lexsort((words, document))  # as a corpus has them
    topics, words = topics[order], words[order]

    weights = np.sqrt(world.weight_variance) * rng.standard_normal((K, K))
    if world.kind == "symmetric":
        weights = np.triu(weights) + np.triu(weights, 1).T
    if world.kind == "diagonal":
        weights = np.diag(np.diag(weights))
    every = ~np.eye(D, dtype=bool) if world.directed else np.triu(np.ones((D, D), dtype=bool), 1)
    pairs = np.argwhere(every)
    features = np.ones((len(pairs), 2 if world.features else 0))
    if world.features:  # in the unit in which a fit puts it, and an intercept
        features[:, 0] = stats.zscore(rng.gamma(2.0, size=len(pairs)))
    feature_weights = np.sqrt(world.weight_variance) * rng.standard_normal(features.shape[1])

    by_document, by_topic = reference.table(document, topics, (D, K)), reference.table(topics, words, (K, V))
    shift = reference.offset(features, feature_weights)
    omega = reference.scores(by_document, *pairs.T, weights, shift)
    label = rng.random(len(pairs)) < expit(omega)
    log_joint = (
        reference.log_words_and_topics(document, words, topics, D, V, K, world.alpha, world.beta)
        + reference.log_weight_prior(weights, feature_weights, world.kind, world.weight_variance)
        + reference.log_logistic(omega, label, 1.0).sum()
    )
    topic_word = (by_topic + world.beta) / (by_topic.sum(axis=1, keepdims=True) + V * world.beta)
    alpha = np.full(K, world.alpha / K)
    zbar = reference.proportions(by_document).astype(np.float32)
    truth = PosteriorSample(0, log_joint, topic_word.T.astype(np.float32), zbar, weights, feature_weights, alpha)
    counts = csr_array(reference.table(document, words, (D, V)).astype(np.int64))
    network = DocumentNetwork(counts, pairs[label], directed=world.directed)
    return Simulated(network, topics, pairs, label, features, truth)


def fit(world: World, drawn: Simulated, seed: Any, start: str = "usual", **others: Any) -> RelationalTopicModel:
    """Fit the world's model to a network; a start at the "truth" needs no burn-in, and cannot fail to find its mode."""
    features: list[Any] = []
    if world.features:
        matrix = np.zeros((world.n_documents,) * 2)
        matrix[tuple(drawn.pairs.T)] = drawn.features[:, 0]
        features = [PairMatrix(matrix, drawn.network.ids), Intercept()]
    model = world.model(len(drawn.pairs), pair_features=features or None, random_state=seed, **others)
    if start == "usual":
        model.fit(drawn.network)
        assert (model.n_pairs_, model.n_features_in_) == (len(drawn.pairs), world.n_words)
        return model
    run = prepare_run(model.get_params(deep=False), drawn.network, np.random.SeedSequence(seed))
    assert run.corpus is not None
    state = run.chains[0].state
    state.assignments[:] = drawn.topics
    counts = count_topics(run.corpus, state.assignments, world.n_topics)
    state.doc_topic, state.word_topic, state.topic_total = counts
    state.weights, state.feature_weights = drawn.truth.weights.copy(), drawn.truth.feature_weights.copy()
    sampler = Sampler(run.corpus, run.settings, state)
    sampler.refresh()
    sampler.close()
    return model._train(run, run.schedule, None, "threads")


def quantities(world: World, drawn: Simulated, sample: PosteriorSample) -> dict[str, float]:
    """Return numbers that do not depend on how topics are numbered, of a draw or of the truth."""
    K, zbar, counts = world.n_topics, sample.doc_topic.astype(float), drawn.network.counts
    left, right = zbar[drawn.pairs[:, 0]], zbar[drawn.pairs[:, 1]]
    shift = reference.offset(drawn.features, sample.feature_weights)
    omega = np.einsum("ek,kl,el->e", left, sample.weights, right) + shift
    probability = expit(omega)
    free = reference.free_weights(sample.weights, sample.feature_weights, world.kind)
    document, word = counts.nonzero()
    mixed = np.einsum("nk,nk->n", zbar[document], sample.word_topic[word, :K].astype(float))
    shares = np.sort(np.asarray(counts.sum(axis=1)) @ zbar) / counts.sum()
    more = {"weight of the feature": sample.feature_weights[0]} if world.features else {}
    found = {
        "squared weights": free @ free,
        "quadratic form of the weights": (omega**2).mean(),
        "trace of the weights": np.trace(sample.weights),
        "log joint": sample.log_joint,
        "log likelihood of links": reference.log_logistic(omega, drawn.label, 1.0).sum(),
        "log likelihood of words": counts.data @ np.log(mixed),
        "mean link probability": probability.mean(),
        "probability of one pair": probability[0],
        "topics shared by links": np.einsum("ek,ek->e", left, right)[drawn.label].mean(),
        "topic entropy": stats.entropy(shares),
        **more,
    }
    return {name: float(np.round(value, 6)) for name, value in found.items()}
