"""Fit a model and save it in a folder."""

from __future__ import annotations

import difflib
import inspect
import re
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from linktopics.cli import options
from linktopics.cli.defaults import default
from linktopics.cli.options import READING, SAMPLING, count, describe_size, option, read_network, real, registered
from linktopics.cli.output import print_lines
from linktopics.errors import DataError
from linktopics.registry import FEATURES, LOSSES

if TYPE_CHECKING:
    from linktopics.features import Column
    from linktopics.model.estimator import RelationalTopicModel
    from linktopics.network import DocumentNetwork

EXAMPLE = "linktopics fit my-folder -o my-model --topics 30 --chains 4"

TOPICS, LINKS = "Topics and priors", "Links"

SEED = 0
LINK_COST = "{:g}, diagonal: {:g}".format(*(default(f"DEFAULT_LINK_COST.{kind}") for kind in ("full", "diagonal")))

NOT_IN_CONFIG = ("config", "overwrite", "quiet", "check", "debug")
"""Options that cannot be set in the file of --config."""

REPEATED_OPTIONS = ("feature", "column", "seed_words")
"""Options that can be repeated."""


LEARN_ALPHA_HELP = "Learn alpha during burn-in: one number, or one per topic."
SEED_WORDS_HELP = "Words expected in a topic, as 0:cell,protein; repeat for others."
LOSS_HELP = "Loss of the score of a pair: {losses}."
WEIGHTS_HELP = "Whether any topic can attract any other, or only itself."
NEGATIVES_HELP = "Non-links: auto, a fraction below 1, or a number per link."
CALIBRATION_HELP = (
    "Correct probabilities for the sampling of non-links, with held-out documents or by a formula only, or not at all."
)
COLUMN_HELP = (
    "Field of documents.jsonl to compare, as year:difference, venue:equal, authors:overlap (or tags:overlap of notes); "
    "repeat."
)
SHARDS_HELP = "Parts of the documents that cores or machines process in parallel; only 1 is exact."


def fit(
    data: Annotated[str | None, typer.Argument(metavar="DATA", help=options.DATA_HELP)] = None,
    output: Annotated[
        Path | None, option("Folder for the model.", None, None, "--output", "-o", metavar="FOLDER", file_okay=False)
    ] = None,
    config: Annotated[
        Path | None, option("TOML file with options by name: topics = 30.", metavar="FILE", dir_okay=False)
    ] = None,
    topics: Annotated[int | None, count("Number of topics.", TOPICS, default("n_topics"), "--topics", "-k")] = None,
    alpha: Annotated[float | None, real("Prior tokens per document.", TOPICS, default("alpha"))] = None,
    beta: Annotated[float | None, real("Prior tokens per word and topic.", TOPICS, default("beta"))] = None,
    learn_alpha: Annotated[Literal["symmetric", "per-topic"] | None, option(LEARN_ALPHA_HELP, TOPICS)] = None,
    learn_beta: Annotated[bool | None, option("Learn beta during burn-in.", TOPICS, None, "--learn-beta")] = None,
    seed_words: Annotated[list[str] | None, option(SEED_WORDS_HELP, TOPICS, metavar="N:WORD,WORD")] = None,
    seed_weight: Annotated[
        int | None, count("Prior tokens of each seed word.", TOPICS, "1 % of a topic, at least 10")
    ] = None,
    loss: Annotated[
        str | None, option(LOSS_HELP, LINKS, default("loss"), metavar="NAME", parser=registered(LOSSES))
    ] = None,
    weights: Annotated[Literal["full", "diagonal"] | None, option(WEIGHTS_HELP, LINKS, default("weights"))] = None,
    link_cost: Annotated[float | None, real("Weight of a link in the loss.", LINKS, LINK_COST)] = None,
    nonlink_cost: Annotated[float | None, real("Weight of a sampled non-link.", LINKS, default("nonlink_cost"))] = None,
    negatives: Annotated[str | None, option(NEGATIVES_HELP, LINKS, default("negatives"), metavar="auto|X")] = None,
    calibration: Annotated[
        Literal["held-out", "sampling", "none"] | None, option(CALIBRATION_HELP, LINKS, default("calibration"))
    ] = None,
    margin: Annotated[float | None, real("Margin of the hinge loss.", LINKS, default("margin"))] = None,
    weight_variance: Annotated[
        float | None, real("Prior variance of each weight.", LINKS, default("weight_variance"))
    ] = None,
    feature: Annotated[
        list[str] | None,
        option(
            "Feature of pairs: {features}, or none; repeat for several.",
            LINKS,
            ", ".join(default("DEFAULT_FEATURES")),
            metavar="NAME",
            parser=registered(FEATURES, "none"),
        ),
    ] = None,
    column: Annotated[list[str] | None, option(COLUMN_HELP, LINKS, metavar="NAME:HOW")] = None,
    sampler: Annotated[
        Literal["exact", "cached"] | None,
        option("exact, or the paper's Approx: cached.", SAMPLING, default("sampler")),
    ] = None,
    burn_in: Annotated[int | None, count("Burn-in sweeps.", SAMPLING, default("n_burn_in"), min=0)] = None,
    samples: Annotated[int | None, count("Samples to keep per chain.", SAMPLING, default("n_samples"))] = None,
    thin: Annotated[int | None, count("Sweeps per sample.", SAMPLING, default("thin"))] = None,
    chains: Annotated[int | None, count("Independent chains.", SAMPLING, default("n_chains"))] = None,
    seed: Annotated[int | None, count("The same seed gives the same model.", SAMPLING, SEED, min=0)] = None,
    jobs: options.Jobs = None,
    shards: Annotated[int | None, count(SHARDS_HELP, SAMPLING, default("n_shards"))] = None,
    engine: options.Engine = None,
    address: options.Address = None,
    checkpoint_every: options.CheckpointEvery = None,
    checkpoint_minutes: options.CheckpointMinutes = None,
    min_documents: options.MinDocuments = None,
    max_share: options.MaxShare = None,
    stop_words: options.StopWords = None,
    strict: options.Strict = None,
    directed: Annotated[
        bool | None, option("Whether the direction of links counts.", READING, "directed", "--directed/--undirected")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing model.")] = False,
    quiet: options.Quiet = False,
    check: options.Check = False,
    debug: options.Debug = False,
) -> None:
    """Fit a model and save it in a folder.

    Checkpoints are saved in the folder. Ctrl-C finishes the sweep, saves
    and stops; linktopics resume continues, also after a crash. A full disk
    does not stop the run: there is a warning, and it continues.

    DATA and all options except --overwrite, --quiet and --check can also be
    set in the file of --config; the command line takes precedence.
    """
    arguments = dict(locals())
    given = {name: value for name, value in arguments.items() if value is not None and name not in NOT_IN_CONFIG}
    from linktopics.cli.runs import check_settings, reporting_interrupts, saved_manifest, show_fit, training_options
    from linktopics.model.estimator import RelationalTopicModel
    from linktopics.sampler.debug import debug_checks
    from linktopics.storage.folder import ModelFolder

    options.check_values(given)
    chosen = {**({} if config is None else read_config(config)), **given}
    for name, cure in (("data", "name the data"), ("output", "say where the model goes: -o FOLDER")):
        if name not in chosen:
            raise DataError(f"{cure}; see linktopics fit --help.")
    estimator = RelationalTopicModel(**settings_of(chosen), verbose=False if quiet else "auto")
    check_settings(estimator)
    folder = ModelFolder(chosen["output"])
    training = training_options(chosen, folder)
    before = saved_manifest(folder)
    with debug_checks(check), folder.locked(overwrite=overwrite), reporting_interrupts(folder, before):
        network = _read(estimator, chosen)
        started = time.perf_counter()
        estimator.fit(network, overwrite=overwrite, **training)
    show_fit(estimator, folder.path, time.perf_counter() - started)


def _read(model: RelationalTopicModel, chosen: Mapping[str, Any]) -> DocumentNetwork:
    """Return the network, after checks that need it; print what was read and what the fit will do."""
    from linktopics.model.seed_words import resolve_seed_words
    from linktopics.network.inputs import check_sizes, check_tokens
    from linktopics.network.report import numbered

    network = read_network(str(chosen["data"]), chosen, [feature.column for feature in _columns(chosen)])
    resolve_seed_words(model.seed_words, model.seed_weight, model.n_topics, network)  # for its errors
    check_tokens(network)
    check_sizes(network)
    used = network.to_undirected() if model.directed is False and network.directed else network
    print_lines(f"{chosen['data']}: {describe_size(used)}")
    if not network.n_links:
        print_lines("there are no links: topics come from words alone, and links cannot be suggested.")
    sweeps = model.n_burn_in + model.n_samples * model.thin
    print_lines(f"{numbered(model.n_topics, 'topic')}, {numbered(model.n_chains, 'chain')} of {sweeps:,} sweeps")
    return network


def settings_of(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of the model that options stand for."""
    from linktopics.cli.runs import PARAMETERS
    from linktopics.features import DEFAULT_FEATURES

    parameters: dict[str, Any] = {"random_state": SEED, "n_jobs": -1}
    parameters.update({name: chosen[option] for option, name in PARAMETERS.items() if option in chosen})
    if "calibration" in chosen:
        parameters["calibration"] = None if chosen["calibration"] == "none" else chosen["calibration"]
    if "negatives" in chosen:
        parameters["negatives"] = read_negatives(chosen["negatives"])
    if "seed_words" in chosen:
        parameters["seed_words"] = _seed_words(chosen["seed_words"])
    if "feature" in chosen or "column" in chosen:
        names = list(chosen.get("feature", DEFAULT_FEATURES))
        if "none" in names and len(names) > 1:
            raise DataError("the feature none cannot be combined with others; leave it out, or the others.")
        names = [name for name in names if name != "none"]
        unknown = [name for name in names if name not in FEATURES]
        if unknown:
            raise DataError(f"no feature is called {unknown[0]!r}; there are {', '.join(FEATURES)}, and none.")
        parameters["pair_features"] = [*names, *_columns(chosen)] or None
    return parameters


def read_negatives(given: Any) -> Any:
    """Return the number of non-links as the model takes it."""
    if given == "auto":
        return given
    try:
        if isinstance(given, bool):
            raise TypeError
        return float(given)
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"negatives is {given!r}; it must be auto or a number.") from None


def _seed_words(given: Any) -> dict[int, list[str]]:
    """Return words by topic, written as 0:red,green; in a file of settings it is a table, "0" = ["red", "green"]."""
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
    """Return columns and how to compare them, written as year:difference."""
    from linktopics.features import Column

    features = []
    for text in chosen.get("column", ()):
        name, _, compare = str(text).partition(":")
        if not name or compare not in ("equal", "difference", "overlap"):
            raise DataError(f"the column {text!r} cannot be read; write NAME:equal, NAME:difference or NAME:overlap.")
        features.append(Column(name, compare))
    return features


def read_config(path: Path) -> dict[str, Any]:
    """Return the options in a TOML file, which has their names with dashes or underscores."""
    from linktopics.readers.files import read_bytes

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
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error).partition("; use sys.")[0]
        raise DataError(f"{path}: not TOML: {why}; a line is: topics = 20.") from None
    known = [name for name in inspect.signature(fit).parameters if name not in NOT_IN_CONFIG]
    found = {name.replace("-", "_"): value for name, value in values.items()}
    if "iterations" in found and "burn_in" not in found:  # its name in earlier versions
        found["burn_in"] = found.pop("iterations")
    if len(found) < len(values):
        repeated = next(name for name in values if "-" in name and name.replace("-", "_") in values)
        raise DataError(f"{path}: {repeated} is given twice, with - and with _; give it once.")
    for name in found:
        if name not in known:
            similar = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {similar[0].replace('_', '-')!r}?" if similar else "see linktopics fit --help."
            raise DataError(f"{path}: there is no option {name!r}; {hint}")
    for name in REPEATED_OPTIONS:
        if isinstance(found.get(name), str):
            found[name] = [found[name]]
    options.check_values(found, f"{path}: ")
    return found
