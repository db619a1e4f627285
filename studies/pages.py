"""Write the pages of the studies, and draw their figures, from the tables beside them.

    python -m studies.pages

Figures are not kept in the repository: a page has a line for each, which the documentation shows as the picture.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from studies.registry import EXPERIMENTS, draw
from studies.run import DPI, ExperimentRun

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOLDER = Path(__file__).resolve().parent
PAGES = ("paper", "features", "calibration")


def folder_of(name: str) -> Path:
    """Return the folder of an experiment's published tables."""
    return FOLDER / EXPERIMENTS[name].page / name


def table(name: str, file: str = "summary.csv") -> pd.DataFrame:
    """Return a table of an experiment."""
    return pd.read_csv(folder_of(name) / file)


def settings(name: str) -> dict[str, Any]:
    """Return the settings of an experiment."""
    return read_json(folder_of(name) / "settings.json")


def read_json(path: Path) -> dict[str, Any]:
    """Return what a JSON file holds."""
    return json.loads(path.read_text(encoding="utf-8"))


def markdown(rows: Sequence[Sequence[str]], header: Sequence[str]) -> list[str]:
    """Return the lines of a table.

    Examples
    --------
    >>> markdown([["a", "1"]], ["model", "rank"])
    ['| model | rank |', '|---|---|', '| a | 1 |']
    """
    return [
        "| " + " | ".join(header) + " |",
        "|---" * len(header) + "|",
        *("| " + " | ".join(row) + " |" for row in rows),
    ]


def figure_line(title: str, path: str) -> str:
    """Return the line of a page that stands for a figure.

    Examples
    --------
    >>> figure_line("Cora", "cora/hinge.png")
    '*Figure: Cora (cora/hinge.png)*'
    """
    return f"*Figure: {title} ({path})*"


def figures_of(name: str) -> dict[str, Figure]:
    """Draw the figures of an experiment from its published tables; return them by file name."""
    return draw(ExperimentRun.read(folder_of(name)))


def png(figure: Figure, dpi: int = DPI) -> bytes:
    """Return a figure as a file."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=dpi, metadata={"Software": None})
    return file.getvalue()


def page_of(name: str) -> tuple[Path, str]:
    """Return where a page is, and its text."""
    return FOLDER / name / "README.md", import_module(f"studies.{name}.page").page()


def pictures() -> Iterator[tuple[Path, bytes]]:
    """Draw all figures of the pages; give the path and the content of each."""
    from studies.calibration.page import figures

    for name in EXPERIMENTS:
        for file, figure in figures_of(name).items():
            yield folder_of(name) / file, png(figure)
    for path, figure in figures():
        yield path, png(figure, dpi=110)


def main() -> None:
    """Write pages and figures."""
    for name in PAGES:
        path, text = page_of(name)
        path.write_text(text, encoding="utf-8")
    for path, content in pictures():
        path.write_bytes(content)


if __name__ == "__main__":
    main()
