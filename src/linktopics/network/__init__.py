"""A network of documents: word counts, links, what is known of the documents, and the pairs that models learn from."""

from linktopics.network.network import DocumentNetwork

__all__ = ["DocumentNetwork"]
