"""What networks are checked for, down to the sentences; each was written against a mutant (setup.cfg) that survived."""

import numpy as np
import pytest
from scipy import sparse

from linktopics import DataError, DocumentNetwork
from linktopics.network.validation import (
    as_count_matrix,
    check_counts,
    check_flag,
    check_sparse,
    check_texts,
    list_of_names,
)

COUNTS = np.ones((3, 2), int)


def said(call, *arguments, **named):
    """Return the sentence with which a call is refused."""
    with pytest.raises(DataError) as refused:
        call(*arguments, **named)
    return str(refused.value)


def test_names_are_listed():
    assert list_of_names(("year", "place"), "columns") == ["year", "place"]
    assert said(list_of_names, "year", "columns") == "columns is the single string 'year'; pass a list of names."
    assert said(list_of_names, None, "columns") == "columns is None; pass a list of names."


def test_flags_are_booleans():
    assert check_flag(np.False_, "directed") is False
    for wrong in ("no", 1, None):
        assert said(check_flag, wrong, "directed") == f"directed is {wrong!r}; it must be True or False."
    assert said(DocumentNetwork, COUNTS, strict=1) == "strict is 1; it must be True or False."


def test_texts_that_are_none():
    whole = "texts is a single string; pass a list with a text for each document."
    assert said(check_texts, "a text", None) == whole
    assert said(check_texts, b"a text", None) == whole
    assert check_texts(np.array(["a", "b"]), None) == ["a", "b"]


@pytest.mark.parametrize(
    ("ids", "name"), [(None, "1"), (["a", "b"], "'b'"), (["a"], "1"), ([], "1"), (["a", "b", "c"], "'b'")]
)
def test_texts_with_something_else_among_them_name_the_document(ids, name):
    assert (
        said(check_texts, ["x", 5, 6], ids)
        == f"the text of document {name} (position 1) is 5, not a string; give every document its text."
    )


def test_words_that_are_there_twice_or_are_no_words():
    twice = "vocabulary holds 'a' twice, at positions 0 and 1; give every column of counts its own word."
    assert said(DocumentNetwork, COUNTS, vocabulary=["a", "a"]) == twice
    number = "vocabulary[1] is 5, not a string; name each column of counts by its word."
    assert said(DocumentNetwork, COUNTS, vocabulary=["a", 5]) == number


def test_counts_in_the_last_row_are_located():
    matrix = sparse.csr_array(np.array([[1, 0], [0, 1], [0, -1]]))
    sentence = said(
        check_counts, matrix, np.array(["a", "b", "c"], dtype=object), np.array(["red", "blue"], dtype=object)
    )
    assert sentence == (
        "Negative values in data: document 'c' (row 2), word 'blue' (column 1): the value -1 is negative; word counts "
        "are whole numbers from 0 to 2147483647: pass raw counts, not TF-IDF or otherwise scaled values."
    )


# ---------------------------------------------------------------- sparse matrices whose parts do not fit together

FORMATS = ("csr", "csc", "bsr", "coo", "dia", "lil", "dok")
SQUARE = np.array([[2, 0, 1], [0, 1, 1], [1, 1, 0]])


def broken(form, part, place, value):
    """Return a matrix with one number of one of its parts changed; None for the place replaces the part."""
    matrix = sparse.coo_array(SQUARE).asformat(form)
    if place is None:
        setattr(matrix, part, value(getattr(matrix, part)))
    else:
        getattr(matrix, part)[place] = value
    return matrix


INDICES = [(form, "indices", 0, value) for form in ("csr", "csc", "bsr") for value in (3, 99, -1)]
OFFSETS = [
    (form, "indptr", place, value) for form in ("csr", "csc", "bsr") for place in (0, 1, -1) for value in (99, -1)
]
FALLING = [(form, "indptr", 1, 6) for form in ("csr", "csc")]
COORDINATES = [("coo", part, 0, value) for part in ("row", "col") for value in (3, 99, -1)]
REPLACED = [
    ("csr", "indptr", None, lambda x: np.array([0, 99, 99, 0])),  # where SciPy's own check looks no further
    ("csc", "indptr", None, lambda x: np.array([0, 6])),
    ("csc", "data", None, lambda x: x[:2]),
    ("csr", "data", None, lambda x: x[None]),
    ("csr", "indices", None, lambda x: x.astype(float)),
    ("csc", "indices", None, lambda x: x.tolist()),
    ("coo", "data", None, lambda x: x[:2]),
    ("bsr", "data", None, lambda x: np.ones((len(x), 2, 2))),
    ("dia", "offsets", None, lambda x: x[:1]),
    ("dia", "offsets", None, lambda x: x * 0),
    ("dia", "data", None, lambda x: x[0]),
    ("lil", "rows", None, lambda x: x[:2]),
    ("lil", "data", None, lambda x: np.array([[1] * 9, [], [1]], dtype=object)),
    ("lil", "rows", None, lambda x: np.array([[0, 99], [1, 2], [0, 1]], dtype=object)),
    ("dok", "_dict", None, lambda x: {(99, 0): 1}),
    ("dok", "_dict", None, lambda x: {("a", 0): 1}),
]


@pytest.mark.parametrize(("form", "part", "place", "value"), [*INDICES, *OFFSETS, *FALLING, *COORDINATES, *REPLACED])
def test_broken_matrices_are_refused_before_they_are_converted(form, part, place, value):
    if part == "_dict" and not hasattr(sparse.dok_array((1, 1)), "_dict"):
        pytest.skip("this SciPy keeps entries elsewhere")
    matrix = broken(form, part, place, value)
    whole = r"\A{} is not a valid sparse matrix: [^;]+; build it again\.\Z"
    with pytest.raises(DataError, match=whole.format("the thing")):
        check_sparse(matrix, "the thing")
    with pytest.raises(DataError, match=whole.format("counts")):
        DocumentNetwork(matrix)
    with pytest.raises(DataError, match=whole.format("the link matrix")):
        DocumentNetwork(SQUARE, matrix)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", [bool, np.int8, np.uint64, float])
def test_sound_matrices_are_taken(form, kind):
    given = sparse.coo_array(SQUARE.astype(kind)).asformat(form)
    assert (as_count_matrix(given).toarray() == SQUARE.astype(kind)).all()
    assert given.dtype == kind
    off_diagonal = np.eye(3, k=1, dtype=kind)
    assert DocumentNetwork(SQUARE, sparse.coo_array(off_diagonal).asformat(form)).links.tolist() == [[0, 1], [1, 2]]
    assert DocumentNetwork(SQUARE, sparse.coo_array((3, 3), dtype=kind).asformat(form)).n_links == 0


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_room_behind_the_last_entry_is_not_read(form):
    matrix = sparse.coo_array(SQUARE).asformat(form)
    n_entries = matrix.nnz
    matrix.data, matrix.indices = np.append(matrix.data, -5), np.append(matrix.indices, 99)
    assert (DocumentNetwork(matrix).counts.toarray() == SQUARE).all()
    assert len(matrix.data) == n_entries + 1


@pytest.mark.parametrize(("values", "kind"), [([200, 100], np.uint8), ([64] * 4, np.int8), ([True] * 2, bool)])
def test_repeated_entries_do_not_wrap_around(values, kind):
    places = [0] * len(values), [1] * len(values)
    matrix = sparse.coo_array((np.array(values, dtype=kind), places), shape=(3, 3))
    assert as_count_matrix(matrix).toarray()[0, 1] == sum(values)
    assert DocumentNetwork(SQUARE, matrix).links.tolist() == [[0, 1]]


def test_sparse_arrays_of_one_dimension():
    line = sparse.coo_array(np.array([1, 2, 3]))
    if line.ndim == 1:  # since SciPy 1.13
        shape = "counts must be a matrix of documents x words; it has the shape (3,)."
        assert said(DocumentNetwork, line) == shape
