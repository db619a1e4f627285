"""The server under abuse: whether those who ask as they should are answered as ever while others do all they can.

    python benchmarks/abuse.py [--data FOLDER] [--quick] [--model FOLDER] [--connections 50] [--seconds 60]
        [--json FILE]

A model of Cora is fitted, or taken from --model, and served by `linktopics serve`, twice. The first server is asked
some questions one after the other, and nothing else. The second is asked the same by many connections at once, while
others send what is slow, endless, too large, too much or no HTTP, go away in mid-answer or do not listen, and while its
workers are killed. Every answer must have the same bytes as the first server's. At last the server must have as many
files open as before, say nothing in its log, and end on SIGTERM with all its processes.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from common import Row, data_option, finish, options, table
from linktopics import RelationalTopicModel
from linktopics.server.limits import Limits
from serving import EVERYTHING, Questions, fit

HOST = "localhost"
LIMITS = Limits()
QUESTIONS = 3_000
PATIENCE = 120.0
"""Seconds that anything may take here before it counts as hanging."""

Address = tuple[str, int]
Attack = Callable[[Address], Awaitable[str]]
ENDS = (ConnectionError, BrokenPipeError, TimeoutError, asyncio.IncompleteReadError)


# ----------------------------------------------------------------------------------------------------------------------
# The server
# ----------------------------------------------------------------------------------------------------------------------


@dataclass
class Server:
    """A server, and what can be seen of it from outside."""

    process: subprocess.Popen[str]
    address: Address
    log: Path

    def children(self) -> list[int]:
        """Return the processes that it has started."""
        return [
            int(pid) for pid in Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        ]

    def workers(self) -> list[int]:
        """Return the processes that answer questions about texts."""
        return [pid for pid in self.children() if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]

    def open_files(self) -> int:
        """Return the number of files and sockets that are open."""
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))

    def memory_mb(self, name: str) -> float:
        """Return VmRSS or VmHWM of the server and its workers together."""
        total = 0
        for pid in (self.process.pid, *self.workers()):
            found = re.search(rf"{name}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
            total += int(found[1]) if found else 0
        return total / 1024

    def end(self) -> tuple[int, list[int]]:
        """Send SIGTERM; return the exit code, and the processes that are left."""
        children = self.children()
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(PATIENCE)
        until = time.monotonic() + PATIENCE
        while (left := [pid for pid in children if _is_running(pid)]) and time.monotonic() < until:
            time.sleep(0.05)
        return code, left


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@contextmanager
def served(model: Path, *arguments: str) -> Iterator[Server]:
    """Serve a model, with its log in a file."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        command = [sys.executable, "-m", "linktopics", "serve", str(model), "--port", "0", *arguments]
        with open(log, "w") as stream:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stream, text=True)
        assert process.stdout is not None
        try:
            found = next((at for line in process.stdout if (at := re.search(r"http://(\S+?):(\d+)/", line))), None)
            if found is None:
                raise SystemExit(log.read_text())
            yield Server(process, (found[1], int(found[2])), log)
        finally:
            process.kill()
            process.wait()


# ----------------------------------------------------------------------------------------------------------------------
# Those who ask as they should
# ----------------------------------------------------------------------------------------------------------------------

Answer = tuple[int, bytes]


@dataclass
class Honest:
    """What became of questions that were asked as they should be."""

    seconds: list[float] = field(default_factory=list)
    wrong: list[tuple[bytes, Answer]] = field(default_factory=list)
    refused: int = 0
    lost: int = 0


async def _answer(reader: asyncio.StreamReader) -> Answer:
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head.lower())
    assert length is not None, head
    return int(head[9:12]), await reader.readexactly(int(length[1]))


async def ask_each(address: Address, questions: Sequence[bytes]) -> list[Answer]:
    """Ask one question after the other."""
    reader, writer = await asyncio.open_connection(*address)
    answers = []
    for question in questions:
        writer.write(question)
        answers.append(await asyncio.wait_for(_answer(reader), PATIENCE))
    writer.close()
    return answers


async def ask_on(
    address: Address,
    questions: Sequence[bytes],
    answers: Sequence[Answer],
    over: asyncio.Event,
    seed: int,
    told: Honest,
) -> None:
    """Ask questions in an order of one's own, and compare answers, until it is over; who is refused asks again."""
    order, drawn = list(range(len(questions))), random.Random(seed)
    connection = None
    while not over.is_set():
        drawn.shuffle(order)
        for at in order:
            if over.is_set():
                break
            try:
                if connection is None:
                    connection = await asyncio.open_connection(*address)
                began = time.perf_counter()
                connection[1].write(questions[at])
                answer = await asyncio.wait_for(_answer(connection[0]), PATIENCE)
            except ENDS:
                told.lost += 1
                if connection is not None:
                    connection[1].close()
                connection = None
                await asyncio.sleep(0.2)
                continue
            if answer[0] == 503:
                told.refused += 1
                await asyncio.sleep(0.2)
                continue
            told.seconds.append(time.perf_counter() - began)
            if answer != answers[at]:
                told.wrong.append((questions[at], answer))
    if connection is not None:
        connection[1].close()


# ----------------------------------------------------------------------------------------------------------------------
# Those who do not
# ----------------------------------------------------------------------------------------------------------------------


def request(line: str, *headers: str, host: str | None = HOST, body: bytes = b"") -> bytes:
    """Return a request after which the connection is to be closed."""
    named = [] if host is None else [f"Host: {host}"]
    return "\r\n".join([f"{line} HTTP/1.1", *named, "Connection: close", *headers, "", ""]).encode("latin-1") + body


def question(body: bytes, path: str = "/api/suggest", *headers: str) -> bytes:
    """Return a question with this body."""
    return request(
        f"POST {path}", "Content-Type: application/json", f"Content-Length: {len(body)}", *headers, body=body
    )


def outcome(received: bytes) -> str:
    """Return the statuses of what was answered."""
    return " ".join(sorted({found.decode() for found in re.findall(rb"HTTP/1\.1 (\d{3}) ", received)})) or "closed"


async def talk(address: Address, *parts: bytes, pause: float = 0.0, half: bool = False) -> str:
    """Send bytes as they are, and return what came back until the connection was closed."""
    reader, writer = await asyncio.open_connection(*address)
    received = bytearray()

    async def listen() -> None:
        with suppress(*ENDS):
            while data := await reader.read(2**16):
                received.extend(data)

    listening = asyncio.ensure_future(listen())
    try:
        for part in parts:
            if listening.done():
                break
            writer.write(part)
            await writer.drain()
            if pause:
                await asyncio.wait([listening], timeout=pause)
        if half:
            writer.write_eof()
    except (ConnectionError, RuntimeError):
        pass
    try:
        await asyncio.wait_for(listening, PATIENCE)
    except TimeoutError:
        return "hangs"
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
    return outcome(bytes(received))


def sends(*parts: bytes, pause: float = 0.0, half: bool = False) -> Attack:
    """Return an attack that sends these bytes."""
    return lambda address: talk(address, *parts, pause=pause, half=half)


async def leave(address: Address) -> str:
    """Ask, and go away before, or amid, the answer."""
    for asked, wanted in ((question(b'{"text": "cats and stars"}'), 0), (request("GET /api/meta") * 20, 10)):
        reader, writer = await asyncio.open_connection(*address)
        writer.write(asked)
        await writer.drain()
        with suppress(*ENDS):
            await reader.read(wanted)
        writer.transport.abort()
    return "left"


async def do_not_listen(address: Address) -> str:
    """Ask for a lot, and read nothing of it until the server has closed its end."""
    deaf, loop = socket.socket(), asyncio.get_running_loop()
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**14)
    deaf.setblocking(False)
    with deaf:
        await loop.sock_connect(deaf, address)
        await loop.sock_sendall(deaf, f"GET /api/meta HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode() * 1000)
        ends = [f":{port:04X}" for port in (address[1], deaf.getsockname()[1])]
        until = time.monotonic() + LIMITS.writing + PATIENCE
        while _is_established(*ends):
            if time.monotonic() > until:
                return "hangs"
            await asyncio.sleep(0.5)
    return "closed"


def _is_established(local: str, remote: str) -> bool:
    """Tell whether a connection between two ports is open at its first end."""
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, mine, other, state = line.split()[:4]
        if mine.endswith(local) and other.endswith(remote):
            return state == "01"
    return False


async def pipeline(address: Address) -> str:
    """Ask several questions before the first is answered; answers must come in their order."""
    reader, writer = await asyncio.open_connection(*address)
    order = [0, 1, 1, 0, 1]
    writer.write(b"".join(f"GET /api/topics/{k} HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode() for k in order))
    try:
        answers = [await asyncio.wait_for(_answer(reader), PATIENCE) for _ in order]
    except ENDS:
        return "closed"
    finally:
        writer.close()
    if any(status == 503 for status, _ in answers):
        return "503"
    return "200" if [json.loads(body)["k"] for _, body in answers] == order else "disorder"


async def many_connections(address: Address) -> str:
    """Open more connections than there may be, say nothing, and wait until all of them are closed."""
    results = await asyncio.gather(*(talk(address) for _ in range(LIMITS.connections + 50)), return_exceptions=True)
    return " ".join(sorted({one if isinstance(one, str) else "closed" for one in results}))


async def many_questions(address: Address) -> str:
    """Ask about more texts at once than may wait."""
    texts = [
        question(json.dumps({"text": f"word{random.random()} cats"}).encode()) for _ in range(LIMITS.waiting + 100)
    ]
    results = await asyncio.gather(*(talk(address, text) for text in texts), return_exceptions=True)
    return " ".join(sorted({one if isinstance(one, str) else "closed" for one in results}))


CHUNKED = request("POST /api/suggest", "Content-Type: application/json", "Transfer-Encoding: chunked")
CHUNK = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
CLOSED, READ, REFUSED = {"closed"}, {"200"}, {"400"}

ATTACKS: dict[str, tuple[Attack, set[str]]] = {
    "a head, a byte a second": (sends(*(bytes([b]) for b in request("GET /" + "x" * 100)), pause=1.0), CLOSED),
    "a body, a byte a second": (sends(question(b" " * 1000)[:-1000], *[b" "] * 60, pause=1.0), {"408"}),
    "nothing": (sends(), CLOSED),
    "a body of 1 GB, announced": (
        sends(request("POST /api/suggest", "Content-Type: application/json", "Content-Length: 1000000000")), {"413"}
    ),
    "a body of 2 MB": (sends(question(b" " * 2_000_000)), {"413"}),
    "chunks without end": (sends(CHUNKED, *[CHUNK] * 2_000), {"408", "413"}),
    "no size of a chunk": (sends(CHUNKED, b"size\r\n\r\n"), REFUSED),
    "a chunk of 2^70 bytes": (sends(CHUNKED, b"400000000000000000\r\n\r\n"), REFUSED),
    "5,000 headers": (sends(request("GET /", *(f"X-{n}: {'x' * 20}" for n in range(5_000)))), REFUSED),
    "a header of 200 KB": (sends(request("GET /", "X: " + "x" * 200_000)), REFUSED),
    "a line of 200 KB": (sends(request("GET /" + "x" * 200_000)), REFUSED | {"404"}),
    "NUL bytes": (sends(b"GET /\0 HTTP/1.1\r\nHost: localhost\r\nX: \0\r\n\r\n"), REFUSED),
    "HTTP/0.9": (sends(b"GET /\r\n\r\n"), REFUSED),
    "HTTP/2": (sends(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), REFUSED),
    "TLS": (sends(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500)), REFUSED),
    "an address of another host": (sends(request("GET http://evil.example/api/health", host="evil.example")), REFUSED),
    "another host": (sends(request("GET /api/health", host="evil.example")), REFUSED),
    "no host": (sends(request("GET /api/health", host=None)), REFUSED),
    "two lengths": (sends(question(b"{}", "/api/suggest", "Content-Length: 9")), REFUSED),
    "a length and chunks": (sends(question(b"0\r\n\r\n", "/api/suggest", "Transfer-Encoding: chunked")), REFUSED),
    "a page of another site": (sends(question(b"{}", "/api/suggest", "Origin: http://evil.example")), {"403"}),
    "an upgrade": (sends(request("GET /api/health", "Upgrade: h2c")), READ),
    "a websocket": (
        sends(request("GET /api/health", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
                      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==").replace(b"close", b"Upgrade"), half=True),
        READ | CLOSED | REFUSED,
    ),
    "no JSON": (sends(question(b"{'text': 1}")), REFUSED),
    "100,000 brackets": (sends(question(b"[" * 100_000)), REFUSED),
    "a number of 5,000 digits": (sends(question(b'{"text": "cats", "top": ' + b"9" * 5_000 + b"}")), REFUSED),
    "1e999": (sends(question(b'{"text": "cats", "top": 1e999}')), {"422"}),
    "half of a character": (sends(question(b'{"text": "\\ud83d cats"}')), READ),
    "a connection half closed": (sends(question(b'{"text": "half closed cats"}'), half=True), READ | CLOSED),
    "leaving in mid-answer": (leave, {"left"}),
    "not listening": (do_not_listen, CLOSED),
    "five questions at once": (pipeline, READ),
    "more connections than may be": (many_connections, CLOSED),
    "more questions than may wait": (many_questions, READ),
}  # fmt: skip
"""What is done to the server, and what may come of it; when too much is going on, it may also be refused."""

BUSY = {"503", "closed"}
RESTS = {many_connections: 15.0, many_questions: 15.0}
"""Seconds between two floods, so that there is something between them to be seen."""


async def attack_on(name: str, address: Address, over: asyncio.Event, found: Counter[str], once: bool) -> None:
    """Do one thing again and again until it is over."""
    while not over.is_set():
        try:
            found[await ATTACKS[name][0](address)] += 1
        except OSError:  # all connections are taken
            found["closed"] += 1
        if once:
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(over.wait(), RESTS.get(ATTACKS[name][0], 0.05))


async def kill_workers(server: Server, every: float) -> int:
    """Kill each worker that is there now once, one after the other."""
    workers = server.workers()
    for pid in workers:
        await asyncio.sleep(every)
        os.kill(pid, signal.SIGKILL)
    return len(workers)


@dataclass
class Found:
    """What became of all."""

    honest: Honest
    attacks: dict[str, Counter[str]]
    seconds: float
    killed: int

    def unexpected(self) -> dict[str, list[str]]:
        """Return what should not have come of attacks."""
        parts = {name: {part for one in came for part in one.split()} for name, came in self.attacks.items()}
        odd = {name: sorted(came - ATTACKS[name][1] - BUSY) for name, came in parts.items()}
        return {name: came for name, came in odd.items() if came}


async def abuse(
    server: Server, questions: Sequence[bytes], answers: Sequence[Answer], connections: int, seconds: float | None
) -> Found:
    """Ask as one should and do all the rest at the same time, for some seconds; None does each thing once."""
    over, honest, began = asyncio.Event(), Honest(), time.perf_counter()
    asking = [
        asyncio.ensure_future(ask_on(server.address, questions, answers, over, seed, honest))
        for seed in range(connections)
    ]
    attacks: dict[str, Counter[str]] = {name: Counter() for name in ATTACKS}
    doing = [
        asyncio.ensure_future(attack_on(name, server.address, over, attacks[name], seconds is None)) for name in ATTACKS
    ]
    killed = await kill_workers(server, 1.0 if seconds is None else seconds / 4)
    if seconds is not None:
        await asyncio.sleep(max(0.0, began + seconds - time.perf_counter()))
        over.set()
    await asyncio.gather(*doing)
    over.set()
    await asyncio.gather(*asking)
    return Found(honest, attacks, time.perf_counter() - began, killed)


def wait_for_quiet(server: Server, before: int) -> int:
    """Wait until no more files are open than before; return how many are."""
    until = time.monotonic() + PATIENCE
    while (now := server.open_files()) > before and time.monotonic() < until:
        time.sleep(0.2)
    return now


def questions_about(model: Path, n: int) -> list[bytes]:
    """Draw questions about a model, each of them once."""
    fitted = RelationalTopicModel.load(model)
    drawn = Questions(fitted.network_, fitted.n_topics, EVERYTHING, HOST, 0)
    return list(dict.fromkeys(asked for _, asked in islice(drawn, n)))


def raise_limits() -> None:
    """Let this process, and those it starts, have enough connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, 4096), hard), hard))


# ----------------------------------------------------------------------------------------------------------------------
# The benchmark
# ----------------------------------------------------------------------------------------------------------------------

ASKED = {
    "what": ("", "{}"),
    "requests": ("answers", "{:,}"),
    "rate": ("per second", "{:.0f}"),
    "p50": ("p50, ms", "{:.0f}"),
    "p99": ("p99, ms", "{:.0f}"),
    "wrong": ("other bytes", "{}"),
    "refused": ("refused for a second", "{}"),
    "lost": ("connections lost", "{}"),
}
DONE = {"what": ("what was done", "{}"), "times": ("times", "{:,}"), "came": ("what came of it", "{}")}
STATE = {"what": ("", "{}"), "files": ("open files", "{}"), "mb": ("MB", "{:.0f}"), "peak": ("peak, MB", "{:.0f}")}


def honest_row(what: str, honest: Honest, seconds: float) -> Row:
    """Return the row of those who asked as they should."""
    p50, p99 = 1000 * np.percentile(honest.seconds, [50, 99])
    row = {"what": what, "requests": len(honest.seconds), "rate": len(honest.seconds) / seconds, "p50": p50, "p99": p99}
    return {**row, "wrong": len(honest.wrong), "refused": honest.refused, "lost": honest.lost}


def state_row(what: str, server: Server) -> Row:
    """Return the row of what the server holds."""
    return {
        "what": what,
        "files": server.open_files(),
        "mb": server.memory_mb("VmRSS"),
        "peak": server.memory_mb("VmHWM"),
    }


async def undisturbed(
    server: Server, questions: Sequence[bytes], answers: Sequence[Answer], n: int, s: float
) -> Honest:
    """Ask as one should, and nothing else."""
    over, honest = asyncio.Event(), Honest()
    asking = [asyncio.ensure_future(ask_on(server.address, questions, answers, over, k, honest)) for k in range(n)]
    await asyncio.sleep(s)
    over.set()
    await asyncio.gather(*asking)
    return honest


def run(model: Path, connections: int, seconds: float, n_questions: int) -> list[dict[str, Any]]:
    """Do all of it, and return the tables."""
    questions = questions_about(model, n_questions)
    with served(model) as server:
        answers = asyncio.run(ask_each(server.address, questions))
        alone = asyncio.run(undisturbed(server, questions, answers, connections, seconds / 4))
    with served(model) as server:
        asyncio.run(ask_each(server.address, questions[:1]))
        before = state_row("before", server)
        found = asyncio.run(abuse(server, questions, answers, connections, seconds))
        wait_for_quiet(server, before["files"])
        after = state_row("after", server)
        again = asyncio.run(ask_each(server.address, questions[:50]))
        log = server.log.read_text()
        code, left = server.end()
    note = (
        f"{connections} connections, {len(questions):,} different questions; {found.killed} workers were killed. "
        f"Afterwards 50 questions had {'the same answers' if again == answers[:50] else 'OTHER ANSWERS'}. The log had "
        f"{len(log.splitlines())} lines; on SIGTERM the server ended with {code} and left {len(left)} processes."
    )
    rows = [honest_row("undisturbed", alone, seconds / 4), honest_row("under abuse", found.honest, found.seconds)]
    done = [
        {"what": name, "times": came.total(), "came": ", ".join(f"{what}: {n:,}" for what, n in came.most_common())}
        for name, came in found.attacks.items()
    ]
    odd = found.unexpected()
    said = f"What should not have come of it: {odd}." if odd else "Nothing else came of any of it."
    if log:
        print(log)
    return [
        table("Those who ask as they should", ASKED, rows, note),
        table("Those who do not", DONE, done, said),
        table(
            "What the server holds", STATE, [before, after], "Memory is that of the server and its workers together."
        ),
    ]


def main() -> None:
    """Run the benchmark."""
    arguments = options(
        __doc__,
        data_option(),
        ("--model", {"type": Path, "metavar": "FOLDER", "help": "a fitted model of Cora"}),
        ("--connections", {"type": int, "default": 50, "help": "connections that ask as they should"}),
        ("--seconds", {"type": float, "default": 60.0, "help": "how long"}),
    )
    raise_limits()
    with tempfile.TemporaryDirectory() as folder:
        model = arguments.model
        if model is None:
            model = Path(folder) / "model"
            fit(model, arguments.data, arguments.quick)
        quick = (min(arguments.seconds, 15.0), 300) if arguments.quick else (arguments.seconds, QUESTIONS)
        tables = run(model, arguments.connections, *quick)
    about = (
        "`linktopics serve` with a model of Cora (2,708 documents, 20 topics). Some ask as they should, over "
        "connections that stay open, and compare every byte with what a server answered that nobody disturbed; at the "
        "same time all else on this list is done to the server, again and again. Both share the machine's cores."
    )
    finish("The server under abuse", about, tables, arguments, ["starlette", "uvicorn", "httptools"])


if __name__ == "__main__":
    main()
