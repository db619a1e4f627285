"""Features of pairs, against networks rebuilt without the pair's own links."""

import warnings
from math import nan

import numpy as np
import pytest
from scipy.sparse import csr_array

from linktopics import DocumentNetwork, RelationalTopicModel
from linktopics.errors import NetworkWarning
from linktopics.features import (
    DEFAULT_FEATURES,
    FEATURES,
    Column,
    Degree,
    Intercept,
    PairFunction,
    Similarity,
    resolve_features,
    similarity,
)
from linktopics.features.base import TrainingView
from linktopics.network.inputs import Documents
from support.feature_worlds import (
    BOTH,
    CANDIDATES,
    DEGREES,
    NAMES,
    NETWORK,
    NEW,
    TINY,
    K,
    N,
    every_pair,
    fitted,
    new_documents,
    same_parity,
    slow_known_pairs,
    slow_standard,
    slow_values,
    small,
    vectors_of,
)

# --- training pairs ---------------------------------------------------------------------------------------------------


def test_built_in_names():
    assert set(FEATURES) == set(NAMES)
    assert all(feature.name == name for name, feature in FEATURES.items())
    assert set(DEFAULT_FEATURES) < set(NAMES)


@BOTH
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", NAMES)
def test_training_pairs_do_not_see_their_own_links(name, directed, seed):
    network = small(directed, seed)
    features, standardised, view = fitted([name], network, seed)
    _, feature = features.features
    vectors, _ = vectors_of(name, feature, network)
    raw = slow_known_pairs(name, network, vectors, view.new, view.candidates, view.outgoing)
    np.testing.assert_allclose(feature.known_pairs(view), raw, rtol=0, atol=1e-9)
    if name == "intercept":
        np.testing.assert_array_equal(standardised, 1.0)
        return
    expected, mean, scale = slow_standard(raw)
    np.testing.assert_allclose(standardised, expected, rtol=0, atol=1e-8)
    np.testing.assert_allclose(features.mean, mean, rtol=0, atol=1e-9)
    np.testing.assert_allclose(features.scale, scale, rtol=0, atol=1e-9)
    assert raw[~np.isnan(raw)].std() > 0.05


@BOTH
def test_values_of_all_features_stand_in_their_order(directed):
    network = small(directed)
    features, standardised, view = fitted(["degree", "intercept", "tfidf"], network)
    names = [*(DEGREES if directed else ["degree"]), "intercept", "tfidf"]
    assert features.columns == names
    assert standardised.shape == (len(every_pair(network)), len(names))
    for span, feature in zip(features.spans, features.features, strict=True):
        raw = feature.known_pairs(view)
        np.testing.assert_allclose(standardised[:, span], raw if feature.name == "intercept" else slow_standard(raw)[0])
    links = every_pair(network).label
    np.testing.assert_allclose(features.link_mean, standardised[links].mean(axis=0), rtol=0, atol=1e-12)


@BOTH
def test_which_document_is_the_new_one_is_a_fair_coin(directed):
    network = small(directed)
    pairs = every_pair(network)
    coins = []
    for seed in range(30):
        *_, view = fitted(["tfidf"], network, seed)
        np.testing.assert_array_equal(np.where(view.outgoing, view.new, view.candidates), pairs.source)
        np.testing.assert_array_equal(np.where(view.outgoing, view.candidates, view.new), pairs.target)
        coins.append(view.outgoing)
    coins = np.array(coins)
    n = coins.size
    assert abs(coins.mean() - 0.5) < 4 * 0.5 / np.sqrt(n)
    assert abs(coins[:, pairs.label].mean() - 0.5) < 4 * 0.5 / np.sqrt(30 * pairs.label.sum())
    assert len({row.tobytes() for row in coins}) == 30
    together = (coins[:, 1:] == coins[:, :-1]).mean()
    assert abs(together - 0.5) < 4 * 0.5 / np.sqrt(n)
    *_, again = fitted(["degree", "tfidf"], network, 7)
    np.testing.assert_array_equal(again.outgoing, coins[7])


def with_links(network, links):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NetworkWarning)
        return DocumentNetwork(
            network.counts, np.array(sorted(links)), directed=network.directed, ids=network.ids,
            columns=network.columns, link_ends="indices",
        )  # fmt: skip


@BOTH
@pytest.mark.parametrize("name", [name for name in NAMES if name != "intercept"])
def test_a_link_has_no_say_in_the_numbers_of_its_own_pair(name, directed):
    """Whether it is in the network or not; but it has one in those of other pairs."""
    network = small(directed)
    pairs = every_pair(network)
    features, _, view = fitted([name], network)
    before = features.features[1].known_pairs(view)
    links = set(map(tuple, network.links.tolist()))
    changed = set()
    for e in [*np.flatnonzero(pairs.label)[::4], *np.flatnonzero(~pairs.label)[::15]]:
        pair = (int(pairs.source[e]), int(pairs.target[e]))
        other = with_links(network, links ^ {pair})
        features, _, same = fitted([name], other, pairs=pairs)
        np.testing.assert_array_equal(same.outgoing, view.outgoing)
        after = features.features[1].known_pairs(view)
        np.testing.assert_allclose(after[e], before[e], rtol=0, atol=1e-9)
        there = ~np.isclose(after, before, rtol=0, atol=1e-9, equal_nan=True).all(axis=1)
        assert not there[np.isin(pairs.source, pair) & np.isin(pairs.target, pair)].any()  # in either direction
        changed |= set(np.flatnonzero(there))
    assert bool(changed) == (name not in ("tfidf", "topics"))


def test_both_ways_are_left_out_of_a_pair_that_has_links_both_ways():
    """Documents 4 and 5 have no link but those with each other."""
    network = small(directed=True)
    pair = TrainingView(network, np.array([4, 5, 4, 5]), np.array([5, 4, 5, 4]), np.array([True, True, False, False]))
    values = {}
    for feature in fitted(NAMES, network)[0].features[1:]:
        values[feature.name] = feature.known_pairs(pair)
    np.testing.assert_array_equal(values["tfidf-neighbours"], nan)
    np.testing.assert_array_equal(values["topics-neighbours"], nan)
    np.testing.assert_allclose(values["tfidf-centroid"], values["tfidf"], rtol=0, atol=1e-9)
    np.testing.assert_array_equal(values["degree"], [[0, 0, nan, nan]] * 2 + [[nan, nan, 0, 0]] * 2)


def test_topics_of_neighbours_come_from_words_alone():
    network = small(directed=True)
    other = with_links(network, {(0, 1), (11, 10)})
    for documents in (network.counts, csr_array(NEW)):
        vectors = [
            features.features[1].prepare(Documents(documents)).toarray()
            for features in (
                fitted(["topics-neighbours"], network)[0],
                fitted(["topics-neighbours"], other, pairs=every_pair(network))[0],
            )
        ]
        np.testing.assert_array_equal(*vectors)
        assert vectors[0].shape == (documents.shape[0], K)
        assert (vectors[0] >= 0).all()
        np.testing.assert_allclose((vectors[0] ** 2).sum(axis=1), 1)


# --- new documents ----------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("outgoing", [True, False], ids=["outgoing", "incoming"])
@pytest.mark.parametrize("name", NAMES)
def test_new_documents(name, outgoing, directed):
    """All links of the candidates count, in blocks of any documents and candidates as pair by pair."""
    network = small(directed)
    features, *_ = fitted([name], network)
    _, feature = features.features
    old, new = vectors_of(name, feature, network)
    links = set(map(tuple, network.links.tolist()))
    raw = np.array([[slow_values(name, links, directed, v, old, j, outgoing) for j in range(N)] for v in new])
    _, prepared = whole = features.prepare(new_documents(network))
    found = feature.pairs(prepared, np.repeat(np.arange(4), N), np.tile(np.arange(N), 4), np.full(4 * N, outgoing))
    np.testing.assert_allclose(found.reshape(raw.shape), raw, rtol=0, atol=1e-9)
    for candidates in CANDIDATES.values():
        for rows in (slice(0, 4), slice(1, 3), slice(3, 4)):
            expected = slow_standard(raw[rows][:, candidates], features.mean, features.scale)[0]
            np.testing.assert_allclose(features.block(whole, rows, candidates, outgoing), expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("most", [1, 5])
@pytest.mark.parametrize("name", ["tfidf", "tfidf-neighbours", "tfidf-centroid", "topics-neighbours"])
def test_candidates_with_many_links(name, most, monkeypatch):
    """Sums of vectors that are kept, and products that are taken in parts, make no difference."""
    features, *_ = fitted([name], small(directed=True))
    _, feature = features.features
    _, prepared = features.prepare(new_documents(None))
    pairs = np.repeat(np.arange(4), N), np.tile(np.arange(N), 4)
    expected = feature.pairs(prepared, *pairs, np.full(4 * N, True))
    details = [feature.detail(prepared, row, candidate, True) for row, candidate in zip(*pairs, strict=True)]
    monkeypatch.setattr(similarity, "HUB_MIN_NEIGHBOURS", 1)
    monkeypatch.setattr(similarity, "MEMBERS_AT_ONCE", most)
    vars(feature).pop("hubs", None)
    vars(feature).pop("norm", None)
    assert (feature.hubs[1] >= 0).any()
    assert (feature.hubs[1] < 0).any()
    np.testing.assert_allclose(feature.pairs(prepared, *pairs, np.full(4 * N, True)), expected, atol=1e-12)
    assert details == [feature.detail(prepared, row, candidate, True) for row, candidate in zip(*pairs, strict=True)]


@pytest.mark.parametrize("name", ["tfidf-neighbours", "tfidf-centroid", "topics-neighbours"])
def test_products_with_all_documents_or_with_members_alone(name, monkeypatch):
    features, *_ = fitted([name], small(directed=True))
    _, feature = features.features
    _, prepared = features.prepare(new_documents(None))
    # Of the first document few pairs, of the last all, in no order.
    pairs = np.array([(row, j) for row in range(4) for j in range(N) if row == 3 or j % 4 < row])
    pairs = np.random.default_rng(0).permutation(pairs).T
    found, made = [], []
    original = similarity._product
    monkeypatch.setattr(similarity, "_product", lambda *given: made.append(1) or original(*given))
    for few in (0, 1, 10**6):
        monkeypatch.setattr(similarity, "MIN_DOCUMENTS_PER_MEMBER", few)
        made.clear()
        found.append((feature.pairs(prepared, *pairs, np.full(pairs.shape[1], True)), len(made)))
    assert [n for _, n in found] == sorted({n for _, n in found})
    assert found[0][1] == 0
    for values, _ in found[1:]:
        np.testing.assert_allclose(values, found[0][0], atol=1e-12)


@BOTH
def test_pairs_of_all_features(directed):
    """What holds in both directions is worked out once."""
    network = small(directed)
    given = [*NAMES, Column("year", "difference"), Column("venue"), PairFunction(same_parity, "parity")]
    features, *_ = fitted(given, network)
    prepared = features.prepare(new_documents(network))
    rows, candidates = np.repeat(np.arange(4), N), np.tile(np.arange(N), 4)
    found = features.pairs(prepared, rows, candidates, ["out", "in"])
    for direction, outgoing in (("out", True), ("in", False)):
        expected = features.block(prepared, slice(0, 4), np.arange(N), outgoing)
        np.testing.assert_allclose(found[direction].reshape(expected.shape), expected, atol=1e-9)
        by_column = features.by_column(prepared, slice(0, 4), np.arange(N), outgoing, range(len(features.features)))
        np.testing.assert_allclose(np.stack([by_column[c] for c in sorted(by_column)], axis=2), expected, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_pairs_of_both_directions_at_once(name):
    features, *_ = fitted([name], small(directed=True))
    _, feature = features.features
    _, prepared = features.prepare(new_documents(None))
    rows, candidates = np.repeat(np.arange(4), N), np.tile(np.arange(N), 4)
    outgoing = np.random.default_rng(0).random(4 * N) < 0.5
    out, into = (feature.pairs(prepared, rows, candidates, np.full(4 * N, outgoing)) for outgoing in (True, False))
    mixed = feature.pairs(prepared, rows, candidates, outgoing)
    np.testing.assert_array_equal(mixed, np.where(outgoing[:, None], out, into))


@BOTH
def test_all_features_together_in_a_block(directed):
    network = small(directed)
    given = [*NAMES, Column("year", "difference"), Column("venue"), PairFunction(same_parity, "parity")]
    features, *_ = fitted(given, network)
    prepared = features.prepare(new_documents(network))
    whole = features.block(prepared, slice(1, 4), CANDIDATES["chosen"], False)
    assert whole.shape == (3, 7, len(features.columns))
    assert np.isfinite(whole).all()
    for feature, one, span in zip(features.features, prepared, features.spans, strict=True):
        raw = feature.block(one, slice(1, 4), CANDIDATES["chosen"], False)
        expected = slow_standard(raw, features.mean[span], features.scale[span])[0]
        np.testing.assert_allclose(whole[:, :, span], expected, rtol=0, atol=1e-12)


# --- units ------------------------------------------------------------------------------------------------------------


def standardised_values(values):
    """Return the standardised values of pairs for which a function gives these values, in the order of the pairs."""
    return fitted([PairFunction(lambda sources, targets: values, "given")], small(directed=True))[:2]


def test_what_is_not_known_becomes_the_mean():
    n = len(every_pair(small(directed=True)))
    values = np.random.default_rng(0).normal(7, 3, n)
    values[::3] = nan
    features, standardised = standardised_values(values)
    known = values[~np.isnan(values)]
    np.testing.assert_allclose([features.mean[0], features.scale[0]], [known.mean(), known.std()])
    np.testing.assert_array_equal(standardised[::3, 0], 0.0)
    np.testing.assert_allclose(standardised[1::3, 0], (values[1::3] - known.mean()) / known.std())


@pytest.mark.parametrize("constant", [0.0, 0.1, -3.0, 1e6, 1990 / 3, nan])
def test_constant_columns_have_the_unit_one(constant):
    n = len(every_pair(small(directed=True)))
    features, standardised = standardised_values(np.full(n, constant))
    np.testing.assert_allclose(standardised, 0.0, rtol=0, atol=1e-9)
    assert features.scale[0] == 1.0
    values = np.full(n, constant)
    values[5] = nan
    np.testing.assert_allclose(standardised_values(values)[1], 0.0, rtol=0, atol=1e-9)


def test_small_differences_are_differences():
    n = len(every_pair(small(directed=True)))
    values = 1e-7 * np.random.default_rng(0).normal(size=n)
    np.testing.assert_allclose(standardised_values(values)[1].std(), 1.0)
    np.testing.assert_allclose(standardised_values(values + 1990)[1].std(), 1.0, rtol=1e-3)


# --- names ------------------------------------------------------------------------------------------------------------


def test_resolve_features():
    assert resolve_features(None) == resolve_features([]) == []
    assert [feature.name for feature in resolve_features("default")] == list(DEFAULT_FEATURES)
    own = Column("year", "difference")
    assert resolve_features(["degree", own, Similarity("topics", "neighbours")])[1] is own
    assert resolve_features(["degree"], intercept=True) == [Degree(), Intercept()]
    assert resolve_features(["intercept", "degree"], intercept=True) == [Intercept(), Degree()]
    assert resolve_features(None, intercept=True) == [Intercept()]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["tfdif"], "'tfdif' is not a pair feature; the names are 'tfidf', .*'degree'.*Column"),
        (["default", "intercept"], "'default' is not a pair feature"),
        ([None], "None is not a pair feature"),
        ([Column], "Column'> is not a pair feature"),
        ([len], "is not a pair feature"),
        (["tfidf", "degree", "tfidf"], "'tfidf' twice"),
        (["tfidf", Similarity()], "'tfidf' twice"),
        ([PairFunction(len, "f"), PairFunction(max, "f")], "'f' twice"),
        ([Column("year"), Column("year", "equal")], "twice"),
        ([PairFunction(len, "tfidf"), "tfidf"], "'tfidf' twice"),
        ("tfidf", "pair_features"),
        ("defualt", "pair_features"),
        (3, "pair_features"),
        (True, "pair_features"),
        (len, "pair_features"),
    ],
)
def test_features_that_do_not_exist(given, message):
    with pytest.raises(ValueError, match=message):
        resolve_features(given)
    with pytest.raises(ValueError, match=message):
        RelationalTopicModel(K, **TINY, pair_features=given).fit(NETWORK)


def test_a_bare_name_is_answered_with_a_list():
    with pytest.raises(ValueError, match=r"a list such as \['tfidf'\]"):
        RelationalTopicModel(K, **TINY, pair_features="tfidf").fit(NETWORK)


@pytest.mark.parametrize(("of", "part"), [("bm25", "own"), ("tfidf", "friends"), ("topics", "")])
def test_similarities_that_do_not_exist(of, part):
    with pytest.raises(ValueError, match=repr(part if of != "bm25" else of)):
        fitted([Similarity(of, part)], small(directed=True))
