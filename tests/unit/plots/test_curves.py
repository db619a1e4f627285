"""Traces of chains and curves of ranks show what they were given."""

import numpy as np
import pytest

from linktopics import plots

pytestmark = pytest.mark.filterwarnings("ignore::linktopics.errors.MixingWarning")


# Chains
@pytest.mark.parametrize("number", [0, 1])
def test_trace_has_a_line_for_each_chain_and_the_burn_in(real, number):
    quantity = list(real.trace_)[number]
    ax = plots.trace(real, quantity=quantity)
    np.testing.assert_array_equal([line.get_ydata() for line in ax.lines], real.trace_[quantity])
    assert ax.lines[0].get_xdata().tolist() == list(range(1, 27))
    (shade,) = ax.patches
    assert shade.get_path().get_extents(shade.get_patch_transform()).x1 == real.n_burn_in_ + 0.5
    assert ax.get_ylabel() == quantity
    low, high = ax.get_ylim()
    assert low < real.trace_[quantity][:, 20:].min() < real.trace_[quantity][:, 20:].max() < high
    widths = [line.get_linewidth() for line in ax.lines]
    assert int(np.argmax(widths)) == real.best_chain_


def test_trace_names_the_quantities_it_knows(real):
    with pytest.raises(ValueError, match="'entropy'; it must be one of 'log joint'"):
        plots.trace(real, quantity="entropy")


# Predictions
def test_link_ranks_are_shares_of_links_found():
    given = {"ours": [7, 1, 2, 2.5, 1], "theirs": [4, 10, 8]}
    ax = plots.link_ranks(given, n_candidates=20)
    *curves, chance = ax.lines
    for line, ranks in zip(curves, given.values(), strict=True):
        x, y = line.get_data()
        assert line.get_drawstyle() == "steps-post"
        for r in (1, 2, 3, 7, 9, 20):
            assert y[np.searchsorted(x, r, side="right") - 1] == pytest.approx(np.mean(np.array(ranks) <= r))
    np.testing.assert_allclose(chance.get_ydata(), chance.get_xdata() / 20)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "ours: median rank 2", "theirs: median rank 8", "random order",
    ]  # fmt: skip
    assert ax.get_xscale() == "log"
    assert len(plots.link_ranks([3, 4]).lines) == 1
