"""The server at an address: the socket, the protocol under it, and how it starts and stops."""

from __future__ import annotations

import asyncio
import errno
import gc
import ipaddress
import logging
import os
import socket
import sys
from typing import Any

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from linktopics._threads import one_thread
from linktopics.errors import DataError
from linktopics.explorer.guard import LOOPBACK, error_response
from linktopics.explorer.limits import Limits

__all__ = ["address_of", "bind", "is_loopback", "names_of", "run"]

BACKLOG = 1024
"""Connections that wait to be accepted."""

KEEP_ALIVE = 30
"""Seconds that a connection stays open without a request."""

HEAD = 2**16
"""Bytes that the head of a request may have: its first line, its headers, and the empty line that ends them."""

BODY_SLICE = 1024
"""Bytes of a body that are parsed at once; of a head that begins behind a body, as many may stay uncounted."""

NICE = 5
"""How much the server lets its workers go first where cores are few: who asks about a text waits longest."""

SWITCH_INTERVAL = 0.001
"""Seconds after which the thread that computes lets the one that answers go first."""


def bind(host: str, port: int) -> socket.socket:
    """Take a port, or say why it cannot be had; port 0 is one that is free."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError):
        raise DataError(f"there is no address {host!r} to serve at; --host 127.0.0.1 is this machine.") from None
    bound = socket.socket(family, kind, protocol)
    if sys.platform != "win32":  # where it lets two servers have the same port
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(address)
        bound.listen(BACKLOG)
    except OSError as error:
        bound.close()
        if error.errno == errno.EADDRINUSE:
            cure = f"choose another by --port {port + 1 if port < 65_535 else 8000}, or any that is free by --port 0"
            raise DataError(f"port {port} of {host} is taken; {cure}.") from None
        if error.errno == errno.EACCES:
            raise DataError(f"port {port} may not be used here; choose one above 1023 by --port 8000.") from None
        raise DataError(f"cannot serve at {host}, port {port}: {error.strerror}; see --host and --port.") from None
    return bound


def is_loopback(bound: socket.socket) -> bool:
    """Tell whether only this machine can reach a socket."""
    return ipaddress.ip_address(bound.getsockname()[0].partition("%")[0]).is_loopback


def address_of(bound: socket.socket, host: str) -> str:
    """Return the address to open in a browser."""
    return f"http://{f'[{host}]' if ':' in host else host}:{bound.getsockname()[1]}/"


def names_of(bound: socket.socket, host: str) -> frozenset[str] | None:
    """Return the names by which the server may be called; None is any, where other machines can reach it."""
    if not is_loopback(bound):
        return None
    return LOOPBACK | {f"[{host.lower()}]" if ":" in host else host.lower()}


class PatientProtocol(HttpToolsProtocol):
    """HTTP/1.1 that waits for the head of a request, but neither for ever nor for one without end.

    Nor does it wait for ever until an answer is taken: whoever does not listen would keep others from being answered.
    When there are too many connections, the one whose head has been awaited longest is closed for the new one: honest
    clients send their heads at once, so connections that are slow, or send nothing, do not keep others out.
    """

    limits = Limits()
    heads: dict[PatientProtocol, None] = {}  # noqa: RUF012
    """Connections of which the head of a request is waited for, in the order in which that began."""

    _waiting: asyncio.TimerHandle | None = None
    _untaken: asyncio.TimerHandle | None = None
    _in_body, _head = False, 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            slowest = next(iter(self.heads), self)
            slowest._stop_waiting()
            slowest.transport.abort()
            if slowest is self:
                return
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Parse what has come, line by line outside of bodies; stop waiting if the head of a request is complete.

        All that is not the content of a body is counted, and the count begins again where a head or some content ends.
        So the bound is that of trailers and of sizes of chunks, too.
        """
        start = 0
        while start < len(data) and not self.transport.is_closing():
            end = start + BODY_SLICE if self._in_body else data.find(b"\n", start) + 1 or len(data)
            part = data[start:end]
            self._head += len(part)
            if self._head > HEAD:
                self._refuse(f"The head of the request is too large; at most {HEAD:,} bytes are read.")
                return
            super().data_received(part)
            start += len(part)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        elif self._waiting is None:
            self._wait()

    def on_headers_complete(self) -> None:
        """Begin to count again."""
        self._in_body, self._head = True, 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Begin to count again."""
        self._head = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Begin to count again."""
        self._in_body, self._head = False, 0
        super().on_message_complete()

    def pause_writing(self) -> None:
        """Begin to wait until some of an answer is taken."""
        super().pause_writing()
        self._untaken = self.loop.call_later(self.limits.writing, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop waiting for that."""
        self._stop_writing()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_waiting()
        self._stop_writing()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Say that a request is no HTTP."""
        self._refuse("This is no request that can be read.")

    def _refuse(self, sentence: str) -> None:
        """Say in JSON, like everything else, what is wrong with a request, and close the connection."""
        body = error_response(400, sentence).body
        head = f"HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        self.transport.write(head.encode() + b"Connection: close\r\n\r\n" + bytes(body))
        self.transport.close()

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(self.limits.reading, self.transport.close)
        self.heads[self] = None

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
            del self.heads[self]

    def _stop_writing(self) -> None:
        if self._untaken is not None:
            self._untaken.cancel()
            self._untaken = None


def run(app: Starlette, bound: socket.socket, limits: Limits) -> None:
    """Serve until Ctrl-C or SIGTERM; what is being answered then is finished first."""

    class Protocol(PatientProtocol):
        pass

    Protocol.limits, Protocol.heads = limits, {}
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # who sends what is no HTTP is none of our troubles
    options: dict[str, Any] = {
        "http": Protocol, "ws": "none", "lifespan": "on", "log_config": None, "access_log": False,
        "server_header": False, "proxy_headers": False, "timeout_keep_alive": KEEP_ALIVE,
        "timeout_graceful_shutdown": 3, "backlog": BACKLOG,
    }  # fmt: skip
    server = uvicorn.Server(uvicorn.Config(app, **options))
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_INTERVAL)
    if hasattr(os, "nice"):
        os.nice(NICE)
    gc.collect()
    gc.freeze()  # the model stays: it need not be looked through again and again for what could go
    try:
        with one_thread():  # texts are answered side by side already
            server.run(sockets=[bound])
    except KeyboardInterrupt:
        pass  # which is how a server ends
    finally:
        gc.unfreeze()
        sys.setswitchinterval(before)
