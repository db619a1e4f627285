"""What networks are checked for, down to the sentences; each was written against a mutant (setup.cfg) that survived."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from linktopics import DataError, DocumentNetwork
from linktopics._checks import check_counts, check_texts, clean_links, list_of_names, user_stacklevel

COUNTS = np.ones((3, 2), int)


def said(call, *arguments, **named):
    """Return the sentence with which a call is refused."""
    with pytest.raises(DataError) as refused:
        call(*arguments, **named)
    return str(refused.value)


def test_names_are_listed():
    assert list_of_names(("year", "place"), "columns") == ["year", "place"]
    assert said(list_of_names, "year", "columns") == "columns is the single string 'year'; pass a list of names."


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
        (["linktopics.network"], 2),
        (["linktopics.network", "linktopics._checks"], 3),
        (["linktopics.model", "sklearn.utils._set_output", "linktopics.inference"], 4),
        (["linktopics.model", "theirs", "linktopics.inference"], 2),
        (["linktopics_like"], 1),
        (["my.linktopics"], 1),
        ([None, "linktopics.model"], 2),
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
