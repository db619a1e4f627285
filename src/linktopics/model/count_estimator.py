"""The base of all estimators that are fitted on word counts."""

from __future__ import annotations

from sklearn.utils import Tags

from linktopics.utils.estimator_bases import BaseEstimator


class CountEstimator(BaseEstimator):
    """Base class that declares to scikit-learn that the input is word counts."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.input_tags.categorical = True  # whole numbers, as counts are
        return tags

    def check_parameters(self) -> None:
        """Raise ValueError if a parameter is invalid, as `fit` does."""
        self._validate_params()
