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
from linktopics.sampler.runner import PosteriorSample

MAX_SWEEPS = 20
"""Sweeps over a new document before its likelihood must have settled."""

AVERAGED_SWEEPS = 20
"""Sweeps over a new document whose topics are averaged."""

TOLERANCE = 1e-4
"""Relative change of the likelihood at which a new document has settled, as in the paper."""


def infer_topics(
    sample: PosteriorSample, counts: csr_array, seed: int, n_jobs: int | None = None
) -> NDArray[np.float32]:
    """Return shares of topics among the tokens of new documents, given a sample's topics.

    A document without words has the shares of the prior.
    """
    K, width = len(sample.alpha), padded(len(sample.alpha))
    alpha = np.zeros((1, width), np.float32)
    alpha[0, :K] = sample.alpha
    word_topic = np.asarray(sample.word_topic).view()
    word_topic.flags.writeable = False  # as a memory-mapped one is: one compiled kernel serves both
    start, words = tokens(counts)
    shares = np.zeros((counts.shape[0], width), np.float32)
    cuts = np.linspace(0, start[-1], effective_n_jobs(n_jobs) + 1)  # as many tokens for each thread
    bounds = np.searchsorted(start, cuts).tolist()
    bounds[-1] = counts.shape[0]

    def run(first: int, last: int) -> None:
        infer(
            (0,) * width, start, words, word_topic, alpha, seed,
            MAX_SWEEPS, AVERAGED_SWEEPS, TOLERANCE, first, last, shares,
        )  # fmt: skip

    if counts.shape[0] == 1 or len(bounds) == 2:
        run(0, counts.shape[0])
    else:
        with ThreadPoolExecutor(len(bounds) - 1) as pool:
            list(pool.map(run, bounds[:-1], bounds[1:]))
    shares[np.diff(start) == 0, :K] = sample.alpha / sample.alpha.sum()
    return shares[:, :K]
