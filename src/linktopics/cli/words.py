"""Show the words that links predict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from linktopics.cli.defaults import default
from linktopics.cli.options import Debug, Format, Model, Top, find_id, option
from linktopics.cli.output import CommandResult, TableColumn, emit, joined, one_line
from linktopics.errors import DataError

if TYPE_CHECKING:
    from linktopics.network import DocumentNetwork

EXAMPLE = "linktopics words my-model --links asyncio,socket --top 15"

LINKS_HELP = "Documents that it links to; repeat the option if an id contains a comma."


def words(
    model: Model,
    links: Annotated[list[str] | None, option(LINKS_HELP, metavar="ID,ID")] = None,
    linked_by: Annotated[list[str] | None, option("Documents that link to it.", metavar="ID,ID")] = None,
    top: Top = default("WordPredictionMixin.predict_words.top"),
    format: Format = "auto",
    debug: Debug = False,
) -> None:
    """Show the words to expect in a document of which only links are known."""
    if not links and not linked_by:
        raise DataError("say which documents are linked: --links id,id or --linked-by id,id.")
    from linktopics.model.estimator import RelationalTopicModel

    fitted = RelationalTopicModel.load(model)
    out, into = (_ids(fitted.network_, given or []) for given in (links, linked_by))
    if not out and not into:
        raise DataError("no id was given; name linked documents: --links id,id or --linked-by id,id.")
    frame = fitted.predict_words(out or None, linked_by=into or None, top=top)
    rows = frame.drop(columns="document").to_dict("records")
    columns = [
        TableColumn("word"),
        TableColumn("probability", "{:.4f}".format, right=True),
        TableColumn("lift", "{:.2f}".format, right=True),
    ]
    directions = (("links to", out), ("is linked to by", into))
    known = " and ".join(f"{verb} {one_line(joined(ids))}" for verb, ids in directions if ids)
    title = f"Words of a document that {known}"
    notes = ["lift: the probability divided by the word's share of all words."]
    emit(CommandResult("words", columns, rows, "words", {"links": out, "linked_by": into}, title, notes), format)


def _ids(network: DocumentNetwork, given: Sequence[str]) -> list[Any]:
    """Return the ids of options that may hold several with commas between; an id may itself have a comma."""
    known = {str(id) for id in network.ids.tolist()}
    parts = [part for text in given for part in ([text] if text in known else text.split(","))]
    return [find_id(network, part.strip()) for part in parts if part.strip()]
