"""Commands run in this process or on a terminal, and the data that they are run on."""

import csv
import json
import os
import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from linktopics.cli.app import app
from linktopics.utils.progress import ProgressBar
from support.small_models import LINKS, TEXTS

QUICK = ["--topics=3", "--burn-in=5", "--samples=2", "--thin=1", "--chains=2", "--negatives=2", "--quiet"]

LONG = "long/" + "x" * 120
ODD = dict(
    zip(
        TEXTS,
        [7, "a, b", "[bold]x[/bold]", "line\nbreak", "tab\tid", "👩‍🚀 moon", "\x1b[31mred", '"quoted"', LONG, "ä|ö"],
        strict=True,
    )
)
"""Ids that could break an output, for the documents of `TEXTS`."""


def run(*arguments, input=None):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=input, prog_name="linktopics")


def succeed(*arguments, input=None):
    result = run(*arguments, input=input)
    assert result.exit_code == 0, (result.stderr, result.exception)
    return result


def asked(*arguments, input=None):
    """Return what a command says as JSON."""
    return json.loads(succeed(*arguments, "--format", "json", input=input).stdout)


def manifest(folder):
    return json.loads((folder / "model.json").read_text(encoding="utf-8"))


def write_network(folder, ids, title):
    """Write a folder with documents.jsonl and links.csv."""
    folder.mkdir()
    with open(folder / "documents.jsonl", "w", encoding="utf-8") as stream:
        for number, (name, text) in enumerate(TEXTS.items()):
            more = {"title": title(name), "year": 2000 + number, "tags": ["sky"] if number > 4 else ["cat", "pet"]}
            stream.write(json.dumps({"id": ids[name], "text": text, **more}) + "\n")
    with open(folder / "links.csv", "w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([("source", "target"), *((ids[a], ids[b]) for a, b in LINKS)])
    return folder


def interrupt_at(sweep, monkeypatch):
    """Press Ctrl-C after so many sweeps, before they are kept."""
    advance = ProgressBar.advance

    def stop(self, reached):
        advance(self, reached)
        if self.description == "sampling" and self.done == sweep:
            raise KeyboardInterrupt

    monkeypatch.setattr(ProgressBar, "advance", stop)


def raiser(error):
    """Return a method that raises, and remembers what it was called on."""

    def fail(self, *_, **__):
        fail.called_on.append(self)
        raise error

    fail.called_on = []
    return fail


def files(folder):
    return {path: path.lstat().st_mtime_ns for path in folder.rglob("*")}


def refusal(arguments, input=""):
    """Run what must be refused; return the one sentence on standard error."""
    result = run(*arguments, input=input)
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == 2
    assert "Traceback" not in result.stderr
    if result.stderr.startswith("linktopics: "):
        assert result.stderr.count("\n") == 1
        assert result.stdout == ""
        return result.stderr
    told = " ".join(re.sub(r"\x1b\[[\d;]*m|[╭╮╰╯│─]", " ", result.stderr).split())
    assert told.startswith("Usage: linktopics ")
    return told


def on_a_terminal(*arguments, **environment):
    """Run Python on a terminal; return its exit code and all that it said."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    command = [sys.executable, *map(str, arguments)]
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, env={**os.environ, **environment}) as process:
        os.close(theirs)
        said = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            said += part
            if not part:
                break
        os.close(ours)
    return process.returncode, said.decode()
