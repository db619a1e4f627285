"""Explorer: the content of the pages of a fitted model, as dicts for JSON."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from linktopics.errors import DataError
from linktopics.explorer import overview
from linktopics.explorer.document_links import DocumentLinks
from linktopics.explorer.document_search import DocumentFinder
from linktopics.explorer.pairs import PairScorer
from linktopics.explorer.rounding import contribution, rounded, rows_of
from linktopics.explorer.topics import TOPIC_BLOCK_CELLS, describe_features, describe_topics, describe_weights
from linktopics.network import DocumentNetwork
from linktopics.prediction.ranking import blocks_of

VERSION = 1
"""Increases when the meaning of a key changes; keys can be added at any time."""

TEXT_CHARACTERS = 1000
"""Characters of a text that are shown."""

MAX_DOCUMENT_WORDS = 60
"""Words of a document that are shown."""

MIN_SHOWN_SHARE = 0.005
"""Topics of a document with smaller shares are not shown."""

N_DOCUMENT_SUGGESTIONS = 8
"""Absent links that are suggested for a document."""

MAX_CACHED_ROWS = 10_000
"""Rows of lists of documents that are cached."""

Indices = NDArray[np.int64]


class Explorer:
    """The content of the pages of a fitted model, as dicts of plain values for JSON.

    Documents are identified by their numbers, their indices in the network. Shares of topics in a document are those
    among its words, averaged over the samples of the best chain. The model is not changed.

    Parameters
    ----------
    model : RelationalTopicModel
        A fitted model.
    evaluation : Evaluation, DataFrame or path, default=None
        Quality of predictions, from `linktopics.evaluate` or a file of ``linktopics evaluate``.
    title : str, default=None
        Title of the pages; None gives the numbers of documents and topics.
    folder : path, default=None
        The folder that the model was loaded from; the pages then show when and by which versions it was saved.

    Examples
    --------
    >>> from linktopics import DocumentNetwork, RelationalTopicModel
    >>> from linktopics.explorer import Explorer
    >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
    >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
    >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_burn_in=50, random_state=0).fit(network)
    >>> explorer = Explorer(model)
    >>> explorer.meta()["data"]["links"]
    2
    >>> [row["id"] for row in explorer.documents("stars")["rows"]]
    ['c', 'd']
    >>> [link["j"] for link in explorer.document(1)["links"]]
    [0]
    """

    def __init__(
        self,
        model: Any,
        *,
        evaluation: Any = None,
        title: str | None = None,
        folder: str | os.PathLike[str] | None = None,
    ) -> None:
        check_is_fitted(model)
        self.model = model
        self.network: DocumentNetwork = model.network_
        self.n_topics = len(model.topic_word_)
        self.pairs = PairScorer(model.predictor)
        self._title, self._folder = title, folder
        self._quality = overview.describe_quality(evaluation)

    # ------------------------------------------------------------------------------------------------------------------
    # Cached properties
    # ------------------------------------------------------------------------------------------------------------------

    @cached_property
    def ids(self) -> list[str]:
        """The ids of documents as text."""
        return [str(id) for id in self.network.ids.tolist()]

    @cached_property
    def index_by_id(self) -> dict[str, int]:
        """The numbers of documents by their ids as text; the first if several have the same."""
        return {id: number for number, id in reversed(list(enumerate(self.ids)))}

    @cached_property
    def titles(self) -> list[str]:
        """The titles of documents; the id for documents without one."""
        given = self.network.titles
        if given is None:
            return self.ids
        return [_text(title) or id for title, id in zip(given.tolist(), self.ids, strict=True)]

    @cached_property
    def words(self) -> list[str]:
        """The vocabulary, or names made of the numbers of words."""
        known = self.network.vocabulary
        return [f"word {w}" for w in range(self.network.n_words)] if known is None else list(map(str, known.tolist()))

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """Shares of topics among the words of documents, documents x topics."""
        total = np.zeros((len(self.network), self.n_topics))
        for sample in self.pairs.samples:
            total += sample.doc_topic
        return total / len(self.pairs.samples)

    @cached_property
    def lengths(self) -> Indices:
        """Tokens of each document."""
        return self.network.lengths

    @cached_property
    def degrees(self) -> tuple[Indices, Indices]:
        """Links from and to each document; without directions, the same twice."""
        n = len(self.network)
        out, into = (np.bincount(end, minlength=n) for end in self.network.links.T)
        return (out, into) if self.network.directed else (out + into, out + into)

    @cached_property
    def n_links(self) -> Indices:
        """Links of each document in any direction."""
        return np.bincount(self.network.links.reshape(-1), minlength=len(self.network))

    @cached_property
    def links(self) -> DocumentLinks:
        """Links of documents, and suggested ones."""
        return DocumentLinks(self.pairs, self.words)

    def label(self, i: int) -> str | None:
        """Return the label of a document."""
        return None if self.network.labels is None else _text(self.network.labels[i])

    # ------------------------------------------------------------------------------------------------------------------
    # The model
    # ------------------------------------------------------------------------------------------------------------------

    def meta(self) -> dict[str, Any]:
        """Return data, settings, quality, sampling, topics and weights: everything but single documents and links."""
        return self._meta

    @cached_property
    def _meta(self) -> dict[str, Any]:
        model, network = self.model, self.network
        fingerprint = network.fingerprint()
        topics = describe_topics(model, self.shares, self.words)
        mentioned = {i for topic in topics for i in topic["documents"]}
        return {
            "version": VERSION,
            "title": self._title or f"{self.n_topics} topics of {len(network):,} documents",
            "data": overview.describe_data(network, fingerprint),
            "settings": overview.describe_settings(model),
            "quality": self._quality,
            "mixing": overview.describe_mixing(model),
            "provenance": overview.describe_provenance(model, fingerprint, self._folder),
            "topics": topics,
            "features": describe_features(model),
            "weights": describe_weights(model, self.shares),
            "names": self.names(mentioned),
            "notes": [],
        }

    def name(self, i: int) -> dict[str, str]:
        """Return the id and the title of a document."""
        return {"id": self.ids[i], "title": self.titles[i]}

    def names(self, documents: Any) -> dict[str, dict[str, str]]:
        """Return ids and titles of some documents by their numbers."""
        return {str(i): self.name(i) for i in sorted(set(documents))}

    def cell(self, a: int, b: int, top: int = 8) -> dict[str, Any]:
        """Return the links that the weight of two topics explains best.

        Parameters
        ----------
        a, b : int
            The topic of the source and that of the target.
        top : int, default=8
            Links to return.

        Returns
        -------
        dict
            ``links`` by size of the ``contribution`` of this weight to their score (``part``, the old name, is the
            same). If the weight is negative, these are the links with the most negative contributions.
            ``share`` is the contribution relative to all contributions of its sign.
        """
        self._check_topic(a)
        self._check_topic(b)
        _, *columns = (column.tolist() for column in self.pairs.best_of_cells(np.array([a]), np.array([b]), top))
        links = [
            {"source": i, "target": j, **contribution(size), "share": rounded(share, 3), "probability": rounded(p)}
            for i, j, size, share, p in zip(*columns, strict=True)
        ]
        return {"a": a, "b": b, "links": links, "names": self.names(columns[0] + columns[1])}

    def _check_topic(self, topic: int) -> None:
        if not 0 <= topic < self.n_topics:
            raise DataError(f"there is no topic {topic}; topics run from 0 to {self.n_topics - 1}.")

    def report(self, suggestions: int, texts: bool = True, verbose: bool | str = False) -> dict[str, Any]:
        """Return the content of a report, in the form that `linktopics.explorer.report_data` describes.

        Parameters
        ----------
        suggestions : int, default=5
            Absent links to suggest for each document.
        texts : bool, default=True
            Whether to include the beginnings of texts.
        verbose : bool or "auto", default=False
            Whether to show a progress bar.
        """
        from linktopics.explorer.report_data import ReportBuilder

        return ReportBuilder(self).build(suggestions, texts, verbose)

    # ------------------------------------------------------------------------------------------------------------------
    # Documents
    # ------------------------------------------------------------------------------------------------------------------

    def documents(
        self,
        query: str = "",
        topic: int | None = None,
        sort: str = "number",
        descending: bool = False,
        page: int = 0,
        size: int = 50,
    ) -> dict[str, Any]:
        """Return the documents that match a query.

        Parameters
        ----------
        query : str, default=""
            Terms that must all be found, each in the id, the title or at the beginning of a word of the document.
        topic : int, default=None
            Only documents in which this topic has a share of at least a tenth.
        sort : {"number", "title", "tokens", "links", "topic"}, default="number"
            The order; "topic" is by the share of `topic`.
        descending : bool, default=False
            Whether the order is reversed.
        page, size : int
            Which rows to return.
        """
        if page < 0 or size < 1:
            raise DataError(
                f"page {page} of {size} rows cannot be shown; pages are numbered from 0 and have at least one row."
            )
        if topic is not None:
            self._check_topic(topic)
        found = self._finder.find(query, topic, sort, descending)
        rows = [self._rows(i) for i in found[page * size : (page + 1) * size].tolist()]
        return {"total": len(found), "page": page, "size": size, "rows": rows}

    @cached_property
    def _finder(self) -> DocumentFinder:
        return DocumentFinder(self.ids, self.titles, self.words, self.network.counts, self.n_links, self.shares)

    @cached_property
    def _rows(self) -> Callable[[int], dict[str, Any]]:
        return lru_cache(MAX_CACHED_ROWS)(self._row)

    def _row(self, i: int) -> dict[str, Any]:
        return {
            **self._about(i),
            "links_out": int(self.degrees[0][i]),
            "links_in": int(self.degrees[1][i]),
            "topics": largest_topics(self.shares[i], 3),
        }

    def _about(self, i: int) -> dict[str, Any]:
        """Return the keys that lists and pages have in common."""
        return {"i": i, **self.name(i), "label": self.label(i), "tokens": int(self.lengths[i])}

    def document(self, i: int, suggestions: int = N_DOCUMENT_SUGGESTIONS) -> dict[str, Any]:
        """Return the content of the page of a document.

        Parameters
        ----------
        i : int
            Its number.
        suggestions : int, default=8
            Absent links to suggest.

        Returns
        -------
        dict
            Reasons name topics as [topic of the source, topic of the target]; if links have no direction, the
            document itself comes first. A link is ``surprising`` if nine of ten links of the network are more probable.
            Suggested links are to or from documents that it is not linked with; ``direction`` is the one with the
            higher score, and the probability that of a link in any direction.
        """
        if not 0 <= i < len(self.network):
            raise DataError(f"there is no document {i}; numbers run from 0 to {len(self.network) - 1}.")
        return self.documents_at(slice(i, i + 1), suggestions)[0]

    def documents_at(self, rows: slice, suggestions: int = N_DOCUMENT_SUGGESTIONS) -> list[dict[str, Any]]:
        """Return the same for consecutive documents; several cost little more than one."""
        rows = slice(rows.start, min(rows.stop, len(self.network)))
        links = self.links.links_of(rows)
        suggested = self.links.suggested(rows, suggestions) if suggestions and self.network.n_links else {}
        return [self._document(i, links.get(i, []), suggested.get(i, [])) for i in range(rows.start, rows.stop)]

    def _document(self, i: int, links: list[dict[str, Any]], suggested: list[dict[str, Any]]) -> dict[str, Any]:
        *words, _ = self.words_of(slice(i, i + 1), MAX_DOCUMENT_WORDS)
        return {
            **self._about(i),
            "text": self.text(i, TEXT_CHARACTERS),
            "columns": self.columns_of(i),
            "topics": largest_topics(self.shares[i]),
            "words": [[self.words[w], count, k] for w, count, k in rows_of(*words)],
            "n_links": int(self.n_links[i]),
            "links": links,
            "suggested": suggested,
            "surprising_below": rounded(self.links.surprising_below, 3),
            "names": self.names(link["j"] for link in [*links, *suggested]),
        }

    def columns_of(self, i: int) -> dict[str, str | None]:
        """Return the values of the columns of a document, as text."""
        return {str(name): _text(values[i]) for name, values in self.network.columns.items()}

    def text(self, i: int, length: int) -> str | None:
        """Return the beginning of a text."""
        text = None if self.network.texts is None else _text(self.network.texts[i])
        return None if text is None else text[:length]

    def words_of(self, rows: slice, most: int) -> tuple[Indices, Indices, Indices, Indices]:
        """Return words of some documents, best first, their counts and main topics, and where each document begins."""
        counts = self.network.counts[rows]
        document = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        order = np.lexsort((counts.indices, -counts.data * self.word_rarity[counts.indices], document))
        place = np.arange(len(order)) - counts.indptr[document[order]]
        kept = order[place < most]
        words, document = counts.indices[kept].astype(np.int64), document[kept]
        topics = np.empty(len(kept), dtype=np.int64)
        mixes = self.model.doc_topic_[rows]
        for part in blocks_of(len(kept), self.n_topics, TOPIC_BLOCK_CELLS):
            topics[part] = (self._topics_by_word[words[part]] * mixes[document[part]]).argmax(axis=1)
        return words, counts.data[kept].astype(np.int64), topics, np.searchsorted(document, np.arange(len(mixes) + 1))

    @cached_property
    def _topics_by_word(self) -> NDArray[np.float64]:
        return np.ascontiguousarray(self.model.topic_word_.T)

    @cached_property
    def word_rarity(self) -> NDArray[np.float64]:
        """The weight of one occurrence of a word: large for words of few documents."""
        having = np.bincount(self.network.counts.indices, minlength=self.network.n_words)
        return 1.0 + np.log((1 + len(self.network)) / (1 + having))


def largest_topics(shares: NDArray[np.float64], n: int | None = None, digits: int = 3) -> list[list[Any]]:
    """Return the topics of a document or a text with their shares, largest first; without small ones, at most n."""
    order = np.argsort(-shares, kind="stable")[:n]
    order = order[shares[order] >= MIN_SHOWN_SHARE]
    return [[k, rounded(share, digits)] for k, share in rows_of(order, shares[order])]


def _text(value: Any) -> str | None:
    """Return a value as text; None if it is missing."""
    return None if value is None or value != value else str(value)
