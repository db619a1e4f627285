"""Whole iterations compared with a compiled version of the paper's algorithm, and training with topica's RTM.

    python benchmarks/iteration.py [--quick] [--only paper growth topica]
        [--json benchmarks/results/iteration.json]

Needs the data sets cora-r and cora, and ``pip install '.[benchmark]'``. All on one thread.
"""

from __future__ import annotations

import os

os.environ["RAYON_NUM_THREADS"] = "1"  # topica's threads; read when it is imported

import time
from typing import Any

import numpy as np
import topica

from common import Row, data_option, finish, one_thread, open_data, options, paper_settings, step_seconds, table
from linktopics import DocumentNetwork, RelationalTopicModel
from linktopics.datasets import make_network
from linktopics.evaluation.metrics import auc
from linktopics.network.pairs import sample_pairs
from linktopics.sampler import Corpus, Sampler, initial_state
from paper_loop import PaperSampler

STEPS = ("topics", "weights", "augmented")
PARTS = ("paper", "growth", "topica")

PAPER_COLUMNS = {
    "data": ("data", "{}"),
    "topics": ("K", "{}"),
    **{f"ours_{step}_ms": (f"{step}, ms", "{:.1f}") for step in STEPS},
    **{f"paper_{step}_ms": (f"paper's {step}, ms", "{:,.0f}") for step in STEPS},
    "ratio": ("iteration: times as fast", "{:.1f}"),
    "ratio_our_weights": ("with our weight update", "{:.1f}"),
    "ratio_topics": ("topics alone", "{:.1f}"),
}
GROWTH_COLUMNS = {
    "length": ("tokens per document", "{}"),
    "pairs_per_document": ("pairs per document", "{}"),
    "ours_ms": ("iteration, ms", "{:.1f}"),
    "paper_ms": ("paper's, ms", "{:,.0f}"),
    "ratio": ("times as fast", "{:.1f}"),
    "ratio_our_weights": ("with our weight update", "{:.1f}"),
    "ratio_topics": ("topics alone", "{:.1f}"),
}
PASS_COLUMNS = {
    "data": ("data", "{}"),
    "model": ("model", "{}"),
    "pass_ms": ("pass over all tokens, ms", "{:.1f}"),
    "against_ours": ("against Gibbs-gRTM", "{:.1f}"),
}
AUC_COLUMNS = {
    "data": ("data", "{}"),
    "model": ("model", "{}"),
    "passes": ("passes", "{}"),
    "seconds": ("training, s", "{:.2f}"),
    "auc": ("AUC of held-out links", "{:.4f}"),
}


def build(network: DocumentNetwork, negatives: float) -> Corpus:
    """Lay out a network with sampled non-links."""
    pairs = sample_pairs(network.links, network.n_documents, network.directed, negatives, np.random.default_rng(0))
    return Corpus.build(network.counts, pairs, symmetric=not network.directed)


def against_paper(corpus: Corpus, n_topics: int, burn_in: int, rounds: int) -> Row:
    """Return milliseconds of the steps of both, from the same state on, in turn, and their ratios."""
    settings = paper_settings(n_topics)
    state = initial_state(corpus, settings, np.random.SeedSequence(0))
    ours = Sampler(corpus, settings, state)
    for _ in range(burn_in):
        ours.step()
    paper = PaperSampler(corpus, state, n_topics)
    best: Row = {}
    for _ in range(rounds):
        for name, sampler in (("ours", ours), ("paper", paper)):
            for step, seconds in step_seconds(sampler, 1).items():
                best[f"{name}_{step}_ms"] = min(1000 * seconds, best.get(f"{name}_{step}_ms", np.inf))
    ours_all, paper_all = (sum(best[f"{name}_{step}_ms"] for step in STEPS) for name in ("ours", "paper"))
    with_our_weights = paper_all - best["paper_weights_ms"] + best["ours_weights_ms"]
    ratios = {"ratio": paper_all / ours_all, "ratio_our_weights": with_our_weights / ours_all}
    ratios["ratio_topics"] = best["paper_topics_ms"] / best["ours_topics_ms"]
    return {"topics": n_topics, "pairs": corpus.n_pairs, "ours_ms": ours_all, "paper_ms": paper_all, **best, **ratios}


def paper_rows(arguments: Any) -> list[Row]:
    """Compare iterations on Cora and Cora-R."""
    rows = []
    burn_in, rounds = (10, 2) if arguments.quick else (100, 5)
    for name in ("cora-r", "cora"):
        corpus = build(open_data(name, arguments.data), 0.01)
        for n_topics in (10, 20) if arguments.quick else (10, 20, 50):
            # The weights of K = 50 take the paper's version minutes.
            row = against_paper(corpus, n_topics, burn_in, 2 if n_topics >= 50 else rounds)
            rows.append({"data": name, **row})
    return rows


def growth_rows(quick: bool) -> list[Row]:
    """Compare iterations on simulated networks of growing documents and neighbourhoods."""
    rows = []
    lengths, degrees = ((20, 100), (5, 20)) if quick else ((20, 50, 100, 200, 500), (5, 10, 20, 50, 100))
    middle = (100, 20)
    cells = [(length, middle[1]) for length in lengths] + [(middle[0], n) for n in degrees]
    for length, per_document in sorted(set(cells)):
        network = make_network(1000, 20, 2000, mean_length=length, mean_degree=per_document / 2, random_state=0)
        row = against_paper(build(network, 1), 20, 5 if quick else 50, 2 if quick else 5)
        rows.append({"length": length, "pairs_per_document": per_document, **row})
    return rows


class Split:
    """One split of the documents of a network, 80 to 20: what both packages learn from, and how both are scored."""

    def __init__(self, network: DocumentNetwork) -> None:
        shuffled = np.random.default_rng(0).permutation(network.n_documents)
        cut = int(0.8 * network.n_documents)
        train, test = np.sort(shuffled[:cut]), np.sort(shuffled[cut:])
        self.train = network.subset(train)
        self.test = network.counts[test]
        place = np.full((2, network.n_documents), -1)
        place[0, train], place[1, test] = np.arange(len(train)), np.arange(len(test))
        self.truth = np.zeros((len(test), len(train)), dtype=bool)
        for i, j in (network.links.T, network.links.T[::-1]):
            across = (place[1, i] >= 0) & (place[0, j] >= 0)
            self.truth[place[1, i[across]], place[0, j[across]]] = True
        self.corpus = topica.Corpus.from_documents(
            list(map(self.words, self.train.counts)), vocabulary=[str(word) for word in range(network.n_words)]
        )
        assert self.corpus.num_docs == len(train)
        self.links = list(map(tuple, self.train.links.tolist()))

    @staticmethod
    def words(row: Any) -> list[str]:
        """Spell out the words of a document, as topica takes them."""
        return [str(word) for word in np.repeat(row.indices, row.data)]

    def ours(self, model: RelationalTopicModel) -> tuple[float, float]:
        """Return seconds of training and AUC of one of our models."""
        model.set_params(calibration="sampling")  # of probabilities; AUC is about their order
        clock = time.perf_counter()
        model.fit(self.train)
        seconds = time.perf_counter() - clock
        return seconds, auc(model.predict_links(self.test, direction="both"), self.truth)

    def topica(self, inference: str, iters: int, n_topics: int) -> tuple[float, float]:
        """Return seconds of training and AUC of topica's RTM."""
        model = topica.RTM(n_topics, inference=inference, seed=1)
        clock = time.perf_counter()
        model.fit(self.corpus, self.links, iters=iters)
        seconds = time.perf_counter() - clock
        scores = np.zeros(self.truth.shape)
        for at in range(len(scores)):
            for candidate, probability in model.suggest_links(self.words(self.test[[at]]), top_n=scores.shape[1]):
                scores[at, candidate] = probability
        return seconds, auc(scores, self.truth)


SWEEPS_PER_ITERATION = {"variational": 15, "gibbs": 3}
"""Passes over the tokens in one of topica's iterations, by its defaults: e_sweeps=3 times e_inner=5, and e_sweeps."""


def default_model(n_topics: int, passes: int) -> RelationalTopicModel:
    """Return the default model with one chain: half of the passes are burn-in, up to ten samples come from the rest."""
    n_samples = min(10, passes - passes // 2)
    thin = (passes - passes // 2) // n_samples
    return RelationalTopicModel(
        n_topics, n_burn_in=passes - n_samples * thin, n_samples=n_samples, thin=thin, n_chains=1, random_state=0,
        verbose=False,
    )  # fmt: skip


def topica_rows(arguments: Any, n_topics: int = 20) -> tuple[list[Row], list[Row]]:
    """Return time per pass, and AUC against seconds of training, of both packages."""
    passes, scores = [], []
    lengths = (5, 20) if arguments.quick else (5, 10, 20, 50, 100, 200)
    iterations = {"variational": (1, 2), "gibbs": (2, 7)} if arguments.quick else {
        "variational": (1, 2, 5, 10, 20, 50), "gibbs": (2, 5, 10, 20, 50, 100)
    }  # fmt: skip
    for name in ("cora-r",) if arguments.quick else ("cora-r", "cora"):
        split = Split(open_data(name, arguments.data))
        split.ours(default_model(n_topics, 2))  # compiles
        runs: dict[str, list[tuple[int, float, float]]] = {}
        for n in lengths:
            paper = RelationalTopicModel.from_paper(
                "Gibbs-gRTM", n_topics, n_burn_in=n - 1, random_state=0, verbose=False
            )
            runs.setdefault("linktopics, Gibbs-gRTM", []).append((n, *split.ours(paper)))
            runs.setdefault("linktopics, default", []).append((n, *split.ours(default_model(n_topics, n))))
        for inference, numbers in iterations.items():
            for n in numbers:
                row = (n * SWEEPS_PER_ITERATION[inference], *split.topica(inference, n, n_topics))
                runs.setdefault(f"topica, {inference}", []).append(row)
        per_pass = {}
        for model, found in runs.items():
            scores += [{"data": name, "model": model, "passes": n, "seconds": s, "auc": a} for n, s, a in found]
            (n_first, s_first, _), (n_last, s_last, _) = found[0], found[-1]
            per_pass[model] = 1000 * (s_last - s_first) / (n_last - n_first)
        passes += [
            {"data": name, "model": model, "pass_ms": ms, "against_ours": ms / per_pass["linktopics, Gibbs-gRTM"]}
            for model, ms in per_pass.items()
        ]
    return passes, scores


def main() -> None:
    """Run the benchmark."""
    only = {"nargs": "+", "choices": PARTS, "default": PARTS, "help": "parts of the benchmark; by default all"}
    arguments = options(__doc__, data_option(), ("--only", only))
    tables = []
    with one_thread():
        if "paper" in arguments.only:
            note = (
                "The paper's version is compiled, and draws from the same conditionals: topics by a loop over "
                "neighbours, weights by the matrix of size K^2 x K^2 with BLAS and Cholesky, the same "
                "Polya-Gamma draws. “With our weight update”: its own topics and augmented variables, but our weights."
            )
            tables.append(table("Steps of an iteration", PAPER_COLUMNS, paper_rows(arguments), note))
        if "growth" in arguments.only:
            note = (
                "1,000 simulated documents, K = 20; half of the pairs are links. A pair counts for both its documents."
            )
            tables.append(
                table("With longer documents and more neighbours", GROWTH_COLUMNS, growth_rows(arguments.quick), note)
            )
        if "topica" in arguments.only:
            per_pass, scores = topica_rows(arguments)
            note = (
                "K = 20. A pass visits every token once. It is one of our sweeps; an iteration of topica's Gibbs "
                "sampler has three, one of its variational inference 15. Seconds per pass are the slope between the "
                "shortest and the longest training; ours include all steps of an iteration."
            )
            tables.append(table("A pass of training compared with topica's RTM", PASS_COLUMNS, per_pass, note))
            note = (
                "Documents are split 80 to 20. Test documents are scored by their words against all training "
                "documents; AUC of their links with them. topica has its default settings; its documentation "
                "says that the coefficients of links of its Gibbs inference are negative, and recommends the "
                "variational inference for scores."
            )
            tables.append(table("Held-out links against seconds of training", AUC_COLUMNS, scores, note))
    about = "One thread; all versions are timed alternately in one run."
    finish("Whole iterations, and training", about, tables, arguments, ["topica"])


if __name__ == "__main__":
    main()
