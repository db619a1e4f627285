"""Faults of the disk, and real file systems that are full or read-only: they do not end a run.

Seen to fail against a writer that leaves files behind when writing fails; that raises, or warns every time, when a
checkpoint cannot be written; that does not look whether its folder is there still.
"""

import contextlib
import errno
import itertools
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from linktopics import Checkpoint, CheckpointWarning, DataError, RelationalTopicModel
from linktopics.errors import ModelError
from linktopics.model import estimator
from linktopics.storage.folder import MANIFEST, PREVIOUS_MANIFEST, ModelFolder
from support.checkpoints import NETWORK, PLAIN, assert_nothing_else, at_sweeps, done
from support.small_models import assert_same, small_model

load = RelationalTopicModel.load


def texts_of(told):
    """Return what the warnings of checkpoints say; so few sweeps cannot agree, of which there is another warning."""
    return [str(one.message) for one in told if one.category is CheckpointWarning]


def assert_told(told, *parts):
    """Check what the warnings of checkpoints say, each one thing."""
    texts = texts_of(told)
    assert [part in text for part, text in zip(parts, texts, strict=True)] == [True] * len(parts), texts


# --- faults of the disk -----------------------------------------------------------------------------------------------


def failing_writes(monkeypatch, fails, error=errno.ENOSPC):
    """Let some of the writes to disk fail, by their number."""
    real, lock, calls = os.replace, threading.Lock(), []

    def replace(source, target):
        with lock:
            calls.append(os.path.basename(target))
            here = fails(len(calls))
        if here:
            raise OSError(error, os.strerror(error))
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    return calls


AT_THE_START = 8  # network, training pairs, two states of two chains, and the manifests


@pytest.mark.parametrize("number", [1, 3, 7])
def test_a_disk_that_is_full_at_the_start(number, whole, tmp_path, monkeypatch):
    failing_writes(monkeypatch, lambda call: call == number)
    sweeps = []
    with at_sweeps(monkeypatch, _1=lambda: sweeps.append(1)), pytest.raises(ModelError, match="No space left"):
        clone(whole).fit(NETWORK, checkpoint=Checkpoint(tmp_path / "a" / "model", every=1))
    assert os.listdir(tmp_path) == sweeps == []


@pytest.mark.parametrize("number", [9, 10, 11, 22, 31])
def test_a_disk_that_is_full_for_a_moment(number, whole, tmp_path, monkeypatch):
    """The run goes on, and the next checkpoint has what the last one had not."""
    model, folder = clone(whole), tmp_path / "model"
    with monkeypatch.context() as patch:
        calls = failing_writes(patch, lambda call: call == number)
        with pytest.warns(CheckpointWarning) as told:
            model.fit(NETWORK, checkpoint=Checkpoint(folder, every=1))
    assert calls[6:8] == [MANIFEST, PREVIOUS_MANIFEST]
    assert_same(model, whole)
    assert_same(load(folder, verify=True), whole)
    assert_nothing_else(folder)
    first, second = texts_of(told)
    assert first.startswith(f"{folder / calls[number - 1]}: cannot be written (No space left on device). ")
    assert "the run continues; " in first
    assert f"{folder} has sweep" in first
    assert "written again" in second


@pytest.mark.parametrize("number", [AT_THE_START + 1, 23, 31])
def test_a_disk_that_stays_full(number, whole, tmp_path, monkeypatch):
    """One warning, one error at the end; the last good checkpoint stays, and the model is fitted."""
    model, folder = clone(whole), tmp_path / "model"
    with monkeypatch.context() as patch, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        failing_writes(patch, lambda call: call >= number)
        with pytest.raises(ModelError, match="The final state of the run is not saved") as error:
            model.fit(NETWORK, checkpoint=Checkpoint(folder, every=1))
    assert len(told) == 1
    kept = ", ".join(map(str, done(folder)))
    assert f"{folder} has sweep {kept} of 6. Fix the cause and continue with linktopics resume {folder}, " in str(
        error.value
    )
    assert_nothing_else(folder)
    assert_same(load(folder, unfinished=True, verify=True).resume(checkpoint=folder), whole)
    assert_same(model, whole)
    model.save(tmp_path / "elsewhere")
    assert_same(load(tmp_path / "elsewhere"), whole)


def test_a_disk_that_has_room_at_the_very_end(whole, tmp_path, monkeypatch):
    """When the chains are at rest, what could not be written is tried once more."""
    full = [False]
    failing_writes(monkeypatch, lambda _: full[0])
    describe = RelationalTopicModel._set_fitted_attributes
    monkeypatch.setattr(
        RelationalTopicModel, "_set_fitted_attributes", lambda *of: (full.__setitem__(0, False), describe(*of))[1]
    )
    with at_sweeps(monkeypatch, _4=lambda: full.__setitem__(0, True)), pytest.warns(CheckpointWarning) as told:
        clone(whole).fit(NETWORK, checkpoint=Checkpoint(tmp_path / "model", every=1))
    assert_told(told, "skipped", "was written")
    assert_same(load(tmp_path / "model"), whole)
    assert_nothing_else(tmp_path / "model")


def test_too_little_memory_for_a_moment(whole, tmp_path, monkeypatch):
    real, calls = ModelFolder.write, itertools.count(1)

    def write(self, *arguments):
        if next(calls) == 9:
            raise MemoryError
        return real(self, *arguments)

    monkeypatch.setattr(ModelFolder, "write", write)
    with pytest.warns(CheckpointWarning, match="not enough memory"):
        clone(whole).fit(NETWORK, checkpoint=Checkpoint(tmp_path / "model", every=1))
    assert_same(load(tmp_path / "model"), whole)


def test_a_folder_that_cannot_be_written_to(whole, tmp_path, monkeypatch):
    """Refused before anything is done. Root may write where others may not, so the system's answer is made up."""
    real = os.open

    def read_only(path, flags, *mode):
        if flags & os.O_CREAT:
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return real(path, flags, *mode)

    whole.save(tmp_path / "model")
    monkeypatch.setattr(estimator, "prepare_run", lambda *_: pytest.fail("work was done"))
    monkeypatch.setattr(os, "open", read_only)
    for path in (tmp_path / "model", tmp_path / "new" / "model"):
        with pytest.raises(ModelError, match=r"model\.lock: cannot be written .Read-only file system"):
            clone(whole).fit(NETWORK, checkpoint=path, overwrite=True)
    assert os.listdir(tmp_path) == ["model"]


def test_a_folder_that_goes_away_and_comes_back(whole, tmp_path, monkeypatch):
    """As that of a volume that is not there for a while."""
    folder, away = tmp_path / "model", tmp_path / "away"
    actions = {"_3": lambda: folder.rename(away), "_9": lambda: away.rename(folder)}
    with at_sweeps(monkeypatch, **actions), pytest.warns(CheckpointWarning) as told:
        clone(whole).fit(NETWORK, checkpoint=Checkpoint(folder, every=1))
    assert_told(told, "is missing. The checkpoint is skipped and the run continues; ", "written again")
    assert "has no checkpoint of this run" in str(told[0].message)
    assert_same(load(folder, verify=True), whole)
    assert_nothing_else(folder)


GONE = {
    "removed": lambda folder: shutil.rmtree(folder),
    "emptied": lambda folder: [path.unlink() for path in folder.iterdir()],
    "without its network": lambda folder: next(folder.glob("network-*")).unlink(),
    "without its manifest": lambda folder: (folder / MANIFEST).unlink(),
}


@pytest.mark.parametrize("name", GONE)
def test_a_folder_that_does_not_come_back(name, whole, tmp_path, monkeypatch):
    """It is made anew at the end, with all that is in memory."""
    folder = tmp_path / "model"
    with at_sweeps(monkeypatch, _3=lambda: GONE[name](folder)), pytest.warns(CheckpointWarning) as told:
        clone(whole).fit(NETWORK, checkpoint=Checkpoint(folder, every=1))
    assert_told(told, "is missing", "was written")
    assert_same(load(folder, verify=True), whole)
    assert_nothing_else(folder)


def test_a_folder_that_somebody_else_has_taken(whole, tmp_path, monkeypatch):
    """What is there now is left alone."""
    folder, other = tmp_path / "model", small_model(**PLAIN, random_state=3).fit(NETWORK)

    def take():
        shutil.rmtree(folder)
        shutil.copytree(tmp_path / "other", folder)

    other.save(tmp_path / "other")
    model = clone(whole)
    refused = pytest.raises(ModelError, match=r"another model.*has no checkpoint of this run")
    with at_sweeps(monkeypatch, _3=take), pytest.warns(CheckpointWarning, match="another model was saved"), refused:
        model.fit(NETWORK, checkpoint=Checkpoint(folder, every=1))
    assert_same(load(folder, verify=True), other)
    assert_nothing_else(folder)
    assert_same(model, whole)


def test_an_interrupt_with_a_folder_that_is_gone(whole, tmp_path, monkeypatch):
    """What is in memory is saved, too, when the run is stopped."""
    folder = tmp_path / "model"

    def interrupt():
        time.sleep(0.5)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    actions = {"_3": lambda: shutil.rmtree(folder), "_5": interrupt}
    with at_sweeps(monkeypatch, **actions), pytest.raises(KeyboardInterrupt), pytest.warns(CheckpointWarning):
        clone(whole).set_params(n_samples=3000).fit(NETWORK, checkpoint=Checkpoint(folder, every=1))
    loaded = load(folder, unfinished=True)
    assert max(chain.state.iteration for chain in loaded._run.chains) >= 5


# --- real file systems ------------------------------------------------------------------------------------------------


def mount(*arguments):
    subprocess.run(["mount", *arguments], check=True, capture_output=True)


@pytest.fixture
def volume(tmp_path):
    """Mount a small file system, where that is allowed; give its folder and a second one that shows it, too."""
    folders = (tmp_path / "volume", tmp_path / "behind")
    for folder in folders:
        folder.mkdir()
    place, behind = folders
    try:
        mount("-t", "tmpfs", "-o", "size=1m", "none", behind)
        mount("--bind", behind, place)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("file systems cannot be mounted here")
    yield folders
    for folder in folders:
        subprocess.run(["umount", "-l", folder], capture_output=True)


def test_a_small_file_system(volume, whole, tmp_path, monkeypatch):
    """Full, read-only and not there, one after the other, in one run."""
    place, behind = volume
    folder, ballast = place / "model", behind / "ballast"

    def fill():
        with contextlib.suppress(OSError), open(ballast, "wb", buffering=0) as stream:
            while stream.write(bytes(1024)):
                pass

    def read_only():
        """Show the file system anew: one with a file that is open, as that of the lock is, stays as it is."""
        subprocess.run(["umount", "-l", place], check=True)
        mount("--bind", behind, place)
        mount("-o", "remount,bind,ro", place)

    actions = {
        "_2": fill,
        "_4": ballast.unlink,
        "_6": read_only,
        "_8": lambda: mount("-o", "remount,bind,rw", place),
        "_10": lambda: subprocess.run(["umount", "-l", place], check=True),
        "_11": lambda: mount("--bind", behind, place),
    }
    model = clone(whole)
    with at_sweeps(monkeypatch, **actions), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.fit(NETWORK, checkpoint=Checkpoint(folder, every=1))
    words = ["No space left", "written again", "Read-only", "written again", "is missing", "written again"]
    assert_told(told, *words)
    assert_same(load(folder, verify=True), whole)
    assert_nothing_else(folder)


def test_a_read_only_file_system(volume, whole):
    place, _ = volume
    whole.save(place / "model")
    mount("-o", "remount,bind,ro", place)
    for path in (place / "model", place / "new"):
        with pytest.raises((ModelError, DataError), match=r"cannot be (written|created) .Read-only file system"):
            clone(whole).fit(NETWORK, checkpoint=path, overwrite=True)
    assert_same(load(place / "model"), whole)


LIMITED = """
import resource, signal, sys, warnings
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from linktopics import Checkpoint
from linktopics.utils.progress import ProgressBar
from support.small_models import small_model, small_network

def advance(bar, reached):
    bar.count = getattr(bar, "count", 0) + 1
    if bar.count == 3:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, resource.RLIM_INFINITY))

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
ProgressBar.advance = advance
small_model(pair_features=None, n_samples=3, thin=1).fit(small_network(), checkpoint=Checkpoint(sys.argv[2], every=1))
"""


def test_a_limit_on_the_size_of_files(whole, tmp_path):
    """What a full disk does, without any privilege: a write that stops half way."""
    pytest.importorskip("resource")
    folder = tmp_path / "model"
    tests = str(Path(__file__).resolve().parents[2])
    done_ = subprocess.run([sys.executable, "-c", LIMITED, tests, folder], capture_output=True, text=True, timeout=300)
    assert done_.returncode == 1
    assert "CheckpointWarning" in done_.stderr
    assert "cannot be written (File too large)" in done_.stderr
    assert "The final state of the run is not saved" in done_.stderr
    assert done(folder) == [2, 0]
    assert_nothing_else(folder)
    assert_same(load(folder, unfinished=True, verify=True).resume(checkpoint=folder), whole)


def test_numbers_of_writes_are_what_the_tests_above_take_them_for(whole, tmp_path, monkeypatch):
    calls = failing_writes(monkeypatch, lambda _: False)
    clone(whole).fit(NETWORK, checkpoint=Checkpoint(tmp_path / "model", every=1))
    assert calls[AT_THE_START - 2 : AT_THE_START] == [MANIFEST, PREVIOUS_MANIFEST]
    assert np.isfinite(whole.log_joints_).all()
    assert len(calls) > 31
