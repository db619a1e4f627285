"""Marks of parameters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def some_long(cases: Iterable[Any], long: Iterable[Any]) -> list[Any]:
    """Return the cases for `pytest.mark.parametrize` and fixtures, those in `long` with the mark of that name."""
    cases, long = list(cases), list(long)
    assert all(case in cases for case in long), "a name that no case has"
    rows = [case if isinstance(case, tuple) else (case,) for case in cases]
    return [
        pytest.param(*row, marks=pytest.mark.long if case in long else ())
        for case, row in zip(cases, rows, strict=True)
    ]
