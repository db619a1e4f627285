"""Pasted texts: their words, which of them are in the vocabulary of a model, and their positions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer

from linktopics.errors import DataError
from linktopics.network import DocumentNetwork

MAX_SYMBOL_WORDS = 1000
"""Most words with other characters than letters and digits that are searched for in texts."""

Mark = tuple[int, int, int]
"""Begin and end of a word, and its index among the words of the text."""


@dataclass(frozen=True)
class PastedText:
    """A text in the vocabulary of a model.

    Attributes
    ----------
    words : list of str
        Distinct words, by first occurrence.
    counts : list of int
        How often each occurs.
    word_numbers : list of int
        Their numbers in the vocabulary; -1 for unknown words.
    marks : list of tuple
        Positions of words, in UTF-16 code units, which JavaScript uses.
    known : ndarray of int32
        Numbers of the known words, sorted.
    known_counts : ndarray of int32
        Count of each of these.
    """

    words: list[str]
    counts: list[int]
    word_numbers: list[int]
    marks: list[Mark]
    known: NDArray[np.int32]
    known_counts: NDArray[np.int32]

    @property
    def n_known(self) -> int:
        """Number of known tokens."""
        return int(self.known_counts.sum())


class TextReader:
    """Reads texts as the vectorizer of a network does, and finds the positions of their words.

    Parameters
    ----------
    network : DocumentNetwork
        The network that a model was fitted to.
    max_words : int
        Words that a text may have.
    """

    def __init__(self, network: DocumentNetwork, max_words: int) -> None:
        self.network, self.max_words = network, max_words
        vectorizer = network.vectorizer
        self.is_plain = type(vectorizer) is CountVectorizer
        self.find_words: Callable[[str], list[tuple[int, int, str]]] | None = _make_word_finder(vectorizer)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        names = self.network.vocabulary
        return {} if names is None else {str(word): number for number, word in enumerate(names.tolist())}

    @cached_property
    def _analyzer(self) -> Callable[[str], list[str]] | None:
        vectorizer = self.network.vectorizer
        return vectorizer.build_analyzer() if hasattr(vectorizer, "build_analyzer") else None

    def number_of(self, word: str) -> int:
        """Return the number of a single word as the vectorizer would read it; -1 if it is unknown."""
        found = [word] if self._analyzer is None else self._analyzer(word)
        return self._numbers.get(found[0], -1) if len(found) == 1 else -1

    def read(self, text: str) -> PastedText:
        """Return a text in the vocabulary of the model, also one without known words."""
        if self.network.vectorizer is None:
            raise DataError("The model was fitted to word counts and cannot read texts.")
        words = Counter(self._analyzer(text)) if self._analyzer is not None else Counter[str]()
        self._check_length(words.total())
        numbers = [self._numbers.get(word, -1) for word in words]
        if self.is_plain:
            binary = self.network.vectorizer.binary
            pairs = sorted(
                (number, 1 if binary else n) for number, n in zip(numbers, words.values(), strict=True) if number >= 0
            )
            known, counts = np.array(pairs, np.int32).reshape(-1, 2).T
        else:
            row = self.network.vectorize([text])
            known, counts = row.indices, row.data
            found, names = set(numbers), self.network.vocabulary
            for number, n in zip(known.tolist(), counts.tolist(), strict=True):
                if number not in found:  # the analyzer of the vectorizer is missing or incomplete
                    words[str(number if names is None else names[number])] = n
                    numbers.append(number)
            self._check_length(int(counts.sum()))
        listed = list(words)
        return PastedText(
            listed, list(words.values()), numbers, self._marks(text, listed), np.ascontiguousarray(known, np.int32),
            np.ascontiguousarray(counts, np.int32),
        )  # fmt: skip

    def _check_length(self, n_words: int) -> None:
        if n_words > self.max_words:
            raise DataError(f"The text has {n_words:,} words; at most {self.max_words:,} are allowed.")

    def _marks(self, text: str, words: list[str]) -> list[Mark]:
        if self.find_words is None:
            return []
        index = {word: place for place, word in enumerate(words)}
        marks = [(begin, end, index[word]) for begin, end, word in self.find_words(text) if word in index]
        if not text.isascii() and max(text) > "\uffff":  # such characters are two units each
            units = list(accumulate((2 if char > "\uffff" else 1 for char in text), initial=0))
            marks = [(units[begin], units[end], at) for begin, end, at in marks]
        return marks


def stack_counts(texts: list[tuple[NDArray[np.int32], NDArray[np.int32]]], n_words: int) -> csr_array:
    """Return the counts of texts, each given by its words, sorted, and their counts."""
    ends = np.cumsum([0, *(len(words) for words, _ in texts)]).astype(np.int32)
    words, counts = (np.concatenate(parts) for parts in zip(*texts, strict=True))
    return csr_array((counts, words, ends), shape=(len(texts), n_words))


def words_as_vectorizer(network: DocumentNetwork) -> CountVectorizer | None:
    """Return a vectorizer for a network without one; None if its vocabulary has no words.

    The vectorizer finds the exact words of the vocabulary in texts. Words with other characters than letters and
    digits, such as c++, are found if no letter or digit is before or after them; those with spaces are not found.
    Matching is case-sensitive if words of the network have capitals. If no document has a word twice, repeated words of
    a text count once.

    Examples
    --------
    >>> from linktopics import DocumentNetwork
    >>> network = DocumentNetwork([[1, 0, 1], [0, 1, 0]], [(0, 1)], vocabulary=["neural", "genes", "network"])
    >>> words_as_vectorizer(network).transform(["Neural, neural network"]).toarray()
    array([[1, 0, 1]])
    """
    if network.vocabulary is None:
        return None
    words = [str(word) for word in network.vocabulary.tolist()]
    if not any(re.fullmatch(r"\w+", word) for word in words):
        return None
    symbol_words = sorted(
        (word for word in words if re.search(r"\W", word) and not re.search(r"\s", word)), key=len, reverse=True
    )
    binary = bool(network.counts.nnz) and int(network.counts.data.max()) == 1
    known = "|".join(re.escape(word) for word in symbol_words[:MAX_SYMBOL_WORDS])
    vectorizer = CountVectorizer(
        vocabulary=words,
        token_pattern=rf"(?u)(?<!\w)(?:{known})(?!\w)|\b\w+\b" if known else r"(?u)\b\w+\b",
        lowercase=all(word == word.lower() for word in words),
        binary=binary,
    )
    vectorizer._validate_vocabulary()
    return vectorizer


def _make_word_finder(vectorizer: Any) -> Callable[[str], list[tuple[int, int, str]]] | None:
    """Return a function that finds words in a text with their positions; None for a vectorizer without a pattern."""
    if (
        not isinstance(vectorizer, CountVectorizer)
        or vectorizer.analyzer != "word"
        or vectorizer.tokenizer is not None
        or vectorizer.token_pattern is None
    ):
        return None
    pattern = re.compile(vectorizer.token_pattern)
    group = min(pattern.groups, 1)
    prepare = vectorizer.build_preprocessor()

    def find(text: str) -> list[tuple[int, int, str]]:
        prepared = prepare(text)
        found = [(*match.span(group), match[group]) for match in pattern.finditer(prepared)]
        if len(prepared) == len(text):
            return found
        pieces = [prepare(char) for char in text]  # some capitals and accents change the number of characters
        if "".join(pieces) != prepared:
            return []
        origin = [at for at, piece in enumerate(pieces) for _ in piece]
        return [(origin[begin], origin[end - 1] + 1, word) for begin, end, word in found if end > begin]

    return find
