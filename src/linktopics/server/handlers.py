"""Requests about texts and pairs, in batches, and their responses as JSON; an error in one does not affect others."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

from msgspec import UNSET

from linktopics.explorer.explorer import Explorer
from linktopics.server.limits import Limits
from linktopics.server.pinned_model import PinnedModel
from linktopics.server.queue import ResponseOrError
from linktopics.server.schemas import AnalysisRequest, ChangesRequest, SuggestRequest
from linktopics.server.text_analysis import words_as_vectorizer
from linktopics.server.text_queries import TextQuery, TextQueryEngine

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

    def suggest(self, requests: list[SuggestRequest]) -> list[ResponseOrError]:
        """Return topics and suggested links of texts."""
        queries = [attempt(self._query, request) for request in requests]
        results = iter(self._suggest([one for one in queries if isinstance(one, TextQuery)]))
        return [next(results) if isinstance(one, TextQuery) else one for one in queries]

    def _query(self, request: SuggestRequest) -> TextQuery:
        return TextQuery(self.engine.read(request.text), request.top, request.direction)

    def _suggest(self, queries: list[TextQuery]) -> list[ResponseOrError]:
        """Return responses to all queries at once; if that fails, to each separately."""
        if not queries:
            return []
        try:
            return [to_json(response) for response in self.engine.suggest(queries)]
        except Exception as error:
            if len(queries) == 1:
                return [error]
            return [result for query in queries for result in self._suggest([query])]

    def analyze(self, requests: list[AnalysisRequest]) -> list[ResponseOrError]:
        """Return the effects of words, or the explanation of a link; these requests take longer."""
        return [attempt(self._analyze, request) for request in requests]

    def _analyze(self, request: AnalysisRequest) -> bytes:
        if isinstance(request, ChangesRequest):
            return to_json(self.engine.changes(self._query(request), request.add))
        index_by_id = self.engine.explorer.index_by_id
        source = self.engine.read(request.text) if request.text is not UNSET else index_by_id[str(request.source)]
        return to_json(self.engine.explain(source, index_by_id[request.target], request.top))


def load_handler(pinned: PinnedModel, limits: Limits, n_samples: int | None) -> TextHandler:
    """Return a handler for a saved model; without a vectorizer, texts are searched for the words of its vocabulary."""
    model = pinned.load()
    if model.network_.vectorizer is None:
        model.network_.vectorizer = words_as_vectorizer(model.network_)
    return TextHandler(TextQueryEngine(Explorer(model), limits, n_samples=n_samples))


def attempt(make: Callable[..., Made], *arguments: Any) -> Made | Exception:
    """Return what a function returns, or the exception that it raises."""
    try:
        return make(*arguments)
    except Exception as error:
        return error


def to_json(value: Any) -> bytes:
    r"""Return JSON in ASCII: lone surrogates, which some texts contain, cannot be encoded in UTF-8.

    Examples
    --------
    >>> to_json({"id": "\ud83d", "p": 0.5})
    b'{"id":"\\ud83d","p":0.5}'
    """
    return _JSON.encode(value).encode("ascii")


_JSON = json.JSONEncoder(allow_nan=False, check_circular=False, separators=(",", ":"))
