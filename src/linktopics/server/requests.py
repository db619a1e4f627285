"""Requests: reading and decoding of their bodies, and messages about errors in them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import anyio
import msgspec
from msgspec import Meta, Struct, UnsetType
from starlette.requests import Request

from linktopics.explorer.document_search import SORTS
from linktopics.server.limits import Limits
from linktopics.server.middleware import RefusedError
from linktopics.server.schemas import EXPLAIN_RULE, ExplainRequest

DRAIN_MAX_BYTES = 2**22
"""Bytes beyond the largest body that are read and dropped: some clients read no response before they have sent all."""

T = TypeVar("T", bound=Struct)


def bounds(limits: Limits, n_topics: int) -> dict[str, Any]:
    """Return the types of parameters and fields whose bounds depend on the server and its model, by their names."""
    topic = Annotated[int, Meta(ge=0, le=n_topics - 1)]
    id = Annotated[str, Meta(min_length=1, max_length=limits.id, description="the id of a document")]
    word = Annotated[str, Meta(min_length=1, max_length=limits.word)]
    return {
        **dict.fromkeys(("a", "b", "k"), topic),
        **dict.fromkeys(("source", "target"), id),
        "id": Annotated[str, Meta(max_length=limits.id, description="its id, or with by=number its number")],
        "name": Annotated[str, Meta(max_length=100)],
        "query": Annotated[str, Meta(max_length=limits.query, description="terms, each in id, title or words")],
        "topic": Annotated[topic, Meta(description="only documents with this topic")],
        "sort": Literal[SORTS],
        "page": Annotated[int, Meta(ge=0, le=limits.pages, description="from 0 on")],
        "size": Annotated[int, Meta(ge=1, le=limits.page, description="documents on a page")],
        "text": Annotated[str, Meta(min_length=1, max_length=limits.text, description="the text")],
        "top": Annotated[int, Meta(ge=1, le=limits.top, description="how many to return")],
        "add": Annotated[tuple[word, ...], Meta(max_length=limits.added)],
    }


class RequestDecoder:
    """Decodes requests by their types, within the bounds of a server.

    Parameters
    ----------
    limits : Limits
        Bounds of the server.
    n_topics : int
        Topics of the model.

    Examples
    --------
    >>> from linktopics.server.schemas import SuggestRequest
    >>> decoder = RequestDecoder(Limits(top=10), n_topics=20)
    >>> decoder.decode(SuggestRequest, {"text": "cats purr", "top": 3})
    SuggestRequest(text='cats purr', top=3, direction='both')
    >>> decoder.decode(SuggestRequest, {"text": "cats purr", "top": 11})
    Traceback (most recent call last):
        ...
    linktopics.server.middleware.RefusedError: top must be a whole number from 1 to 10.
    """

    def __init__(self, limits: Limits, n_topics: int) -> None:
        self.bounds = bounds(limits, n_topics)
        self.fields, self.bounded = cache(self._fields), cache(self._bounded)

    def _fields(self, kind: type[Struct]) -> dict[str, tuple[Any, ...]]:
        """Return the types of fields, with their bounds, and their defaults if they have one."""
        return {
            one.name: (self.bounds.get(one.name, one.type), *(() if one.required else (one.default,)))
            for one in msgspec.structs.fields(kind)
        }

    def _bounded(self, kind: type[Struct]) -> type[Struct]:
        """Return a type of requests with the bounds of this server."""
        fields = [(name, bounded | UnsetType, *default) for name, (bounded, *default) in self.fields(kind).items()]
        return msgspec.defstruct(kind.__name__, fields, bases=(kind,), kw_only=True)

    def decode(self, kind: type[T], values: Mapping[str, Any]) -> T:
        """Return a request; refuse values that are missing, not of their type or out of bounds, and unknown fields."""
        try:
            msgspec.convert(values, self.bounded(kind))
            return msgspec.convert(values, kind)  # the type that can be imported: some requests are pickled for workers
        except (msgspec.ValidationError, UnicodeEncodeError) as error:  # the latter for lone surrogates
            raise RefusedError(422, self._first_error(kind, values) or str(error)) from None

    def decode_query(self, kind: type[T], values: Mapping[str, str]) -> T:
        """Return the request in the query of an address; names that are not in it are ignored."""
        types = {name: _base_type(bounded) for name, (bounded, *_) in self.fields(kind).items() if name in values}
        return self.decode(kind, {name: _parse_value(values[name], plain) for name, plain in types.items()})

    def schema(self, kind: type[Struct]) -> dict[str, Any]:
        """Return the JSON Schema of a request, with the bounds of this server."""
        _, schemas = msgspec.json.schema_components([self.bounded(kind)])
        return {**schemas[kind.__name__], **(EXPLAIN_RULE if kind is ExplainRequest else {})}

    def _first_error(self, kind: type[Struct], values: Mapping[str, Any]) -> str | None:
        """Return a sentence about the first value that is wrong by itself."""
        fields = self.fields(kind)
        for name in values:
            if name not in fields:
                return f"There is no field {quoted(name)} here; the fields are {', '.join(fields)}."
        for name, (bounded, *default) in fields.items():
            if name in values or not default:
                try:
                    msgspec.convert(values.get(name), bounded)
                except (msgspec.ValidationError, UnicodeEncodeError):
                    return _requirement(name, bounded, values.get(name))
        return None


def _base_type(kind: Any) -> Any:
    """Return a type without its bounds."""
    return get_args(kind)[0] if hasattr(kind, "__metadata__") else kind


def _parse_value(text: str, kind: Any) -> Any:
    """Return a value of a query; text that is not of the type stays text."""
    if kind is int:
        return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else text
    return {"false": False, "true": True}.get(text, text) if kind is bool else text


def _requirement(name: str, expected: Any, value: Any) -> str:
    """Return a sentence about what a value must be."""
    kind, bound = _base_type(expected), (*getattr(expected, "__metadata__", ()), None)[0]
    if kind is int:
        return f"{name} must be a whole number from {bound.ge} to {bound.le:,}."
    if kind is str:
        if not isinstance(value, str):
            return f"{name} is required, as a string."
        allowed = f"must have from {bound.min_length} to" if bound.min_length else "may have up to"
        return f"{name} has {len(value):,} characters; it {allowed} {bound.max_length:,}."
    if get_origin(kind) is tuple:
        word = get_args(kind)[0].__metadata__[0]
        if isinstance(value, list) and len(value) <= bound.max_length and all(isinstance(one, str) for one in value):
            return f"A word in {name} must have from {word.min_length} to {word.max_length} characters."
        return f"{name} must be a list of at most {bound.max_length} words."
    *others, last = ("false", "true") if kind is bool else get_args(kind)
    return f"{name} must be {', '.join(others)} or {last}."


def quoted(text: str) -> str:
    """Return a text in quotes, cut to 80 characters."""
    return repr(text if len(text) <= 80 else text[:77] + "...")


def index_of(text: str, n: int, name: str, plural: str) -> int:
    """Return the number of a topic or document in the path of an address, one below `n`.

    Examples
    --------
    >>> index_of("4", 20, "topic", "topics")
    4
    """
    index = int(text) if re.fullmatch(r"[0-9]{1,9}", text) else n
    if index >= n:
        raise RefusedError(404, f"There is no {name} {quoted(text)}; {plural} run from 0 to {n - 1}.")
    return index


async def read_json(request: Request, limits: Limits) -> dict[str, Any]:
    """Return the object in the body of a request; refuse one that is too long, too slow or not JSON.

    `msgspec.json.decode` is not used, because it rejects lone surrogates, which some texts contain.
    """
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise RefusedError(415, "Send JSON, with the header Content-Type: application/json.", close=True)
    try:
        with anyio.fail_after(limits.reading):
            body = await _read_body(request, limits.body)
    except TimeoutError:
        raise RefusedError(408, f"The request did not arrive within {limits.reading:g} seconds.", close=True) from None
    try:
        values = json.loads(body.decode("utf-8"), parse_constant=_refuse_constant, parse_float=_parse_number)
    except RecursionError:
        raise RefusedError(400, "The body is nested too deeply.") from None
    except ValueError:  # of JSON and of UTF-8
        raise RefusedError(400, "The body is not JSON in UTF-8.") from None
    if not isinstance(values, dict):
        raise RefusedError(422, 'The body must be an object, such as {"text": "..."}.')
    return values


def _parse_number(text: str) -> float:
    """Return a number; 3.0 is a whole one, since JSON has one type of numbers."""
    number = float(text)
    return int(number) if number.is_integer() else number


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


async def _read_body(request: Request, max_bytes: int) -> bytes:
    too_large = RefusedError(413, f"The body is too large; at most {max_bytes:,} bytes are read.", close=True)
    announced = request.headers.get("content-length", "")
    if announced.isdigit() and int(announced) > max_bytes + DRAIN_MAX_BYTES:
        raise too_large
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > max_bytes + DRAIN_MAX_BYTES:
            raise too_large
        if size <= max_bytes:
            parts.append(part)
    if size > max_bytes:
        raise too_large
    return b"".join(parts)
