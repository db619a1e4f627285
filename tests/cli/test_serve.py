"""``linktopics serve`` as a user meets it: a process that answers at an address until Ctrl-C."""

import hashlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

import pytest

from linktopics import RelationalTopicModel
from support.command_line import ODD, run, succeed
from support.marks import some_long
from support.small_models import TEXTS, small_model, small_network

pytest.importorskip("uvicorn", reason="uvicorn is not installed; it comes with linktopics[web]")

if sys.platform == "win32":
    pytest.skip("signals are sent as on Unix", allow_module_level=True)


@contextmanager
def served(model, *options, jobs=1):
    """Serve a model in a process of its own; give the process and the address. Every worker takes a second to start."""
    options = ["--port", "0", "--jobs", str(jobs), *options]
    command = [sys.executable, "-m", "linktopics", "serve", str(model), *options]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
    try:
        line = process.stdout.readline()
        found = re.search(r"http://(\S+?):(\d+)/", line)
        assert found, (line, process.stderr.read())
        yield process, (found[1].strip("[]"), int(found[2]))
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=300)


def contents(folder):
    return {
        path.relative_to(folder): (path.stat().st_mtime_ns, hashlib.sha256(path.read_bytes()).hexdigest())
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture(scope="module")
def contents_before(model):
    """Return what is in the folder of the model before it is served."""
    return contents(model)


@pytest.fixture(scope="module")
def server(model, contents_before):
    with served(model, jobs=2) as (process, address):
        yield process, address


def asked(address, path, body=None, **headers):
    connection = http.client.HTTPConnection(*address, timeout=300)
    try:
        if body is None:
            connection.request("GET", path, headers=headers)
        else:
            connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json", **headers})
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def said_to(address, *parts, pause=0.0):
    """Send bytes as they are, and return all that comes back until the connection is closed."""
    with socket.create_connection(address, timeout=300) as connection:
        for part in parts:
            connection.sendall(part)
            time.sleep(pause)
        received = bytearray()
        while data := connection.recv(65536):
            received += data
        return bytes(received)


def test_answers(server):
    _, address = server
    assert asked(address, "/api/health")[1]["documents"] == 10
    status, found = asked(address, "/api/suggest", {"text": "kittens purr", "top": 2})
    assert (status, len(found["suggestions"])) == (200, 2)
    assert asked(address, "/api/documents/cat")[1]["title"] == "Cat"


def workers_of(process):
    """Return the numbers of the processes that answer questions about texts."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [int(pid) for pid in children if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.long
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_workers_are_replaced_and_end_with_the_server(model, end):
    with served(model) as (process, address):
        status, before = asked(address, "/api/suggest", {"text": "kittens purr"})
        (worker,) = workers_of(process)
        os.kill(worker, signal.SIGKILL)
        status, after = asked(address, "/api/suggest", {"text": "purr kittens"})
        assert status == 200
        assert [one["j"] for one in after["suggestions"]] == [one["j"] for one in before["suggestions"]]
        (other,) = workers_of(process)
        assert other != worker
        process.send_signal(end)
        process.wait(300)
        until = time.monotonic() + 300
        while is_running(other):
            assert time.monotonic() < until
            time.sleep(0.02)


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
@pytest.mark.long
def test_a_model_that_is_replaced_is_never_mixed_with_the_other(copied):
    """Documents of the other model are in another order: one that is named by its number would be another one."""
    other = small_model().fit(small_network(ids=list(TEXTS)[::-1]))
    pair = {"source": "kitten", "target": "cat"}
    with served(copied) as (process, address):
        before = asked(address, "/api/explain", pair)
        document = asked(address, "/api/documents/kitten")
        other.save(copied, overwrite=True)
        assert asked(address, "/api/explain", {**pair, "top": 19}) == before  # by the worker that has the old model
        (worker,) = workers_of(process)
        os.kill(worker, signal.SIGKILL)
        for path, body in (("explain", {**pair, "top": 18}), ("suggest", {"text": "kittens purr"})):
            status, answer = asked(address, f"/api/{path}", body)
            assert status == 503
            assert f"The model in {copied} was replaced while the server ran; restart" in answer["error"]
        assert asked(address, "/api/documents/kitten") == document
        assert asked(address, "/api/explain", pair) == before  # which is kept
        assert workers_of(process) == []


def test_only_its_own_names_are_answered(server):
    _, address = server
    for host in ("localhost", "127.0.0.1", f"127.0.0.1:{address[1]}", "[::1]:80"):
        assert asked(address, "/api/health", Host=host)[0] == 200
    assert asked(address, "/api/health", Host="evil.example")[0] == 400
    assert said_to(address, b"GET /api/health HTTP/1.1\r\nConnection: close\r\n\r\n").startswith(b"HTTP/1.1 400")
    assert asked(address, "/api/suggest", {"text": "cats"}, Origin="http://evil.example")[0] == 403
    assert asked(address, "/api/suggest", {"text": "cats"}, Origin=f"http://{address[0]}:{address[1]}")[0] == 200


@pytest.fixture(scope="module")
def server_for_all(model):
    """Serve under any name, as for other machines."""
    with served(model, "--host", "0.0.0.0") as (process, (_, port)):
        yield process, ("127.0.0.1", port)


HOSTS = {
    "one": ([b"localhost"], b"200"),
    "spaces around it": ([b" localhost \t"], b"200"),
    "a port": ([b"localhost:80"], b"200"),
    "IPv6": ([b"[::1]:80"], b"200"),
    "two": ([b"localhost", b"localhost"], b"400"),
    "two that differ": ([b"localhost", b"evil.example"], b"400"),
    "none": ([], b"400"),
    "empty": ([b""], b"400"),
    "a port alone": ([b":80"], b"400"),
    "two in one": ([b"localhost localhost"], b"400"),
    "a user": ([b"evil@localhost"], b"400"),
    "a path": ([b"localhost/path"], b"400"),
    "no port": ([b"localhost:http"], b"400"),
    "half of brackets": ([b"[::1"], b"400"),
    "no ASCII": ([b"localh\xf6st"], b"400"),
}


@pytest.mark.parametrize("kind", HOSTS)
@pytest.mark.parametrize("serving", some_long(["server", "server_for_all"], ["server_for_all"]))
def test_hosts(serving, kind, request):
    """RFC 9112, 3.2: a request without a Host header, with several, or with one that is none, is answered by 400."""
    _, address = request.getfixturevalue(serving)
    hosts, status = HOSTS[kind]
    lines = [b"GET /api/health HTTP/1.1", *(b"Host: " + host for host in hosts), b"Connection: close", b"", b""]
    answer = said_to(address, b"\r\n".join(lines))
    assert answer.startswith(b"HTTP/1.1 " + status)
    assert (b"Host header" in answer) == (status == b"400")


@pytest.mark.long
def test_hosts_before_there_were_any(server, server_for_all):
    """HTTP/1.0 needs no Host header; a server that only answers to its own names does."""
    old = b"GET /api/health HTTP/1.0\r\n"
    assert said_to(server_for_all[1], old + b"\r\n").startswith(b"HTTP/1.1 200")
    assert said_to(server_for_all[1], old + b"Host: a\r\nHost: b\r\n\r\n").startswith(b"HTTP/1.1 400")
    assert said_to(server[1], old + b"\r\n").startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize(
    "request_line",
    [b"GET /../../etc/passwd", b"GET /static/../../server.py", b"GET /api/documents/%00", b"GET //", b"GET /%ff%fe"],
)
def test_paths_as_they_are(server, request_line):
    _, address = server
    answer = said_to(address, request_line + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 404")
    assert "error" in json.loads(body)


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"nonsense\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /api/suggest HTTP/1.1\r\nHost: localhost\r\nContent-Length: many\r\n\r\n",
    ],
)
def test_what_is_no_request(server, request_bytes):
    _, address = server
    head, _, body = said_to(address, request_bytes).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400")
    assert json.loads(body) == {"error": "The request is not valid HTTP."}


def test_heads_without_end(server):
    _, address = server
    head = b"GET / HTTP/1.1\r\nHost: localhost\r\nX: "
    answer = said_to(address, head, b"x" * 40_000, b"x" * 40_000, pause=0.1)
    assert answer.startswith(b"HTTP/1.1 400")
    long = b"GET /?" + b"x" * 50_000 + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    assert said_to(address, long).startswith(b"HTTP/1.1 200")


def head_of(size, *headers, line=b"GET /api/health HTTP/1.1"):
    """Return a head of so many bytes, with these headers and one that is as long as it takes."""
    lines = [line, b"Host: localhost", b"Connection: close", *headers, b"X: "]
    head = b"\r\n".join(lines)
    return head + b"x" * (size - len(head) - 4) + b"\r\n\r\n"


LARGE = {
    "one header": lambda size: head_of(size),
    "many headers": lambda size: head_of(size, *(b"X-%d: y" % number for number in range(5_000))),
    "spaces": lambda size: head_of(size, b"Y: " + b" " * 50_000 + b"y"),
    "a long line": lambda size: head_of(size, line=b"GET /api/health?" + b"x" * 50_000 + b" HTTP/1.1"),
}


@pytest.mark.parametrize("segments", [1, 7])
@pytest.mark.parametrize("kind", LARGE)
def test_the_largest_head(server, kind, segments):
    _, address = server
    for size, status in ((2**16, b"200"), (2**16 + 1, b"400"), (70_000, b"400")):
        head = LARGE[kind](size)
        assert len(head) == size
        step = -(-size // segments)
        answer = said_to(address, *(head[at : at + step] for at in range(0, size, step)), pause=0.02)
        assert answer.startswith(b"HTTP/1.1 " + status)
        assert (b"The head of the request is too large; at most 65,536 bytes are read." in answer) == (status == b"400")


def test_the_largest_head_behind_other_requests(server):
    """The size of a head is its own: neither what came before counts, nor is one that comes later let through."""
    _, address = server
    first = b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    body = json.dumps({"text": "kittens " * 2_000}).encode()
    long = b"POST /api/suggest HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    long += b"Content-Length: %d\r\n\r\n" % len(body) + body
    for before in (first, long, first + long):
        answer = said_to(address, before + head_of(2**16))
        assert answer.count(b"HTTP/1.1 200") == 2 + (before == first + long)
        assert b"too large" in said_to(address, before + head_of(70_000))


@pytest.mark.parametrize("part", [b"X: y\r\n", b"x" * 1000], ids=["lines", "one line"])
def test_trailers_without_end(server, part):
    """What comes behind the last chunk of a body has no more room than a head."""
    _, address = server
    head = b"POST /api/suggest HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    trailers = b"X: " + part * (100_000 // len(part))
    answer = said_to(address, head + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n", trailers)
    assert answer.startswith(b"HTTP/1.1 400")
    assert b"too large" in answer


def test_many_small_chunks(server):
    """A body in chunks of a byte each is read, although most of what comes is not its content."""
    _, address = server
    body = json.dumps({"text": "kittens purr " * 1_500}).encode()
    head = b"POST /api/suggest HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
    answer = said_to(address, head + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks)
    assert answer.startswith(b"HTTP/1.1 200")


def test_bodies_without_a_length(server):
    """A body in chunks is refused when it is too large, although nobody said how large it would be."""
    _, address = server
    head = b"POST /api/suggest HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    answer = said_to(address, head + b"Transfer-Encoding: chunked\r\n\r\n", *[chunk] * 20, b"0\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 413")
    assert b"at most" in answer


def test_head(server):
    _, address = server
    answer = said_to(address, b"HEAD /api/meta HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200")
    assert int(re.search(rb"content-length: (\d+)", head)[1]) > 1000
    assert body == b""


@pytest.mark.long
def test_ids_as_odd_as_can_be(odd):
    with served(odd.model) as (_, address):
        for number, id in enumerate(ODD.values()):
            status, found = asked(address, f"/api/documents/{quote(str(id), safe='')}")
            assert (status, found["id"], found["i"]) == (200, str(id), number)


def test_nothing_is_written(model, server, contents_before):
    _, address = server
    assert asked(address, "/api/suggest", {"text": "kittens purr"})[0] == 200
    assert asked(address, "/api/changes", {"text": "kittens purr"})[0] == 200
    assert contents(model) == contents_before


@pytest.mark.parametrize(
    "number", some_long([signal.SIGINT, signal.SIGTERM], [signal.SIGINT]), ids=["ctrl-c", "terminated"]
)
@pytest.mark.long
def test_ends_cleanly(model, number):
    with served(model) as (process, address):
        assert asked(address, "/api/suggest", {"text": "kittens purr"})[0] == 200
        os.killpg(process.pid, number)  # as a terminal does: its workers get it, too
        said, complaints = process.communicate(timeout=300)
        assert (process.returncode, said, complaints) == (0, "", "")


def test_many_at_once(server):
    _, address = server
    answers = []

    def ask(number):
        for turn in range(5):
            text = f"kittens purr {'stars ' * (number % 7 + turn)}"
            answers.append(asked(address, "/api/suggest", {"text": text})[0])
            answers.append(asked(address, f"/api/documents/{number % 10}?by=number")[0])

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [200] * 200


def test_port_that_is_taken(model, server):
    _, (_, port) = server
    result = run("serve", model, "--port", port)
    assert result.exit_code == 2
    assert f"port {port} of 127.0.0.1 is taken; choose another by --port {port + 1}" in result.stderr


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--host", "no.such.host.invalid"], "there is no address 'no.such.host.invalid' to serve at"),
        (["--host", "203.0.113.1"], "cannot serve at 203.0.113.1"),
    ],
)
def test_addresses_that_are_none(model, options, sentence):
    result = run("serve", model, "--port", "0", *options)
    assert result.exit_code == 2
    assert sentence in result.stderr
    assert "Traceback" not in result.stderr


def test_folders_that_are_no_models(tmp_path):
    result = run("serve", tmp_path / "nowhere", "--port", "0")
    assert result.exit_code == 2
    assert result.stderr.startswith("linktopics: ")
    assert "Traceback" not in result.stderr


def test_without_the_extra(model, monkeypatch):
    monkeypatch.setattr("linktopics.cli.serve.find_spec", lambda name: None if name == "uvicorn" else object())
    result = run("serve", model)
    assert result.exit_code == 2
    assert result.stderr == "linktopics: the server needs uvicorn: pip install 'linktopics[web]'\n"


def test_help_names_the_extra():
    assert "linktopics[web]" in succeed("serve", "--help").stdout


@pytest.fixture
def not_run(monkeypatch):
    """Do all but serve; return what would be served."""
    served = []
    monkeypatch.setattr("linktopics.server.http.run", lambda app, bound, limits: served.append((app, limits)))
    return served


@pytest.mark.long
def test_warns_where_others_can_reach_it(model, not_run):
    options = ["--port", "0", "--jobs", "1"]
    result = succeed("serve", model, *options, "--host", "0.0.0.0", "--max-text", "500", "--samples", "2")
    assert "everyone who can reach 0.0.0.0 can read the documents" in result.stderr
    ((app, limits),) = not_run
    assert limits.text == 500
    (worker,) = app.state.api.handler.workers
    assert worker.load.args[2] == 2
    assert succeed("serve", model, *options, "--samples", "0").stderr == ""
    (worker,) = not_run[1][0].state.api.handler.workers
    assert worker.load.args[2] is None
    assert not worker.process.is_alive()


@pytest.mark.long
def test_models_of_counts(tmp_path, not_run):
    network = small_network()
    network.vectorizer = None
    small_model().fit(network).save(tmp_path / "model")
    result = succeed("serve", tmp_path / "model", "--port", "0", "--jobs", "1")
    assert "it is looked for the words of its documents" in result.stdout
    ((app, _),) = not_run
    assert app.state.api.handler.workers[0].load().engine.read("Cats!").n_known == 1
    assert RelationalTopicModel.load(tmp_path / "model").network_.vectorizer is None


LIMITED = """
import sys
from linktopics import RelationalTopicModel
from linktopics.explorer import Explorer
from linktopics.server.limits import Limits
from linktopics.server.app import create_app
from linktopics.server.http import bind, run
limits = Limits(**eval(sys.argv[2]))
bound = bind("127.0.0.1", 0)
app = create_app(Explorer(RelationalTopicModel.load(sys.argv[1])), limits=limits)
print(bound.getsockname()[1], flush=True)
run(app, bound, limits)
"""


@contextmanager
def served_with(model, **limits):
    """Serve a model in a process of its own, with other limits; give the address."""
    command = [sys.executable, "-c", LIMITED, str(model), repr(limits)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield "127.0.0.1", int(process.stdout.readline())
    finally:
        process.kill()
        process.communicate(timeout=300)


@pytest.mark.long
def test_slow_connections_make_room(model):
    """Of too many connections, the one whose head has been coming for longest is closed, and not the new one."""
    with served_with(model, connections=5, reading=60.0) as address:
        kept = http.client.HTTPConnection(*address, timeout=300)
        kept.request("GET", "/api/health")
        assert kept.getresponse().read()
        slow = []
        for _ in range(6):
            slow.append(socket.create_connection(address, timeout=300))
            slow[-1].sendall(b"GET /api/health HTTP/1.1\r\n")
            for _ in range(3):
                assert asked(address, "/api/health")[0] == 200
        kept.request("GET", "/api/health")  # which waits for no head
        assert kept.getresponse().status == 200
        for connection in slow[:3]:
            with suppress(ConnectionResetError):
                assert connection.recv(1) == b""
        slow[-1].sendall(b"Host: localhost\r\n\r\n")
        assert slow[-1].recv(12) == b"HTTP/1.1 200"
        for connection in (kept, *slow):
            connection.close()


@pytest.mark.long
def test_a_head_that_does_not_come(model):
    """A connection on which a request does not come is closed, and so is one on which it stops half way."""
    with served_with(model, reading=0.3) as address:
        assert said_to(address) == b""
        assert said_to(address, b"GET / HTTP/1.1\r\nHo") == b""
        first = b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
        answer = said_to(address, first, b"GET / HTTP", pause=0.1)
        assert answer.startswith(b"HTTP/1.1 200")
        assert answer.count(b"HTTP/1.1") == 1
        slow = b"POST /api/suggest HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        assert said_to(address, slow + b"Content-Length: 99\r\n\r\n{").startswith(b"HTTP/1.1 408")


def is_open_there(connection):
    """Return whether the server has not closed its end yet: both ends are in the table of this machine."""
    here, there = (f"{end[1]:04X}" for end in (connection.getsockname(), connection.getpeername()))
    rows = (row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:])
    return any(row[1].endswith(f":{there}") and row[2].endswith(f":{here}") and row[3] == "01" for row in rows)


@pytest.mark.skipif(sys.platform != "linux", reason="looks for connections in /proc")
@pytest.mark.long
def test_a_client_that_does_not_read(model):
    """A connection on which responses are not read is closed, and others are served all the same."""
    head, n = b"GET /api/meta HTTP/1.1\r\nHost: localhost\r\n", 2_000
    with served_with(model, writing=0.3) as address, socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(300)
        connection.connect(address)
        received = bytearray()
        with suppress(ConnectionResetError, BrokenPipeError):
            connection.sendall((head + b"\r\n") * (n - 1) + head + b"Connection: close\r\n\r\n")
            until = time.monotonic() + 60
            while is_open_there(connection) and time.monotonic() < until:
                time.sleep(0.1)
            while data := connection.recv(65536):
                received += data
        assert received.count(b"HTTP/1.1 200") < n
        assert asked(address, "/api/health")[0] == 200
