"""Which of scikit-learn's own checks cannot be passed, and why."""

import sklearn
from sklearn.utils.fixes import parse_version


def broken_checks(estimator):
    """Return the checks that fail in themselves, in versions of scikit-learn that are still supported."""
    if parse_version(sklearn.__version__) >= parse_version("1.8"):
        return {}
    return {"check_positive_only_tag_during_fit": "scikit-learn subtracts fractions from counts, which NumPy refuses"}
