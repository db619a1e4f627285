"""Runs that are stopped, and what their checkpoints hold."""

import contextlib
import itertools
import json
import os
import threading

from linktopics.storage.folder import MANIFEST, PREVIOUS_MANIFEST
from linktopics.utils.progress import ProgressBar
from support.small_models import small_network

NETWORK = small_network()
PLAIN = {"pair_features": None, "n_samples": 3, "thin": 1}


@contextlib.contextmanager
def at_sweeps(monkeypatch, **actions):
    """Do something after so many sweeps of all chains together: at_sweeps(monkeypatch, _3=action)."""
    lock, counter = threading.Lock(), itertools.count(1)

    def advance(_, reached):
        if not isinstance(reached, str):  # the name of a feature
            with lock:
                actions.get(f"_{next(counter)}", lambda: None)()

    with monkeypatch.context() as patch:
        patch.setattr(ProgressBar, "advance", advance)
        yield


def done(folder, name=MANIFEST):
    return [chain["iteration"] for chain in json.loads((folder / name).read_text())["chains"]]


def named(folder, *manifests):
    return {entry["file"] for name in manifests for entry in json.loads((folder / name).read_text())["files"]}


def assert_nothing_else(folder):
    manifests = [name for name in (MANIFEST, PREVIOUS_MANIFEST) if (folder / name).exists()]
    assert set(os.listdir(folder)) == {*manifests, *named(folder, *manifests)}
