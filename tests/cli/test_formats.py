"""Output of the commands in every format, whatever ids and titles are like; and their help."""

import csv
import io
import json
import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import typer
from rich.cells import cell_len

import linktopics.cli.app
from linktopics.cli.app import app
from linktopics.cli.output import CommandResult, TableColumn, emit
from support.command_line import LONG, ODD, asked, on_a_terminal, succeed

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "json.md"

QUESTIONS = {
    "info": ["info", "DATA"],
    "info of a model": ["info", "MODEL"],
    "topics": ["topics", "MODEL", "--documents=3"],
    "suggest": ["suggest", "MODEL", "--id", ODD["orbit"]],
    "words": ["words", "MODEL", "--links", "a, b", "--links", "line\nbreak", "--linked-by", "7"],
    "explain": ["explain", "MODEL", "tab\tid", "7"],
}
ROWS = {
    "info": "distributions",
    "topics": "topics",
    "suggest": "suggestions",
    "words": "words",
    "explain": "parts",
    "info of a model": None,
}


def question(name, odd):
    return [{"DATA": odd.data, "MODEL": odd.model}.get(part, part) for part in QUESTIONS[name]]


def paths(value, within=""):
    """Return the keys of JSON, keys in objects as a.b and in lists of objects as a[].b."""
    found = set()
    for name, one in value.items():
        here = f"{within}{name}"
        found.add(here)
        if isinstance(one, dict) and name not in ("versions", "parameters"):  # whose keys are others'
            found |= paths(one, f"{here}.")
        elif isinstance(one, list):
            found |= {path for item in one if isinstance(item, dict) for path in paths(item, f"{here}[].")}
    return found


@pytest.mark.parametrize("name", QUESTIONS)
def test_json_has_the_keys_that_are_documented(name, odd):
    if not PAGE.is_file():
        pytest.skip("docs/ is not here: an installed package or a source archive has none")
    sections = dict(
        re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    )
    documented = re.findall(r"^\| `([^`]+)` \|", sections[name], re.MULTILINE)
    found = asked(*question(name, odd))
    assert {"format", "command", *documented} == paths(found)
    assert (found["format"], found["command"]) == (1, QUESTIONS[name][0])
    example = json.loads(re.search(r"^```json\n(.*?)^```", sections[name], re.DOTALL | re.MULTILINE)[1])
    assert paths(example) == paths(found)


@pytest.mark.parametrize("name", QUESTIONS)
def test_csv_has_the_rows_of_json(name, odd):
    rows = list(csv.DictReader(io.StringIO(succeed(*question(name, odd), "--format=csv").stdout, newline="")))
    found = asked(*question(name, odd))
    if ROWS[name] is None:
        assert {row["what"] for row in rows} == set(found) - {"format", "command", "about", "parameters"}
        return
    assert len(rows) == len(found[ROWS[name]]) > 1
    for row, listed in zip(rows, found[ROWS[name]], strict=True):
        assert set(row) <= set(listed)
        for column, text in row.items():
            value = listed[column]
            if isinstance(value, float):
                assert float(text) == pytest.approx(value, rel=1e-5)
            elif isinstance(value, list):
                assert all(str(one) in text for one in value)
            else:
                assert text == ("" if value is None else str(value))


FORMULAS = ["=1+1", "+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "two\r=1"]


def in_format(format, rows, capsys):
    emit(CommandResult("suggest", [TableColumn("value")], [{"value": value} for value in rows]), format)
    return capsys.readouterr().out


def test_csv_has_no_formulas(capsys):
    """Spreadsheets would run them; an apostrophe makes them text, and quotes keep what follows a CR in its cell."""
    lines = list(csv.reader(io.StringIO(in_format("csv", [*FORMULAS, ["-a", "b"]], capsys), newline="")))
    assert [line[0] for line in lines[1:]] == [*(f"'{text}" for text in FORMULAS[:-1]), FORMULAS[-1], "'-a, b"]


def test_numbers_and_other_texts_stay_in_csv(capsys):
    values = [-0.5, -3, np.float64(-1e-9), np.float32(-2.5), np.int64(-7), "a=b", "'quoted'", None, ""]
    lines = list(csv.reader(io.StringIO(in_format("csv", values, capsys), newline="")))
    shown = ["-0.5", "-3", "-1e-09", "-2.5", "-7", "a=b", "'quoted'", "", ""]
    assert ["".join(line) for line in lines[1:]] == shown


def test_formulas_stay_in_json_and_plain_text(capsys):
    assert [row["value"] for row in json.loads(in_format("json", FORMULAS, capsys))["rows"]] == FORMULAS
    assert in_format("plain", FORMULAS[:4], capsys).split("\n")[1:-1] == FORMULAS[:4]


@pytest.mark.parametrize("name", QUESTIONS)
def test_plain_text_is_tabs_and_nothing_else(name, odd):
    said = succeed(*question(name, odd), "--format=plain").stdout
    assert said == succeed(*question(name, odd)).stdout  # what "auto" is where no terminal is
    before, gap, table = said.partition("\n\n")  # of data, what was read and dropped stands before the distributions
    assert bool(gap) == (name == "info")
    assert not gap or (before.startswith("documents\t") and "dropped" in before)
    lines = [line.split("\t") for line in (table if gap else said).removesuffix("\n").split("\n")]
    rows = list(csv.reader(io.StringIO(succeed(*question(name, odd), "--format=csv").stdout, newline="")))
    assert lines == [[re.sub(r"[\x00-\x1f]", " ", cell) for cell in row] for row in rows]


@pytest.mark.parametrize("name", QUESTIONS)
def test_tables_fit_and_cut_nothing_short(name, odd):
    said = succeed(*question(name, odd), "--format=table").stdout
    assert max(map(cell_len, said.split("\n"))) <= 100
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", said)
    if name in ("suggest", "topics"):
        shown = "".join(said.split())
        found = asked(*question(name, odd))[ROWS[name]]
        ids = {row["id"] for row in found} if name == "suggest" else {id for row in found for id in row["documents"]}
        assert len(ids) > 3
        begins = {row["title"].split("\t")[0] for row in found} if name == "suggest" else set()
        for whole in ids | begins:
            assert re.sub(r"[\s\x1b]", "", str(whole)) in shown


def test_ids_that_look_odd_are_found(odd):
    suggested = set()
    for id in ODD.values():
        found = asked("suggest", odd.model, "--id", id, "--top=20")
        assert (found["id"], type(found["id"])) == (id, type(id))
        suggested |= {row["id"] for row in found["suggestions"]}
    assert suggested == set(ODD.values())
    assert asked("words", odd.model, "--links", f"7,{ODD['moon']}")["links"] == [7, ODD["moon"]]


def process(*arguments, **more):
    return subprocess.run(
        [sys.executable, "-m", "linktopics", *map(str, arguments)],
        capture_output=True,
        timeout=120,
        check=False,
        **more,
    )


@pytest.mark.long
def test_json_survives_a_terminal_that_knows_only_ascii(odd):
    done = process("suggest", odd.model, "--id=7", "--format=json", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert json.loads(done.stdout.decode("ascii")) == asked("suggest", odd.model, "--id=7")


@pytest.mark.long
def test_a_reader_that_goes_away(odd):
    with subprocess.Popen(
        [sys.executable, "-m", "linktopics", "topics", odd.model], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as begun:
        begun.stdout.close()
        assert begun.stderr.read() == b""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pseudo-terminals")
@pytest.mark.parametrize("columns", [80, pytest.param(120, marks=pytest.mark.long)])
@pytest.mark.long
def test_on_a_terminal(columns, odd):
    code = (
        "from linktopics.cli.app import app\nfor one in {!r}: app(one, prog_name='linktopics', standalone_mode=False)"
    )
    asked_for = [[str(part) for part in question(name, odd)] for name in QUESTIONS]
    exit_code, text = on_a_terminal(
        "-c", code.format(asked_for), COLUMNS=str(columns), LINES="50", TERM="xterm-256color"
    )
    assert exit_code == 0, text
    assert "\x1b[" in text  # colours, so these are tables
    lines = [line.rstrip() for line in re.sub(r"\x1b\[[\d;]*m", "", text).replace("\r", "").split("\n")]
    assert max(map(cell_len, lines)) <= min(columns, 100)
    assert "\x1b" not in "".join(lines)
    assert "…" not in text
    assert re.sub(r"[\s]", "", LONG) in "".join("".join(lines).split())


# --------------------------------------------------------------------------------------------------------------------
# Help
# --------------------------------------------------------------------------------------------------------------------

COMMANDS = typer.main.get_command(app).commands


def test_every_command_is_listed_with_what_its_file_says():
    """A file is a command if it has an example; what ``--help`` lists is its docstring."""
    folder = Path(linktopics.cli.__file__).parent
    files = {path.stem for path in folder.glob("*.py") if "\nEXAMPLE = " in path.read_text(encoding="utf-8")}
    listed = re.findall(r"^  ([a-z]+)  +(\S.*)$", succeed("--help").stdout.partition("Commands:")[2], re.MULTILINE)
    assert [name for name, _ in listed] == list(linktopics.cli.app.COMMANDS)
    assert files == {name for name, _ in listed}
    for name, line in listed:
        assert line == import_module(f"linktopics.cli.{name}").__doc__


def test_help_imports_nothing_heavy():
    code = """
import sys
from linktopics.cli.app import app
for arguments in [[], *([name] for name in {names!r})]:
    try:
        app([*arguments, "--help"], prog_name="linktopics")
    except SystemExit as end:
        assert end.code == 0, end.code
heavy = {{"numba", "numpy", "pandas", "scipy", "sklearn", "matplotlib"}} & set(sys.modules)
print("heavy:", sorted(heavy))
"""
    done = subprocess.run(
        [sys.executable, "-c", code.format(names=list(COMMANDS))],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("heavy: []\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_an_example_and_fits(name):
    said = " ".join(re.sub(r"\x1b\[[\d;]*m|[╭╮╰╯│─]", " ", succeed(name, "--help").stdout).split())
    assert f"Example: linktopics {name}" in said
    paragraphs = COMMANDS[name].help.split("\n\n")
    assert max((len(line) for part in paragraphs[1:] for line in part.split("\n")), default=0) <= 74
