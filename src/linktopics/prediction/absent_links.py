"""The most probable links between training documents that the network does not have."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linktopics.prediction.predictor import Predictor
from linktopics.prediction.ranking import NewDocuments


def absent_links(predictor: Predictor, top: int) -> list[tuple[int, int, float]]:
    """Return the most probable absent links of each training document: (source, target, probability).

    Each document is treated as if it were new; in an undirected network both of a pair are, and the mean is taken.
    """
    predictor.check_links()
    network, n = predictor.network, predictor.network.n_documents
    everything = predictor.training.as_new()
    source, target = network.links.T
    if network.directed:
        # Between these there is a link in the other direction, which the features of the pair must ignore.
        back = network.links[:, ::-1]
        back_probability = predictor.uncalibrated_for_training(back[:, 0], back[:, 1])
    else:
        source, target = np.concatenate([source, target]), np.concatenate([target, source])
        back, back_probability = np.empty((0, 2), dtype=np.int64), np.empty(0)

    def run(rows: slice) -> list[tuple[int, int, float]]:
        probability = _among_known(predictor, everything, rows)
        there = (back[:, 0] >= rows.start) & (back[:, 0] < rows.stop)
        probability[back[there, 0] - rows.start, back[there, 1]] = back_probability[there]
        there = (source >= rows.start) & (source < rows.stop)
        probability[source[there] - rows.start, target[there]] = -1.0
        probability[np.arange(rows.stop - rows.start), np.arange(rows.start, rows.stop)] = -1.0
        picked = _largest(probability, top)
        best = np.take_along_axis(probability, picked, axis=1)
        where, place = np.nonzero(best >= 0)
        ends = (where + rows.start).tolist(), picked[where, place].tolist()
        return list(zip(*ends, predictor.calibrated({"out": best[where, place]}).tolist(), strict=True))

    return [edge for edges in predictor.map_in_threads(run, predictor.blocks(n, n)) for edge in edges]


def _among_known(predictor: Predictor, everything: NewDocuments, rows: slice) -> NDArray[np.float64]:
    """Return the uncalibrated probabilities of links of some documents with all, as if they were not linked."""
    everyone = np.arange(everything.n_documents)
    out = predictor.uncalibrated(everything, rows, everyone, ["out"])["out"]
    if predictor.network.directed:
        return out
    back = predictor.uncalibrated(everything, slice(0, everything.n_documents), everyone[rows], ["out"])["out"]
    return (out + back.T) / 2


def _largest(values: NDArray[np.float64], size: int) -> NDArray[np.int64]:
    """Return the columns of the `size` largest values of each row, largest first; of equals, the first column."""
    size = min(size, values.shape[1])
    bounds = np.partition(values, -size, axis=1)[:, -size]
    picked = np.empty((len(values), size), dtype=np.int64)
    for i, (row, bound) in enumerate(zip(values, bounds, strict=True)):
        columns = np.flatnonzero(row >= bound)
        picked[i] = columns[np.argsort(-row[columns], kind="stable")][:size]
    return picked
