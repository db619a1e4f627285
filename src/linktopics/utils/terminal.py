"""Terminal output of commands: consoles, heat maps, pictures of the output."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console, RenderableType
from rich.text import Text

from linktopics.utils.atomic_write import atomic_write

WIDTH = 100
"""Columns that all output fits in, unless a terminal is narrower."""

MIN_WIDTH = 20
"""Columns below which the width that a terminal reports is ignored."""

NEUTRAL, POSITIVE, NEGATIVE = np.array([[243, 243, 240], [238, 125, 22], [52, 116, 188]])
"""Ends of the diverging colour scale: orange attracts, blue repels; distinct with any kind of colour vision."""

WHITE_TEXT_BELOW = -0.6
"""Where on the scale from -1 (all blue) to 1 (all orange) the background is too dark for black text."""


def make_console() -> Console:
    """Return a console for standard output: at most 100 columns, and without colours if it is not a terminal."""
    console = Console(highlight=False, soft_wrap=False)
    console.width = min(max(console.width, MIN_WIDTH), WIDTH) if console.is_terminal else WIDTH
    return console


def join_within(words: Iterable[str], width: int) -> str:
    """Return as many of the words as fit, joined with commas, in their order; longer ones are left out.

    Examples
    --------
    >>> join_within(["os", "multiprocessing", "re"], 8)
    'os, re'
    """
    line = ""
    for word in words:
        longer = f"{line}, {word}" if line else word
        if len(longer) <= width:
            line = longer
    return line


def heat_map(weights: NDArray[np.floating], rows: Sequence[str], columns: Sequence[str], width: int = WIDTH) -> Text:
    """Return a matrix as coloured cells with rounded numbers, which can be read without colours.

    Parameters
    ----------
    weights : ndarray of shape (n_rows, n_columns)
        The numbers; orange above zero, blue below.
    rows, columns : sequence of str
        Names; those of columns should have no more than three characters.
    width : int, default=100
        Columns of the terminal; cells are narrower where they would not fit.
    """
    margin = max(map(len, rows)) + 1
    cell = 4 if margin + 4 * len(columns) <= width else 3
    scale = max(float(np.abs(weights).max()), 1e-9)
    picture = Text(" " * margin, no_wrap=True)
    picture.append("".join(f"{name:^{cell}}" for name in columns), style="bold")
    for name, row in zip(rows, weights, strict=True):
        picture.append(f"\n{name:<{margin}}")
        for weight in row:
            number = f"{weight:+.0f}" if abs(weight) >= 0.5 else "·"
            picture.append(f"{number:^{cell}}", style=_cell_style(weight / scale))
    return picture


def _cell_style(strength: float) -> str:
    """Return the rich style of a cell, for a strength from -1 to 1."""
    end = POSITIVE if strength > 0 else NEGATIVE
    red, green, blue = np.round(NEUTRAL + abs(strength) * (end - NEUTRAL)).astype(int)
    return f"{'#ffffff' if strength < WHITE_TEXT_BELOW else '#202020'} on rgb({red},{green},{blue})"


def save_svg(content: Iterable[RenderableType], path: Path, title: str) -> None:
    """Save output as a picture of a terminal, without references to fonts on the web.

    Parameters
    ----------
    content : iterable of rich renderables
        What would be printed.
    path : pathlib.Path
        The file.
    title : str
        Title of the window.
    """
    console = Console(
        file=io.StringIO(), record=True, width=WIDTH, force_terminal=True, color_system="truecolor", highlight=False
    )
    console.print(*content, sep="\n")
    svg = console.export_svg(title=title, unique_id="linktopics")
    svg = re.sub(r"@font-face\s*\{.*?\}|<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code, monospace", "Menlo, Consolas, 'DejaVu Sans Mono', monospace")
    # Some programs strip even no-break spaces at the start of a text, which right-aligned columns need.
    svg = svg.replace("<svg ", '<svg xml:space="preserve" ', 1)
    with atomic_write(path, "picture") as new:
        new.write_text(re.sub(r"\s*\n\s*", "\n", svg), encoding="utf-8")
