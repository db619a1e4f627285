"""The estimators and their training."""
