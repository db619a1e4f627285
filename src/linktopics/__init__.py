"""Topic models that read documents and the links between them.

Public names are imported on first use, so that ``import linktopics`` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linktopics import datasets, features, interop, plots
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
    from linktopics.evaluation import LinkSearchCV, baselines, evaluate, metrics
    from linktopics.model.estimator import RelationalTopicModel
    from linktopics.model.variational import VariationalRTM
    from linktopics.network import DocumentNetwork
    from linktopics.storage import Checkpoint

__version__ = "0.1.0"

__all__ = [
    "CacheWarning",
    "Checkpoint",
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
    "Checkpoint": "storage",
    "DocumentNetwork": "network",
    "LinkSearchCV": "evaluation",
    "RelationalTopicModel": "model.estimator",
    "VariationalRTM": "model.variational",
    "evaluate": "evaluation",
}
"""Modules that define public names; errors and warnings are in `errors`."""

_MODULES = {
    "baselines": "evaluation.baselines",
    "datasets": "datasets",
    "features": "features",
    "interop": "interop",
    "metrics": "evaluation.metrics",
    "plots": "plots",
}


if not TYPE_CHECKING:  # to a type checker such a function would make every misspelt name an Any

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return import_module(f"linktopics.{_MODULES[name]}")
        if name in __all__:
            return getattr(import_module(f"linktopics.{_HOME.get(name, 'errors')}"), name)
        raise AttributeError(f"module 'linktopics' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
