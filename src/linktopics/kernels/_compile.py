"""How kernels are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core.dispatcher import Dispatcher

from linktopics.kernels._cache import kernel_cache

# Without "nnan" and "ninf": a not-a-number must stay one and be seen.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"reassoc", "contract", "nsz"}}


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function when it is first called, and keep the result on disk for the next process.

    Where that cannot be done, or what is there cannot be used, it is compiled anew; see `kernel_cache`.
    """
    compiled: Any = njit(**OPTIONS)(function)
    if isinstance(compiled, Dispatcher):  # not under NUMBA_DISABLE_JIT=1
        compiled._cache = kernel_cache(function)
    return compiled


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a function into the kernels that call it: a call would pass all its arrays and topics on the stack."""
    return njit(forceinline=True, **OPTIONS)(function)
