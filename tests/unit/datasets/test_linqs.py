"""Cora, Citeseer and WebKB: what is in them, and where they are looked for."""

import gzip
import warnings

import pytest

from linktopics import DataError
from linktopics.datasets import linqs, load_citeseer, load_cora, load_webkb
from support.archives import TOY, archive, put

LOADERS = {"cora": load_cora, "citeseer": load_citeseer, "webkb": load_webkb}
# documents, directed links, undirected links, words, tokens, classes; lines of links, unknown ends, self links
PUBLISHED = {
    "cora": ((2708, 5429, 5278, 1433, 49216, 7), (5429, 0, 0)),
    "citeseer": ((3312, 4591, 4536, 3703, 105165, 6), (4732, 17, 124)),
    "webkb": ((877, 1516, 1388, 1703, 79365, 5), (1608, 0, 92)),
}


def published(data_dir, name):
    """Give the published files of a data set, unpacked."""
    paths = sorted((data_dir / name).iterdir())
    return {
        path.name.removesuffix(".gz"): gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for path in paths
    }


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
    with pytest.raises(DataError, match="nowhere', which is not a folder; correct the variable or unset it"):
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
