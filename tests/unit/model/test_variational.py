"""Var-RTM against slow loops over tokens, numerical gradients, and networks simulated from the model.

Each of these breaks was made once and seen to fail: no damping, damping without 1/N_i or with half the curvature, the
link term without 1/N_i, non-links taken for links, E[log theta] at the prior, one colour for all documents, neighbours
not refreshed, no beta, pseudo-non-links taken for links or placed at 1/K, the ridge's gradient with the wrong sign, an
objective without its gamma functions, documents of a batch stopping together.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.special import digamma, expit, gammaln
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import check_estimator

from linktopics.model import variational
from linktopics.model.variational import (
    LinkRegression,
    MeanField,
    VariationalRTM,
    colour_classes,
    link_field,
    word_pass,
)
from linktopics.network import DocumentNetwork
from linktopics.network.pairs import TrainingPairs
from support.marks import some_long

ALPHA, BETA, VARIANCE, N_PSEUDO = 0.4, 0.05, 2.0, 3.0
STRONG = np.array([25.0, -8.0, 40.0, -1.5])  # three weights and an intercept


def random_pairs(rng, n_documents, share=0.5):
    source, target = np.triu_indices(n_documents, 1)
    keep = rng.random(len(source)) < share
    label = rng.random(keep.sum()) < 0.6
    return TrainingPairs(source[keep].astype(np.int32), target[keep].astype(np.int32), label, n_documents)


def random_field(seed=0, n_documents=6, n_words=7, n_topics=3, sweeps=0, weights=STRONG):
    """Return a tiny mean field, some sweeps on, and its counts and pairs; document 1 has no words."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.8, (n_documents, n_words)).astype(float)
    counts[1] = 0
    topics = rng.dirichlet(np.ones(n_words), n_topics).T
    pairs = random_pairs(rng, n_documents)
    field = MeanField(csr_array(counts), pairs, topics, ALPHA, BETA)
    for _ in range(sweeps):
        field.sweep(weights)
    return field, counts.astype(int), pairs


def token_phi(field, counts):
    """Return the phi of every token of every document, written out from the fields."""
    phi = []
    for i, row in enumerate(counts):
        words = np.repeat(np.arange(len(row)), row)
        unnormalised = [field.topics[w] * np.exp(field.fields[i]) for w in words]
        phi.append((words, [p / p.sum() for p in unnormalised]))
    return phi


def mean_phi(phi, n_topics):
    return np.array([np.mean(rows, axis=0) if len(rows) else np.full(n_topics, 1 / n_topics) for _, rows in phi])


def slow_links(phibar, pairs, weights, n_pseudo=N_PSEUDO, variance=VARIANCE):
    eta, intercept = weights[:-1], weights[-1]
    total = n_pseudo * np.log(1 - expit(eta.sum() / len(eta) ** 2 + intercept))
    for i, j, y in zip(pairs.source, pairs.target, pairs.label, strict=True):
        p = expit(eta @ (phibar[i] * phibar[j]) + intercept)
        total += np.log(p) if y else np.log(1 - p)
    return total - eta @ eta / (2 * variance) - intercept**2 / (2 * variational.INTERCEPT_VARIANCE)


def slow_objective(phi, topics, pairs, weights):
    """Return the objective of the module's docstring, token by token, with gamma = alpha + sum of phi."""
    n_topics = topics.shape[1]
    alpha = np.full(n_topics, ALPHA)
    total = BETA * np.log(topics).sum()
    for words, rows in phi:
        gamma = alpha + np.sum(rows, axis=0) if len(rows) else alpha
        log_theta = digamma(gamma) - digamma(gamma.sum())
        total += gammaln(alpha.sum()) - gammaln(alpha).sum() + (alpha - 1) @ log_theta  # E log p(theta)
        total -= gammaln(gamma.sum()) - gammaln(gamma).sum() + (gamma - 1) @ log_theta  # E log q(theta)
        for w, p in zip(words, rows, strict=True):
            total += p @ (log_theta + np.log(topics[w]) - np.log(p))
    return total + slow_links(mean_phi(phi, n_topics), pairs, weights)


def objective(field, pairs, weights):
    return field.bound() + LinkRegression(field.phibar, pairs, N_PSEUDO, VARIANCE).objective(weights)[0]


def test_word_pass_equals_a_loop_over_tokens():
    field, counts, _ = random_field(sweeps=2)
    expected, _, ratio = word_pass(csr_array(counts.astype(float)), field.topics, field.fields)
    slow, topic_counts = np.zeros_like(expected), np.zeros_like(field.topics)
    for i, (words, rows) in enumerate(token_phi(field, counts)):
        for w, p in zip(words, rows, strict=True):
            slow[i] += p
            topic_counts[w] += p
    np.testing.assert_allclose(expected, slow, atol=1e-12)
    np.testing.assert_allclose(field.topics * (ratio.T @ np.exp(field.fields)), topic_counts, atol=1e-12)
    field.update_topics()
    np.testing.assert_allclose(field.topics, (topic_counts + BETA) / (topic_counts + BETA).sum(axis=0))


@pytest.mark.parametrize("sweeps", [1, 4])
def test_objective_equals_the_token_by_token_sum(sweeps):
    field, counts, pairs = random_field(sweeps=sweeps)
    slow = slow_objective(token_phi(field, counts), field.topics, pairs, STRONG)
    assert objective(field, pairs, STRONG) == pytest.approx(slow, rel=1e-12)


def test_link_field_is_the_gradient_of_the_link_term():
    field, _, pairs = random_field(sweeps=1)
    phibar = field.phibar
    for here, _, graph in field.blocks:
        gradient, _ = link_field(graph, here, phibar, STRONG)
        for row, i in enumerate(here):
            for k in range(3):
                step = np.zeros_like(phibar)
                step[i, k] = 1e-6
                slope = (slow_links(phibar + step, pairs, STRONG) - slow_links(phibar - step, pairs, STRONG)) / 2e-6
                assert gradient[row, k] == pytest.approx(slope, abs=1e-5)


def test_sweep_equals_a_loop_over_documents_neighbours_and_tokens():
    field, counts, pairs = random_field(seed=3, sweeps=1)
    eta, intercept = STRONG[:-1], STRONG[-1]
    fields, phibar = field.fields.copy(), field.phibar
    for i in np.concatenate([here for here, _, _ in field.blocks]):
        length = counts[i].sum()
        if length == 0:
            continue
        goal, damping = digamma(ALPHA + length * phibar[i]), 1.0
        for a, b, y in zip(pairs.source, pairs.target, pairs.label, strict=True):
            if i in (a, b):
                pull = eta * phibar[b if i == a else a]
                score = pull @ phibar[i] + intercept
                goal = goal + (y - expit(score)) * pull / length
                damping += np.tanh(score / 2) / (2 * score) * np.ptp(pull) ** 2 / 4 / length
        fields[i] += (goal - fields[i]) / damping
        rows = [field.topics[w] * np.exp(fields[i]) for w in np.repeat(np.arange(counts.shape[1]), counts[i])]
        phibar[i] = np.mean([p / p.sum() for p in rows], axis=0)
    field.sweep(STRONG)
    np.testing.assert_allclose(field.phibar, phibar, atol=1e-12)


def test_settled_field_is_a_stationary_point():
    field, counts, pairs = random_field(seed=1, sweeps=1000)
    phi, rng = token_phi(field, counts), np.random.default_rng(0)

    def moved(size, direction):
        changed = [(words, [p + size * d for p, d in zip(rows, ds, strict=True)]) for (words, rows), ds in direction]
        return slow_objective(changed, field.topics, pairs, STRONG)

    for _ in range(5):  # directions that keep every phi on its simplex, and small where phi is small
        direction = []
        for words, rows in phi:
            noise = [p * rng.normal(size=3) for p in rows]
            direction.append(((words, rows), [d - p * d.sum() for p, d in zip(rows, noise, strict=True)]))
        slope = (moved(1e-4, direction) - moved(-1e-4, direction)) / 2e-4
        assert abs(slope) < 1e-4


def lowest_rise(seed, weights, sweeps=30):
    field, _, pairs = random_field(seed, n_documents=12, sweeps=1, weights=weights)
    values = [objective(field, pairs, weights)]
    for _ in range(sweeps):
        field.sweep(weights)
        values.append(objective(field, pairs, weights))
    return np.diff(values).min()


def test_sweeps_never_lower_the_objective(monkeypatch):
    assert min(lowest_rise(seed, STRONG) for seed in range(20)) > -1e-9
    damped = variational.link_field
    monkeypatch.setattr(
        variational, "link_field", lambda *arguments: (damped(*arguments)[0], np.zeros(len(arguments[1])))
    )
    assert min(lowest_rise(seed, STRONG) for seed in range(20)) < -1  # the plain fixed point does


def test_m_steps_never_lower_the_objective():
    field, counts, pairs = random_field(sweeps=3)
    phi, before = token_phi(field, counts), objective(field, pairs, STRONG)
    field.update_topics()
    after_topics = slow_objective(phi, field.topics, pairs, STRONG)  # the same phi under the new topics
    assert after_topics > before
    regression = LinkRegression(field.phibar, pairs, N_PSEUDO, VARIANCE)
    best = regression.maximise(STRONG)
    assert slow_objective(phi, field.topics, pairs, best) > after_topics
    np.testing.assert_allclose(regression.objective(best)[1], 0, atol=1e-3)


def test_weights_gradient_is_numerical_gradient():
    field, _, pairs = random_field(sweeps=1)
    regression, weights = LinkRegression(field.phibar, pairs, N_PSEUDO, VARIANCE), STRONG / 10
    for k in range(4):
        step = 1e-6 * np.eye(4)[k]
        slope = (
            slow_links(field.phibar, pairs, weights + step) - slow_links(field.phibar, pairs, weights - step)
        ) / 2e-6
        assert regression.objective(weights)[1][k] == pytest.approx(slope, abs=1e-5)


def test_no_pair_inside_a_block():
    pairs = random_pairs(np.random.default_rng(0), 40, share=0.3)
    graph = csr_array((np.ones(len(pairs)), (pairs.source, pairs.target)), shape=(40, 40))
    graph = csr_array(graph + graph.T)
    classes = colour_classes(graph)
    assert sorted(np.concatenate(classes)) == list(range(40))
    assert all(graph[group][:, group].nnz == 0 for group in classes)


def simulate(seed=0, n_documents=160, n_topics=4, n_words=60, length=30, weight=12.0, intercept=-10.0):
    """Draw a network from the model: topics, a train/test split of the documents, and links among all."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(n_words, 0.1), n_topics)
    theta = rng.dirichlet(np.full(n_topics, 0.2), n_documents)
    drawn = np.array([rng.multinomial(length, shares) for shares in theta])
    counts = np.array([sum(rng.multinomial(n, t) for n, t in zip(row, topics, strict=True)) for row in drawn])
    zbar = drawn / length
    linked = np.triu(rng.random((n_documents,) * 2) < expit(weight * zbar @ zbar.T + intercept), 1)
    n_train = 3 * n_documents // 4
    return SimpleNamespace(
        topics=topics,
        train=counts[:n_train],
        links=np.argwhere(linked[:n_train, :n_train]),
        test=counts[n_train:],
        test_links=(linked | linked.T)[n_train:, :n_train],
    )


MODES = [{}, {"n_pseudo": 3000}, {"negatives": 0.2}, {"negatives": 1}]


@pytest.mark.parametrize("mode", some_long(MODES, MODES[1:]), ids=str)
def test_planted_network_is_recovered(mode):
    """From the best of four starts by its objective: EM finds local optima, and single starts do miss."""
    network = simulate()
    starts = [VariationalRTM(4, alpha=1.0, random_state=seed, **mode) for seed in range(4)]
    model = max((start.fit(network.train, links=network.links) for start in starts), key=lambda fit: fit.bound_[-1])
    unit = [topics / np.linalg.norm(topics, axis=1, keepdims=True) for topics in (network.topics, model.topic_word_)]
    cosine = unit[0] @ unit[1].T
    assert cosine[linear_sum_assignment(-cosine)].min() > 0.95
    assert (np.diag(model.link_weights_) > 1).all()
    assert model.intercept_ < -1
    assert roc_auc_score(network.test_links.ravel(), model.predict_links(network.test).ravel()) > 0.9
    assert all(np.diff(start.bound_).min() > 0 for start in starts)


@pytest.mark.parametrize("mode", MODES, ids=str)
def test_fitted_attributes(mode):
    network = simulate(n_documents=40)
    model = VariationalRTM(3, max_iter=5, random_state=0, **mode).fit(network.train, links=network.links)
    assert model.topic_word_.shape == (3, 60)
    assert model.doc_topic_.shape == (30, 3)
    np.testing.assert_allclose(model.topic_word_.sum(axis=1), 1)
    np.testing.assert_allclose(model.doc_topic_.sum(axis=1), 1)
    assert np.count_nonzero(model.link_weights_ - np.diag(np.diag(model.link_weights_))) == 0
    assert isinstance(model.intercept_, float)
    assert len(model.bound_) == model.n_iter_ == 5
    assert model.n_features_in_ == 60
    assert set(model.timings_) == {"topics", "weights"}
    assert model.network_report_ is not None
    probabilities = model.predict_links(network.test)
    assert probabilities.shape == (10, 30)
    assert ((probabilities > 0) & (probabilities < 1)).all()
    again = clone(model).fit(network.train, links=network.links)
    np.testing.assert_array_equal(again.topic_word_, model.topic_word_)
    np.testing.assert_array_equal(again.link_weights_, model.link_weights_)
    other = clone(model).set_params(random_state=1).fit(network.train, links=network.links)
    assert not np.allclose(other.topic_word_, model.topic_word_)


def test_without_links_it_is_variational_lda():
    """Against EM written out token by token, from the same first topics."""
    counts = simulate(n_documents=16, n_words=12, length=8).train
    model = VariationalRTM(3, max_iter=3, max_doc_iter=4, tol=0, random_state=5)
    rng = np.random.default_rng(np.random.SeedSequence(5))
    topics = model._first_topics(csr_array(counts.astype(float)), rng)
    gammas = [np.full(3, 5 / 3 + row.sum() / 3) for row in counts]
    for _ in range(3):
        total = np.zeros_like(topics)
        for i, row in enumerate(counts):
            words = np.repeat(np.arange(12), row)
            for _ in range(4):
                log_theta = digamma(gammas[i]) - digamma(gammas[i].sum())
                phi = [topics[w] * np.exp(log_theta) for w in words]
                phi = [p / p.sum() for p in phi]
                gammas[i] = 5 / 3 + np.sum(phi, axis=0)
            for w, p in zip(words, phi, strict=True):
                total[w] += p
        topics = (total + 0.01) / (total + 0.01).sum(axis=0)
    model.fit(counts)
    np.testing.assert_allclose(model.topic_word_, topics.T, rtol=1e-9)
    np.testing.assert_allclose(model.doc_topic_, [gamma / gamma.sum() for gamma in gammas], rtol=1e-9)
    assert not model.link_weights_.any()
    assert model.intercept_ == 0


def test_transform_and_prediction_do_not_depend_on_the_batch(monkeypatch):
    network = simulate(n_documents=60)
    model = VariationalRTM(3, max_doc_iter=200, random_state=0).fit(network.train, links=network.links)
    shares, probabilities = model.transform(network.test), model.predict_links(network.test)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_allclose(model.transform(csr_array(network.test[::-1]))[::-1], shares, rtol=1e-12)
    np.testing.assert_allclose(model.predict_links(network.test[4:5]), probabilities[4:5], rtol=1e-12)
    monkeypatch.setattr(variational, "WORD_BLOCK_CELLS", 100)
    np.testing.assert_allclose(model.transform(network.test), shares, rtol=1e-12)


def test_small_blocks_give_the_same_model(monkeypatch):
    network = simulate(n_documents=60)
    model = VariationalRTM(3, max_iter=5, random_state=0).fit(network.train, links=network.links)
    monkeypatch.setattr(variational, "WORD_BLOCK_CELLS", 500)
    blocked = clone(model).fit(network.train, links=network.links)
    np.testing.assert_allclose(blocked.topic_word_, model.topic_word_, rtol=1e-7)


def test_directions_are_merged():
    network = simulate(n_documents=40)
    both = np.vstack([network.links, network.links[:, ::-1]])
    model = VariationalRTM(3, max_iter=3, random_state=0)
    once = clone(model).fit(network.train, links=network.links).predict_links(network.test)
    directed = DocumentNetwork(network.train, both, directed=True)
    np.testing.assert_allclose(clone(model).fit(directed).predict_links(network.test), once)
    matrix = csr_array((np.ones(len(both)), both.T), shape=(30, 30))
    np.testing.assert_allclose(clone(model).fit(network.train, links=matrix).predict_links(network.test), once)


@pytest.mark.filterwarnings("ignore::linktopics.errors.NetworkWarning")
def test_documents_without_words():
    network = simulate(n_documents=40)
    counts = network.train.copy()
    counts[3] = 0
    model = VariationalRTM(3, max_iter=5, random_state=0).fit(counts, links=[[3, 0], *network.links])
    np.testing.assert_allclose(model.doc_topic_[3], 1 / 3)
    # The same shares whether it is a training document, a candidate or a new document.
    np.testing.assert_allclose(model._phibar[3], 1 / 3)
    nothing, known = np.zeros((1, 60), dtype=int), model.predict_links(counts)
    scores = model._phibar @ np.diag(model.link_weights_) / 3 + model.intercept_
    np.testing.assert_allclose(model.predict_links(nothing)[0], expit(scores))
    np.testing.assert_allclose(known[3], expit(scores))
    np.testing.assert_allclose(known[3, 3], expit(np.trace(model.link_weights_) / 9 + model.intercept_))
    assert np.isfinite(model.bound_).all()
    np.testing.assert_allclose(model.transform(nothing), 1 / 3)


@pytest.mark.parametrize(
    "bad",
    [
        {"n_topics": 0},
        {"alpha": 0},
        {"beta": -1.0},
        {"negatives": 0},
        {"n_pseudo": 0},
        {"weight_variance": 0},
        {"max_iter": 0},
        {"max_doc_iter": 0},
        {"tol": -1},
        {"n_topics": 2.5},
    ],
    ids=str,
)
def test_bad_parameters_are_errors(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        VariationalRTM(**bad).fit(np.eye(3, dtype=int))


def test_bad_input_is_an_error():
    counts = np.eye(4, dtype=int)
    with pytest.raises(ValueError, match="links"):
        VariationalRTM(2).fit(DocumentNetwork(counts), links=[[0, 1]])
    with pytest.raises(ValueError, match="features"):
        VariationalRTM(2, max_iter=1).fit(counts).transform(np.eye(3, dtype=int))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("negatives", [None, 1])
def test_scikit_learn_contract(negatives):
    check_estimator(VariationalRTM(3, max_iter=5, negatives=negatives))
