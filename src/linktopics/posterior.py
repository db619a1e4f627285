"""Posterior samples: what a chain leaves behind, and all that predictions need."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linktopics.sampler import Corpus, Settings, State

__all__ = ["PosteriorSample", "take_sample"]


@dataclass(frozen=True)
class PosteriorSample:
    """One kept state of one chain.

    Attributes
    ----------
    chain : int
        The chain it comes from. Topics of different chains have nothing to do with one another.
    log_joint : float
        Log joint density of the state.
    word_topic : ndarray of float32, shape (n_words, padded K)
        Probability of words in topics; columns sum to 1, and the padding is zero.
    doc_topic : ndarray of float32, shape (n_documents, K)
        Shares of topics among the tokens of documents (zbar); empty documents have zeros.
    weights : ndarray of float64, shape (K, K)
        The weight matrix U.
    intercept : float
        Constant part of every score.
    """

    chain: int
    log_joint: float
    word_topic: NDArray[np.float32]
    doc_topic: NDArray[np.float32]
    weights: NDArray[np.float64]
    intercept: float


def take_sample(chain: int, corpus: Corpus, settings: Settings, state: State) -> PosteriorSample:
    """Copy from a state what predictions need; topics are smoothed by their prior."""
    K = settings.n_topics
    mass = state.topic_total[:K] + settings.beta * corpus.n_words
    word_topic = np.zeros_like(state.word_topic)
    word_topic[:, :K] = (state.word_topic[:, :K] + settings.beta) / mass
    lengths = np.maximum(np.diff(corpus.start), 1)
    doc_topic = (state.doc_topic[:, :K] / lengths[:, None]).astype(np.float32)
    return PosteriorSample(chain, state.log_joint, word_topic, doc_topic, state.weights.copy(), state.intercept)
