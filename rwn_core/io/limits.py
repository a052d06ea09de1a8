"""Size limits of a file; larger tables go to the commands for datasets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rwn_core.errors import InputError

if TYPE_CHECKING:
    from rwn_core.data.file_layout import FileLayout
    from rwn_core.data.schema import Schema

LARGEST_FILE = 1_000_000_000  # bytes; a table is held several times over while it is read
LARGEST_COMPANION = 50_000_000  # bytes of the codebook of a file
LARGEST_UNPACKED = 1_000_000_000  # bytes of a packed file, unpacked
MOST_COLUMNS = 2_000
MOST_CELLS = 100_000_000  # records times columns of a Parquet file: 0.8 GB of numbers
LONGEST_FIELD = 100_000  # characters of a CSV field; Python's csv module stops at 131,072
MOST_LETTERS = 1_000_000_000  # bytes of all texts of one Parquet column, written out
LONGEST_READING = 900.0  # seconds
MOST_MEMORY = 8e9  # bytes that the process which reads a file may take
READ = "are read"  # in the notice of a table with too many columns
LARGEST_WHOLE = 2**53  # from here on a float64 does not tell neighboring whole numbers apart


def chosen_columns(
    file: str, names: Sequence[str], schema: Schema | None, layout: FileLayout | None
) -> tuple[list[int], list[str]]:
    """Return the places of the columns that are read, and a notice where a table has too many."""
    if len(names) <= MOST_COLUMNS:
        return [*range(len(names))], []
    only: Sequence[str] = () if schema is None else schema.names
    drop: Sequence[str] = ()
    if layout is not None:
        only, drop = layout.only or only, layout.drop
    unknown = next((name for name in (*only, *drop) if name not in names), None)
    if unknown is not None:
        raise InputError(f"{file} has no column {unknown}; choose columns by the file's names.")
    chosen = [place for place, name in enumerate(names) if not only or name in set(only)]
    chosen = [place for place in chosen if names[place] not in drop][:MOST_COLUMNS]
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


def check_unpacked(file: str, size: int) -> None:
    """Refuse a packed file that would take too much memory, before it is unpacked."""
    if size > LARGEST_UNPACKED:
        raise InputError(
            f"{file} unpacks to more than {LARGEST_UNPACKED // 1_000_000:,} MB; read fewer columns "
            "or records, or use the commands for large tables."
        )
