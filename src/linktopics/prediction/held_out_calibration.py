"""The calibration of a model, measured with another that was not trained on some documents."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from linktopics.network import DocumentNetwork
from linktopics.network.inputs import Documents
from linktopics.network.pairs import links_between
from linktopics.prediction.calibration import (
    HeldOutPairs,
    LinkCalibration,
    fit_curves,
    fit_reciprocity,
    log_odds,
    prevalences,
)
from linktopics.prediction.predictor import Predictor
from linktopics.prediction.ranking import ByDirection, blocks_of

MEASURED_CELLS = 2**18
"""Documents x candidates that are handled at once; few, because fitting a model needs the memory."""


def measure(
    network: DocumentNetwork,
    held_out: NDArray[np.integer],
    others: NDArray[np.integer],
    offset: float,
    reduced: Predictor,
) -> LinkCalibration:
    """Return the calibration of a model, measured with another that was not trained on some documents.

    Parameters
    ----------
    network : DocumentNetwork
        All documents.
    held_out, others : ndarray of int
        Documents that the other model was not trained on, and those that it was.
    offset : float
        Correction of the model's log-odds for the sampling of non-links.
    reduced : Predictor
        The predictor of the other model; its own offset may differ a little.
    """
    out, into = links_between(network, held_out, others)
    links, prevalence = {"out": out, "in": into}, prevalences(network)
    new = reduced.new_documents(Documents.of(network.subset(held_out).without_links()), "both")
    everyone, directions = np.arange(len(others)), reduced.directions("both")

    def in_blocks() -> Iterator[tuple[slice, ByDirection]]:
        for rows in blocks_of(new.n_documents, len(others) * (1 + 2 * len(reduced.features.mean)), MEASURED_CELLS):
            yield rows, reduced.uncalibrated(new, rows, everyone, directions)

    found = {direction: HeldOutPairs() for direction in directions}
    for rows, own in in_blocks():
        for direction, pairs in found.items():
            pairs.add(log_odds(own[direction]) + reduced.calibration.offset, links[direction][rows].toarray())
    curves = fit_curves(found, prevalence["out"])
    reciprocity = 0.0
    if network.directed and curves:
        known = LinkCalibration(reduced.calibration.offset, curves)
        made = ((known.probability(own["out"], "out"), known.probability(own["in"], "in")) for _, own in in_blocks())
        reciprocity = fit_reciprocity(made, 2.0 * prevalence["out"] - prevalence["both"])
    return LinkCalibration(offset, curves, len(held_out), int((out + into).nnz), reciprocity)
