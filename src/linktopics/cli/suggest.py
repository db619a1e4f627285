"""Suggest links of a text or a document, with reasons."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated, Any, Literal

from linktopics.cli.defaults import default
from linktopics.cli.options import Debug, Format, Model, Top, find_id, option, real
from linktopics.cli.output import CommandResult, TableColumn, emit, format_percent, missing, one_line
from linktopics.errors import DataError, NetworkWarning

if TYPE_CHECKING:
    from linktopics.network import DocumentNetwork

EXAMPLE = 'linktopics suggest my-model --text "Neural networks that read graphs." --top 5'

ID_HELP = "A document of the network; what it is linked with is not suggested."
DIRECTION_HELP = "Links from the document, to it, or both."
INTERVAL_HELP = "Share of posterior samples that ranges show."
SEARCH_HELP = "Rank all documents, or candidates from an index; auto: by the number of documents."


def suggest(
    model: Model,
    text: Annotated[str | None, option("The text of a new document.", metavar="TEXT")] = None,
    file: Annotated[Path | None, option("A file with the text; - is standard input.", metavar="FILE")] = None,
    id: Annotated[str | None, option(ID_HELP, metavar="ID")] = None,
    top: Top = default("suggest_links.top"),
    direction: Annotated[Literal["both", "out", "in"], option(DIRECTION_HELP)] = default("suggest_links.direction"),
    interval: Annotated[float, real(INTERVAL_HELP, min=0.01, max=0.99)] = default("suggest_links.interval"),
    search: Annotated[Literal["auto", "exact", "index"], option(SEARCH_HELP)] = default("suggest_links.search"),
    format: Format = "auto",
    debug: Debug = False,
) -> None:
    """Suggest links of a new text, or of a document of the network, with probability and reasons.

    Each probability is shown with its range over posterior samples, which
    does not cover all uncertainty.
    """
    if sum(one is not None for one in (text, file, id)) != 1:
        raise DataError("say what to suggest links for: one of --text, --file and --id.")
    from linktopics.model.estimator import RelationalTopicModel
    from linktopics.prediction.index import index_library
    from linktopics.utils.user_warnings import warn_user

    if search == "index" and index_library() is None:
        raise DataError("--search index needs faiss: pip install 'linktopics[index]', or leave the option out.")
    fitted = RelationalTopicModel.load(model)
    facts: dict[str, Any] = {"direction": direction, "interval": interval}
    options: dict[str, Any] = {"top": top, "direction": direction, "interval": interval, "search": search}
    if id is not None:
        facts["id"] = find_id(fitted.network_, id)
        frame = fitted.suggest_links_for([facts["id"]], **options)
        title = f"Suggested links of {one_line(str(facts['id']))}"
    else:
        read, tags = (text or "", []) if file is None else _read_text(file)
        _check_text(fitted.network_, read)
        known = {"tags": tags} if tags else {}
        columns = {name: [known.get(name)] for name in fitted.network_.columns}
        unknown = [name for name in columns if name not in known]
        if unknown:
            warn_user(f"Not known of the text, and treated as average: {', '.join(unknown)}.", NetworkWarning)
        frame = fitted.suggest_links(fitted.network_.new_documents([read], columns=columns), **options)
        title = "Suggested links"
    rows = [{**row, "why": _reasons(row["why"])} for row in frame.drop(columns="document").to_dict("records")]
    shown = [
        TableColumn("id", only="plain"),
        TableColumn("title", only="plain"),
        TableColumn("probability", format_percent, right=True),
        *(TableColumn(name, only="plain") for name in ("lower", "upper", "score", "why")),
        TableColumn(f"{interval:.0%} of samples", only="table", cell=_interval_cell),
        TableColumn("document, and why", only="table", cell=_document_cell, below=lambda row: row["why"]),
    ]
    note = (
        f"{fitted.calibration_.describe()} Ranges are over {interval:.0%} of the posterior samples and do not "
        "cover all uncertainty. Before each reason: its share of all positive contributions."
    )
    notes = [note if rows else "There is no document to suggest: it is linked with all of them."]
    emit(CommandResult("suggest", shown, rows, "suggestions", facts, title, notes), format)


def _reasons(why: str) -> list[str]:
    """Return the reasons that the model joined; each begins with its share and may have semicolons of its own."""
    return [reason for reason in re.split(r"; (?=\d\.\d\d )", why) if reason]


def _interval_cell(row: dict[str, Any]) -> str:
    return "" if missing(row["lower"]) else f"{format_percent(row['lower'])} to {format_percent(row['upper'])}"


def _document_cell(row: dict[str, Any]) -> str:
    """Return a document's id, and its title if it differs."""
    id, title = str(row["id"]), row["title"]
    return id if missing(title) or title == id else f"{id}  {shorten(str(title), 60, placeholder=' ...')}"


def _check_text(network: DocumentNetwork, text: str) -> None:
    """Raise DataError if no word of a text is known; the model warns of single words that are not."""
    if not text.strip():
        raise DataError("the text is empty; write what the document is about.")
    if network.vectorizer is None:
        raise DataError("the model was fitted to word counts and cannot read texts; ask about a document with --id.")
    if not network.vectorize([text]).sum():
        begin = shorten(one_line(text), 60, placeholder=" ...")
        raise DataError(
            f"the text {begin!r} has no word of the model's vocabulary; write more, or words of its documents."
        )


def _read_text(file: Path) -> tuple[str, list[str]]:
    """Return a text, without the syntax of Markdown, and its tags."""
    from linktopics.readers.files import read_lines
    from linktopics.readers.markdown import read_note

    if str(file) == "-":
        return _read_standard_input(), []
    lines = read_lines(file)
    if file.suffix.lower() in (".md", ".markdown"):
        note = read_note(lines, indented_code=True)
        return note.text, note.tags
    return "\n".join(lines), []


def _read_standard_input() -> str:
    if sys.stdin is None:
        raise DataError("standard input is closed; give the text there, or with --text or --file FILE.")
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError("the text on standard input is not UTF-8; save it as UTF-8.") from None
    except OSError as error:
        raise DataError(f"standard input cannot be read ({error.strerror}); give --text or --file FILE.") from None
