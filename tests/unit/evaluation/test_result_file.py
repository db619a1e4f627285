"""Results in a file: they survive an interrupt, and are not taken for those of something else."""

import json

import numpy as np
import pytest

import linktopics.evaluation.folds as folds_module
from linktopics import DataError
from linktopics.evaluation.evaluation import evaluate
from support.evaluated_models import Overlap, Wordy, planted, scores_of


class Interrupting(Wordy):
    at = 0

    def fit(self, network):
        if sum(kind == "fit" for kind, _, _ in self.calls) + 1 == self.at:
            raise KeyboardInterrupt
        return super().fit(network)


def n_fits(calls):
    return sum(kind == "fit" for kind, _, _ in calls)


def test_go_on_after_an_interrupt(monkeypatch, tmp_path, calls):
    models = {"a": Interrupting(), "b": Interrupting(scale=-1.0)}
    path = tmp_path / "results.jsonl"
    whole = evaluate(planted(), models, folds=3)
    calls.clear()
    monkeypatch.setattr(Interrupting, "at", 3)
    with pytest.raises(KeyboardInterrupt):
        evaluate(planted(), models, folds=3, resume=path)
    assert path.read_bytes().count(b"\n") == 2
    monkeypatch.setattr(Interrupting, "at", 0)
    calls.clear()
    resumed = evaluate(planted(), models, folds=3, resume=path)
    assert n_fits(calls) == 4
    assert scores_of(resumed).equals(scores_of(whole))
    assert resumed.folds.dtypes.equals(whole.folds.dtypes)
    calls.clear()
    again = evaluate(planted(), {"other label": models["b"]}, folds=3, resume=path)
    assert n_fits(calls) == 0
    assert again.folds["model"].unique().tolist() == ["other label"]
    assert again.folds["auc"].tolist() == whole.folds["auc"].tolist()[3:]


def test_rows_are_in_order_whatever_the_file_holds(tmp_path, calls):
    path = tmp_path / "results.jsonl"
    whole = evaluate(planted(), {"a": Wordy(), "b": Overlap()}, folds=3, resume=path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[5], lines[2], lines[1]]))
    calls.clear()
    resumed = evaluate(planted(), {"a": Wordy(), "b": Overlap()}, folds=3, resume=path)
    assert n_fits(calls) == 3
    assert scores_of(resumed).equals(scores_of(whole))


@pytest.mark.parametrize("left", [1, 30, -1])
def test_a_line_that_was_cut_off_is_dropped(tmp_path, calls, left):
    """Only a bit of the mark, a bit more, and all but the end of the line."""
    path = tmp_path / "results.jsonl"
    whole = evaluate(planted(), {"a": Wordy()}, folds=3, resume=path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2]) + lines[2][:left])
    calls.clear()
    resumed = evaluate(planted(), {"a": Wordy()}, folds=3, resume=path)
    assert n_fits(calls) == 1
    assert scores_of(resumed).equals(scores_of(whole))
    assert [json.loads(line)["fold"] for line in path.read_bytes().splitlines()] == [1, 2, 3]


def test_results_of_something_else_are_not_taken(tmp_path, monkeypatch, calls):
    path = tmp_path / "results.jsonl"
    usual = {"network": planted(), "models": {"a": Overlap(scale=1.0)}, "folds": 3}
    evaluate(**usual, resume=path)
    for other in (
        {"random_state": 1},
        {"folds": 2},
        {"direction": "out"},
        {"words": False},
        {"network": planted(seed=1)},
        {"models": {"a": Overlap(scale=1.5)}},
        {"models": {"a": Overlap(random_state=0)}},
        {"models": {"a": Wordy(scale=1.0)}},
    ):
        calls.clear()
        given = {**usual, **other}
        evaluate(**given, resume=path)
        assert n_fits(calls) == given["folds"], other
    calls.clear()
    evaluate(**{**usual, "models": {"a": Overlap(verbose=True, n_jobs=2)}}, n_jobs=2, resume=path)
    assert n_fits(calls) == 0
    monkeypatch.setattr(folds_module, "__version__", "0.0")
    evaluate(**usual, resume=path)
    assert n_fits(calls) == 3


def test_large_arrays_among_parameters_are_told_apart(tmp_path, calls):
    """Their text is the same."""
    path = tmp_path / "results.jsonl"
    scale = np.ones(5_000)
    evaluate(planted(), {"a": Overlap(random_state=scale)}, folds=2, resume=path)
    scale[2_500] = 2
    evaluate(planted(), {"a": Overlap(random_state=scale)}, folds=2, resume=path)
    assert n_fits(calls) == 4


@pytest.mark.parametrize("content", ["hello", "hello\n", '{"key": 1}\n', "[]\n", '{"linktopics_result": "a"\n', "\n"])
def test_other_files_are_refused(tmp_path, calls, content):
    path = tmp_path / "mine.txt"
    path.write_text(content)
    with pytest.raises(DataError, match=r"line 1 of .*mine\.txt.* is not a result"):
        evaluate(planted(), {"a": Overlap()}, resume=path)
    assert path.read_text() == content
    assert not calls


def test_a_path_that_cannot_be_written(tmp_path, calls):
    for path in (tmp_path, tmp_path / "no" / "where.jsonl"):
        with pytest.raises(DataError, match="results cannot be written to "):
            evaluate(planted(), {"a": Overlap()}, resume=path)
    assert not calls


def test_parameters_that_cannot_be_told_apart(tmp_path, calls):
    with pytest.raises(ValueError, match="the parameter scale of a "):
        evaluate(planted(), {"a": Overlap(scale=lambda: 1)}, resume=tmp_path / "r.jsonl")
    assert not calls
