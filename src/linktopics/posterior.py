"""Posterior samples: what chains leave behind, and all that predictions need."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from linktopics.progress import ProgressBar
from linktopics.sampler import Corpus, Sampler, Settings, State, initial_state

__all__ = ["Chain", "PosteriorSample", "run_chains", "take_sample"]


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
        Shares of topics among the tokens of documents (zbar); a document without words has those of the prior.
    weights : ndarray of float64, shape (K, K)
        The weight matrix U.
    feature_weights : ndarray of float64, shape (n_features,)
        Weights of the features of pairs.
    """

    chain: int
    log_joint: float
    word_topic: NDArray[np.float32]
    doc_topic: NDArray[np.float32]
    weights: NDArray[np.float64]
    feature_weights: NDArray[np.float64]


def take_sample(chain: int, corpus: Corpus, settings: Settings, state: State) -> PosteriorSample:
    """Copy from a state what predictions need; topics are smoothed by their prior."""
    K = settings.n_topics
    mass = state.topic_total[:K] + settings.beta * corpus.n_words
    word_topic = np.zeros_like(state.word_topic)
    word_topic[:, :K] = (state.word_topic[:, :K] + settings.beta) / mass
    lengths = np.diff(corpus.start)
    doc_topic = (state.doc_topic[:, :K] / np.maximum(lengths, 1)[:, None]).astype(np.float32)
    doc_topic[lengths == 0] = 1.0 / K
    return PosteriorSample(
        chain, state.log_joint, word_topic, doc_topic, state.weights.copy(), state.feature_weights.copy()
    )


@dataclass(frozen=True)
class Chain:
    """A chain that has been run: its log joint after every sweep, the samples kept, and seconds by step."""

    log_joint: NDArray[np.float64]
    samples: list[PosteriorSample]
    seconds: dict[str, float]


def run_chains(
    corpus: Corpus,
    settings: Settings,
    seeds: list[np.random.SeedSequence],
    n_iter: int,
    n_samples: int,
    thin: int,
    n_jobs: int | None = None,
    verbose: bool | str = "auto",
) -> list[Chain]:
    """Run one chain per seed: `n_iter` sweeps of burn-in, then `n_samples` times `thin` sweeps and a sample.

    BLAS is held to one thread, since its sums depend on the number of threads.
    """
    length = n_iter + n_samples * thin
    stop = threading.Event()

    def run(number: int) -> Chain:
        sampler = Sampler(corpus, settings, initial_state(corpus, settings.n_topics, seeds[number]))
        chain = Chain(np.empty(length), [], sampler.seconds)
        for state in islice(sampler, length):
            chain.log_joint[state.iteration - 1] = state.log_joint
            progress.advance(state.log_joint)
            done = state.iteration - n_iter
            if done > 0 and done % thin == 0:
                chain.samples.append(take_sample(number, corpus, settings, state))
            if stop.is_set():
                break
        return chain

    with threadpool_limits(1), ProgressBar(length * len(seeds), verbose) as progress:
        return _spread(run, len(seeds), n_jobs, stop)


def _spread(run: Callable[[int], Chain], n_chains: int, n_jobs: int | None, stop: threading.Event) -> list[Chain]:
    """Run the chains, in threads if there is more than one of both; an interrupt or an error stops all of them."""
    workers = min(effective_n_jobs(n_jobs), n_chains)
    if workers == 1:
        return [run(number) for number in range(n_chains)]
    with ThreadPoolExecutor(workers) as pool:
        try:
            pending = futures = [pool.submit(run, number) for number in range(n_chains)]
            # Short waits, because an interrupt that comes just before a wait is seen only after it.
            while pending and not any(future.done() and future.exception() for future in futures):
                pending = list(wait(pending, timeout=0.2, return_when=FIRST_EXCEPTION).not_done)
        finally:
            stop.set()  # by now all chains are done, or one has failed, or the user wants to stop
        return [future.result() for future in futures]
