"""A module of the package imports only from floors below its own, or from its own.

Seen to fail against a sampler that imported the engines, and against predictions that imported the explorer.
"""

import ast
from pathlib import Path

import pytest

import linktopics

FLOORS = (
    ("cli", "__main__"),
    ("server",),
    ("explorer",),
    ("plots",),
    ("evaluation",),
    ("model",),
    ("storage",),
    ("model.run",),  # what storage reads and writes
    ("interop", "coherence", "stuck_chains", "diagnostics"),
    ("prediction",),
    ("features",),
    ("engines",),
    ("sampler",),
    ("readers.open",),  # opens data sets by name, too
    ("datasets",),
    ("readers",),
    ("network",),
    ("kernels",),
    ("utils",),
    ("registry",),  # names, and modules that are imported when a thing is asked for
    ("errors",),
)
"""Packages and modules from the top floor down; the longest name that fits a module says where it is."""

UPSTAIRS = {("network.network", "readers")}
"""Imports inside of functions that may lead up: ``DocumentNetwork.from_texts`` and the like call the readers."""

FLOOR = {name: floor for floor, names in enumerate(FLOORS) for name in names}
ROOT = Path(linktopics.__file__).parent
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in ROOT.rglob("*.py")
    if path != ROOT / "__init__.py"
}


def floor_of(module):
    parts = module.split(".")
    return next(FLOOR[name] for n in range(len(parts), 0, -1) if (name := ".".join(parts[:n])) in FLOOR)


def imports(node, in_function=False):
    """Give the modules of the package that are imported, and whether inside of a function; not those for types only."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if isinstance(child, ast.ImportFrom) and (child.module or "").startswith("linktopics."):
            module = child.module.removeprefix("linktopics.")
            names = (f"{module}.{alias.name}" for alias in child.names)
            yield from ((name if name in MODULES else module, in_function) for name in names)
        elif isinstance(child, ast.Import):
            names = (alias.name.removeprefix("linktopics.") for alias in child.names)
            yield from ((name, in_function) for name in names if name in MODULES)
        yield from imports(child, in_function or isinstance(child, ast.FunctionDef))


@pytest.mark.parametrize("module", sorted(MODULES))
def test_imports_lead_down(module):
    for imported, in_function in imports(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if in_function and (module, imported.partition(".")[0]) in UPSTAIRS:
            continue
        assert floor_of(imported) >= floor_of(module), f"{module} imports {imported}, which is on a floor above"


def test_the_rule_sees_an_import_that_leads_up():
    (found,) = imports(ast.parse("def f():\n    from linktopics.cli import main\n"))
    assert found == ("cli", True)
    assert floor_of(found[0]) < floor_of("sampler.runner") == floor_of("sampler") < floor_of("readers.folders")
    assert floor_of("model.run") > floor_of("storage.folder") > floor_of("model.estimator")
