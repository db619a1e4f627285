"""The model that a server is pinned to: another one in its folder is refused."""

import shutil

import pytest

from linktopics import RelationalTopicModel
from linktopics.errors import ModelError
from linktopics.server.pinned_model import PinnedModel
from support.small_models import TEXTS, small_model, small_network


@pytest.fixture
def pinned(tmp_path):
    small_model().fit(small_network()).save(tmp_path / "model")
    return PinnedModel.pin(tmp_path / "model")


def replace(pinned):
    small_model().fit(small_network(ids=list(TEXTS)[::-1])).save(pinned.folder, overwrite=True)


def test_the_same_model_is_loaded_again(pinned):
    pinned.check()
    assert pinned.load().network_.ids.tolist() == list(TEXTS)


def test_another_model_is_refused(pinned):
    replace(pinned)
    for method in (pinned.load, pinned.check):
        with pytest.raises(ModelError, match=r"was replaced while the server ran; restart linktopics serve"):
            method()
    assert PinnedModel(pinned.folder).load().network_.ids.tolist() == list(TEXTS)[::-1]


def test_the_same_model_saved_again_is_another(pinned):
    """It was saved at another time, perhaps with other versions, which pages tell."""
    model = pinned.load()
    model.save(pinned.folder, overwrite=True)
    with pytest.raises(ModelError, match="was replaced"):
        pinned.load()


def test_files_that_another_model_took_the_place_of_are_no_damage(pinned, monkeypatch):
    def vanish(folder):
        replace(pinned)
        raise ModelError("samples-0.safetensors: it is missing")

    monkeypatch.setattr(RelationalTopicModel, "load", vanish)
    with pytest.raises(ModelError, match="was replaced"):
        pinned.load()


def test_damage_is_told_as_such(pinned):
    next(pinned.folder.glob("samples-*")).unlink()
    with pytest.raises(ModelError, match="damaged"):
        pinned.load()
    shutil.rmtree(pinned.folder)
    with pytest.raises(ModelError, match="no such folder"):
        pinned.load()
