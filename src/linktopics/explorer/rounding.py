"""Numbers for the pages: few digits, and null for NaN and infinities."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

DIGITS = 4
"""Significant digits of a number that is shown."""


def rounded(value: Any, digits: int = DIGITS) -> Any:
    """Return numbers, also those in lists and arrays, rounded for JSON: NaN and infinities become None.

    Examples
    --------
    >>> rounded([0.123456, 1234567.0, float("nan"), 3])
    [0.1235, 1235000, None, 3]
    """
    if type(value) is float:  # the most frequent type
        if not math.isfinite(value):
            return None
        short = float(f"{value:.{digits}g}")
        return int(short) if short.is_integer() else short
    if isinstance(value, np.ndarray | np.generic):
        return rounded(value.tolist(), digits)
    if isinstance(value, list | tuple):
        return [rounded(one, digits) for one in value]
    return value


def rows_of(*columns: NDArray[Any]) -> Iterator[tuple[Any, ...]]:
    """Return the rows of arrays of equal length, as plain values.

    Examples
    --------
    >>> list(rows_of(np.array([1, 2]), np.array([0.5, 0.25])))
    [(1, 0.5), (2, 0.25)]
    """
    return zip(*(column.tolist() for column in columns), strict=True)


def contribution(value: float, digits: int = DIGITS) -> dict[str, Any]:
    """Return a contribution to a score for JSON: also as ``part``, its name in earlier versions.

    Examples
    --------
    >>> contribution(0.25)
    {'contribution': 0.25, 'part': 0.25}
    """
    return dict.fromkeys(("contribution", "part"), rounded(value, digits))


def fixed_point(values: Any, per_unit: float) -> NDArray[np.int64]:
    """Return numbers times `per_unit`, rounded to integers, which take the least space.

    Examples
    --------
    >>> fixed_point([0.123456, 1.0], 1000)
    array([ 123, 1000])
    """
    return np.rint(np.nan_to_num(np.asarray(values, dtype=float) * per_unit)).astype(np.int64)
