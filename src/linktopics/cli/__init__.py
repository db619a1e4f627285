"""The command line. Nothing heavy is imported before a command runs, so that ``--help`` answers at once."""

from linktopics.cli import asking, exploring, fitting, studying  # which add their commands, in the order they are shown
from linktopics.cli._app import app, main

__all__ = ["app", "asking", "exploring", "fitting", "main", "studying"]
