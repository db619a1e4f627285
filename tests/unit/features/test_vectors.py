"""Vectors that features compare."""

import numpy as np
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer

from linktopics.features import (
    vectors,
)
from linktopics.features.vectors import KnownVectors, Tfidf


def test_few_documents_are_compared_without_an_index_of_words(monkeypatch):
    """The products are the same, bit for bit."""
    counts = csr_array(np.random.default_rng(0).poisson(0.3, (60, 40)))
    known = KnownVectors(counts, Tfidf(counts))
    new = known.vectorizer(csr_array(np.random.default_rng(1).poisson(0.3, (7, 40))))
    monkeypatch.setattr(vectors, "MAX_SINGLE_COMPARISONS", 8)
    first = known.products(new)
    assert "transposed" not in vars(known)
    np.testing.assert_array_equal(known.products(new), first)
    assert "transposed" in vars(known)
    np.testing.assert_allclose(first, new.toarray() @ known.own.toarray().T, rtol=1e-14)
    known.clear_cache()
    assert not {"own", "transposed"} & set(vars(known))
    np.testing.assert_array_equal(known.products(new), first)


def test_tfidf_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    counts, new = (rng.poisson(0.3, (n, 25)) for n in (40, 9))
    new[7] = 0
    expected = TfidfTransformer().fit(counts).transform(new).toarray()
    vectors = Tfidf(csr_array(counts))(csr_array(new)).toarray()
    np.testing.assert_allclose(vectors, expected, rtol=1e-15)
    assert not vectors[7].any()
