"""What mkdocs does beside reading docs/: pages of the repository's root, links out of docs/, and equations as MathML."""

from __future__ import annotations

import html
import posixpath
import re
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]
ROOT_PAGES = {name: name.lower() for name in ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md")}
HOMES = {uri: name for name, uri in ROOT_PAGES.items()}

LINK = re.compile(r"\[([^]]*)]\((?!\w+:|[#/])([^)#\s]+)(#[^)\s]*)?\)")
EQUATION = re.compile(r'<(span|div) class="arithmatex">\s*\\[(\[](.*?)\\[)\]]\s*</\1>([.,;:]?)', re.DOTALL)


def on_files(files: Any, config: Any) -> Any:
    """Publish pages that stand at the root of the repository."""
    for name, uri in ROOT_PAGES.items():
        files.append(File.generated(config, uri, abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, page: Any, files: Any, **_: Any) -> str:
    """Let links find the pages of the root, and show those to what is not published as plain text."""
    uri = page.file.src_uri
    home = posixpath.dirname(HOMES.get(uri, f"docs/{uri}"))

    def published(link: re.Match[str]) -> str:
        text, path, anchor = link[1], link[2], link[3] or ""
        place = posixpath.normpath(posixpath.join(home, path))
        target = {"README.md": "index.md", **ROOT_PAGES}.get(place, place.removeprefix("docs/"))
        if files.get_file_from_path(target):
            return f"[{text}]({posixpath.relpath(target, posixpath.dirname(uri) or '.')}{anchor})"
        return text if (ROOT / place).exists() else link[0]

    return LINK.sub(published, markdown)


def on_page_content(content: str, **_: Any) -> str:
    """Turn TeX into MathML, which browsers show without help."""

    def mathml(equation: re.Match[str]) -> str:
        display = "block" if equation[1] == "div" else "inline"
        math = convert(html.unescape(equation[2]), display=display)
        math = math.replace("<mi>&#x0007E;</mi>", "<mo>&#x0223C;</mo>")  # \sim is an operator
        return f'<{equation[1]} class="equation" data-search-exclude>{math}{equation[3]}</{equation[1]}>'

    return EQUATION.sub(mathml, content)
