"""Saving that ends at any moment: a folder holds a whole model or none."""

import contextlib
import errno
import itertools
import os
import shutil

import pytest

from linktopics import RelationalTopicModel
from linktopics.errors import ModelError
from linktopics.storage.folder import MANIFEST, ModelFolder
from support.model_folders import assert_only_what_is_named
from support.small_models import (
    assert_same,
)

load = RelationalTopicModel.load


class Crash(BaseException):
    """As if the process ended."""


@contextlib.contextmanager
def crash(monkeypatch, place, number, error, after):
    """Let the so-many-th call of a function fail, before or after it did its work; tell whether it came to that."""
    owner, name = {"write": (ModelFolder, "_write_file"), "fsync": (os, "fsync"), "replace": (os, "replace")}[place]
    real, calls, met = getattr(owner, name), itertools.count(1), []

    def failing(*arguments):
        here = next(calls) == number
        if not here or after:
            real(*arguments)
        if here:
            met.append(number)
            raise error

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, failing)
        with contextlib.suppress(type(error), ModelError):
            yield met


FULL = OSError(errno.ENOSPC, "no space left")
CRASHES = [
    ("write", Crash(), False),
    *(("fsync", FULL, False), ("fsync", Crash(), True)),
    *(("replace", FULL, False), ("replace", Crash(), False), ("replace", Crash(), True)),
]


def fingerprint(folder):
    model = load(folder, verify=True)
    return (model.log_joints_.tobytes(), model.topic_word_.tobytes())


@pytest.mark.parametrize(("place", "error", "after"), CRASHES, ids=str)
def test_a_crash_leaves_the_old_model_or_the_new_one(place, error, after, fitted, other, tmp_path, monkeypatch):
    other.save(tmp_path / "old")
    fitted.save(tmp_path / "new")
    old, new, seen = fingerprint(tmp_path / "old"), fingerprint(tmp_path / "new"), []
    for number in itertools.count(1):
        folder, fresh = tmp_path / f"over {number}", tmp_path / f"fresh {number}"
        shutil.copytree(tmp_path / "old", folder)
        fresh.mkdir()
        with crash(monkeypatch, place, number, error, after) as met:
            fitted.save(folder, overwrite=True)
        with crash(monkeypatch, place, number, error, after) as met_too:
            fitted.save(fresh)
        assert met == met_too
        found, whole = fingerprint(folder), (fresh / MANIFEST).exists()
        assert found in (old, new)
        if whole:
            assert fingerprint(fresh) == new
        else:
            with pytest.raises(ModelError, match="not a model"):
                load(fresh)
        seen.append((found == new, whole))
        for path in (folder, fresh):
            other.save(path, overwrite=True)
            assert_only_what_is_named(path)
            assert fingerprint(path) == old
        if not met:
            break
    # Seven files, the manifest last, and then no crash; fsync is called for each file and for the folder after it.
    n_calls = 14 if place == "fsync" else 7
    late = (True, True) if place == "fsync" or (place == "replace" and after) else (False, False)
    assert seen == [*[(False, False)] * (n_calls - 1), late, (True, True)]


def test_old_files_go_last(other, saved, monkeypatch):
    """A process that ends while it removes the old model's files leaves the new model."""

    def end(_):
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", end)
        with pytest.raises(Crash):
            other.save(saved, overwrite=True)
    assert_same(load(saved, verify=True), other)
    assert len(os.listdir(saved)) > 5
    other.save(saved, overwrite=True)
    assert_only_what_is_named(saved)
