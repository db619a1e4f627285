"""Folders of LINQS files; what cannot be read is named, with its line."""

import pytest

from linktopics.errors import DataError
from linktopics.network import DocumentNetwork
from support.files import write_files

LINQS = {"x.content": "p1\t1\t0\t1\tred\np2\t0\t1\t0\tblue\n", "x.cites": "p1\tp2\n"}


@pytest.mark.parametrize(
    "files",
    [
        LINQS,
        {name + ".gz": text for name, text in LINQS.items()},
        {name: text.replace("\t", " ") for name, text in LINQS.items()},
        {name: text.replace("\n", "\r\n") + "\n\n" for name, text in LINQS.items()},
        {**LINQS, "._x.content": b"\xff\x00", "README": "not data"},
    ],
    ids=["tab", "gz", "space", "blank lines", "other files"],
)
def test_linqs_small(tmp_path, files):
    network = DocumentNetwork.from_linqs(write_files(tmp_path, files))
    assert network.ids.tolist() == ["p1", "p2"]
    assert network.labels.tolist() == ["red", "blue"]
    assert network.vocabulary.tolist() == ["w0", "w1", "w2"]
    assert network.counts.toarray().tolist() == [[1, 0, 1], [0, 1, 0]]
    assert network.links.tolist() == [[1, 0]]  # the second column cites the first


def test_linqs_file_parts_and_larger_counts(tmp_path):
    more = {"y.content.gz": "p3\t0\t12\t3\tred hot\n", "y.cites": "p1 p3\n"}
    write_files(tmp_path, {**LINQS, **more})
    assert DocumentNetwork.from_linqs(tmp_path / "x.content").n_documents == 2
    network = DocumentNetwork.from_linqs(tmp_path)
    assert network.counts.toarray().tolist() == [[1, 0, 1], [0, 1, 0], [0, 12, 3]]
    assert network.labels.tolist()[2] == "red hot"
    assert network.links.tolist() == [[1, 0], [2, 0]]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "the folder holds no .content"),
        ({"x.content": LINQS["x.content"]}, "x.content: its links are missing; put x.cites or x.cites.gz beside it"),
        ({"x.content": "\n", "x.cites": ""}, "there are no documents"),
        ({**LINQS, "x.content": "p1\t1\t0\tred\np2\t1\tblue\n"}, "x.content:2: there are 1 word columns where.*has 2"),
        ({**LINQS, "x.content": "p1\t1\t0\tred\np2\t1\t-1\tblue\n"}, "x.content:2: '-1' is not a word count"),
        ({**LINQS, "x.content": "p1\t1\t0.5\tred\n"}, "x.content:1: '0.5' is not a word count"),
        ({**LINQS, "x.content": "p1\t1\tx\tred\n"}, "x.content:1: 'x' is not a word count"),
        ({**LINQS, "x.content": "p1\t1\t\tred\n"}, "x.content:1: '' is not a word count"),
        ({**LINQS, "x.content": "p1\t1\t0\t\n"}, "x.content:1: the id, the words or the label are missing"),
        ({**LINQS, "x.content": "p1\tred\n"}, "x.content:1: the id, the words or the label are missing"),
        ({**LINQS, "x.content": "p1\n"}, "x.content:1: the id, the words or the label are missing"),
        ({**LINQS, "x.content": LINQS["x.content"] * 2}, "x.content:3: the id 'p1' is already used in .*x.content:1"),
        ({**LINQS, "x.cites": "p1\tp2\n\np1\n"}, "x.cites:3: there are 1 columns; a line is: cited citing"),
        ({**LINQS, "x.cites": "p1\tp2\tp3\n"}, "x.cites:1: there are 3 columns"),
        ({**LINQS, "x.content": " \t1\t0\tred\n"}, "x.content:1: the id, the words or the label are missing"),
        ({**LINQS, "x.content": "p1\t1\tred\n p1\t1\tred\n"}, "x.content:2: the id 'p1' is already used in .*:1"),
        ({**LINQS, "x.content": "1 1 0 7\r2 1 1 7\n"}, "x.content:1: there is a CR within the line"),
        ({**LINQS, "x.cites": "p1 p2\np1\rp2\n"}, "x.cites:2: there is a CR within the line"),
        ({**LINQS, "x.content.gz": ""}, "the folder holds both x.content and x.content.gz; keep one"),
        ({**LINQS, "x.cites.gz": ""}, "holds both x.cites and x.cites.gz; keep one"),
    ],
)
def test_linqs_errors(tmp_path, files, message):
    with pytest.raises(DataError, match=message):
        DocumentNetwork.from_linqs(write_files(tmp_path, files))


def test_linqs_blanks_around_ids_are_no_part_of_them(tmp_path):
    files = {"x.content": " p1\t1\t0\tred\np2 \t0\t1\tblue\n", "x.cites": " p1\tp2 \n \t \n"}
    network = DocumentNetwork.from_linqs(write_files(tmp_path, files))
    assert network.ids.tolist() == ["p1", "p2"]
    assert network.links.tolist() == [[1, 0]]
    assert network.report.clean


def test_linqs_wrong_path(tmp_path):
    with pytest.raises(DataError, match="no such file or folder"):
        DocumentNetwork.from_linqs(tmp_path / "none")
    write_files(tmp_path, LINQS)
    with pytest.raises(DataError, match=r"pass a .content file"):
        DocumentNetwork.from_linqs(tmp_path / "x.cites")
