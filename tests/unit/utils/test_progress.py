"""Progress bars: what they show."""

import re
import time

import pytest

from linktopics.utils.progress import ProgressBar


@pytest.mark.parametrize(
    ("more", "step", "shown"),
    [
        (["evaluating", "evaluating"], "a [b], fold 2: link rank 7.0", "evaluating .*a \\[b\\], fold 2: link rank 7.0"),
        (["sampling"], -1234.4, "sampling .*log joint -1,234 "),
    ],
)
def test_the_progress_bar_shows_the_last_step(capsys, monkeypatch, more, step, shown):
    monkeypatch.setenv("COLUMNS", "120")
    with ProgressBar(2, True, *more) as bar:
        while bar._bar is None:
            time.sleep(0.01)
        bar.advance(step)
    assert re.search(shown, capsys.readouterr().err)
