"""Checks of parameters."""

import re

import numpy as np
import pytest

from linktopics.utils.checks import check_whole_number


@pytest.mark.parametrize("value", [1, 7, 10**30, np.int8(3), np.uint64(2)])
def test_whole_numbers_pass(value):
    check_whole_number("top", value, 1)


@pytest.mark.parametrize("value", [0, -1, 1.0, "3", None, True, np.bool_(True), np.float64(2)])
def test_others_are_named_with_the_parameter_and_the_limit(value):
    with pytest.raises(
        ValueError, match=rf"\Atop is {re.escape(repr(value))}; it must be a whole number of at least 1\.\Z"
    ):
        check_whole_number("top", value, 1)
