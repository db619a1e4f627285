"""Extreme but legal settings on extreme networks, with every kind of model: all must be finite and sound.

    python benchmarks/extremes.py                 all of it: some 13,000 models, an hour or two
    python benchmarks/extremes.py --share 0.05    every twentieth
    python benchmarks/extremes.py --only hub

Networks and settings are those of tests/support/extreme_worlds.py: identical, empty and one-word documents, complete
graphs, hubs, a million tokens; alpha, beta, costs, margin and variance at their ends; both losses, full and diagonal
weights, exact and cached sampler, directed and not, with and without features, 1 and 3 shards, 3 and 9 topics, and 500.
After each sweep everything is counted again and compared, NumPy's warnings are errors, and so is an answer that is not
finite. A failure is printed with what reproduces it, and makes the exit code 1.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from common import finish, one_thread, options, table

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from linktopics.sampler.debug import debug_checks
from support.extreme_worlds import KINDS, NETWORKS, SETTINGS, fit_and_check, network

COLUMNS = {
    "network": ("network", "{}"),
    "models": ("models", "{:,}"),
    "failed": ("failed", "{:,}"),
    "seconds": ("s", "{:,.0f}"),
}
MANY_TOPICS_EVERY = 16
"""With 500 topics, and with a document of a million tokens, only every so many-th kind of model is tried."""


def cases(name: str) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Return the settings and kinds of models to try on a network, with names."""
    found = []
    for number, (setting, chosen) in enumerate(SETTINGS.items()):
        slow = setting == "many topics" or name == "a million tokens"
        for place, kind in enumerate(KINDS):
            if not slow or (place + number) % MANY_TOPICS_EVERY == 0:
                found.append((setting, {"n_topics": (3, 9)[(place + number) % 2], **chosen}, kind))
    return found


def main() -> None:
    """Try all cases and tell which failed."""
    arguments = options(
        __doc__,
        ("--only", {"choices": NETWORKS, "help": "this network alone"}),
        ("--share", {"type": float, "default": 1.0, "metavar": "NUMBER", "help": "share of all cases to try"}),
        ("--documents", {"type": int, "default": 30, "metavar": "NUMBER", "help": "documents of a network"}),
    )
    share = min(arguments.share, 0.002) if arguments.quick else arguments.share
    every = max(1, round(1 / share))
    rows, count = [], 0
    with one_thread(), debug_checks():
        for name in [arguments.only] if arguments.only else NETWORKS:
            began, row = time.perf_counter(), {"network": name, "models": 0, "failed": 0}
            for setting, chosen, kind in cases(name):
                count += 1
                if count % every:
                    continue
                row["models"] += 1
                try:
                    fit_and_check(network(name, kind["directed"], arguments.documents), chosen, kind)
                except Exception as error:
                    row["failed"] += 1
                    print(f"{name}, {setting}, {chosen | kind}: {type(error).__name__}: {error}", file=sys.stderr)
            rows.append(row | {"seconds": time.perf_counter() - began})
    found = table("Models at the limits", COLUMNS, rows)
    finish("Extremes", "Extreme settings on extreme networks.", [found], arguments)
    if any(row["failed"] for row in rows):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
