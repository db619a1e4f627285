"""What all plots have in common: axes, models that are fitted, and what is said of the rest."""

import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.exceptions import NotFittedError

from linktopics import DataError, RelationalTopicModel, plots
from support.plotted_models import LABELS, SCORES, make_model

pytestmark = pytest.mark.filterwarnings("ignore::linktopics.errors.MixingWarning")
DRAW = {
    "weight_matrix": lambda model, ax: plots.weight_matrix(model, ax),
    "topic_graph": lambda model, ax: plots.topic_graph(model, ax),
    "topic_graph links": lambda model, ax: plots.topic_graph(model, ax, by="links"),
    "topics": lambda model, ax: plots.topics(model, None if ax is None else [ax], n_topics=1)[0],
    "trace": lambda model, ax: plots.trace(model, ax),
    "link_ranks": lambda model, ax: plots.link_ranks([1, 3, 4.5], ax),
    "roc": lambda model, ax: plots.roc(LABELS, SCORES, ax),
    "roc log": lambda model, ax: plots.roc(LABELS, SCORES, ax, log=True),
    "calibration": lambda model, ax: plots.calibration(LABELS, SCORES, ax, n_bins=2),
    "calibration log": lambda model, ax: plots.calibration(LABELS, SCORES, ax, n_bins=2, log=True),
}


@pytest.mark.parametrize("name", DRAW)
def test_axes_are_those_given_or_those_of_one_new_figure(name, real):
    ax = DRAW[name](real, None)
    assert plt.get_fignums() == [ax.figure.number]
    ax.figure.canvas.draw()
    given = plt.subplots()[1]
    assert DRAW[name](real, given) is given
    assert len(plt.get_fignums()) == 2
    given.figure.canvas.draw()


@pytest.mark.parametrize("draw", [plots.weight_matrix, plots.topic_graph, plots.topics, plots.trace])
def test_a_model_must_be_fitted(draw):
    with pytest.raises(NotFittedError):
        draw(RelationalTopicModel(2))


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda m: plots.weight_matrix(m, order="size"), ValueError, "order is 'size'"),
        (lambda m: plots.weight_matrix(m, columns="both"), ValueError, "columns is 'both'"),
        (lambda m: plots.topic_graph(m, by="love"), ValueError, "by is 'love'"),
        (lambda m: plots.link_ranks([]), DataError, "shape"),
        (lambda m: plots.link_ranks({"a": [1, 0.5]}), DataError, "ranks of 'a' hold 0.5"),
        (lambda m: plots.link_ranks([1, np.nan]), DataError, "hold nan"),
        (lambda m: plots.link_ranks([1, 30], n_candidates=20), DataError, "hold 30, but n_candidates is 20"),
        (lambda m: plots.link_ranks({}), ValueError, "empty"),
        (lambda m: plots.roc(LABELS, SCORES[:3]), DataError, r"shape \(3,\), labels \(6,\)"),
        (lambda m: plots.roc(LABELS, {"x": SCORES * np.nan}), DataError, "scores of 'x' hold NaN"),
        (lambda m: plots.roc(LABELS * 2, SCORES), DataError, "True and False"),
        (lambda m: plots.roc(LABELS | True, SCORES), DataError, "only links"),
        (lambda m: plots.roc(LABELS & False, SCORES), DataError, "no link"),
        (lambda m: plots.calibration(LABELS, SCORES * 3), DataError, "not all between 0 and 1"),
        (lambda m: plots.calibration(LABELS, SCORES, n_bins=0), ValueError, "n_bins is 0"),
        (lambda m: plots.calibration(LABELS, SCORES, equal="bins"), ValueError, "equal is 'bins'"),
    ],
)
def test_what_cannot_be_drawn_is_said(call, error, match):
    with pytest.raises(error, match=match):
        call(make_model(3))
    assert not plt.get_fignums()  # nothing is left behind
