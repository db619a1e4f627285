"""What topics are about, by the classes of their documents: the paper's appendix A.2."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linktopics.network import DocumentNetwork
from studies import plots
from studies.run import ExperimentRun
from studies.tables import format_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

N_DOCUMENTS = 6
DISTINCT_RATIO = 1.4
"""A topic is named after a class if its proportion there is so many times its mean over classes."""


def discover_topics(run: ExperimentRun) -> str:
    """Fit Gibbs-gRTM on Cora; show each topic's mean proportion in the classes and its first documents."""
    from linktopics.evaluation.evaluation import make_model

    (topics,) = run.topics
    network = run.network("cora")
    model = make_model("Gibbs-gRTM", n_topics=topics, n_burn_in=run.sweeps(400), random_state=run.seed, n_jobs=1)
    run.record({"Gibbs-gRTM": model})
    found = run.cached(network, model, ("topics", N_DOCUMENTS), partial(fit_topics, model, network))
    classes, means = found["classes"], np.array(found["means"])
    by_class = pd.DataFrame(means, columns=classes)
    by_class.insert(0, "topic", np.arange(1, topics + 1))
    by_class.insert(1, "share", found["shares"])
    run.save_table("classes.csv", by_class)
    documents = pd.DataFrame(found["documents"], columns=["topic", "rank", "id", "class", "proportion"])
    run.save_table("documents.csv", documents)
    most = [part["class"].value_counts() for _, part in documents.groupby("topic")]
    first = [f"{counts.iloc[0]} in {spaced(counts.index[0])}" for counts in most]
    rows = [
        [name, f"{share:.1%}", f"{row.max():.2f}", shown]
        for name, share, row, shown in zip(topic_names(means, classes), found["shares"], means, first, strict=True)
    ]
    header = ["topic", "share", "mean", f"its first {N_DOCUMENTS} documents"]
    return f"{title_of(run)}\n{format_table(rows, header)}"


def draw_discover_topics(run: ExperimentRun) -> dict[str, Figure]:
    """Draw the mean proportion of each topic in each class."""
    by_class = run.table("classes.csv").drop(columns=["topic", "share"])
    means, classes = by_class.to_numpy(), list(by_class.columns)
    figure = plots.heat_map(
        means, topic_names(means, classes), [spaced(name) for name in classes], title_of(run), diverging=False,
        bar_label="mean proportion of the topic",
    )  # fmt: skip
    return {"topics.png": figure}


def title_of(run: ExperimentRun) -> str:
    """Return the title of the table and of the figure."""
    return f"Topics of Gibbs-gRTM in the classes of Cora (K = {run.topics[0]})"


def topic_names(means: NDArray[np.floating], classes: Sequence[str]) -> list[str]:
    """Return topics by number and main class."""
    return [f"T{number}: {main_class(row, classes)}" for number, row in enumerate(means, 1)]


def main_class(row: NDArray[np.floating], classes: Sequence[str]) -> str:
    """Return the class in which a topic is most frequent, or "mixed" if it is in no class much more so than elsewhere.

    Examples
    --------
    >>> main_class(np.array([0.3, 0.1]), ["Case_Based", "Theory"]), main_class(np.array([0.2, 0.2]), ["A", "B"])
    ('Case Based', 'mixed')
    """
    return spaced(classes[int(row.argmax())]) if row.max() >= DISTINCT_RATIO * row.mean() else "mixed"


def spaced(name: str) -> str:
    """Return a class name with blanks for underscores."""
    return name.replace("_", " ")


def fit_topics(model: Any, network: DocumentNetwork) -> dict[str, Any]:
    """Return mean proportions of topics (rows, by share) in classes, and the documents with most of each topic."""
    model.fit(network)
    assert network.labels is not None
    table = model.topics(1)
    proportions = model.doc_topic_[:, table.index]
    classes = sorted({str(label) for label in network.labels})
    means = np.array([proportions[network.labels == name].mean(axis=0) for name in classes]).T
    documents = []
    for topic, column in enumerate(proportions.T):
        for rank, i in enumerate(np.argsort(-column, kind="stable")[:N_DOCUMENTS], 1):
            documents.append((topic + 1, rank, str(network.ids[i]), str(network.labels[i]), float(column[i])))
    return {"classes": classes, "means": means.tolist(), "shares": table["share"].tolist(), "documents": documents}
