"""The pages of the studies are what the tables beside them give."""

import re

import pytest

from studies import pages
from studies.features.page import against_baselines
from studies.paper.claims import CLAIMS

FIGURE = re.compile(r"^\*Figure: .+ \((.+)\)\*$", re.MULTILINE)


@pytest.mark.parametrize("name", pages.PAGES)
def test_page_is_up_to_date(name):
    path, text = pages.page_of(name)
    assert text == path.read_text(encoding="utf-8"), "run python -m studies.pages"


@pytest.mark.long
def test_figures_on_the_pages_are_those_that_are_drawn(monkeypatch):
    monkeypatch.setattr(pages, "png", lambda figure, **_: figure.get_axes())
    drawn = dict(pages.pictures())
    assert all(drawn.values())
    named = [path.parent / name for path, text in map(pages.page_of, pages.PAGES) for name in FIGURE.findall(text)]
    assert sorted(named) == sorted(drawn)


def test_a_picture_is_the_same_file_each_time():
    once, again = (pages.png(pages.figures_of("suggestions")["true-links.png"]) for _ in range(2))
    assert once.startswith(b"\x89PNG")
    assert once == again


def test_thirteen_claims_each_with_a_verdict():
    claims = [claim() for claim in CLAIMS]
    assert len(claims) == 13
    for says, found, called in claims:
        assert called in ("holds", "does not hold", "differs")
        assert any(character.isdigit() for character in found), says


def test_the_defaults_are_compared_with_the_best_baseline():
    lines = against_baselines()
    assert len([line for line in lines if line.startswith("| ")]) == 1 + 4 * 3
    assert "cases" in lines[0]
