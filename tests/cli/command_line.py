"""Commands run in this process, and the data that they are run on."""

import csv
import json

from typer.testing import CliRunner

from linktopics.cli import app
from linktopics.progress import ProgressBar
from small_models import LINKS, TEXTS

QUICK = ["--topics=3", "--iterations=5", "--samples=2", "--thin=1", "--chains=2", "--negatives=2", "--quiet"]

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
