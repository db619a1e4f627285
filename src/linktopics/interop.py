"""Conversion of fitted models and tables for other packages: networkx, pyLDAvis, polars."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from linktopics.network import DocumentNetwork
from linktopics.prediction.absent_links import absent_links
from linktopics.prediction.predictor import Predictor
from linktopics.utils.checks import check_whole_number

if TYPE_CHECKING:
    import networkx
    import pandas as pd
    import polars

__all__ = ["pyldavis_input", "to_networkx", "to_polars"]


def _import_extra(name: str, extra: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(f"this needs {name}: pip install 'linktopics[{extra}]'") from error


def to_networkx(model: Any, *, suggested: int = 0) -> networkx.DiGraph | networkx.Graph:
    """Return the network of a fitted model as a networkx graph, with topics and probabilities of links.

    Parameters
    ----------
    model : RelationalTopicModel
        A fitted model.
    suggested : int, default=0
        Number of links to add per document: the most probable ones from it that the network does not have, or with it
        if links have no direction.

    Returns
    -------
    networkx.DiGraph or networkx.Graph
        Nodes are ids. They have ``title`` and ``label`` where the network has them, ``topic`` (the number of the main
        topic), ``words`` (of this topic) and ``share_0``, ``share_1`` ..., the proportions of all topics. Edges have
        ``observed``, whether the link was in the network, and ``probability``. All are plain values, which the formats
        of Gephi and Cytoscape can hold.

    Notes
    -----
    Probabilities are averaged over posterior samples. As in `RelationalTopicModel.explain_link`, the source is treated
    as if it were new, and links between the two documents are left out of the features of the pair; in an undirected
    network each of the two is treated in this way, and the mean is taken. Documents keep their fitted
    topics, which their links influenced; observed links therefore get higher probabilities than they would between new
    documents.

    Examples
    --------
    >>> from linktopics import DocumentNetwork, RelationalTopicModel
    >>> from linktopics.interop import to_networkx
    >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
    >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
    >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_burn_in=50, random_state=0).fit(network)
    >>> graph = to_networkx(model, suggested=1)
    >>> [(source, target) for source, target, seen in graph.edges(data="observed") if seen]
    [('b', 'a'), ('d', 'c')]
    >>> graph.number_of_edges()
    6
    """
    nx = _import_extra("networkx", "networkx")
    check_is_fitted(model)
    check_whole_number("suggested", suggested, 0)
    network: DocumentNetwork = model.network_
    graph = nx.DiGraph() if network.directed else nx.Graph()
    ids = network.ids.tolist()
    graph.add_nodes_from(zip(ids, _attributes(model), strict=True))
    predictor: Predictor = model.predictor
    probabilities = predictor.training_pair_probabilities(network.links).tolist()
    for (source, target), probability in zip(network.links.tolist(), probabilities, strict=True):
        graph.add_edge(ids[source], ids[target], observed=True, probability=probability)
    if suggested:
        for source, target, probability in absent_links(predictor, int(suggested)):
            graph.add_edge(ids[source], ids[target], observed=False, probability=probability)
    return graph


def _attributes(model: Any) -> list[dict[str, Any]]:
    """Return the attributes of each document."""
    network: DocumentNetwork = model.network_
    words = model.topics(3)["words"]
    main = model.doc_topic_.argmax(axis=1).tolist()
    rows: list[dict[str, Any]] = [
        {"topic": topic, "words": words[topic], **{f"share_{number}": share for number, share in enumerate(shares)}}
        for topic, shares in zip(main, model.doc_topic_.tolist(), strict=True)
    ]
    for name, column in (("title", network.titles), ("label", network.labels)):
        for row, value in zip(rows, [] if column is None else column.tolist(), strict=column is not None):
            if value is not None:  # graph file formats cannot hold None
                row[name] = value
    return rows


def pyldavis_input(model: Any) -> dict[str, Any]:
    """Return the arguments of ``pyLDAvis.prepare``, which draws an interactive page of a topic model.

    Parameters
    ----------
    model : RelationalTopicModel
        A fitted model.

    Returns
    -------
    dict
        ``topic_term_dists``, ``doc_topic_dists``, ``doc_lengths``, ``vocab`` and ``term_frequency``. Documents without
        words, and words that occur in none, are left out: pyLDAvis does not take them.

    Examples
    --------
    ``pyLDAvis.save_html(pyLDAvis.prepare(**pyldavis_input(model)), "topics.html")``

    >>> from linktopics import DocumentNetwork, RelationalTopicModel
    >>> from linktopics.interop import pyldavis_input
    >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
    >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
    >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_burn_in=50, random_state=0).fit(network)
    >>> pyldavis_input(model)["topic_term_dists"].shape
    (2, 6)
    """
    check_is_fitted(model)
    network: DocumentNetwork = model.network_
    frequency = np.asarray(network.counts.sum(axis=0, dtype=np.int64)).ravel()
    occur, nonempty = frequency > 0, network.lengths > 0
    topics = model.topic_word_[:, occur]
    words = np.arange(network.n_words) if network.vocabulary is None else network.vocabulary
    return {
        "topic_term_dists": topics / topics.sum(axis=1, keepdims=True),
        "doc_topic_dists": model.doc_topic_[nonempty],
        "doc_lengths": network.lengths[nonempty],
        "vocab": [str(word) for word in words[occur]],
        "term_frequency": frequency[occur],
    }


def to_polars(frame: pd.DataFrame) -> polars.DataFrame:
    """Return a table of this package as a polars frame.

    Parameters
    ----------
    frame : pandas DataFrame
        The table, such as ``model.suggest_links(...)`` or ``model.topics()``.

    Returns
    -------
    polars.DataFrame
        The same columns; an index with a name becomes the first of them. Missing values are null, and ids of several
        types become text.

    Examples
    --------
    >>> import pandas as pd
    >>> from linktopics.interop import to_polars
    >>> to_polars(pd.DataFrame({"share": [0.25, 0.75]}, index=pd.Index([1, 0], name="topic"))).columns
    ['topic', 'share']
    """
    pl = _import_extra("polars", "polars")
    table = frame if frame.index.name is None else frame.reset_index()
    # From lists of Python values, because polars needs pyarrow to convert columns with missing values.
    columns = {str(name): table[name].astype(object).where(table[name].notna(), None).tolist() for name in table}
    numbers = {str(name): pl.Float64 for name in table if table[name].dtype.kind == "f"}  # even if all are missing
    return pl.DataFrame(columns, schema_overrides=numbers, strict=False)
