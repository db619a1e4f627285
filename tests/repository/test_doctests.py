"""The examples in docstrings, run on the installed package.

Most of them begin with the same model of the same four texts: it is fitted once, and the others get a copy.
"""

import copy
import doctest
import importlib
import pkgutil

import pytest

import linktopics
from linktopics import DocumentNetwork, RelationalTopicModel
from support.small_models import described

MODULES = [m.name for m in pkgutil.walk_packages(linktopics.__path__, "linktopics.") if not m.name.endswith("__main__")]


@pytest.fixture(scope="module", autouse=True)
def fitted_once():
    """Let a fit of the same model to the same network, without more arguments, give a copy of the first result."""
    fit, made = RelationalTopicModel.fit, {}

    def fit_once(self, X, *args, **kwargs):
        if args or kwargs or not isinstance(X, DocumentNetwork):
            return fit(self, X, *args, **kwargs)
        asked = repr(sorted(self.get_params().items())) + repr(described(X))
        if asked not in made:
            made[asked] = copy.deepcopy(vars(fit(self, X)))
        vars(self).update(copy.deepcopy(made[asked]))
        return self

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RelationalTopicModel, "fit", fit_once)
        yield


@pytest.mark.parametrize("name", MODULES)
def test_examples(name, monkeypatch, shared_cache):
    monkeypatch.setenv("LINKTOPICS_CACHE", str(shared_cache))
    module = importlib.import_module(name)
    assert doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS).failed == 0


def test_some_examples_exist():
    finder = doctest.DocTestFinder(exclude_empty=True)
    tests = [test for name in MODULES for test in finder.find(importlib.import_module(name)) if test.examples]
    assert len(tests) >= 5
