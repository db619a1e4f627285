"""Numbers of topics that kernels are tried with, and how often a statistical test of them may fail."""

import pytest

from support.marks import some_long

FALSE_ALARM = 1e-4
TOPICS = pytest.mark.parametrize("K", some_long([1, 2, 7, 8, 9, 20], [20]))
