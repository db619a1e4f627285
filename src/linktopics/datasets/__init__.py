"""Networks to try the models on: Python's own standard library, on every machine that has Python."""

from linktopics.datasets.stdlib import load_stdlib

__all__ = ["load_stdlib"]
