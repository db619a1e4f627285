"""The weight matrices of the paper's tables 1 and 2: which topic links with which."""

from __future__ import annotations

import textwrap
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linktopics.network import DocumentNetwork
from studies import plots
from studies.run import ExperimentRun
from studies.tables import WIDTH, format_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MODELS = ("Gibbs-RTM", "Gibbs-gRTM")
N_WORDS = 5
N_LABEL_WORDS = 4


def learned_weights(run: ExperimentRun) -> str:
    """Fit both models on Cora with real words; draw their weights, write them down and count signs."""
    from linktopics.evaluation.evaluation import make_model

    (topics,) = run.topics
    network = run.network("cora-r")
    models = {
        # The paper's burn-in, then samples enough for a standard deviation.
        name: make_model(
            name, n_topics=topics, n_burn_in=run.sweeps(400), n_samples=20, thin=5, random_state=run.seed, n_jobs=1
        )
        for name in MODELS
    }
    run.record(models)
    fitted = {
        name: run.cached(network, model, "weights", partial(fit_weights, model, network))
        for name, model in models.items()
    }
    words = pd.concat([pd.DataFrame(part["topics"]).assign(model=name) for name, part in fitted.items()])
    run.save_table("topics.csv", words[["model", "topic", "share", "words"]])
    run.save_table("weights.csv", pd.concat([long_table(name, part) for name, part in fitted.items()]))
    matrices = {name: np.array(part["weights"]) for name, part in fitted.items()}
    blocks = [topics_table(name, part) for name, part in fitted.items()]
    claims = [f"{name}: {count_signs(matrix, diagonal=name == 'Gibbs-RTM')}" for name, matrix in matrices.items()]
    run.path("signs.txt").write_text("\n".join(claims) + "\n", encoding="utf-8")
    return "\n\n".join([*blocks, *(textwrap.fill(claim, WIDTH) for claim in claims)])


def draw_learned_weights(run: ExperimentRun) -> dict[str, Figure]:
    """Draw the weight matrix of each model, topics named by their first words."""
    weights, topics = run.table("weights.csv"), run.table("topics.csv")
    figures = {}
    for name in MODELS:
        matrix = weights[weights["model"] == name].pivot_table(
            index="source_topic", columns="target_topic", values="weight"
        )
        labels = [", ".join(words.split()[:N_LABEL_WORDS]) for words in topics.loc[topics["model"] == name, "words"]]
        figures[f"weights-{name}.png"] = plots.heat_map(
            matrix.to_numpy(), labels, labels,
            f"{name}: weights U between {run.topics[0]} topics, Cora with words (cora-r)",
            diverging=True, bar_label="posterior mean weight",
            axis_labels=("topic of the citing paper", "topic of the cited paper"),
        )  # fmt: skip
    return figures


def fit_weights(model: Any, network: DocumentNetwork) -> dict[str, Any]:
    """Return weights, their standard deviations and the topics, all in the order of the topics' shares."""
    model.fit(network)
    table = model.topics(N_WORDS)
    order = table.index.to_numpy()
    return {
        "weights": model.link_weights_[np.ix_(order, order)].tolist(),
        "std": model.link_weights_std_[np.ix_(order, order)].tolist(),
        "topics": [
            {"topic": number, "share": float(row.share), "words": row.words.replace(", ", " ")}
            for number, row in enumerate(table.itertuples(), 1)
        ],
    }


def long_table(name: str, part: dict[str, Any]) -> pd.DataFrame:
    """Return a row for each weight."""
    weights, spreads = np.array(part["weights"]), np.array(part["std"])
    sources, targets = np.indices(weights.shape).reshape(2, -1) + 1
    return pd.DataFrame(
        {
            "model": name,
            "source_topic": sources,
            "target_topic": targets,
            "weight": weights.ravel(),
            "weight_std": spreads.ravel(),
        }
    )


def topics_table(name: str, part: dict[str, Any]) -> str:
    """Return the topics with their weight to themselves, for the terminal."""
    rows = [
        [f"{topic['topic']:>2}  {topic['words']}", f"{topic['share']:.1%}", f"{weight:+.1f} ± {spread:.1f}"]
        for topic, weight, spread in zip(part["topics"], np.diag(part["weights"]), np.diag(part["std"]), strict=True)
    ]
    return format_table(rows, [f"{name}: topic", "share", "weight to itself"])


class SignCount(dict[str, int]):
    """Counts of signs in a weight matrix, which print as a sentence."""

    def __str__(self) -> str:
        text = f"{self['positive_diagonal']} of {self['n_topics']} diagonal weights are positive"
        if self["n_off_diagonal"]:
            others = self["n_topics"] - 1
            generic = "is generic" if self["generic_positive"] == others else "comes nearest to a generic one"
            text += (
                f", {self['negative_off_diagonal']} of {self['n_off_diagonal']} others are negative; "
                f"topic {self['generic_topic']} {generic}: {self['generic_positive']} of its {others} weights to "
                "other topics (or from them) are positive"
            )
        return text + "."


def count_signs(weights: NDArray[np.floating], *, diagonal: bool) -> SignCount:
    """Count what the paper says of its weights: positive diagonal, mostly negative elsewhere, a generic topic.

    Parameters
    ----------
    weights : ndarray of shape (n_topics, n_topics)
        The weight matrix.
    diagonal : bool
        Whether only the diagonal was fitted.

    Returns
    -------
    SignCount
        A dictionary. The generic topic (from 1) is the one with the most positive weights, beside the diagonal, in its
        row or in its column, whichever has more.

    Examples
    --------
    >>> print(count_signs(np.array([[3.0, 0.0], [0.0, -1.0]]), diagonal=True))
    1 of 2 diagonal weights are positive.
    >>> counts = count_signs(np.array([[3.0, 1.0, 2.0], [1.0, 1.0, -1.0], [-1.0, -2.0, 1.0]]), diagonal=False)
    >>> counts["negative_off_diagonal"], counts["generic_topic"], counts["generic_positive"]
    (3, 1, 2)
    """
    off = ~np.eye(len(weights), dtype=bool)
    positive = (weights > 0) & off
    most = np.maximum(positive.sum(axis=1), positive.sum(axis=0))
    return SignCount(
        n_topics=len(weights),
        positive_diagonal=int((np.diag(weights) > 0).sum()),
        n_off_diagonal=0 if diagonal else int(off.sum()),
        negative_off_diagonal=int(((weights < 0) & off).sum()),
        generic_topic=int(most.argmax()) + 1,
        generic_positive=int(most.max()),
    )
