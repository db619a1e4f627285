"""Middleware for all requests: checks of host and origin, a limit of concurrent requests, response headers, errors."""

from __future__ import annotations

import json
import logging
import re
import secrets
from collections.abc import Mapping
from typing import Any

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from linktopics.server.limits import Limits

LOG = logging.getLogger("linktopics.server")

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
"""Host names of this machine itself."""

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Default headers of every response."""

RAW_HEADERS = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]

HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+,;=%-]+)(:[0-9]*)?")
"""A host, and perhaps a port, as RFC 3986 writes them."""


class RefusedError(Exception):
    """A request that is refused, and the reason."""

    def __init__(self, status: int, sentence: str, *, retry: int | None = None, close: bool = False) -> None:
        super().__init__(sentence)
        self.status, self.sentence = status, sentence
        self.headers = {"Retry-After": str(retry)} if retry is not None else {}
        if close:
            self.headers["Connection"] = "close"


def error_response(status: int, sentence: str, headers: Mapping[str, str] | None = None, **more: Any) -> Response:
    """Return a response with a sentence about the error."""
    body = json.dumps({"error": sentence, **more}).encode("ascii")
    return Response(body, status, media_type="application/json", headers=dict(headers or {}))


class RequestMiddleware:
    """Middleware that checks where requests come from, bounds their number, and responds to errors.

    Parameters
    ----------
    app : callable
        The application.
    limits : Limits
        How many requests may be handled at once.
    hosts : frozenset of str or None
        Names that the Host header may have; None is any.
    """

    def __init__(self, app: ASGIApp, limits: Limits, hosts: frozenset[str] | None) -> None:
        self.app, self.limits, self.hosts = app, limits, hosts
        self.active = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1003})
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                own = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(one for one in RAW_HEADERS if one[0] not in own)]
            await send(message)

        self.active += 1
        try:
            self._check(scope)
            await self.app(scope, receive, send_with_headers)
        except RefusedError as refused:
            await error_response(refused.status, refused.sentence, refused.headers)(scope, receive, send_with_headers)
        except ClientDisconnect:
            pass  # there is no client to respond to
        except Exception:
            number = secrets.token_hex(4)
            LOG.exception("error %s at %s %r", number, scope["method"], scope["path"])
            if started:
                raise  # half of the response is sent: all that can be done is to close the connection
            sentence = f"Something went wrong in the server; its log has details under the number {number}."
            await error_response(500, sentence, number=number)(scope, receive, send_with_headers)
        finally:
            self.active -= 1

    def _check(self, scope: Scope) -> None:
        if self.active > self.limits.requests:
            raise RefusedError(503, "Too many requests at once; try again in a second.", retry=1)
        headers = Headers(scope=scope)
        host = _host(headers, scope["http_version"])
        if self.hosts is not None and host_of(host) not in self.hosts:
            raise RefusedError(400, "The Host header of this request does not name this server.")
        origin = headers.get("origin")
        own = (f"http://{host}".lower(), f"https://{host}".lower())
        if origin is not None and scope["method"] == "POST" and origin.lower() not in own:
            raise RefusedError(403, "Pages of other sites cannot call this server.")


def _host(headers: Headers, http_version: str) -> str:
    """Return the Host header; refuse none, several, and one that names no host, as RFC 9112 (3.2) requires."""
    given = [host.strip(" \t") for host in headers.getlist("host")]
    if not given and http_version == "1.0":
        return ""
    if len(given) != 1:
        raise RefusedError(400, f"A request must have one Host header; this one has {len(given) or 'none'}.")
    if not HOST.fullmatch(given[0]):
        raise RefusedError(400, "The Host header of this request does not name a host.")
    return given[0]


def host_of(host: str) -> str:
    """Return a Host header without its port, in lower case.

    Examples
    --------
    >>> host_of("LocalHost:8000"), host_of("[::1]:8000"), host_of("::1")
    ('localhost', '[::1]', '::1')
    """
    name, colon, port = host.lower().rpartition(":")
    return name if colon and port.isdigit() and (":" not in name or name.endswith("]")) else host.lower()
