"""Queries about pasted texts: topics, suggested links with reasons, and effects of single words.

Topics and suggestions are those of `RelationalTopicModel.transform` and `suggest_links`. The computation is faster: it
processes several texts at once, shares work between samples, and makes no tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linktopics.errors import DataError
from linktopics.explorer.explorer import Explorer, largest_topics
from linktopics.explorer.pairs import PROBABILITY_DIGITS, describe_suggestions, make_suggestions
from linktopics.explorer.rounding import DIGITS, contribution, rounded, rows_of
from linktopics.model.summary import smoothed_proportions
from linktopics.network.inputs import Documents
from linktopics.prediction.batched_predictor import BatchedPredictor, thinned
from linktopics.prediction.ranking import NewDocuments, Shortlist
from linktopics.server.limits import Limits
from linktopics.server.text_analysis import PastedText, TextReader, stack_counts
from linktopics.server.word_effects import CHANGE_SAMPLES, WordEffects

N_WORD_TOPICS, MIN_WORD_TOPIC_SHARE = 3, 0.05
"""Topics of a word that are returned, and the smallest share of its tokens among them."""

N_CONTRIBUTIONS = 20
"""Default number of contributions in an explanation."""


@dataclass(frozen=True)
class TextQuery:
    """A text, the number of suggestions, and their direction."""

    text: PastedText
    top: int = 8
    direction: str = "both"


class TextQueryEngine:
    """Computes responses to queries about texts that are not in the network.

    Parameters
    ----------
    explorer : Explorer
        The model, with names of its documents and words.
    limits : Limits, optional
        How long texts may be.
    n_samples : int, optional
        Posterior samples to use; None is all, which gives the suggestions of `suggest_links`.

    Examples
    --------
    >>> from linktopics import DocumentNetwork, RelationalTopicModel
    >>> from linktopics.explorer import Explorer
    >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
    >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
    >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_burn_in=50, random_state=0).fit(network)
    >>> engine = TextQueryEngine(Explorer(model))
    >>> (response,) = engine.suggest([TextQuery(engine.read("Kittens meow and purr"), top=2)])
    >>> response["tokens"], response["unknown"], len(response["suggestions"])
    (3, ['meow'], 2)
    """

    def __init__(self, explorer: Explorer, limits: Limits | None = None, *, n_samples: int | None = None) -> None:
        self.explorer, self.model, self.network = explorer, explorer.model, explorer.network
        self.samples = _thin(BatchedPredictor(self.model.predictor), n_samples)
        self.reader = TextReader(self.network, (limits or Limits()).words)
        self._word_effects = WordEffects(_thin(self.samples, CHANGE_SAMPLES), explorer)

    def read(self, text: str) -> PastedText:
        """Return a text in the vocabulary of the model; raise DataError if it cannot be analyzed."""
        if self.network.n_links == 0:
            raise DataError("The model was fitted without links, so it cannot predict them.")
        return self.reader.read(text)

    # ------------------------------------------------------------------------------------------------------------------
    # Topics and suggestions
    # ------------------------------------------------------------------------------------------------------------------

    def suggest(self, queries: Sequence[TextQuery]) -> list[dict[str, Any]]:
        """Return responses to queries: topics of texts and their words, and suggested links with reasons.

        A response does not depend on the other queries. A text without known words has no topics and no suggestions.
        """
        known = iter(self._suggest([query for query in queries if query.text.n_known]))
        return [next(known) if query.text.n_known else _base_response(query.text, [], {}) for query in queries]

    def _suggest(self, queries: Sequence[TextQuery]) -> list[dict[str, Any]]:
        """Return responses to queries about texts with known words."""
        if not queries:
            return []
        counts = stack_counts([(one.text.known, one.text.known_counts) for one in queries], self.network.n_words)
        shares = self.samples.infer(counts)
        prepared = self.samples.predictor.features.prepare(Documents.of_words(counts, self.network))
        new = NewDocuments(len(queries), list(shares), prepared)
        responses = self._topics(queries, shares)
        for direction in sorted({query.direction for query in queries}):
            rows = [row for row, query in enumerate(queries) if query.direction == direction]
            directions = self.samples.predictor.directions(direction)
            best = self.samples.best(new, rows, [queries[row].top for row in rows], directions)
            for row, suggestion in self._suggestions(new, best):
                responses[row]["suggestions"].append(suggestion)
        return responses

    def _topics(self, queries: Sequence[TextQuery], shares: NDArray[np.float32]) -> list[dict[str, Any]]:
        """Return the topics of texts and of their words in the reference chain, as responses without suggestions."""
        texts = [query.text for query in queries]
        lengths = np.array([text.n_known for text in texts])
        proportions = smoothed_proportions(
            shares[self.samples.reference_samples].mean(axis=0, dtype=float), lengths, self.model.alpha_
        )
        by_word = self._topics_of_words(texts, shares, lengths)
        return [
            _base_response(text, largest_topics(own, digits=DIGITS), topics)
            for text, own, topics in zip(texts, proportions, by_word, strict=True)
        ]

    def _topics_of_words(
        self, texts: Sequence[PastedText], shares: NDArray[np.float32], lengths: NDArray[np.integer]
    ) -> list[dict[int, list[list[Any]]]]:
        """Return for each text the topics of the tokens of its words, given the text, largest first."""
        samples, K = self.samples, self.samples.n_topics
        sizes = [len(text.known) for text in texts]
        words, row = np.concatenate([text.known for text in texts]), np.repeat(np.arange(len(texts)), sizes)
        total = np.zeros((len(words), K))
        for at in samples.reference_samples:
            sample = samples.samples[at]
            p = sample.word_topic[words][:, :K] * (shares[at] * lengths[:, None] + sample.alpha)[row]
            total += p / p.sum(axis=1, keepdims=True)
        total /= len(samples.reference_samples)
        best = np.argsort(-total, axis=1, kind="stable")[:, :N_WORD_TOPICS]
        values = np.take_along_axis(total, best, axis=1).round(3)
        listed = rows_of(words, best, values)
        return [
            {
                word: [[k, p] for k, p in zip(topics, shares_of_word, strict=True) if p >= MIN_WORD_TOPIC_SHARE]
                for word, topics, shares_of_word in islice(listed, size)
            }
            for size in sizes
        ]

    def _suggestions(self, new: NewDocuments, best: Shortlist) -> Iterable[tuple[int, dict[str, Any]]]:
        """Return pairs of the row of a text and a suggestion for it."""
        predictor = self.samples.predictor

        def detail(row: int, j: int, outgoing: bool, feature: int) -> str:
            found = predictor.features.features[feature].detail(new.prepared[feature], row, j, outgoing)
            return found.text(self.network.vocabulary)

        found = make_suggestions(predictor, new, best)
        for row, suggestion in describe_suggestions(found, predictor, detail):
            j = suggestion["j"]
            yield row, {"j": j, **self.explorer.name(j), **suggestion}

    # ------------------------------------------------------------------------------------------------------------------
    # Words, and single links
    # ------------------------------------------------------------------------------------------------------------------

    def changes(self, query: TextQuery, add: Sequence[str] = ()) -> dict[str, Any]:
        """Return the effects of leaving out each word of a text, and of adding some words.

        See `WordEffects.compute`.
        """
        if not query.text.n_known:
            return {"words": [], "added": [], "unknown": [], "suggestions": [], "names": {}}
        numbers = {word: self.reader.number_of(word) for word in dict.fromkeys(add)}
        known = {word: number for word, number in numbers.items() if number >= 0}
        effects = self._word_effects.compute(query.text, query.top, query.direction, known)
        return {**effects, "unknown": [word for word in numbers if word not in known]}

    def explain(self, source: int | PastedText, target: int, top: int = N_CONTRIBUTIONS) -> dict[str, Any]:
        """Return the contributions to the score of a link from a document, or a text, to a document, largest first.

        See `RelationalTopicModel.explain_link`.
        """
        predictor, ids = self.model.predictor, self.network.ids
        if isinstance(source, int):
            if source == target:
                raise DataError("A document does not link to itself; choose another.")
            table = predictor.explain(ids[source], ids[target], None)
            probability = float(self.explorer.pairs.probabilities(np.array([source]), np.array([target]))[0])
            linked = bool(predictor.training.links.has(np.array([source]), np.array([target]))[0])
            ends = {"source": {"j": source, **self.explorer.name(source)}, "linked": linked}
        else:
            if not source.n_known:
                raise DataError("The text has no word of the model's vocabulary; use words of its documents.")
            counts = stack_counts([(source.known, source.known_counts)], self.network.n_words)
            documents = Documents.of_words(counts, self.network)
            table = predictor.explain(None, ids[target], documents)
            probability = float(predictor.predict(documents, [ids[target]], "out")[0, 0])
            ends = {"source": None, "linked": None}
        return {
            **ends,
            "target": {"j": target, **self.explorer.name(target)},
            "probability": rounded(probability, PROBABILITY_DIGITS),
            "score": rounded(float(table["contribution"].sum()), PROBABILITY_DIGITS),
            "parts": [_contribution(row) for row in table.head(top).to_dict("records")],
            "parts_in_all": len(table),
        }


def _base_response(text: PastedText, topics: list[list[Any]], of_words: dict[int, list[list[Any]]]) -> dict[str, Any]:
    """Return a response without suggestions."""
    words = [
        {"word": word, "count": count, "known": number >= 0, "topics": of_words.get(number, [])}
        for word, count, number in zip(text.words, text.counts, text.word_numbers, strict=True)
    ]
    return {
        "tokens": sum(text.counts),
        "known": text.n_known,
        "unknown": [row["word"] for row in words if not row["known"]],
        "topics": topics,
        "words": words,
        "marks": text.marks,
        "suggestions": [],
    }


def _thin(samples: BatchedPredictor, n: int | None) -> BatchedPredictor:
    """Return a predictor with n of the samples, or with all of them."""
    predictor = samples.predictor
    kept = thinned(predictor.samples, n, predictor.best_chain)
    return samples if len(kept) == len(samples) else BatchedPredictor(replace(predictor, samples=kept))


def _contribution(row: dict[str, Any]) -> dict[str, Any]:
    """Return one contribution to a score, of two topics or of a feature."""
    values = {**contribution(row["contribution"], PROBABILITY_DIGITS), "share": rounded(row["share"], 4)}
    if row["feature"]:
        return {**values, "feature": row["feature"], "detail": row["detail"]}
    return {**values, "topics": [int(row["source_topic"]), int(row["target_topic"])]}
