"""Checks of parameters that any module may need; nothing here imports the rest of the package."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray


def is_whole_number(value: Any, least: int) -> bool:
    """Return whether a value is a whole number of at least `least`; True and False are not."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least


def check_whole_number(name: str, value: Any, least: int) -> None:
    """Raise ValueError if a parameter is not a whole number of at least `least`; True and False are rejected.

    Examples
    --------
    >>> check_whole_number("top", 5, 1)
    >>> check_whole_number("top", 0, 1)
    Traceback (most recent call last):
    ValueError: top is 0; it must be a whole number of at least 1.
    """
    if not is_whole_number(value, least):
        raise ValueError(f"{name} is {value!r}; it must be a whole number of at least {least}.")


def check_array(name: str, array: NDArray, kind: type, shape: tuple[int, ...]) -> None:
    """Raise ValueError if an array from a file does not have a type and a shape.

    Examples
    --------
    >>> import numpy as np
    >>> check_array("weights", np.zeros(3), np.float64, (2,))
    Traceback (most recent call last):
    ValueError: weights is an array of float64 (3,) in place of float64 (2,)
    """
    if array.shape != shape or array.dtype != kind:
        raise ValueError(f"{name} is an array of {array.dtype} {array.shape} in place of {np.dtype(kind)} {shape}")
