"""The report: one file that asks for nothing, and in which no text of the data is taken for anything else."""

import base64
import errno
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
from html.parser import HTMLParser

import numpy as np
import pytest

from linktopics import DataError, DocumentNetwork, RelationalTopicModel
from linktopics.explorer import Explorer, page, report, report_data, write_report
from linktopics.explorer.page import join_modules, report_page, static_file, static_names, to_json
from support.small_models import LINKS, TEXTS, small_model, small_network

pytestmark = pytest.mark.filterwarnings("ignore::linktopics.errors.MixingWarning")

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!-- <script>",
    "<img src=x onerror=alert(1)>",
    "\"quoted\" 'single' `tick` \\ & &amp; ]]>",
    "nul \x00 bell \x07 escape \x1b[31m delete \x7f next \x85",
    "line \u2028 paragraph \u2029 mark \ufeff end \uffff",
    "lone \ud800 and \udfff surrogates",
    "right \u202e to \u200f left",
    "long " + "x" * 5000,
    "__proto__",
]
"""Ids, titles, labels and words that could break a page; as many as there are documents in `TEXTS`."""


def hostile_model():
    words = [f"{text} word" for text in HOSTILE]
    counts = np.random.default_rng(0).poisson(0.6, (len(HOSTILE), len(words))) + np.eye(len(HOSTILE), dtype=int)
    names = dict(zip(TEXTS, HOSTILE, strict=True))
    network = DocumentNetwork(
        counts,
        [(names[source], names[target]) for source, target in LINKS],
        ids=HOSTILE,
        titles=[f"{text} title" for text in HOSTILE],
        labels=[f"{text} label" for text in HOSTILE],
        texts=[f"{text} text" for text in HOSTILE],
        columns={f"{text} column": HOSTILE for text in HOSTILE[:3]},
        vocabulary=words,
    )
    return small_model().fit(network)


class Elements(HTMLParser):
    """Elements of a page, with the text right inside them."""

    def __init__(self, text):
        super().__init__()
        self.found = [("", {}, [])]
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes), []))

    def handle_data(self, data):
        self.found[-1][2].append(data)

    def all(self, tag, **attributes):
        return [
            ("".join(text), given)
            for name, given, text in self.found
            if name == tag and all(given.get(key) == value for key, value in attributes.items())
        ]

    def one(self, tag, **attributes):
        (found,) = self.all(tag, **attributes)
        return found


def bundle_of(html):
    return json.loads(Elements(html).one("script", id="bundle")[0])


@pytest.fixture(scope="module")
def model():
    return small_model().fit(small_network(titles=[name.title() for name in TEXTS]))


# ----------------------------------------------------------------------------------------------------------------------
# The page
# ----------------------------------------------------------------------------------------------------------------------


def test_hostile_texts_come_back_as_they_are(tmp_path):
    model = hostile_model()
    write_report(model, tmp_path / "report.html", title=HOSTILE[0])
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    bundle = bundle_of(html)
    assert [row[0] for row in bundle["documents"]] == HOSTILE
    assert [row[1] for row in bundle["documents"]] == [f"{text} title" for text in HOSTILE]
    assert [bundle["labels"][row[2]] for row in bundle["documents"]] == [f"{text} label" for text in HOSTILE]
    assert [row[4] for row in bundle["documents"]] == [f"{text} text"[:1000] for text in HOSTILE]
    assert bundle["columns"] == [f"{text} column" for text in HOSTILE[:3]]
    assert set(bundle["vocabulary"]) == set(model.network_.vocabulary.tolist())
    assert bundle["meta"]["title"] == HOSTILE[0]
    assert {name["id"] for name in bundle["meta"]["names"].values()} <= set(HOSTILE)


def test_nothing_hostile_is_in_the_page_unescaped(tmp_path):
    write_report(hostile_model(), tmp_path / "report.html", title=HOSTILE[2])
    html = (tmp_path / "report.html").read_bytes().decode("utf-8")
    data = html.partition('<script type="application/json" id="bundle">')[2].partition("</script>")[0]
    assert not set(data) & set("<>&\x00\x07\x1b\x7f\x85\u2028\u2029\u202e\u200f\ufeff\uffff")
    without = html.replace(data, "")
    for text in ("alert(1)", "onerror", "\x1b", "\x00", "x" * 100):
        assert text not in without.replace("onerror=alert(1)&gt;</title>", "")
    elements = Elements(html)
    assert elements.one("title")[0].strip() == HOSTILE[2]
    assert len(elements.all("script")) == 2
    assert not elements.all("img")


@pytest.mark.parametrize("title", HOSTILE)
def test_titles_of_windows(title):
    html = report_page({"meta": {}}, title).encode().decode()
    shown = Elements(html).one("title")[0]
    assert shown.split() == "".join(char if char.isprintable() else " " for char in title).split()


def test_json_is_json():
    value = {"a": [*HOSTILE, "é", "猫", "🐈", 1.5, None, True], "</script>": {}}
    assert json.loads(to_json(value)) == value
    assert "猫" in to_json(value)
    with pytest.raises(ValueError, match="JSON"):
        to_json(float("nan"))


def test_the_policy_allows_what_is_there_and_nothing_else(model, tmp_path):
    write_report(model, tmp_path / "report.html")
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    elements = Elements(html)
    policy = dict(
        part.strip().split(" ", 1)
        for part in elements.one("meta", **{"http-equiv": "Content-Security-Policy"})[1]["content"].split(";")
    )
    assert (policy["default-src"], policy["img-src"]) == ("'none'", "data:")
    for name, tag, attributes in (("script-src", "script", {"type": "module"}), ("style-src", "style", {})):
        content = html.partition(f"<{tag}" + "".join(f' {k}="{v}"' for k, v in attributes.items()) + ">")[2]
        content = content.partition(f"</{tag}>")[0]
        assert len(content) > 100
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert policy[name] == f"'sha256-{digest}'"
    assert html.index("Content-Security-Policy") < min(html.index("<style"), html.index("<script"), html.index("<link"))


def test_the_report_names_no_address(model, tmp_path):
    write_report(model, tmp_path / "report.html")
    elements = Elements((tmp_path / "report.html").read_text(encoding="utf-8"))
    addresses = [given.get(key) for _, given, _ in elements.found for key in ("src", "href") if given.get(key)]
    assert {address for address in addresses if not address.startswith(("#", "data:"))} == set()
    assert not [given for _, given, _ in elements.found if any(name.startswith("on") for name in given)]
    script = elements.one("script", type="module")[0]
    assert set(re.findall(r"https?://[^\s\"'`)]+", script)) <= {"http://www.w3.org/2000/svg"}


def test_the_page_of_the_server_finds_its_files():
    elements = Elements(static_file(page.PAGE))
    named = {given.get("src") or given.get("href") for tag, given, _ in elements.found if tag in ("script", "link")}
    files = {name.removeprefix("static/") for name in named if name.startswith("static/")}
    assert files == {"main.js", "style.css"} <= set(static_names())
    assert not elements.all("style")
    assert all(given.get("src") for _, given in elements.all("script"))


def test_a_page_that_lacks_a_place(monkeypatch):
    monkeypatch.setattr(page, "static_file", lambda name: "<html></html>" if name == page.PAGE else static_file(name))
    with pytest.raises(ValueError, match="must contain"):
        report_page({}, "t")


# ----------------------------------------------------------------------------------------------------------------------
# Modules
# ----------------------------------------------------------------------------------------------------------------------


def test_modules_can_be_joined():
    """Top-level names are different everywhere, since all modules end up in one."""
    modules = {name: static_file(name) for name in static_names() if name.endswith(".js")}
    joined = join_modules(modules)
    declared = re.findall(r"^(?:async )?(?:function\*?|class|const|let|var) +([\w$]+)", joined, re.MULTILINE)
    assert len(declared) > 20
    assert sorted(declared) == sorted(set(declared))
    assert set(re.findall(r"^// ([\w/-]+\.js)$", joined, re.MULTILINE)) == set(modules)  # none is left over
    assert not re.search(r"^\s*(import|export)\b", joined, re.MULTILINE)


def test_modules_come_after_what_they_need():
    modules = {
        "main.js": 'import { b } from "./pages/b.js";\nimport { c } from "./lib/c.js";\nrun(b, c);',
        "pages/b.js": 'import { c } from "../lib/c.js";\nexport const b = c + 1;\n',
        "lib/c.js": "export const c = 1;\nexport async function later() {}\nexport class Thing {}\n",
        "unused.js": "throw 1;",
    }
    assert join_modules(modules).splitlines() == [
        "// lib/c.js", "const c = 1;", "async function later() {}", "class Thing {}",
        "// pages/b.js", "const b = c + 1;", "// main.js", "run(b, c);",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ('import { a } from "./nowhere.js";\n', "main.js imports from nowhere.js"),
        ('import { a } from "./main.js";\n', "import from each other"),
        ('import * as a from "./b.js";\n', "cannot be joined"),
        ('import { a as c } from "./b.js";\n', "cannot be joined"),
        ("export default 3;\n", "cannot be joined"),
        ("export { a };\n", "cannot be joined"),
        ('const a = await import("./b.js");\n', "cannot be joined"),
    ],
)
def test_modules_that_cannot_be_joined(source, message):
    with pytest.raises(ValueError, match=message):
        join_modules({"main.js": source, "b.js": "export const a = 1;\n"})


@pytest.mark.parametrize("name", ["style.css", "main.js"])
def test_files_that_would_end_their_element(monkeypatch, name):
    end = {"style.css": "</STYLE>", "main.js": "// </script>"}[name]
    monkeypatch.setattr(page, "static_file", lambda file: static_file(file) + (end if file == name else ""))
    with pytest.raises(ValueError, match="cannot be put into a page"):
        report_page({}, "t")


# ----------------------------------------------------------------------------------------------------------------------
# The data of a report
# ----------------------------------------------------------------------------------------------------------------------

NODE = shutil.which("node")

ASK = """
import { readFileSync } from "node:fs";
import { ReportSource } from "./report_source.mjs";
const { bundle, questions } = JSON.parse(readFileSync(0, "utf8"));
const source = new ReportSource(bundle);
const answers = { meta: await source.meta(), documents: [], cells: [], found: [] };
for (const i of bundle.documents.keys()) answers.documents.push(await source.document(i));
for (const a of bundle.meta.topics.keys())
  for (const b of bundle.meta.topics.keys()) answers.cells.push(await source.cell(a, b));
for (const question of questions) answers.found.push(await source.documents(question));
console.log(JSON.stringify(answers));
"""


def assert_near(one, two, where=""):
    """Compare what JSON holds; numbers are nearly the same."""
    if isinstance(one, dict):
        assert set(one) == set(two) - {"part"}, where  # which is the old name of "contribution"
        for name in one:
            assert_near(one[name], two[name], f"{where}/{name}")
    elif isinstance(one, list):
        assert len(one) == len(two), where
        for number, pair in enumerate(zip(one, two, strict=True)):
            assert_near(*pair, f"{where}/{number}")
    elif isinstance(one, float) or isinstance(two, float):
        assert one == pytest.approx(two, abs=0.0051, rel=0.006), where
    else:
        assert one == two, where


def in_fixed_order(document):
    """Return a document with its links in an order that does not depend on roundings."""
    return {**document, "links": sorted(document["links"], key=lambda link: (link["j"], link["direction"]))}


@pytest.mark.skipif(NODE is None, reason="node is not installed")
@pytest.mark.parametrize("kind", ["small", "undirected", "hostile", "no names", "no links", "one sample"])
def test_a_page_reads_what_python_says(tmp_path, kind):
    """The file's compact form, read by the page's own code, is what `Explorer` gives document by document."""
    models = {
        "small": lambda: small_model().fit(small_network(labels=list("ababababab"))),
        "undirected": lambda: small_model(directed=False).fit(small_network()),
        "hostile": hostile_model,
        "no names": lambda: small_model().fit(
            DocumentNetwork(small_network().counts, small_network().links, columns={"year": range(10)})
        ),
        "no links": lambda: small_model().fit(small_network(links=[])),
        "one sample": lambda: small_model(n_chains=1, n_samples=1).fit(small_network()),
    }
    explorer = Explorer(models[kind]())
    questions = [
        {},
        {"query": "c ", "size": 3, "page": 1},
        {"query": "circle ORB"},
        {"topic": 1, "sort": "topic", "descending": True},
        {"sort": "title"},
        {"sort": "links", "descending": True},
        {"sort": "tokens"},
    ]
    (tmp_path / "report_source.mjs").write_text(static_file("lib/report_source.js"), encoding="utf-8")
    (tmp_path / "ask.mjs").write_text(ASK, encoding="utf-8")
    given = json.dumps({"bundle": explorer.report(suggestions=8), "questions": questions})
    done = subprocess.run(
        [NODE, tmp_path / "ask.mjs"],
        input=given,
        capture_output=True,
        encoding="utf-8",
        check=True,
        timeout=300,
    )
    answers = json.loads(done.stdout)
    assert_near(answers["meta"], explorer.meta())
    for i, document in enumerate(answers["documents"]):
        assert_near(in_fixed_order(document), in_fixed_order(explorer.document(i)), f"document {i}")
    for answer, question in zip(answers["found"], questions, strict=True):
        assert_near(answer, explorer.documents(**question), str(question))
    if explorer.network.n_links:
        for cell in answers["cells"]:
            assert cell.pop("known")
            assert_near(cell, explorer.cell(cell["a"], cell["b"], top=5), "cell")


def test_each_link_once(model):
    bundle = Explorer(model).report(5)
    assert [row[:2] for row in bundle["links"]] == model.network_.links.tolist()
    known = model.predictor.training_pair_probabilities(model.network_.links)
    assert [row[2] / 100_000 for row in bundle["links"]] == pytest.approx(known, abs=5.1e-6)


def test_few_cells_of_many(model, monkeypatch):
    monkeypatch.setattr(report_data, "MAX_REPORT_CELLS", 4)
    cells = Explorer(model).report(5)["cells"]
    chosen = [(a, b) for a in range(3) for b in range(3) if cells[a][b] is not None]
    strongest = np.argsort(-np.abs(model.link_weights_), axis=None)[:4]
    assert chosen == sorted(divmod(int(cell), 3) for cell in strongest)


def test_texts_are_left_out_if_so_wished(model, tmp_path):
    write_report(model, tmp_path / "with.html")
    write_report(model, tmp_path / "without.html", texts=False)
    texts = [[row[4] for row in bundle_of((tmp_path / name).read_text("utf-8"))["documents"]]
             for name in ("with.html", "without.html")]  # fmt: skip
    assert texts == [list(TEXTS.values()), [None] * len(TEXTS)]
    assert "cats purr and" not in (tmp_path / "without.html").read_text("utf-8")


def test_suggestions_are_as_many_as_wished(model):
    for n in (0, 1, 3):
        assert {len(row[8]) for row in Explorer(model).report(suggestions=n)["documents"]} == {n}


def large_model(n=400, n_words=3000):
    """Fit a model of long texts, in which everything is random."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.03, (n, n_words))
    texts = [" ".join(f"word{w}" for w in rng.integers(n_words, size=300)) for _ in range(n)]
    links = np.unique(rng.integers(n, size=(2 * n, 2)), axis=0)
    links = links[links[:, 0] != links[:, 1]]
    network = DocumentNetwork(counts, links, texts=texts, vocabulary=[f"word{w}" for w in range(n_words)])
    settings = {"n_burn_in": 1, "n_samples": 2, "thin": 1, "n_chains": 1, "negatives": 1, "verbose": False}
    return RelationalTopicModel(5, **settings, random_state=0).fit(network)


@pytest.mark.long
def test_files_keep_to_their_size(monkeypatch, tmp_path):
    """Words and texts get what room is left; what is left out is said."""
    model = large_model()
    sizes, kept = [], []
    for room in (4000, 1500, 1000, 700):
        monkeypatch.setattr(report_data, "MIN_DOCUMENTS", 1)
        monkeypatch.setattr(report_data, "BYTES_PER_DOCUMENT", room)
        bundle = Explorer(model).report(suggestions=3)
        sizes.append(len(to_json(bundle).encode()) / 400)
        kept.append((max(len(row[7]) for row in bundle["documents"]) // 3, len(bundle["documents"][0][4] or "")))
        notes = " ".join(bundle["meta"]["notes"])
        assert f"{kept[-1][0]} words" in notes
        assert kept[-1][1] == 1000 or f"first {kept[-1][1]} characters" in notes or "Texts were left out" in notes
    assert kept[0] == (60, 1000)
    assert kept == sorted(kept, reverse=True)
    assert all(size <= room for size, room in zip(sizes[:3], (4000, 1500, 1000), strict=True)), sizes


def test_many_links_have_fewer_reasons(model, monkeypatch):
    monkeypatch.setattr(report_data, "MIN_DOCUMENTS", 1)

    def without_details(links):
        """Return links whose reasons do not name words, which have numbers of their own in each report."""
        return [[*row[:4], [reason[:3] for reason in row[4]]] for row in links]

    everything = without_details(Explorer(model).report(5)["links"])
    for room, kept in ((400, 3), (240, 2), (180, 1), (50, 0)):  # for each document, of which there are as many as links
        monkeypatch.setattr(report_data, "BYTES_PER_DOCUMENT", room)
        bundle = Explorer(model).report(5)
        assert without_details(bundle["links"]) == [[*row[:4], row[4][:kept]] for row in everything]
        assert any("For each link this file contains at most" in note for note in bundle["meta"]["notes"]) == (kept < 3)


def test_numbers_are_short(model):
    text = to_json(Explorer(model).report(5))
    longest = max(re.findall(r"\d+\.\d+", text.partition('"mixing"')[0] + text.partition('"provenance"')[2]), key=len)
    assert len(longest) <= 10, longest


# ----------------------------------------------------------------------------------------------------------------------
# Files
# ----------------------------------------------------------------------------------------------------------------------


def test_a_report_replaces_a_report_and_nothing_else(model, tmp_path):
    path = tmp_path / "report.html"
    size = write_report(model, path, title="one")
    assert size == path.stat().st_size
    write_report(model, path, title="two")
    assert "<title>two</title>" in path.read_text("utf-8")
    path.write_text("<html>mine</html>")
    with pytest.raises(DataError, match="not a report written by linktopics"):
        write_report(model, path)
    assert path.read_text() == "<html>mine</html>"
    write_report(model, path, overwrite=True)
    assert "<title>" in path.read_text("utf-8")
    assert os.listdir(tmp_path) == ["report.html"]


def test_places_that_cannot_be_written(model, tmp_path):
    with pytest.raises(DataError, match="this is a folder; give the path of a file"):
        write_report(model, tmp_path)
    with pytest.raises(DataError, match="there is no folder"):
        write_report(model, tmp_path / "nowhere" / "report.html")


def test_a_file_is_written_whole_or_not_at_all(model, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    write_report(model, path, title="old")
    before = path.read_bytes()

    def fail(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        with pytest.raises(DataError, match="No space left"):
            write_report(model, path, title="new")
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["report.html"]


def test_a_disk_that_becomes_read_only(model, tmp_path, monkeypatch):
    """Neither can the new file be made nor removed; what counts is the first."""

    def fail(*_, **__):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), "a name that says nothing")

    for name in ("write_bytes", "unlink"):
        monkeypatch.setattr(pathlib.Path, name, fail)
    with pytest.raises(DataError, match=r"report\.html: the report cannot be written \(Read-only file system\);"):
        write_report(model, tmp_path / "report.html")


def test_a_place_that_may_not_be_written_to_is_refused_before_the_work(model, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(tempfile, "TemporaryFile", fail)
    monkeypatch.setattr(report, "Explorer", lambda *_, **__: pytest.fail("work was done"))
    with pytest.raises(DataError, match=r"report\.html: the report cannot be written \(Read-only file system\);"):
        write_report(model, tmp_path / "report.html")
    assert os.listdir(tmp_path) == []


def test_too_many_documents(model, tmp_path, monkeypatch):
    monkeypatch.setattr(report, "MAX_REPORT_DOCUMENTS", 9)
    with pytest.raises(DataError, match=r"10 documents would be a file of about 0 MB.*linktopics serve"):
        write_report(model, tmp_path / "report.html")
    assert os.listdir(tmp_path) == []


def test_the_same_model_gives_the_same_file(model, tmp_path):
    for name in ("one.html", "two.html"):
        write_report(model, tmp_path / name)
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()
