"""Folders of Markdown and text files: which files are read, what their words are, and where their links lead."""

import os
import unicodedata

import pytest

from linktopics import DataError, DocumentNetwork, NetworkWarning
from linktopics.readers.folders import read_folder
from linktopics.readers.markdown import read_note
from support.files import write_files


def ends(folder, source="a"):
    """Where the links of one note lead."""
    return [target for start, target in read_folder(folder)["links"] if start == source]


def note(text, *, indented_code=True):
    return read_note(text.split("\n"), indented_code=indented_code)


# ---------------------------------------------------------------- which files are read, and what they are called


def test_a_vault(tmp_path):
    files = {
        "Home.md": "Start with [[Gibbs sampling]] or the [recipes](recipes/Plum%20tart.md#dough). See [[Home]].",
        "maths/Gibbs sampling.md": "---\r\ntitle: Sampling after Gibbs\r\n---\r\n# Gibbs\r\nStep.\r\n[[Home]]\r\n",
        "maths/chains/Markov.markdown": "\ufeff# Markov *chains*\n\n[[gibbs sampling|Gibbs]], [[Missing note]].",
        "recipes/Plum tart.md": "Plums.",
        "recipes/list.txt": "flour",
    }
    with pytest.warns(NetworkWarning, match="1 link with an unknown end; dropped 1 self link") as caught:
        network = DocumentNetwork.from_folder(write_files(tmp_path, files))
    assert caught[0].filename == __file__
    assert network.ids.tolist() == [
        "Home",
        "maths/Gibbs sampling",
        "maths/chains/Markov",
        "recipes/Plum tart",
        "recipes/list",
    ]
    assert network.titles.tolist() == ["Home", "Sampling after Gibbs", "Markov chains", "Plum tart", "list"]
    assert network.labels.tolist() == [None, "maths", "maths", "recipes", "recipes"]
    assert network.links.tolist() == [[0, 1], [0, 3], [1, 0], [2, 1]]
    assert network.directed
    assert network.report.unknown_ends == (("maths/chains/Markov", "Missing note"),)
    assert network.report.self_links == (("Home", "Home"),)
    assert network.texts.tolist() == [
        "Home\nStart with Gibbs sampling or the recipes. See Home.",
        "Sampling after Gibbs\nGibbs\nStep.\nHome",
        "Markov chains\nGibbs, Missing note.",
        "Plum tart\nPlums.",
        "list\nflour",
    ]


def test_arguments_reach_the_network(tmp_path):
    from sklearn.feature_extraction.text import CountVectorizer

    write_files(tmp_path, {"a.md": "[[b]]", "b.md": "[[c]]", "c.md": "[[a]]"})
    network = DocumentNetwork.from_folder(tmp_path, directed=False, vectorizer=CountVectorizer(analyzer="char"))
    assert network.links.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert network.vocabulary.tolist() == ["\n", "a", "b", "c"]
    assert network.labels is None
    write_files(tmp_path, {"a.md": "[[no such note]]"})
    with pytest.raises(DataError, match=r"1 link with an unknown end: \('a', 'no such note'\)"):
        DocumentNetwork.from_folder(tmp_path, strict=True)


def test_what_is_left_out(tmp_path):
    hidden = {f"{name}/x.md": "hidden" for name in (".obsidian", ".trash", "sub/.git")}
    logseq = {"logseq/config.edn": "{}", "logseq/bak/a.md": "old", "pages/logseq/b.md": "a page, not the program's"}
    other = {"c.pdf": "", "d.py": "", "e.md.bak": "", ".f.md": "", "sub/md": "", "sub/G.MD": "read", "h.TXT": "read"}
    write_files(tmp_path, {**hidden, **logseq, **other})
    assert read_folder(tmp_path)["ids"] == ["h", "pages/logseq/b", "sub/G"]


def test_symbolic_links(tmp_path):
    write_files(tmp_path, {"vault/a.md": "a", "vault/sub/b.md": "b", "outside/c.md": "c"})
    vault = tmp_path / "vault"
    try:
        (vault / "sub" / "loop").symlink_to(vault, target_is_directory=True)
        (vault / "away").symlink_to(tmp_path / "outside", target_is_directory=True)
        (tmp_path / "door").symlink_to(vault, target_is_directory=True)
    except OSError:
        pytest.skip("no symbolic links here")
    assert read_folder(vault)["ids"] == read_folder(tmp_path / "door")["ids"] == ["a", "sub/b"]


def test_ids_stay_unique(tmp_path):
    write_files(tmp_path, dict.fromkeys(["a.md", "a.txt", "a.md.md", "b.c.md", "d/a.md"], "words"))
    assert read_folder(tmp_path)["ids"] == ["a.md", "a.md.md", "a.txt", "b.c", "d/a"]


def test_tags_are_a_column(tmp_path):
    write_files(tmp_path, {"a.md": "---\ntags: [x, 'y z']\n---\n", "b.md": "words"})
    assert read_folder(tmp_path)["columns"] == {"tags": [["x", "y z"], []]}
    write_files(tmp_path, {"a.md": "words"})
    assert read_folder(tmp_path)["columns"] == {}


def test_errors(tmp_path):
    def refusal(path):
        with pytest.raises(DataError) as caught:
            read_folder(path)
        return str(caught.value)

    assert refusal(tmp_path / "x") == f"{tmp_path / 'x'}: there is no such folder; check the path."
    assert refusal(tmp_path) == f"{tmp_path}: there is no .md, .markdown or .txt file in the folder; check the path."
    write_files(tmp_path, {"a.md": "", "b.md": "---\ntitle: only this\n---\n```\ncode\n```\n"})
    assert refusal(tmp_path) == f"{tmp_path}: none of the 2 text files in the folder contains any text; add some."
    assert refusal(tmp_path / "a.md") == f"{tmp_path / 'a.md'}: is a file; pass the folder that holds it."
    write_files(tmp_path, {"sub/c.txt": b"fine\nna\xefve\n"})
    assert refusal(tmp_path) == f"{tmp_path / 'sub' / 'c.txt'}:2: byte 0xef is not UTF-8; save the file as UTF-8."


def test_a_folder_within_that_cannot_be_read(tmp_path, monkeypatch):
    write_files(tmp_path, {"a.md": "words", "sub/b.md": "words"})
    scan = os.scandir

    def refuse(path):
        if os.path.basename(path) == "sub":
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(DataError, match=r"sub: cannot be read \(Permission denied\)"):
        read_folder(tmp_path)


# ---------------------------------------------------------------- links


VAULT = {
    "b.md": "",
    "My note.md": "",
    "data.csv": "",
    "LICENSE": "",
    "sub/c.md": "---\naliases: [Sea, The third]\n---\n# Letter C\n",
    "sub/deep/d.md": "",
    "sub/deep/e (1) [x] 100%.md": "",
    "été/Übung.md": "",
    "C#.md": "",
    "Version 1.2.md": "",
    "proj.alpha.md": "",
    "z/202001021504 Zettel.md": "",
    "wiki___page.md": "",
    "wiki%2Fother.md": "",
    "t.txt": "",
}
UNIX = {} if os.name == "nt" else {"What is it?.md": ""}
unix = pytest.mark.skipif(not UNIX, reason="no file can have this name here")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # inline
        ("[x](b.md)", ["b"]),
        ("[x](b)", ["b"]),
        ("[x](./b.md 'a title') and [y](b.md#heading) and [z](b.md?raw=1#h)", ["b"]),
        ("[x](<My note.md>)", ["My note"]),
        ("[x](My%20note.md)", ["My note"]),
        ("[x](/sub/c.md)", ["sub/c"]),
        ("[x](sub/deep/e%20(1)%20%5Bx%5D%20100%25.md)", ["sub/deep/e (1) [x] 100%"]),
        ("[x](<sub/deep/e (1) [x] 100%25.md>)", ["sub/deep/e (1) [x] 100%"]),
        ("[x](%C3%A9t%C3%A9/%C3%9Cbung.md)", ["été/Übung"]),
        ("[x](C%23.md)", ["C#"]),
        pytest.param("[[What is it?]] [y](What%20is%20it%3F.md)", ["What is it?"], marks=unix),
        ("[x](SUB/C.MD)", ["sub/c"]),
        ("[x](d.md)", ["sub/deep/d"]),
        ("[x](t.txt)", ["t"]),
        ("[x](sub/../b.md)", ["b"]),
        ("[**bold** `code` [inner] ![i](i.png)](b.md)", ["b"]),
        ("[[1]](b.md)", ["b"]),
        # by reference
        ("[x][ref], [Ref][], [ref]\n\n[ref]: sub/c.md 'title'\n[unused]: b.md", ["sub/c"]),
        ("[x][no ref]", []),
        ("claim[^1]\n\n[^1]: Smith", []),
        # wiki links
        ("[[b]]", ["b"]),
        ("[[B.md]] [[b|alias]] [[b#Heading]] [[b#^block|x]] ![[b]]", ["b"]),
        ("[[ My note ]]", ["My note"]),
        ("[[c]]", ["sub/c"]),
        ("[[deep/d]] [[sub/deep/d]] [[/sub/deep/d]] [[./sub/deep/d]]", ["sub/deep/d"]),
        ("[[/deep/d]]", ["/deep/d"]),
        ("[[e (1) [x] 100%]]", ["sub/deep/e (1) [x] 100%"]),
        ("[[[b]]]", ["b"]),
        ("[[sea]] [[the third]] [[letter c]]", ["sub/c"]),
        ("[[été/übung]]", ["été/Übung"]),
        ("[[" + unicodedata.normalize("NFD", "Übung") + "]]", ["été/Übung"]),
        ("[[Version 1.2]] [[proj.alpha]]", ["Version 1.2", "proj.alpha"]),
        ("[[202001021504]]", ["z/202001021504 Zettel"]),
        ("[[wiki/page]] [[wiki/other]]", ["wiki___page", "wiki%2Fother"]),
        ("| cell |\n|---|\n| [[b\\|alias]] |", ["b"]),
        ("#[[My note]] and {{embed [[b]]}}", ["My note", "b"]),
        ("[text with [[c]] inside](b.md)", ["sub/c"]),
        ("---\nup: '[[b]]'\nrelated:\n  - '[[c|x]]'\n---\n", ["b", "sub/c"]),
        ("up:: [[b]]\n\ntext", ["b"]),
        # unknown ends, once each
        ("[[Nobody|x]] [[Nobody]] [x](no.md#h) [y](../out.md)", ["Nobody", "no.md", "../out.md"]),
        ("[[Version 3.0]] [[Dune: Part One]]", ["Version 3.0", "Dune: Part One"]),
        # no links of documents
        ("[x](https://a.org/b.md) [y](mailto:b@c.de) <https://a.org> [z](//a.org/b) [w](file:///b.md)", []),
        ("[[https://a.org/b]] https://a.org/b.md", []),
        ("[x](#heading) [[#heading]] [[|x]] [x]()", []),
        ("![x](b.png) ![[c.pdf]] [[data.csv]] [x](data.csv) [x](no.zip) ![x](nothing) ![[alt]](b.png)", []),
        ("[x](LICENSE) [x](sub) [x](sub/deep/) [x](.)", []),
        ("![x](b.md)", ["b"]),
        ("`[[b]]` and ``[x](b.md)``", []),
        ("```\n[[b]]\n```\n~~~md\n[x](b.md)\n~~~\n", []),
        ("- item\n\n  ```\n  [[b]]\n  ```", []),
        ("text\n\n    [[b]]", []),
        ("<!-- [[b]] --> and\n\n<!--\n[x](b.md)\n-->", []),
        ("\\[[b]] \\[x](b.md)", []),
        ("[[b\nb]]", []),
        ("x[[1, 2], [3]] and [[ ]]", []),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_links(text, found, newline, tmp_path):
    write_files(tmp_path, {**VAULT, **UNIX, "a.md": text.replace("\n", newline)})
    assert ends(tmp_path) == found


def test_links_are_relative_to_their_file(tmp_path):
    write_files(
        tmp_path,
        {
            **VAULT,
            "sub/b.md": "",
            "sub/a.md": "[x](c.md) [x](../b.md) [x](deep/d) [x](sub/c.md) [[./c]] [[../t]] [x](/b.md)",
        },
    )
    assert ends(tmp_path, "sub/a") == ["sub/c", "b", "sub/deep/d", "t"]


@pytest.mark.parametrize(
    ("source", "text", "found"),
    [
        ("a", "[[x]]", ["x"]),
        ("p/a", "[[x]]", ["x"]),  # the path of the one at the top
        ("a", "[[y]]", ["p/y"]),
        ("q/a", "[[y]]", ["q/r/y"]),
        ("s/a", "[[y]]", ["p/y"]),
        ("p/a", "[x](x.md) [x](../q/x.md)", ["p/x", "q/x"]),
        ("s/a", "[x](y.md) [x](q/x.md)", ["y.md", "q/x"]),  # which y is not said
        ("s/a", "[[r/y]]", ["q/r/y"]),
        ("a", "[[w]]", ["q/w"]),
        ("a", "[[Z]] [[z]]", ["o/Z", "p/z"]),
        ("a", "[[k]] [[k.txt]] [x](k.txt)", ["k.md", "k.txt"]),
    ],
)
def test_files_of_the_same_name(source, text, found, tmp_path):
    names = ["x", "p/x", "q/x", "p/y", "q/r/y", "tr/y", "p/p/w", "q/w", "o/Z", "p/z", "k"]
    write_files(tmp_path, {**{f"{name}.md": "" for name in names}, "k.txt": "", f"{source}.md": text})
    assert ends(tmp_path, source) == found


def test_text_files_have_links_too_and_indentation_is_not_code(tmp_path):
    write_files(tmp_path, {"a.txt": "text\n\n    See [[b]] and [c](c.md).", "b.md": "", "c.md": ""})
    assert ends(tmp_path) == ["b", "c"]


# ---------------------------------------------------------------- words and front matter


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# A *b* _c_\n\n- d\n- [ ] e\n\n> [!note] f\n\n1. g", "A b c d [ ] e [!note] f g"),
        ("Title\n=====\ntext\n---\n", "Title text"),
        ("[text](target.md 'title') ![alt](image.png) [ref]\n\n[ref]: target.md", "text alt ref"),
        ("[[folder/Target.md]] [[T|shown]] [[T#Part#Two]] [[T#^ab12]] [[#Here]]", "Target shown T Part Two T Here"),
        ("![[image.png]] ![[image.png|300]] ![[Note]] [[report.pdf]]", "Note report.pdf"),
        ("see https://a.org/b?c=d, <https://a.org/e> www.a.org/f or ftp://a.org.", "see or"),
        ("![x](data:image/svg+xml;base64,AAAA) [y](javascript:void)", "x y"),
        ("a<b>c</b> d<br>e &amp; &eacute; <!-- f --> g", "ac d e & é g"),
        ("<div class='h'>\n<!-- no > no --> a &lt; b\n<style>no</style></div>\n", "a < b"),
        ("use `numpy.array` here\n\n```python\nimport no\n```\n\n    no\n\nend", "use numpy.array here end"),
        ("- a ((64a8f3f0-1111-4222-8333-444455556666))\n  id:: 64a8f3f0\n  collapsed:: true\n- b", "a b"),
        ("".join(f"{chr(9) * depth}- d{depth}\n" for depth in range(15)), " ".join(f"d{depth}" for depth in range(15))),
    ],
)
def test_words(text, words):
    assert note(text).text.split() == words.split()


@pytest.mark.parametrize(
    ("html", "words"),
    [
        ("a < b <!-- c", "a < b"),
        ("a <script>no</script > b <STYLE>no</style> c", "a b c"),
        ("a <script> b <i>c</i> <script d", "a b c <script d"),
        ("a <scripts>b</scripts> <!-- <p> --> c <!-->d", "a b c"),
        ("a <!-- <script> --> b </script> c", "a b c"),
    ],
)
def test_tags_in_blocks_of_html(html, words):
    assert note(f"<div>\n{html}\n").text.split() == words.split()


@pytest.mark.parametrize("mark", ["<", "<script ", "<style></script>"])
def test_marks_that_are_never_closed_are_read_in_time(mark):
    """In a time that grows with the square, as it was, this would take many minutes."""
    assert note("<div>\n" + mark * (500_000 // len(mark)) + "end").text.endswith("end")


def test_indented_lines_of_text_files_are_words():
    assert note("a\n\n    b", indented_code=False).text.split() == ["a", "b"]


@pytest.mark.parametrize(
    ("head", "title", "aliases", "tags"),
    [
        ("title: Plain: with colon # comment", "Plain: with colon", [], []),
        ("title: 'It''s'\naliases: [a, \"b, c\", 'd']\ntags: [x]", "It's", ["a", "b, c", "d"], ["x"]),
        (
            'title: "say \\"so\\""\naliases:\n  - a b\n  # no\n  - "c"\n\ntags:\n- x\n- y/z',
            'say "so"',
            ["a b", "c"],
            ["x", "y/z"],
        ),
        ("alias: one, two # a, comment\ntags: x, #y z", None, ["one", "two"], ["x", "y", "z"]),
        ("aliases: [a,\n  b]\ntag: x\nother:\n  title: no\n  aliases: [no]", None, ["a", "b"], ["x"]),
        ("title: >-\n  two\n  lines\naliases: []\ntags:", "two lines", [], []),
        ("# comment\n\ntitle: ~\naliases: null", None, [], []),
        ("Title: 2020", "2020", [], []),
    ],
)
@pytest.mark.parametrize("end", ["---", "..."])
def test_front_matter(head, title, aliases, tags, end):
    found = note(f"---\n{head}\n{end}\ntext")
    assert (found.title, found.aliases, found.tags, found.text) == (title, aliases, tags, "text")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("---\nSome words\n---\ntext", "Some words text"),  # rules
        ("---\ntitle: never closed\n\ntext", "title: never closed text"),
        ("text\n---\ntitle: late\n---\n", "text title: late"),
        ("---\n---\ntext", "text"),
        ("", ""),
    ],
)
def test_what_is_no_front_matter(text, words):
    found = note(text)
    assert found.title is None
    assert found.text.split() == words.split()


def test_properties_of_a_logseq_page():
    found = note("title:: wiki/page\nalias:: [[two]], one\ntags:: x, y\n\n- text\n  note:: kept")
    assert (found.title, found.aliases, found.tags) == ("wiki/page", ["two", "one"], ["x", "y"])
    assert found.text.split() == ["text", "note::", "kept"]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("## Second\n\n# First\n\n# Other", "First"),
        ("- # In a list\n", None),
        ("`# code`\n\n```\n# code\n```\n", None),
        ("# [[b|Linked]] `code`\n", "Linked code"),
        ("#tag\n#\n", None),
    ],
)
def test_headings(text, title):
    assert note(text).heading == title
