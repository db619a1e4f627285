"""A folder of arrays behind one manifest. The manifest names its files; renaming it into place is what makes a change.

Data files are written under names that were never used before. A crash at any moment therefore leaves the last manifest
with all its files, or, in a new folder, no manifest. While a run is on its way there is a second manifest, of the
checkpoint before, for the case that the disk damages the first. Files that neither names are removed after the next
change. Who writes holds the folder's lock.
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
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linktopics.errors import DataError, LinktopicsError, ModelError
from linktopics.storage.lock import LOCK, FolderLock
from linktopics.storage.system_files import is_system_file

__all__ = ["FORMAT", "MANIFEST", "PREVIOUS", "ModelFolder", "said"]

FORMAT = 1
"""Goes up when older versions could no longer read what is written."""

MANIFEST = "model.json"

PREVIOUS = "model-previous.json"
"""The manifest of the checkpoint before the last one."""

SUFFIX = ".safetensors"

CHECKED_BYTES = 2**26
"""Files up to this size are compared with their checksum whenever a model is loaded."""

MAX_MANIFEST, MAX_HEADER = 2**25, 2**24
"""Bytes that model.json, and the header of a file of arrays, may have: both are read whole."""

_NAME = re.compile(rf"[A-Za-z0-9_-]{{1,80}}{re.escape(SUFFIX)}")
"""Names of files that are read: in the folder, and fit to be shown."""

_FILE = r"(model(-previous)?\.json|(network|training|(chain|samples)-\d+)-[0-9a-f]{8}\.safetensors)"
_OURS = re.compile(rf"{re.escape(LOCK)}|{_FILE}|\.{_FILE}\.[0-9a-f]{{8}}\.new")
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
        self.checksum: str | None = None  # of the manifest that was read last
        self._lock: FolderLock | None = None
        self._text = b""  # of the manifest that was put in place last
        self._seen = b""  # the checksum of the manifest that was read last
        self._named: set[str] = set()  # the files of that manifest
        self._unnamed: list[str] = []  # files written since

    def __fspath__(self) -> str:
        return str(self.path)

    # ------------------------------------------------------------------------------------------------------------------
    # Holding
    # ------------------------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def held(self, *, overwrite: bool, make: bool = True) -> Iterator[None]:
        """Keep the folder for this object alone; refuse one that somebody is writing to, or that cannot be written to.

        Parameters
        ----------
        overwrite : bool
            Whether a model that is there may be replaced; otherwise it is refused.
        make : bool, default=True
            Whether to make the folder, which is removed again if it stays empty; otherwise a model must be there.
        """
        if self._lock is not None:  # by who called, and it stays so
            yield
            return
        if not make:
            self._refuse_none()
        if LOCK not in self._refuse(overwrite=True, make=make):  # or who has it is worth knowing first
            self._refuse(overwrite=overwrite, make=make)
        made, lock = self._make(), FolderLock(self.path)
        try:
            try:
                lock.take()
            except OSError as error:
                raise _unwritable(lock.path, error) from None
            self._refuse(overwrite=overwrite, make=make)  # once more: a moment ago somebody else may have had it
            self._lock = lock
            yield
        finally:
            self._lock = None
            lock.release()
            for path in made:
                with contextlib.suppress(OSError):
                    path.rmdir()  # if it is empty

    def _make(self) -> list[Path]:
        """Make the folder and those it lies in; return which were made, inner ones first."""
        made: list[Path] = []
        try:
            for path in (self.path, *self.path.parents):
                if path.exists():
                    break
                made.append(path)
            self.path.mkdir(parents=True, exist_ok=True)
            for path in made:
                with contextlib.suppress(OSError):  # a parent that cannot be read
                    _settle(path.parent)
        except (OSError, ValueError) as error:  # a path that holds a zero
            why = error.strerror if isinstance(error, OSError) else error
            raise DataError(f"{self.path}: the folder cannot be made ({why}).") from None
        return made

    def _refuse(self, *, overwrite: bool, make: bool) -> list[str]:
        """Raise if the folder holds something else, or a model that is not to be replaced; return what is in it.

        Files of systems and sync clients do not count.
        """
        try:
            if self.path.exists() and not self.path.is_dir():
                raise DataError(f"{self.path}: there is a file of this name; choose another for the model's folder.")
            names = sorted(os.listdir(self.path)) if self.path.is_dir() else []
            names = [name for name in names if not is_system_file(name)]
        except OSError as error:
            raise DataError(f"{self.path}: the folder cannot be read ({error.strerror}).") from None
        others = [name for name in names if not self._is_ours(name)]
        if make and [name for name in names if name != LOCK] == [MANIFEST]:
            others = [MANIFEST]  # of somebody else: ours names files that are there
        if others:
            raise DataError(
                f"{self.path}: the folder holds other things ({others[0]}); choose an empty or a new folder."
            )
        if not overwrite and (MANIFEST in names or PREVIOUS in names):
            raise DataError(
                f"{self.path}: there is a model already; choose another folder, or pass overwrite=True "
                "(--overwrite) to replace it."
            )
        return names

    def _refuse_none(self) -> None:
        """Raise if there is no model."""
        if not self.path.is_dir():
            raise ModelError(f"{self.path}: there is no such folder; check the path of the model.")
        if not (self.path / MANIFEST).exists() and not self.has_previous:
            raise ModelError(f"{self.path}: the folder holds no {MANIFEST}, so it is not a model.")

    def is_whole(self) -> bool:
        """Tell whether all that was committed is in the folder; raise ModelError if somebody else has it now."""
        if self._lock is None:
            raise ModelError(f"{self.path}: the folder is not held any more.")
        try:
            if not self.path.is_dir():
                return False
            self._lock.take()  # anew, if somebody removed its file
            text = (self.path / MANIFEST).read_bytes()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise _unwritable(self.path, error) from None
        if text != self._text:
            raise ModelError(f"{self.path}: another model was put in the folder, which is left as it is.")
        return all((self.path / name).is_file() for name in self._named)

    def make_again(self) -> None:
        """Make the folder again after it was removed, and take its lock."""
        assert self._lock is not None
        self._refuse(overwrite=True, make=False)
        self._make()
        try:
            self._lock.take()
        except OSError as error:
            raise _unwritable(self._lock.path, error) from None
        self._text, self._named = b"", set()

    # ------------------------------------------------------------------------------------------------------------------
    # Writing
    # ------------------------------------------------------------------------------------------------------------------

    def write(self, name: str, arrays: Arrays) -> dict[str, Any]:
        """Write arrays to a new file and return its entry for the manifest: name, size and checksum."""
        from safetensors.numpy import save

        data = save({key: np.ascontiguousarray(array) for key, array in arrays.items()})
        file = f"{name}-{secrets.token_hex(4)}{SUFFIX}"
        self._put(file, data)
        self._unnamed.append(file)
        self._settle()
        return {"file": file, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}

    def commit(self, manifest: dict[str, Any], entries: list[dict[str, Any]]) -> None:
        """Make a manifest the current one. If this fails, all is as before.

        Parameters
        ----------
        manifest : dict
            What JSON can hold.
        entries : list of dict
            What `write` returned, of all files that the manifest names.
        """
        text = _text(manifest, entries)
        if not self._text and self.has_previous and self._is_sound():
            # That of an earlier run, which nobody shall go back to from this one.
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.path / PREVIOUS)
        self._put(MANIFEST, text)
        self._text, self._named, self._unnamed = text, {entry["file"] for entry in entries}, []

    def undo(self) -> None:
        """Remove what was written since the last commit."""
        for name in self._unnamed:
            with contextlib.suppress(OSError):
                os.unlink(self.path / name)
        self._unnamed = []

    def tidy(self, previous: dict[str, Any] | None = None, entries: list[dict[str, Any]] | None = None) -> None:
        """After a commit: keep another manifest beside the current one, or none, and remove what neither names.

        Parameters
        ----------
        previous : dict, optional
            A manifest to go back to.
        entries : list of dict, optional
            Its files.
        """
        self._settle()  # before anything is removed
        if previous is not None:
            self._put(PREVIOUS, _text(previous, entries or []))
            self._settle()
        named = {MANIFEST, LOCK, *self._named, *(entry["file"] for entry in entries or [])}
        if previous is not None:
            named.add(PREVIOUS)
        try:
            names = sorted(os.listdir(self.path), key=lambda name: name != PREVIOUS)  # which goes before its files
        except OSError as error:
            raise _unwritable(self.path, error) from None
        for name in names:
            if self._is_ours(name) and name not in named:
                with contextlib.suppress(OSError):
                    os.unlink(self.path / name)

    def remove_leftovers(self) -> None:
        """Remove what a process that was killed at the very end left beside a finished model, if that is sound."""
        with contextlib.suppress(LinktopicsError, OSError, KeyError, TypeError):
            manifest = self.manifest()
            named = {entry["file"] for entry in manifest["files"]}
            left = [name for name in os.listdir(self.path) if self._is_ours(name) and name not in {MANIFEST, *named}]
            if left:
                self.check(manifest, everything=True)
                with self.held(overwrite=True, make=False):
                    if not self.is_replaced():  # or all files of the model that is there now would go
                        self._named = named
                        self.tidy()

    def _put(self, name: str, data: bytes) -> None:
        """Write a file under another name, make sure it is on disk, and rename it."""
        new = self.path / f".{name}.{secrets.token_hex(4)}.new"
        try:
            with open(new, "xb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(new, self.path / name)
        except (Exception, KeyboardInterrupt) as error:
            with contextlib.suppress(OSError):
                os.unlink(new)
            if not isinstance(error, OSError):
                raise
            raise _unwritable(self.path / name, error) from None

    def _settle(self) -> None:
        try:
            _settle(self.path)
        except OSError as error:
            raise _unwritable(self.path, error) from None

    def _is_sound(self) -> bool:
        """Tell whether the model that is there can be read."""
        try:
            self.check(self.manifest(), everything=True)
        except ModelError:
            return False
        return True

    def _is_ours(self, name: str) -> bool:
        return _OURS.fullmatch(name) is not None

    # ------------------------------------------------------------------------------------------------------------------
    # Reading
    # ------------------------------------------------------------------------------------------------------------------

    @property
    def has_previous(self) -> bool:
        """Whether there is a checkpoint before the last one."""
        return (self.path / PREVIOUS).is_file()

    def manifest(self, name: str = MANIFEST) -> dict[str, Any]:
        """Read the manifest, or the previous one; refuse one that is damaged or of a newer format."""
        path = self.path / name
        try:
            if not self.path.is_dir():
                raise ModelError(f"{self.path}: there is no such folder; check the path of the model.")
            status = path.stat()
            if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_MANIFEST:  # a pipe would be waited for
                raise ModelError(f"{path}: cannot be read (it is not a file of up to {MAX_MANIFEST:,} bytes).")
            data = path.read_bytes()
            if name == MANIFEST:
                self._seen = hashlib.sha256(data).digest()
            found, checksum = _parse(data)
        except FileNotFoundError:
            if self.has_previous:
                raise self._damaged(name, "it is missing") from None
            raise ModelError(f"{self.path}: the folder holds no {MANIFEST}, so it is not a model.") from None
        except OSError as error:
            raise ModelError(f"{path}: cannot be read ({error.strerror}).") from None
        except (ValueError, RecursionError):
            raise self._damaged(name, "it is not JSON") from None
        if not isinstance(found, dict) or type(found.get("format")) is not int:
            raise self._damaged(name, "it does not say its format")
        if found["format"] > FORMAT:
            raise ModelError(
                f"{self.path}: the model has format {found['format']}, and this version of linktopics reads up to "
                f"{FORMAT}; install a newer one (pip install --upgrade linktopics)."
            )
        if found.pop("checksum", None) != checksum:
            raise self._damaged(name, "its checksum does not fit its content")
        self.checksum = checksum
        return found

    def is_replaced(self) -> bool:
        """Return whether somebody has saved another model here since the manifest was read last."""
        path = self.path / MANIFEST
        try:
            status = path.stat()
            if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_MANIFEST:
                return False
            return hashlib.sha256(path.read_bytes()).digest() != self._seen
        except (OSError, ValueError):  # of a path that cannot be
            return False

    def check(self, manifest: dict[str, Any], *, everything: bool) -> None:
        """Compare the files with the manifest: all by their size, small ones (or `everything`) by their checksum."""
        files = manifest.get("files")
        if not isinstance(files, list) or not all(map(_is_entry, files)):
            raise self._damaged(MANIFEST, "it does not name its files")
        if len({entry["file"] for entry in files}) < len(files):
            raise self._damaged(MANIFEST, "it names a file twice")
        for entry in files:
            name = entry["file"]
            if not _NAME.fullmatch(name):
                raise self._damaged(MANIFEST, f"it names the file {name[:80]!r}")
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
            with open(path, "rb") as stream:
                if int.from_bytes(stream.read(8), "little") > MAX_HEADER:
                    raise self._damaged(entry["file"], "its header is too large")
            with safe_open(path, framework="numpy") as opened:
                names = list(opened.keys())
            whole = np.memmap(path, dtype=np.uint8, mode="c")
        except (SafetensorError, OSError) as error:
            raise self._damaged(entry["file"], said(error)) from None
        header_size = int(whole[:8].view("<u8")[0])
        header = json.loads(whole[8 : 8 + header_size].tobytes())  # which `safe_open` has checked
        return {name: _array(whole[8 + header_size :], header[name]) for name in names}

    def _damaged(self, name: str, how: str) -> ModelError:
        back = "linktopics resume goes on from the checkpoint before it."
        cure = back if self.has_previous else "take it from a copy, or fit and save it again."
        return ModelError(f"{self.path / name}: the model is damaged ({how}); {cure}")


_TYPES = {
    "BOOL": "?", "U8": "u1", "I8": "i1", "I16": "<i2", "U16": "<u2", "I32": "<i4", "U32": "<u4", "I64": "<i8",
    "U64": "<u8", "F32": "<f4", "F64": "<f8",
}  # fmt: skip


def _array(data: NDArray[np.uint8], header: dict[str, Any]) -> NDArray:
    start, end = header["data_offsets"]
    part: NDArray = np.asarray(data[start:end]).view(_TYPES[header["dtype"]])
    return np.require(part, requirements="A").reshape(header["shape"])  # kernels read whole words


def _is_entry(entry: Any) -> bool:
    kinds = {"file": str, "bytes": int, "sha256": str}
    return isinstance(entry, dict) and all(type(entry.get(name)) is kind for name, kind in kinds.items())


def _parse(data: bytes) -> tuple[Any, str | None]:
    """Return what stands in a manifest, and the checksum that it should have."""
    found = json.loads(data.decode("utf-8", "surrogatepass"))
    if not isinstance(found, dict):
        return found, None
    return found, _checksum({name: value for name, value in found.items() if name != "checksum"})


def said(error: Exception) -> str:
    """Return what an error says about a stranger's file: briefly, and in one line."""
    return " ".join(str(error).split())[:300]


def _unwritable(path: Path, error: OSError) -> ModelError:
    return ModelError(f"{path}: cannot be written ({error.strerror or error}).")


def _settle(folder: Path) -> None:
    """Make sure that a renamed file is under its new name even if the power fails; not every system can."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # of file systems that know no such thing
                raise
        finally:
            os.close(descriptor)


def _text(manifest: dict[str, Any], entries: list[dict[str, Any]]) -> bytes:
    body = {"format": FORMAT, **manifest, "files": entries}
    text = json.dumps({**body, "checksum": _checksum(body)}, indent=1, ensure_ascii=False)
    data = text.encode("utf-8", "surrogatepass")
    if len(data) > MAX_MANIFEST:
        raise ModelError(f"{MANIFEST} would have {len(data):,} bytes, more than can be read again.")
    return data


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
