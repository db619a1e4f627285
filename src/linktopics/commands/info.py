"""``linktopics info``: what a network is, and what a model is."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linktopics._report import summary_lines
from linktopics.commands.output import Column, Result, emit
from linktopics.network import DocumentNetwork
from linktopics.storage.folder import MANIFEST, ModelFolder

__all__ = ["distribution", "run_info"]

BAR = 40
"""Characters of the longest bar."""


def run_info(data: str, reading: dict[str, Any], format: str) -> None:
    """Print what was read, and distributions of lengths and degrees; of a model's folder, what it holds."""
    if os.path.isfile(os.path.join(data, MANIFEST)):
        _show_model(Path(data), format)
        return
    from linktopics.commands.reading import read_network

    network = read_network(data, reading)
    _show_network(network, format)


def _show_network(network: DocumentNetwork, format: str) -> None:
    degrees = np.bincount(network.links.reshape(-1), minlength=network.n_documents)
    rows = [*_rows("words per document", network.lengths), *_rows("links per document", degrees)]
    facts = {
        **_facts(network),
        **_spread("words_per_document", network.lengths),
        **_spread("links_per_document", degrees),
    }
    columns = [
        Column("distribution"),
        Column("from", "{:,}".format, right=True),
        Column("to", "{:,}".format, right=True),
        Column("documents", "{:,}".format, right=True),
        Column("bar"),
    ]
    notes = [str(network.report)] if not network.report.clean else ["Nothing was dropped."]
    heading = "\n".join(summary_lines(network))
    emit(Result("info", columns, rows, "distributions", facts, heading, notes), format)


def _facts(network: DocumentNetwork) -> dict[str, Any]:
    report = network.report
    dropped = {name: getattr(report, f"n_{name}") for name in ("unknown_ends", "self_links", "duplicate_links")}
    return {
        "documents": network.n_documents,
        "words": network.n_words,
        "tokens": network.n_tokens,
        "links": network.n_links,
        "directed": network.directed,
        "fingerprint": network.fingerprint(),
        "dropped_links": dropped,
        "empty_documents": report.n_empty_documents,
    }


def _spread(name: str, values: NDArray[np.integer]) -> dict[str, Any]:
    marks = {"min": 0, "quartile_1": 25, "median": 50, "quartile_3": 75, "max": 100}
    return {name: {mark: float(np.percentile(values, at)) for mark, at in marks.items()}}


def _rows(name: str, values: NDArray[np.integer]) -> list[dict[str, Any]]:
    bins = distribution(values)
    most = max(count for *_, count in bins)
    return [
        {
            "distribution": name if number == 0 else "",
            "of": name,
            "from": first,
            "to": last,
            "documents": count,
            "bar": "█" * max(round(BAR * count / most), 1 if count else 0),
        }
        for number, (first, last, count) in enumerate(bins)
    ]


def distribution(values: NDArray[np.integer]) -> list[tuple[int, int, int]]:
    """Return (from, to, number of values) for 0, 1, 2-3, 4-7, 8-15, ...; only as far as values go.

    Examples
    --------
    >>> import numpy as np
    >>> distribution(np.array([0, 2, 3, 5]))
    [(0, 0, 1), (1, 1, 0), (2, 3, 2), (4, 7, 1)]
    """
    bins: list[tuple[int, int, int]] = []
    first, last = 0, 0
    while first <= int(values.max(initial=0)):
        bins.append((first, last, int(((values >= first) & (values <= last)).sum())))
        first, last = last + 1, 2 * last + 1 if last else 1
    empty = next((number for number, (*_, count) in enumerate(bins) if count), 0)
    return bins if bins[0][2] else bins[empty:]


def _show_model(path: Path, format: str) -> None:
    manifest = ModelFolder(path).manifest()
    network, plan = manifest["network"], manifest["plan"]
    length = plan["n_iter"] + plan["n_samples"] * plan["thin"]
    done = [chain["iteration"] for chain in manifest["chains"]]
    values: Sequence[tuple[str, Any]] = [
        ("kind", manifest["kind"]),
        ("saved", manifest["saved"]),
        ("sweeps", f"{min(done):,} of {length:,}" + ("" if min(done) == length else "; go on with linktopics resume")),
        ("chains", len(done)),
        ("topics", manifest["settings"]["n_topics"]),
        ("documents", f"{network['n_documents']:,}"),
        ("words", f"{network['n_words']:,}"),
        ("tokens", f"{network['n_tokens']:,}"),
        ("links", f"{network['n_links']:,} {'directed' if network['directed'] else 'undirected'}"),
        ("features", ", ".join(manifest["features"]["columns"]) or "none"),
        ("fingerprint", network["fingerprint"][:16]),
        ("bytes", f"{sum(entry['bytes'] for entry in manifest['files']):,}"),
        ("versions", ", ".join(f"{name} {version}" for name, version in manifest["versions"].items())),
    ]
    rows = [{"what": name, "value": value} for name, value in values]
    facts = {"parameters": manifest["parameters"], "network": network, "plan": plan}
    emit(Result("info", [Column("what"), Column("value")], rows, "model", facts, f"Model {path}"), format)
