"""Requests that are processed in batches, and responses that are cached."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from linktopics.server.queue import BatchQueue, BusyError, ResponseCache, in_threads
from support.futures import answer_to


def test_questions_that_wait_are_answered_together():
    batches, go = [], threading.Event()

    def answer(questions):
        go.wait(30)
        batches.append(questions)
        return [str(question).encode() for question in questions]

    async def ask():
        with ThreadPoolExecutor(1) as pool:
            queue = BatchQueue(in_threads(answer, pool), capacity=10, size=lambda question: question, batch_size=10)
            futures = [answer_to(queue.submit, question) for question in (1, 4, 6, 2, 99, 3)]
            go.set()
            return await asyncio.gather(*futures)

    assert asyncio.run(ask()) == [b"1", b"4", b"6", b"2", b"99", b"3"]
    assert batches == [[1], [4, 6], [2], [99], [3]]


def test_queue_refuses_and_passes_errors_on():
    def answer(questions):
        if questions == ["broken"]:
            raise ZeroDivisionError
        return [ValueError(question) for question in questions]

    async def ask():
        with ThreadPoolExecutor(1) as pool:
            queue = BatchQueue(in_threads(answer, pool), capacity=1)
            first, second = (answer_to(queue.submit, question) for question in ("a", "broken"))
            with pytest.raises(BusyError):
                queue.submit("c", lambda answer: None)
            return await first, await second

    first, second = asyncio.run(ask())
    assert repr(first) == "ValueError('a')"
    assert isinstance(second, ZeroDivisionError)


def test_answers_are_kept_up_to_a_size():
    asked = []

    async def ask(cache, key):
        def answer(done):
            asked.append(key)
            asyncio.get_running_loop().call_soon(done, bytes(1000))

        return await cache.get(key, answer)

    async def run():
        cache = ResponseCache(5000)  # three of 1,500 and a little
        await asyncio.gather(*(ask(cache, ("a",)) for _ in range(5)))
        assert asked == [("a",)]  # not asked again while it is being answered
        for key in "bcad":
            await ask(cache, (key,))
        assert asked == [("a",), ("b",), ("c",), ("d",)]
        assert list(cache.responses) == [("c",), ("a",), ("d",)]  # b was not asked for longest
        assert cache.size <= 5000
        small = ResponseCache(1200)
        await ask(small, ("a",))
        assert len(small.responses) == 0
        assert small.size == 0

    asyncio.run(run())


def test_errors_are_not_kept():
    async def run():
        cache, results = ResponseCache(5000), iter([ValueError("no"), b"yes"])

        def refuse(done):
            raise BusyError

        with pytest.raises(BusyError):
            await cache.get("a", refuse)
        with pytest.raises(ValueError, match="no"):
            await cache.get("a", lambda done: done(next(results)))
        assert await cache.get("a", lambda done: done(next(results))) == b"yes"

    asyncio.run(run())


def test_who_goes_does_not_take_the_answer_from_others():
    async def run():
        cache, ask = ResponseCache(5000), []
        first = asyncio.ensure_future(cache.get("a", ask.append))
        second = asyncio.ensure_future(cache.get("a", ask.append))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.sleep(0)
        (done,) = ask
        done(b"yes")
        assert await second == b"yes"
        assert first.cancelled()

    asyncio.run(run())


def test_a_server_that_ends_begins_with_nothing_that_waits():
    go, asked, answered, complaints = threading.Event(), [], [], []

    def answer(questions):
        asked.extend(questions)
        assert go.wait(30)
        return [b""] * len(questions)

    async def end_with_a_question_waiting():
        asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
        with ThreadPoolExecutor(1) as pool:
            queue = BatchQueue(in_threads(answer, pool), capacity=5)
            for question in ("first", "second"):
                queue.submit(question, answered.append)
            queue.close()
            pool.shutdown(wait=False)
            go.set()
            while not (answered or complaints):
                await asyncio.sleep(0.001)

    asyncio.run(end_with_a_question_waiting())
    assert (asked, answered, complaints) == (["first"], [b""], [])
