"""Write the page of all benchmarks, and their figures, from the results in a folder.

    python benchmarks/page.py [FOLDER]

FOLDER is docs/results/performance by default; the page is the file beside it that ends in .md. No number on the page
is written by hand.
"""

from __future__ import annotations

import argparse
import json
import textwrap
from pathlib import Path
from typing import Any

from common import RESULTS, table_cells
from plots import FIGURES

ORDER = ("sweep", "iteration", "shards", "cluster", "growth", "memory", "startup", "features", "prediction", "storage")
"""Sections of the page; results of other names come after them."""

WIDTH = 120
INTRODUCTION = """# Performance

Every number on this page was written by a command, which stands above it and which anyone can run; `--quick` tries it
within a minute or so. What is compared was timed in one run on one machine, so ratios hold where seconds do not. The
data sets are those of `linktopics.datasets`, Cora as it ships with the R package lda (cora-r), and the packages of
Debian 12 (debian). `python benchmarks/page.py` puts the page together.
"""


def markdown(made: dict[str, Any]) -> list[str]:
    """Return a table as lines of Markdown."""
    headings = [heading for heading, _ in made["columns"].values()]
    ruler = [
        ":---" if any(isinstance(row.get(key), str) for row in made["rows"]) else "---:" for key in made["columns"]
    ]
    rows = [headings, ruler, *table_cells(made)]
    lines = [f"### {made['title']}", "", *(f"| {' | '.join(row)} |" for row in rows), ""]
    return [*lines, textwrap.fill(made["note"], WIDTH), ""] if made["note"] else lines


def section(name: str, results: dict[str, Any], folder: Path) -> list[str]:
    """Draw the figures of a benchmark and return its section of the page."""
    numbers = ", ".join(f"{package} {number}" for package, number in results["versions"].items())
    lines = [f"## {results['title']}", "", f"`{results['command']}`,"]
    lines += [f"{results['when']}, {results['machine']}; {numbers}.", ""]
    if results["quick"]:
        lines += ["This was only a trial, with `--quick`.", ""]
    lines += [textwrap.fill(results["about"], WIDTH), ""]
    for made in results["tables"]:
        lines += markdown(made)
    for figure_name, draw in FIGURES.get(name, {}).items():
        figure = draw(results)
        if figure is not None:
            figure.savefig(folder / f"{figure_name}.png", dpi=130, metadata={"Software": None})
            lines += [f"![{results['title']}]({folder.name}/{figure_name}.png)", ""]
    return lines


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=RESULTS)
    folder = parser.parse_args().folder
    found = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}
    if not found:
        raise SystemExit(f"{folder} has no results (*.json); run a benchmark with --json first.")
    names = sorted(found, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))
    lines = [INTRODUCTION]
    for name in names:
        lines += section(name, found[name], folder)
    page = folder.with_suffix(".md")
    page.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    print(f"{page}: {', '.join(names)}")


if __name__ == "__main__":
    main()
