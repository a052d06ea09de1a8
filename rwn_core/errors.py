"""The errors of the project: one sentence each, as users read it."""

import logging
import secrets
import traceback
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")
_LOG = logging.getLogger("rwn")


class RWNError(Exception):
    """Any refusal of this program; its text is one sentence that names what to change."""


class InputError(RWNError, ValueError):
    """A file or a table is refused."""


class SchemaError(InputError):
    """A description of the variables is refused."""


class ParameterError(RWNError, ValueError):
    """A parameter of a method, a measure or a command is refused."""


class Catalogue(dict[str, Any]):
    """A mapping of keys to entries; a key that is not there is refused in one sentence.

    Parameters
    ----------
    entries : mapping
    refusal : callable
        The sentence for a key.
    """

    def __init__(self, entries: Mapping[str, Any], refusal: Callable[[object], str]) -> None:
        super().__init__(entries)
        self.refusal = refusal

    def __missing__(self, key: object) -> Any:
        """Refuse a key that is not there."""
        raise ParameterError(self.refusal(key))


def each_once(what: str, entries: Iterable[tuple[str, T]]) -> dict[str, T]:
    """Return entries by their key; one that was copied with its key is refused.

    Raises
    ------
    ValueError

    Examples
    --------
    >>> each_once("lever", [("k", 5), ("k", 7)])
    Traceback (most recent call last):
    ...
    ValueError: Two entries have the key of the lever k; give one its own.
    """
    known: dict[str, T] = {}
    for key, entry in entries:
        if known.setdefault(key, entry) is not entry:
            raise ValueError(f"Two entries have the key of the {what} {key}; give one its own.")
    return known


class NotApplicable(RWNError):
    """A measure has no answer for this table; the reason is a normal result.

    Parameters
    ----------
    reason : str
        One sentence.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ReleaseError(RWNError):
    """A release may not be, or could not be, written."""


class NotWritten(ReleaseError):
    """The system refuses to write a file or a folder: a full disk, say, or no right to."""


class SeedWarning(UserWarning):
    """A file that leaves the house was drawn from a small seed, which is no secret."""


def describe_fault(error: BaseException) -> str:
    """Describe a foreign error by its type and the lines it passed; its text may hold a value."""
    frames = reversed(traceback.extract_tb(error.__traceback__))
    places = " < ".join(f"{frame.name}:{frame.lineno}" for frame in frames)
    return f"{type(error).__name__} at {places}"


def log_fault(fault: BaseException | str) -> str:
    """Log a foreign error, or what `describe_fault` said of one; the number that names it."""
    number = secrets.token_hex(4)
    description = fault if isinstance(fault, str) else describe_fault(fault)
    _LOG.error("error %s: %s", number, description)
    return number
