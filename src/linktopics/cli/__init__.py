"""The command line. Nothing heavy is imported before a command runs, so that ``--help`` answers at once.

Not even the commands are, before `main` has seen to signals: the first tenths of a second are when people press Ctrl-C.
"""

from typing import TYPE_CHECKING, Any

from linktopics.cli._entry import main

if TYPE_CHECKING:
    from linktopics.cli._app import app

__all__ = ["app", "main"]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name != "app":
            raise AttributeError(f"module 'linktopics.cli' has no attribute {name!r}")
        from linktopics.cli import _app, asking, exploring, fitting, serving, studying  # noqa: F401, add their commands

        return _app.app
