"""Graphs of networkx become networks."""

import networkx as nx
import pytest

from linktopics.errors import DataError
from linktopics.network import DocumentNetwork
from support.files import TEXTS


def _graph(kind=nx.DiGraph):
    graph = kind()
    for name, text in TEXTS.items():
        graph.add_node(name, text=text, kind=len(text), name=name.title())
    graph.add_edges_from([("tart", "pie"), ("tart", "jam")])
    return graph


@pytest.mark.parametrize(("kind", "directed"), [(nx.DiGraph, True), (nx.Graph, False), (nx.MultiDiGraph, True)])
def test_from_networkx(kind, directed):
    network = DocumentNetwork.from_networkx(_graph(kind), title="name", label="kind")
    assert network.directed is directed
    assert network.links.tolist() == ([[2, 0], [2, 1]] if directed else [[0, 2], [1, 2]])
    assert network.ids.tolist() == list(TEXTS)
    assert network.titles.tolist() == ["Pie", "Jam", "Tart"]
    assert network.labels.tolist() == [len(text) for text in TEXTS.values()]


def test_from_networkx_errors_and_gaps():
    graph = _graph()
    graph.add_node("new", text="plum", extra=1)
    assert DocumentNetwork.from_networkx(graph, label="kind").labels.tolist()[-1] is None
    with pytest.raises(DataError, match="no node has the attribute 'colour'"):
        DocumentNetwork.from_networkx(graph, label="colour")
    graph.add_node("bare", words="x")
    with pytest.raises(DataError, match=r"node 'bare' has no attribute 'text' \(its attributes: 'words'\)"):
        DocumentNetwork.from_networkx(graph)
    with pytest.raises(DataError, match="graph is a list"):
        DocumentNetwork.from_networkx([1])
