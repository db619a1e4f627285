"""Compile the sampler before the first fit."""

from __future__ import annotations

import time
from typing import Annotated

from linktopics.cli.defaults import default
from linktopics.cli.options import Debug, count
from linktopics.cli.output import print_lines

EXAMPLE = "linktopics warmup --topics 20 --topics 50"

TOPICS_HELP = (
    "Number of topics to compile for; can be repeated. 1 to 8 topics share one compiled sampler, 9 to 16 another, "
    "and so on."
)


def warmup(
    topics: Annotated[list[int], count(TOPICS_HELP)] = [default("n_topics")],  # noqa: B006, typer copies it
    debug: Debug = False,
) -> None:
    """Compile the sampler now and cache it on disk, so that the next fit starts at once."""
    from linktopics.datasets import make_network
    from linktopics.kernels.simd import padded
    from linktopics.model.estimator import RelationalTopicModel

    for width in sorted({padded(number) for number in topics}):
        started = time.perf_counter()
        directed = make_network(30, n_topics=2, n_words=40, random_state=0)
        for network in (directed, directed.to_undirected()):
            for weights in ("full", "diagonal"):
                model = RelationalTopicModel(width, weights=weights, n_burn_in=1, n_samples=2, thin=1, n_chains=1)
                model.fit(network).suggest_links(network.counts[:2], top=1)
                model.word_probabilities([[network.ids[0]]])
        print_lines(f"{width - 7} to {width} topics: {time.perf_counter() - started:.1f} s")
