"""Baselines of latent dimensions and topics: LSA and LDA.

Seen to fail once against broken versions: source and target swapped, an undirected regression that tells its ends
apart, and weights of the regression with another prior.
"""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from linktopics import DataError, DocumentNetwork, NetworkWarning
from linktopics.evaluation.baselines import (
    LdaCosine,
    LdaLogistic,
    LsaLogistic,
    TfidfCosine,
)
from linktopics.evaluation.metrics import auc
from support.baselines import DENSE, NETWORK, NEW, UNDIRECTED, slow_neighbours, slow_tfidf

EVERY_NON_LINK = 1e9


class TestLsa:
    def test_is_a_regression_on_products_of_singular_vectors(self):
        """With every non-link in training nothing is random, and the signs of singular vectors cancel in products."""
        vectors = slow_tfidf(DENSE, DENSE)
        basis = np.linalg.svd(vectors, full_matrices=False)[2][:4].T

        def reduce(rows):
            reduced = rows @ basis
            return reduced / np.maximum(np.linalg.norm(reduced, axis=1, keepdims=True), 1e-300)

        old, new, around = reduce(vectors), reduce(slow_tfidf(NEW, DENSE)), slow_neighbours(NETWORK)
        pairs = [(i, j) for i in range(len(old)) for j in range(i)]
        model = LogisticRegression(C=3.0, tol=1e-10, max_iter=10_000)
        model.fit([old[i] * old[j] for i, j in pairs], [j in around[i] for i, j in pairs])
        expected = [model.predict_proba(row * old)[:, 1] for row in new]
        ours = LsaLogistic(4, negatives=EVERY_NON_LINK, weight_variance=3.0, random_state=5).fit(NETWORK)
        np.testing.assert_allclose(ours.predict_links(NEW), expected, atol=2e-3)

    def test_links_teach_which_words_count(self):
        """Documents link where they share one of the first two words, but the other two are the more frequent."""
        rng = np.random.default_rng(0)
        one, other = rng.integers(2, size=(2, 60))
        counts = np.column_stack([2 * np.eye(2, dtype=int)[one], 3 * np.eye(2, dtype=int)[other]])
        same = one[:, None] == one
        network = DocumentNetwork(counts, np.argwhere(np.triu(same & (rng.random(same.shape) < 0.3), 1)))
        new, truth = counts[:8], same[:8]
        assert auc(TfidfCosine().fit(network).predict_links(new), truth) < 0.8
        assert auc(LsaLogistic(3, random_state=0).fit(network).predict_links(new), truth) == 1.0

    def test_never_more_dimensions_than_there_are(self):
        full, more = (LsaLogistic(n, random_state=0).fit(NETWORK).predict_links(NEW) for n in (15, 100))
        np.testing.assert_array_equal(full, more)


class TestLda:
    def test_topics_find_the_groups(self):
        scores = LdaCosine(2, alpha=1.0, max_iter=30, random_state=0).fit(NETWORK).predict_links(NEW)
        same = np.array([0, 1, 0, 1, 0, 1, 1])[:, None] == np.arange(len(NETWORK)) % 2
        assert auc(scores, same) > 0.9
        assert (scores <= 1 + 1e-12).all()
        assert (scores > 0).all()

    def test_the_same_words_have_cosine_one(self):
        model = LdaCosine(3, max_iter=5, random_state=0).fit(NETWORK)
        np.testing.assert_allclose(np.diag(model.predict_links(DENSE[:6])), 1.0)

    def test_direction(self):
        """Documents of group 0 link to those of group 1, so a new one of group 0 links out, and one of group 1 in."""
        model = LdaLogistic(2, alpha=1.0, max_iter=30, random_state=0).fit(NETWORK)
        to_other = np.zeros((len(NEW), len(NETWORK)), dtype=bool)
        to_other[np.ix_([0, 2, 4], np.arange(1, len(NETWORK), 2))] = True
        from_other = np.zeros_like(to_other)
        from_other[np.ix_([1, 3, 5, 6], np.arange(0, len(NETWORK), 2))] = True
        assert auc(model.predict_links(NEW, direction="out"), to_other) > 0.9
        assert auc(model.predict_links(NEW, direction="in"), from_other) > 0.9
        assert auc(model.predict_links(NEW, direction="out"), from_other) < 0.5

    def test_out_for_one_end_is_in_for_the_other(self):
        model = LdaLogistic(3, max_iter=5, random_state=0).fit(NETWORK)
        known = [100, 101, 104]
        out = model.predict_links(DENSE[[0, 1, 4]], known, direction="out")
        into = model.predict_links(DENSE[[0, 1, 4]], known, direction="in")
        np.testing.assert_allclose(out, into.T, rtol=1e-10)
        assert np.abs(out - into).max() > 0.01
        both = model.predict_links(DENSE[[0, 1, 4]], known, direction="both")
        np.testing.assert_allclose(both, out + into - out * into, rtol=1e-10)

    @pytest.mark.parametrize("network", [NETWORK, UNDIRECTED], ids=["directed", "undirected"])
    def test_the_regression_is_at_its_optimum(self, network):
        """At the optimum the predicted probabilities of the training pairs sum to the number of links.

        And the gradient of each weight, sum of (y - p) theta_k theta_l, is the weight over its prior variance.
        """
        model = LdaLogistic(3, max_iter=5, negatives=EVERY_NON_LINK, weight_variance=2.0, random_state=0).fit(network)
        with pytest.warns(NetworkWarning, match="1 document without a known word"):
            probability = model.predict_links(network, direction="out")
        theta = model._lda.transform(network.counts)
        linked = np.zeros_like(probability)
        linked[tuple(network.links.T)] = 1.0
        pairs = (
            np.ones_like(probability) - np.eye(len(network)) if network.directed else np.triu(np.ones_like(linked), 1)
        )
        residual = pairs * (linked - probability)
        assert residual.sum() == pytest.approx(0.0, abs=0.05)
        gradient = theta.T @ residual @ theta
        if not network.directed:
            gradient = (gradient + gradient.T) / 2
            np.testing.assert_allclose(probability, probability.T)
        np.testing.assert_allclose(gradient, model._weights / 2.0, atol=0.05)

    def test_priors_above_one(self):
        """scikit-learn's own check refuses them; 5 prior tokens over 2 topics are more than one each."""
        assert (
            LdaCosine(2, alpha=50.0, beta=3.0, max_iter=2, random_state=0).fit(NETWORK).predict_links(NEW).min() > 0.5
        )


@pytest.mark.parametrize("kind", [LsaLogistic, LdaLogistic])
class TestNothingToLearnFrom:
    def test_no_links(self, kind):
        with pytest.raises(DataError, match="no links to learn from"):
            kind().fit(DocumentNetwork(DENSE[:5]))

    def test_no_non_links(self, kind):
        with pytest.warns(NetworkWarning, match="nothing to compare the links with; 5 per link"):
            kind(negatives=0.0001).fit(NETWORK)
        with pytest.raises(DataError, match="every pair is linked, so there are no non-links"):
            kind().fit(DocumentNetwork(DENSE[:2], [(0, 1), (1, 0)]))
