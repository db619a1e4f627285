"""Requests that are too large, too slow or too many."""

import asyncio
import json
import threading
import time

import pytest

from linktopics.explorer import Explorer
from linktopics.server.limits import Limits
from linktopics.server.queue import in_threads
from support.served_app import (
    BASE,
    TestClient,
    call,
    check_answer,
    create_app,
    strict_client,
)


def test_bodies_that_are_too_large(model, described):
    most = Limits(text=100).body
    with strict_client(model, text=100) as client:
        large = json.dumps({"text": "a" * most}).encode()

        def in_parts():
            for _ in range(100):
                yield large

        for body in (large, in_parts()):
            response = client.post("/api/suggest", content=body, headers={"Content-Type": "application/json"})
            assert response.status_code == 413
            assert f"at most {most:,} bytes" in check_answer(described, response, "/api/suggest", "post")["error"]
            assert response.headers["connection"] == "close"


@pytest.mark.parametrize("char", ["\U0001f600", "\u2028", "\x00", '"'])
def test_the_longest_text_fits_the_largest_body(model, char):
    with strict_client(model, text=1000) as client:
        response = client.post("/api/suggest", json={"text": char * 995 + " cats", "top": 1})
        assert response.status_code == 200
        assert client.post("/api/suggest", json={"text": char * 1001}).status_code == 422


JSON_HEADER = (b"content-type", b"application/json")


def test_an_endless_body_is_not_read_to_its_end(model):
    parts = 0

    async def receive():
        nonlocal parts
        parts += 1
        return {"type": "http.request", "body": b"x" * 2**16, "more_body": True}

    status, body = call(create_app(Explorer(model), limits=Limits(text=100)), "/api/suggest", receive, [JSON_HEADER])
    assert status == 413
    assert "too large" in json.loads(body)["error"]
    assert parts < 100


def test_a_slow_body_is_not_waited_for(model):
    async def receive():
        await asyncio.sleep(60)
        return {"type": "http.request", "body": b"", "more_body": False}

    began = time.monotonic()
    app = create_app(Explorer(model), limits=Limits(reading=0.05))
    status, body = call(app, "/api/suggest", receive, [JSON_HEADER])
    assert status == 408
    assert "within 0.05 seconds" in json.loads(body)["error"]
    assert time.monotonic() - began < 30


def test_no_error_is_logged_when_the_client_has_gone(model, caplog):
    async def receive():
        return {"type": "http.disconnect"}

    sent = []

    async def send(message):
        sent.append(message)

    headers = [(b"host", b"localhost"), JSON_HEADER]
    scope = {"type": "http", "http_version": "1.1", "method": "POST", "path": "/api/suggest", "query_string": b""}
    scope["headers"] = headers
    asyncio.run(create_app(Explorer(model))(scope, receive, send))
    assert sent == []
    assert caplog.records == []


def test_too_many_requests(model, described):
    app = create_app(Explorer(model), limits=Limits(requests=0))
    with TestClient(app, base_url=BASE) as client:
        response = client.get("/api/health")
    assert response.status_code == 503
    assert response.headers["retry-after"] == "1"
    assert "Too many requests" in check_answer(described, response, "/api/health")["error"]


def test_too_many_questions(model, described):
    """While one text is being answered and another waits, a third is refused; then all is as before."""
    app = create_app(Explorer(model), limits=Limits(waiting=1))
    api, go, started = app.state.api, threading.Event(), threading.Event()

    def slow(questions):
        started.set()
        assert go.wait(30)
        return api.handler.suggest(questions)

    api.suggest_queue.process = in_threads(slow, api.pool)
    with TestClient(app, base_url=BASE) as client:
        answers = {}

        def ask(word):
            answers[word] = client.post("/api/suggest", json={"text": word})

        threads = [threading.Thread(target=ask, args=(word,)) for word in ("cats", "stars")]
        threads[0].start()
        assert started.wait(30)
        threads[1].start()
        while not api.suggest_queue.items:
            time.sleep(0.001)
        response = client.post("/api/suggest", json={"text": "moons"})
        assert client.get("/api/documents/cat").status_code == 200  # what else is asked does not wait
        go.set()
        for thread in threads:
            thread.join()
        assert response.status_code == 503
        assert response.headers["retry-after"] == "1"
        assert "try again" in check_answer(described, response, "/api/suggest", "post")["error"]
        assert [one.status_code for one in answers.values()] == [200, 200]
        assert client.post("/api/suggest", json={"text": "moons"}).status_code == 200
