"""The paper's main figures: all models on Cora, WebKB and Citeseer against the number of topics, and baselines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from linktopics.model.estimator import PAPER_MODELS
from studies import plots
from studies.run import ExperimentRun
from studies.tables import format_table, join_folds, mean_and_std, summarise

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LOG_LOSS = ("Var-RTM", "Gibbs-RTM", "Gibbs-gRTM", "Approx-gRTM")
HINGE = ("Gibbs-MMRTM", "Gibbs-gMMRTM", "Approx-gMMRTM")

VARIANTS: dict[str, dict[str, tuple[str, dict[str, float]]]] = {
    "cora": {
        "Var-RTM (neg 0.2%)": ("Var-RTM", {"negatives": 0.002}),
        "Gibbs-RTM (c=1, neg 0.2%)": ("Gibbs-RTM", {"negatives": 0.002, "link_cost": 1.0}),
    },
    "citeseer": {"Var-RTM (neg 1%)": ("Var-RTM", {"negatives": 0.01})},
    "webkb": {},
}
"""Models the paper adds on one data set, to tell the effect of the sampler from that of the non-links."""

SAMPLES = {"n_burn_in": 300, "n_samples": 10, "thin": 20}

OURS: dict[str, tuple[str, dict[str, Any]]] = {
    "Gibbs-gRTM, 10 samples": ("Gibbs-gRTM", SAMPLES),
    "Gibbs-gRTM, 4 chains x 10 samples": ("Gibbs-gRTM", {**SAMPLES, "n_chains": 4}),
    "Gibbs-RTM with intercept": ("Gibbs-RTM", {"intercept": True}),
    "Gibbs-gMMRTM, margin 1/4": ("Gibbs-gMMRTM", {"margin": 0.25}),
    "Gibbs-gMMRTM, margin 1/4, 10 samples": ("Gibbs-gMMRTM", {"margin": 0.25, **SAMPLES}),
}
"""Not in the paper: averages over samples and chains, an intercept beside diagonal weights, a small margin."""

BASELINE_TOPICS = 20
N_DRAWN_BASELINES = 3
MARKS = {"ours": "+", "baseline": "*"}
TITLES = {"cora": "Cora", "webkb": "WebKB", "citeseer": "Citeseer"}


def compare(run: ExperimentRun) -> str:
    """Evaluate all models on the network the experiment is named after; return tables for the terminal."""
    name = run.name
    models, described = make_models(run, name)
    network = run.network(name)
    folds = join_folds(run.evaluate(network, models), described)
    summary = summarise(folds, ["group", "model", "topics"])
    run.save_table("folds.csv", folds)
    run.save_table("summary.csv", summary)
    return f"{ranks_table(swept_models(summary))}\n\n{all_table(summary, max(run.topics))}"


def draw_compare(run: ExperimentRun) -> dict[str, Figure]:
    """Draw the models of either loss against the number of topics."""
    summary = run.table("summary.csv")
    best = summary[summary["group"] == "baseline"].nsmallest(N_DRAWN_BASELINES, "link_rank")
    losses = {
        "log-loss.png": ("Log-loss", [*LOG_LOSS, *VARIANTS[run.name]]),
        "hinge.png": ("Hinge loss", ["Var-RTM", "Gibbs-RTM", "Gibbs-gRTM", *HINGE]),
    }
    title = f"{TITLES[run.name]}, {run.folds} folds over documents (mean, standard deviation)"
    return {
        file: plots.compare_models(swept_models(summary), models, best, f"{loss} on {title}")
        for file, (loss, models) in losses.items()
    }


def swept_models(summary: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of models that were fitted with every number of topics."""
    return summary[summary["group"].isin(["paper", "variant"])]


def make_models(run: ExperimentRun, name: str) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return the models to evaluate by label, and what each label stands for: group, model and number of topics."""
    from linktopics.evaluation.baselines import BASELINES
    from linktopics.evaluation.evaluation import make_model

    models: dict[str, Any] = {}
    described: dict[str, dict[str, Any]] = {}

    def add(group: str, title: str, base: str, topics: int | None, parameters: dict[str, Any]) -> None:
        label = title if topics is None else f"{title}, K = {topics}"
        models[label] = make_model(base, **({} if topics is None else {"n_topics": topics}), **parameters)
        described[label] = {"group": group, "model": title, "topics": float("nan") if topics is None else topics}

    for topics in run.topics:
        for title in (*LOG_LOSS, *HINGE):
            add("paper", title, title, topics, with_sweeps(run, title, {}))
        for title, (base, parameters) in VARIANTS[name].items():
            add("variant", title, base, topics, with_sweeps(run, base, parameters))
    for title, (base, parameters) in OURS.items():
        add("ours", title, base, max(run.topics), with_sweeps(run, base, parameters))
    for title in BASELINES:
        is_lda = title.startswith("lda-")
        add(
            "baseline", title, title, BASELINE_TOPICS if is_lda else None, with_sweeps(run, title, {}) if is_lda else {}
        )
    return models, described


def with_sweeps(run: ExperimentRun, base: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Add fewer sweeps than the paper's to the parameters in a quick run."""
    few = "n_burn_in" if base in PAPER_MODELS else "max_iter"
    return {**parameters, few: run.sweeps(400)} if run.quick else parameters


def ranks_table(swept: pd.DataFrame) -> str:
    """Return link ranks of models against numbers of topics."""
    wide = swept.pivot_table(index="model", columns="topics", values="link_rank", sort=False)
    rows = [
        [str(model), *(f"{value:.0f}" for value in row)] for model, row in zip(wide.index, wide.values, strict=True)
    ]
    return "Link rank\n" + format_table(rows, ["model", *(f"K = {topics:g}" for topics in wide.columns)])


def all_table(summary: pd.DataFrame, topics: int) -> str:
    """Return what is known of models at one number of topics and of baselines, best link rank first."""
    shown = summary[(summary["topics"] == topics) | (summary["group"] == "baseline")].sort_values("link_rank")
    rows = [
        [
            f"{row.model} {MARKS.get(row.group, '')}".rstrip(),
            mean_and_std(row.link_rank, row.link_rank_std, 0),
            f"{row.mrr:.3f}",
            f"{row.hits_at_20:.3f}",
            mean_and_std(row.auc, row.auc_std, 3),
            mean_and_std(row.word_rank, row.word_rank_std, 0),
            f"{row.train_seconds:.1f}",
            f"{row.test_seconds:.1f}",
        ]
        for row in shown.itertuples()
    ]
    header = ["model", "link rank", "MRR", "hits", "AUC", "word rank", "train", "test"]
    legend = f"K = {topics}; + our own settings, * baselines; hits: share of ranks up to 20; train, test: seconds"
    return f"{legend}\n{format_table(rows, header)}"
