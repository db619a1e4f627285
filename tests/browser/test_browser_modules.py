"""The files of the front end: what lets a report join them, and what keeps texts of the data texts."""

import posixpath
import re
from collections import Counter

import pytest

from linktopics.explorer.page import STYLE, static_file, static_names

MODULES = {name: static_file(name) for name in static_names() if name.endswith(".js")}
NAMED = re.compile(r"^(?:export )?(?:async )?(?:function\*?|class) ([\w$]+)", re.MULTILINE)
DECLARED = re.compile(r"^(?:export )?(?:const|let) (.*)", re.MULTILINE)
IMPORT = re.compile(r'^import \{ ([\w, ]+) \} from "(\.\.?/[\w/-]+\.js)";$', re.MULTILINE)


def top_level_names(source):
    """Return the names that a module declares, those of lists like `const A = 0, B = 1` too."""
    return NAMED.findall(source) + [
        name for line in DECLARED.findall(source) for name in re.findall(r"([\w$]+) = ", line)
    ]


def test_no_two_modules_have_the_same_top_level_name():
    names = Counter(name for source in MODULES.values() for name in top_level_names(source))
    assert names["LABEL"] == names["Model"] == names["make"] == 1
    assert [name for name, times in names.items() if times > 1] == []


@pytest.mark.parametrize("name", sorted(MODULES))
def test_imports_stand_one_per_line_and_are_exported_there(name):
    source = MODULES[name]
    assert len(re.findall(r"\bimport\b(?=[ (*{])", source)) == len(IMPORT.findall(source))
    for names, address in IMPORT.findall(source):
        module = MODULES[posixpath.normpath(posixpath.join(posixpath.dirname(name), address))]
        for each in names.split(", "):
            assert re.search(rf"^export (?:async )?(?:function|const|class) {each}\b", module, re.MULTILINE)
            assert len(re.findall(rf"\b{each}\b", source)) > 1, f"{each} is imported and not used"
    assert "export default" not in source
    assert not re.search(r"^export [{*]", source, re.MULTILINE)


@pytest.mark.parametrize("name", sorted(MODULES))
def test_nothing_is_taken_for_html_or_code_or_fetched_from_elsewhere(name):
    banned = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|localStorage|sessionStorage"
    assert not re.search(banned, MODULES[name])
    addresses = re.findall(r"https?://[^\s\"'`]+", MODULES[name])
    assert all(address == "http://www.w3.org/2000/svg" for address in addresses)


def test_the_style_fetches_nothing():
    style = static_file(STYLE)
    assert not re.search(r"url\(|@import|@font-face", style)


@pytest.mark.parametrize("name", sorted(MODULES))
def test_files_are_short(name):
    assert MODULES[name].count("\n") <= 400
