"""TrainingRun: the data, chains and results of a fit, from which it can continue."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from linktopics.diagnostics import LOG_JOINT
from linktopics.errors import DataError
from linktopics.features import FeatureSet
from linktopics.network import DocumentNetwork
from linktopics.prediction.calibration import LinkCalibration, sampling_offset
from linktopics.prediction.predictor import Predictor
from linktopics.sampler import Corpus, Settings, State, count_topics, random_states
from linktopics.sampler.partition import token_indices
from linktopics.sampler.runner import Chain, PosteriorSample, Schedule
from linktopics.stuck_chains import StuckChain, stuck_chains

CHUNK_TOKENS = 2**16
"""Tokens whose topics are looked up, or drawn, at once."""


@dataclass
class TrainingRun:
    """A fit, finished or unfinished.

    Attributes
    ----------
    network : DocumentNetwork
        The documents.
    settings : Settings
        The model.
    schedule : Schedule
        How long the chains run.
    features : FeatureSet
        Features of pairs.
    chains : list of Chain
        The chains.
    entropy : list of int
        Entropy of the seed of all random numbers.
    inference_seed : int
        Seed of the topics of new documents.
    n_pairs : int
        Number of training pairs.
    quantities : list of str
        Names of the columns of traces.
    calibration : LinkCalibration or None
        The map from the model's own probabilities to those of links; None until the chains have finished.
    reference_chain : int or None
        The chain whose topics and weights describe the model; None is the one with the highest log joint.
    corpus : Corpus or None
        Tokens and pairs of the network; None while they are on disk.
    corpus_loader : callable or None
        Reads the corpus that is still on disk: sets `corpus` and completes the states.
    predictor : Predictor or None
        The predictor used for the samples so far.
    checksum : str or None
        Checksum of the manifest that the run was loaded from; None if it was not loaded.
    """

    network: DocumentNetwork
    settings: Settings
    schedule: Schedule
    features: FeatureSet
    chains: list[Chain]
    entropy: list[int]
    inference_seed: int
    n_pairs: int
    quantities: list[str]
    calibration: LinkCalibration | None = None
    reference_chain: int | None = None
    corpus: Corpus | None = None
    corpus_loader: Callable[[TrainingRun], None] | None = None
    predictor: Predictor | None = None
    checksum: str | None = None

    def make_predictor(
        self, samples: list[PosteriorSample] | None = None, best_chain: int = 0, n_jobs: int | None = None
    ) -> Predictor:
        """Return a predictor for samples of the run; by default all of them."""
        return Predictor(
            network=self.network,
            samples=[sample for chain in self.chains for sample in chain.samples] if samples is None else samples,
            best_chain=best_chain,
            settings=self.settings,
            features=self.features,
            calibration=self.calibration or LinkCalibration(),
            seed=self.inference_seed,
            n_jobs=n_jobs,
        )

    def load_corpus(self) -> Corpus:
        """Return the corpus; if it is on disk, read it and complete the states."""
        if self.corpus_loader is not None:
            self.corpus_loader(self)
            self.corpus_loader = None
        assert self.corpus is not None
        return self.corpus

    @property
    def finished(self) -> bool:
        """Whether all chains have reached the end of the schedule, and probabilities of links are calibrated."""
        return self.sampled and self.calibration is not None

    @property
    def sampled(self) -> bool:
        """Whether all chains have reached the end of the schedule."""
        return all(chain.state.iteration >= self.schedule.length for chain in self.chains)

    @property
    def left_out(self) -> list[StuckChain]:
        """The chains that are stuck, which predictions ignore; the reference chain is never among them."""
        column = self.quantities.index(LOG_JOINT)
        stuck = stuck_chains(np.stack([chain.trace[self.schedule.n_burn_in :, column] for chain in self.chains]))
        return [one for one in stuck if one.chain != self.reference_chain]

    @property
    def counted(self) -> list[Chain]:
        """The chains that predictions and calibration use: all but those that are stuck."""
        without = {one.chain for one in self.left_out}
        return [chain for number, chain in enumerate(self.chains) if number not in without]

    @property
    def sampling_offset(self) -> float:
        """Correction of log-odds of links for the sampling of non-links, see `linktopics.prediction.calibration`."""
        n, n_links = self.network.n_documents, self.network.n_links
        n_unlinked = n * (n - 1) // (1 if self.network.directed else 2) - n_links
        costs = self.settings.link_cost, self.settings.nonlink_cost
        return sampling_offset(*costs, n_links=n_links, n_sampled=self.n_pairs - n_links, n_unlinked=n_unlinked)


def check_extends(run: TrainingRun, network: DocumentNetwork, n_topics: int) -> None:
    """Raise if the run cannot continue with this network."""
    old = run.network
    if n_topics != run.settings.n_topics:
        raise ValueError(f"n_topics is {n_topics}, but the fitted model has {run.settings.n_topics}; fit it again.")
    if network.directed != old.directed:
        kinds = ("directed" if one.directed else "undirected" for one in (old, network))
        raise DataError("the network fitted is {}, this one {}; give both the same kind of links.".format(*kinds))
    if (network.vocabulary is None) != (old.vocabulary is None):
        raise DataError("one of the two networks has a vocabulary and the other has not, so words cannot be compared.")
    if not set(old.ids.tolist()) & set(network.ids.tolist()):
        raise DataError(
            f"no document of the network fitted is in this one: ids there are like {old.ids.tolist()[0]!r}, here like "
            f"{network.ids.tolist()[0]!r}. Pass the whole network as it is now, as network.extended gives it."
        )


def warm_start_state(
    old: TrainingRun,
    corpus: Corpus,
    network: DocumentNetwork,
    state: State,
    seed: np.random.SeedSequence,
    n_shards: int = 1,
) -> State:
    """Return a state over a changed network in which all tokens of the old network keep their topics.

    Documents are the same if their ids are, words if their names are. Other tokens draw a topic from those of their
    word and of their document; weights stay.

    Parameters
    ----------
    old : TrainingRun
        The run so far.
    corpus : Corpus
        Tokens and pairs of the changed network.
    network : DocumentNetwork
        The changed network.
    state : State
        A state of a chain of `old`.
    seed : numpy.random.SeedSequence
        Source of randomness.
    n_shards : int, default=1
        Number of shards to continue with.
    """
    for_topics, for_rng, for_stream = seed.spawn(3)
    rng = np.random.default_rng(for_topics)
    K = old.settings.n_topics
    priors = state.priors
    assignments = _matched_topics(old, corpus, network, state)
    new = np.flatnonzero(assignments < 0)
    assignments[new] = 0
    doc_topic, word_topic, topic_total = count_topics(corpus, assignments, K)
    document = np.searchsorted(corpus.start, new, side="right") - 1  # of each of these tokens
    doc_topic[:, 0] -= np.bincount(document, minlength=len(doc_topic))  # the tokens that have no topic yet
    word_topic[:, 0] -= np.bincount(corpus.words[new], minlength=len(word_topic))
    topic_total[0] -= len(new)
    word_topic[corpus.seeds.word, corpus.seeds.topic] += corpus.seeds.amount.astype(np.float32)
    mass = topic_total[:K] + priors.topic_mass(corpus)
    for first in range(0, len(new), CHUNK_TOKENS):
        part = new[first : first + CHUNK_TOKENS]
        p = (word_topic[corpus.words[part], :K] + priors.beta) / mass
        p *= doc_topic[document[first : first + CHUNK_TOKENS], :K] + priors.alpha
        sums = np.cumsum(p, axis=1)
        drawn = (sums < rng.random(len(part))[:, None] * sums[:, -1:]).sum(axis=1)
        assignments[part] = np.minimum(drawn, K - 1)
    doc_topic, word_topic, topic_total = count_topics(corpus, assignments, K)
    generators, streams = random_states(for_rng, for_stream, n_shards)
    same_features = corpus.n_pairs > 0 and corpus.n_features == len(state.feature_weights)
    return State(
        iteration=0,
        assignments=assignments,
        doc_topic=doc_topic,
        word_topic=word_topic,
        topic_total=topic_total,
        weights=state.weights.copy() if corpus.n_pairs else np.zeros((K, K)),
        feature_weights=state.feature_weights.copy() if same_features else np.zeros(corpus.n_features),
        augmented=np.ones(corpus.n_pairs),
        generators=generators,
        streams=streams,
        priors=priors,
    )


def _matched_topics(old: TrainingRun, corpus: Corpus, network: DocumentNetwork, state: State) -> NDArray[np.int32]:
    """Return for each token the topic of the same token of the old network; -1 if there is none."""
    before = old.load_corpus()
    place = {id: number for number, id in enumerate(old.network.ids.tolist())}
    documents = np.array([place.get(id, -1) for id in network.ids.tolist()], dtype=np.int64)  # in the old network
    words = _word_positions(old.network, network)
    result = np.full(corpus.n_tokens, -1, dtype=np.int32)
    edges = np.unique(np.searchsorted(corpus.start, [*range(0, corpus.n_tokens, CHUNK_TOKENS), corpus.n_tokens]))
    for first, last in pairwise(edges.tolist()):  # in blocks: the arrays below have several numbers per token
        known = np.flatnonzero(documents[first:last] >= 0)
        same = documents[first:last][known]
        tokens, lengths = token_indices(before.start, same), before.start[same + 1] - before.start[same]
        at = np.repeat(known, lengths)
        word = words[before.words[tokens]]
        there = word >= 0
        keys = at[there] * corpus.n_words + word[there]
        order = np.argsort(keys, kind="stable")
        keys, topics = keys[order], state.assignments[tokens[there][order]]
        own = slice(corpus.start[first], corpus.start[last])
        wanted = np.repeat(np.arange(last - first), np.diff(corpus.start[first : last + 1])) * corpus.n_words
        wanted += corpus.words[own]
        # Both are sorted, so equal tokens of a document stand side by side: the n-th of one is the n-th of the other.
        found = np.searchsorted(keys, wanted) + np.arange(len(wanted)) - np.searchsorted(wanted, wanted)
        inside = np.flatnonzero(found < len(keys))
        equal = inside[keys[found[inside]] == wanted[inside]]
        result[own][equal] = topics[found[equal]]
    return result


def _word_positions(old: DocumentNetwork, new: DocumentNetwork) -> NDArray[np.int64]:
    """Return the index in `new` of each word of `old`; -1 if there is none."""
    if old.vocabulary is None or new.vocabulary is None:
        return np.where(np.arange(old.n_words) < new.n_words, np.arange(old.n_words), -1)
    place = {word: number for number, word in enumerate(new.vocabulary.tolist())}
    return np.array([place.get(word, -1) for word in old.vocabulary.tolist()], dtype=np.int64)
