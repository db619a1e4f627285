"""Answers of a fitted model: topics and links of new documents, their order, their reasons, words from links."""
