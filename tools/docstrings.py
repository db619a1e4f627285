"""A griffe extension that corrects how numpydoc choices and references are rendered."""

from __future__ import annotations

import re
from typing import Any

import griffe

CHOICES = re.compile(r"^(\s*\w+ : )\{([^}]*)\}", re.MULTILINE)
REFERENCES = re.compile(r"(?<=^References\n----------\n)(.+\n?)+", re.MULTILINE)


class Numpydoc(griffe.Extension):
    """Writes choices and references as Markdown would have them.

    ``x : {"a", "b"}`` becomes ``x : "a" or "b"``: griffe would show the braces as a tuple, and take the first of the values
    for the default where none is given. References get a line each.
    """

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of an object."""
        if obj.docstring:
            text = CHOICES.sub(lambda found: found[1] + " or ".join(found[2].split(", ")), obj.docstring.value)
            obj.docstring.value = REFERENCES.sub(_a_line_each, text)


def _a_line_each(section: re.Match[str]) -> str:
    return "\n\n".join(line.removeprefix(".. ") for line in section[0].splitlines()) + "\n"
