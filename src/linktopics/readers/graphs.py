"""Documents as the nodes of a networkx graph."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from linktopics.errors import DataError
from linktopics.network.validation import list_of_names
from linktopics.readers import TextParts


def read_networkx(graph: Any, *, text: str, title: str | None, label: str | None, columns: Iterable[str]) -> TextParts:
    """Return ids, texts and edges of a graph; titles and labels that some nodes lack are None there."""
    if not (hasattr(graph, "nodes") and hasattr(graph, "is_directed")):
        raise DataError(f"graph is a {type(graph).__name__}; pass a networkx Graph or DiGraph.")
    nodes = dict(graph.nodes(data=True))
    for name, attributes in nodes.items():
        if text not in attributes:
            there = ", ".join(map(repr, attributes)) or "none"
            raise DataError(
                f"node {name!r} has no attribute {text!r} (its attributes: {there}); give every node its text, "
                "or name the attribute that holds it with text=."
            )
    return {
        "texts": [attributes[text] for attributes in nodes.values()],
        "links": [(source, target) for source, target, *_ in graph.edges],
        "ids": list(nodes),
        "titles": None if title is None else _attribute(nodes, title),
        "labels": None if label is None else _attribute(nodes, label),
        "columns": {name: _attribute(nodes, name) for name in list_of_names(columns, "columns")},
    }


def _attribute(nodes: dict[Any, dict[str, Any]], name: str) -> list[Any]:
    if not any(name in attributes for attributes in nodes.values()):
        raise DataError(f"no node has the attribute {name!r}; check the name.")
    return [attributes.get(name) for attributes in nodes.values()]
