"""Name what looks like something else: codes for missing, formulas, double levels, row names."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rwn_core.data.fingerprint import factorized
from rwn_core.data.variable import Kind, Variable

_ROW_NAMES = re.compile(r"__index_level_\d+__|Unnamed: 0")
_MOST = 10_000  # different texts of a column that are looked at
_FORMULA = re.compile(r"[=@+-].*[A-Za-z(|!].*", re.DOTALL)
# as surveys write missing: -9, -8, -7, 99, 98, 97, 999 ...; -1; 6666, 7777, 8888
_NINES = [10**digits - gap for digits in range(1, 13) for gap in (1, 2, 3)]
_ALIKE = [int(digit * times) for digit in "678" for times in (3, 4, 5, 6)]
_CODES = np.sort(
    [-1.0, *(-number for number in (*_NINES, *_ALIKE)), *(n for n in (*_NINES, *_ALIKE) if n > 9)]
)
_DAYS = (
    *("9999-12-31", "1900-01-01", "1899-12-30", "1899-12-31", "2999-12-31", "1800-01-01"),
    *("6666-06-06", "7777-07-07", "8888-08-08", "9999-09-09", "9999-01-01"),
)
_DIGITS = re.compile(r"\d{7,8}(\.0)?")
_TIME_NAME = re.compile(r"(?i)date|datum|day|birth|dob|geb|time|stamp|zeit|fecha|jour")
_YEARS_APART = 10  # between such a day and all others of the column
_OTHER_DIGITS = re.compile(r"[+\-\u2212]?[\d.,\u066b\uff0e]*\d")
_HEX = re.compile(r"0[xX][0-9A-Fa-f]+")
_PLAIN_NUMBER = re.compile(r"[+-]?[0-9.,]+")
# UTF-8 that was read as Latin-1 or Windows-1252, and what stands for a byte that was no text
_MISREAD = re.compile("[\u00c3\u00c2][\u0080-\u00bf\u2018-\u201e\u2020-\u2026\u20ac]|\ufffd")
_NAMED = 3  # codes that a notice lists


def suspicious(column: pd.Series[Any], variable: Variable) -> list[str]:
    """Say what a variable may hold that its type does not show."""
    notices = []
    if _ROW_NAMES.fullmatch(variable.name):
        notices.append(
            f"{variable.name} holds the row names of a table: if they identify people, set its "
            "role to identifier."
        )
    if variable.is_released and variable.kind is not Kind.DATE:
        notices += _days_as_digits(column, variable.name)
    if variable.kind in (Kind.CONTINUOUS, Kind.COUNT):
        return notices + _codes_for_missing(column, variable)
    if variable.kind is Kind.DATE:
        return notices + _days_for_missing(column, variable)
    if variable.kind is Kind.CATEGORICAL and variable.is_released:
        texts = [text for text in factorized(column)[1] if isinstance(text, str)]
        notices += _texts(texts[:_MOST], variable.name)
    return notices


def _days_as_digits(column: pd.Series[Any], name: str) -> list[str]:
    """Propose to read digits as days or moments; nothing is converted."""
    texts = [str(value) for value in factorized(column)[1][:_MOST]]
    numbers = np.array([text.removesuffix(".0") for text in texts if text[:1].isdigit()])
    if len(numbers) < max(2, len(texts)) or not all(map(str.isdecimal, numbers)):
        return []
    values = numbers.astype(np.float64)
    forms = {}
    if all(_DIGITS.fullmatch(text) for text in texts):
        first, middle, last = values // 10_000, values // 100 % 100, values % 100
        year, month, day = values % 10_000, values // 10_000 % 100, values // 1_000_000
        forms["YYYYMMDD"] = (first, middle, last)
        forms |= {"DDMMYYYY": (year, month, day), "MMDDYYYY": (year, day, month)}
    found = [
        form
        for form, (y, m, d) in forms.items()
        if ((y >= 1850) & (y <= 2100) & (m >= 1) & (m <= 12) & (d >= 1) & (d <= 31)).all()
    ]
    if not found and _TIME_NAME.search(name):
        if (values >= 10_000).all() and (values < 60_000).all():
            found = ["days since 1900, as in Excel"]
        elif (values >= 1e8).all() and (values < 2.2e9).all():
            found = ["seconds since 1970"]
    if not found:
        return []
    return [
        f"{name} has digits that may be days ({' or '.join(found)}): they are no dates here; write "
        "them as YYYY-MM-DD, or leave the column out."
    ]


def _codes_for_missing(column: pd.Series[Any], variable: Variable) -> list[str]:
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    far = far_codes(values)
    if not far:
        return []
    words = ", ".join(
        f"{value:.15g} ({count:,} times)" for value, count in sorted(far.items())[:_NAMED]
    )
    dots = ", ..." if len(far) > _NAMED else ""
    return [
        f"{variable.name} has {words}{dots}: if they mean missing, name them as missing_codes in a "
        "schema."
    ]


def _days_for_missing(column: pd.Series[Any], variable: Variable) -> list[str]:
    """Name days that programs write for missing, where they lie far from all others."""
    if not pd.api.types.is_datetime64_any_dtype(column.dtype):
        return []
    days = column.dropna().dt.tz_localize(None).astype("datetime64[s]")
    coded = days.dt.normalize().isin(pd.to_datetime(list(_DAYS)).astype("datetime64[s]"))
    if not coded.any() or coded.all():
        return []
    years = days[~coded].dt.year
    found = days[coded].dt.year.to_numpy()
    far = (found > years.max() + _YEARS_APART) | (found < years.min() - _YEARS_APART)
    named = days[coded][far].dt.strftime("%Y-%m-%d").value_counts()
    if not len(named):
        return []
    words = ", ".join(f"{day} ({count:,} times)" for day, count in list(named.items())[:_NAMED])
    return [f"{variable.name} has {words}: if they mean missing, leave these cells empty."]


def far_codes(values: NDArray[np.float64]) -> dict[float, int]:
    """Count numbers of nines, or below 0 among none such, that lie far from all others."""
    integers = values[np.rint(values) == values]  # few of a column with decimals
    nearest = np.minimum(np.searchsorted(_CODES, integers), len(_CODES) - 1)
    odd, times = np.unique(integers[_CODES[nearest] == integers], return_counts=True)
    if not len(odd):
        return {}
    others = values[~np.isin(values, odd) & ~np.isnan(values)]
    if not len(others):
        return {}
    low, high = float(others.min()), float(others.max())
    return {
        value: count
        for value, count in zip(odd.tolist(), times.tolist(), strict=True)
        # one record with a large value is an outlier; a code comes again
        if (value < 0 <= low and (count > 1 or value != -1))
        or (count > 1 and value > max(1.5 * high, 1.0))
    }


def _texts(texts: list[str], name: str) -> list[str]:
    notices = []
    formulas = sum(_FORMULA.fullmatch(text) is not None for text in texts)
    if formulas:
        notices.append(
            f"{name} has {formulas:,} different texts that a spreadsheet takes for formulas."
        )
    notices += _misread(texts, name)
    same = len(texts) - len({" ".join(text.split()).casefold() for text in texts})
    if same:
        notices.append(
            f"{name} has {same:,} levels that differ from another only in case or blanks: each "
            "counts as its own."
        )
    return notices


def _misread(texts: list[str], name: str) -> list[str]:
    """Name texts that were read in a wrong encoding, and numbers in other signs than 0 to 9."""
    notices = []
    wrong = sum(_MISREAD.search(text) is not None for text in texts)
    if wrong:
        notices.append(
            f"{name} has {wrong:,} different texts with letters of a wrong encoding; read the file "
            "with the encoding that it was written in."
        )
    odd = sum(_is_odd_number(text.strip()) for text in texts)
    if texts and odd and 2 * odd >= len(texts):
        notices.append(
            f"{name} has numbers in signs other than 0 to 9, a point and a hyphen: it is "
            "categorical; write plain digits for numbers."
        )
    twins = len({unicodedata.normalize("NFC", text) for text in texts})
    if twins < len(texts):
        notices.append(
            f"{name} has {len(texts) - twins:,} levels that look like another and are coded "
            "otherwise (composed letters): each counts as its own."
        )
    return notices


def _is_odd_number(text: str) -> bool:
    grouped = text.replace("_", "") if "_" in text.strip("_") else text
    if _HEX.fullmatch(text):
        return True
    return bool(_OTHER_DIGITS.fullmatch(grouped)) and not _PLAIN_NUMBER.fullmatch(text)
