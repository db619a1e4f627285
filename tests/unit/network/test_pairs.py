"""Training pairs: every link, and a uniform sample of the pairs that are not linked.

Seen to fail once against broken versions of `sample_pairs`: one that never draws the last unobserved pair, one that
leaves out the shift past the links, one that draws with replacement, one that numbers all pairs as directed ones.
"""

import time
import tracemalloc
import warnings
from itertools import islice

import numpy as np
import pytest
from scipy import stats

from linktopics import NetworkWarning
from linktopics.network import pairs
from linktopics.network.pairs import NEGATIVES_PER_LINK, TrainingPairs, sample_pairs

BOTH = pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])


def every_pair(n, directed):
    return [(i, j) for i in range(n) for j in range(n) if (i != j if directed else i < j)]


def random_links(n, directed, share, seed=0):
    """Draw a share of all pairs as links, in no order."""
    every = np.array(every_pair(n, directed))
    return np.random.default_rng(seed).permutation(every)[: round(share * len(every))]


def draw(links, n, directed, negatives, seed=0):
    return sample_pairs(links, n, directed, negatives, np.random.default_rng(seed))


def as_tuples(source, target):
    return list(zip(source.tolist(), target.tolist(), strict=True))


def assert_sound(found, links, directed):
    """Check what holds for every sample: sorted, all links, nothing twice, no self pair, no link among non-links."""
    assert isinstance(found, TrainingPairs)
    assert (found.source.dtype, found.target.dtype, found.label.dtype) == (np.int32, np.int32, bool)
    assert found.source.flags.c_contiguous
    assert found.target.flags.c_contiguous
    listed = as_tuples(found.source, found.target)
    assert listed == sorted(set(listed))
    assert (found.source != found.target).all()
    if not directed:
        assert (found.source < found.target).all()
    if listed:
        assert min(map(min, listed)) >= 0
        assert max(map(max, listed)) < found.n_documents
    linked = as_tuples(found.source[found.label], found.target[found.label])
    assert linked == sorted(map(tuple, links.tolist()))
    return len(found) - len(linked)


@BOTH
@pytest.mark.parametrize("share", [0.02, 0.3, 0.9])
@pytest.mark.parametrize("negatives", [0.0, 0.01, 0.1, 0.5, 0.9, 0.999])
def test_a_fraction_of_the_unobserved_pairs(directed, share, negatives):
    n = 25
    links = random_links(n, directed, share)
    n_unobserved = len(every_pair(n, directed)) - len(links)
    expected = round(negatives * n_unobserved)
    if negatives > 0 and expected == 0:
        with pytest.warns(NetworkWarning, match="nothing to compare the links with"):
            found = draw(links, n, directed, negatives)
        expected = min(NEGATIVES_PER_LINK * len(links), n_unobserved)
    else:
        found = draw(links, n, directed, negatives)
    assert assert_sound(found, links, directed) == expected
    assert found.n_documents == n


@BOTH
def test_a_fraction_that_means_none_is_replaced(directed):
    links = np.array([[0, 1], [2, 3]])
    with pytest.warns(NetworkWarning, match=r"would be 0 non-links.*; 5 per link, 10, are drawn instead"):
        found = draw(links, 6, directed, 0.01)
    assert assert_sound(found, links, directed) == 10


@BOTH
@pytest.mark.parametrize("negatives", [1, 2.5, 5])
def test_a_number_per_link(directed, negatives):
    links = random_links(25, directed, 0.1)
    assert assert_sound(draw(links, 25, directed, negatives), links, directed) == round(negatives * len(links))


@BOTH
@pytest.mark.parametrize("share", [0.5, 0.99, 1.0])
def test_more_per_link_than_there_are(directed, share):
    n = 12
    links = random_links(n, directed, share)
    found = draw(links, n, directed, 100)
    assert_sound(found, links, directed)
    assert as_tuples(found.source, found.target) == every_pair(n, directed)


@BOTH
@pytest.mark.parametrize("n", [1, 2, 40])
@pytest.mark.parametrize("negatives", [0.5, 3])
def test_no_links_no_pairs(directed, n, negatives):
    found = draw(np.empty((0, 2), np.int64), n, directed, negatives)
    assert len(found) == 0
    assert found.n_documents == n


@BOTH
def test_two_documents(directed):
    links = np.array([[0, 1]])
    assert assert_sound(draw(links, 2, directed, 5), links, directed) == (1 if directed else 0)


@BOTH
def test_seeds(directed):
    links = random_links(30, directed, 0.1)
    one, same, other = (draw(links, 30, directed, 0.2, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.source, same.source)
    np.testing.assert_array_equal(one.target, same.target)
    assert as_tuples(one.source, one.target) != as_tuples(other.source, other.target)
    shuffled = draw(links[::-1], 30, directed, 0.2, 1)
    np.testing.assert_array_equal(shuffled.target, one.target)


@BOTH
def test_too_many_for_a_fraction(directed, monkeypatch):
    links = random_links(60, directed, 0.02)
    n_unobserved = len(every_pair(60, directed)) - len(links)
    wanted = round(0.5 * n_unobserved)
    monkeypatch.setattr(pairs, "MAX_NEGATIVES", wanted)
    assert assert_sound(draw(links, 60, directed, 0.5), links, directed) == wanted  # the limit itself is allowed
    monkeypatch.setattr(pairs, "MAX_NEGATIVES", wanted - 1)
    with pytest.warns(NetworkWarning) as caught:
        found = draw(links, 60, directed, 0.5)
    assert assert_sound(found, links, directed) == pairs.NEGATIVES_PER_LINK * len(links)
    message = str(caught[0].message)
    for part in (f"{n_unobserved:,}", f"{wanted:,}", f"{wanted - 1:,}", f"negatives={pairs.NEGATIVES_PER_LINK}"):
        assert part in message
    n_links = len(links)
    assert assert_sound(draw(links, 60, directed, 20), links, directed) == 20 * n_links  # a number per link is obeyed


@BOTH
@pytest.mark.parametrize("n", [2, 3, 7, 50])
def test_rank_numbers_the_pairs_and_unrank_inverts_it(directed, n):
    every = np.array(every_pair(n, directed))
    ranks = pairs._rank(every, n, directed)
    np.testing.assert_array_equal(ranks, np.arange(len(every)))
    np.testing.assert_array_equal(pairs._unrank(ranks, n, directed), every)


@BOTH
def test_rank_of_many_documents(directed):
    """Where a number of pairs no longer fits 32 bits."""
    n = 200_000
    ends = np.random.default_rng(0).integers(n, size=(1000, 2))
    ends = np.vstack([ends[ends[:, 0] != ends[:, 1]], [[0, 1], [n - 2, n - 1]]])
    ends = ends if directed else np.sort(ends, axis=1)
    ranks = pairs._rank(ends, n, directed)
    assert ranks.max() > 2**32
    assert ranks.min() == 0
    np.testing.assert_array_equal(pairs._unrank(ranks, n, directed), ends)


@BOTH
@pytest.mark.parametrize(("negatives", "draws"), [(0.1, 8000), (0.5, 2000), (0.8, 4000)])
def test_every_unobserved_pair_is_equally_likely(directed, negatives, draws):
    """Chi-square of how often each pair is drawn; false alarm once in 10,000 (per case, for another seed).

    Drawn without replacement, m of n pairs at a time, the counts have the covariance of a multinomial times
    (n - m) / (n - 1), so the statistic divided by that is chi-square with n - 1 degrees of freedom.
    """
    n = 7
    links = random_links(n, directed, 0.25, seed=3)
    free = [pair for pair in every_pair(n, directed) if list(pair) not in links.tolist()]
    m = round(negatives * len(free))
    rng = np.random.default_rng(12)
    counts = dict.fromkeys(free, 0)
    for _ in range(draws):
        found = sample_pairs(links, n, directed, negatives, rng)
        for pair in as_tuples(found.source[~found.label], found.target[~found.label]):
            counts[pair] += 1  # a link or a self pair would be a KeyError
    expected = draws * m / len(free)
    assert expected >= 400
    statistic = sum((count - expected) ** 2 for count in counts.values()) / expected
    statistic /= (len(free) - m) / (len(free) - 1)
    assert stats.chi2.sf(statistic, len(free) - 1) > 1e-4


@BOTH
def test_a_large_network(directed):
    """60,000 documents: 3.6 billion pairs, of which no list may be made."""
    n = 60_000
    rng = np.random.default_rng(0)
    links = rng.integers(n, size=(300_000, 2))
    links = links[links[:, 0] != links[:, 1]]
    links = np.unique(links if directed else np.sort(links, axis=1), axis=0)
    tracemalloc.start()
    start = time.process_time()
    found = sample_pairs(links, n, directed, 5, rng)
    seconds = time.process_time() - start
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    n_pairs = 6 * len(links)
    assert len(found) == n_pairs
    assert seconds < 15  # about one
    assert peak < 150 * n_pairs  # bytes; a bit per pair of documents would be 450 MB, a byte 3.6 GB
    key = found.source.astype(np.int64) * n + found.target
    assert (np.diff(key) > 0).all()
    assert (found.source != found.target).all()
    np.testing.assert_array_equal(key[found.label], links[:, 0] * n + links[:, 1])


@pytest.mark.parametrize(
    ("n_documents", "n_links", "expected"),
    [
        (1000, 1000, 9980),  # 1 % of 998,000 is ten per link
        (100, 200, 1000),  # 1 % would be 97: at least five per link
        (2000, 300, 6000),  # 1 % would be 39,977: at most twenty per link
        (3000, 60_000, 300_000),  # 1 % would be 89,370, so five per link
        (5, 8, 12),  # five per link would be 40, and there are 12
        (4, 12, 0),  # every pair is a link
    ],
)
def test_auto_is_a_fraction_within_bounds_per_link(n_documents, n_links, expected):
    every = ((i, j) for i in range(n_documents) for j in range(n_documents) if i != j)
    links = np.array(list(islice(every, n_links)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pairs = sample_pairs(links, n_documents, True, "auto", np.random.default_rng(0))
    assert int(pairs.label.sum()) == n_links
    assert len(pairs) - n_links == expected


def test_auto_draws_a_million_at_most_unless_five_per_link_are_more(monkeypatch):
    monkeypatch.setattr("linktopics.network.pairs.MAX_NEGATIVES", 300)
    links = np.array(every_pair(200, True))  # of whose 39,800 1 % are 398
    for n_links, expected in ((19, 300), (50, 300), (70, 350), (15, 300)):
        found = sample_pairs(links[:n_links], 200, True, "auto", np.random.default_rng(0))
        assert len(found) - n_links == expected, n_links
