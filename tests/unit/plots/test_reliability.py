"""Curves of predictions and of their calibration show what they were given."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import auc

from linktopics import metrics, plots
from support.plotted_models import LABELS, SCORES

pytestmark = pytest.mark.filterwarnings("ignore::linktopics.errors.MixingWarning")


@pytest.mark.parametrize("shape", [(6,), (2, 3)])
@pytest.mark.parametrize("sparse", [False, True])
def test_roc_is_the_curve_whose_area_the_legend_says(shape, sparse):
    labels, scores = LABELS.reshape(shape), SCORES.reshape(shape)
    given = csr_array(labels) if sparse and len(shape) == 2 else labels
    ax = plots.roc(given, {"ours": scores, "theirs": -scores})
    ours, theirs = ax.lines[:2]
    area = auc(*ours.get_data())
    assert area == pytest.approx(metrics.auc(SCORES[None], LABELS[None])) == pytest.approx(15 / 18)
    assert auc(*theirs.get_data()) == pytest.approx(3 / 18)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["ours: AUC 0.833", "theirs: AUC 0.167"]


def test_calibration_bins_hold_equally_many_pairs():
    rng = np.random.default_rng(0)
    probabilities = rng.beta(0.5, 3, 1000)
    labels = rng.random(1000) < probabilities
    ax = plots.calibration(labels, probabilities, n_bins=5)
    order = np.argsort(probabilities).reshape(5, 200)
    np.testing.assert_allclose(ax.lines[-1].get_xdata(), probabilities[order].mean(axis=1))
    np.testing.assert_allclose(ax.lines[-1].get_ydata(), labels[order].mean(axis=1))
    counts = [int(text.get_text()) for text in ax.texts if text.get_text().isdigit()]
    assert counts == labels[order].sum(axis=1).tolist()
    share, z2 = labels[order].mean(axis=1), 1.96**2
    for (low, high), p in zip(([s[0, 1], s[1, 1]] for s in ax.collections[0].get_segments()), share, strict=True):
        for end in (low, high):  # Wilson: the shares that are 1.96 of their own standard errors away
            assert (end - p) ** 2 == pytest.approx(z2 * end * (1 - end) / 200)


def test_calibration_bins_can_hold_equally_many_expected_links():
    probabilities = np.array([0.1] * 10 + [0.5] * 2 + [1.0])
    ax = plots.calibration(probabilities > 0.4, probabilities, n_bins=3, equal="links")
    np.testing.assert_allclose(ax.lines[-1].get_data(), [[0.1, 0.5, 1.0], [0, 1, 1]])


def test_calibration_does_not_part_equal_probabilities():
    probabilities = np.array([0.2] * 7 + [0.6] * 3)
    ax = plots.calibration(np.arange(10) % 2 == 0, probabilities, n_bins=4)
    np.testing.assert_allclose(ax.lines[-1].get_xdata(), [0.2, 0.6])


def test_calibration_of_rare_links_shows_bins_without_any():
    probabilities = np.repeat([0.001, 0.01, 0.1], 100)
    labels = np.zeros(300, bool)
    labels[[150, 201, 202]] = True
    ax = plots.calibration(labels, probabilities, n_bins=3, log=True)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    without, line = ax.lines[-2:]
    np.testing.assert_allclose(line.get_data(), [[0.01, 0.1], [0.01, 0.02]])
    np.testing.assert_allclose(without.get_data(), [[0.001], [1.96**2 / (100 + 1.96**2)]])
    low, high = ax.get_xlim()
    assert low <= 0.001 < 0.1 <= high


def test_several_models_have_a_line_and_a_name_each():
    ax = plots.calibration(LABELS, {"a": SCORES, "b": SCORES / 2}, n_bins=2)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]
    assert len({line.get_color() for line in ax.lines}) == 3  # and the diagonal
