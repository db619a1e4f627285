"""A network of documents: word counts, links, columns of further data, and the pairs that models learn from."""

from linktopics.network.network import DocumentNetwork

__all__ = ["DocumentNetwork"]
