"""The parts of the study that need no data sets: tables, counts, figures, folders."""

import json
import subprocess
import sys
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

from linktopics import DocumentNetwork, RelationalTopicModel
from linktopics.study import EXPERIMENTS, features, plots, reproduce
from linktopics.study.comparison import OURS, VARIANTS, make_models
from linktopics.study.discovery import fit_topics, main_class
from linktopics.study.registry import QUICK_TOPICS
from linktopics.study.run import Run, best_connected, load_network
from linktopics.study.suggestions import genetic_query, planning_query, queries_page, summarise_hits, table
from linktopics.study.tables import format_table, join_folds, mean_and_std, summarise
from linktopics.study.weights import count_signs


def a_run(folder, **changes):
    return Run(**{"name": "cora", "folder": folder, "folds": 5, "topics": (5, 10), **changes})


# Tables


def test_summary_is_over_folds_and_keeps_models_without_topics():
    folds = pd.DataFrame(
        {
            "model": ["a", "b", "a", "b"],
            "topics": [5, np.nan, 5, np.nan],
            "fold": [1, 1, 2, 2],
            "link_rank": [10.0, 1.0, 14.0, 3.0],
            "word_rank": [7.0, np.nan, 9.0, np.nan],
        }
    )
    summary = summarise(folds, ["model", "topics"])
    assert summary["model"].tolist() == ["a", "b"]
    assert summary["folds"].tolist() == [2, 2]
    np.testing.assert_allclose(summary["link_rank"], [12, 2])
    np.testing.assert_allclose(summary["link_rank_std"], np.sqrt([8, 2]))  # of a sample, not of a population
    assert np.isnan(summary["word_rank"].iloc[1])


def test_folds_are_described_by_label_whatever_their_order():
    folds = pd.DataFrame({"model": ["y", "x", "y", "x"], "fold": [1, 1, 2, 2], "auc": [0.1, 0.2, 0.3, 0.4]})
    joined = join_folds(folds, {"x": {"model": "one", "c": 1.0}, "y": {"model": "two", "c": 2.0}})
    assert joined.columns.tolist() == ["model", "c", "fold", "auc"]
    assert joined.to_numpy().tolist() == [
        ["one", 1.0, 1, 0.2],
        ["one", 1.0, 2, 0.4],
        ["two", 2.0, 1, 0.1],
        ["two", 2.0, 2, 0.3],
    ]


@pytest.mark.parametrize(
    ("mean", "std", "digits", "text"),
    [(313.4, 11.6, 0, "313±12"), (0.8561, 0.0049, 3, "0.856±0.005"), (5.0, np.nan, 1, "5.0"), (np.nan, np.nan, 0, "")],
)
def test_mean_and_std(mean, std, digits, text):
    assert mean_and_std(mean, std, digits) == text


def test_tables_fit_the_terminal():
    text = format_table([["a" * 90, "1.25", "abc"], ["b", "10.00", ""]], ["model", "rank", "more"], width=40)
    lines = text.splitlines()
    assert max(map(len, lines)) == 40
    assert lines[0] == "model" + " " * 22 + "   rank  more"
    assert lines[2] == "a" * 26 + "…" + "   1.25   abc"
    assert lines[3] == "b" + " " * 26 + "  10.00"


# What is counted


def test_signs_of_weights():
    weights = np.array([[2.0, 1.0, 0.5, 3.0], [-1.0, 1.0, -1.0, 2.0], [-1.0, -1.0, -0.5, 0.1], [-1.0, -2.0, -3.0, 4.0]])
    counts = count_signs(weights, diagonal=False)
    assert counts == {
        "n_topics": 4,
        "positive_diagonal": 3,
        "n_off_diagonal": 12,
        "negative_off_diagonal": 7,
        "generic_topic": 1,
        "generic_positive": 3,
    }
    assert str(counts).startswith(
        "3 of 4 diagonal weights are positive, 7 of 12 others are negative; topic 1 is generic"
    )
    by_column = np.where(np.arange(4) == 2, 1.0, -1.0) * np.ones((4, 1))
    by_column[0, 2] = -1.0
    counts = count_signs(by_column, diagonal=False)
    assert (counts["generic_topic"], counts["generic_positive"], counts["positive_diagonal"]) == (3, 2, 1)
    assert "topic 3 comes nearest to a generic one: 2 of its 3 weights" in str(counts)


def test_signs_of_diagonal_weights():
    assert str(count_signs(np.diag([1.0, -2.0, 3.0]), diagonal=True)) == "2 of 3 diagonal weights are positive."


def test_main_class_needs_to_stand_out():
    classes = ["Rule_Learning", "Theory", "Neural_Networks"]
    assert main_class(np.array([0.1, 0.1, 0.4]), classes) == "Neural Networks"
    assert main_class(np.array([0.10, 0.11, 0.09]), classes) == "mixed"


def test_topics_in_classes():
    labels = ["x", "y"] * 10
    counts = np.array([[6, 0] if label == "x" else [0, 6] for label in labels])
    network = DocumentNetwork(counts, [(0, 2), (1, 3)], labels=labels)
    model = RelationalTopicModel(2, alpha=0.1, n_iter=30, n_samples=1, thin=1, negatives=2, random_state=0)
    found = fit_topics(model, network)
    assert found["classes"] == ["x", "y"]
    means = np.array(found["means"])
    np.testing.assert_allclose(means.sum(axis=0), 1)  # proportions of topics in each class
    assert sorted(means.argmax(axis=1)) == [0, 1]
    assert len(found["documents"]) == 12
    for topic, _, _, label, proportion in found["documents"]:
        assert label == found["classes"][means[topic - 1].argmax()]
        assert proportion > 0.9


# Queries and suggestions


@pytest.fixture
def papers():
    titles = [
        "A survey of Genetic Algorithms.",
        '"Planning by Incremental Dynamic Programming."',
        "On genetic algorithms",
        "Temporal differences",
    ]
    return DocumentNetwork(np.ones((4, 2)), [(2, 0), (2, 3), (1, 3), (3, 1), (3, 2)], titles=titles)


def test_queries_are_chosen_by_rule(papers):
    assert planning_query(papers) == 1
    assert genetic_query(papers) == 2  # three links to one


def test_titles_that_are_not_there():
    with pytest.raises(ValueError, match="no title in cora-r contains 'genetic algorithm'"):
        genetic_query(DocumentNetwork(np.ones((2, 1)), [(0, 1)], titles=["x", "y"]))


def test_true_links_count_either_way(papers):
    found = table(papers, "m", 0, {"documents": [0, 1], "suggested": [[2, 1], [3, 0]]})
    assert found["true_link"].tolist() == [True, False, True, False]
    assert found["rank"].tolist() == [1, 2, 1, 2]
    assert found["fold"].unique().tolist() == [1]
    page = queries_page(papers, found, 5)
    assert "## Planning by Incremental Dynamic Programming." in page
    assert "1. **Temporal differences**\n2. A survey of Genetic Algorithms." in page
    assert "Linked with 1 paper in the network." in page
    assert "**m**: 1 of 2 true" in page


def test_mean_of_true_links_is_over_documents_not_folds():
    per_fold = pd.DataFrame(
        {"model": ["m", "m"], "fold": [1, 2], "mean_true_links": [1.0, 0.0], "true_links": [3, 0], "documents": [3, 1]}
    )
    summary = summarise_hits(per_fold)
    assert summary.loc[0, ["true_links", "documents", "mean_true_links"]].tolist() == [3, 4, 0.75]


# The registry


def test_every_experiment_has_a_home():
    for experiment in EXPERIMENTS.values():
        module, function = experiment.home.split(".")
        assert callable(getattr(import_module(f"linktopics.study.{module}"), function))
        assert not experiment.one_number or len(experiment.topics) == len(QUICK_TOPICS) == 1


def test_unknown_experiment():
    with pytest.raises(ValueError, match=r"no experiment is called 'corra'; the names are cora, webkb, .*, or all\."):
        reproduce("corra")


@pytest.mark.parametrize(
    ("name", "topics", "message"),
    [
        ("weights", [5, 10], "weights takes one number"),
        ("all", [5, 10], "takes one number"),
        ("cora", [5, 5], "different"),
        ("cora", [1], "from 2 on"),
    ],
)
def test_topics_that_cannot_be(name, topics, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        reproduce(name, topics=topics, output=tmp_path)
    assert not list(tmp_path.iterdir())


def test_matplotlib_is_imported_when_a_figure_is_drawn_and_pyplot_never():
    code = """
import sys
import linktopics.study.comparison, linktopics.study.plots, linktopics.study.weights
print("matplotlib" in sys.modules)
import numpy as np
linktopics.study.plots.heat_map(np.eye(2), "ab", "cd", "", diverging=True, bar_label="")
print("matplotlib" in sys.modules, "matplotlib.pyplot" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == ["False", "True", "False"]


# Models compared


def test_models_compared(tmp_path):
    from linktopics.baselines import BASELINES

    models, described = make_models(a_run(tmp_path), "cora")
    frame = pd.DataFrame([{**what, "label": label} for label, what in described.items()])
    assert list(models) == frame["label"].tolist()
    assert frame.groupby("group").size().to_dict() == {
        "paper": 7 * 2,
        "variant": 2 * 2,
        "ours": len(OURS),
        "baseline": len(BASELINES),
    }
    paper = models["Gibbs-gMMRTM, K = 10"]
    assert (paper.n_topics, paper.loss, paper.n_iter, paper.n_samples) == (10, "hinge", 400, 1)
    assert models["Var-RTM, K = 5"].negatives is None
    assert models["Var-RTM (neg 0.2%), K = 5"].negatives == 0.002
    variant = models["Gibbs-RTM (c=1, neg 0.2%), K = 5"]
    assert (variant.link_cost, variant.negatives, variant.weights) == (1.0, 0.002, "diagonal")
    ours = models["Gibbs-gRTM, 4 chains x 10 samples, K = 10"]
    assert (ours.n_chains, ours.n_samples, ours.n_iter) == (4, 10, 300)
    assert models["Gibbs-gRTM, 10 samples, K = 10"].n_chains == 1
    for model in models.values():
        assert getattr(model, "pair_features", None) is None
    assert set(VARIANTS) == {"cora", "webkb", "citeseer"}


def test_quick_models_have_few_sweeps(tmp_path):
    models, _ = make_models(a_run(tmp_path, quick=True), "citeseer")
    assert all(getattr(model, "n_iter", 20) <= 20 for model in models.values())
    assert models["Var-RTM (neg 1%), K = 5"].max_iter == 20


def test_models_with_features_compared(tmp_path):
    from linktopics.baselines import BASELINES
    from linktopics.features import BUILT_IN

    models, described = features.make_models(a_run(tmp_path, topics=(7,)), 7)
    assert list(models) == list(described)
    assert all(about["model"] == label for label, about in described.items())
    groups = {g: [label for label in models if described[label]["group"] == g] for g in ("paper", "features")}
    assert {label for label, about in described.items() if about["group"] == "baseline"} == set(BASELINES)
    for label in groups["paper"]:
        assert models[label].pair_features is None
        assert models[label].weight_variance == 1.0
        assert models[label].n_chains == (4 if "4 chains" in label else 1)
        assert models[label].n_samples == (1 if "one sample" in label else 10)
    assert {models[label].n_topics for name in groups for label in groups[name]} == {7}
    usual = RelationalTopicModel(7).get_params()
    assert models["default"].get_params() == usual
    assert models["default, 1 chain"].get_params() == {**usual, "n_chains": 1}
    assert models["no features, 1 chain"].get_params() == {**usual, "n_chains": 1, "pair_features": None}
    assert models["all features, 1 chain"].get_params() == {**usual, "n_chains": 1, "pair_features": list(BUILT_IN)}
    alone = {name: models[f"{name} alone, 1 chain"].pair_features for name in BUILT_IN if name != "intercept"}
    assert alone == {name: [name] for name in alone}
    quick, _ = features.make_models(a_run(tmp_path, topics=(7,), quick=True), 7)
    assert all(getattr(model, "n_iter", 20) <= 20 for model in quick.values())


def test_settings_that_defaults_were_chosen_from():
    """Each value is one that the model takes, and no two values of a choice are the same."""
    for values in features.CHANGES.values():
        given = [{**features.START, **changed} for changed in values.values()]
        for parameters in given:
            RelationalTopicModel(5, **parameters)._validate_params()
        assert all(one != two for number, one in enumerate(given) for two in given[:number])


def test_table_of_models_with_features():
    values = {"median_rank": 3.0, "auc": 0.9, "auc_std": 0.1, "mrr": 0.5, "hits_at_20": 0.25, "hits_at_20_std": 0.0}
    values |= {"link_rank_std": 2.0, "word_rank": np.nan, "train_seconds": 1.25, "test_seconds": 0.5}
    rows = [("a", "paper", 30.0), ("b", "features", 10.0), ("c", "baseline", 20.0)]
    summary = pd.DataFrame([{"model": m, "group": g, "link_rank": rank, **values} for m, g, rank in rows])
    lines = features.results_table(summary, "Cora").splitlines()
    assert lines[0].startswith("Cora (+ ours, * baselines)")
    assert [line.split("±")[0].split() for line in lines[2:]] == [["b", "+", "10"], ["c", "*", "20"], ["a", "30"]]
    assert max(map(len, lines)) <= 100


# The run and its folder


def test_best_connected_documents():
    links = [(0, 1), (1, 2), (2, 3), (3, 4), (3, 5), (3, 6), (7, 8)]
    network = DocumentNetwork(np.ones((9, 1)), links)
    assert best_connected(network, 5).ids.tolist() == [2, 3, 4, 5, 6]
    assert best_connected(network, 2, start=0).ids.tolist() == [0, 1]
    assert best_connected(network, 9, start=8).ids.tolist() == [7, 8]  # what can be reached


def test_cora_with_words_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setenv("LINKTOPICS_DATA", str(tmp_path))
    with pytest.raises(ValueError, match=r"cora-r was not found.*R package lda"):
        load_network("cora-r")
    monkeypatch.delenv("LINKTOPICS_DATA")
    with pytest.raises(ValueError, match="cora-r was not found"):
        load_network("cora-r")


def test_results_are_remembered_by_what_they_depend_on(tmp_path):
    network = DocumentNetwork(np.ones((3, 2)), [(0, 1)])
    other = DocumentNetwork(np.ones((3, 2)), [(0, 2)])
    model = RelationalTopicModel(2, random_state=0)
    calls = []

    def compute():
        calls.append(1)
        return {"n": len(calls)}

    for again in (a_run(tmp_path), a_run(tmp_path)):
        assert again.remembered(network, model, "x", compute) == {"n": 1}
    run = a_run(tmp_path)
    assert run.remembered(network, model, "y", compute) == {"n": 2}
    assert run.remembered(other, model, "x", compute) == {"n": 3}
    assert run.remembered(network, RelationalTopicModel(3, random_state=0), "x", compute) == {"n": 4}
    assert run.remembered(network, model, "x", compute) == {"n": 1}
    assert not list(tmp_path.rglob("*.part"))


def test_settings(tmp_path, monkeypatch):
    monkeypatch.setattr("linktopics.study.run.time.perf_counter", lambda: 107.0)
    run = a_run(tmp_path, seed=3)
    run.note({"Gibbs-RTM": RelationalTopicModel(5, weights="diagonal")})
    run.save_settings(100.0, finished=False)
    run.save_settings(102.0, finished=True)
    text = (tmp_path / "settings.json").read_text(encoding="utf-8")
    settings = json.loads(text)
    assert settings["seconds"] == 12.0  # of both sittings
    assert settings["finished"] is True
    assert settings["command"] == "linktopics reproduce cora --folds 5 --topics 5,10 --seed 3"
    assert settings["parameters"]["Gibbs-RTM"]["link_cost"] == 16.0  # what None stands for
    assert {"numpy", "numba", "linktopics", "python"} <= set(settings["versions"])
    assert str(tmp_path) not in text
    a_run(tmp_path, seed=4).save_settings(106.0, finished=True)
    assert json.loads((tmp_path / "settings.json").read_text(encoding="utf-8"))["seconds"] == 1.0


@pytest.mark.parametrize(("loads", "busy"), [([0.2, 1.9], False), ([0.2, 8.0], True), ([8.0, 1.0], True)])
def test_a_busy_machine_is_told_of(loads, busy, tmp_path, monkeypatch):
    monkeypatch.setattr("linktopics.study.run.os.cpu_count", lambda: 2)
    values = iter(loads)
    monkeypatch.setattr("linktopics.study.run.load_average", lambda: next(values))
    run = a_run(tmp_path)
    run.save_settings(0.0, finished=True)
    assert json.loads((tmp_path / "settings.json").read_text(encoding="utf-8"))["load"] == loads
    assert run.busy is busy


def test_quick_run_is_shorter(tmp_path):
    assert a_run(tmp_path).sweeps(400) == 400
    assert [a_run(tmp_path, quick=True).sweeps(n) for n in (400, 1)] == [20, 1]
    assert "--quick" in a_run(tmp_path, quick=True).command
    assert "--folds" not in a_run(tmp_path, folds=0).command


# Figures


def summary_of(models, topics=(5, 10)):
    rng = np.random.default_rng(0)
    metrics = ("link_rank", "word_rank", "auc", "train_seconds", "test_seconds")
    rows = [
        {"model": model, "topics": k, **{m: rng.random() + 1 for m in metrics}, **{f"{m}_std": 0.1 for m in metrics}}
        for model in models
        for k in topics
    ]
    return pd.DataFrame(rows)


def test_comparison_figure(tmp_path):
    models = ["Var-RTM", "Gibbs-RTM", "Gibbs-RTM (c=1, neg 0.2%)"]
    baselines = summary_of(["tfidf", "lsa"], topics=(0,)).assign(link_rank=[7.0, 8.0])
    figure = plots.compare_models(summary_of(models), models, baselines, "title")
    assert len(figure.axes) == 6
    assert [text.get_text() for text in figure.axes[-1].get_legend().get_texts()] == [*models, "tfidf", "lsa"]
    horizontal = [set(line.get_ydata()) for line in figure.axes[0].lines if line.get_linestyle() in plots.DASHES]
    assert {7.0} in horizontal
    assert {8.0} in horizontal
    assert "lower is better" in figure.axes[0].get_ylabel()
    run = a_run(tmp_path)
    run.save_figure("figure.png", figure)
    assert run.files == [tmp_path / "figure.png"]
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_features_figure():
    groups = {"paper: one sample": "paper", "default": "features", "tfidf": "baseline", "lsa": "baseline"}
    groups["random"] = "baseline"
    parts = []
    for data in ("cora", "webkb"):
        part = summary_of(list(groups), topics=(5,)).assign(data=data, group=list(groups.values()))
        parts.append(part.assign(hits_at_20=part["auc"] - 1, hits_at_20_std=0.0))
    parts[0]["link_rank"], parts[0]["auc"] = [9.0, 5.0, 7.0, 8.0, 30.0], [0.7, 0.9, 0.8, 0.75, 0.5]
    figure = plots.compare_features(pd.concat(parts), {"cora": "Cora", "webkb": "WebKB"}, "title")
    assert [axes.get_title() for axes in figure.axes] == ["Cora", "WebKB", "", "", "", ""]
    first = figure.axes[0]
    assert [label.get_text() for label in first.get_yticklabels()] == ["paper: one sample", "default", "tfidf", "lsa"]
    assert "lower is better" in first.get_xlabel()
    best = [[set(line.get_xdata()) for line in axes.lines if line.get_linestyle() == ":"] for axes in figure.axes]
    assert best[0] == [{7.0}]  # of the baselines
    assert best[2] == [{0.8}]


def test_models_are_told_apart():
    assert len({(line.colour, line.marker) for line in plots.LINES.values()}) == len(plots.LINES) == 7
    assert plots.line_of("Var-RTM (neg 1%)").hollow
    assert not plots.line_of("Var-RTM").hollow


def test_curves_have_a_row_of_panels_for_each_setting():
    part = summary_of(["Gibbs-RTM"], topics=(5, 10)).assign(panel="one", c=1.0)
    summary = pd.concat([part, part.assign(c=4.0), part.assign(panel="two"), part.assign(panel="two", c=4.0)])
    figure = plots.curves(summary, "c", "cost", ["link_rank", "auc"], "title")
    assert [axes.get_title() for axes in figure.axes] == ["one", "one", "two", "two"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["5 topics", "10 topics"]


def test_heat_map_is_centred_at_zero_and_shows_numbers():
    figure = plots.heat_map(np.array([[3.0, -1.0], [0.0, 0.5]]), "ab", "cd", "t", diverging=True, bar_label="w")
    image = figure.axes[0].images[0]
    assert image.get_clim() == (-3.0, 3.0)
    assert [text.get_text() for text in figure.axes[0].texts] == ["+3.0", "-1.0", "", "+0.5"]
