"""Batches of requests: each has its own answer, or its own error."""

from linktopics.explorer import Explorer
from linktopics.server.handlers import TextHandler
from linktopics.server.schemas import SuggestRequest
from linktopics.server.text_queries import TextQueryEngine


def test_one_bad_question_does_not_spoil_the_others(model, monkeypatch):
    engine = TextQueryEngine(Explorer(model))
    suggest = engine.suggest

    def fail_at_stars(questions):
        if any("stars" in question.text.words for question in questions):
            raise ZeroDivisionError
        return suggest(questions)

    monkeypatch.setattr(engine, "suggest", fail_at_stars)
    first, second, third, fourth = TextHandler(engine).suggest(
        [SuggestRequest(text, 1, "both") for text in ("cats", "stars", "moons", "ab " * 6000)]
    )
    assert isinstance(first, bytes)
    assert isinstance(third, bytes)
    assert isinstance(second, ZeroDivisionError)
    assert "at most 5,000" in str(fourth)
