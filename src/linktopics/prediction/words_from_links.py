"""Words of documents of which only links are known."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array

from linktopics.network import DocumentNetwork
from linktopics.network.inputs import as_many, check_top
from linktopics.network.pairs import TrainingPairs
from linktopics.prediction.ranking import blocks_of
from linktopics.sampler import Corpus, Partition, Priors, Settings, Shard, initial_state
from linktopics.sampler.runner import PosteriorSample

if TYPE_CHECKING:
    from linktopics.prediction.predictor import Predictor

MAX_LINKED_DOCUMENT_TOKENS = 256
"""Most tokens assumed for a document of which only links are known; with more, topics would hardly differ and would mix
more slowly."""

TOKENS_AT_ONCE = 2**23
"""Tokens of documents whose topics are drawn at once."""

AUTOCORRELATION_TIMES = 6
"""Sweeps of burn-in, and sweeps averaged after it, in units of the autocorrelation time of a document's topics."""

MAX_LINK_INFERENCE_SWEEPS = 2000
"""Most sweeps of burn-in, and most sweeps that are averaged."""


def topics_from_links(
    sample: PosteriorSample,
    settings: Settings,
    out: NDArray[np.int64],
    into: NDArray[np.int64],
    n_documents: int,
    length: int,
    symmetric: bool,
    link_features: NDArray[np.float64],
    seed: np.random.SeedSequence,
) -> NDArray[np.float64]:
    """Return the mean topic proportions of new documents given their links, topics and weights being fixed.

    The sampler of training draws them. A new document has `length` tokens, all of one word, which says nothing about
    topics: with a vocabulary of one word, words and totals per topic cancel in the sweep. Its links have augmented
    variables of their own. The training documents it links with follow the new ones, and keep their topics.
    Under the prior, counts of topics are correlated over (length + alpha) / alpha sweeps, which sets their number.

    Parameters
    ----------
    sample : PosteriorSample
        Topics of training documents, and weights.
    settings : Settings
        The model.
    out, into : ndarray of int64, shape (n_links, 2)
        Pairs (new document, training document): links from the new document, and links to it.
    n_documents : int
        Number of new documents.
    length : int
        Tokens of each.
    symmetric : bool
        Whether links have no direction.
    link_features : ndarray of shape (n_features,)
        Features of all links: those of the average training link, since without words they cannot be known.
    seed : numpy.random.SeedSequence
        Source of randomness.
    """
    K, alpha = settings.n_topics, float(sample.alpha.sum())
    linked, place = np.unique(np.concatenate([out[:, 1], into[:, 1]]), return_inverse=True)
    there = n_documents + place
    source = np.concatenate([out[:, 0], there[len(out) :]])
    target = np.concatenate([there[: len(out)], into[:, 0]])
    order = np.lexsort((target, source))
    source, target = source[order].astype(np.int32), target[order].astype(np.int32)
    pairs = TrainingPairs(source, target, np.ones(len(order), dtype=bool), n_documents + len(linked))
    lengths = np.repeat([length, 1], [n_documents, len(linked)])
    features = np.tile(link_features, (len(pairs), 1))
    corpus = Corpus.build(csr_array(lengths[:, None]), pairs, symmetric, features)
    state = initial_state(corpus, settings, seed)
    state.doc_topic[n_documents:, :K] = sample.doc_topic[linked]
    state.weights, state.feature_weights = sample.weights, sample.feature_weights
    state.priors = Priors(sample.alpha, beta=1.0)
    shard = Shard(Partition.whole(corpus, n_documents), settings, state)
    total = np.zeros((n_documents, K))
    n_sweeps = min(MAX_LINK_INFERENCE_SWEEPS, math.ceil(AUTOCORRELATION_TIMES * (length + alpha) / alpha))
    for sweep in range(2 * n_sweeps):
        shard.update_gaussian()
        shard.draw_topics()
        shard.augment()
        if sweep >= n_sweeps:
            total += state.doc_topic[:n_documents, :K]
    proportions = total / n_sweeps + sample.alpha
    return np.asarray(proportions / proportions.sum(axis=1, keepdims=True))


def word_probabilities(
    predictor: Predictor, out: NDArray[np.int64], into: NDArray[np.int64], n_documents: int
) -> NDArray[np.float64]:
    """Return the probabilities of words in documents of which only links are known, averaged over samples.

    Documents without links have the topics of the prior.
    """
    predictor.check_links()
    network, settings, samples = predictor.network, predictor.settings, predictor.samples
    length = min(MAX_LINKED_DOCUMENT_TOKENS, max(1, round(float(network.lengths.mean()))))
    linked = np.zeros(n_documents, dtype=bool)
    linked[out[:, 0]] = linked[into[:, 0]] = True

    def run(number: int) -> NDArray[np.float64]:
        sample = samples[number]
        topics = np.empty((n_documents, settings.n_topics))
        for rows in blocks_of(n_documents, length, TOKENS_AT_ONCE):
            a, b = rows.start, rows.stop
            here_out, here_into = (p[(p[:, 0] >= a) & (p[:, 0] < b)] - [a, 0] for p in (out, into))
            topics[rows] = topics_from_links(
                sample, settings, here_out, here_into, b - a, length,
                not network.directed, predictor.features.link_mean, np.random.SeedSequence([predictor.seed, number, a]),
            )  # fmt: skip
        topics[~linked] = sample.alpha / sample.alpha.sum()
        return topics

    total = np.zeros((n_documents, network.n_words))
    for sample, topics in zip(samples, predictor.map_in_threads(run, range(len(samples))), strict=True):
        total += topics @ sample.word_topic[:, : settings.n_topics].T
    return np.asarray(total / total.sum(axis=1, keepdims=True))


class WordModel(Protocol):
    """A fitted model that predicts words."""

    network_: DocumentNetwork

    def word_probabilities(self, links: Any, linked_by: Any = None) -> NDArray[np.float64]:
        """Return the probabilities of words in new documents of which only links are known."""


class WordPredictionMixin:
    """A model with `word_probabilities` can also list the words."""

    def predict_words(self: WordModel, links: Any = None, *, linked_by: Any = None, top: int = 10) -> pd.DataFrame:
        """Return the words that links predict, most probable first.

        Parameters
        ----------
        links : sequence of ids, or sequence of such sequences, default=None
            The training documents that one new document links to; a list of lists is for several documents.
        linked_by : sequence of ids, or sequence of such sequences, default=None
            The training documents that link to it.
        top : int, default=10
            Words per document.

        Returns
        -------
        DataFrame
            Columns ``document`` (its number), ``word`` (its name, or its number where words have none), ``probability``
            (see `word_probabilities`) and ``lift``, the ratio of this probability to the word's share of all training
            tokens.

        Examples
        --------
        >>> from linktopics import DocumentNetwork, RelationalTopicModel
        >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
        >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
        >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_burn_in=50, random_state=0).fit(network)
        >>> model.predict_words(["a"], top=3).shape
        (3, 4)
        """
        check_top(top)
        probabilities = self.word_probabilities(as_many(links), as_many(linked_by))
        order = np.argsort(-probabilities, axis=1, kind="stable")[:, :top]
        names = self.network_.vocabulary
        found = np.take_along_axis(probabilities, order, axis=1).reshape(-1)
        shares = np.asarray(self.network_.counts.sum(axis=0, dtype=np.int64)).ravel() / self.network_.n_tokens
        with np.errstate(divide="ignore", invalid="ignore"):
            lift = found / shares[order.reshape(-1)]
        return pd.DataFrame(
            {
                "document": np.repeat(np.arange(len(order)), order.shape[1]),
                "word": order.reshape(-1) if names is None else names[order.reshape(-1)],
                "probability": found,
                "lift": np.where(np.isfinite(lift), lift, np.nan),
            }
        )
