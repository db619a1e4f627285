"""Topics, links, words and reasons for new documents, and links among known ones, from posterior samples."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.sparse import csr_array

from linktopics._checks import user_stacklevel
from linktopics._inputs import Documents, check_direction, check_interval, check_top, resolve_candidates
from linktopics._threads import one_thread
from linktopics.calibration import (
    HeldOutPairs,
    LinkCalibration,
    fit_curves,
    fit_reciprocity,
    log_odds,
    prevalences,
)
from linktopics.errors import DataError, NetworkWarning
from linktopics.features import FeatureSet
from linktopics.features.base import TrainingView
from linktopics.features.links import Links
from linktopics.index import EXACT_UP_TO, INDEX_AFTER, CandidateIndex, index_library
from linktopics.inference import infer_topics
from linktopics.network import DocumentNetwork
from linktopics.pairs import links_between
from linktopics.posterior import PosteriorSample
from linktopics.progress import ProgressBar
from linktopics.ranking import (
    ExactSearch,
    NewDocuments,
    Numbers,
    Shortlist,
    best_of_each,
    blocks_of,
    interval_of,
    pair_probabilities,
)
from linktopics.reasons import Explainer
from linktopics.sampler import Settings
from linktopics.sampler.losses import Loss, make_loss
from linktopics.words import MAX_LENGTH, topics_from_links

__all__ = ["Predictor", "measure"]

BLOCK_CELLS, MEASURED_CELLS = 2**23, 2**18
"""Documents x candidates (or x words) that are handled at once; fewer while a model is fitted, which needs memory."""

OWN = LinkCalibration()
"""Leaves probabilities as they are: the model's own."""

In = TypeVar("In")
Out = TypeVar("Out")


@dataclass(eq=False)
class Predictor:
    """Answers questions about new documents; see `RelationalTopicModel` for what each answer is.

    What is worked out for the first question is kept for others, but not pickled.
    """

    network: DocumentNetwork
    samples: list[PosteriorSample]
    best_chain: int
    settings: Settings
    features: FeatureSet
    calibration: LinkCalibration
    seed: int
    n_jobs: int | None
    verbose: bool | str = False
    told: bool = False
    asked: int = 0

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def described(self) -> list[PosteriorSample]:
        """The samples of the chain whose topics are shown."""
        return [sample for sample in self.samples if sample.chain == self.best_chain]

    @cached_property
    def _loss(self) -> Loss:
        return make_loss(self.settings.loss, np.empty(0, bool), 1.0, 1.0, self.settings.margin)

    @cached_property
    def _exact(self) -> ExactSearch:
        return ExactSearch(self.samples, self.features, self._loss, self.calibration)

    @cached_property
    def _index(self) -> CandidateIndex:
        return CandidateIndex(self.samples, self.features, self._exact, self.seed, self.n_jobs)

    @cached_property
    def _explainer(self) -> Explainer:
        return Explainer(self.described, self.features, self.top_words(3))

    def infer(self, sample: PosteriorSample, counts: csr_array) -> NDArray[np.float32]:
        """Return shares of topics among the tokens of new documents, given a sample's topics."""
        return infer_topics(sample, counts, self.seed, self.n_jobs)

    def predict(
        self, documents: Documents, candidates: Any, direction: str, *, raw: bool = False
    ) -> NDArray[np.float64]:
        """Return link probabilities, documents x candidates, averaged over samples; or their raw scores."""
        chosen = resolve_candidates(self.network, candidates)
        new = self._new(documents, direction)
        result = np.empty((new.n_documents, len(chosen)))

        def run(rows: slice) -> None:
            own = self._mean(new, rows, chosen, self._numbers(new, rows, chosen, direction))
            result[rows] = log_odds(OWN.of_pairs(own)) if raw else self.calibrated(own)

        self._spread(run, self._blocks(new, len(chosen)))
        return result

    def calibrated(self, own: Numbers) -> NDArray[np.float64]:
        """Return the probabilities in the network of links in any direction, given the model's own for each."""
        return self.calibration.of_pairs(own)

    def suggest(
        self,
        documents: Documents,
        top: int,
        direction: str,
        interval: float,
        search: str = "auto",
    ) -> pd.DataFrame:
        """Return the best candidates of new documents, with a range over posterior samples and a reason.

        `search` is "exact", "index", or "auto", which is the index for many new documents and a large network.
        """
        finder = self._checked_finder(top, interval, search, documents.counts.shape[0])
        return self._suggested(finder, self._new(documents, direction), top, direction, interval)

    def suggest_known(
        self, places: NDArray[np.int64], top: int, direction: str, interval: float, search: str = "auto"
    ) -> pd.DataFrame:
        """Return the same of training documents, but for candidates they are linked with in that direction.

        They have the topics they were fitted with. A link in the other direction is left out of what features know of
        the pair.
        """
        finder = self._checked_finder(top, interval, search, len(places))
        check_direction(direction)
        self._check_links()
        prepared = self.features.prepare(Documents.of(self.network.subset(places)))
        new = NewDocuments(len(places), [sample.doc_topic[places] for sample in self.samples], prepared, places)
        return self._suggested(finder, new, top, direction, interval)

    def _checked_finder(self, top: int, interval: float, search: str, n_new: int) -> ExactSearch | CandidateIndex:
        check_top(top)
        check_interval(interval)
        return self.finder(search, n_new)

    def _suggested(
        self, finder: ExactSearch | CandidateIndex, new: NewDocuments, top: int, direction: str, interval: float
    ) -> pd.DataFrame:
        """Return suggestions block by block of documents."""
        ways = self._ways(direction)
        left_out, back = (None, None) if new.known is None else self._linked(new.known, ways)
        blocks = blocks_of(new.n_documents, max(finder.width, int(top) * self.settings.n_topics), BLOCK_CELLS)
        with ProgressBar(len(blocks), self.verbose, "suggesting", "suggesting") as progress:

            def run(rows: slice) -> pd.DataFrame:
                shortlist = finder.shortlist(new, rows, ways, int(top), left_out)
                if back is not None:
                    shortlist = shortlist.with_others(back.part((back.rows >= rows.start) & (back.rows < rows.stop)))
                frame = self._table(new, self.best(new, shortlist, int(top)), interval)
                progress.advance("")
                return frame

            frames = self._spread(run, blocks)
        return pd.concat(frames, ignore_index=True)

    def _linked(self, known: NDArray[np.int64], ways: list[bool]) -> tuple[list[NDArray[np.int64]], Shortlist]:
        """Return for training documents themselves and all they are linked with, and the pairs linked the other way.

        The latter may be suggested. Their features are those of documents that are not linked, which searches among all
        candidates do not know.
        """
        start, neighbours = self._links.neighbours.indptr, self._links.neighbours.indices
        of_each = [neighbours[start[place] : start[place + 1]].astype(np.int64) for place in known]
        rows = np.repeat(np.arange(len(known)), [len(own) for own in of_each])
        new, candidates = known[rows], np.concatenate([np.empty(0, np.int64), *of_each])
        there = [self._links.has(new, candidates) if way else self._links.has(candidates, new) for way in ways]
        free = ~np.any(there, axis=0)
        new, candidates = new[free], candidates[free]
        numbers = {way: self.features.known_pairs(self._view(new, candidates, way)) for way in ways}
        left_out = [np.append(own, place) for own, place in zip(of_each, known, strict=True)]
        return left_out, Shortlist(rows[free], candidates, numbers)

    @cached_property
    def _links(self) -> Links:
        return Links(self.network)

    @cached_property
    def _of_known(self) -> dict[int, Any]:
        """What features need of the training documents in the place of new ones, kept once it is asked for."""
        return {}

    def _view(self, new: NDArray[np.int64], candidates: NDArray[np.int64], outward: bool) -> TrainingView:
        return TrainingView(self.network, new, candidates, np.full(len(new), outward), self._of_known)

    def finder(self, search: str = "auto", n_new: int | None = None) -> ExactSearch | CandidateIndex:
        """Return what proposes the best candidates of so many new documents; None is of more and more."""
        return self._index if self._uses_index(search, n_new) else self._exact

    def _uses_index(self, search: str, n_new: int | None = None) -> bool:
        """Tell whether candidates of so many further documents come from the index."""
        if search not in ("auto", "exact", "index"):
            raise ValueError(f'search is {search!r}; it must be "auto", "exact" or "index".')
        if search == "exact" or (search == "auto" and self.network.n_documents <= EXACT_UP_TO):
            return False
        if search == "auto" and n_new is not None and "_index" not in vars(self):
            self.asked += n_new
            if self.asked <= INDEX_AFTER:
                return False
        if index_library() is not None:
            return True
        cure = "pip install 'linktopics[index]'"
        if search == "index":
            raise ImportError(f"this needs faiss: {cure}")
        if not self.told:
            self.told = True
            warnings.warn(
                f"all {self.network.n_documents:,} documents are ranked for each new one; an index makes that faster: "
                f'{cure}. search="exact" does without, and without this hint.',
                NetworkWarning,
                stacklevel=user_stacklevel(),
            )
        return False

    def by_sample(self, new: NewDocuments, pairs: Shortlist) -> Numbers:
        """Return the model's own probabilities of pairs in each sample, samples x pairs, for each direction."""
        parts = list(self._by_sample(new, pairs))
        nothing = np.empty((len(self.samples), 0))
        return {way: np.concatenate([nothing, *(part[way] for part in parts)], axis=1) for way in pairs.numbers}

    def mean_of(self, new: NewDocuments, pairs: Shortlist) -> Numbers:
        """Return the model's own probabilities of pairs, averaged over samples, for each direction.

        There may be many pairs.
        """
        parts = [{way: p.mean(axis=0) for way, p in part.items()} for part in self._by_sample(new, pairs)]
        return {way: np.concatenate([np.empty(0), *(part[way] for part in parts)]) for way in pairs.numbers}

    def _by_sample(self, new: NewDocuments, pairs: Shortlist) -> Iterator[Numbers]:
        """Give the probabilities of pairs in each sample, block by block of pairs."""
        for part in blocks_of(len(pairs.rows), self.settings.n_topics * len(self.samples), BLOCK_CELLS):
            yield pair_probabilities(self._loss, self.samples, new.shares, pairs.part(part))

    def best(self, new: NewDocuments, pairs: Shortlist, top: int | NDArray[np.int64]) -> Shortlist:
        """Return the best pairs of each document, best first: so many of each, or as `best_of_each` has it."""
        own = self.mean_of(new, pairs)
        # One direction is ranked by the model's own, which are in the same order and tell more of them apart.
        ranked = self.calibrated(own) if len(own) > 1 else OWN.of_pairs(own)
        return pairs.part(best_of_each(pairs.rows, pairs.candidates, ranked, top))

    def _table(self, new: NewDocuments, picked: Shortlist, interval: float) -> pd.DataFrame:
        """Return suggestions, with a range over posterior samples and a reason for each."""
        by_sample = self.by_sample(new, picked)
        own = {way: p.mean(axis=0) for way, p in by_sample.items()}
        lower, upper = interval_of(self.calibrated(by_sample), interval)
        ids, titles = self.network.ids, self.network.titles
        return pd.DataFrame(
            {
                "document": picked.rows,
                "id": ids[picked.candidates],
                "title": "" if titles is None else titles[picked.candidates],
                "probability": self.calibrated(own),
                "lower": lower,
                "upper": upper,
                "score": log_odds(OWN.of_pairs(own)),
                "why": self._reasons(new, picked),
            }
        )

    def _reasons(self, new: NewDocuments, picked: Shortlist) -> list[str]:
        shown = [number for number, sample in enumerate(self.samples) if sample.chain == self.best_chain]
        reasons: list[str] = []
        for row in np.unique(picked.rows).tolist():
            own = picked.part(picked.rows == row)
            reasons += self._explainer.reasons(
                [new.shares[s][row] for s in shown],
                [self.samples[s].doc_topic[own.candidates] for s in shown],
                own.numbers,
                partial(self._detail, new, row),
                own.candidates,
            )
        return reasons

    def _detail(self, new: NewDocuments, row: int, feature: int, candidate: int, outward: bool) -> str:
        """Say what a feature of a pair comes from; if the two are linked, as if they were not."""
        its = self.features.features[feature]
        if new.known is not None:
            place, other = new.known[[row]], np.array([candidate])
            if self._links.linked(place, other)[0]:
                return its.known_detail(self._view(place, other, outward))
        return its.detail(new.prepared[feature], row, candidate, outward)

    def explain(self, source: Any, target: Any, documents: Documents | None, new_end: str = "source") -> pd.DataFrame:
        """Return the parts of the scores of pairs; new documents take the place of the end that is None.

        Of two training documents the one at `new_end` is looked at as new.
        """
        self._check_links()
        if documents is None:
            if source is None or target is None:
                raise DataError("one end of the pair is None; pass documents= to put new ones in its place.")
            a, b = self.network.index_of(source), self.network.index_of(target)
            numbers, details = self.features.known_pair(self.network, a, b, new_end == "source")
            return self._explainer.table(self._topics(a), self._topics(b), numbers, details)
        if (source is None) == (target is None):
            raise DataError("new documents take the place of one end: pass None for it and an id for the other.")
        outward = source is None
        candidate = self.network.index_of(target if outward else source)
        new = [self.infer(sample, documents.counts) for sample in self.described]
        prepared = self.features.prepare(documents)
        frames = []
        for row in range(documents.counts.shape[0]):
            numbers = self.features.block(prepared, slice(row, row + 1), np.array([candidate]), outward)[0, 0]
            here, there = [shares[row] for shares in new], self._topics(candidate)
            source_topics, target_topics = (here, there) if outward else (there, here)
            details = self._explainer.details(prepared, row, candidate, outward)
            table = self._explainer.table(source_topics, target_topics, numbers, details)
            frames.append(table.assign(document=row))
        table = pd.concat(frames, ignore_index=True)
        return table[["document", *table.columns[:-1]]]

    def known(self, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the probabilities of links between training documents, pairs x 2, averaged over samples.

        The source is looked at as if it was new, and links between the two are left out of the pair's features; where
        links have no direction each of the two is looked at in this way, and the mean is taken.
        """
        source, target = pairs.T
        own = self._as_new(source, target)
        if not self.network.directed:
            own = (own + self._as_new(target, source)) / 2
        return self.calibrated({True: own})

    def _as_new(self, source: NDArray[np.int64], target: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the model's own probabilities of links from sources that are looked at as new."""
        pairs = Shortlist(source, target, {True: self.features.known_pairs(self._view(source, target, True))})
        everything = NewDocuments(self.network.n_documents, [sample.doc_topic for sample in self.samples], [])
        return self.mean_of(everything, pairs)[True]

    def absent(self, top: int) -> list[tuple[int, int, float]]:
        """Return the most probable absent links of each training document: (source, target, probability)."""
        self._check_links()
        network, n = self.network, self.network.n_documents
        prepared = self.features.prepare(Documents.of(network))
        everything = NewDocuments(n, [sample.doc_topic for sample in self.samples], prepared)
        source, target = network.links.T
        if network.directed:
            # Between these there is a link the other way, which what features know of the pair must not contain.
            back = network.links[:, ::-1]
            back_probability = self._as_new(*back.T)
        else:
            source, target = np.concatenate([source, target]), np.concatenate([target, source])
            back, back_probability = np.empty((0, 2), dtype=np.int64), np.empty(0)

        def run(rows: slice) -> list[tuple[int, int, float]]:
            probability = self._among_known(everything, rows)
            there = (back[:, 0] >= rows.start) & (back[:, 0] < rows.stop)
            probability[back[there, 0] - rows.start, back[there, 1]] = back_probability[there]
            there = (source >= rows.start) & (source < rows.stop)
            probability[source[there] - rows.start, target[there]] = -1.0
            probability[np.arange(rows.stop - rows.start), np.arange(rows.start, rows.stop)] = -1.0
            picked = _largest(probability, top)
            best = np.take_along_axis(probability, picked, axis=1)
            where, place = np.nonzero(best >= 0)
            ends = (where + rows.start).tolist(), picked[where, place].tolist()
            return list(zip(*ends, self.calibrated({True: best[where, place]}).tolist(), strict=True))

        return [edge for edges in self._spread(run, self._blocks(everything, n)) for edge in edges]

    def _among_known(self, everything: NewDocuments, rows: slice) -> NDArray[np.float64]:
        """Return the model's own probabilities of links of some documents with all, as if none were between them."""
        everyone = np.arange(everything.n_documents)
        out = self._mean(everything, rows, everyone, self._numbers(everything, rows, everyone, "out"))[True]
        if self.network.directed:
            return out
        some, whole = everyone[rows], slice(0, everything.n_documents)
        back = self._mean(everything, whole, some, self._numbers(everything, whole, some, "out"))[True]
        return (out + back.T) / 2

    def _topics(self, index: int) -> list[NDArray[np.float32]]:
        """Return the topics of a training document in the samples that are shown."""
        return [sample.doc_topic[index] for sample in self.described]

    def words(self, out: NDArray[np.int64], into: NDArray[np.int64], n_documents: int) -> NDArray[np.float64]:
        """Return the probabilities of words in documents known by their links alone, averaged over samples."""
        K = self.settings.n_topics
        length = min(MAX_LENGTH, max(1, round(float(self.network.lengths.mean()))))
        linked = np.zeros(n_documents, dtype=bool)
        linked[out[:, 0]] = linked[into[:, 0]] = True
        self._check_links()

        def run(number: int) -> NDArray[np.float64]:
            sample = self.samples[number]
            topics = np.tile(sample.alpha / sample.alpha.sum(), (n_documents, 1))
            prior = topics[~linked]
            for rows in blocks_of(n_documents, length, BLOCK_CELLS):
                a, b = rows.start, rows.stop
                here_out, here_into = (p[(p[:, 0] >= a) & (p[:, 0] < b)] - [a, 0] for p in (out, into))
                topics[rows] = topics_from_links(
                    sample, self.settings, here_out, here_into, b - a, length,
                    not self.network.directed, self.features.link_mean, np.random.SeedSequence([self.seed, number, a]),
                )  # fmt: skip
            topics[~linked] = prior
            return topics

        total = np.zeros((n_documents, self.network.n_words))
        for sample, topics in zip(self.samples, self._spread(run, range(len(self.samples))), strict=True):
            total += topics @ sample.word_topic[:, :K].T
        return np.asarray(total / total.sum(axis=1, keepdims=True))

    def top_words(self, n_words: int) -> list[list[str]]:
        """Return the most probable words of each topic of the chain that is shown."""
        K = self.settings.n_topics
        topics = np.mean([sample.word_topic[:, :K] for sample in self.described], axis=0)
        names = self.network.vocabulary
        return [
            [str(w) if names is None else str(names[w]) for w in np.argsort(-topics[:, k], kind="stable")[:n_words]]
            for k in range(K)
        ]

    def _spread(self, run: Callable[[In], Out], items: Iterable[In]) -> list[Out]:
        """Apply a function to each item, in threads; BLAS, which would start threads of its own, gets one."""
        with one_thread(), ThreadPoolExecutor(effective_n_jobs(self.n_jobs)) as pool:
            return list(pool.map(run, items))

    def _check_links(self) -> None:
        if self.network.n_links == 0:
            raise DataError("the model was fitted without links, so it cannot tell which are likely.")

    def _new(self, documents: Documents, direction: str) -> NewDocuments:
        check_direction(direction)
        self._check_links()
        shares = [self.infer(sample, documents.counts) for sample in self.samples]
        return NewDocuments(documents.counts.shape[0], shares, self.features.prepare(documents))

    def _blocks(self, new: NewDocuments, width: int) -> list[slice]:
        """Cut new documents into runs of which all numbers together fit a block."""
        return blocks_of(new.n_documents, width * (1 + 2 * len(self.features.mean)), BLOCK_CELLS)

    def _ways(self, direction: str) -> list[bool]:
        """Return the directions that count: True is outward."""
        ways = {"out": [True], "in": [False], "both": [True, False]}
        return ways[direction] if self.network.directed else [True]

    def _numbers(self, new: NewDocuments, rows: slice, chosen: NDArray[np.int64], direction: str) -> Numbers:
        """Return the features of new documents with candidates for each direction that counts."""
        return {way: self.features.block(new.prepared, rows, chosen, way) for way in self._ways(direction)}

    def _mean(self, new: NewDocuments, rows: slice, chosen: NDArray[np.int64], numbers: Numbers) -> Numbers:
        """Return the model's own probabilities of links of new documents with chosen candidates, over samples.

        There are as many as directions that `numbers` speaks of.
        """
        total = {way: np.zeros((rows.stop - rows.start, len(chosen))) for way in numbers}
        for part in blocks_of(len(chosen), self.settings.n_topics, BLOCK_CELLS):  # topics of all would be a large copy
            for sample, shares in zip(self.samples, new.shares, strict=True):
                old = sample.doc_topic[chosen[part]].astype(float)
                for way, features in numbers.items():
                    total[way][:, part] += self._probabilities(sample, shares[rows], old, features[:, part], way)
        return {way: summed / len(self.samples) for way, summed in total.items()}

    def _probabilities(
        self,
        sample: PosteriorSample,
        new: NDArray[np.float32],
        old: NDArray[np.float64],
        features: NDArray[np.float64],
        outward: bool,
    ) -> NDArray[np.float64]:
        """Return a sample's probabilities of links in one direction."""
        scores = new @ (sample.weights if outward else sample.weights.T) @ old.T
        if features.shape[2]:
            scores += features @ sample.feature_weights
        return self._loss.probability(scores)


def measure(
    network: DocumentNetwork,
    held_out: NDArray[np.integer],
    others: NDArray[np.integer],
    offset: float,
    without: Predictor,
) -> LinkCalibration:
    """Return the calibration of a model that another shows, which knows nothing of some documents.

    Parameters
    ----------
    network : DocumentNetwork
        All documents.
    held_out, others : ndarray of int
        Documents that the other model does not know, and those that it does.
    offset : float
        What corrects the model for the sampling of non-links.
    without : Predictor
        What the other model answers; its own offset may differ a little.
    """
    out, into = links_between(network, held_out, others)
    links, prevalence = {True: out, False: into}, prevalences(network)
    new = without._new(Documents.of(network.subset(held_out).without_links()), "both")
    everyone = np.arange(len(others))

    def in_blocks() -> Iterator[tuple[slice, Numbers]]:
        for rows in blocks_of(new.n_documents, len(others) * (1 + 2 * len(without.features.mean)), MEASURED_CELLS):
            yield rows, without._mean(new, rows, everyone, without._numbers(new, rows, everyone, "both"))

    found = {way: HeldOutPairs() for way in without._ways("both")}
    for rows, own in in_blocks():
        for way, pairs in found.items():
            pairs.add(log_odds(own[way]) + without.calibration.offset, links[way][rows].toarray())
    curves = fit_curves({"out" if way else "in": pairs for way, pairs in found.items()}, prevalence["out"])
    reciprocity = 0.0
    if network.directed and curves:
        known = LinkCalibration(without.calibration.offset, curves)
        made = ((known.probability(own[True], "out"), known.probability(own[False], "in")) for _, own in in_blocks())
        reciprocity = fit_reciprocity(made, 2.0 * prevalence["out"] - prevalence["both"])
    return LinkCalibration(offset, curves, len(held_out), int((out + into).nnz), reciprocity)


def _largest(values: NDArray[np.float64], size: int) -> NDArray[np.int64]:
    """Return the columns of the `size` largest values of each row, largest first; of equals, the first column."""
    size = min(size, values.shape[1])
    bounds = np.partition(values, -size, axis=1)[:, -size]
    picked = np.empty((len(values), size), dtype=np.int64)
    for i, (row, bound) in enumerate(zip(values, bounds, strict=True)):
        columns = np.flatnonzero(row >= bound)
        picked[i] = columns[np.argsort(-row[columns], kind="stable")][:size]
    return picked
