"""``linktopics demo``: a model of Python's own standard library, shown in a terminal."""

from __future__ import annotations

import platform
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from textwrap import shorten
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Group
from rich.table import Table
from rich.text import Text

from linktopics import __version__
from linktopics.calibration import LinkCalibration
from linktopics.commands.output import share
from linktopics.datasets import load_stdlib
from linktopics.errors import DataError, LinktopicsError, mixing_not_told
from linktopics.model import RelationalTopicModel
from linktopics.rendering import heat_map, join_within, letters, make_console, save_svg

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray
    from rich.console import JustifyMethod, RenderableType

    from linktopics.network import DocumentNetwork

__all__ = ["DEFAULT_TEXT", "run_demo"]

DEFAULT_TEXT = (
    "Run many requests at once: coroutines and tasks on an event loop wait for sockets, subprocesses and futures, each "
    "with a timeout; what is cancelled is cleaned up."
)

# Chosen so that topics read well and the finding about directions shows, more or less sharply, for all seeds and Python
# versions tried: with more non-links than the usual 1 % the model tells what many import from what hardly anyone does.
ALPHA, NEGATIVES, LINK_COST, THIN = 3, 0.05, 4, 5

N_ATTRACTIONS, N_SUGGESTIONS = 4, 6

MOST = 2 / 3
"""Share of the other topics that must link to a topic, and that it must not link to, for the finding to be told."""


@dataclass(frozen=True)
class Findings:
    """What the demo shows of a fitted model; topics go from most linked to, compared with linking, to least."""

    words: list[list[str]]
    modules: list[list[str]]
    shares: NDArray[np.float64]
    weights: NDArray[np.float64]
    errors: NDArray[np.float64]
    main_topics: NDArray[np.int64]
    suggestions: pd.DataFrame
    calibration: LinkCalibration

    @property
    def names(self) -> list[str]:
        """A letter for each topic."""
        return letters(len(self.words))

    def called(self, topic: int, n_words: int = 3) -> str:
        """Return the letter of a topic and its first words."""
        return f"{self.names[topic]} ({', '.join(self.words[topic][:n_words])})"


def run_demo(
    *,
    n_topics: int,
    seed: int,
    text: str,
    n_chains: int,
    n_iter: int,
    svg: Path | None = None,
    started: float | None = None,
) -> None:
    """Load the built-in network, fit a model and print what it found.

    Parameters
    ----------
    n_topics, n_chains, n_iter : int
        As in `RelationalTopicModel`.
    seed : int
        Seed of the model.
    text : str
        Words of a module that does not exist, to suggest imports for.
    svg : pathlib.Path, optional
        Where to save a picture of the output.
    started : float, optional
        The reading of `time.perf_counter` from which to count the seconds in all; by default that of now.
    """
    started = time.perf_counter() if started is None else started
    if svg is not None and not svg.parent.is_dir():
        raise LinktopicsError(f"there is no folder {str(svg.parent)!r} to save the picture in.")
    console = make_console()
    network = load_stdlib()
    if not network.vectorize([text]).sum():
        raise DataError(f"the text {text!r} has no word that the standard library knows; write what the module does.")
    model = RelationalTopicModel(
        n_topics,
        alpha=ALPHA,
        negatives=NEGATIVES,
        link_cost=LINK_COST,
        n_iter=n_iter,
        n_chains=n_chains,
        thin=THIN,
        random_state=seed,
        n_jobs=-1,
        verbose=console.is_terminal and sys.stderr.isatty(),
    )
    opening = describe_plan(network, model)
    console.print(opening)
    fit_started = time.perf_counter()
    with mixing_not_told():  # two short chains are here to show, not to agree
        model.fit(network)
    seconds = time.perf_counter() - fit_started
    found = find(model, text)
    report = [
        *show_topics(found),
        *show_weights(found, network, console.width),
        *show_suggestions(found, text, network),
    ]
    closing = [*show_next_steps(model, text), show_time(seconds, time.perf_counter() - started)]
    console.print(*report, *closing, sep="\n")
    if svg is not None:
        save_svg([opening, *report, *closing], svg, "linktopics demo")


def find(model: RelationalTopicModel, text: str) -> Findings:
    """Take from a fitted model what the demo shows, topics in their order there."""
    network, weights = model.network_, model.link_weights_
    incoming, outgoing = mean_attractions(weights)
    order = np.argsort(outgoing - incoming, kind="stable")
    topics = model.topics(n_words=10, n_documents=8).loc[order]
    return Findings(
        words=[words.split(", ") for words in topics["words"]],
        modules=topics["documents"].tolist(),
        shares=topics["share"].to_numpy(),
        weights=weights[np.ix_(order, order)],
        errors=model.link_weights_std_[np.ix_(order, order)],
        main_topics=model.doc_topic_[:, order].argmax(1),
        suggestions=model.suggest_links(network.vectorize([text]), top=N_SUGGESTIONS, direction="out"),
        calibration=model.calibration_,
    )


def mean_attractions(weights: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean weight of links to each topic from the others, and from it to the others."""
    others = np.where(np.eye(len(weights), dtype=bool), np.nan, weights)
    return np.nanmean(others, axis=0), np.nanmean(others, axis=1)


def describe_plan(network: DocumentNetwork, model: RelationalTopicModel) -> RenderableType:
    """Say what was loaded and what will be done."""
    sweeps = model.n_iter + model.n_samples * model.thin
    lines = {
        "data": f"the standard library of Python {platform.python_version()}: {network.n_documents:,} modules, "
        f"{network.n_links:,} imports between them,\n{network.n_tokens:,} words from docstrings and names "
        f"({network.n_words:,} different ones)",
        "model": f"{model.n_topics} topics, a full matrix of directed weights between them, "
        f"{_counted(model.n_chains, 'chain')} of {sweeps:,} sweeps, seed {model.random_state}",
        "note": "the first run compiles the sampler, which takes some 25 seconds more",
    }
    grid = Table.grid(padding=(0, 2))
    for name, line in lines.items():
        grid.add_row(Text(name, style="bold"), line)
    return Group(_heading(f"linktopics {__version__} on the modules of Python"), grid)


def show_topics(found: Findings) -> list[RenderableType]:
    """Show the topics with their words and modules."""
    incoming, outgoing = mean_attractions(found.weights)
    table = _table({"": "left", "share": "right", "words": "left", "modules": "left", "in": "right", "out": "right"})
    for k, name in enumerate(found.names):
        table.add_row(
            Text(name, style="bold"),
            f"{found.shares[k]:.1%}",
            join_within(found.words[k], 40),
            join_within(found.modules[k], 32),
            f"{incoming[k]:+.1f}",
            f"{outgoing[k]:+.1f}",
        )
    caption = "in: mean weight of links from the other topics to this one; out: from this one to the others"
    return [_heading("Topics"), table, _footnote(caption)]


def show_weights(found: Findings, network: DocumentNetwork, width: int) -> list[RenderableType]:
    """Show the weights between topics, the strongest of them, and what they say about directions."""
    rows = [f"{name} {join_within(words, 28)}" for name, words in zip(found.names, found.words, strict=True)]
    table = _table({"from": "left", "to": "left", "weight": "right", "and back": "right"})
    for source, target in strongest_attractions(found.weights):
        table.add_row(
            *(f"{found.names[k]} {join_within(found.words[k], 32)}" for k in (source, target)),
            *(
                f"{found.weights[pair]:+.1f} ± {found.errors[pair]:.1f}"
                for pair in ((source, target), (target, source))
            ),
        )
    return [
        _heading("Which topic imports which"),
        _footnote("row: the topic that imports; column: the topic imported; above 0 links are likely, below unlikely"),
        heat_map(found.weights, rows, found.names, width),
        _heading("The strongest attractions between two topics"),
        table,
        _heading("What only a full, directed weight matrix can say"),
        Text(direction_sentence(found, network)),
        Text("A diagonal matrix knows no weight between two topics, and a symmetric one no direction."),
    ]


def strongest_attractions(weights: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Return the pairs of different topics with the largest weights, the largest first."""
    others = np.where(np.eye(len(weights), dtype=bool), -np.inf, weights)
    sources, targets = np.unravel_index(np.argsort(-others, axis=None, kind="stable"), weights.shape)
    n = min(N_ATTRACTIONS, len(weights) * (len(weights) - 1))
    return list(zip(sources[:n].tolist(), targets[:n].tolist(), strict=True))


def common_base(weights: NDArray[np.float64]) -> int | None:
    """Return the first topic that most others link to (weight above 0) and that links to few of them; None if none."""
    links = (weights > 0) & ~np.eye(len(weights), dtype=bool)
    enough = MOST * (len(weights) - 1)
    fits = (links.sum(0) >= enough) & (len(weights) - 1 - links.sum(1) >= enough)
    return int(fits.argmax()) if fits.any() else None


def direction_sentence(found: Findings, network: DocumentNetwork) -> str:
    """Say which topic the others link to without being linked back, or else which pair is the most one-sided."""
    weights = found.weights
    base = common_base(weights)
    if base is None:
        source, target = map(int, np.unravel_index(np.argmax(weights - weights.T), weights.shape))
        return (
            "In this fit no topic is linked to by most others without linking back. The most one-sided pair is "
            f"{found.called(source)} and {found.called(target)}: weight {weights[source, target]:+.1f} from the first "
            f"to the second, {weights[target, source]:+.1f} back."
        )
    incoming, outgoing = (means[base] for means in mean_attractions(weights))
    n_others = len(weights) - 1
    to_it, from_it = (int((np.delete(line, base) > 0).sum()) for line in (weights[:, base], weights[base]))
    some = f"{to_it} of the {n_others} other topics link"
    linking = f"every one of the {n_others} other topics links" if to_it == n_others else some
    among_base = found.main_topics == base
    source, target = among_base[network.links].T
    return (
        f"Topic {found.called(base)} is what the others build on: {linking} to it (mean weight {incoming:+.1f}), and "
        f"it links to {f'only {from_it}' if from_it else 'none'} of them back (mean weight {outgoing:+.1f}). "
        f"Its modules: {join_within(found.modules[base], 60)}. The imports themselves: the "
        f"{_counted(int(among_base.sum()), 'module')} mainly of this topic are imported "
        f"{_counted(int((~source & target).sum()), 'time')} by modules of other topics and import those "
        f"{_counted(int((source & ~target).sum()), 'time')}."
    )


def show_suggestions(found: Findings, text: str, network: DocumentNetwork) -> list[RenderableType]:
    """Show what a module with these words should import, and why."""
    unseen = sorted({word for words in network.unseen_words([text]) or [] for word in words})
    left_out = f" Left out, as the vocabulary lacks them: {join_within(unseen, 200)}." if unseen else ""
    table = _table({"import": "left", "probability": "left", "why": "left"})
    for row in found.suggestions.itertuples():
        probability = f"{share(row.probability)} ({share(row.lower)} to {share(row.upper)})"
        table.add_row(Text(row.id, style="bold"), probability, row.why.replace("; ", "\n"))
    return [
        _heading("Suggested imports for a module that does not exist"),
        Text(f'"{text}"', style="italic"),
        table,
        _footnote(
            f"{found.calibration.describe()} In brackets: the range in 90 % of the posterior samples, which does not "
            f"hold all that is unknown. Before each reason: its share of all that speaks for the import.{left_out}"
        ),
    ]


def show_next_steps(model: RelationalTopicModel, text: str) -> list[RenderableType]:
    """Show the same in Python."""
    usual = RelationalTopicModel().get_params()
    names = ("alpha", "negatives", "n_iter", "n_chains", "thin", "random_state")
    chosen = {name: getattr(model, name) for name in names if getattr(model, name) != usual[name]}
    parameters = ", ".join(f"{name}={value!r}" for name, value in chosen.items())
    lines = (
        "from linktopics import RelationalTopicModel, datasets",
        f"model = RelationalTopicModel({model.n_topics}, {parameters})",
        f"model.fit(datasets.load_stdlib()).suggest_links({shorten(text, 32, placeholder='...')!r}, direction='out')",
    )
    return [_heading("Next steps: the same in Python, or the like with documents of your own"), *map(Text, lines)]


def show_time(fitting: float, total: float) -> RenderableType:
    """Say how long it took, and with what."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba"))
    return _footnote(f"\n{fitting:.1f} s for fitting, {total:.1f} s in all, with {versions}")


def _heading(line: str) -> Text:
    return Text(f"\n{line}", style="bold dark_orange3")


def _footnote(line: str) -> Text:
    return Text(line, style="dim")


def _table(columns: dict[str, JustifyMethod]) -> Table:
    """Return an empty table with these columns and their alignment; in a narrow terminal words wrap, numbers do not."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for name, justify in columns.items():
        table.add_column(name, justify=justify, no_wrap=justify == "right" or not name)
    return table


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
