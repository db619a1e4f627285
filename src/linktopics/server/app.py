"""The server: the pages of the explorer, and a read-only JSON API that they and other programs use.

All routes are handled in the event loop, which passes computations to threads, or to `Workers`, through queues.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import UNSET, structs
from starlette.applications import Starlette
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from linktopics import __version__
from linktopics.errors import DataError
from linktopics.explorer.explorer import Explorer
from linktopics.explorer.page import PAGE, static_file, static_names
from linktopics.server import schemas
from linktopics.server.api import OPERATIONS, Operation, describe, operation
from linktopics.server.handlers import TextHandler, attempt, to_json
from linktopics.server.limits import Limits
from linktopics.server.middleware import LOG, RefusedError, RequestMiddleware, error_response
from linktopics.server.queue import BatchQueue, BusyError, ResponseCache, ResponseOrError, in_threads
from linktopics.server.requests import RequestDecoder, index_of, quoted, read_json
from linktopics.server.text_queries import TextQueryEngine
from linktopics.server.workers import BATCHES_PER_WORKER, UnavailableError, Workers

TEXT_BATCH_CHARACTERS = 6_000
"""Characters of the texts in a batch."""

TEXT_MIN_CHARACTERS = 600
"""Smallest size of a text in a batch, because each text has a fixed cost."""

READ_BATCH_REQUESTS = 16
"""Requests about documents in a batch: starting a batch in a thread costs as much as a response."""

BLOCK_DOCUMENTS = 16
"""Consecutive documents that are computed together: several cost little more than one."""

PRECOMPUTE_MAX_DOCUMENTS = 5_000
"""Up to this many documents, all documents and cells are computed in advance while the server is idle."""

SEARCH_INLINE_MAX_DOCUMENTS = 5_000
"""Up to this many documents, a search takes less time than starting it in a thread."""

MEDIA_TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}


class AnyPath(PathConvertor):
    """The rest of a path, with slashes and line ends: ids may have them."""

    regex = "(?s:.*)"


register_url_convertor("anypath", AnyPath())


def create_app(
    explorer: Explorer,
    *,
    limits: Limits | None = None,
    hosts: frozenset[str] | None = None,
    handler: TextHandler | Workers | None = None,
) -> Starlette:
    """Return the server as an ASGI application.

    Parameters
    ----------
    explorer : Explorer
        Content of the pages.
    limits : Limits, optional
        Bounds of requests.
    hosts : frozenset of str, optional
        Names that the Host header of requests may have, which protects against DNS rebinding; None is any.
    handler : TextHandler or Workers, optional
        Handles requests about texts; None is this process, with all posterior samples.

    Examples
    --------
    >>> from linktopics import DocumentNetwork, RelationalTopicModel
    >>> from linktopics.explorer import Explorer
    >>> from linktopics.server.app import create_app
    >>> from starlette.testclient import TestClient
    >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
    >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
    >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_burn_in=50, random_state=0).fit(network)
    >>> with TestClient(create_app(Explorer(model))) as client:
    ...     client.get("/api/documents", params={"query": "stars"}).json()["total"]
    ...     client.post("/api/suggest", json={"text": "kittens purr"}).json()["known"]
    2
    2
    """
    limits = limits or Limits()
    api = Api(explorer, handler if handler is not None else TextHandler(TextQueryEngine(explorer, limits)), limits)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        precomputing = asyncio.ensure_future(api.precompute())
        yield
        precomputing.cancel()
        api.close()

    async def failed(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        sentences = {
            404: f"There is nothing at {quoted(request.url.path)}.",
            405: f"{request.method} is not possible here.",
        }
        return error_response(error.status_code, sentences.get(error.status_code, str(error.detail)), error.headers)

    app = Starlette(
        routes=[api.route(one) for one in OPERATIONS],
        middleware=[Middleware(RequestMiddleware, limits=limits, hosts=hosts)],
        exception_handlers={HTTPException: failed},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.api = api
    return app


class Api:
    """The operations, and the queues and the cache that they share.

    Parameters
    ----------
    explorer : Explorer
        Content of the pages.
    handler : TextHandler or Workers
        Handles requests about texts.
    limits : Limits
        Bounds of requests.
    """

    def __init__(self, explorer: Explorer, handler: TextHandler | Workers, limits: Limits) -> None:
        self.explorer, self.handler, self.limits = explorer, handler, limits
        self.decoder = RequestDecoder(limits, explorer.n_topics)
        self.cache = ResponseCache(limits.cache)
        self.pool = ThreadPoolExecutor(3, thread_name_prefix="linktopics-server")
        if not isinstance(handler, Workers):
            suggest, analyze = in_threads(handler.suggest, self.pool), in_threads(handler.analyze, self.pool)
            concurrency = 1
        else:
            suggest, analyze = handler.suggest, handler.analyze
            concurrency = BATCHES_PER_WORKER * len(handler.workers)
        self.suggest_queue = BatchQueue(
            suggest, capacity=limits.waiting, batch_size=TEXT_BATCH_CHARACTERS, concurrency=concurrency,
            size=lambda request: max(len(request.text), TEXT_MIN_CHARACTERS),
        )  # fmt: skip
        self.analysis_queue = BatchQueue(analyze, capacity=limits.waiting)
        self.read_queue: BatchQueue[Callable[[], bytes]] = BatchQueue(
            in_threads(_call_each, self.pool), capacity=limits.waiting, batch_size=READ_BATCH_REQUESTS
        )
        self.queues = (self.suggest_queue, self.analysis_queue, self.read_queue)
        self.openapi = to_json(describe(self.decoder))
        self.files = {name: static_file(name).encode() for name in static_names() if Path(name).suffix in MEDIA_TYPES}
        self.front_page = static_file(PAGE).encode()
        self.precomputed = False

    def close(self) -> None:
        """Drop the items in the queues, and stop the threads."""
        for queue in self.queues:
            queue.close()
        self.pool.shutdown(wait=False, cancel_futures=True)

    def warm_up(self) -> None:
        """Compute what the first requests need; kernels are compiled, or read from disk."""
        self.explorer.meta()
        self.explorer.documents(query="a")
        self.explorer.document(0)
        self.handler.warm_up()

    def route(self, one: Operation) -> Route:
        """Return the route of an operation; it responds to OPTIONS with the allowed methods."""
        methods = ["GET", "HEAD", "OPTIONS"] if one.method == "GET" else [one.method, "OPTIONS"]

        async def respond(request: Request) -> Response:
            if request.method == "OPTIONS":
                return Response(status_code=204, headers={"Allow": ", ".join(methods)})
            decoded = []
            if one.request is not None and one.method == "GET":
                decoded.append(self.decoder.decode_query(one.request, request.query_params))
            elif one.request is not None:
                decoded.append(self.decoder.decode(one.request, await read_json(request, self.limits)))
            response = await one.handler(self, request, *decoded)
            return response if isinstance(response, Response) else Response(response, media_type="application/json")

        return Route(one.path, respond, methods=methods)

    # ------------------------------------------------------------------------------------------------------------------
    # Operations
    # ------------------------------------------------------------------------------------------------------------------

    @operation("/api/documents/{id:anypath}", schemas.Document, schemas.DocumentQuery)
    async def document(self, request: Request, query: schemas.DocumentQuery) -> bytes:
        """Return a document: its topics, words, links with reasons, and suggested links."""
        id = request.path_params["id"]
        if query.by == "number":
            return await self._document(index_of(id, len(self.explorer.ids), "document", "numbers"))
        return await self._document(self._number(id))

    @operation("/api/documents", schemas.Documents, schemas.DocumentsQuery)
    async def documents(self, request: Request, query: schemas.DocumentsQuery) -> bytes:
        """Return documents, page by page; sort=topic needs topic=."""
        topic = None if query.topic is UNSET else query.topic
        search = partial(self.explorer.documents, **{**structs.asdict(query), "topic": topic})
        if len(self.explorer.ids) <= SEARCH_INLINE_MAX_DOCUMENTS:
            return to_json(search())
        return await self._read(query, search)

    @operation("/", ("text/html",))
    async def page(self, request: Request) -> Response:
        """Return the pages of the explorer."""
        return Response(self.front_page, media_type="text/html", headers={"Cache-Control": "no-cache"})

    @operation("/static/{name:anypath}", ("text/javascript", "text/css", "image/svg+xml"))
    async def file(self, request: Request) -> Response:
        """Return a file that the pages need."""
        name = request.path_params["name"]
        if name not in self.files:
            raise RefusedError(404, f"There is no file {quoted(name)}.")
        headers = {"Content-Type": MEDIA_TYPES[Path(name).suffix], "Cache-Control": "no-cache"}
        return Response(self.files[name], headers=headers)

    @operation("/openapi.json", dict)
    async def description(self, request: Request) -> bytes:
        """Return this description."""
        return self.openapi

    @operation("/api/health", schemas.Health)
    async def health(self, request: Request) -> bytes:
        """Return the state of the server, and how many documents it has."""
        health = schemas.Health("ok", __version__, documents=len(self.explorer.ids), prepared=self.precomputed)
        return to_json(structs.asdict(health))

    @operation("/api/meta", schemas.Overview)
    async def meta(self, request: Request) -> bytes:
        """Return data, settings, quality, sampling, topics and weights."""
        return await self._read("meta", self.explorer.meta)

    @operation("/api/topics", schemas.TopicList)
    async def topics(self, request: Request) -> bytes:
        """Return all topics."""
        return await self._read("topics", lambda: {name: self.explorer.meta()[name] for name in ("topics", "names")})

    @operation("/api/topics/{k}", schemas.OneTopic)
    async def topic(self, request: Request) -> bytes:
        """Return a topic."""
        k = self._topic(request, "k")
        return await self._read(("topic", k), lambda: self._one_topic(k))

    @operation("/api/cells/{a}/{b}", schemas.Cell, schemas.CellQuery)
    async def cell(self, request: Request, query: schemas.CellQuery) -> bytes:
        """Return the links of the data that the weight of two topics explains best."""
        return await self._cell(self._topic(request, "a"), self._topic(request, "b"), query.top)

    @operation("/api/suggest", schemas.Suggestions, schemas.SuggestRequest, method="POST")
    async def suggest(self, request: Request, query: schemas.SuggestRequest) -> bytes:
        """Return topics of a text and of each of its words, and suggested links with reasons."""
        return await self._cached(query, partial(self.suggest_queue.submit, query))

    @operation("/api/changes", schemas.Changes, schemas.ChangesRequest, method="POST")
    async def changes(self, request: Request, query: schemas.ChangesRequest) -> bytes:
        """Return the effects of leaving out each word of a text, and of adding words."""
        return await self._cached(query, partial(self.analysis_queue.submit, query))

    @operation("/api/explain", schemas.Explanation, schemas.ExplainRequest, method="POST", errors=(404,))
    async def explain(self, request: Request, query: schemas.ExplainRequest) -> bytes:
        """Return the contributions to the score of a link from a document, or a text, to a document."""
        for id in (query.target, query.source):
            if id is not UNSET:
                self._number(id)
        return await self._cached(query, partial(self.analysis_queue.submit, query))

    # ------------------------------------------------------------------------------------------------------------------
    # Responses
    # ------------------------------------------------------------------------------------------------------------------

    async def _cached(self, key: Hashable, submit: Callable[[Callable[[ResponseOrError], None]], None]) -> bytes:
        """Return a response from the cache, or from a queue."""
        try:
            return await self.cache.get(key, submit)
        except BusyError:
            raise RefusedError(503, "Too many requests are waiting; try again in a second.", retry=1) from None
        except UnavailableError as error:
            raise RefusedError(503, str(error)) from None
        except DataError as error:
            raise RefusedError(422, str(error)) from None

    async def _read(self, key: Hashable, make: Callable[[], Any]) -> bytes:
        """Return a response from the cache, or what `make` returns in a thread, as JSON."""
        return await self._cached(key, partial(self.read_queue.submit, lambda: to_json(make())))

    async def _document(self, number: int) -> bytes:
        block, place = divmod(number, BLOCK_DOCUMENTS)
        lines = await self._cached(("block", block), partial(self.read_queue.submit, lambda: self._block(block)))
        return lines.split(b"\n", place + 1)[place]  # JSON has no line ends

    def _block(self, block: int) -> bytes:
        """Return consecutive documents, a line each."""
        begin, n = block * BLOCK_DOCUMENTS, len(self.explorer.ids)
        documents = self.explorer.documents_at(slice(begin, min(begin + BLOCK_DOCUMENTS, n)))
        return b"\n".join(map(to_json, documents))

    async def _cell(self, a: int, b: int, top: int) -> bytes:
        return await self._read(("cell", a, b, top), lambda: self.explorer.cell(a, b, top))

    def _one_topic(self, k: int) -> dict[str, Any]:
        topic = self.explorer.meta()["topics"][k]
        return {"k": k, **topic, "names": self.explorer.names(topic["documents"])}

    def _topic(self, request: Request, name: str) -> int:
        return index_of(request.path_params[name], self.explorer.n_topics, "topic", "topics")

    def _number(self, id: str) -> int:
        """Return the number of the document with an id."""
        if id not in self.explorer.index_by_id:
            raise RefusedError(404, f"No document has the id {quoted(id)}.")
        return self.explorer.index_by_id[id]

    # ------------------------------------------------------------------------------------------------------------------
    # Precomputation
    # ------------------------------------------------------------------------------------------------------------------

    async def precompute(self) -> None:
        """Compute all documents and cells while the server is idle, if there are not too many."""
        try:
            n, K = len(self.explorer.ids), self.explorer.n_topics
            if n <= PRECOMPUTE_MAX_DOCUMENTS:
                for number in range(0, n, BLOCK_DOCUMENTS):
                    await self._idle()
                    await self._document(number)
                for cell in range(K * K):
                    await self._idle()
                    await self._cell(*divmod(cell, K), schemas.CellQuery().top)
        except Exception:
            LOG.exception("not everything could be computed in advance")
        self.precomputed = True

    async def _idle(self) -> None:
        """Wait until no request is being processed."""
        while any(queue.running for queue in self.queues):
            await asyncio.sleep(0.01)


def _call_each(calls: list[Callable[[], bytes]]) -> list[ResponseOrError]:
    return [attempt(call) for call in calls]
