"""Summaries over folds, and tables that fit a terminal."""

import numpy as np
import pandas as pd
import pytest

from studies.tables import format_table, join_folds, mean_and_std, summarise


def test_summary_is_over_folds_and_keeps_models_without_topics():
    folds = pd.DataFrame(
        {
            "model": ["a", "b", "a", "b"],
            "topics": [5, np.nan, 5, np.nan],
            "fold": [1, 1, 2, 2],
            "link_rank": [10.0, 1.0, 14.0, 3.0],
            "word_rank": [7.0, np.nan, 9.0, np.nan],
        }
    )
    summary = summarise(folds, ["model", "topics"])
    assert summary["model"].tolist() == ["a", "b"]
    assert summary["folds"].tolist() == [2, 2]
    np.testing.assert_allclose(summary["link_rank"], [12, 2])
    np.testing.assert_allclose(summary["link_rank_std"], np.sqrt([8, 2]))  # of a sample, not of a population
    assert np.isnan(summary["word_rank"].iloc[1])


def test_folds_are_described_by_label_whatever_their_order():
    folds = pd.DataFrame({"model": ["y", "x", "y", "x"], "fold": [1, 1, 2, 2], "auc": [0.1, 0.2, 0.3, 0.4]})
    joined = join_folds(folds, {"x": {"model": "one", "c": 1.0}, "y": {"model": "two", "c": 2.0}})
    assert joined.columns.tolist() == ["model", "c", "fold", "auc"]
    assert joined.to_numpy().tolist() == [
        ["one", 1.0, 1, 0.2],
        ["one", 1.0, 2, 0.4],
        ["two", 2.0, 1, 0.1],
        ["two", 2.0, 2, 0.3],
    ]


@pytest.mark.parametrize(
    ("mean", "std", "digits", "text"),
    [(313.4, 11.6, 0, "313±12"), (0.8561, 0.0049, 3, "0.856±0.005"), (5.0, np.nan, 1, "5.0"), (np.nan, np.nan, 0, "")],
)
def test_mean_and_std(mean, std, digits, text):
    assert mean_and_std(mean, std, digits) == text


def test_tables_fit_the_terminal():
    text = format_table([["a" * 90, "1.25", "abc"], ["b", "10.00", ""]], ["model", "rank", "more"], width=40)
    lines = text.splitlines()
    assert max(map(len, lines)) == 40
    assert lines[0] == "model" + " " * 22 + "   rank  more"
    assert lines[2] == "a" * 26 + "…" + "   1.25   abc"
    assert lines[3] == "b" + " " * 26 + "  10.00"
