"""Probabilities for the network from those of the pairs trained on: the formula, the curve, and what is measured."""

import json

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from linktopics import RelationalTopicModel, datasets
from linktopics.calibration import (
    FLATTEST,
    Curve,
    HeldOutPairs,
    LinkCalibration,
    fit_curve,
    log_odds,
    n_documents_to_hold_out,
    prevalences,
    sampling_offset,
    way_name,
)
from linktopics.errors import ModelError
from linktopics.pairs import links_between
from linktopics.sampler import Settings
from small_models import assert_same, small_model, small_network

SHORT = {"n_topics": 4, "n_iter": 60, "n_samples": 4, "thin": 5, "n_chains": 2, "random_state": 0, "n_jobs": 2}


# --- the curve --------------------------------------------------------------------------------------------------------


def test_a_curve_is_straight_between_its_knots():
    curve = Curve((-2.0, 0.0, 3.0), (2.0, 1.0, 0.5, 0.1), -5.0)
    np.testing.assert_allclose(curve([-3.0, -2.0, -1.0, 0.0, 3.0, 13.0]), [-7.0, -5.0, -4.0, -3.0, -1.5, -0.5])
    x = np.linspace(-50, 50, 1001)
    assert (np.diff(curve(x)) > 0).all()


def simulated(too_sure, n=200_000, seed=0):
    """Return pairs whose log-odds are what `too_sure` makes of the true ones."""
    rng, pairs = np.random.default_rng(seed), HeldOutPairs()
    truth = rng.normal(-4.0, 2.0, n)
    pairs.add(too_sure(truth), rng.random(n) < expit(truth))
    return truth, pairs


@pytest.mark.parametrize(
    "too_sure",
    [lambda x: x, lambda x: 2 * x + 3, lambda x: np.where(x < -2, x, 3 * x + 4), lambda x: x - 6],
    ids=["right", "twice", "bent", "shifted"],
)
def test_a_curve_undoes_what_was_done_to_log_odds(too_sure):
    truth, pairs = simulated(too_sure)
    curve = fit_curve(pairs, len(pairs.links) / len(truth))
    at = np.linspace(-6.0, 0.5, 9)
    np.testing.assert_allclose(curve(too_sure(at)), at, atol=0.3)
    assert expit(curve(too_sure(truth))).sum() == pytest.approx(len(pairs.links), rel=0.03)


def test_a_curve_always_rises():
    """Where links are the fewer the higher the score, the flattest curve is the best that keeps the order."""
    _, pairs = simulated(lambda x: -x)
    assert min(fit_curve(pairs, 0.05).slopes) >= FLATTEST


def test_few_links_leave_the_formula_nearly_as_it_is():
    pairs = HeldOutPairs()
    pairs.add(np.array([-3.0, -2.5, -5.0, -6.0, -4.0]), np.array([True, True, False, False, False]))
    slopes = np.array(fit_curve(pairs, 0.4).slopes)
    assert (np.abs(slopes - 1) < 0.7).all()


def test_the_level_is_that_of_the_whole_network():
    truth, pairs = simulated(lambda x: x)
    share = len(pairs.links) / len(truth)
    as_it_is, twice = fit_curve(pairs, share), fit_curve(pairs, 2 * share)
    np.testing.assert_allclose(twice.level - as_it_is.level, logit(2 * share) - logit(share))
    assert twice.slopes == as_it_is.slopes


# --- the formula ------------------------------------------------------------------------------------------------------


def test_the_correction_for_sampling():
    """A model that was trained on some non-links, at other costs, is right about all pairs after the correction."""
    rng = np.random.default_rng(0)
    n, cost, share = 200_000, 3.0, 0.05
    x = rng.normal(-5.0, 2.0, n)
    linked = rng.random(n) < expit(x)
    drawn = linked | (rng.random(n) < share)
    trained = LogisticRegression(C=1e6).fit(x[drawn, None], linked[drawn], np.where(linked, cost, 1.0)[drawn])
    own = trained.predict_proba(x[:, None])[:, 1]
    n_links, n_sampled = int(linked.sum()), int(drawn.sum() - linked.sum())
    offset = sampling_offset(Settings(2, link_cost=cost), n_links, n_sampled, n - n_links)
    corrected = LinkCalibration(offset).probability(own, "out")
    assert own.sum() > 10 * n_links
    assert corrected.sum() == pytest.approx(n_links, rel=0.05)
    np.testing.assert_allclose(corrected, expit(x), rtol=0.3)


@pytest.mark.parametrize("numbers", [(0, 5, 5), (5, 0, 5), (5, 0, 0)])
def test_nothing_is_corrected_where_nothing_was_sampled(numbers):
    assert sampling_offset(Settings(2), *numbers) == 0.0


def test_probabilities_that_are_certain_or_missing():
    found = LinkCalibration(-3.0, {"out": Curve((0.0,), (1.0, 0.5), 0.0)})
    values = found.probability(np.array([0.0, 1.0, np.nan]), "out")
    assert values[0] == pytest.approx(0.0, abs=1e-12)
    assert 0.9 < values[1] < 1
    assert np.isnan(values[2])
    assert np.isfinite(log_odds(np.array([0.0, 1.0]))).all()


def test_shares_of_linked_pairs():
    network = small_network()
    n, pairs = network.n_links, network.n_documents * (network.n_documents - 1)
    assert prevalences(network) == {"out": n / pairs, "in": n / pairs, "both": 2 * n / pairs}
    assert prevalences(network.to_undirected()) == {"out": 2 * n / pairs}


def test_names_of_ways():
    assert [way_name(ways) for ways in ([True, False], [True], [False])] == ["both", "out", "in"]


def test_small_networks_hold_nothing_out():
    assert n_documents_to_hold_out(small_network()) == 0
    assert n_documents_to_hold_out(small_network(links=[])) == 0
    found = small_model().fit(small_network()).calibration_
    assert found.curves == {}
    assert found.offset < 0


# --- fitted models ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def world():
    """Draw a network, and split it into documents to fit and new ones."""
    network = datasets.make_network(700, n_topics=4, n_words=120, random_state=3)
    return network, np.arange(500), np.arange(500, 700)


@pytest.fixture(scope="module")
def model(world):
    network, known, _ = world
    return RelationalTopicModel(**SHORT).fit(network.subset(known))


def test_probabilities_of_new_documents_add_up_to_their_links(world, model):
    network, known, new = world
    documents = network.subset(new).without_links()
    out, into = links_between(network, new, known)
    found = model.calibration_
    assert found.n_links >= 50
    assert set(found.curves) == {"out", "in", "both"}
    for direction, links in (("out", out), ("in", into), ("both", out + into)):
        probability = model.predict_links(documents, direction=direction)
        assert 0.7 < probability.sum() / links.nnz < 1.4
        # Also among those with the highest probabilities, of which the model's own are far too sure.
        own = expit(model.predict_links(documents, direction=direction, raw=True))
        best = np.argsort(-probability, axis=None)[: links.nnz]
        linked = links.toarray().ravel()[best].sum()
        assert 0.7 < probability.ravel()[best].sum() / linked < 1.4
        assert own.ravel()[best].sum() / linked > 1.6


def test_the_order_is_that_of_raw_scores(world, model):
    network, _, new = world
    documents = network.subset(new[:20]).without_links()
    raw, probability = model.predict_links(documents, raw=True).ravel(), model.predict_links(documents).ravel()
    order = np.argsort(raw)
    assert (np.diff(probability[order]) >= 0).all()
    assert len(np.unique(probability)) > 0.99 * len(np.unique(raw))


def test_suggestions_say_both(world, model):
    network, _, new = world
    documents = network.subset(new[:5]).without_links()
    table = model.suggest_links(documents, top=6)
    raw, probability = model.predict_links(documents, raw=True), model.predict_links(documents)
    at = table["document"].to_numpy(), np.array([model.network_.index_of(id) for id in table["id"]])
    np.testing.assert_allclose(table["score"], raw[at], rtol=1e-9)
    np.testing.assert_allclose(table["probability"], probability[at], rtol=1e-9)
    assert ((table["lower"] <= table["probability"]) & (table["probability"] <= table["upper"])).all()


def test_links_of_the_network_have_probabilities_of_the_same_kind(model):
    links = model.network_.links
    known = model._predictor.known(links)
    own = LinkCalibration().probability(model._predictor._as_new(*links.T), "out")
    np.testing.assert_allclose(known, model.calibration_.probability(own, "out"))


def test_calibration_leaves_the_chains_as_they_are(world, model):
    network, known, _ = world
    plain = RelationalTopicModel(**SHORT, calibration=None).fit(network.subset(known))
    np.testing.assert_array_equal(plain.log_joints_, model.log_joints_)
    np.testing.assert_array_equal(plain.link_weights_, model.link_weights_)
    assert plain.calibration_ == LinkCalibration()
    formula = RelationalTopicModel(**SHORT, calibration="sampling").fit(network.subset(known)).calibration_
    assert formula == LinkCalibration(model.calibration_.offset)


@pytest.mark.parametrize(
    "parameters", [{"directed": False}, {"loss": "hinge"}, {"n_shards": 2, "learn_alpha": "symmetric"}]
)
def test_other_models_are_measured_too(parameters, world):
    network, known, new = world
    part = network.subset(known[:300])
    if parameters.get("directed") is False:
        part = part.to_undirected()
    model = RelationalTopicModel(**{**SHORT, "n_iter": 20, **parameters}).fit(part)
    assert set(model.calibration_.curves) == ({"out"} if not part.directed else {"out", "in", "both"})
    probability = model.predict_links(network.subset(new).without_links())
    out, into = links_between(network, new, known[:300])
    assert 0.6 < probability.sum() / (out + into).nnz < 1.6


def test_it_is_kept_with_the_model(model, tmp_path):
    model.save(tmp_path / "model")
    loaded = RelationalTopicModel.load(tmp_path / "model")
    assert loaded.calibration_ == model.calibration_


def test_a_run_that_was_stopped_while_it_was_measured_goes_on(world, model, tmp_path, monkeypatch):
    network, known, _ = world
    with monkeypatch.context() as patch:

        def stopped(*_):
            raise KeyboardInterrupt

        patch.setattr(RelationalTopicModel, "_calibrated", stopped)
        with pytest.raises(KeyboardInterrupt):
            RelationalTopicModel(**SHORT).fit(network.subset(known), checkpoint=tmp_path / "model")
    with pytest.raises(ModelError, match="not finished"):
        RelationalTopicModel.load(tmp_path / "model")
    resumed = RelationalTopicModel.load(tmp_path / "model", unfinished=True).resume(checkpoint=tmp_path / "model")
    assert resumed.calibration_ == model.calibration_
    assert_same(RelationalTopicModel.load(tmp_path / "model"), model)


def test_more_samples_are_measured_again(world):
    network, known, _ = world
    model = RelationalTopicModel(**{**SHORT, "n_iter": 10}).fit(network.subset(known[:300]))
    before = model.calibration_
    assert model.resume().calibration_ is before
    assert model.resume(n_samples=1).calibration_ != before


def test_the_same_seed_gives_the_same_curves(world):
    network, known, _ = world
    fits = [
        RelationalTopicModel(**{**SHORT, "n_iter": 5, "n_jobs": n}).fit(network.subset(known[:300])) for n in (1, 2)
    ]
    assert fits[0].calibration_ == fits[1].calibration_


# --- on disk ----------------------------------------------------------------------------------------------------------

GOOD = {"offset": -5.0, "curves": {"out": {"knots": [0.0, 1.0], "slopes": [1.0, 0.5, 1.0], "level": 0.0}}}
GOOD |= {"n_documents": 10, "n_links": 60}


def test_there_and_back():
    found = LinkCalibration.from_json(json.loads(json.dumps(GOOD)))
    assert json.loads(json.dumps(found.to_json())) == GOOD


@pytest.mark.parametrize(
    "change",
    [
        {"slopes": [1.0, -0.5, 1.0]}, {"slopes": [1.0, 1.0]}, {"knots": [1.0, 0.0]}, {"knots": [], "slopes": [1.0]},
        {"level": float("nan")}, {"knots": [0.0, float("inf")]},
    ],
)  # fmt: skip
def test_curves_that_do_not_rise_are_refused(change):
    with pytest.raises(ValueError, match="does not rise"):
        LinkCalibration.from_json({**GOOD, "curves": {"out": {**GOOD["curves"]["out"], **change}}})
    with pytest.raises(ValueError, match="not finite"):
        LinkCalibration.from_json({**GOOD, "offset": float("inf")})
