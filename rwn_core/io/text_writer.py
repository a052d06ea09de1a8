"""Text tables out: one header line, line feeds, and quotes only where they are needed."""

from __future__ import annotations

import csv

import pandas as pd

from rwn_core.data.schema import Schema
from rwn_core.io.text_types.convert import USUAL, number_text
from rwn_core.io.text_types.date_texts import are_days, date_texts
from rwn_core.io.text_types.lay_out import with_commas


def text_table(frame: pd.DataFrame, separator: str, schema: Schema | None = None) -> bytes:
    """Write a table as UTF-8 text."""
    # the frame with numbers and dates as texts where the schema says how they are written
    texts = {}
    for variable in () if schema is None else schema.variables:
        decimals, notation = variable.decimals, variable.notation
        if variable.name not in frame or (decimals in (None, USUAL) and notation is None):
            continue
        column = frame[variable.name]
        if notation is not None and are_days(column):
            texts[variable.name] = date_texts(column, notation)
        if decimals in (None, USUAL):
            continue
        if pd.api.types.is_float_dtype(column.dtype):
            known = {value: number_text(value, decimals) for value in column.dropna().unique()}
            texts[variable.name] = column.map(known).astype(object).where(column.notna(), None)
    frame = frame.assign(**texts) if texts else frame
    if schema is not None and schema.file is not None and schema.file.decimal == ",":
        frame = _with_commas(frame)
    written = frame.to_csv(index=False, lineterminator="\n", sep=separator)
    if "\r" in written:
        # a carriage return ends a line for a reader, unless its text is quoted
        written = frame.to_csv(
            index=False, lineterminator="\n", sep=separator, quoting=csv.QUOTE_NONNUMERIC
        )
    return written.encode("utf-8")


def _with_commas(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with a comma in all its decimals: numbers, and texts that are read as such."""
    texts = {}
    for name in frame.columns:
        column = frame[name]
        kinds = pd.api.types
        if kinds.is_integer_dtype(column.dtype) or kinds.is_datetime64_any_dtype(column.dtype):
            continue
        known = column.dropna().unique()
        if kinds.is_float_dtype(column.dtype):
            written = [number_text(value, USUAL) for value in known]
        else:
            written = [str(value) for value in known]
        commas = dict(zip(known, with_commas(written), strict=True))
        texts[name] = column.map(commas).astype(object).where(column.notna(), None)
    return frame.assign(**texts)
