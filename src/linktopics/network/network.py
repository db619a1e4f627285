"""DocumentNetwork: the words of documents and the links between them, checked once, when it is created."""

from __future__ import annotations

import copy
import difflib
import hashlib
import os
import sys
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal, TextIO

import numpy as np
from scipy import sparse

from linktopics.errors import DataError, NetworkWarning
from linktopics.network.links import clean_links
from linktopics.network.report import NetworkReport, numbered, summary_lines
from linktopics.network.validation import (
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
)
from linktopics.utils.user_warnings import warn_user


class DocumentNetwork:
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
        Further data about the documents (year, venue, authors), for pair features; one value per document.
    vectorizer : object, optional
        The object that turned texts into counts, and does so for new texts; it needs a method `transform`.
    strict : bool, default=False
        Make self links, duplicates, unknown ends and empty documents an error. Otherwise such links are dropped, empty
        documents are kept, `report` counts them and a `NetworkWarning` says so.
    link_ends : {"ids", "indices"}, optional
        How pairs in `links` name documents; by default "ids" if `ids` are given, else "indices".

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
    has_names : bool
        Whether the documents were given ids; otherwise `ids` are their indices.
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
            raise DataError(f'link_ends is {link_ends!r}; it must be "ids", "indices" or None.')
        self.directed = check_flag(directed, "directed")
        check_flag(strict, "strict")
        matrix = as_count_matrix(counts)
        n_documents, n_words = matrix.shape
        given_ids = as_column(ids, n_documents, "ids")
        self.ids: np.ndarray = np.arange(n_documents) if given_ids is None else given_ids
        self.has_names = given_ids is not None
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
        self.report = self._report(**found)
        self._positions: dict[Any, int] | None = None
        self._warn(strict=strict)

    def _report(self, **link_faults: Any) -> NetworkReport:
        """Return the report, from the given faults in the links and the empty documents."""
        empty = np.flatnonzero(self.lengths == 0)
        examples = tuple(self.ids[empty[:N_EXAMPLES]].tolist())
        return NetworkReport(**link_faults, n_empty_documents=len(empty), empty_documents=examples)

    def _warn(self, *, strict: bool) -> None:
        """Warn of what the report holds; raise if `strict`."""
        if self.report.clean:
            return
        if strict:
            raise DataError(
                f"the network has {self.report.faults()}; or pass strict=False (leave out --strict) to drop "
                "such links and keep such documents."
            )
        warn_user(f"{self.report.brief()} (its report, or linktopics info, has examples).", NetworkWarning)

    @classmethod
    def from_checked_parts(
        cls,
        counts: sparse.csr_array,
        links: np.ndarray,
        *,
        directed: bool,
        ids: np.ndarray,
        has_names: bool,
        vocabulary: np.ndarray | None,
        titles: np.ndarray | None,
        labels: np.ndarray | None,
        texts: np.ndarray | None,
        columns: dict[str, np.ndarray],
        vectorizer: Any,
        report: NetworkReport,
    ) -> DocumentNetwork:
        """Return a network of the attributes of another one, such as one read from a file, without checking them.

        Parameters
        ----------
        counts, links, directed, ids, has_names, vocabulary, titles, labels, texts, columns, vectorizer, report
            The attributes of these names.

        Examples
        --------
        >>> network = DocumentNetwork([[2, 1], [0, 3]], [(0, 1)])
        >>> parts = {name: value for name, value in vars(network).items() if not name.startswith("_")}
        >>> DocumentNetwork.from_checked_parts(**parts)
        DocumentNetwork(2 documents, 2 words, 6 tokens, 1 directed link)
        """
        network = cls.__new__(cls)
        network.counts, network.links, network.directed = counts, links, directed
        network.ids, network.has_names, network.vocabulary = ids, has_names, vocabulary
        network.titles, network.labels, network.texts = titles, labels, texts
        network.columns, network.vectorizer, network.report = columns, vectorizer, report
        network._positions = None
        return network

    @classmethod
    def from_texts(
        cls,
        texts: Sequence[str] | Mapping[Any, str],
        links: Any = None,
        *,
        ids: Iterable[Hashable] | None = None,
        titles: Iterable[Any] | None = None,
        labels: Iterable[Any] | None = None,
        columns: Mapping[str, Iterable[Any]] | None = None,
        vectorizer: Any = None,
        directed: bool = True,
        strict: bool = False,
    ) -> DocumentNetwork:
        r"""Return a network of texts and pairs of ids (indices if there are no ids).

        Parameters
        ----------
        texts : sequence of str, or mapping from id to text
            The documents.
        vectorizer : object, optional
            Counts words; it needs `fit_transform`, `transform` and `get_feature_names_out`, and is fitted here. By
            default scikit-learn's ``CountVectorizer(stop_words="english", token_pattern=r"(?u)\b[^\W\d_]\w+\b")``:
            words are lower-cased, have two or more characters and begin with a letter; English stop words are left out.
        links, ids, titles, labels, columns, directed, strict
            As in `DocumentNetwork`.

        Examples
        --------
        >>> from linktopics import DocumentNetwork
        >>> texts = {"pie": "apple pie with cinnamon", "jam": "plum jam", "tart": "plum tart like apple pie"}
        >>> DocumentNetwork.from_texts(texts, [("tart", "pie"), ("tart", "jam")])
        DocumentNetwork(3 documents, 7 words, 10 tokens, 2 directed links)
        """
        from linktopics.readers.texts import read_texts

        parts = read_texts(texts, ids=ids, vectorizer=vectorizer)
        return cls(
            **parts, links=links, titles=titles, labels=labels, columns=columns, directed=directed, strict=strict
        )

    @classmethod
    def from_networkx(
        cls,
        graph: Any,
        *,
        text: str = "text",
        title: str | None = None,
        label: str | None = None,
        columns: Iterable[str] = (),
        vectorizer: Any = None,
        strict: bool = False,
    ) -> DocumentNetwork:
        """Return the network of a networkx graph; a `DiGraph` gives a directed one.

        Parameters
        ----------
        graph : networkx.Graph or networkx.DiGraph
            Its nodes are the ids.
        text, title, label : str
            Names of the node attributes to read; every node must have the text.
        columns : iterable of str
            Names of further attributes to keep, for features of pairs; a node may lack them.
        vectorizer, strict
            As in `from_texts`.

        Examples
        --------
        >>> from linktopics import DocumentNetwork
        >>> import networkx as nx
        >>> graph = nx.DiGraph([("tart", "pie")])
        >>> graph.add_node("tart", text="plum tart")
        >>> graph.add_node("pie", text="apple pie")
        >>> DocumentNetwork.from_networkx(graph)
        DocumentNetwork(2 documents, 4 words, 4 tokens, 1 directed link)
        """
        from linktopics.readers.graphs import read_networkx

        parts = read_networkx(graph, text=text, title=title, label=label, columns=columns)
        return cls.from_texts(**parts, directed=graph.is_directed(), vectorizer=vectorizer, strict=strict)

    @classmethod
    def from_frames(
        cls,
        documents: Any,
        links: Any = None,
        *,
        id: str = "id",
        text: str = "text",
        title: str | None = None,
        label: str | None = None,
        columns: Iterable[str] = (),
        source: str = "source",
        target: str = "target",
        directed: bool = True,
        vectorizer: Any = None,
        strict: bool = False,
    ) -> DocumentNetwork:
        """Return the network of pandas or polars frames, one of documents and one of links.

        Parameters
        ----------
        documents, links : pandas.DataFrame or polars.DataFrame
            A row per document and a row per link.
        id, text, title, label, source, target : str
            Names of the columns to read.
        columns : iterable of str
            Names of further columns of documents to keep, for features of pairs.
        directed, vectorizer, strict
            As in `from_texts`.

        Examples
        --------
        >>> from linktopics import DocumentNetwork
        >>> import pandas as pd
        >>> documents = pd.DataFrame({"id": [7, 8], "text": ["plum tart", "apple pie"]})
        >>> DocumentNetwork.from_frames(documents, pd.DataFrame({"source": [7], "target": [8]}))
        DocumentNetwork(2 documents, 4 words, 4 tokens, 1 directed link)
        """
        from linktopics.readers.frames import read_frames

        parts = read_frames(
            documents, links, id=id, text=text, title=title, label=label, columns=columns, source=source, target=target
        )
        return cls.from_texts(**parts, directed=directed, vectorizer=vectorizer, strict=strict)

    @classmethod
    def from_linqs(
        cls, path: str | os.PathLike[str], *, directed: bool = True, strict: bool = False
    ) -> DocumentNetwork:
        r"""Return a network of the LINQS group (Cora, Citeseer, WebKB) from its `.content` and `.cites` files.

        Parameters
        ----------
        path : path
            A folder with one or several pairs of files, or one `.content` file with its `.cites` beside it; all
            may be gzipped. A line ``cited citing`` is a link from the citing document to the cited one. Words are named
            w0, w1, ...
        directed, strict
            As in `DocumentNetwork`.

        Examples
        --------
        >>> from linktopics import DocumentNetwork
        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "toy.content").write_text("p1\t1\t0\tfruit\np2\t1\t1\tfruit\n")
        >>> _ = (folder / "toy.cites").write_text("p1\tp2\n")
        >>> DocumentNetwork.from_linqs(folder)
        DocumentNetwork(2 documents, 2 words, 3 tokens, 1 directed link)
        """
        from linktopics.readers.linqs import read_linqs

        return cls(**read_linqs(path), directed=directed, strict=strict)

    @classmethod
    def from_ldac(
        cls,
        path: str | os.PathLike[str],
        links: str | os.PathLike[str] | None = None,
        *,
        vocabulary: str | os.PathLike[str] | None = None,
        titles: str | os.PathLike[str] | None = None,
        ids: str | os.PathLike[str] | None = None,
        links_reversed: bool = False,
        directed: bool = True,
        strict: bool = False,
    ) -> DocumentNetwork:
        r"""Return the network of LDA-C word counts and a file of links; all files may be gzipped.

        Parameters
        ----------
        path : path
            A file with one line ``word:count word:count ...`` per document, words numbered from 0, with or without
            Blei's leading number of distinct words; a blank line is a document without words. Or a folder, in which
            files are found by name: documents.txt or a single `.dat`, vocab.txt, links.txt or cites.txt, titles.txt,
            ids.txt.
        links : path, optional
            A file with one line ``source target`` per link, documents numbered from 0; the rest of a line is ignored.
        vocabulary, titles : path, optional
            One word, one title per line.
        ids : path, optional
            One id per line; a second column, after a tab, is the document's label.
        links_reversed : bool, default=False
            Read lines of links as ``target source``.
        directed, strict
            As in `DocumentNetwork`.

        Examples
        --------
        >>> from linktopics import DocumentNetwork
        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "documents.txt").write_text("0:2 1:1\n1:3\n")
        >>> _ = (folder / "vocab.txt").write_text("apple\nplum\n")
        >>> _ = (folder / "links.txt").write_text("0 1\n")
        >>> DocumentNetwork.from_ldac(folder)
        DocumentNetwork(2 documents, 2 words, 6 tokens, 1 directed link)
        """
        from linktopics.readers.ldac import read_ldac

        parts = read_ldac(path, links, vocabulary=vocabulary, titles=titles, ids=ids, links_reversed=links_reversed)
        return cls(**parts, link_ends="indices", directed=directed, strict=strict)

    @classmethod
    def from_jsonl(
        cls,
        path: str | os.PathLike[str],
        links: str | os.PathLike[str] | None = None,
        *,
        columns: Iterable[str] = (),
        directed: bool = True,
        vectorizer: Any = None,
        strict: bool = False,
    ) -> DocumentNetwork:
        r"""Return the network of documents in JSON lines and links in CSV; both may be gzipped.

        Parameters
        ----------
        path : path
            A file with an object per line: `id` (string or integer) and `text`, optionally `title` and `label`. Or a
            folder with documents.jsonl and links.csv.
        links : path, optional
            A CSV file whose header names the columns `source` and `target`; others are not read.
        columns : iterable of str
            Names of further fields of documents to keep, for features of pairs; a document may lack them.
        directed, vectorizer, strict
            As in `from_texts`.

        Examples
        --------
        >>> from linktopics import DocumentNetwork
        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> lines = '{"id": "a", "text": "red apple"}\n{"id": "b", "text": "green apple"}\n'
        >>> _ = (folder / "documents.jsonl").write_text(lines)
        >>> _ = (folder / "links.csv").write_text("source,target\na,b\n")
        >>> DocumentNetwork.from_jsonl(folder)
        DocumentNetwork(2 documents, 3 words, 4 tokens, 1 directed link)
        """
        from linktopics.readers.jsonl import read_jsonl

        parts = read_jsonl(path, links, columns)
        return cls.from_texts(**parts, directed=directed, vectorizer=vectorizer, strict=strict)

    @classmethod
    def from_folder(
        cls,
        path: str | os.PathLike[str],
        *,
        directed: bool = True,
        vectorizer: Any = None,
        strict: bool = False,
    ) -> DocumentNetwork:
        """Return the network of a folder of Markdown and text files, such as a notes vault, and the links in the texts.

        Ids are paths below `path`, without `.md`, `.markdown` or `.txt` where they stay unique; labels are the topmost
        folders; tags of the front matter become the column `tags`. Hidden files and folders are left out.

        A link leads from the file that holds it: ``[text](path.md)``, also by reference, or ``[[name]]``, found as in
        Obsidian by path, file name, alias or title. It counts once per pair of files. A link to a file that does not
        exist has an unknown end; links to the web, to images and other files, and links in code, are ignored.

        Words are those of the title and the text. Link targets, URLs, HTML tags and front matter are left out, and so
        are blocks of code: their keywords are the same whatever they are about. Code within a sentence is kept.

        Parameters
        ----------
        path : path
            The folder; it is read with all folders within it, except those that are symbolic links.
        directed, vectorizer, strict
            As in `from_texts`.

        Examples
        --------
        >>> from linktopics import DocumentNetwork
        >>> import pathlib, tempfile
        >>> vault = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (vault / "Plum tart.md").write_text("Bake like an [[apple pie]], with [jam](jam.txt).")
        >>> _ = (vault / "Apple pie.md").write_text("Apples and cinnamon.")
        >>> _ = (vault / "jam.txt").write_text("Boil plums with sugar.")
        >>> network = DocumentNetwork.from_folder(vault)
        >>> network.ids[network.links].tolist()
        [['Plum tart', 'Apple pie'], ['Plum tart', 'jam']]
        """
        from linktopics.readers.folders import read_folder

        return cls.from_texts(**read_folder(path), directed=directed, vectorizer=vectorizer, strict=strict)

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
        """Return the index of the document with this id.

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
        """Return the network of some documents and the links among them; the vocabulary stays whole.

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
        part.has_names = True  # at least their indices in the whole network
        for name in ("ids", "titles", "labels", "texts"):
            column = getattr(self, name)
            setattr(part, name, None if column is None else column[chosen])
        part.columns = {name: values[chosen] for name, values in self.columns.items()}
        part.report = part._report()
        part._positions = None
        return part

    def to_undirected(self) -> DocumentNetwork:
        """Return the same network without directions: a -> b and b -> a become one link.

        Examples
        --------
        >>> DocumentNetwork([[2, 1], [0, 3]], [(0, 1), (1, 0)]).to_undirected().links
        array([[0, 1]])
        """
        return self._with_links(self.links, directed=False)

    def without_links(self) -> DocumentNetwork:
        """Return the same documents without links.

        Examples
        --------
        >>> DocumentNetwork([[2, 1], [0, 3]], [(0, 1)]).without_links().n_links
        0
        """
        return self._with_links(self.links[:0], directed=self.directed)

    def _with_links(self, links: np.ndarray, *, directed: bool) -> DocumentNetwork:
        """Return a copy with other links between known documents, sorted."""
        other = copy.copy(self)
        other.directed = directed
        other.links = np.unique(links if directed else np.sort(links, axis=1), axis=0)
        return other

    def vectorize(self, texts: Iterable[str]) -> sparse.csr_array:
        """Return the word counts of new texts by the network's vectorizer; words it does not know are left out.

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
        """Return counts of the words of each new text that the vocabulary lacks, and `vectorize` therefore leaves out.

        None where the network's vectorizer does not show how it finds words (it has no method `build_analyzer`).

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
        """Return a network of new texts, counted by this network's vectorizer, with ids and columns for pair features.

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
        from linktopics.network.inputs import report_unseen
        from linktopics.network.validation import split_texts

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
        """Return the network with further documents and links; see `RelationalTopicModel.extend`.

        Parameters
        ----------
        texts : sequence of str, or mapping from id to text
            The new documents, after the old ones. Without ids the numbers continue.
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
        from linktopics.network.extension import extended_network

        return extended_network(self, texts, links, ids, titles, labels, columns, grow_vocabulary, strict)

    def fingerprint(self) -> str:
        """Return a SHA-256 of counts, links and directedness: equal for equal networks, on every machine.

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
        """Print the sizes of the network and what its report says.

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
