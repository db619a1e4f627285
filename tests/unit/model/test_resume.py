"""Runs that go on: stopped and resumed they come to what they would have come to, bit for bit."""

import concurrent.futures
import contextlib
import os
import signal
import sys
import threading

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from linktopics import Checkpoint, DataError, RelationalTopicModel
from linktopics.errors import ModelError
from linktopics.sampler import Sampler
from linktopics.utils.progress import ProgressBar
from support.marks import some_long
from support.small_models import SHORT, answers, assert_same, attributes, small_model, small_network

load = RelationalTopicModel.load
NETWORK = small_network()
LENGTH = SHORT["n_burn_in"] + SHORT["n_samples"] * SHORT["thin"]


@pytest.fixture(autouse=True)
def in_a_hurry(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)


@contextlib.contextmanager
def stopped(monkeypatch, after, how="error"):
    """Stop a run after so many sweeps of all chains together.

    By an "error" in the chain that did the last of them; or by "ctrl-c", as the keyboard does: in the main thread,
    while it waits for the others.
    """
    lock, sweeps, interrupted = threading.Lock(), [], []

    def advance(_, reached):
        if isinstance(reached, str):  # the name of a feature
            return
        with lock:
            sweeps.append(reached)
            if len(sweeps) == after and how == "error":
                raise KeyboardInterrupt
            if len(sweeps) >= after and how == "ctrl-c" and not interrupted and main_thread_waits():
                interrupted.append(len(sweeps))
                signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(ProgressBar, "advance", advance)
        try:
            yield sweeps
        except KeyboardInterrupt:
            return
    raise AssertionError(f"the run went on to its end, {len(sweeps)} sweeps")


def main_thread_waits():
    frame = sys._current_frames()[threading.main_thread().ident]
    while frame is not None and frame.f_code is not concurrent.futures.wait.__code__:
        frame = frame.f_back
    return frame is not None


def iterations(model):
    return [chain.state.iteration for chain in model._run.chains]


# --- stopped and resumed ----------------------------------------------------------------------------------------------

RUNS = {
    "default": {},
    "hinge": {"loss": "hinge", "weights": "diagonal", "intercept": True, "pair_features": None},
    "no links": {"pair_features": None},
    "learned alpha": {"learn_alpha": "per-topic", "n_burn_in": 31, "pair_features": None},
    "learned priors": {"learn_alpha": "symmetric", "learn_beta": True, "n_burn_in": 5, "pair_features": None},
    "seed words": {"seed_words": {1: ["cats"]}, "pair_features": None},
}


@pytest.mark.parametrize(
    ("name", "n_chains", "n_jobs"),
    [
        *some_long([(name, 2, 2) for name in RUNS], [("hinge", 2, 2), ("learned alpha", 2, 2)]),
        *((name, n, 1) for name in ("default", "no links", "learned alpha") for n in (1, 2)),
    ],
)
def test_a_stopped_run_comes_to_the_same_end(name, n_chains, n_jobs, tmp_path, monkeypatch):
    network = NETWORK.without_links() if name == "no links" else NETWORK
    model = small_model(**RUNS[name], n_chains=n_chains, n_jobs=n_jobs)
    whole = clone(model).fit(network)
    length = whole.log_joints_.shape[1]
    for after in (length - 5, n_chains * length - 1):
        folder = tmp_path / f"stopped {after}"
        with stopped(monkeypatch, after):
            clone(model).fit(network, checkpoint=Checkpoint(folder, every=2))
        said = r"not finished \(its chains did [\d, ]+ of \d+ sweeps\).*unfinished=True\)\.resume\(\)"
        with pytest.raises(ModelError, match=said):
            load(folder)
        loaded = load(folder, unfinished=True)
        assert min(iterations(loaded)) < length
        assert_same(loaded.resume(), whole)
    assert_same(answers(loaded), answers(whole))


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="this system has no signals between threads")
@pytest.mark.parametrize(("n_chains", "n_jobs"), [(1, 1), (2, 1), (2, 2)])
def test_an_interrupt_loses_nothing(n_chains, n_jobs, tmp_path, monkeypatch):
    """However seldom there are checkpoints: chains are kept once more between two sweeps, with all they did."""
    model = small_model(n_chains=n_chains, n_jobs=n_jobs, n_samples=2000, thin=1, pair_features=None)
    with stopped(monkeypatch, 5, "ctrl-c") as sweeps:
        model.fit(NETWORK, checkpoint=Checkpoint(tmp_path / "model", every=1_000_000))
    loaded = load(tmp_path / "model", unfinished=True)
    assert sum(iterations(loaded)) == len(sweeps) < n_chains * 2003
    for chain in loaded._run.chains:
        assert len(chain.samples) == max(chain.state.iteration - 3, 0)
        assert np.isfinite(chain.trace[: chain.state.iteration]).all()
    loaded._run.schedule = whole = loaded._run.schedule.__class__(3, max(iterations(loaded)) + 5, 1)
    assert_same(loaded.resume(), clone(model).set_params(n_samples=whole.n_samples).fit(NETWORK))


def test_how_much_an_error_costs(tmp_path, monkeypatch):
    for every, kept in ((1, 4), (2, 4), (3, 3), (5, 0)):
        with stopped(monkeypatch, 5):
            small_model(n_chains=1).fit(NETWORK, checkpoint=Checkpoint(tmp_path / str(every), every=every))
        assert iterations(load(tmp_path / str(every), unfinished=True)) == [kept]


def test_stopped_again_and_again(tmp_path, monkeypatch):
    model = small_model(n_jobs=2)
    whole = clone(model).fit(NETWORK)
    with stopped(monkeypatch, 3):
        model.fit(NETWORK, checkpoint=Checkpoint(tmp_path, every=1))
    for _ in range(3):
        with stopped(monkeypatch, 2):
            load(tmp_path, unfinished=True).resume(checkpoint=Checkpoint(tmp_path, every=1))
    load(tmp_path, unfinished=True).resume(checkpoint=tmp_path)
    assert_same(load(tmp_path), whole)


def test_a_run_with_checkpoints_leaves_its_model(tmp_path):
    model = small_model().fit(NETWORK, checkpoint=Checkpoint(tmp_path / "model", every=1))
    assert_same(model, small_model().fit(NETWORK))
    assert_same(load(tmp_path / "model", verify=True), model)
    with pytest.raises(DataError, match="a model already"):
        small_model().fit(NETWORK, checkpoint=tmp_path / "model")
    other = small_model(random_state=1).fit(NETWORK, checkpoint=tmp_path / "model", overwrite=True)
    assert_same(load(tmp_path / "model"), other)
    for every in (0, -1, 1.5, "often"):
        with pytest.raises(ValueError, match=r"every is .*whole number of at least 1"):
            small_model().fit(NETWORK, checkpoint=Checkpoint(tmp_path / "other", every=every))
    assert not (tmp_path / "other").exists()


# --- beyond the end ---------------------------------------------------------------------------------------------------


def test_more_samples_are_a_longer_run(tmp_path):
    model = small_model().fit(NETWORK)
    model.save(tmp_path / "model")
    longer = small_model(n_samples=5).fit(NETWORK)
    assert_same(model.resume(n_samples=1).resume(n_samples=2), longer)
    assert_same(load(tmp_path / "model").resume(n_samples=3, checkpoint=tmp_path / "model"), longer)
    assert_same(load(tmp_path / "model"), longer)


@pytest.mark.parametrize("changes", [{}, {"learn_alpha": "symmetric", "n_burn_in": 30}], ids=str)
def test_more_burn_in_is_a_longer_run(changes):
    """All sweeps done so far become burn-in, those of samples too.

    Priors are learned in burn-in, in every tenth sweep and the last. So the two are the same if the last was a tenth,
    and none of the sweeps of samples.
    """
    first = small_model(**changes, pair_features=None)
    length = first.n_burn_in + 4
    assert_same(
        clone(first).fit(NETWORK).resume(n_burn_in=7), clone(first).set_params(n_burn_in=length + 7).fit(NETWORK)
    )
    assert_same(
        clone(first).fit(NETWORK).resume(n_burn_in=1, n_samples=3),
        clone(first).set_params(n_burn_in=length + 1, n_samples=3).fit(NETWORK),
    )


def test_priors_are_not_learned_from_samples():
    first = small_model(learn_alpha="per-topic", n_burn_in=28, pair_features=None)
    before = clone(first).fit(NETWORK)
    np.testing.assert_array_equal(clone(first).fit(NETWORK).resume(n_samples=9).alpha_, before.alpha_)
    resumed, whole = clone(first).fit(NETWORK).resume(n_burn_in=10), clone(first).set_params(n_burn_in=42).fit(NETWORK)
    assert (resumed.alpha_ != before.alpha_).any()
    np.testing.assert_array_equal(resumed.log_joints_[:, :28], whole.log_joints_[:, :28])
    assert (resumed.log_joints_[:, 28:] != whole.log_joints_[:, 28:]).any(), "sweeps 28 and 30 taught one of the two"


def test_more_for_a_run_that_was_stopped(tmp_path, monkeypatch):
    for folder, parameters in ((tmp_path / "1", {"n_samples": 1}), (tmp_path / "2", {"n_burn_in": 2, "n_samples": 1})):
        with stopped(monkeypatch, 9):
            small_model().fit(NETWORK, checkpoint=Checkpoint(folder, every=1))
        loaded = load(folder, unfinished=True).resume(**parameters)
        changed = {"n_samples": 3} if "n_burn_in" not in parameters else {"n_burn_in": LENGTH + 2, "n_samples": 1}
        assert_same(loaded, small_model(**changed).fit(NETWORK))


def test_nothing_more_changes_nothing():
    model = small_model().fit(NETWORK)
    before = attributes(model)
    assert model.resume() is model
    assert_same(model, before)


def test_a_resume_that_is_stopped(tmp_path, monkeypatch):
    """The model answers as before, and the next resume goes on."""
    for parameters in ({"n_samples": 2}, {"n_burn_in": 3}):
        model, whole = small_model().fit(NETWORK), small_model().fit(NETWORK).resume(**parameters)
        before = answers(model)
        with stopped(monkeypatch, 3, "error"):
            model.resume(**parameters, checkpoint=Checkpoint(tmp_path / str(parameters), every=1))
        assert_same(answers(model), before)
        assert_same(load(tmp_path / str(parameters), unfinished=True).resume(), whole)
        assert_same(model.resume(), whole)


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_burn_in": -1},
        {"n_burn_in": 1.5},
        {"n_burn_in": "a"},
        {"n_samples": 0},
        {"n_samples": -2},
        {"n_samples": 2.0},
    ],
    ids=str,
)
def test_wrong_parameters(parameters):
    model = small_model(pair_features=None).fit(NETWORK)
    before = attributes(model)
    with pytest.raises(ValueError, match=f"{next(iter(parameters))} is .* it must be a whole number of at least"):
        model.resume(**parameters)
    assert_same(model.resume(), before)


def test_a_resume_that_is_refused_changes_nothing(tmp_path):
    (tmp_path / "notes.txt").write_text("precious")
    model = small_model(pair_features=None).fit(NETWORK)
    with pytest.raises(ValueError, match="other files"):
        model.resume(n_samples=1, checkpoint=tmp_path)
    assert len(model.resume(n_samples=1).samples_) == 2 * 3


def test_n_topics_of_a_fitted_model_stay():
    model = small_model().fit(NETWORK).set_params(n_topics=2)
    model.resume(n_samples=1)
    assert model.topic_word_.shape[0] == model.doc_topic_.shape[1] == 3


def test_only_fitted_models_go_on(tmp_path):
    for attempt in (lambda m: m.resume(), lambda m: m.save(tmp_path / "model"), lambda m: m.extend(NETWORK)):
        with pytest.raises(NotFittedError):
            attempt(small_model())
    assert not (tmp_path / "model").exists()


def test_an_unfinished_model_says_that_it_is(tmp_path, monkeypatch):
    with stopped(monkeypatch, 3):
        small_model().fit(NETWORK, checkpoint=Checkpoint(tmp_path, every=1))
    loaded = load(tmp_path, unfinished=True)
    for ask in (loaded.transform, loaded.predict_links, loaded.suggest_links):
        with pytest.raises(NotFittedError):
            ask("cats purr")
    with pytest.raises(NotFittedError):
        loaded.topics()


def test_an_unfinished_model_can_be_saved(tmp_path, monkeypatch):
    with stopped(monkeypatch, 9):
        small_model().fit(NETWORK, checkpoint=Checkpoint(tmp_path / "one", every=1))
    load(tmp_path / "one", unfinished=True).save(tmp_path / "two")
    assert_same(load(tmp_path / "two", unfinished=True).resume(), small_model().fit(NETWORK))


def test_a_loaded_model_goes_on_with_the_kernels_that_are_compiled(tmp_path):
    small_model(pair_features=None).fit(NETWORK).save(tmp_path)
    loaded = load(tmp_path).resume(n_samples=1)
    arrays = {name: value for name, value in vars(loaded._run.corpus).items() if isinstance(value, np.ndarray)}
    assert [name for name, value in arrays.items() if not value.flags.writeable] == []


def test_no_chain_runs_on_after_an_interrupt_while_chains_are_started(monkeypatch, tmp_path):
    """Seen to fail where a thread that was started, but not yet waited for, went on sampling and saved later."""
    submit, swept = concurrent.futures.ThreadPoolExecutor.submit, []

    def interrupted(pool, *arguments):
        submit(pool, *arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(concurrent.futures.ThreadPoolExecutor, "submit", interrupted)
    monkeypatch.setattr(Sampler, "step", lambda sampler: swept.append(sampler))
    with pytest.raises(KeyboardInterrupt):
        small_model(n_chains=2).fit(NETWORK, checkpoint=tmp_path / "model")
    assert swept == []
