"""Hostile documents, texts, paths and bodies: they come back as they are, or are refused."""

import json

import pytest

from linktopics import DocumentNetwork
from linktopics.explorer import Explorer
from support.served_app import BASE, TestClient, call, check_answer, create_app
from support.small_models import TEXTS, small_model

HOSTILE = {
    "tag": "<script>alert(1)</script>",
    "end of a script": '</script><img src=x onerror="alert(1)">',
    "quotes": "\"'`&amp;\\",
    "controls": "a\x00b\x1b[31mc\x7f\r\nd\u0085",
    "surrogate": "half \ud83d of a pair",
    "separators": "one\u2028two\u2029three\ufeff",
    "path": "../../etc/passwd",
    "direction": "\u202egnp.exe",
    "slashes": "a/b//c?d=e#f%20g",
    "emoji": "👩‍🚀 stars",
}


@pytest.fixture(scope="module")
def hostile():
    """Serve documents whose ids, titles, labels, columns and texts are as bad as can be."""
    values = list(HOSTILE.values())
    texts = [f"{text} {bad}" for text, bad in zip(TEXTS.values(), values, strict=True)]
    network = DocumentNetwork.from_texts(
        texts,
        [(values[a], values[b]) for a, b in ((1, 0), (2, 0), (3, 1), (6, 5), (7, 6), (8, 5))],
        ids=values,
        titles=[bad * 2 for bad in values],
        labels=values,
        columns={"note": values},
    )
    model = small_model().fit(network)
    with TestClient(create_app(Explorer(model)), base_url=BASE) as client:
        yield client


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_documents_come_as_they_are(hostile, name):
    bad, number = HOSTILE[name], list(HOSTILE).index(name)
    response = hostile.get(f"/api/documents/{number}?by=number")
    assert response.content.isascii()
    found = response.json()
    assert (found["id"], found["title"], found["label"], found["columns"]) == (bad, bad * 2, bad, {"note": bad})
    assert found["text"] == f"{list(TEXTS.values())[number]} {bad}"
    rows = hostile.get("/api/documents").json()["rows"]
    assert [row["id"] for row in rows] == list(HOSTILE.values())
    assert call(hostile.app, f"/api/documents/{bad}", None, method="GET") == (200, response.content)
    if name != "surrogate":  # which no address can have
        searched = hostile.get("/api/documents", params={"query": bad.split()[0], "size": 200})
        assert searched.status_code == 200
        assert number in [row["i"] for row in searched.json()["rows"]]


@pytest.mark.parametrize("bad", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts(hostile, described, bad):
    text = f"{bad} cats {bad} stars"
    for path, asked in (
        ("/api/suggest", {"text": text, "top": 10}),
        ("/api/suggest", {"text": bad}),
        ("/api/changes", {"text": text, "add": [bad]}),
        ("/api/explain", {"text": text, "target": HOSTILE["tag"]}),
        ("/api/explain", {"source": bad, "target": bad}),
    ):
        response = hostile.post(path, content=json.dumps(asked), headers={"Content-Type": "application/json"})
        assert response.status_code == (200 if asked.get("source") is None else 422), response.text
        assert response.content.isascii()
        answer = check_answer(described, response, path, "post")
        if "marks" in answer:
            units = asked["text"].encode("utf-16-le", "surrogatepass")
            for begin, end, at in answer["marks"]:
                piece = units[2 * begin : 2 * end].decode("utf-16-le", "surrogatepass")
                assert piece.lower() == answer["words"][at]["word"]


@pytest.mark.parametrize(
    "path",
    [
        "/../etc/passwd", "/static/../server.py", "/static/..%2fserver.py", "/static/%2e%2e/server.py",
        "/static/..%5cserver.py", "/static/", "/static/%00", "/static/style.css%00.js", "/static//etc/passwd",
        "/api", "/api/", "/api/meta/", "/api//meta", "/API/META", "/api/cells/0", "/api/cells/0/0/0",
        "/api/topics/%2e%2e", "/api/topics/0%00", "/api/documents/..%2f..%2f", "/api/documents/%00",
        "/api/documents/%2e%2e?by=number", "/api/documents/%FF%FE", "/api/documents/" + "x" * 5000, "/" + "x" * 5000,
        "/api/documents/%F0%9F%92%A9", "/%2e%2e/%2e%2e/etc/passwd", "/favicon.ico", "/.git/config",
    ],
)  # fmt: skip
def test_hostile_paths(client, path):
    response = client.request("GET", f"{BASE}{path}")
    assert response.status_code == 404
    assert response.headers["content-type"] == "application/json"
    sentence = response.json()["error"]
    assert len(sentence) < 250
    assert "\n" not in sentence
    assert "\x00" not in sentence


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        (b"", 400, "not JSON"),
        (b"{", 400, "not JSON"),
        (b'{"text": "cats"', 400, "not JSON"),
        (b'{"text": NaN}', 400, "not JSON"),
        (b'{"text": "cats", "top": Infinity}', 400, "not JSON"),
        (b'{"text": "\xff"}', 400, "not JSON"),
        (b'\xef\xbb\xbf{"text": "cats"}', 400, "not JSON"),
        ('{"text": "cats"}'.encode("utf-16"), 400, "not JSON"),
        (b'{"top": ' + b"9" * 5000 + b"}", 400, "not JSON"),
        (b"[" * 100_000, 400, "nested too deeply"),
        (b'{"text": "cats"} {"text": "cats"}', 400, "not JSON"),
    ],
)
def test_bodies_that_are_no_json(client, described, body, status, sentence):
    response = client.post("/api/suggest", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == status
    assert sentence in check_answer(described, response, "/api/suggest", "post")["error"]


@pytest.mark.parametrize(
    "kind", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "json"]
)
def test_bodies_of_another_type(client, described, kind):
    headers = {} if kind is None else {"Content-Type": kind}
    response = client.post("/api/suggest", content=b'{"text": "cats"}', headers=headers)
    assert response.status_code == 415
    assert "Content-Type: application/json" in check_answer(described, response, "/api/suggest", "post")["error"]


def test_types_with_parameters(client):
    headers = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert client.post("/api/suggest", content=b'{"text": "cats"}', headers=headers).status_code == 200
