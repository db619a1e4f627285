"""The hooks of the documentation: figures and links of pages that stand outside docs/."""

import importlib
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]
if not (ROOT / "tools").is_dir():
    pytest.skip("tools/ is not here: an installed package or a source archive has none", allow_module_level=True)
pytest.importorskip("mkdocs")
pytest.importorskip("latex2mathml")


@pytest.fixture
def hooks(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    return importlib.import_module("hooks")


def shown(hooks, uri, text):
    published = {*hooks.PUBLISHED.values(), "index.md", "model.md", "how-to/explore.md", "studies/paper/cora/hinge.png"}
    files = SimpleNamespace(get_file_from_path=lambda path: path in published)
    return hooks.on_page_markdown(text, page=SimpleNamespace(file=SimpleNamespace(src_uri=uri)), files=files)


def test_the_line_of_a_figure_becomes_the_picture(hooks):
    pages = pytest.importorskip("studies.pages")
    line = pages.figure_line("Cora, hinge loss", "cora/hinge.png")
    assert shown(hooks, "studies/paper/README.md", f"Text.\n\n{line}\n") == (
        "Text.\n\n![Cora, hinge loss](cora/hinge.png)\n"
    )


@pytest.mark.parametrize(
    ("uri", "link", "becomes"),
    [
        ("how-to/explore.md", "[a](../../studies/paper/README.md#cora)", "[a](../studies/paper/README.md#cora)"),
        ("model.md", "[a](../ARCHITECTURE.md)", "[a](architecture.md)"),
        ("studies/features/README.md", "[a](../paper/README.md)", "[a](../paper/README.md)"),
        ("studies/features/README.md", "[a](../../docs/model.md)", "[a](../../model.md)"),
        ("studies/features/README.md", "[a](../plots.py)", "a"),
        ("studies/features/README.md", "[a](../missing.py)", "[a](../missing.py)"),
        ("contributing.md", "[a](README.md)", "[a](index.md)"),
    ],
)
def test_links_of_pages_outside_the_documentation(hooks, uri, link, becomes):
    assert shown(hooks, uri, link) == becomes


def test_what_is_published_is_there(hooks):
    assert [name for name in hooks.PUBLISHED if not (ROOT / name).is_file()] == []
