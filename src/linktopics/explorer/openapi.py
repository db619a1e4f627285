"""The description of the server's API, in OpenAPI 3.1."""

from __future__ import annotations

from typing import Any

from linktopics import __version__
from linktopics.explorer.finding import SORTS
from linktopics.explorer.limits import Limits
from linktopics.explorer.schemas import SCHEMAS, WAY, array, object_of, ref, string, whole

__all__ = ["describe"]

Part = dict[str, Any]

SAID = {
    400: "The request cannot be read.",
    403: "The request comes from the page of another site.",
    404: "There is nothing of this name or number.",
    408: "The request did not arrive in time.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    422: "A value is missing, not of its kind, or beyond what can be asked.",
    500: "Something went wrong in the server.",
    503: "Too many questions wait for an answer, or the model was replaced while the server ran.",
}

ABOUT = (
    "Topics of documents and of the links between them, from a fitted model. Nothing can be changed. Documents have a "
    "number, their place in the network, and an id. Errors are an object with one sentence, error. Probabilities are "
    "for links as rare as they are in the network, as far as the calibration of the model tells (see the overview)."
)


def describe(limits: Limits, n_topics: int) -> dict[str, Any]:
    """Return the description of a server with these limits, of a model of this size.

    Examples
    --------
    >>> sorted(describe(Limits(), 20)["paths"])[:2]
    ['/', '/api/cells/{a}/{b}']
    """
    topic = whole("", 0, maximum=n_topics - 1)
    top = whole("how many are wanted", 1, maximum=limits.top, default=8)
    text = string("the text", minLength=1, maxLength=limits.text)
    id = string("the id of a document", minLength=1, maxLength=limits.id)
    return {
        "openapi": "3.1.0",
        "info": {"title": "linktopics", "version": __version__, "description": ABOUT},
        "paths": {
            "/": {"get": _operation("page", "The pages of the explorer.", {"text/html": {"schema": string()}})},
            "/static/{name}": {
                "get": _operation(
                    "file",
                    "A file that the pages need.",
                    {kind: {"schema": string()} for kind in ("text/javascript", "text/css", "image/svg+xml")},
                    [_in_path("name", string(maxLength=100))],
                    (404,),
                )
            },
            "/openapi.json": {"get": _operation("description", "This description.", _json({"type": "object"}))},
            "/api/health": {"get": _operation("health", "Whether the server is there.", _answer("Health"))},
            "/api/meta": {
                "get": _operation("meta", "Data, settings, quality, sampling, topics and weights.", _answer("Meta"))
            },
            "/api/topics": {"get": _operation("topics", "All topics.", _answer("Topics"))},
            "/api/topics/{k}": {
                "get": _operation("topic", "A topic.", _answer("OneTopic"), [_in_path("k", topic)], (404,))
            },
            "/api/cells/{a}/{b}": {
                "get": _operation(
                    "cell",
                    "The links of the data that the weight of two topics explains best.",
                    _answer("Cell"),
                    [_in_path("a", topic), _in_path("b", topic), _in_query("top", top)],
                    (404, 422),
                )
            },
            "/api/documents": {
                "get": _operation(
                    "documents",
                    "Documents, page by page. sort=topic needs topic=.",
                    _answer("Documents"),
                    [
                        _in_query("query", string("terms, each in id, title or words", maxLength=limits.query)),
                        _in_query("topic", {**topic, "description": "only documents that are about it"}),
                        _in_query("sort", string(enum=list(SORTS), default=SORTS[0])),
                        _in_query("descending", {"type": "boolean", "default": False}),
                        _in_query("page", whole("from 0 on", 0, maximum=limits.pages, default=0)),
                        _in_query("size", whole("documents on a page", 1, maximum=limits.page, default=50)),
                    ],
                    (422,),
                )
            },
            "/api/documents/{id}": {
                "get": _operation(
                    "document",
                    "A document: its topics, words, links with reasons, and links that are suggested.",
                    _answer("Document"),
                    [
                        _in_path("id", string("its id, or with by=number its number", maxLength=limits.id)),
                        _in_query("by", string(enum=["id", "number"], default="id")),
                    ],
                    (404, 422),
                )
            },
            "/api/suggest": {
                "post": _question(
                    "suggest",
                    "Topics of a text, of each of its words, and links that it should have, with reasons.",
                    object_of(
                        {"text": text, "top": {**top, "default": 8}, "direction": WAY},
                        ("top", "direction"),
                        closed=True,
                    ),
                    "Suggestions",
                )
            },
            "/api/changes": {
                "post": _question(
                    "changes",
                    "What leaving out each word of a text changes, and what adding words would.",
                    object_of(
                        {
                            "text": text,
                            "top": top,
                            "direction": WAY,
                            "add": array(string(minLength=1, maxLength=limits.word), maxItems=limits.added),
                        },
                        ("top", "direction", "add"),
                        closed=True,
                    ),
                    "Changes",
                )
            },
            "/api/explain": {
                "post": _question(
                    "explain",
                    "What speaks for and against a link from a document, or a text, to a document.",
                    {
                        **object_of(
                            {"source": id, "text": text, "target": id, "top": {**top, "default": 20}},
                            ("source", "text", "top"),
                            closed=True,
                        ),
                        "oneOf": [{"required": ["source"]}, {"required": ["text"]}],
                    },
                    "Explanation",
                    (404,),
                )
            },
        },
        "components": {"schemas": SCHEMAS},
    }


def _json(schema: Part) -> Part:
    return {"application/json": {"schema": schema}}


def _answer(name: str) -> Part:
    return _json(ref(name))


def _in_path(name: str, schema: Part) -> Part:
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _in_query(name: str, schema: Part) -> Part:
    return {"name": name, "in": "query", "required": False, "schema": schema}


def _operation(
    name: str, summary: str, content: Part, parameters: list[Part] | None = None, errors: tuple[int, ...] = ()
) -> Part:
    responses = {"200": {"description": "The answer.", "content": content}}
    for status in sorted({400, 500, 503, *errors}):
        responses[str(status)] = {"description": SAID[status], "content": _answer("Error")}
    given = {"parameters": parameters} if parameters else {}
    return {"operationId": name, "summary": summary, **given, "responses": responses}


def _question(name: str, summary: str, asked: Part, answer: str, errors: tuple[int, ...] = ()) -> Part:
    operation = _operation(name, summary, _answer(answer), None, (403, 408, 413, 415, 422, *errors))
    return {**operation, "requestBody": {"required": True, "content": _json(asked)}}
