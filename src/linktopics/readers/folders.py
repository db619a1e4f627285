"""A folder of Markdown and text files, such as a notes vault, with the links found in the texts."""

from __future__ import annotations

import os
import posixpath
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from linktopics.errors import DataError
from linktopics.readers import TextParts, accepted_forms, register_reader
from linktopics.readers.files import read_lines, visible
from linktopics.readers.markdown import ATTACHMENT, SUFFIXES, Note, Target, read_note

_EXTERNAL = re.compile(r"[a-z][a-z0-9+.-]+:(?!\s)|//", re.IGNORECASE)
_ZETTEL_NUMBER = re.compile(r"\d{12,14}(?!\d)")


def read_folder(path: str | os.PathLike[str]) -> TextParts:
    """Return the Markdown and text files below a folder, with their links; see `DocumentNetwork.from_folder`."""
    root = Path(path)
    if not os.path.isdir(root):
        there = os.path.exists(root)
        wrong = "is a file; pass the folder that holds it" if there else "there is no such folder; check the path"
        raise DataError(f"{root}: {wrong}.")
    paths, others = find_files(root)
    if not paths:
        raise DataError(
            f"{root}: there is no {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]} file in the folder; check the path."
        )
    notes = [read_note(read_lines(root / name), indented_code=not name.lower().endswith(".txt")) for name in paths]
    if not any(note.text for note in notes):
        raise DataError(f"{root}: none of the {len(notes):,} text files in the folder contains any text; add some.")
    stems = [posixpath.splitext(name)[0] for name in paths]
    titles = [note.title or note.heading or posixpath.basename(stem) for note, stem in zip(notes, stems, strict=True)]
    index = _Index(paths, stems, titles, notes, others)
    ids = _ids(paths, stems)
    links = {  # a dict for its order; repeated links count once
        (ids[source], end if isinstance(end, str) else ids[end]): None
        for source, note in enumerate(notes)
        for target in note.targets
        if (end := index.resolve(source, target)) is not None
    }
    labels = [name.partition("/")[0] if "/" in name else None for name in paths]
    tagged = any(note.tags for note in notes)
    return {
        "texts": [_text(note, title) for note, title in zip(notes, titles, strict=True)],
        "links": list(links),
        "ids": ids,
        "titles": titles,
        "labels": labels if any(labels) else None,
        "columns": {"tags": [note.tags for note in notes]} if tagged else {},
    }


@register_reader(
    "folders",
    form=".md and .txt files with links in the text",
    recognises=lambda path: path.is_dir() and bool(find_files(path)[0]),
    gives="texts",
    is_fallback=True,
)
def _open(folder: Path, columns: Sequence[str]) -> TextParts:
    """Return a folder of text files; raise if there are no links between them."""
    parts = read_folder(folder)
    for name in columns:
        if name not in parts["columns"]:
            there = ", ".join(parts["columns"]) or "none"
            raise DataError(f"{folder}: the text files have no field {name!r} in their front matter; known: {there}.")
    ids = set(parts["ids"])
    if not any(source != target and target in ids for source, target in parts["links"]):
        raise DataError(
            f"{folder}: no links were found between the {len(ids):,} text files in the folder; link them as "
            f"[[name]] or [text](name.md), or pass {accepted_forms()}."
        )
    return parts


def find_files(root: Path) -> tuple[list[str], set[str]]:
    """Return the text files below a folder, sorted, and the set of other files and folders that links may lead to.

    Hidden files and folders and Logseq's own files are left out; folders that are symbolic links are not entered.
    """

    def refuse(error: OSError) -> None:
        raise DataError(f"{error.filename}: cannot be read ({error.strerror}); check its permissions.") from None

    texts, others = [], {"."}
    for folder, folders, files in os.walk(root, onerror=refuse):
        if "config.edn" in files and os.path.basename(folder) == "logseq":
            folders.clear()
            continue
        folders[:] = visible(folders)
        place = Path(folder).relative_to(root)
        others.update((place / name).as_posix() for name in folders)
        for name in visible(files):
            relative = (place / name).as_posix()
            if name.lower().endswith(SUFFIXES):
                texts.append(relative)
            else:
                others.add(relative)
    return sorted(texts), others


def _ids(paths: list[str], stems: list[str]) -> list[str]:
    """Return paths, without suffix where that names one file only."""
    taken, seen = set(paths), Counter(stems)
    return [stem if seen[stem] == 1 and stem not in taken else name for name, stem in zip(paths, stems, strict=True)]


def _text(note: Note, title: str) -> str:
    """Return the text of a note, beginning with the title."""
    return note.text if title == note.heading else f"{title}\n{note.text}"


# --------------------------------------------------------------------------------------------------------------------
# Where links lead
# --------------------------------------------------------------------------------------------------------------------


class _File(NamedTuple):
    position: int
    path: str
    stem: str


class _Index:
    """Finds the file that a link means: by its path, by its name anywhere, by alias or title."""

    def __init__(self, paths: list[str], stems: list[str], titles: list[str], notes: list[Note], others: set[str]):
        self.files = [_File(*row) for row in zip(range(len(paths)), paths, stems, strict=True)]
        self.others = others
        self.paths: dict[str, list[_File]] = {}
        self.names: dict[str, list[_File]] = {}
        self.other_names: dict[str, list[_File]] = {}
        for file, title, note in zip(self.files, titles, notes, strict=True):
            for full in (file.path, file.stem):
                self.paths.setdefault(_key(full), []).append(file)
                self.names.setdefault(_key(posixpath.basename(full)), []).append(file)
            for name in {_key(name) for name in (title, *note.aliases, *_spellings(file.stem))}:
                self.other_names.setdefault(name, []).append(file)

    def resolve(self, source: int, target: Target) -> int | str | None:
        """Return the document that a link means, or its target as written if there is none.

        None if it is not a link between documents.
        """
        if not target.path:
            return None  # an anchor in the same file
        folder = posixpath.dirname(self.files[source].path)
        found = self._wiki(target.path, folder) if target.kind == "wiki" else self._markdown(target.path, folder)
        if found:
            return min(found, key=lambda file: _preference(file, folder, target.path)).position
        inside = _join("" if target.path.startswith("/") else folder, target.path)
        no_note = target.kind == "image" or _EXTERNAL.match(target.path) or ATTACHMENT.search(target.path)
        return None if no_note or inside in self.others else target.path

    def _wiki(self, target: str, folder: str) -> list[_File]:
        """Return what ``[[target]]`` may mean, as in Obsidian: a path, the end of a path, or another name of a note."""
        if target.startswith(("/", "./", "../")):
            return self.paths.get(_key(_join("" if target.startswith("/") else folder, target)), [])
        key = _key(target)
        ends = self.names.get(posixpath.basename(key), [])
        return (
            self.paths.get(key)
            or [file for file in ends if any(_key(full).endswith("/" + key) for full in (file.path, file.stem))]
            or self.other_names.get(key, [])
        )

    def _markdown(self, target: str, folder: str) -> list[_File]:
        """Return what ``[text](target)`` may mean: relative to the file, then to the root; or a name of one file."""
        for start in [""] if target.startswith("/") else [folder, ""]:
            if found := self.paths.get(_key(_join(start, target))):
                return found
        named = self.names.get(_key(target), [])
        return named if len(named) == 1 else []


def _spellings(stem: str) -> list[str]:
    """Return other names of a file, for pages within Logseq pages and for Zettels with a number."""
    name = posixpath.basename(stem)
    number = _ZETTEL_NUMBER.match(name)
    return [unquote(name), name.replace("___", "/"), *([number[0]] if number else [])]


def _preference(file: _File, folder: str, target: str) -> tuple[bool, bool, int, int, str]:
    """Return the sort key of a file that a link may mean.

    First are paths as written, then those in the folder of the link, near the root, and Markdown files.
    """
    outside = bool(folder) and not file.path.startswith(folder + "/")
    rank = SUFFIXES.index(posixpath.splitext(file.path)[1].lower())
    return target.strip("./") not in file.path, outside, file.path.count("/"), rank, file.path


def _join(folder: str, target: str) -> str:
    return posixpath.normpath(posixpath.join(folder, target.lstrip("/")))


def _key(name: str) -> str:
    """Return a name for comparison: upper and lower case are the same, and so are the two ways to write an accent."""
    return unicodedata.normalize("NFC", name).casefold()
