"""The examples in docstrings, run on the installed package."""

import doctest
import importlib
import pkgutil

import pytest

import linktopics

MODULES = [m.name for m in pkgutil.walk_packages(linktopics.__path__, "linktopics.") if not m.name.endswith("__main__")]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name, monkeypatch, tmp_path):
    monkeypatch.setenv("LINKTOPICS_CACHE", str(tmp_path))
    module = importlib.import_module(name)
    assert doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS).failed == 0


def test_some_examples_exist():
    finder = doctest.DocTestFinder(exclude_empty=True)
    tests = [test for name in MODULES for test in finder.find(importlib.import_module(name)) if test.examples]
    assert len(tests) >= 5
