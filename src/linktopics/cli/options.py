"""Options that several commands share, and the networks and documents that they name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from linktopics.cli.defaults import default
from linktopics.errors import DataError

if TYPE_CHECKING:
    from linktopics.network import DocumentNetwork

DATA_HELP = (
    "A built-in network (stdlib, cora, citeseer, webkb), or a folder: documents.jsonl and links.csv; text or Markdown "
    "files that link to one another; LINQS; LDA-C (forms: {readers})."
)

STRICT_HELP = "Refuse data with links to nowhere, self links, duplicates or empty documents."
MINUTES_HELP = "Minutes between two checkpoints, if --checkpoint-every sweeps take longer."
ENGINE = default("fit.engine")

READING, SAMPLING = "Reading data", "Sampling"

SHOWS_TRACEBACK = "show_traceback"


def option(help: str, panel: str | None = None, default: Any = None, *names: str, **more: Any) -> Any:
    """Return an option; `default` is the value that None stands for, or words for it."""
    written = f"{default:g}" if isinstance(default, int | float) else default
    shown = help if default is None else f"{help.removesuffix('.')} (default {written})."
    return typer.Option(*names, help=shown, rich_help_panel=panel, **more)


count, real = partial(option, min=1, metavar="N"), partial(option, metavar="X")
"""Options with a whole number, at least 1 unless `min` is given, and with any number."""


def registered(names: Collection[str], *more: str) -> Callable[[str], str]:
    """Return a parser that accepts the names in a registry, also those that plugins add later."""

    def parse(name: str) -> str:
        if name not in names and name not in more:
            raise typer.BadParameter(f"{name!r} is not one of {', '.join(map(repr, (*names, *more)))}.")
        return name

    return parse


def _remember_debug(ctx: typer.Context, value: bool) -> bool:
    if value:
        ctx.find_root().ensure_object(dict)[SHOWS_TRACEBACK] = True
    return value


Debug = Annotated[
    bool, typer.Option("--debug", callback=_remember_debug, help="Show the traceback of an error.", show_default=False)
]
"""The option every command takes, before its name or after; its callback does all the work."""

Data = Annotated[str, typer.Argument(metavar="DATA", help=DATA_HELP)]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="The folder of a fitted model.")]
Format = Annotated[
    Literal["auto", "table", "plain", "csv", "json"],
    option(
        "table, plain (tabs between columns), csv or json; auto is table on a terminal and plain in a pipe.",
        metavar="FORMAT",
    ),
]
Top = Annotated[int, count("Rows to show.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress bar.")]
Seed = Annotated[int, typer.Option(min=0, help="The same seed gives the same result.")]

Jobs = Annotated[int | None, count("Threads.", SAMPLING, "all cores")]
Engine = Annotated[
    Literal["threads", "ray"] | None, option("What runs shards: threads, or a Ray cluster.", SAMPLING, ENGINE)
]
Address = Annotated[
    str | None,
    option("The Ray cluster: auto, or host:port.", SAMPLING, "Ray on this machine alone", metavar="ADDRESS"),
]
CheckpointEvery = Annotated[int | None, count("Sweeps between two checkpoints.", SAMPLING, default("Checkpoint.every"))]
CheckpointMinutes = Annotated[float | None, real(MINUTES_HELP, SAMPLING, default("Checkpoint.minutes"), min=0)]
Check = Annotated[
    bool,
    typer.Option(
        "--check", help="Recompute the sampler's state after each sweep and compare; takes several times as long."
    ),
]

MinDocuments = Annotated[int | None, count("Leave out words that occur in fewer documents.", READING, "1")]
MaxShare = Annotated[
    float | None, real("Leave out words that occur in a larger share of documents.", READING, "1", min=0, max=1)
]
StopWords = Annotated[
    str | None,
    option("Words to leave out: english, none, or a file with one per line.", READING, "english", metavar="NAME"),
]
Strict = Annotated[
    bool | None,
    option(STRICT_HELP, READING, None, "--strict"),
]


def _is_count(value: Any) -> bool:
    return type(value) is int and value >= 1


def _is_number(value: Any, most: float) -> bool:
    return type(value) in (int, float) and 0 < value <= most


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


OPTION_CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(("data", "output"), (lambda value: isinstance(value, str | Path), "a path between quotes")),
    **dict.fromkeys(("feature", "column"), (_are_texts, "a list of names between quotes")),
    **dict.fromkeys(("jobs", "checkpoint_every", "min_documents"), (_is_count, "a whole number of at least 1")),
    "seed_words": (
        lambda value: _are_texts(value) or isinstance(value, dict),
        'a list as ["0:red,green"], or a table as {0 = ["red", "green"]}',
    ),
    "checkpoint_minutes": (lambda value: _is_number(value, 1e9), "a number above 0, up to 1e9"),
    "max_share": (lambda value: _is_number(value, 1), "a share of the documents, above 0 and up to 1"),
    "stop_words": (lambda value: isinstance(value, str), "english, none or the name of a file with one word per line"),
    "strict": (lambda value: isinstance(value, bool), "true or false"),
    "engine": (lambda value: value in ("threads", "ray"), "threads or ray"),
    "address": (lambda value: isinstance(value, str), "the address of a Ray cluster between quotes, or auto"),
}
"""Requirements of options, as a test and in words; the model checks its own parameters."""


def check_values(values: Mapping[str, Any], place: str = "") -> None:
    """Raise DataError at the first value that its option does not take; a file of settings may hold any."""
    for name, value in values.items():
        fits, kind = OPTION_CHECKS.get(name, (None, ""))
        if fits is not None and not fits(value):
            raise DataError(f"{place}{name.replace('_', '-')} is {value!r}; it must be {kind}.")


def given(**values: Any) -> dict[str, Any]:
    """Return the options that were given, which are not None, by name."""
    return {name: value for name, value in values.items() if value is not None}


def read_network(data: str, options: Mapping[str, Any], columns: Sequence[str] = ()) -> DocumentNetwork:
    """Return the network of a name or path (see `linktopics.datasets.open_network`), read with the given options.

    Parameters
    ----------
    data : str
        A built-in network, a file or a folder.
    options : mapping from str to object
        Options; min_documents, max_share, stop_words and strict are used.
    columns : sequence of str
        Fields of documents to read.
    """
    from linktopics.datasets import open_network

    vectorizer = _vectorizer(options) if {"min_documents", "max_share", "stop_words"} & {*options} else None
    return open_network(data, vectorizer=vectorizer, columns=columns, strict=options.get("strict", False))


def _vectorizer(options: Mapping[str, Any]) -> Any:
    from linktopics.readers.files import read_lines
    from linktopics.readers.texts import default_vectorizer

    vectorizer = default_vectorizer()
    vectorizer.set_params(min_df=options.get("min_documents", 1), max_df=float(options.get("max_share", 1.0)))
    stop_words = options.get("stop_words", "english")
    if stop_words == "none":
        vectorizer.set_params(stop_words=None)
    elif stop_words != "english":
        words = [line.strip().lower() for line in read_lines(Path(stop_words))]
        vectorizer.set_params(stop_words=[word for word in words if word])
    return vectorizer


def describe_size(network: DocumentNetwork) -> str:
    """Return the numbers of documents, words, tokens and links."""
    return repr(network).partition("(")[2].removesuffix(")")


def find_id(network: DocumentNetwork, written: str) -> Any:
    """Return the id with this text; the id may be a number."""
    known = {str(id): id for id in reversed(network.ids.tolist())}
    if written not in known:
        network.index_of(written)  # raises an error that names similar ids
    return known.get(written, written)
