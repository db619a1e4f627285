"""Predictions of a fitted model: topics and links of new documents, ranking, explanations, words from links."""
