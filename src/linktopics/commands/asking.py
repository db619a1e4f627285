"""``linktopics topics``, ``suggest``, ``words`` and ``explain``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np

from linktopics.commands.output import Column, Result, emit
from linktopics.errors import DataError
from linktopics.model import RelationalTopicModel
from linktopics.network import DocumentNetwork

__all__ = ["find_id", "show_explanation", "show_suggestions", "show_topics", "show_words"]


def show_topics(path: Path, n_words: int, n_documents: int, measure: str, format: str) -> None:
    """Print the topics of a model."""
    model = RelationalTopicModel.load(path)
    table = model.topics(n_words, n_documents=n_documents, coherence=measure)
    rows: list[dict[str, Any]] = []
    for topic, row in table.iterrows():
        rows.append({"topic": topic, **row.to_dict(), "words": row["words"].split(", ")})
    columns = [
        Column("topic", right=True),
        Column("share", "{:.1%}".format, right=True),
        Column("coherence", "{:+.2f}".format, right=True),
        Column("attraction", "{:+.1f}".format, right=True),
        Column("words", ", ".join),
    ]
    if n_documents:
        columns.append(Column("documents", lambda ids: "\n".join(map(str, ids))))
    diversity = model.topic_diversity()
    notes = [
        f"share: of all words. coherence: {measure}, higher is better. attraction: weight of links from the topic to "
        f"itself. Topic diversity {diversity:.2f} (1: no word is among the first 25 of two topics)."
    ]
    facts = {"coherence_measure": measure, "topic_diversity": diversity}
    emit(Result("topics", columns, rows, "topics", facts, notes=notes), format)


def show_suggestions(
    path: Path,
    text: str | None,
    file: Path | None,
    id: str | None,
    top: int,
    direction: str,
    interval: float,
    format: str,
) -> None:
    """Print suggested links of a text or a document."""
    if sum(one is not None for one in (text, file, id)) != 1:
        raise DataError("say what to suggest links for: one of --text, --file and --id.")
    model = RelationalTopicModel.load(path)
    network = model.network_
    facts: dict[str, Any] = {"direction": direction, "interval": interval}
    if id is not None:
        known = find_id(network, id)
        facts["id"] = known
        frame = model.suggest_links_for([known], top=top, direction=direction, interval=interval)
        what = f"Suggested links of {known}"
    else:
        read = text if file is None else _read_text(file)
        assert read is not None
        frame = model.suggest_links(read, top=top, direction=direction, interval=interval)
        what = "Suggested links"
    rows = [{**row, "why": row["why"].split("; ")} for row in frame.drop(columns="document").to_dict("records")]
    with_titles = network.titles is not None and any(row["title"] and row["title"] != row["id"] for row in rows)
    columns = [
        Column("id"),
        *([Column("title", lambda title: shorten(str(title), 40, placeholder=" ..."))] if with_titles else []),
        Column("probability", "{:.2f}".format, right=True),
        Column("lower", "{:.2f}".format, right=True),
        Column("upper", "{:.2f}".format, right=True),
        Column("why", "\n".join),
    ]
    notes = [
        f"Probabilities among pairs as trained on, with an interval of {interval:.0%}; their order is what counts. "
        "Before each reason: its share of what speaks for the link."
    ]
    emit(Result("suggest", columns, rows, "suggestions", facts, what, notes), format)


def show_words(path: Path, links: Sequence[str] | None, linked_by: Sequence[str] | None, top: int, format: str) -> None:
    """Print the words that links predict."""
    if not links and not linked_by:
        raise DataError("say which documents are linked: --links id,id or --linked-by id,id.")
    model = RelationalTopicModel.load(path)
    out, into = (_ids(model.network_, given) for given in (links, linked_by))
    frame = model.predict_words(out or None, linked_by=into or None, top=top)
    rows = frame.drop(columns="document").to_dict("records")
    columns = [Column("word"), Column("probability", "{:.4f}".format, right=True)]
    emit(Result("words", columns, rows, "words", {"links": out, "linked_by": into}), format)


def show_explanation(path: Path, source: str, target: str, top: int, format: str) -> None:
    """Print what speaks for and against a link."""
    model = RelationalTopicModel.load(path)
    network = model.network_
    ends = find_id(network, source), find_id(network, target)
    frame = model.explain_link(*ends)
    rows = [_part(row) for row in frame.head(top).to_dict("records")]
    score = float(frame["part"].sum())
    linked = _linked(network, *ends)
    facts = {"source": ends[0], "target": ends[1], "score": score, "linked": linked, "parts_in_all": len(frame)}
    columns = [
        Column("part", "{:+.2f}".format, right=True),
        Column("share", "{:.0%}".format, right=True),
        Column("reason"),
    ]
    verdict = "speaks for a link" if score > 0 else "speaks against a link"
    heading = f"{ends[0]} → {ends[1]}: score {score:+.2f}, which {verdict}; the data have {'one' if linked else 'none'}"
    notes = [
        "part: of the score, as if the first document was new and no link between the two was known. share: of all "
        "parts of the same sign."
    ]
    emit(Result("explain", columns, rows, "parts", facts, heading, notes), format)


def _part(row: dict[str, Any]) -> dict[str, Any]:
    """Return one part of a score with a sentence for it."""
    named = {name: (None if _absent(value) else value) for name, value in row.items()}
    if named["feature"] is None:
        reason = f"topics: {named['source_words']} → {named['target_words']}"
    else:
        detail = named["detail"]
        reason = f"{named['feature']}: {detail}" if detail else str(named["feature"])
    return {**named, "reason": reason}


def _absent(value: Any) -> bool:
    return value is None or value == "" or value != value or type(value).__name__ == "NAType"


def _linked(network: DocumentNetwork, source: Any, target: Any) -> bool:
    pair = [network.index_of(source), network.index_of(target)]
    wanted = pair if network.directed else sorted(pair)
    return bool((network.links == np.array(wanted)).all(axis=1).any())


def find_id(network: DocumentNetwork, written: str) -> Any:
    """Return the id that is written like this: itself, or a number."""
    known = {str(id): id for id in reversed(network.ids.tolist())}
    if written in known:
        return known[written]
    network.index_of(written)  # which knows what to say
    return written


def _ids(network: DocumentNetwork, given: Sequence[str] | None) -> list[Any]:
    """Return the ids of options that may hold several with commas between; an id may itself have a comma."""
    known = {str(id) for id in network.ids.tolist()}
    parts = [part for text in given or () for part in ([text] if text in known else text.split(","))]
    return [find_id(network, part.strip()) for part in parts if part.strip()]


def _read_text(file: Path) -> str:
    from linktopics.readers._files import read_lines

    if str(file) == "-":
        return sys.stdin.read()
    return "\n".join(read_lines(file))
