"""Questions about texts, answered in processes of their own, so that whoever only reads pages does not wait for them.

A worker loads the model, whose samples are mapped into memory and so shared, answers what comes through a socket, and
ends when the other end is closed. One that dies is replaced, and the question asked again, once. One that can no longer
load the model is not replaced; while others have it, they answer.
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
from struct import Struct
from typing import Any

from linktopics._threads import one_thread
from linktopics.errors import LinktopicsError
from linktopics.explorer.answers import AboutChanges, AboutPair, AboutText, Answer, Answers

__all__ = ["AHEAD", "UnavailableError", "Workers"]

LOG = logging.getLogger("linktopics.server")

AHEAD = 2
"""What each process is to have been asked at a time, so that it need not wait for the next question."""

PATIENCE = 5.0
"""Seconds that a process has to end by itself."""

SIZE = Struct("!Q")
"""What comes before a message: how long it is."""

Message = tuple[str, list[Any]]
"""What is asked, and the questions."""

Done = Callable[[list[Answer]], None]
"""Takes answers, in the event loop."""


class UnavailableError(Exception):
    """No process can load the model any more, and why."""


class Workers:
    """Answers as `Answers` does, in processes, while the event loop goes on.

    Parameters
    ----------
    make : callable
        Returns `Answers`; it is called in each process, so it must be picklable.
    jobs : int
        Processes.
    """

    def __init__(self, make: Callable[[], Answers], jobs: int) -> None:
        self.workers = [Worker(make) for _ in range(jobs)]

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.close()

    def warm_up(self) -> None:
        """Wait until all processes can answer; nothing may have been asked before."""
        for worker in self.workers:
            worker.wait()

    def suggest(self, questions: list[AboutText], done: Done) -> None:
        """Find topics and suggested links of texts."""
        self._ask(("suggest", questions), done)

    def think(self, questions: list[AboutChanges | AboutPair], done: Done) -> None:
        """Answer questions that take longer."""
        self._ask(("think", questions), done)

    def _ask(self, message: Message, done: Done) -> None:
        able = [worker for worker in self.workers if worker.unavailable is None]
        if able:
            min(able, key=lambda worker: len(worker.asked)).ask(message, done)
        else:
            answers: list[Answer] = [worker.unavailable for worker in self.workers if worker.unavailable is not None]
            # Not at once: whoever gets the answer may ask the next question, and so on without end.
            asyncio.get_running_loop().call_soon(done, answers[:1] * len(message[1]))


class Worker(asyncio.Protocol):
    """One process, which answers what it is asked one after the other.

    Parameters
    ----------
    make : callable
        Returns what answers, in the process.
    """

    def __init__(self, make: Callable[[], Answers]) -> None:
        self.make, self.closed, self.again = make, False, True
        self.unavailable: UnavailableError | None = None
        self.asked: deque[tuple[Message, Done]] = deque()
        self._start()

    def _start(self) -> None:
        self.socket, other = socket.socketpair()
        processes = multiprocessing.get_context("spawn")
        self.process = processes.Process(target=_work, args=(other, self.make), daemon=True)
        self.process.start()
        other.close()  # so that the connection ends with the process
        self.connecting: asyncio.Future[Any] | None = None
        self.transport: asyncio.Transport | None = None
        self.received = bytearray()
        self.ready = False

    def wait(self) -> None:
        """Wait until the process can answer; what it cannot do is raised here."""
        with self.socket.makefile("rb") as file:
            failed = _receive(file)
        if failed is not None:
            raise failed
        self.ready = True

    def ask(self, message: Message, done: Done) -> None:
        """Have questions answered; if the process is gone, by another one."""
        self.asked.append((message, done))
        if self.ready and self.transport is not None:
            self.transport.write(_packed(message))
        elif not self.connecting:
            self._connect()

    def _connect(self) -> None:
        loop = asyncio.get_running_loop()
        self.connecting = asyncio.ensure_future(loop.create_connection(lambda: self, sock=self.socket))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send what was asked in the meantime."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        if self.ready:
            self._send_all()

    def _send_all(self) -> None:
        assert self.transport is not None
        for message, _ in self.asked:
            self.transport.write(_packed(message))

    def data_received(self, data: bytes) -> None:
        """Take an answer, or a sign that the process is ready, once it is complete."""
        self.received += data
        while len(self.received) >= SIZE.size:
            end = SIZE.size + SIZE.unpack_from(self.received)[0]
            if len(self.received) < end:
                return
            content = pickle.loads(bytes(self.received[SIZE.size : end]))  # of our own process
            del self.received[:end]
            if self.ready:
                self.again = True
                _, done = self.asked.popleft()
                done(content)
            elif content is None:
                self.ready = True
                self._send_all()
            else:
                self._fail(self._give_up(content) if isinstance(content, LinktopicsError) else content)

    def _give_up(self, error: LinktopicsError) -> UnavailableError:
        """Start no other process, which could not load the model either."""
        LOG.error("a worker cannot be replaced: %s", error)
        self.unavailable = UnavailableError(str(error))
        return self.unavailable

    def connection_lost(self, error: Exception | None) -> None:
        """Begin again with another process, unless that was the second to end over the same question."""
        if self.closed:
            self._fail(EOFError("the server ends."))
            return
        self._stop(0.0)
        if self.unavailable is not None:
            return
        self._start()
        if not self.asked:
            return
        if self.again:
            self._connect()
        else:
            self._fail(EOFError("a worker ended, and then another one, while they answered."))
        self.again = not self.again

    def _fail(self, error: Exception) -> None:
        asked = list(self.asked)
        self.asked.clear()
        for message, done in asked:
            done([error] * len(message[1]))

    def close(self) -> None:
        """End the process."""
        self.closed = True
        self._stop(PATIENCE)

    def _stop(self, patience: float) -> None:
        with suppress(OSError):  # it has ended
            self.socket.shutdown(socket.SHUT_RDWR)  # which the process takes as a sign to end
        self.process.join(patience)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.socket.close()


def _packed(content: Any) -> bytes:
    body = pickle.dumps(content)
    return SIZE.pack(len(body)) + body


def _receive(file: Any) -> Any:
    head = file.read(SIZE.size)
    if len(head) < SIZE.size:
        raise EOFError("the other process has ended.")
    return pickle.loads(file.read(*SIZE.unpack(head)))  # of our own process


def _work(other: socket.socket, make: Callable[[], Answers]) -> None:
    """Answer what comes through a socket until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which then closes the socket
    with one_thread(), other, other.makefile("rb") as file:  # as many processes as cores are there already
        try:
            answers = make()
            answers.warm_up()
        except Exception as error:
            other.sendall(_packed(_portable(error)))
            return
        gc.collect()
        gc.freeze()  # the model stays: it need not be looked through for what could go
        try:
            other.sendall(_packed(None))
            while True:
                what, questions = _receive(file)
                found = getattr(answers, what)(questions)
                other.sendall(_packed([_portable(answer) for answer in found]))
        except (EOFError, OSError):
            pass  # nobody asks any more


def _portable(answer: Answer) -> Answer:
    """Return an answer that can be sent: not every exception can, nor does it take its origin along."""
    if isinstance(answer, bytes | LinktopicsError):
        return answer
    return RuntimeError("in a worker:\n" + "".join(traceback.format_exception(answer)))
