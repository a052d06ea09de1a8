"""The gate: what a table must be, and what a data steward should know about it."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rwn_core.data.arrays import Booleans, Floats
from rwn_core.data.fingerprint import factorized
from rwn_core.data.identity.gate import doubts_of_schema
from rwn_core.data.same_looks import equal_looks
from rwn_core.data.schema import Schema
from rwn_core.data.variable import NUMBERS, Kind, Role, Variable
from rwn_core.errors import InputError, SchemaError

_GAPS = 12  # variables with missing values that are named
LONGEST_NAME = 1000
REMEDY = " If it identifies people, set its role to identifier."
LARGEST_NUMBER = 1e150  # its square still fits a float64: distances stay finite

FIRST_DATE = pd.Timestamp("0001-01-01", tz="UTC")
LAST_DATE = pd.Timestamp("9999-12-31 23:59:59.999999", tz="UTC")

_UNPRINTABLE = ("Cc", "Cs", "Zl", "Zp")
_GLANCE = 100  # values that tell of most columns that they are no days
_MOST = 10_000  # different texts of a column that are looked at
# as surveys write missing: -9, -8, -7, 99, 98, 97, 999 ...; -1; 6666, 7777, 8888
_NINES = [10**digits - gap for digits, gap in product(range(1, 13), (1, 2, 3))]
_ALIKE = [int(digit * times) for digit, times in product("678", (3, 4, 5, 6))]
_CODES = np.sort(
    [-1.0, *(-number for number in (*_NINES, *_ALIKE)), *(n for n in (*_NINES, *_ALIKE) if n > 9)]
)
_DAYS = (
    "9999-12-31",
    "1900-01-01",
    "1899-12-30",
    "1899-12-31",
    "2999-12-31",
    "1800-01-01",
    "6666-06-06",
    "7777-07-07",
    "8888-08-08",
    "9999-09-09",
    "9999-01-01",
)
_DIGITS = re.compile(r"\d{7,8}(\.0)?")
_TIME_NAME = re.compile(r"(?i)date|datum|day|birth|dob|geb|time|stamp|zeit|fecha|jour")
_YEARS_APART = 10  # between such a day and all others of the column
_OTHER_DIGITS = re.compile(r"[+\-\u2212]?[\d.,\u066b\uff0e]*\d")
_SURROGATE = re.compile("[\ud800-\udfff]")
_HEX = re.compile(r"0[xX][0-9A-Fa-f]+")
_PLAIN_NUMBER = re.compile(r"[+-]?[0-9.,]+")
# UTF-8 that was read as Latin-1 or Windows-1252, and what stands for a byte that was no text
_MISREAD = re.compile("[\u00c3\u00c2][\u0080-\u00bf\u2018-\u201e\u2020-\u2026\u20ac]|\ufffd")
_NAMED = 3  # codes that a notice lists


def check_shape(frame: pd.DataFrame) -> None:
    """Refuse what is no table, or too small to mask."""
    if not isinstance(frame, pd.DataFrame):
        raise InputError("The table must be a pandas DataFrame.")
    if frame.shape[1] == 0:
        raise InputError("The table has no columns; choose at least one.")
    if len(frame) < 2:
        records = "no records" if len(frame) == 0 else "one record"
        raise InputError(
            f"The table has {records}; masking needs at least two, and more than k of them."
        )


def check_names(columns: Iterable[Any]) -> None:
    """Refuse duplicate column names, and names that cannot stand in a message or a file."""
    if isinstance(columns, pd.MultiIndex):
        raise InputError("The table has a header of several rows; give each column one name.")
    for position, name in enumerate(columns, start=1):
        fault = ""
        if not isinstance(name, str):
            fault = "is not a text; rename it"
        elif not name.strip():
            raise InputError(f"Column {position} has no name; give it one.")
        elif any(unicodedata.category(letter) in _UNPRINTABLE for letter in name):
            fault = "has a control character or a line break; rename it"
        elif len(name) > LONGEST_NAME:
            fault = f"is longer than {LONGEST_NAME} characters; shorten it"
        if fault:
            raise InputError(f"The name of column {position} {fault}.")
    for name, times in Counter(columns).items():
        if times > 1:
            positions = [str(i) for i, other in enumerate(columns, start=1) if other == name]
            raise InputError(
                f"The column name {name} occurs {times} times (columns {', '.join(positions)}); "
                "rename all but one."
            )


def check_column(column: pd.Series[Any], variable: Variable) -> None:
    """Refuse a column if its values do not match its variable."""
    name = variable.name
    if column.dtype == object:
        # a file can hold no half of a surrogate pair
        texts = [isinstance(e, str) and _SURROGATE.search(e) is None for e in column]
        odd = ~(column.isna().to_numpy() | np.array(texts))
        if odd.any():
            raise InputError(
                f"Column {name} has values that are neither valid text nor missing {_count(odd)}; "
                "convert the whole column to texts, numbers, dates or the type boolean."
            )
    _check_type(column, name)
    # what a release holds has values, of the kind and the levels that its variable says
    if not variable.is_released:
        return
    if column.isna().all():
        raise InputError(f"Column {name} has no values; remove it or set its role to identifier.")
    if variable.kind in NUMBERS:
        _check_numbers(column, variable)
    if variable.kind is Kind.DATE:
        if not pd.api.types.is_datetime64_any_dtype(column.dtype):
            raise SchemaError(f"Column {name} holds no dates; give it another kind.")
        moments = pd.to_datetime(column, utc=True)
        outside = (moments < FIRST_DATE) | (moments > LAST_DATE)
        if outside.any():
            raise InputError(
                f"Column {name} has dates outside the years 1 to 9999 {_count(outside)}; replace "
                "or remove them."
            )
    if variable.levels is not None:
        known = typed_levels(column.dropna().unique().tolist(), variable.levels)
        strange = ~(column.isna() | column.isin(known))
        if strange.any():
            raise SchemaError(
                f"Column {variable.name} has values outside the levels of the schema "
                f"{_count(strange)}; add the levels."
            )


def _count(wrong: Booleans | pd.Series[bool]) -> str:
    """Return the number of wrong values and the place of the first one, in brackets."""
    return f"({int(wrong.sum())}, first in row {int(np.argmax(wrong)) + 1})"


def _check_type(column: pd.Series[Any], name: str) -> None:
    dtype = column.dtype
    kinds = pd.api.types
    if isinstance(dtype, pd.CategoricalDtype):
        levels = dtype.categories.tolist()
        fault = "categories other than texts and numbers; convert them"
        fine = all(isinstance(level, str | int | float) for level in levels)
    else:
        tests = (kinds.is_any_real_numeric_dtype, kinds.is_bool_dtype, kinds.is_string_dtype)
        fault = f"the type {dtype}; convert it to numbers, texts or dates"
        fine = any(test(dtype) for test in (*tests, kinds.is_datetime64_any_dtype))
        fine = fine and not isinstance(dtype, pd.SparseDtype)
    if not fine:
        raise InputError(f"Column {name} has {fault}.")


def _check_numbers(column: pd.Series[Any], variable: Variable) -> None:
    name = variable.name
    if not pd.api.types.is_numeric_dtype(column.dtype):
        raise SchemaError(
            f"Column {name} holds texts and cannot be {variable.kind}; make it categorical."
        )
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    for what, wrong in (
        ("infinite values", np.isinf(values)),
        (f"numbers beyond {LARGEST_NUMBER:g}", np.abs(values) > LARGEST_NUMBER),
    ):
        if wrong.any():
            raise InputError(f"Column {name} has {what} {_count(wrong)}; replace or remove them.")


def level_text(value: object) -> str:
    """A value as a schema names it: whole numbers without a decimal point."""
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def typed_levels(values: Sequence[Any], levels: Sequence[str]) -> list[Any]:
    """The levels of a schema, which are texts, as the values that a column has."""
    by_text = {level_text(value): value for value in values}
    return [by_text.get(level, level) for level in levels]


MOST_NAMED = 8  # identifiers with a notice each


def table_notices(frame: pd.DataFrame, schema: Schema) -> tuple[str, ...]:
    """Return notices about the table for a data steward, a sentence each."""
    notices = _name_notices(schema.names)
    for doubt in doubts_of_schema(frame, schema):
        notices.append(f"{doubt.sentence}{REMEDY if doubt.stops else ''}")
    left_out = sum(variable.role is Role.IDENTIFIER for variable in schema.variables)
    if left_out > MOST_NAMED:
        notices.append(f"{left_out} variables are left out of every release.")
    for variable in schema.variables:
        if variable.role is not Role.IDENTIFIER or left_out <= MOST_NAMED:
            notices += _column_notices(frame[variable.name], variable, schema.population)
    notices += _missing_notices(frame, schema)
    # one sentence about each edit rule that records break already
    for rule in schema.edit_rules:
        if count := int(rule.broken(frame).sum()):
            breaks = "records break" if count > 1 else "record breaks"
            notices.append(f"{count:,} {breaks} the edit rule {rule.text}.")
    return tuple(notices)


def _name_notices(names: Sequence[str]) -> list[str]:
    """Say which names look alike, and which have characters that nobody sees."""
    notices = []
    spelled = Counter(name.strip().casefold() for name in names)
    similar = [name for name in names if spelled[name.strip().casefold()] > 1]
    if similar:
        notices.append(f"The names {', '.join(similar)} differ only in case or blanks.")
    for position, name in enumerate(names, start=1):
        if any(unicodedata.category(letter) == "Cf" for letter in name):
            notices.append(f"The name of column {position} has invisible characters.")
    return notices


def _missing_notices(frame: pd.DataFrame, schema: Schema) -> list[str]:
    """Return one sentence about all variables that miss values."""
    counts = {v.name: int(frame[v.name].isna().sum()) for v in schema.released}
    gaps = [f"{name} has {count:,}" for name, count in counts.items() if count]
    if not gaps:
        return []
    if len(gaps) == 1:
        values = "value" if gaps[0].endswith(" 1") else "values"
        return [f"{gaps[0]} missing {values}."]
    more = len(gaps) - _GAPS
    dots = f", and {more:,} more variables some" if more > 0 else ""
    return [f"Missing values: {', '.join(gaps[:_GAPS])}{dots}."]


def _column_notices(
    column: pd.Series[Any], variable: Variable, population: int | None
) -> list[str]:
    """Return notices about a variable; one alone of what no release has."""
    name = variable.name
    if variable.role is Role.IDENTIFIER:
        said = f"{name} is left out of every release, as a direct identifier is."
        return [] if column.isna().all() else [said]
    if not variable.is_released:
        return [f"{name} says who belongs together: it is left out of every release."]
    notices = []
    if not column.isna().any() and (column == column.iloc[0]).all():
        notices.append(f"{name} is constant: it does not count in the distance.")
    notices += _value_notices(column, variable)
    weighs = variable.role is Role.SAMPLING_WEIGHT and not stands_for_people(column, variable)
    if weighs and population is None:
        notices.append(
            f"{name} is a sampling weight, but not a number of at least 1 in every record: "
            "measures of risk take the file for the whole population."
        )
    if variable.kind is Kind.ORDERED and _is_alphabetical(column, variable):
        notices.append(f"{name} is ordered by the alphabet; give its levels for another order.")
    return notices


def _value_notices(column: pd.Series[Any], variable: Variable) -> list[str]:
    """Name what a variable may hold that its type does not show."""
    notices = []
    if variable.kind is Kind.DATE:
        notices += _days_for_missing(column, variable)
    else:
        notices += _days_as_digits(column, variable.name)
    if variable.kind in NUMBERS:
        notices += _far_notices(column, variable.name)
    if variable.kind is Kind.CATEGORICAL:
        different = [text for text in factorized(column)[1] if isinstance(text, str)]
        notices += _texts(different[:_MOST], variable.name)
    return notices


def _far_notices(column: pd.Series[Any], name: str) -> list[str]:
    """Name values far from all others, which may stand for missing ones."""
    far = sorted(far_codes(column.to_numpy(dtype=np.float64, na_value=np.nan)).items())
    if not far:
        return []
    words = ", ".join(f"{value:.15g} ({count:,} times)" for value, count in far[:_NAMED])
    dots = ", ..." if len(far) > _NAMED else ""
    return [
        f"{name} has {words}{dots}: if they mean missing, name them as missing_codes in a schema."
    ]


def _is_alphabetical(column: pd.Series[Any], variable: Variable) -> bool:
    """True if an order of texts is that of the alphabet, so that nobody may have stated it."""
    levels = list(variable.levels or ())  # those that the gate wrote down say the same as none
    if isinstance(column.dtype, pd.CategoricalDtype):
        return False
    return pd.api.types.is_string_dtype(column.dtype) and levels == sorted(levels)


def stands_for_people(column: pd.Series[Any], variable: Variable) -> bool:
    """True if a variable can be a sampling weight: numbers of at least 1."""
    if variable.kind not in NUMBERS:
        return False
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return bool(np.isfinite(values).all() and values.min() >= 1)


def _days_as_digits(column: pd.Series[Any], name: str) -> list[str]:
    """Propose to read digits as days or moments; nothing is converted."""
    # where the first values are no digits, nothing else needs to be looked at
    counted_by_level = isinstance(column.dtype, pd.CategoricalDtype)
    if not counted_by_level and not all(map(str.isdecimal, _digits(column.head(_GLANCE)))):
        return []
    texts = _digits(column)
    if len(texts) < 2 or not all(map(str.isdecimal, texts)):
        return []
    values = np.array(texts).astype(np.float64)
    forms = []
    if all(map(_DIGITS.fullmatch, texts)):
        eight_digits = ("YYYYMMDD", "DDMMYYYY", "MMDDYYYY")
        forms = [form for form in eight_digits if _are_days_in(values, form)]
    if not forms and _TIME_NAME.search(name):
        forms = _counts_of_time(values)
    if not forms:
        return []
    return [
        f"{name} has digits that may be days ({' or '.join(forms)}): they are no dates here; write "
        "them as YYYY-MM-DD, or leave the column out."
    ]


def _are_days_in(values: Floats, form: str) -> bool:
    """True if eight digits are all days, with year, month and day at the places of a form."""
    # Shape: values (m,).
    y, m, d = (
        values // 10.0 ** (7 - form.rindex(part)) % 10.0 ** form.count(part) for part in "YMD"
    )
    days = (y >= 1850) & (y <= 2100) & (m >= 1) & (m <= 12) & (d >= 1) & (d <= 31)
    return bool(days.all())


def _counts_of_time(values: Floats) -> list[str]:
    """Name the counts of days or seconds that numbers may be, by their size."""
    # Shape: values (m,).
    low = values.min()
    high = values.max()
    forms = []
    if low >= 10_000 and high < 60_000:
        forms.append("days since 1900, as in Excel")
    if low >= 1e8 and high < 2.2e9:
        forms.append("seconds since 1970")
    return forms


def _digits(column: pd.Series[Any]) -> list[str]:
    """Return the different values of a column as texts, numbers without a point."""
    return [str(value).removesuffix(".0") for value in factorized(column)[1][:_MOST]]


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
    # Name texts that were read in a wrong encoding, and numbers in other signs than 0 to 9.
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
    same = equal_looks(texts)
    if same:
        notices.append(
            f"{name} has {same:,} levels that differ from another only in case or blanks, or in "
            "invisible or composed letters: each counts as its own; join = true of the file joins "
            "them."
        )
    return notices


def _is_odd_number(text: str) -> bool:
    grouped = text.replace("_", "") if "_" in text.strip("_") else text
    odd = _OTHER_DIGITS.fullmatch(grouped) and not _PLAIN_NUMBER.fullmatch(text)
    return bool(_HEX.fullmatch(text) or odd)
