"""Excel out: one sheet of values; no cell is a formula, a link or a picture of a number."""

from __future__ import annotations

import datetime
import io
from collections.abc import Iterable
from typing import Any, cast

import pandas as pd
import xlsxwriter
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from rwn_core.data.schema import Schema
from rwn_core.errors import ReleaseError
from rwn_core.io.limits import refuse_large_wholes

_ROWS, _COLUMNS, _LETTERS = 1_048_576, 16_384, 32_767  # what a sheet of Excel holds
_FIRST_DAY = pd.Timestamp(1900, 3, 1)  # Excel has a 29th of February 1900
_MADE = datetime.datetime(2000, 1, 1)  # the same table gives the same bytes


class _ExactSheet(Worksheet):  # type: ignore[misc]  # its package has no type descriptions
    """A sheet that writes numbers with all their digits; the library stops at 16."""

    def _xml_number_element(
        self, number: float, attributes: Iterable[tuple[str, object]] = ()
    ) -> None:
        words = "".join(f' {key}="{value}"' for key, value in attributes)
        self.fh.write(f"<c{words}><v>{number!r}</v></c>")


def excel_bytes(frame: pd.DataFrame, schema: Schema | None = None) -> bytes:
    """Write a workbook of one sheet of values, without formulas, links and formats."""
    if len(frame) >= _ROWS or frame.shape[1] > _COLUMNS:
        raise ReleaseError(
            f"An Excel sheet holds {_ROWS - 1:,} records of {_COLUMNS:,} columns; choose another "
            "format."
        )
    if len(frame) and frame.iloc[-1].isna().all():
        raise ReleaseError(
            "The last record has no values, and Excel would lose it; choose another format."
        )
    for checked in frame.columns:
        fault = _fault(frame[checked])
        if fault:
            raise ReleaseError(f"Column {checked} has {fault}; choose another format.")
    stream = io.BytesIO()
    book = xlsxwriter.Workbook(stream, {"in_memory": True, "strings_to_urls": False})
    book.set_properties({"created": _MADE})
    sheet = book.add_worksheet("data", worksheet_class=_ExactSheet)
    day = book.add_format({"num_format": "yyyy-mm-dd"})
    moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
    for position, name in enumerate(frame.columns):
        sheet.write_string(0, position, str(name))
        column = frame[name]
        values = column.astype(object).where(column.notna(), None).tolist()
        write = _writer(sheet, column, day, moment)
        for row, value in enumerate(values, start=1):
            if value is not None:
                write(row, position, value)
    book.close()
    return stream.getvalue()


def _writer(sheet: Worksheet, column: pd.Series[Any], day: Format, moment: Format) -> Any:
    """Return the function that writes a cell of a column."""
    values = column
    kinds = pd.api.types
    if isinstance(column.dtype, pd.CategoricalDtype):
        values = pd.Series(column.cat.categories)
    if kinds.is_bool_dtype(values.dtype):
        return sheet.write_boolean
    if kinds.is_datetime64_any_dtype(values.dtype):
        known = values.dropna()
        look = day if (known == known.dt.normalize()).all() else moment
        return lambda row, position, value: sheet.write_datetime(
            row, position, value.tz_localize(None).to_pydatetime(), look
        )
    write = sheet.write_string
    plain = cast("type[Any]", str)
    if kinds.is_numeric_dtype(values.dtype):
        write = sheet.write_number
        plain = float if kinds.is_float_dtype(values.dtype) else int
    return lambda row, position, value: write(row, position, plain(value))


def _fault(column: pd.Series[Any]) -> str | None:
    dtype = column.dtype
    known = column.dropna()
    if pd.api.types.is_datetime64_any_dtype(dtype):
        early = known.dt.tz_localize(None) < _FIRST_DAY
        return "dates before March 1900, which Excel does not have" if early.any() else None
    if pd.api.types.is_integer_dtype(dtype):
        refuse_large_wholes(column, "Excel")
    if pd.api.types.is_string_dtype(dtype) or isinstance(dtype, pd.CategoricalDtype):
        long = any(len(str(value)) > _LETTERS for value in known.unique())
        return f"texts of more than {_LETTERS:,} letters, which Excel cuts" if long else None
    return None
