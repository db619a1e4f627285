"""What a fitted model answers about new documents: topics, links, reasons, words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from linktopics._inputs import (
    resolve_counts,
    resolve_documents,
    resolve_links,
)
from linktopics.calibration import LinkCalibration
from linktopics.errors import DataError
from linktopics.network import DocumentNetwork
from linktopics.posterior import PosteriorSample
from linktopics.prediction import Predictor
from linktopics.run import Run
from linktopics.words import PredictsWords

__all__ = ["AnswersQuestions"]


class AnswersQuestions(PredictsWords, ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """The questions one can put to a fitted `RelationalTopicModel` about new documents."""

    network_: DocumentNetwork
    samples_: list[PosteriorSample]
    best_chain_: int
    alpha_: NDArray[np.float64]
    n_jobs: int | None
    verbose: bool | str
    _run: Run

    @property
    def _predictor(self) -> Predictor:
        check_is_fitted(self)
        run, kept = self._run, self._run.predictor
        if kept is None or kept.samples is not self.samples_ or kept.best_chain != self.best_chain_:
            run.predictor = kept = self._predictor_of(run, self.samples_, self.best_chain_)
        kept.n_jobs, kept.verbose = self.n_jobs, self.verbose
        return kept

    def _predictor_of(self, run: Run, samples: list[PosteriorSample] | None = None, best_chain: int = 0) -> Predictor:
        """Return what answers questions about the samples of a run."""
        return Predictor(
            network=run.network,
            samples=[sample for chain in run.chains for sample in chain.samples] if samples is None else samples,
            best_chain=best_chain,
            settings=run.settings,
            features=run.features,
            calibration=run.calibration or LinkCalibration(),
            seed=run.inference_seed,
            n_jobs=self.n_jobs,
        )

    def _smooth(self, shares: NDArray[np.floating], lengths: NDArray[np.integer]) -> NDArray[np.float64]:
        """Turn shares of tokens into proportions: the posterior mean of theta, the prior for empty documents."""
        proportions = np.multiply(shares, lengths[:, None], dtype=np.float64)
        proportions += self.alpha_  # in place: one array of documents x K, not five
        proportions /= lengths[:, None] + self.alpha_.sum()
        proportions /= proportions.sum(1, keepdims=True)
        return proportions

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return topic proportions of documents from their words alone.

        Parameters
        ----------
        X : array-like, sparse matrix, DocumentNetwork, text or list of texts
            The documents. Texts are read with the vectorizer of the network that was fitted.

        Returns
        -------
        ndarray of shape (n_documents, n_topics)
            Rows sum to 1. A document's row does not depend on the other documents.

        Examples
        --------
        >>> from linktopics import DocumentNetwork, RelationalTopicModel
        >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
        >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
        >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_iter=50, random_state=0).fit(network)
        >>> model.transform(["kittens purr"]).shape
        (1, 2)
        """
        check_is_fitted(self)
        counts = resolve_counts(self, X)
        predictor = self._predictor
        shares = np.mean([predictor.infer(sample, counts) for sample in predictor.described], axis=0, dtype=float)
        return self._smooth(shares, counts.sum(1))

    def predict_links(
        self, documents: Any, candidates: Any = None, direction: str = "both", *, raw: bool = False
    ) -> NDArray[np.float64]:
        """Return the probability that each new document links with each training document.

        Parameters
        ----------
        documents : array-like, sparse matrix, DocumentNetwork, text or list of texts
            The new documents.
        candidates : sequence of ids, default=None
            Training documents to consider, by id; None is all.
        direction : {"both", "out", "in"}, default="both"
            Links from the new document, to it, or either way. Either way is at least as probable as the more probable
            direction, and at most as probable as the sum of both.
        raw : bool, default=False
            Whether to return raw scores in place of probabilities: the log-odds of a link among pairs as they were
            trained on, before `calibration`. In one direction the order of candidates is the same; either way it may
            differ, because each direction is calibrated on its own.

        Returns
        -------
        ndarray of shape (n_documents, n_candidates)
            Probabilities averaged over posterior samples, for links as rare as they are in the network (see
            `calibration`), or raw scores.

        Examples
        --------
        >>> import numpy as np
        >>> from linktopics import RelationalTopicModel
        >>> X = np.array([[3, 1, 0, 0], [2, 2, 0, 0], [0, 0, 3, 1], [0, 0, 1, 3]])
        >>> model = RelationalTopicModel(2, negatives=2, n_iter=50, random_state=0).fit(X, links=[(0, 1), (2, 3)])
        >>> model.predict_links([[1, 1, 0, 0]]).shape
        (1, 4)
        """
        check_is_fitted(self)
        return self._predictor.predict(resolve_documents(self, documents), candidates, direction, raw=raw)

    def suggest_links(
        self, documents: Any, top: int = 10, direction: str = "both", interval: float = 0.9, search: str = "auto"
    ) -> pd.DataFrame:
        """Return the training documents that new documents should link with, best first, and why.

        Parameters
        ----------
        documents : array-like, sparse matrix, DocumentNetwork, text or list of texts
            The new documents.
        top : int, default=10
            Suggestions per document.
        direction : {"both", "out", "in"}, default="both"
            Links from the new document, to it, or either way.
        interval : float, default=0.9
            Share of the posterior samples that give a probability between `lower` and `upper`; with 0.9 these are the
            5 % and 95 % quantiles.
        search : {"auto", "exact", "index"}, default="auto"
            How the best are found: among all training documents, or among candidates from an approximate index, which
            is built when it is first used and needs ``pip install 'linktopics[index]'``. What is returned is scored
            exactly either way; the index may miss a document. "auto" uses it, where it is installed, for more than
            100,000 training documents, from the 51st new document on: for fewer, building it takes longer than it
            saves.

        Returns
        -------
        DataFrame
            Columns ``document`` (its number), ``id``, ``title``, ``probability``, ``lower``, ``upper`` (its range over
            posterior samples; NaN if there is only one), ``score`` (raw, see `predict_links`) and ``why``, the topics
            and features that carry it.

        Notes
        -----
        The range says how far posterior samples agree. It does not hold all that is unknown, so it is no interval in
        which the true probability lies nine times out of ten: on simulated networks ranges of 90 % of the samples held
        it in 58 to 68 % of the cases (``python benchmarks/coverage.py``).

        Examples
        --------
        >>> from linktopics import DocumentNetwork, RelationalTopicModel
        >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
        >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
        >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_iter=50, random_state=0).fit(network)
        >>> list(model.suggest_links("kittens purr", top=2).columns)
        ['document', 'id', 'title', 'probability', 'lower', 'upper', 'score', 'why']
        """
        check_is_fitted(self)
        new = resolve_documents(self, documents)
        return self._predictor.suggest(new, top, direction, interval, search)

    def suggest_links_for(
        self, ids: Any, top: int = 10, direction: str = "both", interval: float = 0.9, search: str = "auto"
    ) -> pd.DataFrame:
        """Return further documents that documents of the network should link with, best first, and why.

        Themselves and documents they are linked with already are left out. Each pair is looked at as `explain_link`
        looks at it: the document has the topics it was fitted with, and in all else it is new, with no link between the
        two known.

        Parameters
        ----------
        ids : id, or list of ids
            Training documents.
        top, direction, interval, search
            As in `suggest_links`. A link in the other direction does not keep one from being suggested, and has no
            influence on its score.

        Returns
        -------
        DataFrame
            As of `suggest_links`; ``document`` is the id.

        Examples
        --------
        >>> from linktopics import DocumentNetwork, RelationalTopicModel
        >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "cats and planets"}
        >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
        >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_iter=50, random_state=0).fit(network)
        >>> sorted(model.suggest_links_for("b", direction="out").id)
        ['c', 'd']
        """
        check_is_fitted(self)
        listed = list(ids) if isinstance(ids, list | tuple | np.ndarray) else [ids]
        if not listed:
            raise DataError("there are no documents: the list of ids is empty.")
        places = np.array([self.network_.index_of(id) for id in listed], dtype=np.int64)
        table = self._predictor.suggest_known(places, top, direction, interval, search)
        return table.assign(document=np.fromiter((listed[i] for i in table["document"]), object, len(table)))

    def word_probabilities(self, links: Any, linked_by: Any = None) -> NDArray[np.float64]:
        """Return the probabilities of words in new documents of which only links are known.

        Parameters
        ----------
        links : sequence of sequences of ids, or None
            For each new document the training documents it links to.
        linked_by : sequence of sequences of ids, default=None
            For each new document the training documents that link to it. In an undirected network there is no
            difference.

        Returns
        -------
        ndarray of shape (n_documents, n_words)
            Rows sum to 1. Topics are drawn given the links, whose augmented variables are drawn too, for documents as
            long as those fitted are on average; the mix of topics is averaged over draws and posterior samples. A
            document without links has the topics of the prior. The same call gives the same numbers, but other
            documents in it have a say in the random numbers.

        Examples
        --------
        >>> import numpy as np
        >>> from linktopics import RelationalTopicModel
        >>> X = np.array([[3, 1, 0, 0], [2, 2, 0, 0], [0, 0, 3, 1], [0, 0, 1, 3]])
        >>> model = RelationalTopicModel(2, negatives=2, n_iter=50, random_state=0).fit(X, links=[(0, 1), (2, 3)])
        >>> model.word_probabilities([[0], [2, 3]]).shape
        (2, 4)
        """
        check_is_fitted(self)
        return self._predictor.words(*resolve_links(self.network_, links, linked_by))

    def explain_link(self, source: Any, target: Any, *, documents: Any = None, new_end: str = "source") -> pd.DataFrame:
        """Return the parts of the score of a pair: how much each topic of the source pulls each topic of the target.

        Parameters
        ----------
        source, target : id, or None
            Training documents by id. New documents take the place of the end that is None.
        documents : array-like, sparse matrix, DocumentNetwork, text or list of texts, default=None
            New documents, each of which is paired with the other end.
        new_end : {"source", "target"}, default="source"
            Which of two training documents is looked at as new; the other is the candidate, with its other links.
            "target" explains what ``suggest_links_for(target, direction="in")`` says of the source.

        Returns
        -------
        DataFrame
            A row for each pair of topics (``source_topic``, ``target_topic``, ``source_words``, ``target_words``) and
            for each feature (``feature``, ``detail``), by size of its ``part`` of the score; with new documents also
            ``document``, their number. Parts sum to the score, averaged over the samples of the best chain. ``share``
            is the part relative to all parts of its sign. A pair of training documents is looked at as if the source
            (see `new_end`) was new and the links between the two were not known.

        Examples
        --------
        >>> from linktopics import DocumentNetwork, RelationalTopicModel
        >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
        >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
        >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_iter=50, random_state=0).fit(network)
        >>> model.explain_link("b", "a").query("feature == 'tfidf'").detail.item()
        'shared words: cats'
        >>> bool(model.explain_link(None, "a", documents="kittens purr").part.sum() > 0)
        True
        """
        check_is_fitted(self)
        if new_end not in ("source", "target"):
            raise ValueError(f'new_end is {new_end!r}; it must be "source" or "target".')
        new = None if documents is None else resolve_documents(self, documents)
        places = {self.network_.index_of(end) for end in (source, target) if end is not None}
        if len(places) == 1 and source is not None and target is not None:
            raise DataError(f"{source!r} was given twice; a document has no link to itself to explain.")
        return self._predictor.explain(source, target, new, new_end)
