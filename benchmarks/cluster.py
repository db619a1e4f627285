"""What a hundred machines and 10^8 documents would need, computed from what shards send each other.

    python benchmarks/cluster.py [--no-ray] [--json benchmarks/results/cluster.json]

A simulated network in 16 shards is run for some iterations; bytes per ghost, per count and per pair, ghosts per
document, rounds of the weight step and tokens per second are counted. The time that Ray takes for a message is measured
on this machine, with actors that have next to nothing to say. All else is multiplication, shown line by line.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from common import Row, finish, one_thread, options, paper_settings, table
from linktopics.datasets import make_network
from linktopics.engines import Ray
from linktopics.kernels.simd import padded
from linktopics.network.pairs import sample_pairs
from linktopics.sampler import Corpus, Sampler, initial_state

LINKS, LENGTH, NONLINKS_PER_LINK = 5, 50, 1
DOCUMENTS, MACHINES, WORDS, NETWORK = 10**8, 100, 100_000, 1.25e9  # the last in bytes per second, 10 Gbit/s
COUNT_COLUMNS = {"what": ("counted", "{}"), "value": ("value", "{:,.4g}")}
NEED_COLUMNS = {"what": ("per machine", "{}"), "one": ("1 shard each", "{:,.4g}"), "all": ("16 shards each", "{:,.4g}")}


def corpus_of(n_documents: int, n_topics: int) -> Corpus:
    """Return a simulated network with as many non-links as links."""
    network = make_network(n_documents, n_topics, 5000, mean_length=LENGTH, mean_degree=LINKS, random_state=0)
    rng = np.random.default_rng(0)
    return Corpus.build(
        network.counts, sample_pairs(network.links, n_documents, True, NONLINKS_PER_LINK, rng), symmetric=False
    )


def counted(corpus: Corpus, n_topics: int, n_shards: int, n_iterations: int) -> dict[str, float]:
    """Run a chain in shards and return what was sent in an iteration, by what it grows with."""
    settings = paper_settings(n_topics, n_shards=n_shards)
    sampler = Sampler(corpus, settings, initial_state(corpus, settings, np.random.SeedSequence(0)))
    for _ in range(n_iterations):
        sampler.step()
    sent, seconds = sampler.pool.sent.copy(), dict(sampler.seconds)
    rounds: list[str] = []
    call_all = sampler.pool.call_all
    sampler.pool.call_all = lambda method, *args: (rounds.append(method), call_all(method, *args))[1]  # type: ignore[method-assign]
    for _ in range(n_iterations):
        sampler.step()
    told = {name: amount / n_iterations for name, amount in (sampler.pool.sent - sent).items()}
    parts = sampler.parts
    ghosts = sum(part.corpus.n_documents - part.n_own for part in parts)
    crossing = sum(len(part.pairs) - part.n_own_pairs for part in parts)
    cells = (n_shards - 1) * corpus.n_words * padded(n_topics)
    spent = {step: (sampler.seconds[step] - seconds[step]) / n_iterations for step in seconds}
    return {
        "bytes per ghost": told["topics"] / ghosts,
        "bytes per count of a word, both ways": told["words"] / cells,
        "bytes of sums per shard and K x K": told["sums"] / n_shards / n_topics**2,
        "calls of all shards per iteration": len(rounds) / n_iterations,
        "pairs between shards, %": 100 * crossing / corpus.n_pairs,
        "ends of such pairs per document": 2 * crossing / corpus.n_documents,
        "tokens per second and core, all steps": corpus.n_tokens / sum(spent.values()),
    }


def message_seconds() -> float | None:
    """Return the time that Ray takes for one message from actor to actor, on this machine."""
    corpus, n_shards = corpus_of(200, 4), 8
    settings = paper_settings(4, n_shards=n_shards)
    state = initial_state(corpus, settings, np.random.SeedSequence(0))
    with Ray(cpus_per_shard=0.1, timeout=120.0) as engine:
        sampler = Sampler(corpus, settings, state, engine)
        sampler.step()
        best = np.inf
        for _ in range(5):
            clock = time.perf_counter()
            for _ in range(5):
                sampler.pool.all_to_all("send_topics", "receive_topics")
            sampler.pool.call_all("scores")
            best = min(best, time.perf_counter() - clock)
        sampler.close()
    return best / 5 / n_shards**2


def needs(of: dict[str, float], shards_each: int, n_topics: int, per_message: float | None) -> dict[str, Any]:
    """Multiply."""
    n_shards, width = MACHINES * shards_each, padded(n_topics)
    own = DOCUMENTS / n_shards
    ghosts = own * of["ends of such pairs per document"]
    pairs = own * LINKS * (1 + NONLINKS_PER_LINK)
    row = 4 * width
    sent = {
        "words": WORDS * width * of["bytes per count of a word, both ways"],
        "ghosts": ghosts * of["bytes per ghost"],
        "pairs": pairs * of["pairs between shards, %"] / 100 * 8,
    }
    arrays = {
        "own": own * (3 * row + LENGTH * 8) + pairs * 60,
        "ghosts": ghosts * 3 * row,
        "words": 2 * WORDS * row,
    }
    return {
        "shards of all machines": n_shards,
        "documents of a shard": own,
        "ghosts of a shard, at most": ghosts,
        "memory of own documents and pairs, GB": shards_each * arrays["own"] / 1e9,
        "memory of ghosts, GB": shards_each * arrays["ghosts"] / 1e9,
        "memory of counts of words, GB": shards_each * arrays["words"] / 1e9,
        "sent per iteration: counts of words, GB": shards_each * sent["words"] / 1e9,
        "sent per iteration: topics of ghosts, GB": shards_each * sent["ghosts"] / 1e9,
        "sent per iteration: augmented variables, GB": shards_each * sent["pairs"] / 1e9,
        "seconds per iteration: 10 Gbit/s network": shards_each * sum(sent.values()) / NETWORK,
        "seconds per iteration: sampling": own * LENGTH / of["tokens per second and core, all steps"],
        "messages per iteration, all machines (millions)": 2 * n_shards**2 / 1e6,
        "seconds per iteration: Ray's own time for them": None
        if per_message is None
        else 2 * n_shards**2 * per_message,
        "memory of the program that starts the fit, GB": DOCUMENTS * (LENGTH * 12 + LINKS * 2 * 40) / 1e9,
    }


def main() -> None:
    """Run the benchmark."""
    no_ray = {"action": "store_true", "help": "leave out the time that Ray takes for a message"}
    arguments = options(__doc__, ("--no-ray", no_ray))
    n_documents, n_topics = (3_000, 20) if arguments.quick else (100_000, 100)
    with one_thread():
        of = counted(corpus_of(n_documents, n_topics), n_topics, 16, 3)
    per_message = None if arguments.no_ray else message_seconds()
    rows: list[Row] = [{"what": name, "value": value} for name, value in of.items()]
    if per_message is not None:
        rows.append({"what": "microseconds of Ray per message", "value": 1e6 * per_message})
    note = (
        f"{n_documents:,} simulated documents of {LENGTH} tokens, {LINKS} links and as many non-links each, "
        f"K = {n_topics}, 16 shards, one thread."
    )
    tables = [table("Counted", COUNT_COLUMNS, rows, note)]
    one, each = (needs(of, shards, n_topics, per_message) for shards in (1, 16))
    rows = [{"what": name, "one": one[name], "all": each[name]} for name in one]
    note = (
        f"{DOCUMENTS:,} documents of {LENGTH} tokens, {WORDS:,} words, K = {n_topics}, {MACHINES} machines. Ghosts are "
        "at most as many as ends of pairs between shards; with so many documents almost all are different. What is "
        "sent between shards of one machine is counted as if it left the machine. This configuration has not been run."
    )
    tables.append(table("A hundred machines", NEED_COLUMNS, rows, note))
    about = (
        "Non-links are pairs at random, so they lead to other shards, and the topics of their documents have to be "
        "known there: they take most of the memory. Messages grow with the square of the number of shards: a shard per "
        "core of every machine is more than Ray can carry, and a shard per machine leaves its other cores idle. A "
        "lower limit than either: the program that starts the fit holds all documents."
    )
    finish("What a hundred machines would need", about, tables, arguments, [] if arguments.no_ray else ["ray"])


if __name__ == "__main__":
    main()
