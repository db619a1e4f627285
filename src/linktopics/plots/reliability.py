"""ROC curves and reliability diagrams of probabilities of links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from linktopics.errors import DataError
from linktopics.evaluation import metrics
from linktopics.plots.style import FAINT, by_name, legend, line_style, panel, plain_axes
from linktopics.utils.checks import check_whole_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]

CONFIDENCE_DEVIATIONS = 1.96
"""Normal quantile of 95 % intervals."""

MIN_PROBABILITY = 1e-12
"""Replaces zero on logarithmic axes, far below their range."""


def roc(labels: Any, scores: ArrayLike | Mapping[str, ArrayLike], ax: Axes | None = None, *, log: bool = False) -> Axes:
    """Return a plot of ROC curves: the share of links found against the share of other pairs predicted as links.

    Parameters
    ----------
    labels : array-like or sparse matrix of bool
        Whether a pair is a link, in any shape, such as documents x candidates.
    scores : array-like, or mapping from name to array-like
        Scores of the same shape, of one model or by model; higher for likelier links.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a figure.
    log : bool, default=False
        Whether the horizontal axis is logarithmic. Where links are rare, only its left end matters.

    Returns
    -------
    matplotlib Axes
        A curve for each model, with the area under it in the legend.

    Examples
    --------
    >>> from linktopics import plots
    >>> ax = plots.roc([0, 0, 1, 1], {"ours": [0.1, 0.2, 0.7, 0.9], "theirs": [0.1, 0.8, 0.7, 0.9]})
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['ours: AUC 1.000', 'theirs: AUC 0.750']
    """
    from sklearn.metrics import roc_curve

    checked = {name: _check_pairs(labels, values, name) for name, values in by_name(scores).items()}
    ax = panel(ax, (4.8, 4.4))
    plain_axes(ax)
    smallest = 1.0
    for number, (name, (linked, its)) in enumerate(checked.items()):
        false, true, _ = roc_curve(linked, its)
        area = metrics.auc(its[None], linked[None])
        smallest = min(smallest, 1.0 / (~linked).sum())
        label = f"{name}{': ' if name else ''}AUC {area:.3f}"
        ax.plot(false, true, linewidth=1.8, label=label, **line_style(number))
    chance = np.geomspace(smallest, 1, 100)
    ax.plot(chance, chance, color=FAINT, linestyle=":", linewidth=1.3)
    ax.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="false positive rate", ylabel="true positive rate")
    if log:
        ax.set_xscale("log")
        ax.set_xlim(smallest, 1)
    legend(ax, "upper left" if log else "lower right")
    return ax


def calibration(
    labels: Any,
    probabilities: ArrayLike | Mapping[str, ArrayLike],
    ax: Axes | None = None,
    *,
    n_bins: int = 10,
    equal: str = "pairs",
    log: bool = False,
) -> Axes:
    """Return a reliability diagram: the share of links among pairs of about the same probability.

    Parameters
    ----------
    labels : array-like or sparse matrix of bool
        Whether a pair is a link, in any shape, such as documents x candidates.
    probabilities : array-like, or mapping from name to array-like
        Probabilities of the same shape, of one model or by model.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a figure.
    n_bins : int, default=10
        Number of bins of pairs by their probability; pairs of equal probability are in one bin.
    equal : {"pairs", "links"}, default="pairs"
        Bins have equal numbers of pairs, or of expected links. Where links are rare, nearly all bins with equal numbers
        of pairs are at zero.
    log : bool, default=False
        Whether both axes are logarithmic, for rare links. A bin without any link is then drawn as a triangle at the
        upper end of its interval.

    Returns
    -------
    matplotlib Axes
        A point for each bin, at its mean probability and its share of links, with a 95 % interval (Wilson). Points
        below the diagonal have fewer links than they should. For one model, numbers of links are written above.

    Examples
    --------
    >>> import numpy as np
    >>> from linktopics import plots
    >>> rng = np.random.default_rng(0)
    >>> probabilities = rng.random(1000)
    >>> ax = plots.calibration(rng.random(1000) < probabilities, probabilities, n_bins=5)
    >>> len(ax.lines[-1].get_xdata())
    5
    """
    if equal not in ("pairs", "links"):
        raise ValueError(f'equal is {equal!r}; it must be "pairs" or "links".')
    check_whole_number("n_bins", n_bins, 1)
    bins = {
        name: bin_pairs(*_check_pairs(labels, values, name, probabilities=True), n_bins, equal)
        for name, values in by_name(probabilities).items()
    }
    ax = panel(ax, (5.0, 4.6))
    draw_bins(ax, bins, log=log)
    if list(bins) != [""]:
        legend(ax, "upper left", bbox_to_anchor=(0, 0.96))
    return ax


@dataclass(frozen=True)
class Bins:
    """Bins of pairs: mean probability, number of pairs, number of links."""

    predicted: Array
    n_pairs: NDArray[np.int64]
    n_links: NDArray[np.int64]

    @property
    def share(self) -> Array:
        """Share of links in each bin."""
        return self.n_links / self.n_pairs

    @property
    def interval(self) -> tuple[Array, Array]:
        """Wilson's 95 % interval of the share of links, which is valid without links and with links only, too."""
        n, z2 = self.n_pairs, CONFIDENCE_DEVIATIONS**2
        centre = (self.n_links + z2 / 2) / (n + z2)
        half = CONFIDENCE_DEVIATIONS / (n + z2) * np.sqrt(n * self.share * (1 - self.share) + z2 / 4)
        return np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)

    @property
    def height(self) -> Array:
        """Heights on a logarithmic axis: the share of links, or the upper end of the interval if there are none."""
        return np.where(self.n_links > 0, self.share, self.interval[1])


def bin_pairs(linked: NDArray[np.bool_], probabilities: Array, n_bins: int, equal: str) -> Bins:
    """Return pairs in bins of about equally many pairs, or expected links; both arrays have one dimension."""
    values, place, n_equal = np.unique(probabilities, return_inverse=True, return_counts=True)
    mass = n_equal.astype(float) if equal == "pairs" else n_equal * values
    if not mass.sum() > 0:
        mass = n_equal.astype(float)  # all probabilities are zero
    middle = np.cumsum(mass) - mass / 2
    bins = np.minimum((n_bins * middle / mass.sum()).astype(np.int64), n_bins - 1)[place]
    n_pairs = np.bincount(bins, minlength=n_bins)
    used = n_pairs > 0
    total = np.bincount(bins, weights=probabilities, minlength=n_bins)
    n_links = np.bincount(bins[linked], minlength=n_bins)
    return Bins(total[used] / n_pairs[used], n_pairs[used], n_links[used])


def draw_bins(ax: Axes, by_model: Mapping[str, Bins], *, log: bool) -> None:
    """Draw a reliability diagram of the bins of each model, without a legend."""
    plain_axes(ax)
    ax.plot([MIN_PROBABILITY, 1], [MIN_PROBABILITY, 1], color=FAINT, linestyle=":", linewidth=1.3, zorder=1)
    for number, (name, bins) in enumerate(by_model.items()):
        _draw_model(ax, bins, number, name, counts=len(by_model) == 1, log=log)
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="predicted probability of a link", ylabel="share of links")
    if log:
        lowest = min(min(bins.predicted.min(), bins.height.min()) for bins in by_model.values())
        low = 10 ** np.floor(np.log10(max(lowest, 1e-9)))
        ax.set(xscale="log", yscale="log", xlim=(low, 1), ylim=(low, 1))
    ax.set_aspect("equal")


def _draw_model(ax: Axes, bins: Bins, number: int, name: str, *, counts: bool, log: bool) -> None:
    style = line_style(number)
    lower, upper = bins.interval
    ax.vlines(bins.predicted, np.maximum(lower, MIN_PROBABILITY), upper, color=style["color"], alpha=0.45, linewidth=3)
    some = bins.n_links > 0 if log else np.ones(len(bins.share), dtype=bool)
    if not some.all():
        ax.plot(bins.predicted[~some], upper[~some], linestyle="", marker="v", markersize=5, color=style["color"])
    if counts:
        for x, y, n in zip(bins.predicted, upper, bins.n_links, strict=True):
            ax.annotate(f"{n:,}", (x, y), (0, 4), textcoords="offset points", ha="center", fontsize=8, color=FAINT)
        ax.text(0.02, 0.98, "numbers: links in the bin", transform=ax.transAxes, va="top", fontsize=8, color=FAINT)
    ax.plot(
        bins.predicted[some], bins.share[some], marker="o", markersize=5, linewidth=1.2, clip_on=False,
        label=name or None, **style,
    )  # fmt: skip


def _check_pairs(
    labels: Any, values: ArrayLike, name: str, *, probabilities: bool = False
) -> tuple[NDArray[np.bool_], Array]:
    """Return labels and scores of pairs, checked, in one dimension."""
    what = "probabilities" if probabilities else "scores"
    whose = f"{what} of {name!r}" if name else what
    linked = np.asarray(labels.toarray() if issparse(labels) else labels)
    scores = np.asarray(values, dtype=float)
    if scores.shape != linked.shape:
        raise DataError(f"{whose} have the shape {scores.shape}, labels {linked.shape}; they must be the same.")
    if not np.isin(linked, (0, 1)).all():
        raise DataError("labels must hold True and False, or 1 and 0.")
    linked = linked.astype(bool).ravel()
    if linked.all() or not linked.any():
        raise DataError(f"labels hold {'only links' if linked.any() else 'no link'}; pass links and other pairs.")
    if np.isnan(scores).any():
        raise DataError(f"{whose} hold NaN; every pair needs a number.")
    if probabilities and not ((scores >= 0) & (scores <= 1)).all():
        raise DataError(f"{whose} are not all between 0 and 1; scores can be drawn by plots.roc.")
    return linked, scores.ravel()
