"""LDA-C files; what cannot be read is named, with its line."""

import pytest

from linktopics.errors import DataError, NetworkWarning
from linktopics.network import DocumentNetwork
from support.files import write_files

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
        network = DocumentNetwork.from_ldac(write_files(tmp_path, files))
    assert network.counts.toarray().tolist() == [[2, 0, 1], [0, 0, 0], [0, 3, 0]]
    assert network.vocabulary.tolist() == ["apple", "plum", "pie"]
    assert network.links.tolist() == [[0, 2], [2, 1]]
    assert network.ids.tolist() == ["a", "b", "c"]
    assert network.labels.tolist() == ["red", "blue", "red"]
    assert network.titles.tolist() == ["A b", "", "C"]
    assert network.report.empty_documents == ("b",)


def test_ldac_explicit_files(tmp_path):
    files = {"docs": "0:2 2:1\n1:3\n", "edges": "0 1\n", "words": "apple\nplum\npie\nunused\n", "names": "x\ny\n"}
    write_files(tmp_path, files)
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
        ({"vocab.txt": "a\nb\na\n"}, "vocab.txt:3: the word 'a' is already used in line 1; give each word once"),
        ({"links.txt": "0 2\n0\n"}, "links.txt:2: '0' is not a link; a line is: source target"),
        ({"links.txt": "0 x\n"}, "links.txt:1: '0 x' is not a link"),
        ({"links.txt": f"0 {2**70}\n"}, "links.txt:1: '0 [0-9]+' is not a link"),
        ({"links.txt": "0 1\r1 2\r\n2 0\r\n"}, "links.txt:1: there is a CR within the line; end all lines in LF"),
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
        DocumentNetwork.from_ldac(write_files(tmp_path, {**LDAC, **files}))


def test_ldac_folder_without_documents(tmp_path):
    with pytest.raises(DataError, match=r"holds no documents.txt and no .dat file"):
        DocumentNetwork.from_ldac(tmp_path)


def test_ldac_dat_files(tmp_path):
    write_files(tmp_path, {"x.dat": "0:1\n", "._x.dat": b"\x00\x05"})
    assert DocumentNetwork.from_ldac(tmp_path).n_documents == 1
    write_files(tmp_path, {"y.dat": "0:1\n"})
    with pytest.raises(DataError, match=r"holds both x.dat and y.dat; keep one"):
        DocumentNetwork.from_ldac(tmp_path)


def test_ldac_files_that_are_given_are_not_looked_for(tmp_path):
    write_files(tmp_path, {"documents.txt": "0:1\n1:1\n", "links.txt": "0 1\n", "cites.txt": "1 0\n"})
    assert DocumentNetwork.from_ldac(tmp_path, tmp_path / "cites.txt").links.tolist() == [[1, 0]]


def test_ldac_unknown_ends_are_told_as_in_the_file(tmp_path):
    write_files(tmp_path, {**LDAC, "documents.txt": "0:1\n1:1\n2:1\n", "links.txt": "0 1\n0 3\n"})
    with pytest.warns(NetworkWarning, match=r"1 link with an unknown end \(documents are numbered from 0 to 2\)"):
        network = DocumentNetwork.from_ldac(tmp_path)
    assert network.report.unknown_ends == ((0, 3),)
