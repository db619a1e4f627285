"""Simulation-based calibration: whether the draws of a fit are draws from the posterior.

    python benchmarks/sbc.py --networks 200 --json studies/calibration/sbc.json
    python benchmarks/sbc.py --worlds directed --sampler cached --json studies/calibration/sbc-cached.json
    python benchmarks/sbc.py --worlds directed --shards 3 --json studies/calibration/sbc-shards.json

Small networks are simulated from the prior of the model, with the logistic loss and both costs 1, and each is fitted by
`RelationalTopicModel`; if all is right, the truth has a uniform rank among the draws, whatever quantity is ranked
(tests/support/simulated.py says why). "cached" and several shards are approximations that users may choose, and
--broken shows what errors of the sampler would be seen. Each network that is done is kept beside the results until all
are: after an interrupt, the same command continues. `python -m studies.pages` makes the page and the figures.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from common import Row, finish, options, table

TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path.insert(0, str(TESTS))  # where the simulation is, for a small version is a test

from linktopics import __version__  # noqa: E402
from linktopics.diagnostics import effective_sample_size  # noqa: E402
from linktopics.sampler import losses, weights  # noqa: E402
from linktopics.utils.progress import ProgressBar  # noqa: E402
from support.ranks import BINS, band, rank, uniformity  # noqa: E402
from support.simulated import WORLDS, fit, quantities, simulate  # noqa: E402

COLUMNS = {
    "world": ("networks", "{}"),
    "quantity": ("quantity", "{}"),
    "mean": ("mean rank, 0.5", "{:.3f}"),
    "spread": ("spread, 1", "{:.2f}"),
    "chi_square": ("p, chi-square", "{:.3f}"),
    "ecdf": ("p, distribution", "{:.4f}"),
    "within": ("within the 95 % band", "{}"),
    "ess": ("effective draws, median", "{:.0f}"),
    "ess_low": ("5 % quantile", "{:.0f}"),
}
BROKEN = {
    "variance": "weights are drawn with twice the prior variance",
    "polya-gamma": "augmented variables are drawn with a shape of 1.1",
    "linear": "links pull 10 % too hard: the linear term of the loss is 1.1 times what it should be",
}


def break_sampler(name: str) -> None:
    """Make an error in the sampler, of this process alone."""
    if name == "variance":
        begin = weights.WeightSampler.__init__

        def too_wide(self: Any, *args: Any, **others: Any) -> None:
            begin(self, *args, **others)
            self.variance *= 2

        weights.WeightSampler.__init__ = too_wide  # type: ignore[method-assign]
    elif name == "polya-gamma":
        losses.LogisticLoss.draw = lambda self, scores, rng: losses.draw_polya_gamma(1.1 * self.cost, scores, rng)
    elif name == "linear":
        losses.LogisticLoss.gaussian = lambda self, augmented: (1.1 * self.cost * (self.label - 0.5), augmented)


def ranks_of(world_name: str, number: int, how: dict[str, Any]) -> Row:
    """Simulate a network, fit it, and return the ranks of the truth, with the effective numbers of draws."""
    world = WORLDS[world_name]
    for_data, for_fit = np.random.SeedSequence([how["seed"], list(WORLDS).index(world_name), number]).spawn(2)
    rng = np.random.default_rng(for_data)
    drawn = simulate(world, rng)
    model = fit(
        world,
        drawn,
        int(for_fit.generate_state(1)[0]),
        how["start"],
        sampler=how["sampler"],
        n_shards=how["shards"],
        n_burn_in=how["burn_in"],
        n_samples=how["draws"],
        thin=how["thin"],
    )
    truth = quantities(world, drawn, drawn.truth)
    found = [quantities(world, drawn, sample) for sample in model.samples_]
    draws = {name: np.array([each[name] for each in found]) for name in truth}
    return {
        "world": world_name,
        "network": number,
        "ranks": {name: rank(truth[name], draws[name], rng) for name in truth},
        "ess": {name: round(effective_sample_size(draws[name]), 1) for name in truth},
    }


def begin_worker(broken: str | None) -> None:
    """Leave interrupts to the main process, and break the sampler if this is asked for."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if broken:
        break_sampler(broken)


def all_ranks(worlds: list[str], n: int, how: dict[str, Any], jobs: int, kept: Path | None) -> list[Row]:
    """Return the ranks of n networks of each world; what a file has of them is not done again."""
    wanted = [(world, number) for number in range(n) for world in worlds]
    settings = {name: {**how, "version": __version__, "sizes": repr(WORLDS[name])} for name in worlds}
    done = {(row["world"], row["network"]): row for row in _kept_rows(kept, settings)}
    left = [task for task in wanted if task not in done]
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), begin_worker, (how["broken"],))
    with pool, ProgressBar(len(left), "auto", "fitting networks") as progress:
        try:
            for future in as_completed([pool.submit(ranks_of, *task, how) for task in left]):
                row = future.result()
                done[row["world"], row["network"]] = row
                if kept:
                    with kept.open("a", encoding="utf-8") as file:
                        file.write(json.dumps({**row, "settings": settings[row["world"]]}) + "\n")
                progress.advance(f"{row['world']}, {row['network']}")
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            where = f"; the same command continues with them, from {kept}" if kept else ""
            raise SystemExit(f"interrupted: {len(done)} of {len(wanted)} networks are done{where}.") from None
    return [done[task] for task in wanted]


def _kept_rows(kept: Path | None, settings: dict[str, dict[str, Any]]) -> Iterator[Row]:
    """Read what an earlier run with the same settings has done; a last line that was cut short is left out."""
    for line in kept.read_text(encoding="utf-8").splitlines() if kept and kept.exists() else ():
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        if row.pop("settings") == settings.get(row["world"]):
            yield row


def verdicts(found: list[Row], n_draws: int) -> list[Row]:
    """Return a row for each world and quantity."""
    rows = []
    for world in dict.fromkeys(row["world"] for row in found):
        its = [row for row in found if row["world"] == world]
        for name in its[0]["ranks"]:
            tested = uniformity([row["ranks"][name] for row in its], n_draws)
            ess = [row["ess"][name] for row in its]
            rows.append(
                {
                    "world": world,
                    "quantity": name,
                    **vars(tested),
                    "within": "yes" if tested.ecdf > 0.05 else "no",
                    "ess": float(np.median(ess)),
                    "ess_low": float(np.quantile(ess, 0.05)),
                }
            )
    return rows


def read_options() -> argparse.Namespace:
    """Return the options."""
    say = "by default %(default)s"
    errors = "; ".join(map(": ".join, BROKEN.items())).replace("%", "%%")
    return options(
        __doc__,
        ("--networks", {"type": int, "default": 200, "help": f"networks of each kind; {say}"}),
        ("--worlds", {"nargs": "+", "choices": WORLDS, "default": list(WORLDS), "help": "kinds of networks"}),
        ("--sampler", {"choices": ("exact", "cached"), "default": "exact", "help": say}),
        ("--shards", {"type": int, "default": 1, "help": f"shards of a chain; {say}"}),
        ("--start", {"choices": ("usual", "truth"), "default": "usual", "help": f"where chains start; {say}"}),
        ("--broken", {"choices": BROKEN, "help": f"an error to make: {errors}"}),
        ("--burn-in", {"type": int, "default": 200, "help": f"sweeps before the first draw; {say}"}),
        ("--draws", {"type": int, "choices": (31, 63, 127), "default": 63, "help": f"draws of each network; {say}"}),
        ("--thin", {"type": int, "default": 8, "help": f"sweeps from draw to draw; {say}"}),
        ("--seed", {"type": int, "default": 2026, "help": f"another one gives other networks; {say}"}),
        ("--jobs", {"type": int, "default": 2, "help": f"processes; {say}"}),
    )


def main() -> None:
    """Run the calibration."""
    arguments = read_options()
    names = ("sampler", "shards", "start", "broken", "burn_in", "draws", "thin", "seed")
    how = {name: getattr(arguments, name) for name in names}
    n = arguments.networks
    if arguments.quick:
        n, how["burn_in"], how["thin"] = 8, 20, 2
    kept = arguments.json.with_suffix(".partial") if arguments.json else None
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
    found = all_ranks(arguments.worlds, n, how, arguments.jobs, kept)
    rows = verdicts(found, how["draws"])
    outside = sum(row["within"] == "no" for row in rows)
    smallest = min(rows, key=lambda row: row["ecdf"])
    together = min(1.0, smallest["ecdf"] * len(rows))
    note = (
        f"{outside} of {len(rows)} quantities leave the 95 % band; {0.05 * len(rows):.1f} are expected to. The "
        f"smallest p is that of {smallest['quantity']} ({smallest['world']}); times their number it is {together:.3g}."
    )
    made = table(f"Ranks of the truth among {how['draws']} draws, {n} networks of each kind", COLUMNS, rows, note)
    worlds = {name: vars(WORLDS[name]) for name in arguments.worlds}
    by_world = {
        world: {
            row["quantity"]: [each["ranks"][row["quantity"]] for each in found if each["world"] == world]
            for row in rows
            if row["world"] == world
        }
        for world in worlds
    }
    error = f" On purpose, {BROKEN[arguments.broken]}." if arguments.broken else ""
    about = (
        f"Chains start at {'the truth' if how['start'] == 'truth' else 'random topics'}, do {how['burn_in']} sweeps "
        f"and give {how['draws']} draws, {how['thin']} sweeps apart. "
        f"Sampler: {how['sampler']}; shards: {how['shards']}.{error}"
    )
    results = {
        "how": how,
        "networks": n,
        "n_draws": how["draws"],
        "n_bins": BINS,
        "band": [limit.tolist() for limit in band(n, how["draws"])],
        "worlds": worlds,
        "ranks": by_world,
        "together": together,
    }
    finish("Simulation-based calibration", about, [made], arguments, **results)
    if kept:
        kept.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
