"""Processes that answer, and are replaced when they die."""

import asyncio
import os
from functools import partial

import pytest

from linktopics.errors import DataError
from linktopics.server.workers import UnavailableError, Workers
from support.futures import answer_to


class Told:
    """Answers that say what was asked; some questions have consequences."""

    def __init__(self, folder):
        self.folder = folder

    def warm_up(self):
        if (self.folder / "broken").exists():
            raise DataError("there is no model.")

    def suggest(self, questions):
        if "die" in questions or ("die once" in questions and not (self.folder / "died").exists()):
            (self.folder / "died").touch()
            os._exit(1)
        return [question.encode() for question in questions]

    def analyze(self, questions):
        return [DataError("no such word."), ZeroDivisionError(questions[0])]


def ask_workers(folder, asked, jobs=1):
    """Return what workers answer to questions that are asked one after the other."""

    async def run(workers):
        return [await answer_to(getattr(workers, what), questions) for what, questions in asked]

    with Workers(partial(Told, folder), jobs) as workers:
        workers.warm_up()
        found = asyncio.run(run(workers))
    assert not any(worker.process.is_alive() for worker in workers.workers)
    return found


def test_workers_answer(tmp_path):
    (words, thoughts) = ask_workers(tmp_path, [("suggest", ["a", "b"]), ("analyze", ["c", "d"])], jobs=2)
    assert words == [b"a", b"b"]
    assert isinstance(thoughts[0], DataError)
    assert isinstance(thoughts[1], RuntimeError)  # which says where it comes from
    assert "ZeroDivisionError: c" in str(thoughts[1])


def test_a_worker_that_dies_is_replaced(tmp_path):
    """What was asked of it is asked again, once: a question that kills whoever is asked it is given up."""
    first, second, third = ask_workers(
        tmp_path, [("suggest", ["a", "die once"]), ("suggest", ["b", "die"]), ("suggest", ["c"])]
    )
    assert first == [b"a", b"die once"]
    assert [type(error) for error in second] == [EOFError, EOFError]
    assert third == [b"c"]


@pytest.mark.long
def test_a_worker_that_dies_unasked(tmp_path):
    async def run(workers):
        (worker,), first = workers.workers, workers.workers[0].process
        answers = [await answer_to(workers.suggest, ["a"])]
        first.kill()
        while worker.process is first:
            await asyncio.sleep(0.01)
        return [*answers, await answer_to(workers.suggest, ["die once"])]

    with Workers(partial(Told, tmp_path), 1) as workers:
        workers.warm_up()
        assert asyncio.run(run(workers)) == [[b"a"], [b"die once"]]


def test_many_questions_at_once(tmp_path):
    async def run(workers):
        asked = [[f"{number}", "x" * 100_000] for number in range(40)]
        asked[7].append("die once")
        return asked, await asyncio.gather(*(answer_to(workers.suggest, questions) for questions in asked))

    with Workers(partial(Told, tmp_path), 2) as workers:
        workers.warm_up()
        asked, found = asyncio.run(run(workers))
    assert found == [[question.encode() for question in questions] for questions in asked]


def test_a_worker_that_cannot_be_replaced(tmp_path):
    """Others answer instead; when there is none, what is asked fails with the reason, and no more are started."""

    async def run(workers):
        (tmp_path / "broken").touch()
        answers = [await answer_to(workers.suggest, ["die once", "a"]) for _ in range(2)]
        for worker in workers.workers:
            worker.process.kill()
        answers += await asyncio.gather(*(answer_to(workers.suggest, ["b"]) for _ in range(300)))
        started = [worker.process for worker in workers.workers]
        answers.append(await answer_to(workers.suggest, ["c"]))
        return answers, started == [worker.process for worker in workers.workers]

    with Workers(partial(Told, tmp_path), 2) as workers:
        workers.warm_up()
        (first, second, *others), same = asyncio.run(run(workers))
    assert {str(error) for error in first} == {"there is no model."}
    assert second == [b"die once", b"a"]
    assert {(type(error), str(error)) for (error,) in others} == {(UnavailableError, "there is no model.")}
    assert same


def test_workers_that_cannot_begin(tmp_path):
    (tmp_path / "broken").touch()
    with Workers(partial(Told, tmp_path), 1) as workers, pytest.raises(DataError, match="there is no model"):
        workers.warm_up()
