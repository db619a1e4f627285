"""Make pictures of the pages of `linktopics report` and `linktopics serve`.

    python tools/make_screenshots.py [--all FOLDER]

Writes the pictures that the documentation shows to docs/images/explorer-PAGE-light-1280.png and so on; with --all, writes
every page in both themes and widths to FOLDER. A model of the built-in network is fitted and
evaluated, which takes some minutes. Needs chromium, playwright and the extra web.
"""

from __future__ import annotations

import argparse
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

from linktopics import RelationalTopicModel, datasets, evaluate
from linktopics.evaluation.baselines import TfidfCentroid, TfidfCosine
from linktopics.explorer import Explorer
from linktopics.explorer.report import write_report

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from support.browsing import find_browser, flags  # noqa: E402

WIDTHS = {1280: 860, 390: 844}
TALL = {"write": 1240, "document": 1240, "overview": 1240}
"""Heights of long pages at the wide width."""

TEXT = (
    "A small server that listens on a network socket, reads requests line by line and writes JSON answers. Connections "
    "are handled by an event loop, with a timeout for each client; headers are parsed as in email messages."
)


STRONGEST = """() => {
  const cells = [...document.querySelectorAll("rect[role=gridcell]")];
  const size = (cell) => (cell.matches(".attracts") && cell.dataset.a !== cell.dataset.b ? parseFloat(cell.style.getPropertyValue("--t")) : -1);
  return cells.indexOf(cells.toSorted((x, y) => size(y) - size(x))[0]);
}"""


def main() -> None:
    """Take a screenshot of each page."""
    from playwright.sync_api import sync_playwright

    browser_path = find_browser()
    if browser_path is None:
        raise SystemExit("There is no browser; install chromium.")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", type=Path, metavar="FOLDER", help="both themes and both widths, into this folder")
    everything = parser.parse_args().all
    looks = [("light", 1280), ("dark", 390)] if everything is None else list(product(("light", "dark"), WIDTHS))
    documentation = "".join(
        path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]
    )
    network = datasets.load_stdlib()
    model = estimator().fit(network)
    models = {"linktopics": estimator(), "tfidf": TfidfCosine(), "tfidf-centroid": TfidfCentroid()}
    evaluation = evaluate(network, models, folds=3, n_jobs=2)
    shown = {"evaluation": evaluation, "title": "Python's standard library"}
    explorer = Explorer(model, **shown)
    with tempfile.TemporaryDirectory() as folder, served(explorer) as server, sync_playwright() as playwright:
        report = Path(folder) / "report.html"
        write_report(model, report, **shown, verbose=False)
        browser = playwright.chromium.launch(executable_path=browser_path, args=flags())
        for scheme, width in looks:
            page = browser.new_page(color_scheme=scheme)
            for name, address, then in pages(report.as_uri(), server):
                height = TALL.get(name, WIDTHS[width]) if width > 1000 else WIDTHS[width]
                page.set_viewport_size({"width": width, "height": height})
                page.goto("about:blank")
                page.goto(address)
                page.wait_for_selector("main h1")
                then(page)
                page.wait_for_timeout(300)
                picture = f"explorer-{name}-{scheme}-{width}.png"
                if everything is not None or picture in documentation:
                    keep(page, (everything or ROOT / "docs" / "images") / picture)
            page.close()
        browser.close()


def pages(report: str, server: str) -> list[tuple[str, str, Any]]:
    """Return names and addresses of pages, and what to do there before the picture is made."""
    return [
        ("overview", f"{report}#/", nothing),
        ("weights", f"{report}#/weights", open_cell),
        ("graph", f"{report}#/graph", nothing),
        ("topics", f"{report}#/topics", nothing),
        ("topic", f"{report}#/topics/0", nothing),
        ("documents", f"{report}#/documents", nothing),
        ("document", f"{report}#/documents/189", nothing),
        ("write", f"{server}#/write", write),
    ]


def nothing(page: Any) -> None:
    """Leave a page as it is."""


def open_cell(page: Any) -> None:
    """Select the strongest off-diagonal weight on wide screens."""
    if page.viewport_size["width"] > 1000:
        page.locator("rect[role=gridcell]").first.wait_for()
        strongest = page.evaluate(STRONGEST)
        page.locator("rect[role=gridcell]").nth(strongest).click()
        page.wait_for_selector("aside .link-list")
        page.evaluate("scrollTo(0, 0)")
        page.mouse.move(0, 0)


def write(page: Any) -> None:
    """Enter a text, and leave a word out."""
    page.locator("textarea").fill(TEXT)
    page.wait_for_selector(".suggestions > li")
    page.locator(".answer-words button.word").nth(2).click()
    page.wait_for_selector(".difference")
    page.mouse.move(0, 0)
    page.keyboard.press("Escape")  # without the tooltip


def keep(page: Any, path: Path) -> None:
    """Write a picture."""
    path.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=path)
    print(f"{path.name}  {path.stat().st_size // 1024} kB")


def estimator() -> RelationalTopicModel:
    """Return the model of the README's first picture, not yet fitted."""
    return RelationalTopicModel(15, alpha=3, negatives=0.05, n_jobs=2, random_state=0)


@contextmanager
def served(explorer: Explorer) -> Iterator[str]:
    """Run a server in a thread."""
    import uvicorn

    from linktopics.server.app import create_app

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(create_app(explorer), port=port, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    yield f"http://127.0.0.1:{port}/"
    server.should_exit = True
    thread.join(timeout=10)


if __name__ == "__main__":
    main()
