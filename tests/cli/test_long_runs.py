"""Long runs on the command line: signals, locks, disks that fail, and checkpoints that are damaged.

Seen to fail against commands that do not take the signal, read data before they take the lock, or leave a folder
behind.
"""

import errno
import json
import os
import signal
import subprocess
import sys
import threading

import pytest

from linktopics import RelationalTopicModel, cli
from linktopics.cli import app, fit
from linktopics.model import estimator
from linktopics.sampler import Sampler
from linktopics.storage.folder import PREVIOUS_MANIFEST, ModelFolder
from linktopics.utils.progress import ProgressBar
from support.command_line import QUICK, manifest, run, succeed
from support.small_models import assert_same

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")

CODES = {"SIGHUP": 129, "SIGINT": 130, "SIGTERM": 143}


@pytest.fixture
def signals():
    """Take signals as the command does."""
    before = {name: signal.getsignal(getattr(signal, name)) for name in CODES}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in ("SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, name), app._terminate)
    yield
    for name, handler in before.items():
        signal.signal(getattr(signal, name), handler)


def sender(name, after=1):
    """Return a function that sends a signal to this process, when it is called for the so-many-th time."""
    calls = []

    def send(*_, **__):
        calls.append(name)
        if len(calls) == after:
            signal.pthread_kill(threading.main_thread().ident, getattr(signal, name))

    return send


def before(function, then):
    """Return a function that does something else first."""

    def both(*arguments, **named):
        then()
        return function(*arguments, **named)

    return both


@pytest.mark.usefixtures("signals")
@pytest.mark.parametrize("name", CODES)
@pytest.mark.parametrize("moment", ["reading", "preparing", "writing"])
def test_before_the_first_checkpoint(moment, name, data, tmp_path, monkeypatch):
    owner, attribute = {
        "reading": (fit, "read_network"),
        "preparing": (estimator, "prepare_run"),
        "writing": (os, "replace"),
    }[moment]
    monkeypatch.setattr(
        owner, attribute, before(getattr(owner, attribute), sender(name, 1 + 2 * (moment == "writing")))
    )
    result = run("fit", data, "-o", tmp_path / "a" / "model", *QUICK)
    assert (result.exit_code, result.stderr) == (CODES[name], "linktopics: interrupted before anything was saved.\n")
    assert os.listdir(tmp_path) == []


@pytest.mark.usefixtures("signals")
@pytest.mark.parametrize(
    ("command", "attribute"), [("fit", "fit"), ("fit", "_writer"), ("resume", "load"), ("resume", "_writer")]
)
def test_a_model_that_was_there_is_as_it_was(command, attribute, data, model, copied, monkeypatch):
    real = getattr(RelationalTopicModel, attribute)
    with monkeypatch.context() as patch:
        patch.setattr(RelationalTopicModel, attribute, before(real, sender("SIGTERM")))
        fit, resume = ["fit", data, "-o", copied, *QUICK, "--overwrite"], ["resume", copied, "--samples=1", "--quiet"]
        result = run(*(fit if command == "fit" else resume))
    assert result.exit_code == 143
    said = f"linktopics: interrupted before anything was saved; the model in {copied} is unchanged.\n"
    assert result.stderr == said
    assert_same(RelationalTopicModel.load(copied, verify=True), RelationalTopicModel.load(model))


@pytest.mark.usefixtures("signals")
@pytest.mark.parametrize("name", CODES)
def test_while_a_checkpoint_is_written(name, data, tmp_path, monkeypatch):
    """The sweep is finished and saved; further signals change nothing."""
    folder, first, second = tmp_path / "model", sender(name, 20), sender("SIGINT", 21)
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", before(before(os.replace, first), second))
        result = run("fit", data, "-o", folder, *QUICK, "--burn-in=2000", "--checkpoint-every=1", "--jobs=1")
    assert result.exit_code == CODES[name]
    done = [chain["iteration"] for chain in manifest(folder)["chains"]]
    assert 0 < max(done) < 2002
    assert result.stderr == (
        f"linktopics: stopped after sweep {done[0]:,}, {done[1]:,} of 2,002 and saved in {folder}; "
        f"continue with: linktopics resume {folder}\n"
    )
    with monkeypatch.context() as patch:  # while it is resumed
        patch.setattr(Sampler, "step", before(Sampler.step, sender(name, 4)))  # when three sweeps are done
        result = run("resume", folder, "--quiet")
    assert result.exit_code == CODES[name]
    assert sum(chain["iteration"] for chain in manifest(folder)["chains"]) >= sum(done) + 3


def test_signals_that_are_ignored_stay_so(monkeypatch):
    """As SIGHUP is under nohup."""
    monkeypatch.setattr(app, "app", lambda **_: None)
    numbers = (signal.SIGHUP, signal.SIGTERM, signal.SIGINT)
    old = [signal.getsignal(number) for number in numbers]
    try:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        cli.main()
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) is cli.end_early
    finally:
        for number, handler in zip(numbers, old, strict=True):
            signal.signal(number, handler)


IN_A_TERMINAL = """
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.executable, [sys.executable, "-m", "linktopics", *sys.argv[1:]])
"""


@pytest.mark.long
def test_a_terminal_that_is_closed(data, tmp_path):
    """A real one, with a progress bar on it: the run is saved though nothing can be printed any more."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    folder = tmp_path / "model"
    command = ["fit", data, "-o", folder, *[word for word in QUICK if word != "--quiet"], "--burn-in=20000"]
    process = subprocess.Popen(
        [sys.executable, "-c", IN_A_TERMINAL, *map(str, command)], stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    shown = b""
    while b"log joint" not in shown:  # which the bar shows after two seconds
        shown += os.read(ours, 4096)
    os.close(ours)
    assert process.wait(timeout=120) == 129
    assert 0 < max(chain["iteration"] for chain in manifest(folder)["chains"]) < 20_002
    assert "model.lock" not in os.listdir(folder)


# --------------------------------------------------------------------------------------------------------------------
# Locks, disks and damage
# --------------------------------------------------------------------------------------------------------------------


def test_a_folder_in_use(copied, model):
    """It is refused first of all: the data named here are not even there."""
    with ModelFolder(copied).locked(overwrite=True):
        for command in (
            ["fit", "no-such-data", "-o", copied, *QUICK],
            ["fit", "no-such-data", "-o", copied, *QUICK, "--overwrite"],
            ["resume", copied, "--samples=1"],
        ):
            result = run(*command)
            assert result.exit_code == 2
            assert result.stderr == (
                f"linktopics: {copied}: another fit or save of this process ({os.getpid()}) is writing to this folder; "
                "wait for it, stop it, or choose another.\n"
            )
        assert run("topics", copied).stdout == run("topics", model).stdout


def test_data_that_cannot_be_read_leave_no_folder(tmp_path):
    assert run("fit", tmp_path / "nothing", "-o", tmp_path / "a" / "model", *QUICK).exit_code == 2
    assert os.listdir(tmp_path) == []


def test_a_disk_that_is_full(data, model, tmp_path, monkeypatch):
    folder, real, calls = tmp_path / "a model", os.replace, []

    def replace(source, target):
        calls.append(target)
        if len(calls) > 20:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", replace)
        result = run("fit", data, "-o", folder, *QUICK, "--checkpoint-every=1", "--jobs=1")
    assert result.exit_code == 2
    warning, error = result.stderr.splitlines()
    done = ", ".join(str(chain["iteration"]) for chain in manifest(folder)["chains"])
    assert warning.startswith(f"linktopics: {calls[20]}: cannot be written (No space left on device). The checkpoint ")
    assert f"The final state of the run is not saved: {folder} has sweep {done} of 7. " in error
    assert f"continue with linktopics resume '{folder}', " in error
    succeed("resume", folder, "--quiet")
    assert_same(RelationalTopicModel.load(folder, verify=True), RelationalTopicModel.load(model))


def test_a_damaged_checkpoint(data, model, tmp_path, monkeypatch):
    folder = tmp_path / "model"
    with monkeypatch.context() as patch:
        patch.setattr(ProgressBar, "advance", before(ProgressBar.advance, _interrupted_at(6)))
        assert run("fit", data, "-o", folder, *QUICK, "--checkpoint-every=1", "--jobs=1").exit_code == 130
    done = [chain["iteration"] for chain in json.loads((folder / PREVIOUS_MANIFEST).read_text())["chains"]]
    (folder / "model.json").write_text("{")
    for command in (["info", folder], ["topics", folder]):
        result = run(*command)
        assert result.exit_code == 2
        assert result.stderr.endswith("(it is not JSON); linktopics resume continues from the previous checkpoint.\n")
    result = succeed("resume", folder, "--quiet")
    assert result.stderr == (
        f"linktopics: {folder / 'model.json'}: the model is damaged (it is not JSON); the run continues from the "
        f"previous checkpoint, sweep {done[0]}, {done[1]} of 7, to the same result.\n"
    )
    assert f"from sweep {min(done)} on" in result.stdout
    assert_same(RelationalTopicModel.load(folder, verify=True), RelationalTopicModel.load(model))


def test_what_a_kill_at_the_very_end_leaves(copied):
    """A finished model with files of no use beside it, which resume removes though there is nothing to go on with."""
    names = sorted(os.listdir(copied))
    left = ["chain-0-01234567.safetensors", PREVIOUS_MANIFEST, "model.lock", ".model.json.01234567.new"]
    for name in left:
        (copied / name).write_text("0 nowhere")
    data = (copied / "model.json").read_bytes()
    (copied / "model.json").write_bytes(data[:-9])
    assert "model is damaged" in run("resume", copied).stderr
    assert sorted(os.listdir(copied)) == sorted([*names, *(name for name in left if name != "model.lock")])
    (copied / "model.json").write_bytes(data)
    result = run("resume", copied)
    assert result.exit_code == 2
    assert "the run is finished" in result.stderr
    assert sorted(os.listdir(copied)) == names


def _interrupted_at(sweep):
    calls = []

    def count():
        calls.append(1)
        if len(calls) == sweep:
            raise KeyboardInterrupt

    return count


@pytest.mark.parametrize("value", ["0", "nan", "-1"])
def test_minutes_that_are_none(value, data, copied, tmp_path):
    for command in (["fit", data, "-o", tmp_path / "new", *QUICK], ["resume", copied, "--samples=1"]):
        result = run(*command, f"--checkpoint-minutes={value}")
        assert result.exit_code == 2
        assert "checkpoint-minutes" in result.stderr
    settings = tmp_path / "settings.toml"
    settings.write_text(f"checkpoint-minutes = {value}\n")
    result = run("fit", data, "-o", tmp_path / "new", "--config", settings)
    assert "checkpoint-minutes is " in result.stderr
    assert "it must be a number above 0, up to 1e9." in result.stderr
    assert not (tmp_path / "new").exists()


def test_files_of_systems_do_not_stand_in_the_way(data, copied):
    for name in (".DS_Store", "Thumbs.db", "desktop.ini", ".nfs000000000a1b2c3d00000007", ".dropbox.attr"):
        (copied / name).write_text("not ours")
    (copied / "lost+found").mkdir()
    succeed("resume", copied, "--samples=1", "--quiet")
    assert manifest(copied)["schedule"]["n_samples"] == 3
    succeed("fit", data, "-o", copied, "--overwrite", *QUICK)
    assert manifest(copied)["schedule"]["n_samples"] == 2
    assert (copied / "lost+found").is_dir()
    assert sum(path.is_file() and path.read_bytes() == b"not ours" for path in copied.iterdir()) == 5


def test_other_files_do(data, copied):
    (copied / "notes.txt").write_text("precious")
    for command in (["resume", copied, "--samples=1"], ["fit", data, "-o", copied, "--overwrite", *QUICK]):
        result = run(*command)
        assert result.exit_code == 2
        assert "the folder holds other files (such as notes.txt)" in result.stderr
    assert (copied / "notes.txt").read_text() == "precious"
