"""Fit a model of Python's own standard library and show it."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from linktopics.cli.options import Debug, Seed
from linktopics.errors import DataError, LinktopicsError, ignore_mixing_warnings

EXAMPLE = 'linktopics demo --topics 12 --text "Plays chess over the network, with a window."'

DEFAULT_TEXT = (
    "Run many requests at once: coroutines and tasks on an event loop wait for sockets, subprocesses and futures, each "
    "with a timeout; what is cancelled is cleaned up."
)

TEXT_HELP = "Description of a module that you would like to write."

# Chosen so that topics read well and the finding about directions shows, more or less sharply, for all seeds and Python
# versions tried: more non-links than 1 % of pairs separate modules that many import from those that few import.
SETTINGS: dict[str, Any] = {"alpha": 3, "negatives": 0.05, "link_cost": 4, "thin": 5}


def demo(
    topics: Annotated[int, typer.Option(min=2, max=20, help="Number of topics.")] = 15,
    seed: Seed = 0,
    text: Annotated[str, typer.Option(help=TEXT_HELP, show_default=False)] = DEFAULT_TEXT,
    chains: Annotated[int, typer.Option(min=1, help="Independent runs of the sampler.")] = 2,
    burn_in: Annotated[int, typer.Option(min=1, help="Burn-in sweeps of each.")] = 300,
    save_svg: Annotated[Path | None, typer.Option(help="Save the output as a picture, too.", dir_okay=False)] = None,
    debug: Debug = False,
) -> None:
    """Fit a model of Python's own standard library and show it.

    Modules are the documents and imports are the links. Shows the topics,
    which topic imports which, and what a module that does not exist yet
    should import. Takes less than a minute and downloads nothing.
    """
    started = time.perf_counter()
    from linktopics.cli import demo_report
    from linktopics.datasets import load_stdlib
    from linktopics.model.estimator import RelationalTopicModel
    from linktopics.utils import terminal

    if save_svg is not None and not save_svg.parent.is_dir():
        raise LinktopicsError(f"there is no folder {str(save_svg.parent)!r} to save the picture in.")
    console = terminal.make_console()
    network = load_stdlib()
    if not network.vectorize([text]).sum():
        raise DataError(f"the text {text!r} has no word of the standard library; describe what the module does.")
    verbose = console.is_terminal and sys.stderr.isatty()
    model = RelationalTopicModel(
        topics, n_burn_in=burn_in, n_chains=chains, random_state=seed, n_jobs=-1, verbose=verbose, **SETTINGS
    )
    opening = demo_report.describe_plan(network, model)
    console.print(opening)
    fit_started = time.perf_counter()
    with ignore_mixing_warnings():  # two short chains need not agree for a demonstration
        model.fit(network)
    seconds = time.perf_counter() - fit_started
    report = demo_report.describe_fit(model, text, console.width)
    report.append(demo_report.describe_time(seconds, time.perf_counter() - started))
    console.print(*report, sep="\n")
    if save_svg is not None:
        terminal.save_svg([opening, *report], save_svg, "linktopics demo")
