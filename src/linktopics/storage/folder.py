"""A folder of files of arrays and a manifest that lists them; renaming a new manifest into place is the commit.

Data files are written under names that were never used before. A crash at any moment therefore leaves the last manifest
with all its files, or, in a new folder, no manifest. While a run is in progress there is a second manifest, of the
previous checkpoint, in case the disk damages the first. Files that neither lists are removed after the next commit. A
writer holds the folder's lock.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import secrets
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linktopics.errors import DataError, LinktopicsError, ModelError
from linktopics.storage.lock import LOCK, FolderLock
from linktopics.storage.manifest import (
    FORMAT,
    MAX_MANIFEST_BYTES,
    Manifest,
    decode_manifest,
    encode_manifest,
    format_error,
    manifest_checksum,
)
from linktopics.storage.system_files import is_system_file
from linktopics.utils.atomic_write import atomic_write

MANIFEST = "model.json"

PREVIOUS_MANIFEST = "model-previous.json"
"""The manifest of the checkpoint before the last one."""

SUFFIX = ".safetensors"

CHECKSUM_MAX_BYTES = 2**26
"""Files up to this size are compared with their checksum whenever a model is loaded."""

MAX_HEADER_BYTES = 2**24
"""The header of a file of arrays is read whole."""

_FILE = r"(model(-previous)?\.json|(network|training|(chain|samples)-\d+)-[0-9a-f]{8}\.safetensors)"
_OURS = re.compile(rf"{re.escape(LOCK)}|{_FILE}|\.{_FILE}\.[0-9a-f]{{8}}\.new")
"""Names of files that are written here; others are never touched."""


class ModelFolder:
    """A folder that holds a model, or will.

    Parameters
    ----------
    path : path
        The folder.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.checksum: str | None = None  # of the manifest that was read last
        self._lock: FolderLock | None = None
        self._text = b""  # of the manifest that was committed last
        self._digest = b""  # of the text of the manifest that was read last
        self._committed: set[str] = set()  # the files that the manifest lists
        self._uncommitted: list[str] = []  # files written since

    def __fspath__(self) -> str:
        return str(self.path)

    # ------------------------------------------------------------------------------------------------------------------
    # Locking
    # ------------------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def locked(self, *, overwrite: bool, make: bool = True) -> Iterator[None]:
        """Return a context in which the folder is locked; raise if another process holds it or it is read-only.

        Parameters
        ----------
        overwrite : bool
            Whether a model that is there may be replaced; otherwise it is refused.
        make : bool, default=True
            Whether to create the folder, which is removed again if it stays empty; otherwise it must hold a model.
        """
        if self._lock is not None:  # by the caller
            yield
            return
        if not make:
            self._check_has_model()
        if LOCK not in self._check_content(overwrite=True, make=make):  # otherwise the owner is reported first
            self._check_content(overwrite=overwrite, make=make)
        made, lock = self._create(), FolderLock(self.path)
        try:
            with _system_errors_as_model_errors(lock.path):
                lock.acquire()
            self._check_content(overwrite=overwrite, make=make)  # again, now that nobody else writes
            self._lock = lock
            yield
        finally:
            self._lock = None
            lock.release()
            for path in made:
                with contextlib.suppress(OSError):
                    path.rmdir()  # if it is empty

    def _create(self) -> list[Path]:
        """Return the folder and its parents, as far as they had to be created, inner ones first."""
        try:
            made = list(takewhile(lambda path: not path.exists(), (self.path, *self.path.parents)))
            self.path.mkdir(parents=True, exist_ok=True)
            for path in made:
                with contextlib.suppress(OSError):  # a parent that cannot be read
                    _sync(path.parent)
        except (OSError, ValueError) as error:  # ValueError: the path contains a null byte
            why = error.strerror if isinstance(error, OSError) else error
            raise DataError(f"{self.path}: the folder cannot be created ({why}).") from None
        return made

    def _check_content(self, *, overwrite: bool, make: bool) -> list[str]:
        """Return the names in the folder; raise DataError if it holds other files, or a model not to be replaced.

        Files of operating systems and sync clients are ignored.
        """
        try:
            if self.path.exists() and not self.path.is_dir():
                raise DataError(f"{self.path}: this is a file; choose another name for the model's folder.")
            names = sorted(os.listdir(self.path)) if self.path.is_dir() else []
            names = [name for name in names if not is_system_file(name)]
        except OSError as error:
            raise DataError(f"{self.path}: the folder cannot be read ({error.strerror}).") from None
        others = [name for name in names if not _OURS.fullmatch(name)]
        if make and [name for name in names if name != LOCK] == [MANIFEST]:
            others = [MANIFEST]  # of another program: ours lists files that exist
        if others:
            raise DataError(
                f"{self.path}: the folder holds other files (such as {others[0]}); choose an empty or a new folder."
            )
        if not overwrite and (MANIFEST in names or PREVIOUS_MANIFEST in names):
            raise DataError(
                f"{self.path}: there is a model already; choose another folder, or pass overwrite=True "
                "(--overwrite) to replace it."
            )
        return names

    def _check_has_model(self) -> None:
        """Raise ModelError if the folder holds no model."""
        if not self.path.is_dir():
            raise ModelError(f"{self.path}: there is no such folder; check the path of the model.")
        if not os.path.lexists(self.path / MANIFEST) and not self.has_previous:
            raise ModelError(f"{self.path}: the folder holds no {MANIFEST}, so it is not a model.")

    def is_intact(self) -> bool:
        """Return whether all that was committed is in the folder; raise ModelError if another model replaced it."""
        if self._lock is None:
            raise ModelError(f"{self.path}: the folder is not locked any more.")
        with _system_errors_as_model_errors(self.path):
            try:
                if not self.path.is_dir():
                    return False
                self._lock.acquire()  # again, if its file was removed
                text = (self.path / MANIFEST).read_bytes()
            except FileNotFoundError:
                return False
        if text != self._text:
            raise ModelError(f"{self.path}: another model was saved in the folder; it is left unchanged.")
        return all((self.path / name).is_file() for name in self._committed)

    def recreate(self) -> None:
        """Create the folder again after it was removed, and lock it."""
        assert self._lock is not None
        self._check_content(overwrite=True, make=False)
        self._create()
        with _system_errors_as_model_errors(self._lock.path):
            self._lock.acquire()
        self._text, self._committed = b"", set()

    # ------------------------------------------------------------------------------------------------------------------
    # Writing
    # ------------------------------------------------------------------------------------------------------------------

    def write(self, name: str, arrays: Mapping[str, NDArray]) -> dict[str, Any]:
        """Return the manifest entry (name, size and checksum) of a new file, to which the arrays are written."""
        from safetensors.numpy import save

        data = save({key: np.ascontiguousarray(array) for key, array in arrays.items()})
        file = f"{name}-{secrets.token_hex(4)}{SUFFIX}"
        self._write_file(file, data)
        self._uncommitted.append(file)
        self._sync()
        return {"file": file, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}

    def commit(self, manifest: dict[str, Any], entries: list[dict[str, Any]]) -> None:
        """Make a manifest the current one; if that fails, the last one stays.

        Parameters
        ----------
        manifest : dict
            The content of the manifest, without its files.
        entries : list of dict
            What `write` returned, for all files that the manifest names.
        """
        text = self._encode(manifest, entries)
        if not self._text and self.has_previous:
            with contextlib.suppress(ModelError):  # of a damaged model, whose previous checkpoint may be needed
                self.check_files(self.read_manifest(), everything=True)
                # That of an earlier run is not a previous checkpoint of this one.
                (self.path / PREVIOUS_MANIFEST).unlink(missing_ok=True)
        self._write_file(MANIFEST, text)
        self._text, self._committed, self._uncommitted = text, {entry["file"] for entry in entries}, []

    def rollback(self) -> None:
        """Remove what was written since the last commit."""
        self._remove(self._uncommitted)
        self._uncommitted = []

    def prune(self, previous: dict[str, Any] | None = None, entries: Sequence[dict[str, Any]] = ()) -> None:
        """After a commit, write the previous manifest, if any, and remove files that neither manifest lists.

        Parameters
        ----------
        previous : dict, optional
            The manifest of the previous checkpoint.
        entries : sequence of dict
            Its files.
        """
        named = {MANIFEST, LOCK, *self._committed}
        self._sync()  # before anything is removed
        if previous is not None:
            self._write_file(PREVIOUS_MANIFEST, self._encode(previous, entries))
            self._sync()
            named |= {PREVIOUS_MANIFEST, *(entry["file"] for entry in entries)}
        with _system_errors_as_model_errors(self.path):
            # The previous manifest is removed before its files.
            names = sorted(os.listdir(self.path), key=lambda name: name != PREVIOUS_MANIFEST)
        self._remove(name for name in names if _OURS.fullmatch(name) and name not in named)

    def remove_leftovers(self) -> None:
        """Remove files that a killed process left beside a finished model, if the model is intact."""
        with contextlib.suppress(LinktopicsError, OSError):
            manifest = self.read_manifest()
            named = {entry.file for entry in manifest.files}
            if any(_OURS.fullmatch(name) and name not in {MANIFEST, *named} for name in os.listdir(self.path)):
                self.check_files(manifest, everything=True)
                with self.locked(overwrite=True, make=False):
                    if not self.is_replaced():  # or the files of the new model would be removed
                        self._committed = named
                        self.prune()

    def _write_file(self, name: str, data: bytes) -> None:
        with (
            _system_errors_as_model_errors(self.path / name),
            atomic_write(self.path / name) as new,
            open(new, "xb") as stream,
        ):
            stream.write(data)

    def _remove(self, names: Iterable[str]) -> None:
        for name in names:
            with contextlib.suppress(OSError):
                os.unlink(self.path / name)

    def _encode(self, manifest: dict[str, Any], entries: Sequence[dict[str, Any]]) -> bytes:
        data = encode_manifest(manifest, entries)
        if len(data) > MAX_MANIFEST_BYTES:
            raise ModelError(f"{MANIFEST} would have {len(data):,} bytes, more than can be read again.")
        return data

    def _sync(self) -> None:
        with _system_errors_as_model_errors(self.path):
            _sync(self.path)

    # ------------------------------------------------------------------------------------------------------------------
    # Reading
    # ------------------------------------------------------------------------------------------------------------------

    @property
    def has_previous(self) -> bool:
        """Whether there is a previous checkpoint."""
        return (self.path / PREVIOUS_MANIFEST).is_file()

    def read_manifest(self, name: str = MANIFEST) -> Manifest:
        """Return the manifest, or the previous one; refuse one that is damaged or of a newer format."""
        path = self.path / name
        try:
            self._check_has_model()
            if not _is_readable(path):  # a pipe would block
                raise ModelError(f"{path}: cannot be read (it is not a file of up to {MAX_MANIFEST_BYTES:,} bytes).")
            data = path.read_bytes()
            if name == MANIFEST:
                self._digest = hashlib.sha256(data).digest()
            found = json.loads(data.decode("utf-8", "surrogatepass"))
            given = found.pop("checksum", None) if isinstance(found, dict) else None
            expected = manifest_checksum(found)
        except FileNotFoundError:
            raise self._damaged(name, "it is missing") from None
        except OSError as error:
            raise ModelError(f"{path}: cannot be read ({error.strerror}).") from None
        except (ValueError, RecursionError):
            raise self._damaged(name, "it is not JSON") from None
        if not isinstance(found, dict) or type(found.get("format")) is not int:
            raise self._damaged(name, "it has no format number")
        if found["format"] > FORMAT:
            raise ModelError(
                f"{self.path}: the model has format {found['format']}, and this version of linktopics reads up to "
                f"{FORMAT}; install a newer one (pip install --upgrade linktopics)."
            )
        if given != expected:
            raise self._damaged(name, "its checksum does not match its content")
        self.checksum = expected
        try:
            return decode_manifest(found)
        except ValueError as error:
            raise self._damaged(name, str(error)) from None

    def is_replaced(self) -> bool:
        """Return whether another model was saved here since the manifest was read."""
        path = self.path / MANIFEST
        try:
            return _is_readable(path) and hashlib.sha256(path.read_bytes()).digest() != self._digest
        except (OSError, ValueError):  # the path is not valid
            return False

    def check_files(self, manifest: Manifest, *, everything: bool) -> None:
        """Compare files with the manifest: all by their size, small ones (or `everything`) by their checksum."""
        for entry in manifest.files:
            path = self.path / entry.file
            if not path.is_file():
                raise self._damaged(entry.file, "it is missing")
            try:
                size = path.stat().st_size
                if size != entry.bytes:
                    raise self._damaged(entry.file, f"it has {size:,} bytes where {entry.bytes:,} were written")
                if (everything or size <= CHECKSUM_MAX_BYTES) and _file_checksum(path) != entry.sha256:
                    raise self._damaged(entry.file, "its checksum does not match its content")
            except OSError as error:
                raise ModelError(f"{path}: cannot be read ({error.strerror}).") from None

    def read(self, name: str) -> dict[str, NDArray]:
        """Return the arrays of a file that the manifest lists, mapped into memory; changes to them stay in memory.

        Read-only arrays would be another type to Numba, which would compile its kernels again for them.
        """
        from safetensors import SafetensorError, safe_open

        path = self.path / name
        try:
            with open(path, "rb") as stream:
                if int.from_bytes(stream.read(8), "little") > MAX_HEADER_BYTES:
                    raise self._damaged(name, "its header is too large")
            with safe_open(path, framework="numpy") as opened:
                keys = list(opened.keys())
            whole = np.memmap(path, dtype=np.uint8, mode="c")
        except (SafetensorError, OSError) as error:
            raise self._damaged(name, format_error(error)) from None
        header_size = int(whole[:8].view("<u8")[0])
        header = json.loads(whole[8 : 8 + header_size].tobytes())  # which `safe_open` has checked
        return {key: _array(whole[8 + header_size :], header[key]) for key in keys}

    def _damaged(self, name: str, how: str) -> ModelError:
        resume = "linktopics resume continues from the previous checkpoint."
        cure = resume if self.has_previous else "restore it from a copy, or fit and save the model again."
        return ModelError(f"{self.path / name}: the model is damaged ({how}); {cure}")


_TYPES = {
    "BOOL": "?", "U8": "u1", "I8": "i1", "I16": "<i2", "U16": "<u2", "I32": "<i4", "U32": "<u4", "I64": "<i8",
    "U64": "<u8", "F32": "<f4", "F64": "<f8",
}  # fmt: skip


def _array(data: NDArray[np.uint8], header: dict[str, Any]) -> NDArray:
    start, end = header["data_offsets"]
    part: NDArray = np.asarray(data[start:end]).view(_TYPES[header["dtype"]])
    return np.require(part, requirements="A").reshape(header["shape"])  # kernels need aligned arrays


def _is_readable(path: Path) -> bool:
    """Return whether a manifest is a file of a size that can be read whole."""
    status = path.stat()
    return stat.S_ISREG(status.st_mode) and status.st_size <= MAX_MANIFEST_BYTES


@contextlib.contextmanager
def _system_errors_as_model_errors(path: Path) -> Iterator[None]:
    """Return a context that raises an error of the system as a ModelError that names what cannot be written."""
    try:
        yield
    except OSError as error:
        raise ModelError(f"{path}: cannot be written ({error.strerror or error}).") from None


def _sync(folder: Path) -> None:
    """Write the names of files in a folder to disk, where the system can do that."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # of file systems without it
                raise
        finally:
            os.close(descriptor)


def _file_checksum(path: Path) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as stream:
        while chunk := stream.read(2**20):
            digest.update(chunk)
    return digest.hexdigest()
