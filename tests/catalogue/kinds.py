"""What a kind of input is, and what data are made of."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["CSV", "JSONL", "TEXTS", "Group", "Kind", "jsonl", "pattern", "write"]

TEXTS = {"cat": "cats purr and sleep", "mouse": "mice fear cats", "star": "stars shine", "moon": "moons circle stars"}

Content = str | bytes


def jsonl(*records: Any, **texts: str) -> str:
    """Return documents as JSON lines: records as they are, and further texts by id."""
    rows = [*records, *({"id": id, "text": text} for id, text in texts.items())]
    return "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows)


JSONL = jsonl(**TEXTS)
CSV = "source,target\nmouse,cat\nmoon,star\n"


@dataclass(frozen=True)
class Kind:
    """A kind of input, given in one of four ways, and what comes of it in one of two.

    Attributes
    ----------
    what : str
        Its name on the page.
    files : mapping or callable or None
        Files by their names in a folder, or what makes them; ``linktopics info`` and ``linktopics fit`` are given it.
    command : sequence of str
        A command. DATA and MODEL stand for sound ones, NEW for where nothing is, HERE for the folder of `files`.
    model : callable or None
        What damages a copy of a sound model, which ``linktopics topics`` is given.
    call : callable or None
        A call of the library; it is given an empty folder.
    says : str
        The sentence with which it is refused, "..." for what is left out.
    gives : str
        What comes of it where it is not refused, for the page.
    told : str
        What commands say beside the result: what was dropped.
    holds : callable
        Whether the result is right: the network of files, the result of a call, or what a command prints.
    fitted : bool
        Whether a model is fitted to the files, too; it is where something is told.
    limit : int or None
        How much gzip files may hold, to make the trial quick.
    """

    what: str
    says: str = ""
    files: Mapping[str, Content] | Callable[[Path], object] | None = None
    command: tuple[str, ...] = ()
    model: Callable[[Path], object] | None = None
    call: Callable[[Path], Any] | None = None
    gives: str = ""
    told: str = ""
    holds: Callable[[Any], bool] = field(default=lambda _: True)
    fitted: bool = False
    limit: int | None = None


@dataclass(frozen=True)
class Group:
    """Kinds that belong together.

    Attributes
    ----------
    title : str
        Their heading on the page.
    text : str
        What the page says about all of them.
    kinds : list of Kind
        The kinds.
    """

    title: str
    text: str
    kinds: list[Kind]


def pattern(says: str) -> re.Pattern[str]:
    """Make a pattern of a sentence that has "..." where anything may stand."""
    return re.compile(".*".join(map(re.escape, says.split("..."))))


def write(folder: Path, files: Mapping[str, Content]) -> Path:
    """Write files into a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder
