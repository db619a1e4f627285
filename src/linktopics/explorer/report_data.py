"""All documents and links of a model in compact form, for a report that is one file.

The data have ``version``, ``meta`` as of `Explorer.meta` with ``notes`` about what was left out to save space, and

- ``vocabulary``: the words, ``labels``: the labels, ``columns``: names of columns, ``features``: names of features,
  ``details``: beginnings of descriptions of features;
- ``cells``: for each topic a and each topic b the links that their weight explains best, [source, target,
  contribution, share, probability]; null for weights that are not among the largest;
- ``documents``: [id, title or null if it is the id, number of the label or null, tokens, text or null, values of
  columns, [topic, share, topic, share, ...], [word, count, topic, word, ...], suggestions]; a suggestion is [other
  document, direction, probability, lower, upper, reasons];
- ``links``: [source, target, probability, 1 if it is surprising or 0, reasons], each once;
- ``surprising_below``: the probability below which a link is surprising.

Directions are 0 (out), 1 (in) and 2 (both). A reason is [share, contribution, topic of the source, topic of the
target], or [share, contribution, -1 - number of the feature, number of the detail, word, word, ...]. Numbers are
integers: shares of topics in thousandths, probabilities in hundred-thousandths, shares and contributions of reasons in
hundredths; those of cells are not scaled. Unknown values are null.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linktopics.explorer.explorer import MIN_SHOWN_SHARE, Explorer
from linktopics.explorer.page import to_json
from linktopics.explorer.pairs import Suggestions
from linktopics.explorer.rounding import fixed_point, rounded, rows_of
from linktopics.network.report import numbered
from linktopics.prediction.explanation import N_REASONS, Reasons
from linktopics.prediction.ranking import blocks_of
from linktopics.utils.progress import ProgressBar

BYTES_PER_DOCUMENT, MIN_DOCUMENTS = 900, 3000
"""Bytes of a report for each document, and the number of documents to count if there are fewer."""

MAX_REPORT_WORDS, MIN_REPORT_WORDS = 60, 8
"""Words of a document: the largest number, and the smallest one if space is short."""

MAX_TEXT_CHARACTERS, MIN_TEXT_CHARACTERS = 1000, 80
"""Characters of a text; if there is no space for the smaller number, texts are left out."""

N_CELL_LINKS, MAX_REPORT_CELLS = 5, 900
"""Links of a cell, and cells that have any: the strongest."""

THOUSANDTHS, HUNDRED_THOUSANDTHS, HUNDREDTHS = 1000, 100_000, 100

BYTES_PER_WORD, BYTES_PER_LINK, BYTES_PER_REASON = 11, 25, 23
"""Approximate bytes of a word of a document, a link without its reasons, and a reason in a report."""

MAX_LINKS_SHARE = 0.3
"""Share of the space that links may take; if there are many links, each has fewer reasons."""

WORD_BLOCK_CELLS = 2**20
"""Words of documents that are in memory at once."""

TEXT_FIELD, WORDS_FIELD = 4, 7
"""Positions in the row of a document."""


class ReportBuilder:
    """Builds the data of a report, and numbers the words and details that documents and links refer to.

    Parameters
    ----------
    explorer : Explorer
        Content of the report.
    """

    def __init__(self, explorer: Explorer) -> None:
        self.explorer = explorer
        self.network = explorer.network
        self.vocabulary: dict[int, int] = {}
        self.details: dict[str, int] = {}

    def build(self, suggestions: int, texts: bool, verbose: bool | str) -> dict[str, Any]:
        """Return the data; for the parameters see `Explorer.report`."""
        explorer, linked = self.explorer, self.network.n_links > 0
        blocks = explorer.pairs.suggestion_blocks(suggestions) if suggestions and linked else []
        with ProgressBar(len(blocks) + 3, verbose, "writing the report", "writing the report") as progress:
            meta = explorer.meta()
            progress.advance("topics")
            cells, links = (self._cells(), self._links()) if linked else ([], [])
            progress.advance("links")

            def suggest(rows: slice) -> Suggestions:
                found = explorer.pairs.suggestions(rows, suggestions)
                progress.advance("suggestions")
                return found

            suggested = self._suggested(explorer.pairs.predictor.map_in_threads(suggest, blocks))
            data = self._documents(meta, cells, links, suggested, texts)
            progress.advance("documents")
        return data

    # ------------------------------------------------------------------------------------------------------------------
    # Pairs
    # ------------------------------------------------------------------------------------------------------------------

    def _links(self) -> list[list[Any]]:
        """Return all links of the data."""
        source, target = self.network.links.T
        pairs = self.explorer.pairs
        values = pairs.link_values(source, target)
        probability = pairs.probabilities(source, target, values)
        surprising = (probability < self.explorer.links.surprising_below).astype(int)
        reasons = pairs.reasons(source, target, values)
        reasons.index[:, self._reasons_per_link() :] = -1
        why = self._reasons(reasons, source, target, np.ones(len(source), dtype=bool))
        rows = rows_of(source, target, fixed_point(probability, HUNDRED_THOUSANDTHS), surprising)
        return [[*row, reasons] for row, reasons in zip(rows, why, strict=True)]

    def _reasons_per_link(self) -> int:
        """Return how many reasons of a link there is space for."""
        room = MAX_LINKS_SHARE * self._room / self.network.n_links - BYTES_PER_LINK
        return int(np.clip(room // BYTES_PER_REASON, 0, N_REASONS))

    @property
    def _room(self) -> int:
        """Bytes that a report should have at most."""
        return BYTES_PER_DOCUMENT * max(len(self.network), MIN_DOCUMENTS)

    def _suggested(self, blocks: list[Suggestions]) -> list[list[Any]]:
        """Return the absent links of each document that are suggested."""
        suggested: list[list[Any]] = [[] for _ in range(len(self.network))]
        for found in blocks:
            direction = np.where(found.outgoing, 0, 1) if self.network.directed else np.full(len(found.other), 2)
            why = self._reasons(found.reasons, found.document, found.other, found.outgoing)
            bounds = [
                [None] * len(direction) if np.isnan(bound).all() else fixed_point(bound, HUNDRED_THOUSANDTHS).tolist()
                for bound in (found.lower, found.upper)
            ]
            rows = rows_of(found.document, found.other, direction, fixed_point(found.probability, HUNDRED_THOUSANDTHS))
            for (i, *row), lower, upper, reasons in zip(rows, *bounds, why, strict=True):
                suggested[i].append([*row, lower, upper, reasons])
        return suggested

    def _reasons(
        self, reasons: Reasons, new: NDArray[Any], candidates: NDArray[Any], outgoing: NDArray[Any]
    ) -> list[list[list[int]]]:
        K = self.explorer.n_topics
        result: list[list[list[int]]] = [[] for _ in range(len(new))]
        given = np.nonzero(reasons.index >= 0)
        shares, sizes = (fixed_point(values[given], HUNDREDTHS) for values in (reasons.share, reasons.contribution))
        pairs = (ends[given[0]] for ends in (new, candidates, outgoing))
        for e, what, share, size, i, j, is_outgoing in rows_of(given[0], reasons.index[given], shares, sizes, *pairs):
            if what < K * K:
                result[e].append([share, size, what // K, what % K])
            else:
                training = self.explorer.pairs.predictor.training
                phrase, words = training.detail(what - K * K, i, j, "out" if is_outgoing else "in")
                number = self.details.setdefault(f"{phrase}: " if len(words) else phrase, len(self.details))
                result[e].append([share, size, -1 - (what - K * K), number, *map(self._word, words)])
        return result

    def _word(self, word: int) -> int:
        """Return the number of a word in the vocabulary of the report."""
        return self.vocabulary.setdefault(word, len(self.vocabulary))

    def _cells(self) -> list[list[list[Any] | None]]:
        """Return for the strongest cells of the weights the links that they explain best."""
        explorer, K = self.explorer, self.explorer.n_topics
        chosen = np.argsort(-np.abs(explorer.model.link_weights_).ravel(), kind="stable")[:MAX_REPORT_CELLS]
        a, b = np.divmod(np.sort(chosen), K)
        found: list[list[Any]] = [[] for _ in a]
        for number, i, j, size, share, p in rows_of(*explorer.pairs.best_of_cells(a, b, N_CELL_LINKS)):
            found[number].append([i, j, rounded(size, 3), rounded(share, 2), rounded(p, 3)])
        cells: list[list[list[Any] | None]] = [[None] * K for _ in range(K)]
        for links, i, j in zip(found, a.tolist(), b.tolist(), strict=True):
            cells[i][j] = links
        return cells

    # ------------------------------------------------------------------------------------------------------------------
    # Documents
    # ------------------------------------------------------------------------------------------------------------------

    def _documents(
        self, meta: dict[str, Any], cells: list[Any], links: list[Any], suggested: list[Any], texts: bool
    ) -> dict[str, Any]:
        """Return the data; words and texts get the space that is left."""
        explorer = self.explorer
        labels: dict[str, int] = {}
        documents = []
        for i, topics in enumerate(self._topics()):
            label = explorer.label(i)
            number = None if label is None else labels.setdefault(label, len(labels))
            title = None if explorer.titles[i] == explorer.ids[i] else explorer.titles[i]
            columns = list(explorer.columns_of(i).values())
            tokens = int(explorer.lengths[i])
            documents.append([explorer.ids[i], title, number, tokens, None, columns, topics, [], suggested[i]])
        data = {
            "version": meta["version"],
            "meta": {**meta, "notes": []},
            "vocabulary": [],
            "labels": list(labels),
            "columns": list(self.network.columns),
            "features": [feature.name for feature in explorer.pairs.features.features],
            "details": list(self.details),
            "cells": cells,
            "documents": documents,
            "links": links,
            "surprising_below": rounded(explorer.links.surprising_below, 3),
        }
        if links and self._reasons_per_link() < N_REASONS:
            data["meta"]["notes"].append(
                f"For each link this file contains at most {numbered(self._reasons_per_link(), 'reason')}."
            )
        room = self._room - _size(data)
        texts = texts and self.network.texts is not None
        used = self._put_words(data, room * 2 // 3 if texts else room)
        if texts:
            self._put_texts(data, room - used)
        return data

    def _topics(self) -> list[list[int]]:
        """Return the topics of each document with their shares, largest first."""
        shares = self.explorer.shares
        order = np.argsort(-shares, axis=1, kind="stable")
        sizes = (shares >= MIN_SHOWN_SHARE).sum(axis=1)
        numbers = fixed_point(np.take_along_axis(shares, order, axis=1), THOUSANDTHS)
        pairs = np.stack([order, numbers], axis=2).reshape(len(shares), -1)
        return [row[: 2 * size].tolist() for row, size in zip(pairs, sizes.tolist(), strict=True)]

    def _put_words(self, data: dict[str, Any], room: int) -> int:
        """Return the bytes of words of documents, after adding as many as there is space for."""
        distinct = np.diff(self.network.counts.indptr)
        room -= _size(self.explorer.words)
        sizes = range(MAX_REPORT_WORDS, MIN_REPORT_WORDS, -1)
        fits = (n for n in sizes if np.minimum(distinct, n).sum() * BYTES_PER_WORD <= room)
        most = next(fits, MIN_REPORT_WORDS)
        before = _size(data)
        for rows in blocks_of(len(distinct), most, WORD_BLOCK_CELLS):
            words, counts, topics, begin = self.explorer.words_of(rows, most)
            numbers = np.array([self._word(word) for word in words.tolist()], dtype=np.int64)
            flat = np.column_stack([numbers, counts, topics]).reshape(-1)
            for i, (a, b) in enumerate(pairwise(begin.tolist()), rows.start):
                data["documents"][i][WORDS_FIELD] = flat[3 * a : 3 * b].tolist()
        data["vocabulary"] = [self.explorer.words[word] for word in self.vocabulary]
        if distinct.max(initial=0) > most:
            data["meta"]["notes"].append(
                f"This file contains the {most} words with the largest weight of each document; the search does not "
                "find others."
            )
        return _size(data) - before

    def _put_texts(self, data: dict[str, Any], room: int) -> None:
        """Add beginnings of texts, as long as the space allows."""
        texts = [self.explorer.text(i, MAX_TEXT_CHARACTERS) or "" for i in range(len(self.network))]
        lengths = np.array([len(text) for text in texts])
        bytes_each = _size(texts) / max(lengths.sum(), 1)
        sizes = range(MAX_TEXT_CHARACTERS, MIN_TEXT_CHARACTERS - 1, -20)
        longest = next((n for n in sizes if np.minimum(lengths, n).sum() * bytes_each <= room), 0)
        if not longest:
            data["meta"]["notes"].append("Texts were left out to limit the size of this file.")
            return
        for document, text in zip(data["documents"], texts, strict=True):
            document[TEXT_FIELD] = text[:longest] or None
        if lengths.max(initial=0) > longest:
            data["meta"]["notes"].append(f"Of each text this file contains the first {longest} characters.")


def _size(value: Any) -> int:
    """Return how many bytes a value takes in a page."""
    return len(to_json(value).encode())
