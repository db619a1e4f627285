"""Where training time goes: the paper's table 3 and figure 8. Fits run one at a time, so that times are clean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linktopics.network import DocumentNetwork
from studies import plots
from studies.run import ExperimentRun
from studies.tables import format_table, join_folds, mean_and_std, summarise

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MODELS = ("Gibbs-gRTM", "Gibbs-gMMRTM")
STEPS = ("topics", "augmented", "weights")
DRAWN = {
    "topics_seconds": "Z (topics)",
    "augmented_seconds": "λ (augmented variables)",
    "weights_seconds": "U (weights)",
}


def evaluate_serially(run: ExperimentRun, network: DocumentNetwork) -> Any:
    """Return the folds of both full models for each number of topics, with a column ``sweeps``."""
    from linktopics.evaluation.evaluation import make_model

    n_burn_in = run.sweeps(400)
    models, described = {}, {}
    for name in MODELS:
        for topics in run.topics:
            label = f"{name}, K = {topics}"
            models[label] = make_model(name, n_topics=topics, n_burn_in=n_burn_in)
            described[label] = {"model": name, "topics": topics, "sweeps": n_burn_in + 1}  # and one for the sample
    return join_folds(run.evaluate(network, models, words=False), described)


def time_split(run: ExperimentRun) -> str:
    """Split training time on Cora into drawing topics, augmented variables and weights."""
    folds = evaluate_serially(run, run.network("cora"))
    summary = summarise(folds, ["model", "topics"])
    seconds = summary[[f"{step}_seconds" for step in STEPS]]
    percent = 100 * seconds.div(seconds.sum(axis=1), axis=0)
    for step in STEPS:
        summary[f"{step}_percent"] = percent[f"{step}_seconds"]
    run.save_table("folds.csv", folds)
    run.save_table("summary.csv", summary)
    rows = [
        [
            f"{row['model']}, K = {row['topics']:g}",
            *(f"{row[f'{step}_seconds']:.2f} s ({row[f'{step}_percent']:.1f}%)" for step in STEPS),
            f"{row['train_seconds']:.2f} s",
        ]
        for _, row in summary.iterrows()
    ]
    return f"{split_title(run)}, mean of {run.folds} folds\n" + format_table(rows, ["model", *STEPS, "training"])


def draw_time_split(run: ExperimentRun) -> dict[str, Figure]:
    """Draw the seconds of each step as bars."""
    drawn = run.table("summary.csv").rename(columns=DRAWN)
    drawn["name"] = [f"{row.model}, K = {row.topics:g}" for row in drawn.itertuples()]
    return {"time-split.png": plots.stacked_seconds(drawn, list(DRAWN.values()), split_title(run))}


def split_title(run: ExperimentRun) -> str:
    """Return the title of the table and of the figure."""
    return f"Split of training time on Cora ({run.sweeps(400) + 1} sweeps)"


def lambda_time(run: ExperimentRun) -> str:
    """Time the drawing of augmented variables (lambda) and of weights (eta) on Citeseer."""
    folds = evaluate_serially(run, run.network("citeseer"))
    summary = summarise(folds, ["model", "topics", "sweeps"])
    for step in STEPS:
        for part in ("", "_std"):
            summary[f"{step}_per_sweep{part}"] = 1000 * summary[f"{step}_seconds{part}"] / summary["sweeps"]
    run.save_table("folds.csv", folds)
    run.save_table("summary.csv", summary)
    rows = [
        [f"{row['model']}, K = {row['topics']:g}"]
        + [mean_and_std(row[f"{step}_per_sweep"], row[f"{step}_per_sweep_std"], 2) for step in STEPS]
        for _, row in summary.iterrows()
    ]
    means = summary.groupby("model")["augmented_per_sweep"].mean()
    ratio = means["Gibbs-gRTM"] / np.maximum(means["Gibbs-gMMRTM"], 1e-12)
    return (
        "Milliseconds per sweep on Citeseer\n"
        + format_table(rows, ["model", *STEPS])
        + f"\n\nDrawing lambda takes {ratio:.1f} times as long with the log-loss "
        "as with the hinge loss (paper: about 10)."
    )


def draw_lambda_time(run: ExperimentRun) -> dict[str, Figure]:
    """Draw the time of both steps against the number of topics."""
    summary = run.table("summary.csv").assign(panel="Citeseer")
    steps = ["augmented_per_sweep", "weights_per_sweep"]
    title = f"Time per sweep on Citeseer ({run.folds} folds, mean and standard deviation)"
    return {"lambda-time.png": plots.curves(summary, "topics", "topics", steps, title, by="model")}
