"""How a fitted model describes itself: topics, how coherent they are, and how well it was sampled."""

from __future__ import annotations

import sys
import textwrap
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from linktopics._inputs import check_at_least
from linktopics.coherence import coherence, topic_diversity
from linktopics.diagnostics import mixing_table, mixing_verdict, to_inference_data
from linktopics.interop import pyldavis_input, to_networkx
from linktopics.network import DocumentNetwork
from linktopics.posterior import PosteriorSample
from linktopics.prediction import Predictor
from linktopics.run import Run
from linktopics.stuck import named_chains, say_stuck

if TYPE_CHECKING:
    import networkx

__all__ = ["DescribesTopics", "typical_documents"]

WIDTH = 100
"""Columns that a summary fits in."""

LITTLE_DIVERSITY = 0.4
"""Topic diversity below which topics repeat one another."""


def typical_documents(shares: NDArray[np.float64], lengths: NDArray[np.integer], n: int) -> NDArray[np.int64]:
    """Return the documents with most tokens of a topic, of which they have shares, those first mostly about it."""
    return np.lexsort((-shares * lengths, shares < 0.5))[:n]


class DescribesTopics:
    """What a fitted `RelationalTopicModel` tells of its topics and of how well it was sampled."""

    network_: DocumentNetwork
    topic_word_: NDArray[np.float64]
    doc_topic_: NDArray[np.float64]
    link_weights_: NDArray[np.float64]
    samples_: list[PosteriorSample]
    feature_names_: list[str]
    feature_weights_: NDArray[np.float64]
    feature_weights_std_: NDArray[np.float64]
    alpha_: NDArray[np.float64]
    beta_: float
    best_chain_: int
    left_out_chains_: dict[int, float]
    trace_: dict[str, NDArray[np.float64]]
    n_burn_in_: int
    loss: str
    weights: str
    _predictor: Predictor
    _run: Run

    def topics(self, n_words: int = 8, *, n_documents: int = 0, coherence: str | None = None) -> pd.DataFrame:
        """Return the topics, most frequent first.

        Parameters
        ----------
        n_words : int, default=8
            Words per topic.
        n_documents : int, default=0
            Documents per topic: those that are mostly about it and say most about it.
        coherence : {"npmi", "umass", "cv"} or None, default=None
            Measure of coherence to add, see `coherence`.

        Returns
        -------
        DataFrame
            Indexed by topic, with columns ``share`` (of all tokens), ``words`` and ``attraction`` (of the topic to
            itself, the diagonal of the weights), and as asked for ``coherence`` and ``documents`` (lists of ids).

        Examples
        --------
        >>> from linktopics import DocumentNetwork, RelationalTopicModel
        >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
        >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
        >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_iter=50, random_state=0).fit(network)
        >>> list(model.topics(n_words=3).columns)
        ['share', 'words', 'attraction']
        """
        check_is_fitted(self)
        check_at_least(1, "n_words", n_words)
        check_at_least(0, "n_documents", n_documents)
        words = self._predictor.top_words(n_words)
        shares = self.network_.lengths @ self.doc_topic_ / self.network_.n_tokens
        table = pd.DataFrame(
            {"share": shares, "words": [", ".join(row) for row in words], "attraction": np.diag(self.link_weights_)},
            index=pd.RangeIndex(len(words), name="topic"),
        )
        if coherence is not None:
            table["coherence"] = self.coherence(coherence)
        if n_documents:
            typical = (typical_documents(shares, self.network_.lengths, n_documents) for shares in self.doc_topic_.T)
            table["documents"] = [self.network_.ids[those].tolist() for those in typical]
        return table.sort_values("share", ascending=False)

    def _top(self, n_words: int) -> NDArray[np.int64]:
        return np.argsort(-self.topic_word_, axis=1, kind="stable")[:, :n_words]

    def coherence(self, measure: str = "npmi", n_words: int = 10) -> NDArray[np.float64]:
        """Return how well the first words of each topic go together in the documents fitted.

        Parameters
        ----------
        measure : {"npmi", "umass", "cv"}, default="npmi"
            See `linktopics.coherence.coherence`. Words go together when they are in the same document.
        n_words : int, default=10
            Words per topic.

        Returns
        -------
        ndarray of shape (n_topics,)
            Higher is better.

        Examples
        --------
        >>> from linktopics import DocumentNetwork, RelationalTopicModel
        >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
        >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
        >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_iter=50, random_state=0).fit(network)
        >>> model.coherence(n_words=2).shape
        (2,)
        """
        check_is_fitted(self)
        return coherence(self._top(n_words), self.network_.counts, measure, n_words=n_words)

    def topic_diversity(self, n_words: int = 25) -> float:
        """Return the share of different words among the first words of all topics; 1 if none is there twice.

        Examples
        --------
        >>> from linktopics import DocumentNetwork, RelationalTopicModel
        >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
        >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
        >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_iter=50, random_state=0).fit(network)
        >>> 0 < model.topic_diversity(n_words=2) <= 1
        True
        """
        check_is_fitted(self)
        return topic_diversity(self._top(n_words), n_words)

    def _draws(self) -> dict[str, NDArray[np.float64]]:
        """Return the trace after burn-in."""
        return {name: values[:, self.n_burn_in_ :] for name, values in self.trace_.items()}

    def diagnostics(self) -> pd.DataFrame:
        """Return how well the chains agree and move, for quantities that do not depend on how topics are numbered.

        Chains that are left out because they are stuck (`left_out_chains_`) are left out here, too.

        Returns
        -------
        DataFrame
            Indexed by quantity, with columns ``mean``, ``sd``, ``r_hat`` (1 if chains agree; above 1.1 they do not) and
            ``ess``, the number of independent draws that all sweeps after burn-in are worth.

        Examples
        --------
        >>> from linktopics import DocumentNetwork, RelationalTopicModel
        >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
        >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
        >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_iter=50, random_state=0).fit(network)
        >>> list(model.diagnostics().columns)
        ['mean', 'sd', 'r_hat', 'ess']
        """
        check_is_fitted(self)
        return mixing_table(self._counted_draws())

    def _counted_draws(self) -> dict[str, NDArray[np.float64]]:
        """Return the trace after burn-in of the chains that count."""
        left_out = list(self.left_out_chains_)
        return {name: np.delete(values, left_out, axis=0) for name, values in self._draws().items()}

    def _verdict(self) -> str | None:
        """Return what is to be said about mixing, if anything."""
        draws, left_out = self._counted_draws(), self._run.left_out
        said = mixing_verdict(mixing_table(draws), len(draws["log joint"]), draws, others=bool(left_out))
        if not left_out:
            return said
        return f"{say_stuck(left_out)} {said or 'The other chains agree.'}"

    def to_arviz(self) -> Any:
        """Return the trace after burn-in for arviz, with its plots and tables (needs ``linktopics[arviz]``).

        Returns
        -------
        arviz.InferenceData or xarray.DataTree
            See `linktopics.diagnostics.to_inference_data`.
        """
        check_is_fitted(self)
        return to_inference_data(self._draws(), {"burn_in": self.n_burn_in_})

    def to_networkx(self, suggested: int = 0) -> networkx.DiGraph | networkx.Graph:
        """Return the network as a networkx graph, with topics and probabilities of links, and suggested links.

        Parameters
        ----------
        suggested : int, default=0
            Links to add per document that are not there.

        Returns
        -------
        networkx.DiGraph or networkx.Graph
            See `linktopics.interop.to_networkx`.
        """
        return to_networkx(self, suggested=suggested)

    def to_pyldavis(self) -> dict[str, Any]:
        """Return the arguments of ``pyLDAvis.prepare``; see `linktopics.interop.pyldavis_input`."""
        return pyldavis_input(self)

    def summary(self, file: TextIO | None = None) -> None:
        """Print what the model is, how well it was sampled, and its topics.

        Examples
        --------
        >>> from linktopics import DocumentNetwork, RelationalTopicModel
        >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
        >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
        >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_iter=50, random_state=0).fit(network)
        >>> model.summary()  # doctest: +ELLIPSIS
        RelationalTopicModel: 2 topics, logistic loss, full weights
          data       4 documents, 6 words, 8 tokens, 2 directed links
        ...
        """
        print(self.summary_text(), file=file or sys.stdout)

    def summary_text(self, n_topics: int | None = None, width: int = WIDTH, folder: str = "MODEL") -> str:
        """Return what `summary` prints, in so many columns, with the first topics only if `n_topics` is given.

        Advice names the model's `folder`.
        """
        check_is_fitted(self)
        table = self.diagnostics()
        n_chains, n_sweeps = self.trace_["log joint"].shape
        features = [
            f"{name} {mean:+.2f} ± {sd:.2f}"
            for name, mean, sd in zip(
                self.feature_names_, self.feature_weights_, self.feature_weights_std_, strict=True
            )
        ]
        facts = {
            "data": repr(self.network_).partition("(")[2].removesuffix(")"),
            "sampling": f"{n_chains} chain{'s' if n_chains > 1 else ''} of {n_sweeps:,} sweeps, the first "
            f"{self.n_burn_in_:,} as burn-in; {len(self.samples_)} samples"
            + (f" without {named_chains(self.left_out_chains_)}, left out as stuck" if self.left_out_chains_ else ""),
            "priors": f"alpha {self.alpha_.sum():.3g} in all, beta {self.beta_:.3g}",
            "features": ", ".join(features) or "none",
            "mixing": _mixing(table),
            "coherence": f"NPMI {self._mean_coherence():+.2f} on average, diversity {self.topic_diversity():.2f}",
        }
        lines = [f"{type(self).__name__}: {len(self.topic_word_)} topics, {self.loss} loss, {self.weights} weights"]
        for name, fact in facts.items():
            lines += textwrap.wrap(f"  {name:<10} {fact}", width, subsequent_indent=" " * 13, break_on_hyphens=False)
        topics = self.topics()
        for topic, row in topics.head(n_topics or len(topics)).iterrows():
            lines.append(f"  {topic:>4} {row['share']:>6.1%}  {row['words']}"[:width])
        if n_topics and n_topics < len(topics):
            lines.append(f"  ... and {len(topics) - n_topics} more")
        advice = [self._verdict() if n_chains > 1 else None, self._too_many_topics()]
        for text in filter(None, advice):
            lines += textwrap.wrap(text.replace("MODEL", folder), width, break_on_hyphens=False)
        return "\n".join(lines)

    def _mean_coherence(self) -> float:
        """Return the mean over topics; topics of one word have none, and it is NaN if all are such."""
        found = np.asarray(self.coherence())
        known = found[~np.isnan(found)]
        return float(known.mean()) if len(known) else float("nan")

    def _too_many_topics(self) -> str | None:
        """Say so if topics repeat one another and their words do not go together: there is too little to learn from."""
        n_topics = len(self.topic_word_)
        if n_topics == 1 or self.topic_diversity() > LITTLE_DIVERSITY or self._mean_coherence() > 0:
            return None
        return (
            f"The {n_topics} topics are hardly told apart: the {self.network_.n_tokens:,} words of "
            f"{len(self.network_):,} documents are too few for so many. Take fewer topics, or more text."
        )


def _mixing(table: pd.DataFrame) -> str:
    """Return the worst of what `diagnostics` says, in a line."""
    if not table[["r_hat", "ess"]].notna().any().all():  # of what never changes neither is known
        return "too few sweeps after burn-in to tell"
    worst, slowest = table["r_hat"].idxmax(), table["ess"].idxmin()
    return (
        f"R-hat of the log joint {table['r_hat']['log joint']:.2f}, largest {table['r_hat'][worst]:.2f} ({worst}); "
        f"effective samples at least {table['ess'][slowest]:.0f} ({slowest})"
    )
