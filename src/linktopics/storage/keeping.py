"""Runs on disk: written whole or chain by chain while they are on their way, and read back."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linktopics import __version__
from linktopics._checks import user_stacklevel
from linktopics.calibration import LinkCalibration
from linktopics.errors import CheckpointWarning, DataError, LinktopicsError, ModelError
from linktopics.features import FeatureSet, FittedFeature, resolve_features, together
from linktopics.network import DocumentNetwork
from linktopics.pairs import TrainingPairs
from linktopics.posterior import Chain, Plan, PosteriorSample
from linktopics.run import Run
from linktopics.sampler import Corpus, Priors, Seeds, Settings, State, count_topics
from linktopics.storage.checking import check_manifest, check_run, check_training, shown
from linktopics.storage.columns import describe_network, network_arrays, restore_network, unpack
from linktopics.storage.folder import MANIFEST, PREVIOUS, ModelFolder, said
from linktopics.storage.parameters import (
    Functions,
    parameters_to_json,
    restore_parameters,
    restore_vectorizer,
    vectorizer_to_json,
)

__all__ = ["Keeper", "is_finished", "load_run"]

VERSIONS = ("numpy", "scipy", "scikit-learn", "numba", "polyagamma")

STATE_ARRAYS = ("assignments", "weights", "feature_weights", "augmented", "streams")

UNFIT = (KeyError, TypeError, IndexError, ValueError, AttributeError, ArithmeticError, RecursionError)
"""What goes wrong where the parts of a model were not made for each other."""

SAMPLES_PER_FILE = 1000
"""Of more the header, which names every array, would grow beyond what is read again."""

RETRIES = 10
"""How often a model is read again that somebody replaced while it was read."""

SAMPLE_ARRAYS = ("word_topic", "doc_topic", "weights", "feature_weights", "alpha")


class Keeper:
    """Keeps a run in a folder; safe to call from several threads.

    Until the run is finished every chain has two states there, so that the one before can be gone back to.

    Parameters
    ----------
    folder : ModelFolder
        The folder, held.
    kind : str
        Name of the estimator.
    parameters : dict
        Its parameters.
    run : Run
        What to keep. All of it is written at once, and chains again by `keep`.
    framed : bool
        Whether the model was fitted to a data frame, whose columns are the words.
    """

    def __init__(
        self, folder: ModelFolder, kind: str, parameters: dict[str, Any], run: Run, *, framed: bool = False
    ) -> None:
        self.folder, self.run = folder, run
        self._lock = threading.Lock()
        self._kind, self._framed, self._parameters = kind, framed, parameters
        self._now = _Kept()
        self._write_all()

    def keep(self, chain: Chain) -> None:
        """Write the state of a chain and the samples that are new; if that fails, what was kept before stays."""
        with self._lock:
            if not self.folder.is_whole():
                raise self._gone()
            self._write_some([chain])

    def keep_all(self, behind: Iterable[Chain], resting: Iterable[Chain]) -> None:
        """Write chains that are behind; or, if the folder was removed and all chains are resting, all anew."""
        with self._lock:
            if self.folder.is_whole():
                self._write_some(behind)
            elif {chain.number for chain in resting} == {chain.number for chain in self.run.chains}:
                self.folder.make_again()
                self._write_all()
            else:
                raise self._gone()

    def kept(self) -> str:
        """Return what the folder has, in words."""
        with self._lock:
            try:
                whole = self.folder.is_whole()
            except ModelError:
                whole = False
            done = ", ".join(f"{entry['iteration']:,}" for _, entry in sorted(self._now.chains.items()))
        has = f"sweep {done} of {self.run.plan.length:,}" if whole else "no checkpoint of the run now"
        return f"{self.folder.path} has {has}"

    def _gone(self) -> ModelError:
        return ModelError(f"{self.folder.path}: the folder, or some of its files, is not there any more.")

    def _write_some(self, chains: Iterable[Chain]) -> None:
        now = self._now.copy()
        with self._changing():
            for chain in chains:
                self._write(chain, now)
            self._commit(now)
        self._tidy()

    def _write_all(self) -> None:
        run, now = self.run, _Kept()
        with self._changing():
            written, arrays = parameters_to_json(self._parameters)
            now.fixed["network"] = self.folder.write("network", network_arrays(run.network))
            now.fixed["training"] = self.folder.write("training", {**_training_arrays(run), **arrays})
            self._manifest = self._described(written)
            for chain in run.chains:
                self._write(chain, now)
                if not run.finished:
                    self._write(chain, now)
            self._commit(now)
        self._tidy()

    def _described(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return what of the manifest stays the same for the whole run."""
        run = self.run
        return {
            "kind": self._kind,
            "framed": self._framed,
            "parameters": parameters,
            "settings": dataclasses.asdict(run.settings),
            "plan": dataclasses.asdict(run.plan),
            "network": json.loads(json.dumps(describe_network(run.network), default=str)),
            "vectorizer": vectorizer_to_json(run.network.vectorizer),
            "features": run.features.to_json(),
            "entropy": [str(part) for part in run.entropy],
            "inference_seed": run.inference_seed,
            "n_pairs": run.n_pairs,
            "described": run.described,
            "quantities": run.quantities,
            "versions": _versions(),
        }

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Remove the files that were written if the change does not come to its end."""
        try:
            yield
        except (Exception, KeyboardInterrupt):
            self.folder.undo()
            raise

    def _write(self, chain: Chain, now: _Kept) -> None:
        number, state = chain.number, chain.state
        kept, files = now.samples.get(number, ([], []))
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
            "beta": None if state.priors is None else state.priors.beta,
            "rng": [generator.bit_generator.state for generator in state.generators],
            "seconds": dict(chain.seconds),
            "state": self.folder.write(f"chain-{number}", _state_arrays(chain)),
            "samples": files,
        }
        now.before[number] = now.chains.get(number, entry)
        now.chains[number], now.samples[number] = entry, ([*kept, *new], files)

    def _commit(self, now: _Kept) -> None:
        """Make what was written the current checkpoint, and the one before what can be gone back to."""
        now.saved = datetime.now(timezone.utc).isoformat(timespec="seconds")
        self.folder.commit(*self._manifest_of(now, now.chains))
        self._now = now

    def _tidy(self) -> None:
        """Keep what can be gone back to, and remove what is older; a finished model needs neither."""
        now, length = self._now, self.run.plan.length
        if self.run.calibration is not None and all(entry["iteration"] >= length for entry in now.chains.values()):
            self.folder.tidy()
        else:
            self.folder.tidy(*self._manifest_of(now, now.before))

    def _manifest_of(
        self, now: _Kept, chains: dict[int, dict[str, Any]]
    ) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Return a manifest of chains, and the files that it names."""
        entries = [entry for _, entry in sorted(chains.items())]
        files = [*now.fixed.values()]
        for entry in entries:
            files += [entry["state"], *entry["samples"]]
        fixed = {f"{name}_file": entry["file"] for name, entry in now.fixed.items()}
        calibration = None if self.run.calibration is None else self.run.calibration.to_json()
        return {**self._manifest, "saved": now.saved, **fixed, "calibration": calibration, "chains": entries}, files


@dataclasses.dataclass
class _Kept:
    """What is in the folder: entries of files by their name, of chains by number.

    Attributes
    ----------
    fixed : dict
        Files that stay the same for the whole run.
    chains, before : dict
        The last state of each chain, and the one before.
    samples : dict
        The samples of each chain that were written, and their files.
    saved : str
        When.
    """

    fixed: dict[str, dict[str, Any]] = dataclasses.field(default_factory=dict)
    chains: dict[int, dict[str, Any]] = dataclasses.field(default_factory=dict)
    before: dict[int, dict[str, Any]] = dataclasses.field(default_factory=dict)
    samples: dict[int, tuple[list[PosteriorSample], list[dict[str, Any]]]] = dataclasses.field(default_factory=dict)
    saved: str = ""

    def copy(self) -> _Kept:
        return _Kept(self.fixed, {**self.chains}, {**self.before}, {**self.samples})


def _training_arrays(run: Run) -> dict[str, NDArray]:
    corpus = run.awake()
    arrays = {
        "source": corpus.source,
        "target": corpus.target,
        "label": corpus.label,
        "features": corpus.features.T,  # which lie by columns in memory
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
    if state.priors is not None:
        arrays["alpha"] = state.priors.alpha
    return {**arrays, "trace": chain.trace}


def _versions() -> dict[str, str]:
    return {
        "linktopics": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in VERSIONS},
    }


# --------------------------------------------------------------------------------------------------------------------
# Reading
# --------------------------------------------------------------------------------------------------------------------


def load_run(
    path: str | os.PathLike[str],
    kind: str,
    *,
    vectorizer: Any,
    functions: Functions | None,
    verify: bool,
    unfinished: bool = False,
) -> tuple[dict[str, Any], Run, bool]:
    """Return the parameters of a model and its run; what only going on needs stays on disk until then.

    If somebody saves another model over it meanwhile, that one is read. What was read stays as it is: arrays are mapped
    at once, and a mapped file stays there until it is let go, whoever removes its name.

    Where a run may be `unfinished`, to go on with it, all files are compared with their checksums, and if the last
    checkpoint is damaged the one before is taken, with a warning.
    """
    folder = ModelFolder(path)
    arguments = (folder, kind, vectorizer, functions, verify or unfinished)
    try:
        return _load_current(*arguments)
    except ModelError as error:
        if not unfinished or not folder.has_previous:
            raise
        damage = error
    told = str(damage).rpartition(";")[0] or str(damage)
    try:
        found = _load(PREVIOUS, *arguments)
    except ModelError as error:
        if str(error) == str(damage):  # a model of another kind or of a later version
            raise
        other = str(error).rpartition(";")[0] or str(error)
        raise ModelError(
            f"{told}, and so is the checkpoint before it ({other}); take the model from a copy, or fit it again."
        ) from None
    run = found[1]
    done = ", ".join(f"{chain.state.iteration:,}" for chain in run.chains)
    warnings.warn(
        f"{told}; going on from the checkpoint before it, sweep {done} of {run.plan.length:,}, to the same result.",
        CheckpointWarning,
        stacklevel=user_stacklevel(),
    )
    return found


def _load_current(folder: ModelFolder, *arguments: Any) -> tuple[dict[str, Any], Run, bool]:
    """Read the model that is in the folder now; if it was replaced while it was read, the one after it."""
    for _ in range(1 + RETRIES):
        try:
            return _load(MANIFEST, folder, *arguments)
        except ModelError:  # noqa: PERF203
            if not folder.is_replaced():
                raise
    raise ModelError(
        f"{folder.path}: models are saved in this folder faster than they can be read; wait until that is done, and "
        "load again."
    )


def _load(
    name: str, folder: ModelFolder, kind: str, vectorizer: Any, functions: Functions | None, everything: bool
) -> tuple[dict[str, Any], Run, bool]:
    manifest = folder.manifest(name)
    folder.check(manifest, everything=everything)
    if manifest.get("kind") != kind:
        other = shown(manifest.get("kind")).strip("'")
        raise ModelError(f"{folder.path}: the model is a {other}, not a {kind}.")
    check_manifest(folder.path / name, manifest)
    entries = {entry["file"]: entry for entry in manifest["files"]}
    try:
        training = folder.read(entries[manifest["training_file"]])
        arrays = folder.read(entries[manifest["network_file"]])
        network = _network(arrays, manifest, vectorizer)
        parameters = restore_parameters(manifest["parameters"], training, functions)
        chains = [_chain(folder, entry, entries) for entry in manifest["chains"]]
        settings = Settings(**manifest["settings"])
        columns = manifest["features"]["columns"]
        restore = _Restore(parameters, settings, network, training, columns, folder)
        run = Run(
            network=network,
            settings=settings,
            plan=Plan(**manifest["plan"]),
            features=FeatureSet.from_json(manifest["features"], restore),
            chains=chains,
            entropy=[int(part) for part in manifest["entropy"]],
            inference_seed=manifest["inference_seed"],
            n_pairs=manifest["n_pairs"],
            quantities=manifest["quantities"],
            described=manifest["described"],
            waken=_Waken(training, folder),
            checksum=folder.checksum,
        )
        run.calibration = _calibration(run, manifest)
        check_run(run, training)
    except DataError as error:
        raise ModelError(f"{folder.path}: the model is damaged ({said(error).rstrip('.')}).") from None
    except LinktopicsError:
        raise
    except UNFIT as error:
        raise _unfit(folder, error) from None
    return parameters, run, bool(manifest.get("framed"))


def is_finished(manifest: dict[str, Any]) -> bool:
    """Tell whether the run of a manifest is finished; models of before there was calibration need none."""
    length, calibration = Plan(**manifest["plan"]).length, manifest.get("calibration", {})
    return calibration is not None and all(chain["iteration"] >= length for chain in manifest["chains"])


def _calibration(run: Run, manifest: dict[str, Any]) -> LinkCalibration | None:
    """Return what calibrates probabilities; a model of before there was such a thing is corrected for sampling."""
    if manifest.get("calibration") is not None:
        return LinkCalibration.from_json(manifest["calibration"])
    return LinkCalibration(run.sampling_offset) if run.sampled and "calibration" not in manifest else None


def _unfit(folder: ModelFolder, error: Exception) -> ModelError:
    return ModelError(
        f"{folder.path}: the model is damaged (model.json and the arrays do not fit each other: {repr(error)[:300]}); "
        "take it from a copy, or fit and save it again."
    )


def _network(arrays: dict[str, NDArray], manifest: dict[str, Any], vectorizer: Any) -> DocumentNetwork:
    if vectorizer is None:
        vectorizer = restore_vectorizer(manifest["vectorizer"], unpack(arrays, "vocabulary"))
    return restore_network(arrays, manifest["network"], vectorizer)


@dataclasses.dataclass
class _Restore:
    """Makes the features of a model again when they are first needed."""

    parameters: dict[str, Any]
    settings: Settings
    network: DocumentNetwork
    training: dict[str, NDArray]
    columns: list[str]
    folder: ModelFolder

    def __call__(self) -> list[FittedFeature]:
        fitted = []
        try:
            for feature in resolve_features(self.parameters["pair_features"], self.parameters["intercept"]):
                start = f"fitted {feature.name}/"
                own = {
                    name.removeprefix(start): values for name, values in self.training.items() if name.startswith(start)
                }
                fitted.append(feature.restore(self.network, self.settings, own))
            fitted = together(fitted)
            if [column for feature in fitted for column in feature.columns] != self.columns:
                raise ValueError("the features are others than those of the weights")
        except LinktopicsError:
            raise
        except UNFIT as error:
            raise _unfit(self.folder, error) from None
        return fitted


def _chain(folder: ModelFolder, entry: dict[str, Any], entries: dict[str, dict[str, Any]]) -> Chain:
    arrays = folder.read(entries[entry["state"]["file"]])
    nothing = np.empty((0, 0), np.float32)
    generators = [_generator(one) for one in np.atleast_1d(np.asarray(entry["rng"], dtype=object)).tolist()]
    state = State(
        iteration=entry["iteration"],
        assignments=arrays["assignments"],
        doc_topic=nothing,
        word_topic=nothing,
        topic_total=np.empty(0, np.int64),
        weights=arrays["weights"],
        feature_weights=arrays["feature_weights"],
        augmented=arrays["augmented"],
        generators=generators,
        streams=arrays["streams"] if "streams" in arrays else arrays["stream"][None],  # one, before there were shards
        log_joint=np.nan if entry["log_joint"] is None else entry["log_joint"],
        log_links=entry["log_links"],
        priors=Priors(arrays["alpha"], entry["beta"]) if "alpha" in arrays else None,
    )
    files = [entries[one["file"]] for one in entry["samples"]]
    samples = [sample for file in files for sample in _samples(folder, entry["number"], file)]
    return Chain(entry["number"], state, arrays["trace"], samples, entry["seconds"])


def _generator(state: dict[str, Any]) -> np.random.Generator:
    generator = np.random.default_rng(0)
    generator.bit_generator.state = state
    return generator


def _samples(folder: ModelFolder, chain: int, entry: dict[str, Any]) -> list[PosteriorSample]:
    """Return samples whose large arrays are mapped.

    Small ones are copied. In a file an array may begin at any multiple of 8 bytes, and in memory at multiples of 16,
    which makes a difference in the last digit to BLAS on some processors.
    """
    arrays = {
        name: array if array.dtype == np.float32 else np.array(array) for name, array in folder.read(entry).items()
    }
    return [
        PosteriorSample(chain, float(log_joint), *(arrays[f"{i}/{name}"] for name in SAMPLE_ARRAYS))
        for i, log_joint in enumerate(arrays["log_joint"])
    ]


@dataclasses.dataclass
class _Waken:
    """Completes a run that was read from disk, so that it can go on."""

    training: dict[str, NDArray]
    folder: ModelFolder

    def __call__(self, run: Run) -> None:
        arrays = self.training
        try:
            check_training(run, arrays)
        except ValueError as error:
            raise _unfit(self.folder, error) from None
        pairs = TrainingPairs(arrays["source"], arrays["target"], arrays["label"], run.network.n_documents)
        seeds = Seeds(arrays["seeds/word"], arrays["seeds/topic"], arrays["seeds/amount"])
        features = np.array(arrays["features"]).T  # see `_samples`
        run.corpus = Corpus.build(run.network.counts, pairs, not run.network.directed, features, seeds)
        for chain in run.chains:
            state = chain.state
            for name in STATE_ARRAYS:
                setattr(state, name, np.array(getattr(state, name)))  # a copy that can be written to
            counts = count_topics(run.corpus, state.assignments, run.settings.n_topics)
            state.doc_topic, state.word_topic, state.topic_total = counts
