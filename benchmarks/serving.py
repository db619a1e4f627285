"""Speed of the server: many connections at once, each asking again as soon as it is answered.

    python benchmarks/serving.py [--data FOLDER] [--quick] [--model FOLDER] [--connections 100] [--seconds 60]
        [--samples N] [--json benchmarks/results/serving.json]

A model of Cora with 20 topics and the default settings is fitted, or taken from --model, and served by the command
`linktopics serve` in a process of its own; the questions come from another. Both share the machine's cores. What is
asked is drawn at random: documents, searches, cells of the weight matrix, topics, and suggestions for texts of 50 to
150 words, no two of which are the same; then, for as long, such texts alone. A text has the words of a few documents
that are linked with one another, and as many that the model does not know, as texts have. --samples is the option of
the command; how much answers depend on it is told, too.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit
from urllib.request import urlopen

import numpy as np

from common import Row, data_option, finish, in_process, open_data, options, table
from linktopics import DocumentNetwork, RelationalTopicModel
from linktopics.server.handlers import load_handler
from linktopics.server.limits import Limits
from linktopics.server.pinned_model import PinnedModel
from linktopics.server.text_queries import TextQuery, TextQueryEngine

Shares = dict[str, float]
"""What is asked, and how often."""

EVERYTHING: Shares = {"document": 0.35, "search": 0.25, "cell": 0.15, "topic": 0.15, "suggestions": 0.1}
TEXTS: Shares = {"suggestions": 1.0}

COMPARED, TOP = 200, 8
"""Texts, and suggestions of each, for which numbers of samples are compared."""

FEWEST_WORDS, MOST_WORDS = 50, 150
FILLING = ["the", "of", "and", "to", "in", "is", "that", "we", "for", "this", "with", "are", "as", "by", "which"]
"""Words that texts have beside those that models know."""

Request = tuple[str, bytes]
"""The kind of a request, and all its bytes."""

Tell = Callable[[str, float, int, int], None]
"""Takes the kind, the seconds, the status and the size of an answer."""


class Questions:
    """Draws requests at random.

    Parameters
    ----------
    network : DocumentNetwork
        The documents that are served.
    n_topics : int
        Topics of the model.
    shares : dict
        What is asked, and how often.
    host : str
        The Host header.
    seed : int
        Of the random numbers.
    """

    def __init__(self, network: DocumentNetwork, n_topics: int, shares: Shares, host: str, seed: int) -> None:
        self.random, self.shares = random.Random(seed), shares
        self.n_documents, self.n_topics, self.host = network.n_documents, n_topics, host
        assert network.vocabulary is not None
        self.vocabulary = [str(word) for word in network.vocabulary]
        counts = network.counts
        self.words = [[self.vocabulary[w] for w in counts.indices[a:b]] for a, b in pairwise(counts.indptr)]
        self.linked: list[list[int]] = [[] for _ in self.words]
        for source, target in network.links.tolist():
            self.linked[source].append(target)
            self.linked[target].append(source)

    def __iter__(self) -> Iterator[Request]:
        kinds, shares = list(self.shares), list(self.shares.values())
        while True:
            kind = self.random.choices(kinds, shares)[0]
            yield kind, getattr(self, f"_{kind}")()

    def _get(self, path: str) -> bytes:
        return f"GET {path} HTTP/1.1\r\nHost: {self.host}\r\n\r\n".encode()

    def _document(self) -> bytes:
        return self._get(f"/api/documents/{self.random.randrange(self.n_documents)}?by=number")

    def _search(self) -> bytes:
        query = " ".join(self.random.sample(self.vocabulary, self.random.choice((1, 1, 2))))
        sort = self.random.choice(("number", "title", "tokens", "links"))
        return self._get("/api/documents?" + urlencode({"query": query, "sort": sort, "size": 50}))

    def _cell(self) -> bytes:
        return self._get(f"/api/cells/{self.random.randrange(self.n_topics)}/{self.random.randrange(self.n_topics)}")

    def _topic(self) -> bytes:
        return self._get(f"/api/topics/{self.random.randrange(self.n_topics)}")

    def text(self) -> str:
        """Return a text that was never there."""
        wanted = self.random.randint(FEWEST_WORDS, MOST_WORDS)
        document, known = self.random.randrange(self.n_documents), []
        while len(known) < wanted // 2:
            known += self.words[document]
            document = self.random.choice(self.linked[document] or [self.random.randrange(self.n_documents)])
        words = known[: wanted // 2] + self.random.choices(FILLING, k=wanted - wanted // 2)
        self.random.shuffle(words)
        return " ".join(words)

    def _suggestions(self) -> bytes:
        body = json.dumps({"text": self.text()}).encode()
        head = f"POST /api/suggest HTTP/1.1\r\nHost: {self.host}\r\nContent-Type: application/json\r\n"
        return head.encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body


class Connection(asyncio.Protocol):
    """Asks, waits for the whole answer, and asks again until it is over."""

    def __init__(self, questions: Iterator[Request], tell: Tell, until: float) -> None:
        self.questions, self.tell, self.until = questions, tell, until
        self.done = asyncio.get_running_loop().create_future()
        self.received = bytearray()
        self.kind, self.asked = "", 0.0

    def connection_made(self, transport: Any) -> None:
        """Ask the first question."""
        self.transport = transport
        self._ask()

    def _ask(self) -> None:
        self.kind, request = next(self.questions)
        self.received.clear()
        self.asked = time.perf_counter()
        self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        """Collect the answer."""
        self.received += data
        head = self.received.find(b"\r\n\r\n")
        if head < 0:
            return
        length = re.search(rb"content-length: (\d+)", self.received[:head].lower())
        if length is None or len(self.received) < head + 4 + int(length[1]):
            return
        now = time.perf_counter()
        self.tell(self.kind, now - self.asked, int(self.received[9:12]), len(self.received))
        if now >= self.until:
            self.transport.close()
        else:
            self._ask()

    def connection_lost(self, error: Exception | None) -> None:
        """Tell of a connection that was closed with a question open."""
        if time.perf_counter() < self.until:
            self.tell(self.kind, time.perf_counter() - self.asked, 0, 0)
        if not self.done.done():
            self.done.set_result(None)


async def _load(address: str, questions: Questions, connections: int, seconds: float) -> dict[str, Any]:
    loop, place = asyncio.get_running_loop(), urlsplit(address)
    answers: dict[str, list[tuple[float, int, int]]] = {kind: [] for kind in questions.shares}
    drawn = iter(questions)
    began = time.perf_counter()

    def tell(kind: str, spent: float, status: int, size: int) -> None:
        answers[kind].append((spent, status, size))

    def connect() -> Connection:
        return Connection(drawn, tell, began + seconds)

    made = [await loop.create_connection(connect, place.hostname, place.port) for _ in range(connections)]
    await asyncio.gather(*(protocol.done for _, protocol in made))
    return {"seconds": time.perf_counter() - began, "processor": time.process_time(), "answers": answers}


def load(model: str, address: str, connections: int, seconds: float, shares: Shares, seed: int) -> None:
    """Ask the server, in this process, and print what was answered."""
    fitted = RelationalTopicModel.load(model)
    questions = Questions(fitted.network_, fitted.n_topics, shares, urlsplit(address).netloc, seed)
    before = time.process_time()
    found = asyncio.run(_load(address, questions, connections, seconds))
    print(json.dumps({**found, "processor": found["processor"] - before}))


@contextmanager
def served(model: Path, samples: int | None) -> Iterator[tuple[str, Callable[[], float]]]:
    """Serve a model; give the address, and a function that tells the seconds of the processor so far.

    The server computes the pages of documents when it is idle; this waits until they are there.
    """
    command = [sys.executable, "-m", "linktopics", "serve", str(model), "--port", "0"]
    command += [] if samples is None else ["--samples", str(samples)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        for line in process.stdout:
            found = re.search(r"http://\S+", line)
            if found:
                break
        else:
            raise SystemExit("the server did not start.")

        def processor() -> float:
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            spent = 0
            for pid in (process.pid, *children):
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                spent += int(fields[11]) + int(fields[12])
            return spent / os.sysconf("SC_CLK_TCK")

        while not json.load(urlopen(found[0] + "api/health"))["prepared"]:
            time.sleep(0.2)
        yield found[0], processor
    finally:
        process.terminate()
        process.wait(30)


def fit(folder: Path, data: Path, quick: bool) -> None:
    """Fit a model of Cora and save it."""
    small = {"n_burn_in": 20, "n_samples": 10, "thin": 1} if quick else {}
    RelationalTopicModel(20, random_state=0, n_jobs=-1, **small).fit(open_data("cora", data)).save(folder)


def summary(kind: str, answers: list[tuple[float, int, int]], seconds: float) -> Row:
    """Return the row of a kind of requests."""
    spent = 1000 * np.array([one for one, _, _ in answers])
    p50, p95, p99 = np.percentile(spent, [50, 95, 99])
    errors = sum(status != 200 for _, status, _ in answers)
    size = float(np.mean([size for *_, size in answers])) / 1024
    row = {"kind": kind, "requests": len(answers), "rate": len(answers) / seconds, "p50": p50, "p95": p95, "p99": p99}
    return {**row, "most": spent.max(), "size": size, "errors": errors}


def compare_samples(model: Path) -> list[Row]:
    """Return how much answers with some samples differ from those with all, and what another seed makes."""
    engine = load_handler(PinnedModel(model), Limits(), None).engine
    predictor = engine.samples.predictor
    questions = Questions(engine.network, len(predictor.samples[0].alpha), TEXTS, "", 2)
    texts = [questions.text() for _ in range(COMPARED)]

    def suggested(n: int | None, seed: int = predictor.seed) -> list[dict[int, float]]:
        asker = TextQueryEngine(engine.explorer, n_samples=n)
        asker.samples.predictor.seed = seed
        found = asker.suggest([TextQuery(asker.read(text), TOP) for text in texts])
        asker.samples.predictor.seed = predictor.seed
        return [{one["j"]: one["probability"] for one in answer["suggestions"]} for answer in found]

    whole = suggested(None)
    total = len(predictor.samples)
    rows = []
    for name, n, seed in [
        *((f"{n}", n, predictor.seed) for n in (4, 8, 12, 20) if n < total),
        (f"{total}, another seed", None, predictor.seed + 1),
    ]:
        pairs = list(zip(whole, suggested(n, seed), strict=True))
        common = [(one[j], other[j]) for one, other in pairs for j in one.keys() & other.keys()]
        rows.append(
            {
                "samples": name,
                "same": len(common) / sum(len(one) for one in whole),
                "first": float(np.mean([next(iter(one)) == next(iter(other)) for one, other in pairs])),
                "difference": float(np.mean([abs(one - other) for one, other in common])),
            }
        )
    return rows


REQUESTS = {
    "kind": ("kind of request", "{}"),
    "requests": ("requests", "{:,}"),
    "rate": ("per second", "{:.0f}"),
    "p50": ("p50, ms", "{:.0f}"),
    "p95": ("p95, ms", "{:.0f}"),
    "p99": ("p99, ms", "{:.0f}"),
    "most": ("longest, ms", "{:.0f}"),
    "size": ("KB", "{:.1f}"),
    "errors": ("errors", "{}"),
}

SAMPLES = {
    "samples": ("samples", "{}"),
    "same": (f"share of the first {TOP} that agree", "{:.1%}"),
    "first": ("first agrees", "{:.1%}"),
    "difference": ("difference of probabilities", "{:.4f}"),
}


def main() -> None:
    """Run the benchmark."""
    arguments = options(
        __doc__,
        data_option(),
        ("--model", {"type": Path, "metavar": "FOLDER", "help": "a fitted model of Cora"}),
        ("--connections", {"type": int, "default": 100, "help": "connections that ask at once"}),
        ("--seconds", {"type": float, "default": 60.0, "help": "how long"}),
        ("--samples", {"type": int, "help": "posterior samples for questions about texts"}),
    )
    seconds = min(arguments.seconds, 10.0) if arguments.quick else arguments.seconds
    tables = []
    with tempfile.TemporaryDirectory() as folder:
        model = arguments.model
        if model is None:
            model = Path(folder) / "model"
            fit(model, arguments.data, arguments.quick)
        with served(model, arguments.samples) as (address, processor):
            for seed, (title, shares) in enumerate({"Everything": EVERYTHING, "Texts alone": TEXTS}.items()):
                before = processor()
                code = f"import serving; serving.load({str(model)!r}, {address!r}, {arguments.connections}, {seconds}, "
                found = in_process(f"{code}{shares}, {seed})")
                took = (processor() - before) / found["seconds"]
                rows = [summary(kind, own, found["seconds"]) for kind, own in found["answers"].items()]
                if len(shares) > 1:
                    every = [one for own in found["answers"].values() for one in own]
                    rows.append(summary("all", every, found["seconds"]))
                note = (
                    f"{arguments.connections} connections for {found['seconds']:.0f} s. Of the processor, the server "
                    f"took {took:.2f} cores and the client {found['processor'] / found['seconds']:.2f}."
                )
                tables.append(table(title, REQUESTS, rows, note))
        note = (
            f"Suggestions for {COMPARED} texts compared with those from all samples: the share of the first {TOP} that "
            "agree, whether the first agrees, and the mean difference of probabilities."
        )
        tables.append(table("Samples", SAMPLES, compare_samples(model), note))
    about = (
        "`linktopics serve` with a model of Cora (2,708 documents, 20 topics), queried over many connections at once, "
        "each of which sends its next request as soon as it has a response. Suggestions are for texts of 50 to 150 "
        "words, each sent once. The client is a process on the same cores as the server and its workers, and begins "
        "when the server has computed all pages of documents, which it does in advance while it is idle."
    )
    finish("The server", about, tables, arguments, ["starlette", "uvicorn", "httptools"])


if __name__ == "__main__":
    main()
