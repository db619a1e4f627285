"""What the tests of the studies share."""

import pytest

from studies.run import ExperimentRun


@pytest.fixture
def a_run():
    """Return a function that makes a run in a folder, with some settings changed."""

    def a_run(folder, **changes):
        return ExperimentRun(**{"name": "cora", "folder": folder, "folds": 5, "topics": (5, 10), **changes})

    return a_run
