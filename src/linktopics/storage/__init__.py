"""Models on disk: a folder with a manifest, model.json, and arrays that are mapped into memory. No pickle anywhere."""

from linktopics.storage.checkpoints import Checkpoint, CheckpointWriter, hold_checkpoint
from linktopics.storage.folder import ModelFolder
from linktopics.storage.run_reader import load_run
from linktopics.storage.run_writer import RunWriter

__all__ = ["Checkpoint", "CheckpointWriter", "ModelFolder", "RunWriter", "hold_checkpoint", "load_run"]
