"""``linktopics serve`` as a user meets it: a process that answers at an address until Ctrl-C."""

import os
import signal
import sys
import threading
import time
from pathlib import Path
from urllib.parse import quote

import pytest

from linktopics import RelationalTopicModel
from support.command_line import ODD, run, succeed
from support.marks import some_long
from support.serving import asked, contents, served
from support.small_models import TEXTS, small_model, small_network


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
    assert f"port {port} of 127.0.0.1 is taken; choose another with --port {port + 1}" in result.stderr


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
    assert "texts are searched for the words of its documents" in result.stdout
    ((app, _),) = not_run
    assert app.state.api.handler.workers[0].load().engine.read("Cats!").n_known == 1
    assert RelationalTopicModel.load(tmp_path / "model").network_.vectorizer is None
