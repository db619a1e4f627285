"""A folder of arrays behind one manifest. The manifest names its files; renaming it into place is what makes a change.

Data files are written under names that were never used before. A crash at any moment therefore leaves the last manifest
with all its files, or, in a new folder, no manifest. Files that no manifest names are removed after the next change.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linktopics.errors import DataError, ModelError

__all__ = ["FORMAT", "MANIFEST", "ModelFolder"]

FORMAT = 1
"""Goes up when older versions could no longer read what is written."""

MANIFEST = "model.json"

SUFFIX = ".safetensors"

CHECKED_BYTES = 2**26
"""Files up to this size are compared with their checksum whenever a model is loaded."""

_FILE = r"(model\.json|(network|training|(chain|samples)-\d+)-[0-9a-f]{8}\.safetensors)"
_OURS = re.compile(rf"{_FILE}|\.{_FILE}\.[0-9a-f]{{8}}\.new")
"""Names of files that are written here; others are somebody else's, and never touched."""

Arrays = Mapping[str, NDArray]


class ModelFolder:
    """A folder that holds a model, or will.

    Parameters
    ----------
    path : path
        The folder.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    # ------------------------------------------------------------------------------------------------------------------
    # Writing
    # ------------------------------------------------------------------------------------------------------------------

    def claim(self, *, overwrite: bool) -> None:
        """Make the folder; refuse one that holds something else, or a model that is not to be replaced."""
        self.refuse_taken(overwrite=overwrite)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:  # a path that holds a zero
            why = error.strerror if isinstance(error, OSError) else error
            raise DataError(f"{self.path}: the folder cannot be made ({why}).") from None

    def refuse_taken(self, *, overwrite: bool) -> None:
        """Do what `claim` does, but make no folder."""
        try:
            if self.path.exists() and not self.path.is_dir():
                raise DataError(f"{self.path}: there is a file of this name; choose another for the model's folder.")
            names = sorted(os.listdir(self.path)) if self.path.is_dir() else []
        except OSError as error:
            raise DataError(f"{self.path}: the folder cannot be read ({error.strerror}).") from None
        others = [name for name in names if not self._is_ours(name)]
        if names == [MANIFEST]:
            others = names  # of somebody else: ours names files that are there
        if others:
            raise DataError(
                f"{self.path}: the folder holds other things ({others[0]}); choose an empty or a new folder."
            )
        if MANIFEST in names and not overwrite:
            raise DataError(
                f"{self.path}: there is a model already; choose another folder, or pass overwrite=True "
                "(--overwrite) to replace it."
            )

    def write(self, name: str, arrays: Arrays) -> dict[str, Any]:
        """Write arrays to a new file and return its entry for the manifest: name, size and checksum."""
        from safetensors.numpy import save

        data = save({key: np.ascontiguousarray(array) for key, array in arrays.items()})
        file = f"{name}-{secrets.token_hex(4)}{SUFFIX}"
        self._put(file, data)
        return {"file": file, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}

    def commit(self, manifest: dict[str, Any], entries: list[dict[str, Any]]) -> None:
        """Make a manifest the current one, and remove files that it does not name.

        Parameters
        ----------
        manifest : dict
            What JSON can hold.
        entries : list of dict
            What `write` returned, of all files that the manifest names.
        """
        body = {"format": FORMAT, **manifest, "files": entries}
        text = json.dumps({**body, "checksum": _checksum(body)}, indent=1, ensure_ascii=False)
        self._put(MANIFEST, text.encode("utf-8", "surrogatepass"))
        named = {entry["file"] for entry in entries}
        for name in os.listdir(self.path):
            if self._is_ours(name) and name != MANIFEST and name not in named:
                with contextlib.suppress(OSError):
                    os.unlink(self.path / name)

    def _put(self, name: str, data: bytes) -> None:
        """Write a file under another name, make sure it is on disk, and rename it."""
        new = self.path / f".{name}.{secrets.token_hex(4)}.new"
        try:
            with open(new, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(new, self.path / name)
            _settle(self.path)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(new)
            raise ModelError(f"{self.path / name}: cannot be written ({error.strerror}).") from None

    def _is_ours(self, name: str) -> bool:
        return _OURS.fullmatch(name) is not None

    # ------------------------------------------------------------------------------------------------------------------
    # Reading
    # ------------------------------------------------------------------------------------------------------------------

    def manifest(self) -> dict[str, Any]:
        """Read the manifest; refuse one that is damaged or of a newer format."""
        path = self.path / MANIFEST
        try:
            if not self.path.is_dir():
                raise ModelError(f"{self.path}: there is no such folder; check the path of the model.")
            found = json.loads(path.read_bytes().decode("utf-8", "surrogatepass"))
        except FileNotFoundError:
            raise ModelError(f"{self.path}: the folder holds no {MANIFEST}, so it is not a model.") from None
        except OSError as error:
            raise ModelError(f"{path}: cannot be read ({error.strerror}).") from None
        except (ValueError, RecursionError):
            raise self._damaged(MANIFEST, "it is not JSON") from None
        if not isinstance(found, dict) or not isinstance(found.get("format"), int):
            raise self._damaged(MANIFEST, "it does not say its format")
        if found["format"] > FORMAT:
            raise ModelError(
                f"{self.path}: the model has format {found['format']}, and this version of linktopics reads up to "
                f"{FORMAT}; install a newer one (pip install --upgrade linktopics)."
            )
        checksum = found.pop("checksum", None)
        if checksum != _checksum(found):
            raise self._damaged(MANIFEST, "its checksum does not fit its content")
        return found

    def check(self, manifest: dict[str, Any], *, everything: bool) -> None:
        """Compare the files with the manifest: all by their size, small ones (or `everything`) by their checksum."""
        files = manifest.get("files")
        if not isinstance(files, list) or not all(
            isinstance(entry, dict) and isinstance(entry.get("file"), str) for entry in files
        ):
            raise self._damaged(MANIFEST, "it does not name its files")
        for entry in files:
            name = entry["file"]
            if os.path.basename(name) != name or not name.endswith(SUFFIX):
                raise self._damaged(MANIFEST, f"it names the file {name!r}")
            path = self.path / name
            if not path.is_file():
                raise self._damaged(name, "it is missing")
            try:
                size = path.stat().st_size
                if size != entry["bytes"]:
                    raise self._damaged(name, f"it has {size:,} bytes where {entry['bytes']:,} were written")
                if (everything or size <= CHECKED_BYTES) and _file_checksum(path) != entry["sha256"]:
                    raise self._damaged(name, "its checksum does not fit its content")
            except OSError as error:
                raise ModelError(f"{path}: cannot be read ({error.strerror}).") from None

    def read(self, entry: dict[str, Any]) -> dict[str, NDArray]:
        """Map the arrays of a file into memory; what is written to them stays in memory.

        Arrays that cannot be written to would be another type to Numba, which compiles its kernels again for them.
        """
        from safetensors import SafetensorError, safe_open

        path = self.path / entry["file"]
        try:
            with safe_open(path, framework="numpy") as opened:
                names = list(opened.keys())
        except (SafetensorError, OSError) as error:
            raise self._damaged(entry["file"], str(error)) from None
        whole = np.memmap(path, dtype=np.uint8, mode="c")
        header_size = int(whole[:8].view("<u8")[0])
        header = json.loads(whole[8 : 8 + header_size].tobytes())  # which `safe_open` has checked
        return {name: _array(whole[8 + header_size :], header[name]) for name in names}

    def _damaged(self, name: str, how: str) -> ModelError:
        return ModelError(
            f"{self.path / name}: the model is damaged ({how}); take it from a copy, or fit and save it again."
        )


_TYPES = {
    "BOOL": "?", "U8": "u1", "I8": "i1", "I16": "<i2", "U16": "<u2", "I32": "<i4", "U32": "<u4", "I64": "<i8",
    "U64": "<u8", "F32": "<f4", "F64": "<f8",
}  # fmt: skip


def _array(data: NDArray[np.uint8], header: dict[str, Any]) -> NDArray:
    start, end = header["data_offsets"]
    part: NDArray = np.asarray(data[start:end]).view(_TYPES[header["dtype"]])
    return part.reshape(header["shape"])


def _settle(folder: Path) -> None:
    """Make sure that a renamed file is under its new name even if the power fails; not every system can."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _checksum(body: dict[str, Any]) -> str:
    text = json.dumps(body, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _file_checksum(path: Path) -> str:
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest() if hasattr(hashlib, "file_digest") else _slow(stream)


def _slow(stream: Any) -> str:
    """Do what `hashlib.file_digest` does from Python 3.11 on."""
    digest = hashlib.sha256()
    while chunk := stream.read(2**20):
        digest.update(chunk)
    return digest.hexdigest()
