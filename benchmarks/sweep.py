"""Speed of the exact relational sweep beside plain LDA in tomotopy and the paper's loop over neighbours.

    python benchmarks/sweep.py [--data FOLDER] [--topics 10 20 50 100] [--json docs/results/sweep.json]

With --json the results are written to that file, and as a page to the one beside it that ends in .md.

The data sets (cora-r and cora) are looked for in FOLDER, else in $LINKTOPICS_DATA, else in ../shared/data beside the
checkout. Everything is timed in turn within one run, on one thread, and the best of several rounds is taken, so ratios
hold where seconds do not. Needs ``pip install '.[benchmark]'``.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import platform
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import tomotopy
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from linktopics import DocumentNetwork, NetworkWarning, RelationalTopicModel
from linktopics.pairs import sample_pairs
from linktopics.sampler import Corpus, Sampler, Settings, initial_state
from paper_loop import paper_sweep

BURN_IN = 100
ROUNDS = 7


def load(name: str, folder: Path) -> DocumentNetwork:
    """Return a data set of the benchmark."""
    if not (folder / name).is_dir():
        raise SystemExit(f"{folder / name} is not there; give the folder that holds {name} by --data.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NetworkWarning)
        if name == "cora-r":
            return DocumentNetwork.from_ldac(folder / name, links_reversed=True)
        return DocumentNetwork.from_linqs(folder / name)


def tomotopy_model(network: DocumentNetwork, n_topics: int) -> Any:
    """Return tomotopy's LDA on the same tokens, with the same priors and no optimisation of them."""
    model = tomotopy.LDAModel(k=n_topics, alpha=5.0 / n_topics, eta=0.01, seed=1)
    model.optim_interval = 0
    for row in range(network.n_documents):
        entries = slice(*network.counts.indptr[row : row + 2])
        words = np.repeat(network.counts.indices[entries], network.counts.data[entries])
        if len(words):
            model.add_doc([str(word) for word in words])
    model.train(BURN_IN, workers=1)
    return model


def best_seconds(tasks: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Run the tasks in turn, several rounds, and return the shortest time of each."""
    seconds = dict.fromkeys(tasks, float("inf"))
    for _ in range(ROUNDS):
        for name, task in tasks.items():
            clock = time.perf_counter()
            task()
            seconds[name] = min(seconds[name], time.perf_counter() - clock)
    return seconds


def measure(network: DocumentNetwork, n_topics: int) -> dict[str, float]:
    """Return tokens per second and the seconds of the three steps."""
    pairs = sample_pairs(network.links, network.n_documents, True, 0.01, np.random.default_rng(0))
    corpus = Corpus.build(network.counts, pairs, symmetric=False)
    state = initial_state(corpus, n_topics, np.random.SeedSequence(0))
    sampler = Sampler(corpus, Settings(n_topics), state)
    for _ in range(BURN_IN):
        sampler.step()
    linear, quadratic = sampler.loss.gaussian(state.augmented)
    other = Sampler(corpus, Settings(n_topics), copy.deepcopy(state))
    other._project()  # the paper's loop starts from the same projections
    paper_state = other.state
    P, Q = np.split(other._projection, 2)
    plain = tomotopy_model(network, n_topics)

    def paper() -> None:
        paper_sweep(
            n_topics, corpus.start, corpus.words, paper_state.assignments, paper_state.doc_topic,
            paper_state.word_topic, paper_state.topic_total, corpus.out_start, corpus.target, corpus.in_start,
            corpus.in_pair, corpus.source, linear.astype(np.float32), quadratic.astype(np.float32), P, Q, other._U,
            np.float32(5.0 / n_topics), np.float32(0.01), 1,
        )  # fmt: skip

    seconds = best_seconds(
        {
            "exact": lambda: sampler.draw_topics(linear, quadratic),
            "tomotopy": lambda: plain.train(1, workers=1),
            "paper": paper,
            "augmented": lambda: sampler.loss.draw(sampler.scores(), state.rng),
            "weights": lambda: sampler.draw_weights(linear, quadratic),
        }
    )
    n = corpus.n_tokens
    return {
        "topics": n_topics,
        "tokens": n,
        "pairs": corpus.n_pairs,
        "exact_tokens_per_second": n / seconds["exact"],
        "tomotopy_tokens_per_second": n / seconds["tomotopy"],
        "paper_tokens_per_second": n / seconds["paper"],
        "exact_over_tomotopy": seconds["tomotopy"] / seconds["exact"],
        "exact_over_paper": seconds["paper"] / seconds["exact"],
        "topics_seconds": seconds["exact"],
        "augmented_seconds": seconds["augmented"],
        "weights_seconds": seconds["weights"],
    }


def training_run(network: DocumentNetwork) -> float:
    """Return the seconds of 400 iterations with 20 topics on 80 % of the documents: the paper's run of 1,753 s."""
    chosen = np.random.default_rng(0).permutation(network.n_documents)[: int(0.8 * network.n_documents)]
    model = RelationalTopicModel.from_paper("Gibbs-gRTM", n_topics=20, n_iter=399, random_state=0, verbose=False)
    train = network.subset(np.sort(chosen))
    clock = time.perf_counter()
    model.fit(train)
    return time.perf_counter() - clock


def page(results: dict[str, Any]) -> str:
    """Return the results as a page of the documentation."""
    versions = ", ".join(f"{name} {number}" for name, number in results["versions"].items())
    pairs = ", ".join(f"{rows[0]['pairs']:,} pairs on {name}" for name, rows in results["sweeps"].items())
    lines = [
        "# Speed of the sweep",
        "",
        "`python benchmarks/sweep.py --json docs/results/sweep.json`,",
        f"{results['when']}, {results['machine']}, one thread; {versions}.",
        f"Best of {ROUNDS} rounds after {BURN_IN} sweeps of burn-in; everything in one run, so the ratios hold",
        "where the seconds do not.",
        "",
        "The exact sweep draws topics given words *and* links (1 % of the unlinked pairs as non-links:",
        f"{pairs}). tomotopy's LDA draws topics given words alone, from the same tokens:",
        "it does less, and it is faster. The paper's loop visits every neighbour for every token and topic, as the",
        "paper's algorithm is written, and is compiled too.",
        "",
        "| data | K | exact sweep, M tokens/s | plain LDA in tomotopy | the paper's loop | exact / tomotopy "
        "| exact / paper's loop | topics, ms | augmented, ms | weights, ms |",
        "|---" * 10 + "|",
    ]
    for name, rows in results["sweeps"].items():
        for row in rows:
            speeds = (f"{row[f'{who}_tokens_per_second'] / 1e6:.1f}" for who in ("exact", "tomotopy", "paper"))
            ratios = (f"{row['exact_over_tomotopy']:.2f}", f"{row['exact_over_paper']:.1f}")
            steps = (f"{1e3 * row[f'{step}_seconds']:.1f}" for step in ("topics", "augmented", "weights"))
            lines.append("| " + " | ".join([name, str(row["topics"]), *speeds, *ratios, *steps]) + " |")
    lines += [
        "",
        "A training run on Cora as in the paper (80 % of the documents, K = 20, 1 % non-links, 400 iterations):",
        f"{results['cora_training_seconds']:.1f} s. The paper reports 1,753 s on a desktop computer of 2013.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the benchmark and print its tables."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("LINKTOPICS_DATA", beside)))
    parser.add_argument("--topics", type=int, nargs="+", default=[10, 20, 50, 100])
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    console = Console(width=110)
    packages = ("linktopics", "numba", "numpy", "tomotopy")
    results: dict[str, Any] = {
        "when": time.strftime("%Y-%m-%d"),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        "versions": {name: version(name) for name in packages},
        "sweeps": {},
    }
    for name in ("cora-r", "cora"):
        network = load(name, arguments.data)
        table = Table(title=f"{name}: {network.n_documents:,} documents, {network.n_tokens:,} tokens, 1 % negatives")
        for column in ("K", "exact M tok/s", "tomotopy LDA", "paper's loop", "vs tomotopy", "vs paper"):
            table.add_column(column, justify="right")
        for column in ("topics ms", "augmented ms", "weights ms"):
            table.add_column(column, justify="right")
        rows = results["sweeps"][name] = []
        with threadpool_limits(1):
            for n_topics in arguments.topics:
                row = measure(network, n_topics)
                rows.append(row)
                table.add_row(
                    str(n_topics),
                    *(f"{row[f'{who}_tokens_per_second'] / 1e6:.1f}" for who in ("exact", "tomotopy", "paper")),
                    f"{row['exact_over_tomotopy']:.2f}",
                    f"{row['exact_over_paper']:.1f}",
                    *(f"{1e3 * row[f'{step}_seconds']:.1f}" for step in ("topics", "augmented", "weights")),
                )
        console.print(table)
    results["cora_training_seconds"] = training_run(network)
    console.print(f"Cora, 80 % of documents, K = 20, 400 iterations: {results['cora_training_seconds']:.1f} s")
    console.print(f"{results['when']}, {results['machine']}, {results['versions']}")
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n")
        arguments.json.with_suffix(".md").write_text(page(results))


if __name__ == "__main__":
    main()
