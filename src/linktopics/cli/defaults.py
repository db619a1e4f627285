"""Defaults of the Python interface, for options and their help.

They are read from the source: to import it takes a second, and ``--help`` should not.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import Any

import linktopics

MODEL = "RelationalTopicModel"
FILES = {
    MODEL: "model/estimator.py",
    "PAPER_SETTING": "model/estimator.py",
    "DEFAULT_LINK_COST": "model/training.py",
    "DEFAULT_FEATURES": "features/__init__.py",
    "WordPredictionMixin": "prediction/words_from_links.py",
    "Checkpoint": "storage/checkpoints.py",
    "write_report": "explorer/report.py",
    "evaluate": "evaluation/evaluation.py",
}
"""Where the classes, functions and constants are that hold defaults."""


@cache
def default(name: str) -> Any:
    """Return a default value by its place.

    Parameters
    ----------
    name : str
        A constant; a field of a class, an argument of a function or a key of a table after a dot
        (``PAPER_SETTING.n_chains``); or an argument of a method (``Checkpoint.every``). What does not begin with a name
        in `FILES` belongs to `RelationalTopicModel`.

    Examples
    --------
    >>> default("n_topics"), default("topics.n_words"), default("Checkpoint.every"), default("PAPER_SETTING.n_chains")
    (20, 8, 50, 1)
    """
    owner, *within = name.split(".") if name.partition(".")[0] in FILES else [MODEL, *name.split(".")]
    node = _definition(_module(FILES[owner]), owner)
    for part in within:
        node = _definition(node, part)
    return ast.literal_eval(node)


@cache
def _module(file: str) -> ast.Module:
    return ast.parse((Path(linktopics.__file__).parent / file).read_text(encoding="utf-8"))


def _definition(node: Any, name: str) -> Any:
    """Return what a name stands for within a module, a class, a function or a table."""
    if isinstance(node, ast.FunctionDef):
        arguments, defaults = node.args.args, node.args.defaults
        found = list(zip(arguments[len(arguments) - len(defaults) :], defaults, strict=True))
        found += [(one, value) for one, value in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if value]
        return next(value for argument, value in found if argument.arg == name)
    if isinstance(node, ast.Dict):
        keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
        return node.values[keys.index(name)]
    for child in node.body:
        if isinstance(child, ast.ClassDef | ast.FunctionDef) and child.name == name:
            return child
        targets = child.targets if isinstance(child, ast.Assign) else [getattr(child, "target", None)]
        if name in (getattr(target, "id", None) for target in targets):
            return child.value
    raise KeyError(name)
