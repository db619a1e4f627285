"""Show the topics with their words."""

from __future__ import annotations

from typing import Annotated, Literal

from linktopics.cli.options import Debug, Format, Model, count, option
from linktopics.cli.output import Column, Result, emit, joined

EXAMPLE = "linktopics topics my-model --words 10 --documents 3"


def topics(
    model: Model,
    words: Annotated[int, count("Words per topic.")] = 8,
    documents: Annotated[int, count("Documents per topic.", min=0)] = 0,
    coherence: Annotated[Literal["npmi", "umass", "cv"], option("Measure of coherence.")] = "npmi",
    format: Format = "auto",
    debug: Debug = False,
) -> None:
    """Show the topics, most frequent first: share of all words, coherence, words, and documents if asked for."""
    from linktopics.model.estimator import RelationalTopicModel

    fitted = RelationalTopicModel.load(model)
    table = fitted.topics(words, n_documents=documents, coherence=coherence)
    rows = [{"topic": topic, **row.to_dict(), "words": row["words"].split(", ")} for topic, row in table.iterrows()]
    columns = [
        Column("topic", right=True),
        Column("share", "{:.1%}".format, right=True),
        Column("coherence", "{:+.2f}".format, right=True),
        Column("attraction", "{:+.1f}".format, right=True),
        Column("words", ", ".join, below=lambda row: [joined(row["documents"])] if documents else []),
    ]
    if documents:
        columns.append(Column("documents", only="plain"))
    diversity = fitted.topic_diversity()
    note = (
        f"share: of all words in the documents. coherence: {coherence}, higher is better. attraction: weight of links "
        f"from the topic to itself. Topic diversity {diversity:.2f} (1: no word is among the first 25 of two topics)."
    )
    facts = {"coherence_measure": coherence, "topic_diversity": diversity}
    emit(Result("topics", columns, rows, "topics", facts, notes=[note]), format)
