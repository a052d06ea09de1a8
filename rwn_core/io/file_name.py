"""Names of files and positions in messages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath

from rwn_core.errors import InputError

LONGEST_SHOWN = 80  # characters of a file name in a message


def shown(name: str) -> str:
    """A file name fit for a message: no folder, no control characters, not too long."""
    last = PurePath(name.replace("\\", "/")).name or "the file"
    clean = "".join(letter if letter.isprintable() else "?" for letter in last)
    return clean if len(clean) <= LONGEST_SHOWN else f"{clean[: LONGEST_SHOWN - 1]}…"


@contextmanager
def in_file(position: str) -> Iterator[None]:
    """Put the position before the text of an `InputError` raised inside.

    >>> with in_file("people.csv"):
    ...     raise InputError("The table has no columns; choose at least one.")
    Traceback (most recent call last):
    rwn_core.errors.InputError: people.csv: the table has no columns; choose at least one.
    """
    try:
        yield
    except InputError as error:
        text = str(error)
        raise type(error)(f"{position}: {text[:1].lower()}{text[1:]}") from None
