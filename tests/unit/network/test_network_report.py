"""Defects of a network are dropped, counted and reported."""

import io
import warnings

import networkx as nx
import numpy as np
import pytest

from linktopics.errors import DataError, NetworkWarning
from linktopics.network.network import DocumentNetwork, NetworkReport
from support.files import TEXTS
from support.toy_counts import COUNTS, LINKS, SORTED, link_matrix

LOOP = nx.DiGraph([("pie", "pie")])
LOOP.add_node("pie", text="apple pie")
DIRTY = [("a", "b"), ("b", "b"), ("a", "b"), ("b", "a"), ("a", "z"), ("y", "z"), ("c", "c"), ("d", "c")]
DIRTY_COUNTS = np.array([[1, 0], [2, 1], [0, 0], [0, 1]])


def test_defects_are_dropped_counted_and_told():
    with pytest.warns(NetworkWarning) as caught:
        network = DocumentNetwork(DIRTY_COUNTS, DIRTY, ids=list("abcd"))
    assert network.links.tolist() == [[0, 1], [1, 0], [3, 2]]
    assert network.report == NetworkReport(
        n_links_given=8,
        n_unknown_ends=2,
        n_self_links=2,
        n_duplicate_links=1,
        n_empty_documents=1,
        unknown_ends=(("a", "z"), ("y", "z")),
        self_links=(("b", "b"), ("c", "c")),
        duplicate_links=(("a", "b"),),
        empty_documents=("c",),
    )
    assert network.report.n_dropped_links == network.report.n_links_given - network.n_links == 5
    assert not network.report.clean
    assert [str(warning.message) for warning in caught] == [
        "dropped 2 links with an unknown end; dropped 2 self links; dropped 1 duplicate link; "
        "kept 1 document without words (its report, or linktopics info, has examples)."
    ]
    assert "dropped 2 links with an unknown end: ('a', 'z'), ('y', 'z')." in str(network.report)


def test_reversed_link_is_a_duplicate_in_an_undirected_network():
    with pytest.warns(NetworkWarning, match="dropped 2 duplicate links"):
        network = DocumentNetwork(COUNTS, [(0, 1), (1, 0), (0, 1)], directed=False)
    assert network.links.tolist() == [[0, 1]]


def test_self_links_of_a_matrix_are_counted():
    with pytest.warns(NetworkWarning, match="dropped 4 self links"):
        network = DocumentNetwork(COUNTS, link_matrix() + np.eye(4))
    assert network.links.tolist() == SORTED


def test_report_holds_at_most_three_examples():
    with pytest.warns(NetworkWarning):
        report = DocumentNetwork(COUNTS, [(i, i) for i in range(4)]).report
    assert report.self_links == ((0, 0), (1, 1), (2, 2))
    assert str(report).endswith("(2, 2) and more.")


def test_nothing_found_says_so_and_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = DocumentNetwork(COUNTS, LINKS).report
    assert str(report) == "Nothing was dropped and no document is empty."


@pytest.mark.parametrize(
    "make",
    [
        lambda: DocumentNetwork(COUNTS, [(0, 0)]),
        lambda: DocumentNetwork.from_texts(TEXTS, [("pie", "pie")]),
        lambda: DocumentNetwork.from_networkx(LOOP),
    ],
)
def test_the_warning_points_at_the_users_line(make):
    with pytest.warns(NetworkWarning) as caught:
        make()
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("counts", "links", "message"),
    [
        (
            COUNTS,
            [(0, 1), (0, 9)],
            r"1 link with an unknown end: \(0, 9\).*To correct this, add the missing documents.*strict=False",
        ),
        (COUNTS, [(i, i) for i in range(4)], r"4 self links: \(0, 0\), \(1, 1\), \(2, 2\) and more.*strict=False"),
        (COUNTS, [(0, 1), (0, 1)], r"1 duplicate link: \(0, 1\).*give each link once; or pass strict=False"),
        (DIRTY_COUNTS, None, r"1 document without words: 2.*remove documents without words; or pass strict=False"),
    ],
)
def test_strict_makes_each_an_error(counts, links, message):
    with pytest.raises(DataError, match=message):
        DocumentNetwork(counts, links, strict=True)


def test_hints_for_links_that_name_no_document():
    with pytest.warns(NetworkWarning, match=r"links name documents like 0, ids are like 'a'.*link_ends='indices'"):
        DocumentNetwork(COUNTS, LINKS, ids=list("abcd"))
    with pytest.warns(NetworkWarning, match="links name documents like '7', ids are like 7"):
        DocumentNetwork(COUNTS, [("7", "8")], ids=[7, 8, 9, 10])
    with pytest.warns(NetworkWarning, match="documents are numbered from 0 to 3"):
        DocumentNetwork(COUNTS, [(1, 4), (-1, 2)])


def test_summary_tells_what_was_dropped():
    with pytest.warns(NetworkWarning):
        network = DocumentNetwork(DIRTY_COUNTS, DIRTY, ids=list("abcd"), labels=list("wxyz"), directed=False)
    out = io.StringIO()
    network.summary(out)
    assert out.getvalue().splitlines() == [
        "DocumentNetwork",
        "  documents            4",
        "  words                2",
        "  tokens               5",
        "  tokens per document  median 1, max 3",
        "  links                2 undirected",
        "  density              0.33",
        "  degree               median 1, max 1, 0 isolated",
        "  labels               4: w 1, x 1, y 1, ...",
        "  dropped              2 links with an unknown end",
        "  dropped              2 self links",
        "  dropped              2 duplicate links",
        "  kept                 1 document without words",
    ]
