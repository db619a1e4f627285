"""Topic models that read documents and the links between them.

Public names are imported on first use, so that ``import linktopics`` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linktopics import baselines, datasets, features, interop, metrics, plots
    from linktopics.errors import (
        CacheWarning,
        CheckpointWarning,
        DataError,
        LinktopicsError,
        MixingWarning,
        ModelError,
        NetworkWarning,
        SamplingError,
        UnseenWordsWarning,
    )
    from linktopics.evaluation import evaluate
    from linktopics.model import RelationalTopicModel
    from linktopics.network import DocumentNetwork
    from linktopics.search import LinkSearchCV
    from linktopics.variational import VariationalRTM

__version__ = "0.1.0.dev0"

__all__ = [
    "CacheWarning",
    "CheckpointWarning",
    "DataError",
    "DocumentNetwork",
    "LinkSearchCV",
    "LinktopicsError",
    "MixingWarning",
    "ModelError",
    "NetworkWarning",
    "RelationalTopicModel",
    "SamplingError",
    "UnseenWordsWarning",
    "VariationalRTM",
    "baselines",
    "datasets",
    "evaluate",
    "features",
    "interop",
    "metrics",
    "plots",
]

_HOME = {
    "CacheWarning": "errors",
    "CheckpointWarning": "errors",
    "DataError": "errors",
    "DocumentNetwork": "network",
    "LinkSearchCV": "search",
    "LinktopicsError": "errors",
    "MixingWarning": "errors",
    "ModelError": "errors",
    "NetworkWarning": "errors",
    "RelationalTopicModel": "model",
    "SamplingError": "errors",
    "UnseenWordsWarning": "errors",
    "VariationalRTM": "variational",
    "evaluate": "evaluation",
}

_MODULES = ("baselines", "datasets", "features", "interop", "metrics", "plots")


if not TYPE_CHECKING:  # to a type checker such a function would make every misspelt name an Any

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return import_module(f"linktopics.{name}")
        if name in _HOME:
            return getattr(import_module(f"linktopics.{_HOME[name]}"), name)
        raise AttributeError(f"module 'linktopics' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
