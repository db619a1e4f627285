"""How kernels are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core.dispatcher import Dispatcher

from linktopics.kernels._cache import kernel_cache

# Without "nnan" and "ninf": NaN and infinity must be preserved, so that they are detected.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"reassoc", "contract", "nsz"}}


def kernel(function: Callable[..., Any], **options: Any) -> Any:
    """Return a function that is compiled when it is first called, and cached on disk for the next process.

    Where the cache cannot be written or read, it is compiled again; see `kernel_cache`.
    """
    compiled: Any = njit(**{**OPTIONS, **options})(function)
    if isinstance(compiled, Dispatcher):  # not under NUMBA_DISABLE_JIT=1
        compiled._cache = kernel_cache(function)
    return compiled


def precise_kernel(function: Callable[..., Any]) -> Any:
    """Return a compiled function that adds sums in the order in which they are written."""
    return kernel(function, fastmath=False)


def inlined(function: Callable[..., Any]) -> Any:
    """Return a function compiled into its callers: a call would pass all its arrays and topics on the stack."""
    return njit(forceinline=True, **OPTIONS)(function)
