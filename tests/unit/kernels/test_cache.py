"""The cache of compiled kernels: damaged, full, unreadable or relative, and the kernel is compiled all the same."""

import errno
import importlib.util
import os
import pickle
import shutil
import sys
import warnings

import pytest
from numba import config
from numba.core import caching

from linktopics import CacheWarning
from linktopics.kernels import _cache
from linktopics.kernels._compile import kernel

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")

SOURCE = "def double(x):\n    return x + x\n"


@pytest.fixture(autouse=True)
def unwarned(monkeypatch):
    """Let each test be the first in its process to warn."""
    monkeypatch.setattr(_cache, "_warned", False)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Return the folder that $NUMBA_CACHE_DIR names."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def double(tmp_path, monkeypatch):
    """Return what compiles a small function anew, as another process would.

    Its module is one that can be imported: Numba looks for it unless compiled code of before is still in memory.
    """
    path = tmp_path / "source" / "doubling.py"
    path.parent.mkdir()
    path.write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("doubling", path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "doubling", module)
    spec.loader.exec_module(module)
    return lambda: kernel(module.double)


def hits(function):
    return sum(function.stats.cache_hits.values())


def only(folder, ending):
    (path,) = folder.rglob(f"*.{ending}")
    return path


def quiet(call, *arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("error", CacheWarning)
        return call(*arguments)


def warned(call, *arguments):
    """Call, and return the one warning."""
    with pytest.warns(CacheWarning) as told:
        assert call(*arguments) == 2 * arguments[0]
    (one,) = told
    return str(one.message)


def test_another_process_finds_what_was_compiled(place, double):
    quiet(double(), 3)
    again = double()
    assert quiet(again, 4) == 8
    assert hits(again) == 1


def flip(path):
    """Change one byte of the machine code: Numba alone would load it, and perhaps die of it."""
    data = bytearray(path.read_bytes())
    at = data.index(b"\x7fELF") + 20 if b"\x7fELF" in data else len(data) // 2
    data[at] ^= 0xFF
    path.write_bytes(data)


DAMAGE = {
    "empty": lambda path: path.write_bytes(b""),
    "short": lambda path: os.truncate(path, path.stat().st_size // 2),
    "shorter by one byte": lambda path: os.truncate(path, path.stat().st_size - 1),
    "garbage": lambda path: path.write_bytes(b"\x93garbage" * 100),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "another pickle": lambda path: path.write_bytes(pickle.dumps(["not", "code"])),
    "a module that is not there": lambda path: path.write_bytes(b"cno_such_module\nthing\n."),
    "one byte": flip,
}


OF_DATA = {"another pickle", "one byte"}
"""What makes an index one of other things, which Numba passes over."""


@pytest.mark.parametrize(
    ("ending", "how"), [("nbc", how) for how in DAMAGE] + [("nbi", how) for how in DAMAGE if how not in OF_DATA]
)
def test_damage(place, double, ending, how):
    quiet(double(), 3)
    DAMAGE[how](only(place, ending))
    told = warned(double(), 4)
    assert f"in {only(place, ending).parent} is damaged" in told
    assert "Delete this folder, or set NUMBA_CACHE_DIR to" in told


def test_after_deleting_the_folder_all_is_well(place, double):
    quiet(double(), 3)
    DAMAGE["empty"](only(place, "nbi"))
    warned(double(), 4)
    shutil.rmtree(place)
    quiet(double(), 3)
    again = double()
    quiet(again, 4)
    assert hits(again) == 1


def test_one_warning_for_all_kernels(place, double):
    quiet(double(), 3)
    quiet(double(), 3.5)
    DAMAGE["empty"](only(place, "nbi"))
    warned(double(), 4)
    assert quiet(double(), 4.5) == 9
    function = double()
    assert (quiet(function, 4), quiet(function, 4.5)) == (8, 9)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT, errno.EIO])
@pytest.mark.parametrize("call", ["open", "replace"])
def test_what_cannot_be_written(place, double, monkeypatch, call, number):
    function = double()

    def fail(*arguments, **_):
        if call == "replace" or "w" in arguments[1]:
            raise OSError(number, os.strerror(number))
        return open(*arguments)

    monkeypatch.setattr(*((caching, "open") if call == "open" else (os, "replace")), fail, raising=False)
    told = warned(function, 3)
    monkeypatch.undo()
    assert os.strerror(number) in told
    assert str(place) in told
    assert not [*place.rglob("*.nb*")]


def test_an_index_that_may_not_be_read(place, double, monkeypatch):
    quiet(double(), 3)

    def fail(path, mode):
        if str(path).endswith(".nbi"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return open(path, mode)

    monkeypatch.setattr(caching, "open", fail, raising=False)
    assert "Permission denied" in warned(double(), 4)


def test_a_folder_that_vanishes_is_made_again(place, double):
    function = double()
    shutil.rmtree(place)
    quiet(function, 3)
    shutil.rmtree(place)
    again = double()
    quiet(again, 3)
    assert only(place, "nbc").exists()


def test_code_for_other_types_is_not_taken(place, double):
    """Two processes that write at the same moment may leave the index of one with the data of the other."""
    quiet(double(), 3)
    data = only(place, "nbc").read_bytes()
    quiet(double(), 3.5)
    for path in place.rglob("*.nbc"):
        path.write_bytes(data)
    again = double()
    assert quiet(again, 4.5) == 9
    assert hits(again) == 0


@pytest.mark.parametrize("path", ["relative", "~/cache", "."])
def test_a_relative_path_is_refused(tmp_path, double, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(config, "CACHE_DIR", path)
    assert f"is the relative path '{path}', which is ignored" in warned(double(), 3)
    assert [one.name for one in tmp_path.iterdir()] == ["source"]
    assert only(tmp_path / "source" / "__pycache__", "nbc").exists()  # as if the variable were not there


@pytest.mark.parametrize("home", ["relative", ""])
def test_no_folder_at_all(tmp_path, double, monkeypatch, home):
    """Where nothing can be written beside the source Numba takes the user's cache folder, and that may be relative."""
    monkeypatch.chdir(tmp_path)
    shutil.rmtree(tmp_path / "source" / "__pycache__", ignore_errors=True)
    (tmp_path / "source" / "__pycache__").write_text("not a folder")
    monkeypatch.setattr(config, "CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", home)
    monkeypatch.setattr(caching, "AppDirs", lambda **_: type("", (), {"user_cache_dir": os.path.join(home, "numba")}))
    told = warned(double(), 3)
    assert "There is no folder for a cache of compiled code" in told
    assert "set NUMBA_CACHE_DIR to the absolute path" in told
    assert [one.name for one in tmp_path.iterdir()] == ["source"]
