"""Figures of the benchmarks, drawn from their results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from linktopics.plots.style import INK, legend, line_style, new_panels, plain_axes

Results = dict[str, Any]
STEPS = ("iteration", "topics", "weights", "augmented", "rest")
SECONDS = [0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0]


def _table(results: Results, key: str) -> Any:
    """Return the first table that has a column of this name, or None."""
    return next((table for table in results["tables"] if key in table["columns"]), None)


def _groups(rows: list[dict[str, Any]], key: str) -> Iterator[tuple[Any, list[dict[str, Any]]]]:
    for value in dict.fromkeys(row[key] for row in rows):
        yield value, [row for row in rows if row[key] == value]


def _line(ax: Any, number: int, rows: list[dict[str, Any]], x: str, y: str, label: str) -> None:
    points = [(row[x], row[y]) for row in rows if row.get(y) is not None]
    if points:
        ax.plot(*zip(*points, strict=True), marker="o", markersize=4, label=label, **line_style(number))


def _finish(ax: Any, title: str, x: str, y: str) -> None:
    plain_axes(ax)
    ax.set_title(title, loc="left", fontsize=10, color=INK)
    ax.set_xlabel(x, fontsize=9, color=INK)
    ax.set_ylabel(y, fontsize=9, color=INK)


def _plain_numbers(axis: Any, ticks: list[float] | None = None) -> None:
    """Write 20 and 1,000 where a logarithmic axis would write powers of ten."""
    if ticks is not None:
        axis.set_ticks(ticks)
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_formatter(NullFormatter())


def _legend_below(panels: Any) -> None:
    """Put one legend for all panels, which have the same lines, below them."""
    lines, labels = panels[0].get_legend_handles_labels()
    panels[0].figure.legend(
        lines,
        labels,
        loc="outside lower center",
        ncols=len(labels) if len(panels) > 1 else 2,
        frameon=False,
        fontsize=9,
        labelcolor=INK,
    )


def sweep(results: Results) -> Figure | None:
    """Draw tokens per second by number of topics, a panel for each data set."""
    data = list(_groups(_table(results, "exact_over_tomotopy")["rows"], "data"))
    panels = new_panels(1, len(data), (3.3 * len(data), 3.0))
    names = {"exact": "exact relational sweep", "tomotopy": "plain LDA in tomotopy", "paper": "the paper's loop"}
    for ax, (name, rows) in zip(panels, data, strict=True):
        for number, (key, label) in enumerate(names.items()):
            _line(ax, number, rows, "topics", key, label)
        ax.set_xscale("log")
        ax.set_yscale("log")
        _finish(ax, name, "topics", "million tokens per second" if ax is panels[0] else "")
        _plain_numbers(ax.xaxis, sorted({row["topics"] for row in rows}))
        _plain_numbers(ax.yaxis)
    _legend_below(panels)
    return panels[0].figure


def iteration_ratio(results: Results) -> Figure | None:
    """Draw how many times as fast as the paper's algorithm, by the length of documents and by their pairs."""
    found = _table(results, "length")
    if found is None:
        return None
    panels = new_panels(1, 2, (8.0, 3.2))
    rows = found["rows"]
    varied = (
        ("length", "pairs_per_document", "tokens per document"),
        ("pairs_per_document", "length", "pairs per document"),
    )
    names = {
        "ratio": "iteration",
        "ratio_our_weights": "iteration, with our weight update",
        "ratio_topics": "topics alone",
    }
    for ax, (key, fixed, said) in zip(panels, varied, strict=True):
        at, line = max(_groups(rows, fixed), key=lambda group: len(group[1]))
        line = sorted(line, key=lambda row: row[key])
        for number, (ratio, label) in enumerate(names.items()):
            _line(ax, number, line, key, ratio, label)
        ax.set_xscale("log")
        ax.set_ylim(bottom=0)
        what = "pairs" if fixed == "pairs_per_document" else "tokens"
        _finish(
            ax, f"{at} {what} per document", said, "times as fast as the paper's algorithm" if ax is panels[0] else ""
        )
        _plain_numbers(ax.xaxis, [row[key] for row in line])
    _legend_below(panels)
    return panels[0].figure


def iteration_auc(results: Results) -> Figure | None:
    """Draw AUC of held-out links against seconds of training, a panel for each data set."""
    found = _table(results, "auc")
    if found is None:
        return None
    data = list(_groups(found["rows"], "data"))
    panels = new_panels(1, len(data), (4.2 * len(data), 3.2))
    for ax, (name, rows) in zip(panels, data, strict=True):
        for number, (model, line) in enumerate(_groups(rows, "model")):
            _line(ax, number, line, "seconds", "auc", model)
        ax.set_xscale("log")
        _finish(ax, name, "seconds of training, one thread", "AUC of held-out links" if ax is panels[0] else "")
        low, high = ax.get_xlim()
        _plain_numbers(ax.xaxis, [tick for tick in SECONDS if low <= tick <= high])
    _legend_below(panels)
    return panels[0].figure


def growth(results: Results) -> Figure | None:
    """Draw milliseconds of the steps by what grows, with the exponents of the fitted lines."""
    tables = [table for table in results["tables"] if "varied" in table]
    if not tables:
        return None
    exponents = {row["varied"]: row for row in _table(results, "varied")["rows"]}
    panels = new_panels(1, len(tables), (3.6 * len(tables), 4.0))
    said = {"documents": "documents", "topics": "topics", "pairs": "pairs per document"}
    for ax, table in zip(panels, tables, strict=True):
        varied = table["varied"]
        for number, step in enumerate(STEPS):
            label = f"{step}: {exponents[varied][step]:.2f}"
            _line(ax, number, table["rows"], varied, f"{step}_ms", label)
        ax.set_xscale("log")
        ax.set_yscale("log")
        _finish(ax, f"growing {said[varied]}", said[varied], "milliseconds" if ax is panels[0] else "")
        if varied != "documents":
            _plain_numbers(ax.xaxis, [row[varied] for row in table["rows"]])
        legend(ax, "upper center", bbox_to_anchor=(0.5, -0.2), ncols=2, title="exponents", title_fontsize=9)
    return panels[0].figure


def memory(results: Results) -> Figure | None:
    """Draw the arrays that must exist, one after the other, above the peak: a panel for each table of a fit."""
    tables = results["tables"][:2]
    panels = new_panels(len(tables), 1, (7.6, 3.9 * len(tables)))
    for ax, made in zip(panels, tables, strict=True):
        rows = [row for row in made["rows"] if row.get("mb") is not None]
        *parts, must, peak = rows
        left = 0.0
        for at, row in enumerate([*parts, must, peak]):
            is_part = row not in (must, peak)
            colour = line_style(0 if is_part else 2 if row is must else 1)["color"]
            ax.barh(at, row["mb"], left=left if is_part else 0.0, color=colour, height=0.7)
            end = row["mb"] + (left if is_part else 0.0)
            ax.text(end, at, f" {row['mb']:,.0f}", va="center", fontsize=8, color=INK)
            left += row["mb"] if is_part else 0.0
        ax.set_yticks(range(len(rows)), [row["what"] for row in rows])
        ax.invert_yaxis()
        ax.set_xlim(right=1.12 * peak["mb"])
        _finish(ax, made["title"], "MB", "")
    return panels[0].figure


def accuracy(results: Results) -> Figure | None:
    """Draw log joint and AUC against iterations by number of shards, a row of panels for each data set."""
    data = list(_groups(results["tables"][0]["rows"], "data"))
    panels = new_panels(len(data), 2, (8.0, 2.9 * len(data)))
    numbers = [int(key.removeprefix("auc_")) for key in results["tables"][0]["columns"] if key.startswith("auc_")]
    for row, (name, rows) in enumerate(data):
        for column, (key, said) in enumerate((("joint", "log joint per token"), ("auc", "AUC of held-out links"))):
            ax = panels[2 * row + column]
            for number, n_shards in enumerate(numbers):
                label = "1 shard, exact" if n_shards == 1 else f"{n_shards} shards"
                _line(ax, number, rows, "iteration", f"{key}_{n_shards}", label)
            ax.set_xscale("log")
            _finish(ax, name, "iterations", said)
            _plain_numbers(ax.xaxis, [each["iteration"] for each in rows])
    _legend_below(panels)
    return panels[0].figure


FIGURES: dict[str, dict[str, Callable[[Results], Figure | None]]] = {
    "sweep": {"sweep": sweep},
    "iteration": {"iteration-ratio": iteration_ratio, "iteration-auc": iteration_auc},
    "accuracy": {"accuracy": accuracy},
    "growth": {"growth": growth},
    "memory": {"memory": memory},
}
"""From the name of a benchmark to its figures."""
