"""The errors and warnings a user can meet, in one place so that the command line can catch them."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


class LinktopicsError(Exception):
    """Something the user can put right; its message says what, where and how."""


class DataError(LinktopicsError, ValueError):
    """The documents, counts or links handed in cannot be used as they are."""


class ModelError(LinktopicsError):
    """A model on disk cannot be read or written."""


class SamplingError(LinktopicsError, ArithmeticError):
    """The chain cannot continue, because its numbers left the range of floating-point arithmetic."""


class EngineError(LinktopicsError, RuntimeError):
    """The machines that should run a chain are not there, too few, or not equipped for it."""


@contextmanager
def ignore_mixing_warnings() -> Iterator[None]:
    """Leave out the `MixingWarning` of fits whose mixing is told otherwise, or is not what matters."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixingWarning)
        yield


class CacheWarning(UserWarning):
    """Compiled code cannot be read from disk or kept there, so it is compiled again; the message says what to do."""


class NetworkWarning(UserWarning):
    """Something in the data was dropped or left unused; the message says what and how much of it."""


class UnseenWordsWarning(NetworkWarning):
    """A new text has words that the network fitted does not know, which were left out."""


class MixingWarning(UserWarning):
    """The chains disagree or mix too slowly for combined estimates to be reliable."""


class CheckpointWarning(UserWarning):
    """A checkpoint could not be written or is damaged; the message says which one exists and how the run continues."""
