"""The command line. Nothing heavy is imported before a command runs, so that ``--help`` answers at once."""

from linktopics.cli import asking, exploring, fitting, serving, studying  # which add their commands
from linktopics.cli._app import app, main

__all__ = ["app", "asking", "exploring", "fitting", "main", "serving", "studying"]
