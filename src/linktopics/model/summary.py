"""Summary of a fitted model: its topics, how coherent they are, and how well it was sampled."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linktopics.diagnostics import mixing_table, mixing_verdict
from linktopics.stuck_chains import describe_stuck_chains, named_chains

if TYPE_CHECKING:
    from linktopics.model.estimator import RelationalTopicModel

SUMMARY_COLUMNS = 100
"""Width of a summary in characters."""

MIN_TOPIC_DIVERSITY = 0.4
"""Topic diversity below which topics repeat one another."""


def smoothed_proportions(
    shares: NDArray[np.floating], lengths: NDArray, alpha: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the posterior mean of topic proportions, given shares of tokens; empty documents have the prior's."""
    proportions = np.multiply(shares, lengths[:, None], dtype=np.float64)
    proportions += alpha  # in place, to hold one array of documents x K in memory instead of five
    proportions /= lengths[:, None] + alpha.sum()
    proportions /= proportions.sum(1, keepdims=True)
    return proportions


def typical_documents(shares: NDArray[np.float64], lengths: NDArray[np.integer], n: int) -> NDArray[np.int64]:
    """Return the documents with the most tokens of a topic, given its share in each; first those mostly about it."""
    return np.lexsort((-shares * lengths, shares < 0.5))[:n]


def top_words(topic_word: NDArray[np.float64], n_words: int) -> NDArray[np.int64]:
    """Return the indices of the most probable words of each topic."""
    return np.argsort(-topic_word, axis=1, kind="stable")[:, :n_words]


def topic_table(model: RelationalTopicModel, n_words: int, n_documents: int, coherence: str | None) -> pd.DataFrame:
    """Return the table of `RelationalTopicModel.topics`."""
    network, words = model.network_, model.predictor.top_words(n_words)
    shares = network.lengths @ model.doc_topic_ / network.n_tokens
    table = pd.DataFrame(
        {"share": shares, "words": [", ".join(row) for row in words], "attraction": np.diag(model.link_weights_)},
        index=pd.RangeIndex(len(words), name="topic"),
    )
    if coherence is not None:
        table["coherence"] = model.coherence(coherence)
    if n_documents:
        typical = (typical_documents(shares, network.lengths, n_documents) for shares in model.doc_topic_.T)
        table["documents"] = [network.ids[those].tolist() for those in typical]
    return table.sort_values("share", ascending=False)


def trace_after_burn_in(model: RelationalTopicModel, *, counted: bool = False) -> dict[str, NDArray[np.float64]]:
    """Return the trace after burn-in, of all chains or only of those that are `counted`, not left out as stuck."""
    left_out = list(model.left_out_chains_) if counted else []
    return {name: np.delete(values[:, model.n_burn_in_ :], left_out, axis=0) for name, values in model.trace_.items()}


def mixing_advice(model: RelationalTopicModel) -> str | None:
    """Return advice about mixing, if there is a problem."""
    draws, left_out = trace_after_burn_in(model, counted=True), model.training_run.left_out
    advice = mixing_verdict(mixing_table(draws), len(draws["log joint"]), draws, some_left_out=bool(left_out))
    return f"{describe_stuck_chains(left_out)} {advice or 'The other chains agree.'}" if left_out else advice


def summary_text(model: RelationalTopicModel, n_topics: int | None, width: int, folder: str) -> str:
    """Return the text of `RelationalTopicModel.summary_text`."""
    n_chains, n_sweeps = model.trace_["log joint"].shape
    weights = zip(model.feature_names_, model.feature_weights_, model.feature_weights_std_, strict=True)
    without = f" without {named_chains(model.left_out_chains_)}, left out as stuck" if model.left_out_chains_ else ""
    facts = {
        "data": repr(model.network_).partition("(")[2].removesuffix(")"),
        "sampling": f"{n_chains} chain{'s' if n_chains > 1 else ''} of {n_sweeps:,} sweeps, the first "
        f"{model.n_burn_in_:,} as burn-in; {len(model.samples_)} samples{without}",
        "priors": f"alpha {model.alpha_.sum():.3g} in total, beta {model.beta_:.3g}",
        "features": ", ".join(f"{name} {mean:+.2f} ± {sd:.2f}" for name, mean, sd in weights) or "none",
        "mixing": _mixing(model.diagnostics()),
        "coherence": f"NPMI {_mean_coherence(model):+.2f} on average, diversity {model.topic_diversity():.2f}",
    }
    lines = [f"{type(model).__name__}: {len(model.topic_word_)} topics, {model.loss} loss, {model.weights} weights"]
    for name, fact in facts.items():
        lines += textwrap.wrap(f"  {name:<10} {fact}", width, subsequent_indent=" " * 13, break_on_hyphens=False)
    topics = model.topics()
    for topic, row in topics.head(n_topics or len(topics)).iterrows():
        lines.append(f"  {topic:>4} {row['share']:>6.1%}  {row['words']}"[:width])
    if n_topics and n_topics < len(topics):
        lines.append(f"  ... and {len(topics) - n_topics} more")
    for text in filter(None, [mixing_advice(model) if n_chains > 1 else None, _too_many_topics(model)]):
        lines += textwrap.wrap(text.replace("MODEL", folder), width, break_on_hyphens=False)
    return "\n".join(lines)


def _mean_coherence(model: RelationalTopicModel) -> float:
    """Return the mean over the topics that have a coherence; NaN if none has one."""
    found = np.asarray(model.coherence())
    known = found[~np.isnan(found)]
    return float(known.mean()) if len(known) else float("nan")


def _too_many_topics(model: RelationalTopicModel) -> str | None:
    """Return advice if topics repeat one another and are not coherent: there is too little text for so many."""
    n_topics, network = len(model.topic_word_), model.network_
    if n_topics == 1 or model.topic_diversity() > MIN_TOPIC_DIVERSITY or _mean_coherence(model) > 0:
        return None
    return (
        f"The {n_topics} topics hardly differ: {network.n_tokens:,} words in {len(network):,} documents are too few "
        "for so many topics. Use fewer topics or more text."
    )


def _mixing(table: pd.DataFrame) -> str:
    """Return a line with the worst values of `diagnostics`."""
    if not table[["r_hat", "ess"]].notna().any().all():  # a quantity that never changes has neither
        return "unknown: too few sweeps after burn-in"
    worst, slowest = table["r_hat"].idxmax(), table["ess"].idxmin()
    return (
        f"R-hat of the log joint {table['r_hat']['log joint']:.2f}, largest {table['r_hat'][worst]:.2f} ({worst}); "
        f"effective samples at least {table['ess'][slowest]:.0f} ({slowest})"
    )
