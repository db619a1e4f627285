"""Probabilities and topics of new documents, against slow definitions."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import linktopics.prediction.predictor
from linktopics import DocumentNetwork
from support.two_groups import DIRECTIONS, N_OLD, NETWORK, NEW, on_average

# --- links ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_predict_links(model, direction):
    assert len({sample.chain for sample in model.samples_}) == 2
    expected = on_average(model, NEW, direction)
    np.testing.assert_allclose(model.predict_links(NEW, direction=direction), expected, rtol=1e-9)
    chosen = np.random.default_rng(2).permutation(N_OLD)[:17]
    found = model.predict_links(NEW, candidates=NETWORK.ids[chosen].tolist(), direction=direction)
    np.testing.assert_allclose(found, expected[:, chosen], rtol=1e-9)


def test_direction_matters_where_there_is_one(model):
    out, into, both = (model.predict_links(NEW, direction=direction) for direction in ("out", "in", "both"))
    if not model.network_.directed:
        np.testing.assert_array_equal(out, into)
        np.testing.assert_array_equal(out, both)
        return
    assert (both > np.maximum(out, into)).all()
    same = model.weights == "diagonal" and model.pair_features is None  # degrees in and out differ
    assert np.allclose(out, into) == same


@pytest.mark.parametrize("cells", [1, 300, N_OLD * 9])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_blocks_and_jobs_change_nothing(each_restored, monkeypatch, cells, n_jobs):
    model = each_restored
    links, words = model.predict_links(NEW), model.word_probabilities([["d0"], ["d1", "d2"]])
    topics, suggestions = model.transform(NEW), model.suggest_links(NEW)
    model.set_params(n_jobs=n_jobs)
    np.testing.assert_array_equal(model.word_probabilities([["d0"], ["d1", "d2"]]), words)
    monkeypatch.setattr(linktopics.prediction.predictor, "PAIR_BLOCK_CELLS", cells)
    np.testing.assert_array_equal(model.transform(NEW), topics)
    np.testing.assert_allclose(model.predict_links(NEW), links, rtol=1e-12)
    pd.testing.assert_frame_equal(model.suggest_links(NEW), suggestions, rtol=1e-12)


# --- topics -----------------------------------------------------------------------------------------------------------


def test_transform(each_restored):
    restored = each_restored
    topics = restored.transform(NEW)
    np.testing.assert_allclose(topics.sum(axis=1), 1, rtol=1e-12)
    for jobs in (1, 2, 7):
        restored.set_params(n_jobs=jobs)
        np.testing.assert_array_equal(restored.transform(NEW[::-1])[::-1], topics)
    np.testing.assert_array_equal(restored.transform(NEW[[4]])[0], topics[4])
    texts = [" ".join(np.repeat(NETWORK.vocabulary, row)) for row in NEW]
    for same in (texts, csr_array(NEW), DocumentNetwork(NEW, vocabulary=NETWORK.vocabulary)):
        np.testing.assert_array_equal(restored.transform(same), topics)
    np.testing.assert_array_equal(restored.transform(texts[4])[0], topics[4])
    words = np.mean([np.abs(restored.transform(np.eye(10, dtype=int)[[w]] * 50) - topics).sum() for w in (0, 9)])
    assert words > 0.1, "topics depend on the words"
