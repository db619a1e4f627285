"""How kernels are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

__all__ = ["inlined", "kernel"]

# Without "nnan" and "ninf": a not-a-number must stay one and be seen.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"reassoc", "contract", "nsz"}}


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function when it is first called, and keep the result on disk for the next process.

    Where no folder can be written to, it is compiled anew by every process.
    """
    try:
        return njit(cache=True, **OPTIONS)(function)
    except RuntimeError:  # Numba: "cannot cache function ...: no locator available"
        return njit(**OPTIONS)(function)


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a function into the kernels that call it: a call would pass all its arrays and topics on the stack."""
    return njit(forceinline=True, **OPTIONS)(function)
