"""Questions about pasted texts: their topics, their links with reasons, and what single words change.

Topics and suggestions are those of `RelationalTopicModel.transform` and `suggest_links`. The way to them is shorter:
several texts are answered at once, what samples have in common is computed for all of them together, and there are no
tables in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linktopics._inputs import Documents
from linktopics.errors import DataError
from linktopics.explorer._numbers import rounded
from linktopics.explorer.bundle import SMALLEST_TOPIC, Explorer
from linktopics.explorer.changes import CHANGE_SAMPLES, Changes
from linktopics.explorer.limits import Limits
from linktopics.explorer.pairs import INTERVAL
from linktopics.explorer.samples import Samples, thinned
from linktopics.explorer.texts import PastedText, TextReader, stack_counts
from linktopics.features.links import Links
from linktopics.ranking import NewDocuments, Shortlist, interval_of

__all__ = ["Asker", "Question"]

DIGITS = 6
"""Significant digits of probabilities: these are for programs, too."""

TOPICS_OF_A_WORD, SMALLEST_OF_A_WORD = 3, 0.05
"""Topics of a word that are told, and the smallest share of its tokens that is."""

PARTS_SHOWN = 20
"""Parts of a score that an explanation has, unless more are asked for."""


@dataclass(frozen=True)
class Question:
    """A text, how many suggestions are wanted, and in which direction."""

    text: PastedText
    top: int = 8
    direction: str = "both"


class Asker:
    """Answers questions about texts that are not in the network.

    Parameters
    ----------
    explorer : Explorer
        What is known of the model.
    limits : Limits, optional
        How long texts may be.
    n_samples : int, optional
        Posterior samples to answer with; None is all, which gives the answers of `suggest_links`.

    Examples
    --------
    >>> from linktopics import DocumentNetwork, RelationalTopicModel
    >>> from linktopics.explorer import Explorer
    >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
    >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
    >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_iter=50, random_state=0).fit(network)
    >>> asker = Asker(Explorer(model))
    >>> (answer,) = asker.suggest([Question(asker.read("Kittens meow and purr"), top=2)])
    >>> answer["tokens"], answer["unknown"], len(answer["suggestions"])
    (3, ['meow'], 2)
    """

    def __init__(self, explorer: Explorer, limits: Limits | None = None, *, n_samples: int | None = None) -> None:
        self.explorer, self.model, self.network = explorer, explorer.model, explorer.network
        self.limits = Limits() if limits is None else limits
        self.samples = _some(Samples(self.model._predictor), n_samples)
        self.reader = TextReader(self.network, self.limits.words)
        self._changes = Changes(_some(self.samples, CHANGE_SAMPLES), explorer)

    def read(self, text: str) -> PastedText:
        """Read a text; DataError says why one cannot be asked about."""
        if self.network.n_links == 0:
            raise DataError("The model was fitted without links, so it cannot tell which are likely.")
        return self.reader.read(text)

    # ------------------------------------------------------------------------------------------------------------------
    # Topics and suggestions
    # ------------------------------------------------------------------------------------------------------------------

    def suggest(self, questions: Sequence[Question]) -> list[dict[str, Any]]:
        """Answer questions, all at once: topics of texts and of their words, and suggested links with reasons.

        An answer does not depend on the other questions. A text without a word that is known has no topics, and
        nothing is suggested for it.
        """
        known = iter(self._suggest([question for question in questions if question.text.n_known]))
        return [next(known) if question.text.n_known else _told(question.text, [], {}) for question in questions]

    def _suggest(self, questions: Sequence[Question]) -> list[dict[str, Any]]:
        """Answer questions about texts with words that are known."""
        if not questions:
            return []
        counts = stack_counts([(one.text.known, one.text.known_counts) for one in questions], self.network.n_words)
        shares = self.samples.infer(counts)
        prepared = self.samples.predictor.features.prepare(Documents(counts))
        new = NewDocuments(len(questions), list(shares), prepared)
        answers = self._topics(questions, shares)
        for direction in sorted({question.direction for question in questions}):
            places = [at for at, question in enumerate(questions) if question.direction == direction]
            ways = self.samples.predictor._ways(direction)
            best = self.samples.best(new, places, [questions[at].top for at in places], ways)
            for row, suggestion in self._suggestions(new, best):
                answers[row]["suggestions"].append(suggestion)
        return answers

    def _topics(self, questions: Sequence[Question], shares: NDArray[np.float32]) -> list[dict[str, Any]]:
        """Return what texts are about, as a whole and word by word, in the chain whose topics are shown."""
        texts = [question.text for question in questions]
        lengths = np.array([text.n_known for text in texts])
        proportions = self.model._smooth(shares[self.samples.described].mean(axis=0, dtype=float), lengths)
        by_word = self._topics_of_words(texts, shares, lengths)
        answers = []
        for text, own, topics in zip(texts, proportions, by_word, strict=True):
            order = [k for k in np.argsort(-own, kind="stable").tolist() if own[k] >= SMALLEST_TOPIC]
            answers.append(_told(text, [[k, rounded(float(own[k]))] for k in order], topics))
        return answers

    def _topics_of_words(
        self, texts: Sequence[PastedText], shares: NDArray[np.float32], lengths: NDArray[np.integer]
    ) -> list[dict[int, list[list[Any]]]]:
        """Return for each text the topics that tokens of its words are about, given the text, largest first."""
        samples, K = self.samples, self.samples.n_topics
        sizes = [len(text.known) for text in texts]
        words, row = np.concatenate([text.known for text in texts]), np.repeat(np.arange(len(texts)), sizes)
        total = np.zeros((len(words), K))
        for at in samples.described:
            sample = samples.samples[at]
            p = sample.word_topic[words][:, :K] * (shares[at] * lengths[:, None] + sample.alpha)[row]
            total += p / p.sum(axis=1, keepdims=True)
        total /= len(samples.described)
        best = np.argsort(-total, axis=1, kind="stable")[:, :TOPICS_OF_A_WORD]
        values = np.take_along_axis(total, best, axis=1).round(3)
        listed = iter(zip(words.tolist(), best.tolist(), values.tolist(), strict=True))
        return [
            {
                word: [[k, p] for k, p in zip(topics, numbers, strict=True) if p >= SMALLEST_OF_A_WORD]
                for word, topics, numbers in (next(listed) for _ in range(size))
            }
            for size in sizes
        ]

    def _suggestions(self, new: NewDocuments, best: Shortlist) -> Iterable[tuple[int, dict[str, Any]]]:
        """Return suggestions with the text that each is for."""
        predictor = self.samples.predictor
        own = predictor.by_sample(new, best)
        probability = predictor.calibrated({way: p.mean(axis=0) for way, p in own.items()})
        numbers = (probability, *interval_of(predictor.calibrated(own), INTERVAL))
        names = ("probability", "lower", "upper")
        columns = (best.rows.tolist(), best.candidates.tolist(), *(one.tolist() for one in numbers))
        for (row, j, *values), (way, why) in zip(
            zip(*columns, strict=True), self.samples.reasons(new, best), strict=True
        ):
            told = {name: rounded(value, DIGITS) for name, value in zip(names, values, strict=True)}
            yield row, {"j": j, **self._name(j), "direction": way, **told, "why": why}

    def _name(self, j: int) -> dict[str, str]:
        return {"id": self.explorer.ids[j], "title": self.explorer.titles[j]}

    # ------------------------------------------------------------------------------------------------------------------
    # Words, and single links
    # ------------------------------------------------------------------------------------------------------------------

    def changes(self, question: Question, add: Sequence[str] = ()) -> dict[str, Any]:
        """Return what leaving out each word of a text changes, and what each of some further words would.

        See `Changes.of`.
        """
        if not question.text.n_known:
            return {"words": [], "added": [], "unknown": [], "suggestions": [], "names": {}}
        numbers = {word: self.reader.number_of(word) for word in dict.fromkeys(add)}
        known = {word: number for word, number in numbers.items() if number >= 0}
        answer = self._changes.of(question.text, question.top, question.direction, known)
        return {**answer, "unknown": [word for word in numbers if word not in known]}

    def explain(self, source: int | PastedText, target: int, top: int = PARTS_SHOWN) -> dict[str, Any]:
        """Return the parts of the score of a link from a document, or a text, to a document, largest first.

        See `RelationalTopicModel.explain_link`.
        """
        predictor, ids = self.model._predictor, self.network.ids
        if isinstance(source, int):
            if source == target:
                raise DataError("A document has no link to itself to explain.")
            table = predictor.explain(ids[source], ids[target], None)
            probability = float(self.explorer.pairs.probabilities(np.array([source]), np.array([target]))[0])
            linked = bool(Links(self.network).has(np.array([source]), np.array([target]))[0])
            ends = {"source": {"j": source, **self._name(source)}, "linked": linked}
        else:
            if not source.n_known:
                raise DataError("The text has no word that the model knows; write more, or words of its documents.")
            documents = Documents(stack_counts([(source.known, source.known_counts)], self.network.n_words))
            table = predictor.explain(None, ids[target], documents)
            probability = float(predictor.predict(documents, [ids[target]], "out")[0, 0])
            ends = {"source": None, "linked": None}
        return {
            **ends,
            "target": {"j": target, **self._name(target)},
            "probability": rounded(probability, DIGITS),
            "score": rounded(float(table["part"].sum()), DIGITS),
            "parts": [_part(row) for row in table.head(top).to_dict("records")],
            "parts_in_all": len(table),
        }


def _told(text: PastedText, topics: list[list[Any]], of_words: dict[int, list[list[Any]]]) -> dict[str, Any]:
    """Return an answer, as yet without suggestions."""
    return {
        "tokens": sum(text.counts),
        "known": text.n_known,
        "unknown": [word for word, number in zip(text.words, text.numbers, strict=True) if number < 0],
        "topics": topics,
        "words": [
            {"word": word, "count": count, "known": number >= 0, "topics": of_words.get(number, [])}
            for word, count, number in zip(text.words, text.counts, text.numbers, strict=True)
        ],
        "marks": text.marks,
        "suggestions": [],
    }


def _some(samples: Samples, n: int | None) -> Samples:
    """Return a few of some samples, or all of them."""
    predictor = samples.predictor
    kept = thinned(predictor.samples, n, predictor.best_chain)
    return samples if len(kept) == len(samples) else Samples(replace(predictor, samples=kept))


def _part(row: dict[str, Any]) -> dict[str, Any]:
    """Return one part of a score, of two topics or of a feature."""
    numbers = {"part": rounded(row["part"], DIGITS), "share": rounded(row["share"], 4)}
    if row["feature"]:
        return {**numbers, "feature": row["feature"], "detail": row["detail"]}
    return {**numbers, "topics": [int(row["source_topic"]), int(row["target_topic"])]}
