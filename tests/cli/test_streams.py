"""What the command line does where it is started oddly: closed streams, full ones, signals at once, no width.

Seen to fail against an entry point that takes streams and signals as they come.
"""

import os
import shlex
import signal
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from linktopics.cli import app, end_early
from support.command_line import QUICK, manifest, on_a_terminal, run, succeed
from support.marks import some_long

pytestmark = pytest.mark.skipif(os.name == "nt", reason="redirections of a POSIX shell")

FULL = "/dev/full"
on_a_full_device = pytest.mark.skipif(not Path(FULL).exists(), reason="there is no device that is always full")


def shell(*arguments, redirect, **environment):
    """Run the command as a shell does, with a redirection."""
    words = [sys.executable, "-m", "linktopics", *map(str, arguments)]
    return subprocess.run(
        ["sh", "-c", f"{shlex.join(words)} {redirect}"],
        capture_output=True, encoding="utf-8", timeout=120, check=False, env={**os.environ, **environment},
    )  # fmt: skip


ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": ""}


@pytest.mark.parametrize(
    ("format", "command"),
    some_long(
        product(["csv", "json"], ["suggest", "explain", "info"]),
        [("csv", "explain"), ("json", "suggest"), ("csv", "info"), ("csv", "suggest"), ("json", "info")],
    ),
)
def test_a_locale_that_knows_only_ascii(format, command, odd, tmp_path):
    there = tmp_path / "modèle"
    there.symlink_to(odd.model)
    more = {"suggest": ["--id=ä|ö"], "explain": ["ä|ö", "👩‍🚀 moon"], "info": []}[command]
    arguments = [command, there, *more, "--format", format]
    done = shell(*arguments, redirect="", **ASCII)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == succeed(*arguments).stdout


@pytest.mark.long
def test_python_that_stays_in_ascii(model):
    """Where the variable is not heeded, the command goes on in ASCII, and does not start again and again."""
    command = [sys.executable, "-X", "utf8=0", "-m", "linktopics", "topics", model]
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", timeout=120, check=False, env={**os.environ, **ASCII}
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("topic")


@pytest.mark.parametrize("format", some_long(["auto", "csv", "json"], ["csv", "json"]))
def test_a_closed_output(format, model):
    done = shell("topics", model, "--format", format, redirect=">&-")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    "arguments",
    some_long(
        ["info DATA", "explain MODEL cat mouse", "suggest MODEL --id=cat"], ["info DATA", "suggest MODEL --id=cat"]
    ),
)
@pytest.mark.long
def test_other_commands_with_a_closed_output(arguments, data, model):
    done = shell(*({"DATA": data, "MODEL": model}.get(word, word) for word in arguments.split()), redirect=">&-")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_closed_input(model):
    done = shell("suggest", model, "--file=-", redirect="<&-")
    assert done.returncode == 2
    assert done.stderr == "linktopics: standard input is closed; give the text there, or with --text or --file FILE.\n"


@pytest.mark.long
def test_an_input_that_cannot_be_read(model, tmp_path):
    done = shell("suggest", model, "--file=-", redirect=f"0> {shlex.quote(str(tmp_path / 'new'))}")
    assert done.returncode == 2
    assert done.stderr.startswith("linktopics: standard input cannot be read (Bad file descriptor); give --text")


@pytest.mark.long
def test_a_fit_with_closed_errors(data, tmp_path):
    loud = [word for word in QUICK if word != "--quiet"]
    done = shell("fit", data, "-o", tmp_path / "model", *loud, redirect="2>&-")
    assert done.returncode == 0
    assert manifest(tmp_path / "model")["kind"] == "RelationalTopicModel"


@pytest.mark.long
def test_closed_streams_are_no_files_of_ours(data, tmp_path):
    """A file that is opened gets the lowest free number, and with it what is printed."""
    done = shell("fit", data, "-o", tmp_path / "model", *QUICK, redirect="<&- >&- 2>&-")
    assert done.returncode == 0
    succeed("info", tmp_path / "model")


@on_a_full_device
@pytest.mark.parametrize(
    ("arguments", "unbuffered"),
    some_long(
        [("--help", ""), ("--version", ""), ("topics --help", ""), ("topics MODEL", ""), ("topics MODEL", "1")],
        [("topics --help", ""), ("topics MODEL", "1")],
    ),
)
def test_a_full_output(arguments, unbuffered, model):
    words = [model if word == "MODEL" else word for word in arguments.split()]
    done = shell(*words, redirect=f"> {FULL}", PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == 2
    assert done.stderr == (
        "linktopics: standard output cannot be written to (No space left on device); free disk space, or redirect it.\n"
    )


@on_a_full_device
@pytest.mark.parametrize("format", some_long(["csv", "json", "table"], ["csv"]))
@pytest.mark.long
def test_no_format_is_lost_silently(format, model):
    done = shell("topics", model, "--format", format, redirect=f"> {FULL}")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


@on_a_full_device
@pytest.mark.parametrize("arguments", [["topics", "nosuch"], ["topicz"], ["topics"]])
@pytest.mark.long
def test_an_error_that_cannot_be_told(arguments):
    assert shell(*arguments, redirect=f"2> {FULL}").returncode == 2


@on_a_full_device
@pytest.mark.long
def test_a_warning_that_cannot_be_told(data, tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "documents.jsonl").write_bytes((data / "documents.jsonl").read_bytes())
    (folder / "links.csv").write_text((data / "links.csv").read_text() + "cat,nowhere\n")
    assert "unknown end" in shell("info", folder, redirect="").stderr
    done = shell("fit", folder, "-o", tmp_path / "model", *QUICK, redirect=f"2> {FULL}")
    assert done.returncode == 0
    succeed("topics", tmp_path / "model")


EARLY = """
import os, signal, sys

class Sender:
    def find_spec(self, name, *_):
        if name == {!r}:
            os.kill(os.getpid(), signal.{})

sys.meta_path.insert(0, Sender())
from linktopics.cli import main
main()
"""


@pytest.mark.parametrize(("name", "code"), [("SIGHUP", 129), ("SIGINT", 130), ("SIGTERM", 143)])
@pytest.mark.parametrize("moment", ["typer", "linktopics.cli.evaluate"])
def test_a_signal_in_the_first_moments(moment, name, code):
    """While the command line itself is loaded, of which nothing heavy may be by then."""
    command = [sys.executable, "-c", EARLY.format(moment, name), "--version"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300, check=False)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr == "linktopics: interrupted before anything was saved.\n"


def test_the_command_takes_signals_over(monkeypatch):
    """Those that would have ended the program before; others are left alone."""
    taken = {signal.SIGINT: end_early, signal.SIGTERM: end_early, signal.SIGHUP: signal.SIG_IGN}
    monkeypatch.setattr(signal, "getsignal", taken.get)
    monkeypatch.setattr(signal, "signal", taken.__setitem__)
    assert run("topics", "nosuch").exit_code == 2
    assert taken == {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: app._terminate,
        signal.SIGHUP: signal.SIG_IGN,
    }


@pytest.mark.parametrize("columns", some_long(["0", "1"], ["1"]))
@pytest.mark.long
def test_no_width(columns, data, tmp_path):
    code, said = on_a_terminal(
        "-m", "linktopics", "fit", data, "-o", tmp_path / "model", *QUICK, COLUMNS=columns, TERM="xterm"
    )
    assert code == 0, said
    assert "3 topics, 2 chains" in said  # not a letter in each line
    code, said = on_a_terminal("-m", "linktopics", "topicz", COLUMNS=columns, TERM="xterm")
    assert code == 2
    if columns == "0":  # as if nothing was said; one is what was asked for
        assert "No such command 'topicz'" in said


@pytest.mark.long
def test_control_characters_of_data(tmp_path):
    (tmp_path / "documents.jsonl").write_text(r'{"\u001b[2J\u0007x": 1, "text": "a"}' + "\n")
    (tmp_path / "links.csv").write_text("source,target\n")
    code, said = on_a_terminal("-m", "linktopics", "info", tmp_path, TERM="xterm")
    assert code == 2
    assert "there is no 'id'" in said
    assert "\x1b" not in said
    assert "\x07" not in said


def test_control_characters_of_warnings(capsys):
    app._print_warning("kept \x1b[2J\x07 one\nline")
    assert capsys.readouterr().err == "linktopics: kept  [2J  one line\n"


@pytest.mark.parametrize(
    ("said", "told"), [((), "memory; close"), (("Unable to allocate",), "memory (Unable to allocate); close")]
)
def test_too_little_memory(said, told, model, monkeypatch):
    def fail(*_, **__):
        raise MemoryError(*said)

    monkeypatch.setattr("linktopics.model.estimator.RelationalTopicModel.load", fail)
    result = run("topics", model)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"linktopics: there is not enough {told} other programs, use less data or fewer")
    assert result.stderr.count("\n") == 1
