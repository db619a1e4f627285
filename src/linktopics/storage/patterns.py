"""Regular expressions of strangers: which of them may take for ever.

The vectorizer of a model that was loaded applies its pattern to texts. Python's matcher goes back and tries again, and
a pattern that can divide a text in several ways makes it try them all. What is found here are repetitions within
repetitions and repetitions side by side that can take each other's characters; what is left takes at most a time that
goes with the square of the length of a word.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from typing import Any

__all__ = ["may_take_for_ever"]

_PARSER: Any = import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")

MAX_LENGTH = 1000
MANY = 32
"""Repetitions that are no more than this many are no matter."""

_EXAMPLES = "azAZ_09!-'. \t\n\x00éßÑ٣漢\u2028😀"
_CATEGORIES = {"CATEGORY_WORD": r"\w", "CATEGORY_DIGIT": r"\d", "CATEGORY_SPACE": r"\s"}
_CATEGORIES |= {name.replace("_", "_NOT_"): escape.upper() for name, escape in _CATEGORIES.items()}

Characters = frozenset[str]


def may_take_for_ever(pattern: str) -> bool:
    r"""Tell whether matching a pattern may take a time that grows faster than the square of a text's length.

    Raises
    ------
    re.error
        If it is no regular expression.

    Examples
    --------
    >>> may_take_for_ever(r"(?u)\b\w\w+\b"), may_take_for_ever(r"[a-z]+(?:-[a-z]+)*")
    (False, False)
    >>> may_take_for_ever(r"(a+)+$"), may_take_for_ever(r"\w*\w*\w*!")
    (True, True)
    """
    if len(pattern) > MAX_LENGTH:
        return True
    re.compile(pattern)
    return _Patterns(pattern).slow


class _Patterns:
    """Goes through a pattern, with the characters in which those in it differ."""

    def __init__(self, pattern: str) -> None:
        parsed = _PARSER.parse(pattern)
        self.examples = frozenset(_EXAMPLES) | _boundaries(parsed)
        self.slow = False
        self._sequence(list(parsed), [])

    def _sequence(self, items: list[Any], before: list[Characters]) -> list[Characters]:
        """Go through items one after the other; return what repeats at their end and may take what follows.

        `before` are the characters of repetitions before them that nothing stands between.
        """
        open_ends = before
        for kind, argument in items:
            name = str(kind)
            if name in ("SUBPATTERN", "ATOMIC_GROUP"):
                open_ends = self._sequence(list(argument[-1] if name == "SUBPATTERN" else argument), open_ends)
            elif name == "BRANCH":
                open_ends = [end for branch in argument[1] for end in self._sequence(list(branch), open_ends)]
            elif name in ("ASSERT", "ASSERT_NOT"):
                self._sequence(list(argument[1]), [])
            elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
                least, most, body = argument
                open_ends = self._repeat(least, int(most), list(body), open_ends)
            elif name == "AT":
                continue
            else:
                characters = self._characters(kind, argument)
                open_ends = [end for end in open_ends if end & characters]
        return open_ends

    def _repeat(self, least: int, most: int, items: list[Any], before: list[Characters]) -> list[Characters]:
        if most <= 1:
            within = self._sequence(items, before)
            return within if least else [*before, *within]
        while len(items) == 1 and str(items[0][0]) == "SUBPATTERN":
            items = list(items[0][1][-1])
        first, everything = self._first(items), self._union(items)
        if len(items) > 1 or not first:
            # Where each turn begins with a character that cannot come later in it, there is one way to divide a text.
            self.slow |= not first or bool(first & self._union(items[1:]))
            self._sequence(items, [])
        after = [end for end in before if end & first] if least else before
        if most <= MANY and len(items) == 1:
            return after
        self.slow |= any(end & first for end in before)
        return [*after, everything]

    def _first(self, items: list[Any]) -> Characters:
        """Return the characters that items begin with; none where that cannot be said easily."""
        if not items:
            return frozenset()
        kind, argument = items[0]
        if str(kind) in ("LITERAL", "NOT_LITERAL", "ANY", "IN", "CATEGORY"):
            return self._characters(kind, argument)
        return frozenset()

    def _union(self, items: list[Any]) -> Characters:
        return frozenset().union(*(self._within(kind, argument) for kind, argument in items))

    def _within(self, kind: Any, argument: Any) -> Characters:
        """Return all characters that an item may take."""
        name = str(kind)
        if name in ("SUBPATTERN", "MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            return self._union(list(argument[-1]))
        if name == "ATOMIC_GROUP":
            return self._union(list(argument))
        if name == "BRANCH":
            return frozenset().union(*(self._union(list(branch)) for branch in argument[1]))
        return frozenset() if name in ("AT", "ASSERT", "ASSERT_NOT") else self._characters(kind, argument)

    def _characters(self, kind: Any, argument: Any) -> Characters:
        """Return those of the examples that an item for one character takes, in upper and lower case."""
        found = {character for character in self.examples if self._takes(str(kind), argument, character)}
        return frozenset(found | {other for one in found for other in (one.lower(), one.upper())} & self.examples)

    def _takes(self, name: str, argument: Any, character: str) -> bool:
        if name == "LITERAL":
            return ord(character) == argument
        if name == "NOT_LITERAL":
            return ord(character) != argument
        if name == "RANGE":
            return bool(argument[0] <= ord(character) <= argument[1])
        if name == "CATEGORY":
            return re.match(_CATEGORIES[str(argument)], character) is not None
        if name == "IN":
            taken = any(self._takes(str(kind), one, character) for kind, one in argument if str(kind) != "NEGATE")
            return taken != (str(argument[0][0]) == "NEGATE")
        self.slow |= name != "ANY"  # such as a reference to what was matched before
        return True


def _boundaries(items: Any) -> Characters:
    """Return the characters that a pattern names, and their neighbours: between them, sets of characters can differ."""
    found: set[int] = set()

    def visit(value: Any) -> None:
        if isinstance(value, int) and not isinstance(value, bool):
            found.update((int(value) - 1, int(value), int(value) + 1))
        elif isinstance(value, tuple | list | _PARSER.SubPattern):
            for one in value:
                visit(one)

    visit(items)
    return frozenset(chr(code) for code in found if 0 <= code < 0x110000)
