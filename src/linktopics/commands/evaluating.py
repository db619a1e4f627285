"""``linktopics evaluate``: models on a network, compared in a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich import box
from rich.table import Table
from rich.text import Text

from linktopics._writing import check_place, put_in_place
from linktopics.datasets import open_network
from linktopics.errors import LinktopicsError
from linktopics.evaluation import COLUMNS, METRICS, OURS, Evaluation, evaluate, make_model
from linktopics.model import PAPER_MODELS
from linktopics.rendering import make_console

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["run_evaluate"]

SHOWN = {
    "link_rank": "link rank",
    "auc": "AUC %",
    "hits_at_20": "hits@20 %",
    "mrr": "MRR %",
    "word_rank": "word rank",
    "train_seconds": "train s",
    "test_seconds": "test s",
}
"""Columns of the table; shares are shown in per cent, which leaves room for deviations."""

SHARES = ("auc", "hits_at_20", "mrr")

GIBBS_OPTIONS = {
    "n_iter": "--iterations",
    "n_samples": "--samples",
    "n_chains": "--chains",
    "link_cost": "--link-cost",
    "negatives": "--negatives",
    "alpha": "--alpha",
}
"""Options by the parameters of Gibbs models they set."""


def run_evaluate(
    data: str,
    models: Sequence[str],
    *,
    n_topics: int,
    gibbs: dict[str, Any],
    folds: int,
    words: bool,
    n_jobs: int,
    seed: int,
    output: Path | None,
    resume: Path | None,
    overwrite: bool,
) -> None:
    """Evaluate models and print a table; `gibbs` are parameters for the Gibbs models among them."""
    with_gibbs = {OURS, *PAPER_MODELS}
    if gibbs and not set(models) & with_gibbs:
        option = GIBBS_OPTIONS[next(iter(gibbs))]
        raise LinktopicsError(
            f"{option} is for linktopics and Gibbs models, and there is none among {', '.join(models)}."
        )
    if len(set(models)) < len(models):
        raise LinktopicsError(f"{max(models, key=list(models).count)} is named twice; give each model once.")
    try:
        estimators = {name: make_model(name, n_topics, **(gibbs if name in with_gibbs else {})) for name in models}
    except ValueError as error:
        raise LinktopicsError(str(error)) from None
    if output is not None:  # what is wrong is told now rather than after the work
        check_place(output, "result", _is_result, overwrite=overwrite)
    network = open_network(data)
    result = evaluate(network, estimators, folds, words=words, n_jobs=n_jobs, random_state=seed, resume=resume)
    console = make_console()
    console.print(data, markup=False, soft_wrap=True)
    console.print(f"{network!r}\n{folds} folds over documents, seed {seed}: mean ± standard deviation\n", markup=False)
    console.print(results_table(result))
    if output is not None:
        with put_in_place(output, "result") as new:
            result.to_csv(new)
        console.print(f"\nThe results of all folds are in {output}.", markup=False, soft_wrap=True)


def _is_result(head: bytes) -> bool:
    """Tell whether a file may be replaced: one that we wrote, or an empty one, in which there is nothing to lose."""
    return not head or head.startswith(",".join(COLUMNS).encode())


def results_table(result: Evaluation) -> Table:
    """Return a table of means and standard deviations over folds; the best mean of each column is bold.

    Examples
    --------
    >>> import pandas as pd
    >>> from rich.console import Console
    >>> folds = pd.DataFrame({"model": ["tfidf"] * 2, "fold": [1, 2], "link_rank": [10.0, 12.0], "auc": [0.8, 0.9]})
    >>> Console(width=80).print(results_table(Evaluation(folds)))
    model  link rank     AUC %
    ──────────────────────────
    tfidf   11.0±1.4  85.0±7.1
    """
    summary = result.summary()
    columns = [name for name in SHOWN if name in summary and summary[name].notna().any()]
    cells = {name: _cells(name, summary[name], summary[f"{name}_std"]) for name in columns}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, 1), show_edge=False)
    table.add_column("model", no_wrap=True)
    for name in columns:
        table.add_column(SHOWN[name], justify="right", no_wrap=True)
    for number, model in enumerate(summary.index):
        table.add_row(Text(model), *[cells[name][number] for name in columns])
    return table


def _cells(name: str, means: pd.Series, deviations: pd.Series) -> list[Text]:
    """Return the texts of a column, with as many decimals as leave four digits or so of the largest number."""
    scale = 100.0 if name in SHARES else 1.0
    largest = scale * means.abs().max()
    decimals = 1 if name in SHARES or 10 <= largest < 1000 else 2 if largest < 10 else 0
    best = (means * METRICS.get(name, -1)).max()
    texts = []
    for mean, deviation in zip(means, deviations, strict=True):
        text = "–" if np.isnan(mean) else f"{scale * mean:,.{decimals}f}±{scale * deviation:,.{decimals}f}"
        texts.append(Text(text, "bold" if mean * METRICS.get(name, -1) == best else ""))
    return texts
