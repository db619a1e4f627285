"""Fitted models for other packages: networkx, pyLDAvis, polars."""

from __future__ import annotations

from importlib import import_module
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from linktopics._inputs import Documents
from linktopics.features.base import TrainingView
from linktopics.network import DocumentNetwork
from linktopics.prediction import Predictor, _blocks, _largest, _New

if TYPE_CHECKING:
    import networkx
    import pandas as pd
    import polars

__all__ = ["pyldavis_input", "to_networkx", "to_polars"]

Array = NDArray[np.float64]


def _package(name: str, extra: str) -> Any:
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
        How many links to add that are not there: the most probable ones from each document, or with it if links have
        no direction.

    Returns
    -------
    networkx.DiGraph or networkx.Graph
        Nodes are ids. They have ``title`` and ``label`` where the network has them, ``topic`` (the number of the main
        topic), ``words`` (of this topic) and ``share_0``, ``share_1`` ..., the proportions of all topics. Edges have
        ``observed``, whether the link was in the network, and ``probability``. All are plain values, which the formats
        of Gephi and Cytoscape can hold.

    Notes
    -----
    Probabilities are averaged over posterior samples. As in `RelationalTopicModel.explain_link`, the source is looked
    at as if it was new, and links between the two documents are left out of the features of the pair; in an undirected
    network each of the two is looked at in this way, and the mean is taken. Documents have the topics they were fitted
    with, and links had a say in them, so that observed links look better than they would if they were new.

    Examples
    --------
    >>> from linktopics import DocumentNetwork, RelationalTopicModel
    >>> from linktopics.interop import to_networkx
    >>> texts = {"a": "cats purr", "b": "cats and kittens", "c": "stars shine", "d": "stars and planets"}
    >>> network = DocumentNetwork.from_texts(texts, [("b", "a"), ("d", "c")])
    >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_iter=50, random_state=0).fit(network)
    >>> graph = to_networkx(model, suggested=1)
    >>> [(source, target) for source, target, seen in graph.edges(data="observed") if seen]
    [('b', 'a'), ('d', 'c')]
    >>> graph.number_of_edges()
    6
    """
    nx = _package("networkx", "networkx")
    check_is_fitted(model)
    if not (isinstance(suggested, Integral) and suggested >= 0):
        raise ValueError(f"suggested is {suggested!r}; it must be a whole number from 0 on.")
    network: DocumentNetwork = model.network_
    graph = nx.DiGraph() if network.directed else nx.Graph()
    ids = network.ids.tolist()
    graph.add_nodes_from(zip(ids, _attributes(model), strict=True))
    predictor: Predictor = model._predictor
    probabilities = _pair_probabilities(predictor, network.links).tolist()
    for (source, target), probability in zip(network.links.tolist(), probabilities, strict=True):
        graph.add_edge(ids[source], ids[target], observed=True, probability=probability)
    if suggested:
        for source, target, probability in _absent(predictor, int(suggested)):
            graph.add_edge(ids[source], ids[target], observed=False, probability=probability)
    return graph


def _attributes(model: Any) -> list[dict[str, Any]]:
    """Return what is known about each document."""
    network: DocumentNetwork = model.network_
    words = model.topics(3)["words"]
    main = model.doc_topic_.argmax(axis=1).tolist()
    rows: list[dict[str, Any]] = [
        {"topic": topic, "words": words[topic], **{f"share_{number}": share for number, share in enumerate(shares)}}
        for topic, shares in zip(main, model.doc_topic_.tolist(), strict=True)
    ]
    for name, column in (("title", network.titles), ("label", network.labels)):
        for row, value in zip(rows, [] if column is None else column.tolist(), strict=column is not None):
            if value is not None:  # files of graphs have no word for it
                row[name] = value
    return rows


def _pair_probabilities(predictor: Predictor, pairs: NDArray[np.int64]) -> Array:
    """Return the probabilities of links between training documents, averaged over samples; see `to_networkx`."""
    source, target = pairs.T
    if predictor.network.directed:
        return _as_new(predictor, source, target)
    return (_as_new(predictor, source, target) + _as_new(predictor, target, source)) / 2


def _as_new(predictor: Predictor, source: NDArray[np.int64], target: NDArray[np.int64]) -> Array:
    """Return the probabilities of links from sources that are looked at as new, without the links to and from them."""
    features, samples = predictor.features, predictor.samples
    view = TrainingView(predictor.network, source, target, np.ones(len(source), dtype=bool))
    numbers = features.known_pairs(view)
    result = np.zeros(len(source))
    for rows in _blocks(len(source), predictor.settings.n_topics):
        here = {True: numbers[rows, None]}
        for sample in samples:
            new, old = sample.doc_topic[source[rows]], sample.doc_topic[target[rows], None]
            result[rows] += predictor._probabilities(sample, new, old, here)[:, 0]
    return result / len(samples)


def _absent(predictor: Predictor, top: int) -> list[tuple[int, int, float]]:
    """Return the most probable links of each document that are not there, each once."""
    predictor._check_links()
    network = predictor.network
    n = network.n_documents
    everything = _New(
        n, [sample.doc_topic for sample in predictor.samples], predictor.features.prepare(Documents.of(network))
    )
    source, target = network.links.T
    if network.directed:
        # Between these there is a link the other way, which what features know of the pair must not contain.
        back = network.links[:, ::-1]
        back_probability = _as_new(predictor, *back.T)
    else:
        source, target = np.concatenate([source, target]), np.concatenate([target, source])
        back, back_probability = np.empty((0, 2), dtype=np.int64), np.empty(0)

    def run(rows: slice) -> list[tuple[int, int, float]]:
        probability = _block(predictor, everything, rows)
        there = (back[:, 0] >= rows.start) & (back[:, 0] < rows.stop)
        probability[back[there, 0] - rows.start, back[there, 1]] = back_probability[there]
        there = (source >= rows.start) & (source < rows.stop)
        probability[source[there] - rows.start, target[there]] = -1.0
        probability[np.arange(rows.stop - rows.start), np.arange(rows.start, rows.stop)] = -1.0
        picked = _largest(probability, top)
        best = np.take_along_axis(probability, picked, axis=1)
        where, place = np.nonzero(best >= 0)
        return list(
            zip((where + rows.start).tolist(), picked[where, place].tolist(), best[where, place].tolist(), strict=True)
        )

    return [edge for edges in predictor._spread(run, predictor._blocks(everything, n)) for edge in edges]


def _block(predictor: Predictor, everything: _New, rows: slice) -> Array:
    """Return the probabilities of links of some documents with all, as if no links were between them."""
    everyone = np.arange(everything.n_documents)
    out = predictor._mean(everything, rows, everyone, predictor._numbers(everything, rows, everyone, "out"))
    if predictor.network.directed:
        return out
    some, whole = everyone[rows], slice(0, everything.n_documents)
    back = predictor._mean(everything, whole, some, predictor._numbers(everything, whole, some, "out"))
    return (out + back.T) / 2


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
    >>> model = RelationalTopicModel(n_topics=2, negatives=2, n_iter=50, random_state=0).fit(network)
    >>> pyldavis_input(model)["topic_term_dists"].shape
    (2, 6)
    """
    check_is_fitted(model)
    network: DocumentNetwork = model.network_
    frequency = np.asarray(network.counts.sum(axis=0, dtype=np.int64)).ravel()
    occur, some = frequency > 0, network.lengths > 0
    topics = model.topic_word_[:, occur]
    words = np.arange(network.n_words) if network.vocabulary is None else network.vocabulary
    return {
        "topic_term_dists": topics / topics.sum(axis=1, keepdims=True),
        "doc_topic_dists": model.doc_topic_[some],
        "doc_lengths": network.lengths[some],
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
        The same columns; an index with a name becomes the first of them. What is missing is null, and ids of several
        types become text.

    Examples
    --------
    >>> import pandas as pd
    >>> from linktopics.interop import to_polars
    >>> to_polars(pd.DataFrame({"share": [0.25, 0.75]}, index=pd.Index([1, 0], name="topic"))).columns
    ['topic', 'share']
    """
    pl = _package("polars", "polars")
    table = frame if frame.index.name is None else frame.reset_index()
    # By lists of Python's own values, since columns with missing values would otherwise need pyarrow.
    columns = {str(name): table[name].astype(object).where(table[name].notna(), None).tolist() for name in table}
    numbers = {str(name): pl.Float64 for name in table if table[name].dtype.kind == "f"}  # if all are missing, too
    return pl.DataFrame(columns, schema_overrides=numbers, strict=False)
