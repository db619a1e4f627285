"""Chains that are stuck far below the others: which are, and that nothing that a model answers knows them."""

import warnings

import numpy as np
import pytest

import linktopics.model.run
from linktopics import DocumentNetwork, MixingWarning, RelationalTopicModel, plots
from linktopics.explorer.overview import describe_mixing
from linktopics.model import training
from linktopics.model.summary import mixing_advice
from linktopics.network.inputs import Documents
from linktopics.stuck_chains import StuckChain, named_chains, stuck_chains
from support.small_models import assert_same

RNG = np.random.default_rng(0)
AGREE = RNG.normal(-1000.0, 9.0, size=(8, 200))
"""Chains that have found the same place."""


def lower(draws, **by):
    """Return draws of which some chains are lower: _2=17 takes 17 from chain 2."""
    draws = draws.copy()
    for name, amount in by.items():
        draws[int(name[1:])] -= amount
    return draws


def numbers(draws):
    return [one.chain for one in stuck_chains(draws)]


class TestRule:
    def test_chains_that_agree(self):
        assert [numbers(AGREE[:n]) for n in range(1, 9)] == [[]] * 8

    @pytest.mark.parametrize("n", [3, 4, 8])
    def test_one_that_is_stuck(self, n):
        (one,) = stuck_chains(lower(AGREE[:n], _1=17))
        assert one.chain == 1
        assert one.below == pytest.approx(17, abs=2)
        assert one.limit == pytest.approx(1.5 * 9, rel=0.1)

    def test_less_than_its_own_width_is_not_stuck(self):
        assert numbers(lower(AGREE, _1=9)) == []

    def test_one_that_is_far_above_leaves_the_others_in(self):
        assert numbers(lower(AGREE[:4], _0=-60)) == []

    def test_several(self):
        assert numbers(lower(AGREE, _1=30, _6=200, _3=30)) == [1, 3, 6]

    def test_more_than_half_always_count(self):
        assert numbers(lower(AGREE[:2], _0=500)) == []
        assert numbers(lower(AGREE[:4], _0=500, _1=500)) == []
        assert numbers(lower(AGREE[:5], _0=500, _1=500, _2=500)) == []
        assert numbers(lower(AGREE, _0=500, _1=500, _2=500, _3=500)) == []

    def test_among_chains_in_different_places(self):
        """Chains of large networks differ by hundreds of nats and more; these are from the standard library."""
        means = -np.array([2653.2, 4866.6, 468.9, 1948.4, 1121.4, 1135.3, 144.9, 0.0])
        draws = 500 / 9 * (AGREE + 1000.0) + means[:, None]
        assert numbers(draws) == numbers(draws[[0, 2, 4, 6]]) == []
        assert numbers(lower(draws, _3=20_000)) == [3]
        assert numbers(lower(draws[[0, 2, 4, 6]], _0=100_000)) == [0]

    def test_the_size_of_the_data_does_not_matter(self):
        for draws in (lower(AGREE, _1=17), lower(AGREE, _1=9), lower(AGREE + 50 * np.arange(8)[:, None], _0=800)):
            assert numbers(1000 * draws) == numbers(draws)

    def test_false_alarms(self):
        """Fits of chains that are all alike, each in a place of its own: 0.5 % of 600 is 3, and 10 have p = 0.001."""
        rng = np.random.default_rng(1)
        alarms = 0
        for _ in range(600):
            means = rng.normal(0, 1000, size=(4, 1))
            alarms += bool(numbers(means + rng.normal(0, 10, size=(4, 20))))
        assert alarms <= 9

    def test_chains_that_stand_still(self):
        still = np.zeros((4, 10))
        assert numbers(still) == numbers(lower(still, _2=1e-9)) == []
        assert numbers(lower(still, _2=5)) == [2]

    def test_too_little_to_tell(self):
        assert numbers(lower(AGREE[:4, :3], _1=100)) == []
        assert numbers(np.full((4, 20), np.nan)) == []
        assert stuck_chains(np.empty((4, 0))) == []

    def test_names(self):
        assert [named_chains([0]), named_chains([0, 1]), named_chains([0, 3, 4])] == [
            "chain 1",
            "chains 1 and 2",
            "chains 1, 4 and 5",
        ]


def themes():
    """Return documents of four themes; they are long, so that a topic of two themes hardly divides any more."""
    rng = np.random.default_rng(0)
    theme = np.arange(40) % 4
    words = np.where(np.arange(24) // 6 == np.arange(4)[:, None], 1.0, 0.02)
    counts = np.stack([rng.multinomial(150, words[k] / words[k].sum()) for k in theme])
    alike = [(i, j) for i in range(40) for j in range(40) if i != j and theme[i] == theme[j]]
    links = [pair for pair in alike if rng.random() < 0.2]
    return DocumentNetwork(counts, links, vocabulary=[f"w{word}" for word in range(24)], link_ends="indices")


NETWORK = themes()
STUCK = 1
"""The chain of the model that has two themes in one topic and one theme in two, from its first sweeps to its last."""


def make_model(**changes):
    settings = {"alpha": 0.5, "n_burn_in": 60, "n_samples": 5, "thin": 8, "pair_features": None, "negatives": 2}
    return RelationalTopicModel(4, **{**settings, "n_chains": 4, "random_state": 2, "verbose": False, **changes})


@pytest.fixture(scope="module")
def model():
    with pytest.warns(MixingWarning, match=r"^Chain 2 is stuck and left out .* mean log joint is 1,7") as told:
        fitted = make_model().fit(NETWORK)
    assert len(told) == 1
    return fitted


def test_it_is_left_out_of_all_answers(model):
    """What is asked of the model is what is asked of one that never had the chain."""
    assert list(model.left_out_chains_) == [STUCK]
    assert model.left_out_chains_[STUCK] > 1000
    assert {sample.chain for sample in model.samples_} == {0, 2, 3}
    assert model.best_chain_ != STUCK
    assert model.trace_["log joint"].shape[0] == 4
    others = [sample for chain in model._run.chains if chain.number != STUCK for sample in chain.samples]
    assert [*map(id, model.predictor.samples)] == [*map(id, others)]
    alone = model._run.make_predictor(others, model.best_chain_)
    new = Documents.of(NETWORK.subset(range(3)).without_links())
    np.testing.assert_array_equal(model.predict_links(NETWORK.counts[:3]), alone.predict(new, None, "both"))


def test_it_is_kept(model, tmp_path):
    """The chain is on disk, goes on with the others, and is left out again after loading."""
    model.save(tmp_path / "model")
    loaded = RelationalTopicModel.load(tmp_path / "model")
    assert_same(loaded, model)
    assert [len(chain.samples) for chain in loaded._run.chains] == [5] * 4
    longer = [one.resume(n_samples=5) for one in (loaded, make_model().fit(NETWORK))]
    assert_same(*longer)
    assert {sample.chain for sample in longer[0].samples_} == {0, 2, 3}
    assert len(longer[0].samples_) == 30


def test_calibration_goes_on_without_it(monkeypatch):
    went_on, change = [], training.warm_started_run

    def changed(parameters, old, chains, *args):
        went_on.append([chain.number for chain in chains])
        return change(parameters, old, chains, *args)

    monkeypatch.setattr(training, "warm_started_run", changed)
    monkeypatch.setattr(training, "n_documents_to_hold_out", lambda _: 8)  # so few would not be by itself
    make_model().fit(NETWORK)
    assert went_on == [[0, 2, 3]]


def test_it_is_told(model):
    text = " ".join(model.summary_text().split())
    assert "15 samples without chain 2, left out as stuck" in text
    assert "Chain 2 is stuck and left out of predictions: after the burn-in its mean log joint is 1,7" in text
    assert text.count("left out") == 2
    assert describe_mixing(model)["verdict"] == mixing_advice(model)
    assert [line.get_label() for line in plots.trace(model).lines][STUCK] == "chain 2, left out"


def test_diagnostics_are_those_of_the_others(model):
    assert model.diagnostics()["sd"]["log joint"] < 100 < model.trace_["log joint"][:, 60:].std()


def test_it_can_be_silenced_and_nothing_else_is_told():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=MixingWarning)
        make_model(calibration=None).fit(NETWORK)


def test_the_chain_that_is_described_stays(model, monkeypatch):
    """Topics keep their numbers when a network is extended, so that its chain is never left out."""
    extended = make_model().fit(NETWORK)
    best = extended.best_chain_
    monkeypatch.setattr(
        linktopics.model.run, "stuck_chains", lambda _: [StuckChain(best, 90.0, 5.0), StuckChain(STUCK, 90.0, 5.0)]
    )
    extended.extend(NETWORK, n_burn_in=5)
    assert extended.best_chain_ == best
    assert list(extended.left_out_chains_) == [STUCK]
    assert best in {sample.chain for sample in extended.samples_}


def test_two_chains_cannot_tell():
    with pytest.warns(MixingWarning, match="Predictions average over both chains; if one of them is stuck, two"):
        fitted = make_model(n_chains=2, calibration=None).fit(NETWORK)
    assert fitted.left_out_chains_ == {}
    assert {sample.chain for sample in fitted.samples_} == {0, 1}
