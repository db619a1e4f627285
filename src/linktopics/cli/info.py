"""Show what was read, and what was dropped."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from linktopics.cli import options
from linktopics.cli.output import CommandResult, TableColumn, emit, joined, one_line, resolve_format
from linktopics.errors import NetworkWarning

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from linktopics.network import DocumentNetwork
    from linktopics.storage.manifest import NetworkEntry

EXAMPLE = "linktopics info my-folder"

BAR_WIDTH = 32
"""Characters of the longest bar; the table then fits in 80 columns."""


def info(
    data: Annotated[str, typer.Argument(metavar="DATA", help=f"{options.DATA_HELP} Or the folder of a model.")],
    format: options.Format = "auto",
    min_documents: options.MinDocuments = None,
    max_share: options.MaxShare = None,
    stop_words: options.StopWords = None,
    strict: options.Strict = None,
    debug: options.Debug = False,
) -> None:
    """Show what is in a network and what was dropped from it, or what a model is."""
    from linktopics.storage.folder import MANIFEST

    if os.path.isfile(os.path.join(data, MANIFEST)):
        _show_model(Path(data), format)
        return
    reading = options.given(min_documents=min_documents, max_share=max_share, stop_words=stop_words, strict=strict)
    options.check_values(reading)
    with warnings.catch_warnings():
        if resolve_format(format) in ("table", "json"):  # which show it themselves, with details
            warnings.simplefilter("ignore", NetworkWarning)
        network = options.read_network(data, reading)
    _show_network(data, network, format)


def _show_network(data: str, network: DocumentNetwork, format: str) -> None:
    import numpy as np

    from linktopics.network.report import summary_lines

    degrees = np.bincount(network.links.reshape(-1), minlength=network.n_documents)
    bins = {"tokens per document": distribution(network.lengths), "links per document": distribution(degrees)}
    rows = [{"of": of, "from": a, "to": b, "documents": n} for of, found in bins.items() for a, b, n in found]
    dropped = "Nothing was dropped." if network.report.clean else str(network.report)
    if resolve_format(format) == "plain":
        for line in [*summary_lines(network)[1:], dropped]:
            name, _, value = line.strip().partition("  ")
            print("\t".join(map(one_line, (name, value.strip()) if value else (name,))))
        print()
    facts = {
        **_facts(network),
        **_quartiles("tokens_per_document", network.lengths),
        **_quartiles("links_per_document", degrees),
    }
    begins = {of: found[0][0] for of, found in bins.items()}
    most = {of: max(n for *_, n in found) for of, found in bins.items()}
    columns = [
        TableColumn("of", only="plain"),
        TableColumn("", only="table", cell=lambda row: row["of"] if row["from"] == begins[row["of"]] else ""),
        TableColumn("from", "{:,}".format, right=True),
        TableColumn("to", "{:,}".format, right=True),
        TableColumn("documents", "{:,}".format, right=True),
        TableColumn("", only="table", cell=lambda row: _bar(row["documents"] / most[row["of"]])),
    ]
    title = "\n".join([one_line(data), *summary_lines(network)[1:]])
    emit(CommandResult("info", columns, rows, "distributions", facts, title, [dropped]), format)


def _bar(share: float) -> str:
    return "█" * max(round(BAR_WIDTH * share), 1 if share else 0)


def _facts(network: DocumentNetwork) -> dict[str, Any]:
    report = network.report
    dropped = {name: getattr(report, f"n_{name}") for name in ("unknown_ends", "self_links", "duplicate_links")}
    return {
        "about": "data",
        **_sizes(network),
        "fingerprint": network.fingerprint(),
        "dropped_links": dropped,
        "empty_documents": report.n_empty_documents,
    }


def _sizes(network: DocumentNetwork | NetworkEntry) -> dict[str, int]:
    sizes = {name: getattr(network, f"n_{name}") for name in ("documents", "words", "tokens", "links")}
    return {**sizes, "directed": network.directed}


def _quartiles(name: str, values: NDArray[np.integer]) -> dict[str, Any]:
    import numpy as np

    percentiles = {"min": 0, "quartile_1": 25, "median": 50, "quartile_3": 75, "max": 100}
    return {name: {mark: float(np.percentile(values, at)) for mark, at in percentiles.items()}}


def distribution(values: NDArray[np.integer]) -> list[tuple[int, int, int]]:
    """Return (from, to, number of values) for 0, 1, 2-3, 4-7, 8-15, ...; only as far as values go.

    Examples
    --------
    >>> import numpy as np
    >>> distribution(np.array([0, 2, 3, 5]))
    [(0, 0, 1), (1, 1, 0), (2, 3, 2), (4, 7, 1)]
    """
    import numpy as np

    counts = np.bincount(np.frexp(values)[1], minlength=1).tolist()  # by the number of binary digits
    bins = [(2**digits // 2, 2**digits - 1, count) for digits, count in enumerate(counts)]
    return bins[next((digits for digits, count in enumerate(counts) if count), 0) :]


def _show_model(path: Path, format: str) -> None:
    from linktopics.storage.folder import ModelFolder
    from linktopics.storage.manifest import RENAMED_WITHIN

    manifest = ModelFolder(path).read_manifest()
    network, parameters = manifest.network, manifest.parameters
    earlier = {old: parameters[new] for old, new in RENAMED_WITHIN["parameters"].items() if new in parameters}
    done = [chain.iteration for chain in manifest.chains]
    facts = {
        "about": "model",
        "kind": manifest.kind,
        "saved": manifest.saved,
        "finished": manifest.is_finished,
        "sweeps": manifest.schedule.length,
        "sweeps_done": done,
        "chains": len(done),
        "topics": manifest.settings.n_topics,
        **_sizes(network),
        "features": manifest.features.columns,
        "fingerprint": network.fingerprint,
        "bytes": sum(entry.bytes for entry in manifest.files),
        "versions": manifest.versions,
        "parameters": {**parameters, **earlier},
    }
    rows = [{"what": name, "value": value} for name, value in facts.items() if name not in ("about", "parameters")]
    title = f"Model {one_line(str(path))}"
    notes = [] if facts["finished"] else ["The run is not finished; linktopics resume continues it."]
    columns = [TableColumn("what", lambda name: name.replace("_", " ")), TableColumn("value", _format_value)]
    emit(CommandResult("info", columns, rows, "", facts, title, notes), format)


def _format_value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return joined(f"{name} {one}" for name, one in value.items())
    if isinstance(value, list):
        return joined(map(_format_value, value)) or "none"
    return f"{value:,}" if isinstance(value, int) else str(value)
