"""The graph of topics shows what it was given, and can be read."""

from itertools import combinations

import numpy as np
import pytest
from matplotlib.patches import FancyArrowPatch

from linktopics import DocumentNetwork, plots
from linktopics.plots.layout import push_apart, stress_layout
from linktopics.plots.style import ATTRACTS
from support.plotted_models import make_model, visible_boxes

pytestmark = pytest.mark.filterwarnings("ignore::linktopics.errors.MixingWarning")


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
