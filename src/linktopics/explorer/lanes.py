"""Who waits for whom in a server: questions that are answered together, and answers that are kept.

All of it runs in the event loop, so nothing here needs a lock; and by callbacks: under load, each time that one part of
the program waits for another costs a turn of the loop.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Generic, TypeVar

from linktopics.explorer.answers import Answer

__all__ = ["AnswerAll", "BusyError", "KeptAnswers", "Lane", "in_threads"]

Asked = TypeVar("Asked")

AnswerAll = Callable[[list[Asked], Callable[[list[Answer]], None]], None]
"""Takes several questions, and what is to be called with as many answers once they are there. An exception in the place
of an answer is raised where the question was asked."""


class BusyError(Exception):
    """Too many questions wait already."""


def in_threads(answer: Callable[[list[Asked]], list[Answer]], pool: ThreadPoolExecutor) -> AnswerAll[Asked]:
    """Have questions answered in threads, for a `Lane`."""

    def ask(questions: list[Asked], done: Callable[[list[Answer]], None]) -> None:
        def finish(task: asyncio.Future[list[Answer]]) -> None:
            failed = asyncio.CancelledError() if task.cancelled() else task.exception()
            if failed is None:
                done(task.result())
            else:
                done([failed if isinstance(failed, Exception) else RuntimeError(repr(failed))] * len(questions))

        asyncio.get_running_loop().run_in_executor(pool, answer, questions).add_done_callback(finish)

    return ask


class Lane(Generic[Asked]):
    """Has questions answered in their order, those that wait at the moment together.

    Parameters
    ----------
    answer : callable
        What answers them.
    waiting : int
        Questions that may wait; a further one is refused with `BusyError`.
    size : callable, optional
        The size of a question; without, all have the size 1.
    together : int
        Sizes of questions that are answered together may add up to this, and one question is always answered.
    jobs : int
        How often `answer` may be at work at the same time.
    """

    def __init__(
        self,
        answer: AnswerAll[Asked],
        *,
        waiting: int,
        size: Callable[[Asked], int] | None = None,
        together: int = 1,
        jobs: int = 1,
    ) -> None:
        self.answer, self.waiting, self.together, self.jobs = answer, waiting, together, jobs
        self.size = size if size is not None else lambda _: 1
        self.queue: deque[tuple[Asked, Callable[[Answer], None]]] = deque()
        self.running = 0

    def ask(self, question: Asked, done: Callable[[Answer], None]) -> None:
        """Have `done` called with the answer to a question, once it is there."""
        if len(self.queue) >= self.waiting:
            raise BusyError
        self.queue.append((question, done))
        self._start()

    def close(self) -> None:
        """Begin with none of the questions that wait; they are not answered any more."""
        self.queue.clear()

    def _start(self) -> None:
        while self.queue and self.running < self.jobs:
            batch = [self.queue.popleft()]
            room = self.together - self.size(batch[0][0])
            while self.queue and self.size(self.queue[0][0]) <= room:
                room -= self.size(self.queue[0][0])
                batch.append(self.queue.popleft())
            self.running += 1
            self.answer([question for question, _ in batch], partial(self._answered, [done for _, done in batch]))

    def _answered(self, waiting: list[Callable[[Answer], None]], answers: list[Answer]) -> None:
        self.running -= 1
        self._start()
        for done, answer in zip(waiting, answers, strict=True):
            done(answer)


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
        self.asked: dict[Hashable, list[asyncio.Future[bytes]]] = {}

    async def get(self, key: Hashable, ask: Callable[[Callable[[Answer], None]], None]) -> bytes:
        """Return the answer that is kept, or ask for it and keep it."""
        if key in self.answers:
            self.answers.move_to_end(key)
            return self.answers[key]
        mine: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        if key in self.asked:
            self.asked[key].append(mine)
            return await mine
        self.asked[key] = [mine]
        try:
            ask(partial(self._answered, key))
        except BusyError:
            del self.asked[key]
            raise
        return await mine

    def _answered(self, key: Hashable, answer: Answer) -> None:
        if isinstance(answer, bytes):
            self._keep(key, answer)
        for waiting in self.asked.pop(key):
            if waiting.done():  # whoever asked has gone
                continue
            if isinstance(answer, bytes):
                waiting.set_result(answer)
            else:
                waiting.set_exception(answer)

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
