"""Measure how well links of unseen documents are found."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from linktopics.cli.defaults import default
from linktopics.cli.fit import LINK_COST, read_negatives
from linktopics.cli.options import Data, Debug, Seed, describe_size, given, option
from linktopics.cli.output import print_lines
from linktopics.errors import LinktopicsError

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table
    from rich.text import Text

    from linktopics.evaluation.evaluation import Evaluation

EXAMPLE = "linktopics evaluate cora --model linktopics --model tfidf --topics 25 --jobs 4"

gibbs = partial(option, panel="Gibbs models")
"""An option that only these models have."""


def both(parameter: str) -> str:
    """Return the default of a parameter in the paper's models, and in ours."""
    return f"{default(f'PAPER_SETTING.{parameter}')}, linktopics {default(parameter)}"


MODEL_HELP = (
    "A model; repeat the option for several. linktopics (default settings), Gibbs-RTM, Gibbs-gRTM, Approx-gRTM, "
    "Gibbs-MMRTM, Gibbs-gMMRTM, Approx-gMMRTM, Var-RTM, tfidf, bm25, tfidf-neighbours, tfidf-centroid, lsa, "
    "lda-cosine, lda-logistic, degree, random."
)
DEFAULT_MODELS = ["linktopics", "Gibbs-gRTM", "tfidf", "tfidf-centroid"]

OVERWRITE_HELP = "Let --output replace an existing file, even if it is not a result of linktopics evaluate."
NEGATIVES_HELP = "Non-links: auto, a fraction below 1, or a number per link."

FIRST_METRICS = ("link_rank", "auc", "hits_at_20", "mrr")
"""Metrics that stand first in the table; others follow as they were registered."""

SECONDS_TITLES = {"train_seconds": "train s", "test_seconds": "test s"}


def evaluate(
    data: Data,
    model: Annotated[list[str], typer.Option(help=MODEL_HELP)] = DEFAULT_MODELS,
    folds: Annotated[int, typer.Option(min=2, help="Number of folds.")] = default("evaluate.folds"),
    topics: Annotated[int, typer.Option(min=1, help="Number of topics, for models that have topics.")] = default(
        "n_topics"
    ),
    seed: Seed = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 1,
    words: Annotated[bool, typer.Option("--words/--no-words", help="Also predict words from links.")] = default(
        "evaluate.words"
    ),
    output: Annotated[Path | None, option("Save the results of all folds as CSV.", dir_okay=False)] = None,
    resume: Annotated[
        Path | None, option("Save finished folds in this file, and continue from it.", dir_okay=False)
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help=OVERWRITE_HELP)] = False,
    burn_in: Annotated[int | None, gibbs("Burn-in sweeps.", min=0, show_default=both("n_burn_in"))] = None,
    samples: Annotated[int | None, gibbs("Posterior samples per chain.", min=1, show_default=both("n_samples"))] = None,
    chains: Annotated[int | None, gibbs("Independent chains.", min=1, show_default=both("n_chains"))] = None,
    link_cost: Annotated[float | None, gibbs("Weight of a link in the loss.", show_default=LINK_COST)] = None,
    negatives: Annotated[str | None, gibbs(NEGATIVES_HELP, metavar="auto|X", show_default=both("negatives"))] = None,
    alpha: Annotated[float | None, gibbs("Prior tokens per document.", show_default=f"{default('alpha'):g}")] = None,
    debug: Debug = False,
) -> None:
    """Measure how well models predict the links and words of documents they have not seen.

    The documents are split into folds. For each fold, models learn from all
    other documents and then rank these by how likely the documents of the
    fold link with them. Link rank is the mean rank of the true links, word
    rank that of a document's words when they are predicted from its links;
    lower is better.
    """
    chosen = given(
        n_burn_in=burn_in,
        n_samples=samples,
        n_chains=chains,
        link_cost=link_cost,
        alpha=alpha,
        negatives=None if negatives is None else read_negatives(negatives),
    )
    from linktopics.datasets import open_network
    from linktopics.evaluation import evaluation
    from linktopics.model.estimator import PAPER_MODELS
    from linktopics.utils.atomic_write import atomic_write, check_output_path
    from linktopics.utils.terminal import make_console

    with_gibbs = {evaluation.DEFAULT_MODEL_NAME, *PAPER_MODELS}
    if chosen and not set(model) & with_gibbs:
        name = next(iter(chosen)).removeprefix("n_").replace("_", "-")
        raise LinktopicsError(
            f"--{name} is for linktopics and Gibbs models, and there is none among {', '.join(model)}."
        )
    if len(set(model)) < len(model):
        raise LinktopicsError(f"{max(model, key=model.count)} is named twice; give each model once.")
    try:
        models = {name: evaluation.make_model(name, topics, **(chosen if name in with_gibbs else {})) for name in model}
    except ValueError as error:
        raise LinktopicsError(str(error)) from None
    if output is not None:  # a mistake is reported before the work is done
        check_output_path(output, "result", _is_result, overwrite=overwrite)
    network = open_network(data)
    result = evaluation.evaluate(network, models, folds, words=words, n_jobs=jobs, random_state=seed, resume=resume)
    how = f"{folds} folds over documents, seed {seed}: mean ± standard deviation"
    print_lines(f"{data}: {describe_size(network)}", how, "")
    console = make_console()
    for table in results_tables(result, console.width):
        console.print(table)
    if output is not None:
        with atomic_write(output, "result") as new:
            result.to_csv(new)
        print_lines("", f"The results of all folds are in {output}.")


def _is_result(head: bytes) -> bool:
    """Return whether a file that begins like this may be replaced: a result of ours, or an empty file."""
    return not head or head.startswith(b"model,fold,")


def results_tables(result: Evaluation, width: int) -> list[Table]:
    """Return means and standard deviations over folds as tables of at most `width` columns; the best means are bold.

    Examples
    --------
    >>> import pandas as pd
    >>> from linktopics.evaluation.evaluation import Evaluation
    >>> from rich.console import Console
    >>> folds = pd.DataFrame({"model": ["tfidf"] * 2, "fold": [1, 2], "link_rank": [10.0, 12.0], "auc": [0.8, 0.9]})
    >>> Console(width=80).print(*results_tables(Evaluation(folds), 80))
    model  link rank     AUC %
    ──────────────────────────
    tfidf   11.0±1.4  85.0±7.1
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from linktopics.registry import METRICS

    summary = result.summary()
    metrics = {name: METRICS[name].title for name in dict.fromkeys((*FIRST_METRICS, *METRICS))}
    titles = {name: title for name, title in {**metrics, **SECONDS_TITLES}.items() if title}
    columns = [name for name in titles if name in summary and summary[name].notna().any()]
    cells = {name: _cells(name, summary[name], summary[f"{name}_std"]) for name in columns}
    widths = {name: 2 + max(len(titles[name]), *map(len, cells[name])) for name in columns}
    room = width - max(map(len, ("model", *summary.index)))
    parts: list[list[str]] = [[]]
    for name in columns:
        if parts[-1] and sum(widths[other] for other in parts[-1]) + widths[name] > room:
            parts.append([])
        parts[-1].append(name)
    tables = []
    for part in parts:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, 1), show_edge=False)
        table.add_column("model", no_wrap=True)
        for name in part:
            table.add_column(titles[name], justify="right", no_wrap=True)
        for number, model in enumerate(summary.index):
            table.add_row(Text(model), *[cells[name][number] for name in part])
        tables.append(table)
    return tables


def _cells(name: str, means: pd.Series, deviations: pd.Series) -> list[Text]:
    """Return the texts of a column, with as many decimals as leave four digits or so of the largest number."""
    from rich.text import Text

    from linktopics.registry import METRICS

    metric = METRICS.get(name)
    is_share, sign = (metric.is_share, metric.sign) if metric else (False, -1)
    scale = 100.0 if is_share else 1.0  # per cent, which leaves room for deviations
    largest = scale * means.abs().max()
    decimals = 1 if is_share or 10 <= largest < 1000 else 2 if largest < 10 else 0
    best = (means * sign).max()
    texts = []
    for mean, deviation in zip(means, deviations, strict=True):
        text = "–" if mean != mean else f"{scale * mean:,.{decimals}f}±{scale * deviation:,.{decimals}f}"
        texts.append(Text(text, "bold" if mean * sign == best else ""))
    return texts
