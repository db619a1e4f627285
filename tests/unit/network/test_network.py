"""DocumentNetwork: its ids and columns, its parts and copies, and how it describes itself."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from linktopics.errors import DataError
from linktopics.network.network import DocumentNetwork, NetworkReport
from support.files import TEXTS
from support.toy_counts import COUNTS, link_matrix

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
    return DocumentNetwork(COUNTS, sparse.csr_matrix(link_matrix()), **columns, **more)


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


def test_summary_of_a_single_document(capsys):
    DocumentNetwork([[1]]).summary()
    assert "density              -" in capsys.readouterr().out


def test_importing_the_network_imports_nothing_heavy():
    code = "import linktopics.network, sys; print([m for m in ('numba', 'sklearn', 'pandas') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
