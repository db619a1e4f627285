"""Pages of a fitted model: in one file, or from a server."""

from linktopics.explorer.explorer import Explorer
from linktopics.explorer.report import write_report

__all__ = ["Explorer", "write_report"]
