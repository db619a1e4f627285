"""``linktopics serve``."""

from __future__ import annotations

import logging
import warnings
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import typer
from joblib import cpu_count

from linktopics.errors import DataError
from linktopics.explorer import Explorer
from linktopics.explorer.answers import load_answers
from linktopics.explorer.limits import Limits
from linktopics.explorer.pinned import PinnedModel
from linktopics.explorer.texts import words_as_vectorizer
from linktopics.model import RelationalTopicModel

__all__ = ["serve_model"]

NEEDED = ("starlette", "uvicorn", "httptools")

MOST_WORKERS = 4
"""Processes for questions about texts, unless more are asked for: each has the words and links of the network."""


def serve_model(
    path: Path,
    host: str,
    port: int,
    max_text: int,
    jobs: int | None,
    n_samples: int | None,
    title: str | None,
    evaluation: Path | None,
) -> None:
    """Serve the pages of a model until Ctrl-C."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise DataError(f"the server needs {' and '.join(missing)}: pip install 'linktopics[web]'")
    from linktopics.explorer.server import create_app
    from linktopics.explorer.serving import address_of, bind, is_loopback, names_of, run
    from linktopics.explorer.workers import Workers

    with bind(host, port) as bound:  # before the model is loaded, which takes longer
        model = RelationalTopicModel.load(path)
        pinned = PinnedModel(path, model._run.checksum)
        network = model.network_
        notes = []
        if network.vectorizer is None:
            network.vectorizer = words_as_vectorizer(network)
            notes.append(
                "The model has no vectorizer and cannot read texts; all other pages are there."
                if network.vectorizer is None
                else "The model has no vectorizer: in texts, it is looked for the words of its documents as they are."
            )
        limits = Limits(text=max_text)
        explorer = Explorer(model, evaluation=evaluation, title=title, folder=path)
        processes = min(MOST_WORKERS, cpu_count()) if jobs is None else jobs
        with Workers(partial(load_answers, pinned, limits, n_samples), processes) as workers:
            app = create_app(explorer, limits=limits, hosts=names_of(bound, host), answers=workers)
            app.state.api.warm_up()
            pinned.check()  # the pages tell what the manifest says, too
            if not is_loopback(bound):
                warnings.warn(
                    f"everyone who can reach {host} can read the documents, and nobody is asked for a password; "
                    "--host 127.0.0.1 is for this machine alone.",
                    stacklevel=2,
                )
            logging.basicConfig(format="%(asctime)s %(name)s: %(message)s")
            typer.echo("\n".join([*notes, f"Serving {path} at {address_of(bound, host)} (Ctrl-C stops it)."]))
            run(app, bound, limits)
