"""Links of a network: pairs, matrices and graphs become the same links; what cannot be read is named."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from linktopics.errors import DataError
from linktopics.network.links import clean_links
from linktopics.network.network import DocumentNetwork
from support.toy_counts import COUNTS, LINKS, SORTED, link_matrix


@pytest.mark.parametrize(
    "links",
    [
        LINKS,
        LINKS.tolist(),
        [tuple(pair) for pair in LINKS],
        {tuple(pair) for pair in LINKS.tolist()},
        iter(LINKS.tolist()),
        LINKS.astype(float),
        LINKS.astype(np.uint16),
        LINKS.astype(object),
        pd.DataFrame(LINKS, columns=["source", "target"]),
        pl.DataFrame(LINKS, schema=["source", "target"]),
        link_matrix(),
        link_matrix(bool),
        7.5 * link_matrix(),
        -link_matrix(int),
        sparse.csr_matrix(link_matrix()),
        sparse.coo_array(link_matrix(bool)),
    ],
    ids=lambda links: type(links).__name__,
)
def test_links_of_every_kind(links):
    network = DocumentNetwork(COUNTS, links)
    assert network.links.tolist() == SORTED
    assert network.links.dtype == np.int64
    assert network.report.clean
    assert network.report.n_links_given == 3


@pytest.mark.parametrize("links", [None, [], np.empty((0, 2), dtype=int), np.array([]), sparse.csr_matrix((4, 4))])
@pytest.mark.parametrize("ids", [None, list("abcd")])
def test_no_links(links, ids):
    network = DocumentNetwork(COUNTS, links, ids=ids)
    assert network.links.shape == (0, 2)
    assert network.report.clean


def test_links_are_ids_when_ids_are_given_unless_said_otherwise():
    ids = [30, 10, 20, 0]
    assert DocumentNetwork(COUNTS, [(30, 10), (0, 20)], ids=ids).links.tolist() == [[0, 1], [3, 2]]
    assert DocumentNetwork(COUNTS, [(0, 1)], ids=ids, link_ends="indices").links.tolist() == [[0, 1]]
    assert DocumentNetwork(COUNTS, link_matrix(), ids=ids).links.tolist() == SORTED
    strings = np.array(["a", "b", "c", "d"])
    assert DocumentNetwork(COUNTS, strings[LINKS], ids=strings).links.tolist() == SORTED
    with pytest.raises(DataError, match="link_ends is 'id'"):
        DocumentNetwork(COUNTS, LINKS, link_ends="id")


def test_ids_may_be_any_hashables():
    ids = [("a", 1), "a", 1, None.__class__]
    network = DocumentNetwork(COUNTS, [(("a", 1), "a"), (1, ("a", 1))], ids=ids)
    assert network.links.tolist() == [[0, 1], [2, 0]]
    assert network.index_of(("a", 1)) == 0


def test_two_documents_a_two_by_two_array_is_pairs_and_a_sparse_one_a_matrix():
    counts = COUNTS[:2]
    assert DocumentNetwork(counts, np.array([[0, 1], [1, 0]])).links.tolist() == [[0, 1], [1, 0]]
    assert DocumentNetwork(counts, sparse.csr_matrix(np.array([[0, 1], [0, 0]]))).links.tolist() == [[0, 1]]


def test_undirected_links_are_smaller_index_first():
    network = DocumentNetwork(COUNTS, LINKS, directed=False)
    assert network.links.tolist() == [[0, 1], [0, 2], [1, 2]]


def test_both_halves_of_an_undirected_matrix_are_one_link_and_no_duplicate():
    symmetric = link_matrix() + link_matrix().T
    network = DocumentNetwork(COUNTS, symmetric, directed=False)
    assert network.links.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert network.report.clean


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ([(0, 1), (1, 2, 3)], r"links\[1\] is \(1, 2, 3\); each link is a pair"),
        (["ab"], r"links\[0\] is 'ab'"),
        ([3], r"links\[0\] is 3"),
        (7, "links is 7; pass pairs"),
        (np.array([[0, 1, 2], [1, 2, 3]]), r"transpose it: links.T"),
        (np.ones((3, 3)), r"shape \(3, 3\).*square matrix of 4 x 4"),
        (np.arange(4), r"shape \(4,\)"),
        (sparse.csr_matrix((3, 4)), r"link matrix has the shape \(3, 4\) for 4 documents"),
        (sparse.csr_matrix(link_matrix(complex)), "its values are of type complex128"),
        (link_matrix(object), "its values are of type object"),
        (np.where(link_matrix(), np.nan, 0), r"NaN at \(0, 1\)"),
        ([(0, 1), (1, 2.5)], r"\(1, 2.5\) is not;"),
        (np.array([[0, 1], [1, np.nan]]), r"\(1.0, nan\) is not;"),
        (np.array([[0, 1], [1, np.inf]]), r"\(1.0, inf\) is not;"),
        ([(0, 1), ("a", "b")], r"\('a', 'b'\) is not; pass integers, or pass ids="),
        ([(0, 2**70)], "is not;"),
    ],
)
def test_links_that_cannot_be_read(links, message):
    with pytest.raises(DataError, match=message):
        DocumentNetwork(COUNTS, links)


def test_unhashable_link_end():
    with pytest.raises(DataError, match="unhashable"):
        DocumentNetwork(COUNTS, [("a", ["b"])], ids=list("abcd"))


# --- down to the sentences: each was written against a mutant (setup.cfg) that survived -------------------------------

THREE = np.ones((3, 2), int)


def refusal(*arguments, **named):
    """Return the sentence with which a network is refused."""
    with pytest.raises(DataError) as refused:
        DocumentNetwork(*arguments, **named)
    return str(refused.value)


def test_link_matrices_that_do_not_fit():
    shape = (
        "the link matrix has the shape (2, 3) for 3 documents; it must be square, with a row and a column for each "
        "document, in the order of the counts."
    )
    assert refusal(THREE, sparse.csr_array((2, 3))) == shape
    kind = "the link matrix must hold numbers or booleans; its values are of type complex128."
    assert refusal(THREE, sparse.csr_array((3, 3), dtype=complex)) == kind


def test_link_matrices_are_left_alone():
    """A zero that is stored and a link that is there twice are put right in a copy."""
    parts = (np.array([1.0, 1.0, 0.0]), np.array([1, 1, 2]), np.array([0, 2, 3, 3]))
    matrix = sparse.csr_array(parts, shape=(3, 3))
    assert DocumentNetwork(THREE, matrix).links.tolist() == [[0, 1]]
    assert matrix.data.tolist() == [1.0, 1.0, 0.0]
    assert matrix.indices.tolist() == [1, 1, 2]


def test_hints_are_there_only_where_links_name_no_document():
    ids = np.array(["a", "b"], dtype=object)
    links, found = clean_links([], ids, by_id=True, directed=True)
    assert (links.tolist(), found["hint"]) == ([], "")
    _, found = clean_links([("a", "b"), ("x", "y")], ids, by_id=True, directed=True)
    assert (found["hint"], found["n_unknown_ends"]) == ("", 1)
    _, found = clean_links([(0, 1)], ids, by_id=True, directed=True)
    assert found["hint"] == (
        "no link has both ends among the ids: links name documents like 0, ids are like 'a'; if they are positions, "
        "name documents by their ids (or pass DocumentNetwork link_ends='indices')"
    )
    _, found = clean_links([("x", "y")], ids, by_id=True, directed=True)
    assert found["hint"] == "no link has both ends among the ids: links name documents like 'x', ids are like 'a'"


def test_booleans_are_ends_where_documents_are_named_so():
    assert DocumentNetwork(THREE[:2], [(True, False)], ids=[True, False]).links.tolist() == [[0, 1]]
    for links in ([(0, 1), (np.True_, 0)], [(0, 1), (1, False)]):
        assert refusal(THREE, links, ids=[0, 1, 2]).startswith("links[1] is (")


def test_masks_that_hide_nothing():
    pairs = np.ma.masked_array([[0, 1], [1, 2]])
    assert DocumentNetwork(THREE, pairs).links.tolist() == [[0, 1], [1, 2]]
