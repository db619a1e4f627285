"""Explanations of links: the contributions of topic pairs and features to a score, and the largest as reasons.

The contributions of a pair are one row: ``a * K + b`` is topic a of the source with topic b of the target, and
``K * K + f`` is feature f. They sum to the score, averaged over the samples of one chain. Functions take and return
arrays; `Explainer.sentences` and `Explainer.table` format them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linktopics.features import FeatureSet
from linktopics.prediction.ranking import Shortlist, blocks_of, pair_topics
from linktopics.prediction.scoring import pair_scores
from linktopics.sampler.runner import PosteriorSample

Array = NDArray[np.float64]
TopicShares = Sequence[NDArray[np.floating]] | NDArray[np.floating]
"""Topics of documents in each sample: an array of K for one document, or of documents x K."""

N_REASONS = 3
MIN_REASON_SHARE = 0.05
"""Contributions below this share of all positive ones are not given as reasons."""

CONTRIBUTION_CELLS = 2**21
"""Contributions to scores that are in memory at once."""


def topic_contributions(source: TopicShares, weights: Sequence[Array] | Array, target: TopicShares) -> Array:
    """Return the contributions of pairs of topics to scores, averaged over samples: (documents x) K x K.

    Examples
    --------
    >>> import numpy as np
    >>> topic_contributions([np.array([0.5, 0.5])], [np.array([[2.0, 1.0], [0.0, 3.0]])], [np.array([1.0, 0.0])])
    array([[1., 0.],
           [0., 0.]])
    """
    total = np.zeros((*source[0].shape, source[0].shape[-1]))
    for z, U, other in zip(source, weights, target, strict=True):
        total += (z[..., :, None] * U) * other[..., None, :]
    return total / len(weights)


def cell_contributions(
    source: TopicShares, weights: Array, target: TopicShares, a: NDArray[np.integer], b: NDArray[np.integer]
) -> Array:
    """Return the contributions of topics a of the source with topics b of the target: cells x documents."""
    total = np.zeros((len(a), len(source[0])))
    for z, U, other in zip(source, weights, target, strict=True):
        total += U[a, b][:, None] * z.T[a] * other.T[b]
    return total / len(weights)


def shares_of(contributions: Array, parts: Array | None = None, sign: Array | float = 1.0) -> Array:
    """Return shares of the contributions of one sign, over the last axis; 0 for contributions of the other sign.

    Parameters
    ----------
    contributions : ndarray
        All contributions to each score.
    parts : ndarray or None, default=None
        The contributions whose shares are returned; None is all.
    sign : float or ndarray, default=1.0
        1 for shares of the positive contributions; -1 for those of the negative ones, which are negative.

    Examples
    --------
    >>> import numpy as np
    >>> contributions = np.array([[3.0, -0.5, 1.0, 0.0]])
    >>> shares_of(contributions).tolist(), shares_of(contributions, np.array([[-0.5]]), -1.0).tolist()
    ([[0.75, 0.0, 0.25, 0.0]], [[-1.0]])
    """
    sizes = sign * contributions
    np.maximum(sizes, 0.0, out=sizes)
    total = sizes.sum(axis=-1, keepdims=True)
    shares = sizes if parts is None else np.maximum(sign * parts, 0.0)
    np.divide(shares, total, out=shares, where=total > 0)
    shares *= sign
    return shares


@dataclass(frozen=True)
class Reasons:
    """The largest positive contributions to scores of pairs, best first, pairs x `N_REASONS`.

    Attributes
    ----------
    index : ndarray of int64
        Column of the contribution; -1 if there is none.
    contribution : ndarray
        To the score.
    share : ndarray
        The contribution relative to the sum of all positive ones.
    """

    index: NDArray[np.int64]
    contribution: Array
    share: Array


def best_reasons(contributions: Array) -> Reasons:
    """Return the largest contributions to each score, pairs x contributions; of equals, the first.

    Examples
    --------
    >>> import numpy as np
    >>> reasons = best_reasons(np.array([[3.0, -0.5, 1.0, 0.0]]))
    >>> reasons.index.tolist(), reasons.share.tolist()
    ([[0, 2, -1]], [[0.75, 0.25, 0.0]])
    """
    share = shares_of(contributions)
    rows, shape = np.arange(len(share)), (len(share), N_REASONS)
    found = Reasons(np.full(shape, -1, dtype=np.int64), np.zeros(shape), np.zeros(shape))
    for place in range(min(N_REASONS, share.shape[1])):
        best = share.argmax(axis=1)
        enough = share[rows, best] >= MIN_REASON_SHARE
        found.index[enough, place] = best[enough]
        found.contribution[enough, place] = contributions[rows, best][enough]
        found.share[enough, place] = share[rows, best][enough]
        share[rows, best] = -1.0
    return found


@dataclass(frozen=True)
class Explainer:
    """Splits scores into contributions, averaged over the samples of one chain.

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

    @cached_property
    def weights(self) -> Array:
        """U in each sample."""
        return np.stack([sample.weights for sample in self.samples])

    @cached_property
    def feature_weights(self) -> Array:
        """The mean of tau."""
        return np.mean([sample.feature_weights for sample in self.samples], axis=0)

    def contributions(self, source: TopicShares, target: TopicShares, values: Array) -> Array:
        """Return the contributions to scores of links, (pairs x) contributions, given topics and features."""
        topics, by_column = topic_contributions(source, self.weights, target), values * self.feature_weights
        features = [by_column[..., span].sum(axis=-1, keepdims=True) for span in self.features.spans]
        return np.concatenate([topics.reshape(*values.shape[:-1], -1), *features], axis=-1)

    def reasons(self, shares: Sequence[NDArray[np.float32]], pairs: Shortlist) -> tuple[NDArray[np.bool_], Reasons]:
        """Return the reasons for each pair, in the direction with the higher score, and whether that is outgoing.

        Parameters
        ----------
        shares : sequence of ndarray of shape (n_documents, K)
            Topics of the new documents in each sample.
        pairs : Shortlist
            The pairs, with their features in one direction or both.
        """
        n, n_contributions = len(pairs.rows), len(self.weights[0]) ** 2 + len(self.features.features)
        outgoing, found = np.full(n, "out" in pairs.features), best_reasons(np.empty((n, 0)))
        for some in blocks_of(n, n_contributions, CONTRIBUTION_CELLS):
            own = pairs.part(some)
            new, rows, old = pair_topics(self.samples, shares, own)
            if len(own.features) == 2:
                tau = self.feature_weights[None]
                scores = {
                    direction: pair_scores(new, rows, old, self.weights, values, tau, direction).mean(axis=0)
                    for direction, values in own.features.items()
                }
                outgoing[some] = scores["out"] >= scores["in"]
            new, is_outgoing = new[:, rows], outgoing[some, None]
            values = np.where(is_outgoing, own.features.get("out", 0.0), own.features.get("in", 0.0))
            source, target = np.where(is_outgoing, new, old), np.where(is_outgoing, old, new)
            best = best_reasons(self.contributions(source, target, values))
            found.index[some], found.contribution[some], found.share[some] = best.index, best.contribution, best.share
        return outgoing, found

    def table(self, source: TopicShares, target: TopicShares, values: Array, details: list[str]) -> pd.DataFrame:
        """Return the contributions to the score of one link by size; they sum to it."""
        every, K = self.contributions(source, target, values), len(self.words)
        topics = np.flatnonzero(every[: K * K])
        found = np.concatenate([every[topics], every[K * K :]])
        shares = sum(shares_of(found[sign * found > 0], found, sign) for sign in (1.0, -1.0))
        (sources, targets), n_features = np.divmod(topics, K), len(details)
        labels, blank = [", ".join(row[:3]) for row in self.words], [""] * n_features
        table = pd.DataFrame(
            {
                "source_topic": pd.array([*sources, *[pd.NA] * n_features], dtype="Int64"),
                "target_topic": pd.array([*targets, *[pd.NA] * n_features], dtype="Int64"),
                "source_words": [labels[k] for k in sources] + blank,
                "target_words": [labels[k] for k in targets] + blank,
                "feature": [""] * len(topics) + [feature.name for feature in self.features.features],
                "detail": [""] * len(topics) + details,
                "contribution": found,
                "share": shares,
            }
        )
        return table.iloc[np.argsort(-np.abs(found), kind="stable")].reset_index(drop=True)

    def sentences(
        self, reasons: Reasons, outgoing: NDArray[np.bool_], detail: Callable[[int, int, bool], str]
    ) -> list[str]:
        """Return a sentence for each pair; ``detail(feature, pair, outgoing)`` returns a phrase about a feature."""
        labels, K = [", ".join(row[:2]) for row in self.words], len(self.words)
        result = []
        columns = (reasons.index.tolist(), reasons.share.tolist(), outgoing.tolist())
        for pair, (own, shares, out) in enumerate(zip(*columns, strict=True)):
            named = []
            for index, share in zip(own, shares, strict=True):
                if index >= K * K:
                    feature = index - K * K
                    named.append(f"{share:.2f} {detail(feature, pair, out) or self.features.features[feature].name}")
                elif index >= 0:
                    a, b = labels[index // K], labels[index % K]
                    named.append(f"{share:.2f} {a} → {b}" if out else f"{share:.2f} {b} ← {a}")
            result.append("; ".join(named))
        return result
