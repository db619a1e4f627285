"""The page on calibration: probabilities of links, their ranges, and the sampler.

Reads what the benchmarks held_out.py, coverage.py and sbc.py wrote: sbc.json and further files of its name are runs with
other options. All numbers and verdicts are computed from these files.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from studies.calibration.figures import held_out, ranks
from studies.pages import figure_line, markdown, read_json

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOLDER = Path(__file__).resolve().parent
NOT_UNIFORM_P = 0.01
"""A p-value, times the number of quantities, below which ranks are called not uniform; up to 0.05 they are in doubt."""

INTRODUCTION = """# Calibration

How reliable the results of a fit are: probabilities of links, measured on unseen documents; their ranges over posterior samples,
and the sampler, measured on networks of which the truth is known. `python -m studies.pages` wrote this page and draws its
figures.
"""

HELD_OUT = """## Links of unseen documents

{about}

- *Predicted / links*: the sum of all probabilities over the number of links; 1 is right. *The same by fold*: the lowest and the
  highest of the folds. *Slope*: of the logistic regression of links on log-odds; below 1, probabilities are overconfident.
- *Log loss per link*: less is better. *Mean of the 1,000 highest* probabilities, and the share of links among these pairs.
- In the figure each point is a twelfth of the links that the model expects, with a 95 % interval; both axes are logarithmic.
"""

COVERAGE = """## Ranges over posterior samples

{about}

- Ranges leave out some of the uncertainty: the curve from scores to probabilities is taken as certain, the topics of a new
  document in a sample are averages over sweeps, and the chains may not have found all modes. So ranges are too narrow. They show
  on which suggestions the samples agree.
- *Truth below it*, *above it*: shares of the pairs whose true probability is outside. *Width*: of the range, relative to the
  probability.
"""

ABOUT = """## Simulation-based calibration

Parameters are drawn from the prior of the model: proportions of topics, topics, weights (and those of a feature of pairs and
an intercept, where there are any); then words and the labels of *all* pairs given these. The network is fitted by
`RelationalTopicModel` with the same priors, every pair without a link being a non-link. If the draws of the fit come from
the posterior of this model, the truth is one more draw, and its rank among L independent draws is uniform on 0 ... L, for
any quantity (Talts et al. 2018). A sampler that is a little wrong makes ranks too small or too large (draws too high or too low),
or too frequent in the middle or at the ends (draws spread too widely or too narrowly).

- It applies to the logistic loss with both costs 1, which is a likelihood. Other costs and the hinge loss weigh
  configurations without being the probability of any data; there is nothing to simulate from, and ranks need not be
  uniform. The steps of the sampler for these are tested one by one in tests/statistical.
- Quantities do not depend on how topics are numbered. *Quadratic form of the weights*: mean square of the scores of all
  pairs, a quadratic form in U. *Squared weights*: the sum over all free weights. *One pair*: the first two documents.
- Chains start at random topics, as users' chains do, so bad mixing would also be seen. Draws of a chain depend on each
  other, which makes ranks too frequent at both ends; the *effective draws* say how far they are from independent ones.
- *p, distribution*: of the largest departure of the empirical distribution of the ranks from the uniform one. At 0.05 it
  leaves the simultaneous band of Säilynoja, Bürkner and Vehtari (2022), grey in the figures. *p, chi-square*: over 16
  bins. *Mean rank* is a share of the draws and should be 0.5. *Spread* is the standard deviation over that of uniform
  ranks; above 1 the draws are too narrow.
- A network without a link is drawn again: a fit would not treat its pairs as non-links. This condition is on the data alone, so
  ranks stay uniform.
"""


def run_name(results: dict[str, Any]) -> str:
    """Return in what a run differs from the usual one."""
    how = results["how"]
    parts = [
        "sampler cached" if how["sampler"] == "cached" else "",
        f"{how['shards']} shards" if how["shards"] > 1 else "",
        "started at the truth" if how["start"] == "truth" else "",
        f"broken: {how['broken']}" if how["broken"] else "",
        f"other networks (seed {how['seed']})" if how["seed"] != 2026 else "",
    ]
    return ", ".join(filter(None, parts)) or "exact"


def verdict(results: dict[str, Any]) -> str:
    """Return whether ranks are uniform."""
    p = results["together"]
    return "not uniform" if p < NOT_UNIFORM_P else "in doubt" if p < 0.05 else "uniform"


def summary(found: dict[str, dict[str, Any]]) -> list[str]:
    """Return the table of all runs."""
    rows = []
    for results in found.values():
        made = results["tables"][0]["rows"]
        worst = min(made, key=lambda row: row["ecdf"])
        outside = sum(row["within"] == "no" for row in made)
        rows.append(
            [
                run_name(results),
                f"{results['networks']} x {', '.join(results['worlds'])}",
                str(results["n_draws"]),
                f"{outside} of {len(made)}",
                f"{worst['quantity']} ({worst['mean']:.2f}, {worst['spread']:.2f})",
                f"{results['together']:.2g}",
                f"**{verdict(results)}**",
            ]
        )
    header = ["run", "networks", "L", "outside the band", "worst (mean, spread)", "its p, times quantities", "ranks"]
    said = (
        "*Uniform* means that the smallest p-value, times the number of quantities, is above 0.05; *not uniform*, that it is "
        f"below {NOT_UNIFORM_P}. The first run was in doubt, so it was repeated with twice as many other networks (`--seed 1`); a fault of "
        "the sampler would be seen again, in the same quantity."
    )
    return ["### All runs", "", *markdown(rows, header), "", said, ""]


def how_made(results: dict[str, Any]) -> list[str]:
    """Return two lines: the command, and when and where it ran with which versions."""
    numbers = ", ".join(f"{package} {number}" for package, number in results["versions"].items())
    return [f"`{results['command']}`,", f"{results['when']}, {results['machine']}; {numbers}."]


def table_lines(made: dict[str, Any]) -> list[str]:
    """Return the lines of a table of a benchmark."""
    rows = [[form.format(row[key]) for key, (_, form) in made["columns"].items()] for row in made["rows"]]
    return markdown(rows, [heading for heading, _ in made["columns"].values()])


def detail(name: str, results: dict[str, Any]) -> list[str]:
    """Return all numbers of a run, and its figure."""
    made = results["tables"][0]
    sizes = "; ".join(
        f"{world}: {size['n_documents']} documents of {size['mean_length']:g} tokens on average, {size['n_words']} words, "
        f"K = {size['n_topics']}, alpha {size['alpha']:g}, beta {size['beta']:g}, weight variance {size['weight_variance']:g}"
        for world, size in results["worlds"].items()
    )
    return [
        f"### {run_name(results)[:1].upper()}{run_name(results)[1:]}",
        "",
        *how_made(results),
        "",
        f"{results['networks']} networks of each kind ({sizes}). {results['about']}",
        "",
        *table_lines(made),
        "",
        made["note"],
        "",
        figure_line("ranks of the truth", f"{name}.png"),
        "",
    ]


def section(found: dict[str, dict[str, Any]]) -> str:
    """Return the section."""
    lines = [ABOUT, *summary(found)]
    for name, results in found.items():
        lines += [] if results["how"]["broken"] else detail(name, results)
    return "\n".join(lines).rstrip()


def measured(text: str, results: dict[str, Any]) -> list[str]:
    """Return a section with its tables; the first has the title of the section."""
    lines = [text.format(about=results["about"]), *how_made(results), ""]
    for made in results["tables"]:
        lines += [] if made is results["tables"][0] else [f"### {made['title']}", ""]
        lines += [*table_lines(made), "", made["note"], ""]
    return lines


def page() -> str:
    """Return the page."""
    seen, covered = (read_json(FOLDER / f"{name}.json") for name in ("held-out", "coverage"))
    figure = figure_line("predicted probabilities and shares of links", "held-out.png")
    lines = [INTRODUCTION, *measured(HELD_OUT, seen), figure, "", *measured(COVERAGE, covered)]
    return "\n".join([*lines, section(read_runs()), ""])


def read_runs() -> dict[str, dict[str, Any]]:
    """Return the runs of simulation-based calibration by name, the usual one first."""
    paths = sorted(FOLDER.glob("sbc*.json"), key=lambda path: (path.stem != "sbc", "broken" in path.stem, path.stem))
    return {path.stem: read_json(path) for path in paths}


def figures() -> Iterator[tuple[Path, Figure]]:
    """Draw all figures of the page; give path and figure."""
    yield FOLDER / "held-out.png", held_out(read_json(FOLDER / "held-out.json"))
    for name, results in read_runs().items():
        if not results["how"]["broken"]:
            yield FOLDER / f"{name}.png", ranks(results)
