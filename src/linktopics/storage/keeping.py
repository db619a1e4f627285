"""Runs on disk: written whole or chain by chain while they are on their way, and read back."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import threading
from collections.abc import Iterator
from datetime import datetime, timezone
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linktopics import __version__
from linktopics.errors import LinktopicsError, ModelError
from linktopics.features import FeatureSet, FittedFeature, resolve_features
from linktopics.kernels.lanes import padded
from linktopics.network import DocumentNetwork
from linktopics.pairs import TrainingPairs
from linktopics.posterior import Chain, Plan, PosteriorSample
from linktopics.run import Run
from linktopics.sampler import Corpus, Priors, Seeds, Settings, State, count_topics
from linktopics.storage.columns import describe_network, network_arrays, restore_network, unpack
from linktopics.storage.folder import ModelFolder
from linktopics.storage.parameters import (
    Functions,
    parameters_to_json,
    restore_parameters,
    restore_vectorizer,
    vectorizer_to_json,
)

__all__ = ["Keeper", "load_run"]

VERSIONS = ("numpy", "scipy", "scikit-learn", "numba", "polyagamma")

STATE_ARRAYS = ("assignments", "weights", "feature_weights", "augmented", "streams")

SAMPLE_ARRAYS = ("word_topic", "doc_topic", "weights", "feature_weights", "alpha")


class Keeper:
    """Keeps a run in a folder; safe to call from several threads.

    Parameters
    ----------
    path : path
        The folder.
    kind : str
        Name of the estimator.
    parameters : dict
        Its parameters.
    run : Run
        What to keep. Network and training pairs are written at once, chains by `keep`.
    overwrite : bool
        Whether to replace a model that is there.
    framed : bool
        Whether the model was fitted to a data frame, whose columns are the words.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        kind: str,
        parameters: dict[str, Any],
        run: Run,
        *,
        overwrite: bool,
        framed: bool = False,
    ) -> None:
        self.folder = ModelFolder(path)
        self.folder.claim(overwrite=overwrite)
        self._lock = threading.Lock()
        self._chains: dict[int, dict[str, Any]] = {}
        self._samples: dict[int, list[dict[str, Any]]] = {chain.number: [] for chain in run.chains}
        self._kept: dict[int, list[PosteriorSample]] = {chain.number: [] for chain in run.chains}
        written, arrays = parameters_to_json(parameters)
        network = run.network
        self._fixed = {"network": self.folder.write("network", network_arrays(network))}
        self._fixed["training"] = self.folder.write("training", {**_training_arrays(run), **arrays})
        self._manifest = {
            "kind": kind,
            "framed": framed,
            "parameters": written,
            "settings": dataclasses.asdict(run.settings),
            "plan": dataclasses.asdict(run.plan),
            "network": json.loads(json.dumps(describe_network(network), default=str)),
            "vectorizer": vectorizer_to_json(network.vectorizer),
            "features": run.features.to_json(),
            "entropy": [str(part) for part in run.entropy],
            "inference_seed": run.inference_seed,
            "n_pairs": run.n_pairs,
            "described": run.described,
            "quantities": run.quantities,
            "versions": _versions(),
        }
        for chain in run.chains:
            self._write(chain)
        self._commit()

    def keep(self, chain: Chain) -> None:
        """Write the state of a chain and the samples that are new."""
        with self._lock:
            self._write(chain)
            self._commit()

    def _write(self, chain: Chain) -> None:
        number, state = chain.number, chain.state
        kept, files = self._kept[number], self._samples[number]
        if [*map(id, kept)] != [*map(id, chain.samples[: len(kept)])]:  # they were dropped for more burn-in
            kept, files = [], []
        new = chain.samples[len(kept) :]
        if new:
            arrays = {f"{i}/{name}": getattr(sample, name) for i, sample in enumerate(new) for name in SAMPLE_ARRAYS}
            arrays["log_joint"] = np.array([sample.log_joint for sample in new])
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
        }
        # Only now: a state and its samples change together, or not at all if the disk is full.
        self._chains[number], self._samples[number], self._kept[number] = entry, files, [*kept, *new]

    def _commit(self) -> None:
        chains = [{**entry, "samples": self._samples[number]} for number, entry in sorted(self._chains.items())]
        files = [*self._fixed.values()]
        for entry in chains:
            files += [entry["state"], *entry["samples"]]
        saved = datetime.now(timezone.utc).isoformat(timespec="seconds")
        fixed = {f"{name}_file": entry["file"] for name, entry in self._fixed.items()}
        self.folder.commit({**self._manifest, "saved": saved, **fixed, "chains": chains}, files)


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
    path: str | os.PathLike[str], kind: str, *, vectorizer: Any, functions: Functions | None, verify: bool
) -> tuple[dict[str, Any], Run, bool]:
    """Return the parameters of a model and its run; what only going on needs stays on disk until then."""
    folder = ModelFolder(path)
    manifest = folder.manifest()
    folder.check(manifest, everything=verify)
    if manifest.get("kind") != kind:
        raise ModelError(f"{folder.path}: the model is a {manifest.get('kind')}, not a {kind}.")
    entries = {entry["file"]: entry for entry in manifest["files"]}
    try:
        training = folder.read(entries[manifest["training_file"]])
        arrays = folder.read(entries[manifest["network_file"]])
        network = _network(arrays, manifest, vectorizer)
        parameters = restore_parameters(manifest["parameters"], training, functions)
        chains = [_chain(folder, entry, entries) for entry in manifest["chains"]]
        settings = Settings(**manifest["settings"])
        restore = _Restore(parameters, settings, network, training)
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
        )
        _check_sizes(run, training)
    except LinktopicsError:
        raise
    except (KeyError, TypeError, IndexError, ValueError, AttributeError) as error:
        raise ModelError(
            f"{folder.path}: the model is damaged (model.json and the arrays do not fit each other: {error!r}); take "
            "it from a copy, or fit and save it again."
        ) from None
    return parameters, run, bool(manifest.get("framed"))


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

    def __call__(self) -> list[FittedFeature]:
        fitted = []
        for feature in resolve_features(self.parameters["pair_features"], self.parameters["intercept"]):
            start = f"fitted {feature.name}/"
            own = {name.removeprefix(start): array for name, array in self.training.items() if name.startswith(start)}
            fitted.append(feature.restore(self.network, self.settings, own))
        return fitted


def _check_sizes(run: Run, training: dict[str, NDArray]) -> None:
    """Raise ValueError if arrays are not of the sizes that the sampler and predictions take for granted."""
    if not run.chains or "log joint" not in run.quantities:
        raise ValueError("there are no chains or no trace")
    for name, array, size in _expected(run, training):
        if array.shape != size:
            raise ValueError(f"{name} is an array of {array.shape} in place of {size}")


def _expected(run: Run, training: dict[str, NDArray]) -> Iterator[tuple[str, NDArray, tuple[int, ...]]]:
    """Give arrays by name with the sizes that they should have."""
    K, n, V = run.settings.n_topics, run.network.n_documents, run.network.n_words
    F, P = len(run.features.columns), run.n_pairs
    weights = {"weights": (K, K), "feature_weights": (F,)}
    of_states = {
        **weights,
        "assignments": (run.network.n_tokens,),
        "augmented": (P,),
        "streams": (run.settings.n_shards, 4),
    }
    of_samples = {**weights, "word_topic": (V, padded(K)), "doc_topic": (n, K), "alpha": (K,)}
    for name in ("source", "target", "label"):
        yield name, training[name], (P,)
    yield "features", training["features"], (F, P)
    for name, array in training.items():
        if name.startswith("fitted ") and name.endswith("/word_topic"):
            yield name, array, (V, padded(K))
    for chain in run.chains:
        state, of = chain.state, f"chain {chain.number}"
        if state.priors is not None:
            yield f"{of}, alpha", state.priors.alpha, (K,)
        elif state.iteration:
            raise ValueError(f"{of} has no alpha")
        yield f"{of}, trace", chain.trace, (len(chain.trace), len(run.quantities))
        for name, size in of_states.items():
            yield f"{of}, {name}", getattr(state, name), size
        for number, sample in enumerate(chain.samples):
            for name, size in of_samples.items():
                yield f"{of}, sample {number}, {name}", getattr(sample, name), size


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
    arrays = folder.read(entry)
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
        for array, end in (
            (arrays["source"], run.network.n_documents),
            (arrays["target"], run.network.n_documents),
            *((chain.state.assignments, run.settings.n_topics) for chain in run.chains),
        ):
            if len(array) and not 0 <= int(array.min()) <= int(array.max()) < end:
                raise ModelError(
                    f"{self.folder.path}: the model is damaged (a topic or a document is out of range); take it from a "
                    "copy, or fit and save it again."
                )
        pairs = TrainingPairs(arrays["source"], arrays["target"], arrays["label"], run.network.n_documents)
        seeds = Seeds(arrays["seeds/word"], arrays["seeds/topic"], arrays["seeds/amount"])
        features = arrays["features"].T
        run.corpus = Corpus.build(run.network.counts, pairs, not run.network.directed, features, seeds)
        for chain in run.chains:
            state = chain.state
            for name in STATE_ARRAYS:
                setattr(state, name, np.array(getattr(state, name)))  # a copy that can be written to
            counts = count_topics(run.corpus, state.assignments, run.settings.n_topics)
            state.doc_topic, state.word_topic, state.topic_total = counts
