"""The built-in network: Python's own library, read from a little fake one and from the real one."""

import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from linktopics.datasets import load_stdlib, stdlib
from linktopics.datasets._cache import cache_folder, read_json, write_json
from linktopics.errors import DataError, NetworkWarning
from support.files import write_files


def read_library(folder):
    modules, links = stdlib.read_modules(dict(stdlib.find_modules(folder)))
    return {module.name: module for module in modules}, set(links)


def run_python(code, **variables):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)} | variables
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    return run.stdout.strip()


# What there is to import; each source below is that of one more module.
LIBRARY = dict.fromkeys(["top.py", "pack/__init__.py", "pack/one.py", "pack/sub/__init__.py", "pack/sub/deep.py"], "")


@pytest.mark.parametrize(
    ("file", "source", "expected"),
    [
        ("user.py", "import top", {"top"}),
        ("user.py", "import top, pack.one", {"top", "pack.one"}),
        ("user.py", "import pack.sub.deep as c", {"pack.sub.deep"}),
        ("user.py", "from pack import one", {"pack.one"}),
        ("user.py", "from pack import one, helper", {"pack.one", "pack"}),
        ("user.py", "from pack.one import thing as other", {"pack.one"}),
        ("user.py", "from pack.sub import *", {"pack.sub"}),
        ("user.py", "def f():\n    class A:\n        def g(self):\n            import top", {"top"}),
        (
            "user.py",
            "try:\n    import no\nexcept ImportError:\n    import top\nfinally:\n    import pack",
            {"top", "pack"},
        ),
        ("user.py", "if x:\n    pass\nelse:\n    with y:\n        for i in y:\n            import top", {"top"}),
        ("user.py", "match x:\n    case 1:\n        import top", {"top"}),
        ("user.py", "import top\nimport top\nfrom top import a, b", {"top"}),
        ("user.py", "import top.path\nfrom pack.one.attribute import join", {"top", "pack.one"}),
        ("user.py", "import user\nfrom user import me", set()),
        ("user.py", "import sys, numpy\nfrom os.path import join", set()),
        ("user.py", "if __name__ == '__main__':\n    import top", set()),
        ("user.py", "from . import top", set()),
        ("pack/user.py", "from . import one", {"pack.one"}),
        ("pack/user.py", "from . import version", {"pack"}),
        ("pack/user.py", "from .one import thing", {"pack.one"}),
        ("pack/user.py", "from .sub import deep", {"pack.sub.deep"}),
        ("pack/user.py", "import top", {"top"}),
        ("pack/user.py", "from .. import top", set()),
        ("pack/sub/user.py", "from .. import one", {"pack.one"}),
        ("pack/sub/user.py", "from ..one import thing", {"pack.one"}),
        ("pack/sub/user.py", "from ... import one", set()),
        ("pack/sub/__init__.py", "from . import deep", {"pack.sub.deep"}),
        ("pack/sub/__init__.py", "from .deep import *", {"pack.sub.deep"}),
        ("pack/sub/__init__.py", "from .. import one", {"pack.one"}),
        ("pack/sub/__init__.py", "from . import *", set()),
    ],
)
def test_imports_become_links(tmp_path, file, source, expected):
    modules, links = read_library(write_files(tmp_path, LIBRARY | {file: source}))
    name = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    assert name in modules
    assert links == {(name, target) for target in expected}


def test_an_import_of_a_module_left_out_is_no_link_to_its_package(tmp_path):
    files = {"pack/__init__.py": "", "pack/tests/__init__.py": "", "pack/tests/help.py": "", "pack/a.py": ""}
    modules, links = read_library(write_files(tmp_path, files | {"pack/a.py": "from pack.tests.help import run"}))
    assert set(modules) == {"pack", "pack.a"}
    assert links == set()


def test_words_are_those_of_docstrings_and_names(tmp_path):
    source = '''
"""First sentence of it.  Second sentence."""
MAX_SIZE = 3
LIMIT: int = 4
lowercase_variable = "not a docstring"

class HTTPServer:
    """Serves."""
    def handle_request(self):
        """Handles."""
        def inner(): "Hidden."
    def __init__(self): "Starts."

async def fetchAll(): "Fetches."
'''
    modules, _ = read_library(write_files(tmp_path, {"web.py": source}))
    assert modules["web"].title == "First sentence of it"
    *docstrings, names = modules["web"].text.split("\n\n")
    expected = {"First sentence of it.  Second sentence.", "Serves.", "Handles.", "Hidden.", "Starts.", "Fetches."}
    assert set(docstrings) == expected
    assert " ".join(names.split()) == "web HTTP Server handle request inner fetch All MAX SIZE LIMIT"


@pytest.mark.parametrize(
    ("docstring", "title"),
    [
        ("One line", "One line"),
        ("One. Two.", "One"),
        ("Broken over\ntwo lines.\n\nMore.", "Broken over two lines"),
        ("mod.py - what it does.", "what it does"),
        ("Module mod -- what it does.", "what it does"),
        ("pack.mod\n\nWhat it does.", "What it does"),
        ("Mail, e.g. to me. More.", "Mail, e.g. to me"),
        ("The heading\n===========\n\nMore.", "The heading"),
        ("Copyright (C) me\n\nWhat it does.", "What it does"),
        ("", "pack.mod"),
        ("word " * 40, "word " * 15 + "..."),
    ],
)
def test_titles(tmp_path, docstring, title):
    files = {"pack/__init__.py": "", "pack/mod.py": f'"""{docstring}"""'}
    modules, _ = read_library(write_files(tmp_path, files))
    assert modules["pack.mod"].title == title


def test_names_are_split():
    names = ["handle_request", "HTTPServer", "_private", "asyncio.base_events", "BytesIO"]
    words = ["handle request", "HTTP Server", "private", "asyncio base events", "Bytes IO"]
    assert [stdlib.split_name(name) for name in names] == words


def test_files_that_cannot_be_parsed_are_passed_over(tmp_path):
    files = {
        "good.py": "import bad, nul",
        "bad.py": "def (:",
        "nul.py": b"a = 1\0",
        "cookie.py": b"# coding: nonsense\n",
    }
    modules, links = read_library(write_files(tmp_path, files))
    assert set(modules) == {"good"}
    assert links == set()


def test_source_in_another_encoding_is_read(tmp_path):
    source = '# -*- coding: latin-1 -*-\n"""Größe und Maß."""\n'.encode("latin-1")
    modules, _ = read_library(write_files(tmp_path, {"old.py": source}))
    assert modules["old"].title == "Größe und Maß"


def test_invalid_escapes_in_the_source_are_no_warning(tmp_path):
    folder = write_files(tmp_path, {"old.py": "import re\nx = '\\d'\n"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert set(read_library(folder)[0]) == {"old"}


def test_what_is_no_module_is_not_found(tmp_path):
    files = ["a.py", "b.txt", "site-packages/c.py", "data/d.py", "pack/__init__.py", "pack/e.py", "not-one.py"]
    folder = write_files(tmp_path, dict.fromkeys(files, ""))
    assert [name for name, _ in stdlib.find_modules(folder)] == ["a", "pack", "pack.e"]
    assert [name for name, _ in stdlib.find_modules(folder, top_level={"pack"})] == ["pack", "pack.e"]


def test_generated_tables_are_left_out(tmp_path):
    files = {"table.py": "# Auto-generated by a tool\n", "real.py": "'''A tree can be generated by parsing.'''"}
    assert set(read_library(write_files(tmp_path, files))[0]) == {"real"}


@pytest.mark.parametrize(
    "name",
    [
        "test", "test.support", "unittest.test.test_case", "idlelib.idle_test.htest", "_testbuffer", "ctypes.test",
        "__phello__.spam", "turtledemo.clock", "json.__main__", "ensurepip._bundled", "pip.main", "lib2to3.main",
        "_sysconfigdata__linux", "encodings.cp1252", "encodings.iso8859_15", "encodings.mac_roman", "encodings.gbk",
    ],
)  # fmt: skip
def test_names_left_out(name):
    assert stdlib.is_left_out(name)


@pytest.mark.parametrize("name", ["unittest.case", "doctest", "encodings.utf_8", "asyncio.streams", "this", "pipes"])
def test_names_kept(name):
    assert not stdlib.is_left_out(name)


# The cache


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Give a cache folder of the test's own, not there yet."""
    monkeypatch.setenv("LINKTOPICS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def little(tmp_path, monkeypatch, cache):
    """Put a little library in the place of the real one."""
    words = "'''Sockets send packets over networks.'''\n"
    files = {"os.py": words, "json/__init__.py": words + "import os", "json/tool.py": words + "import json, os"}
    folder = write_files(tmp_path / "library", files)
    monkeypatch.setattr(stdlib, "library_folder", lambda: folder)
    # Every word is in every document here.
    monkeypatch.setattr(stdlib, "make_vectorizer", lambda make=stdlib.make_vectorizer: make().set_params(max_df=1.0))
    return folder


@pytest.fixture
def reads(monkeypatch):
    """Count how often the source is read."""
    calls = []

    def read_modules(files, read=stdlib.read_modules):
        calls.append(1)
        return read(files)

    monkeypatch.setattr(stdlib, "read_modules", read_modules)
    return calls


def same(a, b):
    return (
        (a.counts != b.counts).nnz == 0
        and np.array_equal(a.links, b.links)
        and all(list(getattr(a, x)) == list(getattr(b, x)) for x in ("ids", "titles", "labels", "texts", "vocabulary"))
    )


def test_little_library(little):
    network = load_stdlib()
    assert list(network.ids) == ["json", "json.tool", "os"]
    assert list(network.labels) == ["json", "json", "module"]
    assert network.links.tolist() == [[0, 2], [1, 0], [1, 2]]
    assert network.report.clean
    assert network.vectorize(["Two packets_sent, networks"]).sum() == 2


def test_cache_is_used(little, cache, reads):
    first = load_stdlib()
    assert [path.suffix for path in cache.iterdir()] == [".json"]
    assert same(first, load_stdlib())
    assert len(reads) == 1


def test_without_cache_nothing_is_read_or_written(little, cache, reads):
    load_stdlib(cache=False)
    assert not cache.exists()
    load_stdlib()
    load_stdlib(cache=False)
    assert len(reads) == 3


def test_a_changed_library_is_read_anew(little, reads):
    load_stdlib()
    with (little / "os.py").open("a") as file:
        file.write("import json")
    assert load_stdlib().n_links == 4
    assert len(reads) == 2


@pytest.mark.parametrize(
    "damage",
    [b"", b"[[[\"os\", \"O", b"null", b"{}", b"[[], []]", b"[[[1]], []]", b"[1, 2]", b"\xff\xfe", b"[" * 100_000,
     b'[[["os", "", "words"]], [["os", "sys"]]]'],
)  # fmt: skip
def test_a_damaged_cache_is_replaced(little, cache, reads, damage):
    first = load_stdlib()
    (file,) = cache.iterdir()
    whole = file.read_bytes()
    file.write_bytes(damage)
    assert same(first, load_stdlib())
    assert file.read_bytes() == whole
    assert len(reads) == 2


def test_a_cache_that_cannot_be_written_is_no_error(little, cache, monkeypatch):
    cache.write_text("a file where the folder should be")
    assert load_stdlib().n_documents == 3
    monkeypatch.setattr(stdlib, "LOADER_VERSION", -1)
    monkeypatch.setenv("LINKTOPICS_CACHE", str(cache.parent / "full"))

    def fail(*paths):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "replace", fail)
    assert load_stdlib().n_documents == 3
    assert list((cache.parent / "full").iterdir()) == []  # no half of a file stays behind


def test_no_source_is_an_error_that_says_what_to_do(tmp_path, monkeypatch, cache):
    monkeypatch.setattr(stdlib, "library_folder", lambda: tmp_path / "python.zip")
    with pytest.raises(DataError, match=r"no Python source .* Use a Python installed with its library"):
        load_stdlib()


def test_cache_folder(monkeypatch, tmp_path):
    for name in ("LINKTOPICS_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    for system, expected in [("linux", ".cache"), ("win32", ".cache"), ("darwin", "Library/Caches")]:
        monkeypatch.setattr(sys, "platform", system)
        assert cache_folder() == tmp_path / expected / "linktopics"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert cache_folder() == tmp_path / "local" / "linktopics"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "linktopics"
    monkeypatch.setenv("LINKTOPICS_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"


def test_without_home_there_is_no_cache(monkeypatch):
    def no_home():
        raise RuntimeError("could not determine home directory")

    for name in ("LINKTOPICS_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    assert not write_json("a.json", [])
    assert read_json("a.json") is None


# The library of the Python that runs the tests


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """Load the real network, from the source and then from the cache: twice the same, nothing to warn about."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        patch.setenv("LINKTOPICS_CACHE", str(tmp_path_factory.mktemp("cache")))
        warnings.simplefilter("error", NetworkWarning)
        read, cached = load_stdlib(), load_stdlib()
    assert same(read, cached)
    return read


@pytest.mark.long
def test_real_size(network):
    assert 300 < network.n_documents < 800
    assert 1500 < network.n_links < 4000
    assert 2000 < network.n_words < 6000
    assert 50_000 < network.n_tokens < 200_000
    assert network.directed
    assert network.report.clean


@pytest.mark.long
def test_real_reading_is_deterministic(network):
    # In another process, where sets have another order.
    code = "from linktopics.datasets import load_stdlib; print(load_stdlib(cache=False).fingerprint())"
    assert run_python(code, PYTHONHASHSEED="1") == network.fingerprint()


def test_real_links(network):
    links = {(str(network.ids[a]), str(network.ids[b])) for a, b in network.links}
    assert links >= {
        ("asyncio.streams", "asyncio.events"),
        ("asyncio.streams", "socket"),
        ("http.client", "ssl"),
        ("http.client", "email.parser"),
        ("json", "json.decoder"),
        ("os", "stat"),
        ("argparse", "shutil"),  # inside a function
        ("xml.dom.minidom", "xml.dom"),
    }
    most_imported = np.bincount(network.links[:, 1]).argsort()[::-1][:10]
    assert {"os", "re", "warnings", "io", "functools"} <= set(network.ids[most_imported])


def test_real_network_has_nothing_that_is_left_out(network):
    assert not [name for name in network.ids if stdlib.is_left_out(name)]
    assert not {"token", "keyword", "stringprep", "pydoc_data.topics", "numpy", "pytest"} & set(network.ids)
    assert {"ast", "encodings.utf_8", "asyncio", "email.message", "unittest.mock"} <= set(network.ids)


def test_real_words(network):
    words = set(network.vocabulary)
    assert words >= {"file", "socket", "http", "email", "thread", "xml", "codec", "window"}
    assert not words & {"self", "return", "returns", "none", "kwargs", "the", "don", "doesn"}
    assert all(len(word) >= 3 and word.isalpha() and word == word.lower() for word in words)
    assert all(len(title) <= 80 for title in network.titles)


def test_importing_the_datasets_is_light():
    heavy = "print(*(set(sys.modules) & {'numpy', 'sklearn', 'pandas', 'numba', 'scipy'}))"
    assert run_python(f"import sys, linktopics.datasets; {heavy}") == ""
