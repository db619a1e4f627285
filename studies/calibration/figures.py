"""Figures of the page on calibration, drawn from the results beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from linktopics.plots.reliability import Bins, draw_bins
from linktopics.plots.style import FAINT, INK, line_style, new_panels, plain_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def held_out(results: dict[str, Any]) -> Figure:
    """Draw reliability diagrams of links that were not seen, a panel for each data set."""
    found = results["bins"]
    panels = new_panels(1, len(found), (4.4 * len(found), 4.8))
    for panel, (name, by_kind) in zip(panels, found.items(), strict=True):
        bins = {kind: Bins(**{key: np.array(values) for key, values in its.items()}) for kind, its in by_kind.items()}
        draw_bins(panel, bins, log=True)
        panel.set_title(name)
    legend_below(panels[0])
    return panels[0].figure


def ranks(results: dict[str, Any]) -> Figure:
    """Draw histograms of ranks, worlds on top of one another, next to empirical distributions minus the uniform one."""
    n_draws, by_world, band = results["n_draws"], results["ranks"], results["band"]
    names = list(dict.fromkeys(name for its in by_world.values() for name in its))
    panels = new_panels(-(-len(names) // 2), 4, (11.0, 1.85 * -(-len(names) // 2) + 0.4))
    places, n_bins = np.arange(1, n_draws + 1) / (n_draws + 1), results["n_bins"]
    for name, left, right in zip(names, panels[::2], panels[1::2], strict=False):
        edges = np.linspace(0, n_draws + 1, n_bins + 1)
        height = np.zeros(n_bins)
        right.fill_between(places, *band, step="mid", color="#e4e4e4", linewidth=0, label="95 % band")
        for number, (world, its) in enumerate(by_world.items()):
            if name not in its:
                continue
            found = np.bincount(its[name], minlength=n_draws + 1)
            share = np.cumsum(found)[:-1] / found.sum()
            right.step(places, share - places, where="mid", linewidth=1.4, label=world, **line_style(number))
            bars = found.reshape(n_bins, -1).sum(axis=1)
            colour = line_style(number)["color"]
            left.bar(edges[:-1], bars, np.diff(edges), height, align="edge", color=colour, alpha=0.8)
            height += bars
        low, high = stats.binom.interval(0.95, int(height.sum()), 1 / n_bins)
        left.axhspan(low, high, facecolor="none", edgecolor=INK, linewidth=0.9, linestyle="--")
        right.axhline(0, color=FAINT, linewidth=0.8)
        widest = 1.25 * max(np.abs(line.get_ydata()).max() for line in right.get_lines())
        widest = max(widest, 1.15 * np.abs(band).max())
        right.set(xlim=(0, 1), ylim=(-widest, widest))
        left.set(xlim=(0, n_draws + 1), xticks=edges[:: n_bins // 4])
        for ax, title in ((left, name), (right, "")):
            plain_axes(ax)
            ax.set_title(title, loc="left", fontsize=10, color=INK)
            ax.tick_params(labelsize=8)
    for ax in panels[2 * len(names) :]:
        ax.set_visible(False)
    for ax in panels[2 * len(names) - 4 : 2 * len(names) : 2]:
        ax.set_xlabel("rank of the truth", fontsize=9, color=INK)
    legend_below(panels[1])
    return panels[0].figure


def legend_below(panel: Axes) -> None:
    """Put the legend of a panel below all panels, which have the same lines."""
    handles, labels = panel.get_legend_handles_labels()
    place: dict[str, Any] = {"loc": "outside lower center", "ncols": len(labels)}
    panel.figure.legend(handles, labels, **place, frameon=False, fontsize=9, labelcolor=INK)
