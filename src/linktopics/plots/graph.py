"""Topics as a graph, by their weights or by the links between their documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linktopics.plots.layout import push_apart, stress_layout
from linktopics.plots.style import (
    ATTRACTS,
    CERTAIN_DEVIATIONS,
    FAINT,
    INK,
    NOTHING,
    REPELS,
    axes_points,
    panel,
    short_words,
    topics_by_number,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]

EDGES_PER_TOPIC = 1.5
"""Number of edges that are drawn unless a threshold is given."""

FONT_POINTS, LETTER_WIDTH, LINE_HEIGHT = 9.0, 0.56, 1.1
"""Size of words in points, and width of a letter and height of a line relative to it, on average."""

MIN_RADIUS_POINTS, MAX_RADIUS_POINTS = 15.0, 30.0
"""Smallest possible radius, and radius of the largest topic, in points."""

MIN_ZOOM = 0.65
"""The smallest scale of circles and words, on given axes that are smaller than a figure of our own."""

GAPS_POINTS = (48, 40, 32, 24, 16, 10)
"""Gaps between topics, tried in this order until topics fill less than half of the axes."""


def topic_graph(
    model: Any, ax: Axes | None = None, *, by: str = "weights", threshold: float | None = None, n_words: int = 3
) -> Axes:
    """Return a plot of topics as circles, with lines between those that attract each other.

    Parameters
    ----------
    model : RelationalTopicModel
        A fitted model.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a figure.
    by : {"weights", "links"}, default="weights"
        Lines are weights above zero, or counts of observed links between documents by their main topics.
    threshold : float, default=None
        Draw weights, or counts, above this number. None draws the strongest, three for every two topics; of weights,
        only those more than two posterior standard deviations above zero.
    n_words : int, default=3
        Words by which a topic is named.

    Returns
    -------
    matplotlib Axes
        Larger circles are more frequent topics, wider lines are stronger, and in directed networks arrows go from
        source to target. A ring shows how much a topic attracts itself (orange) or repels itself (blue), or how many
        links are within it (grey). Topics close to each other tend to be connected. The same model gives the same
        picture.

    Examples
    --------
    >>> from linktopics import DocumentNetwork, RelationalTopicModel, plots
    >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
    >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
    >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_burn_in=50, random_state=0).fit(network)
    >>> ax = plots.topic_graph(model, by="links")
    >>> len(ax.texts)
    2
    """
    named = topics_by_number(model, n_words)
    directed = model.network_.directed
    strengths = _strengths(model, by)
    edges, threshold = _edges(model, strengths, by, threshold)
    width, height = _figure_size(len(strengths))
    if ax is None:
        ax = panel(None, (width, height))
        room, zoom = (72 * width - 16, 72 * height - 44), 1.0  # without margins and legend
    else:
        room = axes_points(ax)
        zoom = float(np.clip(np.sqrt(room[0] * room[1] / (width * height)) / 72, MIN_ZOOM, 1.0))
    shares = named["share"].to_numpy()
    radii = zoom * np.maximum(MAX_RADIUS_POINTS * np.sqrt(shares / shares.max()), MIN_RADIUS_POINTS)
    labels = ["\n".join(short_words(words)) for words in named["words"]]
    boxes = _boxes(radii, labels, zoom * FONT_POINTS, room)
    places = push_apart(stress_layout(_layout_strengths(strengths, by)), boxes, room)
    ax.set(xlim=(0, room[0]), ylim=(0, room[1]))
    ax.set_axis_off()
    _draw_edges(ax, places, edges, radii, directed, ATTRACTS if by == "weights" else FAINT)
    _draw_topics(ax, places, radii, labels, zoom * FONT_POINTS, np.diag(strengths), by)
    _add_legend(ax, by, directed, threshold, bool(edges.any()), max(7.0, zoom * FONT_POINTS))
    return ax


def _figure_size(n_topics: int) -> tuple[float, float]:
    """Return width and height in inches of a figure with room for all topics."""
    height = 1.8 * np.sqrt(n_topics)
    return max(6.2, 1.3 * height), max(3.2, height)


def _strengths(model: Any, by: str) -> Array:
    """Return weights, or counts of links between main topics, from row to column."""
    if by == "weights":
        return np.asarray(model.link_weights_)
    if by != "links":
        raise ValueError(f'by is {by!r}; it must be "weights" or "links".')
    counts = np.zeros((model.doc_topic_.shape[1],) * 2)
    main = model.doc_topic_.argmax(axis=1)
    np.add.at(counts, tuple(main[model.network_.links].T), 1)
    if model.network_.directed:
        return counts
    return counts + counts.T - np.diag(np.diag(counts))


def _edges(model: Any, strengths: Array, by: str, threshold: float | None) -> tuple[Array, float]:
    """Return the strengths of the edges to draw, zero elsewhere, and the number that all of them exceed."""
    usable = np.where(np.eye(len(strengths), dtype=bool), 0.0, np.maximum(strengths, 0.0))
    if not model.network_.directed:
        usable = np.triu(usable)
    if threshold is None:
        if by == "weights":
            usable[usable < CERTAIN_DEVIATIONS * model.link_weights_std_] = 0.0
        most = round(EDGES_PER_TOPIC * len(strengths))
        positive = np.sort(usable[usable > 0])[::-1]
        threshold = float(positive[most]) if len(positive) > most else 0.0
    return np.where(usable > threshold, usable, 0.0), float(threshold)


def _layout_strengths(strengths: Array, by: str) -> Array:
    """Return the strengths of edges for the layout; counts are relative to those of both topics."""
    ties = np.maximum(strengths - np.diag(np.diag(strengths)), 0.0)
    if by == "links":
        all_of = np.maximum(strengths.sum(axis=0) + strengths.sum(axis=1), 1.0)
        ties = ties / np.sqrt(np.outer(all_of, all_of))
    return ties


def _boxes(radii: Array, labels: list[str], font: float, room: tuple[float, float]) -> Array:
    """Return widths and heights of topics with their words and the gap around them, in points."""
    widths = [max(map(len, label.split("\n"))) * LETTER_WIDTH * font for label in labels]
    heights = [(label.count("\n") + 1) * LINE_HEIGHT * font for label in labels]
    sizes = np.maximum(np.column_stack([widths, heights]), 2 * radii[:, None])
    gaps = (gap for gap in GAPS_POINTS if (sizes + gap).prod(axis=1).sum() < 0.5 * room[0] * room[1])
    return sizes + next(gaps, GAPS_POINTS[-1])


def _draw_edges(ax: Axes, places: Array, edges: Array, radii: Array, directed: bool, colour: Any) -> None:
    from matplotlib.patches import FancyArrowPatch

    strongest = max(float(edges.max()), 1e-9)
    for source, target in sorted(np.argwhere(edges > 0).tolist(), key=lambda edge: edges[tuple(edge)]):
        strength = edges[source, target] / strongest
        arrow = f"-|>,head_length={2.5 + 2.5 * strength},head_width={1.2 + 1.5 * strength}"
        ax.add_patch(
            FancyArrowPatch(
                places[source],
                places[target],
                arrowstyle=arrow if directed else "-",
                connectionstyle="arc3,rad=0.16" if directed else "arc3",
                mutation_scale=1.6,
                shrinkA=radii[source] + 2,
                shrinkB=radii[target] + 4,
                linewidth=0.6 + 2.6 * strength,
                color=colour,
                alpha=0.35 + 0.5 * strength,
                zorder=1,
            )
        )


def _draw_topics(ax: Axes, places: Array, radii: Array, labels: list[str], font: float, own: Array, by: str) -> None:
    from matplotlib.patheffects import withStroke

    strength = np.abs(own) / max(float(np.abs(own).max()), 1e-9)
    colours = [FAINT if by == "links" else ATTRACTS if value > 0 else REPELS for value in own]
    widths = (0.4 + 5 * strength).tolist()
    across, up = places.T
    ax.scatter(across, up, s=(2 * radii) ** 2, color=[NOTHING], edgecolors=colours, linewidths=widths, zorder=2)
    for (x, y), label in zip(places, labels, strict=True):
        ax.text(
            x, y, label, ha="center", va="center", fontsize=font, color=INK, linespacing=LINE_HEIGHT, zorder=3,
            path_effects=[withStroke(linewidth=2, foreground="white", alpha=0.85)],
        )  # fmt: skip


def _add_legend(ax: Axes, by: str, directed: bool, threshold: float, any_edges: bool, font: float) -> None:
    from matplotlib.lines import Line2D

    def ring(colour: Any) -> Line2D:
        return Line2D(
            [], [], linestyle="", marker="o", markersize=9, markerfacecolor=NOTHING, markeredgecolor=colour,
            markeredgewidth=2.5,
        )  # fmt: skip

    arrow = ", source → target" if directed else ""
    if by == "weights":
        edge = f"attracts{arrow} (certain, and above {threshold:.1f})"
        entries = {"attracts itself": ring(ATTRACTS), "repels itself": ring(REPELS)}
    else:
        edge = f"links{arrow} (over {threshold:,.0f})"
        entries = {"links within": ring(FAINT)}
    if any_edges:
        entries = {edge: Line2D([], [], color=ATTRACTS if by == "weights" else FAINT, linewidth=2.0), **entries}
    ax.legend(
        entries.values(), entries.keys(), loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=len(entries),
        frameon=False, fontsize=font, labelcolor=INK, handlelength=1.6,
    )  # fmt: skip
