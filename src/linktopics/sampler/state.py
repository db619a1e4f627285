"""State: everything of a chain that changes. Saved, it is a checkpoint, from which the chain continues bit for bit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linktopics.kernels.counts import add_up
from linktopics.kernels.drawing import rng_streams
from linktopics.kernels.simd import padded
from linktopics.sampler.corpus import Corpus
from linktopics.sampler.priors import Priors
from linktopics.sampler.settings import Settings


@dataclass
class State:
    """The state of one chain.

    Attributes
    ----------
    iteration : int
        Iterations done.
    assignments : ndarray of int32, shape (n_tokens,)
        Topic of every token.
    doc_topic : ndarray of float32, shape (n_documents, padded K)
        Tokens per document and topic. Counts are whole numbers; float32 holds them exactly up to 2 ** 24.
    word_topic : ndarray of float32, shape (n_words, padded K)
        Tokens per word and topic.
    topic_total : ndarray of int64, shape (padded K,)
        Tokens per topic.
    weights : ndarray of float64, shape (K, K)
        The matrix U of the paper.
    feature_weights : ndarray of float64, shape (n_features,)
        Weights of the features of pairs.
    augmented : ndarray of float64, shape (n_pairs,)
        The augmented variables of the loss.
    generators : list of numpy.random.Generator
        Generators for the augmented variables, one per shard; the first one also serves the weights.
    streams : ndarray of uint64, shape (n_shards, 4)
        Random states of the topic sweep, one per shard.
    priors : Priors
        Prior counts, which may be learned during burn-in.
    log_joint : float
        Log joint density of words, topics, links and weights (augmented variables integrated out).
    log_links : float
        The links' part of it: the log pseudo-likelihood of the pairs' labels.
    """

    iteration: int
    assignments: NDArray[np.int32]
    doc_topic: NDArray[np.float32]
    word_topic: NDArray[np.float32]
    topic_total: NDArray[np.int64]
    weights: NDArray[np.float64]
    feature_weights: NDArray[np.float64]
    augmented: NDArray[np.float64]
    generators: list[np.random.Generator]
    streams: NDArray[np.uint64]
    priors: Priors
    log_joint: float = float("nan")
    log_links: float = 0.0

    @property
    def rng(self) -> np.random.Generator:
        """The first generator: the only one of a shard, and of a chain that is not split."""
        return self.generators[0]

    @property
    def stream(self) -> NDArray[np.uint64]:
        """The first stream."""
        return self.streams[0]


def count_topics(
    corpus: Corpus, assignments: NDArray[np.int32], n_topics: int
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int64]]:
    """Return (doc_topic, word_topic, topic_total) of the assignments."""
    width = padded(n_topics)
    doc_topic = np.zeros((corpus.n_documents, width), np.float32)
    word_topic = np.zeros((corpus.n_words, width), np.float32)
    topic_total = np.zeros(width, np.int64)
    add_up(corpus.start, corpus.words, assignments, doc_topic, word_topic, topic_total)
    return doc_topic, word_topic, topic_total


def random_states(
    for_rng: np.random.SeedSequence, for_stream: np.random.SeedSequence, n_shards: int
) -> tuple[list[np.random.Generator], NDArray[np.uint64]]:
    """Return generators and streams for the shards of a chain."""
    generators = [np.random.default_rng(seed) for seed in for_rng.spawn(n_shards)]
    return generators, rng_streams(for_stream.spawn(n_shards))


def initial_state(corpus: Corpus, settings: Settings, seed: np.random.SeedSequence) -> State:
    """Return the state the paper starts from: topics drawn uniformly, augmented variables 1, weights 0.

    Tokens of a seed word start in its topic; if it has several, in the last of them.
    """
    n_topics = settings.n_topics
    for_topics, for_rng, for_stream = seed.spawn(3)
    assignments = np.random.default_rng(for_topics).integers(n_topics, size=corpus.n_tokens, dtype=np.int32)
    if len(corpus.seeds.word):
        topic_of = np.full(corpus.n_words, -1, dtype=np.int32)
        topic_of[corpus.seeds.word] = corpus.seeds.topic
        seeded = topic_of[corpus.words]
        assignments = np.where(seeded >= 0, seeded, assignments)
    doc_topic, word_topic, topic_total = count_topics(corpus, assignments, n_topics)
    generators, streams = random_states(for_rng, for_stream, settings.n_shards)
    return State(
        iteration=0,
        assignments=assignments,
        doc_topic=doc_topic,
        word_topic=word_topic,
        topic_total=topic_total,
        weights=np.zeros((n_topics, n_topics)),
        feature_weights=np.zeros(corpus.n_features),
        augmented=np.ones(corpus.n_pairs),
        generators=generators,
        streams=streams,
        priors=Priors.even(n_topics, settings.alpha, settings.beta),
    )
