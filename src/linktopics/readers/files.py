"""Reading of text files, plain or gzipped; errors name the file and the line."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import stat
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from linktopics.errors import DataError

MAX_UNPACKED_BYTES = 2**30
"""Most bytes that a gzip file may unpack to: a small one could fill the memory."""

_GZIP_MAGIC = b"\x1f\x8b"

_MARKS = {codecs.BOM_UTF32_LE: "UTF-32", codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16"}
"""Byte order marks of encodings that are not read; that of UTF-32 begins like one of UTF-16."""


def read_lines(path: str | os.PathLike[str]) -> list[str]:
    """Return the lines of a UTF-8 file, gzipped or not, without their ends; a byte order mark is dropped.

    Lines end in LF or CR LF, or where a file has no LF at all, in CR.
    """
    path = Path(path)
    data = read_bytes(path)
    other = next((name for mark, name in _MARKS.items() if data.startswith(mark)), None)
    if other or 0 in data[:2]:  # UTF-16 without a mark
        raise line_error(path, 1, f"the file looks like {other or 'UTF-16'}", "save it as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise line_error(path, line, f"byte {data[error.start]:#04x} is not UTF-8", "save the file as UTF-8") from None
    lines = (text.replace("\r\n", "\n") if "\n" in text else text.replace("\r", "\n")).split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def read_rows(path: str | os.PathLike[str]) -> list[str]:
    """Return the lines; raise if one contains a CR, because rows separated by CR alone would be read as one."""
    lines = read_lines(path)
    for number, line in enumerate(lines, start=1):
        if "\r" in line:
            raise mixed_ends(path, number)
    return lines


def nonblank(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Return the lines that are not blank, each with its number; the first line is 1."""
    return ((number, line) for number, line in enumerate(lines, start=1) if line.strip())


def line_error(path: str | os.PathLike[str], line: int, wrong: str, cure: str) -> DataError:
    """Return the error for a line that cannot be used, the first line being 1."""
    return DataError(f"{path}:{line}: {wrong}; {cure}.")


def mixed_ends(path: str | os.PathLike[str], line: int) -> DataError:
    """Return the error for lines that end in CR in a file where others end in LF."""
    return line_error(path, line, "there is a CR within the line", "end all lines in LF or CR LF")


def find_file(folder: Path, names: Iterable[str]) -> Path | None:
    """Return the one of these files that the folder holds, plain or as .gz; None if there is none.

    It may be a folder or a broken symbolic link, which is an error when it is read.
    """
    candidates = (folder / (name + suffix) for name in names for suffix in ("", ".gz"))
    found = [path for path in candidates if os.path.lexists(path)]
    if len(found) > 1:  # ambiguous
        raise DataError(f"{found[0].parent}: the folder holds both {found[0].name} and {found[1].name}; keep one.")
    return found[0] if found else None


def list_names(folder: Path) -> list[str]:
    """Return the names in a folder, sorted."""
    try:
        return sorted(os.listdir(folder))
    except OSError as error:
        raise DataError(f"{folder}: cannot be read ({error.strerror}); check its permissions.") from None


def plain_names(folder: Path) -> list[str]:
    """Return the names in a folder that are not hidden, without .gz; of a file, none."""
    return [name.removesuffix(".gz") for name in visible(list_names(folder))] if folder.is_dir() else []


def need_links(folder: Path, *names: str) -> None:
    """Raise if a folder holds none of these files of links."""
    if find_file(folder, names) is None:
        raise DataError(f"{folder}: the links are missing; put {' or '.join(names)} beside the documents.")


def visible(names: Iterable[str]) -> list[str]:
    """Return names without those of hidden files, which systems and editors put into folders of data."""
    return [name for name in names if not name.startswith(".")]


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, unpacked; only a regular file: a device or a pipe may never end."""
    try:
        mode = path.stat().st_mode
        raw = path.read_bytes() if stat.S_ISREG(mode) else None
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file; check the path.") from None
    except (OSError, ValueError) as error:  # ValueError: the path contains a null byte
        why = error.strerror if isinstance(error, OSError) else error
        raise DataError(f"{path}: cannot be read ({why}); check the path and its permissions.") from None
    if raw is None:
        what = "a folder" if stat.S_ISDIR(mode) else "a device or a pipe"
        raise DataError(f"{path}: this is {what}, not a file; give the path of a file.")
    if not raw.startswith(_GZIP_MAGIC):
        if path.suffix == ".gz" and raw:
            raise DataError(f"{path}: the name ends in .gz but the content is not gzipped; rename or compress it.")
        return raw
    unpacked = bytearray()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as stream:
            while chunk := stream.read(1 << 20):
                unpacked += chunk
                if len(unpacked) > MAX_UNPACKED_BYTES:
                    raise DataError(
                        f"{path}: the gzip file has {len(raw):,} bytes and holds more than {MAX_UNPACKED_BYTES:,}; "
                        "if that is expected, unpack it (gunzip) and pass the plain file."
                    )
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        line = unpacked.count(b"\n") + 1
        cut = "is cut short" if isinstance(error, EOFError) else f"is damaged ({error})"
        raise line_error(
            path, line, f"the gzip file {cut} at or after this line", "copy or download it again"
        ) from None
    return bytes(unpacked)
