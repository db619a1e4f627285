"""Columns of documents (year, venue, authors): how they come into a network, stay with it, and come with new texts."""

import json

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest

from linktopics import DocumentNetwork
from linktopics.errors import DataError, NetworkWarning, UnseenWordsWarning

TEXTS = {"pie": "apple pie with cinnamon", "jam": "plum jam", "tart": "plum tart like apple pie"}
LINKS = [("tart", "pie"), ("tart", "jam")]
COLUMNS = {
    "year": [1990, 1994, 2001],
    "price": [1.5, None, 2.5],
    "shop": ["north", None, "south"],
    "cooks": [["ann", "bob"], [], ["bob"]],
}
FRAMES = pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])


def plain(columns):
    """Return columns as lists, with None for all that is missing."""
    return {
        name: [None if isinstance(value, float) and value != value else value for value in values.tolist()]
        for name, values in columns.items()
    }


def make(**others):
    return DocumentNetwork.from_texts(TEXTS, LINKS, **{"columns": COLUMNS, **others})


# --- into a network ---------------------------------------------------------------------------------------------------


def test_columns_of_texts_and_of_counts():
    network = make()
    assert plain(network.columns) == COLUMNS
    assert all(isinstance(values, np.ndarray) and values.shape == (3,) for values in network.columns.values())
    assert network.columns["year"].dtype.kind == "i"
    again = DocumentNetwork(network.counts, columns=network.columns)
    assert plain(again.columns) == COLUMNS
    assert DocumentNetwork(network.counts).columns == {}


@FRAMES
def test_columns_as_a_frame(frame):
    network = make(columns=frame({"year": [1990, 1994, 2001], "shop": ["north", "west", "south"]}))
    assert plain(network.columns) == {"year": [1990, 1994, 2001], "shop": ["north", "west", "south"]}


def test_columns_of_arrays_and_of_lists_of_equal_length():
    """Lists of equal length are a value each, not a matrix."""
    network = make(
        columns={"cooks": [["ann", "bob"], ["cy", "di"], ["bob", "cy"]], "place": np.arange(6).reshape(3, 2)}
    )
    assert network.columns["cooks"].shape == network.columns["place"].shape == (3,)
    assert list(network.columns["cooks"][1]) == ["cy", "di"]
    assert list(network.columns["place"][2]) == [4, 5]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"year": [1990, 1994]}, r"columns\['year'\] has 2 entries for 3 documents"),
        ({"shop": "north"}, r"columns\['shop'\] is a single string"),
        ({7: [1, 2, 3]}, "the name 7, which is not a string"),
        ([1990, 1994, 2001], "columns is a list; pass a dict"),
        ("year", "columns is a str; pass a dict"),
    ],
)
def test_columns_that_cannot_be_used(columns, message):
    with pytest.raises(DataError, match=message):
        make(columns=columns)


@FRAMES
def test_columns_from_frames(frame):
    documents = frame({"id": list(TEXTS), "text": list(TEXTS.values()), **COLUMNS})
    links = frame({"source": ["tart", "tart"], "target": ["pie", "jam"]})
    network = DocumentNetwork.from_frames(documents, links, columns=["cooks", "year", "price", "shop"])
    assert plain(network.columns) == COLUMNS
    assert list(network.columns) == ["cooks", "year", "price", "shop"]
    assert DocumentNetwork.from_frames(documents, links).columns == {}
    with pytest.raises(DataError, match="documents has no column 'month'"):
        DocumentNetwork.from_frames(documents, links, columns=["year", "month"])
    with pytest.raises(DataError, match="the single string 'year'; pass a list"):
        DocumentNetwork.from_frames(documents, links, columns="year")


def test_what_pandas_calls_missing_is_kept():
    documents = pd.DataFrame(
        {"id": list("abc"), "text": list(TEXTS.values()), "year": pd.array([1990, None, 2001], dtype="Int64")}
    )
    years = DocumentNetwork.from_frames(documents, columns=["year"]).columns["year"]
    assert years[0] == 1990
    assert pd.isna(years[1])


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.Graph])
def test_columns_from_networkx(kind):
    graph = kind(LINKS)
    for number, (name, text) in enumerate(TEXTS.items()):
        graph.add_node(name, text=text, year=COLUMNS["year"][number])
    graph.nodes["jam"]["shop"] = "north"
    network = DocumentNetwork.from_networkx(graph, columns=["year", "shop"])
    by_id = dict(zip(network.ids, zip(*plain(network.columns).values(), strict=True), strict=True))
    assert by_id == {"pie": (1990, None), "jam": (1994, "north"), "tart": (2001, None)}
    with pytest.raises(DataError, match="no node has the attribute 'month'"):
        DocumentNetwork.from_networkx(graph, columns=["month"])
    with pytest.raises(DataError, match="the single string 'year'"):
        DocumentNetwork.from_networkx(graph, columns="year")


def test_columns_from_jsonl(tmp_path):
    lines = [
        {"id": name, "text": text, "year": COLUMNS["year"][number], "cooks": COLUMNS["cooks"][number]}
        for number, (name, text) in enumerate(TEXTS.items())
    ]
    del lines[1]["year"]
    lines[2]["shop"] = "south"
    path = tmp_path / "documents.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    network = DocumentNetwork.from_jsonl(path, columns=["year", "cooks", "shop"])
    assert plain(network.columns) == {
        "year": [1990, None, 2001],
        "cooks": COLUMNS["cooks"],
        "shop": [None, None, "south"],
    }
    assert DocumentNetwork.from_jsonl(path).columns == {}
    with pytest.raises(DataError, match="no document has the field 'month'; there are: id, text, year, cooks, shop"):
        DocumentNetwork.from_jsonl(path, columns=["month"])
    with pytest.raises(DataError, match="the single string 'year'"):
        DocumentNetwork.from_jsonl(path, columns="year")


# --- within a network -------------------------------------------------------------------------------------------------


def test_subset_keeps_columns_in_its_order():
    network = make()
    part = network.subset([2, 0])
    assert plain(part.columns) == {name: [values[2], values[0]] for name, values in COLUMNS.items()}
    assert plain(network.subset([False, True, False]).columns) == {n: [values[1]] for n, values in COLUMNS.items()}
    assert plain(network.columns) == COLUMNS


def test_undirected_network_keeps_columns():
    assert plain(make().to_undirected().columns) == COLUMNS


# --- new documents ----------------------------------------------------------------------------------------------------


def test_new_documents():
    network = make()
    new = network.new_documents(["apple pie", "plum plum"], ids=["x", "y"], columns={"year": [2002, None]})
    assert isinstance(new, DocumentNetwork)
    np.testing.assert_array_equal(new.counts.toarray(), network.vectorize(["apple pie", "plum plum"]).toarray())
    np.testing.assert_array_equal(new.vocabulary, network.vocabulary)
    assert new.ids.tolist() == ["x", "y"]
    assert new.n_links == 0
    assert plain(new.columns) == {"year": [2002, None]}


def test_new_documents_by_id():
    new = make().new_documents({"x": "apple pie", "y": "plum plum"}, columns={"shop": ["west", "north"]})
    assert new.ids.tolist() == ["x", "y"]
    assert new.counts.sum(axis=1).tolist() == [2, 2]
    assert plain(new.columns) == {"shop": ["west", "north"]}


@FRAMES
def test_new_documents_of_a_frame(frame):
    """A column of texts, of ids and of years, as one has them at hand."""
    table = frame({"key": ["x", "y"], "text": ["apple pie", "plum plum"], "year": [2002, 2003]})
    new = make().new_documents(table["text"], ids=table["key"], columns={"year": table["year"]})
    assert new.ids.tolist() == ["x", "y"]
    assert new.counts.sum(axis=1).tolist() == [2, 2]
    assert plain(new.columns) == {"year": [2002, 2003]}
    assert plain(make().new_documents(table["text"], columns=table).columns)["year"] == [2002, 2003]


@pytest.mark.parametrize("ids", [["u", "v"], np.array(["u", "v"])], ids=["list", "array"])
def test_new_documents_have_one_id(ids):
    """As in `from_texts`, whose words these are."""
    with pytest.raises(DataError, match="texts is a mapping, so its keys are the ids; leave ids out"):
        make().new_documents({"x": "apple pie", "y": "plum plum"}, ids=ids)


def test_new_documents_warn_of_unseen_words():
    network = make()
    with pytest.warns(UnseenWordsWarning, match=r"3 of 5 words \(60%\) are not in the vocabulary.*'kiwi'") as record:
        new = network.new_documents(["apple kiwi", "kiwi melon plum"])
    assert [warning.filename for warning in record] == [__file__]
    assert new.counts.sum(axis=1).tolist() == [1, 1]


def test_new_documents_warn_of_documents_without_words():
    network = make()
    with (
        pytest.warns(NetworkWarning, match="1 document without words"),
        pytest.warns(UnseenWordsWarning, match=r"3 of 4 words \(75%\)"),
    ):
        assert network.new_documents(["apple kiwi", "kiwi melon"]).counts.sum(axis=1).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("texts", "others", "message"),
    [
        ("apple pie", {}, "single string"),
        ([], {}, "texts is empty"),
        (["apple", 3], {}, r"the text of document 1 \(position 1\) is 3"),
        (["apple", "plum"], {"columns": {"year": [1]}}, r"columns\['year'\] has 1 entries for 2 documents"),
        (["apple", "plum"], {"ids": ["x"]}, "ids has 1 entries for 2 documents"),
        (["apple", "plum"], {"ids": ["x", "x"]}, "ids holds 'x' twice"),
    ],
)
def test_new_documents_that_cannot_be_used(texts, others, message):
    with pytest.raises(DataError, match=message):
        make().new_documents(texts, **others)


def test_new_documents_need_a_vectorizer():
    network = make()
    with pytest.raises(DataError, match="has no vectorizer"):
        DocumentNetwork(network.counts, vocabulary=network.vocabulary).new_documents(["apple"])
