"""Checkpoints: the last two are kept, as often as asked.

Seen to fail against a writer that keeps one manifest, shares states between the two, or removes the older one first.
"""

import os

import pytest
from sklearn.base import clone

from linktopics import Checkpoint, CheckpointWarning, DataError, RelationalTopicModel
from linktopics.errors import ModelError
from linktopics.sampler import runner
from linktopics.storage import RunWriter
from linktopics.storage.folder import MANIFEST, PREVIOUS_MANIFEST
from support.checkpoints import NETWORK, PLAIN, assert_nothing_else, at_sweeps, done, named
from support.small_models import assert_same, small_model

load = RelationalTopicModel.load


def end():
    raise KeyboardInterrupt


def stopped(monkeypatch, folder, after=7, **changes):
    """Leave a run of two chains, one after the other, that was stopped after so many sweeps."""
    with at_sweeps(monkeypatch, **{f"_{after}": end}), pytest.raises(KeyboardInterrupt):
        small_model(**{**PLAIN, **changes}).fit(NETWORK, checkpoint=Checkpoint(folder, every=1))
    return folder


# --- the last two -----------------------------------------------------------------------------------------------------


def test_the_last_two_are_kept(tmp_path, monkeypatch):
    folder = stopped(monkeypatch, tmp_path / "model", 10)
    assert (done(folder), done(folder, PREVIOUS_MANIFEST)) == ([6, 3], [5, 2])
    assert_nothing_else(folder)
    shared = named(folder, MANIFEST) & named(folder, PREVIOUS_MANIFEST)
    assert not [name for name in shared if name.startswith("chain-")], "damage to one would be damage to both"


def test_before_the_first_sweep_there_are_two_already(tmp_path, monkeypatch):
    folder = stopped(monkeypatch, tmp_path / "model", 1, n_chains=1)
    assert done(folder) == done(folder, PREVIOUS_MANIFEST) == [0]
    shared = named(folder, MANIFEST) & named(folder, PREVIOUS_MANIFEST)
    assert not [name for name in shared if name.startswith("chain-")]


def test_a_finished_model_is_one(whole, tmp_path):
    clone(whole).fit(NETWORK, checkpoint=Checkpoint(tmp_path / "model", every=1))
    whole.save(tmp_path / "saved")
    assert not (tmp_path / "model" / PREVIOUS_MANIFEST).exists()
    assert_nothing_else(tmp_path / "model")
    sizes = [sum(path.stat().st_size for path in (tmp_path / name).glob("chain-*")) for name in ("model", "saved")]
    assert sizes[0] == sizes[1]


DAMAGE = {
    "no manifest": (MANIFEST, lambda path: path.unlink(), "model.json: the model is damaged .it is missing."),
    "a cut manifest": (MANIFEST, lambda path: path.write_bytes(path.read_bytes()[:99]), "model.json: .*it is not JSON"),
    "an empty manifest": (MANIFEST, lambda path: path.write_bytes(b""), "model.json: .*it is not JSON"),
    "no state": ("chain-0-", lambda path: path.unlink(), "chain-0-.*it is missing"),
    "a cut state": ("chain-1-", lambda path: path.write_bytes(path.read_bytes()[:-9]), "chain-1-.* bytes where"),
    "a flipped bit": ("chain-0-", lambda path: flip(path), "chain-0-.*its checksum"),
    "no new samples": ("samples-0-", lambda path: path.unlink(), "samples-0-.*it is missing"),
}


def flip(path):
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(bytes(data))


def newest(folder, start):
    """Return the path of a file that only the last checkpoint names."""
    if start == MANIFEST:
        return folder / MANIFEST
    only = named(folder, MANIFEST) - named(folder, PREVIOUS_MANIFEST)
    return folder / next(name for name in only if name.startswith(start))


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_to_the_last_is_mended_by_the_one_before(name, whole, tmp_path, monkeypatch):
    folder = stopped(monkeypatch, tmp_path / "model", 10)
    start, damage, told = DAMAGE[name]
    if start.startswith("chain-"):
        monkeypatch.setattr("linktopics.storage.folder.CHECKSUM_MAX_BYTES", 0)  # to resume, all files are compared
    damage(newest(folder, start))
    with pytest.raises(ModelError, match=r"resume continues from the previous checkpoint|not finished"):
        load(folder)
    with pytest.raises(DataError, match="a model already"):
        clone(whole).fit(NETWORK, checkpoint=folder)
    with pytest.warns(CheckpointWarning, match=f"{told}.*; .* from the previous checkpoint, sweep 5, 2 of 6"):
        loaded = load(folder, unfinished=True)
    assert_same(loaded.resume(checkpoint=folder), whole)
    assert_same(load(folder, verify=True), whole)
    assert_nothing_else(folder)


def test_a_crash_while_a_damaged_run_goes_on(whole, tmp_path, monkeypatch):
    """As long as the new manifest is not in place, the one before is all there is."""
    folder = stopped(monkeypatch, tmp_path / "model", 10)
    (folder / MANIFEST).unlink()
    real = os.replace

    def replace(source, target):
        if str(target).endswith(MANIFEST):
            raise SystemExit
        real(source, target)

    with pytest.warns(CheckpointWarning):
        loaded = load(folder, unfinished=True)
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", replace)
        with pytest.raises(SystemExit):
            loaded.resume(checkpoint=folder)
    with pytest.warns(CheckpointWarning):
        assert_same(load(folder, unfinished=True).resume(checkpoint=folder), whole)
    assert_nothing_else(folder)


def test_both_damaged(tmp_path, monkeypatch):
    folder = stopped(monkeypatch, tmp_path / "model")
    flip(folder / MANIFEST)
    next(folder.glob("network-*")).unlink()
    with pytest.raises(
        ModelError, match=r"model\.json.*not JSON.*and so is the previous checkpoint \(.*network-.*copy"
    ):
        load(folder, unfinished=True)


def test_an_older_run_is_not_gone_back_to(whole, tmp_path, monkeypatch):
    """What was there before a fit that replaces it is not a checkpoint of that fit."""
    folder, real = stopped(monkeypatch, tmp_path / "model"), os.replace

    def replace(source, target):
        real(source, target)
        if str(target).endswith(MANIFEST):
            raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", replace)
        with pytest.raises(SystemExit):
            clone(whole).set_params(random_state=5).fit(NETWORK, checkpoint=folder, overwrite=True)
    assert not (folder / PREVIOUS_MANIFEST).exists()
    (folder / MANIFEST).write_text("{")
    with pytest.raises(ModelError, match="restore it from a copy"):
        load(folder, unfinished=True)


def test_files_and_folder_are_on_disk_before_they_are_relied_on(tmp_path, monkeypatch):
    """A file before it is renamed, the folder after; and all that is named before the manifest is."""
    if not os.path.exists("/proc/self/fd"):
        pytest.skip("this system has no /proc")
    log, real = [], os.replace

    def replace(source, target):
        log.append(("rename", str(source), str(target)))
        real(source, target)

    monkeypatch.setattr(os, "fsync", lambda number: log.append(("sync", os.readlink(f"/proc/self/fd/{number}"))))
    monkeypatch.setattr(os, "replace", replace)
    small_model(**PLAIN, n_chains=1).fit(NETWORK, checkpoint=Checkpoint(tmp_path / "model", every=2))
    renamed = [place for place, entry in enumerate(log) if entry[0] == "rename"]
    assert len(renamed) > 10
    for place in renamed:
        _, source, target = log[place]
        assert log[place - 1] == ("sync", source)
        assert log[place + 1] == ("sync", str(tmp_path / "model")), f"{target} is not settled"


# --- how often --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("every", "minutes", "sweeps"),
    [(50, 2.5, [3, 6]), (2, 2.5, [2, 4, 6]), (50, None, [6]), (50, 1e9, [6]), (4, 0.5, [1, 2, 3, 4, 5, 6])],
)
def test_every_so_many_sweeps_or_minutes(every, minutes, sweeps, tmp_path, monkeypatch):
    """With sweeps that take a minute each."""
    now, kept, keep = [0.0], [], RunWriter.save_chain

    def minute():
        now[0] += 60.0

    monkeypatch.setattr(runner.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(
        RunWriter, "save_chain", lambda self, chain: (kept.append(chain.state.iteration), keep(self, chain))[1]
    )
    with at_sweeps(monkeypatch, **{f"_{number}": minute for number in range(1, 7)}):
        model = small_model(**PLAIN, n_chains=1)
        model.fit(NETWORK, checkpoint=Checkpoint(tmp_path / "model", every, minutes))
    assert kept == sweeps


@pytest.mark.parametrize("minutes", [0, -1, "often", True, float("nan")])
def test_a_pace_that_is_none(minutes, tmp_path):
    with pytest.raises(ValueError, match=r"minutes is .* number above 0"):
        Checkpoint(tmp_path / "model", minutes=minutes)


def test_when_there_are_checkpoints_does_not_matter(tmp_path, monkeypatch):
    """Nor with shards, whose states are brought together for each."""
    model = small_model(**PLAIN, n_shards=3, n_jobs=2, n_chains=1, n_burn_in=6)
    whole = clone(model).fit(NETWORK)
    for every in (1, 2, 5, 99):
        assert_same(clone(model).fit(NETWORK, checkpoint=Checkpoint(tmp_path / str(every), every=every)), whole)
        assert_same(load(tmp_path / str(every)), whole)
    with at_sweeps(monkeypatch, _5=end), pytest.raises(KeyboardInterrupt):
        clone(model).fit(NETWORK, checkpoint=Checkpoint(tmp_path / "model", every=2))
    assert done(tmp_path / "model") == [4]
    assert_same(load(tmp_path / "model", unfinished=True).resume(), whole)
