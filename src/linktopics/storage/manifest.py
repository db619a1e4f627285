"""The manifest of a model, model.json: its schema, and how it is encoded and decoded.

A model may be untrusted, and a checksum is no protection: anybody can compute it. Decoding therefore checks the type
and the bounds of every value before it is used: no number of a manifest asks for more memory than the files beside it
take, and no file name leads out of the folder.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from linktopics.registry import LOSSES
from linktopics.sampler.runner import MAX_CHAIN_SWEEPS
from linktopics.sampler.settings import LINK_RANGE, PRIOR_RANGE

FORMAT = 1
"""Increased when older versions cannot read what is written."""

MAX_MANIFEST_BYTES = 2**25
"""A manifest is read whole."""

RENAMED = {"plan": "schedule", "described": "reference_chain"}
"""Former keys of manifests, and their present names."""

RENAMED_WITHIN = {"schedule": {"n_iter": "n_burn_in"}, "parameters": {"n_iter": "n_burn_in"}}
"""The same for keys within these objects."""


def format_value(value: Any) -> str:
    """Return a value of an untrusted file for a message: short, and in one line."""
    text = repr(value) if isinstance(value, str | int | float | bool | None) else type(value).__name__
    return text if len(text) <= 60 else text[:57] + "..."


def format_error(error: Exception) -> str:
    """Return the message of an error about an untrusted file: short, and in one line."""
    return " ".join(str(error).split())[:300]


# --------------------------------------------------------------------------------------------------------------------
# Schema
# --------------------------------------------------------------------------------------------------------------------

Count = Annotated[int, Meta(ge=0, le=2**53)]
Size = Annotated[int, Meta(ge=1, le=2**31 - 1)]
Sweeps = Annotated[int, Meta(ge=0, le=MAX_CHAIN_SWEEPS)]
PositiveSweeps = Annotated[int, Meta(ge=1, le=MAX_CHAIN_SWEEPS)]
Finite = Annotated[float, Meta(ge=-1e300, le=1e300)]  # no NaN either
Positive = Annotated[float, Meta(gt=0, le=1e300)]
NotNegative = Annotated[float, Meta(ge=0, le=1e300)]
Share = Annotated[float, Meta(ge=0, le=1)]
Prior = Annotated[float, Meta(ge=PRIOR_RANGE[0], le=PRIOR_RANGE[1])]
Cost = Annotated[float, Meta(ge=LINK_RANGE[0], le=LINK_RANGE[1])]
Margin = Annotated[float, Meta(ge=0, le=LINK_RANGE[1])]
Digits = Annotated[str, Meta(pattern=r"\A[0-9]{1,100}\Z")]
FileName = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_-]{1,80}\.safetensors\Z")]


class FileReference(Struct):
    """A file of arrays that is listed in the manifest's files."""

    file: FileName


class FileEntry(FileReference):
    """A file of arrays, with its size and checksum."""

    bytes: Count
    sha256: str


class ReportEntry(Struct, forbid_unknown_fields=True):
    """A `NetworkReport`."""

    n_links_given: Count
    n_unknown_ends: Count
    n_self_links: Count
    n_duplicate_links: Count
    n_empty_documents: Count
    unknown_ends: list[Any]
    self_links: list[Any]
    duplicate_links: list[Any]
    empty_documents: list[Any]
    hint: str


class NetworkEntry(Struct):
    """A network, but for its arrays."""

    n_documents: Size
    n_words: Size
    n_tokens: Count
    n_links: Count
    fingerprint: str
    directed: bool
    has_names: bool
    columns: list[str]
    report: ReportEntry


class SettingsEntry(Struct, forbid_unknown_fields=True):
    """The `Settings` of the sampler."""

    n_topics: Annotated[int, Meta(ge=1, le=2**15 - 1)]
    loss: str  # of those that are registered
    weights: Literal["full", "diagonal"]
    exact: bool
    alpha: Prior
    beta: Prior
    weight_variance: Cost
    link_cost: Cost
    nonlink_cost: Cost
    margin: Margin
    weight_method: Literal["auto", "cholesky", "cg"]
    n_shards: Annotated[int, Meta(ge=1, le=2**15)] = 1  # models saved before there were shards have one


class ScheduleEntry(Struct, forbid_unknown_fields=True):
    """The `Schedule` of the chains."""

    n_burn_in: Sweeps
    n_samples: PositiveSweeps
    thin: PositiveSweeps
    learn_alpha: Literal["symmetric", "per-topic"] | None
    learn_beta: bool

    @property
    def length(self) -> int:
        """Number of sweeps."""
        return self.n_burn_in + self.n_samples * self.thin


class FeaturesEntry(Struct):
    """Columns of pair features, and how they are standardised."""

    columns: list[str]
    constant: list[Finite]
    mean: list[Finite]
    scale: list[Positive]
    link_mean: list[Finite]


class GeneratorEntry(Struct):
    """The state of a random generator, as NumPy describes it."""

    bit_generator: Literal["PCG64"]
    state: dict[str, int]
    has_uint32: int
    uinteger: int


class ChainEntry(Struct):
    """The state of a chain, but for its arrays."""

    number: Count
    iteration: Sweeps
    log_joint: Finite | None
    log_links: float
    beta: Prior | None
    rng: GeneratorEntry | Annotated[list[GeneratorEntry], Meta(min_length=1)]  # a single one before there were shards
    seconds: dict[str, NotNegative]
    state: FileReference
    samples: list[FileReference]


class CurveEntry(Struct):
    """A curve of a calibration."""

    knots: Annotated[list[Finite], Meta(min_length=1)]
    slopes: Annotated[list[Positive], Meta(min_length=2)]
    level: Finite


class CalibrationEntry(Struct):
    """A `LinkCalibration`."""

    offset: Finite
    curves: dict[str, CurveEntry]
    n_documents: Count
    n_links: Count
    reciprocity: Share = 0.0


class Manifest(Struct):
    """A model on disk, but for its arrays."""

    kind: str
    parameters: dict[str, Any]
    settings: SettingsEntry
    schedule: ScheduleEntry
    network: NetworkEntry
    vectorizer: dict[str, Any] | None
    features: FeaturesEntry
    entropy: Annotated[list[Digits], Meta(min_length=1)]
    inference_seed: Annotated[int, Meta(ge=0, le=2**63 - 1)]
    n_pairs: Count
    reference_chain: Count | None
    quantities: list[str]
    versions: dict[str, str]
    saved: str
    network_file: FileName
    training_file: FileName
    chains: Annotated[list[ChainEntry], Meta(min_length=1)]
    files: list[FileEntry]
    framed: bool = False
    calibration: CalibrationEntry | UnsetType | None = UNSET  # models of the first versions have none

    @property
    def is_finished(self) -> bool:
        """Whether the run is finished."""
        return self.calibration is not None and all(chain.iteration >= self.schedule.length for chain in self.chains)


# --------------------------------------------------------------------------------------------------------------------
# JSON
# --------------------------------------------------------------------------------------------------------------------


def encode_manifest(content: dict[str, Any], files: Sequence[dict[str, Any]]) -> bytes:
    """Return a manifest as JSON with its checksum. Lone surrogates, which names may hold, are kept."""
    body = {"format": FORMAT, **content, "files": files}
    text = json.dumps({**body, "checksum": manifest_checksum(body)}, indent=1, ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass")


def manifest_checksum(body: dict[str, Any]) -> str:
    """Return the checksum of a manifest without it."""
    text = json.dumps(body, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def decode_manifest(found: dict[str, Any]) -> Manifest:
    """Return the manifest of a JSON object; raise ValueError if no version of linktopics would have written it."""
    found = _with_current_names(found)
    try:
        manifest = msgspec.convert(found, Manifest)
    except msgspec.ValidationError as error:
        raise ValueError(_explain(error, found)) from None
    except (SystemError, OverflowError):  # of msgspec below 0.22, for a whole number beyond the range of floats
        raise ValueError("a number is out of range") from None
    if manifest.settings.loss not in LOSSES:
        raise LOSSES.missing(manifest.settings.loss)
    length, chains, features = manifest.schedule.length, manifest.chains, manifest.features
    numbers = [chain.number for chain in chains]
    listed = [entry.file for entry in manifest.files]
    of_chains = [one.file for chain in chains for one in (chain.state, *chain.samples)]
    unlisted = {manifest.network_file, manifest.training_file, *of_chains} - {*listed}
    widths = {len(getattr(features, name)) for name in ("columns", "constant", "mean", "scale", "link_mean")}
    for wrong, what in (
        (len(set(listed)) < len(listed), "it names a file twice"),
        (unlisted, f"it does not list the file {min(unlisted, default='')}"),
        (length > MAX_CHAIN_SWEEPS, f"the schedule is of {length:,} sweeps"),
        (numbers != list(range(len(chains))), "the chains are not numbered consecutively"),
        (len(set(of_chains)) < len(of_chains), "a file belongs to two chains"),
        (len(widths) > 1, "the features have lists of different lengths"),
        (len(set(manifest.network.columns)) < len(manifest.network.columns), "network.columns has a duplicate"),
        (len(set(manifest.quantities)) < len(manifest.quantities), "quantities has a duplicate"),
        ("log joint" not in manifest.quantities, "there is no log joint in the trace"),
        (max(chain.iteration for chain in chains) > length, "a chain has more sweeps than the schedule"),
        ((manifest.reference_chain or 0) >= len(chains), "the reference chain does not exist"),
    ):
        if wrong:
            raise ValueError(what)
    return manifest


def _with_current_names(found: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest with current names in place of old ones."""
    found = {RENAMED.get(name, name): value for name, value in found.items()}
    for part, renamed in RENAMED_WITHIN.items():
        if isinstance(found.get(part), dict):
            found[part] = {renamed.get(name, name): value for name, value in found[part].items()}
    return found


def _explain(error: msgspec.ValidationError, found: Any) -> str:
    """Return a validation error with the value that it is about, such as "schedule.thin is 0: Expected `int` >= 1"."""
    what, at, where = str(error).rpartition(" - at `$")
    what = "".join(character if character.isprintable() else "?" for character in (what or where)[:100])
    if not at:
        return what
    where = where.strip(".`")
    if what.startswith("Object") or "[...]" in where:  # a field of an object, or a value whose key is not given
        return f"{where}: {what}"
    for key in re.findall(r"\w+", where):
        found = found[int(key)] if isinstance(found, list) else found[key]
    reason = "" if "matching regex" in what else f": {what}"  # messages about patterns would not help
    return f"{where} is {format_value(found)}{reason}"
