"""Topics, links, words and reasons for new documents, from posterior samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from linktopics._inputs import check_direction, check_top, resolve_candidates
from linktopics.errors import DataError
from linktopics.kernels.lanes import padded
from linktopics.kernels.sweep import infer
from linktopics.network import DocumentNetwork
from linktopics.posterior import PosteriorSample
from linktopics.progress import ProgressBar
from linktopics.sampler import Settings, tokens
from linktopics.sampler.losses import make_loss
from linktopics.words import MAX_LENGTH, topics_from_links

__all__ = ["Predictor"]

MAX_SWEEPS = 100
"""Sweeps over a new document before its likelihood must have settled."""

AVERAGED_SWEEPS = 20
"""Sweeps over a new document whose topics are averaged."""

TOLERANCE = 1e-4
"""Relative change of the likelihood at which a new document has settled, as in the paper."""

BLOCK_CELLS = 2**22
"""Documents x candidates (or x words) that are handled at once."""

In = TypeVar("In")
Out = TypeVar("Out")


@dataclass(frozen=True)
class Predictor:
    """Answers questions about new documents; see `RelationalTopicModel` for what each answer is."""

    network: DocumentNetwork
    samples: list[PosteriorSample]
    best_chain: int
    settings: Settings
    seed: int
    n_jobs: int | None
    verbose: bool | str = False

    @property
    def described(self) -> list[PosteriorSample]:
        """The samples of the chain whose topics are shown."""
        return [sample for sample in self.samples if sample.chain == self.best_chain]

    @cached_property
    def _labels(self) -> list[str]:
        """Topics by their two most probable words, as reasons name them."""
        return [", ".join(row) for row in self.top_words(2)]

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
        cuts = np.linspace(0, start[-1], effective_n_jobs(self.n_jobs) + 1)  # as many tokens for each thread
        bounds = np.searchsorted(start, cuts).tolist()
        bounds[-1] = counts.shape[0]

        def run(first: int, last: int) -> None:
            infer(
                (0,) * width, start, words, word_topic, alpha, self.seed,
                MAX_SWEEPS, AVERAGED_SWEEPS, TOLERANCE, first, last, shares,
            )  # fmt: skip

        with ThreadPoolExecutor(len(bounds) - 1) as pool:
            list(pool.map(run, bounds[:-1], bounds[1:]))
        shares[np.diff(start) == 0, :K] = 1.0 / K
        return shares[:, :K]

    def predict(self, counts: csr_array, candidates: Any, direction: str) -> NDArray[np.float64]:
        """Return link probabilities, documents x candidates, averaged over samples."""
        chosen = resolve_candidates(self.network, candidates)
        shares = self._shares(counts, direction)
        result = np.empty((counts.shape[0], len(chosen)))

        def run(rows: slice) -> None:
            result[rows] = self._mean([share[rows] for share in shares], chosen, direction)

        self._spread(run, _blocks(counts.shape[0], len(chosen)))
        return result

    def suggest(self, counts: csr_array, top: int, direction: str, interval: float) -> pd.DataFrame:
        """Return the best candidates with an interval and a reason, block by block of new documents."""
        check_top(top)
        if not 0 < interval < 1:
            raise ValueError(f"interval is {interval!r}; it must be between 0 and 1.")
        shares = self._shares(counts, direction)
        # Each holds documents x candidates, and the topics of the candidates suggested.
        blocks = _blocks(counts.shape[0], max(self.network.n_documents, int(top) * self.settings.n_topics))
        with ProgressBar(len(blocks), self.verbose, "suggesting", "suggesting") as progress:

            def run(rows: slice) -> pd.DataFrame:
                frame = self._suggest_block([share[rows] for share in shares], int(top), direction, interval)
                progress.advance("")
                return frame.assign(document=frame["document"] + rows.start)

            frames = self._spread(run, blocks)
        return pd.concat(frames, ignore_index=True)

    def _suggest_block(
        self, shares: list[NDArray[np.float32]], top: int, direction: str, interval: float
    ) -> pd.DataFrame:
        mean = self._mean(shares, np.arange(self.network.n_documents), direction)
        picked = _largest(mean, top)
        exact = np.stack(
            [
                self._probabilities(sample, new, sample.doc_topic[picked], direction)
                for sample, new in zip(self.samples, shares, strict=True)
            ]
        )
        tail = (1.0 - interval) / 2.0
        lower, upper = np.quantile(exact, [tail, 1.0 - tail], axis=0)
        if len(exact) == 1:  # one sample does not tell how sure it is
            lower, upper = np.full((2, *picked.shape), np.nan)
        documents, width = picked.shape
        shown = [number for number, sample in enumerate(self.samples) if sample.chain == self.best_chain]
        reasons = [self._reasons([shares[s][i] for s in shown], picked[i], direction) for i in range(documents)]
        flat = picked.reshape(-1)
        return pd.DataFrame(
            {
                "document": np.repeat(np.arange(documents), width),
                "id": self.network.ids[flat],
                "title": "" if self.network.titles is None else self.network.titles[flat],
                "probability": np.take_along_axis(mean, picked, axis=1).reshape(-1),
                "lower": lower.reshape(-1),
                "upper": upper.reshape(-1),
                "why": [why for row in reasons for why in row],
            }
        )

    def explain(self, source: Any, target: Any, counts: csr_array | None) -> pd.DataFrame:
        """Return the parts of the scores of pairs; new documents take the place of the end that is None."""
        self._check_links()
        if counts is None:
            if source is None or target is None:
                raise DataError("one end of the pair is None; pass documents= to put new ones in its place.")
            return self._parts_table(self._ends(source), self._ends(target))
        if (source is None) == (target is None):
            raise DataError("new documents take the place of one end: pass None for it and an id for the other.")
        new = [self.infer(sample, counts) for sample in self.described]
        frames = []
        for document in range(counts.shape[0]):
            here = [share[document] for share in new]
            ends = (here, self._ends(target)) if source is None else (self._ends(source), here)
            frames.append(self._parts_table(*ends).assign(document=document))
        table = pd.concat(frames, ignore_index=True)
        return table[["document", *table.columns[:-1]]]

    def _ends(self, document: Any) -> list[NDArray[np.float32]]:
        index = self.network.index_of(document)
        return [sample.doc_topic[index] for sample in self.described]

    def _parts_table(self, source: list[NDArray[np.float32]], target: list[NDArray[np.float32]]) -> pd.DataFrame:
        """Return the parts of a score, averaged over samples, by size; they sum to the averaged score."""
        parts = np.mean(
            [np.outer(a, b) * s.weights for s, a, b in zip(self.described, source, target, strict=True)], axis=0
        )
        words = [", ".join(row) for row in self.top_words(3)]
        order = np.argsort(-np.abs(parts), axis=None, kind="stable")
        order = order[np.abs(parts).reshape(-1)[order] > 0]
        sources, targets = np.unravel_index(order, parts.shape)
        table = pd.DataFrame(
            {
                "source_topic": pd.array(sources, dtype="Int64"),
                "target_topic": pd.array(targets, dtype="Int64"),
                "source_words": [words[k] for k in sources],
                "target_words": [words[k] for k in targets],
                "part": parts[sources, targets],
            }
        )
        if self.settings.intercept:
            intercept = float(np.mean([sample.intercept for sample in self.described]))
            table.loc[len(table)] = [pd.NA, pd.NA, "(intercept)", "(intercept)", intercept]
        return table

    def words(self, out: NDArray[np.int64], into: NDArray[np.int64], n_documents: int) -> NDArray[np.float64]:
        """Return the probabilities of words in documents known by their links alone, averaged over samples."""
        K = self.settings.n_topics
        length = min(MAX_LENGTH, max(1, round(float(self.network.lengths.mean()))))
        linked = np.zeros(n_documents, dtype=bool)
        linked[out[:, 0]] = linked[into[:, 0]] = True
        self._check_links()

        def run(number: int) -> NDArray[np.float64]:
            topics = np.full((n_documents, K), 1.0 / K)
            for rows in _blocks(n_documents, length):
                a, b = rows.start, rows.stop
                here_out, here_into = (p[(p[:, 0] >= a) & (p[:, 0] < b)] - [a, 0] for p in (out, into))
                topics[rows] = topics_from_links(
                    self.samples[number], self.settings, here_out, here_into, b - a, length,
                    not self.network.directed, np.random.SeedSequence([self.seed, number, a]),
                )  # fmt: skip
            topics[~linked] = 1.0 / K
            return topics

        total = np.zeros((n_documents, self.network.n_words))
        for sample, topics in zip(self.samples, self._spread(run, range(len(self.samples))), strict=True):
            total += topics @ sample.word_topic[:, :K].T
        return np.asarray(total / total.sum(axis=1, keepdims=True))

    def top_words(self, n_words: int) -> list[list[str]]:
        """Return the most probable words of each topic of the chain that is shown."""
        K = self.settings.n_topics
        topics = np.mean([sample.word_topic[:, :K] for sample in self.described], axis=0)
        names = self.network.vocabulary
        return [
            [str(w) if names is None else str(names[w]) for w in np.argsort(-topics[:, k], kind="stable")[:n_words]]
            for k in range(K)
        ]

    def _spread(self, run: Callable[[In], Out], items: Iterable[In]) -> list[Out]:
        """Apply a function to each item, in threads; BLAS, which would start threads of its own, gets one."""
        with threadpool_limits(1), ThreadPoolExecutor(effective_n_jobs(self.n_jobs)) as pool:
            return list(pool.map(run, items))

    def _check_links(self) -> None:
        if self.network.n_links == 0:
            raise DataError("the model was fitted without links, so it cannot tell which are likely.")

    def _shares(self, counts: csr_array, direction: str) -> list[NDArray[np.float32]]:
        check_direction(direction)
        self._check_links()
        return [self.infer(sample, counts) for sample in self.samples]

    def _mean(
        self, shares: list[NDArray[np.float32]], chosen: NDArray[np.int64], direction: str
    ) -> NDArray[np.float64]:
        """Return the probabilities of links of new documents with chosen candidates, averaged over samples."""
        total = np.zeros((len(shares[0]), len(chosen)))
        for sample, new in zip(self.samples, shares, strict=True):
            total += self._probabilities(sample, new, sample.doc_topic[chosen], direction)
        return total / len(self.samples)

    def _probabilities(
        self, sample: PosteriorSample, new: NDArray[np.float32], old: NDArray[np.float32], direction: str
    ) -> NDArray[np.float64]:
        """Return a sample's probabilities of links.

        Candidates `old` are the same for all new documents (candidates x K), or each has its own (documents x
        candidates x K).
        """
        loss = make_loss(self.settings.loss, np.empty(0, bool), 1.0, 1.0, self.settings.margin)
        old = old.astype(float)

        def probability(weights: NDArray[np.float64]) -> NDArray[np.float64]:
            here = new @ weights
            scores = here @ old.T if old.ndim == 2 else np.einsum("ik,ijk->ij", here, old)
            return loss.probability(scores + sample.intercept)

        if direction == "out" or not self.network.directed:
            return probability(sample.weights)
        if direction == "in":
            return probability(sample.weights.T)
        out, into = probability(sample.weights), probability(sample.weights.T)
        return out + into - out * into

    def _reasons(self, new: list[NDArray[np.float32]], candidates: NDArray[np.int64], direction: str) -> list[str]:
        """Name the two pairs of topics that speak most for each link, in the direction that speaks more for it.

        `new` are the topics of one new document in each sample that is shown.
        """
        ways = []
        if direction != "in" or not self.network.directed:
            ways.append(("→", [sample.weights for sample in self.described]))
        if direction != "out" and self.network.directed:
            ways.append(("←", [sample.weights.T for sample in self.described]))
        old = [sample.doc_topic[candidates] for sample in self.described]
        parts = np.zeros((len(ways), len(candidates), len(new[0]), len(new[0])))
        for number, (_, way) in enumerate(ways):
            for z, U, d in zip(new, way, old, strict=True):
                parts[number] += (z[:, None] * U) * d[:, None, :] / len(new)
        stronger = np.argmax(parts.sum(axis=(2, 3)), axis=0)
        reasons = []
        for candidate, way in enumerate(stronger):
            part = parts[way, candidate]
            best = np.argsort(-part, axis=None, kind="stable")[:2]
            reasons.append(
                "; ".join(
                    f"{self._labels[here]} {ways[way][0]} {self._labels[there]} ({part[here, there]:+.1f})"
                    for here, there in zip(*np.unravel_index(best, part.shape), strict=True)
                    if part[here, there] >= 0.05  # less would read +0.0
                )
            )
        return reasons


def _blocks(n_documents: int, width: int) -> list[slice]:
    """Cut documents into runs of about `BLOCK_CELLS` cells."""
    step = max(1, BLOCK_CELLS // max(width, 1))
    return [slice(first, min(first + step, n_documents)) for first in range(0, n_documents, step)]


def _largest(values: NDArray[np.float64], size: int) -> NDArray[np.int64]:
    """Return the columns of the `size` largest values of each row, largest first; of equals, the first column."""
    size = min(size, values.shape[1])
    bounds = np.partition(values, -size, axis=1)[:, -size]
    picked = np.empty((len(values), size), dtype=np.int64)
    for i, (row, bound) in enumerate(zip(values, bounds, strict=True)):
        columns = np.flatnonzero(row >= bound)
        picked[i] = columns[np.argsort(-row[columns], kind="stable")][:size]
    return picked
