"""Show the topics with their words."""

from __future__ import annotations

from typing import Annotated, Literal

from linktopics.cli.defaults import default
from linktopics.cli.options import Debug, Format, Model, count, option
from linktopics.cli.output import CommandResult, TableColumn, emit, joined

EXAMPLE = "linktopics topics my-model --words 10 --documents 3"


def topics(
    model: Model,
    words: Annotated[int, count("Words per topic.")] = default("topics.n_words"),
    documents: Annotated[int, count("Documents per topic.", min=0)] = default("topics.n_documents"),
    coherence: Annotated[Literal["npmi", "umass", "cv"], option("Measure of coherence.")] = default(
        "coherence.measure"
    ),
    format: Format = "auto",
    debug: Debug = False,
) -> None:
    """Show the topics, most frequent first: share of all words, coherence, words and, with --documents, documents."""
    from linktopics.model.estimator import RelationalTopicModel

    fitted = RelationalTopicModel.load(model)
    table = fitted.topics(words, n_documents=documents, coherence=coherence)
    rows = [{"topic": topic, **row.to_dict(), "words": row["words"].split(", ")} for topic, row in table.iterrows()]
    columns = [
        TableColumn("topic", right=True),
        TableColumn("share", "{:.1%}".format, right=True),
        TableColumn("coherence", "{:+.2f}".format, right=True),
        TableColumn("attraction", "{:+.1f}".format, right=True),
        TableColumn("words", ", ".join, below=lambda row: [joined(row["documents"])] if documents else []),
    ]
    if documents:
        columns.append(TableColumn("documents", only="plain"))
    diversity = fitted.topic_diversity()
    note = (
        f"share: of all words in the documents. coherence: {coherence}, higher is better. attraction: weight of links "
        f"from the topic to itself. Topic diversity {diversity:.2f} (1: no word is among the first 25 of two topics)."
    )
    facts = {"coherence_measure": coherence, "topic_diversity": diversity}
    emit(CommandResult("topics", columns, rows, "topics", facts, notes=[note]), format)
