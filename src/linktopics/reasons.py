"""Why two documents link: the parts of a score, of topics and of features, and sentences made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linktopics.features import FeatureSet
from linktopics.posterior import PosteriorSample

__all__ = ["Explainer", "shares_of"]

Array = NDArray[np.float64]
Shares = Sequence[NDArray[np.float32]]
"""Topics of a document in each sample."""

N_REASONS = 3
SMALLEST_SHARE = 0.05
"""Parts below this share of what speaks for a link are not named."""


def shares_of(parts: Array) -> Array:
    """Return each part relative to the sum of the parts of its sign: positive ones sum to 1, negative ones to -1."""
    result = np.zeros_like(parts, dtype=float)
    for sign in (1.0, -1.0):
        those = parts * sign > 0
        if those.any():
            result[those] = parts[those] / np.abs(parts[those]).sum()
    return result


@dataclass(frozen=True)
class Explainer:
    """Takes scores apart, averaged over the samples of one chain.

    Attributes
    ----------
    samples : list of PosteriorSample
        The samples, of one chain: its topics are the same in all of them.
    features : FeatureSet
        The features of pairs.
    words : list of list of str
        The most probable words of each topic.
    """

    samples: list[PosteriorSample]
    features: FeatureSet
    words: list[list[str]]

    def topic_parts(self, new: Shares, old: Shares, outward: bool) -> Array:
        """Return what pairs of topics add to scores: topics of the new document x topics of the candidate.

        If `old` has an axis of candidates, it stands first.
        """
        total: Any = 0.0
        for sample, z, other in zip(self.samples, new, old, strict=True):
            weights = sample.weights if outward else sample.weights.T
            total = total + (z[:, None] * weights) * other[..., None, :]
        return np.asarray(total / len(self.samples))

    def feature_parts(self, numbers: Array) -> Array:
        """Return what features add to scores: columns of numbers times their weights, added up by feature."""
        by_column = numbers * np.mean([sample.feature_weights for sample in self.samples], axis=0)
        parts = [by_column[..., span].sum(axis=-1) for span in self.features.spans]
        return np.stack(parts, axis=-1) if parts else np.empty((*numbers.shape[:-1], 0))

    def table(self, source: Shares, target: Shares, numbers: Array, details: list[str]) -> pd.DataFrame:
        """Return the parts of the score of a pair by size; they sum to it."""
        topics = self.topic_parts(source, target, outward=True)
        sources, targets = np.nonzero(topics)
        features = self.feature_parts(numbers)
        parts = np.concatenate([topics[sources, targets], features])
        labels = [", ".join(row[:3]) for row in self.words]
        blank = [""] * len(features)
        table = pd.DataFrame(
            {
                "source_topic": pd.array([*sources, *[pd.NA] * len(features)], dtype="Int64"),
                "target_topic": pd.array([*targets, *[pd.NA] * len(features)], dtype="Int64"),
                "source_words": [labels[k] for k in sources] + blank,
                "target_words": [labels[k] for k in targets] + blank,
                "feature": [""] * len(sources) + [feature.name for feature in self.features.features],
                "detail": [""] * len(sources) + details,
                "part": parts,
                "share": shares_of(parts),
            }
        )
        return table.iloc[np.argsort(-np.abs(parts), kind="stable")].reset_index(drop=True)

    def details(self, prepared: list[Any], row: int, candidate: int, outward: bool) -> list[str]:
        """Say what each feature of a pair comes from."""
        features = self.features.features
        return [f.detail(p, row, candidate, outward) for f, p in zip(features, prepared, strict=True)]

    def reasons(
        self,
        new: Shares,
        old: Shares,
        numbers: dict[bool, Array],
        detail: Callable[[int, int, bool], str],
        candidates: NDArray[np.int64],
    ) -> list[str]:
        """Name what speaks most for each link of one new document, in the direction that speaks more for it.

        Parameters
        ----------
        new : sequence of ndarray of shape (K,)
            Its topics in each sample.
        old : sequence of ndarray of shape (n_candidates, K)
            Those of the candidates.
        numbers : dict of bool to ndarray of shape (n_candidates, n_columns)
            Features, for each direction that counts: True for links from the new document.
        detail : callable
            Says what a feature comes from, given its number, the candidate and the direction.
        candidates : ndarray of int64
            The candidates' indices.
        """
        topics = {way: self.topic_parts(new, old, way) for way in numbers}
        features = {way: self.feature_parts(values) for way, values in numbers.items()}
        scores = np.stack([topics[way].sum(axis=(1, 2)) + features[way].sum(axis=1) for way in numbers])
        stronger = [list(numbers)[number] for number in np.argmax(scores, axis=0)]
        labels = [", ".join(row[:2]) for row in self.words]
        K = len(labels)
        sentences = []
        for place, (candidate, way) in enumerate(zip(candidates.tolist(), stronger, strict=True)):
            share = shares_of(np.concatenate([topics[way][place].reshape(-1), features[way][place]]))
            arrow = "→" if way else "←"
            named = []
            for at in np.argsort(-share, kind="stable")[:N_REASONS]:
                if share[at] < SMALLEST_SHARE:
                    break
                if at < K * K:
                    what = f"{labels[at // K]} {arrow} {labels[at % K]}"
                else:
                    feature = self.features.features[at - K * K]
                    what = detail(int(at) - K * K, candidate, way) or feature.name
                named.append(f"{share[at]:.2f} {what}")
            sentences.append("; ".join(named))
        return sentences
