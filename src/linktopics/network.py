"""DocumentNetwork: the words of documents and the links between them, checked once and then trusted everywhere."""

from __future__ import annotations

import copy
import difflib
import hashlib
import sys
import warnings
from collections import Counter
from typing import TYPE_CHECKING, Any, Literal, TextIO

import numpy as np

from linktopics._checks import (
    N_EXAMPLES,
    as_column,
    as_count_matrix,
    check_columns,
    check_counts,
    check_flag,
    check_labels,
    check_texts,
    check_unique,
    check_words,
    clean_links,
    list_pairs,
    list_values,
    named_columns,
    unframed_links,
    user_stacklevel,
)
from linktopics._report import NetworkReport, numbered, summary_lines
from linktopics._sources import ReadsSources
from linktopics.errors import DataError, NetworkWarning

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from scipy import sparse

__all__ = ["DocumentNetwork", "NetworkReport"]


class DocumentNetwork(ReadsSources):
    """Documents with their word counts and the links between them.

    Parameters
    ----------
    counts : sparse matrix, array or data frame of shape (n_documents, n_words)
        How often each word occurs in each document: whole numbers from 0. The string column names of a data frame
        become the vocabulary where none is given.
    links : array of shape (n_links, 2), sequence of pairs, or square matrix, optional
        Pairs (source, target): of ids when `ids` are given, else of document indices. An array of shape (n, 2) is
        always read as pairs; a sparse or dense matrix of n_documents x n_documents has a link i -> j wherever its
        entry i, j is not 0, whatever the value.
    directed : bool, default=True
        Whether a -> b differs from b -> a. In an undirected network b -> a repeats a -> b (as pairs: a duplicate; in
        a matrix: the other half of the same link).
    ids : sequence of hashables, optional
        A unique name for each document; by default its index.
    vocabulary : sequence of str, optional
        The words, in the order of the columns of `counts`.
    titles, labels, texts : sequence, optional
        One for each document.
    columns : mapping from str to sequence, or data frame, optional
        What else is known about the documents (year, venue, authors), for features of pairs; a value for each document.
    vectorizer : object, optional
        What turned texts into counts, to do the same with new texts: anything with a method `transform`.
    strict : bool, default=False
        Make self links, duplicates, unknown ends and empty documents an error. Otherwise such links are dropped, empty
        documents are kept, `report` counts them and a `NetworkWarning` says so.
    link_ends : {"ids", "indices"}, optional
        How pairs in `links` name documents, where the default ("ids" if `ids` are given) does not hold.

    Attributes
    ----------
    counts : scipy.sparse.csr_array of int32, shape (n_documents, n_words)
        Sorted indices, no duplicates, no explicit zeros.
    links : ndarray of int64, shape (n_links, 2)
        Document indices, sorted, unique, no self links; smaller index first if undirected.
    ids, vocabulary, titles, labels, texts : ndarray or None
        As given; `ids` is never None.
    columns : dict from str to ndarray
        As given.
    report : NetworkReport
        What was dropped.

    Examples
    --------
    >>> import numpy as np
    >>> counts = np.array([[2, 0, 1], [0, 1, 1], [1, 1, 0]])
    >>> network = DocumentNetwork(counts, [("a", "b"), ("c", "a")], ids=["a", "b", "c"])
    >>> network
    DocumentNetwork(3 documents, 3 words, 7 tokens, 2 directed links)
    >>> network.links
    array([[0, 1],
           [2, 0]])
    >>> network.subset([0, 1]).n_links
    1
    """

    def __init__(
        self,
        counts: Any,
        links: Any = None,
        *,
        directed: bool = True,
        ids: Iterable[Hashable] | None = None,
        vocabulary: Iterable[str] | None = None,
        titles: Iterable[Any] | None = None,
        labels: Iterable[Any] | None = None,
        texts: Iterable[str] | None = None,
        columns: Mapping[str, Iterable[Any]] | None = None,
        vectorizer: Any = None,
        strict: bool = False,
        link_ends: Literal["ids", "indices"] | None = None,
    ) -> None:
        if vocabulary is None and hasattr(counts, "columns") and all(isinstance(name, str) for name in counts.columns):
            vocabulary = counts.columns
        if link_ends not in (None, "ids", "indices"):
            raise DataError(f'link_ends is {link_ends!r}; it is "ids", "indices" or None.')
        self.directed = check_flag(directed, "directed")
        check_flag(strict, "strict")
        matrix = as_count_matrix(counts)
        n_documents, n_words = matrix.shape
        given_ids = as_column(ids, n_documents, "ids")
        self.ids: np.ndarray = np.arange(n_documents) if given_ids is None else given_ids
        self._has_names = given_ids is not None
        check_unique(self.ids, "ids", "give every document its own id")
        self.vocabulary: np.ndarray | None = as_column(vocabulary, n_words, "vocabulary", "words")
        if self.vocabulary is not None:
            check_words(self.vocabulary)
        self.counts: sparse.csr_array = check_counts(matrix, self.ids, self.vocabulary)
        self.titles: np.ndarray | None = as_column(titles, n_documents, "titles")
        self.labels: np.ndarray | None = as_column(labels, n_documents, "labels")
        check_labels(self.labels)
        self.texts: np.ndarray | None = as_column(texts, n_documents, "texts")
        if self.texts is not None:
            check_texts(self.texts, self.ids.tolist())
        self.columns: dict[str, np.ndarray] = check_columns(columns, n_documents)
        self.vectorizer = vectorizer
        by_id = link_ends == "ids" or (link_ends is None and given_ids is not None)
        self.links, found = clean_links(links, self.ids, by_id=by_id, directed=self.directed)
        empty = np.flatnonzero(self.lengths == 0)
        self.report = NetworkReport(
            **found, n_empty_documents=len(empty), empty_documents=tuple(self.ids[empty[:N_EXAMPLES]].tolist())
        )
        self._positions: dict[Any, int] | None = None
        self._tell(strict=strict)

    def _tell(self, *, strict: bool) -> None:
        """Warn about what the report holds; raise if `strict`."""
        if self.report.clean:
            return
        if strict:
            raise DataError(
                f"the network has {self.report.faults()}; or pass strict=False (leave out --strict) to drop "
                "such links and keep such documents."
            )
        warnings.warn(
            f"{self.report.brief()} (its report, or linktopics info, has examples).",
            NetworkWarning,
            stacklevel=user_stacklevel(),
        )

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return int(self.counts.shape[0])

    @property
    def n_words(self) -> int:
        """Number of words in the vocabulary."""
        return int(self.counts.shape[1])

    @property
    def n_links(self) -> int:
        """Number of links; an undirected link counts once."""
        return len(self.links)

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of each document, int64."""
        return np.asarray(self.counts.sum(axis=1, dtype=np.int64)).ravel()

    @property
    def n_tokens(self) -> int:
        """Number of tokens in all documents together."""
        return int(self.counts.data.sum(dtype=np.int64))

    def __len__(self) -> int:
        return self.n_documents

    def __repr__(self) -> str:
        sizes = [
            numbered(self.n_documents, "document"),
            numbered(self.n_words, "word"),
            numbered(self.n_tokens, "token"),
            numbered(self.n_links, f"{'directed' if self.directed else 'undirected'} link"),
        ]
        return f"DocumentNetwork({', '.join(sizes)})"

    def index_of(self, id: Hashable) -> int:
        """Give the index of the document with this id.

        Examples
        --------
        >>> DocumentNetwork([[1], [2]], ids=["os", "sys"]).index_of("sys")
        1
        """
        if self._positions is None:
            self._positions = {name: index for index, name in enumerate(self.ids.tolist())}
        try:
            return self._positions[id]
        except (KeyError, TypeError):
            names = {str(name): name for name in self._positions}
            near = [repr(names[name]) for name in difflib.get_close_matches(str(id), names, n=3)]
            meant = f"did you mean {' or '.join(near)}?" if near else f"ids are like {self.ids.tolist()[0]!r}."
            raise DataError(f"no document has the id {id!r}; {meant}") from None

    def subset(self, documents: Any) -> DocumentNetwork:
        """Give the network of some documents and the links among them; the vocabulary stays whole.

        Parameters
        ----------
        documents : sequence of int or bool mask
            Document indices, in the order wanted, or one boolean for each document.

        Examples
        --------
        >>> network = DocumentNetwork([[2, 1], [0, 3], [1, 0]], [(0, 1), (1, 2)])
        >>> network.subset([1, 2])
        DocumentNetwork(2 documents, 2 words, 4 tokens, 1 directed link)
        """
        chosen = np.asarray(documents)
        if chosen.dtype == bool:
            if chosen.shape != (self.n_documents,):
                raise DataError(
                    f"the mask has the shape {chosen.shape}; it needs one entry per document: {len(self):,}."
                )
            chosen = np.flatnonzero(chosen)
        if chosen.ndim != 1 or not len(chosen) or chosen.dtype.kind not in "iu":
            raise DataError("documents must be a non-empty sequence of document indices or a boolean mask.")
        outside = (chosen < 0) | (chosen >= self.n_documents)
        if outside.any():
            raise DataError(f"there is no document {chosen[outside][0]}; indices run from 0 to {self.n_documents - 1}.")
        if len(np.unique(chosen)) < len(chosen):
            raise DataError("documents names a document twice; give each index once.")
        place = np.full(self.n_documents, -1, dtype=np.int64)
        place[chosen] = np.arange(len(chosen))
        links = place[self.links]
        part = self._with_links(links[(links >= 0).all(axis=1)], directed=self.directed)
        part.counts = self.counts[chosen]
        part.ids = self.ids[chosen]
        part._has_names = True  # if only by their place in the whole
        for name in ("titles", "labels", "texts"):
            column = getattr(self, name)
            setattr(part, name, None if column is None else column[chosen])
        part.columns = {name: values[chosen] for name, values in self.columns.items()}
        empty = np.flatnonzero(part.lengths == 0)
        part.report = NetworkReport(n_empty_documents=len(empty), empty_documents=tuple(part.ids[empty[:3]].tolist()))
        part._positions = None
        return part

    def to_undirected(self) -> DocumentNetwork:
        """Give the same network with directions forgotten: a -> b and b -> a become one link.

        Examples
        --------
        >>> DocumentNetwork([[2, 1], [0, 3]], [(0, 1), (1, 0)]).to_undirected().links
        array([[0, 1]])
        """
        return self._with_links(self.links, directed=False)

    def without_links(self) -> DocumentNetwork:
        """Give the same documents as if nothing was known of their links.

        Examples
        --------
        >>> DocumentNetwork([[2, 1], [0, 3]], [(0, 1)]).without_links().n_links
        0
        """
        return self._with_links(self.links[:0], directed=self.directed)

    def _with_links(self, links: np.ndarray, *, directed: bool) -> DocumentNetwork:
        """Copy with other links between known documents, put in order again."""
        other = copy.copy(self)
        other.directed = directed
        other.links = np.unique(links if directed else np.sort(links, axis=1), axis=0)
        return other

    def vectorize(self, texts: Iterable[str]) -> sparse.csr_array:
        """Count the words of new texts with the network's vectorizer; words it does not know are left out.

        Examples
        --------
        >>> network = DocumentNetwork.from_texts(["red apple", "green apple"], [(0, 1)])
        >>> network.vectorize(["apple, red apple and plum"]).toarray()
        array([[2, 0, 1]], dtype=int32)
        """
        if self.vectorizer is None:
            raise DataError(
                "this network was made from counts and has no vectorizer to read texts with; pass counts, or make the "
                "network with vectorizer=, DocumentNetwork.from_texts or another reader of texts."
            )
        listed = check_texts(texts, None)
        matrix = as_count_matrix(self.vectorizer.transform(listed))
        if matrix.shape[1] != self.n_words:
            raise DataError(f"the vectorizer gives {matrix.shape[1]:,} words, the network has {self.n_words:,}.")
        return check_counts(matrix, np.arange(len(listed)), self.vocabulary)

    def unseen_words(self, texts: Iterable[str]) -> list[Counter[str]] | None:
        """Count the words of each new text that the vocabulary lacks, and that `vectorize` therefore leaves out.

        None where the network's vectorizer does not tell how it finds words (it has no method `build_analyzer`).

        Examples
        --------
        >>> network = DocumentNetwork.from_texts(["red apple", "green apple"], [(0, 1)])
        >>> network.unseen_words(["apple, red apple and plum"])
        [Counter({'plum': 1})]
        """
        if not hasattr(self.vectorizer, "build_analyzer") or self.vocabulary is None:
            return None
        words = self.vectorizer.build_analyzer()
        known = set(self.vocabulary.tolist())
        return [Counter(word for word in words(text) if word not in known) for text in check_texts(texts, None)]

    def new_documents(
        self,
        texts: Sequence[str] | Mapping[Any, str],
        *,
        ids: Iterable[Hashable] | None = None,
        columns: Mapping[str, Iterable[Any]] | None = None,
    ) -> DocumentNetwork:
        """Read new texts with the network's vectorizer, and what else is known about them, for features of pairs.

        Parameters
        ----------
        texts : sequence of str, or mapping from id to text
            The new documents.
        ids, columns
            As in `DocumentNetwork`.

        Returns
        -------
        DocumentNetwork
            The new documents, without links, over the same vocabulary.

        Examples
        --------
        >>> network = DocumentNetwork.from_texts(["red apple", "green apple"], [(0, 1)], columns={"year": [1990, 1991]})
        >>> network.new_documents(["green, red"], columns={"year": [1992]}).columns
        {'year': array([1992])}
        """
        from linktopics._inputs import report_unseen
        from linktopics.readers.texts import split_texts

        listed, names = split_texts(texts, ids)
        counts = self.vectorize(listed)
        report_unseen(self, listed, int(counts.sum()))
        return DocumentNetwork(
            counts, ids=names, vocabulary=self.vocabulary, texts=listed, columns=columns, vectorizer=self.vectorizer
        )

    def extended(
        self,
        texts: Sequence[str] | Mapping[Any, str],
        links: Any = None,
        *,
        ids: Iterable[Hashable] | None = None,
        titles: Iterable[Any] | None = None,
        labels: Iterable[Any] | None = None,
        columns: Mapping[str, Iterable[Any]] | None = None,
        grow_vocabulary: bool = False,
        strict: bool = False,
    ) -> DocumentNetwork:
        """Give the network with further documents and links; see `RelationalTopicModel.extend`.

        Parameters
        ----------
        texts : sequence of str, or mapping from id to text
            The new documents, after the old ones. Without ids they are numbered on.
        links : sequence of pairs of ids, optional
            Further links, among new and old documents in any combination.
        ids, titles, labels, columns, strict
            As in `DocumentNetwork`, for the new documents.
        grow_vocabulary : bool, default=False
            Whether words that the network does not know are added to its vocabulary, or left out with a warning. Words
            that old documents have and the vocabulary lacks, because they are too rare or too frequent, are left out.

        Examples
        --------
        >>> network = DocumentNetwork.from_texts({"a": "red apple", "b": "green apple"}, [("a", "b")])
        >>> network.extended({"c": "green plum"}, [("c", "b")], grow_vocabulary=True)
        DocumentNetwork(3 documents, 4 words, 6 tokens, 2 directed links)
        """
        from linktopics._inputs import report_unseen
        from linktopics.readers._extension import count_more, join_columns
        from linktopics.readers.texts import split_texts

        listed, names = split_texts(texts, ids)
        named = names is not None
        if names is None:
            if self._has_names:
                raise DataError("the network has ids, and the new documents have none; pass ids=, or a dict of texts.")
            names = list(range(len(self), len(self) + len(listed)))
        counts, vocabulary, vectorizer = count_more(self, listed, grow_vocabulary)
        if not grow_vocabulary:
            report_unseen(self, listed, int(counts[len(self) :].sum()))
        sizes = (len(self), len(listed))

        def joined(old: np.ndarray | None, given: Any, name: str) -> list[Any] | None:
            entries = f"one entry for each of the {len(listed):,} new documents"
            return join_columns(old, None if given is None else list_values(given, name, entries), *sizes)

        more = named_columns(columns)
        all_columns: dict[str, Any] = {
            name: joined(self.columns.get(name), more.get(name), f"columns[{name!r}]")
            for name in {**self.columns, **more}
        }
        old_links = [(self.ids[i], self.ids[j]) for i, j in self.links.tolist()]
        network = DocumentNetwork(
            counts,
            [*old_links, *([] if links is None else list_pairs(unframed_links(links)))],
            directed=self.directed,
            ids=[*self.ids.tolist(), *names],
            vocabulary=vocabulary,
            titles=joined(self.titles, titles, "titles"),
            labels=joined(self.labels, labels, "labels"),
            texts=None if self.texts is None else [*self.texts.tolist(), *listed],
            columns=all_columns,
            vectorizer=vectorizer,
            strict=strict,
        )
        network._has_names = named
        return network

    def fingerprint(self) -> str:
        """Give a SHA-256 of counts, links and directedness: equal for equal networks, on every machine.

        Examples
        --------
        >>> DocumentNetwork([[2, 1], [0, 3]], [(0, 1)]).fingerprint()[:8]
        '9b13a439'
        """
        digest = hashlib.sha256(repr((self.counts.shape, self.directed)).encode())
        for array in (self.counts.indptr, self.counts.indices, self.counts.data, self.links):
            digest.update(np.ascontiguousarray(array, dtype="<i8").tobytes())
        return digest.hexdigest()

    def summary(self, file: TextIO | None = None) -> None:
        """Print what the network is, and what its report says.

        Examples
        --------
        >>> network = DocumentNetwork([[2, 1], [0, 3], [1, 0]], [(0, 1), (1, 2)], labels=["r", "g", "r"])
        >>> network.summary()
        DocumentNetwork
          documents            3
          words                2
          tokens               7
          tokens per document  median 3, max 3
          links                2 directed
          density              0.33
          degree               median 1, max 2, 0 isolated
          labels               2: r 2, g 1
        """
        print(*summary_lines(self), sep="\n", file=file or sys.stdout)
