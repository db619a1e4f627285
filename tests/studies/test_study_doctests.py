"""The examples in docstrings of the studies."""

import doctest
import importlib
import pkgutil

import pytest

import studies

NAMES = [m.name for m in pkgutil.walk_packages(studies.__path__, "studies.") if not m.name.endswith("__main__")]


@pytest.mark.parametrize("name", NAMES)
def test_examples(name):
    module = importlib.import_module(name)
    assert doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS).failed == 0
