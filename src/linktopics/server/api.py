"""Operations of the API, and their description in OpenAPI 3.1."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple

import msgspec
from starlette.responses import Response

from linktopics import __version__
from linktopics.server.requests import RequestDecoder
from linktopics.server.schemas import Error

STATUS_DESCRIPTIONS = {
    400: "The request cannot be read.",
    403: "The request comes from the page of another site.",
    404: "There is nothing of this name or number.",
    408: "The request did not arrive in time.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    422: "A value is missing, has the wrong type, or is out of bounds.",
    500: "Something went wrong in the server.",
    503: "Too many requests are waiting, or the model was replaced while the server ran.",
}

API_DESCRIPTION = (
    "Topics of documents and of the links between them, from a fitted model. The API is read-only. Documents have an "
    "id and a number, their index in the network. Errors are objects with a sentence in the field error. Probabilities "
    "are calibrated for links in the network if the model has a calibration (see the overview)."
)


Handler = Callable[..., Coroutine[Any, Any, bytes | Response]]


class Operation(NamedTuple):
    """A path, the types of its requests and responses, and the method of `Api` that handles it.

    Attributes
    ----------
    path : str
        The path, in Starlette's syntax.
    response : type or tuple of str
        Type of the JSON, or the media types of a file.
    request : type or None
        Type of the query of a GET, or of the body of a POST.
    method : {"GET", "POST"}
        HTTP method.
    errors : tuple of int
        Statuses of errors besides those of all operations with the same method.
    handler : callable
        Coroutine function; its name is that of the operation, the first line of its docstring is the summary.
    """

    path: str
    response: Any
    request: type[msgspec.Struct] | None
    method: str
    errors: tuple[int, ...]
    handler: Handler


OPERATIONS: list[Operation] = []
"""All operations, in the order of their handlers in `Api`."""


def operation(
    path: str, response: Any, request: type[msgspec.Struct] | None = None, *, method: str = "GET",
    errors: tuple[int, ...] = (),
) -> Callable[[Handler], Handler]:  # fmt: skip
    """Return a decorator that adds an operation to `OPERATIONS`; for the parameters see `Operation`."""

    def add(handler: Handler) -> Handler:
        OPERATIONS.append(Operation(path, response, request, method, errors, handler))
        return handler

    return add


def describe(decoder: RequestDecoder) -> dict[str, Any]:
    """Return the description of a server whose requests are decoded by `decoder`.

    Examples
    --------
    >>> import linktopics.server.app
    >>> from linktopics.server.limits import Limits
    >>> sorted(describe(RequestDecoder(Limits(), n_topics=20))["paths"])[:2]
    ['/', '/api/cells/{a}/{b}']
    """
    types = [Error, *(one.response for one in OPERATIONS if not isinstance(one.response, tuple))]
    schemas, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    content = {kind: {"application/json": {"schema": schema}} for kind, schema in zip(types, schemas, strict=True)}
    paths = {}
    for one in OPERATIONS:
        if isinstance(one.response, tuple):
            content[one.response] = {media_type: {"schema": {"type": "string"}} for media_type in one.response}
        paths[re.sub(r":\w+}", "}", one.path)] = {one.method.lower(): _described(one, decoder, content)}
    return {
        "openapi": "3.1.0",
        "info": {"title": "linktopics", "version": __version__, "description": API_DESCRIPTION},
        "paths": paths,
        "components": {"schemas": components},
    }


def _described(one: Operation, decoder: RequestDecoder, content: dict[Any, Any]) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": one.handler.__name__,
        "summary": (one.handler.__doc__ or "").partition("\n")[0],
    }
    errors, in_path = {400, 500, 503, *one.errors}, re.findall(r"{(\w+)", one.path)
    parameters = [_parameter("path", name, msgspec.json.schema(decoder.bounds[name])) for name in in_path]
    if one.method == "POST" and one.request is not None:
        errors |= {403, 408, 413, 415, 422}
        body = {"application/json": {"schema": decoder.schema(one.request)}}
        described["requestBody"] = {"required": True, "content": body}
    elif one.request is not None:
        errors.add(422)
        properties = decoder.schema(one.request)["properties"]
        parameters += [_parameter("query", name, schema) for name, schema in properties.items()]
    if in_path:
        errors.add(404)
    if parameters:
        described["parameters"] = parameters
    described["responses"] = {"200": {"description": "The response.", "content": content[one.response]}} | {
        str(status): {"description": STATUS_DESCRIPTIONS[status], "content": content[Error]}
        for status in sorted(errors)
    }
    return described


def _parameter(place: str, name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": place, "required": place == "path", "schema": schema}
