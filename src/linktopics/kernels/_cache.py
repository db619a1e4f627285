"""The cache of compiled kernels on disk: an aid, never a requirement.

Numba keeps compiled functions as pickles: in $NUMBA_CACHE_DIR if that is set, else in ``__pycache__`` beside the
source, else in the user's cache folder. Whatever goes wrong there means that a kernel is compiled without the cache,
and one warning per process says where the cache is and what to do. Three checks are added to those of Numba:

- Data have a checksum: damaged machine code would end the process or compute nonsense. It detects accidents, not
  attacks: whoever can write to the cache can run code, because a pickle is a program.
- A relative path is refused: it would lead into the working directory, which may be somebody else's. Numba takes
  $NUMBA_CACHE_DIR and $XDG_CACHE_HOME as they are given, and a folder "~" where the home folder is not known.
- Code for other types than those asked for counts as missing: two processes that write at the same moment may use one
  file name for two signatures.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import warnings
from collections.abc import Callable
from typing import Any

from numba.core import config, sigutils
from numba.core.caching import CompileResultCacheImpl, FunctionCache, NullCache
from numba.core.serialize import dumps

from linktopics.errors import CacheWarning

_ADVICE = "set NUMBA_CACHE_DIR to the absolute path of a folder that can be written to"


def kernel_cache(function: Callable[..., Any]) -> Any:
    """Return the disk cache of a kernel; where there is no folder for it, one that stores nothing, and warns."""
    try:
        return _KernelCache(function)
    except Exception as error:  # Numba: "cannot cache function ...: no locator available"
        return _NoCache(error)


class _AbsolutePathMixin:
    """A cache locator that Numba skips if its path is relative."""

    def ensure_cache_path(self) -> None:
        path = self.get_cache_path()
        if not os.path.isabs(path):
            raise OSError(f"{path} is relative")
        super().ensure_cache_path()


class _CheckedCacheImpl(CompileResultCacheImpl):
    """What is stored of a compiled kernel: a checksum and a pickle."""

    _locator_classes: Any = tuple(
        type(locator.__name__, (_AbsolutePathMixin, locator), {}) for locator in CompileResultCacheImpl._locator_classes
    )

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        return f"checked-{super().get_filename_base(fullname, abiflags)}"  # unlike Numba's own

    def reduce(self, result: Any) -> tuple[bytes, bytes]:
        data = dumps(super().reduce(result))
        return hashlib.sha256(data).digest(), data

    def rebuild(self, target_context: Any, reduced: tuple[bytes, bytes]) -> Any:
        checksum, data = reduced
        if hashlib.sha256(data).digest() != checksum:
            raise ValueError("the checksum of a file does not match its content")
        return super().rebuild(target_context, pickle.loads(data))


class _KernelCache(FunctionCache):
    """Numba's cache of one function, which turns itself off at the first error."""

    _impl_class = _CheckedCacheImpl

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        if not os.path.isabs(self.cache_path):  # a locator that creates no folder has not checked this
            raise ValueError(f"{self.cache_path} is relative")

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        folder = vars(config).get("CACHE_DIR")
        if folder and not os.path.isabs(folder):
            _warn(
                f"NUMBA_CACHE_DIR is the relative path {folder!r}, which is ignored, because compiled code "
                f"would be read from the working directory; {_ADVICE}."
            )
        try:
            found = super().load_overload(sig, target_context)
        except Exception as error:
            self._turn_off(error)
            return None
        if found is not None and tuple(found.signature.args) != tuple(sigutils.normalize_signature(sig)[0]):
            return None
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except Exception as error:
            self._turn_off(error)

    def _turn_off(self, error: Exception) -> None:
        self.disable()
        _warn(
            f"The cache of compiled code in {self.cache_path} is damaged or cannot be used ({_summary(error)}); the "
            f"affected functions are compiled again in every process. Delete this folder, or {_ADVICE}."
        )


class _NoCache(NullCache):
    """Warns, when something was compiled, why it is not stored."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def save_overload(self, sig: Any, data: Any) -> None:
        _warn(
            "There is no folder for a cache of compiled code, so every process spends some seconds compiling "
            f"({_summary(self._error)}); {_ADVICE}."
        )


_warned = False


def _warn(text: str) -> None:
    """Warn, once per process: the next kernels have the same problem."""
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(text, CacheWarning, stacklevel=2)


def _summary(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
