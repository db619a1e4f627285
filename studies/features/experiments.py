"""What features of pairs add, and how the defaults of the model were chosen."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
import pandas as pd
from sklearn.base import clone

from linktopics.model.estimator import RelationalTopicModel
from linktopics.network import DocumentNetwork
from studies import plots
from studies.run import ExperimentRun
from studies.tables import format_table, join_folds, mean_and_std, summarise

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLES = {"cora": "Cora", "citeseer": "Citeseer", "webkb": "WebKB", "cora-r": "cora-r", "stdlib": "standard library"}
COMPARED_DATA = ("cora", "citeseer", "webkb", "cora-r")
CHOICE_DATA = ("cora", "citeseer", "webkb", "cora-r", "stdlib")

SAMPLES = {"n_burn_in": 300, "n_samples": 10, "thin": 20}
ALL_FEATURES = ["tfidf", "tfidf-neighbours", "tfidf-centroid", "topics-neighbours", "degree", "intercept"]

BASE_SETTINGS: dict[str, Any] = {
    **SAMPLES,
    "n_chains": 1,
    "pair_features": ["tfidf", "tfidf-centroid", "degree"],
    "weight_variance": 4.0,
    "link_cost": 4.0,
    "negatives": 0.01,
}
"""What the choices of defaults start from; one thing at a time is changed."""

CHANGES: dict[str, dict[str, dict[str, Any]]] = {
    "features": {
        "none": {"pair_features": None},
        **{f"{name} alone": {"pair_features": [name]} for name in ALL_FEATURES[:-1]},
        "tfidf-centroid, degree": {"pair_features": ["tfidf-centroid", "degree"]},
        "tfidf, tfidf-centroid, degree": {},
        "all": {"pair_features": ALL_FEATURES},
    },
    "weight variance": {f"{v:g}": {"weight_variance": v} for v in (1.0, 4.0, 10.0)},
    "link cost": {f"{c:g}": {"link_cost": c} for c in (2.0, 4.0, 8.0)},
    "non-links": {
        **{f"{100 * n:g} %": {"negatives": n} for n in (0.01, 0.03)},
        **{f"{n:g} per link": {"negatives": n} for n in (5.0, 20.0)},
    },
    "loss": {"logistic": {}, "hinge, margin 1/4": {"loss": "hinge", "margin": 0.25}},
    "samples": {f"{n}": {"n_samples": n} for n in (1, 10, 20)},
    "chains": {f"{n}": {"n_chains": n} for n in (1, 4)},
}
"""What is varied, the name of each value, and the parameters it changes."""


def choose_defaults(run: ExperimentRun) -> str:
    """Compare settings on links held out inside the training part of the first fold, whose test part nobody sees."""
    from linktopics.evaluation.evaluation import document_folds

    (topics,) = run.topics
    settings: dict[str, dict[str, Any]] = {}
    named = []
    for choice, values in CHANGES.items():
        for value, changed in values.items():
            same = [
                label for label, known in settings.items() if {**BASE_SETTINGS, **known} == {**BASE_SETTINGS, **changed}
            ]
            label = same[0] if same else f"{choice}: {value}"
            settings.setdefault(label, changed)
            named.append((choice, value, label))
    parts = []
    for data in CHOICE_DATA:
        network = run.network(data)
        training, _ = document_folds(network.n_documents, 5, run.seed)[0]
        models = {
            label: RelationalTopicModel(
                topics, **{**BASE_SETTINGS, **changed, "n_burn_in": run.sweeps(BASE_SETTINGS["n_burn_in"])}
            )
            for label, changed in settings.items()
        }
        part = run.evaluate(network.subset(training), models, words=False)
        for choice, value, label in named:
            chosen = part[part["model"] == label].drop(columns="model")
            parts.append(chosen.assign(data=data, choice=choice, value=value))
    folds = pd.concat(parts, ignore_index=True)
    summary = summarise(folds, ["choice", "value", "data"])
    run.save_table("folds.csv", folds)
    run.save_table("summary.csv", summary)
    blocks = []
    for choice, rows in summary.groupby("choice", sort=False):
        lines = []
        for value, cells in rows.groupby("value", sort=False):
            by_data = cells.set_index("data").loc[list(CHOICE_DATA)]
            numbers = zip(by_data["link_rank"], by_data["auc"], by_data["hits_at_20"], strict=True)
            lines.append([str(value), *(f"{rank:.0f} {auc:.3f} {hits:.3f}" for rank, auc, hits in numbers)])
        blocks.append(format_table(lines, [str(choice), *CHOICE_DATA]))
    return "Link rank, AUC and hits@20 of links held out inside the training part\n\n" + "\n\n".join(blocks)


def make_models(run: ExperimentRun, topics: int) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return the models to compare by label, and what each stands for."""
    from linktopics.evaluation.baselines import BASELINES
    from linktopics.evaluation.evaluation import make_model

    few: dict[str, Any] = {"n_burn_in": run.sweeps(300)}
    averaged = {**SAMPLES, **few}
    models: dict[str, Any] = {
        "paper: one sample": RelationalTopicModel.from_paper("Gibbs-gRTM", topics, n_burn_in=run.sweeps(400)),
        "paper, 10 samples": RelationalTopicModel.from_paper("Gibbs-gRTM", topics, **averaged),
        "paper, 4 chains x 10 samples": RelationalTopicModel.from_paper("Gibbs-gRTM", topics, **averaged, n_chains=4),
    }
    groups = dict.fromkeys(models, "paper")
    one_chain = {**few, "n_chains": 1}
    models["no features, 1 chain"] = RelationalTopicModel(topics, pair_features=None, **one_chain)
    for name in ALL_FEATURES[:-1]:  # full weights contain an intercept
        models[f"{name} alone, 1 chain"] = RelationalTopicModel(topics, pair_features=[name], **one_chain)
    models["all features, 1 chain"] = RelationalTopicModel(topics, pair_features=ALL_FEATURES, **one_chain)
    models["default, 1 chain"] = RelationalTopicModel(topics, **one_chain)
    models["default"] = RelationalTopicModel(topics, **few)
    groups |= {label: "features" for label in models if label not in groups}
    for name in BASELINES:
        models[name] = make_model(name, **({"max_iter": run.sweeps(100)} if run.quick and name[:4] == "lda-" else {}))
        groups[name] = "baseline"
    return models, {label: {"group": group, "model": label} for label, group in groups.items()}


def compare_features(run: ExperimentRun) -> str:
    """Compare the paper's setting, each feature, all of them and the defaults with every baseline."""
    (topics,) = run.topics
    parts, weights = [], []
    for data in COMPARED_DATA:
        network = run.network(data)
        models, described = make_models(run, topics)
        described = {label: {"data": data, **about} for label, about in described.items()}
        parts.append(join_folds(run.evaluate(network, models, words=False), described))
        weights.append(feature_weights(run, network, data, {"all features": models["all features, 1 chain"]}))
    folds = pd.concat(parts, ignore_index=True)
    summary = summarise(folds, ["data", "group", "model"])
    run.save_table("folds.csv", folds)
    run.save_table("summary.csv", summary)
    table = pd.concat(weights, ignore_index=True)
    run.save_table("weights.csv", table)
    shown = table[table["model"] == "all features"].pivot_table(
        index="feature", columns="data", values="weight", sort=False
    )
    lines = [[str(name), *(f"{row[data]:+.2f}" for data in COMPARED_DATA)] for name, row in shown.iterrows()]
    blocks = [results_table(summary[summary["data"] == data], TITLES[data]) for data in COMPARED_DATA]
    blocks.append(format_table(lines, ["weights, all features", *COMPARED_DATA]))
    return "\n\n".join(blocks)


def draw_compare_features(run: ExperimentRun) -> dict[str, Figure]:
    """Draw the models and baselines on each network."""
    title = f"Links of unseen documents, {run.folds} folds, K = {run.topics[0]} (mean, standard deviation)"
    return {"features.png": plots.compare_features(run.table("summary.csv"), TITLES, title)}


def results_table(summary: pd.DataFrame, title: str) -> str:
    """Return a table for the terminal, best link rank first."""
    marks = {"paper": "", "features": "+", "baseline": "*"}
    rows = [
        [
            f"{row.model} {marks[row.group]}".rstrip(),
            mean_and_std(row.link_rank, row.link_rank_std, 0),
            f"{row.median_rank:.0f}",
            mean_and_std(row.auc, row.auc_std, 3),
            f"{row.mrr:.3f}",
            mean_and_std(row.hits_at_20, row.hits_at_20_std, 3),
            "" if np.isnan(row.word_rank) else f"{row.word_rank:.0f}",
            f"{row.train_seconds:.1f}",
            f"{row.test_seconds:.1f}",
        ]
        for row in summary.sort_values("link_rank").itertuples()
    ]
    header = [
        f"{title} (+ ours, * baselines)",
        "link rank",
        "median",
        "AUC",
        "MRR",
        "hits@20",
        "words",
        "train",
        "test",
    ]
    return format_table(rows, header)


def feature_weights(run: ExperimentRun, network: DocumentNetwork, data: str, models: Mapping[str, Any]) -> pd.DataFrame:
    """Return the weights of features that models learn from the training part of each fold."""
    from linktopics.evaluation.evaluation import document_folds

    splits = document_folds(network.n_documents, run.folds, run.seed)
    fixed = {
        label: clone(model).set_params(random_state=run.seed, n_chains=1, verbose=False)
        for label, model in models.items()
    }

    def fit(model: Any, training: np.ndarray) -> dict[str, list[Any]]:
        fitted = clone(model).fit(network.subset(training))
        return {"feature": fitted.feature_names_, "weight": fitted.feature_weights_.tolist()}

    def piece(label: str, fold: int) -> pd.DataFrame:
        what = ("weights of features", fold, run.folds, run.seed)
        found = run.cached(network, fixed[label], what, partial(fit, fixed[label], splits[fold][0]))
        return pd.DataFrame({"data": data, "model": label, "fold": fold + 1, **found})

    tasks = [(label, fold) for label in models for fold in range(run.folds)]
    return pd.concat(
        joblib.Parallel(n_jobs=run.n_jobs)(joblib.delayed(piece)(*task) for task in tasks), ignore_index=True
    )
