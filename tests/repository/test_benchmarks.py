"""The benchmarks: each says what it does, and their page holds the numbers of their files.

Seen to fail once against a page without notes, with numbers of the wrong row, and without the figures.
"""

import json
import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from linktopics.network.pairs import sample_pairs
from linktopics.sampler import Corpus, initial_state
from support.settings import make_settings

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "benchmarks"
if not FOLDER.is_dir():
    pytest.skip("benchmarks/ is not here: an installed package or a source archive has none", allow_module_level=True)

NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if "__main__" in path.read_text(encoding="utf-8"))
NEEDS = {"sweep": ["tomotopy"], "iteration": ["topica"], "page": ["matplotlib"]}


@pytest.fixture
def benchmarks(monkeypatch):
    """Let modules of the benchmarks be imported."""
    monkeypatch.syspath_prepend(str(FOLDER))


@pytest.fixture
def run(benchmarks, monkeypatch):
    """Return a function that runs a benchmark, in this process, where most of what it imports is there already."""

    def run(name, *arguments):
        path = str(FOLDER / f"{name}.py")
        monkeypatch.setenv("RAYON_NUM_THREADS", "1")  # what iteration.py sets, so that it is taken back
        monkeypatch.setattr(sys, "argv", [path, *arguments])
        runpy.run_path(path, run_name="__main__")

    return run


def test_there_are_benchmarks():
    singles = {"features", "growth", "iteration", "memory", "page", "prediction", "startup", "storage", "sweep"}
    others = {"abuse", "cluster", "coverage", "endurance", "extremes", "held_out", "sbc", "serving", "shards"}
    assert singles | others == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_help(name, run, capsys):
    for package in NEEDS.get(name, []):
        pytest.importorskip(package)
    with pytest.raises(SystemExit) as stop:
        run(name, "--help")
    assert stop.value.code == 0
    shown = capsys.readouterr().out
    assert f"python benchmarks/{name}.py" in shown
    for option in () if name == "page" else ("--quick", "--json"):
        assert option in shown


def results(name, tables):
    made = {"title": name, "about": f"About {name}.", "command": f"python benchmarks/{name}.py"}
    where = {"when": "2001-02-03", "machine": "a machine", "versions": {"linktopics": "1.2.3"}}
    return {**made, **where, "quick": name == "other", "tables": tables}


def table(columns, rows, title="A table", note=""):
    return {"title": title, "note": note, "columns": {key: [key, form] for key, form in columns.items()}, "rows": rows}


STEPS = ("iteration", "topics", "weights", "augmented", "rest")
EXAMPLES = {
    "other": [table({"what": "{}", "n": "{:,}"}, [{"what": "a", "n": 1234}, {"what": "b"}])],
    "sweep": [
        table(
            {"data": "{}", "topics": "{}", "exact": "{:.1f}", "exact_over_tomotopy": "{:.2f}"},
            [{"data": "cora", "topics": n, "exact": 10 / n, "exact_over_tomotopy": 0.5 / n} for n in (10, 20)],
            note="A note.",
        )
    ],
    "iteration": [
        table(
            {"length": "{}", "ratio": "{:.1f}"},
            [
                {"length": a, "pairs_per_document": b, "ratio": 2.0, "ratio_our_weights": 1.5, "ratio_topics": 3.0}
                for a, b in ((20, 10), (50, 10), (50, 20))
            ],
        ),
        table(
            {"model": "{}", "auc": "{:.3f}"},
            [{"data": "cora", "model": "ours", "seconds": n, "auc": 0.8} for n in (0.5, 1.5)],
        ),
    ],
    "growth": [
        table({"varied": "{}"}, [{"varied": "topics", **dict.fromkeys(STEPS, 1.0)}]),
        {**table({"topics": "{}"}, [{"topics": n, "iteration_ms": n} for n in (10, 20)]), "varied": "topics"},
    ],
    "memory": [table({"what": "{}", "mb": "{:.0f}"}, [{"what": name, "mb": 5.0} for name in ("array", "all", "peak")])],
}
FIGURES = {"sweep", "iteration-ratio", "iteration-auc", "growth", "memory"}


def test_page(tmp_path, run):
    pytest.importorskip("matplotlib")
    folder = tmp_path / "performance"
    folder.mkdir()
    for name, tables in EXAMPLES.items():
        (folder / f"{name}.json").write_text(json.dumps(results(name, tables)), encoding="utf-8")
    run("page", str(folder))
    page = (folder / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", page, re.MULTILINE) == ["sweep", "iteration", "growth", "memory", "other"]
    assert "| cora | 10 | 1.0 | 0.05 |\n| cora | 20 | 0.5 | 0.03 |\n\nA note.\n" in page
    assert "| a | 1,234 |\n| b | - |\n" in page
    assert page.count("`python benchmarks/") == len(EXAMPLES) + 1
    assert page.count("2001-02-03, a machine; linktopics 1.2.3.") == len(EXAMPLES)
    assert page.count("only a trial") == 1
    assert set(re.findall(r"^\*Figure: .+ \((.+)\.png\)\*$", page, re.MULTILINE)) == FIGURES
    assert {path.stem for path in folder.glob("*.png")} == FIGURES


def test_page_without_results(tmp_path, run):
    pytest.importorskip("matplotlib")
    with pytest.raises(SystemExit, match="run a benchmark with --json first"):
        run("page", str(tmp_path))


def test_the_page_in_the_documentation_is_that_of_its_files(benchmarks):
    pytest.importorskip("matplotlib")
    import page

    text = (FOLDER / "results" / "README.md").read_text(encoding="utf-8")
    found = page.read_results(FOLDER / "results")
    assert found
    for name, results in found.items():
        assert "\n".join(page.section(name, results)).strip() in text
    readme = page.README.read_text(encoding="utf-8")
    assert page.with_speeds(readme, found) == readme


def test_table_prints_what_it_returns(benchmarks, capsys):
    import common

    columns = {"what": ("what", "{}"), "value": ("number", "{:.2f}"), "never": ("never there", "{}")}
    made = common.table("Title", columns, [{"what": "x", "value": 1.234}, {"what": "y"}], "And a note.")
    assert json.loads(json.dumps(made)) == made
    assert common.table_cells(made) == [["x", "1.23"], ["y", "-"]]
    shown = capsys.readouterr().out
    assert all(part in shown for part in ("Title", "number", "1.23", "And a note."))
    assert "never" not in shown


def test_exponent(benchmarks):
    import common

    assert common.exponent([1, 10, 100], [3, 300, 30000]) == pytest.approx(2)


def test_the_papers_weights_have_the_conditional_they_should(benchmarks):
    """Mean and covariance of 4,000 draws; 5 sigma in each of 54 numbers, so false alarms in less than 1 of 10^4."""
    import paper_loop

    rng = np.random.default_rng(0)
    counts, K = csr_array(rng.poisson(1.0, (30, 20)).astype(np.int32)), 3
    links = np.column_stack([np.arange(29), np.arange(1, 30)])
    corpus = Corpus.build(counts, sample_pairs(links, 30, True, 2, rng), symmetric=False)
    state = initial_state(corpus, make_settings(K), np.random.SeedSequence(0))
    state.augmented = rng.random(corpus.n_pairs)
    sampler = paper_loop.PaperSampler(corpus, state, K)
    zbar = state.doc_topic[:, :K] / np.diff(corpus.start)[:, None]
    features = np.einsum("ek,el->ekl", zbar[corpus.source], zbar[corpus.target]).reshape(-1, K * K)
    covariance = np.linalg.inv(np.eye(K * K) + features.T @ (state.augmented[:, None] * features))
    linear = np.where(corpus.label, 4.0, 1.0) * (corpus.label - 0.5)
    draws = np.empty((4000, K * K))
    for draw in draws:
        sampler.draw_weights()
        draw[:] = sampler.weights.reshape(-1)
    deviation = draws - covariance @ (features.T @ linear)
    assert np.abs(deviation.mean(0) / np.sqrt(np.diag(covariance) / len(draws))).max() < 5
    scale = np.sqrt(np.outer(np.diag(covariance), np.diag(covariance)) + covariance**2)
    assert np.abs((deviation.T @ deviation / len(draws) - covariance) / scale * np.sqrt(len(draws))).max() < 5
