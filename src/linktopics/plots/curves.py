"""Curves: traces of chains, and shares of links found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from linktopics.errors import DataError
from linktopics.plots.style import FAINT, by_name, legend, line_style, panel, plain_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]

SKIPPED_SHARE = 0.2
"""Share of the burn-in, at its start, that is ignored when the vertical range is chosen."""

PLAIN_TICKS = "{x:,.0f}"
"""Format of ticks: 10,000 instead of 10^4 or 10000."""


def trace(model: Any, ax: Axes | None = None, quantity: str = "log joint") -> Axes:
    """Return a plot of a quantity of every chain after each sweep, with the burn-in shaded.

    Parameters
    ----------
    model : RelationalTopicModel
        A fitted model.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a figure.
    quantity : str, default="log joint"
        What to draw, a name in ``model.trace_``.

    Returns
    -------
    matplotlib Axes
        A line for each chain; that of the best chain is the widest. The first sweeps may be outside of the picture,
        because the vertical range is that of later ones.

    Examples
    --------
    >>> from linktopics import DocumentNetwork, RelationalTopicModel, plots
    >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
    >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
    >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_burn_in=50, n_chains=3, random_state=0).fit(network)
    >>> len(plots.trace(model).lines)
    3
    """
    check_is_fitted(model)
    if quantity not in model.trace_:
        raise ValueError(f"quantity is {quantity!r}; it must be one of {', '.join(map(repr, model.trace_))}.")
    values = np.asarray(model.trace_[quantity], dtype=float)
    n_chains, n_sweeps = values.shape
    n_burn_in = model.n_burn_in_
    ax = panel(ax, (7.0, 3.4))
    plain_axes(ax)
    sweeps = np.arange(1, n_sweeps + 1)
    if n_burn_in:
        ax.axvspan(0, n_burn_in + 0.5, color="#ececea", linewidth=0, zorder=0)
        ax.text(
            n_burn_in, 1.0, "burn-in ", transform=ax.get_xaxis_transform(), ha="right", va="bottom", fontsize=9,
            color=FAINT,
        )  # fmt: skip
    for number, line in enumerate(values):
        best = number == model.best_chain_
        role = ", best" if best and n_chains > 1 else ", left out" if number in model.left_out_chains_ else ""
        name = f"chain {number + 1}{role}"
        ax.plot(sweeps, line, **line_style(number), linewidth=1.6 if best else 1.0, zorder=3 if best else 2, label=name)
    ax.set(xlim=(0, n_sweeps + 1), xlabel="sweep", ylabel=quantity, ylim=_vertical_limits(values, n_burn_in))
    if np.ptp(ax.get_ylim()) > 100:
        ax.yaxis.set_major_formatter(PLAIN_TICKS)
    if n_chains > 1:
        legend(ax, "best")
    return ax


def _vertical_limits(values: Array, n_burn_in: int) -> tuple[float, float]:
    """Return the vertical limits that show all but the start of the burn-in."""
    later = values[:, min(int(SKIPPED_SHARE * n_burn_in), values.shape[1] - 1) :]
    low, high = np.nanmin(later), np.nanmax(later)
    room = 0.05 * (high - low) or max(1e-9, 0.01 * abs(high))
    return float(low - room), float(high + room)


def link_ranks(
    ranks: ArrayLike | Mapping[str, ArrayLike], ax: Axes | None = None, *, n_candidates: int | None = None
) -> Axes:
    """Return a plot of the share of true links among the first candidates, for one model or several.

    Parameters
    ----------
    ranks : array-like, or mapping from name to array-like
        Ranks of true links as `linktopics.evaluation.metrics.link_ranks` returns them, of one model or by model.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a figure.
    n_candidates : int, default=None
        Number of candidates that were ranked; if given, the curve of a random order is drawn too.

    Returns
    -------
    matplotlib Axes
        A curve for each model: at r, the share of links with a rank of at most r. Legends name the median rank.

    Examples
    --------
    >>> from linktopics import plots
    >>> ax = plots.link_ranks({"ours": [1, 2, 2, 30], "theirs": [5, 9, 40, 80]}, n_candidates=100)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['ours: median rank 2', 'theirs: median rank 24.5', 'random order']
    """
    checked = {name: _check_ranks(values, name, n_candidates) for name, values in by_name(ranks).items()}
    ax = panel(ax, (5.6, 3.8))
    plain_axes(ax)
    last = max(float(max(values[-1] for values in checked.values())), n_candidates or 0, 2.0)
    for number, (name, values) in enumerate(checked.items()):
        found, counts = np.unique(values, return_counts=True)
        steps = np.concatenate([[0.0], np.cumsum(counts) / len(values)])
        label = f"{name}{': ' if name else ''}median rank {round(np.median(values), 1):g}"
        ax.step(
            np.concatenate([[min(1.0, found[0])], found, [last]]), np.append(steps, 1.0), where="post", label=label,
            linewidth=1.8, **line_style(number),
        )  # fmt: skip
    if n_candidates is not None:
        every = np.unique(np.geomspace(1, n_candidates, 200))
        ax.plot(every, every / n_candidates, color=FAINT, linestyle=":", linewidth=1.3, label="random order")
    ax.set_xscale("log")
    ax.set(xlim=(1, last), ylim=(0, 1.02), xlabel="candidates looked at", ylabel="links found")
    ax.xaxis.set_major_formatter(PLAIN_TICKS)
    ax.xaxis.set_minor_formatter("")
    ax.yaxis.set_major_formatter("{x:.0%}")
    legend(ax, "lower left", bbox_to_anchor=(0, 1))
    return ax


def _check_ranks(ranks: ArrayLike, name: str, n_candidates: int | None) -> Array:
    """Return ranks in ascending order."""
    values = np.asarray(ranks, dtype=float)
    whose = f"the ranks of {name!r}" if name else "the ranks"
    if values.ndim != 1 or not len(values):
        raise DataError(f"{whose} have the shape {values.shape}; pass one rank for each true link, in one dimension.")
    if not (values >= 1).all():
        raise DataError(f"{whose} hold {values[~(values >= 1)][0]:g}; ranks are at least 1.")
    if n_candidates is not None and values.max() > n_candidates:
        raise DataError(f"{whose} hold {values.max():g}, but n_candidates is {n_candidates}.")
    return np.sort(values)
