"""One at a time writes to a folder, and nobody who has ended.

Seen to fail against a lock that is not taken, one that a fork keeps, one whose file is removed after it is let go, and
one that follows links.
"""

import errno
import os
import platform
import shutil
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress

import pytest
from sklearn.base import clone

from linktopics import DataError, RelationalTopicModel
from linktopics.errors import ModelError
from linktopics.model import estimator
from linktopics.storage import lock as locks
from linktopics.storage.folder import MANIFEST, ModelFolder
from linktopics.storage.lock import LOCK, FolderLock
from linktopics.utils.progress import ProgressBar
from support.small_models import answers, assert_same, small_model, small_network

load = RelationalTopicModel.load
NETWORK = small_network()
PLAIN = {"pair_features": None, "n_chains": 1}

pytestmark = pytest.mark.skipif(os.name == "nt", reason="tests of POSIX; Windows locks otherwise")


@pytest.fixture(scope="module")
def model():
    return small_model(**PLAIN).fit(NETWORK)


HOLD = """
import importlib.util, os, sys
from pathlib import Path
spec = importlib.util.spec_from_file_location("lock", sys.argv[1])  # without all else that models need
spec.loader.exec_module(module := importlib.util.module_from_spec(spec))
lock = module.FolderLock(Path(sys.argv[2]))
lock.acquire()
if len(sys.argv) > 3 and os.fork() == 0:
    os.close(1)
    os.read(0, 1)
    os._exit(0)
print(os.getpid(), flush=True)
sys.stdin.read()
"""


@contextmanager
def other_process(folder, *arguments):
    """Let another process hold a folder; it ends when it is killed, or at the end."""
    command = [sys.executable, "-c", HOLD, locks.__file__, str(folder), *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert int(process.stdout.readline()) == process.pid
        yield process
        process.kill()


def test_two_processes(model, tmp_path, monkeypatch):
    """The second is refused before it does anything, whatever it would do; reading is nobody's business."""
    folder = tmp_path / "model"
    model.save(folder)
    before = answers(model)
    with other_process(folder) as process:
        said = f"model: process {process.pid} on {platform.node()} is writing to this folder; wait for it, stop it, or"
        with monkeypatch.context() as patch:
            patch.setattr(estimator, "prepare_run", lambda *_: pytest.fail("work was done"))
            for attempt in (
                lambda: clone(model).fit(NETWORK, checkpoint=folder),
                lambda: clone(model).fit(NETWORK, checkpoint=folder, overwrite=True),
                lambda: load(folder).resume(n_samples=1, checkpoint=folder),
                lambda: model.save(folder, overwrite=True),
                lambda: load(folder).extend(NETWORK, checkpoint=folder),
            ):
                with pytest.raises(ModelError, match=said):
                    attempt()
        assert_same(answers(load(folder)), before)
    model.save(folder, overwrite=True)  # by now it was killed
    assert LOCK not in os.listdir(folder)


def test_a_child_of_a_process_that_was_killed_does_not_hold_its_lock(tmp_path):
    with other_process(tmp_path, "fork") as process:
        with pytest.raises(ModelError, match=f"process {process.pid} "):
            FolderLock(tmp_path).acquire()
        process.kill()
        process.wait()
        mine = FolderLock(tmp_path)
        for _ in range(200):  # the child may not have come to let go of it yet
            with suppress(ModelError):
                mine.acquire()
                break
            time.sleep(0.05)
        assert mine.is_held
        mine.release()


def test_a_fork_leaves_the_lock_to_its_parent(tmp_path):
    folder = ModelFolder(tmp_path / "model")
    with folder.locked(overwrite=False):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                folder._lock.release()
                FolderLock(folder.path).acquire()
            except ModelError as error:
                code = 0 if f"process {os.getppid()} on" in str(error) else 2
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert folder._lock.is_held
    assert not folder.path.exists()


def test_two_fits_of_one_process(model, tmp_path, monkeypatch):
    advance, refused = ProgressBar.advance, []

    def second(bar, reached):
        advance(bar, reached)
        if not refused:
            with pytest.raises(ModelError, match=rf"another fit or save of this process \({os.getpid()}\) is writing"):
                model.save(tmp_path / "model", overwrite=True)
            refused.append(True)

    monkeypatch.setattr(ProgressBar, "advance", second)
    clone(model).fit(NETWORK, checkpoint=tmp_path / "model")
    assert refused
    assert_same(load(tmp_path / "model"), model)


def test_a_link_to_the_folder_is_the_folder(tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "model")
    with ModelFolder(tmp_path / "link").locked(overwrite=True), pytest.raises(ModelError, match="of this process"):
        FolderLock(tmp_path / "model").acquire()


def test_what_a_dead_process_left(model, tmp_path):
    """The file of a lock that nobody has is nobody's; nor is that in a copy of a folder in use."""
    folder = tmp_path / "model"
    model.save(folder)
    with other_process(folder):
        shutil.copytree(folder, tmp_path / "copy")
    (folder / LOCK).write_text("1 some host\n")
    for path in (folder, tmp_path / "copy"):
        assert_same(load(path), model)
        with pytest.raises(DataError, match="a model already"):
            model.save(path)
        model.save(path, overwrite=True)
        assert LOCK not in os.listdir(path)


def test_a_folder_is_let_go_whatever_happens(model, tmp_path, monkeypatch):
    monkeypatch.setattr(ProgressBar, "advance", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        clone(model).fit(NETWORK, checkpoint=tmp_path / "model")
    with pytest.raises(ValueError, match="minimum of 2"):
        clone(model).fit([[]], checkpoint=tmp_path / "a" / "b")
    assert sorted(os.listdir(tmp_path)) == ["model"]
    assert LOCK not in os.listdir(tmp_path / "model")
    monkeypatch.undo()
    load(tmp_path / "model", unfinished=True).resume(checkpoint=tmp_path / "model")
    assert_same(load(tmp_path / "model"), model)


def test_many_who_want_it_at_once(tmp_path):
    """Between opening the file and locking it somebody may have removed it: never two at a time."""
    inside, most, errors = [], [], []

    def want():
        for _ in range(200):
            lock = FolderLock(tmp_path)
            lock_key = f"{tmp_path}/{threading.get_ident()}"
            try:
                lock._descriptor = lock._open_locked()  # without what is known of this process
            except ModelError:
                continue
            except BaseException as error:
                errors.append(error)
                raise
            inside.append(lock_key)
            most.append(len(inside))
            inside.remove(lock_key)
            lock.release()

    threads = [threading.Thread(target=want) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(most) >= 4
    assert max(most) == 1


def test_a_file_that_is_removed_between_opening_and_locking(tmp_path, monkeypatch):
    """As who had the lock does when it lets go: a lock on what is not there any more would be worth nothing."""
    real, calls = locks._lock, []

    def lock(descriptor):
        calls.append(descriptor)
        if len(calls) == 1:
            os.unlink(tmp_path / LOCK)
        return real(descriptor)

    monkeypatch.setattr(locks, "_lock", lock)
    mine = FolderLock(tmp_path)
    mine.acquire()
    assert mine.is_held
    assert len(calls) == 2
    mine.release()


def test_a_lock_that_was_removed_is_taken_anew(tmp_path):
    lock = FolderLock(tmp_path)
    lock.acquire()
    os.unlink(lock.path)
    assert not lock.is_held
    lock.acquire()
    assert lock.is_held
    lock.release()
    assert os.listdir(tmp_path) == []


def test_links_and_other_things_are_not_written_to(model, tmp_path):
    """A folder from somebody else may have them."""
    model.save(tmp_path / "model")
    (tmp_path / "precious").write_text("precious")
    for make in (lambda path: path.symlink_to(tmp_path / "precious"), os.mkdir, os.mkfifo):
        make(tmp_path / "model" / LOCK)
        with pytest.raises(ModelError, match=r"model\.lock: cannot be written"):
            load(tmp_path / "model").resume(n_samples=1, checkpoint=tmp_path / "model")
        assert (tmp_path / "precious").read_text() == "precious"
        path = tmp_path / "model" / LOCK
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    assert_same(load(tmp_path / "model"), model)


# --- file systems without locks ---------------------------------------------------------------------------------------


@pytest.fixture
def no_locks(monkeypatch):
    import fcntl

    def flock(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", flock)


@pytest.mark.usefixtures("no_locks")
def test_without_locks_the_file_says_who_it_is(tmp_path):
    here, mine = platform.node(), FolderLock(tmp_path)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as running:
        mine.path.write_text(f"{running.pid} {here}\n")
        with pytest.raises(ModelError, match=rf"process {running.pid} on .*remove .*{LOCK} if it has ended"):
            mine.acquire()
        running.kill()
    for who in (f"{running.pid} {here}\n", f"{os.getpid()} {here}\n", "", f"{'9' * 30} {here}"):  # ended, or nobody
        mine.path.write_text(who)
        mine.acquire()
        with pytest.raises(ModelError, match="of this process"):
            FolderLock(tmp_path).acquire()
        mine.release()
        assert os.listdir(tmp_path) == []
    mine.path.write_text("5 another-machine\n")
    with pytest.raises(ModelError, match="process 5 on another-machine is writing"):
        mine.acquire()


def test_who_it_is(tmp_path):
    assert locks._describe_owner("12 here") == "process 12 on here"
    assert (
        locks._describe_owner("")
        == locks._describe_owner("12 \x1b[31m")
        == locks._describe_owner("x y")
        == "another process"
    )


def test_a_fault_while_locking(tmp_path, monkeypatch):
    import fcntl

    def flock(*_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(ModelError, match=r"model\.lock: cannot be written .Input/output error"):
        small_model(**PLAIN).fit(NETWORK, checkpoint=tmp_path / "model")
    assert MANIFEST not in os.listdir(tmp_path / "model")


def test_a_disk_that_is_full(tmp_path, monkeypatch):
    """The file can be made but not written to: neither it nor the folder is left."""

    def write(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write)
        with (
            pytest.raises(ModelError, match=r"model\.lock: cannot be written .No space left on device"),
            ModelFolder(tmp_path / "a" / "model").locked(overwrite=False),
        ):
            pytest.fail("the folder is not ours")
    assert os.listdir(tmp_path) == []
    with ModelFolder(tmp_path / "a" / "model").locked(overwrite=False):
        assert os.listdir(tmp_path / "a" / "model") == [LOCK]
