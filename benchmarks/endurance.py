"""The server over time: very many slow connections beside honest ones, and its memory over very many requests.

    python benchmarks/endurance.py [--quick] [--model FOLDER] [--slow 900] [--seconds 40] [--requests 50000]
        [--json FILE]

A model of Python's standard library is fitted, or another one taken from --model, and served by `linktopics serve`.
First, connections that send a head a byte a second, and connect again when they are closed, are there beside two
kinds of honest ones: one connection that stays open, and one after the other that each ask once. Then another server
is asked different things over eight connections, and the memory of its processes is looked at every 2,000 requests.
"""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from abuse import ENDS, HOST, PATIENCE, Address, Server, _answer, raise_limits, request, served
from common import Row, finish, in_process, options, table
from linktopics import DocumentNetwork, RelationalTopicModel
from linktopics.datasets import load_stdlib
from linktopics.errors import ignore_mixing_warnings
from serving import Questions, Request

CONNECTIONS, EVERY = 8, 2_000
SLOW_HEAD = request("GET /" + "x" * 1000)
START = 10.0
"""Seconds that the slow connections have to be there before the honest ones ask."""

PAUSE = 0.02
"""Seconds between two honest requests of a kind."""

SHARES = {
    "document": 0.3, "search": 0.2, "page": 0.05, "cell": 0.05, "topic": 0.05, "suggestions": 0.2, "explanation": 0.1,
    "changes": 0.05,
}  # fmt: skip


class AllQuestions(Questions):
    """Draws requests for all that the server answers."""

    def __init__(self, network: DocumentNetwork, n_topics: int, seed: int) -> None:
        super().__init__(network, n_topics, SHARES, HOST, seed)
        self.ids = [str(id) for id in network.ids.tolist()]

    def _post(self, path: str, asked: dict[str, Any]) -> bytes:
        body = json.dumps(asked).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: {self.host}\r\nContent-Type: application/json\r\n"
        return head.encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body

    def _page(self) -> bytes:
        return self._get(self.random.choice(("/", "/api/meta", "/api/topics", "/openapi.json")))

    def _explanation(self) -> bytes:
        source, target = self.random.sample(self.ids, 2)
        given = {"source": source} if self.random.random() < 0.5 else {"text": self.text()}
        return self._post("/api/explain", {**given, "target": target})

    def _changes(self) -> bytes:
        return self._post("/api/changes", {"text": self.text(), "add": self.random.sample(self.vocabulary, 3)})


# ----------------------------------------------------------------------------------------------------------------------
# Slow connections
# ----------------------------------------------------------------------------------------------------------------------


@dataclass
class Told:
    """What became of connections of a kind."""

    seconds: list[float] = field(default_factory=list)
    lost: int = 0


async def drip(address: Address, over: asyncio.Event, told: Told) -> None:
    """Send a head a byte a second, until the connection is closed; then again, until it is over."""
    while not over.is_set():
        began = time.perf_counter()
        try:
            reader, writer = await asyncio.open_connection(*address)
        except OSError:
            told.lost += 1
            await asyncio.sleep(0.2)
            continue
        closed = asyncio.ensure_future(reader.read())
        with suppress(*ENDS):
            for byte in SLOW_HEAD:
                writer.write(bytes([byte]))
                await asyncio.wait([closed], timeout=1.0)
                if closed.done() or over.is_set():
                    break
        if not over.is_set():
            told.seconds.append(time.perf_counter() - began)
        closed.cancel()
        with suppress(asyncio.CancelledError, *ENDS):
            await closed
        writer.close()


def drip_all(host: str, port: int, n: int, seconds: float) -> None:
    """Have so many slow connections, in this process, and print what became of them."""

    async def run() -> Told:
        over, told = asyncio.Event(), Told()
        tasks = [asyncio.ensure_future(drip((host, port), over, told)) for _ in range(n)]
        await asyncio.sleep(seconds)
        over.set()
        await asyncio.gather(*tasks)
        return told

    print(json.dumps(vars(asyncio.run(run()))))


async def ask_honestly(
    address: Address, questions: Iterator[Request], over: asyncio.Event, stays: bool, told: Told
) -> None:
    """Ask again and again, over one connection or over a new one each time, and take the time."""
    connection = None
    while not over.is_set():
        began = time.perf_counter()
        try:
            if connection is None:
                connection = await asyncio.open_connection(*address)
            connection[1].write(next(questions)[1])
            await asyncio.wait_for(_answer(connection[0]), PATIENCE)
            told.seconds.append(time.perf_counter() - began)
        except (*ENDS, OSError):
            told.lost += 1
            stays_open = False
        else:
            stays_open = stays
        if connection is not None and not stays_open:
            connection[1].close()
            connection = None
        await asyncio.sleep(PAUSE)


async def slow_connections(address: Address, questions: AllQuestions, n_slow: int, seconds: float) -> list[Row]:
    """Return what became of honest connections without slow ones and with them, and of the slow ones."""
    rows = []
    drawn = ((kind, asked) for kind, asked in questions if kind in ("document", "search", "topic", "suggestions"))
    for n in (0, n_slow):
        over, kinds = asyncio.Event(), {"one persistent connection": Told(), "a new connection per request": Told()}
        code = f"import endurance; endurance.drip_all(*{address}, {n}, {seconds + START})"
        dripping = asyncio.ensure_future(asyncio.to_thread(in_process, code))
        await asyncio.sleep(START)
        tasks = [
            asyncio.ensure_future(ask_honestly(address, drawn, over, kind == "one persistent connection", told))
            for kind, told in kinds.items()
        ]
        await asyncio.sleep(seconds)
        over.set()
        await asyncio.gather(*tasks)
        slow = Told(**await dripping)
        rows += [_row(f"{kind}, {n} slow", told) for kind, told in kinds.items()]
        if n:
            rows.append(_row(f"{n} slow, until closed", slow))
    return rows


def _row(what: str, told: Told) -> Row:
    p50, p99, most = 1000 * np.percentile(told.seconds or [np.nan], [50, 99, 100])
    return {"what": what, "n": len(told.seconds), "p50": p50, "p99": p99, "most": most, "lost": told.lost}


# ----------------------------------------------------------------------------------------------------------------------
# Memory
# ----------------------------------------------------------------------------------------------------------------------


def memory(server: Server) -> tuple[float, list[float]]:
    """Return the resident memory of the server and of its workers, in MB."""

    def of(pid: int) -> float:
        found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
        return int(found[1]) / 1024 if found else 0.0

    return of(server.process.pid), sorted(of(pid) for pid in server.workers())


async def many_requests(server: Server, questions: AllQuestions, n: int) -> list[Row]:
    """Ask so many different things, and return the memory every now and then."""
    drawn, statuses, rows = islice(questions, n), Counter[int](), list[Row]()

    def look() -> None:
        own, workers = memory(server)
        told = " ".join(f"{one:.0f}" for one in workers)
        rows.append({"n": statuses.total(), "server": own, "workers": told, "all": own + sum(workers)})
        rows[-1]["failed"] = statuses.total() - statuses[200]

    async def ask() -> None:
        reader, writer = await asyncio.open_connection(*server.address)
        for _, asked in drawn:
            writer.write(asked)
            status, _ = await asyncio.wait_for(_answer(reader), PATIENCE)
            statuses[status] += 1
            if statuses.total() % EVERY == 0:
                look()
        writer.close()

    look()
    await asyncio.gather(*(ask() for _ in range(CONNECTIONS)))
    return rows


SLOW = {
    "what": ("connections", "{}"),
    "n": ("answered, or closed", "{:,}"),
    "p50": ("p50, ms", "{:.0f}"),
    "p99": ("p99, ms", "{:.0f}"),
    "most": ("longest, ms", "{:.0f}"),
    "lost": ("refused", "{:,}"),
}
MEMORY = {
    "n": ("requests", "{:,}"),
    "server": ("server, MB", "{:.0f}"),
    "workers": ("workers, MB", "{}"),
    "all": ("all, MB", "{:.0f}"),
    "failed": ("responses other than 200", "{:,}"),
}


def main() -> None:
    """Run the benchmark."""
    arguments = options(
        __doc__,
        ("--model", {"type": Path, "metavar": "FOLDER", "help": "a fitted model"}),
        ("--slow", {"type": int, "default": 900, "help": "slow connections"}),
        ("--seconds", {"type": float, "default": 40.0, "help": "how long they are there"}),
        ("--requests", {"type": int, "default": 50_000, "help": "requests to send while memory is measured"}),
    )
    if arguments.quick:
        arguments.seconds, arguments.requests = min(arguments.seconds, 12.0), min(arguments.requests, 4_000)
    raise_limits()
    tables = []
    with tempfile.TemporaryDirectory() as folder:
        model = arguments.model or Path(folder) / "model"
        if arguments.model is None:
            with ignore_mixing_warnings():
                RelationalTopicModel(15, random_state=0, verbose=False).fit(load_stdlib()).save(model)
        fitted = RelationalTopicModel.load(model)
        questions = AllQuestions(fitted.network_, fitted.n_topics, 0)
        if arguments.slow:
            with served(model) as server:
                asyncio.run(many_requests(server, questions, 200))
                rows = asyncio.run(slow_connections(server.address, questions, arguments.slow, arguments.seconds))
                n_lines = len(server.log.read_text().splitlines())
                note = f"The server's log had {n_lines} lines." if n_lines else "The server's log stayed empty."
            tables.append(table("Slow connections", SLOW, rows, note))
        if arguments.requests:
            with served(model) as server:
                rows = asyncio.run(many_requests(server, questions, arguments.requests))
            note = "Resident memory; each process counts the pages of the mapped model files."
            tables.append(table("Memory", MEMORY, rows, note))
    about = "`linktopics serve`, queried over the loopback interface by a process on the same cores."
    finish("The server over time", about, tables, arguments, ["starlette", "uvicorn", "httptools"])


if __name__ == "__main__":
    main()
