"""The pages of the study are what their scripts make of the tables beside them."""

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = {"make_study": "study.md", "make_features": "features.md"}


@pytest.fixture
def load(monkeypatch):
    if not DOCS.is_dir():
        pytest.skip("docs/ is not here: an installed package or a source archive has none")
    monkeypatch.syspath_prepend(str(DOCS))  # one script uses the other

    def load(name):
        spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


@pytest.mark.parametrize(("name", "page"), PAGES.items())
def test_page_is_up_to_date(load, name, page):
    assert load(name).page() == (DOCS / "results" / page).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES.values())
@pytest.mark.usefixtures("load")
def test_pictures_and_tables_are_there(page):
    text = (DOCS / "results" / page).read_text(encoding="utf-8")
    linked = {part.split(")")[0] for part in text.split("](study/")[1:]}
    assert linked
    for name in linked:
        assert (DOCS / "results" / "study" / name).exists(), name


def test_thirteen_claims_each_with_a_verdict(load):
    claims = [claim() for claim in load("make_study").CLAIMS]
    assert len(claims) == 13
    for says, found, called in claims:
        assert called in ("holds", "does not hold", "differs")
        assert any(character.isdigit() for character in found), says


def test_the_defaults_are_compared_with_the_best_baseline(load):
    lines = load("make_features").against_baselines()
    assert len([line for line in lines if line.startswith("| ")]) == 1 + 4 * 3
    assert "cases" in lines[0]
