"""What the models of support/evaluated_models.py were asked."""

import pytest

from support.evaluated_models import Overlap


@pytest.fixture(autouse=True)
def calls():
    Overlap.calls.clear()
    return Overlap.calls
