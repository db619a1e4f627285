"""Warnings point at the user's line, however deep they are issued."""

import warnings

import numpy as np
import pytest

from linktopics import DocumentNetwork
from linktopics.utils.user_warnings import user_stacklevel


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
        DocumentNetwork(np.ones((3, 2), int), [(0, 0)])
    assert [one.filename for one in told] == [__file__]
