"""Places that data sets are looked for at: folders, and a web server on this machine."""

import hashlib
import http.server
import threading

import pytest

from linktopics.datasets import linqs
from support.archives import TOY


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Give an empty folder of data and an empty cache, which the loaders look into."""
    (tmp_path / "data").mkdir()
    (tmp_path / "cache").mkdir()
    monkeypatch.setenv("LINKTOPICS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("LINKTOPICS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(linqs, "SITE", "http://127.0.0.1:9/no-test-downloads-from-the-real-site/")
    return tmp_path


@pytest.fixture
def toy(monkeypatch):
    """Let Cora be a network of two documents."""
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in TOY.items()}
    monkeypatch.setitem(linqs.SHA256, "cora", sums)


@pytest.fixture
def site(places, monkeypatch):
    """Serve what is put into the dictionary given, by path; a string is where to go instead.

    Its entry None counts requests.
    """
    served = {None: 0}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            served[None] += 1
            body = served.get(self.path)
            if body is None:
                self.send_error(404)
                return
            if isinstance(body, str):
                self.send_response(302)
                self.send_header("Location", body)
                self.end_headers()
                return
            self.send_response(200)
            self.send_header("Content-Length", str(served.get("length", len(body))))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    monkeypatch.setattr(linqs, "SITE", f"http://127.0.0.1:{server.server_port}/")
    yield served
    server.shutdown()
    thread.join()
    server.server_close()
