"""The server as programs and browsers meet it: answers, refusals, headers, and how it bears what is hostile."""

import asyncio
import json
import logging
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from linktopics import DocumentNetwork
from linktopics.explorer import Explorer
from linktopics.server.handlers import TextHandler
from linktopics.server.limits import Limits
from linktopics.server.schemas import SuggestRequest
from linktopics.server.text_queries import TextQueryEngine
from support.small_models import ASKED, TEXTS, small_model, small_network

for package, extra in (("starlette", "web"), ("httpx", "test"), ("jsonschema", "test")):
    pytest.importorskip(package, reason=f"{package} is not installed; it comes with linktopics[{extra}]")

import jsonschema  # noqa: E402
from starlette.testclient import TestClient  # noqa: E402
from starlette.websockets import WebSocketDisconnect  # noqa: E402

from linktopics.server.app import create_app  # noqa: E402
from linktopics.server.middleware import HEADERS, Guard, host_of  # noqa: E402
from linktopics.server.queue import BatchQueue, in_threads  # noqa: E402

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
BASE = "http://localhost"


@pytest.fixture(scope="module")
def model():
    return small_model().fit(small_network(titles=[f"The {name}" for name in TEXTS], columns={"year": range(10)}))


@pytest.fixture(scope="module")
def client(model):
    with TestClient(create_app(Explorer(model), hosts=frozenset({"localhost"})), base_url=BASE) as client:
        yield client


def strict_client(model, **limits):
    return TestClient(create_app(Explorer(model), limits=Limits(**limits)), base_url=BASE)


@pytest.fixture(scope="module")
def described(client):
    return client.get("/openapi.json").json()


def check_answer(described, response, path, method="get"):
    """Compare an answer with its description."""
    told = described["paths"][path][method]["responses"][str(response.status_code)]["content"]
    schema = told["application/json"]["schema"]
    validator = jsonschema.Draft202012Validator({**schema, "components": described["components"]})
    validator.validate(response.json())
    assert response.headers["content-type"] == "application/json"
    for name in HEADERS:
        assert name in response.headers
    return response.json()


# ----------------------------------------------------------------------------------------------------------------------
# Answers, and their description
# ----------------------------------------------------------------------------------------------------------------------

ANSWERS = [
    ("/api/health", "/api/health"),
    ("/api/meta", "/api/meta"),
    ("/api/topics", "/api/topics"),
    ("/api/topics/{k}", "/api/topics/2"),
    ("/api/cells/{a}/{b}", "/api/cells/0/1?top=3"),
    ("/api/documents", "/api/documents"),
    ("/api/documents", "/api/documents?query=cats&topic=1&sort=topic&descending=true&page=0&size=2"),
    ("/api/documents/{id}", "/api/documents/cat"),
    ("/api/documents/{id}", "/api/documents/3?by=number"),
]
REFUSED = [
    ("/api/topics/{k}", "/api/topics/3", 404, "topics run from 0 to 2"),
    ("/api/topics/{k}", "/api/topics/one", 404, "topics run from 0 to 2"),
    ("/api/topics/{k}", "/api/topics/-1", 404, "topics run from 0 to 2"),
    ("/api/topics/{k}", "/api/topics/%D9%A1", 404, "topics run from 0 to 2"),  # another script's digit
    ("/api/cells/{a}/{b}", "/api/cells/0/99999999999999999999", 404, "topics run from 0 to 2"),
    ("/api/cells/{a}/{b}", "/api/cells/0/1?top=51", 422, "from 1 to 50"),
    ("/api/documents", "/api/documents?query=" + 201 * "x", 422, "201 characters; it may have up to 200"),
    ("/api/documents", "/api/documents?topic=3", 422, "topic must be a whole number from 0 to 2"),
    ("/api/documents", "/api/documents?sort=colour", 422, "sort must be number, title, tokens, links or topic"),
    ("/api/documents", "/api/documents?sort=topic", 422, "sort=topic needs topic="),
    ("/api/documents", "/api/documents?descending=maybe", 422, "descending must be false or true"),
    ("/api/documents", "/api/documents?size=201", 422, "size must be a whole number from 1 to 200"),
    ("/api/documents", "/api/documents?size=0", 422, "size must be a whole number from 1 to 200"),
    ("/api/documents", "/api/documents?page=-1", 422, "page must be a whole number from 0"),
    ("/api/documents", "/api/documents?page=1e3", 422, "page must be a whole number from 0"),
    ("/api/documents/{id}", "/api/documents/nobody", 404, "No document has the id 'nobody'"),
    ("/api/documents/{id}", "/api/documents/", 404, "No document has the id ''"),
    ("/api/documents/{id}", "/api/documents/10?by=number", 404, "numbers run from 0 to 9"),
    ("/api/documents/{id}", "/api/documents/cat?by=number", 404, "numbers run from 0 to 9"),
    ("/api/documents/{id}", "/api/documents/cat?by=title", 422, "by must be id or number"),
]
ASKED_FOR = [
    ("/api/suggest", {"text": ASKED}),
    ("/api/suggest", {"text": ASKED, "top": 3.0, "direction": "in"}),
    ("/api/suggest", {"text": "zeppelins"}),
    ("/api/changes", {"text": ASKED, "top": 2, "direction": "out", "add": ["cats", "zeppelin"]}),
    ("/api/explain", {"source": "cat", "target": "star"}),
    ("/api/explain", {"text": ASKED, "target": "star", "top": 2}),
]
NOT_ANSWERED = [
    ("/api/suggest", {}, 422, "text is required, as a string"),
    ("/api/suggest", {"text": 5}, 422, "text is required, as a string"),
    ("/api/suggest", {"text": None}, 422, "text is required, as a string"),
    ("/api/suggest", {"text": ""}, 422, "from 1 to 20,000"),
    ("/api/suggest", {"text": "a" * 20_001}, 422, "text has 20,001 characters; it must have from 1 to 20,000"),
    ("/api/suggest", {"text": "ab " * 5_001}, 422, "5,001 words; at most 5,000"),
    ("/api/suggest", {"text": ASKED, "top": 0}, 422, "top must be a whole number from 1 to 50"),
    ("/api/suggest", {"text": ASKED, "top": 51}, 422, "top must be a whole number from 1 to 50"),
    ("/api/suggest", {"text": ASKED, "top": True}, 422, "top must be a whole number"),
    ("/api/suggest", {"text": ASKED, "top": "5"}, 422, "top must be a whole number"),
    ("/api/suggest", {"text": ASKED, "top": 10**400}, 422, "top must be a whole number"),
    ("/api/suggest", {"text": ASKED, "direction": "up"}, 422, "direction must be both, out or in"),
    ("/api/suggest", {"text": ASKED, "direction": ["in"]}, 422, "direction must be both, out or in"),
    ("/api/suggest", {"text": ASKED, "colour": 1}, 422, "no field 'colour' here; the fields are text, top, direction"),
    ("/api/suggest", [ASKED], 422, "must be an object"),
    ("/api/suggest", ASKED, 422, "must be an object"),
    ("/api/changes", {"text": ASKED, "add": "cats"}, 422, "a list of at most 20 words"),
    ("/api/changes", {"text": ASKED, "add": ["cats"] * 21}, 422, "a list of at most 20 words"),
    ("/api/changes", {"text": ASKED, "add": [1]}, 422, "a list of at most 20 words"),
    ("/api/changes", {"text": ASKED, "add": ["x" * 101]}, 422, "from 1 to 100 characters"),
    ("/api/changes", {"text": ASKED, "add": [""]}, 422, "from 1 to 100 characters"),
    ("/api/explain", {"source": "cat", "text": ASKED, "target": "star"}, 422, "one of the two"),
    ("/api/explain", {"target": "star"}, 422, "one of the two"),
    ("/api/explain", {"source": "cat"}, 422, "target is required"),
    ("/api/explain", {"source": "cat", "target": "cat"}, 422, "no link to itself"),
    ("/api/explain", {"source": "cat", "target": "nobody"}, 404, "No document has the id 'nobody'"),
    ("/api/explain", {"source": "x" * 2_001, "target": "cat"}, 422, "2,001 characters"),
    ("/api/explain", {"text": "zeppelins", "target": "star"}, 422, "no word that the model knows"),
]


@pytest.mark.parametrize(("path", "address"), ANSWERS)
def test_answers_are_as_described(client, described, path, address):
    response = client.get(address)
    assert response.status_code == 200, response.text
    check_answer(described, response, path)


@pytest.mark.parametrize(("path", "address", "status", "sentence"), REFUSED)
def test_what_is_refused(client, described, path, address, status, sentence):
    response = client.get(address)
    assert response.status_code == status, response.text
    assert sentence in check_answer(described, response, path)["error"]


@pytest.mark.parametrize(("path", "asked"), ASKED_FOR)
def test_questions_are_answered_as_described(client, described, path, asked):
    response = client.post(path, json=asked)
    assert response.status_code == 200, response.text
    check_answer(described, response, path, "post")


@pytest.mark.parametrize(("path", "asked", "status", "sentence"), NOT_ANSWERED)
def test_questions_that_are_refused(client, described, path, asked, status, sentence):
    response = client.post(path, json=asked)
    assert response.status_code == status, response.text
    assert sentence in check_answer(described, response, path, "post")["error"]


def test_every_route_is_described(client, described):
    routes = {re.sub(r":\w+}", "}", route.path): route.methods for route in client.app.routes}
    assert set(routes) == set(described["paths"])
    for path, methods in routes.items():
        assert set(described["paths"][path]) == {"post" if "POST" in methods else "get"}
    assert {answer for answer, _ in ANSWERS} | {answer for answer, _ in ASKED_FOR} == {
        path for path in routes if path.startswith("/api/")
    }


def test_every_parameter_is_described(described):
    for path, operations in described["paths"].items():
        for operation in operations.values():
            told = {one["name"]: one for one in operation.get("parameters", [])}
            assert {name for name, one in told.items() if one["in"] == "path"} == set(re.findall(r"{(\w+)}", path))
            for one in told.values():
                schema = one["schema"]
                bounded = {"maximum", "maxLength", "enum"} & set(schema) or schema["type"] == "boolean"
                assert bounded, (path, one["name"])


def test_the_description_is_valid(described):
    assert described["openapi"].startswith("3.1")
    used = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(described)))
    assert used == set(described["components"]["schemas"])
    for schema in described["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_ranges_over_samples_are_described_as_such(described):
    schemas = described["components"]["schemas"]
    for suggestions in (
        schemas["Document"]["properties"]["suggested"],
        schemas["Suggestions"]["properties"]["suggestions"],
    ):
        told = schemas[suggestions["items"]["$ref"].rpartition("/")[2]]["properties"]
        for name, quantile in (("lower", "5 %"), ("upper", "95 %")):
            assert told[name]["description"].startswith(f"{quantile} quantile")
            assert "does not hold all that is unknown" in told[name]["description"]


@pytest.mark.parametrize("text", [ASKED, "cats and planets"])
def test_links_either_way_are_between_the_larger_and_the_sum(client, text):
    found = {}
    for way in ("both", "out", "in"):
        told = client.post("/api/suggest", json={"text": text, "top": 10, "direction": way}).json()
        found[way] = {one["id"]: one["probability"] for one in told["suggestions"]}
    assert len(found["both"]) > 3
    for id, either in found["both"].items():
        out, into = found["out"][id], found["in"][id]
        assert max(out, into) * (1 - 1e-5) <= either <= (out + into) * (1 + 1e-5)  # of six digits


@pytest.mark.parametrize(
    ("path", "asked", "status"), [*((p, a, 200) for p, a in ASKED_FOR), *(n[:3] for n in NOT_ANSWERED)]
)
def test_bodies_are_as_described(described, path, asked, status):
    """What the description allows is answered, and most of what is not answered it does not allow."""
    schema = described["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
    allowed = jsonschema.Draft202012Validator(schema).is_valid(asked)
    beyond = "ab ab" in json.dumps(asked) or status == 404 or asked in (NOT_ANSWERED[-4][1], NOT_ANSWERED[-1][1])
    assert allowed == (status == 200 or beyond)


def test_answers_are_the_explorers(client, model):
    explorer = Explorer(model)
    assert client.get("/api/meta").json() == json.loads(json.dumps(explorer.meta()))
    assert client.get("/api/documents/kitten").json() == json.loads(json.dumps(explorer.document(1)))
    assert client.get("/api/documents/kitten").content == client.get("/api/documents/1?by=number").content
    asked = {"query": "planets", "sort": "title", "descending": "true", "size": 2}
    expected = explorer.documents("planets", None, "title", True, 0, 2)
    assert client.get("/api/documents", params=asked).json() == json.loads(json.dumps(expected))
    assert client.get("/api/cells/2/1?top=2").json() == json.loads(json.dumps(explorer.cell(2, 1, 2)))
    topics = client.get("/api/topics").json()["topics"]
    topic = client.get("/api/topics/1").json()
    assert topics == explorer.meta()["topics"]
    assert {name: value for name, value in topic.items() if name not in ("k", "names")} == topics[1]
    assert {int(i) for i in topic["names"]} == set(topic["documents"])


def test_suggestions_are_the_models(client, model):
    found = client.post("/api/suggest", json={"text": ASKED, "top": 4, "direction": "out"}).json()["suggestions"]
    assert [one["id"] for one in found] == model.suggest_links(ASKED, top=4, direction="out")["id"].tolist()


def test_the_page_and_its_files(client):
    page = client.get("/")
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "<script>" not in page.text
    files = re.findall(r'(?:src|href)="(static/[^"]+)"', page.text)
    assert files
    for file in files:
        response = client.get(f"/{file}")
        assert response.status_code in (200, 404)  # the pages come with the front end
    assert client.get("/static/index.html").status_code == 404
    assert "There is no file" in client.get("/static/nothing.js").json()["error"]


def test_models_without_texts_or_links():
    counted = small_model().fit(DocumentNetwork([[2, 1, 0], [1, 1, 0], [0, 1, 2], [0, 0, 3]], [(0, 1), (2, 3)]))
    with TestClient(create_app(Explorer(counted)), base_url=BASE) as client:
        described = client.get("/openapi.json").json()
        check_answer(described, client.get("/api/meta"), "/api/meta")
        check_answer(described, client.get("/api/documents/0"), "/api/documents/{id}")
        response = client.post("/api/suggest", json={"text": "cats"})
        assert response.status_code == 422
        assert "cannot read texts" in check_answer(described, response, "/api/suggest", "post")["error"]
    unlinked = small_model().fit(small_network(links=[]))
    with TestClient(create_app(Explorer(unlinked)), base_url=BASE) as client:
        for path in ("/api/meta", "/api/documents/cat", "/api/cells/0/0", "/api/documents?sort=links"):
            assert client.get(path).status_code == 200
        response = client.post("/api/suggest", json={"text": "cats"})
        assert response.status_code == 422
        assert "without links" in response.json()["error"]


# ----------------------------------------------------------------------------------------------------------------------
# What is hostile
# ----------------------------------------------------------------------------------------------------------------------


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


# ----------------------------------------------------------------------------------------------------------------------
# Too large, too slow, too many
# ----------------------------------------------------------------------------------------------------------------------


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


def call(app, path, receive, headers=(), method="POST"):
    """Call an application without a client, and return its status and body."""
    sent = []

    async def send(message):
        sent.append(message)

    scope = {
        "type": "http", "method": method, "path": path, "query_string": b"", "root_path": "",
        "scheme": "http", "headers": [(b"host", b"localhost"), *headers], "http_version": "1.1",
    }  # fmt: skip
    asyncio.run(app(scope, receive, send))
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])


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


def test_nobody_is_told_when_the_asker_has_gone(model, caplog):
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


# ----------------------------------------------------------------------------------------------------------------------
# Who asks, and how
# ----------------------------------------------------------------------------------------------------------------------


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
    assert host_of(given) == host


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


def test_one_bad_question_does_not_spoil_the_others(model, monkeypatch):
    asker = TextQueryEngine(Explorer(model))
    suggest = asker.suggest

    def fail_at_stars(questions):
        if any("stars" in question.text.words for question in questions):
            raise ZeroDivisionError
        return suggest(questions)

    monkeypatch.setattr(asker, "suggest", fail_at_stars)
    first, second, third, fourth = TextHandler(asker).suggest(
        [SuggestRequest(text, 1, "both") for text in ("cats", "stars", "moons", "ab " * 6000)]
    )
    assert isinstance(first, bytes)
    assert isinstance(third, bytes)
    assert isinstance(second, ZeroDivisionError)
    assert "at most 5,000" in str(fourth)


def test_half_an_answer_ends_the_connection():
    async def broken(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        call(Guard(broken, Limits(), None), "/", None)
