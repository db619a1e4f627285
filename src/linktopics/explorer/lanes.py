"""Who waits for whom in a server: questions that are answered together, and answers that are kept."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Generic, TypeVar

__all__ = ["BusyError", "KeptAnswers", "Lane"]

Asked = TypeVar("Asked")
Answer = bytes | Exception


class BusyError(Exception):
    """Too many questions wait already."""


class Lane(Generic[Asked]):
    """Answers questions in threads of its own, all that wait at the moment together.

    All of it but `answer` runs in the event loop, so nothing here needs a lock.

    Parameters
    ----------
    answer : callable
        Takes several questions and returns as many answers; an exception in the place of an answer is raised where the
        question was asked.
    waiting : int
        Questions that may wait; a further one is refused with `BusyError`.
    size : callable, optional
        The size of a question; without, all have the size 1.
    together : int
        Sizes of questions that are answered together may add up to this, and one question is always answered.
    jobs : int
        Threads.
    """

    def __init__(
        self,
        answer: Callable[[list[Asked]], list[Answer]],
        *,
        waiting: int,
        size: Callable[[Asked], int] | None = None,
        together: int = 1,
        jobs: int = 1,
    ) -> None:
        self.answer, self.waiting, self.together, self.jobs = answer, waiting, together, jobs
        self.size = size if size is not None else lambda _: 1
        self.queue: deque[tuple[Asked, asyncio.Future[bytes]]] = deque()
        self.running = 0
        self.pool = ThreadPoolExecutor(jobs, thread_name_prefix="lane")

    async def ask(self, question: Asked) -> bytes:
        """Return the answer to a question, once it is there."""
        if len(self.queue) >= self.waiting:
            raise BusyError
        future = asyncio.get_running_loop().create_future()
        self.queue.append((question, future))
        self._start()
        return await future

    def _start(self) -> None:
        while self.queue and self.running < self.jobs:
            batch = [self.queue.popleft()]
            room = self.together - self.size(batch[0][0])
            while self.queue and self.size(self.queue[0][0]) <= room:
                room -= self.size(self.queue[0][0])
                batch.append(self.queue.popleft())
            self.running += 1
            loop = asyncio.get_running_loop()
            task = loop.run_in_executor(self.pool, self.answer, [question for question, _ in batch])
            task.add_done_callback(partial(self._done, [future for _, future in batch]))

    def _done(self, futures: list[asyncio.Future[bytes]], task: asyncio.Future[list[Answer]]) -> None:
        self.running -= 1
        self._start()
        failed = asyncio.CancelledError() if task.cancelled() else task.exception()
        answers = [failed] * len(futures) if failed is not None else task.result()
        for future, answer in zip(futures, answers, strict=True):
            if future.done():  # whoever asked has gone
                continue
            if isinstance(answer, bytes):
                future.set_result(answer)
            elif answer is not None:
                future.set_exception(answer)

    def close(self) -> None:
        """Let go of the threads; what waits is not answered any more."""
        self.pool.shutdown(wait=False, cancel_futures=True)


class KeptAnswers:
    """Answers by their questions, up to so many bytes; those that were not asked for longest go first.

    A question that is being answered is not asked a second time.

    Parameters
    ----------
    most : int
        Bytes of answers and of the texts in questions.
    """

    def __init__(self, most: int) -> None:
        self.most, self.size = most, 0
        self.answers: OrderedDict[Hashable, bytes] = OrderedDict()
        self.asked: dict[Hashable, asyncio.Task[bytes]] = {}

    async def get(self, key: Hashable, ask: Callable[[], Awaitable[bytes]]) -> bytes:
        """Return the answer that is kept, or ask for it and keep it."""
        if key in self.answers:
            self.answers.move_to_end(key)
            return self.answers[key]
        if key not in self.asked:
            self.asked[key] = asyncio.ensure_future(self._ask(key, ask))
        return await asyncio.shield(self.asked[key])  # others may wait for the same when this one is cancelled

    async def _ask(self, key: Hashable, ask: Callable[[], Awaitable[bytes]]) -> bytes:
        try:
            answer = await ask()
        finally:
            del self.asked[key]
        self._keep(key, answer)
        return answer

    def _keep(self, key: Hashable, answer: bytes) -> None:
        cost = _cost(key, answer)
        if cost > self.most:
            return
        self.answers[key] = answer
        self.size += cost
        while self.size > self.most:
            self.size -= _cost(*self.answers.popitem(last=False))


OVERHEAD = 500
"""Bytes of an entry beside its texts, about."""


def _cost(key: Hashable, answer: bytes) -> int:
    parts = key if isinstance(key, tuple) else (key,)
    return len(answer) + sum(4 * len(part) for part in parts if isinstance(part, str)) + OVERHEAD
