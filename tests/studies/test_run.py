"""A run and its folder."""

import json

import numpy as np
import pytest

from linktopics import DocumentNetwork, RelationalTopicModel
from studies.run import best_connected, load_network


def test_best_connected_documents():
    links = [(0, 1), (1, 2), (2, 3), (3, 4), (3, 5), (3, 6), (7, 8)]
    network = DocumentNetwork(np.ones((9, 1)), links)
    assert best_connected(network, 5).ids.tolist() == [2, 3, 4, 5, 6]
    assert best_connected(network, 2, start=0).ids.tolist() == [0, 1]
    assert best_connected(network, 9, start=8).ids.tolist() == [7, 8]  # what can be reached


def test_cora_with_words_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setenv("LINKTOPICS_DATA", str(tmp_path))
    with pytest.raises(ValueError, match=r"cora-r was not found.*R package lda"):
        load_network("cora-r")
    monkeypatch.delenv("LINKTOPICS_DATA")
    with pytest.raises(ValueError, match="cora-r was not found"):
        load_network("cora-r")


def test_results_are_remembered_by_what_they_depend_on(tmp_path, a_run):
    network = DocumentNetwork(np.ones((3, 2)), [(0, 1)])
    other = DocumentNetwork(np.ones((3, 2)), [(0, 2)])
    model = RelationalTopicModel(2, random_state=0)
    calls = []

    def compute():
        calls.append(1)
        return {"n": len(calls)}

    for again in (a_run(tmp_path), a_run(tmp_path)):
        assert again.cached(network, model, "x", compute) == {"n": 1}
    run = a_run(tmp_path)
    assert run.cached(network, model, "y", compute) == {"n": 2}
    assert run.cached(other, model, "x", compute) == {"n": 3}
    assert run.cached(network, RelationalTopicModel(3, random_state=0), "x", compute) == {"n": 4}
    assert run.cached(network, model, "x", compute) == {"n": 1}
    assert not list(tmp_path.rglob("*.part"))


def test_settings(tmp_path, monkeypatch, a_run):
    monkeypatch.setattr("studies.run.time.perf_counter", lambda: 107.0)
    run = a_run(tmp_path, seed=3)
    run.record({"Gibbs-RTM": RelationalTopicModel(5, weights="diagonal")})
    run.save_settings(100.0, finished=False)
    run.save_settings(102.0, finished=True)
    text = (tmp_path / "settings.json").read_text(encoding="utf-8")
    settings = json.loads(text)
    assert settings["seconds"] == 12.0  # of both sittings
    assert settings["finished"] is True
    assert settings["command"] == "python -m studies cora --folds 5 --topics 5,10 --seed 3"
    assert settings["parameters"]["Gibbs-RTM"]["link_cost"] == 16.0  # what None stands for
    assert {"numpy", "numba", "linktopics", "python"} <= set(settings["versions"])
    assert str(tmp_path) not in text
    a_run(tmp_path, seed=4).save_settings(106.0, finished=True)
    assert json.loads((tmp_path / "settings.json").read_text(encoding="utf-8"))["seconds"] == 1.0


@pytest.mark.parametrize(("loads", "busy"), [([0.2, 1.9], False), ([0.2, 8.0], True), ([8.0, 1.0], True)])
def test_a_busy_machine_is_told_of(loads, busy, tmp_path, monkeypatch, a_run):
    monkeypatch.setattr("studies.run.os.cpu_count", lambda: 2)
    values = iter(loads)
    monkeypatch.setattr("studies.run.load_average", lambda: next(values))
    run = a_run(tmp_path)
    run.save_settings(0.0, finished=True)
    assert json.loads((tmp_path / "settings.json").read_text(encoding="utf-8"))["load"] == loads
    assert run.busy is busy


def test_quick_run_is_shorter(tmp_path, a_run):
    assert a_run(tmp_path).sweeps(400) == 400
    assert [a_run(tmp_path, quick=True).sweeps(n) for n in (400, 1)] == [20, 1]
    assert "--quick" in a_run(tmp_path, quick=True).command
    assert "--folds" not in a_run(tmp_path, folds=0).command
