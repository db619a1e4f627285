"""Suggestions: the best candidates by the slow definition, whatever is left out of the search for them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import linktopics.prediction.predictor
from linktopics.features import FeatureSet
from linktopics.network.inputs import Documents
from linktopics.prediction.calibration import Curve, LinkCalibration
from linktopics.prediction.predictor import Predictor
from linktopics.prediction.ranking import ExactSearch
from support.two_groups import (
    DIRECTIONS,
    N_OLD,
    NETWORK,
    NEW,
    K,
    by_sample,
    described,
    give_back,
    on_average,
)


@pytest.fixture
def restored(plain):
    """Give a model whose samples and jobs may be changed: they are put back afterwards."""
    yield from give_back(plain)


def best(probabilities, top):
    """Return the columns of the largest of each row; of those equal up to rounding, the first come first."""
    return np.argsort(-probabilities.round(13), axis=1, kind="stable")[:, :top]


# --- suggestions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_suggestions(model, direction):
    samples, expected = by_sample(model, NEW, direction), on_average(model, NEW, direction)
    order = best(expected, 4)
    found = model.suggest_links(NEW, top=4, direction=direction, interval=0.6)
    np.testing.assert_array_equal(found.document, np.repeat(np.arange(9), 4))
    np.testing.assert_array_equal(found.id, NETWORK.ids[order.ravel()])
    np.testing.assert_array_equal(found.title, [f"Title of {id}" for id in found.id])
    picked = np.take_along_axis(samples, order[None], axis=2).reshape(len(samples), -1)
    expected = np.take_along_axis(expected, order, axis=1).ravel()
    np.testing.assert_allclose(found.probability, expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.lower, np.quantile(picked, 0.2, axis=0), rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.upper, np.quantile(picked, 0.8, axis=0), rtol=0, atol=1e-9)
    for i, row in enumerate(NEW):
        alone = model.suggest_links(row[None], top=4, direction=direction, interval=0.6)
        here = found[found.document == i].assign(document=0).reset_index(drop=True)
        pd.testing.assert_frame_equal(alone, here, rtol=1e-9)


@pytest.mark.parametrize("top", [1, 100, 101, N_OLD, N_OLD + 50])
def test_numbers_of_suggestions(plain, top):
    found = plain.suggest_links(NEW, top=top)
    order = best(plain.predict_links(NEW), top)
    assert order.shape == (9, min(top, N_OLD))
    np.testing.assert_array_equal(found.id, NETWORK.ids[order.ravel()])


@pytest.mark.parametrize(("n_kinds", "top"), [(13, 3), (13, 115), (1, 3), (1, 125)])
def test_of_equal_candidates_the_first_come_first(restored, n_kinds, top):
    """Also where equal candidates are many, or some of them are left out."""
    kinds = np.random.default_rng(3).dirichlet(np.ones(K), n_kinds).astype(np.float32)
    doc_topic = kinds[np.random.default_rng(4).permutation(N_OLD) % n_kinds]
    restored.samples_ = [replace(sample, doc_topic=doc_topic) for sample in restored.samples_]
    order = best(on_average(restored, NEW, "both"), top)
    np.testing.assert_array_equal(restored.suggest_links(NEW, top=top).id, NETWORK.ids[order.ravel()])
    assert len(np.unique(doc_topic[order[0, :3]], axis=0)) == 1


def test_suggestions_of_links_that_are_all_but_certain(restored):
    """Probabilities above 1 - 2e-8 are 1 in single precision, and must be told apart none the less."""
    share = np.linspace(0, 1, N_OLD, dtype=np.float32)  # of topic 0: the last document is the best
    doc_topic = np.column_stack([share, 1 - share, 0 * share])
    weights = np.array([[24.0, 18.0, 18.0]] * 3)
    restored.samples_ = [replace(described(restored)[0], doc_topic=doc_topic, weights=weights)]
    expected = by_sample(restored, NEW, "out").mean(axis=0)
    np.testing.assert_array_equal(best(expected, 5), [np.arange(N_OLD)[:-6:-1]] * 9)
    found = restored.suggest_links(NEW, top=5, direction="out")
    np.testing.assert_array_equal(found.id, NETWORK.ids[best(expected, 5).ravel()])


def spied(monkeypatch, model, cells):
    """Return how many documents each block of suggestions has, and how many numbers it holds of all candidates."""
    monkeypatch.setattr(linktopics.prediction.predictor, "PAIR_BLOCK_CELLS", cells)
    blocks, original = [], ExactSearch._absent

    def spy(self, new, rows, by_column):
        result, error = original(self, new, rows, by_column)
        distinct = {id(values): values.size for columns in by_column.values() for values in columns.values()}
        blocks.append((rows.stop - rows.start, result.size + sum(distinct.values())))
        return result, error

    monkeypatch.setattr(ExactSearch, "_absent", spy)
    model.suggest_links(NEW, top=2)
    assert sum(n for n, _ in blocks) == len(NEW)
    return blocks


@pytest.mark.parametrize("rows", [1, 2, 4])
def test_suggestions_are_made_in_blocks(each_restored, monkeypatch, rows):
    width = each_restored.predictor.exact.width
    blocks = spied(monkeypatch, each_restored, rows * width)
    assert max(n for n, _ in blocks) == rows
    assert all(size <= rows * width for _, size in blocks)


def test_a_block_is_never_less_than_a_document(each_restored, monkeypatch):
    assert [n for n, _ in spied(monkeypatch, each_restored, 1)] == [1] * len(NEW)


def test_shortlists_are_scored_in_blocks(plain, monkeypatch):
    """The topics of candidates are K times as large as their probabilities, and a shortlist may be long."""
    monkeypatch.setattr(linktopics.prediction.predictor, "PAIR_BLOCK_CELLS", 500)
    sizes, original = [], linktopics.prediction.predictor.pair_probabilities

    def spy(loss, sample, shares, pairs):
        sizes.append(len(pairs.rows))
        return original(loss, sample, shares, pairs)

    monkeypatch.setattr(linktopics.prediction.predictor, "pair_probabilities", spy)
    plain.suggest_links(NEW, top=N_OLD)
    n_picked = N_OLD  # intervals are of what is returned, however much was asked for
    assert max(size for size in sizes if size != n_picked) * K <= 500


def test_predictions_are_made_in_blocks(featured, monkeypatch):
    """There are several features for each pair, in each direction; a block holds them all."""
    n_columns, shapes, original, block = len(featured.feature_names_), [], Predictor.uncalibrated, FeatureSet.block
    made = []

    def spy(self, new, rows, chosen, directions):
        made.clear()
        result = original(self, new, rows, chosen, directions)
        shapes.append(result["out"].size + sum(made))
        return result

    def spy_block(*arguments):
        values = block(*arguments)
        made.append(values.size)
        return values

    monkeypatch.setattr(Predictor, "uncalibrated", spy)
    monkeypatch.setattr(FeatureSet, "block", spy_block)
    cells = 4 * N_OLD * (1 + 2 * n_columns)
    monkeypatch.setattr(linktopics.prediction.predictor, "PAIR_BLOCK_CELLS", cells)
    featured.predict_links(NEW)
    assert 0 < max(shapes) <= cells
    assert made


# --- the exact search -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_first_ranking_is_as_exact_as_it_says(model, direction):
    """Errors of single precision stay below their bound, and shortlists are short."""
    predictor = model.predictor
    new = predictor.new_documents(Documents(csr_array(NEW)), direction)
    search, directions, rows = predictor.exact, predictor.directions(direction), slice(0, len(NEW))
    found, error = search._absent(new, rows, search._by_column(new, rows, directions))
    q = np.array([1 - by_sample(model, NEW, one).mean(axis=0) for one in directions])
    bound = q * (1 - q) * error[:, None] + 1e-6 * q + 1e-15
    assert found.dtype == np.float32
    assert (np.abs(found - q) <= bound).all()
    assert (error < 0.01).all()
    q = q.prod(axis=0)
    as_good = q <= np.sort(q, axis=1)[:, [4]] + 1e-12  # equals, of which there may be many, are all in
    assert len(search.shortlist(new, rows, directions, 5).rows) < as_good.sum() + 2 * 5 * len(NEW)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("shift", "factor"), [(0, 1), (0, 30), (60, 10), (-60, 10), (400, 100)])
def test_shortlists_leave_out_none_of_the_best(restored, monkeypatch, direction, shift, factor):
    """Also where single precision can hardly tell candidates apart, or not at all."""
    restored.samples_ = [replace(sample, weights=shift + factor * sample.weights) for sample in restored.samples_]
    found = restored.suggest_links(NEW, top=4, direction=direction)
    monkeypatch.setattr(ExactSearch, "not_worse", lambda self, absent, top, error: np.arange(absent.shape[1]))
    pd.testing.assert_frame_equal(found, restored.suggest_links(NEW, top=4, direction=direction))


CURVES = {
    "alike": (Curve((-2.0, 0.0), (0.8, 0.5, 0.3), -3.0), Curve((-2.0, 0.0), (0.8, 0.5, 0.3), -3.0), 0.3),
    "other curves": (Curve((-2.0, 0.0), (1.5, 0.1, 1.2), -1.0), Curve((-1.0, 0.5), (0.1, 2.0, 0.4), -4.0), 0.7),
    "nearly flat": (Curve((0.0,), (0.02, 0.02), 0.0), Curve((0.0,), (0.02, 0.02), 0.5), 0.0),
    "one says nothing": (Curve((0.0,), (1.0, 1.0), -2.0), Curve((0.0,), (0.02, 0.02), -12.0), 0.0),
    "only the larger": (Curve((0.0,), (0.5, 0.9), -1.0), Curve((0.0,), (0.9, 0.5), -1.0), 1.0),
}


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize(("shift", "factor"), [(0, 1), (0, 30), (60, 10), (-60, 10)])
def test_links_either_way_are_ranked_by_the_probability_that_is_shown(plain, monkeypatch, name, shift, factor):
    """Which is no function of one number of the pair: each direction has a curve of its own."""
    out, into, reciprocity = CURVES[name]
    samples = [replace(sample, weights=shift + factor * sample.weights) for sample in plain.samples_]
    calibration = LinkCalibration(-1.0, {"out": out, "in": into}, 10, 60, reciprocity)
    predictor = replace(plain.predictor, samples=samples, calibration=calibration)
    documents = Documents(csr_array(NEW))
    found = predictor.suggest(documents, 6, "both", 0.9)
    assert (found.groupby("document").probability.diff().dropna() <= 0).all()
    probability = predictor.predict(documents, None, "both")
    np.testing.assert_allclose(found.probability, -np.sort(-probability, axis=1)[:, :6].ravel(), rtol=1e-9)
    if (shift, factor) == (0, 1):
        sizes = predictor.exact.shortlist(
            predictor.new_documents(documents, "both"), slice(0, 9), ["out", "in"], 6
        ).rows
        assert len(sizes) < N_OLD * 9 / 3  # most candidates are left out
    monkeypatch.setattr(ExactSearch, "not_worse", lambda self, absent, top, error: np.arange(absent.shape[1]))
    pd.testing.assert_frame_equal(found, predictor.suggest(documents, 6, "both", 0.9))


def test_answers_are_kept_only_for_the_samples_they_are_of(restored):
    kept = restored.predictor
    assert restored.predictor is kept
    restored.samples_ = restored.samples_[:2]
    assert restored.predictor is not kept
    assert restored.predictor.samples is restored.samples_
