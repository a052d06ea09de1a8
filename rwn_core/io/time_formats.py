"""Numbers that Stata, SAS and SPSS show as dates or times: by the unit and origin of their format.

Sources: Stata's manual [D] Datetime display formats; SAS 9.4 Formats and Informats, "Formats by
Category"; IBM SPSS Statistics Command Syntax Reference, "Date and Time Formats".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

_DAY = 86_400_000_000  # microseconds
_PER = {"days": _DAY, "seconds": 1_000_000, "milliseconds": 1_000}  # microseconds
_MONTHS = {"months": 1, "quarters": 3, "half-years": 6}
_FIRST, _LAST = np.datetime64("0001-01-01", "us"), np.datetime64("9999-12-31T23:59:59.999999")
# the last days before a leap second, which Stata's %tC counts
_LEAPS = np.array(
    [f"{year}-06-30" for year in (1972, 1981, 1982, 1983, 1985, 1992, 1993, 1994, 1997, 2012, 2015)]
    + [
        f"{year}-12-31"
        for year in (*range(1972, 1980), 1987, 1989, 1990, 1995, 1998, 2005, 2008, 2016)
    ],
    "datetime64[D]",
)


@dataclass(frozen=True, slots=True)
class TimeFormat:
    """Say what the numbers of a format count."""

    unit: str  # of time; "" for what stays a number, "clock" if all of it lies within a day
    origin: str = "1960-01-01"
    words: str = ""  # what is said of the column
    daily: bool = True  # whether it shows days without a clock


_D, _S = TimeFormat("days"), TimeFormat("seconds", daily=False)
_PART = TimeFormat("days", words="it shows a part of each day only, and is read as the whole day")
_SPSS = TimeFormat("seconds", "1582-10-14")  # which shows a day
_CLOCK = TimeFormat("", words="its times of the day or durations stay numbers of seconds")
_UNKNOWN = TimeFormat("", words="it is unknown here, so the column stays the file's number")
_YEAR = TimeFormat("", words="each is a year's number, as in the file")
_STATA = {
    **{"d": _D, "c": TimeFormat("milliseconds", daily=False)},
    **{"C": TimeFormat("leap milliseconds", daily=False), "y": _YEAR, "g": TimeFormat("")},
    **{"w": TimeFormat("weeks"), "m": TimeFormat("months"), "q": TimeFormat("quarters")},
    **{"h": TimeFormat("half-years")},
}
_STATA_TIMES = TimeFormat("clock", words="its times of the day stay numbers of milliseconds")
_STATA_FORMAT = re.compile(r"%[-~0]?\d*(?:\.\d+)?(?:t(?P<unit>\w)|d)(?P<shown>.*)")
_STATA_CLOCK = re.compile(r"(?:[Hh]{2}|MM|mm|SS|ss|\.s+|am|AM|a\.m\.|A\.M\.|[:_ .,\-/+\\!])+")
_SAS = (
    (r"DATE|(DDMMYY|MMDDYY|YYMMDD)[BCDNPS]?|JULIAN|PDJUL[GI]|WEEKDAT[EX]|WORDDAT[EX]", _D),
    (r"(IS|[BE])8601DA|NLDATE|[A-Z]{3}DF(DD|DE|DN|DWN|WDX|WKX)|NENGO|MINGUO|HDATE|HEBDATE", _D),
    (r"(YYMM|MMYY)[CDNPS]?|YYQ[RZ]?[CDNPS]?|MON(YY|TH|NAME)|YYMON|QTRR?|YEAR|DAY|DOWNAME", _PART),
    (r"JULDAY|WEEKDAY|WEEK[UVW]|NLDATE[A-Z]+|[A-Z]{3}DFM[NY]", _PART),
    (r"DATETIME|DATEAMPM|MDYAMPM|DT(DATE|MONYY|WKDATX|YEAR|YYQC)|(IS|[BE])8601(D[NTXZ]|LX)", _S),
    (r"NLDATM[A-Z]*|[A-Z]{3}DFDT|YMDDTTM", _S),
    (r"TIME(AMPM)?|TOD|HHMM|HOUR|MMSS|(IS|[BE])8601(T[MXZ]|LZ)|NLTIM[A-Z]*", _CLOCK),
    (r"[A-Z$_]*(DATE|TIME|8601|YY)[A-Z_]*", _UNKNOWN),
)
_SPSS_FORMATS = (
    (r"[AEJS]?DATE", _SPSS),
    (r"DATETIME|YMDHMS", TimeFormat(_SPSS.unit, _SPSS.origin, daily=False)),
    (r"MOYR|QYR|WKYR", TimeFormat(_SPSS.unit, _SPSS.origin, _PART.words)),
    (r"[DM]?TIME", _CLOCK),
    (r"WKDAY", TimeFormat("", words="it numbers weekdays, 1 for Sunday")),
    (r"MONTH", TimeFormat("", words="it numbers months, 1 for January")),
    (r"[A-Z]*(DATE|TIME|YR|YMD)[A-Z]*", _UNKNOWN),
)


def time_format(program: str, written: str) -> TimeFormat | None:
    """Return what a format of a program ("dta", "sav", ...) counts; None if it shows no time.

    >>> time_format("dta", "%tcDDmonCCYY_HH:MM:SS").unit, time_format("dta", "%9.0g")
    ('milliseconds', None)
    >>> time_format("sas7bdat", "YYMMDDC10.").unit, time_format("sav", "QYR6").origin
    ('days', '1582-10-14')
    """
    if program == "dta":
        found = _STATA_FORMAT.fullmatch(written)
        if found is None:
            return None
        unit = found["unit"] or "d"
        if unit in "cC" and _STATA_CLOCK.fullmatch(found["shown"]):
            return _STATA_TIMES
        return _STATA.get(unit, _UNKNOWN)
    known = _SPSS_FORMATS if program in ("sav", "por") else _SAS
    for pattern, form in known:
        if re.fullmatch(rf"({pattern})\d*(\.\d*)?", written.upper()):
            return form
    return None


def as_times(
    values: pd.Series[Any], form: TimeFormat, name: str, written: str
) -> tuple[pd.Series[Any], list[str]]:
    """Return numbers as the dates or times that they count, and notices; an odd column stays."""
    numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
    known = ~np.isnan(numbers)
    said = [f"{name} ({written}): {form.words}."] if form.words and known.any() else []
    if form.unit == "clock":
        of_a_day = (numbers[known] >= 0) & (numbers[known] < _DAY // 1_000)
        form = TimeFormat("") if of_a_day.all() else _STATA["c"]
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
    clockless = (moments[known].astype(np.int64) % _DAY == 0).all()
    daily = form.daily and clockless
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
        ends = (np.sort(_LEAPS) + 1 - origin).astype("timedelta64[ms]").astype(np.int64)
        ends += 1000 * np.arange(1, len(ends) + 1)
        count = count - 1000 * np.searchsorted(ends, count, "right")
        unit = "milliseconds"
    if (np.abs(count) > 4_000_000 * (_DAY // _PER[unit])).any():
        return None
    # a number of seconds since 1582 holds five decimals
    digits = 5 if np.spacing(np.abs(numbers).max(initial=0.0)) > 1e-6 else 9
    micro = np.rint(np.round(part, digits) * _PER[unit]).astype(np.int64)
    return origin + (count * _PER[unit] + micro).astype("timedelta64[us]")
