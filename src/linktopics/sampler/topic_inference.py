"""Topics of new documents from their words, given the topics of a posterior sample."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.sparse import csr_array

from linktopics.kernels.inference import infer
from linktopics.kernels.simd import padded
from linktopics.sampler import tokens

MAX_INFERENCE_SWEEPS = 20
"""Sweeps over a new document before its likelihood must have settled."""

AVERAGED_SWEEPS = 20
"""Sweeps over a new document whose topics are averaged."""

LIKELIHOOD_TOLERANCE = 1e-4
"""Relative change of the likelihood at which a new document has settled, as in the paper."""


class TopicInference:
    """The topics of a posterior sample, laid out for the kernel that infers topics of new documents."""

    def __init__(self, word_topic: NDArray[np.float32], alpha: NDArray[np.float64]) -> None:
        self.topics = (0,) * padded(len(alpha))
        self.alpha = np.zeros((1, len(self.topics)), np.float32)
        self.alpha[0, : len(alpha)] = alpha
        self.word_topic = np.asarray(word_topic).view()
        self.word_topic.flags.writeable = False  # like a memory-mapped array: one compiled kernel serves both

    def run(
        self, start: NDArray[np.int64], words: NDArray[np.int32], seed: int, rows: slice, shares: NDArray[np.float32]
    ) -> None:
        """Write the shares of topics in some rows of `tokens` into the same rows of `shares`; zeros without words."""
        infer(
            self.topics, start, words, self.word_topic, self.alpha, seed,
            MAX_INFERENCE_SWEEPS, AVERAGED_SWEEPS, LIKELIHOOD_TOLERANCE, rows.start, rows.stop, shares,
        )  # fmt: skip


def infer_topics(
    word_topic: NDArray[np.float32], alpha: NDArray[np.float64], counts: csr_array, seed: int, n_jobs: int | None = None
) -> NDArray[np.float32]:
    """Return shares of topics among the tokens of new documents, given the topics of a posterior sample.

    A document without words has the shares of the prior.
    """
    K, n, n_threads = len(alpha), counts.shape[0], effective_n_jobs(n_jobs)
    inference = TopicInference(word_topic, alpha)
    start, words = tokens(counts)
    shares = np.zeros((n, len(inference.topics)), np.float32)

    def run(rows: slice) -> None:
        inference.run(start, words, seed, rows, shares)

    if n == 1 or n_threads == 1:
        run(slice(0, n))
    else:
        cuts = np.linspace(0, start[-1], n_threads, endpoint=False)  # as many tokens for each thread
        bounds = [*np.searchsorted(start, cuts).tolist(), n]
        with ThreadPoolExecutor(n_threads) as pool:
            list(pool.map(run, map(slice, bounds, bounds[1:])))
    shares[np.diff(start) == 0, :K] = alpha / alpha.sum()
    return shares[:, :K]
