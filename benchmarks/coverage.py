"""How often the range of a probability over posterior samples holds the true one, on simulated networks.

    python benchmarks/coverage.py --json studies/calibration/coverage.json

Networks are drawn by make_network, so the probability of every link is known. A model with the right number of topics
and otherwise the default settings is fitted to all documents but 100, whose links with the others are then predicted
from their words. The table has the share of pairs whose true probability lies between lower and upper, the 5 % and 95 %
quantiles of the probabilities that posterior samples give: among the ten best suggestions of each new document, and
among pairs drawn at random. If a range covered all uncertainty, it would hold the true probability of 90 % of the
pairs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from common import Row, finish, options, table
from linktopics import RelationalTopicModel, datasets
from linktopics.errors import ignore_mixing_warnings
from linktopics.network.inputs import Documents
from linktopics.prediction.calibration import either_direction
from linktopics.prediction.ranking import Shortlist, best_of_each

MASS, N_NEW, TOP, PER_DOCUMENT = 0.9, 100, 10, 50
WORLDS: dict[str, dict[str, Any]] = {
    "600 documents, 5 topics": {"n_documents": 600, "n_topics": 5, "n_words": 300},
    "1,100 documents, 10 topics": {"n_documents": 1100, "n_topics": 10, "n_words": 1000},
    "600 documents, 5 topics, undirected": {"n_documents": 600, "n_topics": 5, "n_words": 300, "directed": False},
}
COLUMNS = {
    "world": ("networks", "{}"),
    "direction": ("links", "{}"),
    "which": ("pairs", "{}"),
    "pairs": ("number", "{:,}"),
    "covered": ("range holds the truth", "{:.0%}"),
    "below": ("truth below it", "{:.0%}"),
    "above": ("truth above it", "{:.0%}"),
    "by_network": ("the same by network", "{}"),
    "width": ("width / probability, median", "{:.2f}"),
}


def true_probabilities(truth: Any, new: Any, known: Any, direction: str) -> Any:
    """Return the probabilities that links were drawn with, new x known documents."""
    scores = truth.zbar @ truth.weights @ truth.zbar.T + truth.intercept
    out, into = expit(scores[np.ix_(new, known)]), expit(scores[np.ix_(known, new)]).T
    return {"out": out, "in": into, "both": either_direction(out, into)}[direction]


def ranges_of(model: Any, documents: Any, rows: Any, candidates: Any, direction: str) -> tuple[Any, Any, Any]:
    """Return probabilities of pairs with the ends of their ranges over samples, as suggest_links gives them."""
    predictor = model.predictor
    new = predictor.new_documents(Documents.of(documents), direction)
    values = predictor.features.pairs(new.prepared, rows, candidates, predictor.directions(direction))
    found = predictor.probabilities(new, Shortlist(rows, candidates, values), MASS)
    return found["probability"], found["lower"], found["upper"]


def network_of(size: dict[str, Any], seed: int, quick: bool) -> list[tuple[str, str, Any]]:
    """Fit a model to a network; return the directions and pairs looked at, and where the truth lies to the range."""
    network, truth = datasets.make_network(**size, random_state=seed, return_truth=True)
    known, new = np.split(np.arange(network.n_documents), [network.n_documents - N_NEW])
    short = {"n_burn_in": 20, "n_samples": 5, "thin": 2, "n_chains": 2} if quick else {}
    with ignore_mixing_warnings():
        model = RelationalTopicModel(size["n_topics"], random_state=seed, n_jobs=-1, verbose=False, **short)
        model.fit(network.subset(known))
    documents = network.subset(new).without_links()
    rng, found = np.random.default_rng(seed), []
    for direction in ("out", "both") if network.directed else ("both",):
        expected = true_probabilities(truth, new, known, "out" if not network.directed else direction)
        made = model.predict_links(documents, direction=direction)
        every = np.indices(made.shape).reshape(2, -1)
        best = every[:, best_of_each(*every, made.ravel(), TOP)]
        drawn = np.repeat(np.arange(N_NEW), PER_DOCUMENT), rng.integers(len(known), size=N_NEW * PER_DOCUMENT)
        for which, (rows, candidates) in (("ten best", best), ("at random", drawn)):
            mean, lower, upper = ranges_of(model, documents, rows, candidates, direction)
            p = expected[rows, candidates]
            found.append((direction, which, np.stack([p < lower, p > upper, (upper - lower) / mean])))
    return found


def row_of(world: str, direction: str, which: str, networks: list[Any]) -> Row:
    """Return a row of the table."""
    below, above, width = np.concatenate(networks, axis=1)
    each = [1.0 - one[:2].sum() / one.shape[1] for one in networks]
    return {
        "world": world,
        "direction": {"out": "out", "both": "either way"}[direction],
        "which": which,
        "pairs": len(below),
        "covered": 1.0 - below.mean() - above.mean(),
        "below": below.mean(),
        "above": above.mean(),
        "by_network": f"{min(each):.0%} to {max(each):.0%}",
        "width": float(np.median(width)),
    }


def main() -> None:
    """Run the comparison."""
    arguments = options(__doc__, ("--networks", {"type": int, "default": 5, "help": "networks of each kind"}))
    rows = []
    for world, size in list(WORLDS.items())[: 1 if arguments.quick else None]:
        found: dict[tuple[str, str], list[Any]] = {}
        for seed in range(1 if arguments.quick else arguments.networks):
            for direction, which, one in network_of(size, seed, arguments.quick):
                found.setdefault((direction, which), []).append(one)
        rows += [row_of(world, direction, which, one) for (direction, which), one in found.items()]
    shares = [row["covered"] for row in rows]
    note = (
        f"Ranges over {MASS:.0%} of the samples contain the true probability in {min(shares):.0%} to {max(shares):.0%} "
        "of cases."
    )
    made = table("Ranges over posterior samples", COLUMNS, rows, note)
    about = " ".join(" ".join(__doc__.split("\n\n")[2:]).split())
    finish("Coverage", about, [made], arguments, lowest=min(shares), highest=max(shares))


if __name__ == "__main__":
    main()
