"""Probabilities of links of documents that a model has not seen, compared with the links that these documents have.

    python benchmarks/held_out.py --json studies/calibration/held-out.json

Cora, Citeseer and WebKB in five folds over documents. A test document and all its links are missing in training; its
links with all training documents are predicted from its words. Three probabilities of the same model are compared: its
own (of pairs as it was trained on), those corrected for the sampling of non-links, and those that are also measured on
documents held out within the training documents, which is what predict_links gives. Links count either way; each
direction is corrected, and measured, on its own.

A second table repeats the last one after removing the words of a random fifth of the documents.

The results hold the points of the figure, too: `bins`, by data set and kind of probability.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit

from common import Row, data_option, finish, open_data, options, table
from linktopics import DocumentNetwork, NetworkWarning, RelationalTopicModel
from linktopics.errors import ignore_mixing_warnings
from linktopics.evaluation.evaluation import document_folds
from linktopics.model.training import calibrate
from linktopics.network.pairs import links_between
from linktopics.plots.reliability import bin_pairs
from linktopics.prediction.calibration import LinkCalibration, log_odds

N_BINS = 12
"""Points of the figure for each kind of probability; each has equally many expected links."""

NAMES = {"cora": "Cora", "citeseer": "Citeseer", "webkb": "WebKB"}
OWN, SAMPLING, HELD_OUT = "the model's own", "corrected for sampling", "and measured on held-out documents"
COLUMNS = {
    "set": ("documents", "{}"),
    "kind": ("probabilities", "{}"),
    "links": ("links", "{:,}"),
    "ratio": ("predicted / links", "{:.2f}"),
    "worst": ("the same by fold", "{}"),
    "slope": ("slope of log-odds, 1", "{:.2f}"),
    "loss": ("log loss per link", "{:.2f}"),
    "top": ("mean of the 1,000 highest", "{:.2f}"),
    "top_links": ("links among them", "{:.2f}"),
}

STUBS = 0.2
"""Share of the documents whose words are taken away for the second table."""

GROUPS = {
    (False, False): "both have words",
    (False, True): "the training document has none",
    (True, False): "the new document has none",
    (True, True): "neither has words",
}
STUB_COLUMNS = {
    "set": ("documents", "{}"),
    "group": ("pairs", "{}"),
    "links": ("links", "{:,}"),
    "ratio": ("predicted / links", "{:.2f}"),
    "worst": ("the same by fold", "{}"),
}

STUB_NOTE = (
    "A document without words has the topics of the prior, and features that compare its words with others' have their "
    "average. Links of new documents without words get too low probabilities, probably because of the latter: where "
    "links are rare the probability at the average of a feature is below the average of the probabilities. For a "
    "training document without words, the words of its neighbours are still known."
)


def with_stubs(network: Any) -> tuple[Any, Any]:
    """Return the network where some documents have no words, and which these are."""
    stubs = np.random.default_rng(0).random(network.n_documents) < STUBS
    counts = network.counts.multiply((~stubs)[:, None].astype(network.counts.dtype)).tocsr()
    counts.eliminate_zeros()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NetworkWarning)
        return DocumentNetwork(counts, network.links, link_ends="indices", directed=network.directed), stubs


def stub_rows(name: str, folds: list[tuple[Any, Any, Any]]) -> list[Row]:
    """Return rows of the second table; a fold has links, probabilities and the number of each pair's group."""
    rows = []
    for number, group in enumerate(GROUPS.values()):
        links = [linked[groups == number].sum() for linked, _, groups in folds]
        ratios = [p[groups == number].sum() / n for (_, p, groups), n in zip(folds, links, strict=True)]
        ratio = float(np.average(ratios, weights=links))
        worst = f"{min(ratios):.2f} to {max(ratios):.2f}"
        rows.append({"set": name, "group": group, "links": int(sum(links)), "ratio": ratio, "worst": worst})
    return rows


def fold_of(network: Any, train: Any, test: Any, seed: int, quick: bool) -> tuple[Any, dict[str, Any], float]:
    """Fit a model to a fold; return which pairs are links, the three probabilities, and the share of calibration."""
    short = {"n_burn_in": 20, "n_samples": 2, "thin": 5, "n_chains": 2} if quick else {}
    model = RelationalTopicModel(random_state=seed, n_jobs=-1, verbose=False, **short)
    with ignore_mixing_warnings():
        began = time.perf_counter()
        model.set_params(calibration="sampling").fit(network.subset(train))
        fitted = time.perf_counter()
        measured = calibrate(model.set_params(calibration="held-out").get_params(deep=False), model._run)
        done = time.perf_counter()
    out, into = links_between(network, test, train)
    new = network.subset(test).without_links()
    directions = ("out", "in") if network.directed else ("out",)
    own = {one: expit(model.predict_links(new, direction=one, raw=True)) for one in directions}
    made = {
        OWN: LinkCalibration().of_pairs(own),
        SAMPLING: LinkCalibration(measured.offset).of_pairs(own),
        HELD_OUT: measured.of_pairs(own),
    }
    return (out + into).toarray(), made, (done - fitted) / (fitted - began)


def slope_of(odds: Any, linked: Any) -> float:
    """Return the slope of the logistic regression of links on log-odds: 1 if these are right, less if overconfident."""

    def badness(c: Any) -> tuple[float, Any]:
        x = c[0] + c[1] * odds
        wrong = expit(x) - linked
        return -log_expit(np.where(linked, x, -x)).sum(), np.array([wrong.sum(), wrong @ odds])

    return float(minimize(badness, np.array([0.0, 1.0]), jac=True, method="BFGS").x[1])


def all_pairs(folds: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    """Return which pairs of all folds are links, and their probabilities, in one dimension."""
    linked, p = (np.concatenate([one[place].ravel() for one in folds]) for place in (0, 1))
    return linked, p


def bins_of(folds: list[tuple[Any, Any]]) -> dict[str, list[float]]:
    """Return the points of the figure for one kind of probability."""
    linked, p = all_pairs(folds)
    bins = bin_pairs(linked.astype(bool), p, N_BINS, "links")
    return {name: values.tolist() for name, values in vars(bins).items()}


def row_of(name: str, kind: str, folds: list[tuple[Any, Any]]) -> Row:
    """Return a row of the table."""
    linked, p = all_pairs(folds)
    best = np.argsort(-p, kind="stable")[:1000]
    ratios = [probabilities.sum() / links.sum() for links, probabilities in folds]
    loss = -np.log(np.maximum(p[linked], 1e-300)).sum() - np.log1p(-np.minimum(p[~linked], 1 - 2.0**-53)).sum()
    return {
        "set": name,
        "kind": kind,
        "links": int(linked.sum()),
        "ratio": float(p.sum() / linked.sum()),
        "worst": f"{min(ratios):.2f} to {max(ratios):.2f}",
        "slope": slope_of(log_odds(p), linked),
        "loss": float(loss / linked.sum()),
        "top": float(p[best].mean()),
        "top_links": float(linked[best].mean()),
    }


def main() -> None:
    """Run the comparison."""
    arguments = options(__doc__, data_option(), ("--sets", {"nargs": "+", "choices": NAMES, "default": list(NAMES)}))
    rows, extra, of_stubs, bins = [], [], [], {}
    for name in arguments.sets:
        network = open_data(name, arguments.data)
        parts = document_folds(network.n_documents, 5, 0)[: 1 if arguments.quick else 5]
        found: dict[str, list[tuple[Any, Any]]] = {}
        for fold, (train, test) in enumerate(parts):
            linked, made, share = fold_of(network, train, test, fold, arguments.quick)
            extra.append(share)
            for kind, p in made.items():
                found.setdefault(kind, []).append((linked, p))
        rows += [row_of(NAMES[name], kind, folds) for kind, folds in found.items()]
        bins[NAMES[name]] = {kind: bins_of(folds) for kind, folds in found.items()}
        network, stubs = with_stubs(network)
        folds = []
        for fold, (train, test) in enumerate(parts):
            linked, made, _ = fold_of(network, train, test, fold, arguments.quick)
            folds.append((linked, made[HELD_OUT], 2 * stubs[test][:, None] + stubs[train]))
        of_stubs += stub_rows(NAMES[name], folds)
    note = (
        f"Calibrating takes {100 * np.mean(extra):.0f} % of the time of the fit, on average. A fold of documents may "
        "have more links than the others by chance, which no model can know."
    )
    about = " ".join(" ".join(__doc__.split("\n\n")[2:4]).split())
    tables = [
        table("Links of documents that were not seen", COLUMNS, rows, note),
        table(f"{STUBS:.0%} of the documents without words", STUB_COLUMNS, of_stubs, STUB_NOTE),
    ]
    finish("Held-out documents", about, tables, arguments, bins=bins)


if __name__ == "__main__":
    main()
