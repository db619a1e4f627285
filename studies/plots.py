"""All figures of the study. Matplotlib is imported where it is used, and no global state of it is touched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linktopics.plots.style import BLACK, BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLE: dict[Any, Any] = {
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.titlesize": 11,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "lines.linewidth": 1.5,
    "lines.markersize": 5.5,
}
"""Settings of matplotlib for all figures."""

GREY = "#777777"
DASHES = ["--", "-.", ":"]


@dataclass(frozen=True)
class Line:
    """How a model is drawn: colour, marker, line style."""

    colour: str
    marker: str
    style: str = "-"
    hollow: bool = False

    def options(self) -> dict[str, Any]:
        """Return the options of matplotlib that draw it."""
        face = "white" if self.hollow else self.colour
        return {"color": self.colour, "marker": self.marker, "linestyle": self.style, "markerfacecolor": face}


LINES = {
    "Var-RTM": Line(BLACK, "X"),
    "Gibbs-RTM": Line(SKY, "s"),
    "Gibbs-gRTM": Line(BLUE, "o"),
    "Approx-gRTM": Line(GREEN, "^"),
    "Gibbs-MMRTM": Line(ORANGE, "D"),
    "Gibbs-gMMRTM": Line(VERMILION, "v"),
    "Approx-gMMRTM": Line(PURPLE, "P"),
}
SERIES = [Line(BLUE, "o"), Line(VERMILION, "v"), Line(GREEN, "^"), Line(PURPLE, "P"), Line(ORANGE, "D")]
"""For lines that are not models."""

LABELS = {
    "link_rank": "link rank (lower is better)",
    "word_rank": "word rank (lower is better)",
    "auc": "AUC (higher is better)",
    "train_seconds": "training time, seconds",
    "test_seconds": "test time, seconds",
    "augmented_per_sweep": "drawing λ, ms per sweep",
    "weights_per_sweep": "drawing η, ms per sweep",
}


def line_of(model: str) -> Line:
    """Return how a model is drawn; a variant is drawn as its model, hollow and dashed."""
    base, _, variant = model.partition(" (")
    line = LINES[base]
    return Line(line.colour, line.marker, "--", hollow=True) if variant else line


def new_figure(rows: int, columns: int, size: tuple[float, float]) -> tuple[Figure, NDArray[Any]]:
    """Return an empty figure and its panels; call it within `rc_context`."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = Figure(figsize=size, layout=ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08))
    return figure, figure.subplots(rows, columns, squeeze=False)


def draw_lines(axes: Axes, table: pd.DataFrame, x: str, metric: str, names: Sequence[str], by: str) -> None:
    """Draw a metric against x with standard deviations, a line for each name in column `by`, a little apart."""
    places = np.unique(table[x])
    gap = np.diff(places).min() if len(places) > 1 else 1.0
    for number, name in enumerate(names):
        part = table[table[by] == name].sort_values(x)
        if part[metric].isna().all():
            continue
        shift = 0.05 * gap * (number - (len(names) - 1) / 2)
        line = line_of(name) if by == "model" else SERIES[number % len(SERIES)]
        spread = part[f"{metric}_std"].to_numpy(float) if f"{metric}_std" in part else None
        axes.errorbar(
            part[x].to_numpy(float) + shift, part[metric], yerr=spread, label=str(name), capsize=2.5, elinewidth=0.9,
            capthick=0.9, **line.options(),
        )  # fmt: skip


def compare_models(
    table: pd.DataFrame, models: Sequence[str], baselines: pd.DataFrame, title: str, x: str = "topics"
) -> Figure:
    """Draw link rank, word rank, AUC, training and test time of models against the number of topics.

    Parameters
    ----------
    table : DataFrame
        A summary with columns ``model``, `x` and the metrics with their ``_std``.
    models : sequence of str
        The models to draw.
    baselines : DataFrame
        Summary of the baselines that are drawn as horizontal lines, at most three.
    title : str
        Title of the figure.
    x : str, default="topics"
        Column of the horizontal axis.
    """
    import matplotlib as mpl
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    with mpl.rc_context(STYLE):
        figure, panels = new_figure(2, 3, (12.5, 7.2))
        *drawn, empty = panels.ravel()
        for axes, metric in zip(drawn, ("link_rank", "word_rank", "auc", "train_seconds", "test_seconds"), strict=True):
            draw_lines(axes, table, x, metric, models, "model")
            if metric in ("link_rank", "auc"):
                for dash, (name, value) in zip(DASHES, baselines.set_index("model")[metric].items(), strict=False):
                    axes.axhline(value, color=GREY, linestyle=dash, linewidth=1.3, label=name, zorder=1)
            if metric.endswith("seconds"):
                axes.set_yscale("log")
                axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
                axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
                axes.yaxis.set_minor_formatter(NullFormatter())
            axes.set_ylabel(LABELS[metric])
            axes.set_xlabel("topics")
            axes.set_xticks(np.unique(table[x]))
        empty.axis("off")
        handles, labels = drawn[0].get_legend_handles_labels()
        n_baselines = min(len(baselines), len(DASHES))  # matplotlib lists them first
        handles, labels = (each[n_baselines:] + each[:n_baselines] for each in (handles, labels))
        empty.legend(handles, labels, loc="center left", fontsize=11, labelspacing=0.7, handlelength=3)
        figure.suptitle(title, fontsize=13)
    return figure


def compare_features(summary: pd.DataFrame, titles: Mapping[str, str], title: str) -> Figure:
    """Draw link rank, AUC and hits of models and baselines on each network, a row of panels for each metric.

    Parameters
    ----------
    summary : DataFrame
        Columns ``data``, ``group``, ``model``, and each metric with its ``_std``.
    titles : mapping of str to str
        Networks by name.
    title : str
        Of the figure.
    """
    from matplotlib import rc_context

    colours = {"paper": SKY, "features": BLUE, "baseline": GREY}
    names = [name for name in summary["model"].unique() if name not in ("random", "intercept alone, 1 chain")]
    networks = summary["data"].unique()
    metrics = {"link_rank": "link rank (lower is better)", "auc": "AUC", "hits_at_20": "links in the first 20"}
    with rc_context(STYLE):
        figure, panels = new_figure(
            len(metrics), len(networks), (3.0 * len(networks) + 1.5, 0.24 * len(names) * 3 + 1.5)
        )
        for row, (metric, label) in zip(panels, metrics.items(), strict=True):
            for axes, data in zip(row, networks, strict=True):
                part = summary[summary["data"] == data].set_index("model").reindex(names)  # not all may have been run
                best = part.loc[part["group"] == "baseline", metric]
                axes.axvline(
                    best.min() if metric == "link_rank" else best.max(), color=GREY, linewidth=1, linestyle=":"
                )
                for place, (group, value, spread) in enumerate(
                    zip(part["group"], part[metric], part[f"{metric}_std"], strict=True)
                ):
                    axes.errorbar(
                        value, place, xerr=spread, fmt="o", color=colours.get(group, GREY), capsize=2, elinewidth=0.9
                    )
                axes.set_yticks(range(len(names)), names if axes is row[0] else [""] * len(names), fontsize=8)
                axes.invert_yaxis()
                axes.set_xlabel(label)
                if metric == "link_rank":
                    axes.set_title(titles[data])
        figure.suptitle(title)
    return figure


def curves(
    table: pd.DataFrame,
    x: str,
    x_label: str | Mapping[str, str],
    metrics: Sequence[str],
    title: str,
    *,
    rows: str = "panel",
    by: str = "topics",
    log_x: bool = False,
) -> Figure:
    """Draw metrics against a parameter: a row of panels for each value of `rows`, a line for each value of `by`.

    Parameters
    ----------
    table : DataFrame
        A summary with the columns named below and the metrics with their ``_std``.
    x : str
        Column of the horizontal axis.
    x_label : str, or mapping from a value of `rows` to str
        What it is.
    metrics : sequence of str
        A column of panels for each.
    title : str
        Title of the figure.
    rows, by : str
        Columns that tell rows of panels and lines apart.
    log_x : bool, default=False
        Whether the horizontal axis is logarithmic.
    """
    import matplotlib as mpl

    names = list(table[rows].unique())
    lines = list(table[by].unique())
    with mpl.rc_context(STYLE):
        figure, panels = new_figure(len(names), len(metrics), (4.1 * len(metrics), 3.1 * len(names) + 0.9))
        for name, panel_row in zip(names, panels, strict=True):
            part = table[table[rows] == name]
            for axes, metric in zip(panel_row, metrics, strict=True):
                draw_lines(axes, part, x, metric, lines, by)
                if log_x:
                    axes.set_xscale("log")
                if log_x or part[x].nunique() <= 7:
                    ticks = np.unique(part[x])
                    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks], minor=False)
                    axes.minorticks_off()
                axes.set_title(str(name))
                axes.set_xlabel(x_label if isinstance(x_label, str) else x_label[name])
                axes.set_ylabel(LABELS[metric])
                if metric.endswith(("seconds", "per_sweep")):
                    axes.set_ylim(bottom=0)
        figure.suptitle(title, fontsize=13)
        if len(lines) > 1:
            handles, labels = panels[0, 0].get_legend_handles_labels()
            labels = [f"{label} topics" if by == "topics" else label for label in labels]
            figure.legend(handles, labels, loc="outside lower center", ncols=len(lines), fontsize=11)
    return figure


def heat_map(
    matrix: NDArray[np.floating],
    rows: Sequence[str],
    columns: Sequence[str],
    title: str,
    *,
    diverging: bool,
    bar_label: str,
    axis_labels: tuple[str, str] = ("", ""),
) -> Figure:
    """Draw a matrix as coloured cells with their numbers.

    Parameters
    ----------
    matrix : ndarray
        The numbers.
    rows, columns : sequence of str
        Names of rows and columns.
    title : str
        Title of the figure.
    diverging : bool
        Orange above zero and blue below, white at zero; else white to blue from zero up.
    bar_label : str
        What the numbers are.
    axis_labels : tuple of str
        What rows and columns are.
    """
    import matplotlib as mpl
    from matplotlib.colors import LinearSegmentedColormap

    colours = [BLUE, "#f7f7f7", "#E66100"] if diverging else ["#f7f7f7", BLUE]
    scale = LinearSegmentedColormap.from_list("study", colours)
    limit = max(float(np.abs(matrix).max()), 1e-9)
    with mpl.rc_context({**STYLE, "axes.grid": False, "axes.spines.left": False, "axes.spines.bottom": False}):
        figure, panels = new_figure(1, 1, (4.2 + 0.58 * matrix.shape[1], 2.9 + 0.5 * matrix.shape[0]))
        axes = panels[0, 0]
        image = axes.imshow(matrix, cmap=scale, vmin=-limit if diverging else 0.0, vmax=limit, aspect="auto")
        axes.set_yticks(range(len(matrix)), rows, fontsize=9)
        axes.set_xticks(range(matrix.shape[1]), columns, fontsize=9, rotation=55, ha="left", rotation_mode="anchor")
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        axes.set_ylabel(axis_labels[0])
        axes.set_xlabel(axis_labels[1])
        for (i, j), value in np.ndenumerate(matrix):
            dark = value / limit < -0.6 if diverging else value / limit > 0.65
            text = "" if value == 0 else f"{value:+.1f}" if diverging else f"{value:.2f}"
            axes.text(j, i, text, ha="center", va="center", fontsize=8, color="white" if dark else "black")
        figure.colorbar(image, ax=axes, label=bar_label, shrink=0.8)
        figure.suptitle(title, fontsize=13)
    return figure


def stacked_seconds(table: pd.DataFrame, steps: Sequence[str], title: str) -> Figure:
    """Draw how training time splits over steps: a bar for each row of a table with columns ``name`` and the steps."""
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        figure, panels = new_figure(1, 1, (8.5, 0.55 * len(table) + 1.9))
        axes = panels[0, 0]
        start = np.zeros(len(table))
        places = np.arange(len(table))
        for step, colour, ink in zip(steps, (BLUE, ORANGE, SKY), ("white", "black", "black"), strict=True):
            seconds = table[step].to_numpy(float)
            axes.barh(places, seconds, left=start, color=colour, label=step, height=0.7)
            for place, left, width, total in zip(places, start, seconds, table[list(steps)].sum(axis=1), strict=True):
                if width > 0.06 * table[list(steps)].sum(axis=1).max():
                    axes.text(
                        left + width / 2, place, f"{width / total:.0%}", ha="center", va="center", color=ink, fontsize=9
                    )
            start = start + seconds
        axes.set_yticks(places, table["name"])
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
        axes.set_xlabel("seconds of training")
        figure.suptitle(title, fontsize=13)
        figure.legend(loc="outside lower center", ncols=len(steps))
    return figure


def bars(values: Mapping[str, float], spreads: Mapping[str, float], y_label: str, title: str) -> Figure:
    """Draw a bar with its standard deviation and its number for each name."""
    import matplotlib as mpl

    colours = {name: LINES[name].colour if name in LINES else ORANGE for name in values}
    with mpl.rc_context(STYLE):
        figure, panels = new_figure(1, 1, (5.6, 4.0))
        axes = panels[0, 0]
        names = list(values)
        heights = [values[name] for name in names]
        axes.bar(
            names, heights, color=[colours[name] for name in names], width=0.6, yerr=[spreads[n] for n in names],
            capsize=4, ecolor=GREY,
        )  # fmt: skip
        for place, name in enumerate(names):
            axes.text(place + 0.04, values[name], f" {values[name]:.2f}", ha="left", va="bottom")
        axes.grid(visible=False, axis="x")
        axes.set_ylabel(y_label)
        figure.suptitle(title, fontsize=12)
    return figure
