"""The command ``serve``: pages and an API of a fitted model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from linktopics.cli._app import Debug, app
from linktopics.cli._options import NUMBER, Model

__all__: list[str] = []


@app.command(
    short_help="Serve pages of a model, and an API.",
    epilog="Example: linktopics serve my-model --port 8080",
)
def serve(
    model: Model,
    host: Annotated[str, typer.Option(metavar="HOST", help="Address to serve at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, metavar=NUMBER, help="Port; 0 is any that is free.")] = 8000,
    max_text: Annotated[
        int, typer.Option(min=100, max=1_000_000, metavar=NUMBER, help="Characters of a text that can be asked about.")
    ] = 20_000,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar=NUMBER,
            help="Processes for questions about texts (default: cores, at most 4).",
            show_default=False,
        ),
    ] = None,
    samples: Annotated[
        int, typer.Option(min=0, metavar=NUMBER, help="Posterior samples for questions about texts; 0 is all.")
    ] = 12,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Title of the pages.", show_default=False)] = None,
    evaluation: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A result of linktopics evaluate to show.", show_default=False),
    ] = None,
    debug: Debug = False,
) -> None:
    r"""Serve pages to explore a model in a browser: weights, topics, documents, and links of texts that you paste.

    Programs can ask the same: /openapi.json describes how. Nothing is
    changed in the model. Only this machine can reach the server unless
    --host says otherwise. Needs pip install 'linktopics\[web]'.
    """
    from linktopics.commands.serving import serve_model

    serve_model(model, host, port, max_text, jobs, samples or None, title, evaluation)
