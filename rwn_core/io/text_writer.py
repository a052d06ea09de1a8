"""Text tables out: one header line, line feeds, and quotes only where they are needed."""

from __future__ import annotations

import csv

import pandas as pd

from rwn_core.data.schema import Schema


def text_table(frame: pd.DataFrame, separator: str, schema: Schema | None = None) -> bytes:
    """Write a table as UTF-8 text.

    Parameters
    ----------
    frame : pandas.DataFrame
    separator : str
        Between the fields of a line.
    schema : Schema, optional

    Returns
    -------
    bytes
    """
    written = frame.to_csv(index=False, lineterminator="\n", sep=separator)
    if "\r" in written:
        # a carriage return ends a line for a reader, unless its text is quoted
        written = frame.to_csv(
            index=False, lineterminator="\n", sep=separator, quoting=csv.QUOTE_NONNUMERIC
        )
    return written.encode("utf-8")
