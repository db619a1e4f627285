"""The fuzzer itself: its first inputs are good ones, what fails is a finding, and it says so when it cannot run."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).resolve().parents[1] / "fuzz"


@pytest.fixture
def module(monkeypatch):
    """Give the modules of the fuzzer, which stand for themselves as scripts do."""
    monkeypatch.syspath_prepend(str(FUZZ))

    def load(name):
        spec = importlib.util.spec_from_file_location(f"fuzz_{name}", FUZZ / f"{name}.py")
        found = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, spec.name, found)
        spec.loader.exec_module(found)
        return found

    return load


def test_without_atheris_it_says_so(module, monkeypatch, capsys):
    run = module("run")
    monkeypatch.setattr(sys, "argv", ["run.py", "--seconds", "1"])
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert run.main() == 3
    assert "pip install '.[fuzz]'" in capsys.readouterr().err


def test_an_unknown_target():
    command = [sys.executable, str(FUZZ / "run.py"), "nonsense"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert "there is no target 'nonsense'" in ran.stderr


def test_every_target_has_its_share_and_its_first_inputs(module):
    run, targets = module("run"), module("targets")
    assert set(run.TARGETS) == set(targets.TARGETS)
    assert set(targets.readers.SEEDS) == set(targets.readers.TARGETS)


@pytest.mark.parametrize(
    "name", ["jsonl", "linqs", "ldac", "notes", "opening", "texts", "config", "results", "evaluation"]
)
def test_the_first_inputs_of_readers_are_read(name, module):
    targets, told = module("targets"), []
    for seed in targets.readers.SEEDS[name]():
        targets.checked(name, told=told.append)(seed)
    assert told[0].startswith("result: ")


def test_what_is_no_error_of_ours_is_a_finding(module, monkeypatch, tmp_path):
    targets = module("targets")

    def fail(data, folder):
        raise KeyError("not one of ours")

    monkeypatch.setitem(targets.TARGETS, "jsonl", fail)
    with pytest.raises(KeyError):
        targets.checked("jsonl", tmp_path / "kept")(b"input")
    assert (tmp_path / "kept").read_bytes() == b"input"
