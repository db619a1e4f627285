"""All errors and warnings that a user can see; the command line catches these errors."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


class LinktopicsError(Exception):
    """An error that the user can correct; its message says what is wrong, where, and how to correct it."""


class DataError(LinktopicsError, ValueError):
    """The documents, counts or links that were passed cannot be used."""


class ModelError(LinktopicsError):
    """A model on disk cannot be read or written."""


class SamplingError(LinktopicsError, ArithmeticError):
    """The chain cannot continue, because its numbers left the range of floating-point arithmetic."""


class EngineError(LinktopicsError, RuntimeError):
    """The machines that should run a chain are missing, too few, or not set up correctly."""


@contextmanager
def ignore_mixing_warnings() -> Iterator[None]:
    """Return a context manager that ignores `MixingWarning`: mixing is reported elsewhere, or does not matter."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixingWarning)
        yield


class CacheWarning(UserWarning):
    """Compiled code cannot be read from the cache or written to it, so it is compiled again; the message says why."""


class NetworkWarning(UserWarning):
    """Something in the data was dropped or left unused; the message says what and how much of it."""


class UnseenWordsWarning(NetworkWarning):
    """A new text has words that are not in the vocabulary of the fitted network, and these were left out."""


class MixingWarning(UserWarning):
    """The chains disagree or mix too slowly for combined estimates to be reliable."""


class CheckpointWarning(UserWarning):
    """A checkpoint could not be written or is damaged; the message says which one exists and how the run continues."""
