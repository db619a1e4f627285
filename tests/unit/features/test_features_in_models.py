"""Models with features of pairs: what is fitted, leakage, seeds, evaluation."""

import pickle
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from linktopics import DocumentNetwork, RelationalTopicModel
from linktopics.evaluation.evaluation import evaluate
from linktopics.evaluation.search import LinkSearchCV
from linktopics.features import (
    Column,
    PairFunction,
    Similarity,
)
from support.feature_worlds import (
    ALL,
    DEGREES,
    DOCUMENTS,
    NAMES,
    NETWORK,
    PAIR_MATRIX,
    SIMILARITIES,
    TEXTS,
    TINY,
    K,
    Leaking,
    Spy,
    fit,
    link_probability,
    order,
)


def test_features_of_a_fitted_model(model):
    directed = model.network_.directed
    signed = ["year of source - target"] if directed else []
    assert model.feature_names_ == [
        *SIMILARITIES, *(DEGREES if directed else ["degree"]),
        "intercept", "distance in year", *signed, "same venue", "shared authors", "co-read", "order",
    ]  # fmt: skip
    weights = np.array([sample.feature_weights for sample in model.samples_])
    assert weights.shape == (2 * model.n_chains, len(model.feature_names_))
    assert (weights != 0).all()
    np.testing.assert_allclose(model.feature_weights_, weights.mean(axis=0))
    np.testing.assert_allclose(model.feature_weights_std_, weights.std(axis=0))
    np.testing.assert_allclose(model.intercept_, model.feature_weights_[model.feature_names_.index("intercept")])


def test_default_features():
    assert fit("default").feature_names_ == ["tfidf", "tfidf-centroid", *DEGREES]
    undirected = fit("default", directed=False)
    assert undirected.feature_names_ == ["tfidf", "tfidf-centroid", "degree"]
    assert undirected.intercept_ == 0.0
    assert RelationalTopicModel().pair_features == "default"


@pytest.mark.parametrize("weights", ["full", "diagonal"])
def test_no_features(weights):
    """None, an empty list and an empty tuple are the same model, and the paper's."""
    one, *others = (fit(features, weights=weights) for features in (None, [], ()))
    assert one.feature_names_ == []
    assert one.feature_weights_.shape == one.feature_weights_std_.shape == (0,)
    assert one.intercept_ == 0.0
    expected = 0.0
    for sample in one.samples_:
        new = one.predictor.infer(sample, DOCUMENTS.counts).astype(float)
        expected = expected + link_probability(one, new @ sample.weights @ sample.doc_topic.T.astype(float)) / 2
    np.testing.assert_allclose(one.predict_links(DOCUMENTS, direction="out"), expected, rtol=1e-9)
    assert set(one.explain_link("d1", "d2").feature) == {""}
    for other in others:
        np.testing.assert_array_equal(other.log_joint_, one.log_joint_)
        np.testing.assert_array_equal(other.predict_links(list(TEXTS.values())), one.predict_links(DOCUMENTS))


def test_the_papers_models_have_no_features():
    assert RelationalTopicModel.from_paper("Gibbs-RTM").pair_features is None
    assert RelationalTopicModel.from_paper("Gibbs-gRTM", pair_features=["tfidf"]).pair_features == ["tfidf"]


def test_intercept():
    names = [fit(features, weights="diagonal", intercept=True).feature_names_ for features in (None, ["intercept"])]
    assert names == [["intercept"]] * 2
    with pytest.raises(ValueError, match="intercept=True needs weights='diagonal'"):
        fit(intercept=True)


# --- leakage ----------------------------------------------------------------------------------------------------------


@cache
def make_world(n=100, n_new=60):
    """Draw documents of four groups, with few links inside each; new documents link to old ones."""
    rng = np.random.default_rng(0)
    group = rng.integers(4, size=n + n_new)
    counts = rng.poisson(np.where(group[:, None] == np.arange(16) // 4, 2.0, 0.3))
    counts[counts.sum(axis=1) == 0, 0] = 1
    linked = rng.random((n + n_new,) * 2) < np.where(group[:, None] == group, 0.05, 0.0)
    np.fill_diagonal(linked, False)
    return DocumentNetwork(counts[:n], np.argwhere(linked[:n, :n])), counts[n:], linked[n:, :n]


@cache
def fit_and_test(feature):
    """Return AUC and mean probability of links: of training pairs as they were trained on, and of held-out ones."""
    network, new, truth = make_world()
    model = fit([feature], network, negatives=5, n_burn_in=30)
    links = set(map(tuple, network.links.tolist()))
    drawn = np.random.default_rng(1).integers(len(network), size=(100, 2)).tolist()
    others = {(i, j) for i, j in drawn if i != j} - links
    scores = np.array([model.explain_link(i, j).contribution.sum() for i, j in [*sorted(links), *sorted(others)]])
    is_link = np.arange(len(scores)) < len(links)
    documents = DocumentNetwork(new, ids=[f"new {i}" for i in range(len(new))])
    held_out = model.predict_links(documents, direction="out")
    return {
        "auc": (roc_auc_score(is_link, scores), roc_auc_score(truth.ravel(), held_out.ravel())),
        "probability": (link_probability(model, scores[is_link]).mean(), held_out[truth].mean()),
    }


def is_a_training_link(sources, targets):
    links = set(map(tuple, make_world()[0].links.tolist()))
    return np.array([pair in links for pair in zip(sources, targets, strict=True)])


def test_a_leaking_feature_is_seen_to_leak():
    """It fits the training links and fails those of new documents; the honest one does as well on both."""
    honest = fit_and_test("tfidf-centroid")
    for leaking in (PairFunction(is_a_training_link), Leaking(Similarity("tfidf", "centroid"))):
        leaky = fit_and_test(leaking)
        assert leaky["auc"][0] > honest["auc"][0] + 0.03
        assert leaky["probability"][0] > honest["probability"][0] + 0.05
        assert leaky["probability"][1] < honest["probability"][1] - 0.05
        assert leaky["probability"][0] - leaky["probability"][1] > 0.2
    assert abs(honest["probability"][0] - honest["probability"][1]) < 0.12
    assert fit_and_test(PairFunction(is_a_training_link))["auc"][1] < honest["auc"][1] - 0.15


# --- the same again ---------------------------------------------------------------------------------------------------


def same_models(one, other):
    np.testing.assert_array_equal(one.feature_weights_, other.feature_weights_)
    np.testing.assert_array_equal(one.feature_weights_std_, other.feature_weights_std_)
    np.testing.assert_array_equal(one.log_joints_, other.log_joints_)
    np.testing.assert_array_equal(one.predict_links(DOCUMENTS), other.predict_links(DOCUMENTS))
    np.testing.assert_array_equal(one.word_probabilities([["d1", "d4"]]), other.word_probabilities([["d1", "d4"]]))
    pd.testing.assert_frame_equal(one.suggest_links(DOCUMENTS), other.suggest_links(DOCUMENTS))


def test_the_same_seed_gives_the_same_model():
    one, other = fit(), fit()
    same_models(one, other)
    same_models(one, other.fit(NETWORK))
    assert (fit(random_state=1).feature_weights_ != one.feature_weights_).all()


def test_jobs_and_chains():
    one, other = (fit(n_chains=2, n_jobs=jobs) for jobs in (1, 2))
    same_models(one, other)
    weights = np.array([sample.feature_weights for sample in one.samples_])
    assert len(weights) == 4
    np.testing.assert_allclose(one.feature_weights_, weights.mean(axis=0))
    np.testing.assert_allclose(one.feature_weights_std_, weights.std(axis=0))
    assert (fit(n_samples=1).feature_weights_std_ == 0).all()


def test_features_do_not_change_the_pairs():
    """Nor which end is the new one: both have random numbers of their own."""
    views = []
    for features in ([], ["topics-neighbours", "degree"]):
        spy = Spy()
        fit([*features, spy])
        views.append(spy.view)
    for name in ("new", "candidates", "outgoing"):
        np.testing.assert_array_equal(*(getattr(view, name) for view in views))
    assert 0.3 < views[0].outgoing.mean() < 0.7


def test_parameters():
    given = [*NAMES[:2], Column("year"), PAIR_MATRIX, PairFunction(order, "order")]
    model = RelationalTopicModel(K, pair_features=given)
    assert model.get_params()["pair_features"] is given
    copied = clone(model)
    assert copied.pair_features is not given
    assert copied.pair_features[:3] == given[:3]
    assert copied.pair_features[4] == given[4]
    assert (copied.pair_features[3].matrix != PAIR_MATRIX.matrix).nnz == 0
    assert model.set_params(pair_features=None).pair_features is None
    assert clone(model).pair_features is None
    assert "pair_features" in repr(RelationalTopicModel(pair_features=["tfidf"]))


def test_fitting_a_clone_and_fitting_again():
    model = fit()
    same_models(model, clone(model).fit(NETWORK))
    assert model.set_params(pair_features=["degree"]).fit(NETWORK).feature_names_ == DEGREES
    assert model.pair_features == ["degree"]


def test_features_can_be_used_by_two_models_at_once():
    """What is learnt stands with the model, not with the feature."""
    feature = Column("venue")
    one = fit([feature])
    before = one.predict_links(DOCUMENTS)
    other = fit([feature], NETWORK.subset(np.arange(29, 5, -1)))
    assert other.predict_links(DOCUMENTS).shape == (4, 24)
    np.testing.assert_array_equal(one.predict_links(DOCUMENTS), before)


@pytest.mark.parametrize("features", ["default", NAMES, ALL], ids=["default", "built in", "all"])
def test_pickle(features):
    model = fit(list(features) if features != "default" else features)
    same_models(model, pickle.loads(pickle.dumps(model)))


# --- evaluation -------------------------------------------------------------------------------------------------------


TO_TEST = {
    "none": None,
    "default": "default",
    "built in": list(NAMES),
    "column": ["tfidf", Column("year", "difference")],
    "matrix": [PAIR_MATRIX],
    "function": [PairFunction(order, "order")],
}


@pytest.mark.parametrize("features", TO_TEST.values(), ids=TO_TEST)
def test_evaluate(features):
    model = RelationalTopicModel(K, **{**TINY, "n_burn_in": 5}, pair_features=features)
    rows = evaluate(NETWORK, {"model": model}, folds=2, words=True, verbose=False).folds
    assert len(rows) == 2
    assert rows[["link_rank", "auc", "word_rank"]].notna().all(axis=None)


def test_evaluate_in_processes_and_again(tmp_path):
    models = {
        name: RelationalTopicModel(K, **{**TINY, "n_burn_in": 5}, pair_features=TO_TEST[name])
        for name in ("none", "default")
    }
    one, other = (
        evaluate(NETWORK, models, folds=2, n_jobs=jobs, resume=tmp_path / "done.jsonl", verbose=False).summary()
        for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.auc, other.auc)
    assert one.auc["none"] != one.auc["default"]


def test_results_of_other_columns_are_not_taken_for_these(tmp_path):
    model = RelationalTopicModel(K, **TINY, pair_features=[Column("year", "difference")])
    aucs = []
    for years in (np.arange(30), np.arange(30)[::-1] ** 2 % 17):
        network = DocumentNetwork(NETWORK.counts, NETWORK.links, columns={"year": years})
        result = evaluate(network, {"model": model}, folds=2, resume=tmp_path / "done.jsonl", verbose=False)
        aucs.append(result.summary().auc["model"])
    assert aucs[0] != aucs[1]


def test_search_over_features():
    grid = {"pair_features": [None, ["tfidf"], "default", ["degree"]]}
    model = RelationalTopicModel(K, **{**TINY, "n_burn_in": 5})
    search = LinkSearchCV(model, grid, folds=2, metric="auc", verbose=False).fit(NETWORK)
    assert search.results_["pair_features"].tolist() == grid["pair_features"]
    assert search.best_params_["pair_features"] == grid["pair_features"][search.results_.auc.argmax()]
    assert search.best_estimator_.pair_features == search.best_params_["pair_features"]
    assert search.predict_links(list(TEXTS.values())).shape == (4, 30)


def test_evaluate_a_search_over_columns():
    model = RelationalTopicModel(K, **{**TINY, "n_burn_in": 5})
    search = LinkSearchCV(model, {"pair_features": [None, [Column("year", "difference")]]}, folds=2, verbose=False)
    rows = evaluate(NETWORK, {"search": search}, folds=2, words=False, verbose=False).folds
    assert rows.link_rank.notna().all()
