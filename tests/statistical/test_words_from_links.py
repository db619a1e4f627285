"""Topics of documents of which only links are known, against the list of everything their tokens can be.

A new document of N tokens has few enough counts of topics to list them. Each has its Dirichlet-multinomial probability
times, for every link, sigmoid(score)^cost or exp(-2 cost max(0, margin - score)); augmented variables play no part in
it. Features add the same to the score of every link, since all have those of the average training link. Documents of
one call are independent of one another, as the training documents they link with are fixed: the means of some thousands
of equal documents are normal around the exact value, with a spread that the documents themselves show.
False-alarm rate: 1e-3 for each case (Bonferroni over topics; fixed seeds: they pass or fail for good). Every case also
says which mistakes it sees: the same test must reject what they would give.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln

from linktopics import DocumentNetwork, RelationalTopicModel
from linktopics.features import PairFunction
from linktopics.prediction import words_from_links
from linktopics.prediction.words_from_links import topics_from_links
from linktopics.sampler.runner import PosteriorSample
from support import reference
from support.marks import some_long
from support.settings import make_settings as settings_of
from support.worlds import KINDS, p_value

ALPHA = 1.5
MARGIN = 1.0
N_DOCUMENTS = 5_000
FALSE_ALARM = 1e-3
CERTAIN = 1e-9

OLD = {  # topics of the training documents, exact in float32
    2: np.array([[0.875, 0.125], [0.25, 0.75], [0.5, 0.5], [0.0, 1.0]]),
    3: np.array([[0.75, 0.125, 0.125], [0.125, 0.25, 0.625], [0.25, 0.5, 0.25], [0.0, 1.0, 0.0]]),
}
WEIGHTS = {
    (2, "full"): np.array([[1.5, -1.0], [2.0, -0.5]]),
    (2, "symmetric"): np.array([[1.5, -1.0], [-1.0, 0.5]]),
    (2, "diagonal"): np.diag([2.5, -1.0]),
    (3, "full"): np.array([[1.0, -2.0, 0.5], [2.0, 0.5, -1.0], [-0.5, 1.5, 0.0]]),
    (3, "symmetric"): np.array([[1.0, -2.0, 0.5], [-2.0, 0.5, 1.5], [0.5, 1.5, 0.0]]),
    (3, "diagonal"): np.diag([2.5, -1.0, 1.5]),
}
FEATURES = {  # features of links, and their weights
    "none": ([], []),
    "numbers": ([1.0, 0.5, -2.0], [-0.25, 1.5, 1.0]),
}


def even(K):
    """Return the alpha of topics that share it evenly."""
    return np.full(K, ALPHA / K)


def exact_topics(weights, shift, out, into, length, loss, cost, old, alpha, augmented=None):
    """Return the posterior mean of (c + alpha) / (N + sum of alpha): all counts c of topics, one by one.

    With `augmented`, links count what they do while the augmented variables have that value.
    """
    K = len(weights)
    counts = np.array([c for c in product(range(length + 1), repeat=K) if sum(c) == length], dtype=float)
    source = np.array([0] * len(out) + [1 + j for j in into], dtype=int)
    target = np.array([1 + j for j in out] + [0] * len(into), dtype=int)
    log_p = reference.log_dirichlet_multinomial(counts, alpha)  # of one sequence of topics with these counts
    log_p += gammaln(length + 1) - gammaln(counts + 1).sum(axis=1)  # sequences
    for s, c in enumerate(counts):
        omega = reference.scores(np.vstack([c, old]), source, target, weights, shift)
        if augmented is not None:
            form = reference.gaussian_form(loss, np.full(len(omega), augmented), np.ones(len(omega)), cost, 1.0, MARGIN)
            log_p[s] += reference.log_pairs(*form, omega)
        elif loss == "logistic":
            log_p[s] += reference.log_logistic(omega, 1.0, cost).sum()
        else:
            log_p[s] += reference.log_hinge(omega, 1.0, cost, MARGIN).sum()
    p = np.exp(log_p - np.logaddexp.reduce(log_p))
    return p @ (counts + alpha) / (length + alpha.sum())


def make_sample(weights, old, feature_weights=(), chain=0, word_topic=None, alpha=None):
    shares = old.astype(np.float32)
    np.testing.assert_array_equal(shares, old)
    words = np.zeros((1, 8), np.float32) if word_topic is None else word_topic
    alpha = even(len(weights)) if alpha is None else alpha
    return PosteriorSample(chain, 0.0, words, shares, weights, np.array(feature_weights, dtype=float), alpha)


def make_settings(K, kind, loss, cost):
    weights, _ = KINDS[kind]
    return settings_of(K, loss=loss, weights=weights, alpha=ALPHA, link_cost=cost, nonlink_cost=7.0, margin=MARGIN)


def link_pairs(links):
    """Turn lists of training documents, one for each new document, into pairs."""
    return np.array([(i, j) for i, linked in enumerate(links) for j in linked], dtype=np.int64).reshape(-1, 2)


CASES = {
    # K, tokens, kind of weights, features, links out, links in
    "2 topics": (2, 3, "full", "none", [0, 3], [1]),
    "3 topics, features": (3, 4, "full", "numbers", [0], [1]),
    "3 topics, one document at both ends": (3, 3, "full", "none", [0], [0]),
    "undirected": (3, 4, "symmetric", "none", [0, 1], []),
    "undirected, features": (2, 4, "symmetric", "numbers", [0, 1], []),
    "diagonal": (2, 4, "diagonal", "none", [0, 3], [1]),
    "diagonal, features": (3, 3, "diagonal", "numbers", [0], [1]),
    "uneven alpha": (3, 4, "full", "none", [0, 3], [1]),
}
UNEVEN = np.array([0.15, 2.0, 0.6])
"""The alpha of topics in the case of that name. The settings, where a fit begins, speak of `ALPHA` as always."""


@pytest.mark.parametrize(
    ("case", "loss", "cost"),
    some_long(product(CASES, ("logistic", "hinge"), (1.0, 2.5)), [("diagonal", "logistic", 1.0)]),
)
def test_topics_from_links(case, loss, cost):
    K, length, kind, which, out, into = CASES[case]
    features, feature_weights = FEATURES[which]
    weights, shift, old = WEIGHTS[K, kind], sum(np.multiply(features, feature_weights)), OLD[K]
    alpha = UNEVEN if case == "uneven alpha" else even(K)
    rows = topics_from_links(
        make_sample(weights, old, feature_weights, alpha=alpha),
        make_settings(K, kind, loss, cost),
        link_pairs([out] * N_DOCUMENTS),
        link_pairs([into] * N_DOCUMENTS),
        N_DOCUMENTS,
        length,
        symmetric=KINDS[kind][1],
        link_features=np.array(features),
        seed=np.random.SeedSequence(list(f"{case} {loss} {cost}".encode())),
    )
    np.testing.assert_allclose(rows.sum(axis=1), 1)

    def exact(weights=weights, shift=shift, out=out, into=into, cost=cost, alpha=alpha, **others):
        return exact_topics(weights, shift, out, into, length, loss, cost, old, alpha, **others)

    assert p_value(rows, exact()) > FALSE_ALARM

    mistakes = {
        "links ignored": exact(out=[], into=[]),
        "the first link alone": exact(out=out[:1], into=[]),
        "another training document": exact(out=[2, *out[1:]]),
        "another cost": exact(cost=7.0),
        "augmented variables stay at 1": exact(augmented=1.0),
    }
    if kind == "full" and out != into:  # with one document at both ends, transposed weights mean the same
        mistakes["weights transposed"] = exact(weights=weights.T)
    if kind == "full":
        mistakes["links in taken for links out"] = exact(out=out + into, into=[])
    if which != "none":
        mistakes["no features"] = exact(shift=0.0)
        mistakes["the wrong sign of features"] = exact(shift=-shift)
    if case == "uneven alpha":
        mistakes["alpha of the settings"] = exact(alpha=even(K))
        mistakes["alpha spread evenly"] = exact(alpha=np.full(K, UNEVEN.mean()))
    missed = [name for name, wrong in mistakes.items() if p_value(rows, wrong) > CERTAIN]
    assert not missed, f"the test does not see: {missed}"


def test_documents_with_different_links_in_one_call():
    """Each document has its own links, in whatever order they come; some have none."""
    rng = np.random.default_rng(0)
    kinds = [([0, 3], [1]), ([], [2, 3]), ([1], []), ([], [])]
    of = np.arange(4 * N_DOCUMENTS) % 4
    rng.shuffle(of)
    out, into = (link_pairs([kinds[k][way] for k in of]) for way in (0, 1))
    rows = topics_from_links(
        make_sample(WEIGHTS[3, "full"], OLD[3]),
        make_settings(3, "full", "logistic", 4.0),
        rng.permutation(out),
        rng.permutation(into),
        len(of),
        3,
        symmetric=False,
        link_features=np.empty(0),
        seed=np.random.SeedSequence(1),
    )
    expected = [exact_topics(WEIGHTS[3, "full"], 0.0, *links, 3, "logistic", 4.0, OLD[3], even(3)) for links in kinds]
    np.testing.assert_allclose(expected[3], 1 / 3)
    for k, mean in enumerate(expected):
        assert p_value(rows[of == k], mean) > FALSE_ALARM / 4
        assert p_value(rows[of == k], expected[k - 1]) < CERTAIN


@pytest.mark.long
@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_long_documents(loss):
    """Tokens of a long document follow one another, so that its topics move slowly away from where they start.

    The start is an even mix of topics. At most a tenth of the way from there to the exact mean may be missing, and what
    chance explains (false-alarm rate 1e-3). The length is that of the documents of the built-in network.
    """
    n_documents, length, weights = 500, 215, np.diag([4.0, 4.0])
    rows = topics_from_links(
        make_sample(weights, OLD[2]),
        make_settings(2, "full", loss, 4.0),
        link_pairs([[3]] * n_documents),
        link_pairs([[1]] * n_documents),
        n_documents,
        length,
        symmetric=False,
        link_features=np.empty(0),
        seed=np.random.SeedSequence(0),
    )
    expected = exact_topics(weights, 0.0, [3], [1], length, loss, 4.0, OLD[2], even(2))[0]
    error = rows[:, 0].std() / np.sqrt(n_documents)
    assert expected < 0.4
    assert abs(rows[:, 0].mean() - expected) < 0.1 * (0.5 - expected) + error * stats.norm.isf(FALSE_ALARM / 2)


# --- through the model: topics are mixed into words, over samples, with links the right way round ---------------------

N_WORDS = 5
LENGTH = 3
LINKS = [("a", "b"), ("c", "d")]


def make_model(directed, loss, pair_features=None, feature_weights=(), alpha=None):
    """Fit a model of documents of three tokens on average, and give it samples of two chains in place of its own.

    All pairs that are not linked are its non-links.
    """
    rng = np.random.default_rng(3)
    counts = np.array([[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [0, 0, 1, 1, 1], [0, 2, 0, 1, 3]])
    assert counts.sum() == 4 * LENGTH
    network = DocumentNetwork(counts, LINKS, ids=list("abcd"), directed=directed)
    settings = {"alpha": ALPHA, "link_cost": 2.5, "nonlink_cost": 7.0, "negatives": 5 if directed else 2}
    model = RelationalTopicModel(
        3, loss=loss, pair_features=pair_features, n_burn_in=1, n_samples=1, random_state=0, **settings
    ).fit(network)
    assert model.n_pairs_ == (12 if directed else 6)
    words = [np.zeros((N_WORDS, 8), np.float32) for _ in range(2)]
    for topics in words:
        topics[:, :3] = rng.dirichlet(np.ones(N_WORDS), size=3).T
    weights = WEIGHTS[3, "full" if directed else "symmetric"]
    model.samples_ = [
        make_sample(weights, OLD[3], feature_weights, 0, words[0], alpha),
        make_sample(-1.5 * weights, OLD[3][::-1].copy(), feature_weights, 1, words[1], alpha),
    ]
    return model


def exact_words(model, out, into, loss, length=LENGTH, shift=0.0):
    mixes = [
        exact_topics(s.weights, shift, out, into, length, loss, 2.5, s.doc_topic.astype(float), s.alpha)
        @ s.word_topic[:, :3].T
        for s in model.samples_
    ]
    return np.mean(mixes, axis=0)


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_words_from_links(loss, monkeypatch):
    """Also in blocks, each of which has random numbers of its own."""
    monkeypatch.setattr(words_from_links, "TOKENS_AT_ONCE", 1_000 * LENGTH)
    model = make_model(True, loss)
    rows = model.word_probabilities([["a", "d"]] * N_DOCUMENTS, [["b"]] * N_DOCUMENTS)
    np.testing.assert_allclose(rows.sum(axis=1), 1)
    assert p_value(rows, exact_words(model, [0, 3], [1], loss)) > FALSE_ALARM
    for out, into in (([1], [0, 3]), ([0, 1, 3], []), ([0, 3], []), ([], [])):
        assert p_value(rows, exact_words(model, out, into, loss)) < CERTAIN
    for length in (LENGTH - 1, LENGTH + 1):
        assert p_value(rows, exact_words(model, [0, 3], [1], loss, length)) < CERTAIN
    assert not np.array_equal(rows[:1_000], rows[1_000:2_000])


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_links_have_the_features_of_the_average_training_link(loss):
    """Numbers come in standard deviations from the mean of all training pairs, the intercept as it is."""
    rng = np.random.default_rng(4)
    table = {(a, b): rng.normal(3.0, 2.0) for a in "abcd" for b in "abcd" if a != b}
    for link in LINKS:
        table[link] -= 4.0
    numbers = PairFunction(lambda sources, targets: [table[pair] for pair in zip(sources, targets, strict=True)], "x")
    model = make_model(True, loss, [numbers, "intercept"], [0.75, -0.5])
    every = np.array(list(table.values()))
    standard = [(table[link] - every.mean()) / every.std() for link in LINKS]
    shift = 0.75 * np.mean(standard) - 0.5
    assert shift < -1
    rows = model.word_probabilities([["a", "d"]] * N_DOCUMENTS, [["b"]] * N_DOCUMENTS)

    def exact(shift):
        return exact_words(model, [0, 3], [1], loss, shift=shift)

    assert p_value(rows, exact(shift)) > FALSE_ALARM
    raw = 0.75 * np.mean([table[link] for link in LINKS]) - 0.5
    for wrong in (0.0, -shift, shift + 0.5, -0.5, raw):
        assert p_value(rows, exact(wrong)) < CERTAIN


def test_words_from_links_without_direction():
    model = make_model(False, "logistic")
    rows = model.word_probabilities([["a"]] * N_DOCUMENTS, [["b"]] * N_DOCUMENTS)
    assert p_value(rows, exact_words(model, [0, 1], [], "logistic")) > FALSE_ALARM
    assert p_value(rows, exact_words(model, [0], [], "logistic")) < CERTAIN
    np.testing.assert_array_equal(model.word_probabilities([["a", "b"]] * N_DOCUMENTS), rows)


@pytest.mark.parametrize("alpha", [even(3), UNEVEN], ids=["even", "uneven"])
def test_words_without_links_are_those_of_the_prior(alpha):
    model = make_model(True, "logistic", alpha=alpha)
    rows = model.word_probabilities([[], ["a"], []])
    np.testing.assert_allclose(rows[[0, 2]], [exact_words(model, [], [], "logistic")] * 2, rtol=1e-6)
    mixed = np.mean([s.word_topic[:, :3] @ alpha / alpha.sum() for s in model.samples_], axis=0)
    np.testing.assert_allclose(rows[0], mixed, rtol=1e-6)
