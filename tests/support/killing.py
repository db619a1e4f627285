"""Kill runs at random moments, go on with them, and compare what they come to with runs that nobody disturbed.

    python tests/support/killing.py [--times 200] [--seed N] [--folder FOLDER]

Runs are ``linktopics fit`` and ``linktopics resume`` in processes of their own, forked from one that has all kernels
compiled and no threads. With a checkpoint after every sweep, most of their time is spent writing. Half of them are
killed from outside after a random time, the others kill themselves at a random step of writing: before or after a file
is made, half written, brought to the disk, renamed or removed. Those that go on may be killed again. In the end states,
traces and samples must be the same to the last bit, and the folder must hold nothing but the model.
"""

from __future__ import annotations

import argparse
import builtins
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import linktopics.cli.runs  # noqa: F401, so that processes need not import it
from linktopics import RelationalTopicModel
from linktopics.cli import main as command_line
from linktopics.datasets import open_network
from linktopics.storage import folder as folders
from support.command_line import write_network
from support.small_models import TEXTS, assert_same

KINDS = {
    "serial": ["--chains=1", "--jobs=1"],
    "chains in threads": ["--chains=3", "--jobs=2"],
    "shards in threads": ["--chains=1", "--shards=2", "--jobs=2"],
}
SHORT = ["--topics=3", "--burn-in=4", "--samples=4", "--thin=1", "--negatives=2", "--feature=degree", "--quiet"]
PACE = ["--checkpoint-every=1", "--quiet"]
AT_MOST = 3
"""Times that one run is killed."""


class Steps:
    """Counts the steps of writing, and kills the process at one of them."""

    def __init__(self, last: int | None) -> None:
        self.done, self.last, self.lock = 0, last, threading.Lock()

    def step(self) -> None:
        """Take one step, perhaps the last."""
        with self.lock:
            self.done += 1
            if self.done == self.last:
                os.kill(os.getpid(), signal.SIGKILL)

    def watch(self) -> None:
        """Make the functions that writing uses take steps."""
        for name in ("fsync", "replace", "unlink"):
            setattr(os, name, self.stepping(getattr(os, name)))
        folders.open = self.open

    def stepping(self, function):
        """Return a function with a step before it and one after."""

        def watched(*arguments):
            self.step()
            result = function(*arguments)
            self.step()
            return result

        return watched

    def open(self, path, mode):
        """Open a file that takes a step when half of what is written to it is there."""
        stream, steps = builtins.open(path, mode), self  # noqa: SIM115, whoever asked closes it
        if "r" in mode:
            return stream

        class Halved:
            def __enter__(self):
                return self

            def __exit__(self, *_):
                stream.close()

            def write(self, data):
                stream.write(data[: len(data) // 2])
                stream.flush()
                steps.step()
                stream.write(data[len(data) // 2 :])

            flush, fileno = stream.flush, stream.fileno

        return Halved()


def start(arguments: list[str], log: Path, last: int | None = None, count: Path | None = None) -> int:
    """Start a command in a process of its own, and return its number."""
    assert threading.active_count() == 1, "a fork would not have the other threads"
    process = os.fork()
    if process:
        return process
    code = 70
    try:
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)
        sys.argv = ["linktopics", *arguments]
        steps = Steps(last)
        steps.watch()
        try:
            command_line()
        except SystemExit as end:
            code = int(end.code or 0)
        if count is not None:
            count.write_text(str(steps.done))
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def ended(process: int) -> int:
    """Wait for a process; return its exit code, or the signal that killed it as a negative number."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def kept(folder: Path) -> RelationalTopicModel | None:
    """Return what a process left behind; a kill must not damage it, so it has to be whole as it is."""
    if not (folder / folders.MANIFEST).exists():
        assert not (folder / folders.PREVIOUS_MANIFEST).exists(), "the older checkpoint is there without the newer one"
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = RelationalTopicModel.load(folder, unfinished=True, verify=True)
    if (folder / folders.PREVIOUS_MANIFEST).exists():
        other = folders.ModelFolder(folder)
        other.check_files(other.read_manifest(folders.PREVIOUS_MANIFEST), everything=True)
    return model


def states(folder: Path) -> dict[str, object]:
    """Return all that chains hold, and that is not in the attributes of a model."""
    found = {}
    for chain in RelationalTopicModel.load(folder, verify=True)._run.chains:
        state = vars(chain.state)
        for name in ("iteration", "assignments", "weights", "feature_weights", "augmented", "streams", "log_joint"):
            found[f"{chain.number}: {name}"] = state[name]
        found[f"{chain.number}: random numbers"] = [one.bit_generator.state for one in chain.state.generators]
        found[f"{chain.number}: alpha"] = chain.state.priors.alpha
        found[f"{chain.number}: trace"] = chain.trace
    return found


def compare(folder: Path, whole: Path) -> None:
    """Raise AssertionError unless two folders hold the same model, and nothing else."""
    assert_same(RelationalTopicModel.load(folder, verify=True), RelationalTopicModel.load(whole))
    assert_same(states(folder), states(whole))
    named = [entry["file"] for entry in json.loads((folder / folders.MANIFEST).read_text())["files"]]
    assert sorted(os.listdir(folder)) == sorted([folders.MANIFEST, *named]), "files were left behind"


class Trial:
    """Runs of one kind, in a folder."""

    def __init__(self, base: Path, kind: str) -> None:
        self.base, self.kind = base, kind
        self.data, self.whole = base / "data", base / f"whole {kind}"
        self.log, count = base / "log.txt", base / "count"
        began = time.perf_counter()
        code = ended(start(self.fit(self.whole), self.log, count=count))
        assert code == 0, self.said()
        self.seconds, self.steps = time.perf_counter() - began, int(count.read_text())

    def fit(self, folder: Path) -> list[str]:
        """Return the command that fits a model."""
        return ["fit", str(self.data), "-o", str(folder), *SHORT, *KINDS[self.kind], *PACE]

    def said(self) -> str:
        """Return what processes printed last."""
        return self.log.read_text()[-500:]

    def kill(self, folder: Path, rng: random.Random) -> tuple[str, bool]:
        """Start or resume a run and kill it; return when, and whether it was still running."""
        command = self.fit(folder) if kept(folder) is None else ["resume", str(folder), *PACE]
        if rng.random() < 0.5:
            last = rng.randint(1, self.steps)
            code, moment = ended(start(command, self.log, last)), f"step {last:,} of writing"
        else:
            delay = rng.uniform(0, self.seconds)
            process = start(command, self.log)
            time.sleep(delay)
            os.kill(process, signal.SIGKILL)
            code, moment = ended(process), f"{delay:.3f} s"
        assert code in (0, -signal.SIGKILL), self.said()
        return f"{command[0]}, {moment}", code != 0

    def run(self, number: int, rng: random.Random) -> tuple[int, str]:
        """Kill a run, perhaps several times, let it come to its end, and compare; return how often, and when."""
        folder, told = self.base / f"model {number}", []
        for _ in range(rng.randint(1, AT_MOST)):
            moment, running = self.kill(folder, rng)
            told += [moment] if running else []
            model = kept(folder)
            if model is not None and model._run.finished:
                break
        finished = model is not None and model._run.finished  # perhaps not tidied up, which resume does all the same
        command = self.fit(folder) if model is None else ["resume", str(folder), "--quiet"]
        assert ended(start(command, self.log)) == (2 if finished else 0), self.said()
        compare(folder, self.whole)
        return len(told), "; ".join(told) or "too late"


def main() -> None:
    """Kill runs until so many were killed, of each kind in turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=20, metavar="N", help="kills in all")
    parser.add_argument("--seed", type=int, default=None, metavar="N", help="of the moments; by default any")
    parser.add_argument("--folder", type=Path, default=None, help="where to write, for instance on another file system")
    given = parser.parse_args()
    seed = random.SystemRandom().randrange(2**32) if given.seed is None else given.seed
    print(f"seed {seed}", flush=True)
    rng, killed, number = random.Random(seed), 0, 0
    with tempfile.TemporaryDirectory(dir=given.folder) as base:
        data = write_network(Path(base) / "data", {name: name for name in TEXTS}, str)
        for shards in (1, 2):  # which compiles
            RelationalTopicModel(
                3, negatives=2, pair_features=["degree"], n_burn_in=1, n_samples=1, n_chains=1, n_shards=shards
            ).fit(open_network(data))
        trials = [Trial(Path(base), kind) for kind in KINDS]
        for trial in trials:
            print(f"{trial.kind}: {trial.seconds:.2f} s and {trial.steps:,} steps of writing undisturbed", flush=True)
        while killed < given.times:
            trial = trials[number % len(trials)]
            try:
                times, moments = trial.run(number, rng)
            except AssertionError:
                print(f"run {number} ({trial.kind}) of seed {seed} came to another end", flush=True)
                raise
            killed, number = killed + times, number + 1
            print(f"{trial.kind}: {moments}", flush=True)
    print(f"killed {killed} times in {number} runs, and all models are the same")


if __name__ == "__main__":
    main()
