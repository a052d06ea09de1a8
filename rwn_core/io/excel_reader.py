"""Excel in: the values of the first sheet that holds a table, and the results of its formulas."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from rwn_core.data.date_notation import USUAL_DATES
from rwn_core.data.file_layout import FileLayout
from rwn_core.data.microdata import Microdata
from rwn_core.data.schema import Schema
from rwn_core.data.validation import LARGEST_NUMBER, check_names
from rwn_core.data.variable import Kind, Variable
from rwn_core.errors import InputError
from rwn_core.io.excel_container import check_workbook
from rwn_core.io.excel_rows import chosen_sheet
from rwn_core.io.file_name import in_file
from rwn_core.io.limits import LARGEST_WHOLE, MOST_COLUMNS
from rwn_core.io.text_types.column import TextColumn
from rwn_core.io.text_types.convert import typed
from rwn_core.io.text_types.lay_out import with_points
from rwn_core.io.text_types.patterns import Form, text_forms

_CLOCKLESS = datetime.time()
_NUMBER, _TEXT, _TRUTH, _DATE, _TIME = "number", "text", "truth value", "date", "time of the day"
_KINDS: tuple[tuple[type, str], ...] = (
    (bool, _TRUTH),
    (int, _NUMBER),
    (float, _NUMBER),
    (str, _TEXT),
    (datetime.date, _DATE),  # a datetime is a date
    (datetime.time, _TIME),
    (datetime.timedelta, _TIME),
)


def read_excel(
    file: str, content: bytes, schema: Schema | None = None, layout: FileLayout | None = None
) -> Microdata:
    """Read a workbook."""
    found = check_workbook(file, content)
    layout = layout or FileLayout()
    sheet = chosen_sheet(file, content, layout)
    rows, first, notices = sheet.rows, sheet.first, sheet.notices
    if sheet.name in found.sheets:
        marks = found.sheets[sheet.name]
        # a record of such formulas alone would be lost, unless rows below the table are stated
        end = first + len(rows) if layout.below else math.inf
        _refuse_open_formulas(file, marks.open_rows, first, end)
        notices += marks.notices(len(rows[0]) if rows else 0)
    if found.formulas:
        notices.append(
            f"The file has {found.formulas:,} formulas: their stored results are read, and a "
            "release holds values only."
        )
    if found.macros:
        notices.append("The file has macros: they are neither run nor kept.")
    names = _header(file, rows[0], first)
    with in_file(f"{file}, row {first:,}"):
        check_names(pd.Index(names, dtype=object))
    if schema is not None:
        with in_file(file):
            schema.require_names(names)
    if len(rows) < 2:
        raise InputError(
            f"{file}: no record follows the header line; masking needs at least two records."
        )
    series = {}
    for position, name in enumerate(names):
        values = [_emptied(row[position], layout.missing) for row in rows[1:]]
        cells = _Cells(file, name, values, first + 1, layout)
        variable = None if schema is None else schema.variable(name)
        series[name], noticed = cells.typed(variable)
        notices += noticed
    with in_file(file):
        return Microdata.from_frame(pd.DataFrame(series), schema, notices=tuple(notices))


def _refuse_open_formulas(file: str, rows: Sequence[int], first: int, end: float) -> None:
    """Refuse formulas of the table without a stored result; those around it do no harm."""
    inside = [row for row in rows if first <= row < end]
    if inside:
        cells = "1 cell is a formula" if len(inside) == 1 else f"{len(inside):,} cells are formulas"
        raise InputError(
            f"{file}, row {inside[0]:,}: {cells} without a stored result; open the file in a "
            "spreadsheet program and save it."
        )


def _emptied(value: Any, missing: Sequence[str]) -> Any:
    """Return a cell's value; an empty text for one that counts as missing."""
    return "" if isinstance(value, str) and value.strip() in missing else value


def _header(file: str, row: Sequence[Any], first: int) -> list[str]:
    if len(row) > MOST_COLUMNS:
        raise InputError(
            f"{file} has {len(row):,} columns; choose at most {MOST_COLUMNS:,} of them."
        )
    for position, name in enumerate(row, start=1):
        if not isinstance(name, str):
            # the name stays out of the message: without a header line it is a cell's value
            raise InputError(
                f"{file}, row {first:,}, column {position}: the name is a number or a date, as "
                "if the header line were left out; add a line with the names."
            )
    return [str(name) for name in row]


class _Cells:
    """One column of a sheet.

    Parameters
    ----------
    file, name : str
        For messages.
    values : list
        As the library gives them; an empty cell is an empty text.
    first : int
        The number of the first record's row in the sheet.
    layout : FileLayout
    """

    def __init__(
        self, file: str, name: str, values: list[Any], first: int, layout: FileLayout
    ) -> None:
        self.file, self.name, self.values, self.first = file, name, values, first
        self.layout = layout
        self.gaps = np.array([value is None or value == "" for value in values])
        self.kinds = np.array([_column_kind(value) for value in values], dtype=object)

    def typed(self, variable: Variable | None) -> tuple[pd.Series[Any], list[str]]:
        """The column with the type of its cells; what is mixed is refused."""
        kinds = set(self.kinds[~self.gaps])
        if _TIME in kinds:
            self._refuse(self.kinds == _TIME, "times of the day or durations", "write numbers")
        if variable is not None and variable.kind is Kind.CATEGORICAL and kinds != {_TRUTH}:
            return self._texts(), []
        written = self.layout.decimal == "," or self.layout.dates != USUAL_DATES
        if written and _TEXT in kinds and kinds <= {_TEXT, _NUMBER}:
            return self._as_written(variable)
        if len(kinds) > 1:
            usual = max(sorted(kinds), key=lambda kind: int((self.kinds == kind).sum()))
            odd = ~self.gaps & (self.kinds != usual)
            self._refuse(
                odd, f"no {usual}s, and the others are", "write one kind of value in each column"
            )
        make: dict[str, Callable[[], pd.Series[Any]]] = {
            _NUMBER: self._numbers,
            _DATE: self._dates,
            _TRUTH: self._truths,
        }
        if not kinds:
            return pd.Series([None] * len(self.values), dtype="float64"), []
        return make.get(kinds.pop(), self._texts)(), self._notices()

    def _as_written(self, variable: Variable | None) -> tuple[pd.Series[Any], list[str]]:
        """The column as a text file with the same texts has it."""
        comma = self.layout.decimal == ","
        texts = [
            "" if gap else _text(value).replace(".", "," if comma and value_is_number else ".")
            for gap, value, value_is_number in zip(
                self.gaps, self.values, self.kinds == _NUMBER, strict=True
            )
        ]
        column = pc.dictionary_encode(pa.array(texts, pa.large_string()))
        if comma:
            column = with_points(self.file, self.name, column)
        made = TextColumn(
            file=self.file,
            name=self.name,
            texts=column,
            lines=lambda rows: [row + self.first for row in rows],
            place="row",
        )
        usual = None if self.layout.dates == USUAL_DATES else self.layout.dates
        if not made.has:
            return pd.Series([None] * len(self.values), dtype="float64"), []
        return typed(made, variable, (variable and variable.notation) or usual)

    def _notices(self) -> list[str]:
        """Say of texts what they seem to be, and how the file is to be read then."""
        texts = {value for value in self.values if isinstance(value, str) and value}
        if not texts:
            return []
        forms = set(text_forms(pa.array(list(texts), pa.large_string())).tolist())
        if forms <= {Form.NUMBER, Form.CODE}:
            return [f"{self.name} has numbers written as texts: it is categorical."]
        if Form.DECIMAL_COMMA in forms and forms <= {Form.DECIMAL_COMMA, Form.NUMBER}:
            what, how = "numbers with decimal commas", 'decimal = ","'
        elif forms <= {Form.DATE, Form.OTHER_DATE}:
            what, how = "dates", "dates = DD.MM.YYYY, say"
        else:
            return []
        return [
            f"{self.name} has {what} written as texts: it is categorical, unless the layout of "
            f"the file says so ({how})."
        ]

    def _numbers(self) -> pd.Series[Any]:
        numbers = np.array(
            [
                np.nan if gap else float(value)
                for gap, value in zip(self.gaps, self.values, strict=True)
            ]
        )
        large = np.abs(numbers) > LARGEST_NUMBER
        if large.any():
            self._refuse(large, f"numbers beyond {LARGEST_NUMBER:g}", "write another unit")
        known = numbers[~self.gaps]
        if (known % 1 != 0).any():
            return pd.Series(numbers)
        if (np.abs(known) >= LARGEST_WHOLE).any():
            self._refuse(
                np.abs(numbers) >= LARGEST_WHOLE,
                "whole numbers of 2^53 or more, which Excel rounds",
                "write them as texts",
            )
        whole = np.where(self.gaps, 0, numbers).astype(np.int64)
        if not self.gaps.any():
            return pd.Series(whole)
        return pd.Series(pd.arrays.IntegerArray(whole, self.gaps))

    def _dates(self) -> pd.Series[Any]:
        moments = [
            None if gap else value for gap, value in zip(self.gaps, self.values, strict=True)
        ]
        days = all(
            value is None or getattr(value, "time", datetime.time)() == _CLOCKLESS
            for value in moments
        )
        return pd.Series(pd.to_datetime(pd.Series(moments, dtype=object), errors="coerce")).astype(
            "datetime64[s]" if days else "datetime64[us]"
        )

    def _truths(self) -> pd.Series[Any]:
        if not self.gaps.any():
            return pd.Series(self.values, dtype=bool)
        values = np.array([value is True for value in self.values])
        return pd.Series(pd.arrays.BooleanArray(values, self.gaps))

    def _texts(self) -> pd.Series[Any]:
        texts = [
            None if gap else _text(value) for gap, value in zip(self.gaps, self.values, strict=True)
        ]
        return pd.Series(pd.array(texts, dtype="str"))

    def _refuse(self, wrong: Any, what: str, remedy: str) -> None:
        rows = np.flatnonzero(wrong)
        places = ", ".join(f"{row + self.first:,}" for row in rows[:3])
        dots = ", ..." if len(rows) > 3 else ""
        raise InputError(
            f"{self.file}, column {self.name}, row{'s' * (len(rows) != 1)} {places}{dots}: "
            f"{'1 cell holds' if len(rows) == 1 else f'{len(rows):,} cells hold'} {what}; {remedy}."
        )


def _column_kind(value: Any) -> str:
    return next((kind for type_, kind in _KINDS if isinstance(value, type_)), _TEXT)


def _text(value: Any) -> str:
    """A cell as a text; a whole number without a point."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
