"""Losses, metrics, readers and pair features by name; the module of each is imported when it is first used.

Each registers itself in the module that defines it: `register_loss` (linktopics.sampler.losses), `register_metric`
(linktopics.evaluation.metrics), `register_reader` (linktopics.readers) and `register_feature` (linktopics.features).
For the package's own objects, the tables below name the module, so that names are known without importing it.
`docs/developer/how-to-add.md` has an example of each.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from linktopics.errors import DataError, ModelError

if TYPE_CHECKING:
    from linktopics.evaluation.metrics import Metric
    from linktopics.features.base import PairFeature
    from linktopics.readers import Reader
    from linktopics.sampler.losses import Loss

T = TypeVar("T")


class Registry(Mapping[str, T]):
    """Objects of one kind by name: those of the package first, then others in the order of registration.

    Parameters
    ----------
    kind : str
        The kind, for messages.
    modules : dict of str to str
        Names of the package's own objects, and the module of each, which is imported on first use.

    Examples
    --------
    >>> shapes = Registry("shape", {})
    >>> shapes.add("square", [(0, 0), (0, 1), (1, 1), (1, 0)], "my_shapes")
    >>> "square" in shapes, list(shapes)
    (True, ['square'])
    """

    def __init__(self, kind: str, modules: Mapping[str, str]) -> None:
        self.kind, self._modules = kind, dict(modules)
        self._found: dict[str, tuple[T, str]] = {}

    def add(self, name: str, item: T, module: str) -> None:
        """Register an object that `module` defines; only the same module can register the name again."""
        if not isinstance(name, str) or not name:
            raise ValueError(f"the name of a {self.kind} is {name!r}; it must be a string.")
        owner = self._modules.get(name) or self._found.get(name, (None, module))[1]
        if module != owner:
            raise ValueError(f"a {self.kind} called {name!r} is registered already, by {owner}; choose another name.")
        self._found[name] = item, module

    def __getitem__(self, name: str) -> T:
        if name not in self._found and name in self._modules:
            import_module(self._modules[name])
        return self._found[name][0]

    def __contains__(self, name: object) -> bool:
        return name in self._modules or name in self._found

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self._modules, *self._found]))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def missing(self, name: object) -> ModelError:
        """Return the error for a model that needs an object that is not registered."""
        return ModelError(
            f"the model needs the {self.kind} {repr(name)[:60]}, which is not registered; import the module that "
            "registers it first (on the command line: linktopics --plugin MODULE)."
        )


LOSSES: Registry[type[Loss]] = Registry("loss", dict.fromkeys(("logistic", "hinge"), "linktopics.sampler.losses"))
METRICS: Registry[Metric] = Registry(
    "metric",
    dict.fromkeys(
        ("link_rank", "median_rank", "mrr", "hits_at_20", "auc", "word_rank"), "linktopics.evaluation.metrics"
    ),
)
READERS: Registry[Reader] = Registry(
    "reader", {name: f"linktopics.readers.{name}" for name in ("jsonl", "linqs", "ldac", "folders")}
)
FEATURES: Registry[PairFeature] = Registry(
    "pair feature",
    {
        **dict.fromkeys(
            (f"{of}{part}" for of in ("tfidf", "topics") for part in ("", "-neighbours", "-centroid")),
            "linktopics.features.similarity",
        ),
        **dict.fromkeys(("degree", "intercept"), "linktopics.features.degree"),
    },
)
FEATURE_KINDS: Registry[type[PairFeature]] = Registry(
    "kind of pair feature", dict.fromkeys(("Column", "PairMatrix", "PairFunction"), "linktopics.features.user")
)


_REGISTRIES: dict[str, Registry[Any]] = {one.kind: one for one in (LOSSES, METRICS, READERS, FEATURES, FEATURE_KINDS)}


def extensions() -> dict[str, dict[str, tuple[Any, str]]]:
    """Return the objects that other packages registered, by kind and name, to `install` them in another process."""
    return {
        kind: {name: found for name, found in one._found.items() if name not in one._modules}
        for kind, one in _REGISTRIES.items()
    }


def extension_modules() -> list[str]:
    """Return the modules of other packages that registered objects, to import them in another process."""
    return list(dict.fromkeys(module for items in extensions().values() for _, module in items.values()))


def install(registered: Mapping[str, Mapping[str, tuple[Any, str]]]) -> None:
    """Register what `extensions` returned in another process."""
    for kind, items in registered.items():
        for name, (item, module) in items.items():
            _REGISTRIES[kind]._found.setdefault(name, (item, module))


def load_plugin(name: str) -> None:
    """Import a module that registers objects, given its name or the path of a Python file."""
    try:
        if not name.endswith(".py"):
            import_module(name)
            return
        path = Path(name).resolve(strict=True)
        sys.path.append(os.fspath(path.parent))  # child processes search there, too
        module = import_module(path.stem)
    except Exception as error:
        raise DataError(
            f"the plugin {name!r} cannot be imported ({type(error).__name__}: {error}); give the name of an installed "
            "module or the path of a Python file."
        ) from error
    if Path(module.__file__ or "").resolve() != path:
        raise DataError(f"the plugin {name!r} has the name of another module ({module.__name__}); rename the file.")
