"""Dates as a text file writes them: which notation fits, and there and back."""

from __future__ import annotations

import re
from typing import Any, NoReturn

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rwn_core.data.file_layout import NOTATIONS, USUAL_DATES, filled_in
from rwn_core.io.text_types.column import Form, TextColumn, fitting

_PATTERNS = {
    "YYYY": r"(?P<year>\d{4})",
    "MM": r"(?P<month>0[1-9]|1[0-2])",
    "DD": r"(?P<day>0[1-9]|[12]\d|3[01])",
    "M": r"(?P<month>[1-9]|1[0-2])",
    "D": r"(?P<day>[1-9]|[12]\d|3[01])",
}
_SHORT_YEAR = r"\d{1,2}[/.-]\d{1,2}[/.-]\d{2}( .*)?"


_ZONE = r".*:.*(Z|[+-]\d{2}:?\d{2})"


def fitting_notations(texts: pa.Array) -> list[str]:
    """Which notations all of some texts have."""
    found = [each for each in NOTATIONS if fitting(texts, _pattern(each)).all()]
    return [
        each
        for each in found
        if len(each) == 10 or filled_in(each, {"YYYY": "YYYY", "M": "MM", "D": "DD"}) not in found
    ]


def only_notation(column: TextColumn) -> str | None:
    """The one notation that all dates of a column have; None where another one fits as well."""
    if column.has != {Form.OTHER_DATE}:
        return None
    dates = column.different.filter(pa.array(column.with_forms({Form.OTHER_DATE})))
    fits = fitting_notations(dates)
    return fits[0] if len(fits) == 1 else None


def refuse_dates(
    column: TextColumn, wrong: NDArray[np.bool_], notation: str = USUAL_DATES
) -> NoReturn:
    """Raise an InputError about dates in another notation; it names those that fit all of them."""
    # wrong: shape (m,), m different texts
    fits: list[str] = []
    if column.has == {Form.OTHER_DATE}:
        short = fitting(column.different, _SHORT_YEAR)
        if short.any():
            column.refuse(
                short,
                "has a year of two digits",
                "have a year of two digits",
                "write all four",
            )
        fits = fitting_notations(
            column.different.filter(pa.array(column.with_forms({Form.OTHER_DATE})))
        )
    options = [f"--file dates={each}" for each in fits]
    remedy = "write every date in this form"
    if len(fits) == 1:
        remedy = f"all fit {fits[0]}: give that as the dates of the file ({options[0]})"
    elif fits:
        remedy = (
            f"all fit {' and '.join(fits)}, and no value tells which: give one as the dates of the "
            f"file ({' or '.join(options)})"
        )
    column.refuse(
        wrong,
        f"is not a date of the form {notation}",
        f"are not dates of the form {notation}",
        remedy,
    )


def date_texts(column: pd.Series[pd.Timestamp], notation: str) -> pd.Series[str]:
    """Dates as texts in a notation."""
    known = {day: _date_text(day, notation) for day in column.dropna().unique()}
    return column.map(known).astype(object).where(column.notna(), None)


def are_days(column: pd.Series[pd.Timestamp]) -> bool:
    """Return True if these are dates without time of day and time zone."""
    if not pd.api.types.is_datetime64_dtype(column.dtype):
        return False
    known = column.dropna()
    return bool((known == known.dt.normalize()).all())


def _date_text(day: pd.Timestamp, notation: str) -> str:
    year, month, date = f"{day.year:04d}", str(day.month), str(day.day)
    return filled_in(
        notation,
        {"YYYY": year, "MM": month.zfill(2), "DD": date.zfill(2), "M": month, "D": date},
    )


def _pattern(notation: str) -> str:
    return filled_in(re.escape(notation), _PATTERNS)


def dates(column: TextColumn, notation: str | None = None) -> tuple[pd.Series[Any], list[str]]:
    """Give the moments of a column."""
    form, texts = Form.DATE, column.different
    if notation is not None and column.has == {Form.OTHER_DATE}:
        # dates are rewritten as YYYY-MM-DD; other texts stay as they are
        other_dates = column.with_forms({Form.OTHER_DATE})
        fits = fitting(texts, _pattern(notation))
        if (other_dates & ~fits).any():
            refuse_dates(column, other_dates & ~fits, notation)
        parts = pc.extract_regex(texts, rf"\A(?:{_pattern(notation)})\z")
        year, month, day = (
            pc.utf8_lpad(pc.struct_field(parts, name), width, "0")
            for name, width in (("year", 4), ("month", 2), ("day", 2))
        )
        usual = pc.binary_join_element_wise(year, month, day, pa.scalar("-", year.type))
        form = Form.OTHER_DATE
        texts = pc.if_else(pa.array(fits), pc.cast(usual, texts.type), texts)
    others = column.has - {form}
    if others:
        refuse_dates(column, column.with_forms(others))
    chosen = column.with_forms({form})
    zoned = fitting(texts, _ZONE) & chosen
    if zoned.any() and not zoned[chosen].all():
        remedy = "write it in all or in none"
        column.refuse(chosen & ~zoned, "lacks a time zone", "lack a time zone", remedy)
    moments = pd.Series(np.where(chosen, texts.to_numpy(zero_copy_only=False), None), dtype=object)
    parsed = pd.to_datetime(moments, format="ISO8601", errors="coerce", utc=bool(zoned.any()))
    impossible = chosen & parsed.isna().to_numpy()
    if impossible.any():
        column.refuse(impossible, "is not on the calendar", "are not on the calendar", "correct it")
    notices: list[str] = []
    if zoned.any():
        offsets = {_offset(text) for text in moments[zoned]}
        if len(offsets) > 1:
            notices = [
                f"{column.name} has times of {len(offsets)} time zones: they become universal "
                "time, and days may change."
            ]
        elif offsets != {"+00:00"}:
            # a day of the file stays the same day
            parsed = parsed.dt.tz_convert(f"UTC{offsets.pop()}")
    return parsed.take(column.codes).reset_index(drop=True).rename(column.name), notices


def _offset(text: str) -> str:
    """The time zone at the end of a text, such as +09:00."""
    if text.endswith("Z"):
        return "+00:00"
    digits = text[-6:].replace(":", "")[-5:]
    return f"{digits[:3]}:{digits[3:]}"
