"""The model that is served: all processes of a server load the same one, or fail."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from linktopics.errors import ModelError
from linktopics.model.estimator import RelationalTopicModel
from linktopics.storage.folder import ModelFolder


@dataclass(frozen=True)
class PinnedModel:
    """A model's folder, and the checksum of the manifest that was loaded from it.

    Arrays of a model that is loaded stay mapped into memory when another one is saved in its folder, so a process keeps
    the model that it loaded. A process that starts later finds the other model.

    Attributes
    ----------
    folder : Path
        The folder.
    checksum : str or None
        Checksum of the manifest, which contains the checksums of the data files; None is any model in the folder.
    """

    folder: Path
    checksum: str | None = None

    @classmethod
    def pin(cls, folder: Path) -> PinnedModel:
        """Return the model that a folder contains now."""
        return cls(folder, _checksum(folder))

    def load(self) -> RelationalTopicModel:
        """Return the model; raise ModelError if another one is in the folder now, or none."""
        self.check()
        try:
            return RelationalTopicModel.load(self.folder)
        finally:
            self.check()  # first if files are missing: then the model was replaced, not damaged

    def check(self) -> None:
        """Raise ModelError if another model is in the folder now, or none."""
        if _checksum(self.folder) != self.checksum is not None:
            cure = "restart linktopics serve to use the new one."
            raise ModelError(f"The model in {self.folder} was replaced while the server ran; {cure}")


def _checksum(folder: Path) -> str | None:
    """Return the checksum of the manifest; raise ModelError if there is none."""
    found = ModelFolder(folder)
    found.read_manifest()
    return found.checksum
