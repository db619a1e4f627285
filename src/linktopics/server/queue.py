"""Queues of requests that are processed in batches, and a cache of responses.

All code here runs in the event loop and needs no locks. It uses callbacks, because under load each `await` costs a turn
of the loop.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Generic, TypeVar

ENTRY_OVERHEAD_BYTES = 500
"""Approximate size of a cache entry in bytes, besides its key and its response."""

Item = TypeVar("Item")

ResponseOrError = bytes | Exception
"""JSON, or the exception that was raised instead."""

ProcessBatch = Callable[[list[Item], Callable[[list[ResponseOrError]], None]], None]
"""Takes the items of a batch, and a function to call with their results. An exception instead of a response is raised
where the item was submitted."""


class BusyError(Exception):
    """The queue is full."""


def in_threads(process: Callable[[list[Item]], list[ResponseOrError]], pool: ThreadPoolExecutor) -> ProcessBatch[Item]:
    """Return a function for a `BatchQueue` that processes batches in threads."""

    def start(items: list[Item], done: Callable[[list[ResponseOrError]], None]) -> None:
        def finish(task: asyncio.Future[list[ResponseOrError]]) -> None:
            failed = asyncio.CancelledError() if task.cancelled() else task.exception()
            if failed is None:
                done(task.result())
            else:
                done([failed if isinstance(failed, Exception) else RuntimeError(repr(failed))] * len(items))

        asyncio.get_running_loop().run_in_executor(pool, process, items).add_done_callback(finish)

    return start


class BatchQueue(Generic[Item]):
    """Processes the items in the queue in their order, in batches.

    Parameters
    ----------
    process : callable
        Processes a batch.
    capacity : int
        Items that the queue can hold; a further one is refused with `BusyError`.
    size : callable, optional
        The size of an item; by default, all have the size 1.
    batch_size : int
        Largest total size of the items of a batch; a batch has at least one item.
    concurrency : int
        Batches that may be processed at the same time.
    """

    def __init__(
        self, process: ProcessBatch[Item], *, capacity: int, size: Callable[[Item], int] = lambda _: 1,
        batch_size: int = 1, concurrency: int = 1,
    ) -> None:  # fmt: skip
        self.process, self.capacity, self.size = process, capacity, size
        self.batch_size, self.concurrency = batch_size, concurrency
        self.items: deque[tuple[Item, Callable[[ResponseOrError], None]]] = deque()
        self.running = 0

    def submit(self, item: Item, done: Callable[[ResponseOrError], None]) -> None:
        """Add an item; `done` is called with its result."""
        if len(self.items) >= self.capacity:
            raise BusyError
        self.items.append((item, done))
        self._start()

    def close(self) -> None:
        """Drop the items in the queue; their `done` is never called."""
        self.items.clear()

    def _start(self) -> None:
        while self.items and self.running < self.concurrency:
            batch = [self.items.popleft()]
            room = self.batch_size - self.size(batch[0][0])
            while self.items and self.size(self.items[0][0]) <= room:
                room -= self.size(self.items[0][0])
                batch.append(self.items.popleft())
            self.running += 1
            self.process([item for item, _ in batch], partial(self._finish, [done for _, done in batch]))

    def _finish(self, callbacks: list[Callable[[ResponseOrError], None]], results: list[ResponseOrError]) -> None:
        self.running -= 1
        self._start()
        for done, result in zip(callbacks, results, strict=True):
            done(result)


class ResponseCache:
    """Responses by their requests, up to `max_bytes`; the least recently used are dropped first.

    A request whose response is being computed is not submitted a second time.

    Parameters
    ----------
    max_bytes : int
        Bytes of responses and requests.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes, self.size = max_bytes, 0
        self.responses: OrderedDict[Hashable, bytes] = OrderedDict()
        self.pending: dict[Hashable, list[asyncio.Future[bytes]]] = {}

    async def get(self, key: Hashable, submit: Callable[[Callable[[ResponseOrError], None]], None]) -> bytes:
        """Return the response in the cache, or submit the request and add its response to the cache."""
        if key in self.responses:
            self.responses.move_to_end(key)
            return self.responses[key]
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        waiting = self.pending.setdefault(key, [])
        waiting.append(future)
        if len(waiting) == 1:
            try:
                submit(partial(self._finish, key))
            except BusyError:
                del self.pending[key]
                raise
        return await future

    def _finish(self, key: Hashable, result: ResponseOrError) -> None:
        if isinstance(result, bytes):
            self._add(key, result)
        for future in self.pending.pop(key):
            if future.done():  # the client has disconnected
                continue
            if isinstance(result, bytes):
                future.set_result(result)
            else:
                future.set_exception(result)

    def _add(self, key: Hashable, response: bytes) -> None:
        cost = _cost(key, response)
        if cost > self.max_bytes:
            return
        self.responses[key] = response
        self.size += cost
        while self.size > self.max_bytes:
            self.size -= _cost(*self.responses.popitem(last=False))


def _cost(key: Hashable, response: bytes) -> int:
    return len(response) + 4 * len(repr(key)) + ENTRY_OVERHEAD_BYTES
