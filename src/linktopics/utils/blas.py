"""A limit of one thread for linear algebra, which several threads can hold at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import ThreadpoolController

_lock = threading.Lock()
_holders = 0
_before: list[tuple[Any, int]] = []
"""The libraries that were limited, with their numbers of threads before."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Return a context manager that limits BLAS to one thread, and OpenMP in the calling thread.

    The sums of BLAS depend on the number of threads.

    The number of threads of BLAS belongs to the whole process: of two calls of `threadpool_limits` in two threads, the
    first to end undoes the limit of the other, and the other then makes that limit permanent. Therefore holders are
    counted: the first sets the limit, and the last restores what was there before. OpenMP has a number for each thread,
    which each call sets and restores by itself.

    Examples
    --------
    >>> from threadpoolctl import threadpool_info
    >>> with one_thread():
    ...     {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"} <= {1}
    True
    """
    global _holders
    with _lock:
        for library in _libraries("blas").lib_controllers:
            if library.num_threads != 1:  # also of libraries that were loaded since
                _before.append((library, library.num_threads))
                _set(library, 1)
        _holders += 1
    try:
        with _libraries("openmp").limit(limits=1):
            yield
    finally:
        with _lock:
            _holders -= 1
            while _before and not _holders:
                _set(*_before.pop())


def _libraries(api: str) -> ThreadpoolController:
    """Return the loaded libraries of one kind: `threadpool_limits` restores all kinds, whichever it limits."""
    return ThreadpoolController().select(user_api=api)


def _set(library: Any, n_threads: int) -> None:
    """Set the number of threads, even where threadpoolctl would ignore it in all but the first thread that did so."""
    clear = getattr(library, "clear_controlling_thread", lambda **_: None)
    clear(force=True)
    library.set_num_threads(n_threads)
    clear(force=True)
