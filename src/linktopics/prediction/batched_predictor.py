"""Topics and best candidates of several texts at once, in all posterior samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from linktopics.kernels.simd import padded
from linktopics.network.pairs import Direction
from linktopics.prediction.predictor import PAIR_BLOCK_CELLS, Predictor
from linktopics.prediction.ranking import NewDocuments, Shortlist, blocks_of
from linktopics.sampler import tokens
from linktopics.sampler.runner import PosteriorSample
from linktopics.sampler.topic_inference import TopicInference

Shares = NDArray[np.float32]
"""Topics of texts: samples x texts x topics."""


def thinned(samples: Sequence[PosteriorSample], n: int | None, best_chain: int) -> list[PosteriorSample]:
    """Return n samples, evenly spread over the chains and within each; the best chain gets the remainder first.

    If n is None, all samples are returned.
    """
    if n is None or n >= len(samples):
        return list(samples)
    chains = sorted({sample.chain for sample in samples}, key=lambda chain: (chain != best_chain, chain))
    kept: list[int] = []
    for place, chain in enumerate(chains):
        own = [at for at, sample in enumerate(samples) if sample.chain == chain]
        wanted = n // len(chains) + (place < n % len(chains))
        kept += [own[at] for at in np.linspace(0, len(own) - 1, wanted).round().astype(int)]
    return [samples[at] for at in sorted(kept)]


class BatchedPredictor:
    """Computes for several texts at once what `Predictor` computes for new documents.

    Parameters
    ----------
    predictor : Predictor
        The predictor, with the samples, the features and the search among all documents.
    """

    def __init__(self, predictor: Predictor) -> None:
        self.predictor, self.samples = predictor, predictor.samples
        self.reference_samples = [at for at, sample in enumerate(self.samples) if sample.chain == predictor.best_chain]
        self.n_topics = predictor.settings.n_topics
        self._inferences = [TopicInference(sample.word_topic, sample.alpha) for sample in self.samples]

    def __len__(self) -> int:
        return len(self.samples)

    def infer(self, counts: csr_array) -> Shares:
        """Return the topics of texts, each with known words, in every sample, as `infer_topics` does."""
        start, words = tokens(counts)
        n = counts.shape[0]
        result = np.zeros((len(self), n, padded(self.n_topics)), np.float32)
        for inference, shares in zip(self._inferences, result, strict=True):
            inference.run(start, words, self.predictor.seed, slice(0, n), shares)
        return result[:, :, : self.n_topics]

    def best(
        self, new: NewDocuments, places: Sequence[int], tops: Sequence[int], directions: Sequence[Direction]
    ) -> Shortlist:
        """Return the best pairs of some texts, `tops` of each, by text and best first; of equals, the first."""
        finder = self.predictor.finder()
        if len(places) == new.n_documents:
            runs = blocks_of(new.n_documents, finder.width, PAIR_BLOCK_CELLS)
        else:
            runs = [slice(place, place + 1) for place in places]
        pairs = Shortlist.joined([finder.shortlist(new, rows, directions, max(tops)) for rows in runs])
        wanted = np.zeros(new.n_documents, np.int64)
        wanted[places] = tops
        return self.predictor.best(new, pairs, wanted[pairs.rows])
