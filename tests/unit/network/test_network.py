"""DocumentNetwork: what it takes, what it keeps, what it refuses and how it says so."""

import copy
import io
import pickle
import subprocess
import sys
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from linktopics.errors import DataError, NetworkWarning
from linktopics.network.network import DocumentNetwork, NetworkReport

COUNTS = np.array([[2, 0, 1, 0], [0, 3, 0, 0], [1, 1, 1, 1], [0, 0, 0, 4]])
LINKS = np.array([[0, 1], [2, 0], [1, 2]])
SORTED = [[0, 1], [1, 2], [2, 0]]
TEXTS = {"pie": "apple pie with cinnamon", "jam": "plum jam", "tart": "plum tart like apple pie"}
LOOP = nx.DiGraph([("pie", "pie")])
LOOP.add_node("pie", text="apple pie")


# ---------------------------------------------------------------- counts


@pytest.mark.parametrize(
    "counts",
    [
        COUNTS,
        COUNTS.tolist(),
        COUNTS.astype(float),
        COUNTS.astype(np.uint8),
        COUNTS.astype(object),
        np.asfortranarray(COUNTS),
        sparse.csr_matrix(COUNTS),
        sparse.csc_array(COUNTS.astype(np.float32)),
        sparse.coo_array(COUNTS),
        sparse.lil_matrix(COUNTS),
        pd.DataFrame(COUNTS),
        pd.DataFrame(COUNTS, columns=list("abcd")),
        pl.DataFrame(COUNTS, schema=list("abcd")),
    ],
    ids=lambda counts: type(counts).__module__.split(".")[0] + "." + type(counts).__name__,
)
def test_counts_of_every_kind_become_canonical_csr(counts):
    network = DocumentNetwork(counts, LINKS)
    assert isinstance(network.counts, sparse.csr_array)
    assert network.counts.dtype == np.int32
    assert network.counts.indices.dtype == np.int32
    assert network.counts.has_canonical_format
    np.testing.assert_array_equal(network.counts.toarray(), COUNTS)
    if list(getattr(counts, "columns", [])) == list("abcd"):
        assert network.vocabulary.tolist() == list("abcd")
    else:
        assert network.vocabulary is None


def test_bool_counts():
    assert DocumentNetwork(COUNTS > 0).n_tokens == 8


def test_explicit_zeros_duplicates_and_unsorted_indices_are_put_right_and_the_input_left_alone():
    given = sparse.csr_array(
        (np.array([1.0, 0.0, 2.0, 1.0]), np.array([2, 1, 0, 2]), np.array([0, 3, 4])), shape=(2, 3)
    )
    doubled = sparse.coo_array((np.array([1, 1]), (np.array([1, 1]), np.array([0, 0]))), shape=(2, 1))
    network = DocumentNetwork(given)
    assert network.counts.indices.tolist() == [0, 2, 2]
    assert network.counts.data.tolist() == [2, 1, 1]
    assert given.nnz == 4
    assert given.indices.tolist() == [2, 1, 0, 2]
    with pytest.warns(NetworkWarning, match="kept 1 document without words"):
        assert DocumentNetwork(doubled).counts.toarray().tolist() == [[0], [2]]


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        (-1, "the value -1.0 is negative"),
        (0.5, "the value 0.5 is fractional"),
        (np.nan, "nan is not finite"),
        (np.inf, "inf is not finite"),
        (-np.inf, "not finite"),
        (2.0**31, "too large"),
    ],
)
@pytest.mark.parametrize("kind", [np.array, sparse.csr_matrix, sparse.coo_array, pd.DataFrame])
def test_values_that_are_no_counts_are_named(value, wrong, kind):
    counts = COUNTS.astype(float)
    counts[2, 1] = value
    with pytest.raises(DataError, match=r"document 2 \(row 2\), word column 1:.*" + wrong + ".*pass raw counts"):
        DocumentNetwork(kind(counts))
    with pytest.raises(DataError, match=r"document 'c' \(row 2\), word 'x' \(column 1\):.*" + wrong):
        DocumentNetwork(kind(counts), ids=list("abcd"), vocabulary=list("wxyz"))


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (np.zeros((0, 3)), "there are no documents"),
        (np.zeros((3, 0)), "there are no words"),
        ([1, 2, 3], r"documents x words; it has the shape \(3,\)"),
        (np.ones((2, 2, 2)), r"shape \(2, 2, 2\)"),
        ([[1, 2], [3]], "must be a matrix of numbers"),
        ([["a", None]], r"counts\[0, 0\] is the string 'a'; pass numbers"),
        (["some text", "another"], "counts holds strings; .*from_texts"),
        (np.ones((2, 2), dtype=complex), "complex128"),
        (sparse.csr_matrix(np.ones((2, 2), dtype=complex)), "complex128"),
    ],
)
def test_matrices_of_the_wrong_kind(counts, message):
    with pytest.raises(DataError, match=message):
        DocumentNetwork(counts)


def test_unsound_sparse_matrix_is_refused():
    broken = sparse.csr_array(COUNTS)
    broken.indices[0] = 99
    with pytest.raises(DataError, match="not a sound sparse matrix"):
        DocumentNetwork(broken)


# ---------------------------------------------------------------- links


def _matrix(kind=float):
    matrix = np.zeros((4, 4), dtype=kind)
    matrix[tuple(LINKS.T)] = 1
    return matrix


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
        _matrix(),
        _matrix(bool),
        7.5 * _matrix(),
        -_matrix(int),
        sparse.csr_matrix(_matrix()),
        sparse.coo_array(_matrix(bool)),
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
    assert DocumentNetwork(COUNTS, _matrix(), ids=ids).links.tolist() == SORTED
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
    symmetric = _matrix() + _matrix().T
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
        (sparse.csr_matrix(_matrix(complex)), "its values are of type complex128"),
        (_matrix(object), "its values are of type object"),
        (np.where(_matrix(), np.nan, 0), r"NaN at \(0, 1\)"),
        ([(0, 1), (1, 2.5)], r"\(1, 2.5\) is none"),
        (np.array([[0, 1], [1, np.nan]]), r"\(1.0, nan\) is none"),
        (np.array([[0, 1], [1, np.inf]]), r"\(1.0, inf\) is none"),
        ([(0, 1), ("a", "b")], r"\('a', 'b'\) is none; pass integers, or pass ids="),
        ([(0, 2**70)], "is none"),
    ],
)
def test_links_that_cannot_be_read(links, message):
    with pytest.raises(DataError, match=message):
        DocumentNetwork(COUNTS, links)


def test_unhashable_link_end():
    with pytest.raises(DataError, match="unhashable"):
        DocumentNetwork(COUNTS, [("a", ["b"])], ids=list("abcd"))


# ---------------------------------------------------------------- defects and the report

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
        network = DocumentNetwork(COUNTS, _matrix() + np.eye(4))
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
            r"1 link with an unknown end: \(0, 9\).*Cure: add the missing documents.*strict=False",
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


# ---------------------------------------------------------------- ids and other columns


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ids": list("abac")}, "ids holds 'a' twice, at positions 0 and 2; give every document its own id"),
        ({"ids": list("abc")}, "ids has 3 entries for 4 documents"),
        ({"ids": "abcd"}, "ids is a single string"),
        ({"ids": ["a", None, "b", "c"]}, r"ids\[1\] is missing \(None\)"),
        ({"ids": [1.0, 2.0, np.nan, 3.0]}, r"ids\[2\] is missing \(nan\)"),
        ({"ids": ["a", pd.NA, "b", "c"]}, r"ids\[1\] is missing"),
        ({"ids": ["a", ["b"], "c", "d"]}, r"ids\[1\] is \['b'\], which is not hashable"),
        ({"vocabulary": list("abc")}, "vocabulary has 3 entries for 4 words"),
        ({"vocabulary": list("abca")}, "vocabulary holds 'a' twice, at positions 0 and 3"),
        ({"vocabulary": ["a", "b", 3, "d"]}, r"vocabulary\[2\] is 3, not a string"),
        ({"titles": ["a"]}, "titles has 1 entries for 4 documents"),
        ({"labels": [1, 2, 3, 4, 5]}, "labels has 5 entries for 4 documents"),
        ({"texts": []}, "texts has 0 entries for 4 documents"),
    ],
)
def test_columns_that_do_not_fit(arguments, message):
    with pytest.raises(DataError, match=message):
        DocumentNetwork(COUNTS, **arguments)


def test_columns_keep_their_values():
    network = DocumentNetwork(
        COUNTS, ids=pd.Series(list("abcd")), titles=["A", None, "C", 4], labels=np.array([1, 0, 1, 1]), texts=("",) * 4
    )
    assert network.ids.tolist() == list("abcd")
    assert network.titles.tolist() == ["A", None, "C", 4]
    assert network.labels.dtype.kind == "i"
    assert network.texts.tolist() == [""] * 4
    assert DocumentNetwork(COUNTS).ids.tolist() == [0, 1, 2, 3]


def test_index_of_suggests():
    network = DocumentNetwork(COUNTS, ids=["asyncio", "socket", "ssl", "os"])
    assert network.index_of("ssl") == 2
    with pytest.raises(DataError, match="no document has the id 'sockets'; did you mean 'socket'"):
        network.index_of("sockets")
    with pytest.raises(DataError, match=r"no document has the id \['x'\]; ids are like 'asyncio'"):
        network.index_of(["x"])
    with pytest.raises(DataError, match="did you mean 3"):
        DocumentNetwork(COUNTS).index_of("3")


# ---------------------------------------------------------------- what a network does


def _network(**more):
    columns = {"ids": list("abcd"), "vocabulary": list("wxyz"), "titles": list("ABCD"), "labels": [1, 2, 1, 2]}
    return DocumentNetwork(COUNTS, sparse.csr_matrix(_matrix()), **columns, **more)


def test_sizes_and_repr():
    network = _network()
    assert (network.n_documents, network.n_words, network.n_links, network.n_tokens, len(network)) == (4, 4, 3, 14, 4)
    assert network.lengths.tolist() == [3, 3, 4, 4]
    assert network.lengths.dtype == np.int64
    assert repr(network) == "DocumentNetwork(4 documents, 4 words, 14 tokens, 3 directed links)"


@pytest.mark.parametrize("chosen", [[2, 0], np.array([2, 0], dtype=np.uint8)])
def test_subset_keeps_order_vocabulary_and_inner_links(chosen):
    network = _network()
    network.index_of("a")
    part = network.subset(chosen)
    assert part.ids.tolist() == ["c", "a"]
    assert part.titles.tolist() == ["C", "A"]
    assert part.labels.tolist() == [1, 1]
    assert part.links.tolist() == [[0, 1]]
    assert part.vocabulary.tolist() == list("wxyz")
    assert part.report == NetworkReport()
    assert part.index_of("a") == 1
    np.testing.assert_array_equal(part.counts.toarray(), COUNTS[[2, 0]])
    assert network.n_documents == 4


def test_subset_by_mask_and_of_an_undirected_network():
    part = _network(directed=False).subset(np.array([True, False, True, True]))
    assert part.ids.tolist() == ["a", "c", "d"]
    assert part.links.tolist() == [[0, 1]]
    assert _network(directed=False).subset([2, 1, 0]).links.tolist() == [[0, 1], [0, 2], [1, 2]]


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ([], "non-empty sequence"),
        ([[0, 1]], "non-empty sequence"),
        ([0.5], "non-empty sequence"),
        (["a"], "non-empty sequence"),
        ([0, 4], "there is no document 4; indices run from 0 to 3"),
        ([-1], "there is no document -1"),
        ([1, 1], "names a document twice"),
        ([True, False], r"the mask has the shape \(2,\)"),
    ],
)
def test_subsets_that_cannot_be_taken(documents, message):
    with pytest.raises(DataError, match=message):
        _network().subset(documents)


def test_to_undirected_merges_and_leaves_the_original():
    network = DocumentNetwork(COUNTS, [(0, 1), (1, 0), (3, 2)])
    merged = network.to_undirected()
    assert merged.links.tolist() == [[0, 1], [2, 3]]
    assert not merged.directed
    assert network.directed
    assert network.n_links == 3


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda network: pickle.loads(pickle.dumps(network))])
def test_copies_and_pickles(duplicate):
    network = DocumentNetwork.from_texts(TEXTS, [("tart", "pie")])
    other = duplicate(network)
    assert other.fingerprint() == network.fingerprint()
    assert other.ids.tolist() == network.ids.tolist()
    assert other.vectorize(["plum"]).sum() == 1


def test_fingerprint_tells_counts_links_and_direction_apart():
    more = COUNTS.copy()
    more[0, 0] += 1
    networks = [
        DocumentNetwork(COUNTS, [(0, 1)]),
        DocumentNetwork(COUNTS, [(0, 1)], directed=False),
        DocumentNetwork(COUNTS, [(1, 0)]),
        DocumentNetwork(more, [(0, 1)]),
        DocumentNetwork(np.hstack([COUNTS, np.zeros((4, 1))]), [(0, 1)]),
    ]
    assert len({network.fingerprint() for network in networks}) == len(networks)
    wide = sparse.csr_array(COUNTS.astype(float))
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert DocumentNetwork(wide, [(0, 1)]).fingerprint() == networks[0].fingerprint()


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


def test_summary_of_a_single_document(capsys):
    DocumentNetwork([[1]]).summary()
    assert "density              -" in capsys.readouterr().out


def test_importing_the_network_imports_nothing_heavy():
    code = "import linktopics.network, sys; print([m for m in ('numba', 'sklearn', 'pandas') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"links": 5}, "links is 5; pass pairs of documents"),
        ({"links": sparse.coo_array((3, 3))}, "links is a coo_array; pass pairs of documents"),
        ({"links": [("new", "pie"), 7]}, r"links\[1\] is 7; each link is a pair"),
        ({"links": np.ma.masked_array([["new", "pie"]], mask=[[0, 1]])}, "links has masked values"),
        ({"titles": 5}, "titles is of type int; pass a list with one entry for each of the 1 new documents"),
        ({"labels": "x"}, "labels is a single string"),
        ({"columns": [1]}, "columns is a list; pass a dict"),
        ({"columns": {"year": 5}}, r"columns\['year'\] is of type int"),
        ({"columns": {"year": None}}, r"columns\['year'\] is of type NoneType"),
    ],
)
def test_extensions_that_cannot_be_read(arguments, message):
    with pytest.raises(DataError, match=message):
        DocumentNetwork.from_texts(TEXTS, [("pie", "jam")]).extended({"new": "plum pie"}, **arguments)


def test_extension_by_a_frame_of_links():
    more = pd.DataFrame({"source": ["new"], "target": ["pie"]})
    network = DocumentNetwork.from_texts(TEXTS).extended({"new": "plum pie"}, more)
    assert network.links.tolist() == [[3, 0]]
