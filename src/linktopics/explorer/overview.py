"""The first page: data, settings, quality of predictions, sampling, and provenance."""

from __future__ import annotations

import io
import json
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from linktopics import __version__
from linktopics.errors import DataError
from linktopics.evaluation.evaluation import DEFAULT_MODEL_NAME, Evaluation
from linktopics.evaluation.folds import RESULT_KEY
from linktopics.explorer.rounding import rounded
from linktopics.model.summary import mixing_advice
from linktopics.network import DocumentNetwork
from linktopics.network.report import summary_lines
from linktopics.registry import METRICS
from linktopics.storage.folder import ModelFolder
from linktopics.storage.run_writer import VERSIONED_PACKAGES

MAX_TRACE_POINTS = 300
"""Points of a trace."""

MAX_LABELS = 100
"""Distinct labels that are listed."""

HIDDEN_PARAMETERS = ("n_jobs", "verbose", "seed_words")
"""Parameters that do not define the model, or are too long to show."""

PACKAGES = (*VERSIONED_PACKAGES, "pandas")


def describe_data(network: DocumentNetwork, fingerprint: str) -> dict[str, Any]:
    """Return the sizes and kind of the network."""
    labels = None
    if network.labels is not None:
        distinct = sorted({str(label) for label in network.labels.tolist() if label is not None})
        labels = distinct if len(distinct) <= MAX_LABELS else None
    return {
        "documents": network.n_documents,
        "words": network.n_words,
        "tokens": network.n_tokens,
        "links": network.n_links,
        "directed": network.directed,
        "has_texts": network.texts is not None,
        "has_titles": network.titles is not None,
        "has_labels": network.labels is not None,
        "reads_texts": network.vectorizer is not None,
        "labels": labels,
        "fingerprint": fingerprint,
        "summary": "\n".join(line.strip() for line in summary_lines(network)[1:]),
        "report": network.report.describe(),
    }


def describe_settings(model: Any) -> list[list[str]]:
    """Return the parameters of a model with their values."""
    settings = [[name, _format(value)] for name, value in model.get_params().items() if name not in HIDDEN_PARAMETERS]
    resolved = [
        ["features of pairs", ", ".join(model.feature_names_) or "none"],
        ["cost of a link", _format(model.predictor.settings.link_cost)],
        ["training pairs", f"{model.n_pairs_:,}"],
        ["probabilities", model.calibration_.describe()],
    ]
    return settings + resolved


def _format(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    if value is None or isinstance(value, str | int):
        return str(value)
    if isinstance(value, list | tuple):
        return ", ".join(one if isinstance(one, str) else getattr(one, "name", type(one).__name__) for one in value)
    return type(value).__name__


def describe_quality(evaluation: Any) -> dict[str, Any] | None:
    """Return the quality of predictions of links and words of held-out documents.

    Parameters
    ----------
    evaluation : Evaluation, DataFrame, path or None
        The result of `evaluate`, or a file that ``linktopics evaluate`` wrote with --output or --resume.
    """
    if evaluation is None:
        return None
    folds, origin = _read_folds(evaluation)
    missing = [name for name in ("model", "fold") if name not in folds]
    measures = [name for name in METRICS if name in folds]
    if missing or not measures or not len(folds):
        measured = ", ".join(METRICS)
        raise DataError(
            f"{origin} is not a result of linktopics evaluate: it needs the columns model, fold and at least one of "
            f"{measured}."
        )
    numbers = all(is_numeric_dtype(folds[name]) or folds[name].isna().all() for name in ("fold", *measures))
    if not numbers or not all(isinstance(name, str) for name in folds["model"]):
        raise DataError(
            f"{origin} is not a result of linktopics evaluate: models must be names, folds and measures numbers."
        )
    summary = Evaluation(folds).summary()
    rows = [
        {
            "model": str(name),
            "measures": [
                {
                    "name": measure,
                    "mean": rounded(float(row[measure])),
                    "sd": rounded(float(row[f"{measure}_std"]), 2),
                    "better": "higher" if METRICS[measure].sign > 0 else "lower",
                    "description": METRICS[measure].description,
                }
                for measure in measures
                if row[measure] == row[measure]
            ],
        }
        for name, row in summary.iterrows()
    ]
    own = next((row for row in rows if row["model"] == DEFAULT_MODEL_NAME), rows[0])
    return {
        **own,
        "baselines": [row for row in rows if row is not own],
        "folds": int(folds["fold"].nunique()),
        "from": origin,
    }


def _read_folds(evaluation: Any) -> tuple[pd.DataFrame, str]:
    """Return a table of folds, and its origin."""
    if isinstance(evaluation, Evaluation):
        return evaluation.folds, "an evaluation"
    if isinstance(evaluation, pd.DataFrame):
        return evaluation, "a table of folds"
    path = Path(evaluation)
    if not path.is_file():
        raise DataError(f"there is no file {str(path)!r}; --evaluation names a result of linktopics evaluate.")
    try:
        text = path.read_text(encoding="utf-8")
        if text.startswith(f'{{"{RESULT_KEY}"'):  # a line for each finished task; the last may be incomplete
            return pd.DataFrame([json.loads(line) for line in text.split("\n")[:-1]]), path.name
        return pd.read_csv(io.StringIO(text)), path.name
    except (ValueError, RecursionError):
        raise DataError(
            f"{str(path)!r} is not a result of linktopics evaluate; write one with linktopics evaluate DATA --output "
            "FILE."
        ) from None


def describe_mixing(model: Any) -> dict[str, Any]:
    """Return how well the chains agree, and their traces with few points."""
    n_chains, n_sweeps = model.trace_["log joint"].shape
    step = max(1, -(-n_sweeps // MAX_TRACE_POINTS))
    table = [{"quantity": str(name), **{key: rounded(float(value)) for key, value in row.items()}}
             for name, row in model.diagnostics().iterrows()]  # fmt: skip
    return {
        "table": table,
        "traces": {name: _round_trace(values[:, step - 1 :: step]) for name, values in model.trace_.items()},
        "step": step,
        "burn_in": int(model.n_burn_in_),
        "sweeps": int(n_sweeps),
        "chains": int(n_chains),
        "samples": len(model.samples_),
        "best_chain": int(model.best_chain_),
        "verdict": mixing_advice(model),
    }


def _round_trace(values: np.ndarray) -> list[list[float | None]]:
    """Return numbers with as many digits as a thousandth of their range needs."""
    known = values[np.isfinite(values)]
    spread = float(np.ptp(known)) if known.size else 0.0
    largest = float(np.abs(known).max()) if known.size else 0.0
    digits = 4 if spread == 0.0 else int(np.ceil(np.log10(max(largest / spread, 1.0)))) + 4
    return rounded(values, min(digits, 12))


def describe_provenance(model: Any, fingerprint: str, folder: str | os.PathLike[str] | None) -> list[list[str]]:
    """Return the versions and the seed that made the model, and the version that describes it."""
    facts = [["described by", f"linktopics {__version__}"], ["seed", ", ".join(map(str, model.training_run.entropy))]]
    if folder is not None:
        manifest = ModelFolder(folder).read_manifest()
        facts.append(["saved", manifest.saved])
        facts += [[f"fitted with {name}", number] for name, number in manifest.versions.items()]
    else:
        facts += [["python", platform.python_version()], *([name, version(name)] for name in PACKAGES)]
    return [*facts, ["fingerprint of the data", fingerprint]]
