"""The server: the pages of the explorer, and behind them a JSON API that programs can use. It only reads.

What can be asked, within which bounds, is described in `openapi`; here it is answered. All routes are answered by the
event loop, which waits for threads, or for `Workers`, where something is to be computed.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from linktopics import __version__
from linktopics.errors import DataError
from linktopics.explorer.answers import AboutChanges, AboutPair, AboutText, Answer, Answers, to_bytes
from linktopics.explorer.asking import PARTS_SHOWN, Asker
from linktopics.explorer.bundle import Explorer
from linktopics.explorer.finding import SORTS
from linktopics.explorer.guard import LOG, Guard, RefusedError, error_response, read_json
from linktopics.explorer.lanes import AnswerAll, BusyError, KeptAnswers, Lane, in_threads
from linktopics.explorer.limits import Limits
from linktopics.explorer.openapi import describe
from linktopics.explorer.page import server_page, static_file, static_names
from linktopics.explorer.workers import AHEAD, UnavailableError, Workers

__all__ = ["Api", "create_app"]

TEXTS_TOGETHER = 6_000
"""Characters of texts that are answered together."""

PER_TEXT = 600
"""Characters that a text counts for at least: what it costs to answer whatever its length."""

READ_TOGETHER = 16
"""Questions about documents that are answered before others get a turn: each turn costs as much as an answer."""

TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
JSON_TYPE = "application/json"

CELL_LINKS = 8
"""Links of a cell, unless more are asked for."""

RUN = 16
"""Documents that are worked out together: several cost little more than one."""

FEW = 5_000
"""Up to so many documents all are worked out while nobody asks, and finding some takes less time than waiting for it
in a thread."""


class Anything(Convertor[str]):
    """The rest of a path, slashes and ends of lines too: ids may have them."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        """Return what was found."""
        return value

    def to_string(self, value: str) -> str:
        """Return it again."""
        return value


register_url_convertor("anything", Anything())

Endpoint = Callable[[Request], Awaitable[Response]]


def create_app(
    explorer: Explorer,
    *,
    limits: Limits | None = None,
    hosts: frozenset[str] | None = None,
    answers: Answers | Workers | None = None,
) -> Starlette:
    """Return the server as an ASGI application.

    Parameters
    ----------
    explorer : Explorer
        What is shown.
    limits : Limits, optional
        What is refused because it is too long or too much.
    hosts : frozenset of str, optional
        Names by which the server may be called, against pages of other sites that name it as their own; None is any.
    answers : Answers or Workers, optional
        What answers questions about texts; None is this process, with all posterior samples.

    Examples
    --------
    >>> from linktopics import DocumentNetwork, RelationalTopicModel
    >>> from linktopics.explorer import Explorer
    >>> from linktopics.explorer.server import create_app
    >>> from starlette.testclient import TestClient
    >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
    >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
    >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_iter=50, random_state=0).fit(network)
    >>> with TestClient(create_app(Explorer(model))) as client:
    ...     client.get("/api/documents", params={"query": "stars"}).json()["total"]
    ...     client.post("/api/suggest", json={"text": "kittens purr"}).json()["known"]
    2
    2
    """
    limits = Limits() if limits is None else limits
    api = Api(explorer, answers if answers is not None else Answers(Asker(explorer, limits)), limits)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        preparing = asyncio.ensure_future(api.prepare())
        yield
        preparing.cancel()
        api.close()

    async def refused(_: Request, error: Exception) -> Response:
        assert isinstance(error, RefusedError)
        return error.response()

    async def failed(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        said = {404: f"There is nothing at {_short(request.url.path)}.", 405: f"{request.method} is not possible here."}
        return error_response(error.status_code, said.get(error.status_code, str(error.detail)), error.headers)

    app = Starlette(
        routes=api.routes(),
        middleware=[Middleware(Guard, limits=limits, hosts=hosts)],
        exception_handlers={RefusedError: refused, HTTPException: failed},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.api = api
    return app


class Api:
    """The routes, and what they have in common.

    Parameters
    ----------
    explorer : Explorer
        What is known of the model and its documents.
    answers : Answers or Workers
        What answers questions about texts.
    limits : Limits
        What is refused.
    """

    def __init__(self, explorer: Explorer, answers: Answers | Workers, limits: Limits) -> None:
        self.explorer, self.answers, self.limits = explorer, answers, limits
        self.kept = KeptAnswers(limits.answers)
        self.pool = ThreadPoolExecutor(3, thread_name_prefix="answers")
        suggest: AnswerAll[AboutText]
        think: AnswerAll[AboutChanges | AboutPair]
        if isinstance(answers, Workers):
            suggest, think, jobs = answers.suggest, answers.think, AHEAD * len(answers.workers)
        else:
            suggest, think, jobs = in_threads(answers.suggest, self.pool), in_threads(answers.think, self.pool), 1
        self.texts: Lane[AboutText] = Lane(
            suggest, waiting=limits.waiting, together=TEXTS_TOGETHER, jobs=jobs,
            size=lambda asked: max(len(asked.text), PER_TEXT),
        )  # fmt: skip
        self.thinking: Lane[AboutChanges | AboutPair] = Lane(think, waiting=limits.waiting)
        self.reading: Lane[Callable[[], Any]] = Lane(
            in_threads(_call_each, self.pool), waiting=limits.waiting, together=READ_TOGETHER
        )
        self.description = describe(limits, explorer.n_topics)
        self.files = {name: static_file(name).encode() for name in static_names() if _type_of(name)}
        self.page = server_page().encode()
        self.prepared = False

    def close(self) -> None:
        """Let go of threads; what waits is not answered any more."""
        for lane in (self.texts, self.thinking, self.reading):
            lane.close()
        self.pool.shutdown(wait=False, cancel_futures=True)

    def warm_up(self) -> None:
        """Work out what the first questions would otherwise wait for: kernels are compiled, or read from disk."""
        self.explorer.meta()
        self.explorer.documents(query="a")
        self.explorer.document(0)
        self.answers.warm_up()

    # ------------------------------------------------------------------------------------------------------------------
    # Routes
    # ------------------------------------------------------------------------------------------------------------------

    def routes(self) -> list[Route]:
        """Return all routes."""
        return [
            _route("/api/documents/{id:anything}", self.get_document),
            _route("/api/documents", self.get_documents),
            _route("/", self.get_page),
            _route("/static/{name}", self.get_file),
            _route("/openapi.json", self.get_description),
            _route("/api/health", self.get_health),
            _route("/api/meta", self.get_meta),
            _route("/api/cells/{a}/{b}", self.get_cell),
            _route("/api/topics", self.get_topics),
            _route("/api/topics/{k}", self.get_topic),
            _route("/api/suggest", self.post_suggest, "POST"),
            _route("/api/changes", self.post_changes, "POST"),
            _route("/api/explain", self.post_explain, "POST"),
        ]

    async def get_page(self, request: Request) -> Response:
        """Return the page."""
        return Response(self.page, media_type="text/html", headers={"Cache-Control": "no-cache"})

    async def get_file(self, request: Request) -> Response:
        """Return a file that the page needs."""
        name = request.path_params["name"]
        if name not in self.files:
            raise RefusedError(404, f"There is no file {_short(name)}.")
        return Response(self.files[name], headers={"Content-Type": _type_of(name), "Cache-Control": "no-cache"})

    async def get_description(self, request: Request) -> Response:
        """Return the description of the API."""
        return await self._kept("openapi", lambda: self.description)

    async def get_health(self, request: Request) -> Response:
        """Say that the server is there, and what it serves."""
        told = {"status": "ok", "version": __version__, "documents": len(self.explorer.ids), "prepared": self.prepared}
        return _json(to_bytes(told))

    async def get_meta(self, request: Request) -> Response:
        """Return all but single documents and links."""
        return await self._kept("meta", self.explorer.meta)

    async def get_topics(self, request: Request) -> Response:
        """Return the topics."""
        return await self._kept("topics", self._topics)

    async def get_topic(self, request: Request) -> Response:
        """Return a topic."""
        k = self._topic(request.path_params["k"])
        return await self._kept(("topic", k), lambda: self._one_topic(k))

    async def get_cell(self, request: Request) -> Response:
        """Return the links that the weight of two topics explains best."""
        a, b = (self._topic(request.path_params[name]) for name in ("a", "b"))
        return await self._cell(a, b, _whole(request.query_params, "top", CELL_LINKS, 1, self.limits.top))

    async def get_documents(self, request: Request) -> Response:
        """Return a page of documents."""
        asked, limits = request.query_params, self.limits
        query = asked.get("query", "")
        if len(query) > limits.query:
            raise RefusedError(422, f"query has {len(query):,} characters; it may have up to {limits.query:,}.")
        topic = _whole(asked, "topic", -1, 0, self.explorer.n_topics - 1)
        sort = _one_of(asked, "sort", SORTS)
        if sort == "topic" and topic < 0:
            raise RefusedError(422, "Documents are sorted by the share of a topic, so sort=topic needs topic=.")
        descending = _one_of(asked, "descending", ("false", "true")) == "true"
        page, size = _whole(asked, "page", 0, 0, limits.pages), _whole(asked, "size", 50, 1, limits.page)
        arguments = (query, None if topic < 0 else topic, sort, descending, page, size)
        if len(self.explorer.ids) <= FEW:
            return _json(to_bytes(self.explorer.documents(*arguments)))
        return await self._kept(("documents", *arguments), lambda: self.explorer.documents(*arguments))

    async def get_document(self, request: Request) -> Response:
        """Return a document."""
        given = request.path_params["id"]
        if _one_of(request.query_params, "by", ("id", "number")) == "number":
            number = int(given) if re.fullmatch(r"[0-9]{1,9}", given) else -1
            if not 0 <= number < len(self.explorer.ids):
                last = len(self.explorer.ids) - 1
                raise RefusedError(404, f"There is no document {_short(given)}; numbers run from 0 to {last}.")
        else:
            number = self._number(given)
        return _json(await self._document(number))

    async def post_suggest(self, request: Request) -> Response:
        """Return topics and suggested links of a text."""
        asked = await self._asked(request, "text", "top", "direction")
        question = AboutText(self._text(asked), self._top(asked), self._direction(asked))
        return _json(await self._answered(("suggest", *question), partial(self.texts.ask, question)))

    async def post_changes(self, request: Request) -> Response:
        """Return what single words of a text change."""
        asked = await self._asked(request, "text", "top", "direction", "add")
        question = AboutChanges(self._text(asked), self._top(asked), self._direction(asked), self._added(asked))
        key = ("changes", *question[:3], *question.add)
        return _json(await self._answered(key, partial(self.thinking.ask, question)))

    async def post_explain(self, request: Request) -> Response:
        """Return why a document or a text links to a document, or does not."""
        asked = await self._asked(request, "source", "text", "target", "top")
        if ("source" in asked) == ("text" in asked):
            raise RefusedError(422, "Say what links: source, the id of a document, or text; one of the two.")
        target, top = self._id(asked, "target"), self._top(asked, PARTS_SHOWN)
        source, text = (None, self._text(asked)) if "text" in asked else (self._id(asked, "source"), None)
        question = AboutPair(source, text, target, top)
        return _json(await self._answered(("explain", *question), partial(self.thinking.ask, question)))

    # ------------------------------------------------------------------------------------------------------------------
    # Answers
    # ------------------------------------------------------------------------------------------------------------------

    async def _document(self, number: int) -> bytes:
        run, place = divmod(number, RUN)
        answer = await self._answered(("run", run), partial(self.reading.ask, lambda: self._run(run)))
        return answer.split(b"\n", place + 1)[place]  # which JSON has none of

    def _run(self, run: int) -> bytes:
        """Return some documents that follow one another, a line each."""
        rows = slice(run * RUN, min((run + 1) * RUN, len(self.explorer.ids)))
        return b"\n".join(map(to_bytes, self.explorer.documents_at(rows)))

    async def prepare(self) -> None:
        """Work out all documents and cells while nobody asks, if they are few."""
        try:
            await self._prepare()
        except Exception:
            LOG.exception("not everything could be worked out beforehand")
        self.prepared = True

    async def _prepare(self) -> None:
        n, K = len(self.explorer.ids), self.explorer.n_topics
        if n <= FEW:
            for run in range(0, n, RUN):
                await self._when_idle()
                await self._document(run)
            for cell in range(K * K):
                await self._when_idle()
                await self._cell(*divmod(cell, K))

    async def _when_idle(self) -> None:
        while any(lane.running for lane in (self.texts, self.reading, self.thinking)):
            await asyncio.sleep(0.01)

    async def _cell(self, a: int, b: int, top: int = CELL_LINKS) -> Response:
        return await self._kept(("cell", a, b, top), lambda: self.explorer.cell(a, b, top))

    async def _kept(self, key: Any, make: Callable[[], Any]) -> Response:
        return _json(await self._answered(key, partial(self.reading.ask, make)))

    async def _answered(self, key: Any, ask: Callable[[Callable[[Answer], None]], None]) -> bytes:
        """Return an answer that is kept, or ask for it."""
        try:
            return await self.kept.get(key, ask)
        except BusyError:
            raise RefusedError(503, "Too many questions wait for an answer; ask again in a second.", retry=1) from None
        except UnavailableError as error:
            raise RefusedError(503, str(error)) from None
        except DataError as error:
            raise RefusedError(422, str(error)) from None

    def _topics(self) -> dict[str, Any]:
        meta = self.explorer.meta()
        return {"topics": meta["topics"], "names": meta["names"]}

    def _one_topic(self, k: int) -> dict[str, Any]:
        topic = self.explorer.meta()["topics"][k]
        return {"k": k, **topic, "names": self.explorer.names(topic["documents"])}

    # ------------------------------------------------------------------------------------------------------------------
    # Questions
    # ------------------------------------------------------------------------------------------------------------------

    async def _asked(self, request: Request, *fields: str) -> dict[str, Any]:
        asked = await read_json(request, self.limits)
        for name in asked:
            if name not in fields:
                raise RefusedError(422, f"There is no field {_short(name)} here; the fields are {', '.join(fields)}.")
        return asked

    def _text(self, asked: Mapping[str, Any]) -> str:
        return _string(asked, "text", self.limits.text)

    def _top(self, asked: Mapping[str, Any], default: int = 8) -> int:
        top = asked.get("top", default)
        if isinstance(top, float) and top.is_integer():  # JSON has one kind of numbers
            top = int(top)
        if not isinstance(top, int) or isinstance(top, bool) or not 1 <= top <= self.limits.top:
            raise RefusedError(422, f"top must be a whole number from 1 to {self.limits.top}.")
        return top

    def _direction(self, asked: Mapping[str, Any]) -> str:
        direction = asked.get("direction", "both")
        if direction not in ("both", "out", "in"):
            raise RefusedError(422, "direction must be both, out or in.")
        return str(direction)

    def _added(self, asked: Mapping[str, Any]) -> tuple[str, ...]:
        add, limits = asked.get("add", []), self.limits
        if not isinstance(add, list) or len(add) > limits.added or not all(isinstance(word, str) for word in add):
            raise RefusedError(422, f"add must be a list of at most {limits.added} words.")
        if any(not 1 <= len(word) <= limits.word for word in add):
            raise RefusedError(422, f"A word in add must have from 1 to {limits.word} characters.")
        return tuple(add)

    def _id(self, asked: Mapping[str, Any], name: str) -> str:
        """Return the id of a document that is there."""
        id = _string(asked, name, self.limits.id)
        self._number(id)
        return id

    def _number(self, id: str) -> int:
        """Return the number of the document with an id."""
        if id not in self.explorer.numbers:
            raise RefusedError(404, f"No document has the id {_short(id)}.")
        return self.explorer.numbers[id]

    def _topic(self, given: str) -> int:
        k = int(given) if re.fullmatch(r"[0-9]{1,9}", given) else -1
        if not 0 <= k < self.explorer.n_topics:
            last = self.explorer.n_topics - 1
            raise RefusedError(404, f"There is no topic {_short(given)}; topics run from 0 to {last}.")
        return k


def _call_each(calls: list[Callable[[], Any]]) -> list[bytes | Exception]:
    return [_called(call) for call in calls]


def _called(call: Callable[[], Any]) -> bytes | Exception:
    try:
        answer = call()
        return answer if isinstance(answer, bytes) else to_bytes(answer)
    except Exception as error:
        return error


def _route(path: str, endpoint: Endpoint, method: str = "GET") -> Route:
    """Return a route that also says which methods it has."""
    methods = ["GET", "HEAD", "OPTIONS"] if method == "GET" else [method, "OPTIONS"]

    async def answer(request: Request) -> Response:
        if request.method == "OPTIONS":
            return Response(status_code=204, headers={"Allow": ", ".join(methods)})
        return await endpoint(request)

    return Route(path, answer, methods=methods)


def _json(body: bytes) -> Response:
    return Response(body, media_type=JSON_TYPE)


def _type_of(name: str) -> str:
    return next((type for ending, type in TYPES.items() if name.endswith(ending)), "")


def _short(text: str) -> str:
    """Quote what was given, or its beginning."""
    return repr(text if len(text) <= 80 else text[:77] + "...")


def _string(asked: Mapping[str, Any], name: str, most: int) -> str:
    value = asked.get(name)
    if not isinstance(value, str):
        raise RefusedError(422, f"{name} must be there, and a string.")
    if not 1 <= len(value) <= most:
        raise RefusedError(422, f"{name} has {len(value):,} characters; it must have from 1 to {most:,}.")
    return value


def _whole(asked: Mapping[str, str], name: str, default: int, least: int, most: int) -> int:
    """Return a whole number of a query; the default need not be one that can be asked for."""
    if name not in asked:
        return default
    given = asked[name]
    number = int(given) if re.fullmatch(r"[0-9]{1,9}", given) else -1
    if not least <= number <= most:
        raise RefusedError(422, f"{name} must be a whole number from {least} to {most:,}.")
    return number


def _one_of(asked: Mapping[str, str], name: str, known: tuple[str, ...]) -> str:
    """Return a word of a query; the first is the default."""
    given = asked.get(name, known[0])
    if given not in known:
        raise RefusedError(422, f"{name} must be {', '.join(known[:-1])} or {known[-1]}.")
    return given
