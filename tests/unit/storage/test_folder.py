"""Folders of models: what is written into them, and what of others is left alone."""

import errno
import os
from pathlib import Path

import pytest
from sklearn.base import clone

from linktopics import DataError, RelationalTopicModel
from linktopics.errors import ModelError
from linktopics.storage import folder as folders
from linktopics.storage.folder import MANIFEST, ModelFolder
from support.model_folders import assert_only_what_is_named, snapshot
from support.small_models import (
    assert_same,
    small_network,
)

load = RelationalTopicModel.load
THINGS = {
    "a file": {"notes.txt": b"precious"},
    "a hidden file": {".hidden": b"precious"},
    "a folder": {"sub/notes.txt": b"precious"},
    "beside a model": {"model.json": b"{}", "notes.txt": b"precious"},
    "arrays of somebody else": {"weights.safetensors": b"precious"},
    "arrays like ours": {"network-notahash.safetensors": b"precious"},
    "a hidden file of somebody else": {".config.new": b"precious"},
}


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("name", THINGS)
def test_other_things_are_left_alone(name, overwrite, fitted, tmp_path):
    folder = tmp_path / "model"
    for file, content in THINGS[name].items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(content)
    with pytest.raises(DataError, match="choose an empty or a new folder"):
        fitted.save(folder, overwrite=overwrite)
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert found == THINGS[name]


@pytest.mark.parametrize("beside", ["model.lock", ".DS_Store", "lost+found"])
def test_a_manifest_of_somebody_else_is_left_alone(beside, fitted, tmp_path):
    (tmp_path / MANIFEST).write_text('{"learner": {}, "version": [1, 7, 0]}')
    (tmp_path / beside).touch()
    with pytest.raises(DataError, match=r"holds other files \(such as model.json\)"):
        fitted.save(tmp_path, overwrite=True)


SYSTEM = [
    ".DS_Store", "._model.json", "Icon\r", ".Spotlight-V100", "Thumbs.db", "desktop.ini", "Desktop.ini", ".directory",
    ".nfs000000000a1b2c3d00000007", ".fuse_hidden0000abcd00000001", ".dropbox", ".dropbox.attr", ".stignore",
    ".syncthing.model.json.tmp", "~syncthing~model.json.tmp", ".sync", ".SyncID", "model.json.!sync",
    ".owncloudsync.log", ".owncloudsync.log.1", ".sync_1234abcd.db", ".~lock.notes.odt#",
]  # fmt: skip
SYSTEM_FOLDERS = ["lost+found", ".stfolder", "@eaDir", ".Trash-1000"]


def litter(folder):
    """Put into a folder what systems and sync clients do; return what it is."""
    for name in SYSTEM_FOLDERS:
        (folder / name).mkdir(parents=True)
        (folder / name / "inside").write_text("not ours")
    for name in SYSTEM:
        (folder / name).write_text("not ours")
    return {*SYSTEM, *SYSTEM_FOLDERS}


def test_files_of_systems_are_tolerated_and_left_alone(fitted, other, tmp_path):
    folder = tmp_path / "model"
    names = litter(folder)
    fitted.save(folder)
    with pytest.raises(DataError, match="there is a model already"):
        other.save(folder)
    other.save(folder, overwrite=True)
    ModelFolder(folder).remove_leftovers()
    assert_same(load(folder), other)
    assert {path.name for path in folder.iterdir() if not folders._OURS.fullmatch(path.name)} == names
    assert all((folder / name).read_text() == "not ours" for name in SYSTEM)
    assert all((folder / name / "inside").read_text() == "not ours" for name in SYSTEM_FOLDERS)


@pytest.mark.parametrize(
    "name",
    ["DS_Store", "my Thumbs.db", "notes.sync", "sync", "dropbox.txt", ".nfsnotes", "model.tmp", "lost+found.txt"],
)
def test_names_like_those_of_systems_protect_a_folder(name, fitted, saved):
    (saved / name).write_text("precious")
    with pytest.raises(DataError, match="holds other files"):
        fitted.save(saved, overwrite=True)


def test_overwriting(other, saved):
    before = snapshot(saved)
    for attempt in (lambda: other.save(saved), lambda: clone(other).fit(small_network(), checkpoint=saved)):
        with pytest.raises(DataError, match=r"a model already.*overwrite=True"):
            attempt()
        assert snapshot(saved) == before
    other.save(saved, overwrite=True)
    assert_same(load(saved), other)
    assert_only_what_is_named(saved)


def test_a_folder_is_made(fitted, tmp_path):
    (tmp_path / "empty").mkdir()
    for path in (str(tmp_path / "a" / "b"), tmp_path / "empty"):
        fitted.save(path)
        assert_same(load(path), fitted)
    (tmp_path / "file").write_text("precious")
    for path, message in (
        (tmp_path / "file", "this is a file; choose another name"),
        (tmp_path / "file" / "model", "cannot be created"),
    ):
        with pytest.raises(DataError, match=message):
            fitted.save(path)
    assert (tmp_path / "file").read_text() == "precious"


def test_paths_that_are_no_models(saved, tmp_path):
    (tmp_path / "empty").mkdir()
    for path, message in (
        (tmp_path / "nothing", "no such folder"),
        (saved / MANIFEST, "no such folder"),
        (tmp_path / "empty", "holds no model.json, so it is not a model"),
    ):
        with pytest.raises(ModelError, match=message):
            load(path)
    (tmp_path / "empty" / MANIFEST).mkdir()
    with pytest.raises(ModelError, match="cannot be read"):
        load(tmp_path / "empty")


def denied(*_, **__):
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


@pytest.mark.parametrize(
    ("owner", "name"),
    [(Path, "read_bytes"), (folders, "_file_checksum")],
)
def test_files_that_cannot_be_read(owner, name, saved, monkeypatch):
    monkeypatch.setattr(owner, name, denied)
    with pytest.raises(ModelError, match=r": cannot be read \(Permission denied\)"):
        load(saved)


def test_a_folder_that_cannot_be_listed(fitted, saved, monkeypatch):
    monkeypatch.setattr(os, "listdir", denied)
    with pytest.raises(DataError, match="Permission denied"):
        fitted.save(saved, overwrite=True)


@pytest.mark.parametrize("path", ["x" * 300, "a\0b"], ids=["too long", "a zero"])
def test_impossible_paths(path, fitted, tmp_path):
    with pytest.raises(ModelError):
        load(tmp_path / path)
    with pytest.raises(DataError):
        fitted.save(tmp_path / path)
