"""Frames of pandas and polars become networks."""

import pandas as pd
import polars as pl
import pytest

from linktopics.errors import DataError
from linktopics.network import DocumentNetwork
from support.files import TEXTS

FRAMES = pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])


@FRAMES
def test_from_frames(frame):
    documents = frame({"key": [7, 8, 9], "body": list(TEXTS.values()), "name": list("PJT"), "class": ["a", "b", None]})
    links = frame({"from": [9, 9], "to": [7, 8], "weight": [0.1, 0.2]})
    network = DocumentNetwork.from_frames(
        documents, links, id="key", text="body", title="name", label="class", source="from", target="to"
    )
    assert network.links.tolist() == [[2, 0], [2, 1]]
    assert network.ids.tolist() == [7, 8, 9]
    assert network.titles.tolist() == list("PJT")
    assert network.labels.tolist()[:2] == ["a", "b"]


def test_from_frames_does_not_depend_on_the_pandas_index():
    documents = pd.DataFrame({"id": list("ab"), "text": ["plum", "pie"]}, index=[5, 5])
    links = pd.DataFrame({"source": ["a"], "target": ["b"]}, index=["x"])
    assert DocumentNetwork.from_frames(documents, links).links.tolist() == [[0, 1]]


@FRAMES
@pytest.mark.parametrize(
    ("documents", "links", "message"),
    [
        ({"key": ["a"], "text": ["x"]}, None, "documents has no column 'id'; its columns are 'key', 'text'"),
        ({"id": ["a"], "body": ["x"]}, None, "documents has no column 'text'"),
        ({"id": ["a", None], "text": ["x", "y"]}, None, r"documents: row 1 \(from 0\) has no 'id'"),
        ({"id": ["a", "b"], "text": ["x", None]}, None, r"documents: row 1 \(from 0\) has no 'text'"),
        ({"id": ["a"], "text": ["xy"]}, {"source": ["a"], "to": ["a"]}, "links has no column 'target'"),
        ({"id": ["a"], "text": ["xy"]}, {"source": ["a"], "target": [None]}, "links: row 0 .* has no 'target'"),
        ({"id": ["a", "a"], "text": ["xy", "yz"]}, None, "ids holds 'a' twice, at positions 0 and 1"),
    ],
)
def test_frames_that_cannot_be_used(frame, documents, links, message):
    with pytest.raises(DataError, match=message):
        DocumentNetwork.from_frames(frame(documents), None if links is None else frame(links))


def test_from_frames_wants_frames():
    with pytest.raises(DataError, match="links is a list; pass a pandas or polars DataFrame"):
        DocumentNetwork.from_frames(pd.DataFrame({"id": [1], "text": ["plum"]}), [(1, 1)])
