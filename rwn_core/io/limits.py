"""Size limits of a file; larger tables go to the commands for datasets."""

from __future__ import annotations

from rwn_core.errors import InputError

LARGEST_FILE = 1_000_000_000  # bytes; a table is held several times over while it is read
LARGEST_UNPACKED = 1_000_000_000  # bytes of a packed file, unpacked
MOST_COLUMNS = 2_000
MOST_CELLS = 100_000_000  # records times columns of a Parquet file: 0.8 GB of numbers
LONGEST_FIELD = 100_000  # characters of a CSV field; Python's csv module stops at 131,072
MOST_LETTERS = 1_000_000_000  # bytes of all texts of one Parquet column, written out
LONGEST_READING = 900.0  # seconds
MOST_MEMORY = 8e9  # bytes that the process which reads a file may take
LARGEST_WHOLE = 2**53  # from here on a float64 does not tell neighboring whole numbers apart


def check_size(file: str, records: int, columns: int) -> None:
    """Refuse a table that declares too many columns or cells, before anything is unpacked."""
    if columns > MOST_COLUMNS:
        raise InputError(
            f"{file} has {columns:,} columns; choose at most {MOST_COLUMNS:,} of them."
        )
    if records * columns > MOST_CELLS:
        raise InputError(
            f"{file} has {records:,} records of {columns:,} columns, more than {MOST_CELLS:,} "
            "cells; read fewer columns or records, or use the commands for large tables."
        )


def check_unpacked(file: str, size: int) -> None:
    """Refuse a packed file that would take too much memory, before it is unpacked."""
    if size > LARGEST_UNPACKED:
        raise InputError(
            f"{file} unpacks to more than {LARGEST_UNPACKED // 1_000_000:,} MB; read fewer columns "
            "or records, or use the commands for large tables."
        )
