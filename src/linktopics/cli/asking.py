"""The commands ``topics``, ``suggest``, ``words`` and ``explain``: questions to a fitted model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from linktopics.cli._app import Debug, app
from linktopics.cli._options import NUMBER, REAL, Coherence, Direction, End, Format, FormatOption, Model, Search, Top

__all__: list[str] = []


@app.command(
    short_help="Show the topics with their words.",
    epilog="Example: linktopics topics my-model --words 10 --documents 3",
)
def topics(
    model: Model,
    words: Annotated[int, typer.Option(min=1, metavar=NUMBER, help="Words per topic.")] = 8,
    documents: Annotated[int, typer.Option(min=0, metavar=NUMBER, help="Documents per topic.")] = 0,
    coherence: Annotated[Coherence, typer.Option(help="Measure of coherence.")] = Coherence.npmi,
    format: FormatOption = Format.auto,
    debug: Debug = False,
) -> None:
    """Show the topics, most frequent first: share of all words, coherence, words, and documents if asked for."""
    from linktopics.commands.asking import show_topics

    show_topics(model, words, documents, coherence.value, format.value)


@app.command(
    short_help="Suggest links of a text or a document, with reasons.",
    epilog='Example: linktopics suggest my-model --text "Neural networks that read graphs." --top 5',
)
def suggest(
    model: Model,
    text: Annotated[
        str | None, typer.Option(metavar="TEXT", help="The text of a new document.", show_default=False)
    ] = None,
    file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file with the text; - is standard input.", show_default=False)
    ] = None,
    id: Annotated[
        str | None,
        typer.Option(
            metavar="ID", help="A document of the network; what it is linked with is not suggested.", show_default=False
        ),
    ] = None,
    top: Top = 10,
    direction: Annotated[Direction, typer.Option(help="Links from the document, to it, or both.")] = Direction.both,
    interval: Annotated[
        float, typer.Option(min=0.01, max=0.99, metavar=REAL, help="Share of posterior samples that ranges show.")
    ] = 0.9,
    search: Annotated[
        Search, typer.Option(help="Rank all documents, or candidates from an index; auto: by their number.")
    ] = Search.auto,
    format: FormatOption = Format.auto,
    debug: Debug = False,
) -> None:
    """Suggest links of a new text, or of a document of the network, with probability and reasons.

    Beside each probability stands its range over posterior samples, which
    does not hold all that is unknown.
    """
    from linktopics.commands.asking import show_suggestions

    show_suggestions(model, text, file, id, top, direction.value, interval, search.value, format.value)


Ids = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ID,ID",
        help="Documents that it links to; repeat the option where an id has a comma of its own.",
        show_default=False,
    ),
]
LinkedBy = Annotated[
    list[str] | None, typer.Option(metavar="ID,ID", help="Documents that link to it.", show_default=False)
]


@app.command(
    short_help="Show the words that links predict.",
    epilog="Example: linktopics words my-model --links asyncio,socket --top 15",
)
def words(
    model: Model,
    links: Ids = None,
    linked_by: LinkedBy = None,
    top: Top = 10,
    format: FormatOption = Format.auto,
    debug: Debug = False,
) -> None:
    """Show the words to expect in a document of which only links are known."""
    from linktopics.commands.asking import show_words

    show_words(model, links, linked_by, top, format.value)


@app.command(
    short_help="Show why two documents link, or do not.",
    epilog="Example: linktopics explain my-model asyncio.streams ssl",
)
def explain(
    model: Model,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="Id of the document that links.", show_default=False)],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="Id of the one it links to.", show_default=False)],
    top: Top = 10,
    new_end: Annotated[
        End, typer.Option(help="Which document is looked at as new; suggest --direction in asks about the target.")
    ] = End.source,
    format: FormatOption = Format.auto,
    debug: Debug = False,
) -> None:
    """Show why two documents link, or do not: the topics and features that speak for it and against it."""
    from linktopics.commands.asking import show_explanation

    show_explanation(model, source, target, top, new_end.value, format.value)
