"""What networks are checked for, down to the sentences; each was written against a mutant (setup.cfg) that survived."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from linktopics import DataError, DocumentNetwork
from linktopics.network.links import clean_links
from linktopics.network.validation import (
    as_count_matrix,
    check_counts,
    check_flag,
    check_sound,
    check_texts,
    list_of_names,
    user_stacklevel,
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


def test_link_matrices_that_do_not_fit():
    shape = (
        "the link matrix has the shape (2, 3) for 3 documents; it must be square, with a row and a column for each "
        "document, in the order of the counts."
    )
    assert said(DocumentNetwork, COUNTS, sparse.csr_array((2, 3))) == shape
    kind = "the link matrix must hold numbers or booleans; its values are of type complex128."
    assert said(DocumentNetwork, COUNTS, sparse.csr_array((3, 3), dtype=complex)) == kind


def test_link_matrices_are_left_alone():
    """A zero that is stored and a link that is there twice are put right in a copy."""
    parts = (np.array([1.0, 1.0, 0.0]), np.array([1, 1, 2]), np.array([0, 2, 3, 3]))
    matrix = sparse.csr_array(parts, shape=(3, 3))
    assert DocumentNetwork(COUNTS, matrix).links.tolist() == [[0, 1]]
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


def test_counts_in_the_last_row_are_located():
    matrix = sparse.csr_array(np.array([[1, 0], [0, 1], [0, -1]]))
    sentence = said(
        check_counts, matrix, np.array(["a", "b", "c"], dtype=object), np.array(["red", "blue"], dtype=object)
    )
    assert sentence == (
        "Negative values in data: document 'c' (row 2), word 'blue' (column 1): the value -1 is negative; word counts "
        "are whole numbers from 0 to 2147483647: pass raw counts, not TF-IDF or otherwise scaled values."
    )


def called_from(*names):
    """Return the level that a call chain gives whose functions are of modules with these names, outermost first.

    None is code that is of no module, as `exec` runs it.
    """
    call = user_stacklevel
    for name in reversed(names):
        space = {"call": call} if name is None else {"__name__": name, "call": call}
        exec("def outer():\n    return call()", space)
        call = space["outer"]
    return call()


@pytest.mark.parametrize(
    ("modules", "level"),
    [
        ([], 1),
        (["linktopics.network.network"], 2),
        (["linktopics.network.network", "linktopics.network.validation"], 3),
        (["linktopics.model.estimator", "sklearn.utils._set_output", "linktopics.sampler.topic_inference"], 4),
        (["linktopics.model.estimator", "theirs", "linktopics.sampler.topic_inference"], 2),
        (["linktopics_like"], 1),
        (["my.linktopics"], 1),
        ([None, "linktopics.model.estimator"], 2),
    ],
)
def test_the_level_of_warnings_counts_our_functions_alone(modules, level):
    assert called_from(*modules) == level


def test_the_level_of_warnings_where_all_is_ours():
    """Without a frame of a user, as at the bottom of a thread, the search ends."""
    space = {"__name__": "linktopics.made", "user_stacklevel": user_stacklevel}
    exec("found = []\ndef outermost():\n    found.append(user_stacklevel())", space)
    import _thread

    done = _thread.allocate_lock()
    done.acquire()
    exec("def run(done):\n    outermost()\n    done.release()", space)
    _thread.start_new_thread(space["run"], (done,))
    assert done.acquire(timeout=30)
    assert space["found"] == [3]


def test_a_warning_points_here():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        DocumentNetwork(COUNTS, [(0, 0)])
    assert [one.filename for one in told] == [__file__]


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
    whole = r"\A{} is not a sound sparse matrix: [^;]+; make it again\.\Z"
    with pytest.raises(DataError, match=whole.format("the thing")):
        check_sound(matrix, "the thing")
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


def test_booleans_are_ends_where_documents_are_named_so():
    assert DocumentNetwork(COUNTS[:2], [(True, False)], ids=[True, False]).links.tolist() == [[0, 1]]
    for links in ([(0, 1), (np.True_, 0)], [(0, 1), (1, False)]):
        assert said(DocumentNetwork, COUNTS, links, ids=[0, 1, 2]).startswith("links[1] is (")


def test_masks_that_hide_nothing():
    pairs = np.ma.masked_array([[0, 1], [1, 2]])
    assert DocumentNetwork(COUNTS, pairs).links.tolist() == [[0, 1], [1, 2]]
