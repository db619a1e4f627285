"""Draw the pictures of the README and the pages.

    python docs/make_images.py

The built-in network, seed 0; takes about a minute. The tutorial's pictures come from docs/make_tutorial.py.
"""

from __future__ import annotations

from pathlib import Path

from linktopics import RelationalTopicModel, datasets, plots

IMAGES = Path(__file__).parent / "images"


def main() -> None:
    """Fit a model of the standard library and draw its weights."""
    model = RelationalTopicModel(15, alpha=3, negatives=0.05, n_jobs=-1, random_state=0).fit(datasets.load_stdlib())
    axes = plots.weight_matrix(model)
    axes.figure.savefig(IMAGES / "weights.png", dpi=110, bbox_inches="tight")


if __name__ == "__main__":
    main()
