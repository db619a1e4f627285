"""Show why two documents link, or do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from linktopics.cli.defaults import default
from linktopics.cli.options import Debug, Format, Model, Top, find_id, option
from linktopics.cli.output import CommandResult, TableColumn, emit, missing, one_line

if TYPE_CHECKING:
    from linktopics.network import DocumentNetwork

EXAMPLE = "linktopics explain my-model asyncio.streams ssl"

NEW_END_HELP = "Which document is treated as new; suggest --direction in treats the target as new."


def explain(
    model: Model,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="Id of the document that links.")],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="Id of the one it links to.")],
    top: Top = 10,
    new_end: Annotated[Literal["source", "target"], option(NEW_END_HELP)] = default("explain_link.new_end"),
    format: Format = "auto",
    debug: Debug = False,
) -> None:
    """Show why two documents link, or do not: what topics and features contribute to the score."""
    from linktopics.model.estimator import RelationalTopicModel

    fitted = RelationalTopicModel.load(model)
    network = fitted.network_
    ends = find_id(network, source), find_id(network, target)
    frame = fitted.explain_link(*ends, new_end=new_end)
    rows = [_with_reason(row) for row in frame.head(top).to_dict("records")]
    score = float(frame["contribution"].sum())
    linked = _has_link(network, *ends)
    facts = {"source": ends[0], "target": ends[1], "score": score, "linked": linked, "parts_in_all": len(frame)}
    columns = [
        TableColumn("contribution", "{:+.2f}".format, right=True),
        TableColumn("share", "{:.0%}".format, right=True),
        TableColumn("reason"),
    ]
    verdict = "in favour of a link" if score > 0 else "against a link"
    pair = " → ".join(one_line(str(end)) for end in ends)
    title = f"{pair}: score {score:+.2f}, {verdict}; the data have {'one' if linked else 'none'}"
    n, n_more = len(frame), len(frame) - top
    rest = [f"{n_more:,} more of {n:,} contributions: --top {n}"] if n_more > 0 else []
    notes = [
        *rest,
        f"contribution: part of the score, with the {'first' if new_end == 'source' else 'second'} document treated as "
        "new and links between the two ignored. share: of all contributions of the same sign.",
    ]
    emit(CommandResult("explain", columns, rows, "parts", facts, title, notes), format)


def _with_reason(row: dict[str, Any]) -> dict[str, Any]:
    """Return one contribution, also under its name in earlier versions, with a sentence for it."""
    named = {name: (None if missing(value) else value) for name, value in row.items()}
    if named["feature"] is None:
        reason = f"topics: {named['source_words']} → {named['target_words']}"
    else:
        detail = named["detail"]
        reason = f"{named['feature']}: {detail}" if detail else str(named["feature"])
    return {**named, "part": named["contribution"], "reason": reason}


def _has_link(network: DocumentNetwork, source: Any, target: Any) -> bool:
    pair = [network.index_of(source), network.index_of(target)]
    return bool((network.links == (pair if network.directed else sorted(pair))).all(axis=1).any())
