"""The model that a server answers from: all its processes load the same one, or do not answer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from linktopics.errors import ModelError
from linktopics.model import RelationalTopicModel
from linktopics.storage.folder import ModelFolder

__all__ = ["PinnedModel"]


@dataclass(frozen=True)
class PinnedModel:
    """A model's folder, and the checksum of the manifest that was loaded from it.

    Arrays of a model that is loaded stay mapped into memory when another one is saved in its folder, so a process goes
    on answering from the model that it loaded. A process that starts later finds the other model.

    Attributes
    ----------
    folder : Path
        The folder.
    checksum : str or None
        Checksum of the manifest, which names the data files with theirs; None is any model that is there.
    """

    folder: Path
    checksum: str | None = None

    def load(self) -> RelationalTopicModel:
        """Return the model; raise ModelError if another one is in the folder now, or none."""
        try:
            model = RelationalTopicModel.load(self.folder)
        except ModelError:
            self.check()  # files that are missing because another model takes their place are no damage
            raise
        if self.checksum not in (None, model._run.checksum):
            raise self._replaced()
        return model

    def check(self) -> None:
        """Raise ModelError if another model is in the folder now, or none."""
        folder = ModelFolder(self.folder)
        folder.manifest()
        if self.checksum not in (None, folder.checksum):
            raise self._replaced()

    def _replaced(self) -> ModelError:
        cure = "restart linktopics serve to use the new one."
        return ModelError(f"The model in {self.folder} was replaced while the server ran; {cure}")
