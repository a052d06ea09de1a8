"""What a file is, whatever its name says; how a message names it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath

from rwn_core.errors import InputError

LONGEST_SHOWN = 80  # characters of a file name in a message

_SIGNS = (
    (b"PAR1", "a Parquet file"),
    (b"PARE", "an encrypted Parquet file"),
    (b"PK\x03\x04", "a zip archive or an Excel workbook"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old or password-protected Office file"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"ARROW1", "an Arrow or Feather file"),
    (b"FEA1", "a Feather file"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"$FL2", "an SPSS file"),
    (b"$FL3", "an SPSS file"),
    (b"<stata_dta>", "a Stata file"),
    (b"RDX", "an R data file"),
    (b"\x80\x02", "a pickle, which is never opened"),
    (b"\x80\x03", "a pickle, which is never opened"),
    (b"\x80\x04", "a pickle, which is never opened"),
    (b"\x80\x05", "a pickle, which is never opened"),
)
_TEXT_SIGNS = (
    (b"<!doctype html", "a web page"),
    (b"<html", "a web page"),
    (b"<?xml", "an XML file"),
    (b"{", "a JSON file"),
    (b"[", "a JSON file"),
)


def describe(content: bytes) -> str | None:
    """What the first bytes say, such as ``a PNG image``; None for text and anything unknown."""
    for sign, what in _SIGNS:
        if content.startswith(sign):
            return what
    start = content[:200].removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    for sign, what in _TEXT_SIGNS:
        if start.startswith(sign):
            return what
    return None


def shown(name: str) -> str:
    """A file name fit for a message: no folder, no control characters, not too long."""
    last = PurePath(name.replace("\\", "/")).name or "the file"
    clean = "".join(letter if letter.isprintable() else "?" for letter in last)
    return clean if len(clean) <= LONGEST_SHOWN else f"{clean[: LONGEST_SHOWN - 1]}…"


@contextmanager
def in_file(file: str) -> Iterator[None]:
    """Put the name of the file before the text of an `InputError` raised inside.

    Examples
    --------
    >>> with in_file("people.csv"):
    ...     raise InputError("The table has no columns; choose at least one.")
    Traceback (most recent call last):
    rwn_core.errors.InputError: people.csv: the table has no columns; choose at least one.
    """
    try:
        yield
    except InputError as error:
        text = str(error)
        raise type(error)(f"{file}: {text[:1].lower()}{text[1:]}") from None
