"""``linktopics topics``, ``suggest``, ``words`` and ``explain``."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np

from linktopics.commands.output import Column, Result, emit, joined, one_line, share
from linktopics.errors import DataError
from linktopics.index import index_library
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
        Column("words", ", ".join, below=lambda row: [joined(row["documents"])] if n_documents else []),
    ]
    if n_documents:
        columns.append(Column("documents", only="plain"))
    diversity = model.topic_diversity()
    notes = [
        f"share: of all words in the documents. coherence: {measure}, higher is better. attraction: weight of links "
        f"from the topic to itself. Topic diversity {diversity:.2f} (1: no word is among the first 25 of two topics)."
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
    search: str,
    format: str,
) -> None:
    """Print suggested links of a text or a document."""
    if sum(one is not None for one in (text, file, id)) != 1:
        raise DataError("say what to suggest links for: one of --text, --file and --id.")
    if search == "index" and index_library() is None:
        raise DataError("--search index needs faiss: pip install 'linktopics[index]', or leave the option out.")
    model = RelationalTopicModel.load(path)
    network = model.network_
    facts: dict[str, Any] = {"direction": direction, "interval": interval}
    if id is not None:
        known = find_id(network, id)
        facts["id"] = known
        frame = model.suggest_links_for([known], top=top, direction=direction, interval=interval, search=search)
        what = f"Suggested links of {one_line(str(known))}"
    else:
        read = text if file is None else _read_text(file)
        assert read is not None
        _check_text(network, read)
        frame = model.suggest_links(read, top=top, direction=direction, interval=interval, search=search)
        what = "Suggested links"
    rows = [{**row, "why": _reasons(row["why"])} for row in frame.drop(columns="document").to_dict("records")]
    columns = [
        Column("id", only="plain"),
        Column("title", only="plain"),
        Column("probability", share, right=True),
        *(Column(name, only="plain") for name in ("lower", "upper", "score", "why")),
        Column(f"{interval:.0%} of samples", only="table", cell=_range),
        Column("document, and why", only="table", cell=_named, below=lambda row: row["why"]),
    ]
    notes = [
        f"{model.calibration_.describe()} Beside each: its range in {interval:.0%} of the posterior samples, which "
        "does not hold all that is unknown. Before each reason: its share of what speaks for the link."
    ]
    if not rows:
        notes = ["There is no document to suggest: it is linked with all of them."]
    emit(Result("suggest", columns, rows, "suggestions", facts, what, notes), format)


def show_words(path: Path, links: Sequence[str] | None, linked_by: Sequence[str] | None, top: int, format: str) -> None:
    """Print the words that links predict."""
    if not links and not linked_by:
        raise DataError("say which documents are linked: --links id,id or --linked-by id,id.")
    model = RelationalTopicModel.load(path)
    out, into = (_ids(model.network_, given) for given in (links, linked_by))
    if not out and not into:
        raise DataError("no id was given; name linked documents: --links id,id or --linked-by id,id.")
    frame = model.predict_words(out or None, linked_by=into or None, top=top)
    rows = frame.drop(columns="document").to_dict("records")
    columns = [
        Column("word"),
        Column("probability", "{:.4f}".format, right=True),
        Column("lift", "{:.2f}".format, right=True),
    ]
    ways = (("links to", out), ("is linked to by", into))
    known = " and ".join(f"{way} {one_line(joined(ids))}" for way, ids in ways if ids)
    heading = f"Words of a document that {known}"
    notes = ["lift: how many times the probability is the word's share of all words."]
    emit(Result("words", columns, rows, "words", {"links": out, "linked_by": into}, heading, notes), format)


def show_explanation(path: Path, source: str, target: str, top: int, new_end: str, format: str) -> None:
    """Print what speaks for and against a link."""
    model = RelationalTopicModel.load(path)
    network = model.network_
    ends = find_id(network, source), find_id(network, target)
    frame = model.explain_link(*ends, new_end=new_end)
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
    pair = " → ".join(one_line(str(end)) for end in ends)
    heading = f"{pair}: score {score:+.2f}, which {verdict}; the data have {'one' if linked else 'none'}"
    rest = [f"{len(frame) - top:,} more of {len(frame):,} parts: --top {len(frame)}"] if len(frame) > top else []
    notes = [
        *rest,
        f"part: of the score, as if the {'first' if new_end == 'source' else 'second'} document was new and no link "
        "between the two was known. share: of all parts of the same sign.",
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


def _reasons(why: str) -> list[str]:
    """Take apart what the model joined; a reason may have semicolons of its own, and begins with its share."""
    return [reason for reason in re.split(r"; (?=\d\.\d\d )", why) if reason]


def _range(row: dict[str, Any]) -> str:
    lower, upper = row["lower"], row["upper"]
    return "" if lower != lower else f"{share(lower)} to {share(upper)}"


def _named(row: dict[str, Any]) -> str:
    """Return a document's id, and its title if it is another."""
    id, title = str(row["id"]), row["title"]
    return id if _absent(title) or title == id else f"{id}  {shorten(str(title), 60, placeholder=' ...')}"


def _check_text(network: DocumentNetwork, text: str) -> None:
    """Refuse a text of which nothing is known; of words here and there that are not, the model tells."""
    if not text.strip():
        raise DataError("the text is empty; write what the document is about.")
    if network.vectorizer is None:
        raise DataError("the model was fitted to word counts and cannot read texts; ask about a document with --id.")
    if not network.vectorize([text]).sum():
        begin = shorten(one_line(text), 60, placeholder=" ...")
        raise DataError(f"the text {begin!r} has no word that the model knows; write more, or words of its documents.")


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
    from linktopics.readers._markdown import read_note

    if str(file) == "-":
        return _read_standard_input()
    lines = read_lines(file)
    if file.suffix.lower() in (".md", ".markdown"):
        return read_note(lines, indented_code=True).text
    return "\n".join(lines)


def _read_standard_input() -> str:
    if sys.stdin is None:
        raise DataError("standard input is closed; give the text there, or with --text or --file FILE.")
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError("the text on standard input is not UTF-8; save it as UTF-8.") from None
    except OSError as error:
        raise DataError(f"standard input cannot be read ({error.strerror}); give --text or --file FILE.") from None
