"""Models on disk: a folder with a manifest, model.json, and arrays that are mapped into memory. No pickle anywhere."""

from linktopics.storage.checkpoints import Checkpoints
from linktopics.storage.folder import ModelFolder
from linktopics.storage.keeping import Keeper, load_run

__all__ = ["Checkpoints", "Keeper", "ModelFolder", "load_run"]
