"""Workers: processes that handle requests about texts, so that requests for pages do not wait for them.

A worker loads the model, whose samples are mapped into memory and so shared, handles the batches that come through a
socket, and ends when the other end is closed. One that dies is replaced, and its batches are sent again, once. One that
can no longer load the model is not replaced; the others handle its requests.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import multiprocessing
import pickle
import signal
import socket
import traceback
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from struct import Struct
from typing import TYPE_CHECKING, Any

from linktopics.errors import LinktopicsError
from linktopics.registry import extension_modules
from linktopics.server.queue import ResponseOrError
from linktopics.server.schemas import AnalysisRequest, SuggestRequest
from linktopics.utils.blas import one_thread

if TYPE_CHECKING:  # `load` imports it in each process
    from linktopics.server.handlers import TextHandler

LOG = logging.getLogger("linktopics.server")

BATCHES_PER_WORKER = 2
"""Batches that a worker has at a time, so that it is never idle."""

STOP_SECONDS = 5.0
"""Seconds after which a process that did not end by itself is killed."""

SIZE_HEADER = Struct("!Q")
"""The length of a message, which is sent before it."""

BatchMessage = tuple[str, list[Any]]
"""The name of a method of `TextHandler`, and a batch of requests."""

Done = Callable[[list[ResponseOrError]], None]
"""Called with the results of a batch, in the event loop."""


class UnavailableError(Exception):
    """No worker can load the model any more; the message has the reason."""


class Workers:
    """Handles requests as `TextHandler` does, in processes, while the event loop continues.

    Parameters
    ----------
    load : callable
        Returns a `TextHandler`; it is called in each process, so it must be picklable.
    jobs : int
        Processes.
    """

    def __init__(self, load: Callable[[], TextHandler], jobs: int) -> None:
        self.workers = [Worker(load) for _ in range(jobs)]

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.close()

    def warm_up(self) -> None:
        """Wait until all processes are ready; nothing may have been sent before."""
        for worker in self.workers:
            worker.wait()

    def suggest(self, requests: list[SuggestRequest], done: Done) -> None:
        """Send a batch of requests for topics and suggested links of texts."""
        self._send(("suggest", requests), done)

    def analyze(self, requests: list[AnalysisRequest], done: Done) -> None:
        """Send a batch of requests for effects of words, or explanations of links."""
        self._send(("analyze", requests), done)

    def _send(self, message: BatchMessage, done: Done) -> None:
        """Send a batch to the worker with the fewest pending ones."""
        available = [worker for worker in self.workers if worker.unavailable is None]
        if available:
            min(available, key=lambda worker: len(worker.pending)).send(message, done)
        else:
            errors = (worker.unavailable for worker in self.workers)
            results: list[ResponseOrError] = [error for error in errors if error is not None]
            # Not at once: `done` may send the next batch, and so on without end.
            asyncio.get_running_loop().call_soon(done, results[:1] * len(message[1]))


class Worker(asyncio.Protocol):
    """One process, which handles batches one after the other.

    Parameters
    ----------
    load : callable
        Returns the handler, in the process.
    """

    def __init__(self, load: Callable[[], TextHandler]) -> None:
        self.load, self.closed, self.may_retry = load, False, True
        self.unavailable: UnavailableError | None = None
        self.pending: deque[tuple[BatchMessage, Done]] = deque()
        self._start()

    def _start(self) -> None:
        self.socket, other = socket.socketpair()
        processes = multiprocessing.get_context("spawn")
        self.process = processes.Process(target=_run_worker, args=(other, self.load, extension_modules()), daemon=True)
        self.process.start()
        other.close()  # so that the connection ends with the process
        self.connecting: asyncio.Future[Any] | None = None
        self.transport: asyncio.Transport | None = None
        self.received = bytearray()
        self.ready = False

    def wait(self) -> None:
        """Wait until the process is ready; raise its error if it cannot load the model."""
        with self.socket.makefile("rb") as file:
            failed = _read_message(file)
        if failed is not None:
            raise failed
        self.ready = True

    def send(self, message: BatchMessage, done: Done) -> None:
        """Send a batch; if the process is gone, to another one."""
        self.pending.append((message, done))
        if self.ready and self.transport is not None:
            self.transport.write(_pack(message))
        elif not self.connecting:
            self._connect()

    def _connect(self) -> None:
        loop = asyncio.get_running_loop()
        self.connecting = asyncio.ensure_future(loop.create_connection(lambda: self, sock=self.socket))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the batches that are pending."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        if self.ready:
            self._send_all()

    def _send_all(self) -> None:
        assert self.transport is not None
        for message, _ in self.pending:
            self.transport.write(_pack(message))

    def data_received(self, data: bytes) -> None:
        """Receive results, or that the process is ready."""
        self.received += data
        while len(self.received) >= SIZE_HEADER.size:
            end = SIZE_HEADER.size + SIZE_HEADER.unpack_from(self.received)[0]
            if len(self.received) < end:
                return
            content = pickle.loads(bytes(self.received[SIZE_HEADER.size : end]))  # of our own process
            del self.received[:end]
            if self.ready:
                self.may_retry = True
                _, done = self.pending.popleft()
                done(content)
            elif content is None:
                self.ready = True
                self._send_all()
            else:
                if isinstance(content, LinktopicsError):  # another process could not load the model either
                    LOG.error("a worker cannot be replaced: %s", content)
                    content = self.unavailable = UnavailableError(str(content))
                self._fail_all(content)

    def connection_lost(self, error: Exception | None) -> None:
        """Start another process, and send the batches again unless that was done before."""
        if self.closed:
            self._fail_all(EOFError("the server is stopping."))
            return
        self._stop(0.0)
        if self.unavailable is not None:
            return
        self._start()
        if not self.pending:
            return
        if self.may_retry:
            self._connect()
        else:
            self._fail_all(EOFError("two workers ended while processing the same requests."))
        self.may_retry = not self.may_retry

    def _fail_all(self, error: Exception) -> None:
        pending = list(self.pending)
        self.pending.clear()
        for message, done in pending:
            done([error] * len(message[1]))

    def close(self) -> None:
        """End the process."""
        self.closed = True
        self._stop(STOP_SECONDS)

    def _stop(self, seconds: float) -> None:
        with suppress(OSError):  # it has ended
            self.socket.shutdown(socket.SHUT_RDWR)  # at which the process ends
        self.process.join(seconds)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.socket.close()


def _pack(content: Any) -> bytes:
    body = pickle.dumps(content)
    return SIZE_HEADER.pack(len(body)) + body


def _read_message(file: Any) -> Any:
    head = file.read(SIZE_HEADER.size)
    if len(head) < SIZE_HEADER.size:
        raise EOFError("the other process has ended.")
    return pickle.loads(file.read(*SIZE_HEADER.unpack(head)))  # of our own process


def _run_worker(other: socket.socket, load: Callable[[], TextHandler], modules: list[str]) -> None:
    """Handle the batches that come through a socket until it is closed; `modules` register what a model may need."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which then closes the socket
    with one_thread(), other, other.makefile("rb") as file:  # there are as many processes as cores already
        try:
            for name in modules:
                import_module(name)
            handler = load()
            handler.warm_up()
        except Exception as error:
            other.sendall(_pack(_picklable(error)))
            return
        gc.collect()
        gc.freeze()  # the model stays, so the garbage collector can skip it
        try:
            other.sendall(_pack(None))
            while True:
                method, requests = _read_message(file)
                results = getattr(handler, method)(requests)
                other.sendall(_pack([_picklable(result) for result in results]))
        except (EOFError, OSError):
            pass  # the server has closed the socket


def _picklable(result: ResponseOrError) -> ResponseOrError:
    """Return a result that can be pickled; other exceptions are replaced by one with their traceback as text."""
    if isinstance(result, bytes | LinktopicsError):
        return result
    return RuntimeError("in a worker:\n" + "".join(traceback.format_exception(result)))
