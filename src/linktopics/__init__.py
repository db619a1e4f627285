"""Topic models that read documents and the links between them.

Public names are imported on first use, so that ``import linktopics`` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linktopics import datasets
    from linktopics.errors import DataError, LinktopicsError, NetworkWarning, SamplingError, UnseenWordsWarning
    from linktopics.model import RelationalTopicModel
    from linktopics.network import DocumentNetwork
    from linktopics.variational import VariationalRTM

__version__ = "0.1.0.dev0"

__all__ = [
    "DataError",
    "DocumentNetwork",
    "LinktopicsError",
    "NetworkWarning",
    "RelationalTopicModel",
    "SamplingError",
    "UnseenWordsWarning",
    "VariationalRTM",
    "datasets",
]

_HOME = {
    "DataError": "errors",
    "DocumentNetwork": "network",
    "LinktopicsError": "errors",
    "NetworkWarning": "errors",
    "RelationalTopicModel": "model",
    "SamplingError": "errors",
    "UnseenWordsWarning": "errors",
    "VariationalRTM": "variational",
}


def __getattr__(name: str) -> Any:
    if name == "datasets":
        return import_module("linktopics.datasets")
    if name in _HOME:
        return getattr(import_module(f"linktopics.{_HOME[name]}"), name)
    raise AttributeError(f"module 'linktopics' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
