"""Runs read from disk; arrays that only resuming needs stay on disk until then."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from linktopics.errors import CheckpointWarning, DataError, LinktopicsError, ModelError
from linktopics.features import FeatureSet, FittedFeature, PairFeature, resolve_features, with_shared_caches
from linktopics.model.run import TrainingRun
from linktopics.network import DocumentNetwork
from linktopics.network.pairs import TrainingPairs
from linktopics.prediction.calibration import LinkCalibration
from linktopics.sampler import Corpus, Priors, Seeds, Settings, State, count_topics
from linktopics.sampler.runner import Chain, PosteriorSample, Schedule
from linktopics.storage.folder import MANIFEST, PREVIOUS_MANIFEST, ModelFolder
from linktopics.storage.manifest import ChainEntry, GeneratorEntry, Manifest, format_error, format_value
from linktopics.storage.network_codec import decode_column, restore_network
from linktopics.storage.parameters import Functions, restore_parameters, restore_vectorizer
from linktopics.storage.run_checks import check_run, check_training
from linktopics.storage.run_writer import SAMPLE_ARRAYS, STATE_ARRAYS
from linktopics.utils.user_warnings import warn_user

INCONSISTENCY_ERRORS = (KeyError, TypeError, IndexError, ValueError, AttributeError, ArithmeticError, RecursionError)
"""Errors that are raised if the files of a model are inconsistent."""

MAX_RELOADS = 10
"""How often a model is read again if it was replaced while it was read."""

Loaded = tuple[dict[str, Any], TrainingRun, bool]


def load_run(
    path: str | os.PathLike[str],
    kind: str,
    *,
    vectorizer: Any,
    functions: Functions | None,
    verify: bool,
    unfinished: bool,
) -> Loaded:
    """Return the parameters of a model, its run, and whether it was fitted to a data frame.

    If another model is saved in the folder in the meantime, it is read. What was read does not change: arrays are
    mapped at once, and a mapped file exists until it is unmapped, even if its name is removed.

    Where a run may be `unfinished`, to be resumed, all files are compared with their checksums, and if the last
    checkpoint is damaged the previous one is read, with a warning.
    """
    folder = ModelFolder(path)
    arguments = (folder, kind, vectorizer, functions, verify or unfinished)
    try:
        return _load_current(*arguments)
    except ModelError as error:
        if not unfinished or not folder.has_previous:
            raise
        damage = error
    damaged = str(damage).rpartition(";")[0] or str(damage)
    try:
        found = _load(PREVIOUS_MANIFEST, *arguments)
    except ModelError as error:
        if str(error) == str(damage):  # a model of another kind or of a later version
            raise
        other = str(error).rpartition(";")[0] or str(error)
        raise ModelError(
            f"{damaged}, and so is the previous checkpoint ({other}); restore the model from a copy, or fit it again."
        ) from None
    run = found[1]
    done = ", ".join(f"{chain.state.iteration:,}" for chain in run.chains)
    warn_user(
        f"{damaged}; the run continues from the previous checkpoint, sweep {done} of {run.schedule.length:,}, to the "
        "same result.",
        CheckpointWarning,
    )
    return found


def _load_current(folder: ModelFolder, *arguments: Any) -> Loaded:
    """Return the current model; if it is replaced while it is read, the new one."""
    for _ in range(1 + MAX_RELOADS):
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
) -> Loaded:
    manifest = folder.read_manifest(name)
    folder.check_files(manifest, everything=everything)
    if manifest.kind != kind:
        raise ModelError(f"{folder.path}: the model is a {format_value(manifest.kind)[1:-1]}, not a {kind}.")
    try:
        with _reading(folder):
            training = folder.read(manifest.training_file)
            arrays = folder.read(manifest.network_file)
            if vectorizer is None:
                vectorizer = restore_vectorizer(manifest.vectorizer, decode_column(arrays, "vocabulary"))
            network = restore_network(arrays, manifest.network, vectorizer)
            parameters = restore_parameters(manifest.parameters, training, functions)
            settings = Settings(**msgspec.structs.asdict(manifest.settings))
            chains = [_chain(folder, entry, settings) for entry in manifest.chains]
            load_features = partial(
                _load_features, parameters, settings, network, training, manifest.features.columns, folder
            )
            run = TrainingRun(
                network=network,
                settings=settings,
                schedule=Schedule(**msgspec.structs.asdict(manifest.schedule)),
                features=FeatureSet.from_json(msgspec.structs.asdict(manifest.features), load_features),
                chains=chains,
                entropy=[int(part) for part in manifest.entropy],
                inference_seed=manifest.inference_seed,
                n_pairs=manifest.n_pairs,
                quantities=manifest.quantities,
                reference_chain=manifest.reference_chain,
                corpus_loader=partial(_load_corpus, training, folder),
                checksum=folder.checksum,
            )
            run.calibration = _calibration(run, manifest)
            check_run(run, training)
            for feature in resolve_features(parameters["pair_features"], parameters["intercept"]):
                feature.check_arrays(network, settings, _arrays_of(feature, training))
    except DataError as error:
        raise ModelError(f"{folder.path}: the model is damaged ({format_error(error).rstrip('.')}).") from None
    return parameters, run, manifest.framed


def _calibration(run: TrainingRun, manifest: Manifest) -> LinkCalibration | None:
    """Return the calibration; of models of the first versions, a correction for the sampling of pairs."""
    if manifest.calibration is msgspec.UNSET:
        return LinkCalibration(run.sampling_offset) if run.sampled else None
    if manifest.calibration is None:
        return None
    return LinkCalibration.from_json(msgspec.to_builtins(manifest.calibration))


@contextmanager
def _reading(folder: ModelFolder) -> Iterator[None]:
    """Return a context that raises errors that inconsistent files of a model cause as a ModelError."""
    try:
        yield
    except LinktopicsError:
        raise
    except INCONSISTENCY_ERRORS as error:
        raise ModelError(
            f"{folder.path}: the model is damaged (model.json and the arrays are inconsistent: "
            f"{repr(error)[:300]}); restore it from a copy, or fit and save the model again."
        ) from None


def _load_features(
    parameters: dict[str, Any],
    settings: Settings,
    network: DocumentNetwork,
    training: dict[str, NDArray],
    columns: list[str],
    folder: ModelFolder,
) -> list[FittedFeature]:
    """Return the features of a model, when they are first needed."""
    with _reading(folder):
        fitted = with_shared_caches(
            feature.restore(network, settings, _arrays_of(feature, training))
            for feature in resolve_features(parameters["pair_features"], parameters["intercept"])
        )
        if [column for feature in fitted for column in feature.columns] != columns:
            raise ValueError("the features differ from those of the weights")
    return fitted


def _arrays_of(feature: PairFeature, training: dict[str, NDArray]) -> dict[str, NDArray]:
    """Return the arrays that a feature wrote."""
    start = f"fitted {feature.name}/"
    return {name.removeprefix(start): values for name, values in training.items() if name.startswith(start)}


def _chain(folder: ModelFolder, entry: ChainEntry, settings: Settings) -> Chain:
    arrays = folder.read(entry.state.file)
    nothing = np.empty((0, 0), np.float32)
    state = State(
        iteration=entry.iteration,
        assignments=arrays["assignments"],
        doc_topic=nothing,
        word_topic=nothing,
        topic_total=np.empty(0, np.int64),
        weights=arrays["weights"],
        feature_weights=arrays["feature_weights"],
        augmented=arrays["augmented"],
        generators=[_generator(one) for one in (entry.rng if isinstance(entry.rng, list) else [entry.rng])],
        streams=arrays["streams"] if "streams" in arrays else arrays["stream"][None],  # one, before there were shards
        log_joint=np.nan if entry.log_joint is None else entry.log_joint,
        log_links=entry.log_links,
        priors=_priors(arrays, entry, settings),
    )
    samples = [sample for one in entry.samples for sample in _samples(entry.number, folder.read(one.file))]
    return Chain(entry.number, state, arrays["trace"], samples, entry.seconds)


def _priors(arrays: dict[str, NDArray], entry: ChainEntry, settings: Settings) -> Priors:
    """Return the prior counts of a state; the first versions did not write them before the first sweep."""
    if "alpha" not in arrays and not entry.iteration:
        return Priors.even(settings.n_topics, settings.alpha, settings.beta)
    if entry.beta is None:
        raise ValueError(f"chain {entry.number} has no beta")
    return Priors(arrays["alpha"], entry.beta)


def _generator(state: GeneratorEntry) -> np.random.Generator:
    generator = np.random.default_rng(0)
    generator.bit_generator.state = msgspec.structs.asdict(state)
    return generator


def _samples(chain: int, arrays: dict[str, NDArray]) -> list[PosteriorSample]:
    """Return samples whose large arrays are mapped.

    Small ones are copied. In a file an array may begin at any multiple of 8 bytes, and in memory at multiples of 16,
    which makes a difference in the last digit to BLAS on some processors.
    """
    arrays = {name: array if array.dtype == np.float32 else np.array(array) for name, array in arrays.items()}
    return [
        PosteriorSample(chain, float(log_joint), *(arrays[f"{i}/{name}"] for name in SAMPLE_ARRAYS))
        for i, log_joint in enumerate(arrays["log_joint"])
    ]


def _load_corpus(arrays: dict[str, NDArray], folder: ModelFolder, run: TrainingRun) -> None:
    """Complete a run that was read from disk, when it is resumed."""
    with _reading(folder):
        check_training(run, arrays)
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
