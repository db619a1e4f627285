"""The published data sets are read as their own description has them."""

import pytest

from linktopics.errors import DataError
from linktopics.network import DocumentNetwork


@pytest.mark.filterwarnings("ignore::linktopics.errors.NetworkWarning")
@pytest.mark.parametrize(
    ("name", "documents", "words", "tokens", "directed", "undirected", "classes", "dropped"),
    [
        ("cora", 2708, 1433, 49216, 5429, 5278, 7, (0, 0)),
        ("citeseer", 3312, 3703, 105165, 4591, 4536, 6, (17, 124)),
        ("webkb", 877, 1703, 79365, 1516, 1388, 5, (0, 92)),
        ("cora-r", 2410, 2961, 136394, 4356, 4231, None, (0, 0)),
        ("debian", 63436, 11395, 2040596, 299186, 294681, 58, (0, 0)),
    ],
)
def test_data_sets(data_dir, name, documents, words, tokens, directed, undirected, classes, dropped):
    read = DocumentNetwork.from_ldac if name in ("cora-r", "debian") else DocumentNetwork.from_linqs
    network = read(data_dir / name)
    assert (network.n_documents, network.n_words, network.n_tokens) == (documents, words, tokens)
    assert network.n_links == directed
    assert network.to_undirected().n_links == undirected
    assert (None if network.labels is None else len(set(network.labels))) == classes
    assert (network.report.n_unknown_ends, network.report.n_self_links) == dropped
    assert network.report.n_duplicate_links == 0


@pytest.mark.long
def test_data_sets_strict(data_dir):
    with pytest.raises(DataError, match=r"17 links with an unknown end: .*; 124 self links: \('100157', '100157'\)"):
        DocumentNetwork.from_linqs(data_dir / "citeseer", strict=True)
    with pytest.raises(DataError, match=r"1 document without words: 'freeglut3-dev'"):
        DocumentNetwork.from_ldac(data_dir / "debian", strict=True)
    assert DocumentNetwork.from_linqs(data_dir / "cora", strict=True).report.clean


def test_cora_r_titles_and_reversed_links(data_dir):
    network = DocumentNetwork.from_ldac(data_dir / "cora-r", links_reversed=True)
    assert network.titles[0] == "The megaprior heuristic for discovering protein sequence patterns."
    plain = DocumentNetwork.from_ldac(data_dir / "cora-r")
    assert {tuple(pair) for pair in plain.links.tolist()} == {tuple(pair[::-1]) for pair in network.links.tolist()}
