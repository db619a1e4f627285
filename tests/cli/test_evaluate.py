"""``linktopics evaluate`` as a user meets it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from typer.testing import CliRunner

from linktopics.cli.app import app
from linktopics.cli.evaluate import results_tables
from linktopics.evaluation.evaluation import SECONDS, Evaluation
from linktopics.registry import METRICS


@pytest.fixture
def data(tmp_path):
    """Write a folder with documents on two subjects, linked within."""
    rng = np.random.default_rng(0)
    subjects = [["star", "planet", "moon", "orbit"], ["flour", "sugar", "oven", "dough"]]
    folder = tmp_path / "data"
    folder.mkdir()
    with open(folder / "documents.jsonl", "w", encoding="utf-8") as file:
        for i in range(30):
            text = " ".join(rng.choice(subjects[i % 2], 8))
            file.write(json.dumps({"id": f"d{i}", "text": text}) + "\n")
    links = [f"d{i},d{(i + step) % 30}\n" for i in range(30) for step in (2, 6, 10)]
    (folder / "links.csv").write_text("source,target\n" + "".join(links), encoding="utf-8")
    return folder


def run(*arguments):
    return CliRunner().invoke(app, ["evaluate", *map(str, arguments)], prog_name="linktopics")


def never(*_, **__):
    raise AssertionError("the work was begun")


def test_negatives_as_in_fit(data):
    arguments = [data, "--model=linktopics", "--folds=2", "--topics=2", "--burn-in=2", "--samples=1"]
    accepted = run(*arguments, "--chains=1", "--negatives=auto")
    assert accepted.exit_code == 0, accepted.stderr
    refused = run(*arguments, "--negatives=many")
    assert refused.exit_code == 2
    assert "negatives is 'many'; it must be auto or a number." in refused.stderr


def test_help_is_light_and_has_an_example():
    code = """
import sys
from linktopics.cli.app import app
try:
    app(["evaluate", "--help"], prog_name="linktopics")
except SystemExit as end:
    assert end.code == 0, end.code
print("heavy:", sorted({"numba", "sklearn", "pandas", "scipy", "numpy"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "Example: linktopics evaluate cora" in done.stdout
    assert "heavy: []" in done.stdout


@pytest.mark.long
def test_a_table_in_a_pipe(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    output, resume = Path("folds.csv"), Path("results.jsonl")
    arguments = ["evaluate", data.name, "--folds", 3, "--topics", 2, "--burn-in", 20, "--samples", 2]
    arguments += ["--negatives", 2, "--output", output, "--resume", resume]
    command = [sys.executable, "-m", "linktopics", *map(str, arguments)]
    environment = {name: value for name, value in os.environ.items() if name != "FORCE_COLOR"}
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=120, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # no progress bar
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100
    assert "30 documents" in done.stdout
    assert "3 folds over documents, seed 0" in done.stdout
    names = ("linktopics", "Gibbs-gRTM", "tfidf", "tfidf-centroid")
    for name in names:
        assert re.search(rf"^{name} +[\d.]+±[\d.]+ ", done.stdout, re.MULTILINE)
    folds = pd.read_csv(output)
    assert list(zip(folds["model"], folds["fold"], strict=True)) == [
        (model, fold) for model in names for fold in (1, 2, 3)
    ]
    assert resume.read_bytes().count(b"\n") == 12
    again = run(*arguments[1:])
    assert again.exit_code == 0, again.output
    assert again.stdout.splitlines() == done.stdout.splitlines()
    assert resume.read_bytes().count(b"\n") == 12


def test_without_words(data):
    result = run(data, "--model", "tfidf", "--folds", 2, "--no-words")
    assert result.exit_code == 0, result.output
    assert "link rank" in result.stdout
    assert "word rank" not in result.stdout


def test_options_reach_the_models(data, monkeypatch):
    seen = {}

    def spy(network, models, folds, **options):
        seen.update(models=models, folds=folds, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr("linktopics.evaluation.evaluation.evaluate", spy)
    result = run(
        *[data, "--model", "Gibbs-MMRTM", "--model", "Var-RTM", "--model", "lda-cosine", "--model", "tfidf"],
        *["--model", "linktopics"],
        *["--topics", 7, "--burn-in", 11, "--samples", 12, "--chains", 13, "--link-cost", 14, "--negatives", 0.15],
        *["--alpha", 16, "--folds", 4, "--seed", 17, "--jobs", 2],
    )
    assert result.exit_code == 130
    models = seen["models"]
    assert list(models) == ["Gibbs-MMRTM", "Var-RTM", "lda-cosine", "tfidf", "linktopics"]
    gibbs, ours = models["Gibbs-MMRTM"].get_params(), models["linktopics"].get_params()
    names = ["n_topics", "n_burn_in", "n_samples", "n_chains", "link_cost", "negatives", "alpha"]
    for parameters in (gibbs, ours):
        assert [parameters.pop(name) for name in names] == [7, 11, 12, 13, 14.0, 0.15, 16.0]
    assert (gibbs["loss"], gibbs["pair_features"]) == ("hinge", None)
    usual = type(models["linktopics"])().get_params()
    assert ours == {name: usual[name] for name in ours}
    assert models["Var-RTM"].get_params() == {**type(models["Var-RTM"])().get_params(), "n_topics": 7}
    assert models["lda-cosine"].n_topics == 7
    assert (seen["folds"], seen["random_state"], seen["n_jobs"]) == (4, 17, 2)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--model", "nonsense"], "no model is called 'nonsense'; the names are linktopics, Gibbs-RTM,"),
        (
            ["--model", "tfidf", "--link-cost", "3"],
            "--link-cost is for linktopics and Gibbs models, and there is none among tfidf.",
        ),
        (["--output", "no/where.csv"], "no/where.csv: there is no folder 'no' to write the result to."),
        (["--resume", "no/where.jsonl"], "results cannot be written to 'no/where.jsonl': No such file or directory;"),
        (["--folds", "31"], "30 documents cannot be split into 31 folds; use fewer folds."),
        pytest.param(["--alpha", "-1"], "linktopics, fold 1: The 'alpha' parameter", marks=pytest.mark.long),
    ],
)
def test_errors_are_one_sentence(data, monkeypatch, tmp_path, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    result = run(data, *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"linktopics: {sentence}")
    assert result.stderr.count("\n") == 1


def test_data_that_is_not_there(monkeypatch):
    monkeypatch.setattr("linktopics.evaluation.evaluation.evaluate", never)
    result = run("nowhere")
    assert result.exit_code == 2
    assert "nowhere" in result.stderr
    assert result.stderr.count("\n") == 1


def test_names_and_folders_are_checked_before_the_data_are_read(data, monkeypatch):
    monkeypatch.setattr("linktopics.readers.open.open_network", never)
    assert run(data, "--model", "nonsense").exit_code == 2
    assert run(data, "--output", "no/where.csv").exit_code == 2


@pytest.mark.filterwarnings("default::linktopics.errors.NetworkWarning")
def test_warnings_are_sentences(data):
    with open(data / "links.csv", "a", encoding="utf-8") as file:
        file.write("d0,d0\n")
    result = run(data, "--model", "random", "--folds", 2)
    assert result.exit_code == 0, result.output
    assert result.stderr.startswith("linktopics: ")
    assert "self link" in result.stderr
    assert result.stderr.count("\n") == 1


def rows(**values):
    """Two folds per model that differ by nothing, of the values given by column."""
    models = range(len(next(iter(values.values()))))
    table = [
        {"model": f"m{k}", "fold": fold, **{name: values[name][k] for name in values}}
        for k in models
        for fold in (1, 2)
    ]
    return Evaluation(pd.DataFrame(table))


def test_the_best_of_each_column_is_bold():
    result = rows(link_rank=[10.0, 20.0, 10.0], auc=[0.8, 0.9, 0.7], word_rank=[np.nan, 300.0, 200.0], mrr=[np.nan] * 3)
    console = Console(force_terminal=True, color_system="standard", width=100, highlight=False, no_color=False)
    with console.capture() as capture:
        console.print(*results_tables(result, 100))
    lines = capture.get().splitlines()
    assert "MRR" not in lines[0]
    body = [re.findall(r"\x1b\[1m *([\d.]+)±0.0\x1b\[0m", line) for line in lines if re.search("^m[012]", line)]
    assert body == [["10.0"], ["90.0"], ["10.0", "200.0"]]
    assert "–" in next(line for line in lines if line.startswith("m0"))


@pytest.mark.parametrize(("width", "n_tables"), [(100, 1), (80, 2), (40, 4)])
def test_wide_numbers_fit(width, n_tables):
    """In tables one below the other where a terminal is narrow; they were cut off once."""
    values = {name: [12_345.6, 0.4] for name in (*METRICS, *SECONDS)}
    values |= {name: [0.999, 1.0] for name in ("auc", "hits_at_20", "mrr")}
    folds = rows(**values).folds.replace({"m0": "tfidf-neighbours"})
    folds.loc[folds["fold"] == 2, [*METRICS, *SECONDS]] *= 0.9
    console, tables = Console(width=width), results_tables(Evaluation(folds), width)
    with console.capture() as capture:
        console.print(*tables)
    lines = capture.get().splitlines()
    assert max(map(len, lines)) <= width
    assert "…" not in capture.get()
    assert len(lines) == 4 * n_tables


def test_mistakes_are_told_before_the_work(data, tmp_path, monkeypatch):
    monkeypatch.setattr("linktopics.evaluation.evaluation.evaluate", never)
    for arguments, said in (
        (["--model", "tfidf", "--model", "tfidf"], "tfidf is named twice"),
        (["--model", "tfidf", "--jobs", "0"], "--jobs"),
        (["--model", "tfidf", "--output", tmp_path], "directory"),
    ):
        result = run(data, *arguments)
        assert result.exit_code == 2, result.output
        assert said in result.output


@pytest.mark.parametrize(
    "arguments",
    [
        ["nowhere", "--model", "tfidf"],
        ["DATA", "--model", "tfidf", "--model", "tfidf"],
        ["DATA", "--model", "nonsense"],
        ["DATA", "--model", "tfidf", "--folds", 31],
        ["DATA", "--model", "Gibbs-gRTM", "--alpha", -1, "--jobs", 1],
    ],
)
def test_a_refusal_leaves_no_file(arguments, data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = [data if part == "DATA" else part for part in arguments]
    assert run(*arguments, "--output", "folds.csv", "--resume", "results.jsonl").exit_code == 2
    assert os.listdir(tmp_path) == ["data"]


def test_other_files_stay(data, tmp_path, monkeypatch):
    path = tmp_path / "notes.txt"
    path.write_text("mine")
    arguments = [data, "--model", "tfidf", "--folds", 2, "--output", path]
    with monkeypatch.context() as patch:
        patch.setattr("linktopics.readers.open.open_network", never)
        result = run(*arguments)
    assert result.exit_code == 2
    assert result.stderr == (
        f"linktopics: {path}: the file exists and is not a result written by linktopics; choose another name, or pass "
        "overwrite=True (--overwrite) to replace it.\n"
    )
    assert path.read_text() == "mine"
    assert run(*arguments, "--overwrite").exit_code == 0
    assert path.read_text().startswith("model,fold,")
    assert run(*arguments).exit_code == 0  # a result may be replaced
    path.write_text("")  # and what earlier versions left of an evaluation that was interrupted
    assert run(*arguments).exit_code == 0
    assert sorted(os.listdir(tmp_path)) == ["data", "notes.txt"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pipes with names")
@pytest.mark.parametrize("option", ["--output", "--resume"])
def test_what_is_no_file_is_not_opened(option, data, tmp_path):
    """To open a pipe is to wait for who is at its other end."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    more = ["--overwrite"] if option == "--output" else []
    result = run(data, "--model", "tfidf", "--folds", 2, option, pipe, *more)
    assert result.exit_code == 2
    assert result.stderr == f"linktopics: {pipe}: this is a device or a pipe, not a file; give the path of a file.\n"
    assert pipe.is_fifo()


def with_no_room(*arguments):
    """Run the command where no file can have a byte."""
    import resource

    return subprocess.run(
        [sys.executable, "-m", "linktopics", "evaluate", *map(str, arguments)],
        capture_output=True, encoding="utf-8", timeout=120, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
    )  # fmt: skip


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such limits")
@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("--resume", "results cannot be written to 'new': File too large; give resume (--resume) another path."),
        ("--output", "new: the result cannot be written (File too large); free disk space, or choose a folder"),
    ],
)
@pytest.mark.long
def test_a_disk_that_is_full(option, sentence, data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = with_no_room(data, "--model", "tfidf", "--folds", 2, option, "new")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(f"linktopics: {sentence}")
    assert os.listdir(tmp_path) == ["data"]


@pytest.mark.long
def test_results_that_are_there_stay_when_there_is_no_more_room(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kept = tmp_path / "results.jsonl"
    assert run(data, "--model", "tfidf", "--folds", 2, "--resume", kept).exit_code == 0
    before = kept.read_bytes()
    if os.name != "nt":
        assert with_no_room(data, "--model", "random", "--folds", 2, "--resume", kept).returncode == 2
    assert kept.read_bytes() == before
