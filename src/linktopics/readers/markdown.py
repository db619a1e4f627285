"""The parser of a Markdown or text file: its words, its names, and its links as written."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from functools import cache, partial
from typing import NamedTuple
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline, image, link
from markdown_it.token import Token

SUFFIXES = (".md", ".markdown", ".txt")
"""Suffixes of the files that are read, in the order in which a link without a suffix is resolved."""

_NOTE = rf"\.(?:{'|'.join(suffix[1:] for suffix in SUFFIXES)})$"

WIKI_LINK = re.compile(r"(!?)\[\[(?!\[)((?:[^\[\]\n]|\[[^\[\]\n]*\])+)\]\]")
ATTACHMENT = re.compile(rf"(?!{_NOTE})\.(?=[a-z0-9]*[a-z])[a-z0-9]{{1,10}}$", re.IGNORECASE)
"""A suffix at the end of a name, other than that of a note; 'Version 1.2' has none."""

MAX_NESTING = 200
"""Most levels of nested blocks, two per list; the parser's default of 20 would lose the lower levels of an outline."""

_OPENING = re.compile(r"<(?:(?P<comment>!--)|(?P<script>script\b)|(?P<style>style\b)|(?P<tag>))", re.IGNORECASE)
_CLOSING = {
    "comment": re.compile(r"-->|\Z"),
    "script": re.compile(r"</script\s*>", re.IGNORECASE),
    "style": re.compile(r"</style\s*>", re.IGNORECASE),
    "tag": re.compile(r">"),
}
_URLS_AND_BLOCK_IDS = re.compile(
    r"(?:\b[a-z][a-z0-9+.-]{1,20}://|\bwww\.)[^\s<>]+"
    r"|\(\([0-9a-f-]{36}\)\)|^[ \t]*(?:id|collapsed)::.*$",  # Logseq's ((id)) and its properties of blocks
    re.IGNORECASE | re.MULTILINE,
)

_YAML_FIELD = re.compile(r"([\w-]+)\s*:(?:\s+(.*))?$")
_LOGSEQ_FIELD = re.compile(r"([\w-]+)::\s*(.*)$")
_ITEM = re.compile(r"""\s*("(?:\\.|[^"\\])*"|'(?:''|[^'])*'|[^,]*)[^,]*(?:,|$)""")


class Target(NamedTuple):
    """Where a link leads, as written, without anchor and display text; empty for an anchor alone."""

    path: str
    kind: str  # "wiki", "markdown" or "image"


class Note(NamedTuple):
    """The content of one file."""

    text: str
    title: str | None  # of the front matter
    heading: str | None  # the first heading of level 1
    aliases: list[str]
    tags: list[str]
    targets: list[Target]


def read_note(lines: list[str], *, indented_code: bool) -> Note:
    """Return the parts of a note; in plain text files, four spaces at the beginning of a line do not mean code."""
    head, body = _split_head(lines)
    fields = _fields(head)
    targets = [_wiki_target(match[2])[0] for match in WIKI_LINK.finditer("\n".join(head))]
    tokens = _parser(indented_code).parse("\n".join(body))
    pieces, heading = [], None
    for position, token in enumerate(tokens):
        if token.type == "inline":
            pieces.append(_plain_text(token.children or [], targets))
            before = tokens[position - 1]
            if heading is None and before.tag == "h1" and before.level == 0:
                heading = " ".join(pieces[-1].split()) or None
        elif token.type == "html_block":
            pieces.append(html.unescape(_without_tags(token.content)))
    return Note(
        text=_URLS_AND_BLOCK_IDS.sub(" ", "\n".join(pieces)).strip(),
        title=" ".join(_field_values(fields.get("title", ""), None)) or None,
        heading=heading,
        aliases=_field_values(fields.get("aliases", fields.get("alias", "")), ","),
        tags=[tag.lstrip("#") for tag in _field_values(fields.get("tags", fields.get("tag", "")), r"[,\s]+")],
        targets=targets,
    )


# --------------------------------------------------------------------------------------------------------------------
# The body
# --------------------------------------------------------------------------------------------------------------------


class _Parser(MarkdownIt):
    """CommonMark with wiki links and any link target: a link with a rejected target would be read as text."""

    def validateLink(self, url: str) -> bool:  # noqa: N802
        return True


@cache
def _parser(indented_code: bool) -> _Parser:
    parser = _Parser("commonmark", {"maxNesting": MAX_NESTING})
    # within blocks the default of 20 is kept, because each bracket takes as many steps as this limit
    within = _Parser("commonmark")
    within.inline.ruler.before("link", "wiki_link", _wiki_rule)
    parser.core.ruler.at("inline", partial(_inline_rule, within))
    if not indented_code:
        parser.disable("code")
    return parser


def _inline_rule(parser: _Parser, state: StateCore) -> None:
    """Parse the text within blocks, with a parser that has its own rules."""
    for token in state.tokens:
        if token.type == "inline":
            token.children = []
            parser.inline.parse(token.content, parser, state.env, token.children)


def _wiki_rule(state: StateInline, silent: bool) -> bool:
    """Return whether ``[[target]]`` or ``![[target]]`` was parsed here; the text of a link ``[[1]](target)`` is not."""
    match = WIKI_LINK.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if state.src.startswith("(", match.end()):
        start = state.pos
        is_text = (image if match[1] else link)(state, True)
        state.pos = start
        if is_text:
            return False
    if not silent:
        token = state.push("wiki_link", "", 0)
        token.content, token.markup = match[2], match[1]
    state.pos = match.end()
    return True


def _without_tags(content: str) -> str:
    """Return text with a space for each tag, comment, script and style.

    A tag that is not closed is kept as text, and a comment that is not closed runs to the end. An end that was once not
    found is not searched again, as that would take quadratic time.
    """
    pieces, position = [], 0
    missing: set[str] = set()
    for opening in _OPENING.finditer(content):
        if opening.start() < position:
            continue  # within a comment or a script
        for kind in (str(opening.lastgroup), "tag"):  # a script without an end is a tag like others
            end = None if kind in missing else _CLOSING[kind].search(content, opening.end())
            if end is not None:
                pieces += [content[position : opening.start()], " "]
                position = end.end()
                break
            missing.add(kind)
    return "".join([*pieces, content[position:]])


def _plain_text(tokens: Sequence[Token], targets: list[Target]) -> str:
    """Return the text of a paragraph without markup, and append the targets of its links to `targets`."""
    pieces = []
    for position, token in enumerate(tokens):
        if token.type in ("text", "code_inline"):
            pieces.append(token.content)
        elif token.type in ("softbreak", "hardbreak") or token.content.lower().startswith("<br"):
            pieces.append("\n")
        elif token.type == "link_open" and not tokens[position + 1].content.startswith("^"):  # not a footnote
            targets.append(_markdown_target(str(token.attrs["href"]), "markdown"))
        elif token.type == "image":
            targets.append(_markdown_target(str(token.attrs["src"]), "image"))
            pieces.append(_plain_text(token.children or [], []))
        elif token.type == "wiki_link":
            target, shown = _wiki_target(token.content)
            targets.append(target)
            if not (token.markup and ATTACHMENT.search(target.path)):
                pieces.append(shown)
    return "".join(pieces)


def _wiki_target(inside: str) -> tuple[Target, str]:
    """Return the parts of a link within double brackets: the target, and the text shown."""
    path, _, alias = inside.replace("\\|", "|").partition("|")  # escaped in tables
    path, _, heading = path.partition("#")
    path = path.strip()
    name = re.sub(_NOTE, "", path.rpartition("/")[2], flags=re.IGNORECASE)
    shown = alias.strip() or f"{name} {'' if heading.startswith('^') else heading.replace('#', ' ')}".strip()
    return Target(path, "wiki"), shown


def _markdown_target(written: str, kind: str) -> Target:
    return Target(unquote(re.split("[#?]", written, maxsplit=1)[0]).strip(), kind)


# --------------------------------------------------------------------------------------------------------------------
# The head: YAML front matter, or the properties of a Logseq page
# --------------------------------------------------------------------------------------------------------------------


def _split_head(lines: list[str]) -> tuple[list[str], list[str]]:
    """Return the lines before the text, and the text.

    What is between two rules is text if its first line is not a field.
    """
    if lines and lines[0].rstrip() == "---":
        end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), 0)
        head = lines[1:end]
        first = next((line for line in head if line.strip() and not line.startswith("#")), None)
        if end and (first is None or _YAML_FIELD.match(first)):
            return head, lines[end + 1 :]
    number = next((number for number, line in enumerate(lines) if not _LOGSEQ_FIELD.match(line)), len(lines))
    return lines[:number], lines[number:]


def _fields(head: list[str]) -> dict[str, str]:
    """Return the fields of the head by name, each with its further lines, such as the items of a list."""
    fields: dict[str, str] = {}
    name = ""
    for line in head:
        match = _LOGSEQ_FIELD.match(line) or _YAML_FIELD.match(line)
        if match:
            name = match[1].lower()
            fields[name] = match[2] or ""
        elif name:
            fields[name] += "\n" + line.strip()
    return fields


def _field_values(value: str, separator: str | None) -> list[str]:
    """Return a field as a list: ``[a, "b"]``, a line ``- a`` for each, or texts with separators between them."""
    value = value.strip()
    lines = [line for line in value.split("\n") if line and not line.startswith("#")]
    if lines and all(re.match(r"-(?:\s|$)", line) for line in lines):
        items = [line[1:] for line in lines]
    elif separator and value.startswith("[") and not value.startswith("[["):
        inside = " ".join(lines)[1:].rpartition("]")[0]
        items = [match[1] for match in _ITEM.finditer(inside)]
    elif separator is None or value.startswith(('"', "'")):
        items = [re.sub(r"^[|>][+-]?\s+", "", " ".join(lines))]
    else:
        value = re.sub(r"(?:^|\s)#\s.*", "", " ".join(lines))
        items = re.split(separator, value)
    return [text for item in items if (text := _scalar(item))]


def _scalar(item: str) -> str:
    """Return one value of YAML on a line: quoted, or plain and perhaps followed by a comment."""
    item = item.strip()
    if match := re.match(r'"((?:\\.|[^"\\])*)"', item):
        item = re.sub(r"\\(.)", r"\1", match[1])
    elif match := re.match(r"'((?:''|[^'])*)'", item):
        item = match[1].replace("''", "'")
    else:
        item = re.sub(r"\s#\s.*", "", item)
        item = "" if item in ("~", "null") else item
    return re.sub(r"^\[\[(.*)\]\]$", r"\1", item.strip())
