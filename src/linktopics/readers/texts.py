"""Texts in memory, turned into word counts by a vectorizer."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from linktopics.errors import DataError
from linktopics.network.report import numbered
from linktopics.network.validation import as_list, split_texts
from linktopics.readers import CountedTexts


def default_vectorizer() -> Any:
    """Return the vectorizer used where the user passes none (see `DocumentNetwork.from_texts`)."""
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer(stop_words="english", token_pattern=r"(?u)\b[^\W\d_]\w+\b")


def read_texts(
    texts: Sequence[str] | Mapping[Any, str], *, ids: Iterable[Hashable] | None, vectorizer: Any
) -> CountedTexts:
    """Return the word counts of texts: a sequence, or a mapping whose keys are the ids."""
    listed, names = split_texts(texts, ids)
    vectorizer = default_vectorizer() if vectorizer is None else _checked_copy(vectorizer)
    try:
        counts = vectorizer.fit_transform(listed)
    except ValueError as error:
        if "empty vocabulary" in str(error):
            raise DataError(
                f"no words are left in {numbered(len(listed), 'text')}: they are empty or contain only stop words, "
                "numbers and single letters; give texts with other words, or a vectorizer that keeps these "
                "(--stop-words none)."
            ) from None
        raise DataError(
            f"the vectorizer cannot count the words of these texts: {error}; keep words of fewer documents "
            "(--min-documents), or of more (--max-share)."
        ) from None
    vocabulary = as_list(vectorizer.get_feature_names_out())
    return {"counts": counts, "ids": names, "vocabulary": vocabulary, "texts": listed, "vectorizer": vectorizer}


def _checked_copy(vectorizer: Any) -> Any:
    """Return a copy of a user's vectorizer, so that fitting it again elsewhere does not change this network."""
    needed = ("fit_transform", "transform", "get_feature_names_out")
    if isinstance(vectorizer, type) or not all(hasattr(vectorizer, name) for name in needed):
        raise DataError(
            f"vectorizer is {vectorizer!r}; pass an object with {', '.join(needed)}, such as CountVectorizer()."
        )
    return copy.deepcopy(vectorizer)
