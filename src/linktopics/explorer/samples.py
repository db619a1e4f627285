"""Posterior samples side by side: topics, probabilities and reasons of several texts in all samples at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from linktopics.explorer._numbers import rounded
from linktopics.explorer.pairs import best_parts
from linktopics.inference import AVERAGED_SWEEPS, MAX_SWEEPS, TOLERANCE
from linktopics.kernels.inference import infer
from linktopics.kernels.lanes import padded
from linktopics.posterior import PosteriorSample
from linktopics.prediction import BLOCK_CELLS, Predictor
from linktopics.ranking import NewDocuments, Shortlist, blocks_of
from linktopics.sampler import tokens

__all__ = ["Samples", "thinned"]

Array = NDArray[np.float64]
Shares = NDArray[np.float32]
"""Topics of texts: samples x texts x topics."""

CELLS = 2**21
"""Numbers of pairs that are in memory at once."""


def thinned(samples: Sequence[PosteriorSample], n: int | None, best_chain: int) -> list[PosteriorSample]:
    """Return n samples, evenly spread over the chains and within each; what does not divide goes to the best chain.

    None is all of them.
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


class Samples:
    """What is asked of all posterior samples of a predictor at once.

    Parameters
    ----------
    predictor : Predictor
        What has the samples, the features and the search among all documents.
    """

    def __init__(self, predictor: Predictor) -> None:
        self.predictor, self.samples = predictor, predictor.samples
        self.described = [at for at, sample in enumerate(self.samples) if sample.chain == predictor.best_chain]
        self.weights = np.stack([sample.weights for sample in self.samples])
        self.feature_weights = np.stack([sample.feature_weights for sample in self.samples])
        self.n_topics = K = predictor.settings.n_topics
        self._lanes = (0,) * padded(K)
        self._alpha = np.zeros((len(self.samples), 1, len(self._lanes)), np.float32)
        self._alpha[:, 0, :K] = [sample.alpha for sample in self.samples]
        self._word_topic = []
        for sample in self.samples:
            view = np.asarray(sample.word_topic).view()
            view.flags.writeable = False  # as a memory-mapped one is: one compiled kernel serves both
            self._word_topic.append(view)

    def __len__(self) -> int:
        return len(self.samples)

    def infer(self, counts: csr_array) -> Shares:
        """Return the topics of texts, each with known words, in every sample, as `infer_topics` does."""
        start, words = tokens(counts)
        n = counts.shape[0]
        result = np.zeros((len(self), n, len(self._lanes)), np.float32)
        for word_topic, alpha, shares in zip(self._word_topic, self._alpha, result, strict=True):
            infer(
                self._lanes, start, words, word_topic, alpha, self.predictor.seed,
                MAX_SWEEPS, AVERAGED_SWEEPS, TOLERANCE, 0, n, shares,
            )  # fmt: skip
        return result[:, :, : self.n_topics]

    def best(self, new: NewDocuments, places: Sequence[int], tops: Sequence[int], ways: Sequence[bool]) -> Shortlist:
        """Return the best pairs of some texts, so many of each, by text and best first; of equals, the first."""
        predictor, finder, top = self.predictor, self.predictor.finder(), max(tops)
        if len(places) == new.n_documents:
            runs = blocks_of(new.n_documents, finder.width, BLOCK_CELLS)
        else:
            runs = [slice(place, place + 1) for place in places]
        found = [finder.shortlist(new, rows, ways, top) for rows in runs]
        pairs = Shortlist(
            np.concatenate([one.rows for one in found]),
            np.concatenate([one.candidates for one in found]),
            {way: np.concatenate([one.numbers[way] for one in found]) for way in ways},
        )
        wanted = np.zeros(new.n_documents, np.int64)
        wanted[places] = tops
        return predictor.best(new, pairs, wanted[pairs.rows])

    def reasons(self, new: NewDocuments, pairs: Shortlist) -> list[tuple[str, list[dict[str, Any]]]]:
        """Return for each pair the direction that more speaks for, and what speaks most for it, as `Explainer` does."""
        shares = np.stack([new.shares[at] for at in self.described]).astype(float)
        tau = self.feature_weights[self.described].mean(axis=0)
        weights = self.weights[self.described]
        toward = {way: shares @ _turned(weights, way) for way in pairs.numbers}
        found: list[tuple[str, list[dict[str, Any]]]] = []
        for some in blocks_of(len(pairs.rows), self.n_topics**2, CELLS):
            own = pairs.part(some)
            old = self._known(own.candidates, self.described)
            scores = [
                np.einsum("dpk,dpk->p", toward[way][:, own.rows], old) / len(weights) + numbers @ tau
                for way, numbers in own.numbers.items()
            ]
            ways, stronger = list(own.numbers), np.argmax(scores, axis=0)
            parts = np.empty((len(own.rows), self.n_topics**2 + len(self.predictor.features.features)))
            for number, way in enumerate(ways):
                those = np.flatnonzero(stronger == number)
                z, other, by_column = shares[:, own.rows[those]], old[:, those], own.numbers[way][those] * tau
                parts[those] = self._parts(z if way else other, other if way else z, by_column)
            found += self._named(parts, new.prepared, own, [ways[number] for number in stronger.tolist()])
        return found

    def _known(self, documents: NDArray[np.int64], which: Sequence[int]) -> Array:
        """Return the topics of training documents in some samples: samples x documents x topics."""
        return np.stack([self.samples[at].doc_topic[documents] for at in which]).astype(float)

    def _parts(self, source: Array, target: Array, by_column: Array) -> Array:
        """Return the parts of the scores of links: topics of the source x topics of the target, then features."""
        topics = np.zeros((len(by_column), self.n_topics, self.n_topics))
        for z, U, other in zip(source, self.weights[self.described], target, strict=True):
            topics += z[:, :, None] * U * other[:, None, :]
        topics /= len(self.described)
        features = [by_column[:, span].sum(axis=1, keepdims=True) for span in self.predictor.features.spans]
        return np.concatenate([topics.reshape(-1, self.n_topics**2), *features], axis=1)

    def _named(
        self, parts: Array, prepared: list[Any], pairs: Shortlist, outward: list[bool]
    ) -> list[tuple[str, list[dict[str, Any]]]]:
        """Name the largest parts."""
        K, features, directed = self.n_topics, self.predictor.features.features, self.predictor.network.directed
        columns = [column.tolist() for column in best_parts(parts)]
        ends = zip(pairs.rows.tolist(), pairs.candidates.tolist(), outward, strict=True)
        result = []
        for (row, candidate, way), what, part, share in zip(ends, *columns, strict=True):
            why = []
            for place, size, of_all in zip(what, part, share, strict=True):
                if place < 0:
                    break
                reason: dict[str, Any] = {"share": rounded(of_all, 3), "part": rounded(size)}
                if place < K * K:
                    reason["topics"] = list(divmod(place, K))
                else:
                    feature, known = features[place - K * K], prepared[place - K * K]
                    reason |= {"feature": feature.name, "detail": feature.detail(known, row, candidate, way)}
                why.append(reason)
            result.append(("both" if not directed else "out" if way else "in", why))
        return result


def _turned(weights: Array, outward: bool) -> Array:
    return weights if outward else weights.transpose(0, 2, 1)
