"""Detection of regular expressions that may cause catastrophic backtracking.

The vectorizer of a loaded model, which may come from a stranger, applies its pattern to texts. Python's matcher
backtracks, and tries all the ways in which a pattern can divide a text. Nested repetitions and adjacent repetitions
that can match the same characters are found here, and patterns whose optional parts, alternatives and short repetitions
combine in too many ways; the time of others grows at most with the square of the length of a word.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from typing import Any

_PARSER: Any = import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")

MAX_PATTERN_LENGTH = 1000

MAX_WAYS = 4096
"""Most ways in which optional parts, alternatives and short repetitions of a pattern may be combined."""

MAX_HARMLESS_REPEATS = 32
"""A repetition of one item of up to this many times is not counted."""

_EXAMPLES = "azAZ_09!-'. \t\n\x00éßÑ٣漢\u2028😀"
_CATEGORIES = {"CATEGORY_WORD": r"\w", "CATEGORY_DIGIT": r"\d", "CATEGORY_SPACE": r"\s"}
_CATEGORIES |= {name.replace("_", "_NOT_"): escape.upper() for name, escape in _CATEGORIES.items()}

Characters = frozenset[str]


def is_slow_pattern(pattern: str) -> bool:
    r"""Return whether the time to match a pattern may grow faster than the square of the length of a text.

    Raises
    ------
    re.error
        If it is not a regular expression.

    Examples
    --------
    >>> is_slow_pattern(r"(?u)\b\w\w+\b"), is_slow_pattern(r"[a-z]+(?:-[a-z]+)*")
    (False, False)
    >>> is_slow_pattern(r"(a+)+$"), is_slow_pattern(r"\w*\w*\w*!")
    (True, True)
    """
    if len(pattern) > MAX_PATTERN_LENGTH:
        return True
    re.compile(pattern)
    return _Patterns(pattern).slow


class _Patterns:
    """Walks through a pattern, with examples of all the classes of characters that it tells apart."""

    def __init__(self, pattern: str) -> None:
        parsed = _PARSER.parse(pattern)
        self.examples = frozenset(_EXAMPLES) | _boundaries(parsed)
        self.slow = False
        self._sequence(list(parsed), [])
        self.slow |= _ways(parsed) > MAX_WAYS

    def _sequence(self, items: list[Any], before: list[Characters]) -> list[Characters]:
        """Walk through a sequence; return the characters of repetitions at its end, which may match what follows.

        `before` are the characters of repetitions directly before it.
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
            # If a turn begins with a character that cannot come later in it, there is one way to divide a text.
            self.slow |= not first or bool(first & self._union(items[1:]))
            self._sequence(items, [])
        after = [end for end in before if end & first] if least else before
        if most <= MAX_HARMLESS_REPEATS and len(items) == 1:
            return after
        # Two ways to match one turn are 2^n for n turns.
        self.slow |= any(end & first for end in before) or _ways(items) > 1
        return [*after, everything]

    def _first(self, items: list[Any]) -> Characters:
        """Return the characters that items begin with; none where that is not obvious."""
        if not items:
            return frozenset()
        kind, argument = items[0]
        if str(kind) in ("LITERAL", "NOT_LITERAL", "ANY", "IN", "CATEGORY"):
            return self._characters(kind, argument)
        return frozenset()

    def _union(self, items: list[Any]) -> Characters:
        return frozenset().union(*(self._within(kind, argument) for kind, argument in items))

    def _within(self, kind: Any, argument: Any) -> Characters:
        """Return all characters that an item may match."""
        name = str(kind)
        if name in ("SUBPATTERN", "MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            return self._union(list(argument[-1]))
        if name == "ATOMIC_GROUP":
            return self._union(list(argument))
        if name == "BRANCH":
            return frozenset().union(*(self._union(list(branch)) for branch in argument[1]))
        return frozenset() if name in ("AT", "ASSERT", "ASSERT_NOT") else self._characters(kind, argument)

    def _characters(self, kind: Any, argument: Any) -> Characters:
        """Return the examples that an item for one character matches, in upper and lower case."""
        found = {character for character in self.examples if self._matches(str(kind), argument, character)}
        return frozenset(found | {other for one in found for other in (one.lower(), one.upper())} & self.examples)

    def _matches(self, name: str, argument: Any, character: str) -> bool:
        if name == "LITERAL":
            return ord(character) == argument
        if name == "NOT_LITERAL":
            return ord(character) != argument
        if name == "RANGE":
            return bool(argument[0] <= ord(character) <= argument[1])
        if name == "CATEGORY":
            return re.match(_CATEGORIES[str(argument)], character) is not None
        if name == "IN":
            taken = any(self._matches(str(kind), one, character) for kind, one in argument if str(kind) != "NEGATE")
            return taken != (str(argument[0][0]) == "NEGATE")
        self.slow |= name != "ANY"  # such as a reference to what was matched before
        return True


def _ways(items: Any) -> int:
    """Return an upper bound of the ways to match items at one place, long repetitions aside; at most MAX_WAYS + 1."""
    ways = 1
    for kind, argument in items:
        name, own = str(kind), 1
        if name in ("SUBPATTERN", "ASSERT", "ASSERT_NOT"):
            own = _ways(argument[-1])
        elif name == "ATOMIC_GROUP":
            own = _ways(argument)
        elif name == "BRANCH":
            own = sum(map(_ways, argument[1]))
        elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") and int(argument[1]) <= MAX_HARMLESS_REPEATS:
            least, most, body = argument
            own = sum(_ways(body) ** turns for turns in range(least, int(most) + 1))
        ways = min(ways * own, MAX_WAYS + 1)
    return ways


def _boundaries(items: Any) -> Characters:
    """Return the characters that a pattern names and their neighbours, where sets of characters begin and end."""
    found: set[int] = set()

    def visit(value: Any) -> None:
        if isinstance(value, int) and not isinstance(value, bool):
            found.update((int(value) - 1, int(value), int(value) + 1))
        elif isinstance(value, tuple | list | _PARSER.SubPattern):
            for one in value:
                visit(one)

    visit(items)
    return frozenset(chr(code) for code in found if 0 <= code < 0x110000)
