"""JSON lines and CSV files of links; what cannot be read is named, with its line."""

import json

import pytest

from linktopics.errors import DataError
from linktopics.network import DocumentNetwork
from support.files import TEXTS, write_files


def _jsonl(**more):
    rows = [{"id": name, "text": text, **more} for name, text in TEXTS.items()]
    return "\n".join(map(json.dumps, rows)) + "\n"


JSONL = {"documents.jsonl": _jsonl(), "links.csv": 'source,target,note\ntart,pie,"like, very"\n\ntart,jam,\n'}


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_jsonl_folder_and_files(tmp_path, suffix):
    write_files(tmp_path, {name + suffix: text for name, text in JSONL.items()})
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
    write_files(tmp_path, {"documents.jsonl": documents, "links.csv": "source,target\n1,x\n"})
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
        ({"documents.jsonl": _jsonl() * 2}, "documents.jsonl:4: the id 'pie' is already used in line 1"),
        ({"documents.jsonl": '{"id": 1, "text": "a"}\n{"id": "1", "text": "b"}'}, "ids 1 and '1' look the same"),
        ({"links.csv": ""}, r"links.csv:1: the header has no 'source' \(it has: nothing\)"),
        ({"links.csv": "source,to\n"}, r"links.csv:1: the header has no 'target' \(it has: 'source', 'to'\)"),
        ({"links.csv": "source,target\ntart,pie\ntart\n"}, "links.csv:3: there are 1 columns where the header has 2"),
        ({"links.csv": 'source,target\n"tart,pie\n'}, "links.csv:2: not CSV"),
        ({"links.csv": "source,target\ntart,pie\rtart,jam\r\n"}, "links.csv:2: there is a CR within the line; end"),
        ({"links.csv.gz": "source,target\n"}, "the folder holds both links.csv and links.csv.gz; keep one"),
    ],
)
def test_jsonl_errors(tmp_path, files, message):
    with pytest.raises(DataError, match=message):
        DocumentNetwork.from_jsonl(write_files(tmp_path, {**JSONL, **files}))


def test_jsonl_folder_without_documents(tmp_path):
    with pytest.raises(DataError, match=r"holds no documents.jsonl"):
        DocumentNetwork.from_jsonl(tmp_path)
