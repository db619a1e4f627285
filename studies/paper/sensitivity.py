"""How results depend on link cost, burn-in, non-links and prior: the paper's section on sensitivity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from studies import plots
from studies.run import ExperimentRun
from studies.tables import format_table, join_folds, summarise

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DIAGONAL_COSTS = (1, 2, 4, 9, 16, 25, 36, 64)
FULL_COSTS = (1, 2, 4, 6, 8, 10, 15)
BURN_IN = (1, 10, 50, 100, 200, 300, 400, 600)
NEGATIVES = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
ALPHAS = (1, 2, 5, 7, 10)

PREDICTION = ("link_rank", "auc", "word_rank")
LINKS_AND_TIME = ("link_rank", "auc", "train_seconds")
TITLES = {"cora": "Cora", "citeseer": "Citeseer"}


def sensitivity_c(run: ExperimentRun) -> str:
    """Vary the cost of links, c."""
    parts = [
        vary(run, "cora", "Gibbs-RTM", "link_cost", DIAGONAL_COSTS),
        vary(run, "citeseer", "Gibbs-MMRTM", "link_cost", DIAGONAL_COSTS),
        vary(run, "cora", "Gibbs-gRTM", "link_cost", FULL_COSTS),
        vary(run, "citeseer", "Gibbs-gMMRTM", "link_cost", FULL_COSTS),
    ]
    summary = save(run, parts, "link_cost")
    return table(summary, "link_cost", "c", PREDICTION)


def draw_sensitivity_c(run: ExperimentRun) -> dict[str, Figure]:
    """Draw diagonal and full weights against the cost of links."""
    summary = run.table("summary.csv")
    summary["root"] = np.sqrt(summary["link_cost"])
    full = summary["model"].str.contains("-g")
    titles = [titled(run, f"Link cost, {weights} weights") for weights in ("diagonal", "full")]
    root = "square root of link cost c"
    return {
        "diagonal.png": plots.curves(summary[~full], "root", root, PREDICTION, titles[0]),
        "full.png": plots.curves(summary[full], "link_cost", "link cost c", PREDICTION, titles[1]),
    }


def sensitivity_burnin(run: ExperimentRun) -> str:
    """Vary the number of burn-in sweeps."""
    values = [n for n in BURN_IN if n <= run.sweeps(n)]
    parts = [
        vary(run, "cora", "Gibbs-gRTM", "n_burn_in", values, words=False),
        vary(run, "citeseer", "Gibbs-gMMRTM", "n_burn_in", values, words=False),
    ]
    summary = save(run, parts, "n_burn_in")
    return table(summary, "n_burn_in", "sweeps", LINKS_AND_TIME)


def draw_sensitivity_burnin(run: ExperimentRun) -> dict[str, Figure]:
    """Draw both models against the number of burn-in sweeps."""
    summary = run.table("summary.csv")
    return {"burn-in.png": plots.curves(summary, "n_burn_in", "burn-in sweeps", LINKS_AND_TIME, titled(run, "Burn-in"))}


def sensitivity_negatives(run: ExperimentRun) -> str:
    """Vary the share of unlinked pairs that are sampled as non-links."""
    summary = save(run, [vary(run, "cora", "Gibbs-gRTM", "negatives", NEGATIVES, words=False)], "negatives")
    return table(with_percent(summary), "percent", "%", LINKS_AND_TIME)


def draw_sensitivity_negatives(run: ExperimentRun) -> dict[str, Figure]:
    """Draw the model against the share of sampled non-links."""
    summary = with_percent(run.table("summary.csv"))
    label, title = "sampled non-links, % of unlinked pairs", titled(run, "Sampled non-links")
    return {"negatives.png": plots.curves(summary, "percent", label, LINKS_AND_TIME, title, log_x=True)}


def with_percent(summary: pd.DataFrame) -> pd.DataFrame:
    """Add the share of sampled non-links in percent."""
    return summary.assign(percent=100 * summary["negatives"])


def sensitivity_alpha(run: ExperimentRun) -> str:
    """Vary the mass of the Dirichlet prior of topic proportions."""
    parts = [
        vary(run, "cora", "Gibbs-gRTM", "alpha", ALPHAS, fixed={"link_cost": 1.0}, remark=", c = 1"),
        vary(run, "cora", "Gibbs-RTM", "alpha", ALPHAS),
    ]
    summary = save(run, parts, "alpha")
    return table(summary, "alpha", "alpha", PREDICTION)


def draw_sensitivity_alpha(run: ExperimentRun) -> dict[str, Figure]:
    """Draw both models against the mass of the prior."""
    title = titled(run, "Prior of topic proportions")
    return {"alpha.png": plots.curves(run.table("summary.csv"), "alpha", "α (total over topics)", PREDICTION, title)}


def titled(run: ExperimentRun, what: str) -> str:
    """Return the title of a figure, with the number of topics where that is the same for all of it."""
    topics = f"K = {run.topics[0]}, " if len(run.topics) == 1 else ""
    return f"{what} ({topics}{run.folds} folds, mean and standard deviation)"


def vary(
    run: ExperimentRun,
    data: str,
    name: str,
    parameter: str,
    values: Sequence[float],
    *,
    fixed: dict[str, Any] | None = None,
    remark: str = "",
    words: bool = True,
) -> pd.DataFrame:
    """Return the folds of a model with each value of a parameter and each number of topics."""
    from linktopics.evaluation.evaluation import make_model

    if run.quick:
        values = [values[0], values[-1]]
    models, described = {}, {}
    panel = f"{name}{remark}, {TITLES[data]}"
    for topics in run.topics:
        for value in values:
            label = f"{panel}, K = {topics}, {parameter} = {value:g}"
            parameters = {"n_burn_in": run.sweeps(400), **(fixed or {}), parameter: value}
            models[label] = make_model(name, n_topics=topics, **parameters)
            described[label] = {"panel": panel, "data": data, "model": name, "topics": topics, parameter: value}
    return join_folds(run.evaluate(run.network(data), models, words=words), described)


def save(run: ExperimentRun, parts: list[pd.DataFrame], parameter: str) -> pd.DataFrame:
    """Write folds and their summary; return the summary."""
    folds = pd.concat(parts, ignore_index=True)
    summary = summarise(folds, ["panel", "data", "model", "topics", parameter])
    run.save_table("folds.csv", folds)
    run.save_table("summary.csv", summary)
    return summary


def table(summary: pd.DataFrame, x: str, x_name: str, metrics: Sequence[str]) -> str:
    """Return a table for the terminal: a block for each panel and number of topics, a column for each value."""
    digits = {"auc": 3, "train_seconds": 1}
    blocks = []
    for (panel, topics), part in summary.groupby(["panel", "topics"], sort=False):
        rows = [
            [metric.replace("_", " "), *(f"{v:.{digits.get(metric, 0)}f}" for v in part[metric])] for metric in metrics
        ]
        blocks.append(format_table(rows, [f"{panel}, K = {topics}; {x_name}:", *(f"{value:g}" for value in part[x])]))
    return "\n\n".join(blocks)
