"""The report of a network, on faults in its data, and its summary."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from linktopics.network.network import DocumentNetwork

_KINDS = {
    "unknown_ends": ("link", " with an unknown end", "add the missing documents or remove these links"),
    "self_links": ("self link", "", "remove links of a document to itself"),
    "duplicate_links": ("duplicate link", "", "give each link once"),
    "empty_documents": ("document", " without words", "remove documents without words"),
}
"""For each field of examples: the noun, a phrase that follows it, and the remedy."""


def numbered(number: int, noun: str) -> str:
    """Return a number with its noun: 1 link, 5,429 links."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


@dataclass(frozen=True)
class NetworkReport:
    """Faults in the data a network was made from: how many of each kind, and the first few examples.

    Attributes
    ----------
    n_links_given : int
        Links that were passed, before any was dropped.
    n_unknown_ends, n_self_links, n_duplicate_links : int
        Links dropped because an end is not a document, both ends are the same document, or the link is a duplicate.
    n_empty_documents : int
        Documents without words; they are kept.
    unknown_ends, self_links, duplicate_links, empty_documents : tuple
        Up to three examples of each.
    hint : str
        What may be the cause of the unknown ends, if there are any.

    Examples
    --------
    >>> report = NetworkReport(n_links_given=7, n_self_links=2, self_links=((3, 3), (5, 5)))
    >>> report.clean
    False
    >>> print(report)
    dropped 2 self links: (3, 3), (5, 5).
    """

    n_links_given: int = 0
    n_unknown_ends: int = 0
    n_self_links: int = 0
    n_duplicate_links: int = 0
    n_empty_documents: int = 0
    unknown_ends: tuple[tuple[Any, ...], ...] = ()
    self_links: tuple[tuple[Any, ...], ...] = ()
    duplicate_links: tuple[tuple[Any, ...], ...] = ()
    empty_documents: tuple[Any, ...] = ()
    hint: str = ""

    @property
    def n_dropped_links(self) -> int:
        """Number of links that were dropped."""
        return self.n_unknown_ends + self.n_self_links + self.n_duplicate_links

    @property
    def clean(self) -> bool:
        """Whether nothing was dropped and no document is empty."""
        return self.n_dropped_links == 0 and self.n_empty_documents == 0

    def findings(self, *, examples: bool = True) -> dict[str, str]:
        """Return what was found, by the name of the field that holds its examples."""
        found = {}
        for field, (noun, rest, _) in _KINDS.items():
            number, first = getattr(self, f"n_{field}"), getattr(self, field)
            if not number:
                continue
            found[field] = numbered(number, noun) + rest
            if examples:
                found[field] += ": " + ", ".join(map(repr, first)) + (" and more" if number > len(first) else "")
            if field == "unknown_ends" and self.hint:
                found[field] += f" ({self.hint})"
        return found

    def describe(self) -> list[str]:
        """Return one sentence for each kind of finding, with examples."""
        return [f"{_verb(field)} {finding}." for field, finding in self.findings().items()]

    def brief(self) -> str:
        """Return all findings in one sentence, without examples."""
        return "; ".join(f"{_verb(field)} {finding}" for field, finding in self.findings(examples=False).items())

    def faults(self) -> str:
        """Return what was found and how to correct it, for an error."""
        findings = self.findings()
        return f"{'; '.join(findings.values())}. To correct this, {'; '.join(_KINDS[field][2] for field in findings)}"

    def __str__(self) -> str:
        return " ".join(self.describe()) or "Nothing was dropped and no document is empty."


def _verb(field: str) -> str:
    return "kept" if field == "empty_documents" else "dropped"


def summary_lines(network: DocumentNetwork) -> list[str]:
    """Return the lines that `DocumentNetwork.summary` prints."""
    lengths, n = network.lengths, network.n_documents
    degrees = np.bincount(network.links.ravel(), minlength=n)
    possible = n * (n - 1) / (1 if network.directed else 2)
    rows = [
        ("documents", f"{n:,}"),
        ("words", f"{network.n_words:,}"),
        ("tokens", f"{network.n_tokens:,}"),
        ("tokens per document", f"median {np.median(lengths):,g}, max {lengths.max():,}"),
        ("links", f"{network.n_links:,} {'directed' if network.directed else 'undirected'}"),
        ("density", f"{network.n_links / possible:.2g}" if possible else "-"),
        ("degree", f"median {np.median(degrees):,g}, max {degrees.max():,}, {(degrees == 0).sum():,} isolated"),
    ]
    if network.labels is not None:
        classes = Counter(network.labels.tolist()).most_common()
        first = ", ".join(f"{name} {number:,}" for name, number in classes[:3])
        rows.append(("labels", f"{len(classes):,}: {first}{', ...' if len(classes) > 3 else ''}"))
    rows += [(_verb(field), finding) for field, finding in network.report.findings(examples=False).items()]
    width = max(len(name) for name, _ in rows)
    return [repr(network).partition("(")[0], *(f"  {name:<{width}}  {value}" for name, value in rows)]
