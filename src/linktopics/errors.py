"""The errors and warnings a user can meet, in one place so that the command line can catch them."""

__all__ = [
    "DataError",
    "LinktopicsError",
    "MixingWarning",
    "ModelError",
    "NetworkWarning",
    "SamplingError",
    "UnseenWordsWarning",
]


class LinktopicsError(Exception):
    """Something the user can put right; its message says what, where and how."""


class DataError(LinktopicsError, ValueError):
    """The documents, counts or links handed in cannot be used as they are."""


class ModelError(LinktopicsError):
    """A model on disk cannot be read or written."""


class SamplingError(LinktopicsError, ArithmeticError):
    """The chain cannot go on, because its numbers left the range that can be computed with."""


class NetworkWarning(UserWarning):
    """Something in the data was dropped or left unused; the message says what and how much of it."""


class UnseenWordsWarning(NetworkWarning):
    """A new text has words that the network fitted does not know, which were left out."""


class MixingWarning(UserWarning):
    """Chains do not agree, or have not moved far enough, for what they say together to be relied on."""
