"""The command line as a user meets it: output, exit codes and sentences on standard error."""

import ast
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

from linktopics import DataError, DocumentNetwork, UnseenWordsWarning, __version__
from linktopics.cli.app import app
from linktopics.cli.demo_report import N_SUGGESTIONS, Findings, common_base, direction_sentence, mean_attractions
from linktopics.prediction.calibration import LinkCalibration
from linktopics.utils.terminal import heat_map

QUICK = ["demo", "--topics", "4", "--burn-in", "3", "--chains", "1"]


@pytest.fixture(autouse=True)
def cache_folder(shared_cache, monkeypatch):
    monkeypatch.setenv("LINKTOPICS_CACHE", str(shared_cache))


def run(*arguments):
    return CliRunner().invoke(app, list(arguments), prog_name="linktopics")


def sentences(output):
    """Output of typer on one line, without colours and frames, which depend on where the tests run."""
    return " ".join(re.sub(r"\x1b\[[\d;]*m|[╭╮╰╯│─]", " ", output).split())


def run_process(*arguments, **more):
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, encoding="utf-8", timeout=120, check=False, **more
    )


def without_times(output):
    return re.sub(r"[\d.]+ s (for fitting|in total)", "", output)


def test_help_is_light():
    code = """
import sys
from linktopics.cli.app import app
try:
    app(["--help"], prog_name="linktopics")
except SystemExit as end:
    assert end.code == 0, end.code
print("heavy:", sorted({"numba", "sklearn", "pandas", "scipy", "numpy"} & set(sys.modules)))
"""
    done = run_process("-c", code)
    assert done.returncode == 0, done.stderr
    assert "demo" in done.stdout
    assert "heavy: []" in done.stdout


def test_help_of_demo_has_an_example():
    result = run("demo", "--help")
    assert result.exit_code == 0
    assert "Example: linktopics demo" in sentences(result.output)


def test_version():
    result = run("--version")
    assert (result.exit_code, result.output) == (0, f"linktopics {__version__}\n")


def test_python_dash_m():
    done = run_process("-m", "linktopics", "--version")
    assert (done.returncode, done.stdout) == (0, f"linktopics {__version__}\n")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nonsense"], "No such command 'nonsense'"),
        (["demo", "--nonsense"], "No such option.*--nonsense"),
        (["demo", "--topics", "many"], "Invalid value for '--topics'"),
        (["demo", "--topics", "1"], "Invalid value for '--topics'"),
        (["demo", "--seed", "-1"], "Invalid value for '--seed'"),
    ],
)
def test_wrong_arguments(arguments, sentence):
    result = run(*arguments)
    assert result.exit_code == 2
    assert re.search(sentence, sentences(result.stderr))
    assert "Traceback" not in result.output


@pytest.mark.parametrize("error", [DataError("line 3\nis bad."), ValueError("no such loss."), OSError("disk full.")])
def test_errors_are_one_sentence(monkeypatch, error):
    monkeypatch.setattr("linktopics.datasets.stdlib.load_stdlib", raiser(error))
    result = run("demo")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"linktopics: {' '.join(str(error).split())}")
    assert result.stderr.count("\n") == 1
    assert ("--debug" in result.stderr) == (type(error) is ValueError)


@pytest.mark.parametrize("arguments", [["--debug", "demo"], ["demo", "--debug"]])
def test_debug_lets_the_error_through(monkeypatch, arguments):
    monkeypatch.setattr("linktopics.datasets.stdlib.load_stdlib", raiser(DataError("line 3 is bad.")))
    assert isinstance(run(*arguments).exception, DataError)


def test_other_errors_are_ours_and_shown_whole(monkeypatch):
    monkeypatch.setattr("linktopics.datasets.stdlib.load_stdlib", raiser(ZeroDivisionError()))
    assert isinstance(run("demo").exception, ZeroDivisionError)


def test_interrupt(monkeypatch):
    monkeypatch.setattr("linktopics.datasets.stdlib.load_stdlib", raiser(KeyboardInterrupt()))
    result = run("demo")
    assert result.exit_code == 130
    assert result.stderr == "linktopics: interrupted.\n"


def test_text_without_a_known_word():
    quiet = run(*QUICK, "--text", "zzz")
    assert quiet.exit_code == 2
    assert quiet.stdout == ""
    assert quiet.stderr.startswith("linktopics: the text 'zzz' has no word")
    assert "Traceback" not in quiet.stderr
    loud = run_process("-m", "linktopics", *QUICK, "--text", "zzz", "--debug")
    assert loud.returncode == 1
    assert "Traceback" in loud.stderr
    assert "DataError: the text 'zzz'" in loud.stderr


def test_picture_without_a_folder(tmp_path):
    result = run(*QUICK, "--save-svg", str(tmp_path / "nowhere" / "demo.svg"))
    assert result.exit_code == 2
    assert "there is no folder" in result.stderr
    assert result.stdout == ""  # said before the work, not after it


@pytest.mark.long
def test_demo_is_plain_in_a_pipe_and_the_same_twice(tmp_path):
    picture = tmp_path / "demo.svg"
    environment = {name: value for name, value in os.environ.items() if name != "FORCE_COLOR"}
    first = run_process("-m", "linktopics", *QUICK, "--save-svg", str(picture), env=environment)
    assert first.returncode == 0, first.stderr
    assert first.stderr == ""  # no progress bar
    assert "\x1b" not in first.stdout
    assert max(map(len, first.stdout.splitlines())) <= 100
    for part in ("seed 0", "Topics", "Which topic imports which", "Suggested imports", "Next steps", "s for fitting"):
        assert part in first.stdout
    topics = re.findall(r"^([A-D])  +[\d.]+%  (\w+, )+", first.stdout, re.MULTILINE)
    assert [name for name, _ in topics] == ["A", "B", "C", "D"]
    suggestions = re.findall(
        r"^([\w.]+) +(?:[<>] )?[\d.]+ % \([^)]* % to [^)]* %\) +[01]\.\d\d \w", first.stdout, re.MULTILINE
    )
    assert len(suggestions) == N_SUGGESTIONS
    check_picture(picture)
    again = run(*QUICK)
    assert without_times(again.stdout) == without_times(first.stdout)
    other = run(*QUICK, "--seed", "1", "--text", "plays chess over the network")
    assert "seed 1" in other.stdout
    assert '"plays chess over the network"' in other.stdout


def check_picture(path):
    source = path.read_text(encoding="utf-8")
    ElementTree.fromstring(source)
    assert "Topics" in source
    assert re.findall(r"https?://[^\"\s]+", source) == ["http://www.w3.org/2000/svg"]  # a name, not an address


def test_next_steps_run():
    """What the demo ends with is three statements of Python, and gives what the demo shows."""
    output = run(*QUICK, "--text", "plays chess over a socket").stdout
    lines = re.search(r"^from linktopics import.*?direction='out'\)$", output, re.MULTILINE | re.DOTALL).group()
    *begin, suggest = map(ast.unparse, ast.parse(lines).body)
    assert len(begin) == 2
    space = {}
    with pytest.warns(UnseenWordsWarning, match="'chess'"):
        exec("\n".join([*begin, f"result = {suggest}"]), space)
    assert re.search(r"vocabulary lacks\s+them: .*chess", output)
    shown = re.findall(r"^([\w.]+) +(?:[<>] )?[\d.]+ % \(", output, re.MULTILINE)
    assert len(shown) == N_SUGGESTIONS
    assert space["result"]["id"].tolist()[: len(shown)] == shown


def findings(weights, main_topics=(0, 1, 2, 3)):
    words = [[f"word{k}", f"other{k}"] for k in range(len(weights))]
    blank = np.zeros(len(weights))
    return Findings(
        words, words, blank, np.asarray(weights, float), blank, np.array(main_topics), None, LinkCalibration()
    )


def test_base_that_all_others_link_to():
    weights = np.full((4, 4), -1.0)
    weights[:, 2] = 3.0
    network = DocumentNetwork(np.ones((4, 1)), [(0, 2), (1, 2), (2, 3)])
    assert common_base(weights) == 2
    sentence = direction_sentence(findings(weights), network)
    assert "Topic C (word2, other2)" in sentence
    assert "every one of the 3 other topics links to it (mean weight +3.0)" in sentence
    assert "links to none of them back (mean weight -1.0)" in sentence
    assert "imported 2 times by modules of other topics and import those 1 time." in sentence


def test_no_base_names_the_most_one_sided_pair():
    weights = np.diag([1.0, 1.0, 1.0, 1.0])
    weights[3, 1], weights[1, 3] = 2.0, -2.5
    assert common_base(weights) is None
    sentence = direction_sentence(findings(weights), SimpleNamespace())
    assert "no topic" in sentence
    assert "D (word3, other3) and B (word1, other1): weight +2.0 from the first to the second, -2.5 back" in sentence


def test_mean_attractions_leave_the_diagonal_out():
    incoming, outgoing = mean_attractions(np.array([[9.0, 1.0, 3.0], [5.0, 9.0, 7.0], [0.0, 2.0, 9.0]]))
    np.testing.assert_allclose(incoming, [2.5, 1.5, 5.0])
    np.testing.assert_allclose(outgoing, [2.0, 6.0, 1.0])


def test_heat_map_reads_without_colours():
    lines = heat_map(np.array([[2.4, -0.2], [-7.0, 0.6]]), ["one", "two"], ["A", "B"]).plain.splitlines()
    assert [line.split() for line in lines] == [["A", "B"], ["one", "+2", "·"], ["two", "-7", "+1"]]


@pytest.mark.parametrize(("width", "longest"), [(100, 4 + 4 * 15), (60, 4 + 3 * 15)])
def test_heat_map_fits(width, longest):
    picture = heat_map(np.full((1, 15), -9.6), ["one"], list("ABCDEFGHIJKLMNO"), width)
    assert {len(line) for line in picture.plain.splitlines()} == {longest}


def raiser(error):
    def fail():
        raise error

    return fail
