"""Write the page of all benchmarks, and their figures, from the results in a folder.

    python benchmarks/page.py [FOLDER]

FOLDER is benchmarks/results by default; the page is README.md in it. All numbers come from the results.
Figures are not kept in the repository: the page has a line for each, which the documentation shows as the picture.
"""

from __future__ import annotations

import argparse
import io
import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from common import RESULTS, table_cells
from plots import FIGURES

ORDER = (
    "sweep",
    "iteration",
    "shards",
    "accuracy",
    "cluster",
    "growth",
    "memory",
    "memory-defaults",
    "startup",
    "features",
    "prediction",
    "storage",
    "serving",
    "abuse",
    "endurance",
)
"""Sections of the page; results of other names come after them."""

README = Path(__file__).resolve().parents[1] / "README.md"
MARKS = ("<!-- from benchmarks/page.py -->", "<!-- end -->")
WIDTH = 120
INTRODUCTION = """# Performance

Every table on this page was written by the command above it; with `--quick` a command takes a minute or so. What is
compared was timed in one run on one machine, so ratios hold where seconds do not. The data sets are those of
`linktopics.datasets`, Cora as it ships with the R package lda (cora-r), and the packages of Debian 12 (debian). All are
read from `$LINKTOPICS_DATA`; cora-r and debian are not downloaded by linktopics. `python benchmarks/page.py` writes
this page and draws the figures.
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


def section(name: str, results: dict[str, Any]) -> list[str]:
    """Return the section of a benchmark."""
    numbers = ", ".join(f"{package} {number}" for package, number in results["versions"].items())
    lines = [f"## {results['title']}", "", f"`{results['command']}`,"]
    lines += [f"{results['when']}, {results['machine']}; {numbers}.", ""]
    if results["quick"]:
        lines += ["This was only a trial, with `--quick`.", ""]
    lines += [textwrap.fill(results["about"], WIDTH), ""]
    for made in results["tables"]:
        lines += markdown(made)
    for figure_name, draw in FIGURES.get(name, {}).items():
        if draw(results) is not None:
            lines += [f"*Figure: {results['title']} ({figure_name}.png)*", ""]
    return lines


def pictures(folder: Path = RESULTS) -> Iterator[tuple[Path, bytes]]:
    """Draw all figures of the page; give the path and the content of each."""
    for name, results in read_results(folder).items():
        for figure_name, draw in FIGURES.get(name, {}).items():
            figure = draw(results)
            if figure is not None:
                file = io.BytesIO()
                figure.savefig(file, format="png", dpi=130, metadata={"Software": None})
                yield folder / f"{figure_name}.png", file.getvalue()


def read_results(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the results in a folder by name."""
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}


def rows_of(results: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """Return the rows of the first table that has a column of this name."""
    return next(made["rows"] for made in results["tables"] if key in made["columns"])


def speeds(found: dict[str, dict[str, Any]]) -> str:
    """Return what the README says about speed: numbers of the results, and nothing else."""
    sweep = {(row["data"], row["topics"]): row for row in rows_of(found["sweep"], "exact_over_tomotopy")}
    first = sweep["cora-r", 20]
    cora, debian = (f"{sweep[name, 20]['exact_over_tomotopy']:.2f}" for name in ("cora", "debian"))
    others = f"{cora} times on cora and {debian} on debian"
    steps = {row["data"]: row for row in rows_of(found["iteration"], "ratio_our_weights") if row["topics"] == 20}
    (*_, peak, _), *_ = (made["rows"] for made in found["memory"]["tables"])
    *_, default = found["memory-defaults"]["tables"][0]["rows"]
    used = [found[name] for name in ("sweep", "iteration", "memory", "memory-defaults")]
    measured = " and ".join(sorted({f"{results['when']} on {results['machine']}" for results in used}))
    ratio, one = first["exact_over_tomotopy"], steps["cora"]
    text = [
        f"On cora-r at K = 20, one thread sweeps {first['exact']:.1f} million tokens per second, {ratio:.2f} times as",
        f"fast as plain LDA in tomotopy, which ignores links ({others}, which have more pairs per token). On cora, a",
        f"whole iteration is {one['ratio']:.0f} times as fast as the paper's algorithm, or",
        f"{one['ratio_our_weights']:.1f} times if the paper's algorithm uses our weight update. One chain of a million",
        f"documents of 50 tokens (K = 50, one non-link per link, one sample) needs {peak['mb'] / 1024:.1f} GiB; with",
        f"all default settings, {default['documents']:,} documents need {default['mb'] / 1024:.1f} GiB. Measured",
        f"{measured}: [performance](benchmarks/results/README.md).",
    ]
    return textwrap.fill(" ".join(text), WIDTH, break_on_hyphens=False)


def with_speeds(readme: str, found: dict[str, dict[str, Any]]) -> str:
    """Return the README with what it says about speed put in between its marks."""
    before, _, rest = readme.partition(MARKS[0])
    _, mark, after = rest.partition(MARKS[1])
    assert mark, "the README has lost its marks"
    return f"{before}{MARKS[0]}\n{speeds(found)}\n{MARKS[1]}{after}"


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=RESULTS)
    folder = parser.parse_args().folder
    found = read_results(folder)
    if not found:
        raise SystemExit(f"{folder} has no results (*.json); run a benchmark with --json first.")
    names = sorted(found, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))
    lines = [INTRODUCTION]
    for name in names:
        lines += section(name, found[name])
    page = folder / "README.md"
    page.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    for path, content in pictures(folder):
        path.write_bytes(content)
    if folder == RESULTS:
        text = README.read_text(encoding="utf-8")
        README.write_text(with_speeds(text, found), encoding="utf-8")
    print(f"{page}: {', '.join(names)}")


if __name__ == "__main__":
    main()
