"""Numbers that Stata, SAS and SPSS show as dates or times: by the unit and origin of their format.

Sources: Stata's manual [D] Datetime display formats; SAS 9.4 Formats and Informats, "Formats by
Category"; IBM SPSS Statistics Command Syntax Reference, "Date and Time Formats".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rwn_core.data.plain import read_plain, toml_document

_DAY = 86_400_000_000  # microseconds
_PER = {"days": _DAY, "seconds": 1_000_000, "milliseconds": 1_000}  # microseconds
_MONTHS = {"months": 1, "quarters": 3, "half-years": 6}
_FIRST, _LAST = np.datetime64("0001-01-01", "us"), np.datetime64("9999-12-31T23:59:59.999999")


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeFormat:
    """The unit and the start that the numbers of a format count from."""

    unit: str = ""  # of time; none for what stays a number, "clock" if all of it lies within a day
    origin: str = "1960-01-01"
    words: str = ""  # what is said of the column
    daily: bool = True  # whether it shows days without a clock
    formats: str = ""  # a pattern of their names


_TEXT = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
_LISTED = toml_document(_TEXT, "list of formats")
_LEAPS = np.array(_LISTED.pop("leap_days"), "datetime64[D]")
_FORMATS: Mapping[str, tuple[TimeFormat, ...]] = read_plain(
    Mapping[str, tuple[TimeFormat, ...]], _LISTED, "list of formats"
)
_STATA_FORMAT = re.compile(r"%[-~0]?\d*(?:\.\d+)?(?:t(?P<unit>\w)|d)(?P<shown>.*)")
_STATA_CLOCK = re.compile(r"(?:[Hh]{2}|MM|mm|SS|ss|\.s+|am|AM|a\.m\.|A\.M\.|[:_ .,\-/+\\!])+")


def time_format(program: str, written: str) -> TimeFormat | None:
    """Return what a format of a program ("dta", "sav", ...) counts; None if it shows no time.

    >>> time_format("dta", "%tcDDmonCCYY_HH:MM:SS").unit, time_format("dta", "%9.0g")
    ('milliseconds', None)
    >>> time_format("sas7bdat", "YYMMDDC10.").unit, time_format("sav", "QYR6").origin
    ('days', '1582-10-14')
    """
    listed = "spss" if program in ("sav", "por") else "sas"
    name = written.upper()
    if program == "dta":
        found = _STATA_FORMAT.fullmatch(written)
        if found is None:
            return None
        listed = "stata"
        name = found["unit"] or "d"
        if name in "cC" and _STATA_CLOCK.fullmatch(found["shown"]):
            name += "clock"
    known = _FORMATS[listed]
    return next((f for f in known if re.fullmatch(rf"({f.formats})\d*(\.\d*)?", name)), None)


def as_times(
    values: pd.Series[Any], form: TimeFormat, name: str, written: str
) -> tuple[pd.Series[Any], list[str]]:
    """Return numbers as the dates or times that they count, and notices; an odd column stays."""
    numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
    known = ~np.isnan(numbers)
    said = [f"{name} ({written}): {form.words}."] if form.words and known.any() else []
    if form.unit == "clock":
        of_a_day = (numbers[known] >= 0) & (numbers[known] < _DAY // 1_000)
        form = TimeFormat(unit="" if of_a_day.all() else "milliseconds", daily=False)
    if not form.unit:
        return values, said
    moments = np.full(len(numbers), np.datetime64("NaT"), "datetime64[us]")
    counted = None if np.isinf(numbers).any() else _moments(numbers[known], form)
    if counted is None or ((counted < _FIRST) | (counted > _LAST)).any():
        return values, [
            f"{name} ({written}) has numbers that are no dates of the years 1 to 9999: it stays "
            "the file's number."
        ]
    moments[known] = counted
    if form.unit in _MONTHS or form.unit == "weeks":
        said = [f"{name} counts {form.unit} since 1960 ({written}): each is read as its first day."]
    elif not form.words:
        said = []
    daily = form.daily and (moments[known].astype(np.int64) % _DAY == 0).all()
    return pd.Series(moments.astype("datetime64[s]") if daily else moments), said


def _moments(numbers: NDArray[np.float64], form: TimeFormat) -> NDArray[np.datetime64] | None:
    """Return the moments that numbers count; None where they are beyond all calendars."""
    origin = np.datetime64(form.origin, "us")
    if (np.abs(numbers) > 3.2e14).any():  # milliseconds of ten thousand years
        return None
    count = np.floor(numbers).astype(np.int64)
    part = numbers - count
    unit = form.unit
    if unit in _MONTHS or unit == "weeks":
        if part.any() or (np.abs(count) > 520_000).any():
            return None
        if unit == "weeks":  # Stata's year has 52 weeks; the last one is longer
            years = (count // 52 - 10).astype("datetime64[Y]").astype("datetime64[D]")
            return np.asarray(years + count % 52 * 7, "datetime64[us]")
        return np.asarray(count * _MONTHS[unit] + origin.astype("datetime64[M]"), "datetime64[us]")
    if unit.startswith("leap"):
        ends = (_LEAPS + 1 - origin).astype("timedelta64[ms]").astype(np.int64)
        ends += 1000 * np.arange(1, len(ends) + 1)
        count = count - 1000 * np.searchsorted(ends, count, "right")
        unit = "milliseconds"
    if (np.abs(count) > 4_000_000 * (_DAY // _PER[unit])).any():
        return None
    # a number of seconds since 1582 holds five decimals
    digits = 5 if np.spacing(np.abs(numbers).max(initial=0.0)) > 1e-6 else 9
    micro = np.rint(np.round(part, digits) * _PER[unit]).astype(np.int64)
    return origin + (count * _PER[unit] + micro).astype("timedelta64[us]")
