"""Downloads that go wrong, are hostile, are slow or are interrupted.

The published site is not needed: archives are served by a web server of the tests, on this machine.
"""

import contextlib
import gzip
import io
import shutil
import socket
import tarfile
import threading
import time
import urllib.error
import urllib.request

import numpy as np
import pytest

from linktopics import DataError
from linktopics.datasets import _download, linqs, load_cora
from support.archives import TOY, archive, put


def hostile(kind):
    """Pack an archive that does what an archive should not."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz", format=tarfile.PAX_FORMAT) as tar:
        for name, content in TOY.items():
            member = tarfile.TarInfo(f"cora/{name}")
            if kind == "symbolic link":
                member.type, member.linkname = tarfile.SYMTYPE, "/etc/hostname"
            elif kind == "hard link":
                member.type, member.linkname = tarfile.LNKTYPE, "../../../etc/hostname"
            elif kind == "device":
                member.type = tarfile.CHRTYPE
            elif kind == "folder":
                member.type = tarfile.DIRTYPE
            elif kind == "sparse":  # 8 GB of nothing
                member.type, member.size = tarfile.REGTYPE, len(content)
                member.pax_headers = {
                    "GNU.sparse.major": "0", "GNU.sparse.minor": "1", "GNU.sparse.size": str(8 << 30),
                    "GNU.sparse.numblocks": "1", "GNU.sparse.map": f"0,{len(content)}",
                }  # fmt: skip
            if kind == "sparse":
                tar.addfile(member, io.BytesIO(content))
            else:
                tar.addfile(member)
    return stream.getvalue()


def bomb(size):
    """Pack one huge member full of zeros."""
    stream = io.BytesIO()
    with gzip.GzipFile(fileobj=stream, mode="wb") as packed:
        member = tarfile.TarInfo("cora/cora.content")
        member.size = size
        packed.write(member.tobuf())
        for _ in range(size >> 20):
            packed.write(bytes(1 << 20))
    return stream.getvalue()


def header_chain():
    """Pack headers that each announce the next: tarfile follows them by recursion."""
    stream = io.BytesIO()
    with gzip.GzipFile(fileobj=stream, mode="wb") as packed:
        member = tarfile.TarInfo("cora/cora.content")
        member.type, member.size = tarfile.XHDTYPE, 0
        packed.write(member.tobuf(tarfile.USTAR_FORMAT) * 3000)
    return stream.getvalue()


def sparse_members(number):
    """Pack many files of a few bytes each that say they have 60 million."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz", format=tarfile.PAX_FORMAT) as tar:
        for _ in range(number):
            member = tarfile.TarInfo("cora/cora.content")
            member.size = 5
            member.pax_headers = {
                "GNU.sparse.major": "0", "GNU.sparse.minor": "1", "GNU.sparse.size": str(60_000_000),
                "GNU.sparse.numblocks": "1", "GNU.sparse.map": "0,5",
            }  # fmt: skip
            tar.addfile(member, io.BytesIO(b"a 1 b"))
    return stream.getvalue()


FAULTS = {
    "sparse files": (sparse_members(500), {}, "holds no file cora.content"),
    "too many files": (archive({f"{number}": b"" for number in range(1100)}), {}, "it has too many files"),
    "another archive": ("/elsewhere.tgz", {}, "the server answers 404"),
    "to and fro": ("/cora.tgz", {}, "the server answers 302"),
    "a file of this machine": ("file:///etc/hostname", {}, "cannot be downloaded"),
    "not there": (None, {}, "the server answers 404"),
    "cut off": (archive(TOY)[:-20], {"length": len(archive(TOY))}, "broke off after"),
    "truncated": (archive(TOY)[:-20], {}, "is damaged"),
    "truncated tar": (gzip.compress(gzip.decompress(archive(TOY))[:520]), {}, "is damaged"),
    "no archive": (b"<html>Moved</html>", {}, "is damaged"),
    "gzipped, but no archive": (gzip.compress(b"<html>Moved</html>"), {}, "is damaged"),
    "empty": (b"", {}, "is damaged"),
    "changed": (archive({**TOY, "cora.cites": b"p1\tp2\n"}), {}, "cora.cites in the archive .* not the published"),
    "incomplete": (archive({"cora.content": TOY["cora.content"]}), {}, "holds no file cora.cites"),
    "symbolic link": (hostile("symbolic link"), {}, "holds no file cora.content"),
    "hard link": (hostile("hard link"), {}, "holds no file cora.content"),
    "device": (hostile("device"), {}, "holds no file cora.content"),
    "folder": (hostile("folder"), {}, "holds no file cora.content"),
    "sparse": (hostile("sparse"), {}, "holds no file cora.content"),
    "bomb": (bomb(65 << 20), {}, "its content is too large"),
    "header chain": (header_chain(), {}, "is damaged"),
    "too large": (b"\0" * (1 << 18), {"length": 17 << 20}, "it is too large"),
    "too large, unannounced": (np.random.default_rng(0).bytes(17 << 20), {"length": ""}, "it is too large"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_on_the_way(fault, places, toy, site):
    body, settings, message = FAULTS[fault]
    if body is not None:
        site["/cora.tgz"] = body
    site.update(settings)
    with pytest.raises(DataError, match=message) as caught:
        load_cora()
    told = str(caught.value)
    for part in (linqs.SITE + "cora.tgz", "put cora.content, cora.cites into a folder named 'cora'", "LINKTOPICS_DATA"):
        assert part in told
    assert "\n" not in told
    assert caught.value.__cause__ is None
    assert list((places / "cache").iterdir()) == []


def test_paths_in_an_archive_lead_nowhere(places, toy, site):
    before = sorted(places.rglob("*"))
    for folder in ("../../", "/", f"{places}/data/", "cora/../../"):
        site["/cora.tgz"] = archive(TOY, folder=folder)
        assert load_cora().n_documents == 2
        shutil.rmtree(places / "cache" / "cora")
        assert sorted(places.rglob("*")) == before


def test_the_published_site_is_encrypted():
    assert linqs.SITE.startswith("https://")


def test_a_server_may_lead_elsewhere(places, toy, site):
    site["/cora.tgz"], site["/new/cora.tgz"] = "/new/cora.tgz", archive(TOY)
    assert load_cora().n_documents == 2


@pytest.mark.parametrize("address", ["http://example.org/cora.tgz", "ftp://example.org/cora.tgz", "file:///etc/passwd"])
def test_no_way_from_an_encrypted_connection_to_another(address):
    request = urllib.request.Request("https://example.org/cora.tgz")
    with pytest.raises(urllib.error.URLError, match="which is not https"):
        _download._SecureRedirects().redirect_request(request, None, 302, "Found", {}, address)
    assert _download._SecureRedirects().redirect_request(request, None, 302, "Found", {}, "https://example.org/new")


def test_a_server_that_takes_its_time(places, toy, monkeypatch):
    """It sends a byte now and then, so that no wait is long."""
    monkeypatch.setattr(_download, "MAX_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setattr(linqs, "SITE", f"http://127.0.0.1:{server.getsockname()[1]}/")

        def answer():
            connection, _ = server.accept()
            with connection, contextlib.suppress(OSError):
                connection.recv(1000)
                connection.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 9999\r\n\r\n")
                for _ in range(200):
                    connection.sendall(b"x")
                    time.sleep(0.05)

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(DataError, match=r"cannot be downloaded \(not done after 0.3 seconds\)"):
            load_cora()
        thread.join()
    assert list((places / "cache").iterdir()) == []


def test_a_cache_that_was_tampered_with_is_found_out(places, toy, site):
    site["/cora.tgz"] = archive(TOY)
    assert load_cora().n_documents == 2
    path = places / "cache" / "cora" / "cora.content"
    path.write_bytes(path.read_bytes().replace(b"fruit", b"fruid"))
    with pytest.raises(DataError, match=r"this is not the published file .* delete the folder"):
        load_cora()


def test_no_network(places, toy, monkeypatch):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        monkeypatch.setattr(linqs, "SITE", f"http://127.0.0.1:{unused.getsockname()[1]}/")
        with pytest.raises(DataError, match=r"cora\.tgz cannot be downloaded \(.*refused"):
            load_cora()
    assert list((places / "cache").iterdir()) == []


def test_a_server_that_says_nothing(places, toy, monkeypatch):
    monkeypatch.setattr(_download, "TIMEOUT_SECONDS", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setattr(linqs, "SITE", f"http://127.0.0.1:{silent.getsockname()[1]}/")
        with pytest.raises(DataError, match="timed out"):
            load_cora()


def test_a_server_that_talks_nonsense(places, toy, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setattr(linqs, "SITE", f"http://127.0.0.1:{server.getsockname()[1]}/")

        def answer():
            connection, _ = server.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(b"nonsense\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(DataError, match=r"cannot be downloaded \(nonsense"):
            load_cora()
        thread.join()


def test_an_interrupt_leaves_nothing_behind(places, toy, site, monkeypatch):
    site["/cora.tgz"] = archive(TOY)

    def interrupt(*_):
        assert len(list((places / "cache").iterdir())) == 1
        raise KeyboardInterrupt

    monkeypatch.setattr(_download, "_unpack", interrupt)
    with pytest.raises(KeyboardInterrupt):
        load_cora()
    assert list((places / "cache").iterdir()) == []


def test_a_cache_that_cannot_be_written_to(places, toy, site, monkeypatch):
    site["/cora.tgz"] = archive(TOY)
    (places / "file").write_text("")
    monkeypatch.setenv("LINKTOPICS_CACHE", str(places / "file" / "cache"))
    with pytest.raises(
        DataError, match=r"'cora' cannot be stored in the cache \(Not a directory\); set .*LINKTOPICS_CACHE"
    ):
        load_cora()


def test_no_home_for_a_cache(places, toy, monkeypatch):
    def nowhere():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(linqs, "cache_folder", nowhere)
    with pytest.raises(DataError, match=r"there is no cache folder for the data set 'cora' .*set .*LINKTOPICS_CACHE"):
        load_cora()


def test_another_process_may_be_quicker(places, toy, site, monkeypatch):
    site["/cora.tgz"] = archive(TOY)
    unpack = _download._unpack

    def meanwhile(*arguments):
        put(places / "cache" / "cora", TOY)
        return unpack(*arguments)

    monkeypatch.setattr(_download, "_unpack", meanwhile)
    assert load_cora().n_documents == 2
    assert [path.name for path in (places / "cache").iterdir()] == ["cora"]


def test_the_bar(capsys):
    bar = _download.DownloadBar(2_000_000, True, "downloading", "downloading")
    with bar:
        bar._timer.join()
        bar.advance("", 500_000)
        bar.advance("", 500_000)
    assert bar.done == 1_000_000
    assert "downloading" in capsys.readouterr().err
    with _download.DownloadBar(0, "auto", "downloading") as quiet:  # not a terminal
        quiet.advance("", 10)
    assert capsys.readouterr().err == ""
