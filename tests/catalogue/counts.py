"""Arrays, sparse matrices, frames and graphs given to the library."""

# ruff: noqa: E501  sentences stand in one line, as they are said

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
from scipy import sparse

from catalogue.kinds import Group, Kind
from linktopics import DocumentNetwork, RelationalTopicModel


def counts(values, **others):
    return lambda _: DocumentNetwork(values() if callable(values) else values, **others)


def linked(links, n_documents=3, **others):
    return lambda _: DocumentNetwork(np.eye(n_documents, dtype=int), links, **others)


def fit(values, **others):
    settings = {"n_burn_in": 1, "n_samples": 1, "thin": 1, "n_chains": 1, "verbose": False}
    return lambda _: RelationalTopicModel(2, **settings).fit(values, **others)


def frames(documents, links=None, **others):
    return lambda _: DocumentNetwork.from_frames(documents, links, **others)


def graph(graph, **attributes):
    for name, value in attributes.items():
        nx.set_node_attributes(graph, value, name)
    return lambda _: DocumentNetwork.from_networkx(graph)


def unsound(form="csr", size=2):
    matrix = sparse.coo_array(np.eye(size, dtype=int)).asformat(form)
    (matrix.row if form == "coo" else matrix.indices)[0] = 7
    return matrix


def repeated(values, kind, size=2):
    """Return a matrix with all these values in the second cell of its first row."""
    places = [0] * len(values), [1] * len(values)
    return sparse.coo_array((np.array(values, dtype=kind), places), shape=(size, size))


OVERFLOW = sparse.coo_array(([2**62] * 4 + [1], ([0] * 5, [0] * 5)), shape=(2, 2))
MASKED = np.ma.masked_array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])
PAIRS = np.array([[0, 1, 2, 0], [1, 2, 0, 2]])
TWO = pd.DataFrame({"id": [1, 2], "text": ["cats purr", "mice"]})

GROUP = Group(
    "Counts as arrays, matrices and frames",
    "What `DocumentNetwork` and `fit` are given. Rows, columns and documents are numbered from 0.",
    [
        Kind(
            "NaN",
            says="counts: document 0 (row 0), word column 1: the value nan is not finite (NaN or inf); word counts are whole numbers from 0 to 2147483647: pass raw counts, not TF-IDF or otherwise scaled values.",
            call=counts([[1, np.nan], [1, 0]]),
        ),
        Kind(
            "Infinity",
            says="counts: document 1 (row 1), word column 0: the value inf is not finite (NaN or inf); word counts are whole numbers from 0 to 2147483647: pass raw counts, not TF-IDF or otherwise scaled values.",
            call=counts([[1, 0], [np.inf, 0]]),
        ),
        Kind(
            "Negative counts",
            says="Negative values in data: document 0 (row 0), word column 1: the value -1 is negative; word counts are whole numbers from 0 to 2147483647: pass raw counts, not TF-IDF or otherwise scaled values.",
            call=counts([[1, -1], [1, 0]]),
        ),
        Kind(
            "Fractions",
            says="counts: document 0 (row 0), word column 1: the value 0.5 is fractional; word counts are whole numbers from 0 to 2147483647: pass raw counts, not TF-IDF or otherwise scaled values.",
            call=counts([[1, 0.5], [1, 0]]),
        ),
        Kind(
            "Counts beyond int32",
            says="counts: document 0 (row 0), word column 1: the value 2147483648 is too large; word counts are whole numbers from 0 to 2147483647: pass raw counts, not TF-IDF or otherwise scaled values.",
            call=counts([[1, 2**31], [1, 0]]),
        ),
        Kind(
            "Counts beyond int64",
            says="counts: document 0 (row 0), word column 1: the value 9.223372036854776e+18 is too large; word counts are whole numbers from 0 to 2147483647: pass raw counts, not TF-IDF or otherwise scaled values.",
            call=counts(np.array([[1, 2**63], [1, 0]], dtype=np.uint64)),
        ),
        Kind(
            "Entries of a sparse matrix that overflow when added up",
            says="counts: document 0 (row 0), word column 0: the value 1.8446744073709552e+19 is too large; word counts are whole numbers from 0 to 2147483647: pass raw counts, not TF-IDF or otherwise scaled values.",
            call=counts(OVERFLOW),
        ),
        Kind(
            "Entries of a sparse matrix that overflow downwards when added up",
            says="Negative values in data: document 0 (row 0), word column 1: the value -1.8446744073709552e+19 is negative; word counts are whole numbers from 0 to 2147483647: pass raw counts, not TF-IDF or otherwise scaled values.",
            call=counts(repeated([-(2**63)] * 2, np.int64)),
        ),
        Kind(
            "Entries of a sparse matrix of 8 bits whose sum needs more",
            call=counts(repeated([200, 100], np.uint8), ids=["a", "b"]),
            told="kept 1 document without words",
            gives="They are added up in 64 bits.",
            holds=lambda network: network.n_tokens == 300,
        ),
        Kind(
            "More than 2^24 tokens of a word",
            says="word 1 has 16,777,217 tokens; at most 16,777,215 can be counted. Leave out very frequent words or split documents.",
            call=fit([[1, 2**24], [1, 1]]),
        ),
        Kind(
            "Strings",
            says="counts holds strings; pass word counts, or make the network with DocumentNetwork.from_texts.",
            call=counts([["1", "2"], ["3", "4"]]),
        ),
        Kind(
            "Strings among objects",
            says="counts[0, 1] is the string '2'; pass numbers, or make the network with DocumentNetwork.from_texts.",
            call=counts(np.array([[1, "2"], [3, 4]], dtype=object)),
        ),
        Kind(
            "Strings among objects, for fit",
            says="counts[0, 0] is the string '1'; pass numbers, or make the network with DocumentNetwork.from_texts.",
            call=fit(np.array([["1", "2"], ["3", "4"]], dtype=object)),
        ),
        Kind(
            "None",
            says="counts[0, 1] is missing (None); put 0 where a document lacks a word.",
            call=counts([[1, None], [1, 0]]),
        ),
        Kind(
            "Missing values of a frame",
            says="counts[1, 0] is missing (<NA>); put 0 where a document lacks a word.",
            call=counts(pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [1, 2]})),
        ),
        Kind(
            "Masked values",
            says="counts has masked values; put numbers in their place (counts.filled(0)).",
            call=counts(MASKED),
        ),
        Kind(
            "Masked values, for fit",
            says="counts has masked values; put numbers in their place (counts.filled(0)).",
            call=fit(MASKED),
        ),
        Kind(
            "Complex numbers",
            says="counts must hold whole numbers; its values are of type complex128: pass word counts.",
            call=counts([[1j, 1], [1, 0]]),
        ),
        Kind(
            "Dates",
            says="counts must hold whole numbers; its values are of type datetime64[D]: pass word counts.",
            call=counts(np.array([["2020-01-01"]], dtype="M8[D]")),
        ),
        Kind(
            "True and False",
            call=counts([[True, False], [True, True]]),
            gives="Counts of 1 and 0.",
            holds=lambda network: network.n_tokens == 3,
        ),
        Kind(
            "Whole numbers as objects or fractions (1.0)",
            call=counts(np.array([[1, 2.0], [0, 3]], dtype=object)),
            gives="Counts like others.",
            holds=lambda network: network.n_tokens == 6,
        ),
        Kind(
            "An array of one dimension",
            says="counts must be a matrix of documents x words; it has the shape (3,).",
            call=counts([1, 2, 3]),
        ),
        Kind(
            "An array of three dimensions",
            says="counts must be a matrix of documents x words; it has the shape (2, 2, 2).",
            call=counts(np.ones((2, 2, 2))),
        ),
        Kind(
            "Rows of different lengths",
            says="counts must be a matrix of numbers, documents x words: ...",
            call=counts([[1, 2], [3]]),
        ),
        Kind(
            "Texts in place of counts",
            says="counts holds strings; pass word counts, or make the network with DocumentNetwork.from_texts.",
            call=counts(["cats purr", "mice"]),
        ),
        Kind(
            "No documents",
            says="counts has the shape (0, 3): there are no documents; a network needs at least one.",
            call=counts(np.empty((0, 3))),
        ),
        Kind(
            "No words",
            says="counts has the shape (3, 0): there are no words; a network needs at least one.",
            call=counts(np.empty((3, 0))),
        ),
        Kind(
            "No word in any document",
            says="no document has a word: all counts are zero; give documents with words.",
            call=fit(DocumentNetwork([[0, 1], [1, 1]]).counts.toarray() * 0),
        ),
        Kind(
            "One document",
            says="Found array with 1 sample(s)... while a minimum of 2 is required...",
            call=fit([[1, 2]]),
        ),
        Kind(
            "A sparse matrix with indices out of range",
            says="counts is not a valid sparse matrix: ...; build it again.",
            call=counts(unsound),
        ),
        Kind(
            "A sparse matrix by columns (CSC) with indices out of range",
            says="counts is not a valid sparse matrix: indices run from 0 to 1, and 7 is among them; build it again.",
            call=counts(lambda: unsound("csc")),
        ),
        Kind(
            "A sparse matrix of coordinates (COO) with a row out of range, for fit",
            says="counts is not a valid sparse matrix: rows run from 0 to 1, and 7 is among them; build it again.",
            call=fit(unsound("coo")),
        ),
        Kind(
            "A frame with strings and others as names of columns, for fit",
            says="the data frame has columns with strings as names and the column 1; name all by their words (or none: frame.to_numpy()).",
            call=fit(pd.DataFrame([[1, 2], [3, 4]], columns=["cats", 1])),
        ),
        Kind(
            "A sparse matrix of a trillion columns",
            says="counts has the shape (2, 1000000000000): there are too many words; the maximum is 2147483647.",
            call=counts(sparse.coo_array(([1], ([0], [0])), shape=(2, 10**12))),
        ),
        Kind(
            "Another number of ids than documents",
            says="ids has 2 entries for 1 documents; pass one for each, in the same order.",
            call=counts([[1, 2]], ids=["a", "b"]),
        ),
        Kind(
            "A number in place of a list of ids",
            says="ids is of type int; pass a list with one entry for each of the 1 documents.",
            call=counts([[1, 2]], ids=3),
        ),
        Kind(
            "Ids that are lists",
            says="ids[0] is ['a'], which is not hashable; use strings or integers.",
            call=counts([[1, 2]], ids=[["a"]]),
        ),
        Kind(
            "A word twice in the vocabulary",
            says="vocabulary holds 'a' twice, at positions 0 and 1; give every column of counts its own word.",
            call=counts([[1, 2]], vocabulary=["a", "a"]),
        ),
        Kind(
            "Labels that are lists",
            says="labels[0] is ['a']; give every document one label, a string or a number.",
            call=counts([[1, 2]], labels=[["a"]]),
        ),
        Kind(
            "Labels that are arrays",
            says="labels[0] is array([1, 2]); give every document one label, a string or a number.",
            call=counts([[1, 2]], labels=[np.array([1, 2])]),
        ),
        Kind(
            "A column without values",
            says="columns['year'] is of type NoneType; pass a list with one entry for each of the 1 documents.",
            call=counts([[1, 2]], columns={"year": None}),
        ),
        Kind(
            "One value in place of a column",
            says="columns['year'] is of type ndarray; pass a list with one entry for each of the 1 documents.",
            call=counts([[1, 2]], columns={"year": np.array(1990)}),
        ),
        Kind(
            "Whole numbers above 2^53 beside fractions, as ids",
            call=counts([[1], [2]], ids=[2**53 + 1, 0.5]),
            gives="Kept to the last digit.",
            holds=lambda network: network.ids.tolist() == [2**53 + 1, 0.5],
        ),
    ],
)

LINKS = Group(
    "Links as arrays and matrices",
    "Links with an unknown end, self links and duplicate links are dropped with a `NetworkWarning`, as those of files.",
    [
        Kind(
            "A matrix that is not square",
            says="the link matrix has the shape (3, 2) for 3 documents; it must be square, with a row and a column for each document, in the order of the counts.",
            call=linked(sparse.csr_array(np.ones((3, 2)))),
        ),
        Kind(
            "A matrix for another number of documents",
            says="links has the shape (4, 4); pass an (n, 2) array of pairs or a square matrix of 3 x 3.",
            call=linked(np.ones((4, 4))),
        ),
        Kind(
            "Pairs as two rows",
            says="links has the shape (2, 4); pass an (n, 2) array of pairs (transpose it: links.T) or a square matrix of 3 x 3.",
            call=linked(PAIRS),
        ),
        Kind(
            "An array of three dimensions",
            says="links has the shape (2, 2, 2); pass an (n, 2) array of pairs or a square matrix of 3 x 3.",
            call=linked(np.zeros((2, 2, 2), int)),
        ),
        Kind(
            "NaN in a matrix",
            says="the link matrix holds NaN at (0, 1); put 0 for no link and 1 for a link.",
            call=linked(sparse.csr_array(np.array([[0, np.nan, 0], [0, 0, 0], [0, 0, 0]]))),
        ),
        Kind(
            "A sparse matrix with indices out of range",
            says="the link matrix is not a valid sparse matrix: indices run from 0 to 2, and 7 is among them; build it again.",
            call=linked(unsound("csc", 3)),
        ),
        Kind(
            "A sparse matrix of coordinates with a row out of range",
            says="the link matrix is not a valid sparse matrix: rows run from 0 to 2, and 7 is among them; build it again.",
            call=linked(unsound("coo", 3)),
        ),
        Kind(
            "Entries of a sparse matrix of 8 bits whose sum is 256",
            call=linked(repeated([64] * 4, np.int8, 3)),
            gives="A link: they are added up in 64 bits.",
            holds=lambda network: network.links.tolist() == [[0, 1]],
        ),
        Kind(
            "Masked pairs",
            says="links has masked values; leave out such pairs, or put 0 in a matrix (links.filled(0)).",
            call=linked(np.ma.masked_array([[0, 1], [1, 2]], mask=[[0, 0], [1, 0]])),
        ),
        Kind(
            "A masked matrix",
            says="links has masked values; leave out such pairs, or put 0 in a matrix (links.filled(0)).",
            call=linked(np.ma.masked_array(np.ones((3, 3)), mask=np.eye(3))),
        ),
        Kind(
            "A matrix of strings or complex numbers",
            says="the link matrix must hold numbers or booleans; its values are of type complex128.",
            call=linked(sparse.csr_array(np.ones((3, 3), complex))),
        ),
        Kind(
            "An index that is a fraction, NaN or infinite",
            says="links are pairs of document indices here, but (0, 1.5) is not; pass integers, or pass ids= to name documents by their ids.",
            call=linked([(0, 1.5)]),
        ),
        Kind(
            "An index beyond 64 bits",
            says="links are pairs of document indices here, but (0, 1180591620717411303424) is not; pass integers, or pass ids= to name documents by their ids.",
            call=linked([(0, 2**70)]),
        ),
        Kind(
            "An index of 1e300",
            says="links are pairs of document indices here, but (0, 1e+300) is not; pass integers, or pass ids= to name documents by their ids.",
            call=linked([(0, 1e300)]),
        ),
        Kind(
            "True and False as indices",
            says="links are pairs of document indices here, but (False, True) is not; pass integers, or pass ids= to name documents by their ids.",
            call=linked(np.array([[False, True], [True, False]]), n_documents=2),
        ),
        Kind(
            "True and False where ids are 0, 1 and 2",
            says="links[0] is (True, False); no id is True or False: name documents by their ids.",
            call=linked([(True, False)], ids=[0, 1, 2]),
        ),
        Kind(
            "A word in place of True or False as directed",
            says="directed is 'no'; it must be True or False.",
            call=linked([(0, 1)], directed="no"),
        ),
        Kind(
            "Strings where there are no ids",
            says="links are pairs of document indices here, but ('0', '1') is not; pass integers, or pass ids= to name documents by their ids.",
            call=linked([("0", "1")]),
        ),
        Kind("Triples", says="links[0] is (0, 1, 2); each link is a pair (source, target).", call=linked([(0, 1, 2)])),
        Kind(
            "None among pairs",
            says="links[1] is None; each link is a pair (source, target).",
            call=linked([(0, 1), None]),
        ),
        Kind(
            "A string in place of pairs",
            says="links[0] is 'a'; each link is a pair (source, target).",
            call=linked("ab"),
        ),
        Kind(
            "Lists as ends of links",
            says="links must be pairs of document ids: ....",
            call=linked([(["a"], ["b"])], ids=["a", "b", "c"]),
        ),
        Kind(
            "Negative indices",
            call=linked([(0, 1), (0, -1)]),
            told="dropped 1 link with an unknown end (documents are numbered from 0 to 2)",
            gives="The other links are kept.",
            holds=lambda network: network.n_links == 1,
        ),
        Kind(
            "Strings for ids that are numbers",
            call=linked([("1", "2")], ids=[1, 2, 3]),
            told="no link has both ends among the ids: links name documents like '1', ids are like 1",
            gives="No link is left; the warning has an example of a link and of an id.",
            holds=lambda network: network.n_links == 0,
        ),
    ],
)

FRAMES = Group(
    "Frames, graphs and texts",
    "",
    [
        Kind(
            "A column is missing",
            says="documents has no column 'text'; its columns are 'id', 'txt'. Name the right one as an argument.",
            call=frames(pd.DataFrame({"id": [1], "txt": ["cats"]})),
        ),
        Kind(
            "A column twice",
            says="documents has the column 'id' 2 times; rename or drop all but one.",
            call=frames(pd.DataFrame([[1, "cats", 2]], columns=["id", "text", "id"])),
        ),
        Kind(
            "A text is missing",
            says="documents: row 1 (from 0) has no 'text' (...); fill it in or drop the row.",
            call=frames(pd.DataFrame({"id": [1, 2], "text": ["cats", None]})),
        ),
        Kind(
            "A number in place of a text",
            says="the text of document 2 (position 1) is 3, not a string; give every document its text.",
            call=frames(pd.DataFrame({"id": [1, 2], "text": ["cats", 3]})),
        ),
        Kind(
            "An id is missing",
            says="documents: row 1 (from 0) has no 'id' (...); fill it in or drop the row.",
            call=frames(pd.DataFrame({"id": ["a", None], "text": ["cats", "mice"]})),
        ),
        Kind(
            "An id twice",
            says="ids holds 1 twice, at positions 0 and 1; give every document its own id.",
            call=frames(pd.DataFrame({"id": [1, 1], "text": ["cats", "mice"]})),
        ),
        Kind(
            "A number in place of names of columns",
            says="columns is 5; pass a list of names.",
            call=frames(TWO, columns=5),
        ),
        Kind(
            "No rows",
            says="texts is empty; give at least one document.",
            call=frames(pd.DataFrame({"id": [], "text": []})),
        ),
        Kind(
            "No frame",
            says="documents is a list; pass a pandas or polars DataFrame.",
            call=frames([{"id": 1, "text": "cats"}]),
        ),
        Kind(
            "Ids that pandas made fractions in one of the frames",
            call=frames(TWO, pd.DataFrame({"source": [1.0], "target": [2.0]})),
            gives="1.0 is 1, and links find it.",
            holds=lambda network: network.n_links == 1,
        ),
        Kind(
            "A graph whose nodes have no text",
            says="node 0 has no attribute 'text' (its attributes: none); give every node its text, or name the attribute that holds it with text=.",
            call=graph(nx.path_graph(3)),
        ),
        Kind("A graph with no nodes", says="texts is empty; give at least one document.", call=graph(nx.DiGraph())),
        Kind(
            "Several edges between two nodes, and loops",
            call=graph(nx.MultiGraph([(1, 2), (1, 2), (1, 1)]), text="cats"),
            told="dropped 1 self link; dropped 1 duplicate link",
            gives="Each link is kept once.",
            holds=lambda network: network.n_links == 1,
        ),
        Kind(
            "One string in place of texts",
            says="texts is a single string; pass a list with a text for each document.",
            call=lambda _: DocumentNetwork.from_texts("cats"),
        ),
        Kind(
            "None in place of texts",
            says="texts is of type NoneType; pass a list with a text for each document.",
            call=lambda _: DocumentNetwork.from_texts(None),
        ),
        Kind(
            "Bytes in place of texts",
            says="the text of document 0 (position 0) is b'cats', not a string; give every document its text.",
            call=lambda _: DocumentNetwork.from_texts([b"cats"]),
        ),
        Kind(
            "A vectorizer that gives fractions",
            says="counts: document 0 (row 0), word 'cats' (column 0): the value 0.7071067811865476 is fractional; word counts are whole numbers from 0 to 2147483647: pass raw counts, not TF-IDF or otherwise scaled values.",
            call=lambda _: DocumentNetwork.from_texts(["cats purr", "mice"], vectorizer=tfidf()),
        ),
    ],
)


def tfidf():
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer()
