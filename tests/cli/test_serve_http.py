"""``linktopics serve`` and bytes on the wire: hosts, heads and bodies of every kind, and connections that are slow."""

import http.client
import json
import re
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from support.marks import some_long
from support.serving import asked, served


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
