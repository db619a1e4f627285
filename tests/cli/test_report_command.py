"""``linktopics report``: a file, and sentences where there is none."""

import json
import os

import pytest

from linktopics.explorer import report
from support.command_line import ODD, run, succeed
from support.small_models import TEXTS


def bundle(path):
    """Return the data of a report."""
    html = path.read_text(encoding="utf-8")
    return json.loads(html.partition('id="bundle">')[2].partition("</script>")[0])


def test_report(model, tmp_path):
    path = tmp_path / "pages.html"
    done = succeed("report", model, "-o", path, "--title", "Cats & <stars>")
    assert done.stdout.startswith(f"{path}: ")
    assert done.stdout.endswith((" kB\n", " MB\n"))
    assert done.stderr == ""
    assert "<title>Cats &amp; &lt;stars&gt;</title>" in path.read_text(encoding="utf-8")
    data = bundle(path)
    assert [row[0] for row in data["documents"]] == list(TEXTS)
    assert [row[4] for row in data["documents"]] == list(TEXTS.values())
    assert {len(row[8]) for row in data["documents"]} == {5}
    assert "saved" in dict(data["meta"]["provenance"])
    assert os.listdir(tmp_path) == ["pages.html"]


def test_where_nothing_is_said(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    succeed("report", model)
    assert os.listdir(tmp_path) == ["report.html"]


def test_options(model, tmp_path):
    path = tmp_path / "pages.html"
    succeed("report", model, "-o", path, "--no-texts", "--suggestions", 2, "--quiet")
    data = bundle(path)
    assert {row[4] for row in data["documents"]} == {None}
    assert {len(row[8]) for row in data["documents"]} == {2}


def test_with_an_evaluation(model, data, tmp_path):
    results = tmp_path / "folds.csv"
    succeed("evaluate", data, "--model", "tfidf", "--folds", 2, "--output", results)
    succeed("report", model, "-o", tmp_path / "pages.html", "--evaluation", results)
    quality = bundle(tmp_path / "pages.html")["meta"]["quality"]
    assert (quality["model"], quality["folds"], quality["from"]) == ("tfidf", 2, "folds.csv")


def test_odd_ids_and_titles(odd, tmp_path):
    path = tmp_path / "pages.html"
    succeed("report", odd.model, "-o", path)
    assert [row[0] for row in bundle(path)["documents"]] == [str(id) for id in ODD.values()]
    assert "\x1b" not in path.read_text(encoding="utf-8")


def test_other_files_stay(model, tmp_path):
    path = tmp_path / "pages.html"
    path.write_text("mine")
    done = run("report", model, "-o", path)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"linktopics: {path}: the file exists and is not a report")
    assert "--overwrite" in done.stderr
    assert path.read_text() == "mine"
    succeed("report", model, "-o", path, "--overwrite")
    succeed("report", model, "-o", path)  # a report may be replaced


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--suggestions", "-1"], "Invalid value for '--suggestions'"),
        (["-o", "nowhere/report.html"], "there is no folder 'nowhere'"),
        (["--evaluation", "nowhere.csv"], "no file 'nowhere.csv'"),
    ],
)
def test_mistakes(model, tmp_path, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    done = run("report", model, *arguments)
    assert done.exit_code == 2
    assert sentence in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert os.listdir(tmp_path) == []


def test_no_model(tmp_path):
    done = run("report", tmp_path / "nowhere", "-o", tmp_path / "pages.html")
    assert done.exit_code == 2
    assert "nowhere" in done.stderr
    assert os.listdir(tmp_path) == []


def test_a_model_that_is_too_large(model, tmp_path, monkeypatch):
    monkeypatch.setattr(report, "MAX_REPORT_DOCUMENTS", 3)
    done = run("report", model, "-o", tmp_path / "pages.html")
    assert done.exit_code == 2
    assert "10 documents" in done.stderr
    assert "linktopics serve" in done.stderr
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pipes with names")
@pytest.mark.parametrize("more", [[], ["--overwrite"]])
def test_what_is_no_file_is_neither_opened_nor_replaced(more, model, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    done = run("report", model, "-o", pipe, *more)
    assert done.exit_code == 2
    assert done.stderr == f"linktopics: {pipe}: this is a device or a pipe, not a file; give the path of a file.\n"
    assert pipe.is_fifo()
