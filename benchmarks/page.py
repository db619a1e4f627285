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

Every number on this page was written by a command, which stands above it and which anyone can run; `--quick` tries it
within a minute or so. What is compared was timed in one run on one machine, so ratios hold where seconds do not. The
data sets are those of `linktopics.datasets`, Cora as it ships with the R package lda (cora-r), and the packages of
Debian 12 (debian). `python benchmarks/page.py` puts the page together.
"""

CORRECTIONS = {
    "sweep": (
        "Corrected on 2026-11-18: in earlier versions of this page the rows of K = 100 were those of a wrong sampler, "
        "which counted pairs that enter a document twice for some topics at most K above 64 (CHANGELOG.md). Its topics "
        "collapsed: “topics per document” fell from 10.7, 6.4 and 6.8 at K = 50 (cora-r, cora, debian) to 6.5, 2.5 and "
        "3.5 at K = 100. Now it does not fall. Rows up to K = 50 measure the sampler of before, on another machine."
    ),
    "growth": (
        "Corrected on 2026-11-18: in earlier versions of this page the rows of K = 100 and 200 and the weight step on "
        "debian were those of the wrong sampler named above. A collapsed model is quicker: this command with `--only "
        "debian`, run once at the commit before the correction and then once after it, took 1.3 times as long for the "
        "sweep after it, and 1.5 times as long for the weight step."
    ),
}
"""What earlier versions of a section had wrong, and why."""


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
    if name in CORRECTIONS:
        lines += [textwrap.fill(CORRECTIONS[name], WIDTH), ""]
    for made in results["tables"]:
        lines += markdown(made)
    for figure_name, draw in FIGURES.get(name, {}).items():
        figure = draw(results)
        if figure is not None:
            figure.savefig(folder / f"{figure_name}.png", dpi=130, metadata={"Software": None})
            lines += [f"![{results['title']}]({folder.name}/{figure_name}.png)", ""]
    return lines


def rows_of(results: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """Return the rows of the first table that has a column of this name."""
    return next(made["rows"] for made in results["tables"] if key in made["columns"])


def speeds(found: dict[str, dict[str, Any]]) -> str:
    """Return what the README says about speed: numbers of the results, and nothing else."""
    sweep = rows_of(found["sweep"], "exact_over_tomotopy")
    first = [row for row in sweep if row["data"] == "cora-r"]
    size = f"{first[0]['tokens']:,} tokens, {first[0]['pairs']:,} pairs"
    lines = [
        "Million tokens per second beside plain LDA in tomotopy, which sees no links, and the paper's loop over",
        f"neighbours, compiled; one thread (cora-r, {size}):",
        "",
        "| K | exact relational sweep | plain LDA in tomotopy | the paper's loop | exact / tomotopy |",
        "|---:|---:|---:|---:|---:|",
    ]
    for row in first:
        cells = [f"{row[who]:.1f}" for who in ("exact", "tomotopy", "paper")] + [f"{row['exact_over_tomotopy']:.2f}"]
        lines.append(f"| {row['topics']} | {' | '.join(cells)} |")
    at = {(row["data"], row["topics"]): row for row in sweep}
    others = " and ".join(
        f"{at[name, 20]['exact_over_tomotopy']:.2f} and {at[name, 50]['exact_over_tomotopy']:.2f} on {name} "
        f"({at[name, 20]['ends']:.1f} pair ends per token)"
        for name in ("cora", "debian")
    )
    run = rows_of(found["sweep"], "paper_seconds")[0]
    steps = {row["data"]: row for row in rows_of(found["iteration"], "ratio_lent") if row["topics"] == 20}
    one, two = steps["cora"], steps["cora-r"]
    shards = next(row for row in rows_of(found["shards"], "speedup") if (row["topics"], row["shards"]) == (20, 2))
    (*_, must, peak, _), (*_, plain, _) = (made["rows"] for made in found["memory"]["tables"][:2])
    gigabytes, times = peak["mb"] / 1024, peak["mb"] / must["mb"]
    *_, default = found["memory-defaults"]["tables"][0]["rows"]
    used = [found[name] for name in ("sweep", "iteration", "shards", "memory", "memory-defaults")]
    measured = " and ".join(sorted({f"{results['when']} on {results['machine']}" for results in used}))
    text = [
        f"What is slower is the pairs: at K = 20 and 50 the ratio is {others}.",
        f"A whole iteration is {one['ratio']:.0f} times as fast as the paper's algorithm on cora and",
        f"{two['ratio']:.0f} times on cora-r (K = 20; {one['ratio_lent']:.1f} and {two['ratio_lent']:.1f} times if",
        "that is lent our weight step). A training run on Cora (80 % of the documents, K = 20,",
        f"{run['iterations']} iterations) takes {run['seconds']:.1f} s, where the paper reports",
        f"{run['paper_seconds']:,} s in 2013. In two shards an iteration on debian is {shards['speedup']:.2f} times as",
        f"fast on two threads as on one, and {shards['against_exact']:.2f} times as fast as that of the exact chain",
        "(K = 20). A million documents of 50 tokens,",
        f"K = 50, ten pairs each, one chain, need {gigabytes:.1f} GB with the default features and calibration,",
        f"{times:.2f} times the arrays that must exist, and {plain['mb'] / 1024:.1f} GB without both; with the default",
        f"chains, samples and non-links, too, {default['documents']:,} documents need {default['mb'] / 1024:.1f} GB.",
        f"Measured {measured}; commands and all figures in",
        "[docs/results/performance.md](docs/results/performance.md).",
    ]
    return "\n".join([*lines, "", textwrap.fill(" ".join(text), WIDTH, break_on_hyphens=False)])


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
    found = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}
    if not found:
        raise SystemExit(f"{folder} has no results (*.json); run a benchmark with --json first.")
    names = sorted(found, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))
    lines = [INTRODUCTION]
    for name in names:
        lines += section(name, found[name], folder)
    page = folder.with_suffix(".md")
    page.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    if folder == RESULTS:
        text = README.read_text(encoding="utf-8")
        README.write_text(with_speeds(text, found), encoding="utf-8")
    print(f"{page}: {', '.join(names)}")


if __name__ == "__main__":
    main()
