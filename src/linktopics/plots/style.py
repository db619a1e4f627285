"""Shared by all plots: axes, colours, names of topics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from linktopics.utils.terminal import NEGATIVE, NEUTRAL, POSITIVE

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.colors import LinearSegmentedColormap

BLACK, ORANGE, SKY, GREEN, BLUE, VERMILION, PURPLE = (
    "#000000", "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7",
)  # fmt: skip
"""Colours of the palette of Okabe and Ito, distinguishable with any kind of colour vision."""

INK, FAINT = "#202020", "#777777"
ATTRACTS, REPELS, NOTHING = (tuple((colour / 255).tolist()) for colour in (POSITIVE, NEGATIVE, NEUTRAL))
LINES = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)
DASHES = ("-", "--", "-.", ":")

CERTAIN_DEVIATIONS = 2.0
"""Standard deviations from zero beyond which the sign of a weight counts as certain."""

MAX_WORD_CHARACTERS = 18
"""Longer words are cut to this length."""


def panel(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the given axes, or those of a new figure of this size in inches."""
    return new_panels(1, 1, size)[0] if ax is None else ax


def new_panels(rows: int, columns: int, size: tuple[float, float]) -> NDArray[np.object_]:
    """Return the axes of a new figure, row by row."""
    import matplotlib.pyplot as plt
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    layout = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08)
    return plt.subplots(rows, columns, figsize=size, squeeze=False, layout=layout)[1].reshape(-1)


def plain_axes(ax: Axes) -> None:
    """Style axes of curves like all figures of the package, without changing matplotlib's settings."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(FAINT)
    ax.grid(visible=True, which="major", color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.tick_params(which="both", color=FAINT, labelcolor=INK, labelsize=9)


def line_style(number: int) -> dict[str, Any]:
    """Return colour and dashes of the line of this number; they repeat only after all combinations."""
    return {"color": LINES[number % len(LINES)], "linestyle": DASHES[number // len(LINES) % len(DASHES)]}


def diverging() -> LinearSegmentedColormap:
    """Return the colour map from repelling (blue) through zero to attracting (orange)."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("linktopics", [REPELS, NOTHING, ATTRACTS])


def axes_points(ax: Axes) -> tuple[float, float]:
    """Return width and height of axes in points, before the figure is laid out."""
    box = ax.get_window_extent()
    return box.width / ax.figure.dpi * 72, box.height / ax.figure.dpi * 72


def topics_by_number(model: Any, n_words: int) -> pd.DataFrame:
    """Return share and words of each topic, in the order of their numbers."""
    check_is_fitted(model)
    return model.topics(n_words).sort_index()


def short_words(words: str) -> list[str]:
    """Return the words of a topic, with long words cut."""
    n = MAX_WORD_CHARACTERS
    return [word if len(word) <= n else f"{word[: n - 1]}…" for word in words.split(", ")]


def structure_order(weights: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return topics in an order that puts those with similar weights side by side.

    Rows and columns of the weights are clustered together, and the leaves of the tree are put in their optimal order.
    Diagonal weights are sorted.
    """
    from scipy.cluster.hierarchy import leaves_list, linkage

    n_topics = len(weights)
    if not (weights - np.diag(np.diag(weights))).any():
        return np.argsort(-np.diag(weights), kind="stable")
    if n_topics < 3:
        return np.arange(n_topics)
    order = leaves_list(linkage(np.hstack([weights, weights.T]), "average", optimal_ordering=True))
    # A tree can be read from either end: begin with the topics that attract most.
    pull = weights.mean(axis=0)[order]
    half = n_topics // 2
    return order[::-1] if pull[:half].sum() < pull[-half:].sum() else order


def by_name(given: ArrayLike | Mapping[str, ArrayLike]) -> dict[str, ArrayLike]:
    """Return the values by name; without names, they have the empty name."""
    if not isinstance(given, Mapping):
        return {"": given}
    if not given:
        raise ValueError("the mapping is empty; pass at least one name with its numbers.")
    return {str(name): values for name, values in given.items()}


def legend(ax: Axes, where: Any, **others: Any) -> None:
    """Add a legend without a frame and with a translucent background."""
    ax.legend(loc=where, edgecolor="none", facecolor="white", framealpha=0.8, fontsize=9, labelcolor=INK, **others)
