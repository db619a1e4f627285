"""MkDocs hooks: publish pages and figures from outside docs/, fix links to them, render equations as MathML."""

from __future__ import annotations

import html
import posixpath
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]
PAGES = (
    "examples/README.md",
    "studies/README.md",
    "studies/paper/README.md",
    "studies/paper/suggestions/suggestions.md",
    "studies/features/README.md",
    "studies/calibration/README.md",
    "benchmarks/results/README.md",
)
PUBLISHED = {
    **{name: name.lower() for name in ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md")},
    **{path: path for path in PAGES},
    "tools/extra.css": "extra.css",
}
"""Files outside docs/ by their place in the repository, and their place in the site."""
HOMES = {uri: name for name, uri in PUBLISHED.items()}

LINK = re.compile(r"\[([^]]*)]\((?!\w+:|[#/])([^)#\s]+)(#[^)\s]*)?\)")
FIGURE = re.compile(r"^\*Figure: (.+) \(([\w./-]+\.png)\)\*$", re.MULTILINE)
EQUATION = re.compile(r'<(span|div) class="arithmatex">\s*\\[(\[](.*?)\\[)\]]\s*</\1>([.,;:]?)', re.DOTALL)


def on_files(files: Any, config: Any) -> Any:
    """Publish files outside docs/, and figures, which are drawn now from the tables in the repository."""
    for name, uri in PUBLISHED.items():
        files.append(File.generated(config, uri, abs_src_path=str(ROOT / name)))
    for uri, content in pictures().items():
        files.append(File.generated(config, uri, content=content))
    return files


@cache
def pictures() -> dict[str, bytes]:
    """Return all figures of the pages of results by their place in the repository."""
    sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]
    import page
    from studies import pages

    drawn = [*pages.pictures(), *page.pictures()]
    return {path.relative_to(ROOT).as_posix(): content for path, content in drawn}


def on_page_markdown(markdown: str, page: Any, files: Any, **_: Any) -> str:
    """Show figures, let links find the pages outside docs/, and show links to unpublished files as plain text."""
    uri = page.file.src_uri
    home = posixpath.dirname(HOMES.get(uri, f"docs/{uri}"))

    def published(link: re.Match[str]) -> str:
        text, path, anchor = link[1], link[2], link[3] or ""
        place = posixpath.normpath(posixpath.join(home, path))
        target = {"README.md": "index.md", **PUBLISHED}.get(place, place.removeprefix("docs/"))
        if files.get_file_from_path(target):
            return f"[{text}]({posixpath.relpath(target, posixpath.dirname(uri) or '.')}{anchor})"
        return text if (ROOT / place).exists() else link[0]

    return LINK.sub(published, FIGURE.sub(r"![\1](\2)", markdown))


def on_page_content(content: str, **_: Any) -> str:
    """Turn TeX into MathML, which browsers show without help."""

    def mathml(equation: re.Match[str]) -> str:
        display = "block" if equation[1] == "div" else "inline"
        math = convert(html.unescape(equation[2]), display=display)
        math = math.replace("<mi>&#x0007E;</mi>", "<mo>&#x0223C;</mo>")  # \sim is an operator
        return f'<{equation[1]} class="equation" data-search-exclude>{math}{equation[3]}</{equation[1]}>'

    return EQUATION.sub(mathml, content)
