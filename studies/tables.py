"""From the folds of an evaluation to summaries, and from these to tables that fit a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from linktopics.evaluation.evaluation import SECONDS
from linktopics.registry import METRICS

WIDTH = 100
"""Width of printed tables in characters."""


def join_folds(folds: pd.DataFrame, described: Mapping[str, Mapping[str, object]]) -> pd.DataFrame:
    """Return the folds in the order of the labels, with columns that describe the label in its place.

    Parameters
    ----------
    folds : DataFrame
        The folds of an evaluation; its column ``model`` holds labels.
    described : mapping of str to mapping
        For each label the columns to put in place of it, such as ``model`` and ``topics``.

    Examples
    --------
    >>> folds = pd.DataFrame({"model": ["a 5", "b 5"], "fold": [0, 0], "auc": [0.7, 0.8]})
    >>> join_folds(folds, {"b 5": {"model": "b", "topics": 5}, "a 5": {"model": "a", "topics": 5}})
      model  topics  fold  auc
    0     b       5     0  0.8
    1     a       5     0  0.7
    """
    place = {label: number for number, label in enumerate(described)}
    order = folds["model"].map(place).argsort(kind="stable")
    folds = folds.iloc[order].reset_index(drop=True)
    columns = pd.DataFrame([dict(described[label]) for label in folds["model"]])
    return pd.concat([columns, folds.drop(columns="model")], axis=1)


def summarise(folds: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Return mean and sample standard deviation over folds of each metric, a row for each combination of `by`.

    Examples
    --------
    >>> folds = pd.DataFrame({"model": ["a", "a"], "fold": [0, 1], "auc": [0.7, 0.8]})
    >>> summarise(folds, ["model"]).round(3)
      model  folds   auc  auc_std
    0     a      2  0.75    0.071
    """
    metrics = [name for name in (*METRICS, *SECONDS) if name in folds]
    groups = folds.groupby(list(by), sort=False, dropna=False)
    means, spreads = groups[metrics].mean(), groups[metrics].std()
    columns = {"folds": groups.size()}
    for name in metrics:
        columns |= {name: means[name], f"{name}_std": spreads[name]}
    return pd.DataFrame(columns).reset_index()


def mean_and_std(mean: float, std: float, digits: int) -> str:
    """Return a mean with its standard deviation as text; empty if the mean is not finite.

    Examples
    --------
    >>> mean_and_std(313.42, 11.7, 0)
    '313±12'
    """
    if not np.isfinite(mean):
        return ""
    return f"{mean:.{digits}f}" + (f"±{std:.{digits}f}" if np.isfinite(std) else "")


def format_table(rows: Sequence[Sequence[str]], header: Sequence[str], width: int = WIDTH) -> str:
    """Return a table as text: the first column is aligned left, and cut if the table is too wide, the others right.

    Examples
    --------
    >>> print(format_table([["a model", "1.5"], ["b", "12.0"]], ["model", "rank"]))
    model    rank
    -------  ----
    a model   1.5
    b        12.0
    """
    cells = [list(header), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    spare = width - sum(widths[1:]) - 2 * (len(widths) - 1)
    widths[0] = min(widths[0], max(spare, 12))
    cells.insert(1, ["-" * size for size in widths])
    lines = []
    for first, *others in cells:
        short = first if len(first) <= widths[0] else first[: widths[0] - 1] + "…"
        aligned = [f"{cell:>{size}}" for cell, size in zip(others, widths[1:], strict=True)]
        lines.append("  ".join([f"{short:<{widths[0]}}", *aligned]).rstrip())
    return "\n".join(lines)
