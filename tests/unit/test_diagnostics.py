"""R-hat and effective sample size against arviz, the table, its verdict, and the way to arviz.

Seen to fail once against broken versions: no split, no folding, no ranks, ranks without Blom's offsets, the second half
a draw early, Geyer's sums not made to fall, the last term left out, variances with the other ddof, R-hat of the worst
quantity instead of the log joint in the verdict, limits per chain not multiplied.
"""

import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.signal import lfilter

from linktopics.diagnostics import effective_sample_size, mixing_table, mixing_verdict, r_hat, to_inference_data


def make_draws(shape=(4, 100), memory=0.0, apart=0.0):
    """Make draws that look random and are the same everywhere: no library's random numbers are in them."""
    noise = np.sin(0.37 * np.arange(1.0, np.prod(shape) + 1) ** 2).reshape(shape)
    return lfilter([1.0], [1.0, -memory], noise, axis=1) + apart * np.arange(shape[0])[:, None]


def wide():
    return make_draws() * [[1], [1], [1], [3]]


CASES = {
    "independent": make_draws(),
    "slow": make_draws(memory=0.9),
    "alternating": make_draws(memory=-0.6),
    "apart": make_draws(memory=0.5, apart=0.5),
    "seven draws": make_draws((2, 7)),
    "four draws": make_draws((3, 4)),
    "ten draws": make_draws((3, 10)),  # the last autocorrelation that counts is negative
    "random walk": make_draws((3, 51), memory=1.0),
    "one chain wider": wide(),
    "ties": np.round(2 * make_draws(memory=0.5)),
}
# arviz.rhat(draws, method="rank") and arviz.ess(draws, method="bulk") of arviz 0.23.4; 1.3.0 gives the same.
ARVIZ = {
    "independent": (1.00400549145, 387.081295663),
    "slow": (1.1159715257, 32.1549210806),
    "alternating": (0.992617182608, 1040.82399653),
    "apart": (1.1943827387, 16.1928903777),
    "seven draws": (1.425344918, 12.9501749526),
    "four draws": (1.79929694878, 12.9501749526),
    "ten draws": (1.09591664428802, 24.749986372349),
    "random walk": (2.16499964258, 4.32805992437),
    "one chain wider": (1.2059692795536, 392.73989500606),
    "ties": (1.0117729009857, 126.54607954576),
}


class TestNumbers:
    @pytest.mark.parametrize("name", CASES)
    def test_as_arviz_said(self, name):
        found = r_hat(CASES[name]), effective_sample_size(CASES[name])
        assert found == pytest.approx(ARVIZ[name], rel=1e-9)

    @pytest.mark.filterwarnings("ignore::FutureWarning")
    @pytest.mark.filterwarnings("ignore::RuntimeWarning")  # arviz divides by zero where chains stand still
    def test_as_arviz_says(self):
        arviz = pytest.importorskip("arviz", reason="compares with arviz where it is installed")
        rng = np.random.default_rng(0)
        for trial in range(40):
            shape = rng.integers(2, 6), rng.integers(4, [12, 200][trial % 2])
            draws = lfilter([1.0], [1.0, -rng.choice([0, 0.5, 0.95, -0.9])], rng.normal(size=shape), axis=1)
            draws += rng.choice([0.0, 2.0]) * rng.normal(size=(len(draws), 1))
            for values in (draws, np.round(draws), -1e6 + 100 * draws, (draws > 0) * 1.0, np.zeros(shape)):
                np.testing.assert_allclose(r_hat(values), arviz.rhat(values, method="rank"), rtol=1e-9)
                for some in (values, values[:1]):
                    expected = arviz.ess(some, method="bulk")
                    np.testing.assert_allclose(effective_sample_size(some), expected, rtol=1e-9)

    def test_one_chain_is_compared_with_itself(self):
        draws = make_draws((1, 200), memory=0.5)
        drifting = draws + np.linspace(0, 8, 200)
        assert r_hat(draws) < 1.05
        assert r_hat(drifting) > 1.5
        assert r_hat(drifting[0]) == r_hat(drifting)
        assert effective_sample_size(drifting[0]) == effective_sample_size(drifting) < 20

    def test_ranks_alone_count(self):
        draws = make_draws(memory=0.8)
        assert effective_sample_size(np.exp(draws)) == pytest.approx(effective_sample_size(draws))
        # Folding is not monotone, so R-hat keeps its value under changes of scale and place only.
        assert r_hat(5 - 3 * draws) == pytest.approx(r_hat(draws))

    @pytest.mark.parametrize("shape", [(4, 50), (1, 51)])
    def test_draws_that_never_change(self, shape):
        draws = np.full(shape, -1234.567)
        assert np.isnan(r_hat(draws))
        assert effective_sample_size(draws) == shape[0] * 50

    def test_chains_that_stand_still_apart(self):
        draws = np.repeat([[1.0], [2.0], [3.0]], 50, axis=1)
        assert r_hat(draws) > 1e6
        assert 3 <= effective_sample_size(draws) < 4

    def test_two_values_that_folding_makes_one(self):
        draws = np.tile([0.0, 1.0], (2, 50))
        assert r_hat(draws) == pytest.approx(1.0, abs=0.02)

    @pytest.mark.parametrize("draws", [make_draws((4, 3)), np.empty((2, 0)), [1.0, 2.0], [[1.0, 2.0, np.nan, 3.0]]])
    def test_what_cannot_be_told(self, draws):
        assert np.isnan(r_hat(draws))
        assert np.isnan(effective_sample_size(draws))

    def test_draws_that_are_no_matrix(self):
        with pytest.raises(ValueError, match=r"draws has the shape \(2, 3, 4\); it must be a matrix of chains x draws"):
            r_hat(np.zeros((2, 3, 4)))


class TestTable:
    def test_columns(self):
        table = mixing_table(CASES)
        assert table.columns.tolist() == ["mean", "sd", "r_hat", "ess"]
        assert table.index.tolist() == list(CASES)
        assert table.index.name == "quantity"
        draws = CASES["apart"]
        expected = [draws.mean(), draws.ravel().std(ddof=1), *ARVIZ["apart"]]
        np.testing.assert_allclose(table.loc["apart"], expected, rtol=1e-9)

    @pytest.mark.filterwarnings("error")
    def test_too_little_to_tell(self):
        table = mixing_table({"one": [[3.0]], "none": np.empty((2, 0)), "still": np.ones((2, 9))})
        nan = np.nan
        np.testing.assert_array_equal(table, [[3, nan, nan, nan], [nan, nan, nan, nan], [1, 0, nan, 16]])
        assert mixing_table({}).shape == (0, 4)

    def test_the_name_is_in_the_error(self):
        with pytest.raises(ValueError, match=r"weight norm has the shape \(1, 1, 1\)"):
            mixing_table({"weight norm": [[[1.0]]]})


def table_of(**rows):
    """Make a table from (R-hat, ESS) of each quantity."""
    index = [name.replace("_", " ") for name in rows]
    return pd.DataFrame([(0.0, 1.0, *row) for row in rows.values()], index, ["mean", "sd", "r_hat", "ess"])


class TestVerdict:
    @pytest.mark.parametrize(
        ("table", "n_chains"),
        [
            (table_of(log_joint=(1.09, 40.0), weight_norm=(1.0, 400.0)), 4),
            (table_of(log_joint=(1.0, 10.0)), 1),
            (table_of(log_joint=(1.0, 50.0), still=(np.nan, 400.0)), 4),
            (table_of(), 4),
        ],
    )
    def test_nothing_to_say(self, table, n_chains):
        assert mixing_verdict(table, n_chains) is None

    def test_chains_that_disagree(self):
        table = table_of(weight_norm=(1.8, 6.0), log_joint=(1.43, 9.0), weight_trace=(1.2, 20.0), entropy=(1.0, 300.0))
        verdict = mixing_verdict(table, 4)
        start = (
            "The 4 chains do not agree on the log joint (R-hat 1.43) and 2 other quantities (worst: weight norm, 1.80)."
        )
        assert verdict.startswith(start)
        assert "model.resume(n_burn_in=500), or linktopics resume MODEL --burn-in 500" in verdict
        assert "Predictions average over all chains" in verdict
        assert "best chain" in verdict

    def test_the_log_joint_agrees_and_another_does_not(self):
        table = table_of(log_joint=(1.0, 400.0), weight_norm=(1.2, 30.0), weight_trace=(1.3, 20.0))
        start = "The 4 chains do not agree on the weight trace (R-hat 1.30) and the weight norm (1.20)."
        assert mixing_verdict(table, 4).startswith(start)

    @pytest.mark.parametrize(("memory", "moving"), [(0.0, False), (1.0, True)])
    def test_steady_chains_are_told_from_moving_ones(self, memory, moving):
        trace = {"log joint": make_draws((4, 200), memory=memory, apart=10.0), "weight norm": make_draws((4, 200))}
        verdict = mixing_verdict(mixing_table(trace), 4, trace)
        assert ("They are still moving" in verdict) == ("model.resume" in verdict) == moving
        assert ("settled in different places" in verdict) == (not moving)

    def test_chains_that_stand_still_are_steady(self):
        trace = {"log joint": np.repeat([[1.0], [2.0]], 50, axis=1)}
        verdict = mixing_verdict(mixing_table(trace), 2, trace)
        assert "(R-hat over 100)" in verdict
        assert "settled in different places" in verdict

    def test_one_chain(self):
        verdict = mixing_verdict(table_of(log_joint=(1.5, 3.0)), 1)
        assert verdict.startswith("The chain has not settled: the first and the second half")
        assert "the log joint (R-hat 1.50)" in verdict
        assert "model.resume(n_burn_in=500)" in verdict
        assert "average over" not in verdict

    @pytest.mark.parametrize(
        ("n_chains", "start"),
        [
            (1, "The chain mixes slowly: its draws of the weight norm are worth 9 independent draws"),
            (4, "The 4 chains agree, but mix slowly: their draws of the weight norm are worth 39"),
        ],
    )
    def test_few_effective_draws(self, n_chains, start):
        verdict = mixing_verdict(table_of(log_joint=(1.0, 300.0), weight_norm=(1.05, 10 * n_chains - 1)), n_chains)
        assert verdict.startswith(start)
        assert f"at least {10 * n_chains} are needed" in verdict

    def test_too_few_draws(self):
        trace = {"log joint": make_draws((4, 3))}
        assert mixing_verdict(mixing_table(trace), 4, trace).startswith(
            "Mixing cannot be judged from fewer than 4 sweeps"
        )


TRACE = {
    "log joint": make_draws((2, 30)),
    "weight of tf-idf": make_draws((2, 30), memory=0.5),
    "weight of tf_idf": make_draws((2, 30), memory=0.6),
    "2nd größe": make_draws((2, 30), memory=0.7),
    "?": make_draws((2, 30), memory=0.8),
}
NAMES = dict(zip(TRACE, ["log_joint", "weight_of_tf_idf", "weight_of_tf_idf_2", "_2nd_größe", "quantity"], strict=True))


class Variable:
    def __init__(self, values):
        self.values, self.attrs = values, {}


def old_from_dict(posterior=None, *, sample_stats=None, attrs=None):
    return new_from_dict({"posterior": posterior, "sample_stats": sample_stats}, attrs={"/": attrs})


def new_from_dict(data, *, attrs=None):
    groups = {group: {name: Variable(v) for name, v in data[group].items()} for group in data if data[group]}
    return {**groups, "attrs": attrs["/"]}


class TestToArviz:
    @pytest.mark.parametrize("from_dict", [old_from_dict, new_from_dict])
    def test_both_kinds_of_arviz(self, monkeypatch, from_dict):
        monkeypatch.setitem(sys.modules, "arviz", SimpleNamespace(from_dict=from_dict))
        self.check(to_inference_data(TRACE, {"n_topics": 8}))
        assert "sample_stats" not in to_inference_data({"weight norm": TRACE["log joint"]})

    @pytest.mark.filterwarnings("ignore::FutureWarning")
    def test_arviz_itself(self):
        arviz = pytest.importorskip("arviz", reason="hands the trace to arviz where it is installed")
        data = to_inference_data(TRACE, {"n_topics": 8})
        self.check(data)
        assert data["posterior"]["log_joint"].dims == ("chain", "draw")
        assert data["posterior"].sizes["chain"] == 2
        r_hats = arviz.rhat(data)
        r_hats = getattr(r_hats, "dataset", r_hats)
        for name, variable in NAMES.items():
            assert float(r_hats[variable]) == pytest.approx(r_hat(TRACE[name]))

    @staticmethod
    def check(data):
        assert list(data["posterior"]) == list(NAMES.values())
        for name, variable in NAMES.items():
            np.testing.assert_array_equal(data["posterior"][variable].values, TRACE[name])
            assert data["posterior"][variable].attrs["long_name"] == name
        np.testing.assert_array_equal(data["sample_stats"]["lp"].values, TRACE["log joint"])
        facts = data["attrs"] if isinstance(data, dict) else data.attrs
        assert facts["inference_library"] == "linktopics"
        assert facts["n_topics"] == 8

    def test_without_arviz(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "arviz", None)  # import then fails as if it were not installed
        with pytest.raises(ImportError, match=r"pip install 'linktopics\[arviz\]'"):
            to_inference_data(TRACE)
