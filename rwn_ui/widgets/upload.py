"""Reads what comes with a file that is given to a page: its name and its text."""

from __future__ import annotations

from rwn_core.errors import InputError


def written_name(sent: str) -> str:
    """The name of a file as its owner wrote it: browsers send a quote in it as %22."""
    return sent.replace("%22", '"')


def text_of(content: bytes, what: str) -> str:
    """The text of a file.

    Raises
    ------
    InputError
        It is no text.
    """
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"The {what} file is not a UTF-8 text; save it as one.") from None
