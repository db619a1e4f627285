"""Detection of regular expressions that may cause catastrophic backtracking.

The vectorizer of a loaded model, which may be untrusted, applies its pattern to texts. Python's matcher
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

MAX_MATCH_PATHS = 4096
"""Most ways in which optional parts, alternatives and short repetitions of a pattern may be combined."""

MAX_HARMLESS_REPEATS = 32
"""A repetition of one item of up to this many times is not counted."""

_EXAMPLES = "azAZ_09!-'. \t\n\x00éßÑ٣漢\u2028😀"
_CATEGORIES = {"CATEGORY_WORD": r"\w", "CATEGORY_DIGIT": r"\d", "CATEGORY_SPACE": r"\s"}
_CATEGORIES |= {name.replace("_", "_NOT_"): escape.upper() for name, escape in _CATEGORIES.items()}

_ASSERTIONS = ("ASSERT", "ASSERT_NOT")
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")

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
    return _PatternChecker(pattern).slow


class _PatternChecker:
    """Walks through a pattern, with examples of all the classes of characters that it distinguishes."""

    def __init__(self, pattern: str) -> None:
        parsed = _PARSER.parse(pattern)
        self.examples = frozenset(_EXAMPLES) | _boundaries(parsed)
        self.slow = False
        self._sequence(parsed, [])
        self.slow |= _count_match_paths(parsed) > MAX_MATCH_PATHS

    def _sequence(self, items: Any, before: list[Characters]) -> list[Characters]:
        """Return the characters of repetitions at the end of a sequence, which may match what follows.

        `before` are the characters of repetitions directly before it.
        """
        open_ends = before
        for kind, argument in items:
            name = str(kind)
            if name in _REPEATS:
                least, most, body = argument
                open_ends = self._repeat(least, int(most), body, open_ends)
            elif name in _ASSERTIONS:
                self._sequence(argument[1], [])
            elif parts := _parts(name, argument):
                open_ends = [end for part in parts for end in self._sequence(part, open_ends)]
            elif name != "AT":
                characters = self._characters(kind, argument)
                open_ends = [end for end in open_ends if end & characters]
        return open_ends

    def _repeat(self, least: int, most: int, items: Any, before: list[Characters]) -> list[Characters]:
        if most <= 1:
            within = self._sequence(items, before)
            return within if least else [*before, *within]
        while len(items) == 1 and str(items[0][0]) == "SUBPATTERN":
            items = items[0][1][-1]
        first, everything = self._first(items), self._union(items)
        if len(items) > 1 or not first:
            # If a repetition begins with a character that cannot occur later in it, there is one way to divide a text.
            self.slow |= not first or bool(first & self._union(items[1:]))
            self._sequence(items, [])
        after = [end for end in before if end & first] if least else before
        if most <= MAX_HARMLESS_REPEATS and len(items) == 1:
            return after
        # Two ways to match one repetition are 2^n ways for n repetitions.
        self.slow |= any(end & first for end in before) or _count_match_paths(items) > 1
        return [*after, everything]

    def _first(self, items: Any) -> Characters:
        """Return the characters that items begin with; none where that is not obvious."""
        kind, argument = items[0] if items else ("", None)
        obvious = str(kind) in ("LITERAL", "NOT_LITERAL", "ANY", "IN", "CATEGORY")
        return self._characters(kind, argument) if obvious else frozenset()

    def _union(self, items: Any) -> Characters:
        """Return all characters that items may match."""
        found: list[Characters] = []
        for kind, argument in items:
            if str(kind) not in ("AT", *_ASSERTIONS):
                parts = _parts(str(kind), argument)
                found += map(self._union, parts) if parts else [self._characters(kind, argument)]
        return frozenset().union(*found)

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


def _count_match_paths(items: Any) -> int:
    """Return an upper bound of the ways to match items at one place, long repetitions aside, cut at the limit + 1."""
    paths = 1
    for kind, argument in items:
        parts = _parts(str(kind), argument)
        own = sum(map(_count_match_paths, parts)) if parts else 1
        if str(kind) in _REPEATS:
            least, most, _ = argument
            own = sum(own**times for times in range(least, most + 1)) if most <= MAX_HARMLESS_REPEATS else 1
        paths = min(paths * own, MAX_MATCH_PATHS + 1)
    return paths


def _parts(name: str, argument: Any) -> list[Any]:
    """Return the sequences of items that an item consists of; none for one character."""
    if name == "BRANCH":
        return list(argument[1])
    if name == "ATOMIC_GROUP":
        return [argument]
    return [argument[-1]] if name in ("SUBPATTERN", *_ASSERTIONS, *_REPEATS) else []


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
