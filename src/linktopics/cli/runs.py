"""Code that ``fit`` and ``resume`` share. It imports the model, so import it when a command runs."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.text import Text

from linktopics.cli import options
from linktopics.cli.output import print_lines, printable
from linktopics.engines import Ray
from linktopics.errors import DataError, ModelError, ignore_mixing_warnings
from linktopics.model.estimator import RelationalTopicModel
from linktopics.storage import Checkpoint
from linktopics.storage.folder import MANIFEST, ModelFolder
from linktopics.utils.terminal import make_console

PARAMETERS = {
    **{name: f"n_{name}" for name in ("topics", "burn_in", "samples", "chains", "shards", "jobs")},
    "seed": "random_state",
    **{
        name: name
        for name in (
            "loss", "weights", "sampler", "alpha", "beta", "learn_alpha", "learn_beta", "seed_weight",
            "weight_variance", "link_cost", "nonlink_cost", "margin", "thin", "directed", "negatives",
        )
    },
}  # fmt: skip
"""Parameters of the model by the options that set them; `settings_of` reads the others."""

N_TOPICS_SHOWN = 12


def training_options(chosen: Mapping[str, Any], folder: ModelFolder) -> dict[str, Any]:
    """Return the engine and the checkpoint as arguments of `fit` and `resume`."""
    engine, address = chosen.get("engine", options.ENGINE), chosen.get("address")
    if address is not None and engine != "ray":
        raise DataError("--address is that of a Ray cluster; give --engine ray as well.")
    intervals = {name: chosen[f"checkpoint_{name}"] for name in ("every", "minutes") if f"checkpoint_{name}" in chosen}
    return {"checkpoint": Checkpoint(folder, **intervals), "engine": Ray(address) if engine == "ray" else engine}


def check_settings(model: RelationalTopicModel) -> None:
    """Raise DataError, with the name of the option, if a parameter is invalid."""
    try:
        model.check_parameters()
    except ValueError as error:
        message = str(error)
        for option, name in PARAMETERS.items():
            message = message.replace(f"The {name!r} parameter of RelationalTopicModel", option.replace("_", "-"))
        raise DataError(message) from None


def is_finished(folder: ModelFolder) -> bool:
    """Return whether a folder holds a finished run; one that is damaged is not."""
    try:
        return folder.read_manifest().is_finished
    except ModelError:
        return False


@contextmanager
def reporting_interrupts(folder: ModelFolder, before: bytes | None = None) -> Iterator[None]:
    """Add what was saved to the message of an interrupt; ignore warnings about mixing, which the summary shows.

    Parameters
    ----------
    folder : ModelFolder
        Where the run is saved.
    before : bytes, optional
        The manifest of the model that was there (`saved_manifest`).
    """
    try:
        with ignore_mixing_warnings():
            yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_stop_message(folder, before)) from None


def saved_manifest(folder: ModelFolder) -> bytes | None:
    """Return the manifest of a model that is there, to see later whether it was replaced."""
    path = folder.path / MANIFEST
    try:
        return path.read_bytes() if path.is_file() else None
    except (OSError, ValueError):
        return None


def _stop_message(folder: ModelFolder, before: bytes | None) -> str:
    """Return where a run was stopped and how to continue it."""
    unchanged = f"interrupted before anything was saved; the model in {folder.path} is unchanged."
    if before is not None and saved_manifest(folder) == before:
        return unchanged
    try:
        manifest = folder.read_manifest()
    except ModelError:
        return "interrupted before anything was saved."
    if manifest.is_finished:
        return unchanged
    done = ", ".join(f"{chain.iteration:,}" for chain in manifest.chains)
    cure = f"linktopics resume {shlex.quote(str(folder.path))}"
    return (
        f"stopped after sweep {done} of {manifest.schedule.length:,} and saved in {folder.path}; continue with: {cure}"
    )


def show_fit(model: RelationalTopicModel, folder: Path, seconds: float) -> None:
    """Print what was found, how well it was sampled, and what to do next."""
    console, network, path = make_console(), model.network_, shlex.quote(str(folder))
    console.print(Text(printable(model.summary_text(N_TOPICS_SHOWN, console.width, path))))
    if model.bytes_exchanged_:
        parts = ", ".join(f"{name} {size / 1e6:.2f}" for name, size in model.bytes_exchanged_.items())
        total = sum(model.bytes_exchanged_.values()) / 1e6
        print_lines(f"{model.n_shards} shards exchanged {total:.2f} MB per sweep ({parts}).")
    example = network.ids.tolist()[int(network.links.min()) if network.n_links else 0]
    print_lines(
        f"{seconds:.1f} s; saved in {folder}. Next:",
        f"  linktopics topics {path} --documents 3",
        f"  linktopics suggest {path} --id {shlex.quote(str(example))}",
        f'  linktopics suggest {path} --text "..."',
    )
