"""Serve pages of a model, and an API."""

from __future__ import annotations

import logging
import warnings
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from linktopics.cli.options import Debug, Model, count, option
from linktopics.cli.output import print_lines
from linktopics.errors import DataError
from linktopics.server.limits import Limits

EXAMPLE = "linktopics serve my-model --port 8080"

SERVER_LIBRARIES = ("starlette", "uvicorn", "httptools")

MAX_DEFAULT_PROCESSES = 4
"""Processes for questions about texts, unless more are asked for: each has the words and links of the network."""

JOBS_HELP = "Processes for requests about texts (default: cores, at most 4)."


def serve(
    model: Model,
    host: Annotated[str, option("Address to serve at.", metavar="HOST")] = "127.0.0.1",
    port: Annotated[int, count("Port; 0 is any that is free.", min=0, max=65535)] = 8000,
    max_text: Annotated[int, count("Longest text, in characters.", min=100, max=1_000_000)] = Limits.text,
    jobs: Annotated[int | None, count(JOBS_HELP)] = None,
    samples: Annotated[int, count("Posterior samples for questions about texts; 0 is all.", min=0)] = 12,
    title: Annotated[str | None, option("Title of the pages.", metavar="TEXT")] = None,
    evaluation: Annotated[Path | None, option("A result of linktopics evaluate to show.", metavar="FILE")] = None,
    debug: Debug = False,
) -> None:
    r"""Serve pages to explore a model in a browser: weights, topics, documents, and links of texts that you paste.

    Programs can use the API that /openapi.json describes. Nothing is
    changed in the model. Only this machine can reach the server unless
    --host says otherwise. Needs pip install 'linktopics\[web]'.
    """
    absent = [name for name in SERVER_LIBRARIES if find_spec(name) is None]
    if absent:
        raise DataError(f"the server needs {' and '.join(absent)}: pip install 'linktopics[web]'")
    from joblib import cpu_count

    from linktopics.explorer import Explorer
    from linktopics.server.app import create_app
    from linktopics.server.handlers import load_handler
    from linktopics.server.http import address_of, bind, is_loopback, names_of, run
    from linktopics.server.pinned_model import PinnedModel
    from linktopics.server.text_analysis import words_as_vectorizer
    from linktopics.server.workers import Workers

    with bind(host, port) as bound:  # before the model is loaded, which takes longer
        pinned = PinnedModel.pin(model)
        fitted = pinned.load()
        network = fitted.network_
        notes = []
        if network.vectorizer is None:
            network.vectorizer = words_as_vectorizer(network)
            notes.append(
                "The model has no vectorizer and cannot read texts; all other pages work."
                if network.vectorizer is None
                else "The model has no vectorizer: texts are searched for the words of its documents as they are."
            )
        limits = Limits(text=max_text)
        explorer = Explorer(fitted, evaluation=evaluation, title=title, folder=model)
        processes = min(MAX_DEFAULT_PROCESSES, cpu_count()) if jobs is None else jobs
        with Workers(partial(load_handler, pinned, limits, samples or None), processes) as workers:
            app = create_app(explorer, limits=limits, hosts=names_of(bound, host), handler=workers)
            app.state.api.warm_up()
            pinned.check()  # the pages show the manifest, too
            if not is_loopback(bound):
                warnings.warn(
                    f"everyone who can reach {host} can read the documents, without a password; "
                    "--host 127.0.0.1 is for this machine alone.",
                    stacklevel=2,
                )
            logging.basicConfig(format="%(asctime)s %(name)s: %(message)s")
            print_lines(*notes, f"Serving {model} at {address_of(bound, host)} (Ctrl-C stops it).")
            run(app, bound, limits)
