"""Pictures of topics: the weights between them as a heat map, their words as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linktopics.plots.style import (
    ATTRACTS,
    BLUE,
    CERTAIN_DEVIATIONS,
    FAINT,
    INK,
    REPELS,
    axes_points,
    diverging,
    new_panels,
    panel,
    short_words,
    structure_order,
    topics_by_number,
)
from linktopics.utils.terminal import WHITE_TEXT_BELOW

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

MAX_VALUES, MAX_WORD_LABELS = 12, 16
"""Topics up to which cells hold their numbers, and columns are named by words, by default."""

FONT_POINTS, MIN_FONT_POINTS = 9.0, 4.5


def weight_matrix(
    model: Any,
    ax: Axes | None = None,
    *,
    order: str | None = "structure",
    n_words: int = 3,
    values: bool | str = "auto",
    columns: str = "auto",
    colorbar: bool = True,
) -> Axes:
    """Return a heat map of the weights between topics: orange attracts, blue repels.

    Parameters
    ----------
    model : RelationalTopicModel
        A fitted model.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a figure.
    order : {"structure", "share"} or None, default="structure"
        "structure" puts topics side by side that attract and are attracted by the same topics, "share" the most
        frequent first, None goes by their numbers.
    n_words : int, default=3
        Words by which a topic is named.
    values : bool or "auto", default="auto"
        Whether cells hold their numbers; "auto" does for up to 12 topics.
    columns : {"words", "numbers", "auto"}, default="auto"
        How columns are named; "auto" uses words for up to 16 topics.
    colorbar : bool, default=True
        Whether to draw the scale.

    Returns
    -------
    matplotlib Axes
        Rows are topics of the source of a link, columns those of its target. A dot marks weights less than two
        posterior standard deviations from zero, whose sign is not certain; there are none if one sample was kept.

    Examples
    --------
    >>> from linktopics import DocumentNetwork, RelationalTopicModel, plots
    >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
    >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
    >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_burn_in=50, random_state=0).fit(network)
    >>> ax = plots.weight_matrix(model)
    >>> ax.get_ylabel(), ax.get_xlabel()
    ('topic of the source', 'topic of the target')
    """
    named = topics_by_number(model, n_words)
    if columns not in ("words", "numbers", "auto"):
        raise ValueError(f'columns is {columns!r}; it must be "words", "numbers" or "auto".')
    topic_order = _topic_order(model.link_weights_, named["share"].to_numpy(), order)
    n_topics = len(topic_order)
    labels = [", ".join(short_words(words)) for words in named["words"].iloc[topic_order]]
    by_words = n_topics <= MAX_WORD_LABELS if columns == "auto" else columns == "words"
    shown = n_topics <= MAX_VALUES if values == "auto" else bool(values)
    new = ax is None
    ax = panel(ax, (8, 8))
    cell = _cell_size(n_topics) if new else min(axes_points(ax)) / n_topics
    here = np.ix_(topic_order, topic_order)
    weights, deviations = model.link_weights_[here], model.link_weights_std_[here]
    limit = max(float(np.abs(weights).max()), 1e-9)
    image = ax.imshow(weights, cmap=diverging(), vmin=-limit, vmax=limit, interpolation="nearest", aspect="auto")
    _name_topics(ax, labels, topic_order, cell, by_words)
    directed = model.network_.directed
    ax.set_ylabel("topic of the source" if directed else "topic", color=FAINT)
    ax.set_xlabel("topic of the target" if directed else "topic", color=FAINT)
    if shown:
        _write_values(ax, weights, limit, min(FONT_POINTS, 0.3 * cell))
    _mark_uncertain(ax, np.abs(weights) < CERTAIN_DEVIATIONS * deviations, cell, shown)
    if colorbar:
        _add_scale(ax, image)
    if new:
        _fit_figure(ax, cell * n_topics)
    return ax


def _cell_size(n_topics: int) -> float:
    """Return the size of a cell, in points, in a figure of our own."""
    cell = 36.0 if n_topics <= MAX_VALUES else 25.0 if n_topics <= MAX_WORD_LABELS else max(11.5, 29 - 0.43 * n_topics)
    return max(cell, 190 / n_topics)


def _fit_figure(ax: Axes, side: float) -> None:
    """Resize a figure so that its axes are a square of this size in points."""
    figure: Any = ax.figure
    figure.draw_without_rendering()
    width, height = axes_points(ax)
    figure.set_size_inches(figure.get_size_inches() + np.array([side - width, side - height]) / 72)


def _topic_order(weights: NDArray[np.float64], shares: NDArray[np.float64], order: str | None) -> NDArray[np.intp]:
    if order is None:
        return np.arange(len(weights))
    if order == "structure":
        return structure_order(weights)
    if order == "share":
        return np.argsort(-shares, kind="stable")
    raise ValueError(f'order is {order!r}; it must be "structure", "share" or None.')


def _name_topics(ax: Axes, labels: list[str], numbers: NDArray[np.intp], cell: float, columns_by_words: bool) -> None:
    """Name rows by words and number, columns by either, and draw lines between cells only."""
    places, font = range(len(labels)), float(np.clip(0.78 * cell, MIN_FONT_POINTS, FONT_POINTS))
    ax.set_yticks(places, [f"{label}  {number}" for label, number in zip(labels, numbers, strict=True)], fontsize=font)
    ax.xaxis.tick_top()
    ax.xaxis.set_label_position("top")
    if columns_by_words:
        names = [f"{number}  {label}" for label, number in zip(labels, numbers, strict=True)]
        ax.set_xticks(places, names, fontsize=font, rotation=45, ha="left", rotation_mode="anchor")
    else:
        ax.set_xticks(places, [str(number) for number in numbers], fontsize=min(font, 0.6 * cell))
    ax.tick_params(length=0, labelcolor=INK, pad=2)
    ax.spines[:].set_visible(False)
    ax.set_xticks(np.arange(len(labels) + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(len(labels) + 1) - 0.5, minor=True)
    ax.grid(visible=False, which="major")
    ax.grid(which="minor", color="white", linewidth=min(1.0, font / 9))
    ax.tick_params(which="minor", length=0)


def _write_values(ax: Axes, weights: NDArray[np.float64], limit: float, font: float) -> None:
    for (i, j), weight in np.ndenumerate(weights):
        colour = "white" if weight / limit < WHITE_TEXT_BELOW else INK
        text = "" if weight == 0 else f"{weight:+.1f}" if abs(weight) >= 0.05 else "0.0"
        ax.text(j, i, text.replace("-", "−"), ha="center", va="center", fontsize=font, color=colour)


def _mark_uncertain(ax: Axes, uncertain: NDArray[np.bool_], cell: float, beside_values: bool) -> None:
    """Put a dot in cells whose sign is not certain: in the corner of cells that show their value."""
    if not uncertain.any():
        return
    rows, columns = np.nonzero(uncertain)
    shift = 0.34 if beside_values else 0.0
    size = np.clip(0.012 * cell**2, 0.6, 5.0)
    ax.scatter(columns + shift, rows - shift, s=size, color=INK, alpha=0.55, linewidths=0)
    ax.annotate(
        "• sign not certain: less than 2 sd from zero", (0, 0), (0, -8), xycoords="axes fraction",
        textcoords="offset points", va="top", fontsize=8, color=FAINT,
    )  # fmt: skip


def _add_scale(ax: Axes, image: AxesImage) -> None:
    bar = ax.figure.colorbar(image, ax=ax, location="bottom", shrink=0.55, aspect=22, pad=0.02)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=2, color=FAINT, labelcolor=INK, labelsize=8)
    for text, colour, x, ha in (("repels ", REPELS, 0.0, "right"), (" attracts", ATTRACTS, 1.0, "left")):
        dark = tuple(0.8 * part for part in colour)
        bar.ax.text(x, 0.5, text, transform=bar.ax.transAxes, ha=ha, va="center", fontsize=9, color=dark, weight="bold")


def topics(model: Any, axes: Any = None, *, n_words: int = 8, n_topics: int | None = None) -> NDArray[np.object_]:
    """Return plots of the most probable words of topics as bars, a panel for each topic, the most frequent first.

    Parameters
    ----------
    model : RelationalTopicModel
        A fitted model.
    axes : array of matplotlib Axes, default=None
        Where to draw, a panel for each topic; None makes a figure.
    n_words : int, default=8
        Words of a topic.
    n_topics : int, default=None
        Number of topics to draw; None is all.

    Returns
    -------
    ndarray of matplotlib Axes
        One for each topic, in the order drawn. Bars are relative to the topic's first word.

    Examples
    --------
    >>> from linktopics import DocumentNetwork, RelationalTopicModel, plots
    >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
    >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
    >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_burn_in=50, random_state=0).fit(network)
    >>> len(plots.topics(model, n_words=3))
    2
    """
    table = topics_by_number(model, n_words).sort_values("share", ascending=False, kind="stable").head(n_topics)
    panels = _topic_panels(len(table), n_words) if axes is None else np.asarray(axes, dtype=object).reshape(-1)
    if len(panels) < len(table):
        raise ValueError(f"there are {len(table)} topics to draw and {len(panels)} axes; pass more, or n_topics=.")
    best = -np.sort(-model.topic_word_[table.index], axis=1)[:, :n_words]
    for ax, (number, row), probabilities in zip(panels, table.iterrows(), best, strict=False):
        _draw_topic(ax, row, int(number), probabilities / probabilities[0])
    for ax in panels[len(table) :]:
        ax.set_axis_off()
    return panels[: len(table)]


def _topic_panels(n_panels: int, n_words: int) -> NDArray[np.object_]:
    columns = min(n_panels, 5)
    rows = -(-n_panels // columns)
    return new_panels(rows, columns, (1.9 * columns, (0.19 * n_words + 0.5) * rows))


def _draw_topic(ax: Axes, topic: pd.Series, number: int, lengths: NDArray[np.float64]) -> None:
    places = range(len(lengths))
    ax.barh(places, lengths, height=0.72, color=BLUE, alpha=0.35)
    for place, word in zip(places, short_words(topic["words"]), strict=True):
        ax.text(0.015, place, word, va="center", fontsize=9, color=INK)
    ax.set(xlim=(0, 1.04), ylim=(len(places) - 0.4, -0.6), xticks=[], yticks=[])
    ax.spines[["top", "right", "bottom"]].set_visible(False)
    ax.spines["left"].set_color(FAINT)
    ax.set_title(f"topic {number}", loc="left", fontsize=9, color=INK, weight="bold", pad=3)
    ax.set_title(f"{topic['share']:.1%}", loc="right", fontsize=9, color=FAINT, pad=3)
