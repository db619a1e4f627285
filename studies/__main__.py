"""Run an experiment of the studies: tables, figures and settings go to a folder.

An experiment that was interrupted continues where it stopped; one that is finished is only drawn again.
"""

from __future__ import annotations

import argparse
import signal
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from linktopics.errors import DataError, LinktopicsError
from studies.registry import EXPERIMENTS, reproduce

PROGRAM = "python -m studies"
USER_ERROR = 2
INTERRUPTED = 130


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence."""

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong with the arguments."""
        raise DataError(f"{message}.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    debug = False
    try:
        options = make_parser().parse_args(arguments)
        debug = options.debug
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: say(str(message))
            run(options)
    except (LinktopicsError, ValueError, OSError, MemoryError) as error:
        if debug:
            raise
        say(str(error) or "there is not enough memory.")
        return USER_ERROR
    except KeyboardInterrupt:
        say("interrupted.")
        return INTERRUPTED
    return 0


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the options."""
    parser = Parser(
        prog=PROGRAM,
        description=__doc__,
        epilog=f"Example: {PROGRAM} cora --topics 10,20 --folds 3",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("name", nargs="?", metavar="NAME", help="the experiment, or all; --list shows them")
    add("--list", action="store_true", help="show the experiments and exit")
    add("--quick", action="store_true", help="small data and few sweeps, in seconds")
    add("--output", type=Path, metavar="FOLDER", help="folder for the files (default: results/NAME or NAME-quick)")
    add("--folds", type=whole_number(2), help="folds over documents (default: 5, or 3 where a parameter is varied)")
    add("--topics", type=numbers, help="numbers of topics, as 5,10,15 (default: those of the paper)")
    add("--jobs", type=whole_number(1), default=-1, help="fits at the same time (default: one per core)")
    add("--seed", type=whole_number(0), default=0, help="the same seed gives the same result (default: 0)")
    add("--debug", action="store_true", help="show the traceback of an error")
    return parser


def run(options: argparse.Namespace) -> None:
    """Do what was asked for."""
    if options.list:
        for name, experiment in EXPERIMENTS.items():
            print(f"{name:<22} {experiment.about}")
        return
    if options.name is None:
        raise DataError(f"say which experiment: {', '.join(EXPERIMENTS)}, or all.")
    reproduce(
        options.name,
        quick=options.quick,
        output=options.output,
        folds=options.folds,
        topics=options.topics,
        n_jobs=options.jobs,
        seed=options.seed,
    )


class whole_number:  # noqa: N801, argparse names the type in its messages
    """Read a whole number that has a lower limit."""

    def __init__(self, least: int) -> None:
        self.least = least

    def __call__(self, text: str) -> int:
        """Return the number."""
        if not text.isdecimal() or int(text) < self.least:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {self.least} on")
        return int(text)


def numbers(text: str) -> list[int]:
    """Read whole numbers with commas between."""
    try:
        return [int(number) for number in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError("give whole numbers with commas between, as 5,10,15") from None


def say(sentence: str) -> None:
    """Write one line to standard error."""
    print(f"studies: {' '.join(sentence.split())}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what was begun is written down then, too
    sys.exit(main())
