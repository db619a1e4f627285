"""Probabilities for the network from those of the pairs trained on: the formula, the curve, and what is measured."""

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from linktopics import DocumentNetwork, RelationalTopicModel, datasets
from linktopics.errors import ModelError
from linktopics.model import training
from linktopics.network.pairs import links_between
from linktopics.prediction.calibration import (
    MIN_SLOPE,
    Curve,
    HeldOutPairs,
    LinkCalibration,
    either_direction,
    fit_curve,
    fit_curves,
    fit_reciprocity,
    log_odds,
    n_documents_to_hold_out,
    prevalences,
    sampling_offset,
)
from support.changed_models import seal
from support.marks import some_long
from support.small_models import assert_same, small_model, small_network

SHORT = {"n_topics": 4, "n_burn_in": 60, "n_samples": 4, "thin": 5, "n_chains": 2, "random_state": 0, "n_jobs": 2}


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
    assert min(fit_curve(pairs, 0.05).slopes) >= MIN_SLOPE


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
    offset = sampling_offset(cost, 1.0, n_links=n_links, n_sampled=n_sampled, n_unlinked=n - n_links)
    corrected = LinkCalibration(offset).probability(own, "out")
    assert own.sum() > 10 * n_links
    assert corrected.sum() == pytest.approx(n_links, rel=0.05)
    np.testing.assert_allclose(corrected, expit(x), rtol=0.3)


@pytest.mark.parametrize(("n_links", "n_sampled", "n_unlinked"), [(0, 5, 5), (5, 0, 5), (5, 0, 0)])
def test_nothing_is_corrected_where_nothing_was_sampled(n_links, n_sampled, n_unlinked):
    assert sampling_offset(4.0, 1.0, n_links=n_links, n_sampled=n_sampled, n_unlinked=n_unlinked) == 0.0


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


def test_small_networks_hold_nothing_out():
    assert n_documents_to_hold_out(small_network()) == 0
    assert n_documents_to_hold_out(small_network(links=[])) == 0
    found = small_model().fit(small_network()).calibration_
    assert found.curves == {}
    assert found.offset < 0


# --- links in either direction ----------------------------------------------------------------------------------------

PROBABILITIES = st.floats(0.0, 1.0)


@given(st.lists(st.tuples(PROBABILITIES, PROBABILITIES), min_size=1), PROBABILITIES)
def test_either_way_is_between_the_larger_and_the_sum(pairs, reciprocity):
    """To the last bit, and never above 1; it does not matter which is which."""
    out, into = np.array(pairs).T
    both = either_direction(out, into, reciprocity)
    assert (np.maximum(out, into) <= both).all()
    assert (both <= np.minimum(out + into, 1.0)).all()
    np.testing.assert_array_equal(both, either_direction(into, out, reciprocity))


@st.composite
def calibrations(draw):
    """Return any calibration that could be fitted."""
    curves = {}
    for direction in draw(st.sampled_from([(), ("out",), ("out", "in")])):
        knots = np.cumsum([draw(st.floats(-20, 20)), *draw(st.lists(st.floats(0.01, 5), max_size=5))])
        slopes = draw(st.lists(st.floats(MIN_SLOPE, 5), min_size=len(knots) + 1, max_size=len(knots) + 1))
        curves[direction] = Curve(tuple(knots.tolist()), tuple(slopes), draw(st.floats(-20, 5)))
    return LinkCalibration(draw(st.floats(-15, 5)), curves, 10, 60, draw(PROBABILITIES))


@given(calibrations(), st.lists(st.tuples(PROBABILITIES, PROBABILITIES), min_size=1))
def test_either_way_keeps_its_bounds_whatever_the_calibration(calibration, pairs):
    out, into = np.array(pairs).T
    both = calibration.of_pairs({"out": out, "in": into})
    one, two = calibration.probability(out, "out"), calibration.probability(into, "in")
    assert (np.maximum(one, two) <= both).all()
    assert (both <= np.minimum(one + two, 1.0)).all()


@given(calibrations(), st.lists(PROBABILITIES, min_size=2))
def test_either_way_rises_with_each_direction(calibration, given):
    """What the exact search takes for granted, but for rounding."""
    own = np.sort(np.array(given))
    table = calibration.of_pairs({"out": own[:, None], "in": own[None, :]})
    assert (np.diff(table, axis=0) >= -1e-15).all()
    assert (np.diff(table, axis=1) >= -1e-15).all()


@given(calibrations(), st.floats(0.0, 1 - 1e-9))
def test_own_probabilities_from_those_in_the_network(calibration, own):
    """Nearer to 1 a double rounds log-odds so much that a flat curve shows it."""
    for direction in ("out", "in"):
        probability = calibration.probability(np.array([own]), direction)
        there_and_back = calibration.probability(calibration.inverse(probability, direction), direction)
        np.testing.assert_allclose(there_and_back, probability, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("reciprocity", [0.0, 0.4, 1.0])
def test_reciprocity_is_found_again(reciprocity):
    rng = np.random.default_rng(0)
    out, into = expit(rng.normal(-3.0, 2.0, (2, 300_000)))
    mutual = (1 - reciprocity) * out * into + reciprocity * np.minimum(out, into)
    linked = (rng.random(len(out)) < mutual).mean()
    found = fit_reciprocity(zip(np.split(out, 3), np.split(into, 3), strict=True), linked)
    assert found == pytest.approx(reciprocity, abs=0.03)
    assert fit_reciprocity([(out, into)], 0.0) == 0.0
    assert fit_reciprocity([(np.ones(3), np.ones(3))], 1.0) == 0.0


def test_where_one_direction_has_few_links_both_have_one_curve():
    rng = np.random.default_rng(0)
    found = {"out": HeldOutPairs(), "in": HeldOutPairs()}
    for pairs, n in zip(found.values(), (40, 30), strict=True):
        pairs.add(np.concatenate([rng.normal(-2, 1, n), rng.normal(-6, 1, 1000)]), np.arange(n + 1000) < n)
    curves = fit_curves(found, 0.03)
    assert curves["out"] == curves["in"]
    alone = fit_curves({"out": found["out"]}, 0.03)
    assert alone == {}
    for pairs in found.values():
        pairs.add(rng.normal(-2, 1, 60), np.ones(60, bool))
    curves = fit_curves(found, 0.03)
    assert curves["out"] != curves["in"]


def assert_either_way(model, documents):
    """Check links either way of all candidates, and of those that are suggested."""
    out, into, both = (model.predict_links(documents, direction=direction) for direction in ("out", "in", "both"))
    assert (both >= np.maximum(out, into) * (1 - 1e-12)).all()
    assert (both <= (out + into) * (1 + 1e-12)).all()
    table = model.suggest_links(documents, top=10)
    at = table["document"].to_numpy(), np.array([model.network_.index_of(id) for id in table["id"]])
    np.testing.assert_allclose(table["probability"], both[at], rtol=1e-9)
    assert (table.groupby("document")["probability"].diff().dropna() <= 0).all()
    np.testing.assert_allclose(table["probability"], -np.sort(-both, axis=1)[:, :10].ravel(), rtol=1e-9)


@pytest.mark.parametrize("calibration", ["sampling", None])
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_links_either_way_of_small_networks(calibration, loss):
    model = small_model(calibration=calibration, loss=loss).fit(small_network())
    assert_either_way(model, small_network().without_links())


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
    assert set(found.curves) == {"out", "in"}
    for direction, links in (("out", out), ("in", into), ("both", out + into)):
        probability = model.predict_links(documents, direction=direction)
        assert 0.7 < probability.sum() / links.nnz < 1.4
        # Also among those with the highest probabilities, of which the model's own are far too sure.
        own = expit(model.predict_links(documents, direction=direction, raw=True))
        best = np.argsort(-probability, axis=None)[: links.nnz]
        linked = links.toarray().ravel()[best].sum()
        assert 0.7 < probability.ravel()[best].sum() / linked < 1.4
        assert own.ravel()[best].sum() / linked > 1.6


@pytest.mark.parametrize("direction", ["out", "in"])
def test_the_order_of_a_direction_is_that_of_raw_scores(world, model, direction):
    network, _, new = world
    documents = network.subset(new[:20]).without_links()
    raw = model.predict_links(documents, direction=direction, raw=True).ravel()
    probability = model.predict_links(documents, direction=direction).ravel()
    order = np.argsort(raw)
    assert (np.diff(probability[order]) >= 0).all()
    assert len(np.unique(probability)) > 0.99 * len(np.unique(raw))


def test_links_either_way_of_fitted_models(world, model):
    network, _, new = world
    assert_either_way(model, network.subset(new).without_links())


def test_reciprocity_is_that_of_the_network(world):
    """As many pairs link both ways as are expected to, in a network where half the links are returned."""
    network, known, new = world
    rng = np.random.default_rng(0)
    back = rng.random(network.n_links) < 0.5
    links = np.unique(np.concatenate([network.links, network.links[back, ::-1]]), axis=0)
    mutual = DocumentNetwork(network.counts, links.tolist())
    fitted = RelationalTopicModel(**SHORT).fit(mutual.subset(known))
    found, documents = fitted.calibration_, mutual.subset(new).without_links()
    assert 0.0 < found.reciprocity < 1.0
    out, into, both = (fitted.predict_links(documents, direction=direction) for direction in ("out", "in", "both"))
    linked_out, linked_in = links_between(mutual, new, known)
    n_mutual = linked_out.multiply(linked_in).nnz
    assert n_mutual > 100
    assert 0.7 < (out + into - both).sum() / n_mutual < 1.4


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
    known = model.predictor.training_pair_probabilities(links)
    own = LinkCalibration().probability(model.predictor.uncalibrated_for_training(links[:, 0], links[:, 1]), "out")
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
    "parameters",
    some_long(
        [{"directed": False}, {"loss": "hinge"}, {"n_shards": 2, "learn_alpha": "symmetric"}],
        [{"loss": "hinge"}, {"n_shards": 2, "learn_alpha": "symmetric"}],
    ),
)
def test_other_models_are_measured_too(parameters, world):
    network, known, new = world
    part = network.subset(known[:300])
    if parameters.get("directed") is False:
        part = part.to_undirected()
    model = RelationalTopicModel(**{**SHORT, "n_burn_in": 20, **parameters}).fit(part)
    assert set(model.calibration_.curves) == ({"out"} if not part.directed else {"out", "in"})
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

        patch.setattr(training, "calibrate", stopped)
        with pytest.raises(KeyboardInterrupt):
            RelationalTopicModel(**SHORT).fit(network.subset(known), checkpoint=tmp_path / "model")
    with pytest.raises(ModelError, match="not finished"):
        RelationalTopicModel.load(tmp_path / "model")
    resumed = RelationalTopicModel.load(tmp_path / "model", unfinished=True).resume(checkpoint=tmp_path / "model")
    assert resumed.calibration_ == model.calibration_
    assert_same(RelationalTopicModel.load(tmp_path / "model"), model)


def test_more_samples_are_measured_again(world):
    network, known, _ = world
    model = RelationalTopicModel(**{**SHORT, "n_burn_in": 10}).fit(network.subset(known[:300]))
    before = model.calibration_
    assert model.resume().calibration_ is before
    assert model.resume(n_samples=1).calibration_ != before


def test_the_same_seed_gives_the_same_curves(world):
    network, known, _ = world
    fits = [
        RelationalTopicModel(**{**SHORT, "n_burn_in": 5, "n_jobs": n}).fit(network.subset(known[:300])) for n in (1, 2)
    ]
    assert fits[0].calibration_ == fits[1].calibration_


# --- on disk ----------------------------------------------------------------------------------------------------------

GOOD = {"offset": -5.0, "curves": {"out": {"knots": [0.0, 1.0], "slopes": [1.0, 0.5, 1.0], "level": 0.0}}}
GOOD |= {"n_documents": 10, "n_links": 60, "reciprocity": 0.25}


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


@pytest.mark.parametrize("reciprocity", [-0.1, 1.1, float("nan")])
def test_reciprocity_is_between_0_and_1(reciprocity):
    with pytest.raises(ValueError, match="not between 0 and 1"):
        LinkCalibration.from_json({**GOOD, "reciprocity": reciprocity})


def test_models_of_before_have_a_curve_for_both_ways_and_no_reciprocity(model, tmp_path):
    """It maps other numbers, and is left out."""
    model.save(tmp_path / "model")

    def change(manifest):
        manifest["calibration"]["curves"]["both"] = manifest["calibration"]["curves"]["out"]
        del manifest["calibration"]["reciprocity"]

    seal(tmp_path / "model", change)
    loaded = RelationalTopicModel.load(tmp_path / "model")
    assert loaded.calibration_ == dataclasses.replace(model.calibration_, reciprocity=0.0)
    assert_either_way(loaded, model.network_.subset([0, 1]).without_links())
