"""Warnings that point at the user's line."""

from __future__ import annotations

import inspect
import warnings


def user_stacklevel() -> int:
    """Return the `stacklevel` that makes a warning point at the user's line, however deep it is issued."""
    frame, level = inspect.currentframe(), 0
    ours = ("linktopics", "sklearn")  # scikit-learn wraps `transform`
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ours:
        frame, level = frame.f_back, level + 1
    return level


def warn_user(message: str, category: type[Warning]) -> None:
    """Issue a warning that points at the user's line."""
    warnings.warn(message, category, stacklevel=user_stacklevel())
