"""A lock on a folder: one writer at a time.

The operating system holds the lock on an open file, and releases it when the process ends, however that happens. The
content of the file only names the owner for others; on file systems without locks it is the only evidence.
"""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import stat
import sys
import threading
from pathlib import Path

from linktopics.errors import ModelError

LOCK = "model.lock"

_NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}
"""Errors of file systems without locks, such as some network file systems."""

_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
"""Symbolic links are not followed: in an untrusted folder they may lead anywhere."""

_guard = threading.Lock()
_held_locks: dict[str, FolderLock] = {}
"""The locks of this process by their real path: some systems grant a lock to one process more than once."""


class FolderLock:
    """The right to write to a folder.

    Parameters
    ----------
    folder : Path
        The folder, which must exist when the lock is acquired.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / LOCK
        self._descriptor: int | None = None
        self._key = ""

    def acquire(self) -> None:
        """Acquire the lock, also if its file was removed since; raise ModelError, with the owner, if another has it."""
        with _guard:
            if self.is_held:
                return
            self._close()
            key = os.path.realpath(self.path)
            if key in _held_locks:
                raise self._busy(f"another fit or save of this process ({os.getpid()})")
            self._descriptor = self._open_locked()
            self._key, _held_locks[key] = key, self

    @property
    def is_held(self) -> bool:
        """Whether the lock is held, by this object and on the file that is in the folder now."""
        return self._descriptor is not None and _is_at(self._descriptor, self.path)

    def release(self) -> None:
        """Release the lock, and remove its file."""
        with _guard:
            if self._descriptor is None:  # or this is a fork of the owner
                return
            try:
                if self.is_held and sys.platform != "win32":
                    # While it is locked: whoever opens it now and locks it later sees that the file is gone.
                    with contextlib.suppress(OSError):
                        os.unlink(self.path)
            finally:
                self._close()
            if sys.platform == "win32":  # where open files cannot be removed
                with contextlib.suppress(OSError):
                    os.unlink(self.path)

    def _open_locked(self) -> int:
        """Return a descriptor of the locked file."""
        while True:
            descriptor = os.open(self.path, _FLAGS, 0o666)
            try:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise OSError(errno.EINVAL, "it is not a file")
                locked, owner = _lock(descriptor), _read_owner(descriptor)
                if locked is False or (locked is None and _may_be_running(owner)):
                    more = "" if locked is False else f", remove {self.path} if it has ended"
                    raise self._busy(_describe_owner(owner), more)
                if _is_at(descriptor, self.path):
                    self._write_owner(descriptor)
                    return descriptor
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)  # the file was removed between the two steps

    def _write_owner(self, descriptor: int) -> None:
        """Write the owner to the file; if that fails, remove the file, so that its folder can be removed."""
        try:
            os.ftruncate(descriptor, 0)
            os.lseek(descriptor, 0, os.SEEK_SET)
            os.write(descriptor, f"{os.getpid()} {platform.node()}\n".encode())
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(self.path)
            raise

    def _close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
            _held_locks.pop(self._key, None)

    def _busy(self, owner: str, more: str = "") -> ModelError:
        return ModelError(
            f"{self.path.parent}: {owner} is writing to this folder; wait for it, stop it{more}, or choose another."
        )


def _lock(descriptor: int) -> bool | None:
    """Return whether a file could be locked; None if the file system has no locks."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(descriptor, 2**20, os.SEEK_SET)  # beyond the content: a locked range cannot be read
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError as error:
        if error.errno in _NO_LOCKS:
            return None
        raise
    return True


def _read_owner(descriptor: int) -> str:
    os.lseek(descriptor, 0, os.SEEK_SET)
    return os.read(descriptor, 400).decode(errors="replace").strip()


def _is_at(descriptor: int, path: Path) -> bool:
    """Return whether an open file is the one at this path now."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except OSError:
        return False


def _describe_owner(owner: str) -> str:
    pid, _, host = owner.partition(" ")
    return f"process {pid} on {host}" if pid.isdigit() and host.isprintable() else "another process"


def _may_be_running(owner: str) -> bool:
    """Return whether the owner may still be running; of processes on other machines that is not known."""
    pid, _, host = owner.partition(" ")
    if not pid.isdigit() or int(pid) == os.getpid():  # those of this process are in `_held_locks`
        return False
    if host != platform.node() or sys.platform == "win32":
        return True
    try:
        os.kill(int(pid), 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True  # of another user
    return True


def _after_fork() -> None:
    """Leave the locks to the parent process: a child that runs longer would keep them."""
    global _guard
    _guard = threading.Lock()
    for lock in list(_held_locks.values()):
        lock._close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
