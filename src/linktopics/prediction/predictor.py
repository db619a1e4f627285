"""Topics, links and reasons for new documents, and links among training documents, from posterior samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np
import pandas as pd
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy.sparse import csr_array

from linktopics.errors import DataError, NetworkWarning
from linktopics.features import FeatureSet
from linktopics.network import DocumentNetwork
from linktopics.network.inputs import Documents, check_direction, check_interval, check_top, resolve_candidates
from linktopics.network.pairs import Direction
from linktopics.prediction.calibration import LinkCalibration, log_odds
from linktopics.prediction.explanation import Explainer, Reasons
from linktopics.prediction.index import EXACT_MAX_DOCUMENTS, EXACT_MAX_NEW_DOCUMENTS, CandidateIndex, index_library
from linktopics.prediction.ranking import (
    DIRECTIONS,
    ByDirection,
    ExactSearch,
    NewDocuments,
    Shortlist,
    best_of_each,
    blocks_of,
    interval_of,
    pair_probabilities,
)
from linktopics.prediction.scoring import block_scores, project
from linktopics.prediction.training_documents import TrainingDocuments
from linktopics.sampler import Settings
from linktopics.sampler.losses import Loss, make_loss
from linktopics.sampler.runner import PosteriorSample
from linktopics.sampler.topic_inference import infer_topics
from linktopics.utils.blas import one_thread
from linktopics.utils.progress import ProgressBar
from linktopics.utils.user_warnings import warn_user

PAIR_BLOCK_CELLS = 2**23
"""Documents x candidates (or x words) that are handled at once."""

UNCALIBRATED = LinkCalibration()
"""Leaves probabilities as they are: the model's own."""

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
In = TypeVar("In")
Out = TypeVar("Out")


@dataclass(eq=False)
class Predictor:
    """Predicts topics and links of new documents; see the methods of `RelationalTopicModel`.

    Intermediate results are cached, but not pickled.
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
    index_hint_given: bool = False
    n_ranked: int = 0

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def reference_samples(self) -> list[PosteriorSample]:
        """The samples of the reference chain, which describes the topics."""
        return [sample for sample in self.samples if sample.chain == self.best_chain]

    @cached_property
    def _loss(self) -> Loss:
        return make_loss(self.settings, np.empty(0, bool))

    @cached_property
    def exact(self) -> ExactSearch:
        """The search among all training documents."""
        return ExactSearch(self.samples, self.features, self._loss, self.calibration)

    @cached_property
    def index(self) -> CandidateIndex:
        """The search among candidates of an approximate index, which is built here."""
        return CandidateIndex(self.samples, self.features, self.exact, self.seed, self.n_jobs)

    @cached_property
    def explainer(self) -> Explainer:
        """The explainer of scores, for the reference chain."""
        return Explainer(self.reference_samples, self.features, self.top_words(3))

    @cached_property
    def training(self) -> TrainingDocuments:
        """The training documents, treated as new."""
        return TrainingDocuments(self.network, self.features, self.samples)

    def infer(self, sample: PosteriorSample, counts: csr_array) -> NDArray[np.float32]:
        """Return shares of topics among the tokens of new documents, given a sample's topics."""
        return infer_topics(sample.word_topic, sample.alpha, counts, self.seed, self.n_jobs)

    def predict(self, documents: Documents, candidates: Any, direction: str, *, raw: bool = False) -> Array:
        """Return link probabilities, documents x candidates, averaged over samples; or their raw scores."""
        chosen = resolve_candidates(self.network, candidates)
        new, directions = self.new_documents(documents, direction), self.directions(direction)
        result = np.empty((new.n_documents, len(chosen)))

        def run(rows: slice) -> None:
            own = self.uncalibrated(new, rows, chosen, directions)
            result[rows] = log_odds(UNCALIBRATED.of_pairs(own)) if raw else self.calibrated(own)

        self.map_in_threads(run, self.blocks(new.n_documents, len(chosen)))
        return result

    def calibrated(self, own: ByDirection) -> Array:
        """Return calibrated probabilities of a link in any of the directions, given the model's own for each."""
        return self.calibration.of_pairs(own)

    def suggest(
        self, documents: Documents, top: int, direction: str, interval: float, search: str = "auto"
    ) -> pd.DataFrame:
        """Return the best candidates of new documents, with a range over posterior samples and a reason.

        `search` is "exact", "index", or "auto", which is the index for many new documents and a large network.
        """
        finder = self._checked_finder(top, interval, search, documents.counts.shape[0])
        return self._suggested(finder, self.new_documents(documents, direction), top, direction, interval)

    def suggest_known(
        self, places: Indices, top: int, direction: str, interval: float, search: str = "auto"
    ) -> pd.DataFrame:
        """Return the best candidates of training documents, without those they are linked with in that direction.

        They have their fitted topics. Features of a pair ignore a link in the other direction.
        """
        finder = self._checked_finder(top, interval, search, len(places))
        check_direction(direction)
        self.check_links()
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
        """Return suggestions, computed in blocks of documents."""
        directions = self.directions(direction)
        left_out, back = None, None
        if new.known is not None:
            left_out = self.training.linked_with(new.known)
            back = self.training.reversed_links(new.known, directions)  # which may be suggested
        blocks = blocks_of(new.n_documents, max(finder.width, int(top) * self.settings.n_topics), PAIR_BLOCK_CELLS)
        with ProgressBar(len(blocks), self.verbose, "suggesting", "suggesting") as progress:

            def run(rows: slice) -> pd.DataFrame:
                shortlist = finder.shortlist(new, rows, directions, int(top), left_out and left_out[rows])
                if back is not None:
                    here = back.part((back.rows >= rows.start) & (back.rows < rows.stop))
                    shortlist = Shortlist.joined([shortlist, here])
                frame = self._table(new, self.best(new, shortlist, int(top)), interval)
                progress.advance("")
                return frame

            frames = self.map_in_threads(run, blocks)
        return pd.concat(frames, ignore_index=True)

    def finder(self, search: str = "auto", n_new: int | None = None) -> ExactSearch | CandidateIndex:
        """Return the search for the best candidates of `n_new` documents; None stands for an unknown number."""
        return self.index if self._uses_index(search, n_new) else self.exact

    def _uses_index(self, search: str, n_new: int | None = None) -> bool:
        """Return whether candidates of `n_new` further documents come from the index."""
        if search not in ("auto", "exact", "index"):
            raise ValueError(f'search is {search!r}; it must be "auto", "exact" or "index".')
        if search == "exact" or (search == "auto" and self.network.n_documents <= EXACT_MAX_DOCUMENTS):
            return False
        if search == "auto" and n_new is not None and "index" not in vars(self):
            self.n_ranked += n_new
            if self.n_ranked <= EXACT_MAX_NEW_DOCUMENTS:
                return False
        if index_library() is not None:
            return True
        cure = "pip install 'linktopics[index]'"
        if search == "index":
            raise ImportError(f"this needs faiss: {cure}")
        if not self.index_hint_given:
            self.index_hint_given = True
            warn_user(
                f"all {self.network.n_documents:,} documents are ranked for each new one; an index makes that faster: "
                f'{cure}. Pass search="exact" to rank all documents without this message.',
                NetworkWarning,
            )
        return False

    def mean_of(self, new: NewDocuments, pairs: Shortlist) -> ByDirection:
        """Return the model's own probabilities of pairs, averaged over samples, for each direction."""
        return _joined(map(_mean, self._by_sample(new, pairs)))

    def _by_sample(self, new: NewDocuments, pairs: Shortlist) -> Iterator[ByDirection]:
        """Yield the model's own probabilities in each sample, samples x pairs, block by block of pairs."""
        width = self.settings.n_topics * len(self.samples)
        for part in blocks_of(len(pairs.rows), width, PAIR_BLOCK_CELLS) or [slice(0)]:
            yield pair_probabilities(self._loss, self.samples, new.shares, pairs.part(part))

    def best(self, new: NewDocuments, pairs: Shortlist, top: int | Indices) -> Shortlist:
        """Return the best pairs of each document, best first; `top` as for `best_of_each`."""
        own = self.mean_of(new, pairs)
        # One direction is ranked by the model's own probabilities: the same order, with fewer ties.
        ranked = self.calibrated(own) if len(own) > 1 else UNCALIBRATED.of_pairs(own)
        return pairs.part(best_of_each(pairs.rows, pairs.candidates, ranked, top))

    def probabilities(self, new: NewDocuments, pairs: Shortlist, interval: float) -> dict[str, Array]:
        """Return the probability of each pair, its range over posterior samples (lower, upper), and the raw score."""
        by_sample = _joined(self._by_sample(new, pairs))
        own = _mean(by_sample)
        lower, upper = interval_of(self.calibrated(by_sample), interval)
        score = log_odds(UNCALIBRATED.of_pairs(own))
        return {"probability": self.calibrated(own), "lower": lower, "upper": upper, "score": score}

    def _table(self, new: NewDocuments, picked: Shortlist, interval: float) -> pd.DataFrame:
        """Return suggestions, with a range over posterior samples and a reason for each."""
        ids, titles = self.network.ids, self.network.titles
        return pd.DataFrame(
            {
                "document": picked.rows,
                "id": ids[picked.candidates],
                "title": "" if titles is None else titles[picked.candidates],
                **self.probabilities(new, picked, interval),
                "why": self._sentences(new, picked),
            }
        )

    def reasons(self, new: NewDocuments, pairs: Shortlist) -> tuple[NDArray[np.bool_], Reasons]:
        """Return the reasons for each pair, see `Explainer.reasons`."""
        shares = [own for own, sample in zip(new.shares, self.samples, strict=True) if sample.chain == self.best_chain]
        return self.explainer.reasons(shares, pairs)

    def _sentences(self, new: NewDocuments, pairs: Shortlist) -> list[str]:
        is_outgoing, reasons = self.reasons(new, pairs)

        def detail(feature: int, pair: int, outgoing: bool) -> str:
            row, candidate = int(pairs.rows[pair]), int(pairs.candidates[pair])
            if new.known is None:
                found = self.features.features[feature].detail(new.prepared[feature], row, candidate, outgoing)
            else:
                found = self.training.detail(feature, int(new.known[row]), candidate, "out" if outgoing else "in")
            return found.text(self.network.vocabulary)

        return self.explainer.sentences(reasons, is_outgoing, detail)

    def explain(self, source: Any, target: Any, documents: Documents | None, new_end: str = "source") -> pd.DataFrame:
        """Return the contributions to scores of pairs; new documents take the place of the end that is None.

        Of two training documents the one at `new_end` is treated as new.
        """
        self.check_links()
        if documents is None:
            if source is None or target is None:
                raise DataError("one end of the pair is None; pass documents= to put new ones in its place.")
            a, b = self.network.index_of(source), self.network.index_of(target)
            direction: Direction = "out" if new_end == "source" else "in"
            new, candidate = (a, b) if direction == "out" else (b, a)
            values = self.training.values(np.array([new]), np.array([candidate]), direction)[0]
            details = [
                self.training.detail(k, new, candidate, direction).text(self.network.vocabulary)
                for k in range(len(self.features.features))
            ]
            return self.explainer.table(self._topics(a), self._topics(b), values, details)
        if (source is None) == (target is None):
            raise DataError("new documents take the place of one end: pass None for it and an id for the other.")
        outgoing = source is None
        candidate = self.network.index_of(target if outgoing else source)
        topics = [self.infer(sample, documents.counts) for sample in self.reference_samples]
        prepared = self.features.prepare(documents)
        frames = []
        for row in range(documents.counts.shape[0]):
            values = self.features.block(prepared, slice(row, row + 1), np.array([candidate]), outgoing)[0, 0]
            here, there = [shares[row] for shares in topics], self._topics(candidate)
            details = [
                feature.detail(known, row, candidate, outgoing).text(self.network.vocabulary)
                for feature, known in zip(self.features.features, prepared, strict=True)
            ]
            ends = {"source": here, "target": there} if outgoing else {"source": there, "target": here}
            frames.append(self.explainer.table(**ends, values=values, details=details))
            frames[-1].insert(0, "document", row)
        return pd.concat(frames, ignore_index=True)

    def training_pair_probabilities(self, pairs: Indices, values: Array | None = None) -> Array:
        """Return the probabilities of links between training documents, pairs x 2, averaged over samples.

        The source is treated as a new document, and links between the two are left out of the pair's features, which
        `values` may hold. In an undirected network this is done for both documents, and the mean is taken.
        """
        source, target = pairs.T
        own = self.uncalibrated_for_training(source, target, values)
        if not self.network.directed:
            own = (own + self.uncalibrated_for_training(target, source)) / 2
        return self.calibrated({"out": own})

    def uncalibrated_for_training(self, source: Indices, target: Indices, values: Array | None = None) -> Array:
        """Return the model's own probabilities of links from sources that are treated as new."""
        values = self.training.values(source, target, "out") if values is None else values
        return self.mean_of(self.training.as_new(prepare=False), Shortlist(source, target, {"out": values}))["out"]

    def _topics(self, index: int) -> list[NDArray[np.float32]]:
        """Return the topics of a training document in the samples of the reference chain."""
        return [sample.doc_topic[index] for sample in self.reference_samples]

    def top_words(self, n_words: int) -> list[list[str]]:
        """Return the most probable words of each topic of the reference chain."""
        K = self.settings.n_topics
        topics = np.mean([sample.word_topic[:, :K] for sample in self.reference_samples], axis=0)
        best = np.argsort(-topics, axis=0, kind="stable")[:n_words].T
        names = self.network.vocabulary
        return [[str(word) for word in row] for row in (best if names is None else names[best]).tolist()]

    def map_in_threads(self, run: Callable[[In], Out], items: Iterable[In]) -> list[Out]:
        """Return the result of a function for each item, computed in threads; BLAS is limited to one thread."""
        with one_thread(), ThreadPoolExecutor(effective_n_jobs(self.n_jobs)) as pool:
            return list(pool.map(run, items))

    def check_links(self) -> None:
        """Raise if there are no links to learn from."""
        if self.network.n_links == 0:
            raise DataError("the model was fitted without links, so it cannot predict them.")

    def new_documents(self, documents: Documents, direction: str) -> NewDocuments:
        """Return topics and prepared features of new documents; raise if their links cannot be predicted."""
        check_direction(direction)
        self.check_links()
        shares = [self.infer(sample, documents.counts) for sample in self.samples]
        return NewDocuments(documents.counts.shape[0], shares, self.features.prepare(documents))

    def blocks(self, n_documents: int, width: int) -> list[slice]:
        """Return slices of new documents, such that their features with `width` candidates fit into a block."""
        return blocks_of(n_documents, width * (1 + 2 * len(self.features.mean)), PAIR_BLOCK_CELLS)

    def directions(self, direction: str) -> list[Direction]:
        """Return the directions to score; undirected links are "out"."""
        if not self.network.directed:
            return ["out"]
        return list(DIRECTIONS) if direction == "both" else [cast(Direction, direction)]

    def uncalibrated(
        self, new: NewDocuments, rows: slice, chosen: Indices, directions: Sequence[Direction]
    ) -> ByDirection:
        """Return the model's own probabilities of links of new documents with candidates, averaged over samples."""
        values = {one: self.features.block(new.prepared, rows, chosen, one == "out") for one in directions}
        total = {one: np.zeros((rows.stop - rows.start, len(chosen))) for one in directions}
        # In blocks, because a copy of the topics of all candidates would be large.
        for part in blocks_of(len(chosen), self.settings.n_topics, PAIR_BLOCK_CELLS):
            for sample, shares in zip(self.samples, new.shares, strict=True):
                old = sample.doc_topic[chosen[part]].astype(float)
                for direction, x in values.items():
                    projected = project(shares[rows], sample.weights, direction)
                    scores = block_scores(projected, old, x[:, part], sample.feature_weights)
                    total[direction][:, part] += self._loss.probability(scores)
        return {direction: summed / len(self.samples) for direction, summed in total.items()}


def _mean(by_sample: ByDirection) -> ByDirection:
    """Return probabilities averaged over samples."""
    return {direction: probability.mean(axis=0) for direction, probability in by_sample.items()}


def _joined(parts: Iterable[ByDirection]) -> ByDirection:
    """Return probabilities of all pairs from those of each block."""
    listed = list(parts)
    return {one: np.concatenate([part[one] for part in listed], axis=-1) for one in listed[0]}
