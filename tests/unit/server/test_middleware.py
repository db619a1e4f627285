"""Which hosts and methods are answered, with which headers, and what becomes of unexpected errors."""

import logging

import pytest

from linktopics.explorer import Explorer
from linktopics.server.limits import Limits
from support.served_app import WebSocketDisconnect, call, check_answer, middleware, strict_client
from support.small_models import ASKED


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "", "evil@localhost"]
)
def test_other_names_of_the_server_are_refused(client, described, host):
    response = client.get("/api/meta", headers={"Host": host})
    assert response.status_code == 400
    assert "Host header" in check_answer(described, response, "/api/meta")["error"]


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8000", "localhost:1"])
def test_its_own_names_are_not(client, host):
    assert client.get("/api/health", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    ("given", "host"),
    [("[::1]:80", "[::1]"), ("[::1]", "[::1]"), ("a:b", "a:b"), ("1.2.3.4:5", "1.2.3.4"), (":80", ""), ("", "")],
)
def test_host_of(given, host):
    assert middleware.host_of(given) == host


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://localhost:81", "http://[", "file://localhost"]
)
def test_pages_of_other_sites_cannot_ask(client, described, origin):
    response = client.post("/api/suggest", json={"text": ASKED}, headers={"Origin": origin})
    assert response.status_code == 403
    assert "other sites" in check_answer(described, response, "/api/suggest", "post")["error"]


def test_its_own_page_can_ask(client):
    response = client.post("/api/suggest", json={"text": ASKED}, headers={"Origin": "http://localhost"})
    assert response.status_code == 200
    assert not [name for name in response.headers if name.startswith("access-control")]


def test_methods(client):
    assert client.head("/api/meta").status_code == 200
    for path, allowed in (
        ("/api/meta", "GET, HEAD, OPTIONS"),
        ("/api/suggest", "POST, OPTIONS"),
        ("/", "GET, HEAD, OPTIONS"),
    ):
        response = client.options(path)
        assert (response.status_code, response.headers["allow"], response.content) == (204, allowed, b"")
        for method in ("PUT", "DELETE", "PATCH", "TRACE", "NONSENSE", "POST" if "GET" in allowed else "GET"):
            response = client.request(method, path)
            assert response.status_code == 405
            assert set(response.headers["allow"].split(", ")) == set(allowed.split(", "))
            assert response.json() == {"error": f"{method} is not possible here."}
            assert "content-security-policy" in response.headers


def test_headers(client):
    response = client.get("/")
    policy = dict(part.strip().split(" ", 1) for part in response.headers["content-security-policy"].split(";"))
    assert policy == {
        "default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "connect-src": "'self'",
        "img-src": "'self' data:", "base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'none'",
    }  # fmt: skip
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["referrer-policy"] == "no-referrer"
    assert response.headers["cross-origin-opener-policy"] == "same-origin"
    assert response.headers["cache-control"] == "no-cache"
    assert client.get("/api/meta").headers["cache-control"] == "no-store"


def test_websockets_are_closed(client):
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/api/meta"):
        pass


def test_errors_nobody_expected(model, described, monkeypatch, caplog):
    monkeypatch.setattr(Explorer, "documents_at", lambda *_: 1 / 0)
    with strict_client(model) as client, caplog.at_level(logging.ERROR):
        response = client.get("/api/documents/cat")
        again = client.get("/api/documents/cat")
    assert response.status_code == 500
    answer = check_answer(described, response, "/api/documents/{id}")
    assert answer["number"] in answer["error"]
    assert "ZeroDivisionError" not in response.text
    assert "Traceback" not in response.text
    assert answer["number"] in caplog.text
    assert "ZeroDivisionError" in caplog.text
    assert again.json()["number"] != answer["number"]


def test_half_an_answer_ends_the_connection():
    async def broken(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        call(middleware.RequestMiddleware(broken, Limits(), None), "/", None)
