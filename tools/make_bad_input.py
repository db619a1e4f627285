"""Make docs/reference/bad-input.md from the catalogue in tests/catalogue.

    python tools/make_bad_input.py

The tests check every message on the page.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "bad-input.md"
sys.path.insert(0, str(ROOT / "tests"))

from catalogue import GROUPS, Group, Kind  # noqa: E402

TOP = """# Invalid and unusual input

What happens with files, arrays and settings that are wrong or unusual: {n} kinds, each with a test. Either the result is right,
or one sentence says what is wrong, where, and what to do. Nothing is dropped silently, and no partial output is written.

On the command line the sentence is on standard error, after `linktopics:`, the exit code is 2, and no file is written. Options
that do not exist and most values that an option does not take are usage errors of the command line instead: `Usage: ...`, and in a
box `Invalid value for '--topics' / '-k': ...` or `No such option: ...`; the exit code is 2 as well. In Python the sentence is the
message of a `LinktopicsError` (`DataError`, `ModelError`), or for parameters of a `ValueError`. An ellipsis stands for what differs
from case to case, such as the folder.

Two limits are worth knowing. A gzip file may hold up to 1 GiB; unpack larger ones first. A word, and a
document, can have up to 16,777,215 tokens.
"""


def page() -> str:
    """Return the page."""
    n = sum(len(group.kinds) for group in GROUPS)
    return TOP.format(n=n) + "".join(map(section, GROUPS))


def section(group: Group) -> str:
    """Return the table of a group."""
    rows = "".join(f"| {cell(kind.what)} | {outcome(kind)} |\n" for kind in group.kinds)
    text = f"{group.text}\n\n" if group.text else ""
    return f"\n## {group.title}\n\n{text}| Input | Result |\n|---|---|\n{rows}"


def outcome(kind: Kind) -> str:
    """Return what happens with a kind of input."""
    if kind.says:
        return f"Refused: {cell(kind.says, code=True)}"
    told = f" Warning: {cell(kind.told, code=True)}." if kind.told else ""
    return f"{kind.gives}{told}"


def cell(text: str, *, code: bool = False) -> str:
    """Return text that can stand in a table."""
    text = text.replace("...", "…").replace("|", "\\|").replace("\n", " ")
    return f"`{text}`" if code and "`" not in text else text


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
