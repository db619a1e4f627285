"""One door to built-in networks and to files."""

import os
from pathlib import Path

import pytest

from linktopics import DataError, NetworkWarning
from linktopics.datasets import load_stdlib, open_network
from linktopics.readers import open as opening
from linktopics.readers import register_reader
from linktopics.registry import READERS
from support.files import write_files

LINQS = {"toy.content": "p1\t1\t0\tfruit\np2\t1\t1\tfruit\n", "toy.cites": "p1\tp2\n"}
JSONL = {
    "documents.jsonl": '{"id": "a", "text": "red apple"}\n{"id": "b", "text": "green apple"}\n',
    "links.csv": "source,target\na,b\n",
}
LDAC = {"documents.txt": "0:2 1:1\n1:3\n", "vocab.txt": "apple\nplum\n", "links.txt": "0 1\n"}
FORMS = {"linqs": (LINQS, [[1, 0]], 3), "jsonl": (JSONL, [[0, 1]], 4), "ldac": (LDAC, [[0, 1]], 6)}
NOTES = {"apples.md": "red [[plums]]", "plums.txt": "blue", "picture.png": "", "links.csv": "not read"}


def refusal(data):
    with pytest.raises(DataError) as caught:
        open_network(data)
    return str(caught.value)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("kind", [str, Path])
def test_folders(form, suffix, kind, tmp_path):
    files, links, n_tokens = FORMS[form]
    network = open_network(kind(write_files(tmp_path, {name + suffix: content for name, content in files.items()})))
    assert network.links.tolist() == links
    assert network.n_tokens == n_tokens
    assert network.directed


@pytest.fixture
def plugin():
    """Register readers of files that end in .odd, and forget them afterwards."""

    def register(read, recognises=lambda path: path.suffix == ".odd"):
        register_reader("odd", form="odd files", recognises=recognises, gives="texts")(read)

    yield register
    READERS._found.pop("odd", None)


@pytest.mark.parametrize(
    ("read", "told"),
    [
        (lambda path, columns: 1 / 0, "the reader 'odd' failed (ZeroDivisionError: division by zero); --debug shows"),
        (lambda path: {}, "the reader 'odd' failed (TypeError: "),
        (lambda path, columns: None, "the reader 'odd' returned NoneType; it must return a dict with some of texts, "),
        (lambda path, columns: {"text": ["a"]}, "the reader 'odd' returned text; it must return a dict with some of"),
    ],
)
def test_readers_of_plugins_that_fail(read, told, plugin, tmp_path):
    plugin(read)
    (tmp_path / "some.odd").write_text("x")
    assert f"some.odd: {told}" in refusal(tmp_path / "some.odd")


def test_a_plugin_that_cannot_tell_its_files(plugin, tmp_path):
    plugin(lambda path, columns: {}, lambda path: path.no_such_attribute)
    assert "the reader 'odd' failed (AttributeError" in refusal(write_files(tmp_path, NOTES))


def test_other_names_in_ldac_folders(tmp_path):
    files = {"ap.dat": LDAC["documents.txt"], "cites.txt": "1 0\n", "README.md": "read me"}
    assert open_network(write_files(tmp_path, files)).links.tolist() == [[1, 0]]


@pytest.mark.parametrize("kind", [str, Path])
def test_notes(kind, tmp_path):
    network = open_network(kind(write_files(tmp_path, NOTES)))
    assert network.ids[network.links].tolist() == [["apples", "plums"]]
    assert network.n_tokens == 5
    assert network.directed


def test_notes_in_folders_only(tmp_path):
    write_files(tmp_path / "inner", NOTES)
    assert open_network(tmp_path).labels.tolist() == ["inner", "inner"]


@pytest.mark.parametrize("form", FORMS)
def test_notes_beside_another_form_are_not_read(form, tmp_path):
    files, links, n_tokens = FORMS[form]
    network = open_network(write_files(tmp_path, {**NOTES, **files}))
    assert (network.links.tolist(), network.n_tokens) == (links, n_tokens)


def test_tags_of_notes(tmp_path):
    write_files(tmp_path, {**NOTES, "plums.txt": "---\ntags: [blue]\n---\nblue"})
    assert open_network(tmp_path, columns=["tags"], strict=True).columns["tags"].tolist() == [[], ["blue"]]
    with pytest.raises(DataError, match="the text files have no field 'year' in their front matter; known: tags"):
        open_network(tmp_path, columns=["tags", "year"])


def test_text_files_without_links(tmp_path):
    write_files(tmp_path, {"README.md": "About [the data](data.csv).", "vocab.txt": "apple", "links.txt": "0 1"})
    told = refusal(tmp_path)
    assert "no links were found between the 3 text files in the folder; link them as [[name]] or [text]" in told
    assert "or pass a folder that holds documents.jsonl" in told


def test_one_content_file(tmp_path):
    write_files(
        tmp_path, {**LINQS, "other.content": "no", "more.content.gz": LINQS["toy.content"], "more.cites": "p2 p1\n"}
    )
    assert open_network(tmp_path / "toy.content").links.tolist() == [[1, 0]]
    assert open_network(str(tmp_path / "more.content.gz")).links.tolist() == [[0, 1]]


def test_names(monkeypatch):
    for name in ("stdlib", "cora", "citeseer", "webkb"):
        monkeypatch.setitem(opening.DATA_SETS, name, lambda name=name: f"the built-in {name}")
        assert open_network(name) == f"the built-in {name}"


def test_stdlib(shared_cache, monkeypatch):
    monkeypatch.setenv("LINKTOPICS_CACHE", str(shared_cache))
    assert open_network("stdlib").fingerprint() == load_stdlib().fingerprint()


def test_built_in_data_sets(data_dir, monkeypatch):
    monkeypatch.setenv("LINKTOPICS_DATA", str(data_dir))
    assert open_network("cora").n_links == 5429
    assert open_network(data_dir / "cora").fingerprint() == open_network("cora").fingerprint()
    assert open_network(data_dir / "cora-r").n_links == 4356


def test_a_name_always_means_the_built_in_set(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(opening.DATA_SETS, "cora", lambda: "built in")
    write_files(tmp_path / "cora", LINQS)
    assert open_network("cora") == "built in"
    for folder in ("./cora", "cora/", Path("cora"), str(tmp_path / "cora")):
        assert open_network(folder).n_documents == 2


def test_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    write_files(tmp_path / "papers", LINQS)
    assert open_network("~/papers").n_documents == 2


def test_warnings_stay(tmp_path):
    write_files(tmp_path, {**LINQS, "toy.cites": "p1\tp2\np1\tp1\n"})
    with pytest.warns(NetworkWarning, match="1 self link") as caught:
        open_network(tmp_path)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("data", "meant"),
    [
        ("coar", "'cora'"),
        ("CORA", "'cora'"),
        ("webkbb", "'webkb'"),
        ("sdtlib", "'stdlib'"),
        ("cite-seer", "'citeseer'"),
    ],
)
def test_misspelt_names(data, meant, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = refusal(data)
    assert f"{data!r} is not a built-in data set, file or folder (did you mean {meant}?)" in told
    assert "pass stdlib, cora, citeseer, webkb, a .content file, or a folder that holds documents.jsonl" in told


@pytest.mark.parametrize("data", ["/no/such/place", "x" * 5000, "a\0b", Path("no/such/place")])
def test_paths_that_lead_nowhere(data):
    told = refusal(data)
    assert "is not a built-in data set, file or folder; pass stdlib, cora" in told


@pytest.mark.parametrize("data", ["", 3, None, b"cora", ["cora"]])
def test_what_is_no_path(data):
    assert refusal(data).startswith(f"data is {data!r}; pass stdlib, cora, citeseer, webkb, or a folder")


def test_folders_in_no_known_form(tmp_path):
    assert "no known format matches (found: nothing); pass a folder that holds" in refusal(tmp_path)
    write_files(tmp_path, {"papers.csv": "", "content.pdf": "", ".hidden.md": "[[papers]]"})
    told = refusal(tmp_path)
    assert "no known format matches (found: .hidden.md, content.pdf, papers.csv); pass a folder that holds" in told
    assert told.endswith("(LDA-C), each plain or as .gz, or .md and .txt files with links in the text.")
    write_files(tmp_path, {f"{letter}.pdf": "" for letter in "abcdefgh"})
    assert "e.pdf, f.pdf and 3 more)" in refusal(tmp_path)


def test_folders_in_several_forms(tmp_path):
    write_files(tmp_path, {**LINQS, **JSONL})
    told = refusal(tmp_path)
    assert "more than one known format matches (found: documents.jsonl, links.csv, toy.cites, toy.content)" in told


@pytest.mark.parametrize("name", [".x.dat", ".documents.txt", "._toy.content", ".toy.content.gz"])
def test_hidden_files_are_no_form(name, tmp_path):
    network = open_network(write_files(tmp_path, {**NOTES, name: ""}))
    assert network.ids[network.links].tolist() == [["apples", "plums"]]


@pytest.mark.parametrize(
    ("form", "name", "second"),
    [
        ("jsonl", "documents.jsonl", "documents.jsonl.gz"),
        ("jsonl", "links.csv", "links.csv.gz"),
        ("linqs", "toy.content", "toy.content.gz"),
        ("linqs", "toy.cites", "toy.cites.gz"),
        ("ldac", "links.txt", "links.txt.gz"),
        ("ldac", "links.txt", "cites.txt"),
        ("ldac", "vocab.txt", "vocabulary.txt.gz"),
        ("ldac", "documents.txt", "x.dat"),
    ],
)
def test_files_of_which_only_one_would_be_read(form, name, second, tmp_path):
    write_files(tmp_path, {**FORMS[form][0], second: FORMS[form][0][name]})
    told = f"{tmp_path}: the folder holds both {name} and {second}; keep one."
    assert refusal(tmp_path) == told


@pytest.mark.parametrize(("form", "wanted"), [("jsonl", "links.csv"), ("ldac", "links.txt or cites.txt")])
def test_folders_without_links(form, wanted, tmp_path):
    write_files(tmp_path, FORMS[form][0])
    next(tmp_path.glob("links.*")).rename(tmp_path / "edges.csv")
    assert f"the links are missing; put {wanted} beside the documents" in refusal(tmp_path)


def test_other_files(tmp_path):
    write_files(tmp_path, JSONL)
    assert "documents.jsonl: pass a .content file, or a folder" in refusal(tmp_path / "documents.jsonl")


def test_a_folder_that_cannot_be_read(tmp_path, monkeypatch):
    def refuse(_):
        raise PermissionError(13, "Permission denied")

    write_files(tmp_path, LINQS)
    monkeypatch.setattr(os, "listdir", refuse)
    assert refusal(tmp_path) == f"{tmp_path}: cannot be read (Permission denied); check its permissions."
