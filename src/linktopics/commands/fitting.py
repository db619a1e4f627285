"""``linktopics fit``, ``resume`` and ``warmup``."""

from __future__ import annotations

import difflib
import re
import shlex
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.text import Text

from linktopics._inputs import check_sizes, check_tokens
from linktopics._report import numbered
from linktopics.commands.output import printable
from linktopics.commands.reading import read_network
from linktopics.engines import Engine, Ray
from linktopics.errors import DataError, ModelError, mixing_not_told
from linktopics.features import BUILT_IN, DEFAULT, Column
from linktopics.going_on import check_pace
from linktopics.model import RelationalTopicModel
from linktopics.network import DocumentNetwork
from linktopics.posterior import Plan
from linktopics.rendering import make_console
from linktopics.seeds import resolve_seed_words
from linktopics.storage.folder import MANIFEST, ModelFolder
from linktopics.storage.keeping import is_finished

__all__ = ["run_fit", "run_resume", "run_warmup", "settings_of"]

PARAMETERS = {
    "topics": "n_topics",
    "iterations": "n_iter",
    "samples": "n_samples",
    "chains": "n_chains",
    "shards": "n_shards",
    "seed": "random_state",
    "jobs": "n_jobs",
    **{
        name: name
        for name in (
            "loss", "weights", "sampler", "alpha", "beta", "learn_alpha", "learn_beta", "seed_weight",
            "weight_variance", "link_cost", "nonlink_cost", "margin", "thin", "directed",
        )
    },
}  # fmt: skip
"""Parameters of the model by the options that set them; others are read in their own way."""

READING = ("min_documents", "max_share", "stop_words", "strict")

LISTS = ("feature", "column", "seed_words")

OTHERS = (
    "data", "output", "checkpoint_every", "checkpoint_minutes", "engine", "address", "seed_words", "negatives",
    "calibration", "feature", "column",
)  # fmt: skip

N_TOPICS_SHOWN = 12


def run_fit(given: Mapping[str, Any], config: Path | None, *, overwrite: bool, quiet: bool) -> None:
    """Fit a model as options and a file of settings say, and save it.

    Parameters
    ----------
    given : mapping from str to object
        Options that were given.
    config : path or None
        A TOML file with others.
    overwrite : bool
        Whether to replace a model.
    quiet : bool
        Whether to show no progress bar.
    """
    chosen = {**({} if config is None else _read_config(config)), **given}
    for name, cure in (("data", "name the data"), ("output", "say where the model goes: -o FOLDER")):
        if name not in chosen:
            raise DataError(f"{cure}; see linktopics fit --help.")
    model = RelationalTopicModel(**settings_of(chosen), verbose=False if quiet else "auto")
    _check_settings(model)
    pace = _pace(chosen.get("checkpoint_every", 50), chosen.get("checkpoint_minutes", 10.0))
    engine = _engine(chosen.get("engine", "threads"), chosen.get("address"))
    folder = ModelFolder(chosen["output"])
    before = _saved(folder.path)
    with folder.held(overwrite=overwrite), _stopping(folder.path, before):
        network = _read(model, chosen)
        started = time.perf_counter()
        model.fit(network, checkpoint=folder, **pace, overwrite=overwrite, engine=engine)
    _show(model, folder.path, time.perf_counter() - started)


def _read(model: RelationalTopicModel, chosen: Mapping[str, Any]) -> DocumentNetwork:
    """Read the data, and say what was read and what is about to be done."""
    reading = {name: chosen[name] for name in READING if name in chosen}
    columns = [feature.column for feature in _columns(chosen)]
    network = read_network(str(chosen["data"]), {**reading, **({"columns": columns} if columns else {})})
    resolve_seed_words(model.seed_words, model.seed_weight, model.n_topics, network)  # which refuses what it must
    check_tokens(network)
    check_sizes(network)
    console = make_console()
    console.print(f"{chosen['data']}: {repr(network).partition('(')[2].removesuffix(')')}", markup=False)
    if not network.n_links:
        console.print("there are no links: topics come from words alone, and links cannot be suggested.", markup=False)
    sweeps = model.n_iter + model.n_samples * model.thin
    console.print(f"{numbered(model.n_topics, 'topic')}, {numbered(model.n_chains, 'chain')} of {sweeps:,} sweeps")
    return network


def run_resume(
    path: Path,
    n_iter: int,
    n_samples: int | None,
    n_jobs: int | None,
    checkpoint_every: int,
    checkpoint_minutes: float,
    engine: tuple[str, str | None] = ("threads", None),
    *,
    quiet: bool,
) -> None:
    """Go on with a run, and keep it where it is."""
    pace, runs_shards = _pace(checkpoint_every, checkpoint_minutes), _engine(*engine)
    folder, more = ModelFolder(path), bool(n_iter or n_samples)
    if not more and _is_finished(folder):
        folder.remove_leftovers()
        raise _finished(path)
    with folder.held(overwrite=True, make=False), _stopping(path):
        model = RelationalTopicModel.load(path, unfinished=True)
        model.set_params(n_jobs=-1 if n_jobs is None else n_jobs, verbose=False if quiet else "auto")
        _check_settings(model)
        if not more and model._run.finished:  # the checkpoint that was gone back to
            raise _finished(path)
        console = make_console()
        done = min(chain.state.iteration for chain in model._run.chains)
        console.print(f"{model._run.network!r}, from sweep {done:,} on", markup=False)
        started = time.perf_counter()
        model.resume(n_iter, n_samples, checkpoint=folder, **pace, engine=runs_shards)
    _show(model, path, time.perf_counter() - started)


def _finished(path: Path) -> DataError:
    return DataError(
        f"{path}: the run is finished; add burn-in with --iterations N, or samples with --samples N, to go on."
    )


def _is_finished(folder: ModelFolder) -> bool:
    """Tell whether what stands in the manifest is a finished run; what is damaged is not."""
    try:
        return is_finished(folder.manifest())
    except (ModelError, KeyError, TypeError):
        return False


def _pace(every: int, minutes: float) -> dict[str, Any]:
    """Return how often checkpoints come, as `fit` takes it."""
    try:
        check_pace(every, minutes)
    except ValueError as error:
        raise DataError(str(error).replace("_", "-").replace(", or None", "")) from None
    return {"checkpoint_every": every, "checkpoint_minutes": minutes}


@contextmanager
def _stopping(folder: Path, before: bytes | None = None) -> Iterator[None]:
    """Let an interrupt tell what was kept; and leave out what is told of mixing otherwise."""
    try:
        with mixing_not_told():
            yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_stopped(folder, before)) from None


def run_warmup(topics: Sequence[int]) -> None:
    """Compile what fits and questions need."""
    from linktopics.datasets import make_network
    from linktopics.kernels.lanes import padded

    console = make_console()
    for width in sorted({padded(number) for number in topics}):
        started = time.perf_counter()
        for directed in (True, False):
            network = make_network(30, n_topics=2, n_words=40, random_state=0)
            network = network if directed else network.to_undirected()
            for weights in ("full", "diagonal"):
                model = RelationalTopicModel(width, weights=weights, n_iter=1, n_samples=2, thin=1, n_chains=1)
                model.fit(network).suggest_links(network.counts[:2], top=1)
                model.word_probabilities([[network.ids[0]]])
        console.print(f"{width - 7} to {width} topics: {time.perf_counter() - started:.1f} s")


def settings_of(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the model that options stand for."""
    parameters: dict[str, Any] = {"random_state": 0, "n_jobs": -1}
    parameters.update({name: chosen[option] for option, name in PARAMETERS.items() if option in chosen})
    if "calibration" in chosen:
        parameters["calibration"] = None if chosen["calibration"] == "none" else chosen["calibration"]
    if "negatives" in chosen:
        parameters["negatives"] = _negatives(chosen["negatives"])
    if "seed_words" in chosen:
        parameters["seed_words"] = _seed_words(chosen["seed_words"])
    if "feature" in chosen or "column" in chosen:
        names = list(chosen.get("feature", DEFAULT))
        if "none" in names and len(names) > 1:
            raise DataError("the feature none stands alone; leave it out, or the others.")
        names = [name for name in names if name != "none"]
        unknown = [name for name in names if name not in BUILT_IN]
        if unknown:
            raise DataError(f"no feature is called {unknown[0]!r}; there are {', '.join(BUILT_IN)}, and none.")
        parameters["pair_features"] = [*names, *_columns(chosen)] or None
    return parameters


def _check_settings(model: RelationalTopicModel) -> None:
    """Raise if a parameter is not what it should be, with the name of its option."""
    try:
        model._validate_params()
    except ValueError as error:
        told = str(error)
        for option, name in {**PARAMETERS, "negatives": "negatives"}.items():
            told = told.replace(f"The {name!r} parameter of RelationalTopicModel", option.replace("_", "-"))
        raise DataError(told) from None


def _negatives(given: Any) -> Any:
    if given == "auto":
        return given
    try:
        if isinstance(given, bool):
            raise TypeError
        return float(given)
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"negatives is {given!r}; it is auto or a number.") from None


def _engine(name: str, address: str | None) -> Engine | str:
    if name not in ("threads", "ray"):
        raise DataError(f"engine is {name!r}; it is threads or ray.")
    if address is not None and not isinstance(address, str):
        raise DataError(f"address is {address!r}; give that of a Ray cluster between quotes, or auto.")
    if address is not None and name != "ray":
        raise DataError("an address is that of a Ray cluster; give --engine ray, too.")
    return Ray(address) if name == "ray" else name


def _seed_words(given: Any) -> dict[int, list[str]]:
    """Read 0:red,green as topic and words; in a file of settings it is a table, "0" = ["red", "green"]."""
    if isinstance(given, Mapping):
        pairs = [(str(topic), [words] if isinstance(words, str) else words) for topic, words in given.items()]
    else:
        split = [str(text).partition(":") for text in given]
        pairs = [(topic, [word.strip() for word in words.split(",") if word.strip()]) for topic, _, words in split]
    result: dict[int, list[str]] = {}
    for topic, words in pairs:
        if not re.fullmatch(r"[0-9]{1,9}", topic.strip()) or not words or not isinstance(words, list):
            raise DataError(
                f"seed words are {topic!r}: {words!r}; write the topic's number and its words: 0:red,green."
            )
        result.setdefault(int(topic), []).extend(words)
    return result


def _columns(chosen: Mapping[str, Any]) -> list[Column]:
    """Read year:difference as a column and how to compare it."""
    features = []
    for text in chosen.get("column", ()):
        name, _, compare = str(text).partition(":")
        if not name or compare not in ("equal", "difference", "overlap"):
            raise DataError(f"the column {text!r} cannot be read; write NAME:equal, NAME:difference or NAME:overlap.")
        features.append(Column(name, compare))
    return features


def _read_config(path: Path) -> dict[str, Any]:
    """Read a TOML file of options, by their names with dashes or underscores."""
    from linktopics.readers._files import read_bytes

    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    data = read_bytes(path)
    try:
        values = tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise DataError(f"{path}: the file is not UTF-8; save it as UTF-8.") from None
    except (ValueError, RecursionError) as error:
        told = "it is nested too deeply" if isinstance(error, RecursionError) else str(error).partition("; use sys.")[0]
        raise DataError(f"{path}: not TOML: {told}; a line is: topics = 20.") from None
    known = {*PARAMETERS, *READING, *OTHERS}
    found = {name.replace("-", "_"): value for name, value in values.items()}
    if len(found) < len(values):
        twice = next(name for name in values if "-" in name and name.replace("-", "_") in values)
        raise DataError(f"{path}: {twice} is there twice, with - and with _; give it once.")
    for name in found:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            meant = f"did you mean {near[0].replace('_', '-')!r}?" if near else "see linktopics fit --help."
            raise DataError(f"{path}: there is no option {name!r}; {meant}")
    for name in LISTS:
        if isinstance(found.get(name), str):
            found[name] = [found[name]]
    for name, value in found.items():
        cure = _wrong_kind(name, value)
        if cure is not None:
            raise DataError(f"{path}: {name.replace('_', '-')} is {value!r}; it is {cure}.")
    return found


def _wrong_kind(name: str, value: Any) -> str | None:
    """Say what a setting should be, if it is not; of those that go to the model and the reader, these say it."""
    texts = isinstance(value, list) and all(isinstance(one, str) for one in value)
    if name in ("data", "output") and not isinstance(value, str):
        return "a path between quotes"
    if name in ("feature", "column") and not texts:
        return "a list of names between quotes"
    if name == "seed_words" and not texts and not isinstance(value, dict):
        return 'a list as ["0:red,green"], or a table as {0 = ["red", "green"]}'
    if name in ("jobs", "checkpoint_every") and (type(value) is not int or value < 1):
        return "a whole number from 1 on"
    if name == "checkpoint_minutes" and (type(value) not in (int, float) or not value > 0):
        return "a number above 0"
    return None


def _linked_document(network: DocumentNetwork) -> Any:
    """Return the id of the first document that has a link, or of the first."""
    first = int(network.links.min()) if network.n_links else 0
    return network.ids.tolist()[first]


def _saved(folder: Path) -> bytes | None:
    """Return what stands in the manifest of a model, to see later whether it is another."""
    path = folder / MANIFEST
    try:
        return path.read_bytes() if path.is_file() else None
    except (OSError, ValueError):
        return None


def _stopped(folder: Path, before: bytes | None = None) -> str:
    """Say where a run was stopped and how to go on."""
    unchanged = f"interrupted before anything was kept; the model in {folder} is as it was."
    if before is not None and _saved(folder) == before:
        return unchanged
    try:
        manifest = ModelFolder(folder).manifest()
    except ModelError:
        return "interrupted before anything was kept."
    if _is_finished(ModelFolder(folder)):
        return unchanged
    length = Plan(**manifest["plan"]).length
    done = ", ".join(f"{chain['iteration']:,}" for chain in manifest["chains"])
    again = f"linktopics resume {shlex.quote(str(folder))}"
    return f"stopped after sweep {done} of {length:,} and saved in {folder}; go on with: {again}"


def _show(model: RelationalTopicModel, folder: Path, seconds: float) -> None:
    """Print what was found, how well it was sampled, and what to do next."""
    console = make_console()
    path, example = shlex.quote(str(folder)), shlex.quote(str(_linked_document(model.network_)))
    console.print(Text(printable(model.summary_text(N_TOPICS_SHOWN, console.width, path))))
    if model.exchanged_:
        console.print(_exchanged(model), markup=False, soft_wrap=True)
    console.print(f"{seconds:.1f} s; saved in {folder}. Next:", markup=False, soft_wrap=True)
    for line in (
        f"topics {path} --documents 3",
        f"suggest {path} --id {example}",
        f'suggest {path} --text "..."',
    ):
        console.print(f"  linktopics {printable(line)}", markup=False, soft_wrap=True)


def _exchanged(model: RelationalTopicModel) -> str:
    """Say what the shards of a chain told each other in a sweep."""
    parts = ", ".join(f"{name} {size / 1e6:.2f}" for name, size in model.exchanged_.items())
    total = sum(model.exchanged_.values()) / 1e6
    return f"{model._run.settings.n_shards} shards told each other {total:.2f} MB per sweep ({parts})."
