"""Requests about texts and pairs, in batches, and their responses as JSON; where one fails the others do not."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

from msgspec import UNSET

from linktopics.explorer.explorer import Explorer
from linktopics.server.limits import Limits
from linktopics.server.pinned_model import PinnedModel
from linktopics.server.queue import Result
from linktopics.server.schemas import AnalysisRequest, ChangesRequest, SuggestRequest
from linktopics.server.text_analysis import words_as_vectorizer
from linktopics.server.text_queries import Question, TextQueryEngine

Made = TypeVar("Made")


class TextHandler:
    """Handles requests about texts and pairs in this process.

    Parameters
    ----------
    engine : TextQueryEngine
        Computes the responses.
    """

    def __init__(self, engine: TextQueryEngine) -> None:
        self.engine = engine

    def warm_up(self) -> None:
        """Compile the kernels that the first request needs, or read them from disk."""
        explorer = self.engine.explorer
        if explorer.network.vectorizer is not None and explorer.network.n_links:
            self.suggest([SuggestRequest(" ".join(explorer.words[:20]), top=1)])

    def suggest(self, requests: list[SuggestRequest]) -> list[Result]:
        """Return topics and suggested links of texts."""
        questions = [attempt(self._question, request) for request in requests]
        results = iter(self._suggest([one for one in questions if isinstance(one, Question)]))
        return [next(results) if isinstance(one, Question) else one for one in questions]

    def _question(self, request: SuggestRequest) -> Question:
        return Question(self.engine.read(request.text), request.top, request.direction)

    def _suggest(self, questions: list[Question]) -> list[Result]:
        """Return responses to all questions at once; if that fails, to each by itself."""
        if not questions:
            return []
        try:
            return [to_json(response) for response in self.engine.suggest(questions)]
        except Exception as error:
            if len(questions) == 1:
                return [error]
            return [result for question in questions for result in self._suggest([question])]

    def analyze(self, requests: list[AnalysisRequest]) -> list[Result]:
        """Return what words change, or why there is a link; these requests take longer."""
        return [attempt(self._analyze, request) for request in requests]

    def _analyze(self, request: AnalysisRequest) -> bytes:
        if isinstance(request, ChangesRequest):
            return to_json(self.engine.changes(self._question(request), request.add))
        numbers = self.engine.explorer.numbers
        source = self.engine.read(request.text) if request.text is not UNSET else numbers[str(request.source)]
        return to_json(self.engine.explain(source, numbers[request.target], request.top))


def load_handler(pinned: PinnedModel, limits: Limits, n_samples: int | None) -> TextHandler:
    """Return a handler for a saved model; one without a vectorizer finds its words as they are."""
    model = pinned.load()
    if model.network_.vectorizer is None:
        model.network_.vectorizer = words_as_vectorizer(model.network_)
    return TextHandler(TextQueryEngine(Explorer(model), limits, n_samples=n_samples))


def attempt(make: Callable[..., Made], *given: Any) -> Made | Exception:
    """Return what a function returns, or the exception that it raises."""
    try:
        return make(*given)
    except Exception as error:
        return error


def to_json(value: Any) -> bytes:
    r"""Return JSON in ASCII: half of a surrogate pair, which some texts have, cannot be written in UTF-8.

    Examples
    --------
    >>> to_json({"id": "\ud83d", "p": 0.5})
    b'{"id":"\\ud83d","p":0.5}'
    """
    return _JSON.encode(value).encode("ascii")


_JSON = json.JSONEncoder(allow_nan=False, check_circular=False, separators=(",", ":"))
