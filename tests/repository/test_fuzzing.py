"""The fuzzer itself: its first inputs are good ones, what fails is a finding, and it says so when it cannot run."""

import argparse
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


def test_slow_inputs_are_kept_beside_the_finding(module, tmp_path):
    """One that was only slow is not taken for the one that a process ended with."""
    run, work, findings = module("run"), tmp_path / "work", tmp_path / "findings"
    work.mkdir()
    (work / "model.log").write_text("==7== ERROR: libFuzzer: timeout after 11 seconds\n")
    (work / "model-slow-unit-1").write_bytes(b"slow")
    given = argparse.Namespace(findings=findings, jit=False, timeout=10)
    result = run.outcome("model", 1.0, 1.0, 0, work, given)
    assert result.finding is None
    assert [path.read_bytes() for path in result.slow] == [b"slow"]
    (work / "model-timeout-1").write_bytes(b"for ever")
    result = run.outcome("model", 1.0, 1.0, 70 * 256, work, given)
    assert result.finding.read_bytes() == b"for ever"
    assert "timeout after 11 seconds" in result.told
    assert [path.read_bytes() for path in result.slow] == [b"slow"]
