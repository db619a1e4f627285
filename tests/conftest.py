"""Fixtures shared by all tests."""

import os
import signal
from pathlib import Path

import pytest

if "PYTEST_XDIST_WORKER" in os.environ:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which they ignore, and so would those that tests start
    # There are as many processes as cores already; threads of linear algebra would take a third more, waiting.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
if hasattr(signal, "SIGHUP"):  # which nohup ignores, for all that is started by it
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of the third-party data sets; tests that need them are skipped where it is missing."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("LINKTOPICS_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"no data sets at {folder}; set LINKTOPICS_DATA to the folder that holds them")
    return folder


@pytest.fixture(scope="session")
def shared_cache(tmp_path_factory) -> Path:
    """Folder for ``$LINKTOPICS_CACHE``, the same for all processes of this run: the library is read into it once."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "linktopics-cache"
