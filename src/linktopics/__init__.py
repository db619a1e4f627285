"""Topic models that read documents and the links between them."""

__version__ = "0.1.0.dev0"
