"""Text files, plain or gzipped, read whole; what cannot be read is an error with the file and the line."""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from linktopics.errors import DataError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

_GZIP_MAGIC = b"\x1f\x8b"


def read_lines(path: str | os.PathLike[str]) -> list[str]:
    """Read a UTF-8 file, gzipped or not, as a list of lines without their ends; a byte order mark is left out."""
    path = Path(path)
    data = read_bytes(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise line_error(path, line, f"byte {data[error.start]:#04x} is not UTF-8", "save the file as UTF-8") from None
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def line_error(path: str | os.PathLike[str], line: int, wrong: str, cure: str) -> DataError:
    """Make the error for a line that cannot be used, the first line being 1."""
    return DataError(f"{path}:{line}: {wrong}; {cure}.")


def find_file(folder: Path, names: Iterable[str]) -> Path | None:
    """Give the first of these files that the folder holds, plain or as .gz; None if there is none."""
    candidates = (folder / (name + suffix) for name in names for suffix in ("", ".gz"))
    return next((path for path in candidates if path.is_file()), None)


def read_bytes(path: Path) -> bytes:
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file; check the path.") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from None
    if not raw.startswith(_GZIP_MAGIC):
        if path.suffix == ".gz" and raw:
            raise DataError(f"{path}: the name ends in .gz but the content is not gzipped; rename or compress it.")
        return raw
    chunks: list[bytes] = []
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(raw)) as stream:
            while chunk := stream.read(1 << 20):
                chunks.append(chunk)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        line = b"".join(chunks).count(b"\n") + 1
        cut = "is cut short" if isinstance(error, EOFError) else f"is damaged ({error})"
        raise line_error(
            path, line, f"the gzip file {cut} at or after this line", "copy or download it again"
        ) from None
    return b"".join(chunks)
