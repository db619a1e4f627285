"""Draw pictures of the documentation: the paper's weights, and what `linktopics demo` prints.

    python tools/make_images.py

The weights are drawn from the tables of the paper's study. Pictures of the tutorial come from tools/make_tutorial.py, those of
pages from tools/make_screenshots.py.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
sys.path.insert(0, str(ROOT))

from studies.pages import figures_of, png  # noqa: E402


def main() -> None:
    """Draw both pictures."""
    (IMAGES / "paper-weights.png").write_bytes(png(figures_of("weights")["weights-Gibbs-gRTM.png"]))
    demo = [sys.executable, "-m", "linktopics", "demo", "--save-svg", str(IMAGES / "demo.svg")]
    subprocess.run(demo, check=True, capture_output=True, timeout=600)


if __name__ == "__main__":
    main()
