"""Limits of a file, unpacking up to them, its name in messages, and how much of it is read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from rwn_core.errors import InputError, ReleaseError

if TYPE_CHECKING:
    import pandas as pd

    from rwn_core.data.file_layout import FileLayout
    from rwn_core.data.schema import Schema

LARGEST_FILE = 1_000_000_000  # bytes; a table is held several times over while it is read
LARGEST_COMPANION = 50_000_000  # bytes of the codebook of a file
LARGEST_UNPACKED = 1_000_000_000  # bytes of a packed file, unpacked
MOST_COLUMNS = 2_000
MOST_CELLS = 100_000_000  # records times columns of a Parquet file: 0.8 GB of numbers
LONGEST_FIELD = 131_072  # characters of a CSV field, where Python's csv module stops
LONGEST_READING = 900.0  # seconds
MOST_MEMORY = 8e9  # bytes that the process which reads a file may take
READ = "are read"  # in the notice of a table with too many columns
LARGEST_WHOLE = 2**53  # from here on a float64 does not tell neighboring whole numbers apart


def chosen_columns(
    file: str,
    names: Sequence[str],
    schema: Schema | None,
    layout: FileLayout | None,
    place: str = "",
) -> tuple[list[int], list[str]]:
    """Check names; return the places of the columns that are read, and a notice if too many."""
    from rwn_core.data.validation import check_names

    with in_file(f"{file}{place}"):
        check_names(names)
    with in_file(file):
        if schema is not None:
            schema.require_columns(names)
    if len(names) <= MOST_COLUMNS:
        return [*range(len(names))], []
    only = (layout and layout.only) or (() if schema is None else schema.names)
    drop = () if layout is None else layout.drop
    if unknown := [name for name in (*only, *drop) if name not in names]:
        raise InputError(f"{file} has no column {unknown[0]}; choose columns by the file's names.")
    wanted = {*(only or names)} - {*drop}
    chosen = [place for place, name in enumerate(names) if name in wanted][:MOST_COLUMNS]
    return chosen, [
        f"Of {len(names):,} columns {len(chosen):,} {READ}, of at most {MOST_COLUMNS:,}: say which "
        "by --only NAME,NAME or --drop NAME, or by a schema that names them."
    ]


def check_size(file: str, records: int, columns: int) -> None:
    """Refuse a table that declares too many cells, before anything is unpacked."""
    if records * columns > MOST_CELLS:
        raise InputError(
            f"{file} has {records:,} records of {columns:,} columns, more than {MOST_CELLS:,} "
            "cells; read fewer columns or records, or use the commands for large tables."
        )


def has_large_wholes(column: pd.Series[Any]) -> bool:
    """True if a column of whole numbers has some that a floating number does not tell apart."""
    known = column.dropna()
    ends = (int(known.min()), int(known.max())) if len(known) else (0, 0)
    return max(map(abs, ends)) >= LARGEST_WHOLE


def refuse_large_wholes(column: pd.Series[Any], program: str) -> None:
    """Refuse to write whole numbers that a program holds as floating numbers."""
    if has_large_wholes(column):
        raise ReleaseError(
            f"Column {column.name} has whole numbers of 2^53 or more, which {program} would "
            "change; choose another format."
        )


def check_unpacked(file: str, size: int) -> None:
    """Refuse a packed file that would take too much memory, before it is unpacked."""
    if size > LARGEST_UNPACKED:
        raise InputError(
            f"{file} unpacks to more than {LARGEST_UNPACKED // 1_000_000:,} MB; read fewer columns "
            "or records, or use the commands for large tables."
        )


ENCRYPTED = "damaged, cut off or encrypted"
PROTECTED = "damaged, cut off or protected by a password"
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


def damaged(file: str, how: str = "damaged or cut off") -> InputError:
    """The refusal of a file that no library reads."""
    return InputError(f"{file} is {how}; get or save the file again.")


_OPENERS: tuple[tuple[bytes, Any], ...] = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ\x00", lzma.open),
)
_STEP = 1 << 20
_BROKEN = (OSError, EOFError, zlib.error, lzma.LZMAError)


def unpacking(content: bytes) -> Any:
    """Return a stream of the content without gzip, bzip2 or xz around it."""
    packed = io.BytesIO(content)
    return next((opened(packed) for sign, opened in _OPENERS if content.startswith(sign)), packed)


def first_bytes(content: bytes, count: int) -> bytes:
    """The first bytes of the content, unpacked if it is packed; none where it is broken."""
    try:
        return bytes(unpacking(content).read(count))
    except _BROKEN:
        return b""


def unpacked(file: str, content: bytes) -> bytes:
    """The content without gzip, bzip2 or xz around it."""
    parts: list[bytes] = []
    size = 0
    stream = unpacking(content)
    try:
        while part := stream.read(_STEP):  # of so many bytes, memory is taken at once
            parts.append(part)
            size += len(part)
            check_unpacked(file, size)
    except _BROKEN:
        raise damaged(file) from None
    return b"".join(parts)
