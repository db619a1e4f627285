"""Runs on disk: written as a whole at first, and then chain by chain while they are in progress."""

from __future__ import annotations

import dataclasses
import json
import platform
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linktopics import __version__
from linktopics.errors import ModelError
from linktopics.model.run import TrainingRun
from linktopics.sampler.runner import Chain, PosteriorSample
from linktopics.storage.folder import ModelFolder
from linktopics.storage.network_codec import describe_network, network_arrays
from linktopics.storage.parameters import parameters_to_json, vectorizer_to_json

VERSIONED_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "polyagamma")

STATE_ARRAYS = ("assignments", "weights", "feature_weights", "augmented", "streams")

SAMPLE_ARRAYS = ("word_topic", "doc_topic", "weights", "feature_weights", "alpha")

SAMPLES_PER_FILE = 1000
"""The header of a file names every array; with more samples it would exceed the size that can be read."""


class RunWriter:
    """Writes a run to a folder; safe to call from several threads.

    Until the run is finished the folder holds the last two states of every chain, in case the last one is damaged.

    Parameters
    ----------
    folder : ModelFolder
        The folder, whose lock is held.
    kind : str
        Name of the estimator.
    parameters : dict
        Its parameters.
    run : TrainingRun
        The run. All of it is written at once, and chains again by `save_chain`.
    framed : bool
        Whether the model was fitted to a data frame, whose columns are the words.
    """

    def __init__(
        self, folder: ModelFolder, kind: str, parameters: dict[str, Any], run: TrainingRun, *, framed: bool
    ) -> None:
        self.folder, self.run = folder, run
        self._lock = threading.Lock()
        self._kind, self._framed, self._parameters = kind, framed, parameters
        self._written: dict[int, _WrittenChain] = {}
        self._write_all()

    def save_chain(self, chain: Chain) -> None:
        """Write the state of a chain and its new samples; if that fails, the previous checkpoint stays."""
        self.save_chains([chain], done=[])

    def save_chains(self, outdated: Iterable[Chain], done: Iterable[Chain]) -> None:
        """Write chains whose last state is not on disk; the whole run, if the folder was removed and no chain runs."""
        with self._lock:
            if self.folder.is_intact():
                written = {**self._written}
                with self._checkpoint(written):
                    for chain in outdated:
                        self._write(chain, written)
            elif {chain.number for chain in done} == {chain.number for chain in self.run.chains}:
                self.folder.recreate()
                self._write_all()
            else:
                raise ModelError(f"{self.folder.path}: the folder, or some of its files, is missing.")

    def status(self) -> str:
        """Return a clause that says which sweeps the folder holds."""
        with self._lock:
            try:
                whole = self.folder.is_intact()
            except ModelError:
                whole = False
            done = ", ".join(f"{one.entry['iteration']:,}" for _, one in sorted(self._written.items()))
        has = f"sweep {done} of {self.run.schedule.length:,}" if whole else "no checkpoint of this run"
        return f"{self.folder.path} has {has}"

    def _write_all(self) -> None:
        run = self.run
        written: dict[int, _WrittenChain] = {}
        with self._checkpoint(written):
            parameters, arrays = parameters_to_json(self._parameters)
            self._fixed = {
                "network": self.folder.write("network", network_arrays(run.network)),
                "training": self.folder.write("training", {**_training_arrays(run), **arrays}),
            }
            self._description = self._describe(parameters)
            for chain in run.chains:
                self._write(chain, written)
                if not run.finished:
                    self._write(chain, written)

    def _describe(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return the part of the manifest that stays the same for the whole run."""
        run = self.run
        return {
            "kind": self._kind,
            "framed": self._framed,
            "parameters": parameters,
            "settings": dataclasses.asdict(run.settings),
            "schedule": dataclasses.asdict(run.schedule),
            "network": json.loads(json.dumps(describe_network(run.network), default=str)),
            "vectorizer": vectorizer_to_json(run.network.vectorizer),
            "features": run.features.to_json(),
            "entropy": [str(part) for part in run.entropy],
            "inference_seed": run.inference_seed,
            "n_pairs": run.n_pairs,
            "reference_chain": run.reference_chain,
            "quantities": run.quantities,
            "versions": {
                "linktopics": __version__,
                "python": platform.python_version(),
                **{name: version(name) for name in VERSIONED_PACKAGES},
            },
        }

    @contextmanager
    def _checkpoint(self, written: dict[int, _WrittenChain]) -> Iterator[None]:
        """Return a context that commits the chains that are written in it; if that fails, their files are removed.

        The previous checkpoint stays as well, unless the run is finished, and older files are removed.
        """
        try:
            yield
            saved = datetime.now(timezone.utc).isoformat(timespec="seconds")
            chains = [chain for _, chain in sorted(written.items())]
            self.folder.commit(*self._manifest(saved, [chain.entry for chain in chains]))
            self._written = written
        except (Exception, KeyboardInterrupt):
            self.folder.rollback()
            raise
        length = self.run.schedule.length
        if self.run.calibration is not None and all(chain.entry["iteration"] >= length for chain in chains):
            self.folder.prune()
        else:
            self.folder.prune(*self._manifest(saved, [chain.previous for chain in chains]))

    def _write(self, chain: Chain, written: dict[int, _WrittenChain]) -> None:
        number, state = chain.number, chain.state
        last = written.get(number)
        kept, files = (last.samples, last.entry["samples"]) if last else ([], [])
        if [*map(id, kept)] != [*map(id, chain.samples[: len(kept)])]:  # they were dropped for more burn-in
            kept, files = [], []
        new = chain.samples[len(kept) :]
        for first in range(0, len(new), SAMPLES_PER_FILE):
            arrays = _sample_arrays(new[first : first + SAMPLES_PER_FILE])
            files = [*files, self.folder.write(f"samples-{number}", arrays)]
        entry = {
            "number": number,
            "iteration": state.iteration,
            "log_joint": state.log_joint if np.isfinite(state.log_joint) else None,
            "log_links": state.log_links,
            "beta": state.priors.beta,
            "rng": [generator.bit_generator.state for generator in state.generators],
            "seconds": dict(chain.seconds),
            "state": self.folder.write(f"chain-{number}", _state_arrays(chain)),
            "samples": files,
        }
        written[number] = _WrittenChain(entry, last.entry if last else entry, [*kept, *new])

    def _manifest(self, saved: str, chains: list[dict[str, Any]]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Return a manifest of chains, and the files that it names."""
        files = [*self._fixed.values()]
        for entry in chains:
            files += [entry["state"], *entry["samples"]]
        fixed = {f"{name}_file": entry["file"] for name, entry in self._fixed.items()}
        calibration = None if self.run.calibration is None else self.run.calibration.to_json()
        return {**self._description, "saved": saved, **fixed, "calibration": calibration, "chains": chains}, files


class _WrittenChain(NamedTuple):
    """What is in the folder of a chain: the entries of its last two states, and the samples that were written."""

    entry: dict[str, Any]
    previous: dict[str, Any]
    samples: list[PosteriorSample]


def _training_arrays(run: TrainingRun) -> dict[str, NDArray]:
    corpus = run.load_corpus()
    arrays = {
        "source": corpus.source,
        "target": corpus.target,
        "label": corpus.label,
        "features": corpus.features.T,  # stored in column-major order
        "seeds/word": corpus.seeds.word,
        "seeds/topic": corpus.seeds.topic,
        "seeds/amount": corpus.seeds.amount,
    }
    for feature in run.features.features:
        for name, array in feature.arrays().items():
            arrays[f"fitted {feature.name}/{name}"] = array
    return arrays


def _sample_arrays(samples: list[PosteriorSample]) -> dict[str, NDArray]:
    arrays = {f"{i}/{name}": getattr(sample, name) for i, sample in enumerate(samples) for name in SAMPLE_ARRAYS}
    return {**arrays, "log_joint": np.array([sample.log_joint for sample in samples])}


def _state_arrays(chain: Chain) -> dict[str, NDArray]:
    state = chain.state
    arrays = {name: getattr(state, name) for name in STATE_ARRAYS}
    return {**arrays, "alpha": state.priors.alpha, "trace": chain.trace}
