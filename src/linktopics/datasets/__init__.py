"""Networks to try the models on: Python's own standard library, published ones, simulated ones and your own.

Names are imported on first use, so that ``import linktopics.datasets`` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linktopics.datasets.linqs import load_citeseer, load_cora, load_webkb
    from linktopics.datasets.stdlib import load_stdlib
    from linktopics.datasets.synthetic import make_network
    from linktopics.readers.open import open_network

__all__ = ["load_citeseer", "load_cora", "load_stdlib", "load_webkb", "make_network", "open_network"]

_HOME = {
    "load_citeseer": "datasets.linqs",
    "load_cora": "datasets.linqs",
    "load_stdlib": "datasets.stdlib",
    "load_webkb": "datasets.linqs",
    "make_network": "datasets.synthetic",
    "open_network": "readers.open",
}


if not TYPE_CHECKING:  # to a type checker such a function would make every misspelt name an Any

    def __getattr__(name: str) -> Any:
        if name in _HOME:
            return getattr(import_module(f"linktopics.{_HOME[name]}"), name)
        raise AttributeError(f"module 'linktopics.datasets' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
