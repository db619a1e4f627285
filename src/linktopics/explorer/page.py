"""The HTML page from the files in static/: with links to them for a server, with their content for a report."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import posixpath
import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

STYLE, MAIN, PAGE = "style.css", "main.js", "index.html"
"""Files of the pages; the last one loads the others from static/..."""

STYLE_TAG = '<link rel="stylesheet" href="static/style.css">'
SCRIPT_TAG = '<script type="module" src="static/main.js"></script>'
TITLE_TAG = "<title>linktopics</title>"
CHARSET_TAG = '<meta charset="utf-8">'

REPORT_MARK = '<meta name="generator" content="linktopics report">'
"""Marks a file as a report, which a new one may replace."""

_IMPORT = re.compile(r'^import \{ \w+(?:, \w+)* \} from "(\.\.?/[\w/-]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(async )?function\b|const\b|let\b|class\b)", re.MULTILINE)

_UNSAFE = re.compile("[<>&\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufffe\uffff]")
"""Characters that could end the element with the data, are invisible, or are not characters."""


def static_names() -> list[str]:
    """Return the names of the files that pages are made of, with their folders, such as ``lib/dom.js``."""
    return sorted(_names_in(files(__package__).joinpath("static")))


def _names_in(folder: Any, prefix: str = "") -> Iterator[str]:
    for entry in folder.iterdir():
        if entry.is_file():
            yield prefix + entry.name
        else:
            yield from _names_in(entry, f"{prefix}{entry.name}/")


def static_file(name: str) -> str:
    """Return one of these files as text."""
    return files(__package__).joinpath("static").joinpath(name).read_text(encoding="utf-8")


def report_page(data: dict[str, Any], title: str) -> str:
    """Return a page that contains everything and loads nothing.

    Parameters
    ----------
    data : dict
        The content of the page, see `Explorer.report`.
    title : str
        The title of the window.
    """
    style = static_file(STYLE)
    script = join_modules({name: static_file(name) for name in static_names() if name.endswith(".js")})
    for name, content, end in ((STYLE, style, "</style"), ("the scripts", script, "</script")):
        if end in content.lower() or "<!--" in content:
            raise ValueError(f"{name} cannot be put into a page: it contains {end} or <!--.")
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )
    head = f'{CHARSET_TAG}\n<meta http-equiv="Content-Security-Policy" content="{policy}">\n{REPORT_MARK}'
    data_element = f'<script type="application/json" id="bundle">{to_json(data)}</script>'
    return _replace_tags(
        static_file(PAGE),
        {
            CHARSET_TAG: head,
            TITLE_TAG: f"<title>{_escape_title(title)}</title>",
            STYLE_TAG: f"<style>{style}</style>",
            SCRIPT_TAG: f'{data_element}\n<script type="module">{script}</script>',
        },
    )


def _replace_tags(page: str, parts: dict[str, str]) -> str:
    """Return a page with its tags, each of which must occur once, replaced by parts, which are not searched again."""
    for tag in parts:
        if page.count(tag) != 1:
            raise ValueError(f"{PAGE} must contain {tag} once.")
    pattern = "|".join(map(re.escape, parts))
    return re.sub(pattern, lambda match: parts[match[0]], page)


def _hash(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _escape_title(text: str) -> str:
    """Return a text escaped for an HTML element, without invisible characters."""
    shown = "".join(char if char.isprintable() else " " for char in text)
    return html.escape(" ".join(shown.split()))


def to_json(value: Any) -> str:
    r"""Return JSON that can be put into a script element of any page.

    Examples
    --------
    >>> to_json(["</script>", "a & b"])
    '["\\u003c/script\\u003e","a \\u0026 b"]'
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def join_modules(modules: dict[str, str]) -> str:
    r"""Return `MAIN` and the ES modules that it needs joined into one, each after those it imports from.

    Top-level names must differ between all modules.

    Parameters
    ----------
    modules : dict of str to str
        Source by name. Imports are one per line as ``import { a, b } from "./lib/file.js";``, relative to the module,
        and exports before a declaration.

    Examples
    --------
    >>> print(join_modules({
    ...     "main.js": 'import { two } from "./lib/two.js";\nconsole.log(two);\n',
    ...     "lib/two.js": "export const two = 2;\n",
    ... }), end="")
    // lib/two.js
    const two = 2;
    // main.js
    console.log(two);
    """
    parts = []
    for name in _in_order(modules):
        source = _EXPORT.sub("", _IMPORT.sub("", modules[name])).rstrip("\n")
        left = re.search(r"^\s*(import|export)\b.*|\bimport\(.*", source, re.MULTILINE)
        if left:
            raise ValueError(f"{name} cannot be joined with others because of: {left[0].strip()}")
        parts.append(f"// {name}\n{source}\n")
    return "".join(parts)


def _in_order(modules: dict[str, str]) -> list[str]:
    """Return the names of `MAIN` and the modules it needs so that each comes after those it imports from."""
    done: list[str] = []
    waiting: list[str] = []

    def visit(name: str, importer: str) -> None:
        if name in done:
            return
        if name not in modules:
            raise ValueError(f"{importer} imports from {name}, which does not exist.")
        if name in waiting:
            raise ValueError(f"{importer} and {name} import from each other.")
        waiting.append(name)
        for needed in _IMPORT.findall(modules[name]):
            visit(posixpath.normpath(posixpath.join(posixpath.dirname(name), needed)), name)
        done.append(waiting.pop())

    visit(MAIN, "the page")
    return done
