"""What ``linktopics demo`` shows of a fitted model."""

from __future__ import annotations

import platform
import string
from dataclasses import dataclass
from importlib.metadata import version
from textwrap import shorten
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Group
from rich.table import Table
from rich.text import Text

from linktopics import __version__
from linktopics.cli.output import format_percent, heading, make_table
from linktopics.model.estimator import RelationalTopicModel
from linktopics.network.report import numbered
from linktopics.prediction.calibration import LinkCalibration
from linktopics.utils.terminal import heat_map, join_within

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray
    from rich.console import RenderableType

    from linktopics.network import DocumentNetwork

N_ATTRACTIONS, N_SUGGESTIONS = 4, 6

BASE_TOPIC_SHARE = 2 / 3
"""Share of the other topics that must link to a common base, and that it must not link to."""


@dataclass(frozen=True)
class Findings:
    """What the demo shows of a fitted model; topics are sorted by mean incoming minus mean outgoing weight."""

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
        return list(string.ascii_uppercase[: len(self.words)])

    def label(self, topic: int, n_words: int = 3) -> str:
        """Return the letter of a topic and its first words."""
        return f"{self.names[topic]} ({', '.join(self.words[topic][:n_words])})"


def describe_fit(model: RelationalTopicModel, text: str, width: int) -> list[RenderableType]:
    """Return all that the demo shows of a fitted model."""
    network, found = model.network_, collect_findings(model, text)
    return [
        *show_topics(found),
        *show_weights(found, network, width),
        *show_suggestions(found, text, network),
        *show_next_steps(model, text),
    ]


def collect_findings(model: RelationalTopicModel, text: str) -> Findings:
    """Return what the demo shows of a fitted model, topics in the order of `Findings`."""
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
    """Return a description of the data and of the fit."""
    sweeps = model.n_burn_in + model.n_samples * model.thin
    lines = {
        "data": f"the standard library of Python {platform.python_version()}: {network.n_documents:,} modules, "
        f"{network.n_links:,} imports between them,\n{network.n_tokens:,} words from docstrings and names "
        f"({network.n_words:,} different ones)",
        "model": f"{model.n_topics} topics, a full matrix of directed weights between them, "
        f"{numbered(model.n_chains, 'chain')} of {sweeps:,} sweeps, seed {model.random_state}",
        "note": "the first run compiles the sampler, which takes some 25 seconds more",
    }
    grid = Table.grid(padding=(0, 2))
    for name, line in lines.items():
        grid.add_row(Text(name, style="bold"), line)
    return Group(_heading(f"linktopics {__version__} on the modules of Python"), grid)


def show_topics(found: Findings) -> list[RenderableType]:
    """Return a table of the topics with their words and modules."""
    incoming, outgoing = mean_attractions(found.weights)
    table = make_table(("", "share", "words", "modules", "in", "out"), right=("share", "in", "out"))
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
    """Return the weights between topics, the strongest of them, and a finding about directions."""
    rows = [f"{name} {join_within(words, 28)}" for name, words in zip(found.names, found.words, strict=True)]
    table = make_table(("from", "to", "weight", "reverse"), right=("weight", "reverse"))
    for pair in strongest_attractions(found.weights):
        names = [f"{found.names[k]} {join_within(found.words[k], 32)}" for k in pair]
        weights = [f"{found.weights[ends]:+.1f} ± {found.errors[ends]:.1f}" for ends in (pair, pair[::-1])]
        table.add_row(*names, *weights)
    return [
        _heading("Which topic imports which"),
        _footnote("row: the topic that imports; column: the topic imported; above 0 links are likely, below unlikely"),
        heat_map(found.weights, rows, found.names, width),
        _heading("The strongest attractions between two topics"),
        table,
        _heading("What only a full, directed weight matrix shows"),
        Text(direction_sentence(found, network)),
        Text("A diagonal matrix has no weights between different topics, and a symmetric one has no directions."),
    ]


def strongest_attractions(weights: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Return the pairs of different topics with the largest weights, the largest first."""
    others = np.where(np.eye(len(weights), dtype=bool), -np.inf, weights)
    n = min(N_ATTRACTIONS, len(weights) * (len(weights) - 1))
    return [divmod(cell, len(weights)) for cell in np.argsort(-others, axis=None, kind="stable")[:n].tolist()]


def common_base(weights: NDArray[np.float64]) -> int | None:
    """Return the first topic that most others link to (weight above 0) and that links to few of them; None if none."""
    links = (weights > 0) & ~np.eye(len(weights), dtype=bool)
    enough = BASE_TOPIC_SHARE * (len(weights) - 1)
    is_base = (links.sum(0) >= enough) & (len(weights) - 1 - links.sum(1) >= enough)
    return int(is_base.argmax()) if is_base.any() else None


def direction_sentence(found: Findings, network: DocumentNetwork) -> str:
    """Return a sentence about the common base of the topics or, if there is none, the most one-sided pair."""
    weights = found.weights
    base = common_base(weights)
    if base is None:
        source, target = map(int, np.unravel_index(np.argmax(weights - weights.T), weights.shape))
        return (
            "In this fit no topic is linked to by most others without linking back. The most one-sided pair is "
            f"{found.label(source)} and {found.label(target)}: weight {weights[source, target]:+.1f} from the first "
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
        f"Topic {found.label(base)} is what the others build on: {linking} to it (mean weight {incoming:+.1f}), and "
        f"it links to {f'only {from_it}' if from_it else 'none'} of them back (mean weight {outgoing:+.1f}). "
        f"Its modules: {join_within(found.modules[base], 60)}. The imports themselves: the "
        f"{numbered(int(among_base.sum()), 'module')} mainly of this topic are imported "
        f"{numbered(int((~source & target).sum()), 'time')} by modules of other topics and import those "
        f"{numbered(int((source & ~target).sum()), 'time')}."
    )


def show_suggestions(found: Findings, text: str, network: DocumentNetwork) -> list[RenderableType]:
    """Return what a module with these words should import, and why."""
    unseen = sorted({word for words in network.unseen_words([text]) or [] for word in words})
    left_out = f" Ignored, because the vocabulary lacks them: {join_within(unseen, 200)}." if unseen else ""
    table = make_table(("import", "probability", "why"))
    for row in found.suggestions.itertuples():
        probability = f"{format_percent(row.probability)} ({format_percent(row.lower)} to {format_percent(row.upper)})"
        table.add_row(Text(row.id, style="bold"), probability, row.why.replace("; ", "\n"))
    return [
        _heading("Suggested imports for a module that does not exist"),
        Text(f'"{text}"', style="italic"),
        table,
        _footnote(
            f"{found.calibration.describe()} In brackets: the range over 90 % of the posterior samples, which does not "
            f"cover all uncertainty. Before each reason: its share of all positive contributions.{left_out}"
        ),
    ]


def show_next_steps(model: RelationalTopicModel, text: str) -> list[RenderableType]:
    """Return code that does the same in Python."""
    defaults = RelationalTopicModel().get_params()
    names = ("alpha", "negatives", "n_burn_in", "n_chains", "thin", "random_state")
    chosen = {name: getattr(model, name) for name in names if getattr(model, name) != defaults[name]}
    parameters = ", ".join(f"{name}={value!r}" for name, value in chosen.items())
    lines = (
        "from linktopics import RelationalTopicModel, datasets",
        f"model = RelationalTopicModel({model.n_topics}, {parameters})",
        f"model.fit(datasets.load_stdlib()).suggest_links({shorten(text, 32, placeholder='...')!r}, direction='out')",
    )
    return [_heading("Next steps: the same in Python, or with your own documents"), *map(Text, lines)]


def describe_time(fitting: float, total: float) -> RenderableType:
    """Return the times, and the versions of libraries."""
    versions = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba"))
    return _footnote(f"\n{fitting:.1f} s for fitting, {total:.1f} s in total, with {versions}")


def _heading(line: str) -> Text:
    return heading(f"\n{line}")


def _footnote(line: str) -> Text:
    return Text(line, style="dim")
