"""``linktopics serve`` in a process of its own, and what is sent to it."""

import hashlib
import http.client
import json
import re
import subprocess
import sys
from contextlib import contextmanager

import pytest

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
