"""What every estimator and every model of the paper must do, whatever its loss, weights or sampler."""

import inspect
import pickle
import signal
import subprocess
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import Pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from linktopics import DataError, DocumentNetwork, NetworkWarning, RelationalTopicModel, VariationalRTM
from linktopics.model.estimator import PAPER_MODELS
from linktopics.utils.progress import ProgressBar
from support.marks import some_long
from support.scikit_learn_checks import broken_checks

K = 3
SHORT = {"n_burn_in": 6, "n_samples": 3, "thin": 2, "negatives": 2, "random_state": 0}

GIBBS = {
    **{name: RelationalTopicModel.from_paper(name, K, **SHORT) for name in PAPER_MODELS},
    "default": RelationalTopicModel(K, **SHORT),
    "undirected": RelationalTopicModel(K, directed=False, **SHORT),
    "intercept": RelationalTopicModel(K, weights="diagonal", intercept=True, **SHORT),
    "hinge intercept": RelationalTopicModel(K, loss="hinge", weights="diagonal", intercept=True, **SHORT),
}
VARIATIONAL = {
    "Var-RTM": VariationalRTM(K, max_iter=4, random_state=0),
    "Var-RTM, non-links": VariationalRTM(K, max_iter=4, negatives=2, random_state=0),
}
MODELS = {**GIBBS, **VARIATIONAL}
LONG = ["Gibbs-RTM", "Gibbs-gRTM", "Approx-gRTM", "Gibbs-gMMRTM", "Approx-gMMRTM", "undirected", "intercept"]
"""Models that share loss, weights and sampler with others."""


@pytest.fixture(params=some_long(MODELS, [*LONG, "Var-RTM, non-links"]))
def model(request):
    return clone(MODELS[request.param])


@pytest.fixture(params=some_long(GIBBS, LONG))
def gibbs(request):
    return clone(GIBBS[request.param])


def make_data(n_documents=24, n_words=10, seed=0):
    """Draw two groups of documents with their own words; links mostly run inside a group, from later to earlier ones.

    Document 5 has no link.
    """
    rng = np.random.default_rng(seed)
    group = np.arange(n_documents) % 2
    rates = np.where(group[:, None] == np.arange(n_words) * 2 // n_words, 2.0, 0.2)
    counts = rng.poisson(rates)
    counts[:, 0] += counts.sum(axis=1) == 0
    linked = np.tril(rng.random((n_documents,) * 2) < np.where(group[:, None] == group, 0.3, 0.03), -1)
    linked[5] = linked[:, 5] = False
    return SimpleNamespace(counts=counts, links=np.argwhere(linked), new=rng.poisson(rates)[: n_documents // 2])


DATA = make_data()
WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"]
TEXTS = [" ".join(np.repeat(WORDS, row)) for row in DATA.counts]


def fitted(model, data=DATA):
    return model.fit(data.counts, links=data.links)


def parts(model):
    """Name the arrays that make up a fitted model."""
    names = ("topic_word_", "doc_topic_", "link_weights_", "intercept_", "log_joints_", "link_weights_std_", "bound_")
    names += ("feature_names_", "feature_weights_", "feature_weights_std_")
    found = {name: np.asarray(getattr(model, name)) for name in names if hasattr(model, name)}
    return {**found, "transform": model.transform(DATA.new), "predict_links": model.predict_links(DATA.new)}


def assert_same(one, two):
    one, two = parts(one), parts(two)
    assert one.keys() == two.keys()
    for name, value in one.items():
        np.testing.assert_array_equal(value, two[name], err_msg=name)


# --- scikit-learn's conventions ---------------------------------------------------------------------------------------


# Some of scikit-learn's own data have rows of zeros. Documents without words are kept and reported by a NetworkWarning,
# as they should be; the test suite makes that an error elsewhere.
@pytest.mark.filterwarnings("ignore::linktopics.errors.NetworkWarning")
@parametrize_with_checks(
    [MODELS[name] for name in ("default", "Gibbs-MMRTM", "Var-RTM")], expected_failed_checks=broken_checks
)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::linktopics.errors.NetworkWarning")
@parametrize_with_checks(
    [model for name, model in MODELS.items() if name not in ("default", "Gibbs-MMRTM", "Var-RTM")],
    expected_failed_checks=broken_checks,
)
def test_scikit_learn_of_other_models(estimator, check):
    check(estimator)


def test_parameters(model):
    names = set(inspect.signature(type(model)).parameters)
    assert set(vars(model)) == names, "the constructor stores its parameters and does nothing else"
    assert set(model.get_params()) == names
    assert set(model._parameter_constraints) == names
    copy = clone(fitted(model))
    assert copy.get_params() == model.get_params()
    assert set(vars(copy)) == names
    assert copy.set_params(n_topics=7, alpha=1.5) is copy
    assert (copy.n_topics, copy.alpha, model.n_topics) == (7, 1.5, K)
    with pytest.raises(ValueError, match="no_such"):
        copy.set_params(no_such=1)


@pytest.mark.parametrize("name", PAPER_MODELS)
def test_paper_names(name):
    model = RelationalTopicModel.from_paper(name, 25, alpha=2.0)
    assert model.loss == ("hinge" if "MM" in name else "logistic")
    assert model.weights == ("full" if "-g" in name else "diagonal")
    assert model.sampler == ("cached" if "Approx" in name else "exact")
    assert (model.n_topics, model.alpha, model.n_burn_in, model.n_samples) == (25, 2.0, 400, 1)
    assert (model.pair_features, model.intercept, model.weight_variance, model.n_chains) == (None, False, 1.0, 1)
    assert model.negatives == 0.01
    other = RelationalTopicModel.from_paper(name, 25, pair_features=["tfidf"], weight_variance=2.0, n_chains=3)
    assert (other.pair_features, other.weight_variance, other.n_chains) == (["tfidf"], 2.0, 3)


def test_unknown_paper_names():
    with pytest.raises(ValueError, match="VariationalRTM"):
        RelationalTopicModel.from_paper("Var-RTM")
    with pytest.raises(ValueError, match="Gibbs-gMMRTM"):
        RelationalTopicModel.from_paper("gibbs")


def test_pipeline(model):
    alone = fitted(clone(model))
    with config_context(enable_metadata_routing=True):
        vectorizer = CountVectorizer(vocabulary=WORDS)
        pipeline = Pipeline([("words", vectorizer), ("model", model.set_fit_request(links=True))])
        pipeline.fit(TEXTS, links=DATA.links)
        np.testing.assert_array_equal(pipeline.transform(TEXTS[:4]), alone.transform(DATA.counts[:4]))
    assert_same(pipeline["model"], alone)


def test_not_fitted(model):
    for method in (model.transform, model.predict_links):
        with pytest.raises(NotFittedError):
            method(DATA.new)


# --- what can be fitted -----------------------------------------------------------------------------------------------


def test_every_kind_of_input_gives_the_same_model(model):
    one = fitted(clone(model))
    square = csr_array((np.ones(len(DATA.links)), DATA.links.T), shape=(len(DATA.counts),) * 2)
    frame = pd.DataFrame(DATA.counts, columns=WORDS)
    for counts, links in [
        (DocumentNetwork(DATA.counts, DATA.links), None),
        (DATA.counts, square),
        (csr_array(DATA.counts), DATA.links.tolist()),
        (DATA.counts.astype(float), DATA.links[::-1]),
    ]:
        assert_same(clone(model).fit(counts, links=links), one)
    named = clone(model).fit(frame, links=DATA.links)
    np.testing.assert_array_equal(named.link_weights_, one.link_weights_)
    np.testing.assert_array_equal(named.feature_names_in_, WORDS)


def test_undirected_networks(gibbs):
    network = DocumentNetwork(DATA.counts, DATA.links, directed=False)
    if gibbs.directed is False:
        assert_same(clone(gibbs).fit(network), fitted(clone(gibbs)))
    weights = gibbs.fit(network).link_weights_
    np.testing.assert_array_equal(weights, weights.T)
    with pytest.raises(DataError, match="directed"):
        clone(gibbs).set_params(directed=True).fit(network)


def test_links_beside_a_network(model):
    with pytest.raises(DataError, match="links"):
        model.fit(DocumentNetwork(DATA.counts, DATA.links), links=DATA.links)


def test_no_links_is_plain_lda(model):
    model.set_params(n_topics=2, alpha=1.0)
    model.set_params(**({"n_burn_in": 60} if "n_burn_in" in model.get_params() else {"max_iter": 60}))
    model.fit(DATA.counts)
    assert not model.link_weights_.any()
    assert not np.any(getattr(model, "link_weights_std_", 0))
    assert not np.any(getattr(model, "feature_weights_", 0))
    assert not np.any(getattr(model, "feature_weights_std_", 0))
    assert model.intercept_ == 0
    halves = model.topic_word_.reshape(2, 2, -1).sum(axis=2)  # topics x groups of words
    assert halves.max(axis=1).min() > 0.8
    assert set(halves.argmax(axis=1)) == {0, 1}
    with pytest.raises(DataError, match="fitted without links"):
        model.predict_links(DATA.new)


def test_empty_documents_are_kept(model):
    counts = DATA.counts.copy()
    empty = DATA.links[0, 0]
    counts[empty] = 0
    with pytest.warns(NetworkWarning, match="1 document without words"):
        model.fit(counts, links=DATA.links)
    assert model.network_report_.n_empty_documents == 1
    np.testing.assert_allclose(model.doc_topic_[empty], 1 / K)
    assert np.isfinite(model.link_weights_).all()
    with pytest.warns(NetworkWarning, match="1 document without a known word"):
        np.testing.assert_allclose(model.transform(np.zeros_like(counts[:1])), 1 / K)


def test_dropped_links_are_reported(model):
    with pytest.warns(NetworkWarning, match="dropped"):
        model.fit(DATA.counts, links=[*DATA.links, (1, 1)])
    assert model.network_report_.n_self_links == 1


@pytest.mark.parametrize("name", ["default", "Gibbs-MMRTM", "Var-RTM"])
def test_no_words_at_all(name):
    with pytest.warns(NetworkWarning), pytest.raises(DataError, match="word"):
        clone(MODELS[name]).fit(np.zeros_like(DATA.counts), links=DATA.links)


@pytest.mark.parametrize("changes", [{"n_topics": 1}, {"n_topics": 10}], ids=str)
def test_one_topic_and_more_topics_than_tokens(model, changes):
    model.set_params(**changes).fit([[1, 0, 1], [0, 2, 0], [1, 0, 0]], links=[(0, 1), (2, 0)])
    assert np.isfinite(model.topic_word_).all()
    np.testing.assert_allclose(model.doc_topic_.sum(axis=1), 1)
    assert model.transform([[1, 1, 1]]).shape == (1, model.n_topics)


@pytest.mark.parametrize(
    "changes", [{"n_burn_in": 0}, {"n_burn_in": 0, "n_samples": 1, "thin": 1}, {"thin": 4}], ids=str
)
def test_lengths_of_chains(gibbs, changes):
    gibbs.set_params(n_chains=2, **changes)
    fitted(gibbs)
    assert len(gibbs.samples_) == 2 * gibbs.n_samples
    assert gibbs.log_joints_.shape == (2, gibbs.n_burn_in + gibbs.n_samples * gibbs.thin)
    kept = [sample.log_joint for sample in gibbs.samples_]
    np.testing.assert_array_equal(kept, gibbs.log_joints_[:, gibbs.n_burn_in + gibbs.thin - 1 :: gibbs.thin].ravel())
    if gibbs.n_samples == 1:
        assert not gibbs.link_weights_std_.any()


# --- the fitted model -------------------------------------------------------------------------------------------------


def test_fitted_attributes(model):
    fitted(model)
    n_documents, n_words = DATA.counts.shape
    for value, shape in ((model.topic_word_, (K, n_words)), (model.doc_topic_, (n_documents, K))):
        assert value.shape == shape
        assert (value > 0).all()
        np.testing.assert_allclose(value.sum(axis=1), 1, rtol=1e-12)
    U = model.link_weights_
    assert U.shape == (K, K)
    assert np.isfinite(U).all()
    assert U.any()
    diagonal = getattr(model, "weights", "diagonal") == "diagonal"
    assert np.array_equal(U, np.diag(np.diag(U))) == diagonal
    assert np.array_equal(U, U.T) == (diagonal or model.directed is False)
    assert (model.intercept_ != 0) == getattr(model, "intercept", True)
    if isinstance(model, RelationalTopicModel):
        assert bool(model.feature_names_) == (model.pair_features is not None or model.intercept)
        assert ("intercept" in model.feature_names_) == model.intercept
        assert model.feature_weights_.shape == model.feature_weights_std_.shape == (len(model.feature_names_),)
        assert np.isfinite(model.feature_weights_).all()
        assert model.feature_weights_.all()
    assert model.n_features_in_ == n_words
    assert model.network_report_.clean
    assert model.network_report_.n_links_given == len(DATA.links)
    prefix = type(model).__name__.lower()
    assert model.get_feature_names_out().tolist() == [f"{prefix}{k}" for k in range(K)]
    with config_context(transform_output="pandas"):
        assert list(model.transform(DATA.new).columns) == model.get_feature_names_out().tolist()


def test_fitted_attributes_of_chains(gibbs):
    gibbs.set_params(n_chains=2, n_burn_in=40)
    fitted(gibbs)
    std = gibbs.link_weights_std_
    assert std.shape == (K, K)
    assert ((std > 0) == (gibbs.link_weights_ != 0)).all()
    assert set(gibbs.timings_) == {"topics", "augmented", "weights"}
    assert min(gibbs.timings_.values()) > 0
    trace = gibbs.log_joint_
    assert trace.shape == (46,)
    assert np.isfinite(trace).all()
    assert trace[-20:].mean() > trace[0]
    np.testing.assert_array_equal(trace, gibbs.log_joints_[gibbs.best_chain_])
    kept = [np.mean([s.log_joint for s in gibbs.samples_ if s.chain == chain]) for chain in range(2)]
    assert gibbs.best_chain_ == np.argmax(kept)
    best = [s.weights for s in gibbs.samples_ if s.chain == gibbs.best_chain_]
    np.testing.assert_allclose(gibbs.link_weights_, np.mean(best, axis=0))
    np.testing.assert_allclose(std, np.std(best, axis=0), atol=1e-15)
    every = [s.feature_weights for s in gibbs.samples_]
    np.testing.assert_allclose(gibbs.feature_weights_, np.mean(every, axis=0))
    np.testing.assert_allclose(gibbs.feature_weights_std_, np.std(every, axis=0))
    if gibbs.intercept:
        assert gibbs.intercept_ == gibbs.feature_weights_[gibbs.feature_names_.index("intercept")]


def test_variational_timings_and_objective():
    model = fitted(clone(VARIATIONAL["Var-RTM"]))
    assert set(model.timings_) == {"topics", "weights"}
    assert len(model.bound_) == model.n_iter_
    assert model.bound_[-1] > model.bound_[0]


def test_pickle(model):
    fitted(model)
    assert_same(pickle.loads(pickle.dumps(model)), model)


def test_transform_depends_on_the_document_alone(model):
    fitted(model)
    shares, links = model.transform(DATA.new), model.predict_links(DATA.new)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    # The variational one multiplies matrices in BLAS, whose rounding may depend on their size.
    tolerance = {"rtol": 0 if isinstance(model, RelationalTopicModel) else 1e-12}
    np.testing.assert_allclose(model.transform(csr_array(DATA.new[::-1]))[::-1], shares, **tolerance)
    for i, row in enumerate(DATA.new):
        np.testing.assert_allclose(model.transform(row[None])[0], shares[i], **tolerance)
        np.testing.assert_allclose(model.predict_links(row[None])[0], links[i], rtol=1e-6)


def test_texts(model):
    network = DocumentNetwork.from_texts(TEXTS, DATA.links, vectorizer=CountVectorizer(vocabulary=WORDS))
    model.fit(network)
    expected = model.transform(DATA.counts[:3])
    np.testing.assert_array_equal(model.transform(TEXTS[:3]), expected)
    np.testing.assert_array_equal(model.transform(TEXTS[0]), expected[:1])
    np.testing.assert_array_equal(model.predict_links(TEXTS[:3]), model.predict_links(DATA.counts[:3]))


def test_texts_without_a_vectorizer(model):
    fitted(model)
    for texts in ("alpha beta", ["alpha beta"]):
        with pytest.raises(DataError, match="vectorizer"):
            model.transform(texts)


# --- randomness -------------------------------------------------------------------------------------------------------


def test_seeds(model):
    one, two = fitted(clone(model)), fitted(clone(model))
    assert_same(one, two)
    assert_same(fitted(one), two)  # a second fit remembers nothing of the first
    other = fitted(clone(model).set_params(random_state=1))
    assert not np.array_equal(other.topic_word_, one.topic_word_)
    fresh = [fitted(clone(model).set_params(random_state=None)).topic_word_ for _ in range(2)]
    assert not np.array_equal(*fresh)


@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng])
def test_random_generators(model, make):
    one, two, other = (fitted(clone(model).set_params(random_state=make(seed))) for seed in (7, 7, 8))
    assert_same(one, two)
    assert not np.array_equal(one.topic_word_, other.topic_word_)


def test_any_number_of_jobs_gives_the_same_model(gibbs):
    gibbs.set_params(n_chains=3)
    one, two = fitted(clone(gibbs).set_params(n_jobs=1)), fitted(clone(gibbs).set_params(n_jobs=2))
    assert_same(one, two)
    for sample, other in zip(one.samples_, two.samples_, strict=True):
        np.testing.assert_array_equal(sample.word_topic, other.word_topic)
        np.testing.assert_array_equal(sample.weights, other.weights)
        np.testing.assert_array_equal(sample.feature_weights, other.feature_weights)
    assert len({sample.log_joint for sample in one.samples_}) == len(one.samples_), "chains are independent"


# --- errors and interrupts --------------------------------------------------------------------------------------------

BAD = {
    "n_topics": (0, 2.5, 40_000),
    "loss": ("probit", None),
    "weights": ("sparse",),
    "sampler": ("fast",),
    **dict.fromkeys(("alpha", "beta", "weight_variance", "link_cost", "nonlink_cost"), (0, -1.0, np.inf, np.nan, "a")),
    **dict.fromkeys(("margin", "negatives"), (-1.0, np.inf, np.nan, "a")),
    "calibration": ("isotonic", True),
    "learn_alpha": ("yes", True),
    "learn_beta": ("yes", None),
    "seed_words": ("cat", 3, {0: "cat"}, {K: [0]}, {0.5: [0]}, {True: [0]}),
    "seed_weight": (0, 0.5, 2**21),
    "pair_features": ("tfidf", 3, True, {"tfidf": 1}, ["tfidf", "tfidf"]),
    "intercept": ("yes",),
    "n_burn_in": (-1, 2.5),
    **dict.fromkeys(("n_samples", "thin", "n_chains"), (0, 1.5)),
    "directed": ("yes",),
    "random_state": ("a", -1),
    "n_shards": (0, 1.5, "many"),
    "n_jobs": (0, 1.5),
    "verbose": ("loud",),
}
BAD_VARIATIONAL = {
    "n_topics": (0, 2.5),
    **dict.fromkeys(("alpha", "beta", "weight_variance", "negatives", "n_pseudo"), (0, -1.0, np.inf, np.nan)),
    **dict.fromkeys(("max_iter", "max_doc_iter"), (0, 1.5)),
    "tol": (-1.0, np.nan),
    "random_state": ("a", -1),
}
WRONG = [("default", name, value) for name, values in BAD.items() for value in values]
WRONG += [("Var-RTM", name, value) for name, values in BAD_VARIATIONAL.items() for value in values]


@pytest.mark.parametrize(("name", "parameter", "value"), WRONG)
def test_wrong_parameters(name, parameter, value):
    with pytest.raises(ValueError, match=parameter):
        fitted(clone(MODELS[name]).set_params(**{parameter: value}))


def test_every_parameter_is_tried():
    assert set(BAD) == set(RelationalTopicModel().get_params())
    assert set(BAD_VARIATIONAL) == set(VariationalRTM().get_params())


def test_full_weights_take_no_intercept():
    with pytest.raises(ValueError, match="intercept"):
        fitted(RelationalTopicModel(K, intercept=True))


TINY = """
import sys
from linktopics import RelationalTopicModel
model = RelationalTopicModel(3, n_burn_in=3, n_samples=1, thin=1, **{sys.argv[1]: 1e-50})
try:
    model.fit([[1, 2, 0, 0], [0, 3, 1, 0]], links=[(0, 1)]).transform([[0, 1, 0, 2]])
except ValueError as error:
    print(error)
"""


@pytest.mark.parametrize("parameter", ["alpha", "beta"])
@pytest.mark.long
def test_tiny_parameters_end(parameter):
    """Too small for float32: refused or obeyed, but never an endless search for a topic with weight."""
    subprocess.run([sys.executable, "-c", TINY, parameter], check=True, capture_output=True, timeout=300)


LONG = clone(GIBBS["default"]).set_params(n_chains=3, n_burn_in=5_000)  # half a minute, if nothing stops it


def interrupted_after(monkeypatch, n_jobs, act):
    """Fit with `act` called on every step of a chain; return how many of 15,000 were taken before the error."""
    steps = []

    def advance(_, done):
        if isinstance(done, float):  # not the name of a feature
            steps.append(done)
            act()

    monkeypatch.setattr(ProgressBar, "advance", advance)
    with pytest.raises(KeyboardInterrupt):
        fitted(clone(LONG).set_params(n_jobs=n_jobs))
    return len(steps)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="this system has no signals between threads")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_interrupt_from_the_keyboard(monkeypatch, n_jobs):
    """What Ctrl-C does: the main thread is interrupted, wherever the steps run."""
    steps = []

    def act():
        steps.append(None)
        if len(steps) == 20:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    assert interrupted_after(monkeypatch, n_jobs, act) < 5_000


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("thread", [0, -1], ids=["first chain", "another chain"])
def test_error_in_one_chain_stops_all(monkeypatch, n_jobs, thread):
    seen = []

    def act():
        if threading.get_ident() not in seen:
            seen.append(threading.get_ident())
        if len(seen) == n_jobs and threading.get_ident() == seen[thread]:
            raise KeyboardInterrupt

    assert interrupted_after(monkeypatch, n_jobs, act) < 5_000
