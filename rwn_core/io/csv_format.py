"""CSV: the format of text that every program reads."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from rwn_core.io.format import Format

if TYPE_CHECKING:
    import pandas as pd

    from rwn_core.data.microdata import Microdata
    from rwn_core.data.schema import Schema


def read(file: str, content: bytes, schema: Schema | None) -> Microdata:
    """Read a CSV file, see `read_csv`."""
    from rwn_core.io.csv_reader import read_csv

    return read_csv(file, content, schema)


def write(frame: pd.DataFrame) -> bytes:
    """Write UTF-8 with commas, one header line and line feeds."""
    written = frame.to_csv(index=False, lineterminator="\n")
    if "\r" in written:
        # a carriage return ends a line for a reader, unless its text is quoted
        written = frame.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    return written.encode("utf-8")


FORMAT = Format(
    key="csv",
    title="CSV",
    noun="a CSV file",
    suffixes=(".csv",),
    media_type="text/csv",
    read=read,
    write=write,
    demand="UTF-8, separated by commas, one header line",
)
