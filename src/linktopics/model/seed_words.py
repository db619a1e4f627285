"""Seed words: words that a user expects in a topic, as prior tokens."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from linktopics.errors import DataError
from linktopics.network import DocumentNetwork
from linktopics.sampler import Seeds
from linktopics.utils.checks import is_whole_number

SEED_SHARE, MIN_SEED_TOKENS = 0.01, 10
"""Default prior tokens of a seed word: this share of the tokens of an average topic, and at least this many."""


def resolve_seed_words(seed_words: Any, seed_weight: int | None, n_topics: int, network: DocumentNetwork) -> Seeds:
    """Return the prior tokens of seed words.

    Parameters
    ----------
    seed_words : mapping from topic number to words, sequence of sequences of words, or None
        Words by topic; see `RelationalTopicModel`.
    seed_weight : int or None
        Prior tokens of each word; None is a hundredth of the tokens of an average topic, at least 10.
    n_topics : int
        Number of topics.
    network : DocumentNetwork
        The network, for its vocabulary.
    """
    entries: list[tuple[int, int]] = []
    for topic, words in _words_by_topic(seed_words).items():
        if not is_whole_number(topic, 0) or int(topic) >= n_topics:
            raise ValueError(f"seed_words names topic {topic!r}; topics are numbered from 0 to {n_topics - 1}.")
        if isinstance(words, str) or not isinstance(words, Iterable):
            raise ValueError(f"seed_words of topic {topic} are {words!r}; pass a list of words.")
        entries += [(_word_index(word, network), int(topic)) for word in words]
    unique = np.array(sorted(set(entries)), dtype=np.int64).reshape(-1, 2)
    if seed_weight is None:
        seed_weight = max(MIN_SEED_TOKENS, round(SEED_SHARE * network.n_tokens / n_topics))
    return Seeds(unique[:, 0], unique[:, 1], np.full(len(unique), float(seed_weight)))


def _words_by_topic(seed_words: Any) -> Mapping[Any, Any]:
    if seed_words is None:
        return {}
    if isinstance(seed_words, Mapping):
        return seed_words
    if isinstance(seed_words, str) or not isinstance(seed_words, Iterable):
        raise ValueError(f"seed_words is {seed_words!r}; pass lists of words by topic, as {{0: ['red', 'green']}}.")
    return dict(enumerate(seed_words))


def _word_index(word: Any, network: DocumentNetwork) -> int:
    """Return the index of a word; without a vocabulary, words are given by index."""
    if network.vocabulary is None:
        if not is_whole_number(word, 0) or int(word) >= network.n_words:
            raise DataError(
                f"the seed word {word!r} is not a word index from 0 to {network.n_words - 1}, and the network has "
                "no vocabulary to look it up in; pass vocabulary= when making the network, or indices."
            )
        return int(word)
    if not isinstance(word, str):
        raise ValueError(f"seed_words holds {word!r}, which is not a string; pass a list of words for each topic.")
    found = np.flatnonzero(network.vocabulary == word)
    if not len(found):
        near = difflib.get_close_matches(str(word), network.vocabulary.tolist(), n=3)
        meant = f"did you mean {' or '.join(map(repr, near))}?" if near else "choose words that documents have."
        raise DataError(f"the seed word {word!r} is not in the vocabulary; {meant}")
    return int(found[0])
