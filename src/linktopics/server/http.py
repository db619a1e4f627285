"""The server at an address: its socket, its protocol, and how it starts and stops."""

from __future__ import annotations

import asyncio
import errno
import gc
import ipaddress
import logging
import os
import socket
import sys
from contextlib import suppress

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from linktopics.errors import DataError
from linktopics.server.limits import Limits
from linktopics.server.middleware import LOOPBACK, error_response
from linktopics.utils.blas import one_thread

BACKLOG_CONNECTIONS = 1024
"""Connections that can wait to be accepted."""

KEEP_ALIVE_SECONDS = 30
"""Seconds that a connection stays open without a request."""

HEAD_MAX_BYTES = 2**16
"""Bytes of the head of a request: its first line, its headers, and the empty line that ends them."""

BODY_SLICE_BYTES = 1024
"""Bytes of a body that are parsed at once; up to this many bytes of a head that follows a body are not counted."""

NICE_INCREMENT = 5
"""How much lower the priority of the server is than that of its workers: requests about texts take longest."""

SWITCH_INTERVAL_SECONDS = 0.001
"""Seconds after which a thread that computes yields to the event loop."""


def bind(host: str, port: int) -> socket.socket:
    """Return a socket that listens at a port; port 0 is any free one. Raise DataError if that fails."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError):
        raise DataError(f"there is no address {host!r} to serve at; --host 127.0.0.1 is this machine.") from None
    bound = socket.socket(family, kind, protocol)
    if sys.platform != "win32":  # where it lets two servers have the same port
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(address)
        bound.listen(BACKLOG_CONNECTIONS)
    except OSError as error:
        bound.close()
        if error.errno == errno.EADDRINUSE:
            cure = f"choose another with --port {port + 1 if port < 65_535 else 8000}, or any free one with --port 0"
            raise DataError(f"port {port} of {host} is taken; {cure}.") from None
        if error.errno == errno.EACCES:
            raise DataError(f"port {port} may not be used here; choose one above 1023, such as --port 8000.") from None
        raise DataError(f"cannot serve at {host}, port {port}: {error.strerror}; see --host and --port.") from None
    return bound


def is_loopback(bound: socket.socket) -> bool:
    """Return whether only this machine can reach a socket."""
    return ipaddress.ip_address(bound.getsockname()[0].partition("%")[0]).is_loopback


def address_of(bound: socket.socket, host: str) -> str:
    """Return the address to open in a browser."""
    return f"http://{f'[{host}]' if ':' in host else host}:{bound.getsockname()[1]}/"


def names_of(bound: socket.socket, host: str) -> frozenset[str] | None:
    """Return the host names that requests may have; None, any, if other machines can reach the server."""
    if not is_loopback(bound):
        return None
    return LOOPBACK | {f"[{host.lower()}]" if ":" in host else host.lower()}


class BoundedProtocol(HttpToolsProtocol):
    """HTTP/1.1 with bounds: of the head of a request, of the time until it is complete, and of the time to send.

    A client that does not read its response would block others. When there are too many connections, the one whose head
    has been incomplete for longest is closed for the new one: well-behaved clients send their heads at once, so
    connections that are slow, or send nothing, do not keep others out.
    """

    limits = Limits()
    incomplete: dict[BoundedProtocol, asyncio.TimerHandle] = {}  # noqa: RUF012
    """Timers of connections whose next head is incomplete, in the order in which that began."""
    stalled: dict[BoundedProtocol, asyncio.TimerHandle] = {}  # noqa: RUF012
    """Timers of connections whose client does not read its response."""

    _in_body, _head_bytes = False, 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer of the head; make room if there are too many connections."""
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            slowest = next(iter(self.incomplete), self)
            slowest._stop_timer(self.incomplete)
            slowest.transport.abort()
            if slowest is self:
                return
        self._start_head_timer()

    def data_received(self, data: bytes) -> None:
        """Parse data, line by line outside of bodies; stop the timer if the head of a request is complete.

        Bytes outside of bodies are counted; the count is reset at the end of a head and at content of a body, so the
        bound also holds for trailers and sizes of chunks.
        """
        start = 0
        while start < len(data) and not self.transport.is_closing():
            end = start + BODY_SLICE_BYTES if self._in_body else data.find(b"\n", start) + 1 or len(data)
            part = data[start:end]
            self._head_bytes += len(part)
            if self._head_bytes > HEAD_MAX_BYTES:
                self._refuse(f"The head of the request is too large; at most {HEAD_MAX_BYTES:,} bytes are read.")
                return
            super().data_received(part)
            start += len(part)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_timer(self.incomplete)
        elif self not in self.incomplete:
            self._start_head_timer()

    def on_headers_complete(self) -> None:
        """Reset the count."""
        self._in_body, self._head_bytes = True, 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Reset the count."""
        self._head_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Reset the count."""
        self._in_body, self._head_bytes = False, 0
        super().on_message_complete()

    def pause_writing(self) -> None:
        """Start the timer of the response."""
        super().pause_writing()
        self.stalled[self] = self.loop.call_later(self.limits.writing, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the timer of the response."""
        self._stop_timer(self.stalled)
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers."""
        self._stop_timer(self.incomplete)
        self._stop_timer(self.stalled)
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Refuse a request that is not HTTP."""
        self._refuse("The request is not valid HTTP.")

    def _refuse(self, sentence: str) -> None:
        """Send an error in JSON, like all others, and close the connection."""
        body = error_response(400, sentence).body
        head = f"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        self.transport.write(head.encode() + b"Connection: close\r\n\r\n" + bytes(body))
        self.transport.close()

    def _start_head_timer(self) -> None:
        self.incomplete[self] = self.loop.call_later(self.limits.reading, self.transport.close)

    def _stop_timer(self, timers: dict[BoundedProtocol, asyncio.TimerHandle]) -> None:
        if self in timers:
            timers.pop(self).cancel()


def run(app: Starlette, bound: socket.socket, limits: Limits) -> None:
    """Serve until Ctrl-C or SIGTERM; requests that are being handled then are finished first."""
    protocol = type("Protocol", (BoundedProtocol,), {"limits": limits, "incomplete": {}, "stalled": {}})
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # no warning for each invalid request
    config = uvicorn.Config(
        app, http=protocol, ws="none", lifespan="on", log_config=None, access_log=False, server_header=False,
        proxy_headers=False, timeout_keep_alive=KEEP_ALIVE_SECONDS, timeout_graceful_shutdown=3,
        backlog=BACKLOG_CONNECTIONS,
    )  # fmt: skip
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_INTERVAL_SECONDS)
    if hasattr(os, "nice"):
        os.nice(NICE_INCREMENT)
    gc.collect()
    gc.freeze()  # the model stays, so the garbage collector can skip it
    try:
        with one_thread(), suppress(KeyboardInterrupt):  # requests are handled in parallel already
            uvicorn.Server(config).run(sockets=[bound])
    finally:
        gc.unfreeze()
        sys.setswitchinterval(before)
