"""The cache of parsed and downloaded data.

Writes are atomic, and errors are ignored because everything can be recreated.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from linktopics.utils.atomic_write import atomic_write


def cache_folder() -> Path:
    """
    Return the cache folder of linktopics.

    It is ``$LINKTOPICS_CACHE`` if that is set; otherwise ``linktopics`` in ``$XDG_CACHE_HOME`` or, without that, in
    the user's cache folder: ``~/.cache``, on macOS ``~/Library/Caches``, on Windows ``%LOCALAPPDATA%``. The folder
    need not exist yet.

    Returns
    -------
    pathlib.Path
        The folder.

    Raises
    ------
    RuntimeError
        If none of the variables is set and the user has no home folder.
    """
    if own := os.environ.get("LINKTOPICS_CACHE"):
        return Path(own).expanduser()
    shared = os.environ.get("XDG_CACHE_HOME")
    if not shared and sys.platform == "win32":
        shared = os.environ.get("LOCALAPPDATA")
    if shared:
        return Path(shared) / "linktopics"
    return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "linktopics"


def read_json(name: str) -> Any:
    """Return the content of a cached JSON file, or None if it does not exist or cannot be read."""
    try:
        return json.loads((cache_folder() / name).read_bytes())
    except (OSError, RuntimeError, ValueError, RecursionError):
        return None


def write_json(name: str, content: Any) -> bool:
    """Return whether a JSON file could be written to the cache; it is written atomically."""
    try:
        folder = cache_folder()
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_write(folder / name) as new:
            new.write_text(json.dumps(content), encoding="utf-8")
    except (OSError, RuntimeError):
        return False
    return True
