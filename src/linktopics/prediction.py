"""Topics, links and reasons for new documents, from posterior samples."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.sparse import csr_array

from linktopics.errors import DataError
from linktopics.kernels.lanes import padded
from linktopics.kernels.sweep import infer
from linktopics.network import DocumentNetwork
from linktopics.posterior import PosteriorSample
from linktopics.sampler import Settings, tokens
from linktopics.sampler.losses import make_loss

__all__ = ["Predictor"]

MAX_SWEEPS = 100
"""Sweeps over a new document before its likelihood must have settled."""

AVERAGED_SWEEPS = 20
"""Sweeps over a new document whose topics are averaged."""

TOLERANCE = 1e-4
"""Relative change of the likelihood at which a new document has settled, as in the paper."""


@dataclass(frozen=True)
class Predictor:
    """Answers questions about new documents; see `RelationalTopicModel` for what each answer is."""

    network: DocumentNetwork
    samples: list[PosteriorSample]
    best_chain: int
    settings: Settings
    seed: int
    n_jobs: int | None

    @property
    def described(self) -> list[PosteriorSample]:
        """The samples of the chain whose topics are shown."""
        return [sample for sample in self.samples if sample.chain == self.best_chain]

    def infer(self, sample: PosteriorSample, counts: csr_array) -> NDArray[np.float32]:
        """Return shares of topics among the tokens of new documents, given a sample's topics.

        A document without words has the shares of the prior.
        """
        K, width = self.settings.n_topics, padded(self.settings.n_topics)
        alpha = np.zeros((1, width), np.float32)
        alpha[0, :K] = self.settings.alpha / K
        word_topic = np.asarray(sample.word_topic).view()
        word_topic.flags.writeable = False  # as a memory-mapped one is: one compiled kernel serves both
        start, words = tokens(counts)
        shares = np.zeros((counts.shape[0], width), np.float32)
        workers = effective_n_jobs(self.n_jobs)
        bounds = np.linspace(0, counts.shape[0], min(counts.shape[0], workers) + 1).astype(int)

        def run(first: int, last: int) -> None:
            infer(
                (0,) * width, start, words, word_topic, alpha, self.seed,
                MAX_SWEEPS, AVERAGED_SWEEPS, TOLERANCE, first, last, shares,
            )  # fmt: skip

        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(run, bounds[:-1].tolist(), bounds[1:].tolist()))
        shares[np.diff(start) == 0, :K] = 1.0 / K
        return shares[:, :K]

    def predict(self, counts: csr_array, candidates: Any, direction: str) -> NDArray[np.float64]:
        """Return link probabilities, documents x candidates, averaged over samples."""
        return self._mean(self._shares(counts), self._indices(candidates), direction)

    def suggest(self, counts: csr_array, top: int, direction: str, interval: float) -> pd.DataFrame:
        """Return the best candidates with an interval and a reason."""
        if not (isinstance(top, (int, np.integer)) and top >= 1):
            raise ValueError(f"top is {top!r}; it must be a whole number from 1 on.")
        if not 0 < interval < 1:
            raise ValueError(f"interval is {interval!r}; it must be between 0 and 1.")
        shares = self._shares(counts)
        everyone = np.arange(self.network.n_documents)
        tail = (1.0 - interval) / 2.0
        rows = []
        for document in range(counts.shape[0]):
            new = [share[[document]] for share in shares]
            mean = self._mean(new, everyone, direction)[0]
            best = np.argsort(-mean, kind="stable")[:top]
            spread = [self._probabilities(s, z, best, direction)[0] for s, z in zip(self.samples, new, strict=True)]
            low, high = np.quantile(spread, [tail, 1.0 - tail], axis=0)
            reasons = self._reasons(new, best, direction)
            for candidate, lower, upper, why in zip(best, low, high, reasons, strict=True):
                title = "" if self.network.titles is None else self.network.titles[candidate]
                rows.append((document, self.network.ids[candidate], title, mean[candidate], lower, upper, why))
        return pd.DataFrame(rows, columns=["document", "id", "title", "probability", "lower", "upper", "why"])

    def explain(self, source: Any, target: Any) -> pd.DataFrame:
        """Return the parts of the score of two training documents."""
        i, j = self.network.index_of(source), self.network.index_of(target)
        parts = np.mean([np.outer(s.doc_topic[i], s.doc_topic[j]) * s.weights for s in self.described], axis=0)
        words = [", ".join(row) for row in self.top_words(3)]
        order = np.argsort(-np.abs(parts), axis=None, kind="stable")
        order = order[np.abs(parts).reshape(-1)[order] > 0]
        sources, targets = np.unravel_index(order, parts.shape)
        return pd.DataFrame(
            {
                "source_topic": sources,
                "target_topic": targets,
                "source_words": [words[k] for k in sources],
                "target_words": [words[k] for k in targets],
                "part": parts[sources, targets],
            }
        )

    def top_words(self, n_words: int) -> list[list[str]]:
        """Return the most probable words of each topic of the chain that is shown."""
        K = self.settings.n_topics
        topics = np.mean([sample.word_topic[:, :K] for sample in self.described], axis=0)
        names = self.network.vocabulary
        return [
            [str(w) if names is None else str(names[w]) for w in np.argsort(-topics[:, k], kind="stable")[:n_words]]
            for k in range(K)
        ]

    def _indices(self, candidates: Any) -> NDArray[np.int64]:
        if isinstance(candidates, str):
            raise DataError(f"candidates is the single string {candidates!r}; pass a list of ids.")
        if candidates is None:
            return np.arange(self.network.n_documents)
        return np.array([self.network.index_of(candidate) for candidate in candidates], dtype=np.int64)

    def _shares(self, counts: csr_array) -> list[NDArray[np.float32]]:
        if self.network.n_links == 0:
            raise DataError("the model was fitted without links, so it cannot tell which are likely.")
        return [self.infer(sample, counts) for sample in self.samples]

    def _mean(
        self, shares: list[NDArray[np.float32]], chosen: NDArray[np.int64], direction: str
    ) -> NDArray[np.float64]:
        total = np.zeros((len(shares[0]), len(chosen)))
        for sample, new in zip(self.samples, shares, strict=True):
            total += self._probabilities(sample, new, chosen, direction)
        return total / len(self.samples)

    def _probabilities(
        self, sample: PosteriorSample, new: NDArray[np.float32], chosen: NDArray[np.int64], direction: str
    ) -> NDArray[np.float64]:
        """Return a sample's probabilities of links between new documents, given by their topics, and candidates."""
        if direction not in ("both", "out", "in"):
            raise ValueError(f'direction is {direction!r}; it must be "both", "out" or "in".')
        loss = make_loss(self.settings.loss, np.empty(0, bool), 1.0, 1.0, self.settings.margin)
        old = sample.doc_topic[chosen]

        def probability(weights: NDArray[np.float64]) -> NDArray[np.float64]:
            return loss.probability(new @ weights @ old.T + sample.intercept)

        if direction == "out" or not self.network.directed:
            return probability(sample.weights)
        if direction == "in":
            return probability(sample.weights.T)
        return 1.0 - (1.0 - probability(sample.weights)) * (1.0 - probability(sample.weights.T))

    def _reasons(self, new: list[NDArray[np.float32]], candidates: NDArray[np.int64], direction: str) -> list[str]:
        """Name the two pairs of topics that speak most for each link, in the direction that speaks more for it."""
        words = [", ".join(row) for row in self.top_words(2)]
        shown = [(s, z[0]) for s, z in zip(self.samples, new, strict=True) if s.chain == self.best_chain]
        reasons = []
        for j in candidates:
            ways = []
            if direction != "in" or not self.network.directed:
                ways.append((np.mean([np.outer(z, s.doc_topic[j]) * s.weights for s, z in shown], axis=0), "→"))
            if direction != "out" and self.network.directed:
                ways.append((np.mean([np.outer(z, s.doc_topic[j]) * s.weights.T for s, z in shown], axis=0), "←"))
            parts, arrow = max(ways, key=lambda way: way[0].sum())
            best = np.argsort(-parts, axis=None, kind="stable")[:2]
            reasons.append(
                "; ".join(
                    f"{words[here]} {arrow} {words[there]} ({parts[here, there]:+.1f})"
                    for here, there in zip(*np.unravel_index(best, parts.shape), strict=True)
                    if parts[here, there] >= 0.05  # less would read +0.0
                )
            )
        return reasons
