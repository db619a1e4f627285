"""Readers: texts, graphs, frames and files become networks; what cannot be read is named, with its line."""

import gzip
import json

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from linktopics.errors import DataError, NetworkWarning
from linktopics.network import DocumentNetwork
from linktopics.readers._files import read_lines

TEXTS = {"pie": "apple pie with cinnamon", "jam": "plum jam", "tart": "plum tart like apple pie"}


# ---------------------------------------------------------------- texts, graphs, frames


def test_from_texts_mapping_and_sequence_agree():
    by_mapping = DocumentNetwork.from_texts(TEXTS, [("tart", "pie"), ("tart", "jam")])
    by_ids = DocumentNetwork.from_texts(list(TEXTS.values()), [("tart", "pie"), ("tart", "jam")], ids=TEXTS)
    by_index = DocumentNetwork.from_texts(list(TEXTS.values()), [(2, 0), (2, 1)])
    assert by_mapping.fingerprint() == by_ids.fingerprint() == by_index.fingerprint()
    assert by_mapping.texts.tolist() == list(TEXTS.values())
    assert by_mapping.vocabulary.tolist() == ["apple", "cinnamon", "jam", "like", "pie", "plum", "tart"]


def test_default_vectorizer_leaves_out_stop_words_numbers_and_single_letters():
    network = DocumentNetwork.from_texts(["The x of 3 and 42 été B2B _private 3d Été"])
    assert network.vocabulary.tolist() == ["b2b", "été"]
    assert network.counts.toarray().tolist() == [[1, 2]]


def test_another_vectorizer():
    network = DocumentNetwork.from_texts(TEXTS, vectorizer=CountVectorizer(analyzer="char"), titles=list("PJT"))
    assert "a" in network.vocabulary.tolist()
    assert network.titles.tolist() == list("PJT")
    assert network.vectorize(["aab"]).sum() == 2


@pytest.mark.parametrize(
    ("texts", "more", "message"),
    [
        ("one text", {}, "texts is a single string"),
        ([], {}, "texts is empty"),
        (["fine", None], {}, r"the text of document 1 \(position 1\) is None, not a string"),
        ({"a": "fine", "b": 3}, {}, r"the text of document 'b' \(position 1\) is 3"),
        (["fine", 3], {"ids": ["a"]}, r"the text of document 1 \(position 1\)"),
        ({"a": "fine"}, {"ids": ["a"]}, "texts is a mapping"),
        (["fine"], {"ids": ["a", "b"]}, "ids has 2 entries for 1 documents"),
        (["the", "of"], {}, "no word is left of 2 texts: they are empty, or hold stop words"),
        (
            ["apple pie", "plum pie"],
            {"vectorizer": TfidfVectorizer()},
            "document 0 .*word 'apple'.*fractional.*not TF-IDF",
        ),
    ],
)
def test_texts_that_cannot_be_used(texts, more, message):
    with pytest.raises(DataError, match=message):
        DocumentNetwork.from_texts(texts, **more)


def test_vectorize_errors():
    with pytest.raises(DataError, match="has no vectorizer"):
        DocumentNetwork([[1, 2]]).vectorize(["a"])
    with pytest.raises(DataError, match="single string"):
        DocumentNetwork.from_texts(TEXTS).vectorize("plum")
    other = CountVectorizer().fit(["one two three"])
    with pytest.raises(DataError, match="the vectorizer gives 3 words, the network has 2"):
        DocumentNetwork([[1, 2]], vectorizer=other).vectorize(["one"])


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


# ---------------------------------------------------------------- files


def _write(folder, files):
    """Write name -> text (gzipped where the name says so) and give the folder."""
    for name, text in files.items():
        data = text.encode() if isinstance(text, str) else text
        (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return folder


def test_read_lines_plain_gzip_bom_and_line_ends(tmp_path):
    text = "\ufeffone\r\ntwo\u2028still two\n\nfour"
    _write(tmp_path, {"a.txt": text, "b.txt.gz": text})
    (tmp_path / "by_magic.txt").write_bytes((tmp_path / "b.txt.gz").read_bytes())
    for name in ("a.txt", "b.txt.gz", "by_magic.txt"):
        assert read_lines(tmp_path / name) == ["one", "two\u2028still two", "", "four"]


def test_read_lines_errors(tmp_path):
    with pytest.raises(DataError, match=r"nothing.txt: there is no such file"):
        read_lines(tmp_path / "nothing.txt")
    with pytest.raises(DataError, match="this is a folder, not a file"):
        read_lines(tmp_path)
    _write(tmp_path, {"latin.txt": "fine\ncaf\xe9\n".encode("latin-1")})
    with pytest.raises(DataError, match=r"latin.txt:2: byte 0xe9 is not UTF-8; save the file as UTF-8"):
        read_lines(tmp_path / "latin.txt")
    (tmp_path / "fake.gz").write_bytes(b"plain")
    with pytest.raises(DataError, match=r"fake.gz: the name ends in .gz but the content is not gzipped"):
        read_lines(tmp_path / "fake.gz")


def test_gzip_cut_short_or_damaged(tmp_path):
    rng = np.random.default_rng(0)
    whole = gzip.compress("\n".join(map(str, rng.integers(0, 10**9, 500_000))).encode())
    (tmp_path / "cut.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"cut.gz:\d{4,}: the gzip file is cut short.*download it again"):
        read_lines(tmp_path / "cut.gz")
    (tmp_path / "bad.gz").write_bytes(whole[:1000] + b"\xff" * 1000 + whole[2000:])
    with pytest.raises(DataError, match=r"bad.gz:\d+: the gzip file is damaged"):
        read_lines(tmp_path / "bad.gz")


# ---------------------------------------------------------------- LINQS

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
    network = DocumentNetwork.from_linqs(_write(tmp_path, files))
    assert network.ids.tolist() == ["p1", "p2"]
    assert network.labels.tolist() == ["red", "blue"]
    assert network.vocabulary.tolist() == ["w0", "w1", "w2"]
    assert network.counts.toarray().tolist() == [[1, 0, 1], [0, 1, 0]]
    assert network.links.tolist() == [[1, 0]]  # the second column cites the first


def test_linqs_file_parts_and_larger_counts(tmp_path):
    more = {"y.content.gz": "p3\t0\t12\t3\tred hot\n", "y.cites": "p1 p3\n"}
    _write(tmp_path, {**LINQS, **more})
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
        ({**LINQS, "x.content": LINQS["x.content"] * 2}, "x.content:3: the id 'p1' is that of .*x.content:1 already"),
        ({**LINQS, "x.cites": "p1\tp2\n\np1\n"}, "x.cites:3: there are 1 columns; a line is: cited citing"),
        ({**LINQS, "x.cites": "p1\tp2\tp3\n"}, "x.cites:1: there are 3 columns"),
        ({**LINQS, "x.content": " \t1\t0\tred\n"}, "x.content:1: the id, the words or the label are missing"),
        ({**LINQS, "x.content": "p1\t1\tred\n p1\t1\tred\n"}, "x.content:2: the id 'p1' is that of .*:1 already"),
        ({**LINQS, "x.content": "1 1 0 7\r2 1 1 7\n"}, "x.content:1: there is a CR within the line"),
        ({**LINQS, "x.cites": "p1 p2\np1\rp2\n"}, "x.cites:2: there is a CR within the line"),
        ({**LINQS, "x.content.gz": ""}, "the folder holds both x.content and x.content.gz; keep one"),
        ({**LINQS, "x.cites.gz": ""}, "holds both x.cites and x.cites.gz; keep one"),
    ],
)
def test_linqs_errors(tmp_path, files, message):
    with pytest.raises(DataError, match=message):
        DocumentNetwork.from_linqs(_write(tmp_path, files))


def test_linqs_blanks_around_ids_are_no_part_of_them(tmp_path):
    files = {"x.content": " p1\t1\t0\tred\np2 \t0\t1\tblue\n", "x.cites": " p1\tp2 \n \t \n"}
    network = DocumentNetwork.from_linqs(_write(tmp_path, files))
    assert network.ids.tolist() == ["p1", "p2"]
    assert network.links.tolist() == [[1, 0]]
    assert network.report.clean


def test_linqs_wrong_path(tmp_path):
    with pytest.raises(DataError, match="no such file or folder"):
        DocumentNetwork.from_linqs(tmp_path / "none")
    _write(tmp_path, LINQS)
    with pytest.raises(DataError, match=r"pass a .content file"):
        DocumentNetwork.from_linqs(tmp_path / "x.cites")


# ---------------------------------------------------------------- LDA-C

LDAC = {
    "documents.txt": "0:2 2:1\n\n1:3\n",
    "vocab.txt": "apple\nplum\npie\n",
    "links.txt": "0\t2\tkind\n2 1\n",
    "titles.txt": "A b\n\nC\n",
    "ids.txt": "a\tred\tmore\nb\tblue\tmore\nc\tred\tmore\n",
}


@pytest.mark.parametrize(
    "files",
    [
        LDAC,
        {name + ".gz": text for name, text in LDAC.items()},
        {**LDAC, "documents.txt": "2 0:2 2:1\n0\n1 1:3\n"},
        {**{name: text for name, text in LDAC.items() if name != "documents.txt"}, "x.dat": "2 0:2 2:1\n0\n1 1:3\n"},
        {**LDAC, "documents.txt": "0:1 0:1 2:1\n \n1:3"},
    ],
    ids=["plain", "gz", "with numbers of pairs", "dat", "repeated word"],
)
def test_ldac_folder(tmp_path, files):
    with pytest.warns(NetworkWarning, match="kept 1 document without words"):
        network = DocumentNetwork.from_ldac(_write(tmp_path, files))
    assert network.counts.toarray().tolist() == [[2, 0, 1], [0, 0, 0], [0, 3, 0]]
    assert network.vocabulary.tolist() == ["apple", "plum", "pie"]
    assert network.links.tolist() == [[0, 2], [2, 1]]
    assert network.ids.tolist() == ["a", "b", "c"]
    assert network.labels.tolist() == ["red", "blue", "red"]
    assert network.titles.tolist() == ["A b", "", "C"]
    assert network.report.empty_documents == ("b",)


def test_ldac_explicit_files(tmp_path):
    files = {"docs": "0:2 2:1\n1:3\n", "edges": "0 1\n", "words": "apple\nplum\npie\nunused\n", "names": "x\ny\n"}
    _write(tmp_path, files)
    bare = DocumentNetwork.from_ldac(tmp_path / "docs")
    assert (bare.n_words, bare.n_links, bare.vocabulary) == (3, 0, None)
    network = DocumentNetwork.from_ldac(
        tmp_path / "docs",
        tmp_path / "edges",
        vocabulary=tmp_path / "words",
        ids=tmp_path / "names",
        links_reversed=True,
    )
    assert network.n_words == 4
    assert network.links.tolist() == [[1, 0]]
    assert network.ids.tolist() == ["x", "y"]
    assert network.labels is None


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"documents.txt": "0:1\n1:x\n"}, "documents.txt:2: '1:x' is not word:count"),
        ({"documents.txt": "0:1\n1:-2\n"}, "documents.txt:2: '1:-2' is not word:count"),
        ({"documents.txt": "0:1\n1:2.5\n"}, "documents.txt:2: '1:2.5' is not word:count"),
        ({"documents.txt": "0:1 1:2:3\n"}, "documents.txt:1: '1:2:3' is not word:count"),
        ({"documents.txt": "0:1 5\n"}, "documents.txt:1: '5' is not word:count"),
        ({"documents.txt": "0:99999999999\n"}, "documents.txt:1: '0:99999999999' is not word:count"),
        ({"documents.txt": "0:1\n3 0:1 1:1\n"}, "documents.txt:2: the line begins with '3' and has 2 word:count pairs"),
        ({"documents.txt": "0:1\n3:1\n"}, "documents.txt:2: there is no word 3 in a vocabulary of 3"),
        ({"documents.txt": "\n\n"}, "there are no words"),
        ({"vocab.txt": "a\n\nb\n"}, "vocab.txt:2: the line is blank"),
        ({"vocab.txt": "a\nb\na\n"}, "vocab.txt:3: the word 'a' is that of line 1 already; give each word once"),
        ({"links.txt": "0 2\n0\n"}, "links.txt:2: '0' is not a link; a line is: source target"),
        ({"links.txt": "0 x\n"}, "links.txt:1: '0 x' is not a link"),
        ({"links.txt": f"0 {2**70}\n"}, "links.txt:1: '0 [0-9]+' is not a link"),
        ({"links.txt": "0 1\r1 2\r\n2 0\r\n"}, "links.txt:1: there is a CR within the line; let lines end in LF"),
        ({"links.txt": "0 1_0\n"}, "links.txt:1: '0 1_0' is not a link"),
        ({"links.txt": "+1 0\n"}, r"links.txt:1: '\+1 0' is not a link"),
        ({"links.txt": "-1 0\n"}, "links.txt:1: '-1 0' is not a link"),
        ({"links.txt": "0 \u0662\n"}, "links.txt:1: '0 \u0662' is not a link"),
        ({"links.txt": "0 1\x0c1 2\n"}, "links.txt:1: .* is not a link"),
        ({"vocab.txt": "apple\rplum\npie\nfig\n"}, "vocab.txt:1: there is a CR within the line"),
        ({"titles.txt": "A\nB\nC\rD\n"}, "titles.txt:3: there is a CR within the line"),
        ({"ids.txt": "a\nb\nc\rd\n"}, "ids.txt:3: there is a CR within the line"),
        ({"ids.txt": "a\tred\n \tred\nc\tred\n"}, "ids.txt:2: the id is missing"),
        ({"cites.txt": "0 1\n"}, "the folder holds both links.txt and cites.txt; keep one"),
        ({"vocabulary.txt": "a\n"}, "holds both vocab.txt and vocabulary.txt; keep one"),
        ({"documents.txt.gz": "0:1\n"}, "holds both documents.txt and documents.txt.gz; keep one"),
        ({"x.dat": "0:1\n"}, "holds both documents.txt and x.dat; keep one"),
        ({"titles.txt": "A\n"}, "titles.txt: there are 1 lines for the 3 documents of .*; give one for each"),
        ({"ids.txt": "a\n\nc\n"}, "ids.txt:2: the id is missing"),
        ({"ids.txt": "a\tred\nb\nc\tred\n"}, "ids.txt:2: there are 1 columns"),
    ],
)
def test_ldac_errors(tmp_path, files, message):
    with pytest.raises(DataError, match=message):
        DocumentNetwork.from_ldac(_write(tmp_path, {**LDAC, **files}))


def test_ldac_folder_without_documents(tmp_path):
    with pytest.raises(DataError, match=r"holds no documents.txt and no .dat file"):
        DocumentNetwork.from_ldac(tmp_path)


def test_ldac_dat_files(tmp_path):
    _write(tmp_path, {"x.dat": "0:1\n", "._x.dat": b"\x00\x05"})
    assert DocumentNetwork.from_ldac(tmp_path).n_documents == 1
    _write(tmp_path, {"y.dat": "0:1\n"})
    with pytest.raises(DataError, match=r"holds both x.dat and y.dat; keep one"):
        DocumentNetwork.from_ldac(tmp_path)


def test_ldac_files_that_are_given_are_not_looked_for(tmp_path):
    _write(tmp_path, {"documents.txt": "0:1\n1:1\n", "links.txt": "0 1\n", "cites.txt": "1 0\n"})
    assert DocumentNetwork.from_ldac(tmp_path, tmp_path / "cites.txt").links.tolist() == [[1, 0]]


def test_ldac_unknown_ends_are_told_as_in_the_file(tmp_path):
    _write(tmp_path, {**LDAC, "documents.txt": "0:1\n1:1\n2:1\n", "links.txt": "0 1\n0 3\n"})
    with pytest.warns(NetworkWarning, match=r"1 link with an unknown end \(documents are numbered from 0 to 2\)"):
        network = DocumentNetwork.from_ldac(tmp_path)
    assert network.report.unknown_ends == ((0, 3),)


# ---------------------------------------------------------------- JSON lines and CSV


def _jsonl(**more):
    rows = [{"id": name, "text": text, **more} for name, text in TEXTS.items()]
    return "\n".join(map(json.dumps, rows)) + "\n"


JSONL = {"documents.jsonl": _jsonl(), "links.csv": 'source,target,note\ntart,pie,"like, very"\n\ntart,jam,\n'}


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_jsonl_folder_and_files(tmp_path, suffix):
    _write(tmp_path, {name + suffix: text for name, text in JSONL.items()})
    network = DocumentNetwork.from_jsonl(tmp_path)
    assert network.ids.tolist() == list(TEXTS)
    assert network.texts.tolist() == list(TEXTS.values())
    assert network.links.tolist() == [[2, 0], [2, 1]]
    assert network.titles is None
    assert network.labels is None
    alone = DocumentNetwork.from_jsonl(tmp_path / f"documents.jsonl{suffix}")
    assert alone.n_links == 0
    both = DocumentNetwork.from_jsonl(tmp_path / f"documents.jsonl{suffix}", tmp_path / f"links.csv{suffix}")
    assert both.fingerprint() == network.fingerprint()


def test_jsonl_integer_ids_titles_and_labels(tmp_path):
    documents = '{"id": 1, "text": "plum", "title": "A", "label": 0}\n{"id": "x", "text": "pie", "label": 1}\n'
    _write(tmp_path, {"documents.jsonl": documents, "links.csv": "source,target\n1,x\n"})
    network = DocumentNetwork.from_jsonl(tmp_path, directed=False)
    assert network.ids.tolist() == [1, "x"]
    assert network.links.tolist() == [[0, 1]]
    assert network.titles.tolist() == ["A", None]
    assert network.labels.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"documents.jsonl": '{"id": 1, "text": "a"}\n{"id": 2,\n'}, "documents.jsonl:2: not JSON"),
        ({"documents.jsonl": "[1, 2]\n"}, r"documents.jsonl:1: '\[1, 2\]' is not a JSON object"),
        ({"documents.jsonl": '{"text": "a"}\n'}, r"documents.jsonl:1: there is no 'id' \(there is: text\)"),
        ({"documents.jsonl": '{"id": 1, "body": "a"}\n'}, r"there is no 'text' \(there is: id, body\)"),
        (
            {"documents.jsonl": '{"id": null, "text": "a"}\n'},
            "documents.jsonl:1: the id is None; give it as a string or",
        ),
        ({"documents.jsonl": '{"id": true, "text": "a"}\n'}, "documents.jsonl:1: the id is True"),
        ({"documents.jsonl": '{"id": 1, "text": 5}\n'}, "documents.jsonl:1: the text is 5; give it as a string"),
        ({"documents.jsonl": "\n"}, "there are no documents"),
        ({"documents.jsonl": _jsonl() * 2}, "documents.jsonl:4: the id 'pie' is that of line 1 already"),
        ({"documents.jsonl": '{"id": 1, "text": "a"}\n{"id": "1", "text": "b"}'}, "ids 1 and '1' look the same"),
        ({"links.csv": ""}, r"links.csv:1: the header has no 'source' \(it has: nothing\)"),
        ({"links.csv": "source,to\n"}, r"links.csv:1: the header has no 'target' \(it has: 'source', 'to'\)"),
        ({"links.csv": "source,target\ntart,pie\ntart\n"}, "links.csv:3: there are 1 columns where the header has 2"),
        ({"links.csv": 'source,target\n"tart,pie\n'}, "links.csv:2: not CSV"),
        ({"links.csv": "source,target\ntart,pie\rtart,jam\r\n"}, "links.csv:2: there is a CR within the line; let"),
        ({"links.csv.gz": "source,target\n"}, "the folder holds both links.csv and links.csv.gz; keep one"),
    ],
)
def test_jsonl_errors(tmp_path, files, message):
    with pytest.raises(DataError, match=message):
        DocumentNetwork.from_jsonl(_write(tmp_path, {**JSONL, **files}))


def test_jsonl_folder_without_documents(tmp_path):
    with pytest.raises(DataError, match=r"holds no documents.jsonl"):
        DocumentNetwork.from_jsonl(tmp_path)


# ---------------------------------------------------------------- the data sets, as their own description has them


@pytest.mark.filterwarnings("ignore::linktopics.errors.NetworkWarning")
@pytest.mark.parametrize(
    ("name", "documents", "words", "tokens", "directed", "undirected", "classes", "dropped"),
    [
        ("cora", 2708, 1433, 49216, 5429, 5278, 7, (0, 0)),
        ("citeseer", 3312, 3703, 105165, 4591, 4536, 6, (17, 124)),
        ("webkb", 877, 1703, 79365, 1516, 1388, 5, (0, 92)),
        ("cora-r", 2410, 2961, 136394, 4356, 4231, None, (0, 0)),
        ("debian", 63436, 11395, 2040596, 299186, 294681, 58, (0, 0)),
    ],
)
def test_data_sets(data_dir, name, documents, words, tokens, directed, undirected, classes, dropped):
    read = DocumentNetwork.from_ldac if name in ("cora-r", "debian") else DocumentNetwork.from_linqs
    network = read(data_dir / name)
    assert (network.n_documents, network.n_words, network.n_tokens) == (documents, words, tokens)
    assert network.n_links == directed
    assert network.to_undirected().n_links == undirected
    assert (None if network.labels is None else len(set(network.labels))) == classes
    assert (network.report.n_unknown_ends, network.report.n_self_links) == dropped
    assert network.report.n_duplicate_links == 0


@pytest.mark.long
def test_data_sets_strict(data_dir):
    with pytest.raises(DataError, match=r"17 links with an unknown end: .*; 124 self links: \('100157', '100157'\)"):
        DocumentNetwork.from_linqs(data_dir / "citeseer", strict=True)
    with pytest.raises(DataError, match=r"1 document without words: 'freeglut3-dev'"):
        DocumentNetwork.from_ldac(data_dir / "debian", strict=True)
    assert DocumentNetwork.from_linqs(data_dir / "cora", strict=True).report.clean


def test_cora_r_titles_and_reversed_links(data_dir):
    network = DocumentNetwork.from_ldac(data_dir / "cora-r", links_reversed=True)
    assert network.titles[0] == "The megaprior heuristic for discovering protein sequence patterns."
    plain = DocumentNetwork.from_ldac(data_dir / "cora-r")
    assert {tuple(pair) for pair in plain.links.tolist()} == {tuple(pair[::-1]) for pair in network.links.tolist()}
