"""Requests: what is decoded, within which bounds, and what is said about the rest."""

import pickle

import msgspec
import pytest

pytest.importorskip("starlette", reason="starlette is not installed; it comes with linktopics[web]")

from linktopics.explorer.document_search import SORTS
from linktopics.server.limits import Limits
from linktopics.server.middleware import RefusedError
from linktopics.server.requests import RequestDecoder
from linktopics.server.schemas import ChangesRequest, DocumentsQuery, ExplainRequest, SuggestRequest

DECODER = RequestDecoder(Limits(text=10, top=5, word=3, added=2, id=4, query=6, page=7, pages=8), n_topics=3)


def refusal(decode, kind, values):
    with pytest.raises(RefusedError) as refused:
        decode(kind, values)
    assert refused.value.status == 422
    return refused.value.sentence


@pytest.mark.parametrize(
    "request_",
    [
        SuggestRequest("0123456789", 5, "in"),
        ChangesRequest("a \ud83d", 1, "both", ("abc", "\ud83d")),
        ExplainRequest(text="a", target="abcd", top=3),
        ExplainRequest(source="abcd", target="abcd", top=5),
    ],
)
def test_requests_can_be_sent_to_workers(request_):
    decoded = DECODER.decode(type(request_), msgspec.to_builtins(request_))
    assert pickle.loads(pickle.dumps(decoded)) == decoded == request_
    assert hash(decoded) == hash(request_)


@pytest.mark.parametrize(
    ("kind", "values", "sentence"),
    [
        (SuggestRequest, {"text": "01234567890"}, "text has 11 characters; it must have from 1 to 10."),
        (SuggestRequest, {"text": "a", "top": 6}, "top must be a whole number from 1 to 5."),
        (SuggestRequest, {"text": "a", "direction": "\ud83d"}, "direction must be both, out or in."),
        (SuggestRequest, {"text": "a", "\ud83d": 1}, r"There is no field '\ud83d' here; the fields are text, "),
        (ChangesRequest, {"text": "a", "add": ["a", "b", "c"]}, "add must be a list of at most 2 words."),
        (ChangesRequest, {"text": "a", "add": ["abcd"]}, "A word in add must have from 1 to 3 characters."),
        (ExplainRequest, {"source": "abcde", "target": "a"}, "source has 5 characters; it must have from 1 to 4."),
        (ExplainRequest, {"target": "a"}, "Give the source of the link, either source (the id of a document) or text."),
    ],
)
def test_what_is_refused_in_bodies(kind, values, sentence):
    assert refusal(DECODER.decode, kind, values).startswith(sentence)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"query": "1234567"}, "query has 7 characters; it may have up to 6."),
        ({"topic": "3"}, "topic must be a whole number from 0 to 2."),
        ({"size": "8"}, "size must be a whole number from 1 to 7."),
        ({"page": "1.0"}, "page must be a whole number from 0 to 8."),
        ({"sort": "colour"}, f"sort must be {', '.join(SORTS[:-1])} or {SORTS[-1]}."),
        ({"sort": "topic"}, "Documents are sorted by the share of a topic, so sort=topic needs topic=."),
        ({"descending": "1"}, "descending must be false or true."),
    ],
)
def test_what_is_refused_in_queries(values, sentence):
    assert refusal(DECODER.decode_query, DocumentsQuery, values) == sentence


def test_queries_are_decoded():
    given = {"query": "12", "topic": "2", "sort": "topic", "descending": "true", "page": "008", "colour": "red"}
    assert DECODER.decode_query(DocumentsQuery, given) == DocumentsQuery("12", 2, "topic", True, 8, 50)


def test_bounds_are_in_the_schema():
    body = DECODER.schema(ChangesRequest)
    assert body["required"] == ["text"]
    assert body["additionalProperties"] is False
    assert body["properties"]["text"]["maxLength"] == 10
    assert body["properties"]["add"]["maxItems"] == 2
    assert body["properties"]["add"]["items"]["maxLength"] == 3
    query = DECODER.schema(DocumentsQuery)["properties"]
    assert [query[name]["maximum"] for name in ("topic", "page", "size")] == [2, 8, 7]
    assert set(query["sort"]["enum"]) == set(SORTS)
