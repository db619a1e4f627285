"""scikit-learn's base classes of estimators, with types.

scikit-learn has no types of its own, and type checkers accept any parameter of a class whose base they do not know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["BaseEstimator", "ClassNamePrefixFeaturesOutMixin", "MetaEstimatorMixin", "TransformerMixin"]

if TYPE_CHECKING:
    from typing import Any, ClassVar, Literal, TypeVar

    import numpy as np
    from numpy.typing import NDArray
    from sklearn.utils import Tags

    Self = TypeVar("Self")

    class BaseEstimator:
        """`sklearn.base.BaseEstimator`."""

        _parameter_constraints: ClassVar[dict[str, Any]]
        feature_names_in_: NDArray[np.object_]

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """Return the parameters by name."""

        def set_params(self: Self, **params: Any) -> Self:
            """Set parameters, and return the estimator."""

        def _validate_params(self) -> None: ...

        def __sklearn_tags__(self) -> Tags: ...

    class ClassNamePrefixFeaturesOutMixin:
        """`sklearn.base.ClassNamePrefixFeaturesOutMixin`."""

        def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
            """Return the names of the columns that `transform` returns."""

    class TransformerMixin:
        """`sklearn.base.TransformerMixin`."""

        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> NDArray[np.float64]:
            """Fit the model and return what `transform` returns for the same documents."""

        def set_output(self: Self, *, transform: Literal["default", "pandas", "polars"] | None = None) -> Self:
            """Set the kind of what `transform` returns, and return the estimator."""

    class MetaEstimatorMixin:
        """`sklearn.base.MetaEstimatorMixin`."""

else:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, MetaEstimatorMixin, TransformerMixin
