"""Make a small model in today's format, with suggestions to compare: python tests/data/make_model.py.

The test of earlier versions reads it for as long as its format is supported: when the format changes, raise FORMAT and
run this again, which adds a model and leaves those of other formats as they are.
"""

import json
import shutil
from pathlib import Path

from scipy.special import expit

from linktopics import DocumentNetwork, RelationalTopicModel
from linktopics.storage.manifest import FORMAT

HERE = Path(__file__).parent
TEXTS = {
    "cat": "cats purr and sleep on cushions",
    "kitten": "kittens play, purr and chase mice",
    "mouse": "mice eat cheese while cats sleep",
    "star": "stars shine and planets circle stars",
    "planet": "planets circle stars, moons circle planets",
    "moon": "moons shine by light of stars",
}
LINKS = [("kitten", "cat"), ("mouse", "cat"), ("mouse", "kitten"), ("planet", "star"), ("moon", "planet")]
TEXT = "kittens and mice sleep, stars shine"


def main() -> None:
    """Write model-N and model-N.json beside this file."""
    network = DocumentNetwork.from_texts(TEXTS, LINKS, titles=[name.title() for name in TEXTS])
    short = {"n_burn_in": 10, "n_samples": 1, "thin": 1, "n_chains": 2, "negatives": 2}
    model = RelationalTopicModel(3, **short, random_state=0, verbose=False).fit(network)
    folder = HERE / f"model-{FORMAT}"
    shutil.rmtree(folder, ignore_errors=True)
    model.save(folder)
    found = model.suggest_links(TEXT, top=3)
    expected = {"text": TEXT, "ids": found["id"].tolist(), "probabilities": expit(found["score"]).round(9).tolist()}
    (HERE / f"model-{FORMAT}.json").write_text(json.dumps(expected, indent=1) + "\n")
    print(f"{folder}: {sum(path.stat().st_size for path in folder.iterdir()):,} bytes")


if __name__ == "__main__":
    main()
