"""Read a file by another library than the one that `rwn_core.io` reads it with, and compare.

A reader takes a file's bytes and the table that was read of it, or written into it, as a frame and
its schema; it gives the table again, record by record. An empty text is no value.
"""

from __future__ import annotations

import io
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, time, timedelta
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rwn_core.data.file_layout import USUAL_DATES, FileLayout
from rwn_core.data.same_looks import looks
from rwn_core.data.schema import Schema
from rwn_core.data.validation import level_text
from rwn_core.data.variable import level_names
from rwn_core.io.guessed_layout import joined_names, without_breaks
from rwn_core.io.row_names import named
from rwn_core.io.text_types.lay_out import ungrouped
from rwn_core.io.time_formats import TimeFormat, as_times, time_format

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet

_REMEMBERED = 65_536  # different values of a column that a cache has
_NO_CLOCK = " 00:00:00"
_TRUTHS = {"true": 1, "false": 0}


def differing(
    frame: pd.DataFrame, again: pd.DataFrame, schema: Schema, *, gaps: bool
) -> dict[str, int]:
    """Count the cells that two readings of a table have different, by column.

    Numbers are equal as numbers, days as instants (in a workbook to the millisecond), all
    else as texts. Without `gaps`, what is missing in the first reading may be a code for missing.
    """
    found = {}
    unit = again.attrs.get("unit", "us")
    for name in frame.columns:
        if not frame[name].equals(again[name]):
            key = lru_cache(_REMEMBERED, typed=True)(_key(frame[name].dtype, schema, name, unit))
            pairs = zip(map(key, frame[name].tolist()), map(key, again[name].tolist()), strict=True)
            found[name] = sum(a != b and (gaps or a is not None) for a, b in pairs)
    return {name: count for name, count in found.items() if count}


def _day_in(notation: str, text: str) -> datetime | str:
    """Return the day that a text is in a notation; a column may have YYYY-MM-DD all the same."""
    pattern = notation.replace("YYYY", "%Y").replace("MM", "M").replace("DD", "D")
    pattern = pattern.replace("M", "%m").replace("D", "%d")
    try:
        return datetime.strptime(text.strip(), pattern)
    except ValueError:
        return text


def _is_missing(value: object) -> bool:
    """True if there is no value, in any form, or an empty text."""
    return value is None or value is pd.NA or value != value or value == ""


def _key(dtype: Any, schema: Schema, name: str, unit: str) -> Callable[[Any], Any]:
    """Return the function that gives equal values of a column one key, and no value None."""
    variable = schema.by_name.get(name)
    layout = schema.file or FileLayout()
    labels: dict[Any, str] = {}
    if isinstance(dtype, pd.CategoricalDtype):
        dtype = dtype.categories.dtype
        labels = level_names(() if variable is None else variable.value_labels)
    mark = layout.decimal
    narrow = dtype == np.float32
    notation = (variable and variable.notation) or layout.dates
    days = pd.api.types.is_datetime64_any_dtype(dtype)
    numbers = pd.api.types.is_numeric_dtype(dtype) and not labels

    seen: Callable[[str], str] = looks if layout.join else str

    def key(value: Any) -> Any:
        if _is_missing(value):
            return None
        try:
            if numbers:
                number = _number(value, layout)
                return float(np.float32(number)) if narrow else number
            if days:
                if isinstance(value, str) and notation != USUAL_DATES:
                    value = _day_in(notation, value)
                moment = pd.Timestamp(value).as_unit("us").round(unit)
                return moment.tz_localize("UTC") if moment.tz is None else moment
        except (LookupError, ValueError, TypeError, OverflowError):  # a value of another kind
            pass
        text = level_text(labels.get(value, value)).strip()
        return seen(text.removesuffix(_NO_CLOCK).replace(mark, "."))

    return key


def _number(value: Any, layout: FileLayout) -> Any:
    if isinstance(value, str):
        text = value.strip()
        if layout.grouped:
            text = ungrouped(text, layout.decimal)
        text = text.replace(layout.decimal, ".")
        try:
            return int(text) if text.lstrip("+-").isdigit() else float(text)
        except ValueError:
            if not text.lower().endswith(("m", "m.")) and ":" not in text:
                return _TRUTHS[text.lower()]
            value = pd.Timestamp(f"2000-01-01 {text}").time()
    if isinstance(value, time):
        value = datetime.combine(datetime.min, value) - datetime.min
    return value / timedelta(seconds=1) if isinstance(value, timedelta) else value


def text_again(content: bytes, frame: pd.DataFrame, schema: Schema, usual: str) -> pd.DataFrame:
    """Read a text table by pandas, every field as a text."""
    layout = schema.file or FileLayout()
    text = content.decode("utf-8-sig" if layout.encoding == "utf-8" else layout.encoding)
    read = pd.read_csv(
        io.StringIO(text, newline=""),
        sep=layout.separator or usual,
        dtype=str,
        na_filter=False,
        header=0 if layout.header else None,
        skiprows=layout.above + max(layout.header - 1, 0),
        skip_blank_lines=False,
        on_bad_lines="skip" if layout.below else "error",
    )
    if not isinstance(read.index, pd.RangeIndex):  # row names without a name in the header line
        read = read.reset_index(names="")
    names = [without_breaks(str(name)) for name in read]
    read.columns = named(names, schema) if layout.header == 1 else frame.columns
    return read.head(len(frame)) if layout.below else read


def arrow_again(content: bytes, frame: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """Read columns of Parquet or Feather by Arrow's library in Rust, exact decimals as texts."""
    import arro3.io
    import pyarrow as pa
    import pyarrow.parquet as pq

    stream = io.BytesIO(content)
    read = arro3.io.read_ipc
    if content.startswith(b"PAR1"):
        pq.read_metadata(stream)  # a damaged file makes the library write to the terminal
        read = arro3.io.read_parquet
    table = pa.table(read(stream))
    found = {}
    table = table.rename_columns(named(table.column_names, schema))
    for name in frame.columns:
        column = table.column(name)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_decimal(column.type):
            column = column.cast(pa.string())
        typed = not column.null_count and not pa.types.is_time(column.type)
        found[name] = column.to_pandas() if typed else pd.Series(column.to_pylist(), dtype=object)
    return pd.DataFrame(found)


def labelled_again(
    content: bytes, frame: pd.DataFrame, schema: Schema, program: str
) -> pd.DataFrame:
    """Read numbers and labels of Stata or SAS by pandas; the one table of formats makes days."""
    import pyreadstat

    program = "xport" if content.startswith(b"HEADER") else program
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if program == "dta":
            read: Any = partial(pd.read_stata, convert_dates=False)
            numbers = labels = read(io.BytesIO(content), convert_categoricals=False)
            with suppress(ValueError):  # labels that codes share
                labels = read(io.BytesIO(content))
            for name in frame.select_dtypes("category"):
                numbers[name] = labels[name].astype(object)
        else:
            how: Any = {"format": program, "encoding": "utf-8" if program == "xport" else "infer"}
            with pd.read_sas(io.BytesIO(content), iterator=True, **how) as reader:
                reader.convert_dates = False
                numbers = reader.read().replace(16.0**-65, 0.0)  # what pandas makes of a zero
    _, about = getattr(pyreadstat, f"read_{program}")(io.BytesIO(content), metadataonly=True)
    for name in frame.select_dtypes("datetime"):
        written = about.original_variable_types[name]
        form = time_format(program, written) or TimeFormat()
        numbers[name] = as_times(numbers[name], form, "", written)[0]
    return pd.DataFrame(numbers)


def json_again(content: bytes, frame: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """Read records by pandas, in a list or one a line, without any guess of types."""
    text = content.decode("utf-8-sig")
    of_columns = "}}" in text
    how: Any = {
        "orient": "columns" if of_columns else "records",
        "lines": not of_columns and not text.lstrip().startswith("["),
        "dtype": False,
        "precise_float": True,
    }
    read: pd.DataFrame = pd.read_json(io.StringIO(text), **how).reset_index(drop=True)
    read.columns = pd.Index(named(list(read.columns), schema))
    return read


def workbook_again(content: bytes, frame: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """Read the first sheet of a workbook that has these names in a row, by openpyxl."""
    import openpyxl

    layout = schema.file or FileLayout()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stream = io.BytesIO(content)
        book = openpyxl.load_workbook(stream, read_only=not layout.fill, data_only=True)
    for sheet in book.worksheets:
        if layout.fill:
            _unmerge(sheet)
        rows = sheet.iter_rows(values_only=True)
        head: deque[list[str]] = deque(maxlen=layout.header)
        for row in rows:
            head.append(["" if cell is None else str(cell) for cell in row])
            names = named(joined_names([*head]), schema)
            places = {name: place for place, name in enumerate(names)}
            if set(frame.columns) <= places.keys():
                read = _rows_below(rows, places, frame)
                return _with_codes(read.head(len(frame)) if layout.below else read, frame)
    raise ValueError("no sheet has these columns")


def _unmerge(sheet: Worksheet) -> None:
    """Give every cell of a merged area its value."""
    for area in [*sheet.merged_cells.ranges]:
        sheet.unmerge_cells(str(area))
        for row, column in area.cells:
            sheet.cell(row, column).value = sheet.cell(area.min_row, area.min_col).value


def _rows_below(
    rows: Iterable[Sequence[Any]], places: Mapping[str, int], frame: pd.DataFrame
) -> pd.DataFrame:
    """Return the columns of a table from the rows below its names."""
    cells = [[*row, *[None] * len(places)] for row in rows]
    table = [[row[places[name]] for name in frame.columns] for row in cells]
    while table and not any(cell not in (None, "") for cell in table[-1]):
        table.pop()  # empty rows at the end are no records
    table += [[None] * frame.shape[1]] * (len(frame) - len(table))
    read = pd.DataFrame(table, columns=frame.columns, dtype=object)
    read.attrs["unit"] = "ms"  # of the moments
    return read


def _with_codes(read: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
    """Put a code in the place of a number that its format shows as that code."""
    for name in map(str, frame.select_dtypes("str")):
        pairs = zip(frame[name], read[name], strict=False)
        codes = [code if _is_shown(cell, code) else cell for code, cell in pairs]
        read[name] = [*codes, *read[name][len(codes) :]]
    return read


def _is_shown(cell: object, code: object) -> bool:
    """True if a cell is a number and a code is a text of its digits, apart from leading zeros."""
    digits = "".join(filter(str.isdecimal, code)) if isinstance(code, str) else ""
    return isinstance(cell, int | float) and digits != "" and int(digits) == cell
