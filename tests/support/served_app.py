"""Applications that are called without a server, and answers compared with their description."""

import asyncio

import pytest

from linktopics.explorer import Explorer
from linktopics.server.limits import Limits

for package, extra in (("starlette", "web"), ("httpx", "test"), ("jsonschema", "test")):
    pytest.importorskip(package, reason=f"{package} is not installed; it comes with linktopics[{extra}]")

import jsonschema  # noqa: E402
from starlette.testclient import TestClient  # noqa: E402
from starlette.websockets import WebSocketDisconnect  # noqa: E402

from linktopics.server import middleware  # noqa: E402
from linktopics.server.app import create_app  # noqa: E402

__all__ = ["TestClient", "WebSocketDisconnect", "create_app", "middleware"]  # for tests, which are skipped without them

BASE = "http://localhost"


def strict_client(model, **limits):
    return TestClient(create_app(Explorer(model), limits=Limits(**limits)), base_url=BASE)


def check_answer(described, response, path, method="get"):
    """Compare an answer with its description."""
    told = described["paths"][path][method]["responses"][str(response.status_code)]["content"]
    schema = told["application/json"]["schema"]
    validator = jsonschema.Draft202012Validator({**schema, "components": described["components"]})
    validator.validate(response.json())
    assert response.headers["content-type"] == "application/json"
    for name in middleware.HEADERS:
        assert name in response.headers
    return response.json()


def call(app, path, receive, headers=(), method="POST"):
    """Call an application without a client, and return its status and body."""
    sent = []

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http", "method": method, "path": path, "query_string": b"", "root_path": "",
        "scheme": "http", "headers": [(b"host", b"localhost"), *headers], "http_version": "1.1",
    }  # fmt: skip
    asyncio.run(app(scope, receive, send))
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])


def closed(schema):
    """Return a schema, and those in it, that allows only the described keys."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    result = {name: closed(value) for name, value in schema.items()}
    if schema.get("type") == "object" and "additionalProperties" not in schema:
        assert "properties" in schema, f"an object without described keys: {schema}"
        result["additionalProperties"] = False
    return result
