"""Run the commands and the Python of README.md and docs/tutorial.md again and put what they print into the pages.

    python tools/make_tutorial.py

A block of ``console`` holds commands after ``$`` and what they print. A block of ``python`` is run in one session with the
others, and a block of ``text`` right after it holds what it prints. Pictures go to docs/images. Takes some three minutes.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = (ROOT / "README.md", ROOT / "docs" / "tutorial.md")
IMAGES = ROOT / "docs" / "images"

BLOCK = re.compile(r"```(console|python)\n(.*?)```\n(?:\n```text\n.*?```\n)?", re.DOTALL)


def main() -> None:
    """Rewrite the pages."""
    for page in PAGES:
        rewrite(page)


def rewrite(page: Path) -> None:
    """Put what the blocks of a page print now into the page."""
    text = page.read_text(encoding="utf-8")
    session: dict[str, object] = {}
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            text = BLOCK.sub(lambda block: run(block[1], block[2], session), text)
            for picture in Path(folder).glob("*.png"):
                shutil.copy(picture, IMAGES / picture.name)
        finally:
            os.chdir(before)
    page.write_text(text, encoding="utf-8")


def run(kind: str, code: str, session: dict[str, object]) -> str:
    """Return a block with what it prints now."""
    if kind == "console":
        commands = [line[2:] for line in code.splitlines() if line.startswith("$ ")]
        return "```console\n" + "\n".join(f"$ {command}\n{shell(command)}" for command in commands) + "```\n"
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, kind, "exec"), session)
    output = clean(printed.getvalue())
    return f"```python\n{code}```\n" + (f"\n```text\n{output}```\n" if output else "")


def shell(command: str) -> str:
    """Run a command of linktopics as if on a terminal of 100 columns and return what it prints."""
    program, *arguments = shlex.split(command)
    assert program == "linktopics", command
    if arguments[0] in ("info", "topics", "suggest", "words", "explain"):
        arguments += ["--format", "table"]
    result = subprocess.run(
        [sys.executable, "-m", "linktopics", *arguments], capture_output=True, text=True, check=True, timeout=600,
        env={**os.environ, "COLUMNS": "100"},
    )  # fmt: skip
    return clean(result.stdout)


def clean(output: str) -> str:
    """Strip trailing spaces."""
    lines = [line.rstrip() for line in output.strip("\n").splitlines()]
    return "\n".join(lines) + "\n" if lines else ""


if __name__ == "__main__":
    main()
