"""Cora, Citeseer and WebKB: what is in them, where they are looked for, and downloads that go wrong.

The published site is not needed: archives are served by a web server of the tests, on this machine.
"""

import contextlib
import gzip
import hashlib
import http.server
import io
import shutil
import socket
import tarfile
import threading
import time
import urllib.error
import urllib.request
import warnings

import numpy as np
import pytest

from linktopics import DataError
from linktopics.datasets import _download, linqs, load_citeseer, load_cora, load_webkb

LOADERS = {"cora": load_cora, "citeseer": load_citeseer, "webkb": load_webkb}

# documents, directed links, undirected links, words, tokens, classes; lines of links, unknown ends, self links
PUBLISHED = {
    "cora": ((2708, 5429, 5278, 1433, 49216, 7), (5429, 0, 0)),
    "citeseer": ((3312, 4591, 4536, 3703, 105165, 6), (4732, 17, 124)),
    "webkb": ((877, 1516, 1388, 1703, 79365, 5), (1608, 0, 92)),
}

TOY = {"cora.content": b"p1\t1\t0\tfruit\np2\t1\t1\tfruit\n", "cora.cites": b"p1\tp2\np1\tp1\n"}


@pytest.fixture
def places(tmp_path, monkeypatch):
    """Give an empty folder of data and an empty cache, which the loaders look into."""
    (tmp_path / "data").mkdir()
    (tmp_path / "cache").mkdir()
    monkeypatch.setenv("LINKTOPICS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("LINKTOPICS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(linqs, "SITE", "http://127.0.0.1:9/no-test-downloads-from-the-real-site/")
    return tmp_path


@pytest.fixture
def toy(monkeypatch):
    """Let Cora be a network of two documents."""
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in TOY.items()}
    monkeypatch.setitem(linqs.SUMS, "cora", sums)


@pytest.fixture
def site(places, monkeypatch):
    """Serve what is put into the dictionary given, by path; a string is where to go instead.

    Its entry None counts requests.
    """
    served = {None: 0}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            served[None] += 1
            body = served.get(self.path)
            if body is None:
                self.send_error(404)
                return
            if isinstance(body, str):
                self.send_response(302)
                self.send_header("Location", body)
                self.end_headers()
                return
            self.send_response(200)
            self.send_header("Content-Length", str(served.get("length", len(body))))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    monkeypatch.setattr(linqs, "SITE", f"http://127.0.0.1:{server.server_port}/")
    yield served
    server.shutdown()
    thread.join()
    server.server_close()


def archive(files, folder="cora/"):
    """Pack files into a tgz."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(folder + name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def published(data_dir, name):
    """Give the published files of a data set, unpacked."""
    paths = sorted((data_dir / name).iterdir())
    return {
        path.name.removesuffix(".gz"): gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for path in paths
    }


# What is in them


@pytest.mark.parametrize("name", LOADERS)
def test_statistics_are_the_published_ones(name, data_dir, monkeypatch):
    monkeypatch.setenv("LINKTOPICS_DATA", str(data_dir))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what is left out is known
        network = LOADERS[name]()
    undirected = network.to_undirected()
    sizes = (network.n_documents, network.n_links, undirected.n_links, network.n_words, network.n_tokens)
    assert (*sizes, len(set(network.labels))) == PUBLISHED[name][0]
    report = network.report
    assert (report.n_links_given, report.n_unknown_ends, report.n_self_links) == PUBLISHED[name][1]
    assert network.directed
    assert (network.lengths > 0).all()
    assert f"\n    {network!r}\n" in LOADERS[name].__doc__  # the example, which is not run without the data


def test_links_run_from_the_citing_paper(data_dir, monkeypatch):
    monkeypatch.setenv("LINKTOPICS_DATA", str(data_dir))
    network = load_cora()
    links = network.links.tolist()
    assert [network.index_of("1033"), network.index_of("35")] in links  # the line "35 1033": cited, citing
    assert [network.index_of("35"), network.index_of("1033")] not in links


def test_some_universities(data_dir, monkeypatch):
    monkeypatch.setenv("LINKTOPICS_DATA", str(data_dir))
    whole, cornell = load_webkb(), load_webkb("cornell")
    assert f"\n    {cornell!r}\n" in load_webkb.__doc__
    assert cornell.ids.tolist() == whole.ids[:195].tolist()
    parts = [load_webkb([name]) for name in linqs.UNIVERSITIES]
    assert sum(part.n_links for part in parts) == whole.n_links
    two = load_webkb(("wisconsin", "texas"))
    assert two.ids.tolist() == parts[3].ids.tolist() + parts[1].ids.tolist()
    assert (two.counts[: len(parts[3])] != parts[3].counts).nnz == 0


@pytest.mark.parametrize("universities", ["oxford", ["texas", "oxford"], ["texas", "texas"], []])
def test_unknown_universities(universities):
    with pytest.raises(ValueError, match="pass some of cornell, texas, washington, wisconsin, each once"):
        load_webkb(universities)


# Where they are looked for


def put(folder, files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


def test_the_folder_of_data_comes_first(places, toy, site):
    put(places / "data" / "cora", TOY)
    put(places / "cache" / "cora", {"cora.content": b"damaged"})
    network = load_cora()
    assert network.ids.tolist() == ["p1", "p2"]
    assert network.links.tolist() == [[1, 0]]
    assert network.report.n_self_links == 1
    assert site[None] == 0


def test_files_may_be_gzipped(places, toy):
    put(places / "data" / "cora", {f"{name}.gz": gzip.compress(content) for name, content in TOY.items()})
    assert load_cora().n_documents == 2


def test_files_beside_the_published_ones_are_not_read(places, toy):
    put(places / "data" / "cora", {**TOY, "other.content": b"p9\t1\t0\tfruit\n", "README": b""})
    assert load_cora().n_documents == 2


def test_then_the_cache(places, toy, site):
    put(places / "data" / "citeseer", TOY)  # another data set
    put(places / "cache" / "cora", TOY)
    assert load_cora().n_documents == 2
    assert site[None] == 0


def test_then_the_site(places, toy, site, monkeypatch):
    monkeypatch.delenv("LINKTOPICS_DATA")
    site["/cora.tgz"] = archive({**TOY, "README": b"read me"})
    first, second = load_cora(), load_cora()
    assert first.fingerprint() == second.fingerprint()
    assert site[None] == 1
    kept = sorted(path.relative_to(places / "cache").as_posix() for path in (places / "cache").rglob("*"))
    assert kept == ["cora", "cora/cora.cites", "cora/cora.content"]
    assert (places / "cache" / "cora" / "cora.content").read_bytes() == TOY["cora.content"]


@pytest.mark.parametrize(("name", "file"), [("cora", "cora.tgz"), ("citeseer", "citeseer.tgz"), ("webkb", "WebKB.tgz")])
def test_the_published_archives(name, file, places, site, data_dir, monkeypatch):
    site["/" + file] = archive(published(data_dir, name), folder=file.removesuffix(".tgz") + "/")
    network = LOADERS[name]()
    assert network.n_links == PUBLISHED[name][0][1]
    assert site[None] == 1
    monkeypatch.setenv("LINKTOPICS_DATA", str(data_dir))
    assert LOADERS[name]().fingerprint() == network.fingerprint()


def test_a_file_address(places, toy, monkeypatch):
    (places / "cora.tgz").write_bytes(archive(TOY))
    monkeypatch.setattr(linqs, "SITE", f"file://{places}/")
    assert load_cora().n_documents == 2


def test_a_wrong_folder_of_data(places, toy, monkeypatch):
    monkeypatch.setenv("LINKTOPICS_DATA", str(places / "nowhere"))
    with pytest.raises(DataError, match="nowhere', which is no folder; correct the variable or unset it"):
        load_cora()


@pytest.mark.parametrize("place", ["data", "cache"])
@pytest.mark.parametrize("file", TOY)
def test_changed_files(place, file, places, toy):
    put(places / place / "cora", {**TOY, file: TOY[file] + b"\n"})
    with pytest.raises(DataError, match="this is not the published file") as caught:
        load_cora()
    assert str(places / place / "cora" / file) in str(caught.value)
    cure = "unset LINKTOPICS_DATA" if place == "data" else f"delete the folder {places / place / 'cora'}"
    assert cure in str(caught.value)


def test_missing_and_damaged_files(places, toy):
    put(places / "data" / "cora", {"cora.content": TOY["cora.content"]})
    with pytest.raises(DataError, match=r"there is no cora\.cites or cora\.cites\.gz; put the published file there"):
        load_cora()
    put(places / "data" / "cora", {"cora.cites.gz": gzip.compress(TOY["cora.cites"])[:-5]})
    with pytest.raises(DataError, match="is cut short"):
        load_cora()


def test_one_university_needs_only_its_own_files(places, data_dir):
    files = published(data_dir, "webkb")
    put(places / "data" / "webkb", {name: content for name, content in files.items() if name.startswith("texas")})
    assert load_webkb("texas").n_documents == 187
    with pytest.raises(DataError, match=r"there is no cornell\.cites"):
        load_webkb()


# Downloads that go wrong


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
        _download._StaySafe().redirect_request(request, None, 302, "Found", {}, address)
    assert _download._StaySafe().redirect_request(request, None, 302, "Found", {}, "https://example.org/new")


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
    monkeypatch.setattr(_download, "TIMEOUT", 0.1)
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
        DataError, match=r"'cora' cannot be kept in the cache \(Not a directory\); set .*LINKTOPICS_CACHE"
    ):
        load_cora()


def test_no_home_for_a_cache(places, toy, monkeypatch):
    def nowhere():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(linqs, "cache_folder", nowhere)
    with pytest.raises(DataError, match=r"there is no place for the data set 'cora' .*set .*LINKTOPICS_CACHE"):
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
    bar = _download.DownloadBar(2_000_000, show=True)
    with bar:
        bar._timer.join()
        bar.add(500_000)
        bar.add(500_000)
    assert bar.done == 1_000_000
    assert "downloading" in capsys.readouterr().err
    with _download.DownloadBar(0) as quiet:  # not a terminal
        quiet.add(10)
    assert capsys.readouterr().err == ""
