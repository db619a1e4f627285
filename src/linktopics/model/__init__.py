"""The estimators: what users fit, and what a fit does."""
