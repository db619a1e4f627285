"""What the answers of the server's API look like, as JSON Schema; see `openapi`."""

from __future__ import annotations

from typing import Any

__all__ = ["SCHEMAS", "array", "nullable", "number", "object_of", "pair", "ref", "string", "whole"]

Schema = dict[str, Any]


def ref(name: str) -> Schema:
    """Return a reference to one of `SCHEMAS`."""
    return {"$ref": f"#/components/schemas/{name}"}


def object_of(properties: dict[str, Schema], optional: tuple[str, ...] = (), *, closed: bool = False) -> Schema:
    """Return the schema of an object; answers may get further properties, questions are `closed`."""
    made: Schema = {"type": "object", "properties": properties}
    required = [name for name in properties if name not in optional]
    if required:
        made["required"] = required
    if closed:
        made["additionalProperties"] = False
    return made


def array(items: Schema, **more: Any) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": items, **more}


def pair(*items: Schema) -> Schema:
    """Return the schema of a list of which each place has a meaning of its own."""
    return {"type": "array", "prefixItems": list(items), "minItems": len(items), "maxItems": len(items)}


def string(said: str = "", **more: Any) -> Schema:
    """Return the schema of a string."""
    return {"type": "string", **({"description": said} if said else {}), **more}


def whole(said: str = "", least: int | None = 0, **more: Any) -> Schema:
    """Return the schema of a whole number."""
    bound = {} if least is None else {"minimum": least}
    return {"type": "integer", **bound, **({"description": said} if said else {}), **more}


def number(said: str = "", least: float | None = None, most: float | None = None) -> Schema:
    """Return the schema of a number."""
    bounds = {"minimum": least, "maximum": most}
    told = {"description": said} if said else {}
    return {"type": "number", **{name: bound for name, bound in bounds.items() if bound is not None}, **told}


def nullable(schema: Schema) -> Schema:
    """Return the schema of what may be null, where it is not known."""
    return {**schema, "type": [schema["type"], "null"]}


BOOLEAN: Schema = {"type": "boolean"}
SHARE = number(least=0, most=1)
PROBABILITY = nullable(number("of a link, as rare as links are in the network", 0, 1))
RANGE = {
    name: nullable(
        number(
            f"{quantile} quantile of the probabilities that posterior samples give; the range of samples does not hold "
            "all that is unknown",
            0,
            1,
        )
    )
    for name, quantile in (("lower", "5 %"), ("upper", "95 %"))
}
MAYBE = nullable(number())
DOCUMENT = whole("the number of a document: its place in the network")
TOPIC = whole("the number of a topic")
MATRIX = array(array(MAYBE))
LINES = array(pair(string(), string()))
DIRECTION = string(
    "from this document or text (out), to it (in), or without a direction (both)", enum=["out", "in", "both"]
)
WAY = string("which links count", enum=["both", "out", "in"], default="both")

_CHANGE = {
    "word": string(),
    "count": whole(),
    "topics": array(pair(TOPIC, number()), description="largest changes of the shares of topics"),
    "suggestions": array(object_of({"j": DOCUMENT, "change": number()}), description="changes of probabilities"),
    "gone": array(DOCUMENT, description="suggestions that are none any more"),
    "new": array(DOCUMENT, description="suggestions that were none before"),
}

SCHEMAS: dict[str, Schema] = {
    "Error": object_of({"error": string("what is wrong, in a sentence"), "number": string("in the log")}, ("number",)),
    "Name": object_of({"id": string(), "title": string("the id where there is no title")}),
    "Names": {
        "type": "object",
        "description": "ids and titles of the documents that are mentioned, by their numbers",
        "additionalProperties": ref("Name"),
    },
    "Reason": {
        "description": "a part of what speaks for a link: a pair of topics, or a feature",
        "oneOf": [
            object_of(
                {
                    "share": {**SHARE, "description": "of all that speaks for the link"},
                    "part": number("of the score"),
                    "topics": {**pair(TOPIC, TOPIC), "description": "topic of the source, topic of the target"},
                }
            ),
            object_of({"share": SHARE, "part": number(), "feature": string(), "detail": string()}),
        ],
    },
    "Health": object_of(
        {
            "status": string(enum=["ok"]),
            "version": string(),
            "documents": whole(),
            "prepared": {**BOOLEAN, "description": "whether what can be worked out beforehand is"},
        }
    ),
    "Topic": object_of(
        {
            "share": {**SHARE, "description": "of all words of the documents"},
            "coherence": nullable(number("NPMI of its first words")),
            "attraction": nullable(number("weight of links from the topic to itself")),
            "words": array(string(), description="those with most probability and relevance"),
            "p": array(number("of the word in the topic", 0, 1)),
            "q": array(number("of the word in all documents", 0, 1)),
            "documents": array(DOCUMENT, description="those that are mostly about it"),
            "partners": array(pair(TOPIC, number()), description="topics it links to, and the weight"),
        }
    ),
    "Meta": object_of(
        {
            "version": whole("goes up when something here changes its meaning"),
            "title": string(),
            "data": object_of(
                {
                    **{name: whole() for name in ("documents", "words", "tokens", "links")},
                    **dict.fromkeys(("directed", "has_texts", "has_titles", "reads_texts"), BOOLEAN),
                    "labels": nullable(array(string())),
                    "fingerprint": string("SHA-256 of counts and links"),
                    "summary": string(),
                    "report": array(string(), description="what was dropped when the data were read"),
                }
            ),
            "settings": LINES,
            "quality": nullable(
                object_of(
                    {
                        "measures": array(
                            object_of(
                                {
                                    "name": string(),
                                    "mean": MAYBE,
                                    "sd": MAYBE,
                                    "better": string(enum=["higher", "lower"]),
                                }
                            )
                        ),
                        "baselines": array({"type": "object"}),
                        "folds": whole(),
                        "from": string(),
                    }
                )
            ),
            "mixing": object_of(
                {
                    "table": array(
                        object_of({"quantity": string(), **dict.fromkeys(("mean", "sd", "r_hat", "ess"), MAYBE)})
                    ),
                    "traces": {"type": "object", "additionalProperties": MATRIX},
                    **{name: whole() for name in ("step", "burn_in", "sweeps", "chains", "samples")},
                    "verdict": nullable(string()),
                }
            ),
            "provenance": LINES,
            "topics": array(ref("Topic")),
            "features": array(object_of({"name": string(), **dict.fromkeys(("mean", "sd", "positive"), MAYBE)})),
            "weights": object_of(
                {
                    **dict.fromkeys(("mean", "sd", "positive", "observed", "chance"), MATRIX),
                    "symmetric": BOOLEAN,
                    "order": array(TOPIC),
                    "layout": array(pair(number(), number())),
                }
            ),
            "names": ref("Names"),
        }
    ),
    "Topics": object_of({"topics": array(ref("Topic")), "names": ref("Names")}),
    "OneTopic": {"allOf": [ref("Topic"), object_of({"k": TOPIC, "names": ref("Names")})]},
    "Cell": object_of(
        {
            "a": TOPIC,
            "b": TOPIC,
            "links": array(
                object_of(
                    {
                        "source": DOCUMENT,
                        "target": DOCUMENT,
                        "part": number("of the score of the link that the weight of these two topics makes"),
                        "share": number("of all parts of its sign", -1, 1),
                        "probability": PROBABILITY,
                    }
                )
            ),
            "names": ref("Names"),
        }
    ),
    "Documents": object_of(
        {
            "total": whole("documents that were found"),
            "page": whole(),
            "size": whole(),
            "rows": array(
                object_of(
                    {
                        "i": DOCUMENT,
                        "id": string(),
                        "title": string(),
                        "label": nullable(string()),
                        **{name: whole() for name in ("tokens", "links_out", "links_in")},
                        "topics": array(pair(TOPIC, SHARE), maxItems=3),
                    }
                )
            ),
        }
    ),
    "Document": object_of(
        {
            "i": DOCUMENT,
            "id": string(),
            "title": string(),
            "label": nullable(string()),
            "tokens": whole(),
            "text": nullable(string("its beginning")),
            "columns": {"type": "object", "additionalProperties": nullable(string())},
            "topics": array(pair(TOPIC, SHARE)),
            "words": array(pair(string(), whole(), TOPIC), description="word, count, the topic it is about"),
            "links": array(
                object_of(
                    {
                        "j": DOCUMENT,
                        "direction": DIRECTION,
                        "probability": PROBABILITY,
                        "surprising": {**BOOLEAN, "description": "less probable than nine of ten links"},
                        "why": array(ref("Reason"), maxItems=3),
                    }
                )
            ),
            "suggested": array(
                object_of(
                    {
                        "j": DOCUMENT,
                        "direction": DIRECTION,
                        "probability": PROBABILITY,
                        **RANGE,
                        "why": array(ref("Reason"), maxItems=3),
                    }
                ),
                description="links that are not there",
            ),
            "names": ref("Names"),
        }
    ),
    "Suggestions": object_of(
        {
            "tokens": whole("words of the text, but for stop words"),
            "known": whole("of them known to the model; without one there are no topics and no suggestions"),
            "unknown": array(string(), description="words that the model does not know"),
            "topics": array(pair(TOPIC, SHARE), description="what the text is about, largest share first"),
            "words": array(
                object_of(
                    {
                        "word": string(),
                        "count": whole("", 1),
                        "known": BOOLEAN,
                        "topics": array(pair(TOPIC, SHARE), maxItems=3, description="where its tokens go"),
                    }
                ),
                description="distinct words, by first occurrence",
            ),
            "marks": array(
                pair(whole(), whole(), whole()),
                description="where words begin and end, in UTF-16 code units, and their places in words",
            ),
            "suggestions": array(
                object_of(
                    {
                        "j": DOCUMENT,
                        "id": string(),
                        "title": string(),
                        "direction": DIRECTION,
                        "probability": PROBABILITY,
                        **RANGE,
                        "why": array(ref("Reason"), maxItems=3),
                    }
                )
            ),
        }
    ),
    "Changes": object_of(
        {
            "words": array(object_of(_CHANGE), maxItems=100, description="what leaving a word out changes"),
            "added": array(object_of(_CHANGE), description="what adding a word once changes"),
            "unknown": array(string(), description="words to add that the model does not know"),
            "suggestions": array(
                object_of({"j": DOCUMENT, "probability": PROBABILITY}), description="what changes start from"
            ),
            "names": ref("Names"),
        }
    ),
    "Explanation": object_of(
        {
            "source": nullable(object_of({"j": DOCUMENT, "id": string(), "title": string()})),
            "target": object_of({"j": DOCUMENT, "id": string(), "title": string()}),
            "linked": {"type": ["boolean", "null"], "description": "whether the data have this link"},
            "probability": PROBABILITY,
            "score": number("the sum of all parts"),
            "parts": array(
                {
                    "oneOf": [
                        object_of({"part": number(), "share": number("", -1, 1), "topics": pair(TOPIC, TOPIC)}),
                        object_of(
                            {"part": number(), "share": number("", -1, 1), "feature": string(), "detail": string()}
                        ),
                    ]
                },
                description="largest first",
            ),
            "parts_in_all": whole(),
        }
    ),
}
