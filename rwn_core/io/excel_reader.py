"""Excel in: the values of the first sheet that holds a table, and the results of its formulas."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

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
    file: str, content: bytes, schema: Schema | None = None, *, layout: FileLayout | None = None
) -> Microdata:
    """Read a workbook."""
    found = check_workbook(file, content)
    if found.without_result:
        raise InputError(
            f"{file}: {found.without_result:,} cells are formulas without a stored result; open "
            "the file in a spreadsheet program and save it."
        )
    sheet = chosen_sheet(file, content, layout or FileLayout())
    rows, first, notices = sheet.rows, sheet.first, sheet.notices
    if sheet.name in found.sheets:
        notices += found.sheets[sheet.name].notices(len(rows[0]) if rows else 0)
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
        cells = _Cells(file, name, [row[position] for row in rows[1:]], first + 1)
        variable = None if schema is None else schema.variable(name)
        series[name], noticed = cells.typed(variable)
        notices += noticed
    with in_file(file):
        return Microdata.from_frame(pd.DataFrame(series), schema, notices=tuple(notices))


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
    """

    def __init__(self, file: str, name: str, values: list[Any], first: int) -> None:
        self.file, self.name, self.values, self.first = file, name, values, first
        self.gaps = np.array([value is None or value == "" for value in values])
        self.kinds = np.array([_column_kind(value) for value in values], dtype=object)

    def typed(self, variable: Variable | None) -> tuple[pd.Series[Any], list[str]]:
        """The column with the type of its cells; what is mixed is refused."""
        kinds = set(self.kinds[~self.gaps])
        if _TIME in kinds:
            self._refuse(self.kinds == _TIME, "times of the day or durations", "write numbers")
        if variable is not None and variable.kind is Kind.CATEGORICAL and kinds != {_TRUTH}:
            return self._texts(), []
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

    def _notices(self) -> list[str]:
        texts = {value for value in self.values if isinstance(value, str) and value}
        if texts and all(_looks_like_number(text) for text in texts):
            return [f"{self.name} has numbers written as texts: it is categorical."]
        return []

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
            f"{len(rows):,} cell{'s' * (len(rows) != 1)} hold {what}; {remedy}."
        )


def _column_kind(value: Any) -> str:
    return next((kind for type_, kind in _KINDS if isinstance(value, type_)), _TEXT)


def _text(value: Any) -> str:
    """A cell as a text; a whole number without a point."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _looks_like_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
