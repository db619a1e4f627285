"""What topics are about, by the classes of their documents: the paper's appendix A.2."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from linktopics.network import DocumentNetwork
from linktopics.study import plots
from linktopics.study.run import Run
from linktopics.study.tables import format_table

__all__ = ["discover_topics"]

N_DOCUMENTS = 6
DISTINCT = 1.4
"""A topic is named after a class if its proportion there is so many times its mean over classes."""


def discover_topics(run: Run) -> str:
    """Fit Gibbs-gRTM on Cora; show each topic's mean proportion in the classes and its first documents."""
    from linktopics.evaluation import make_model

    (topics,) = run.topics
    network = run.network("cora")
    model = make_model("Gibbs-gRTM", n_topics=topics, n_iter=run.sweeps(400), random_state=run.seed, n_jobs=1)
    run.note({"Gibbs-gRTM": model})
    found = run.remembered(network, model, ("topics", N_DOCUMENTS), partial(fit_topics, model, network))
    classes, means = found["classes"], np.array(found["means"])
    by_class = pd.DataFrame(means, columns=classes)
    by_class.insert(0, "topic", np.arange(1, topics + 1))
    by_class.insert(1, "share", found["shares"])
    run.save_table("classes.csv", by_class)
    documents = pd.DataFrame(found["documents"], columns=["topic", "rank", "id", "class", "proportion"])
    run.save_table("documents.csv", documents)
    title = f"Topics of Gibbs-gRTM in the classes of Cora (K = {topics})"
    names = [f"T{number}: {main_class(row, classes)}" for number, row in enumerate(means, 1)]
    figure = plots.heat_map(
        means, names, [spaced(name) for name in classes], title, diverging=False,
        bar_label="mean proportion of the topic",
    )  # fmt: skip
    run.save_figure("topics.png", figure)
    most = [part["class"].value_counts() for _, part in documents.groupby("topic")]
    first = [f"{counts.iloc[0]} in {spaced(counts.index[0])}" for counts in most]
    rows = [
        [name, f"{share:.1%}", f"{row.max():.2f}", shown]
        for name, share, row, shown in zip(names, found["shares"], means, first, strict=True)
    ]
    return f"{title}\n" + format_table(rows, ["topic", "share", "mean", f"its first {N_DOCUMENTS} documents"])


def main_class(row: NDArray[np.floating], classes: Sequence[str]) -> str:
    """Return the class in which a topic is most frequent, or "mixed" if it is in no class much more so than elsewhere.

    Examples
    --------
    >>> main_class(np.array([0.3, 0.1]), ["Case_Based", "Theory"]), main_class(np.array([0.2, 0.2]), ["A", "B"])
    ('Case Based', 'mixed')
    """
    return spaced(classes[int(row.argmax())]) if row.max() >= DISTINCT * row.mean() else "mixed"


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
