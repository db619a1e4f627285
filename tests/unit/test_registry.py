"""The tables of names of losses, metrics, readers and pair features."""

import pytest

from linktopics.registry import FEATURES, LOSSES, METRICS, READERS, Registry, extensions


@pytest.mark.parametrize("registry", [LOSSES, METRICS, READERS, FEATURES], ids=lambda one: one.kind)
def test_the_table_of_names_is_that_of_the_modules(registry):
    """Every name in the table is registered by its module, which then adds nothing else."""
    for name in registry:
        assert registry[name] is not None
    ours = {name for name, (_, module) in registry._found.items() if module.startswith("linktopics.")}
    assert ours == set(registry._modules)


def test_a_registry_of_ones_own_is_nothing_that_other_processes_need():
    """Seen to fail where every registry was sent to processes, which do not know it."""
    Registry("shape", {}).add("square", 4, "shapes")
    assert "shape" not in extensions()
