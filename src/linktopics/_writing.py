"""Files that commands write: they appear whole or not at all, and never in the place of something else."""

from __future__ import annotations

import os
import secrets
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from linktopics.errors import DataError

__all__ = ["check_no_device", "check_place", "put_in_place"]

HEAD = 4096
"""Bytes at the beginning of a file that tell what it is."""


def check_no_device(path: str | os.PathLike[str]) -> None:
    """Refuse a pipe or a device without opening it: it may never end, and is not to be replaced.

    A folder is left to whoever opens it, which fails at once.
    """
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):  # nothing is there, or who opens it will know what to say
        return
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise DataError(f"{os.fspath(path)}: this is a device or a pipe, not a file; give the path of a file.")


def check_place(
    path: str | os.PathLike[str], kind: str, is_one: Callable[[bytes], bool], *, overwrite: bool = False
) -> Path:
    """Return where to write; refuse a place that is none, or that holds something else. Nothing is left there.

    Parameters
    ----------
    path : path
        The file to write.
    kind : str
        What it will be, such as "report".
    is_one : callable
        Tells from its first bytes whether a file is one already; it may then be replaced.
    overwrite : bool, default=False
        Whether any file may be replaced.
    """
    target = Path(path)
    check_no_device(target)
    if target.is_dir():
        raise DataError(f"{target}: there is a folder of this name; name a file to write the {kind} to.")
    if not target.parent.is_dir():
        raise DataError(f"{target}: there is no folder {str(target.parent)!r} to write the {kind} to.")
    if target.exists() and not overwrite and not is_one(_head(target)):
        raise DataError(
            f"{target}: there is a file already that is no {kind} of linktopics; choose another name, or pass "
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
            return file.read(HEAD)
    except OSError:
        return b"?"  # of nothing that we know


@contextmanager
def put_in_place(path: Path, kind: str) -> Iterator[Path]:
    """Give the name of a file to write by the side of another, whose place it takes at the end.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "report.html"
    >>> with put_in_place(path, "report") as new:
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
    except OSError as error:
        raise _unwritable(path, kind, error) from None
    finally:
        with suppress(OSError):  # of a disk that is read-only, where there is none
            new.unlink(missing_ok=True)


def _unwritable(path: Path, kind: str, error: OSError) -> DataError:
    return DataError(
        f"{path}: the {kind} cannot be written ({error.strerror}); make room, or choose a place you may write to."
    )
