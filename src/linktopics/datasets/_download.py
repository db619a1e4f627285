"""Downloads of published archives: the wanted files are checked and moved into the cache, all of them or none."""

from __future__ import annotations

import gzip
import hashlib
import http.client
import io
import tarfile
import tempfile
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from linktopics import __version__
from linktopics.datasets._cache import cache_folder
from linktopics.errors import DataError
from linktopics.utils.progress import ProgressBar

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

TIMEOUT_SECONDS = 30.0
"""Seconds without an answer after which the download fails."""

MAX_SECONDS = 600.0
"""Seconds after which the download fails, even if data are still arriving."""

MAX_ARCHIVE_BYTES = 16 << 20
"""Most bytes of an archive; the published ones have less than one million."""

MAX_UNPACKED_BYTES = 64 << 20
"""Most bytes of an archive when unpacked; the largest published one has 25 million."""

MAX_MEMBERS = 1000
"""Most files in an archive; the published ones have less than ten."""

CHUNK_BYTES = 1 << 16


class _SecureRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects, but never from https to a connection that is not encrypted."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        if req.full_url.startswith("https:") and not newurl.startswith("https:"):
            raise urllib.error.URLError(f"the server redirects to {newurl[:200]!r}, which is not https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class DownloadBar(ProgressBar):
    """Shows how many bytes have been downloaded."""

    def _columns(self) -> tuple[ProgressColumn, ...]:
        from rich.progress import BarColumn, DownloadColumn, TextColumn, TransferSpeedColumn

        return TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn()


def fetch(name: str, address: str, sums: Mapping[str, str]) -> Path:
    """
    Return the folder in the cache with files of a gzipped tar archive, which is downloaded.

    Parameters
    ----------
    name : str
        Name of the data set, and of the folder in the cache.
    address : str
        Where the archive is.
    sums : mapping of str to str
        The files wanted, by their names without folders, and the SHA-256 of each.

    Returns
    -------
    pathlib.Path
        The folder that holds the files, exactly as published.

    Raises
    ------
    DataError
        If the archive cannot be downloaded, is not the published one or cannot be cached. Nothing is left
        behind then.
    """
    by_hand = (
        f"to avoid the download, get and unpack the archive yourself, put {', '.join(sums)} into a folder named "
        f"{name!r} and set the environment variable LINKTOPICS_DATA to its parent folder"
    )
    try:
        cache = cache_folder()
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache, prefix=f".{name}.", suffix=".part") as temporary:
            archive = Path(temporary) / "archive"
            with archive.open("w+b") as file:
                file.writelines(_chunks(address, by_hand))
                file.seek(0)
                contents = _unpack(file, address, sums, by_hand)
            ready = Path(temporary) / name
            ready.mkdir()
            for file_name, content in contents.items():
                (ready / file_name).write_bytes(content)
            _move(ready, cache / name)  # in one step: another process sees all files or none
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(
            f"the data set {name!r} cannot be stored in the cache ({reason}); set the environment variable "
            "LINKTOPICS_CACHE to a folder that can be written to."
        ) from None
    return cache / name


def _chunks(address: str, by_hand: str) -> Iterator[bytes]:
    """Yield the content of an address in chunks; raise any failure as a DataError."""
    try:
        request = urllib.request.Request(address, headers={"User-Agent": f"linktopics/{__version__}"})
        began = time.monotonic()
        with urllib.request.build_opener(_SecureRedirects).open(request, timeout=TIMEOUT_SECONDS) as response:
            stated = response.headers.get("Content-Length", "")
            length = int(stated) if stated.isdecimal() else 0
            bar = DownloadBar(length, "auto", "downloading", "downloading")
            with bar:
                while chunk := response.read1(CHUNK_BYTES):  # what has arrived: more may take a while
                    bar.advance("", len(chunk))
                    if time.monotonic() - began > MAX_SECONDS:
                        raise TimeoutError(f"not done after {MAX_SECONDS:g} seconds")
                    if max(bar.done, length) > MAX_ARCHIVE_BYTES:
                        raise DataError(f"{address} is not the published archive: it is too large; {by_hand}.")
                    yield chunk
    except urllib.error.HTTPError as error:
        error.close()
        reason = f"the server answers {error.code} {error.reason}"
    except urllib.error.URLError as error:
        reason = str(error.reason)
    except (OSError, http.client.HTTPException) as error:
        reason = str(error) or type(error).__name__
    else:
        if bar.done >= length:
            return
        reason = f"the connection broke off after {bar.done:,} of {length:,} bytes"
    shown = " ".join("".join(letter if letter.isprintable() else " " for letter in reason).split())[:200]
    raise DataError(f"{address} cannot be downloaded ({shown}); {by_hand}.")  # the reason may be text from the server


def _unpack(archive: BinaryIO, address: str, sums: Mapping[str, str], by_hand: str) -> dict[str, bytes]:
    """Return the wanted files of an archive; its own paths serve only to find them, never to write to."""
    contents: dict[str, bytes] = {}
    try:
        with gzip.GzipFile(fileobj=archive) as stream:
            # Unpacked up to a limit before anything in it is trusted: no header can ask for more than that.
            plain = stream.read(MAX_UNPACKED_BYTES + 1)
        if len(plain) > MAX_UNPACKED_BYTES:
            raise DataError(f"{address} is not the published archive: its content is too large; {by_hand}.")
        with tarfile.open(fileobj=io.BytesIO(plain), mode="r:") as tar:
            for number, member in enumerate(tar):
                if number == MAX_MEMBERS:
                    raise DataError(f"{address} is not the published archive: it has too many files; {by_hand}.")
                file_name = member.name.rpartition("/")[2]
                # A sparse file may claim to be far larger than its content in the archive.
                if file_name in sums and member.isreg() and not member.issparse() and member.size <= len(plain):
                    file = tar.extractfile(member)
                    contents[file_name] = file.read() if file else b""
    except (tarfile.TarError, zlib.error, EOFError, OSError, ValueError, RecursionError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"the archive from {address} is damaged ({error}); try again, or {by_hand}.") from None
    for file_name, expected in sums.items():
        if file_name not in contents:
            raise DataError(f"the archive from {address} holds no file {file_name}; {by_hand}.")
        if hashlib.sha256(contents[file_name]).hexdigest() != expected:
            raise DataError(
                f"{file_name} in the archive from {address} is not the published file (its SHA-256 differs); "
                f"try again, or {by_hand}."
            )
    return contents


def _move(folder: Path, place: Path) -> None:
    """Move a folder to its place; if another process has moved one there meanwhile, that one stays."""
    try:
        folder.rename(place)
    except OSError:
        if not place.is_dir():
            raise
