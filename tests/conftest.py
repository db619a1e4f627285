"""Fixtures shared by all tests."""

import os
import signal
from pathlib import Path

import pytest

if "PYTEST_XDIST_WORKER" in os.environ:  # such processes ignore Ctrl-C, and so would those that tests start
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of the third-party data sets; tests that need them are skipped where it is missing."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("LINKTOPICS_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"no data sets at {folder}; set LINKTOPICS_DATA to the folder that holds them")
    return folder
