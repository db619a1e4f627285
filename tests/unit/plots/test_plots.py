"""What plots draw is what they were given, and can be read."""

import re
from dataclasses import dataclass, field
from itertools import combinations, pairwise

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb
from matplotlib.patches import FancyArrowPatch
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.metrics import auc

from linktopics import DataError, DocumentNetwork, RelationalTopicModel, metrics, plots
from linktopics.plots._layout import push_apart, stress_layout
from linktopics.plots._style import ATTRACTS, MAX_WORD_CHARACTERS, structure_order
from support.marks import some_long

pytestmark = pytest.mark.filterwarnings("ignore::linktopics.errors.MixingWarning")

WORDS = ["ant", "bee", "caterpillar", "dog", "elephant", "fox", "gnu", "hippopotamus", "ibis", "jay", "koala", "lynx"]


@pytest.fixture(autouse=True)
def agg():
    """Draw without a screen; forget figures and see that no setting was changed."""
    plt.switch_backend("agg")
    plt.close("all")  # of other tests
    before = dict(mpl.rcParams)
    yield
    assert dict(mpl.rcParams) == before
    plt.close("all")


@dataclass
class Fitted(BaseEstimator):
    """What plots ask of a model, made up."""

    link_weights_: np.ndarray
    link_weights_std_: np.ndarray
    shares: np.ndarray
    doc_topic_: np.ndarray
    network_: DocumentNetwork
    words: list = field(default_factory=list)

    def fit(self):
        raise NotImplementedError

    def topics(self, n_words=8):
        table = pd.DataFrame({"share": self.shares, "words": [", ".join(row[:n_words]) for row in self.words]})
        return table.sort_values("share", ascending=False)


def make_model(n_topics, *, weights=None, deviation=1.0, directed=True):
    """Make a model with a document and a few links for every topic."""
    rng = np.random.default_rng(n_topics)
    if weights is None:
        weights = rng.normal(-1, 4, (n_topics, n_topics))
        weights = weights if directed else (weights + weights.T) / 2
    links = rng.integers(0, n_topics, (4 * n_topics, 2))
    network = DocumentNetwork(
        np.ones((n_topics, 2), int), np.unique(links[links[:, 0] < links[:, 1]], axis=0), directed=directed
    )
    return Fitted(
        link_weights_=weights,
        link_weights_std_=np.full(weights.shape, deviation),
        shares=rng.dirichlet(np.ones(n_topics)),
        doc_topic_=np.eye(n_topics),
        network_=network,
        words=[list(rng.permutation(WORDS)) for _ in range(n_topics)],
    )


@pytest.fixture(scope="module")
def real():
    """Fit a model with two chains to two groups of documents."""
    counts = np.kron(np.eye(2, dtype=int), np.ones((6, 3), dtype=int))
    links = [(i, j) for group in (range(6), range(6, 12)) for i in group for j in group if i < j]
    network = DocumentNetwork(counts, links, vocabulary=WORDS[:6])
    return RelationalTopicModel(3, n_burn_in=20, n_samples=3, thin=2, n_chains=2, negatives=2, random_state=0).fit(
        network
    )


LABELS = np.array([0, 0, 1, 1, 0, 1], bool)
SCORES = np.array([0.1, 0.3, 0.3, 0.8, 0.5, 0.9])
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


def visible_boxes(texts):
    return [text.get_window_extent() for text in texts if text.get_text() and text.get_visible()]


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


# The graph of topics


def edges_of(ax):
    """Read edges from a picture: the nodes nearest to the ends of each line, and its width."""
    nodes = np.asarray(ax.collections[0].get_offsets())
    found = {}
    for patch in ax.patches:
        assert isinstance(patch, FancyArrowPatch)
        ends = [int(np.linalg.norm(nodes - end, axis=1).argmin()) for end in patch._posA_posB]
        found[tuple(ends)] = patch.get_linewidth()
    return found


@pytest.mark.parametrize("directed", [True, False])
def test_edges_are_the_weights_above_the_threshold(directed):
    model = make_model(6, directed=directed)
    found = edges_of(plots.topic_graph(model, threshold=1.0))
    expected = {
        (i, j): weight
        for (i, j), weight in np.ndenumerate(model.link_weights_)
        if weight > 1 and (i != j if directed else i < j)
    }
    assert found.keys() == expected.keys()
    assert len(found) > 2
    assert sorted(found, key=found.get) == sorted(expected, key=expected.get)  # the stronger, the wider


def test_without_threshold_only_the_strongest_certain_weights_are_drawn():
    weights = np.random.default_rng(0).permutation(np.arange(1.0, 101)).reshape(10, 10)
    model = make_model(10, weights=weights, deviation=0.0)
    off = np.sort(weights[~np.eye(10, dtype=bool)])[::-1]
    assert {weights[edge] for edge in edges_of(plots.topic_graph(model))} == set(off[:15])
    model.link_weights_std_[weights == off[0]] = off[0]
    assert {weights[edge] for edge in edges_of(plots.topic_graph(model))} == set(off[1:16])


@pytest.mark.parametrize("directed", [True, False])
def test_links_are_counted_between_main_topics(directed):
    network = DocumentNetwork(np.ones((6, 2), int), [(0, 1), (0, 3), (2, 0), (1, 2), (4, 5)], directed=directed)
    model = make_model(3)
    model.network_, model.doc_topic_ = network, np.eye(3)[[0, 0, 1, 1, 2, 0]]  # links: 0-0, 0-1, 1-0, 0-1, 2-0
    ax = plots.topic_graph(model, by="links", threshold=0)
    assert set(edges_of(ax)) == ({(0, 1), (1, 0), (2, 0)} if directed else {(0, 1), (0, 2)})
    rings = ax.collections[0].get_linewidths()
    assert rings[0] > rings[1] == rings[2]


def test_rings_say_whether_a_topic_attracts_itself():
    model = make_model(3, weights=np.diag([2.0, -4.0, 4.0]))
    nodes = plots.topic_graph(model).collections[0]
    np.testing.assert_allclose(nodes.get_edgecolors()[[0, 2], :3], [ATTRACTS] * 2)
    assert nodes.get_edgecolors()[1, 2] > nodes.get_edgecolors()[1, 0]  # blue
    thin, wide, as_wide = nodes.get_linewidths()
    assert thin < wide == as_wide
    sizes = nodes.get_sizes()
    assert sizes.argmax() == model.shares.argmax()


def overlap(a, b):
    return min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1


@pytest.mark.parametrize("by", ["weights", "links"])
@pytest.mark.parametrize("n_topics", [1, 2, 5, 15, 40])
def test_names_in_the_graph_do_not_cover_each_other(n_topics, by):
    model = make_model(n_topics)
    ax = plots.topic_graph(model, by=by)
    ax.figure.canvas.draw()
    boxes = visible_boxes(ax.texts)
    assert len(boxes) == n_topics
    assert not any(overlap(a, b) for a, b in combinations(boxes, 2))
    whole = ax.figure.bbox
    assert all(whole.x0 <= box.x0 and box.x1 <= whole.x1 and whole.y0 <= box.y0 and box.y1 <= whole.y1 for box in boxes)
    assert [text.get_text().split("\n") for text in ax.texts] == [words[:3] for words in model.words]


def test_the_same_model_gives_the_same_graph():
    first, second = (plots.topic_graph(make_model(12)).collections[0].get_offsets() for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_layout_keeps_groups_together():
    strengths = np.kron(np.eye(3), np.ones((4, 4))) - np.eye(12)
    strengths[3, 4] = strengths[7, 8] = 0.1
    places = stress_layout(strengths)
    apart = np.linalg.norm(places[:, None] - places[None], axis=2)
    same = np.kron(np.eye(3, dtype=bool), np.ones((4, 4), bool))
    assert apart[same].max() < apart[~same].min()
    assert np.ptp(places[:, 0]) > np.ptp(places[:, 1])


@pytest.mark.parametrize(
    "places", [np.random.default_rng(0).normal(0, 0.01, (30, 2)), np.array([[0.0, 0], [0, 0], [1, 1], [1, 1]])]
)
def test_boxes_are_pushed_apart_within_the_room(places):
    centres = push_apart(places, np.tile([40.0, 20.0], (len(places), 1)), (400, 300))
    for a, b in combinations(centres, 2):
        assert abs(a[0] - b[0]) > 39.9 or abs(a[1] - b[1]) > 19.9
    assert (centres >= [20, 10]).all()
    assert (centres <= [380, 290]).all()


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
