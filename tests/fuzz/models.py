"""Loading as a target: models of which something was changed, with all checksums made to fit, and then put to use."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load, save

sys.path.append(str(Path(__file__).resolve().parents[1]))  # tests, for their small models

from linktopics import RelationalTopicModel
from linktopics.storage.folder import MANIFEST, SUFFIX
from linktopics.storage.manifest import manifest_checksum
from support.small_models import ASKED, TEXTS, small_model, small_network

MAX_SWEEPS = 6
"""Runs with more sweeps left than this are loaded and not gone on with."""

Arrays = dict[str, np.ndarray]


# --------------------------------------------------------------------------------------------------------------------
# Models to begin with
# --------------------------------------------------------------------------------------------------------------------


def make_models(place: Path) -> None:
    """Fit some small models of different kinds, and take two of them for runs that are on their way."""
    from scipy.sparse import csr_array

    from linktopics.features import Column, PairMatrix

    matrix = PairMatrix(csr_array(np.eye(len(TEXTS))[::-1]), list(TEXTS), "matrix")
    columns = {"year": [*range(len(TEXTS) - 1), None], "tags": [["a", "b"], ["b"]] * 5}
    given = ["tfidf", "topics-neighbours", matrix, Column("year", "difference"), Column("tags", "overlap")]
    small_model().fit(small_network()).save(place / "default")
    small_model(pair_features=given, seed_words={0: ["cats"], 1: ["stars"]}, learn_alpha="per-topic", n_chains=1).fit(
        small_network(columns=columns, titles=list("ABCDEFGHIJ"), labels=[*range(9), None])
    ).save(place / "features")
    small_model(loss="hinge", weights="diagonal", sampler="cached", intercept=True, n_chains=1, n_shards=2).fit(
        small_network(directed=False)
    ).save(place / "hinge")
    counts = small_network()
    small_model(n_topics=2, pair_features=None).fit(counts.counts, links=counts.links).save(place / "counts")
    _change_schedule(place / "default", place / "on-its-way", n_samples=3)
    _change_schedule(place / "counts", place / "without-samples", n_burn_in=20)
    MODELS.update({folder.name: _read(folder) for folder in sorted(place.iterdir())})
    _in_a_hurry()


MODELS: dict[str, tuple[dict[str, Any], dict[str, bytes]]] = {}
"""The models by name: manifest and files."""


def _read(folder: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    manifest = json.loads((folder / MANIFEST).read_text())
    del manifest["checksum"]
    return manifest, {path.name: path.read_bytes() for path in sorted(folder.glob(f"*{SUFFIX}"))}


def _change_schedule(finished: Path, unfinished: Path, **changes: int) -> None:
    """Make a run of a model that has more to do; burn-in leaves no samples behind."""
    manifest, files = _read(finished)
    manifest["schedule"].update(changes)
    if "n_burn_in" in changes:
        for chain in manifest["chains"]:
            for entry in chain["samples"]:
                del files[entry["file"]]
            chain["samples"] = []
        manifest["files"] = [entry for entry in manifest["files"] if entry["file"] in files]
    write(unfinished, manifest, files)


def _in_a_hurry() -> None:
    """Do without what takes time and has nothing to do with what is in a file."""
    from linktopics.prediction import predictor
    from linktopics.sampler import runner

    for module in (runner, predictor):
        module.one_thread = nullcontext  # the environment has it already
    os.fsync = lambda _: None


def write(folder: Path, manifest: Any, files: dict[str, bytes], *, fitting: bool = True) -> None:
    """Write a model; sizes and checksums fit, unless they are to stay as they are."""
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    if isinstance(manifest, dict) and fitting:
        _seal(manifest, files)
        manifest = {**manifest, "checksum": manifest_checksum(manifest)}
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8", errors="surrogatepass")


def _seal(value: Any, files: dict[str, bytes]) -> None:
    """Let all entries of files have their true sizes and checksums."""
    if isinstance(value, dict):
        content = files.get(value["file"]) if isinstance(value.get("file"), str) else None
        if content is not None and "sha256" in value:
            value.update(bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            _seal(one, files)


# --------------------------------------------------------------------------------------------------------------------
# Using what was loaded
# --------------------------------------------------------------------------------------------------------------------


def use(folder: Path, *, go_on: bool = True) -> str:
    """Load a model and ask it all sorts of things; then go on with it where that is soon done."""
    model = RelationalTopicModel.load(folder, unfinished=True)
    model.n_jobs = 1
    run = model._run
    if run.finished:
        _ask(model)
    left = max(run.schedule.length - chain.state.iteration for chain in run.chains)
    if go_on and left <= MAX_SWEEPS and run.schedule.thin <= MAX_SWEEPS:
        model.verbose = False
        model.resume(n_samples=1 if run.finished else None, checkpoint=folder)
        RelationalTopicModel.load(folder)
    assert os.listdir(folder.parent) == [folder.name], "something was written beside the folder"
    return repr(run.network)


def _ask(model: Any) -> None:
    network = model.network_
    ids = network.ids.tolist()
    repr(network), str(network.report), network.fingerprint(), network.index_of(ids[0])
    model.topics(), model.summary_text(3, 80, "model")
    new = network.subset([0, len(ids) - 1]).without_links()
    model.transform(new)
    if network.n_links:
        model.predict_links(new, ids[:2])
        model.suggest_links(new, top=3)
        model.explain_link(ids[0], ids[-1])
        model.word_probabilities([ids[:1]])
    if network.vectorizer is not None and not new.columns:
        model.transform(ASKED)


# --------------------------------------------------------------------------------------------------------------------
# Targets
# --------------------------------------------------------------------------------------------------------------------


def manifest(data: bytes, folder: Path) -> str:
    """Take the input for model.json, beside the arrays of a model; where it is JSON its checksum is made to fit."""
    from linktopics.cli.info import info

    folder = folder / "model"
    _, files = MODELS["on-its-way"]
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, dict):
        try:
            write(folder, found, files)
        except RecursionError:
            found = None
    if not isinstance(found, dict):
        folder.mkdir(exist_ok=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)
        (folder / MANIFEST).write_bytes(data)
    with open(os.devnull, "w", encoding="utf-8", errors="surrogatepass") as nowhere:
        before, sys.stdout = sys.stdout, nowhere
        try:
            info(str(folder), "json")
        finally:
            sys.stdout = before
    return use(folder, go_on=False)


def tensors(data: bytes, folder: Path) -> str:
    """Take the input, after a first byte that says which, for a file of arrays of a model."""
    folder = folder / "model"
    described, files = MODELS["on-its-way"]
    names = sorted(files)
    name = names[data[0] % len(names)] if data else names[0]
    write(folder, json.loads(json.dumps(described)), {**files, name: data[1:]})
    return use(folder)


def columns(data: bytes, folder: Path) -> Any:
    """Take the input for a column of strings, of JSON or of numbers."""
    from linktopics.storage.network_codec import decode_column

    kind, text = data[:1], np.frombuffer(data[1:], np.uint8)
    if kind == b"j":
        return decode_column({"ids/json": text}, "ids")
    ends = np.frombuffer(data[1 : 1 + 8 * (len(data) // 16)], np.int64)
    return decode_column({"ids/text": text, "ids/ends": ends}, "ids")


def model(data: bytes, folder: Path) -> str:
    """Change a model in ways that the input chooses: values and places of the manifest, and arrays."""
    import atheris

    choices = atheris.FuzzedDataProvider(data)
    names = sorted(MODELS)
    described, files = MODELS[names[choices.ConsumeIntInRange(0, len(names) - 1)]]
    described, arrays = json.loads(json.dumps(described)), {name: _loaded(name, files[name]) for name in files}
    written = dict(files)
    for _ in range(choices.ConsumeIntInRange(1, 4)):
        if choices.ConsumeBool():
            described = _change_value(described, choices)
        else:
            name = sorted(files)[choices.ConsumeIntInRange(0, len(files) - 1)]
            _change_arrays(arrays[name], choices)
            written[name] = save({key: np.ascontiguousarray(value) for key, value in arrays[name].items()})
    write(folder / "model", described, written)
    return use(folder / "model", go_on=choices.ConsumeIntInRange(0, 3) == 0)


def _loaded(_: str, content: bytes) -> Arrays:
    return load(content)


HOSTILE: list[Any] = [
    None, True, False, 0, 1, -1, 2, 7, 10**9, 10**18, -(10**18), 2**31, 2**63, 2**64, 10**30, 0.0, 0.5, -1.5, 1e308,
    float("nan"), float("inf"), float("-inf"), "", "0", "a", "../a", "/etc/passwd", "\0", "\ud800", "a\nb\x1b[2J",
    "__class__", "os.system", "builtins.eval", "(a+)+$", "(a|a)*b", "[", "filename", "word", "char", "object", "O",
    "V1000000000", "f8", "english", "unicode", "tfidf", "topics", "topics-centroid", "degree", "default", "hinge",
    "full", "per-topic",
    [], {}, [[]], [None], [0], [1, 10**9], ["a"], [["a", ["b"]]], {"a": 1}, {"kind": "PairFunction", "name": "x"},
    {"kind": "Column", "column": "year", "compare": "equal"},
    {"kind": "PairMatrix", "name": "m", "arrays": "feature 2"}, "x" * 1000, [0] * 1000,
]  # fmt: skip


def _change_value(described: Any, choices: Any) -> Any:
    """Walk down the manifest to some place and change what is there."""
    parent, key, here = None, None, described
    while isinstance(here, dict | list) and here and (parent is None or choices.ConsumeIntInRange(0, 5)):
        parent = here
        keys = list(here) if isinstance(here, dict) else list(range(len(here)))
        key = keys[choices.ConsumeIntInRange(0, len(keys) - 1)]
        here = parent[key]
    if parent is None:
        return described
    how = choices.ConsumeIntInRange(0, 9)
    if how == 0:
        del parent[key]
    elif how == 1 and isinstance(parent, list):
        parent.insert(key, json.loads(json.dumps(here)))
    elif how == 2 and isinstance(here, int | float):
        parent[key] = here + choices.ConsumeIntInRange(-3, 3)
    elif how == 3:
        parent[key] = choices.ConsumeInt(8)
    elif how == 4:
        parent[key] = choices.ConsumeFloat()
    elif how == 5:
        parent[key] = choices.ConsumeUnicode(20)
    elif how == 6 and isinstance(parent, dict):
        parent[choices.ConsumeUnicode(8)] = here
    elif how == 7:
        parent[key] = [here]
    else:
        parent[key] = json.loads(json.dumps(HOSTILE[choices.ConsumeIntInRange(0, len(HOSTILE) - 1)]))
    return described


TYPES = ["?", "u1", "i1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]
VALUES = [
    0,
    1,
    -1,
    2,
    7,
    8,
    9,
    10,
    255,
    2**15,
    2**24,
    2**31 - 1,
    2**62,
    0.5,
    -0.5,
    1e30,
    1e300,
    np.nan,
    np.inf,
    -np.inf,
]


def _change_arrays(arrays: Arrays, choices: Any) -> None:
    """Change one array of a file: values, type, shape, name."""
    if not arrays:
        return
    names = sorted(arrays)
    name = names[choices.ConsumeIntInRange(0, len(names) - 1)]
    array, how = arrays[name], choices.ConsumeIntInRange(0, 9)
    with np.errstate(all="ignore"):
        if how <= 2 and array.size:
            array = array.copy()
            value = VALUES[choices.ConsumeIntInRange(0, len(VALUES) - 1)]
            flat, at = array.reshape(-1), choices.ConsumeIntInRange(0, array.size - 1)
            step = choices.ConsumeIntInRange(1, array.size)
            flat[at : at + step] = np.float64(value).astype(array.dtype)
        elif how == 3:
            array = array.astype(TYPES[choices.ConsumeIntInRange(0, len(TYPES) - 1)])
        elif how == 4:
            array = array.reshape(-1)[: choices.ConsumeIntInRange(0, array.size)]
        elif how == 5:
            array = array[..., None] if choices.ConsumeBool() else array.reshape(-1)
        elif how == 6 and array.ndim:
            array = np.concatenate([array, array[: choices.ConsumeIntInRange(0, len(array))]])
        elif how == 7:
            array = arrays[names[choices.ConsumeIntInRange(0, len(names) - 1)]]
        elif how == 8 and array.ndim:
            array = array[::-1] if choices.ConsumeBool() else array.T
        elif how == 9:
            arrays.pop(name)
            name = choices.ConsumeUnicodeNoSurrogates(8) or name
    arrays[name] = array


TARGETS: dict[str, Callable[[bytes, Path], Any]] = {
    "manifest": manifest, "tensors": tensors, "columns": columns, "model": model,
}  # fmt: skip


def seeds(name: str) -> list[bytes]:
    """Return inputs to begin with."""
    if name == "model":
        rng = np.random.default_rng(0)
        return [rng.bytes(40) for _ in range(64)]
    if name == "columns":
        return [b'j["a", 1, null, [2.5]]', b"t" + np.array([1, 3], np.int64).tobytes() + b"abc" + bytes(14)]
    described, files = MODELS["on-its-way"]
    if name == "manifest":
        return [json.dumps(described).encode(), b'{"format": 1}', b"[" * 5000]
    return [bytes([number]) + content for number, (_, content) in enumerate(sorted(files.items()))]
