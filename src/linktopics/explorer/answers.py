"""Questions about texts, several at once, and the bytes that answer them; where one fails the others are answered."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from linktopics.explorer.asking import Asker, Question
from linktopics.explorer.bundle import Explorer
from linktopics.explorer.limits import Limits
from linktopics.explorer.pinned import PinnedModel
from linktopics.explorer.texts import words_as_vectorizer

__all__ = ["AboutChanges", "AboutPair", "AboutText", "Answer", "Answers", "load_answers", "to_bytes"]

Answer = bytes | Exception

T = TypeVar("T")
Asked = TypeVar("Asked")


class AboutText(NamedTuple):
    """The question which links a text suggests."""

    text: str
    top: int
    direction: str


class AboutChanges(NamedTuple):
    """The question what single words of a text change."""

    text: str
    top: int
    direction: str
    add: tuple[str, ...]


class AboutPair(NamedTuple):
    """The question why a document or a text links to a document, or does not; documents are named by their ids."""

    source: str | None
    text: str | None
    target: str
    top: int


class Answers:
    """Answers questions in this process.

    Parameters
    ----------
    asker : Asker
        What knows the answers.
    """

    def __init__(self, asker: Asker) -> None:
        self.asker = asker

    def warm_up(self) -> None:
        """Work out what the first question would otherwise wait for: kernels are compiled, or read from disk."""
        explorer = self.asker.explorer
        if explorer.network.vectorizer is not None and explorer.network.n_links:
            self.suggest([AboutText(" ".join(explorer.words[:20]), 1, "both")])

    def suggest(self, questions: list[AboutText]) -> list[Answer]:
        """Return topics and suggested links of texts."""
        read = [_tried(self._read, question) for question in questions]
        found = iter(self._together([one for one in read if isinstance(one, Question)]))
        return [next(found) if isinstance(one, Question) else one for one in read]

    def _read(self, asked: AboutText) -> Question:
        return Question(self.asker.read(asked.text), asked.top, asked.direction)

    def _together(self, questions: list[Question]) -> list[Answer]:
        if not questions:
            return []
        try:
            return [to_bytes(answer) for answer in self.asker.suggest(questions)]
        except Exception as error:
            if len(questions) == 1:
                return [error]
            return [answer for question in questions for answer in self._together([question])]

    def think(self, questions: list[AboutChanges | AboutPair]) -> list[Answer]:
        """Return answers to questions that take longer."""
        return [_tried(self._thought, question) for question in questions]

    def _thought(self, asked: AboutChanges | AboutPair) -> bytes:
        if isinstance(asked, AboutChanges):
            question = Question(self.asker.read(asked.text), asked.top, asked.direction)
            return to_bytes(self.asker.changes(question, asked.add))
        numbers = self.asker.explorer.numbers
        source = numbers[asked.source] if asked.source is not None else self.asker.read(asked.text or "")
        return to_bytes(self.asker.explain(source, numbers[asked.target], asked.top))


def load_answers(pinned: PinnedModel, limits: Limits, n_samples: int | None) -> Answers:
    """Return what answers questions about a saved model; one without a vectorizer finds its words as they are."""
    model = pinned.load()
    if model.network_.vectorizer is None:
        model.network_.vectorizer = words_as_vectorizer(model.network_)
    return Answers(Asker(Explorer(model), limits, n_samples=n_samples))


def _tried(make: Callable[[Asked], T], asked: Asked) -> T | Exception:
    try:
        return make(asked)
    except Exception as error:
        return error


def to_bytes(value: Any) -> bytes:
    r"""Write JSON in ASCII: half of a pair of surrogates, which some texts have, can be written in no other way.

    Examples
    --------
    >>> to_bytes({"id": "\ud83d", "p": 0.5})
    b'{"id":"\\ud83d","p":0.5}'
    """
    return _JSON.encode(value).encode("ascii")


_JSON = json.JSONEncoder(allow_nan=False, check_circular=False, separators=(",", ":"))
