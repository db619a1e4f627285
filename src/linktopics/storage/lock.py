"""Who may write to a folder: one at a time, and nobody who has ended.

The system holds the lock, on an open file, and lets it go when the process that has it ends, however that happens.
What stands in the file only tells others who it is. Where a file system knows no locks it is all there is to go by.
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

__all__ = ["LOCK", "FolderLock"]

LOCK = "model.lock"

_NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL}
"""What file systems say that know no locks, as some on a network do."""

_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
"""A link is not followed: in a folder from somebody else it may lead anywhere."""

_guard = threading.Lock()
_held: dict[str, FolderLock] = {}
"""The locks of this process by their real path: some systems give a lock to one process as often as it asks."""


class FolderLock:
    """The right to write to a folder.

    Parameters
    ----------
    folder : Path
        The folder, which must be there when the lock is taken.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / LOCK
        self._descriptor: int | None = None
        self._key = ""

    def take(self) -> None:
        """Take the lock; raise ModelError, with the name of who has it, if somebody has, OSError if it cannot be made.

        A lock whose file was removed, perhaps with the folder, is taken anew.
        """
        with _guard:
            if self.is_held:
                return
            self._forget()
            key = os.path.realpath(self.path)
            if key in _held:
                raise self._busy(f"another fit or save of this process ({os.getpid()})")
            self._descriptor = self._opened()
            self._key, _held[key] = key, self

    @property
    def is_held(self) -> bool:
        """Whether the lock is held, by this object and on the file that is in the folder now."""
        return self._descriptor is not None and _is_at(self._descriptor, self.path)

    def release(self) -> None:
        """Let the lock go, and remove its file."""
        with _guard:
            if self._descriptor is None:  # or this is a fork of the process that has it
                return
            try:
                if self.is_held and sys.platform != "win32":
                    # While it is locked: who opens it now and locks it later finds that it is not there any more.
                    with contextlib.suppress(OSError):
                        os.unlink(self.path)
            finally:
                self._forget()
            if sys.platform == "win32":  # where files that are open, as those of the next who waits, are not removed
                with contextlib.suppress(OSError):
                    os.unlink(self.path)

    def _opened(self) -> int:
        """Return a descriptor of the file with the lock on it."""
        while True:
            descriptor = os.open(self.path, _FLAGS, 0o666)
            try:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise OSError(errno.EINVAL, "it is not a file")
                locked, who = _lock(descriptor), _read(descriptor)
                if locked is False or (locked is None and _may_run(who)):
                    raise self._busy(_named(who), "" if locked is False else f", remove {self.path} if it has ended")
                if _is_at(descriptor, self.path):
                    self._sign(descriptor)
                    return descriptor
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)  # somebody removed the file between the two steps

    def _sign(self, descriptor: int) -> None:
        """Write who has the lock; on a disk that is full the file goes again, which would keep its folder there."""
        try:
            os.ftruncate(descriptor, 0)
            os.lseek(descriptor, 0, os.SEEK_SET)
            os.write(descriptor, f"{os.getpid()} {platform.node()}\n".encode())
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(self.path)
            raise

    def _forget(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
            _held.pop(self._key, None)

    def _busy(self, who: str, more: str = "") -> ModelError:
        return ModelError(
            f"{self.path.parent}: {who} is writing to this folder; wait for it, stop it{more}, or choose another."
        )


def _lock(descriptor: int) -> bool | None:
    """Lock a file; return False if somebody else has, None if the file system knows no locks."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(descriptor, 2**20, os.SEEK_SET)  # what is locked cannot be read, and others shall read who it is
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


def _read(descriptor: int) -> str:
    os.lseek(descriptor, 0, os.SEEK_SET)
    return os.read(descriptor, 400).decode(errors="replace").strip()


def _is_at(descriptor: int, path: Path) -> bool:
    """Tell whether an open file is the one that has this name now."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except OSError:
        return False


def _named(who: str) -> str:
    pid, _, host = who.partition(" ")
    return f"process {pid} on {host}" if pid.isdigit() and host.isprintable() else "another process"


def _may_run(who: str) -> bool:
    """Tell whether the process that a file names may run still; of those on other machines nobody knows."""
    pid, _, host = who.partition(" ")
    if not pid.isdigit() or int(pid) == os.getpid():  # ours are in `_held`; and the pid may be used a second time
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
    """Leave the locks to the parent: a child that lives longer would hold them for it."""
    global _guard
    _guard = threading.Lock()
    for lock in _held.values():
        if lock._descriptor is not None:
            os.close(lock._descriptor)
            lock._descriptor = None
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
