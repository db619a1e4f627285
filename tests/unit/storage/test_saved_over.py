"""Loading a model while somebody saves another one over it."""

import os
import re
import threading

import numpy as np
import pytest

from linktopics import RelationalTopicModel
from linktopics.errors import ModelError
from linktopics.storage import run_reader
from linktopics.storage.folder import ModelFolder
from support.small_models import answers, assert_same, small_model, small_network

load = RelationalTopicModel.load


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)


def at_call(monkeypatch, owner, name, number, action):
    """Do something before the n-th call of a function."""
    function, calls = getattr(owner, name), []

    def called(*arguments, **more):
        calls.append(name)
        if len(calls) == number:
            monkeypatch.setattr(owner, name, function)
            action()
            monkeypatch.setattr(owner, name, called)
        return function(*arguments, **more)

    monkeypatch.setattr(owner, name, called)


MOMENTS = {
    "after the manifest": (ModelFolder, "check_files", 1),
    "after the checks": (ModelFolder, "read", 1),
    "after the first file": (ModelFolder, "read", 2),
    "after the network": (ModelFolder, "read", 3),
    "before the last file": (ModelFolder, "read", 6),
    "between opening and mapping": (np, "memmap", 1),
}


@pytest.mark.parametrize("unfinished", [False, True])
@pytest.mark.parametrize("moment", MOMENTS)
def test_the_new_model_is_loaded(moment, unfinished, other, saved, monkeypatch):
    replaced = []
    at_call(
        monkeypatch,
        *MOMENTS[moment],
        lambda: (other.save(saved, overwrite=True), replaced.append(moment)),
    )
    assert_same(load(saved, unfinished=unfinished), other)
    assert replaced


@pytest.mark.parametrize("moment", MOMENTS)
def test_what_is_damaged_is_told_at_once(moment, saved, monkeypatch):
    removed = []

    def remove():
        for path in saved.glob("*.safetensors"):
            path.unlink()
        removed.append(moment)

    at_call(monkeypatch, *MOMENTS[moment], remove)
    with pytest.raises(ModelError, match="the model is damaged"):
        load(saved)
    assert removed == [moment]


def test_there_is_an_end_of_trying(other, saved, monkeypatch):
    check, tries = ModelFolder.check_files, []

    def replaced(self, *arguments, **more):
        tries.append(1)
        monkeypatch.setattr(ModelFolder, "check_files", check)
        other.save(saved, overwrite=True)
        monkeypatch.setattr(ModelFolder, "check_files", replaced)
        check(self, *arguments, **more)

    monkeypatch.setattr(ModelFolder, "check_files", replaced)
    with pytest.raises(ModelError, match=re.escape(str(saved)) + ": models are saved in this folder faster than"):
        load(saved)
    assert len(tries) == 1 + run_reader.MAX_RELOADS


def test_what_was_loaded_stays_as_it_was(fitted, other, saved):
    """Features are made and states are laid out when they are first needed, from files that are gone by then."""
    loaded, again = load(saved), load(saved)
    other.save(saved, overwrite=True)
    assert_same(answers(loaded), answers(fitted))
    assert_same(again.resume(n_samples=2), small_model(n_samples=4).fit(small_network()))


def test_saving_and_loading_all_the_time(fitted, other, saved):
    models, stop, faults = [fitted, other], threading.Event(), []

    def save():
        try:
            while not stop.is_set():
                models.reverse()
                models[0].save(saved, overwrite=True)
        except BaseException as error:
            faults.append(error)

    saver = threading.Thread(target=save)
    saver.start()
    try:
        weights = [load(saved).link_weights_ for _ in range(100)]
    finally:
        stop.set()
        saver.join()
    assert not faults
    known = [model.link_weights_ for model in (fitted, other)]
    seen = {next(number for number, one in enumerate(known) if np.array_equal(one, found)) for found in weights}
    assert seen == {0, 1}


def test_leftovers_are_not_those_of_another_model(fitted, other, saved, monkeypatch):
    """What is named by the manifest of a moment ago is not what may stay now."""
    (saved / "samples-0-01234567.safetensors").write_bytes(b"left by a process that was killed")
    at_call(monkeypatch, ModelFolder, "locked", 1, lambda: other.save(saved, overwrite=True))
    ModelFolder(saved).remove_leftovers()
    assert_same(load(saved), other)
