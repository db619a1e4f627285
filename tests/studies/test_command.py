"""``python -m studies`` as a user meets it: files, columns, resuming, sentences."""

import contextlib
import io
import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import linktopics.features.vectors
import studies.features.experiments
import studies.paper.comparison
import studies.registry
import studies.run
from linktopics.model.estimator import RelationalTopicModel
from studies import EXPERIMENTS
from studies.__main__ import main
from studies.registry import Experiment
from support.marks import some_long

PREDICTION = {"link_rank", "link_rank_std", "auc", "auc_std", "word_rank", "word_rank_std", "folds"}
TIMES = {"topics_seconds", "augmented_seconds", "weights_seconds", "train_seconds"}
COMPARISON = {
    "folds.csv": {"group", "model", "topics", "fold", "link_rank", "auc", "word_rank", "train_seconds", "test_seconds"},
    "summary.csv": {"group", "model", "topics", "train_seconds", "test_seconds", *PREDICTION},
    "log-loss.png": None,
    "hinge.png": None,
}
VARIED = {"panel", "data", "model", "topics"}

FILES = {
    "cora": COMPARISON,
    "webkb": COMPARISON,
    "citeseer": COMPARISON,
    "time-split": {
        "folds.csv": {"model", "topics", "sweeps", "fold", *TIMES},
        "summary.csv": {"model", "topics", "topics_percent", "augmented_percent", "weights_percent", *TIMES},
        "time-split.png": None,
    },
    "lambda-time": {
        "folds.csv": {"model", "topics", "sweeps", "fold", *TIMES},
        "summary.csv": {"model", "topics", "augmented_per_sweep", "weights_per_sweep", "weights_per_sweep_std"},
        "lambda-time.png": None,
    },
    "sensitivity-c": {
        "folds.csv": {*VARIED, "link_cost", "fold"},
        "summary.csv": {*VARIED, "link_cost", *PREDICTION},
        "diagonal.png": None,
        "full.png": None,
    },
    "sensitivity-burnin": {
        "folds.csv": {*VARIED, "n_burn_in", "fold"},
        "summary.csv": {*VARIED, "n_burn_in", "link_rank", "auc", "train_seconds"},
        "burn-in.png": None,
    },
    "sensitivity-negatives": {
        "folds.csv": {*VARIED, "negatives", "fold"},
        "summary.csv": {*VARIED, "negatives", "link_rank", "auc", "train_seconds"},
        "negatives.png": None,
    },
    "sensitivity-alpha": {
        "folds.csv": {*VARIED, "alpha", "fold"},
        "summary.csv": {*VARIED, "alpha", *PREDICTION},
        "alpha.png": None,
    },
    "weights": {
        "topics.csv": {"model", "topic", "share", "words"},
        "weights.csv": {"model", "source_topic", "target_topic", "weight", "weight_std"},
        "weights-Gibbs-RTM.png": None,
        "weights-Gibbs-gRTM.png": None,
        "signs.txt": None,
    },
    "suggestions": {
        "suggestions.csv": {"model", "fold", "document", "rank", "suggested", "true_link"},
        "folds.csv": {"model", "fold", "mean_true_links", "true_links", "documents"},
        "summary.csv": {"model", "mean_true_links", "mean_true_links_std", "true_links", "documents"},
        "suggestions.md": None,
        "true-links.png": None,
    },
    "features": {
        "folds.csv": {"data", "group", "model", "fold", "link_rank", "auc", "hits_at_20", "train_seconds"},
        "summary.csv": {"data", "group", "model", "link_rank", "link_rank_std", "median_rank", "auc", "mrr", "folds"},
        "weights.csv": {"data", "model", "fold", "feature", "weight"},
        "features.png": None,
    },
    "defaults": {
        "folds.csv": {"data", "choice", "value", "fold", "link_rank", "auc", "hits_at_20"},
        "summary.csv": {"data", "choice", "value", "link_rank", "link_rank_std", "auc", "hits_at_20", "folds"},
    },
    "topics": {
        "classes.csv": {"topic", "share", "Theory"},
        "documents.csv": {"topic", "rank", "id", "class", "proportion"},
        "topics.png": None,
    },
}
"""What each experiment writes beside its settings, and columns its tables must have."""


@pytest.fixture
def small(data_dir, monkeypatch):
    """Make quick runs smaller still."""
    monkeypatch.setenv("LINKTOPICS_DATA", str(data_dir))
    monkeypatch.setattr(studies.run, "QUICK_SWEEPS", 3)
    ours = {"Gibbs-gRTM, 2 samples": ("Gibbs-gRTM", {"n_samples": 2, "thin": 1})}
    monkeypatch.setattr(studies.paper.comparison, "OURS", ours)
    monkeypatch.setattr(studies.run.ExperimentRun.network, "__defaults__", (None, 60))
    features = studies.features.experiments
    for names in ("COMPARED_DATA", "CHOICE_DATA"):
        monkeypatch.setattr(features, names, ("cora", "webkb"))
    changes = {
        "features": {"none": {"pair_features": None}, "two": {"pair_features": ["tfidf", "degree"]}},
        "chains": {"1": {"n_chains": 1}, "2": {"n_chains": 2}},
        "loss": {"logistic": {}, "hinge": {"loss": "hinge"}},
    }
    monkeypatch.setattr(features, "CHANGES", changes)
    for settings in (features.SAMPLES, features.BASE_SETTINGS, RelationalTopicModel.__init__.__kwdefaults__):
        monkeypatch.setitem(settings, "n_samples", 2)
        monkeypatch.setitem(settings, "thin", 2)
    monkeypatch.setattr(linktopics.features.vectors, "TOPIC_SWEEPS", 5)


def run(*arguments):
    stdout, stderr = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        code = main([str(argument) for argument in arguments])
    return SimpleNamespace(exit_code=code, stdout=stdout.getvalue(), stderr=stderr.getvalue())


def quick(name, folder, *more):
    result = run(name, "--quick", "--jobs", 1, "--output", folder, *more)
    assert result.exit_code == 0, result.stderr
    return result


@pytest.mark.parametrize(
    "name",
    some_long(
        EXPERIMENTS,
        ["features", "citeseer", "webkb", "sensitivity-alpha", "sensitivity-burnin", "sensitivity-c", "defaults"],
    ),
)
def test_experiment(name, small, tmp_path, data_dir):
    result = quick(name, tmp_path)
    expected = FILES[name]
    written = {path.name for path in tmp_path.iterdir()} - {"runs.jsonl", "pieces"}
    assert written == {*expected, "settings.json"}
    for file, columns in expected.items():
        assert str(tmp_path / file) in result.stdout
        if columns:
            assert columns <= set(pd.read_csv(tmp_path / file).columns)
        elif file.endswith(".png"):
            assert (tmp_path / file).read_bytes().startswith(b"\x89PNG")
    report = [line for line in result.stdout.splitlines() if str(tmp_path) not in line]
    assert max(map(len, report)) <= 100
    settings = json.loads((tmp_path / "settings.json").read_text(encoding="utf-8"))
    assert settings["finished"] is True
    assert settings["command"].startswith(f"python -m studies {name} --quick")
    assert all(len(data["fingerprint"]) == 64 for data in settings["data"].values())
    assert all("class" in parameters for parameters in settings["parameters"].values())
    assert str(data_dir) not in json.dumps(settings)


def test_settings_that_are_the_same_are_fitted_once(small, tmp_path):
    """One chain and the logistic loss are what the comparison starts from; their folds stand in both places."""
    quick("defaults", tmp_path)
    folds = pd.read_csv(tmp_path / "folds.csv")
    assert (tmp_path / "runs.jsonl").read_text(encoding="utf-8").count("\n") == 5 * 2 * 2  # settings, folds, networks
    places = folds.groupby(["choice", "value"], sort=False).size().to_dict()
    values = [("features", "none"), ("features", "two"), ("chains", "1"), ("chains", "2"), ("loss", "logistic")]
    assert places == dict.fromkeys([*values, ("loss", "hinge")], 2 * 2)
    of = {place: rows.drop(columns=["choice", "value"]) for place, rows in folds.groupby(["choice", "value"])}
    same, other = of["chains", "1"], of["chains", "2"]
    pd.testing.assert_frame_equal(same.reset_index(drop=True), of["loss", "logistic"].reset_index(drop=True))
    assert not np.allclose(same["link_rank"], other["link_rank"])


@pytest.mark.long
def test_weights_of_features(small, tmp_path):
    quick("features", tmp_path)
    weights = pd.read_csv(tmp_path / "weights.csv")
    for (data, model, _), rows in weights.groupby(["data", "model", "fold"]):
        assert data in ("cora", "webkb")
        assert model == "all features"
        assert {"tfidf", "tfidf-neighbours", "in-degree of target", "intercept"} <= set(rows["feature"])
        assert rows["weight"].notna().all()
    assert set(weights["fold"]) == set(pd.read_csv(tmp_path / "folds.csv")["fold"])


def test_finished_fits_are_not_done_again(small, tmp_path, monkeypatch):
    """A run with other topics adds its own fits; one with the same settings only draws."""
    quick("sensitivity-negatives", tmp_path, "--topics", "3")
    before = (tmp_path / "runs.jsonl").read_text(encoding="utf-8")
    first = pd.read_csv(tmp_path / "folds.csv")
    (tmp_path / "negatives.png").unlink()
    quick("sensitivity-negatives", tmp_path, "--topics", "3,4")
    after = (tmp_path / "runs.jsonl").read_text(encoding="utf-8")
    assert after.startswith(before)
    assert after.count("\n") == 2 * before.count("\n") == 2 * len(first)
    monkeypatch.setattr(RelationalTopicModel, "fit", no_fit)
    quick("sensitivity-negatives", tmp_path, "--topics", "3")
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "folds.csv"), first)
    assert (tmp_path / "negatives.png").exists()


@pytest.mark.parametrize("name", some_long(["weights", "suggestions", "features", "topics"], ["weights", "features"]))
def test_finished_pieces_are_not_fitted_again(name, small, tmp_path, monkeypatch):
    quick(name, tmp_path)
    tables = {path.name: path.read_bytes() for path in tmp_path.glob("*.csv")}
    monkeypatch.setattr(RelationalTopicModel, "fit", no_fit)
    quick(name, tmp_path)
    assert tables == {path.name: path.read_bytes() for path in tmp_path.glob("*.csv")}


def test_an_interrupted_experiment_goes_on(small, tmp_path, monkeypatch):
    fit, fits = RelationalTopicModel.fit, []

    def interrupted_fit(self, X, *arguments, **named):
        if len(fits) == 3:
            raise KeyboardInterrupt
        fits.append(self)
        return fit(self, X, *arguments, **named)

    monkeypatch.setattr("linktopics.evaluation.folds._warm_up", lambda *_: None)  # the first fit of a process
    monkeypatch.setattr(RelationalTopicModel, "fit", interrupted_fit)
    result = run("sensitivity-negatives", "--quick", "--jobs", 1, "--output", tmp_path)
    assert (result.exit_code, result.stderr) == (130, "studies: interrupted.\n")
    assert json.loads((tmp_path / "settings.json").read_text(encoding="utf-8"))["finished"] is False
    n_done = (tmp_path / "runs.jsonl").read_text(encoding="utf-8").count("\n")
    assert n_done == 3
    fits[:] = [None] * 4  # no interrupt any more
    quick("sensitivity-negatives", tmp_path)
    assert len(fits) - 4 == len(pd.read_csv(tmp_path / "folds.csv")) - n_done == 1


def test_list():
    result = run("--list")
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.stdout.splitlines()] == list(EXPERIMENTS)
    assert max(map(len, result.stdout.splitlines())) <= 100


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["corra"], "no experiment is called 'corra'; the names are cora, webkb, citeseer, time-split"),
        ([], "say which experiment"),
        (["cora", "--topics", "5;10"], "give whole numbers"),
        (["weights", "--topics", "5,10"], "weights takes one number of topics"),
        (["features", "--topics", "5,10"], "features takes one number of topics"),
        (["cora", "--folds", "1"], "argument --folds: '1' is no whole number from 2 on."),
        (["cora", "--jobs", "x"], "argument --jobs: 'x' is no whole number from 1 on."),
        (["cora", "--topic-numbers", "5"], "unrecognized arguments: --topic-numbers 5."),
    ],
)
def test_wrong_arguments(arguments, sentence):
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith("studies: ")
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_debug_shows_where_an_error_comes_from():
    with pytest.raises(ValueError, match="no experiment is called 'corra'"):
        run("corra", "--debug")


def test_missing_data_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("LINKTOPICS_DATA", str(tmp_path))
    result = run("weights", "--output", tmp_path / "out")
    assert result.exit_code == 2
    assert result.stderr.startswith("studies: the network cora-r was not found: set LINKTOPICS_DATA")
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_all_gives_each_experiment_a_folder(tmp_path, monkeypatch):
    function = "paper.weights.learned_weights"
    names = {"one": Experiment(function, "first", folds=4), "two": Experiment(function, "second", serial=True)}
    monkeypatch.setattr(studies.registry, "EXPERIMENTS", names)
    runs = []
    monkeypatch.setattr("studies.paper.weights.learned_weights", lambda run: runs.append(run) or "found")
    monkeypatch.setattr("studies.paper.weights.draw_learned_weights", lambda run: {})
    result = run("all", "--output", tmp_path, "--topics", "7,3", "--jobs", "2", "--seed", "5")
    assert result.exit_code == 0, result.stderr
    assert [(each.name, each.folder, each.folds, each.n_jobs) for each in runs] == [
        ("one", tmp_path / "one", 4, 2),
        ("two", tmp_path / "two", 5, 1),
    ]
    assert {each.topics for each in runs} == {(3, 7)}
    assert {each.seed for each in runs} == {5}
    assert result.stdout.count("found") == 2


def no_fit(self, *_, **__):
    raise AssertionError("a model was fitted again")


@pytest.mark.parametrize("content", ["[1, 2]", "not json", '{"mine": 1}', '{"name": "topics", "quick": false}'])
def test_a_folder_with_other_settings_is_left_alone(small, tmp_path, content):
    """Told before the work, and nothing is overwritten: neither a stranger's file nor a full run's by a quick one."""
    (tmp_path / "settings.json").write_text(content, encoding="utf-8")
    result = run("topics", "--quick", "--output", tmp_path)
    assert result.exit_code == 2
    assert "is not of this experiment; give another folder by --output." in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["settings.json"]
    assert (tmp_path / "settings.json").read_text(encoding="utf-8") == content


def test_a_folder_that_cannot_be_written_to(small, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    result = run("topics", "--quick", "--output", tmp_path / "file" / "folder")
    assert result.exit_code == 2
    assert result.stderr.startswith("studies: ")
    assert result.stderr.count("\n") == 1


def test_a_quick_run_has_a_folder_of_its_own(small, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("topics", "--quick", "--jobs", 1).exit_code == 0
    assert (tmp_path / "results" / "topics-quick" / "settings.json").exists()
