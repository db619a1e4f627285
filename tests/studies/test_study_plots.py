"""Figures of the experiments."""

import numpy as np
import pandas as pd

from studies import plots


def summary_of(models, topics=(5, 10)):
    rng = np.random.default_rng(0)
    metrics = ("link_rank", "word_rank", "auc", "train_seconds", "test_seconds")
    rows = [
        {"model": model, "topics": k, **{m: rng.random() + 1 for m in metrics}, **{f"{m}_std": 0.1 for m in metrics}}
        for model in models
        for k in topics
    ]
    return pd.DataFrame(rows)


def test_comparison_figure(tmp_path, a_run):
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
