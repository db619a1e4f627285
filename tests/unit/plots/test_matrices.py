"""Pictures of weights and topics show what they were given, and can be read."""

import re
from itertools import pairwise

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb

from linktopics import plots
from linktopics.plots.style import MAX_WORD_CHARACTERS, structure_order
from support.marks import some_long
from support.plotted_models import make_model, visible_boxes

pytestmark = pytest.mark.filterwarnings("ignore::linktopics.errors.MixingWarning")


# Weights
def numbers_of(labels):
    return [int(re.search(r"\d+", label.get_text())[0]) for label in labels]


@pytest.mark.parametrize("order", ["structure", "share", None])
@pytest.mark.parametrize("n_topics", [1, 2, 7, 20])
def test_cells_are_the_weights_of_the_topics_that_name_them(order, n_topics):
    model = make_model(n_topics)
    ax = plots.weight_matrix(model, order=order)
    rows, columns = numbers_of(ax.get_yticklabels()), numbers_of(ax.get_xticklabels())
    assert rows == columns
    assert sorted(rows) == list(range(n_topics))
    np.testing.assert_array_equal(ax.images[0].get_array(), model.link_weights_[np.ix_(rows, rows)])
    low, high = ax.images[0].get_clim()
    assert -low == high == np.abs(model.link_weights_).max()
    for label, row in zip(ax.get_yticklabels(), rows, strict=True):
        assert label.get_text().startswith(", ".join(model.words[row][:3]))
    if order == "share":
        assert (np.diff(model.shares[rows]) <= 0).all()
    if order is None:
        assert rows == list(range(n_topics))


def test_structure_puts_topics_that_link_alike_side_by_side():
    group = np.array([0, 1, 2, 0, 1, 2, 0, 1, 2])
    between = np.array([[5.0, -4, 1], [0, 3, -2], [-5, 2, 6]])
    weights = between[group][:, group] + np.random.default_rng(0).normal(0, 0.3, (9, 9))
    assert (np.diff(group[structure_order(weights)]) != 0).sum() == 2
    assert structure_order(np.diag([1.0, 3, -2])).tolist() == [1, 0, 2]


def test_dots_mark_the_weights_whose_sign_is_not_certain():
    model = make_model(5, weights=np.array([[3.0, -3, 1, -1, 0]] * 5), deviation=1.0)
    ax = plots.weight_matrix(model, order=None, values=False)
    (dots,) = ax.collections
    assert sorted(map(tuple, dots.get_offsets().astype(int).tolist())) == [(j, i) for j in (2, 3, 4) for i in range(5)]
    assert "not certain" in ax.texts[-1].get_text()
    assert not plots.weight_matrix(make_model(5, deviation=0.0), values=False).collections


@pytest.mark.parametrize(("n_topics", "values", "shown"), [(5, "auto", True), (20, "auto", False), (20, True, True)])
def test_values_are_written_where_they_can_be_read(n_topics, values, shown):
    model = make_model(n_topics, deviation=0.0)
    model.link_weights_[0, 1] = -model.link_weights_.max() - 9.95
    ax = plots.weight_matrix(model, order=None, values=values)
    assert len(ax.texts) == (n_topics**2 if shown else 0)
    if shown:
        darkest, other = ax.texts[1], ax.texts[n_topics]
        assert float(darkest.get_text().replace("−", "-")) == pytest.approx(model.link_weights_[0, 1], abs=0.051)
        assert to_rgb(darkest.get_color()) == (1, 1, 1) != to_rgb(other.get_color())


@pytest.mark.parametrize(
    ("n_topics", "columns", "words"), [(5, "auto", True), (5, "numbers", False), (30, "auto", False)]
)
def test_columns_are_named_by_words_where_there_is_room(n_topics, columns, words):
    ax = plots.weight_matrix(make_model(n_topics), columns=columns)
    assert any(letter.isalpha() for letter in ax.get_xticklabels()[0].get_text()) == words


@pytest.mark.parametrize("directed", [True, False])
def test_direction_is_named_where_there_is_one(directed):
    ax = plots.weight_matrix(make_model(3, directed=directed))
    assert ("source" in ax.get_ylabel()) == ("target" in ax.get_xlabel()) == directed


def test_long_words_are_cut():
    model = make_model(2)
    model.words[0] = ["x" * 60, "bee", "ant"]
    labels = [label.get_text() for label in plots.weight_matrix(model).get_yticklabels()]
    assert max(len(word.strip(",")) for label in labels for word in label.split()) == MAX_WORD_CHARACTERS


@pytest.mark.parametrize("n_topics", some_long([2, 5, 15, 16, 40, 50], [16, 40, 50]))
def test_names_of_topics_are_neither_cut_nor_over_each_other(n_topics):
    ax = plots.weight_matrix(make_model(n_topics))
    ax.figure.canvas.draw()
    whole = ax.figure.bbox.padded(1)
    boxes = visible_boxes([*ax.get_yticklabels(), ax.xaxis.label, ax.yaxis.label, *ax.texts])
    boxes += visible_boxes(ax.get_xticklabels())
    assert all(whole.x0 <= box.x0 and box.x1 <= whole.x1 and whole.y0 <= box.y0 and box.y1 <= whole.y1 for box in boxes)
    rows = visible_boxes(ax.get_yticklabels())
    assert all(below.y1 <= above.y0 + 2 for above, below in pairwise(rows))
    if n_topics > 16:
        assert all(left.x1 <= right.x0 for left, right in pairwise(visible_boxes(ax.get_xticklabels())))


def test_topics_have_their_words_and_shares(real):
    axes = plots.topics(real, n_words=2)
    table = real.topics(2)
    assert [ax.get_title(loc="left") for ax in axes] == [f"topic {number}" for number in table.index]
    for ax, (number, row) in zip(axes, table.iterrows(), strict=True):
        assert ", ".join(text.get_text() for text in ax.texts) == row["words"]
        assert ax.get_title(loc="right") == f"{row['share']:.1%}"
        best = np.sort(real.topic_word_[number])[::-1][:2]
        np.testing.assert_allclose([bar.get_width() for bar in ax.patches], best / best[0])
    with pytest.raises(ValueError, match="3 topics to draw and 2 axes"):
        plots.topics(real, plt.subplots(1, 2)[1])
