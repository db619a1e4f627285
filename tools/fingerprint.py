"""Print checksums of model results, to verify that a code change leaves them unchanged.

    python tools/fingerprint.py --json before.json     # before the change
    python tools/fingerprint.py --against before.json  # after it, on the same machine: exit code 1 if a sum differs

Eight short fits on the built-in network: the six Gibbs models of the paper, the default model with features and two
chains, and one in two shards. Then suggestions, explanations, words from links, an evaluation, and the predictions of
a model saved by an earlier version (`--saved FOLDER`, a model of the built-in network; `--save FOLDER` makes one).
Sums depend on the versions of Python and of packages and on the processor.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from linktopics import LinktopicsError, RelationalTopicModel, evaluate
from linktopics.datasets import load_stdlib

SHORT: dict[str, Any] = {"n_samples": 2, "thin": 2, "random_state": 7, "verbose": False}
PAPER = ("Gibbs-RTM", "Gibbs-gRTM", "Approx-gRTM", "Gibbs-MMRTM", "Gibbs-gMMRTM", "Approx-gMMRTM")
DIRECTIONS = ("both", "out", "in")
TEXT = "read and write files of comma separated values, sockets and threads that wait for a lock"
ATTRIBUTES = (
    *("topic_word_", "doc_topic_", "link_weights_", "link_weights_std_", "feature_weights_", "feature_weights_std_"),
    *("alpha_", "beta_", "log_joints_"),
)


def digest(*values: Any) -> str:
    """Return the SHA-256 of arrays, frames and plain values; names of columns do not count."""
    total = hashlib.sha256()
    for value in values:
        if isinstance(value, pd.DataFrame):
            value = [value[name].to_numpy() for name in value.columns]
        if isinstance(value, list):
            total.update(digest(*value).encode())
            continue
        array = np.asarray(value)
        plain = array.dtype.kind in "OUTS"
        total.update(str(array.shape).encode())
        total.update(repr(array.tolist()).encode() if plain else np.ascontiguousarray(array).tobytes())
    return total.hexdigest()


def of_model(model: RelationalTopicModel) -> str:
    """Return the sum of all that was fitted."""
    samples = [[s.log_joint, s.word_topic, s.doc_topic, s.weights, s.feature_weights, s.alpha] for s in model.samples_]
    return digest([getattr(model, name) for name in ATTRIBUTES], *samples)


def of_predictions(model: RelationalTopicModel) -> dict[str, str]:
    """Return the sums of a model's predictions."""
    ids = model.network_.ids.tolist()
    return {
        "transform": digest(model.transform([TEXT])),
        "predict_links": digest(*(model.predict_links(TEXT, direction=each) for each in DIRECTIONS)),
        "suggest_links": digest(*(model.suggest_links(TEXT, top=15, direction=each) for each in DIRECTIONS)),
        "suggest_links of known": digest(model.suggest_links_for(ids[:20], top=5)),
        "explain_link": digest(model.explain_link(ids[3], ids[40]), model.explain_link(None, ids[9], documents=TEXT)),
        "predict_words": digest(model.predict_words(ids[:3], linked_by=ids[5:9], top=20)),
        "topics": digest(model.topics(coherence="npmi", n_documents=3).astype({"documents": str})),
        "diagnostics": digest(model.diagnostics()),
    }


def sums(saved: Path | None, save: Path | None) -> dict[str, str]:
    """Return all sums by name."""
    network = load_stdlib()
    found = {"network": digest(network.counts.toarray(), network.links, network.ids)}
    for name in PAPER:
        found[name] = of_model(RelationalTopicModel.from_paper(name, 12, n_burn_in=20, **SHORT).fit(network))
    default = RelationalTopicModel(11, n_burn_in=20, n_chains=2, **SHORT).fit(network)
    found["default model, two chains"] = of_model(default)
    shards = RelationalTopicModel(9, n_burn_in=15, n_chains=1, n_shards=2, **SHORT).fit(network)
    found["two shards"] = of_model(shards)
    found |= of_predictions(default)
    models = {
        "linktopics": RelationalTopicModel(7, n_burn_in=10, n_chains=1, **SHORT),
        "hinge": RelationalTopicModel.from_paper("Gibbs-gMMRTM", 7, n_burn_in=10, **SHORT),
    }
    folds = evaluate(network, models, folds=3, random_state=5, verbose=False).folds
    found["evaluate"] = digest(folds[[name for name in folds.columns if not name.endswith("_seconds")]])
    if save is not None:
        default.save(save)
    if saved is not None:
        loaded = RelationalTopicModel.load(saved)
        found |= {f"saved model: {name}": value for name, value in of_predictions(loaded).items()}
        found["saved model: fitted"] = of_model(loaded)
        found["saved model: resumed"] = of_model(loaded.resume(n_samples=1))
    return found


def main() -> None:
    """Print the sums, and compare them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the sums to this file")
    parser.add_argument("--against", type=Path, help="compare with the sums in this file")
    parser.add_argument("--saved", type=Path, help="also the predictions of this model")
    parser.add_argument("--save", type=Path, help="save the default model here")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    try:
        found = sums(options.saved, options.save)
    except LinktopicsError as error:
        sys.exit(str(error))
    before = json.loads(options.against.read_text()) if options.against else {}
    for name, value in found.items():
        same = "" if name not in before else "  same" if before[name] == value else "  DIFFERENT"
        print(f"{name:<28} {value[:32]}{same}")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    if any(before.get(name, value) != value for name, value in found.items()):
        sys.exit(1)


if __name__ == "__main__":
    main()
