"""Atomic writes of files, which never replace files of other programs."""

from __future__ import annotations

import os
import secrets
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from linktopics.errors import DataError

HEAD_BYTES = 4096
"""Bytes at the beginning of a file that show its kind."""


def check_no_device(path: str | os.PathLike[str]) -> None:
    """Raise DataError for a pipe or a device without opening it: it may never end, and must not be replaced."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):  # nothing is there, or opening it fails with a better message
        return
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise DataError(f"{os.fspath(path)}: this is a device or a pipe, not a file; give the path of a file.")


def check_output_path(
    path: str | os.PathLike[str], kind: str, is_one: Callable[[bytes], bool], *, overwrite: bool
) -> Path:
    """Return the path of a file to write; raise DataError if it cannot be written, or would replace something else.

    Parameters
    ----------
    path : path
        The file to write.
    kind : str
        What the file will contain, such as "report"; for messages.
    is_one : callable
        Takes the first bytes of an existing file; returns whether it is of the same kind, and so may be replaced.
    overwrite : bool
        Whether any file may be replaced.
    """
    target = Path(path)
    check_no_device(target)
    if target.is_dir():
        raise DataError(f"{target}: this is a folder; give the path of a file to write the {kind} to.")
    if not target.parent.is_dir():
        raise DataError(f"{target}: there is no folder {str(target.parent)!r} to write the {kind} to.")
    if target.exists() and not overwrite and not is_one(_head(target)):
        raise DataError(
            f"{target}: the file exists and is not a {kind} written by linktopics; choose another name, or pass "
            "overwrite=True (--overwrite) to replace it."
        )
    try:
        tempfile.TemporaryFile(dir=target.parent).close()
    except OSError as error:
        raise _unwritable(target, kind, error) from None
    return target


def _head(path: Path) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(HEAD_BYTES)
    except OSError:
        return b"?"  # matches no kind


@contextmanager
def atomic_write(path: Path, kind: str | None = None) -> Iterator[Path]:
    """Return a context manager with a temporary path in the same folder, which replaces `path` once it is on disk.

    Parameters
    ----------
    path : pathlib.Path
        The file to write or to replace.
    kind : str, optional
        What the file is, such as "report"; if given, an OSError is raised as a DataError that names it.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "report.html"
    >>> with atomic_write(path) as new:
    ...     _ = new.write_text("all of it")
    >>> path.read_text()
    'all of it'
    """
    new = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
    try:
        yield new
        with open(new, "r+b") as file:
            os.fsync(file.fileno())
        os.replace(new, path)
    except (Exception, KeyboardInterrupt) as error:
        with suppress(OSError):
            os.unlink(new)
        if kind is None or not isinstance(error, OSError):
            raise
        raise _unwritable(path, kind, error) from None


def _unwritable(path: Path, kind: str, error: OSError) -> DataError:
    return DataError(
        f"{path}: the {kind} cannot be written ({error.strerror}); free disk space, or choose a folder that you can "
        "write to."
    )
