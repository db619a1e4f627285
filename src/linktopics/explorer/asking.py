"""Questions about pasted texts: their topics, their links with reasons, and what single words change.

The answers are those of `RelationalTopicModel.suggest_links`, `transform` and `explain_link`. The way to them is
shorter: several texts are answered at once, what samples have in common is computed for all of them together, and
there are no tables in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from linktopics._inputs import Documents
from linktopics.errors import DataError
from linktopics.explorer.limits import Limits
from linktopics.explorer.texts import PastedText, TextReader, stack_counts
from linktopics.inference import AVERAGED_SWEEPS, MAX_SWEEPS, TOLERANCE
from linktopics.kernels.inference import infer
from linktopics.kernels.lanes import padded
from linktopics.model import RelationalTopicModel
from linktopics.posterior import PosteriorSample
from linktopics.prediction import Predictor
from linktopics.ranking import NewDocuments, Shortlist, blocks_of
from linktopics.reasons import N_REASONS, SMALLEST_SHARE
from linktopics.sampler import tokens

__all__ = ["Asker", "Question", "short", "thinned"]

Array = NDArray[np.float64]

INTERVAL = 0.9
"""Mass of the intervals of suggestions, as in `suggest_links`."""

SMALLEST_TOPIC, WORD_TOPIC = 0.005, 0.05
"""Shares of topics in a text, and in a word, from which they are told."""

CELLS = 2**21
"""Numbers of pairs that are in memory at once."""


@dataclass(frozen=True)
class Question:
    """A text, how many suggestions are wanted, and in which direction."""

    text: PastedText
    top: int = 8
    direction: str = "both"


def short(value: float, digits: int = 6) -> float | None:
    """Return a number with so many significant digits; None for what is no number.

    Examples
    --------
    >>> short(0.123456789), short(float("nan"))
    (0.123457, None)
    """
    return float(f"{value:.{digits}g}") if np.isfinite(value) else None


def thinned(samples: Sequence[PosteriorSample], n: int | None, best_chain: int) -> list[PosteriorSample]:
    """Return n of the samples, as many of each chain as can be, evenly spread, and those of the best chain first of all.

    None is all of them.
    """
    if n is None or n >= len(samples):
        return list(samples)
    chains = sorted({sample.chain for sample in samples}, key=lambda chain: (chain != best_chain, chain))
    kept: list[int] = []
    for place, chain in enumerate(chains):
        own = [at for at, sample in enumerate(samples) if sample.chain == chain]
        wanted = n // len(chains) + (place < n % len(chains))
        kept += [own[at] for at in np.linspace(0, len(own) - 1, wanted).round().astype(int)] if wanted else []
    return [samples[at] for at in sorted(set(kept))]


class Stack:
    """Posterior samples side by side: what is computed for all of them at once.

    Parameters
    ----------
    predictor : Predictor
        What has the samples, their features and the search among all documents.
    """

    def __init__(self, predictor: Predictor) -> None:
        self.predictor, self.samples = predictor, predictor.samples
        self.described = [at for at, sample in enumerate(self.samples) if sample.chain == predictor.best_chain]
        self.weights = np.stack([sample.weights for sample in self.samples])
        self.feature_weights = np.stack([sample.feature_weights for sample in self.samples])
        self.n_topics = K = predictor.settings.n_topics
        self._places = (0,) * padded(K)
        self._alpha = np.zeros((len(self.samples), 1, len(self._places)), np.float32)
        self._alpha[:, 0, :K] = [sample.alpha for sample in self.samples]
        self._word_topic = []
        for sample in self.samples:
            view = np.asarray(sample.word_topic).view()
            view.flags.writeable = False  # as a memory-mapped one is: one compiled kernel serves both
            self._word_topic.append(view)

    def shares(self, counts: csr_array) -> NDArray[np.float32]:
        """Return the topics of texts in each sample, as `infer_topics` does: samples x texts x topics."""
        start, words = tokens(counts)
        n = counts.shape[0]
        result = np.zeros((len(self.samples), n, len(self._places)), np.float32)
        for word_topic, alpha, shares in zip(self._word_topic, self._alpha, result, strict=True):
            infer(
                self._places, start, words, word_topic, alpha, self.predictor.seed,
                MAX_SWEEPS, AVERAGED_SWEEPS, TOLERANCE, 0, n, shares,
            )  # fmt: skip
        return result[:, :, : self.n_topics]

    def candidates(self, places: NDArray[np.int64], which: Sequence[int] | None = None) -> Array:
        """Return the topics of training documents in some samples: samples x documents x topics."""
        chosen = self.samples if which is None else [self.samples[at] for at in which]
        return np.stack([sample.doc_topic[places] for sample in chosen]).astype(float)

    def probabilities(self, shares: NDArray[np.float32], pairs: Shortlist) -> Array:
        """Return the probabilities of pairs in each sample, as `pair_probabilities` does: samples x pairs."""
        loss, parts = self.predictor._loss, []
        toward = {way: shares.astype(float) @ _turned(self.weights, way) for way in pairs.numbers}
        for some in blocks_of(len(pairs.rows), len(self.samples) * self.n_topics, CELLS):
            own = pairs.part(some)
            old, absent = self.candidates(own.candidates), np.ones((len(self.samples), len(own.rows)))
            probability = np.zeros_like(absent)
            for way, numbers in own.numbers.items():
                scores = np.einsum("spk,spk->sp", toward[way][:, own.rows], old)
                scores += np.einsum("sf,pf->sp", self.feature_weights, numbers)
                one = loss.probability(scores)
                probability = probability + one - probability * one
            parts.append(probability)
        return np.concatenate(parts, axis=1) if parts else np.empty((len(self.samples), 0))


    def reasons(
        self, shares: NDArray[np.float32], prepared: list[Any], pairs: Shortlist
    ) -> list[tuple[str, list[dict[str, Any]]]]:
        """Return for each pair the direction that more speaks for, and what speaks for it most; see `Explainer`."""
        described, result = self.described, []
        tau = self.feature_weights[described].mean(axis=0)
        for some in blocks_of(len(pairs.rows), self.n_topics**2, CELLS):
            own = pairs.part(some)
            new, old = shares[described][:, own.rows].astype(float), self.candidates(own.candidates, described)
            scores = []
            for way, numbers in own.numbers.items():
                toward = np.einsum("dpk,dkl->dpl", new, _turned(self.weights[described], way), optimize=True)
                scores.append(np.einsum("dpl,dpl->p", toward, old) / len(described) + numbers @ tau)
            stronger, ways = np.argmax(scores, axis=0), list(own.numbers)
            parts = np.empty((len(own.rows), self.n_topics**2 + len(self.predictor.features.features)))
            for number, way in enumerate(ways):
                those = np.flatnonzero(stronger == number)
                parts[those] = self._parts(new[:, those], old[:, those], own.numbers[way][those] * tau, way)
            outward = [ways[number] for number in stronger.tolist()]
            result += self._named(parts, prepared, own, outward)
        return result

    def _parts(self, new: Array, old: Array, by_column: Array, outward: bool) -> Array:
        """Return the parts of scores of pairs: topics of the new document x topics of the candidate, then features."""
        topics = np.zeros((len(by_column), self.n_topics, self.n_topics))
        weights = _turned(self.weights[self.described], outward)
        for z, U, other in zip(new, weights, old, strict=True):
            topics += z[:, :, None] * U * other[:, None, :]
        topics /= len(weights)
        features = [by_column[:, span].sum(axis=1, keepdims=True) for span in self.predictor.features.spans]
        return np.concatenate([topics.reshape(-1, self.n_topics**2), *features], axis=1)

    def _named(
        self, parts: Array, prepared: list[Any], pairs: Shortlist, outward: list[bool]
    ) -> list[tuple[str, list[dict[str, Any]]]]:
        """Return the largest parts, with names."""
        K, features, directed = self.n_topics, self.predictor.features.features, self.predictor.network.directed
        n = min(N_REASONS, parts.shape[1])
        total = np.maximum(parts, 0.0).sum(axis=1)
        first = np.argpartition(-parts, n - 1, axis=1)[:, :n]
        values = np.take_along_axis(parts, first, axis=1)
        order = np.argsort(-values, axis=1, kind="stable")
        first, values = np.take_along_axis(first, order, axis=1), np.take_along_axis(values, order, axis=1)
        share = values / np.where(total > 0, total, 1.0)[:, None]
        result = []
        each = zip(first.tolist(), values.tolist(), share.tolist(), outward, strict=True)
        for at, (where, sizes, shares, way) in enumerate(each):
            row, candidate, why = int(pairs.rows[at]), int(pairs.candidates[at]), []
            for place, part, of_all in zip(where, sizes, shares, strict=True):
                if of_all < SMALLEST_SHARE:
                    break
                reason: dict[str, Any] = {"share": short(of_all, 4), "part": short(part, 4)}
                if place < K * K:
                    here, there = divmod(place, K)
                    reason["topics"] = [here, there] if way else [there, here]  # of the link's source, of its target
                else:
                    feature, known = features[place - K * K], prepared[place - K * K]
                    reason["feature"] = feature.name
                    reason["detail"] = feature.detail(known, row, candidate, way)
                why.append(reason)
            result.append(("both" if not directed else "out" if way else "in", why))
        return result


def _turned(weights: Array, outward: bool) -> Array:
    return weights if outward else weights.transpose(0, 2, 1)


def _topic_list(shares: Array) -> list[list[float]]:
    """Return topics with shares that are worth telling, largest first."""
    order = np.argsort(-shares, kind="stable")
    return [[int(k), float(f"{shares[k]:.4g}")] for k in order if shares[k] >= SMALLEST_TOPIC]


def _largest_topics(shares: Array) -> list[list[list[float]]]:
    """Return up to three topics of each word that its tokens are about, largest first."""
    order = np.argsort(-shares, axis=1, kind="stable")[:, :3]
    values = np.take_along_axis(shares, order, axis=1).round(3)
    return [
        [[k, p] for k, p in zip(*row, strict=True) if p >= WORD_TOPIC]
        for row in zip(order.tolist(), values.tolist(), strict=True)
    ]


class Asker:
    """Answers questions about texts that are not in the network.

    Parameters
    ----------
    model : RelationalTopicModel
        A fitted model.
    limits : Limits, optional
        How long texts may be.
    n_samples : int, optional
        Posterior samples to answer with; None is all, which gives the answers of `suggest_links`.

    Examples
    --------
    >>> from linktopics import DocumentNetwork, RelationalTopicModel
    >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
    >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
    >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_iter=50, random_state=0).fit(network)
    >>> asker = Asker(model)
    >>> (answer,) = asker.suggest([Question(asker.read("Kittens meow and purr"), top=2)])
    >>> answer["tokens"], answer["unknown"], len(answer["suggestions"])
    (3, ['meow'], 2)
    """

    def __init__(
        self, model: RelationalTopicModel, limits: Limits | None = None, *, n_samples: int | None = None
    ) -> None:
        self.model, self.network = model, model.network_
        self.limits = Limits() if limits is None else limits
        whole = model._predictor
        samples = thinned(whole.samples, n_samples, whole.best_chain)
        predictor = whole if len(samples) == len(whole.samples) else replace(whole, samples=samples)
        self.stack = Stack(predictor)
        self.reader = TextReader(self.network, self.limits.words)
        self.ids = [str(id) for id in self.network.ids.tolist()]
        titles = self.ids if self.network.titles is None else self.network.titles.tolist()
        self.titles = [id if title in (None, "") else str(title) for id, title in zip(self.ids, titles, strict=True)]

    def read(self, text: str) -> PastedText:
        """Read a text; DataError says why one cannot be asked about."""
        if self.network.n_links == 0:
            raise DataError("The model was fitted without links, so it cannot tell which are likely.")
        return self.reader.read(text)

    def name(self, j: int) -> dict[str, str]:
        """Return id and title of a document."""
        return {"id": self.ids[j], "title": self.titles[j]}

    def suggest(self, questions: Sequence[Question]) -> list[dict[str, Any]]:
        """Answer questions, all at once: topics of texts and of their words, and suggested links with reasons.

        An answer does not depend on the other questions.
        """
        counts = self._counts([question.text for question in questions])
        shares = self.stack.shares(counts)
        prepared = self._prepared(counts)
        answers = self._topics(questions, shares)
        for direction in sorted({question.direction for question in questions}):
            places = [at for at, question in enumerate(questions) if question.direction == direction]
            new = NewDocuments(len(questions), list(shares), prepared)
            found = self._suggested(new, shares, places, [questions[at].top for at in places], direction)
            for at, suggestions in zip(places, found, strict=True):
                answers[at]["suggestions"] = suggestions
        return answers

    def _counts(self, texts: Sequence[PastedText]) -> csr_array:
        return stack_counts([(text.known, text.known_counts) for text in texts], self.network.n_words)

    def _prepared(self, counts: csr_array) -> list[Any]:
        return self.stack.predictor.features.prepare(Documents(counts))

    def _topics(self, questions: Sequence[Question], shares: NDArray[np.float32]) -> list[dict[str, Any]]:
        """Return what texts are about, as a whole and word by word, in the chain whose topics are shown."""
        described, K = self.stack.described, self.stack.n_topics
        lengths = np.array([question.text.n_known for question in questions])
        proportions = self.model._smooth(shares[described].mean(axis=0, dtype=float), lengths)
        known = np.concatenate([question.text.known for question in questions])
        row = np.repeat(np.arange(len(questions)), [len(question.text.known) for question in questions])
        of_words = np.zeros((len(known), K))
        for at in described:
            sample = self.stack.samples[at]
            weight = shares[at].astype(float) * lengths[:, None] + sample.alpha
            p = sample.word_topic[known][:, :K] * weight[row]
            of_words += p / p.sum(axis=1, keepdims=True)
        of_words /= len(described)
        answers, first = [], 0
        for question, own in zip(questions, proportions, strict=True):
            text = question.text
            last = first + len(text.known)
            places = dict(zip(text.known.tolist(), _largest_topics(of_words[first:last]), strict=True))
            words = [
                {"word": word, "count": count, "known": number >= 0, "topics": places.get(number, [])}
                for word, count, number in zip(text.words, text.counts, text.numbers, strict=True)
            ]
            answers.append(
                {
                    "tokens": sum(text.counts),
                    "known": text.n_known,
                    "unknown": [word["word"] for word in words if not word["known"]],
                    "topics": _topic_list(own),
                    "words": words,
                    "marks": text.marks,
                }
            )
            first = last
        return answers

    def _suggested(
        self,
        new: NewDocuments,
        shares: NDArray[np.float32],
        places: list[int],
        tops: list[int],
        direction: str,
    ) -> list[list[dict[str, Any]]]:
        """Return suggestions, best first, for some of the texts, in one direction."""
        ways = self.stack.predictor._ways(direction)
        best = self._best(new, shares, places, max(tops), ways)
        rank = np.arange(len(best.rows)) - np.searchsorted(best.rows, best.rows)
        wanted = np.zeros(new.n_documents, np.int64)
        wanted[places] = tops
        best = best.part(rank < wanted[best.rows])
        probability = self.stack.probabilities(shares, best)
        tail = (1.0 - INTERVAL) / 2.0
        if len(probability) > 1:
            lower, upper = np.quantile(probability, [tail, 1.0 - tail], axis=0)
        else:  # one sample does not tell how sure it is
            lower = upper = np.full(len(best.rows), np.nan)
        mean, reasons = probability.mean(axis=0), self.stack.reasons(shares, new.prepared, best)
        result: dict[int, list[dict[str, Any]]] = {place: [] for place in places}
        for at, (row, j) in enumerate(zip(best.rows.tolist(), best.candidates.tolist(), strict=True)):
            way, why = reasons[at]
            numbers = {"probability": short(mean[at]), "lower": short(lower[at]), "upper": short(upper[at])}
            result[row].append({"j": j, **self.name(j), "direction": way, **numbers, "why": why})
        return list(result.values())

    def _best(
        self, new: NewDocuments, shares: NDArray[np.float32], places: Sequence[int], top: int, ways: list[bool]
    ) -> Shortlist:
        """Return the best pairs of some texts, by text and best first; of equals, the first candidate."""
        predictor = self.stack.predictor
        finder = predictor._index if predictor._uses_index("auto") else predictor._exact
        runs = blocks_of(new.n_documents, finder.width, 2**23) if len(places) == new.n_documents else [
            slice(place, place + 1) for place in places
        ]  # fmt: skip
        found = [finder.shortlist(new, rows, ways, top) for rows in runs]
        pairs = Shortlist(
            np.concatenate([one.rows for one in found]),
            np.concatenate([one.candidates for one in found]),
            {way: np.concatenate([one.numbers[way] for one in found]) for way in ways},
        )
        mean = self.stack.probabilities(shares, pairs).mean(axis=0)
        order = np.lexsort((pairs.candidates, -mean, pairs.rows))
        rows = pairs.rows[order]
        place = np.arange(len(rows)) - np.searchsorted(rows, rows)
        return pairs.part(order[place < top])
