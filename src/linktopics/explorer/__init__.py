"""What a fitted model shows of itself on pages: in one file, or from a server."""

from linktopics.explorer.bundle import Explorer

__all__ = ["Explorer"]
