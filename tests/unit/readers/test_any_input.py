"""Any bytes, any files, any arrays: every reader gives a sound network, or an error of ours; nothing else, ever."""

import contextlib
import csv
import gzip
import io
import json
import tempfile
import warnings
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from linktopics import DocumentNetwork
from linktopics.cli.fit import read_config
from linktopics.datasets import open_network
from linktopics.errors import LinktopicsError
from support.properties import check_network

FORMS = {
    "jsonl": ["documents.jsonl", "links.csv"],
    "linqs": ["x.content", "x.cites"],
    "ldac": ["documents.txt", "links.txt", "vocab.txt", "ids.txt", "titles.txt"],
    "notes": ["a.md", "b.md", "c/d.txt"],
}
PIECES = {
    "jsonl": [
        '{"id": "a", "text": "cats purr"}',
        '{"id": 7, "text": "", "label": null}',
        '"',
        "{",
        "a,b",
        "source,target",
        "7,a",
    ],
    "linqs": ["p1\t1\t0\tx", "p2\t0\t1\ty", "p1\tp2", "p1 p2", "\t", "2", "p3"],
    "ldac": ["0:1 1:2", "2 0:1 3:1", "1:999999999", "0 1", "1 0", "word", ":", "-1", "5"],
    "notes": [
        "[[b]]",
        "# cats",
        "[x](b.md)",
        "---",
        "title: a",
        "tags: [x, y]",
        "![[c/d",
        "](",
        "- ",
        "  ",
        "`",
        "<b>",
    ],
}


def tried(make, *arguments, **options):
    """Return a network that was made, checked; None if it was refused in one sentence."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        try:
            network = make(*arguments, **options)
        except LinktopicsError:
            return None
    check_network(network)
    return network


def lines_of(form):
    """Return contents that are nearly in this form: pieces of it in any order, with anything between."""
    piece = st.sampled_from([*PIECES[form], "\n", "\n", "\r\n", "\r", " ", "\0", "\ufeff"]) | st.text(max_size=5)
    return st.lists(piece, max_size=20).map(lambda parts: "".join(parts).encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("form", FORMS)
@given(data=st.data())
def test_any_files(form, data):
    content = st.binary(max_size=60) | lines_of(form) | lines_of(form).map(gzip.compress)
    with tempfile.TemporaryDirectory() as folder:
        for name in FORMS[form]:
            path = Path(folder, name)
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data.draw(content, label=name))
        tried(open_network, folder)


TEXT = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(["cats purr", "stars", "the", "cats cats"])
ID = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6).filter(str.strip) | st.integers(-(2**70), 2**70)


@given(texts=st.dictionaries(ID, TEXT, min_size=1, max_size=6), data=st.data())
def test_what_is_written_as_jsonl_and_csv_is_read_as_it_was(texts, data):
    ids = list(texts)
    pairs = data.draw(st.lists(st.tuples(st.sampled_from(ids), st.sampled_from(ids)), max_size=8))
    if len({str(id) for id in ids}) < len(ids) or not any("cats" in text for text in texts.values()):
        return
    stream = io.StringIO(newline="")
    csv.writer(stream).writerows([("source", "target"), *pairs])
    with tempfile.TemporaryDirectory() as folder:
        documents = "".join(json.dumps({"id": id, "text": text}) + "\n" for id, text in texts.items())
        Path(folder, "documents.jsonl").write_text(documents, encoding="utf-8")
        Path(folder, "links.csv").write_bytes(stream.getvalue().encode())
        network = tried(open_network, folder)
    assert network is not None
    assert network.ids.tolist() == ids
    assert [type(id) for id in network.ids.tolist()] == [type(id) for id in ids]
    assert network.texts.tolist() == list(texts.values())
    if not any("\r" in str(id) for id in ids):  # ends of lines are all alike in a file
        wanted = {(one, other) for one, other in pairs if one != other}
        assert {tuple(pair) for pair in map(list, pairs_of(network))} == wanted


def pairs_of(network):
    ids = network.ids.tolist()
    return [(ids[source], ids[target]) for source, target in network.links.tolist()]


@given(
    st.binary(max_size=60)
    | st.lists(
        st.sampled_from(["topics", "loss", " = ", "3", "'x'", "[", "]", "\n", "nan", "1e400", "data"]), max_size=12
    ).map(lambda parts: "".join(parts).encode())
)
def test_any_settings(content):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "settings.toml")
        path.write_bytes(content)
        with contextlib.suppress(LinktopicsError):
            assert isinstance(read_config(path), dict)


NUMBER = (
    st.integers(-3, 5) | st.integers(-(2**70), 2**70) | st.floats() | st.none() | st.booleans() | st.text(max_size=2)
)
SPARSE = [np.dtype(name) for name in ("i1", "u1", "i4", "i8", "u8", "f4", "f8", "?", "c8")]
DTYPE = st.sampled_from(["i1", "u1", "i4", "i8", "u8", "f2", "f4", "f8", "?", "c8", "U2", "S2", "O", "M8[D]"])


@given(values=st.lists(st.lists(NUMBER, max_size=3), max_size=3), data=st.data())
def test_any_lists_as_counts(values, data):
    ids = data.draw(st.none() | st.lists(st.text(max_size=2) | st.integers() | st.floats() | st.none(), max_size=3))
    links = data.draw(st.none() | st.lists(st.tuples(NUMBER, NUMBER), max_size=3) | st.lists(NUMBER, max_size=3))
    tried(DocumentNetwork, values, links, ids=ids)


@given(data=st.data())
def test_any_arrays_as_counts_and_links(data):
    shape = data.draw(st.lists(st.integers(0, 3), min_size=0, max_size=3).map(tuple))
    bytes_of = st.binary(min_size=400, max_size=400)

    def array(shape):
        kind = np.dtype(data.draw(DTYPE))
        size = int(np.prod(shape))
        if kind.kind == "O":
            return np.array(data.draw(st.lists(NUMBER, min_size=size, max_size=size)), dtype=object).reshape(shape)
        if data.draw(st.booleans()) and kind.kind in "iufb":
            whole = data.draw(st.lists(st.integers(0, 3), min_size=size, max_size=size))
            return np.array(whole).astype(kind).reshape(shape)
        return np.frombuffer(data.draw(bytes_of)[: size * kind.itemsize], dtype=kind).reshape(shape)

    counts = array(shape)
    links = data.draw(st.sampled_from(["none", "pairs", "matrix", "sparse"]))
    n = shape[0] if shape else 0
    given_links = None if links == "none" else array((2, 2)) if links == "pairs" else array((n, n))
    if links == "sparse" and given_links.dtype in SPARSE:
        given_links = sparse.csr_array(given_links)
    if counts.ndim == 2 and counts.dtype in SPARSE and data.draw(st.booleans()):
        counts = sparse.coo_array(counts)
    tried(DocumentNetwork, counts, given_links, directed=data.draw(st.booleans()))


VALUE = (
    st.text(max_size=3)
    | st.integers(-3, 3)
    | st.floats()
    | st.none()
    | st.booleans()
    | st.lists(st.integers(), max_size=1)
)


@given(ids=st.lists(VALUE, max_size=4), texts=st.lists(VALUE | st.just("cats purr"), max_size=4), data=st.data())
def test_any_frames(ids, texts, data):
    rows = min(len(ids), len(texts))
    columns = {
        "id": ids[:rows],
        "text": texts[:rows],
        "label": data.draw(st.lists(VALUE, min_size=rows, max_size=rows)),
    }
    ends = data.draw(st.lists(st.tuples(VALUE, VALUE), max_size=3))
    links = {"source": [one for one, _ in ends], "target": [other for _, other in ends]}
    tried(DocumentNetwork.from_frames, pd.DataFrame(columns), pd.DataFrame(links), label="label")
    documents, pairs = (pl.DataFrame(one, strict=False) if one else None for one in (columns, links))
    tried(DocumentNetwork.from_frames, documents, pairs, label="label")


NODE = st.text(max_size=3) | st.integers(-3, 3) | st.tuples(st.integers(0, 1)) | st.floats(allow_nan=True)


@given(edges=st.lists(st.tuples(NODE, NODE), max_size=5), data=st.data())
def test_any_graphs(edges, data):
    kind = data.draw(st.sampled_from([nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]))
    graph = kind(edges)
    for node in list(graph):
        if data.draw(st.integers(0, 9)):
            graph.nodes[node]["text"] = data.draw(st.just("cats purr") | VALUE)
    tried(DocumentNetwork.from_networkx, graph)
