"""The page of the study is what its script makes of the tables beside it."""

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture
def script():
    if not DOCS.is_dir():
        pytest.skip("docs/ is not here: an installed package or a source archive has none")
    spec = importlib.util.spec_from_file_location("make_study", DOCS / "make_study.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_page_is_up_to_date(script):
    assert script.page() == (DOCS / "results" / "study.md").read_text(encoding="utf-8")


def test_pictures_and_tables_are_there(script):
    text = (DOCS / "results" / "study.md").read_text(encoding="utf-8")
    linked = {part.split(")")[0] for part in text.split("](study/")[1:]}
    assert linked
    for name in linked:
        assert (DOCS / "results" / "study" / name).exists(), name


def test_thirteen_claims_each_with_a_verdict(script):
    claims = [claim() for claim in script.CLAIMS]
    assert len(claims) == 13
    for says, found, called in claims:
        assert called in ("holds", "does not hold", "differs")
        assert any(character.isdigit() for character in found), says
